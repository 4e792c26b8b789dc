/* The rules of semaphores, asked after every step against the true tree.
 *
 * A lease is made only while fewer than n stand, by the first in the queue of
 * locks.  At no moment do more attempts hold a lease, as they say, than there
 * may be.  A lease that is told stands in the tree, and its token is its czxid;
 * one that was given back has gone, and so has all of an attempt that was
 * canceled.  One process at a time watches the leases.  When a lease is free, a
 * waiter gets it in a while.
 *
 * How it can fail: a lease is told from another by its czxid, and an attempt's
 * by its data.  What an operator has deleted or copied counts for nobody. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_semaphore.h"

enum { KIDS = 48, TRUTH_US = 6 * 1000 * 1000 };

const char sem_locks[] = "/s/locks", sem_leases[] = "/s/leases";

static uint32_t n_of(int i)
{
    return sem_plan(i)->leases ? sem_plan(i)->leases : 1;
}

/* The greatest n of all attempts. */
static uint32_t most(void)
{
    uint32_t n = 0;

    for (int i = 0; i < ATTEMPTS; i++) {
        if (sem_plan(i)->used && n_of(i) > n)
            n = n_of(i);
    }
    return n;
}

static bool number_of(const char *name, const char *mark, int32_t *n)
{
    const char *at = strstr(name, mark);

    return at && sscanf(at + strlen(mark), "%" SCNd32, n) == 1;
}

/* Does a session own it?  An operator's znodes are nobody's. */
static bool is_owned(const char *dir, const char *name)
{
    struct ens_seen seen;
    char path[160];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return ens_look(path, &seen) && seen.owner;
}

/* Is the lock of this number there, and first?  An operator may have made the
 * directory anew, with lower numbers. */
static bool has_turn(int32_t number)
{
    const char *names[KIDS];
    size_t n = ens_children(sem_locks, names, KIDS);
    bool there = false;
    int32_t other;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (!number_of(names[i], "-lock-", &other))
            continue;
        if (other < number && !operator_deleted_any() &&
            is_owned(sem_locks, names[i]))
            return false;
        there = there || other == number;
    }
    return there;
}

static void check_new(const struct lease_seen *l, const char *name,
                      uint32_t others)
{
    int32_t number;

    if (others >= n_of(l->attempt))
        sim_violation("attempt %d takes a lease beside %d others", l->attempt,
                      (int)others);
    if (!number_of(name, "-lease-", &number) || !has_turn(number))
        sim_violation("attempt %d takes a lease out of its turn", l->attempt);
}

static struct lease_seen *find(int64_t czxid)
{
    for (int64_t i = 0; i < sems.n_seen; i++) {
        if (sems.seen[i].czxid == czxid)
            return &sems.seen[i];
    }
    return NULL;
}

static void see(const char *name, uint32_t others)
{
    struct lease_seen *l;
    struct ens_seen seen;
    char path[160];

    snprintf(path, sizeof path, "%s/%s", sem_leases, name);
    if (!ens_look(path, &seen))
        return;
    l = find(seen.czxid);
    if (!l && sems.n_seen < LEASES_SEEN) {
        l = &sems.seen[sems.n_seen++];
        l->czxid = seen.czxid;
        l->owner = seen.owner;
        l->attempt = seen.owner && seen.len == 1 ? seen.data[0] - '0' : -1;
        if (l->attempt >= 0 && l->attempt < ATTEMPTS)
            check_new(l, name, others);
    }
    if (l)
        l->stands = true;
}

/* How many leases stand; `owned`: that a session owns. */
static uint32_t count(bool owned)
{
    const char *names[KIDS];
    size_t n = ens_children(sem_leases, names, KIDS);
    uint32_t leases = 0;
    int32_t number;

    for (size_t i = 0; i < n && i < KIDS; i++)
        leases += number_of(names[i], "-lease-", &number) &&
                  (!owned || is_owned(sem_leases, names[i]));
    return leases;
}

static void look(void)
{
    const char *names[KIDS];
    size_t n = ens_children(sem_leases, names, KIDS);

    for (int64_t i = 0; i < sems.n_seen; i++)
        sems.seen[i].stands = false;
    for (size_t i = 0; i < n && i < KIDS; i++)
        see(names[i], count(true) - 1);
    n = ens_children(sem_locks, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++)
        sems.foreign = sems.foreign || strstr(names[i], "__WRIT__") ||
                       strstr(names[i], "__lock__");
}

/* An operator, or the servers, have taken the lease away before its time. */
static bool is_robbed(const struct attempt *a)
{
    const struct lease_seen *l = find((int64_t)a->token);

    return operator_deleted((int64_t)a->token) ||
           operator_copied((int64_t)a->token) ||
           (l && session_forced(l->owner));
}

static void check_held(void)
{
    uint32_t n = 0;

    for (int i = 0; i < ATTEMPTS; i++) {
        struct attempt *a = &sems.of[i];
        int before;
        bool held;

        if (!a->p)
            continue;
        before = sim_enter(sem_plan(i)->proc);
        held = evzk_semaphore_held(a->p);
        if (held != (evzk_semaphore_lease_ms(a->p) > 0))
            sim_violation("attempt %d: held, without a time", i);
        sim_leave(before);
        n += held && !is_robbed(a);
    }
    if (n > most())
        sim_violation("%d leases are held", (int)n);
}

