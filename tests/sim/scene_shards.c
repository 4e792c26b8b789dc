/* Plays a scene of the shards.  Each member joins, does what the scene says,
 * and leaves when all members follow the plan; a process closes its session
 * when none of its members is left.
 *
 * How it can fail: the explorer may drain, free or close any object at any
 * time, also inside a callback.  So after every callback, and in every timer,
 * the code here looks at the slot again.
 */
#include "scene_shards.h"

#include <string.h>

#include "ens.h"
#include "scene_setup.h"
#include "steps.h"
#include "wire.h"

enum {
    LINGER_MS = 10,
    AGAIN_MS = 20,
    HOME_MS = 50,
    TRIES_MS = 6000, /* More than until a refused request is tried again. */
    EXCUSED = 20,    /* So many checks are awaited where none need succeed. */
    PATIENCE = 40
};

struct shards_world shards_world;
SIM_KEEP(shards_world)

static int index_of(const struct shards_slot *v)
{
    return (int)(v - shards_world.slot);
}

/* ---- The end of a process ---- */

static bool busy(int proc)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->proc == proc && v->a)
            return true;
    }
    return shards_world.to_join[proc] > 0 || shards_world.actions > 0;
}

/* All machines of the session have ended: no watch and no znode may be left. */
static void check_left(int proc)
{
    const struct process *p = process_of(proc);
    evzk_session_stats st;

    evzk_session_get_stats(p->s, &st);
    if (st.machines || st.queued || st.in_flight ||
        process_lacked_memory(proc) || !evzk_session_connected(p->s))
        return;
    if (st.watches)
        sim_violation("p%d: %u watches of nobody", proc, st.watches);
    if (!ens_denied(proc) && !ens_shut(proc) && /* At the look for it, maybe. */
        shards_owns(evzk_session_id(p->s)))
        sim_violation("p%d: znodes of nobody", proc);
}

static void close_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    if (busy(proc) || p->closing) {
        shards_world.closing[proc] = 0;
        return;
    }
    if (p->s && !process_is_idle(p) &&
        shards_world.closing[proc]++ < PATIENCE) {
        scene_timer_set(in_us(LINGER_MS), proc, close_idle, proc);
        return;
    }
    if (p->s)
        check_left(proc);
    process_close(proc);
}

void shards_maybe_close(int proc)
{
    if (busy(proc) || shards_world.closing[proc] || process_of(proc)->closing)
        return;
    shards_world.closing[proc] = 1;
    scene_timer_set(in_us(LINGER_MS), proc, close_idle, proc);
}

/* ---- Calls of the library: what they must return follows from the events ----
 */

static void drain_due(intptr_t slot);
static void free_due(intptr_t slot);
static void ack_due(intptr_t both);

/* No member stays that could take a shard. */
static bool all_leave(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->a && !v->drain && !v->ended)
            return false;
    }
    return true;
}

static void drain(struct shards_slot *v)
{
    int want = v->ended || v->drain ? EVZK_ERR_STATE : EVZK_OK;
    int ms = v->joiner->drain_timeout_ms ? v->joiner->drain_timeout_ms : 300,
        rc;

    process_call_begins((int)v->proc);
    rc = evzk_shards_drain(v->a, (uint32_t)ms);
    process_call_ends((int)v->proc);
    sim_say("p%d drain %d: %s", (int)v->proc, index_of(v), evzk_errname(rc));
    if (rc != want &&
        !(rc == EVZK_ERR_STATE &&
          (v->ending || process_of((int)v->proc)->closing ||
           ens_shut((int)v->proc))) && /* Fails. */
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory((int)v->proc)))
        sim_violation("draining %d gave %s", index_of(v), evzk_errname(rc));
    if (rc == EVZK_OK)
        v->drain = sim_now();
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(in_us(AGAIN_MS), (int)v->proc, drain_due, index_of(v));
    if (all_leave())
        shards_world.disturbed = 1;
}

static void free_it(struct shards_slot *v)
{
    evzk_shards *a = v->a;
    int proc = (int)v->proc;

    v->a = NULL;
    if (!v->ended)
        shards_world.disturbed = 1; /* Its shards have no leader for a while. */
    scene_timer_cancel(drain_due, index_of(v));
    scene_timer_cancel(free_due, index_of(v));
    for (int i = 0; i < SHARDS_MOST; i++)
        scene_timer_cancel(ack_due, index_of(v) * SHARDS_MOST + i);
    process_call_begins(proc);
    evzk_shards_free(a);
    process_call_ends(proc);
    shards_vacate(v);
    sim_say("p%d freed %d", proc, index_of(v));
    shards_maybe_close(proc);
}

