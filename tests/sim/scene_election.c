/* Elections in the lock's scenes: who is elected does what is to be done first,
 * says that it leads, and says it once more, if the scene wants that.
 *
 * A candidate is a slot as a lock is, so that all rules for locks hold for it;
 * what is told besides is in scene_election_rules.c.
 *
 * How it can fail: the explorer may acknowledge before the scene does.  So what
 * is said is counted, and each time something else is said.
 */
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "recipes/lock/lock_internal.h"
#include "scene_lock.h"
#include "steps.h"

/* The candidate may acknowledge only when nothing else is on its way. */
static bool may_acknowledge(const struct lock_slot *k)
{
    return k->granted && !k->ended && !k->release && !k->acked;
}

void lock_acknowledge(struct lock_slot *k)
{
    int want = may_acknowledge(k) ? EVZK_OK : EVZK_ERR_STATE, rc;
    char said[3] = {'w', (char)('0' + lock_index(k)),
                    (char)('0' + (k->acks + 1) % 10)};

    process_call_begins((int)k->proc);
    rc = evzk_election_acknowledge(k->e, said, sizeof said);
    process_call_ends((int)k->proc);
    sim_say("p%d acknowledge %d: %s", (int)k->proc, lock_index(k),
            evzk_errname(rc));
    if (rc != want && !process_of((int)k->proc)->closing &&
        !(want == EVZK_OK && rc == EVZK_ERR_NOMEM &&
          process_lacked_memory((int)k->proc)))
        sim_violation("acknowledging lock %d gave %s", lock_index(k),
                      evzk_errname(rc));
    if (rc != EVZK_OK)
        return;
    k->acked = sim_now();
    k->acks++;
    lock_dirs_busy((int)k->proc);
}

static void ready_due(intptr_t slot)
{
    struct lock_slot *k = &lock_world.slot[slot];

    if (k->e && may_acknowledge(k))
        lock_acknowledge(k);
}

/* The second time. */
static void again_due(intptr_t slot) { ready_due(slot); }

void lock_acknowledge_set(struct lock_slot *k)
{
    const struct lock_plan *plan = k->plan;
    int proc = (int)k->proc;

    if (plan->acknowledge_ms == 0)
        ready_due(lock_index(k));
    else if (plan->acknowledge_ms > 0)
        scene_timer_set(in_us(plan->acknowledge_ms), proc, ready_due,
                        lock_index(k));
    if (plan->acknowledge_again_ms)
        scene_timer_set(in_us(plan->acknowledge_again_ms), proc, again_due,
                        lock_index(k));
}

void lock_acknowledge_end(struct lock_slot *k)
{
    scene_timer_cancel(ready_due, lock_index(k));
    scene_timer_cancel(again_due, lock_index(k));
}

static evzk_lock_event lock_event_of(evzk_election_event ev)
{
    switch (ev) {
    case EVZK_ELECTION_ELECTED:
    case EVZK_ELECTION_LEADING:
        return EVZK_LOCK_GRANTED;
    case EVZK_ELECTION_SUSPENDED:
        return EVZK_LOCK_SUSPENDED;
    case EVZK_ELECTION_RESUMED:
        return EVZK_LOCK_RESUMED;
    case EVZK_ELECTION_REQUEUED:
        return EVZK_LOCK_REQUEUED;
    case EVZK_ELECTION_RESIGN_REQUESTED:
        return EVZK_LOCK_REVOKE_REQUESTED;
    case EVZK_ELECTION_RESIGNED:
        return EVZK_LOCK_RELEASED;
    case EVZK_ELECTION_LOST:
        return EVZK_LOCK_LOST;
    case EVZK_ELECTION_FAILED:
        break;
    }
    return EVZK_LOCK_FAILED;
}

static void leading(struct lock_slot *k, int rc)
{
    sim_say("p%d lock %d is told LEADING %s", (int)k->proc, lock_index(k),
            evzk_errname(rc));
    process_heard((int)k->proc, "an election's callback");
    process_news((int)k->proc, "LEADING");
    lock_told_leading(k, rc);
    process_callback((int)k->proc);
}

