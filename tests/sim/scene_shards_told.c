/* The rules for what the application is told: of one shard, of a shard that is
 * handed over, and of the whole object.
 *
 * How it can fail: by excusing too much.  What an operator does, or the servers
 * refuse, excuses only what follows from it.
 */
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "leases.h"
#include "scene_shards.h"

/* ---- What is told of one shard ---- */

static bool refused_rc_ok(const struct shards_slot *v, int rc)
{
    if (rc == EVZK_ERR_TOOLARGE)
        return ens_shut((int)v->proc);
    if (rc == EVZK_ERR_QUOTA)
        return ens_full_at() != 0;
    if (rc == EVZK_ERR_SERVER)
        return ens_throttled((int)v->proc);
    if (rc == EVZK_ERR_CLOSED)
        return shards_process(v)->closing;
    if (rc == EVZK_ERR_SEQUENCE)
        return shards_world.scene->numbers_end;
    if (rc ==
        EVZK_ERR_NOAUTH) /* The member cannot see whether its znode exists. */
        return ens_denied((int)v->proc) ||
               (fault_hid_members() && !v->was_elected);
    return rc == EVZK_ERR_NOMEM && process_lacked_memory((int)v->proc);
}

static bool may_differ(void) { return shards_differ(); }

/* Plans for other shards, forged ones as well, have named the member for so
 * long; and no plan for its own shards was told in that time. */
static bool was_odd(const struct shards_slot *v)
{
    return v->odd_first && v->odd_last - v->odd_first >= SHARDS_OTHER_COUNT_US;
}

static bool end_rc_ok(const struct shards_slot *v, int rc)
{
    return rc == EVZK_ERR_INVAL ? was_odd(v) : refused_rc_ok(v, rc);
}

static bool lost_rc_ok(const struct shards_slot *v,
                       const struct shards_seat *seat, int rc)
{
    if (rc == EVZK_ERR_EXPIRED)
        return process_any_session((int)v->proc, session_over);
    if (rc == EVZK_ERR_NODEGONE) /* The member may hear later that its session
                                    has ended. */
        return operator_deleted(seat->epoch) || session_over(seat->session);
    if (rc == EVZK_ERR_LEASE) /* After close it is not told of doubt. */
        return (seat->suspended || shards_process(v)->closing) &&
               process_has_lapsed((int)v->proc);
    return end_rc_ok(v, rc); /* With the object's end, which comes next. */
}

/* When the object ends, each shard that it leads is told LOST with the same rc
 * as FAILED has, and no other event comes in between. */
static void check_ending(struct shards_slot *v, bool goes_on, int rc)
{
    if (v->ending && (!goes_on || rc != v->ending))
        sim_violation("%d is told %s after a shard's end with %s",
                      shards_index(v), evzk_errname(rc),
                      evzk_errname((int)v->ending));
}

static void note_ending(struct shards_slot *v, int rc)
{
    /* Those, and a look that servers refuse, or at which they hang up, end one
     * candidate alone. */
    if (rc != EVZK_ERR_EXPIRED && rc != EVZK_ERR_NODEGONE &&
        rc != EVZK_ERR_LEASE && rc != EVZK_ERR_SERVER &&
        rc != EVZK_ERR_TOOLARGE)
        v->ending = rc;
}

/* FAILED of a shard says that it is tried again: so not in a closed session,
 * whose end the object tells. */
static bool failed_rc_ok(const struct shards_slot *v,
                         const struct shards_seat *seat, int rc)
{
    if (rc == EVZK_ERR_FOREIGN)
        return shards_world.foreign[seat - v->seat] > 0;
    return rc != EVZK_ERR_CLOSED && refused_rc_ok(v, rc);
}

