/* The shards' rules, asked after everything that happens, against the true
 * tree.
 *
 * Above all: of each shard never do two believe that they lead it.  While
 * nothing has befallen anybody, a shard that was led once is led by somebody,
 * but for the trips of a hand-over, and somebody's znode is there all the
 * while.  And when all is quiet, each is led by whom the plan names.
 *
 * How it can fail: what excuses too much.  An operator's deed and a session
 * that is ended by force excuse only belief; that all comes right in the end is
 * excused only by what was refused, or written by hand.
 */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "scene_shards.h"
#include "wire.h"

enum {
    UNLED_US = 60 * 1000,
    SOON_US = 100 * 1000,    /* What waits for nobody. */
    FOLLOWED_US = 500 * 1000 /* From a plan to its being so. */
};

static int index_of(const struct shards_slot *v)
{
    return (int)(v - shards_world.slot);
}

static const struct player *player(const struct shards_slot *v)
{
    return player_of((int)v->proc);
}

/* Its end could not be foreseen. */
static bool excused(const struct shards_seat *seat)
{
    return player_broken(seat->epoch) || player_forced(seat->session);
}

static bool expired_once(const struct player *p)
{
    for (unsigned i = 0; i < p->n_ids; i++) {
        if (player_over(p->ids[i]))
            return true;
    }
    return false;
}

/* ---- What is told of one shard ---- */

static bool refused_rc_ok(const struct shards_slot *v, int rc)
{
    if (rc == EVZK_ERR_SERVER)
        return ens_throttled((int)v->proc);
    if (rc == EVZK_ERR_CLOSED)
        return player(v)->closing;
    if (rc == EVZK_ERR_SEQUENCE)
        return shards_world.sc->end;
    return rc == EVZK_ERR_NOMEM && player_starved((int)v->proc);
}

static bool lost_rc_ok(const struct shards_slot *v,
                       const struct shards_seat *seat, int rc)
{
    if (rc == EVZK_ERR_EXPIRED)
        return expired_once(player(v));
    if (rc == EVZK_ERR_NODEGONE)
        return player_broken(seat->epoch);
    if (rc == EVZK_ERR_LEASE)
        return seat->suspended;
    return rc == EVZK_ERR_CLOSED && player(v)->closing;
}

static bool rc_ok(const struct shards_slot *v, const struct shards_seat *seat,
                  evzk_election_event ev, int rc)
{
    switch (ev) {
    case EVZK_ELECTION_LEADING:
        return rc == EVZK_OK ||
               (rc == EVZK_ERR_NOTEMPTY && shards_world.sc->refused) ||
               (rc == EVZK_ERR_SERVER && ens_throttled((int)v->proc));
    case EVZK_ELECTION_LOST:
        return lost_rc_ok(v, seat, rc);
    case EVZK_ELECTION_FAILED:
        return refused_rc_ok(v, rc);
    case EVZK_ELECTION_ELECTED:
    case EVZK_ELECTION_SUSPENDED:
    case EVZK_ELECTION_RESUMED:
    case EVZK_ELECTION_RESIGNED:
    case EVZK_ELECTION_REQUEUED:
    case EVZK_ELECTION_RESIGN_REQUESTED:
        break;
    }
    return rc == EVZK_OK;
}

static bool in_turn(const struct shards_slot *v, const struct shards_seat *seat,
                    evzk_election_event ev)
{
    if (v->ended)
        return false;
    switch (ev) {
    case EVZK_ELECTION_ELECTED:
        return !seat->epoch;
    case EVZK_ELECTION_LEADING:
        return seat->epoch && (seat->acked || !v->plan->acknowledge);
    case EVZK_ELECTION_SUSPENDED:
        return seat->epoch && !seat->suspended;
    case EVZK_ELECTION_RESUMED:
        return seat->epoch && seat->suspended;
    case EVZK_ELECTION_RESIGNED:
    case EVZK_ELECTION_LOST:
        return seat->epoch;
    case EVZK_ELECTION_FAILED:
        return !seat->epoch;
    case EVZK_ELECTION_REQUEUED:
    case EVZK_ELECTION_RESIGN_REQUESTED:
        break;
    }
    return false;
}