static void acknowledge(struct shards_slot *v, int shard)
{
    struct shards_seat *seat = &v->seat[shard];
    bool may =
        seat->epoch && !seat->acked && !v->ended && v->joiner->acknowledge;
    char said[2] = {'w', (char)('0' + index_of(v))};
    int rc;

    process_call_begins((int)v->proc);
    rc = evzk_shards_acknowledge(v->a, shards_own(v, shard), said, sizeof said);
    process_call_ends((int)v->proc);
    sim_say("p%d acknowledge %d of %d: %s", (int)v->proc, shard, index_of(v),
            evzk_errname(rc));
    if (rc != EVZK_OK && rc != EVZK_ERR_STATE &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory((int)v->proc)))
        sim_violation("acknowledging %d gave %s", shard, evzk_errname(rc));
    if (rc == EVZK_ERR_STATE && may && !process_of((int)v->proc)->closing)
        sim_violation("%d is elected, and may not say that it leads", shard);
    if (rc == EVZK_OK && !seat->epoch)
        sim_violation("%d is not elected, and may say that it leads", shard);
    seat->acked = seat->acked || rc == EVZK_OK;
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(in_us(AGAIN_MS), (int)v->proc, ack_due,
                        index_of(v) * SHARDS_MOST + shard);
}

static void ack_due(intptr_t both)
{
    struct shards_slot *v = &shards_world.slot[both / SHARDS_MOST];
    int shard = (int)(both % SHARDS_MOST);

    if (v->a && v->seat[shard].epoch && !v->seat[shard].acked)
        acknowledge(v, shard);
}

static void drain_due(intptr_t slot)
{
    struct shards_slot *v = &shards_world.slot[slot];

    if (v->a && !v->ended && !v->drain)
        drain(v);
}

static void free_due(intptr_t slot)
{
    struct shards_slot *v = &shards_world.slot[slot];

    if (v->a)
        free_it(v);
}

/* ---- Callbacks ---- */

static void on_shard(evzk_shards *a, uint32_t own, evzk_election_event ev,
                     int rc, void *arg)
{
    struct shards_slot *v = &shards_world.slot[(intptr_t)arg];
    int shard = shards_of(v, own);

    sim_say("p%d %d is told %d %s of shard %d", (int)v->proc, index_of(v), ev,
            evzk_errname(rc), shard);
    process_heard((int)v->proc, "a shard's callback");
    if (v->a != a) {
        sim_violation("%d: event %d after it was freed", index_of(v), ev);
        return;
    }
    shards_told(v, shard, ev, rc);
    process_callback((int)v->proc);
    if (v->a != a || shard < 0 || !v->joiner->acknowledge)
        return;
    if (ev == EVZK_ELECTION_LEADING && rc == EVZK_ERR_NOAUTH) {
        v->seat[shard].acked = false;
        scene_timer_set(in_us(AGAIN_MS), (int)v->proc, ack_due,
                        (intptr_t)arg * SHARDS_MOST + shard);
        return;
    }
    if (ev != EVZK_ELECTION_ELECTED)
        return;
    if (v->joiner->ack_ms)
        scene_timer_set(in_us(v->joiner->ack_ms), (int)v->proc, ack_due,
                        (intptr_t)arg * SHARDS_MOST + shard);
    else if (v->seat[shard].epoch && !v->seat[shard].acked)
        acknowledge(v, shard);
}

static void on_all(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    struct shards_slot *v = &shards_world.slot[(intptr_t)arg];

    sim_say("p%d %d is told %s %s", (int)v->proc, index_of(v),
            evzk_shards_event_name(ev), evzk_errname(rc));
    process_heard((int)v->proc, "the shards' callback");
    if (v->a != a) {
        sim_violation("%d: %s after it was freed", index_of(v),
                      evzk_shards_event_name(ev));
        return;
    }
    shards_told_all(v, ev, rc);
    process_callback((int)v->proc);
    if (v->a != a || !v->ended)
        return;
    if (v->joiner->linger_ms)
        scene_timer_set(in_us(v->joiner->linger_ms), (int)v->proc, free_due,
                        index_of(v));
    else
        free_it(v);
}

