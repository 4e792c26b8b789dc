/* The lock's scenes at work: each process starts its locks, holds what it is
 * granted for a while, lets go, frees, and closes its session when nothing is
 * left to do.
 *
 * How it can fail: the explorer may release, cancel, free or close anything at
 * any time, also inside a callback.  So after every callback out, and in every
 * timer, a slot is looked at anew.
 */
#include "scene_lock.h"

#include <string.h>

#include "ens.h"
#include "leases.h"
#include "processes.h"
#include "scene_setup.h"
#include "steps.h"
#include "wire.h"

enum { LINGER_MS = 10, AGAIN_MS = 20 };

struct lock_world lock_world;
SIM_KEEP(lock_world)

static const struct lock_scene *scene(void) { return lock_world.sc; }

/* The end of what a process does. */

static bool busy(int proc)
{
    const struct lock_slot *k = lock_world.slot;

    for (; k < lock_world.slot + lock_world.slots; k++) {
        if (k->proc == proc && k->l)
            return true;
    }
    return lock_world.planned[proc] > 0 || lock_asking(proc) ||
           lock_revoking(proc) || lock_observing(proc) ||
           lock_world.actions > 0;
}

static unsigned places_of(int proc)
{
    bool in[LOCK_PLACES] = {false};
    unsigned n = 0;

    for (int64_t i = 0; i < lock_world.slots; i++) {
        const struct lock_slot *k = &lock_world.slot[i];

        n += k->proc == proc && !in[k->place];
        in[k->place] = in[k->place] || k->proc == proc;
    }
    return n ? n : 1;
}

/* All is quiet: then no watch of the present connection may be left. */
static void check_watches(int proc)
{
    const struct process *p = process_of(proc);
    evzk_session_stats st;

    evzk_session_get_stats(p->s, &st);
    if (st.machines || st.queued || !evzk_session_connected(p->s))
        return;
    /* The lease's question, and one for each directory. */
    if (st.in_flight > 1 + places_of(proc))
        sim_violation("%u requests of nobody", st.in_flight);
    /* A watch whose answer found no room is known to nobody, for as long as
       the connection lasts. */
    if (st.in_flight ||
        process_lacked_memory_since(proc, lock_world.conn[proc].since))
        return;
    if (st.watches)
        sim_violation("%u watches of nobody", st.watches);
    /* A watch whose removal a server has refused stays there; and while
     * something
     *      lasts, a server may not know that an old connection is no more. */
    if (lock_world.rough < sim_now() &&
        ens_watches_of(evzk_session_id(p->s)) > ens_throttled(proc))
        sim_violation("watches of nobody at the servers");
}

static void close_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    lock_world.idle[proc] = false;
    if (busy(proc) || p->closing)
        return;
    if (p->s)
        check_watches(proc);
    process_close(proc);
}

void lock_maybe_close(int proc)
{
    if (busy(proc) || lock_world.idle[proc] || process_of(proc)->closing)
        return;
    lock_world.idle[proc] = true;
    scene_timer_set(in_us(LINGER_MS), proc, close_idle, proc);
}

/* Calls of the library: what they return follows from what was told. */

static void release_due(intptr_t slot);
static void cancel_due(intptr_t slot);
static void free_due(intptr_t slot);
static void down_due(intptr_t slot);

void lock_release(struct lock_slot *k)
{
    int want =
        k->granted && !k->ended && !k->release ? EVZK_OK : EVZK_ERR_STATE;
    int rc;

    process_call_begins((int)k->proc);
    rc = k->e ? evzk_election_resign(k->e) : evzk_lock_release(k->l);
    process_call_ends((int)k->proc);
    sim_say("p%d release %d: %s", (int)k->proc, lock_index(k),
            evzk_errname(rc));
    if (rc != want)
        sim_violation("release of lock %d gave %s", lock_index(k),
                      evzk_errname(rc));
    k->release = k->release || rc == EVZK_OK;
    if (rc == EVZK_OK)
        k->let_go = sim_now();
    if (rc == EVZK_OK && (evzk_lock_held(k->l) || evzk_lease_held(k->lease)))
        sim_violation("lock %d is held after its release", lock_index(k));
}