static void check_elected(struct shards_slot *v, int shard)
{
    struct shards_seat *seat = &v->seat[shard];
    const struct shards_node *n;

    seat->epoch = (int64_t)evzk_shards_epoch(v->a, (uint32_t)shard);
    seat->session = evzk_session_id(player(v)->s);
    if (!evzk_shards_elected(v->a, (uint32_t)shard))
        sim_violation("%d: ELECTED of shard %d, and is not", index_of(v),
                      shard);
    if (excused(seat))
        return;
    if (seat->epoch <= shards_world.epoch[shard])
        sim_violation("the epoch of shard %d is not greater", shard);
    shards_world.epoch[shard] = seat->epoch;
    shards_look();
    n = shards_candidate(shard, seat->epoch);
    if (!n || n->owner != seat->session)
        sim_violation("%d is elected of shard %d, and has no znode there",
                      index_of(v), shard);
}

/* It says so: the znode stands, and names this epoch. */
static void check_leading(const struct shards_slot *v, int shard)
{
    const struct shards_seat *seat = &v->seat[shard];
    char path[64], want[32];
    struct ens_seen seen;
    int n;

    snprintf(path, sizeof path, SHARDS_PATH "/shard-%d/leader", shard);
    n = snprintf(want, sizeof want, "%lld ", (long long)seat->epoch);
    if (!evzk_shards_leading(v->a, (uint32_t)shard) || player_any_broken() ||
        player_forced(seat->session))
        return;
    if (!ens_look(path, &seen) || seen.owner != seat->session ||
        (seen.mzxid == seen.czxid &&
         (seen.len < n || memcmp(seen.data, want, (size_t)n) != 0)))
        sim_violation("%d leads shard %d, and the leader znode does not stand",
                      index_of(v), shard);
}

static void check_lost(struct shards_slot *v, int shard)
{
    struct shards_seat *seat = &v->seat[shard];

    if (evzk_shards_elected(v->a, (uint32_t)shard))
        sim_violation("%d has lost shard %d, and is elected", index_of(v),
                      shard);
    seat->epoch = seat->session = 0;
    seat->leading = seat->suspended = seat->acked = 0;
}

/* ---- What is handed over ---- */

/* What it says of itself is who it is; NULL: it is gone, or about to go. */
static struct shards_slot *slot_of(const evzk_shards_member *m)
{
    const char *data = m->data;
    struct shards_slot *t;

    if (m->data_len != 2 || data[0] != 'm' || data[1] < '0' ||
        data[1] >= '0' + SHARDS_SLOTS)
        return NULL;
    t = &shards_world.slot[data[1] - '0'];
    return t->a && !t->drain && !t->ended && !player(t)->closing ? t : NULL;
}

static uint64_t plan_of(const struct shards_slot *v)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(v->a, &st);
    return st.plan;
}

static bool gives_up(const struct shards_slot *v)
{
    int ms = v->plan->timeout_ms ? v->plan->timeout_ms : 300;

    return v->drain && sim_now() - v->drain >= ms * INT64_C(1000);
}

/* In calm the second is given when the first is led. */
static void check_pace(struct shards_slot *v, const struct shards_slot *t,
                       int shard, int64_t session)
{
    int64_t *first = &v->given[index_of(t)];

    if (shards_world.rough || v->plan->acknowledge)
        return;
    if (*first == 0)
        *first = shard + 1;
    else if (!shards_says((int)*first - 1, session))
        sim_violation("%d is given shard %d, and does not lead the first yet",
                      index_of(t), shard);
}

/* To one that stands there: when it said so it did, and it goes only by what
 * nobody can help, or by a plan that it knows already. */
