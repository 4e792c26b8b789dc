/* The directories of the locks: which there are at first, and their rules.
 *
 * What the library made it may take away, and no more: what was there before
 * stays, and is not written to.  A plain directory that it made goes with the
 * lock in it, when that had it for itself, and was let go in calm.  A lock that
 * shared it, was broken, lost its connection, or whose session was closed
 * before all was let go, may leave it behind.  A container the servers take
 * away.
 *
 * A lock that nobody else wants takes no longer than it must.  A companion that
 * was started in the same moment, and is not alone, may cost the others one
 * more round trip: what was sent as one is sent again.
 *
 * How it can fail: the rules are about calm, so a fault silences them.  The
 * rules that hold with faults are the others.
 */
#include <string.h>

#include "ens_internal.h"
#include "faults.h"
#include "processes.h"
#include "scene_lock.h"

enum {
    TOP = LOCK_PLACES, /* The znode above them. */
    /* The most round trips that a lock takes that is alone: */
    TRIPS_THERE = 2, /* in a directory that is there, and not known to be, */
    TRIPS_NEW = 1,   /* that is to be made, */
    TRIPS_TOP = 3,   /* and so is what is above it. */
    LEADER_US = 4000,
    FOLLOWER_US = 6000,
    LATE_US = 200 * 1000
};

static const struct lock_scene *scene(void) { return lock_world.sc; }

enum { CHROOT = sizeof "/app" - 1 };

/* From the chroot on. */
static const char *dir_of(int place)
{
    static const char *const dirs[] = {"/app/a/lock", "/app/a/other",
                                       "/app/a/third", "/app/a"};
    static const char *const deep[] = {"/app/a/b/c/lock", "/app/a/b/c/other",
                                       "/app/a/b/third", "/app/a/b"};

    if (scene()->deep)
        return deep[place];
    return dirs[place == 2 && scene()->nested ? TOP : place];
}

const char *lock_path(int place) { return dir_of(place) + CHROOT; }

const char *lock_dir(int place)
{
    return scene()->chroot ? dir_of(place) : lock_path(place);
}

int lock_place_of(const char *path)
{
    for (int i = 0; i < LOCK_PLACES; i++) {
        if (strcmp(path, lock_path(i)) == 0)
            return i;
    }
    return -1;
}

/* Nobody makes it in these scenes, once it is gone. */
bool lock_rootless(void)
{
    struct ens_seen seen;

    return scene()->chroot && !scene()->make_chroot && !ens_look("/app", &seen);
}

/* The beginning. */

static bool is_there(int place)
{
    const struct lock_scene *sc = scene();

    if (place == TOP || (place == 2 && sc->nested))
        return sc->above_exists || sc->dir_exists || sc->more_exist ||
               sc->deny_create;
    return (place == 0 && sc->dir_exists) ||
           ((sc->more_exist | sc->deny_create) >> place & 1);
}

static void make_foreign(void)
{
    ens_create("/a/lock/operator-lock-0000000000", "", 0, ZOO_PERSISTENT);
    ens_create("/a/lock/-lock-0000000000", "", 0, ZOO_PERSISTENT);
    ens_create("/a/lock/x-lock-000000000x", "", 0, ZOO_PERSISTENT);
    ens_create("/a/lock/0000000000", "", 0, ZOO_PERSISTENT);
}