static bool rc_ok(const struct shards_slot *v, const struct shards_seat *seat,
                  evzk_election_event ev, int rc)
{
    switch (ev) {
    case EVZK_ELECTION_LEADING:
        return rc == EVZK_OK ||
               (rc == EVZK_ERR_NOTEMPTY &&
                shards_world.scene->leader_blocked) ||
               (rc == EVZK_ERR_NOAUTH && ens_denied((int)v->proc)) ||
               (rc == EVZK_ERR_SERVER && ens_throttled((int)v->proc)) ||
               (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
               (rc == EVZK_ERR_TOOLARGE && ens_shut((int)v->proc));
    case EVZK_ELECTION_LOST:
        return lost_rc_ok(v, seat, rc);
    case EVZK_ELECTION_FAILED:
        return failed_rc_ok(v, seat, rc);
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
        return seat->epoch && (seat->acked || !v->joiner->acknowledge);
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

static void take_lease(struct shards_slot *v, int shard)
{
    evzk_lease *l = NULL;
    int rc;

    if (shard % 2 != 0)
        return;
    process_call_begins((int)v->proc);
    rc = evzk_shards_lease(v->a, shards_own(v, shard), &l);
    process_call_ends((int)v->proc);
    if (rc != EVZK_OK &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory((int)v->proc)))
        sim_violation("the lease of shard %d: %s", shard, evzk_errname(rc));
    v->seat[shard].lease = l;
}

static void check_elected(struct shards_slot *v, int shard)
{
    struct shards_seat *seat = &v->seat[shard];
    const struct shards_node *n;

    v->was_elected = 1;
    seat->epoch = (int64_t)evzk_shards_epoch(v->a, shards_own(v, shard));
    seat->session = evzk_session_id(shards_process(v)->s);
    if (!evzk_shards_elected(v->a, shards_own(v, shard)))
        sim_violation("%d: ELECTED of shard %d, and is not", shards_index(v),
                      shard);
    take_lease(v, shard);
    if (shards_seat_excused(seat))
        return;
    if (seat->epoch <= shards_world.epoch[shard])
        sim_violation("the epoch of shard %d is not greater", shard);
    shards_world.epoch[shard] = seat->epoch;
    shards_look();
    n = shards_candidate(shard, seat->epoch);
    if (shards_world.dir[shard].foreign &&
        shards_world.dir[shard].foreign < seat->epoch)
        sim_violation("%d is elected of shard %d, and another library's "
                      "contender was there before",
                      shards_index(v), shard);
    if (!n || n->owner != seat->session)
        sim_violation("%d is elected of shard %d, and has no znode there",
                      shards_index(v), shard);
}

/* When LEADING is told, the leader znode is there, and names this epoch. */
static void check_leading(const struct shards_slot *v, int shard)
{
    const struct shards_seat *seat = &v->seat[shard];
    char path[64], want[32];
    struct ens_seen seen;
    int n;

    snprintf(path, sizeof path, "%s/leader", shards_dir(shard).v);
    n = snprintf(want, sizeof want, "%lld ", (long long)seat->epoch);
    if (!evzk_shards_leading(v->a, shards_own(v, shard)) ||
        operator_deleted_any() || session_forced(seat->session))
        return;
    if (!ens_look(path, &seen) || seen.owner != seat->session ||
        (seen.mzxid == seen.czxid &&
         (seen.len < n || memcmp(seen.data, want, (size_t)n) != 0)))
        sim_violation("%d leads shard %d, and the leader znode does not stand",
                      shards_index(v), shard);
}

static void check_lost(struct shards_slot *v, int shard)
{
    struct shards_seat *seat = &v->seat[shard];

    if (evzk_shards_elected(v->a, shards_own(v, shard)))
        sim_violation("%d has lost shard %d, and is elected", shards_index(v),
                      shard);
    shards_check_epoch(v, shard); /* Still the epoch that has ended. */
    lease_over((int)v->proc, seat->lease);
    seat->lease = NULL;
    seat->epoch = seat->session = 0;
    seat->leading = seat->suspended = seat->acked = 0;
}

/* ---- A shard that is handed over ---- */

/* Each member joins with the number of its slot as its data.  NULL: that member
 * has gone, or is about to. */
static struct shards_slot *slot_of(const evzk_shards_member *m)
{
    const char *data = m->data;
    struct shards_slot *t;

    if (m->data_len != 2 || data[0] != 'm' || data[1] < '0' ||
        data[1] >= '0' + SHARDS_SLOTS)
        return NULL;
    t = &shards_world.slot[data[1] - '0'];
    return t->a && !t->drain && !t->ended && !shards_process(t)->closing ? t
                                                                         : NULL;
}

static uint64_t plan_of(const struct shards_slot *v)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(v->a, &st);
    return st.plan;
}

static bool gives_up(const struct shards_slot *v)
{
    int ms = v->joiner->drain_timeout_ms ? v->joiner->drain_timeout_ms : 300;

    return v->drain && sim_now() - v->drain >= in_us(ms);
}

/* While nothing disturbs the scene, a recipient is given the second shard only
 * when it leads the first. */
static void check_pace(struct shards_slot *v, const struct shards_slot *t,
                       int shard, int64_t session)
{
    int64_t *first = &v->given[shards_index(t)];

    if (shards_world.disturbed || v->joiner->acknowledge)
        return;
    if (*first == 0)
        *first = shard + 1;
    else if (!shards_says((int)*first - 1, session))
        sim_violation("%d is given shard %d, and does not lead the first yet",
                      shards_index(t), shard);
}

/* A shard is handed only to a member whose candidate stands there.  It stood
 * there when the member said that it is ready; since then it can only have gone
 * by force, or because of a newer plan, which this member knows too. */
static void check_handed(struct shards_slot *v, int shard)
{
    const struct shards_slot *t;
    evzk_shards_member m;
    int64_t session;

    if (shards_world.by_hand || gives_up(v) ||
        !evzk_shards_leader(v->a, shards_own(v, shard), &m))
        return;
    shards_look();
    session = shards_member(m.node);
    t = slot_of(&m);
    if (t == v && !shards_world.disturbed_besides)
        sim_violation("%d resigns shard %d, which it is to lead",
                      shards_index(v), shard);
    if (!session || !t || m.self || operator_deleted_any() ||
        plan_of(t) != plan_of(v) || t->seat[shard].absent ||
        ens_shut((int)t->proc) || /* Its candidate was refused, or will be. */
        shards_world.foreign[shard])
        return;
    if (!shards_stands(shard, session))
        sim_violation("shard %d is handed to %d, which does not stand there",
                      shard, shards_index(t));
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
        if (shards_world.scene->one_plan && !shards_world.disturbed)
            sim_violation("shard %d moves, though all joined at once", shard);
        check_lost(v, shard);
        break;
    case EVZK_ELECTION_LOST:
        v->lapsed = v->lapsed || rc == EVZK_ERR_LEASE;
        seat->absent = seat->absent || rc == EVZK_ERR_TOOLARGE;
        note_ending(v, rc);
        check_lost(v, shard);
        break;
    case EVZK_ELECTION_REQUEUED:
    case EVZK_ELECTION_RESIGN_REQUESTED:
        break;
    }
}

