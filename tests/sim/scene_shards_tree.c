/* Reads members, candidates and the plan from the tree of the simulated
 * servers, and checks each new plan against the one before it.
 *
 * How it can fail: with the library's parser a mistake of the parser would not
 * be seen.  So this file parses the plan by itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "scene_lock.h"
#include "scene_shards.h"

enum { PATH = 160, TEXT = 1024, NOBODY = 65535 };

static uint64_t hash(const char *s)
{
    uint64_t h = UINT64_C(14695981039346656037);

    while (*s)
        h = (h ^ (unsigned char)*s++) * UINT64_C(1099511628211);
    return h;
}

/* "<weight> <most> <ready>\n...", or with names before the line's end. */
static bool is_members(const struct ens_seen *seen, uint64_t *names)
{
    char text[TEXT] = "";
    uint64_t weight, most, ready;
    int at = 0;

    if (seen->len <= 0 || seen->len >= TEXT)
        return false;
    memcpy(text, seen->data, (size_t)seen->len);
    return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &weight, &most,
                  &ready, &at) == 3 &&
           shards_read_print(text, &at, names);
}

/* Curator's mutex is such a library too: it does not know an election's names.
 */
static void note_foreign(struct shards_dir *d, const char *path,
                         const char *name)
{
    struct ens_seen seen;

    if (!lock_foreign_name(name) && strncmp(name, "_c_", 3) != 0)
        return;
    if (ens_look(path, &seen) && (!d->foreign || seen.czxid < d->foreign))
        d->foreign = seen.czxid;
}

static void look_into(struct shards_dir *d, const char *dir)
{
    const char *names[SHARDS_NODES];
    size_t n = ens_children(dir, names, SHARDS_NODES);

    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < n && i < SHARDS_NODES; i++) {
        struct shards_node *to = &d->node[d->n];
        struct ens_seen seen;
        char path[PATH];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        note_foreign(d, path, names[i]);
        if (strcmp(names[i], "leader") == 0 || !ens_look(path, &seen) ||
            seen.owner == 0)
            continue;
        to->czxid = seen.czxid;
        to->owner = seen.owner;
        to->name = hash(names[i]);
        to->ok = is_members(&seen, &to->names);
        to->acl = seen.aversion;
        to->by_hand = fault_wrote(seen.mzxid);
        d->n++;
    }
}

/* ---- The plan ---- */

/* A member's data may be any bytes. */
static const char *read_member(struct shards_tree_plan *t, int64_t i,
                               const char *from, const char *end)
{
    char name[PATH];
    int at = 0;
    size_t len;

    if (sscanf(from, "%159s %" SCNd64 " %" SCNd64 " %zu%n", name, &t->weight[i],
               &t->most[i], &len, &at) != 4 ||
        from[at] != '\n' || (size_t)(end - from - at - 1) <= len)
        return NULL;
    t->name[i] = hash(name);
    return from + at + 1 + len + 1;
}

static bool read_owners(struct shards_tree_plan *t, const char *from)
{
    int64_t at = 0, n, own;
    int used;

    while (at < t->shards) {
        used = 0;
        if (sscanf(from, "%" SCNd64 "*%" SCNd64 "%n", &n, &own, &used) != 2 ||
            from[used] != '\n' || n < 1 || n > t->shards - at || own < 0 ||
            (own >= t->members && own != NOBODY))
            return false;
        from += used + 1;
        while (n-- > 0)
            t->owner[at++] = own == NOBODY ? -1 : own;
    }
    return *from == '\0';
}

static bool read_plan(struct shards_tree_plan *t, const struct ens_seen *seen)
{
    char text[TEXT] = "";
    const char *from;
    int at = 0;

    memset(t, 0, sizeof *t);
    if (seen->len <= 0 || seen->len >= TEXT)
        return false;
    memcpy(text, seen->data, (size_t)seen->len);
    if (sscanf(text, "evzk-plan 1 %" SCNu64 " %" SCNd64 " %" SCNd64 "%n",
               &t->version, &t->shards, &t->members, &at) != 3 ||
        !shards_read_print(text, &at, &t->names) ||
        t->shards > SHARDS_PLANNED || t->members > SHARDS_NODES)
        return false;
    from = text + at;
    for (int64_t i = 0; from && i < t->members; i++)
        from = read_member(t, i, from, text + seen->len);
    return from && read_owners(t, from);
}

static int64_t count(const struct shards_tree_plan *t, int64_t member)
{
    int64_t n = 0;

    for (int64_t i = 0; i < t->shards; i++)
        n += t->owner[i] == member;
    return n;
}