static bool is_waiting(int i)
{
    const struct attempt *a = &sems.of[i];
    const struct process *p = process_of(sem_plan(i)->proc);

    return a->p && a->begun && !a->acquired && !a->canceled && !a->end &&
           p->s && !p->closing;
}

static bool may_be_late(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_of(p)->s &&
            (process_was_frozen(p, sems.free_since) ||
             process_lacked_memory_since(p, sems.free_since)))
            return true;
    }
    return false;
}

static void check_free(uint32_t leases)
{
    int waits = -1;

    for (int i = ATTEMPTS - 1; i >= 0; i--) {
        if (is_waiting(i) && leases < n_of(i))
            waits = i;
    }
    if (waits < 0 || sems.own->denied || sems.own->hidden ||
        sems.own->above_denied || may_be_late())
        sems.free_since = sim_now();
    else if (sim_now() - sems.free_since > TRUTH_US)
        sim_violation("a lease is free, and attempt %d waits", waits);
}

void semaphore_check(void)
{
    if (ens_has_changed(&sems.looked))
        look();
    check_held();
    check_free(count(false));
    processes_check();
}

/* The events. */

static bool session_ended(int proc)
{
    const struct process *p = process_of(proc);

    for (unsigned k = 0; k < p->n_ids; k++) {
        if (session_over(p->ids[k]))
            return true;
    }
    return false;
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
        return plan->timeout_ms > 0 && !a->canceled;
    case EVZK_ERR_BUSY:
        return plan->try_once;
    case EVZK_ERR_CLOSED:
        return process_of(plan->proc)->closing;
    case EVZK_ERR_NODEGONE:
        return (a->acquired && is_robbed(a)) ||
               (plan->no_requeue && operator_deleted_any());
    case EVZK_ERR_EXPIRED:
        return (a->acquired || plan->no_requeue) && session_ended(plan->proc);
    case EVZK_ERR_LEASE:
        return a->acquired || plan->no_requeue;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(plan->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(plan->proc);
    case EVZK_ERR_NOAUTH:
        return sems.own->denied || sems.own->hidden || sems.own->above_denied;
    case EVZK_ERR_NOCHROOT:
        return sems.own->chroot != NULL;
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
    char path[160];

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
    if (a->acquired)
        sim_violation("attempt %d acquires twice", i);
    a->acquired = true;
    a->token = evzk_semaphore_token(a->p);
    l = find((int64_t)a->token);
    if (!l || l->attempt != i)
        sim_violation("attempt %d has another's token", i);
    else if (!l->stands && !is_robbed(a) && !session_over(l->owner))
        sim_violation("attempt %d acquires what is gone", i);
}

static void check_end(int i, evzk_semaphore_event event, int rc)
{
    struct attempt *a = &sems.of[i];
    const struct lease_seen *l = find((int64_t)a->token);

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
        check_none(i, sem_leases, "CANCELED");
        check_none(i, sem_locks, "CANCELED");
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
        return;
    case EVZK_SEMAPHORE_RESUMED:
        process_certain(proc, &a->doubts, "RESUMED");
        return;
    case EVZK_SEMAPHORE_REQUEUED:
        if (a->acquired || sem_plan(i)->no_requeue || rc == EVZK_OK)
            sim_violation("attempt %d: REQUEUED with %s", i, evzk_errname(rc));
        return;
    case EVZK_SEMAPHORE_RELEASED:
    case EVZK_SEMAPHORE_LOST:
    case EVZK_SEMAPHORE_FAILED:
        check_end(i, event, rc);
        return;
    }
}

/* Which attempts watch the leases: machines of a process begin in the order of
 * its calls. */
static void check_watchers(void)
{
    int n = 0;

    for (int i = 0; i < ATTEMPTS; i++)
        n += sems.of[i].waits;
    if (n < 2 || operator_deleted_any())
        return;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_of(p)->s && session_ended(p))
            return;
    }
    sim_violation("%d attempts watch the leases", n);
}

void semaphore_traced(int proc, const evzk_trace *t)
{
    if (strcmp(t->kind, "semaphore") != 0 || !t->entered)
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct attempt *a = &sems.of[i];

        if (!a->p || sem_plan(i)->proc != proc)
            continue;
        if (!a->machine)
            a->machine = t->object;
        if (a->machine != t->object)
            continue;
        a->waits = strcmp(t->to, "WAITING") == 0;
        check_watchers();
        return;
    }
}

/* The end. */

void semaphore_check_left(int proc)
{
    if (!process_is_idle(process_of(proc)) || ens_throttled(proc))
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!sem_plan(i)->used || sem_plan(i)->proc != proc || sems.of[i].p)
            continue;
        check_none(i, sem_leases, "over");
        check_none(i, sem_locks, "over");
    }
}

void semaphore_check_end(void) { processes_check_end(); }