static void check_handed(struct shards_slot *v, int shard)
{
    const struct shards_slot *t;
    evzk_shards_member m;
    int64_t session;

    if (shards_world.by_hand || gives_up(v) ||
        !evzk_shards_leader(v->a, (uint32_t)shard, &m))
        return;
    shards_look();
    session = shards_member(m.node);
    t = slot_of(&m);
    if (t == v && !shards_world.touched)
        sim_violation("%d resigns shard %d, which it is to lead", index_of(v),
                      shard);
    if (!session || !t || m.self || player_any_broken() ||
        plan_of(t) != plan_of(v) || t->seat[shard].absent)
        return;
    if (!shards_stands(shard, session))
        sim_violation("shard %d is handed to %d, which does not stand there",
                      shard, index_of(t));
    check_pace(v, t, shard, session);
}

static void note(struct shards_slot *v, int shard, evzk_election_event ev,
                 int rc)
{
    struct shards_seat *seat = &v->seat[shard];

    switch (ev) {
    case EVZK_ELECTION_ELECTED:
        check_elected(v, shard);
        break;
    case EVZK_ELECTION_LEADING:
        if (rc == EVZK_OK)
            check_leading(v, shard);
        seat->leading = seat->leading || rc == EVZK_OK;
        seat->failed = seat->failed || rc != EVZK_OK;
        break;
    case EVZK_ELECTION_SUSPENDED:
    case EVZK_ELECTION_RESUMED:
        seat->suspended = ev == EVZK_ELECTION_SUSPENDED;
        break;
    case EVZK_ELECTION_FAILED:
        seat->absent = 1;
        break;
    case EVZK_ELECTION_RESIGNED:
        check_handed(v, shard);
        if (shards_world.sc->together && !shards_world.rough)
            sim_violation("shard %d moves, though all joined at once", shard);
        check_lost(v, shard);
        break;
    case EVZK_ELECTION_LOST:
        v->lapsed = v->lapsed || rc == EVZK_ERR_LEASE;
        check_lost(v, shard);
        break;
    case EVZK_ELECTION_REQUEUED:
    case EVZK_ELECTION_RESIGN_REQUESTED:
        break;
    }
}

void shards_told(struct shards_slot *v, int shard, evzk_election_event ev,
                 int rc)
{
    if (shard < 0 || shard >= shards_world.sc->shards) {
        sim_violation("%d is told of shard %d", index_of(v), shard);
        return;
    }
    if (!in_turn(v, &v->seat[shard], ev))
        sim_violation("%d: event %d of shard %d out of turn", index_of(v), ev,
                      shard);
    if (!rc_ok(v, &v->seat[shard], ev, rc))
        sim_violation("%d: event %d of shard %d with %s", index_of(v), ev,
                      shard, evzk_errname(rc));
    note(v, shard, ev, rc);
}

/* ---- What is told of all ---- */

static bool any_elected(const struct shards_slot *v)
{
    for (int i = 0; i < SHARDS_MOST; i++) {
        if (v->seat[i].epoch)
            return true;
    }
    return false;
}

static void check_balanced(const struct shards_slot *v)
{
    shards_look();
    for (int i = 0; i < shards_world.sc->shards; i++) {
        const struct shards_seat *seat = &v->seat[i];
        evzk_shards_member m;
        bool own = evzk_shards_leader(v->a, (uint32_t)i, &m) && m.self;

        if (own && !shards_member(m.node))
            continue; /* It may be who it was, before it came back. */
        if (own != (seat->epoch != 0) || own != (seat->leading != 0))
            sim_violation("%d is BALANCED, and shard %d is not right",
                          index_of(v), i);
    }
}

/* Proved gone. */
static void check_drained(const struct shards_slot *v)
{
    const struct player *p = player(v);
    int64_t slots = 0;

    for (int64_t i = 0; i < shards_world.slots; i++)
        slots += shards_world.slot[i].proc == v->proc;
    if (!v->drain || p->closing)
        sim_violation("%d: DRAINED out of turn", index_of(v));
    if (any_elected(v))
        sim_violation("%d is DRAINED, and elected", index_of(v));
    if (slots == 1 && !v->lapsed && evzk_session_lease_ms(p->s) &&
        !ens_throttled((int)v->proc) && !player_over(evzk_session_id(p->s)) &&
        shards_owns(evzk_session_id(p->s)))
        sim_violation("%d is DRAINED, and its znodes are there", index_of(v));
    if (shards_world.slots == 1 && !shards_world.touched &&
        sim_now() - v->drain > SOON_US)
        sim_violation("%d is alone, and DRAINED late", index_of(v));
}