/* The session's own event comes first; and after the session's close a shard's
 * only events are those that end its leading. */
static void check_order(const struct shards_slot *v, struct shards_seat *seat,
                        evzk_election_event ev)
{
    int proc = (int)v->proc;

    if (ev < EVZK_ELECTION_RESIGNED)
        process_news(proc, "a shard's event");
    if (ev == EVZK_ELECTION_ELECTED || ev == EVZK_ELECTION_RESUMED)
        process_certain(proc, &seat->doubts, "a shard's ELECTED or RESUMED");
    if (ev == EVZK_ELECTION_SUSPENDED)
        process_doubtful(proc, &seat->doubts, "a shard's SUSPENDED");
}

void shards_told(struct shards_slot *v, int shard, evzk_election_event ev,
                 int rc)
{
    if (shard < 0 || shard >= shards_world.scene->shards) {
        sim_violation("%d is told of shard %d", shards_index(v), shard);
        return;
    }
    check_order(v, &v->seat[shard], ev);
    check_ending(v, ev == EVZK_ELECTION_LOST, rc);
    if (!in_turn(v, &v->seat[shard], ev))
        sim_violation("%d: event %d of shard %d out of turn", shards_index(v),
                      ev, shard);
    if (!rc_ok(v, &v->seat[shard], ev, rc))
        sim_violation("%d: event %d of shard %d with %s", shards_index(v), ev,
                      shard, evzk_errname(rc));
    note(v, shard, ev, rc);
}

/* ---- What is told of the object ---- */

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
    for (int i = 0; i < shards_world.scene->shards; i++) {
        const struct shards_seat *seat = &v->seat[i];
        evzk_shards_member m;
        bool own = evzk_shards_leader(v->a, shards_own(v, i), &m) && m.self;

        if (own != (seat->epoch != 0) || own != (seat->leading != 0))
            sim_violation("%d is BALANCED, and shard %d is not right",
                          shards_index(v), i);
    }
}