/* Each member has its share by weight, give or take one shard. */
static bool is_uneven(const struct shards_tree_plan *t, char why[PATH])
{
    double weight = 0; /* A plan may be forged. */
    bool most = false;

    why[0] = '\0';

    for (int64_t i = 0; i < t->members; i++) {
        weight += (double)t->weight[i];
        most = most || t->most[i];
        if (t->most[i] && count(t, i) > t->most[i])
            snprintf(why, PATH, "member %d is given more than it may have",
                     (int)i);
        if (t->weight[i] == 0 && count(t, i) > 0)
            snprintf(why, PATH, "member %d looks on, and is given some",
                     (int)i);
    }
    for (int64_t i = 0; i < t->members && weight > 0 && !most; i++) {
        double off = (double)count(t, i) * weight -
                     (double)t->weight[i] * (double)t->shards;

        if (off > weight || off < -weight)
            snprintf(why, PATH, "plan %d is not even", (int)t->version);
    }
    for (int64_t i = 0; i < t->shards && weight > 0 && !most; i++) {
        if (t->owner[i] < 0)
            snprintf(why, PATH, "plan %d leaves a shard to nobody",
                     (int)t->version);
    }
    return why[0] != '\0';
}

bool shards_plan_even(void)
{
    char why[PATH];

    return !is_uneven(&shards_world.plan, why);
}

/* A member that stays keeps its shards, up to its share. */
static void check_moves(const struct shards_tree_plan *t,
                        const struct shards_tree_plan *prev)
{
    for (int64_t i = 0; i < t->members; i++) {
        int64_t had = 0, kept = 0, has = count(t, i);

        for (int64_t s = 0; s < t->shards && s < prev->shards; s++) {
            bool was =
                prev->owner[s] >= 0 && prev->name[prev->owner[s]] == t->name[i];

            had += was;
            kept += was && t->owner[s] == i;
        }
        if (kept < (had < has ? had : has))
            sim_violation("plan %d moves what could stay", (int)t->version);
    }
}

/* A member whose shards have other names than the plan's gets none. */
static void check_names(const struct shards_tree_plan *t)
{
    const struct shards_dir *d = &shards_world.members;

    for (int64_t i = 0; i < t->members; i++) {
        for (int64_t j = 0; j < d->n; j++) {
            if (d->node[j].name == t->name[i] && d->node[j].ok &&
                d->node[j].names != t->names && count(t, i) > 0)
                sim_violation("plan %d gives shards to a member with others",
                              (int)t->version);
        }
    }
}

/* A deleted plan is made again from what the planner knew of it. */
static void check_next(const struct shards_tree_plan *t,
                       const struct shards_tree_plan *prev, bool late)
{
    char why[PATH];

    if (t->members > 0 && is_uneven(t, why))
        sim_violation("%s", why);
    check_names(t);
    if (!prev->ok || (late && shards_world.disturbed_besides) ||
        shards_world.by_hand)
        return;
    /* A plan for other shards is no base: the planner goes by its own last. */
    if (!shards_world.rivals && t->names == prev->names &&
        t->shards == prev->shards)
        check_moves(t, prev);
    if (t->version <= prev->version)
        sim_violation("plan %d comes after %d", (int)t->version,
                      (int)prev->version);
}

/* True: the plan's znode is another than before, or a member may have taken it
 * for one that has gone.  The versions of a new znode begin at 0 again: a
 * member that was frozen after it had read the old znode may write over the new
 * one, once for each version that the old one has had. */
static bool note_plan_node(const struct ens_seen *seen)
{
    struct shards_world *w = &shards_world;
    bool anew = seen->czxid != w->plan_czxid;

    if (w->plan_czxid == 0)
        w->plan_before = -1;
    else if (anew && w->plan_version > w->plan_before)
        w->plan_before = w->plan_version;
    w->plan_czxid = seen->czxid;
    w->plan_mzxid = seen->mzxid;
    w->plan_version = seen->version;
    return anew || seen->version - 1 <= w->plan_before;
}

static void look_at_plan(void)
{
    struct shards_tree_plan next;
    struct ens_seen seen;
    bool late;

    if (!ens_look(SHARDS_PATH "/plan", &seen) ||
        seen.mzxid == shards_world.plan_mzxid)
        return;
    late = note_plan_node(&seen);
    shards_world.changed_at = sim_now();
    if (fault_wrote(seen.mzxid) ||
        fault_forged(seen.data, (size_t)(seen.len > 0 ? seen.len : 0))) {
        sim_say("tree plan that is forged");
        shards_world.disturbed = shards_world.disturbed_besides = 1;
        shards_world.forged = 1;
        if (!read_plan(&shards_world.plan, &seen))
            memset(&shards_world.plan, 0, sizeof shards_world.plan);
        shards_world.plan.ok = 0;
        return;
    }
    if (!read_plan(&next, &seen)) {
        if (!shards_world.by_hand && !shards_world.scene->plan_is_garbage)
            sim_violation("what is no plan was written");
        return;
    }
    next.ok = 1;
    sim_say("tree plan %d, of %d members", (int)next.version,
            (int)next.members);
    shards_world.written_at[shards_world.writes++ % SHARDS_WRITES] = sim_now();
    check_next(&next, &shards_world.plan, late);
    shards_world.rivals = 0;
    shards_world.plan = next;
}