static void on_election(evzk_election *e, evzk_election_event ev, int rc,
                        void *arg)
{
    struct lock_slot *k = &lock_world.slot[(intptr_t)arg];

    if (k->e != e)
        sim_violation("lock %d: event %d of an election after it was freed",
                      lock_index(k), ev);
    else if (ev == EVZK_ELECTION_LEADING)
        leading(k, rc);
    else
        lock_heard(k, lock_event_of(ev), rc);
}

int lock_volunteer(struct lock_slot *k)
{
    const struct lock_plan *plan = k->plan;
    char data[2] = {'l', (char)('0' + lock_index(k))};
    evzk_election_options opt = {.timeout_ms = plan->timeout_ms,
                                 .no_requeue = plan->no_requeue,
                                 .no_own_watch = plan->no_own_watch,
                                 .revocable = plan->revocable,
                                 .dialect = lock_world.sc->dialect,
                                 .data = data,
                                 .data_len = sizeof data};
    int rc;

    process_call_begins((int)k->proc);
    rc = evzk_election_volunteer(process_of((int)k->proc)->s,
                                 lock_path(plan->dir), &opt, on_election,
                                 (void *)(intptr_t)lock_index(k), &k->e);
    process_call_ends((int)k->proc);
    if (rc == EVZK_OK)
        k->l = evzk__election_lock(k->e);
    return rc;
}

/* Makes the znodes that are there at first. */
void lock_leader_begin(void)
{
    static const char *const said[] = {
        [LOCK_LEADER] = "nobody",
        [LOCK_LEADER_LIKE] = "18446744073709551614 g-n_0000000000\nnobody",
        [LOCK_LEADER_HAND] = "1 operator-lock-0000000000\nhand",
        [LOCK_LEADER_PARENT] = "nobody"};
    const char *text = said[lock_world.sc->leader];

    if (!text)
        return;
    ens_create("/a/lock/leader", text, strlen(text), ZOO_PERSISTENT);
    if (lock_world.sc->leader == LOCK_LEADER_PARENT)
        ens_create("/a/lock/leader/child", "", 0, ZOO_PERSISTENT);
}

/* The explorer's calls. */

const char *const lock_election_calls[] = {
    "resign",       "acknowledge",   "free",         "volunteer", "observe",
    "free-observe", "close-session", "free-session", NULL};

enum call {
    RESIGN,
    ACKNOWLEDGE,
    FREE,
    VOLUNTEER,
    OBSERVE,
    FREE_OBSERVE,
    CLOSE,
    FREE_SESSION
};

static bool on_first(int proc, enum call what)
{
    struct lock_slot *k = lock_world.slot;

    while (k < lock_world.slot + lock_world.slots && !(k->proc == proc && k->e))
        k++;
    if (k == lock_world.slot + lock_world.slots)
        return false;
    if (what == ACKNOWLEDGE)
        lock_acknowledge(k);
    else if (what == FREE)
        lock_free(k);
    else if (k->granted)
        lock_release(k);
    else
        lock_cancel(k);
    return true;
}

static bool volunteer(int proc)
{
    static const struct lock_plan plan = {.elect = true, .hold_ms = 10};

    if (!process_of(proc)->s || lock_world.slots == LOCK_SLOTS)
        return false;
    (void)lock_start(proc, &plan); /* May well be refused. */
    return true;
}

static bool on_session(int proc, enum call what)
{
    if (!process_of(proc)->s)
        return false;
    if (what == CLOSE)
        process_close(proc);
    else
        process_free(proc);
    return true;
}

bool lock_election_call(int proc, unsigned which)
{
    switch ((enum call)which) {
    case RESIGN:
    case ACKNOWLEDGE:
    case FREE:
        return on_first(proc, (enum call)which);
    case VOLUNTEER:
        return volunteer(proc);
    case OBSERVE:
        return lock_observe(proc);
    case FREE_OBSERVE:
        return lock_observe_free(proc);
    case CLOSE:
    case FREE_SESSION:
        return on_session(proc, (enum call)which);
    }
    return false;
}
