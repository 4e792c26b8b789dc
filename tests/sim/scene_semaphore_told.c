/* The rules of semaphores for what is told: each event comes when it may, with
 * an error that the scene explains; and nothing of an attempt that has ended is
 * left.
 *
 * How it can fail: by excusing too much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_semaphore.h"

enum { KIDS = 48 };

static bool session_ended(int proc)
{
    return process_any_session(proc, session_over);
}

static bool is_good_end(int i, int rc)
{
    const struct semaphore_plan *plan = sem_plan(i);
    const struct attempt *a = &sems.of[i];

    switch (rc) {
    case EVZK_OK:
        return a->released;
    case EVZK_ERR_CANCELED:
        return a->canceled;
    case EVZK_ERR_TIMEOUT:
        return plan->timeout_ms > 0 && !a->canceled &&
               sim_now() - a->since >= in_us(plan->timeout_ms);
    case EVZK_ERR_BUSY: /* Or a contender of ours has not heard of its end. */
        return plan->try_once && (a->crowded || operator_deleted_any());
    case EVZK_ERR_CLOSED:
        return process_of(plan->proc)->closing;
    case EVZK_ERR_NODEGONE:
        return (a->acquired && sem_is_robbed(a)) ||
               (plan->no_requeue && operator_deleted_any());
    case EVZK_ERR_EXPIRED:
        return (a->acquired || plan->no_requeue) && session_ended(plan->proc);
    case EVZK_ERR_LEASE:
        return (a->acquired || plan->no_requeue) &&
               process_has_lapsed(plan->proc);
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(plan->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(plan->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(plan->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(plan->proc) || sems.own->denied || sems.own->hidden ||
               sems.own->above_denied || sems.own->seal_ms;
    case EVZK_ERR_NOCHROOT:
        return sems.own->chroot != NULL;
    case EVZK_ERR_BADDATA:
        return sems.own->number != NULL ||
               (sems.own->dialect == EVZK_DIALECT_KAZOO && fault_malformed());
    case EVZK_ERR_FOREIGN:
        return sems.foreign;
    default:
        return false;
    }
}

/* Nothing of the attempt's session may be left in the directory. */
static void check_none(int i, const char *dir, const char *what)
{
    const struct process *p = process_of(sem_plan(i)->proc);
    const char *names[KIDS];
    size_t n = ens_children(dir, names, KIDS);
    char path[SEM_ROOM];

    for (size_t k = 0; k < n && k < KIDS; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (ens_look(path, &seen) && p->n_ids > 0 &&
            seen.owner == p->ids[p->n_ids - 1] && !session_over(seen.owner) &&
            seen.len == 1 && seen.data[0] == '0' + i)
            sim_violation("attempt %d: %s, and %s is there", i, what, names[k]);
    }
}

static void check_acquired(int i)
{
    struct attempt *a = &sems.of[i];
    int proc = sem_plan(i)->proc;
    const struct lease_seen *l;

    process_certain(proc, &a->doubts, "ACQUIRED");
    if (sems.own->number && !operator_deleted_any() && !fault_malformed() &&
        strtoul(sems.own->number, NULL, 10) != 1) /* As the plan has it. */
        sim_violation("attempt %d acquires one of another number of leases", i);
    if (a->acquired)
        sim_violation("attempt %d acquires twice", i);
    if (a->requeues)
        sim_violation("attempt %d queued again, and never said so", i);
    a->acquired = true;
    a->token = evzk_semaphore_token(a->p);
    l = sem_lease_of((int64_t)a->token);
    if (!l || l->attempt != i)
        sim_violation("attempt %d has another's token", i);
    else if (sem_is_passed(i))
        sim_violation("attempt %d has a lower token than one before", i);
    else if (!l->stands && !sem_is_robbed(a) && !session_over(l->owner))
        sim_violation("attempt %d acquires what is gone", i);
}

static void check_end(int i, evzk_semaphore_event event, int rc)
{
    struct attempt *a = &sems.of[i];
    const struct lease_seen *l = sem_lease_of((int64_t)a->token);

    a->end = event;
    a->rc = rc;
    if (!is_good_end(i, rc))
        sim_violation("attempt %d: %s with %s", i,
                      evzk_semaphore_event_name(event), evzk_errname(rc));
    if ((event == EVZK_SEMAPHORE_FAILED) == a->acquired ||
        (event == EVZK_SEMAPHORE_RELEASED) != a->released)
        sim_violation("attempt %d: its end is %s", i,
                      evzk_semaphore_event_name(event));
    if (event == EVZK_SEMAPHORE_RELEASED && rc == EVZK_OK && l && l->stands &&
        !session_over(l->owner))
        sim_violation("attempt %d: RELEASED, and its lease stands", i);
    if (rc == EVZK_ERR_CANCELED) {
        check_none(i, sems.leases, "CANCELED");
        check_none(i, sems.locks, "CANCELED");
    }
}

/* SUSPENDED and RESUMED come in turns, while the lease is held. */
static void check_doubt(int i, bool doubts)
{
    struct attempt *a = &sems.of[i];

    if (!a->acquired || a->released || a->end || a->doubts_it == doubts)
        sim_violation("attempt %d: %s, and it was not", i,
                      doubts ? "SUSPENDED" : "RESUMED");
    a->doubts_it = doubts;
}

static bool is_good_requeue(int i, int rc)
{
    switch (rc) {
    case EVZK_ERR_EXPIRED:
        return session_ended(sem_plan(i)->proc);
    case EVZK_ERR_NODEGONE: /* Also by the end of a session, told later. */
        return operator_deleted_any() || session_ended(sem_plan(i)->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(sem_plan(i)->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(sem_plan(i)->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    default:
        return rc == EVZK_ERR_LEASE && process_has_lapsed(sem_plan(i)->proc);
    }
}

void semaphore_told(int i, evzk_semaphore_event event, int rc)
{
    struct attempt *a = &sems.of[i];
    int proc = sem_plan(i)->proc;

    switch (event) {
    case EVZK_SEMAPHORE_ACQUIRED:
        check_acquired(i);
        return;
    case EVZK_SEMAPHORE_SUSPENDED:
        process_doubtful(proc, &a->doubts, "SUSPENDED");
        check_doubt(i, true);
        return;
    case EVZK_SEMAPHORE_RESUMED:
        process_certain(proc, &a->doubts, "RESUMED");
        check_doubt(i, false);
        return;
    case EVZK_SEMAPHORE_REQUEUED:
        if (a->acquired || sem_plan(i)->no_requeue || !is_good_requeue(i, rc))
            sim_violation("attempt %d: REQUEUED with %s", i, evzk_errname(rc));
        a->requeues = false;
        return;
    case EVZK_SEMAPHORE_RELEASED:
    case EVZK_SEMAPHORE_LOST:
    case EVZK_SEMAPHORE_FAILED:
        check_end(i, event, rc);
        return;
    }
}

/* At most one attempt watches the leases.  An attempt whose lock is gone, and
 * that has not heard so, does not count. */
static void check_watchers(void)
{
    int n = 0;

    for (int i = 0; i < ATTEMPTS; i++)
        n += sems.of[i].waits && sem_has_lock(i);
    if (n > 1)
        sim_violation("%d attempts watch the leases", n);
}

/* Machines of a process begin in the order of its calls. */
static struct attempt *traced(int proc, const void *machine)
{
    struct attempt *first = NULL;

    for (int i = 0; i < ATTEMPTS; i++) {
        struct attempt *a = &sems.of[i];

        if (!a->p || sem_plan(i)->proc != proc)
            continue;
        if (a->machine == machine)
            return a;
        if (!a->machine && (!first || a->nth < first->nth))
            first = a;
    }
    if (first)
        first->machine = machine;
    return first;
}

/* A lock that was lost with the lease may stand, and is looked for.  Any other
 * tells its end in its last event. */
static void check_withdrawal(int proc, const struct attempt *a,
                             const evzk_trace *t)
{
    if (t->from && strcmp(t->from, "WITHDRAWING") == 0 &&
        strcmp(t->event, "reply") == 0 && !a->cut &&
        !process_was_frozen(proc, a->since))
        sim_violation("a canceled attempt looks for a lock that has ended");
}

void semaphore_traced(int proc, const evzk_trace *t)
{
    struct attempt *a;

    if (strcmp(t->kind, "semaphore") != 0)
        return;
    a = traced(proc, t->object);
    if (!a)
        return;
    check_withdrawal(proc, a, t);
    if (!t->entered)
        return;
    a->waits = strcmp(t->to, "WAITING") == 0;
    if (strcmp(t->to, "QUEUEING") == 0 && t->from &&
        strcmp(t->from, "QUEUEING") != 0)
        a->requeues = true;
    check_watchers();
}

/* The end. */

void semaphore_check_left(int proc)
{
    if (!process_is_idle(process_of(proc)) || ens_denied(proc) ||
        ens_shut(proc)) /* At the look for it, maybe. */
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!sem_plan(i)->used || sem_plan(i)->proc != proc || sems.of[i].p)
            continue;
        check_none(i, sems.leases, "over");
        if (!sems.own->seal_ms)
            check_none(i, sems.locks, "over");
    }
}