/* ---- Joining ---- */

static int do_join(struct shards_slot *v)
{
    const struct shards_joiner *joiner = v->joiner;
    uint32_t listed = shards_listed(joiner);
    char data[2] = {'m', (char)('0' + index_of(v))};
    evzk_shards_options opt = {.count = joiner->count,
                               .weight = joiner->weight,
                               .most = joiner->most,
                               .observer = joiner->observer,
                               .acknowledge = joiner->acknowledge,
                               .data = data,
                               .data_len = sizeof data};
    int rc;

    if (listed > 0) {
        opt.names = joiner->names;
        opt.count = listed;
    }
    if (opt.count == 0)
        opt.count = (uint32_t)shards_world.scene->shards;
    process_call_begins((int)v->proc);
    rc = evzk_shards_join(process_of((int)v->proc)->s, SHARDS_PATH, &opt,
                          on_shard, on_all, (void *)(intptr_t)index_of(v),
                          &v->a);
    process_call_ends((int)v->proc);
    return rc;
}

static bool join(int proc, const struct shards_joiner *joiner)
{
    struct shards_slot *v = &shards_world.slot[shards_world.slots];
    const struct process *p = process_of(proc);
    int rc;

    if (!p->s || shards_world.slots == SHARDS_SLOTS)
        return false;
    v->joiner = joiner;
    v->proc = proc;
    rc = do_join(v);
    sim_say("p%d join %d: %s", proc, index_of(v), evzk_errname(rc));
    if (rc != EVZK_OK) {
        if (!(rc == EVZK_ERR_CLOSED && p->closing) &&
            !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
            sim_violation("p%d: joining gave %s", proc, evzk_errname(rc));
        memset(v, 0, sizeof *v);
        return false;
    }
    shards_world.slots++;
    shards_world.changed_at = sim_now();
    v->used = 1;
    shards_check_names(v);
    if (joiner->drain_ms)
        scene_timer_set(in_us(joiner->drain_ms), proc, drain_due, index_of(v));
    if (joiner->free_ms)
        scene_timer_set(in_us(joiner->free_ms), proc, free_due, index_of(v));
    return true;
}

static void join_due(intptr_t i)
{
    const struct shards_joiner *joiner = &shards_world.scene->members[i];

    if (process_opening(joiner->process)) {
        scene_timer_set(in_us(AGAIN_MS), joiner->process, join_due, i);
        return;
    }
    shards_world.to_join[joiner->process]--;
    if (!join(joiner->process, joiner))
        shards_maybe_close(joiner->process);
}

/* ---- Leaving, when all is as it should be ---- */

static void leave_due(intptr_t slot)
{
    struct shards_slot *v = &shards_world.slot[slot];

    if (v->a && v->joiner->leaves_by_drain && !v->ended && !v->drain)
        drain(v);
    else if (v->a && !v->drain)
        free_it(v);
}

/* A member has a time of its own to leave, or leaves already. */
static bool any_leaves(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->a && (v->joiner->drain_ms || v->joiner->free_ms || v->drain))
            return true;
    }
    return false;
}

/* What servers have hung up at is tried again rarely: a member that tries again
 * every few seconds stays for ever. */
static bool were_hung_up_on(void)
{
    struct shards_world *w = &shards_world;
    int64_t n = 0;

    for (int p = 0; p < SIM_PROCS; p++)
        n += ens_hang_ups(p);
    if (n != w->hang_ups)
        w->hung_up_at = sim_now();
    w->hang_ups = n;
    return n > 0 && sim_now() - w->hung_up_at < in_us(TRIES_MS);
}

static bool may_leave(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (shards_world.to_join[p])
            return false;
    }
    if (shards_world.actions || any_leaves() || were_hung_up_on())
        return false;
    if (shards_right())
        return true;
    return shards_excused() && ++shards_world.excused_checks > EXCUSED;
}

static void go_home(intptr_t arg)
{
    if (!may_leave()) {
        scene_timer_set(in_us(HOME_MS), -1, go_home, arg);
        return;
    }
    sim_say("all is settled");
    shards_world.leaving = shards_world.disturbed = 1;
    for (int i = 0; i < shards_world.slots; i++) {
        if (shards_world.slot[i].a)
            scene_timer_set(0, (int)shards_world.slot[i].proc, leave_due, i);
    }
}