/* Everybody may read it, and do no more.  By an operator. */
static void deny(const char *path)
{
    struct ACL only = {ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    const struct ACL_vector acl = {1, &only};
    struct ens_txn *t = ens_txn_new(ENS_SET_ACL, 0, &ens_nobody);
    struct wire_msg *m = wire_msg_new(ENS_SET_ACL, 0);

    m->path = sim_strdup(SIM_OUTSIDE, path);
    m->version = -1;
    wire_msg_acl(m, &acl);
    ens_prep(t, m, NULL, -1);
    wire_msg_free(m);
    ens_txn_propose(t);
}

void lock_dirs_begin(void)
{
    const struct lock_scene *sc = scene();

    if (sc->chroot && !sc->make_chroot && !sc->rootless)
        ens_create("/app", "", 0, ZOO_PERSISTENT);
    if (is_there(TOP))
        ens_create(lock_dir(TOP), "", 0, ZOO_PERSISTENT);
    for (int i = 0; i < LOCK_PLACES; i++) {
        if (is_there(i) && !(i == 2 && sc->nested))
            ens_create(lock_dir(i), "", 0, ZOO_PERSISTENT);
        if (sc->deny_create >> i & 1)
            deny(lock_dir(i));
    }
    if (sc->deny_create >> TOP & 1)
        deny(lock_dir(TOP));
    for (int i = 0; i < LOCK_PLACES; i++)
        lock_world.dir[i].soiled = sc->dialect != EVZK_DIALECT_EVZK;
    if (sc->nested)
        lock_world.dir[2].soiled = true; /* The other directories are in it. */
    if (sc->foreign)
        make_foreign();
    if (sc->first_number)
        ens_set_sequence("/a/lock", sc->first_number);
}

/* Calm. */

void lock_rough(int ms)
{
    int64_t until = sim_now() + in_us(ms);

    if (until > lock_world.rough)
        lock_world.rough = until;
    processes_disturbed(in_us(ms));
}

bool lock_calm(int proc, int64_t since)
{
    return lock_world.rough < since && lock_world.conn[proc].born != 0 &&
           lock_world.conn[proc].since < since && !ens_refused(proc) &&
           !process_lacked_memory(proc);
}

/* A fault that lasts is one as an action is. */
static void note_faults(void)
{
    int64_t healed = faults_healed_at();

    if (healed > sim_now() && healed > lock_world.rough)
        lock_world.rough = healed;
}

/* Nothing at all, as yet, could make it late. */
static bool untouched(const struct lock_slot *k)
{
    return lock_world.rough == 0 && !operator_deleted_any() &&
           lock_calm((int)k->proc, k->began) &&
           !process_was_frozen((int)k->proc, k->began);
}

/* How long it takes. */

/* Or may be: the create of one that was freed can still be on its way. */
static bool in_use(const struct lock_slot *k)
{
    bool late = !k->gone && sim_now() < k->let_go + LATE_US;

    return k->used && (k->l || late || lock_node_of(k));
}

static bool foreign_in(int64_t place)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->slot < 0 && n->place == place)
            return true;
    }
    return false;
}

/* A lock of the process was let go there, and the answer was lost: the process
 * need not know that the directory went with it. */
static bool left_in_doubt(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;

    for (; o < lock_world.slot + lock_world.slots; o++) {
        if (o != k && o->used && o->proc == k->proc && o->place == k->place &&
            o->let_go && !lock_calm((int)o->proc, o->let_go))
            return true;
    }
    return false;
}

/* This process had a lock in the directory before.  Another process had one
 * too, and may have deleted the directory since.  This process learns that from
 * a refused create. */
static bool taken_away(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;
    bool ours = false, others = false;

    for (; o < lock_world.slot + lock_world.slots; o++) {
        if (o == k || !o->used || o->place != k->place)
            continue;
        ours = ours || o->proc == k->proc;
        others = others || o->proc != k->proc;
    }
    return ours && others;
}

static int64_t trips_of(const struct lock_slot *k)
{
    struct ens_seen seen;
    int proc = (int)k->proc, place = (int)k->place;
    const evzk_session *s = process_of(proc)->s;

    if (!untouched(k) || k->plan->urgent || scene()->deep ||
        foreign_in(place) || left_in_doubt(k) || lock_asking(proc) ||
        !evzk_session_lease_ms(s) || !evzk_session_connected(s))
        return 0;
    if (ens_look(lock_dir(place), &seen))
        return TRIPS_THERE;
    if (scene()->dialect != EVZK_DIALECT_EVZK)
        return 0; /* Makes its directory by itself. */
    return (ens_look(lock_dir(TOP), &seen) ? TRIPS_NEW : TRIPS_TOP) +
           taken_away(k);
}

void lock_dirs_started(struct lock_slot *k)
{
    k->trips = trips_of(k);
    for (struct lock_slot *o = lock_world.slot; o < k; o++) {
        if (o->place != k->place || !in_use(o))
            continue;
        o->trips = k->trips = 0;
        if (o->proc != k->proc)
            lock_world.dir[k->place].soiled = true;
    }
}

/* Something else waits for its turn in the same window. */
void lock_dirs_busy(int proc)
{
    struct lock_slot *k = lock_world.slot;

    for (; k < lock_world.slot + lock_world.slots; k++) {
        if (k->proc == proc)
            k->trips = 0;
    }
}

/* Was sent with it, or a little before, and may have been refused. */
static bool costs(const struct lock_slot *o, const struct lock_slot *k)
{
    return o != k && o->used && o->proc == k->proc &&
           o->began + LATE_US > k->began && o->trips != TRIPS_NEW;
}

/* Somebody else has deleted a znode of the process there.  Then the directory
 * can go while creates are on their way, and another session, or an operator,
 * can make it. */
static bool may_be_remade(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;
    bool broken = false, others = k->began < lock_world.dir[k->place].by_hand;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->slot < 0 || n->place != k->place)
            continue;
        if (lock_world.slot[n->slot].proc != k->proc)
            others = true;
        else
            broken = broken || n->broken;
    }
    return broken && others;
}

/* Of one session the one that asks first comes first, whatever happens: its
 * first znode is there before those of all that asked later.  A lock that has
 * lost its place comes anew; and so does one whose create the server refused,
 * if the answer that says so was lost. */