/* The others may have another number of shards. */
static bool may_differ(void) { return shards_world.sc->plan[0].count != 0; }

static void check_failed(const struct shards_slot *v, int rc)
{
    bool differs = may_differ() && rc == EVZK_ERR_INVAL;

    if (!differs && !refused_rc_ok(v, rc))
        sim_violation("%d: FAILED with %s", index_of(v), evzk_errname(rc));
}

/* Nothing that it leads is its own any more. */
static void note_end(struct shards_slot *v)
{
    v->ended = 1;
    if (any_elected(v))
        shards_world.rough = 1;
    memset(v->seat, 0, sizeof v->seat);
    for (int i = 0; i < shards_world.sc->shards; i++) {
        if (evzk_shards_elected(v->a, (uint32_t)i))
            sim_violation("%d has ended, and is elected of %d", index_of(v), i);
    }
}

/* Another one than before, unless that was deleted. */
static void check_planned(struct shards_slot *v)
{
    uint64_t plan = plan_of(v);

    if (plan == v->planned && !player_any_broken() && !shards_world.by_hand &&
        !may_differ())
        sim_violation("%d is told of plan %d again", index_of(v), (int)plan);
    v->planned = plan;
    memset(v->given, 0, sizeof v->given);
    for (int i = 0; i < SHARDS_MOST; i++)
        v->seat[i].failed = v->seat[i].absent = 0;
}

void shards_told_all(struct shards_slot *v, evzk_shards_event ev, int rc)
{
    if (v->ended)
        sim_violation("%d: event %d after the final one", index_of(v), ev);
    if (rc != EVZK_OK && ev != EVZK_SHARDS_FAILED)
        sim_violation("%d: event %d with %s", index_of(v), ev,
                      evzk_errname(rc));
    switch (ev) {
    case EVZK_SHARDS_PLANNED:
        check_planned(v);
        break;
    case EVZK_SHARDS_BALANCED:
        check_balanced(v);
        break;
    case EVZK_SHARDS_DRAINED:
        check_drained(v);
        break;
    case EVZK_SHARDS_FAILED:
        check_failed(v, rc);
        break;
    }
    if (ev >= EVZK_SHARDS_DRAINED)
        note_end(v);
}

/* ---- What is believed ---- */

/* Who is elected no more is told, before any other is: only the end of a lease
 * is told by the clock. */
static void check_silence(const struct shards_slot *v, int shard, bool elected)
{
    const struct player *p = player(v);

    if (v->seat[shard].epoch && !elected && !v->ended && !p->closing &&
        evzk_session_lease_ms(p->s) && !v->lapsed)
        sim_violation("%d is elected of shard %d no more, and is not told",
                      index_of(v), shard);
}

static bool check_seat(const struct shards_slot *v, int shard)
{
    const struct shards_seat *seat = &v->seat[shard];
    bool elected = evzk_shards_elected(v->a, (uint32_t)shard);
    bool leading = evzk_shards_leading(v->a, (uint32_t)shard);

    if (elected && (!seat->epoch || v->ended || player(v)->closing))
        sim_violation("%d is elected of shard %d, and should not be",
                      index_of(v), shard);
    if (leading != (elected && seat->leading))
        sim_violation("%d leads shard %d, and was told otherwise", index_of(v),
                      shard);
    check_silence(v, shard, elected);
    if (!elected || excused(seat))
        return false;
    if (!shards_candidate(shard, seat->epoch))
        sim_violation("%d is elected of shard %d, and its znode is gone",
                      index_of(v), shard);
    if (!ens_alive(seat->session))
        sim_violation("%d is elected of shard %d, and its session is over",
                      index_of(v), shard);
    return true;
}