/* ---- The beginning ---- */

static void set_plans(const struct shards_scene *sc)
{
    for (int i = 0; i < SHARDS_SLOTS; i++) {
        const struct shards_joiner *joiner = &sc->members[i];

        if (joiner->join_ms) {
            shards_world.to_join[joiner->process]++;
            scene_timer_set(in_us(joiner->join_ms), joiner->process, join_due,
                            i);
        }
    }
    scene_timer_set(in_us(HOME_MS), -1, go_home, 0);
    shards_actions_begin();
}

static void set_sequence(const char *dir)
{
    ens_create(dir, "", 0, ZOO_PERSISTENT);
    ens_set_sequence(dir, shards_world.scene->first_number);
}

/* The znodes that are there at the beginning. */
static void make_tree(const struct shards_scene *sc)
{
    static const char garbage[] = "evzk-plan 1 7 x";

    if (sc->plan_is_garbage || sc->first_number || sc->leader_blocked)
        ens_create(SHARDS_PATH, "", 0, ZOO_PERSISTENT);
    if (sc->plan_is_garbage)
        ens_create(SHARDS_PATH "/plan", garbage, strlen(garbage),
                   ZOO_PERSISTENT);
    if (sc->first_number) {
        set_sequence(SHARDS_PATH "/members");
        set_sequence(SHARDS_PATH "/shard-0");
    }
    if (sc->leader_blocked) {
        ens_create(SHARDS_PATH "/shard-0", "", 0, ZOO_PERSISTENT);
        ens_create(SHARDS_PATH "/shard-0/leader", "", 0, ZOO_PERSISTENT);
        ens_create(SHARDS_PATH "/shard-0/leader/child", "", 0, ZOO_PERSISTENT);
    }
}

void shards_begin(const struct sim_scene *sc)
{
    static const struct process_config cfg = {.timeout_ms = SHARDS_TIMEOUT_MS};
    struct ens_config servers = scene_servers;

    scene_unhook();
    shards_world.scene = sc->own;
    shards_world.besides = (struct shards_joiner){.free_ms = 400};
    memcpy(shards_world.besides.names, shards_world.scene->members[0].names,
           sizeof shards_world.besides.names);
    process_leases = shards_leases;
    ens_takes = scene_takes_leader;
    servers.link_us = 1000;
    servers.quirk_end = shards_world.scene->numbers_end;
    ens_begin(&servers);
    make_tree(shards_world.scene);
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p % SIM_SERVERS);
        process_open(p, &cfg);
    }
    set_plans(shards_world.scene);
}

bool shards_done(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        if (shards_world.slot[i].a)
            return false;
    }
    for (int p = 0; p < SIM_PROCS; p++) {
        if (shards_world.to_join[p])
            return false;
    }
    return shards_world.actions == 0 && processes_gone();
}

/* ---- Calls that the explorer makes at any time ---- */

const char *const shards_calls[] = {
    "drain",         "free",         "join", "acknowledge",
    "close-session", "free-session", NULL};

enum call { DRAIN, FREE, JOIN, ACKNOWLEDGE, CLOSE, FREE_SESSION };

static bool on_first(int proc, enum call what)
{
    struct shards_slot *v = shards_world.slot;

    while (v < shards_world.slot + shards_world.slots &&
           !(v->proc == proc && v->a))
        v++;
    if (v == shards_world.slot + shards_world.slots)
        return false;
    if (what == DRAIN)
        drain(v);
    else if (what == FREE)
        free_it(v);
    else
        acknowledge(v, shards_of(v, 0));
    return true;
}

static bool join_besides(int proc)
{
    if (!process_of(proc)->s || shards_world.slots == SHARDS_SLOTS)
        return false;
    (void)join(proc, &shards_world.besides); /* The library may refuse it. */
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

bool shards_call(int proc, unsigned which)
{
    shards_world.disturbed = shards_world.disturbed_besides = 1;
    switch ((enum call)which) {
    case DRAIN:
    case FREE:
    case ACKNOWLEDGE:
        return on_first(proc, (enum call)which);
    case JOIN:
        return join_besides(proc);
    case CLOSE:
    case FREE_SESSION:
        return on_session(proc, (enum call)which);
    }
    return false;
}
