/* The rules of the shards, checked after every step against the tree of the
 * simulated servers:
 *
 *   check_beliefs()   no two members believe that they lead the same shard, and
 *                     the znode of a member that does is there
 *   check_led()       in calm, a shard that was led once has a leader, but for
 *                     the trips of a hand-over, and always a candidate
 *   check_soon()      a shard whose leader's session expires is taken over
 *                     without waiting for other members to join
 *   check_followed()  in calm, members soon follow a plan that was written
 *   shards_owes()     after any fault they do so too, if later
 *   check_writes()    the plan is not written again and again
 *
 * In the end, shards_check_end(), no znode of theirs is left.  "In calm" means
 * that no fault, action or call has disturbed the scene so far.
 *
 * How it can fail: by excusing too much.  What an operator deletes, and a
 * session that is ended by force, excuse a wrong belief and nothing else.  Only
 * what was refused or written by hand excuses that all never comes right.
 */
#include "ens.h"
#include "faults.h"
#include "leases.h"
#include "scene_shards.h"

enum {
    UNLED_US = 60 * 1000,
    FOLLOWED_US = 500 * 1000,     /* From a plan until members follow it. */
    AGREED_US = 3 * 1000 * 1000,  /* The same, after lost connections and
                                     expired sessions. */
    OFTEN_US = 1000 * 1000,       /* A planner writes over another's plan. */
    WRITES_US = 4 * OFTEN_US,     /* Writes in this time are counted. */
    MENDED_US = 12 * 1000 * 1000, /* A member has tried again twice. */
    DIFFERS_US =
        10 * 1000 * 1000, /* More: a member with another number gives up. */
    HIDDEN_US = 45 * 1000 * 1000 /* Each member has read all znodes again. */
};

/* ---- What is believed ---- */

/* A member that is elected no more has been told so.  Only a lease that has
 * just ended may still be untold. */
static void check_silence(const struct shards_slot *v, int shard, bool elected)
{
    const struct process *p = shards_process(v);

    if (v->seat[shard].epoch && !elected && !v->ended && !p->closing &&
        evzk_session_lease_ms(p->s) && !v->lapsed)
        sim_violation("%d is elected of shard %d no more, and is not told",
                      shards_index(v), shard);
}

/* The lease object for other threads says what the library says here. */
static void check_view(const struct shards_slot *v, int shard)
{
    const struct shards_seat *seat = &v->seat[shard];

    lease_matches((int)v->proc, seat->lease,
                  evzk_shards_elected(v->a, shards_own(v, shard)),
                  (uint64_t)seat->epoch, "shard", shard);
}

void shards_leases(int proc)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        for (int j = 0; v->a && v->proc == proc && j < SHARDS_MOST; j++)
            check_view(v, j);
    }
}

void shards_check_epoch(const struct shards_slot *v, int shard)
{
    uint64_t epoch = evzk_shards_epoch(v->a, shards_own(v, shard));

    if (epoch != (uint64_t)v->seat[shard].epoch)
        sim_violation("%d: the epoch of shard %d is %llu, not %lld",
                      shards_index(v), shard, (unsigned long long)epoch,
                      (long long)v->seat[shard].epoch);
}

static bool check_seat(const struct shards_slot *v, int shard)
{
    const struct shards_seat *seat = &v->seat[shard];
    bool elected = evzk_shards_elected(v->a, shards_own(v, shard));
    bool leading = evzk_shards_leading(v->a, shards_own(v, shard));

    if (elected && (!seat->epoch || v->ended || shards_process(v)->closing))
        sim_violation("%d is elected of shard %d, and should not be",
                      shards_index(v), shard);
    if (leading != (elected && seat->leading))
        sim_violation("%d leads shard %d, and was told otherwise",
                      shards_index(v), shard);
    check_silence(v, shard, elected);
    check_view(v, shard);
    if (seat->epoch)
        shards_check_epoch(v, shard);
    if (!elected || shards_seat_excused(seat))
        return false;
    if (!shards_candidate(shard, seat->epoch))
        sim_violation("%d is elected of shard %d, and its znode is gone",
                      shards_index(v), shard);
    if (!ens_alive(seat->session))
        sim_violation("%d is elected of shard %d, and its session is over",
                      shards_index(v), shard);
    return true;
}