/* Every second one, so that what is granted without is seen, too. */
void lock_take_lease(struct lock_slot *k)
{
    evzk_lease *l = NULL;
    int rc;

    if (lock_index(k) % 2 != 0)
        return;
    process_call_begins((int)k->proc);
    rc = k->e ? evzk_election_lease(k->e, &l) : evzk_lock_lease(k->l, &l);
    process_call_ends((int)k->proc);
    if (rc != EVZK_OK &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory((int)k->proc)))
        sim_violation("the lease of lock %d: %s", lock_index(k),
                      evzk_errname(rc));
    k->lease = l;
}

void lock_cancel(struct lock_slot *k)
{
    int want =
        !k->granted && !k->ended && !k->cancel ? EVZK_OK : EVZK_ERR_STATE;
    bool leaving = lock_is_leaving(k);
    int rc;

    process_call_begins((int)k->proc);
    rc = k->e ? evzk_election_resign(k->e) : evzk_lock_cancel(k->l);
    process_call_ends((int)k->proc);
    sim_say("p%d cancel %d: %s", (int)k->proc, lock_index(k), evzk_errname(rc));
    /* The lock may be giving up already, and has not said so yet. */
    if (rc != want && !(leaving && rc == EVZK_ERR_STATE))
        sim_violation("cancel of lock %d gave %s", lock_index(k),
                      evzk_errname(rc));
    k->cancel = k->cancel || rc == EVZK_OK;
    if (rc == EVZK_OK)
        k->let_go = sim_now();
}

void lock_downgrade(struct lock_slot *k)
{
    bool may = k->granted && !k->ended && !k->release && !k->asked_down &&
               k->plan->mode == EVZK_LOCK_WRITE;
    int rc;

    process_call_begins((int)k->proc);
    rc = evzk_lock_downgrade(k->l);
    process_call_ends((int)k->proc);
    sim_say("p%d downgrade %d: %s", (int)k->proc, lock_index(k),
            evzk_errname(rc));
    if (rc != (may ? EVZK_OK : EVZK_ERR_STATE) &&
        !(may && rc == EVZK_ERR_NOMEM && process_lacked_memory((int)k->proc)))
        sim_violation("downgrade of lock %d gave %s", lock_index(k),
                      evzk_errname(rc));
    if (rc == EVZK_OK)
        k->asked_down = sim_now();
}

void lock_free(struct lock_slot *k)
{
    evzk_lock *l = k->l;
    evzk_election *e = k->e;
    int proc = (int)k->proc;

    k->l = NULL;
    k->e = NULL;
    k->freed = true;
    if (!k->let_go)
        k->let_go = sim_now();
    scene_timer_cancel(release_due, lock_index(k));
    scene_timer_cancel(cancel_due, lock_index(k));
    scene_timer_cancel(free_due, lock_index(k));
    scene_timer_cancel(down_due, lock_index(k));
    lock_acknowledge_end(k);
    process_call_begins(proc);
    if (e)
        evzk_election_free(e);
    else
        evzk_lock_free(l);
    process_call_ends(proc);
    lease_over(proc, k->lease);
    k->lease = NULL;
    sim_say("p%d freed %d", proc, lock_index(k));
    if (k->plan->then_next && lock_world.slots < LOCK_SLOTS)
        lock_start(proc, k->plan + 1);
    lock_maybe_close(proc);
}

/* The processes. */

static void let_go(struct lock_slot *k)
{
    if (k->plan->free_held)
        lock_free(k);
    else
        lock_release(k);
}

static void release_due(intptr_t slot)
{
    struct lock_slot *k = &lock_world.slot[slot];

    if (k->l && !k->release && !k->ended)
        let_go(k);
}

static void cancel_due(intptr_t slot)
{
    struct lock_slot *k = &lock_world.slot[slot];

    if (k->l && !k->granted && !k->ended)
        lock_cancel(k);
}

static void down_due(intptr_t slot)
{
    struct lock_slot *k = &lock_world.slot[slot];

    if (k->l && k->granted && !k->release && !k->ended && !k->asked_down)
        lock_downgrade(k);
}

static void free_due(intptr_t slot)
{
    struct lock_slot *k = &lock_world.slot[slot];

    if (k->l)
        lock_free(k);
}

static void granted(struct lock_slot *k)
{
    const struct lock_plan *plan = k->plan;
    int proc = (int)k->proc;

    if (k->ended || k->release)
        return;
    if (plan->downgrade_ms)
        scene_timer_set(in_us(plan->downgrade_ms), proc, down_due,
                        lock_index(k));
    if (k->e)
        lock_acknowledge_set(k);
    if (plan->hold_ms == 0)
        let_go(k);
    else
        scene_timer_set(in_us(plan->hold_ms), proc, release_due, lock_index(k));
    if (plan->next_when_granted && lock_world.slots < LOCK_SLOTS)
        lock_start(proc, plan + 1);
}