/* All znodes of the member are proved gone, or it is told why not. */
static void check_drained(const struct shards_slot *v, int rc)
{
    const struct process *p = shards_process(v);
    int64_t slots = 0;

    for (int64_t i = 0; i < shards_world.slots; i++)
        slots += shards_world.slot[i].proc == v->proc;
    if (!v->drain || p->closing)
        sim_violation("%d: DRAINED out of turn", shards_index(v));
    if (any_elected(v))
        sim_violation("%d is DRAINED, and elected", shards_index(v));
    if (rc == EVZK_OK && slots == 1 && !v->lapsed &&
        evzk_session_lease_ms(p->s) && !session_over(evzk_session_id(p->s)) &&
        shards_owns(evzk_session_id(p->s)))
        sim_violation("%d is DRAINED, and its znodes are there",
                      shards_index(v));
    if (shards_world.slots == 1 && !shards_world.disturbed_besides &&
        sim_now() - v->drain > SHARDS_SOON_US)
        sim_violation("%d is alone, and DRAINED late", shards_index(v));
}

static void check_failed(const struct shards_slot *v, int rc)
{
    if (!end_rc_ok(v, rc))
        sim_violation("%d: FAILED with %s", shards_index(v), evzk_errname(rc));
}

void shards_vacate(struct shards_slot *v)
{
    for (int i = 0; i < SHARDS_MOST; i++)
        lease_over((int)v->proc, v->seat[i].lease);
    memset(v->seat, 0, sizeof v->seat);
}

/* The object has ended: each shard that it led was told so before. */
static void note_end(struct shards_slot *v)
{
    v->ended = 1;
    if (any_elected(v))
        sim_violation("%d has ended, and was not told of all that it led",
                      shards_index(v));
    shards_vacate(v);
    for (int i = 0; i < shards_world.scene->shards; i++) {
        if (evzk_shards_elected(v->a, shards_own(v, i)))
            sim_violation("%d has ended, and is elected of %d", shards_index(v),
                          i);
    }
}

/* PLANNED comes with another plan than before, unless the plan was deleted. */
static void check_planned(struct shards_slot *v)
{
    uint64_t plan = plan_of(v);

    if (plan == v->plan_told && !operator_deleted_any() &&
        !shards_world.by_hand && !shards_world.forged && !may_differ())
        sim_violation("%d is told of plan %d again", shards_index(v),
                      (int)plan);
    if (shards_world.plan.ok && shards_world.plan.version == plan &&
        !shards_world.disturbed_besides && !shards_plan_is_for(v))
        sim_violation("%d is told of a plan for other shards", shards_index(v));
    v->plan_told = plan;
    v->odd_first = v->odd_last = 0;
    memset(v->given, 0, sizeof v->given);
    for (int i = 0; i < SHARDS_MOST; i++) { /* A leader says so once. */
        v->seat[i].failed = v->seat[i].failed && v->seat[i].epoch;
        v->seat[i].absent = 0;
    }
}

/* Znodes of a former candidate may stand: the servers refuse to look for them,
 * or to delete them, or hang up at that. */
static bool drained_rc_ok(const struct shards_slot *v, int rc)
{
    return refused_rc_ok(v, rc) ||
           (rc == EVZK_ERR_SERVER &&
            (ens_shut((int)v->proc) || ens_denied((int)v->proc)));
}

void shards_told_all(struct shards_slot *v, evzk_shards_event ev, int rc)
{
    if (v->ended)
        sim_violation("%d: event %d after the final one", shards_index(v), ev);
    if (rc != EVZK_OK && ev != EVZK_SHARDS_FAILED &&
        !(ev == EVZK_SHARDS_DRAINED && drained_rc_ok(v, rc)))
        sim_violation("%d: event %d with %s", shards_index(v), ev,
                      evzk_errname(rc));
    check_ending(v, ev == EVZK_SHARDS_FAILED, rc);
    if (ev < EVZK_SHARDS_DRAINED)
        process_news((int)v->proc, "an event of the shards");
    switch (ev) {
    case EVZK_SHARDS_PLANNED:
        check_planned(v);
        break;
    case EVZK_SHARDS_BALANCED:
        check_balanced(v);
        break;
    case EVZK_SHARDS_DRAINED:
        check_drained(v, rc);
        break;
    case EVZK_SHARDS_FAILED:
        check_failed(v, rc);
        shards_world.disturbed = 1; /* Its shards have no leader for a while. */
        break;
    }
    if (ev >= EVZK_SHARDS_DRAINED)
        note_end(v);
}