/* `trouble` may say that a member cannot read or write what it needs only where
 * an ACL is in the way, or the servers have refused a request. */
static bool trouble_ok(const struct shards_slot *v, int rc)
{
    if (rc == EVZK_ERR_NOAUTH)
        return ens_denied((int)v->proc) || fault_hid();
    return rc == EVZK_OK || (rc == EVZK_ERR_FOREIGN && shards_world.by_hand) ||
           (rc == EVZK_ERR_SERVER && ens_throttled((int)v->proc)) ||
           (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut((int)v->proc));
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
    /* A shard that was handed over counts until its znode has gone. */
    if (st.elected < elected || st.leading < leading || st.leading > st.elected)
        sim_violation("%d counts %u and %u, and not %u and %u", shards_index(v),
                      st.elected, st.leading, elected, leading);
    if (!trouble_ok(v, st.trouble))
        sim_violation("%d is in trouble: %s", shards_index(v),
                      evzk_errname(st.trouble));
    if (v->drain && st.planner)
        sim_violation("%d leaves, and makes the plans", shards_index(v));
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
        v->lapsed = v->lapsed || process_has_lapsed((int)v->proc);
        check_stats(v);
        for (int i = 0; i < shards_world.scene->shards; i++) {
            if (!check_seat(v, i))
                continue;
            if (leader[i])
                sim_violation("shard %d is led by %d and %d", i,
                              shards_index(leader[i]), shards_index(v));
            leader[i] = v;
        }
        sim_leave(before);
    }
}

/* ---- While nothing disturbs the scene ---- */

static bool befallen(int proc)
{
    const struct process *p = process_of(proc);
    int conn = wire_conn_of(proc);
    uint64_t born = conn < 0 ? 0 : wire_born(conn);
    bool was = shards_world.conn[proc] != 0;
    bool cut = p->s && was && born != shards_world.conn[proc];

    if (born)
        shards_world.conn[proc] = born;
    return cut || p->closing || process_any_session(proc, session_over) ||
           ens_refused(proc) || process_lacked_memory(proc) ||
           process_frozen_until(proc) > sim_now();
}

static void note_roughness(void)
{
    bool rough = faults_healed_at() > sim_now() || operator_deleted_any();
    bool touched = faults_healed_at() > sim_now();

    for (int p = 0; p < SIM_PROCS; p++) {
        bool is = befallen(p);

        rough = rough || is;
        touched = touched || (is && !(shards_world.expired_at &&
                                      p == shards_world.expired_process));
    }
    for (int64_t i = 0; i < shards_world.members.n; i++) {
        if (!shards_world.members.node[i].ok ||
            shards_world.members.node[i].by_hand)
            shards_world.by_hand = 1;
    }
    rough = rough || shards_world.by_hand;
    if (touched || shards_world.by_hand)
        shards_world.disturbed_besides = 1;
    if (rough || shards_world.leaving)
        shards_world.disturbed = 1;
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
        shards_world.unled_since[shard] = 0;
        return;
    }
    if (shards_world.unled_since[shard] == 0)
        shards_world.unled_since[shard] = sim_now();
    if (sim_now() - shards_world.unled_since[shard] > UNLED_US)
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

/* When a leader has gone, the planner does not wait for other members to join.
 * Checked once after each expiry: later the shard may be handed over again. */
static void check_soon(void)
{
    if (!shards_world.scene->taken_over_at_once || !shards_world.expired_at ||
        operator_deleted_any() ||
        sim_now() - shards_world.expired_at <= SHARDS_SOON_US)
        return;
    shards_world.expired_at = 0;
    for (int i = 0; i < shards_world.scene->shards; i++) {
        if (!shards_world.disturbed_besides && !shards_world.leaving &&
            !is_led_now(i))
            sim_violation("shard %d is led by nobody since its leader has gone",
                          i);
    }
}

/* ---- Do all members follow the plan? ---- */

/* While no member comes or goes, each planner writes one plan, and then at most
 * one a second, over a plan that is not its own. */