void lock_heard(struct lock_slot *k, evzk_lock_event ev, int rc)
{
    const evzk_lock *l = k->l;
    int slot = lock_index(k);

    sim_say("p%d lock %d is told %s %s", (int)k->proc, slot,
            evzk_lock_event_name(ev), evzk_errname(rc));
    process_heard((int)k->proc, "a lock's callback");
    lock_told(k, ev, rc);
    process_callback((int)k->proc);
    if (k->l != l)
        return;
    if (ev == EVZK_LOCK_GRANTED)
        granted(k);
    if (ev == EVZK_LOCK_REVOKE_REQUESTED && k->plan->yields && k->granted &&
        !k->release)
        lock_release(k);
    if (k->l != l)
        return;
    if (ev >= EVZK_LOCK_RELEASED && k->plan->linger_ms)
        scene_timer_set(in_us(k->plan->linger_ms), (int)k->proc, free_due,
                        slot);
    else if (ev >= EVZK_LOCK_RELEASED)
        lock_free(k);
}

static void on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct lock_slot *k = &lock_world.slot[(intptr_t)arg];

    if (k->l == l)
        lock_heard(k, ev, rc);
    else
        sim_violation("lock %d: %s after it was freed", lock_index(k),
                      evzk_lock_event_name(ev));
}

static void set_timers(const struct lock_slot *k)
{
    const struct lock_plan *plan = k->plan;

    if (plan->cancel_ms)
        scene_timer_set(in_us(plan->cancel_ms), plan->process, cancel_due,
                        lock_index(k));
    if (plan->free_ms)
        scene_timer_set(in_us(plan->free_ms), plan->process, free_due,
                        lock_index(k));
}

static int acquire(struct lock_slot *k)
{
    static const evzk_acl nobody = {EVZK_PERM_ALL, "digest", "nobody:x"};
    static const evzk_acl own = {EVZK_PERM_CREATE | EVZK_PERM_DELETE |
                                     EVZK_PERM_READ,
                                 "world", "anyone"};
    const struct lock_plan *plan = k->plan;
    char data[2] = {'l', (char)('0' + lock_index(k))};
    evzk_lock_options opt = {.mode = plan->mode,
                             .dialect = lock_world.sc->dialect,
                             .timeout_ms = plan->timeout_ms,
                             .try_once = plan->try_once,
                             .no_requeue = plan->no_requeue,
                             .no_own_watch = plan->no_own_watch,
                             .revocable = plan->revocable,
                             .data = data,
                             .data_len = sizeof data};
    evzk_lock_priority urgency = {.priority = plan->priority,
                                  .ageing = plan->ageing,
                                  .revoke = plan->revoke,
                                  .grace_ms = plan->grace_ms};
    int rc;

    if (plan->urgent)
        opt.priority = &urgency;
    if (plan->hidden || plan->own_acl) {
        opt.acl = plan->hidden ? &nobody : &own;
        opt.acl_count = 1;
    }
    process_call_begins((int)k->proc);
    rc = evzk_lock_acquire(process_of((int)k->proc)->s, lock_path(plan->dir),
                           &opt, on_lock, (void *)(intptr_t)lock_index(k),
                           &k->l);
    process_call_ends((int)k->proc);
    return rc;
}

