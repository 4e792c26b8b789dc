/* What a writer does: it acquires a lock, or stands in an election, or has a
 * path; then it writes under that guard, and lets go. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_guard.h"
#include "steps.h"

enum {
    AGAIN_US = 5000,
    LEAVE_US = 700 * 1000,
    LINGER_US = 50 * 1000,
    LINGERS = 100,
    PATIENCE_US = 400 * 1000,
    FREE_US = 300 * 1000
};

static void write_next(intptr_t i);

/* The end. */

/* A write that was told deletes its receipt in the background; not for ever. */
static void leave(intptr_t proc)
{
    const struct process *p = process_of((int)proc);

    if (!p->s || p->closing)
        return;
    if (!process_is_idle(p) && guarding.lingered[proc]++ < LINGERS) {
        scene_timer_set(LINGER_US, (int)proc, leave, proc);
        return;
    }
    guard_check_left((int)proc);
    process_close((int)proc);
}

static void over(int i)
{
    int proc = guard_plan_of(i)->proc;

    guarding.writer[i].over = true;
    for (int k = 0; k < WRITERS; k++) {
        if (guard_plan_of(k)->writes && guard_plan_of(k)->proc == proc &&
            !guarding.writer[k].over)
            return;
    }
    scene_timer_set(LEAVE_US, proc, leave, proc);
}

void guard_maybe_over(int i)
{
    const struct writer *w = &guarding.writer[i];

    if (w->leaves && !w->l && !w->e && !w->g && !w->over)
        over(i);
}

void guard_let_go(int i)
{
    struct writer *w = &guarding.writer[i];
    int proc = guard_plan_of(i)->proc, rc = EVZK_OK;

    if (w->leaves)
        return;
    w->leaves = true;
    process_call_begins(proc);
    if (w->l && (rc = evzk_lock_release(w->l)) != EVZK_OK)
        evzk_lock_cancel(w->l);
    if (w->e)
        evzk_election_resign(w->e);
    process_call_ends(proc);
    guard_maybe_over(i);
}

/* The lock, or the candidate. */

static void drop_holder(int i)
{
    struct writer *w = &guarding.writer[i];
    evzk_lock *l = w->l;
    evzk_election *e = w->e;

    w->l = NULL;
    w->e = NULL;
    process_call_begins(guard_plan_of(i)->proc);
    evzk_lock_free(l);
    evzk_election_free(e);
    process_call_ends(guard_plan_of(i)->proc);
    w->leaves = true;
    guard_maybe_over(i);
}

static void granted(int i)
{
    if (guard_plan_of(i)->patient)
        scene_timer_set(PATIENCE_US, guard_plan_of(i)->proc, write_next, i);
    else
        write_next(i);
}

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = guard_plan_of(i)->proc;

    sim_say("writer %d: %s, %s", i, evzk_lock_event_name(event),
            evzk_errname(rc));
    process_heard(proc, "the lock's callback");
    if (evzk_lock_event_is_final(event) && !guard_lock_rc_ok(i, rc))
        sim_violation("writer %d: the lock ends with %s", i, evzk_errname(rc));
    process_callback(proc);
    if (guarding.writer[i].l != l)
        return;
    if (event == EVZK_LOCK_GRANTED)
        granted(i);
    else if (evzk_lock_event_is_final(event))
        drop_holder(i);
}

static void on_election(evzk_election *e, evzk_election_event event, int rc,
                        void *arg)
{
    int i = (int)(intptr_t)arg, proc = guard_plan_of(i)->proc;

    sim_say("writer %d: %s, %s", i, evzk_election_event_name(event),
            evzk_errname(rc));
    process_heard(proc, "the candidate's callback");
    process_callback(proc);
    if (guarding.writer[i].e != e)
        return;
    if (event == EVZK_ELECTION_ELECTED)
        granted(i);
    else if (evzk_election_event_is_final(event))
        drop_holder(i);
}

/* The writes. */

void guard_drop_write(int i)
{
    struct writer *w = &guarding.writer[i];
    evzk_guard *gone = w->g;
    const struct guard_plan *plan = guard_plan_of(i);

    w->g = NULL;
    process_call_begins(plan->proc);
    evzk_guard_free(gone);
    process_call_ends(plan->proc);
    if (w->leaves)
        guard_maybe_over(i);
    else if (w->n == plan->writes)
        guard_let_go(i);
    else
        scene_timer_set(in_us(plan->gap_ms), plan->proc, write_next, i);
}