static void check_writes(void)
{
    int64_t n = 0, each = 1 + WRITES_US / OFTEN_US;

    if (shards_planners() > shards_world.planners)
        shards_world.planners = shards_planners();
    for (int i = 0; i < SHARDS_WRITES; i++)
        n += shards_world.written_at[i] &&
             sim_now() - shards_world.written_at[i] < WRITES_US;
    if (n > 2 + each * shards_world.planners)
        sim_violation("the plan is written %d times, and nobody comes or goes",
                      (int)n);
}

static bool anybody_leaves(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->a && (v->drain || v->ended))
            return true;
    }
    return false;
}

/* The plan names a member with other shards until that gives up. */
static void check_followed(void)
{
    if (anybody_leaves() || shards_differ())
        shards_world.changed_at = sim_now();
    if (sim_now() - shards_world.changed_at > FOLLOWED_US && !shards_right())
        sim_violation("plan %d is not followed for long",
                      (int)shards_world.plan.version);
}

static bool is_busy(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (shards_world.to_join[p] ||
            (process_of(p)->closing && process_of(p)->open))
            return true;
    }
    return shards_world.actions || shards_world.leaving || shards_excused() ||
           faults_healed_at() > sim_now() || anybody_leaves();
}

/* Nothing but lost connections, frozen processes and expired sessions: nothing
 * after which a member waits some seconds before it tries again. */
static bool only_cut(void)
{
    bool is = !operator_deleted_any() && !shards_world.by_hand &&
              !shards_world.forged && !fault_hid() && !fault_copied();

    for (int p = 0; p < SIM_PROCS; p++)
        is = is && !ens_refused(p) && !process_lacked_memory(p);
    for (int i = 0; i < SHARDS_MOST; i++)
        is = is && !shards_world.foreign[i];
    return is && !shards_world.scene->leader_blocked;
}

/* A member that is there, and whose znode says so, is in the plan. */
static bool is_left_out(int proc)
{
    bool there = false;

    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->proc != proc || !v->a)
            continue;
        if (v->drain || v->ended || shards_process(v)->closing)
            return false;
        there = true;
    }
    return there && !shards_differ() &&
           shards_owns(evzk_session_id(process_of(proc)->s)) &&
           !shards_plan_names(proc);
}

/* Whatever was forged, hidden or copied: some time after the last fault a
 * member that is there leads each shard, as the plan says. */
void shards_owes(int proc, struct sim_debt *debt)
{
    bool member = false;

    if (is_busy())
        return;
    for (int64_t i = 0; i < shards_world.slots; i++)
        member = member ||
                 (shards_world.slot[i].a && shards_world.slot[i].proc == proc);
    sim_owe(debt, member && !shards_right(),
            "all was mended, and still not each shard is led", 0);
    sim_owe(debt, is_left_out(proc), "no plan has the member", 0);
    debt->most_us = only_cut() ? AGREED_US : MENDED_US;
    if (fault_hid() || fault_malformed())
        debt->most_us = HIDDEN_US;
    if (shards_differ())
        debt->most_us += DIFFERS_US;
}

/* A member behind a copy of a member's znode makes plans too.  The plan that it
 * takes for the last right one may be older than another planner's: then it
 * cannot tell a forged plan from a right one, and may move shards that could
 * stay.  The same holds for a planner whose own znode was deleted while it
 * could not be read: no watch told it, and it makes plans beside the next
 * planner until it looks. */
static void note_rivals(void)
{
    if (shards_has_rivals() || (shards_planners() > 1 && fault_hid()))
        shards_world.rivals = 1;
}

static void note_odd(struct shards_slot *v)
{
    if (shards_plan_is_for(v) || !shards_plan_names((int)v->proc))
        return;
    v->odd_first = v->odd_first ? v->odd_first : sim_now();
    v->odd_last = sim_now();
}

void shards_check(void)
{
    shards_look();
    note_rivals();
    for (int64_t i = 0; i < shards_world.slots; i++)
        note_odd(&shards_world.slot[i]);
    note_roughness();
    check_writes();
    check_beliefs();
    for (int i = 0; !shards_world.disturbed && i < shards_world.scene->shards;
         i++)
        check_led(i);
    check_soon();
    if (!shards_world.disturbed)
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