/* ---- The whole tree ---- */

static bool has(const struct shards_dir *d, int64_t czxid)
{
    for (int64_t i = 0; i < d->n; i++) {
        if (d->node[i].czxid == czxid)
            return true;
    }
    return false;
}

/* A znode that an operator deleted counts as a disturbance besides the scene's
 * actions. */
static bool look_again(struct shards_dir *d, const char *dir)
{
    struct shards_dir prev = *d;

    look_into(d, dir);
    for (int64_t i = 0; i < prev.n; i++) {
        if (!has(d, prev.node[i].czxid) && operator_deleted(prev.node[i].czxid))
            shards_world.disturbed_besides = 1;
    }
    return memcmp(d, &prev, sizeof prev) != 0;
}

static void note_name(int proc, const struct shards_node *n)
{
    const struct process *p = process_of(proc);

    if (p->n_ids && p->ids[p->n_ids - 1] == n->owner &&
        n->czxid > shards_world.newest[proc].czxid)
        shards_world.newest[proc] = *n;
}

static void note_names(void)
{
    for (int64_t i = 0; i < shards_world.members.n; i++) {
        for (int p = 0; p < SIM_PROCS; p++)
            note_name(p, &shards_world.members.node[i]);
    }
}

void shards_look(void)
{
    if (ens_committed() == shards_world.looked_zxid)
        return;
    shards_world.looked_zxid = ens_committed();
    if (look_again(&shards_world.members, SHARDS_PATH "/members")) {
        shards_world.changed_at = sim_now();
        memset(shards_world.written_at, 0, sizeof shards_world.written_at);
        shards_world.planners = 1;
        note_names();
    }
    for (int i = 0; i < shards_world.scene->shards; i++) {
        look_again(&shards_world.dir[i], shards_dir(i).v);
        if (shards_world.dir[i].foreign)
            shards_world.foreign[i] = shards_world.looked_zxid;
    }
    look_at_plan();
}

static bool is_named(uint64_t name)
{
    const struct shards_tree_plan *t = &shards_world.plan;

    for (int64_t i = 0; i < t->members; i++) {
        if (t->name[i] == name)
            return true;
    }
    return false;
}

bool shards_plan_names(int proc)
{
    const struct shards_dir *d = &shards_world.members;
    const struct process *p = process_of(proc);

    for (int64_t i = 0; p->n_ids && i < d->n; i++) {
        if (d->node[i].owner == p->ids[p->n_ids - 1] &&
            is_named(d->node[i].name))
            return true;
    }
    return shards_world.newest[proc].czxid &&
           is_named(shards_world.newest[proc].name);
}

static bool owns_in(const struct shards_dir *d, int64_t session)
{
    for (int64_t i = 0; i < d->n; i++) {
        if (d->node[i].owner == session)
            return true;
    }
    return false;
}

bool shards_owns(int64_t session)
{
    shards_look();
    for (int i = 0; i < SHARDS_MOST; i++) {
        if (owns_in(&shards_world.dir[i], session))
            return true;
    }
    return owns_in(&shards_world.members, session);
}

int64_t shards_member(const char *name)
{
    const struct shards_dir *d = &shards_world.members;

    for (int64_t i = 0; i < d->n; i++) {
        if (d->node[i].name == hash(name))
            return d->node[i].owner;
    }
    return 0;
}

bool shards_stands(int shard, int64_t session)
{
    return owns_in(&shards_world.dir[shard], session);
}

bool shards_says(int shard, int64_t session)
{
    struct ens_seen seen;
    char path[PATH];

    snprintf(path, sizeof path, "%s/leader", shards_dir(shard).v);
    return ens_look(path, &seen) && seen.owner == session;
}

const struct shards_node *shards_candidate(int shard, int64_t czxid)
{
    const struct shards_dir *d = &shards_world.dir[shard];

    for (int64_t i = 0; i < d->n; i++) {
        if (d->node[i].czxid == czxid)
            return &d->node[i];
    }
    return NULL;
}