static void free_late(intptr_t i)
{
    if (guarding.writer[i].g)
        guard_drop_write((int)i);
}

static void on_write(evzk_guard *g, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *arg)
{
    int i = (int)(intptr_t)arg, proc = guard_plan_of(i)->proc;
    struct writer *w = &guarding.writer[i];
    struct guarded *of = &w->of[w->n - 1];

    sim_say("writer %d: write %d: %s, %s", i, (int)w->n,
            evzk_guard_outcome_name(outcome), evzk_errname(rc));
    process_heard(proc, "the write's callback");
    if (w->g != g || of->told)
        sim_violation("writer %d: a write is told twice", i);
    of->told = true;
    of->outcome = outcome;
    of->rc = rc;
    of->canceled_at = 0;
    guard_check_told(i, of, result);
    process_callback(proc);
    if (w->g == g && guard_plan_of(i)->frees_late)
        scene_timer_set(FREE_US, proc, free_late, i);
    else if (w->g == g)
        guard_drop_write(i);
}

static void name_guard(int i, struct guarded *of)
{
    const struct writer *w = &guarding.writer[i];
    struct ens_seen seen;

    if (guard_plan_of(i)->by == BY_PATH)
        snprintf(of->guard, sizeof of->guard, "%s/%s", guard_dir, guard_znode);
    else
        snprintf(of->guard, sizeof of->guard, "/l/%s",
                 w->l ? evzk_lock_node(w->l) : evzk_election_node(w->e));
    of->guard_made = ens_look(of->guard, &seen) ? seen.czxid : 0;
}

static void write_next(intptr_t arg)
{
    int i = (int)arg, proc = guard_plan_of(i)->proc, rc;
    struct writer *w = &guarding.writer[i];

    if (w->leaves || w->g ||
        (guard_plan_of(i)->by != BY_PATH && !w->l && !w->e))
        return;
    name_guard(i, &w->of[w->n]);
    process_call_begins(proc);
    rc = guard_call_write(i, on_write);
    process_call_ends(proc);
    sim_say("writer %d: write %d begins: %s", i, (int)w->n + 1,
            evzk_errname(rc));
    if (rc == EVZK_OK) {
        w->of[w->n].begun = true;
        if (guard_plan_of(i)->timeout_ms)
            w->of[w->n].due = sim_now() + in_us(guard_plan_of(i)->timeout_ms);
        w->of[w->n].sessions = process_of(proc)->n_ids;
        w->n++;
        if (guard_plan_of(i)->lets_go)
            guard_let_go(i);
    } else if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, proc, write_next, arg);
    else if (rc != EVZK_ERR_STATE && rc != EVZK_ERR_CLOSED)
        sim_violation("writer %d: a write: %s", i, evzk_errname(rc));
    else
        guard_let_go(i);
}

/* The beginning. */

static int begin(int i)
{
    evzk_session *s = process_of(guard_plan_of(i)->proc)->s;
    struct writer *w = &guarding.writer[i];
    void *arg = (void *)(intptr_t)i;

    switch (guard_plan_of(i)->by) {
    case BY_LOCK:
        return evzk_lock_acquire(s, "/l", NULL, on_lock, arg, &w->l);
    case BY_CANDIDATE:
        return evzk_election_volunteer(s, "/l", NULL, on_election, arg, &w->e);
    case BY_PATH:
        break;
    }
    return EVZK_OK;
}

void guard_start(intptr_t arg)
{
    int i = (int)arg, proc = guard_plan_of(i)->proc, rc;
    struct writer *w = &guarding.writer[i];

    if (w->begun || w->over)
        return;
    if (process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, guard_start, arg);
        return;
    }
    process_call_begins(proc);
    rc = begin(i);
    process_call_ends(proc);
    if (rc == EVZK_ERR_NOMEM) {
        scene_timer_set(AGAIN_US, proc, guard_start, arg);
        return;
    }
    w->begun = true;
    if (rc != EVZK_OK) {
        w->leaves = true;
        guard_maybe_over(i);
    } else if (guard_plan_of(i)->by == BY_PATH)
        write_next(i);
}