static void check_stats(const struct shards_slot *v)
{
    uint32_t elected = 0, leading = 0;
    evzk_shards_stats st;

    evzk_shards_get_stats(v->a, &st);
    for (int i = 0; i < SHARDS_MOST; i++) {
        elected += v->seat[i].epoch != 0;
        leading += v->seat[i].leading != 0;
    }
    /* One that was handed over counts until its znode has gone. */
    if (st.elected < elected || st.leading < leading || st.leading > st.elected)
        sim_violation("%d counts %u and %u, and not %u and %u", index_of(v),
                      st.elected, st.leading, elected, leading);
    if (v->drain && st.planner)
        sim_violation("%d leaves, and makes the plans", index_of(v));
}

static void check_beliefs(void)
{
    const struct shards_slot *leader[SHARDS_MOST] = {NULL};

    for (struct shards_slot *v = shards_world.slot;
         v < shards_world.slot + shards_world.slots; v++) {
        int before;

        if (!v->a)
            continue;
        before = sim_enter((int)v->proc);
        v->lapsed = v->lapsed || !evzk_session_lease_ms(player(v)->s);
        check_stats(v);
        for (int i = 0; i < shards_world.sc->shards; i++) {
            if (!check_seat(v, i))
                continue;
            if (leader[i])
                sim_violation("shard %d is led by %d and %d", i,
                              index_of(leader[i]), index_of(v));
            leader[i] = v;
        }
        sim_leave(before);
    }
}

/* ---- While nothing has befallen anybody ---- */

static bool befallen(int proc)
{
    const struct player *p = player_of(proc);
    int conn = wire_conn_of(proc);
    uint64_t born = conn < 0 ? 0 : wire_born(conn);
    bool was = shards_world.conn[proc] != 0;
    bool cut = p->s && was && born != shards_world.conn[proc];

    if (born)
        shards_world.conn[proc] = born;
    return cut || p->closing || expired_once(p) || ens_throttled(proc) ||
           player_starved(proc) || proc_frozen(proc) > sim_now();
}

static void note_roughness(void)
{
    bool rough = faults_healed_at() > sim_now() || player_any_broken();
    bool touched = faults_healed_at() > sim_now();

    for (int p = 0; p < SIM_PROCS; p++) {
        bool is = befallen(p);

        rough = rough || is;
        touched = touched ||
                  (is && !(shards_world.ended_at && p == shards_world.ends));
    }
    for (int64_t i = 0; i < shards_world.members.n; i++) {
        if (!shards_world.members.node[i].ok)
            shards_world.by_hand = 1;
    }
    rough = rough || shards_world.by_hand;
    if (touched || shards_world.by_hand)
        shards_world.touched = 1;
    if (rough || shards_world.home)
        shards_world.rough = 1;
}

static bool is_led(int shard)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        if (shards_world.slot[i].seat[shard].epoch)
            return true;
    }
    return false;
}

static void check_led(int shard)
{
    bool led = is_led(shard);

    shards_world.led[shard] = shards_world.led[shard] || led;
    if (!shards_world.led[shard] || led) {
        shards_world.unled[shard] = 0;
        return;
    }
    if (shards_world.unled[shard] == 0)
        shards_world.unled[shard] = sim_now();
    if (sim_now() - shards_world.unled[shard] > UNLED_US)
        sim_violation("shard %d is led by nobody for long", shard);
    if (shards_world.dir[shard].n == 0)
        sim_violation("shard %d was handed over to nobody", shard);
}

static bool is_led_now(int shard)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_seat *seat = &shards_world.slot[i].seat[shard];

        if (seat->epoch && ens_alive(seat->session))
            return true;
    }
    return false;
}

/* Nobody waits for others to join when one that led has gone.  Looked at once:
 * after that it may be handed over again. */