void lock_dirs_placed(const struct lock_node *n)
{
    const struct lock_node *o = lock_world.node;
    const struct lock_slot *k = &lock_world.slot[n->slot];
    int later = -1;

    for (; o < n; o++) {
        if (o->slot == n->slot)
            return;
        if (o->slot > n->slot && o->place == n->place &&
            lock_world.slot[o->slot].proc == k->proc)
            later = o->slot;
    }
    if (later >= 0 && !may_be_remade(k) && !ens_refused((int)k->proc))
        sim_violation("lock %d has its place behind %d, which asked later",
                      n->slot, later);
}

/* Nor is one that asked later granted before it, if nothing has gone wrong. */
static void check_arrival(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;

    for (; o < k; o++) {
        if (o->l && o->proc == k->proc && o->place == k->place && !o->granted &&
            !o->ended && !o->cancel && untouched(o) && !o->plan->urgent &&
            !k->plan->urgent &&
            !(o->plan->mode == EVZK_LOCK_READ &&
              k->plan->mode == EVZK_LOCK_READ))
            sim_violation("lock %d is granted, and %d asked before it",
                          (int)(k - lock_world.slot),
                          (int)(o - lock_world.slot));
    }
}

void lock_dirs_granted(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;
    int conn = wire_conn_of((int)k->proc);
    int64_t trips = k->trips, one;

    check_arrival(k);
    if (!trips || !untouched(k) || conn < 0 || lock_world.sc->rivals)
        return;
    for (; o < lock_world.slot + lock_world.slots; o++)
        trips += costs(o, k);
    one = wire_server(conn) == 0 ? LEADER_US : FOLLOWER_US;
    if (sim_now() - k->began > trips * one + one / 4)
        sim_violation("lock %d is alone, and took %lld us",
                      (int)(k - lock_world.slot),
                      (long long)(sim_now() - k->began));
}

/* Znodes that were there before. */
static void check_kept(int place)
{
    struct lock_dir *d = &lock_world.dir[place];
    const char *path = lock_dir(place);
    struct ens_seen seen;
    bool there = ens_look(path, &seen);

    if (there && d->czxid == 0 && is_there(place)) {
        d->czxid = seen.czxid;
        d->mzxid = seen.mzxid;
    }
    if (d->czxid == 0 || operator_deleted(d->czxid) ||
        (there && fault_wrote(seen.mzxid)))
        d->mzxid = 0;
    if (d->mzxid == 0)
        return;
    if (!there || seen.czxid != d->czxid)
        sim_violation("%s was there before, and is gone", path);
    else if (seen.mzxid != d->mzxid)
        sim_violation("%s was there before, and was written to", path);
}

/* The lock gave up while it waited: its watch is taken off with its znode, and
 * that does not go in a transaction. */
static bool gave_up(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;

    if (!k->let_go || k->granted)
        return false;
    for (; o < lock_world.slot + lock_world.slots; o++) {
        if (o != k && o->used && o->place == k->place)
            return true;
    }
    return false;
}

/* Its directory need not go with it. */
static bool soils(const struct lock_slot *k)
{
    int proc = (int)k->proc;

    return gave_up(k) || !lock_calm(proc, k->began) ||
           lock_world.conn[proc].count > 1 || process_of(proc)->closing ||
           process_was_frozen(proc, k->began);
}

/* Other libraries use it: to evzk's locks it is another's. */
static void check_common(int place)
{
    struct lock_dir *d = &lock_world.dir[place];
    bool there = ens_tree_look(lock_dir(place), ens.committed) != NULL;

    if (scene()->dialect == EVZK_DIALECT_EVZK)
        return;
    if (d->made && !there && !operator_deleted_any())
        sim_violation("%s is gone, which other libraries use", lock_dir(place));
    d->made = there;
}

void lock_dirs_check(void)
{
    const struct lock_slot *k = lock_world.slot;

    note_faults();
    for (; k < lock_world.slot + lock_world.slots; k++) {
        struct lock_dir *d = &lock_world.dir[k->place];

        if (k->used && !d->soiled && in_use(k))
            d->soiled = soils(k) || foreign_in(k->place);
    }
    for (int i = 0; i <= TOP; i++)
        check_kept(i);
    for (int i = 0; i < LOCK_PLACES; i++)
        check_common(i);
}

void lock_dirs_check_end(void)
{
    for (int i = 0; i < LOCK_PLACES; i++) {
        const struct lock_dir *d = &lock_world.dir[i];
        const struct ens_rev *r = ens_tree_look(lock_dir(i), ens.committed);

        if (!r || r->owner != 0 || r->children || d->czxid != 0)
            continue;
        sim_say("tree %s is left%s", lock_dir(i),
                d->soiled ? "" : ", and need not be");
        if (!d->soiled && !operator_deleted_any() && !lock_removing())
            sim_violation("%s was made for a lock, and is left", lock_dir(i));
    }
}