bool lock_start(int proc, const struct lock_plan *plan)
{
    struct lock_slot *k = &lock_world.slot[lock_world.slots];
    const struct process *p = process_of(proc);
    int rc;

    if (!p->s || lock_world.slots == LOCK_SLOTS)
        return false;
    k->plan = plan;
    k->proc = proc;
    k->place = plan->dir;
    k->began = sim_now();
    rc = plan->elect ? lock_volunteer(k) : acquire(k);
    sim_say("p%d acquire %d: %s", proc, lock_index(k), evzk_errname(rc));
    if (rc == EVZK_OK) {
        lock_world.slots++;
        k->used = true;
        lock_dirs_started(k);
        set_timers(k);
    } else {
        if (!(rc == EVZK_ERR_CLOSED && p->closing) &&
            !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
            sim_violation("p%d: acquire gave %s", proc, evzk_errname(rc));
        memset(k, 0, sizeof *k);
    }
    return rc == EVZK_OK;
}

static void start_due(intptr_t i)
{
    const struct lock_plan *plan = &scene()->locks[i];

    if (process_opening(plan->process)) {
        scene_timer_set(in_us(AGAIN_MS), plan->process, start_due, i);
        return;
    }
    lock_world.planned[plan->process]--;
    if (!lock_start(plan->process, plan))
        lock_maybe_close(plan->process);
}

/* The beginning. */

static void set_plans(const struct lock_scene *sc)
{
    for (int i = 0; i < LOCK_PLANS; i++) {
        const struct lock_plan *plan = &sc->locks[i];

        if (plan->start_ms) {
            lock_world.planned[plan->process]++;
            scene_timer_set(in_us(plan->start_ms), plan->process, start_due, i);
        }
    }
    lock_actions_begin();
}

/* A waiter that wakes and looks again: one for each that went, not more. */
static void note_handed(const evzk_trace *t)
{
    struct lock_slot *k = lock_world.slot;

    for (; k < lock_world.slot + lock_world.slots; k++) {
        if (!k->l || (const void *)k->l != t->object)
            continue;
        if (strcmp(t->to, "VERIFYING") != 0)
            k->handed =
                t->from && strcmp(t->from, "WATCHING") == 0 &&
                (strcmp(t->to, "HELD") == 0 || strcmp(t->to, "ELECTED") == 0);
        /* Another client has deleted its znode: the directory may be another's.
         */
        if (t->from && strcmp(t->from, "DELETING") == 0 &&
            t->rc == EVZK_ERR_NONODE)
            lock_world.dir[k->place].soiled = true;
    }
}

/* The revocation deletes the znodes of holders that do not let go: any
 * contender in its way. */
static bool any_removed(int proc)
{
    const struct lock_plan *plan = scene()->locks;

    for (int i = 0; i < LOCK_PLANS; i++) {
        if (plan[i].process == proc && plan[i].revoke && plan[i].grace_ms)
            return true;
    }
    return lock_removing();
}

static bool removes(int proc, const char *path)
{
    (void)path;
    return any_removed(proc);
}

static bool takes(int64_t session, const char *path)
{
    return any_removed(process_with(session)) ||
           scene_takes_leader(session, path);
}

/* Its session is freed, or closed without a connection: its locks come to their
 * end, one after the other. */
static bool sends_no_more(int proc)
{
    const struct process *p = process_of(proc);

    return !p->s || (p->closing && !process_is_connected(proc));
}

static void on_trace(int proc, const evzk_trace *t)
{
    bool one = strcmp(t->kind, "lock") == 0 || strcmp(t->kind, "election") == 0;
    int place = one ? lock_place_of(t->path) : -1;

    note_handed(t);
    lock_traced(proc, t);
    lock_observers_traced(proc, t);
    if (place < 0 || !lock_state_lists(t->to) || sends_no_more(proc))
        return;
    if (t->from && lock_state_waits(t->from))
        lock_world.place[place].again[proc]++;
    if (strcmp(t->event, "pred deleted") == 0)
        lock_world.place[place].wakes++;
}

void lock_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = LOCK_TIMEOUT_MS};

    scene_unhook();
    lock_world.sc = sc->own;
    process_trace = on_trace;
    process_leases = lock_leases;
    ens_removes = removes;
    ens_takes = takes;
    ens_reads_own = !scene()->locks[0].elect;
    servers.link_us = 1000;
    servers.quirk_end = scene()->numbers_end;
    servers.rivals = scene()->rivals;
    if (scene()->server_tick_ms)
        servers.tick_ms = scene()->server_tick_ms;
    ens_begin(&servers);
    lock_dirs_begin();
    lock_leader_begin();
    cfg.chroot = scene()->chroot;
    cfg.make_chroot = scene()->make_chroot;
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, scene()->server[p]);
        process_open(p, &cfg);
    }
    set_plans(scene());
}

bool lock_done(void)
{
    for (int64_t i = 0; i < lock_world.slots; i++) {
        if (lock_world.slot[i].l)
            return false;
    }
    for (int p = 0; p < SIM_PROCS; p++) {
        if (lock_world.planned[p])
            return false;
    }
    return lock_world.actions == 0 && !lock_asking(-1) && !lock_revoking(-1) &&
           !lock_observing(-1) && processes_gone();
}