static void check_soon(void)
{
    if (!shards_world.sc->soon || !shards_world.ended_at ||
        player_any_broken() || sim_now() - shards_world.ended_at <= SOON_US)
        return;
    shards_world.ended_at = 0;
    for (int i = 0; i < shards_world.sc->shards; i++) {
        if (!shards_world.touched && !shards_world.home && !is_led_now(i))
            sim_violation("shard %d is led by nobody since its leader has gone",
                          i);
    }
}

/* ---- When all is quiet ---- */

static bool is_well(const struct shards_slot *v)
{
    const struct player *p = player(v);
    int before = sim_enter((int)v->proc);
    bool well =
        !v->ended && !v->drain && !p->closing && evzk_session_connected(p->s);

    sim_leave(before);
    return well;
}

/* All of them know the same plan, which is for just them. */
static bool agree(void)
{
    uint64_t plan = 0;
    int64_t n = 0;

    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_stats st;

        if (!v->a)
            continue;
        if (!is_well(v))
            return false;
        evzk_shards_get_stats(v->a, &st);
        if (st.plan == 0 || (plan && st.plan != plan) ||
            st.members != shards_world.members.n)
            return false;
        plan = st.plan;
        n++;
    }
    return n == shards_world.members.n &&
           (n == 0 || player_any_broken() || shards_world.by_hand ||
            plan == shards_world.text.version);
}

static bool leads(const struct shards_slot *v, int shard)
{
    int before = sim_enter((int)v->proc);
    bool is = evzk_shards_leading(v->a, (uint32_t)shard);

    sim_leave(before);
    return is;
}

/* What was refused is not asked again before the next plan; and who could not
 * stand in one election is not ready for any. */
static bool may_lack(const struct shards_slot *v, int shard, bool own)
{
    bool is = v->seat[shard].failed || v->seat[shard].absent;

    for (int i = 0; own && i < SHARDS_MOST; i++)
        is = is || v->seat[i].absent;
    return is;
}

/* Who leads it, or nobody, by the plan; and nobody else. */
static bool is_in_place(int shard, int64_t *selves)
{
    const struct shards_dir *d = &shards_world.dir[shard];
    bool given = false;

    *selves = 0;
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_member m;
        bool own;

        if (!v->a)
            continue;
        given = evzk_shards_leader(v->a, (uint32_t)shard, &m);
        own = given && m.self;
        *selves += own;
        if (may_lack(v, shard, own))
            return true;
        if (own != leads(v, shard) || own != (v->seat[shard].epoch != 0))
            return false;
    }
    return *selves == given && d->n == given;
}

static bool is_planner(const struct shards_slot *v)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(v->a, &st);
    return st.planner;
}

bool shards_right(void)
{
    int64_t selves, planners = 0, slots = 0;

    shards_look();
    if (!agree())
        return false;
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        slots += v->a != NULL;
        planners += v->a && is_planner(v);
    }
    if (slots == 0)
        return true;
    for (int i = 0; i < shards_world.sc->shards; i++) {
        if (!is_in_place(i, &selves))
            return false;
    }
    return planners == 1;
}

/* A member's znode that another wrote to is no member's. */
bool shards_excused(void) { return shards_world.by_hand; }

static bool anybody_leaves(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->a && (v->drain || v->ended))
            return true;
    }
    return false;
}

static void check_followed(void)
{
    if (anybody_leaves())
        shards_world.moved = sim_now();
    if (sim_now() - shards_world.moved > FOLLOWED_US && !shards_right())
        sim_violation("plan %d is not followed for long",
                      (int)shards_world.text.version);
}

void shards_check(void)
{
    shards_look();
    note_roughness();
    check_beliefs();
    for (int i = 0; !shards_world.rough && i < shards_world.sc->shards; i++)
        check_led(i);
    check_soon();
    if (!shards_world.rough)
        check_followed();
}

void shards_check_end(void)
{
    shards_look();
    for (int i = 0; i < SHARDS_MOST; i++) {
        if (shards_world.dir[i].n)
            sim_violation("a znode of shard %d is left", i);
    }
    if (shards_world.members.n)
        sim_violation("a znode of a member is left");
}
