/* Is all as the plan says?  All members know one plan, which names them all,
 * and each shard is led by the member that it names.
 *
 * How it can fail: by excusing what never comes right.  Only what was refused
 * or written by hand excuses that, and planners that can never agree.
 */
#include "ens.h"
#include "faults.h"
#include "scene_shards.h"

static bool is_well(const struct shards_slot *v)
{
    const struct process *p = shards_process(v);
    int before = sim_enter((int)v->proc);
    bool well =
        !v->ended && !v->drain && !p->closing && evzk_session_connected(p->s);

    sim_leave(before);
    return well;
}

/* All members know the same plan, which names them all and no other. */
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
           (n == 0 || operator_deleted_any() || shards_world.by_hand ||
            plan == shards_world.plan.version);
}

static bool leads(const struct shards_slot *v, int shard)
{
    int before = sim_enter((int)v->proc);
    bool is = evzk_shards_leading(v->a, shards_own(v, shard));

    sim_leave(before);
    return is;
}

/* A shard that was refused is not tried again before the next plan; and a
 * member that could not stand in one election is not ready for any shard. */
static bool may_lack(const struct shards_slot *v, int shard, bool own)
{
    bool is = v->seat[shard].failed || v->seat[shard].absent;

    for (int i = 0; own && i < SHARDS_MOST; i++)
        is = is || v->seat[i].absent;
    return is;
}

/* Its leader leads on until the next plan.  Servers hang up at its look whether
 * the member that is to have the shard is ready; or at what that member asks
 * for to stand, so that it is not. */
static bool is_kept(int shard)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_member m;

        if (!v->a || !ens_shut((int)v->proc) ||
            !evzk_shards_leader(v->a, shards_own(v, shard), &m))
            continue;
        if (m.self ? may_lack(v, shard, true)
                   : v->seat[shard].epoch && ens_shut_read((int)v->proc))
            return true;
    }
    return false;
}

static bool is_planned(int proc, int shard)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_member m;

        if (v->a && v->proc == proc &&
            evzk_shards_leader(v->a, shards_own(v, shard), &m) && m.self)
            return true;
    }
    return false;
}

/* Servers hang up at the listing by which a session would find what its ended
 * candidate has left: that stands until the session ends. */
static bool is_barred(int shard)
{
    enum { KIDS = 16 };
    const char *names[KIDS];
    char dir[32], path[160];
    struct ens_seen seen;
    size_t n;

    snprintf(dir, sizeof dir, "/s/shard-%d", shard);
    n = ens_children(dir, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        int proc;

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        proc = ens_look(path, &seen) ? process_with(seen.owner) : -1;
        if (proc >= 0 && ens_shut_read(proc) && !is_planned(proc, shard))
            return true;
    }
    return false;
}

/* The member that the plan names leads the shard, and no other member does. */
static bool is_in_place(int shard, int64_t *selves)
{
    const struct shards_dir *d = &shards_world.dir[shard];
    bool given = false;

    if (is_kept(shard) || is_barred(shard))
        return true;
    *selves = 0;
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_member m;
        bool own;

        if (!v->a)
            continue;
        given = evzk_shards_leader(v->a, shards_own(v, shard), &m);
        if (given && (m.data_len != 2 || *(const char *)m.data != 'm'))
            return false; /* Each member joins with such data. */
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
    if (!agree() || (shards_world.forged && !shards_plan_even()))
        return false;
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        slots += v->a != NULL;
        planners += v->a && is_planner(v);
    }
    if (slots == 0)
        return true;
    for (int i = 0; i < shards_world.scene->shards; i++) {
        if (!is_in_place(i, &selves))
            return false;
    }
    return planners == 1 || (fault_copied() && planners > 1);
}

int shards_planners(void)
{
    int n = 0;

    for (int64_t i = 0; i < shards_world.slots; i++)
        n += shards_world.slot[i].a && is_planner(&shards_world.slot[i]);
    return n;
}

bool shards_has_rivals(void) { return shards_planners() > 1 && fault_copied(); }

/* Two planners with different shards never agree.  And a member that a plan for
 * its own shards names keeps to that plan when one for others is written, so
 * that no forged plan ends the member. */
static bool differ(void)
{
    if (!shards_differ())
        return false;
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];

        if (v->a && v->plan_told && shards_world.plan.shards > 0 &&
            !shards_plan_is_for(v))
            return true;
    }
    return shards_has_rivals();
}

/* A znode with garbage in it is no member's: the plan leaves the member out. */
static bool garbage_stands(void)
{
    const struct shards_dir *d = &shards_world.members;

    for (int64_t i = 0; i < d->n; i++) {
        if (d->node[i].owner && !d->node[i].ok)
            return true;
    }
    return false;
}

/* The servers hang up at what the planner asks for: it tries again rarely, and
 * no plan is made meanwhile. */
static bool planner_rests(void)
{
    for (int64_t i = 0; i < shards_world.slots; i++) {
        const struct shards_slot *v = &shards_world.slot[i];
        evzk_shards_stats st;

        if (!v->a || !ens_shut((int)v->proc))
            continue;
        evzk_shards_get_stats(v->a, &st);
        if (st.trouble == EVZK_ERR_TOOLARGE)
            return true;
    }
    return false;
}

/* A server tells nobody of a change to a znode that may not be read meanwhile,
 * and the looks that would find it are hung up at, each time. */
static bool anybody_is_blind(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (fault_hid() && ens_shut_read(p))
            return true;
    }
    return false;
}

bool shards_excused(void)
{
    return garbage_stands() || differ() || planner_rests() ||
           anybody_is_blind();
}
