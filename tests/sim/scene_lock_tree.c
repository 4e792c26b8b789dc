/* The lock's directory as it truly is: which contenders are there, whose they
 * are, and which have been.
 *
 * Nothing of the library is used here: scene_lock_names.c reads the names, and
 * the lock that owns a znode is known from its data, which the scene chose.
 *
 * How it can fail: a znode that comes and goes between two looks is not seen.
 * The look is after every step, and one commit makes one change.
 */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_lock.h"
#include "wire.h"

enum { KIDS = 40, PATH = 160 };

static const char *path_of(char out[PATH], int place, const char *name)
{
    size_t dir = strlen(lock_dir(place)), n = strlen(name);

    if (dir + n + 2 > PATH)
        return NULL;
    memcpy(out, lock_dir(place), dir);
    out[dir] = '/';
    memcpy(out + dir + 1, name, n + 1);
    return out;
}

/* "l4" is lock 4's. */
static int16_t slot_of(const struct ens_seen *seen)
{
    if (!seen->owner || seen->len != 2 || !seen->data || seen->data[0] != 'l')
        return -1; /* A copy that an operator made says the same. */
    return (int16_t)(seen->data[1] - '0');
}

static struct lock_node *find(uint64_t name, int64_t czxid)
{
    struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->name == name && n->czxid == czxid)
            return n;
    }
    return NULL;
}

/* The rules for a contender that is seen for the first time. */
static void check_new(const struct lock_node *n, const char *name)
{
    const struct lock_node *o = lock_world.node;
    const struct lock_slot *k;

    for (; o < lock_world.node + lock_world.nodes; o++) {
        if (o == n)
            continue;
        if (n->guid && o->guid == n->guid)
            sim_violation("the GUID of %s was used before", name);
        if (n->slot >= 0 && o->slot == n->slot && o->live && o->seen)
            sim_violation("lock %d has two znodes: %s", n->slot, name);
    }
    if (n->slot >= LOCK_SLOTS || n->slot >= lock_world.slots) {
        sim_violation("a znode of no lock: %s", name);
        return;
    }
    if (n->slot < 0)
        return;
    k = &lock_world.slot[n->slot];
    if (k->gone && !session_over(n->owner)) /* The session's end took it. */
        sim_violation("a znode of lock %d, which has ended: %s", n->slot, name);
    if (k->place != n->place)
        sim_violation("lock %d is in %s", n->slot, lock_dir((int)n->place));
}

/* Its lock has become a read lock: it stands where the old one stood. */
static void note_moved(const struct lock_node *n)
{
    const struct lock_node *o = lock_world.node;

    for (; n->slot >= 0 && n->shares && o < n; o++) {
        if (o->slot == n->slot && !o->shares && o->seq == n->seq &&
            lock_world.slot[n->slot].asked_down)
            lock_world.slot[n->slot].moved = n->czxid;
    }
}

/* Has the contender gone from the priority wait to the queue, in the same
 * change? */
static bool has_entered(const struct lock_node *n, const struct lock_node *own)
{
    return own->waits && own->slot >= 0 && own->slot == n->slot && own->live &&
           !own->seen;
}

/* The newcomer had seen this contender wait by priority, before it and in its
 * way. */
static void check_passed(const struct lock_node *own, struct lock_node *n)
{
    const struct lock_slot *k = &lock_world.slot[own->slot];
    int64_t looked = own->czxid > k->looked ? own->czxid : k->looked;
    int64_t most = (n->handicap - own->handicap) + LOCK_PLANS;

    if (!n->live || !n->seen || !n->waits || n == own ||
        n->place != own->place || !lock_bars(n, own) || session_over(n->owner))
        return;
    if (lock_before(n, own) && n->czxid < looked)
        sim_violation("lock %d enters, and %d is before it in the room",
                      own->slot, n->slot);
    if (own->czxid > n->czxid && ++n->passed > most)
        sim_violation("lock %d was passed %d times", n->slot, (int)n->passed);
}

/* The newcomer had seen this contender in the queue, and in its way. */
static void check_entered(const struct lock_node *own,
                          const struct lock_node *n)
{
    const struct lock_slot *k = &lock_world.slot[own->slot];
    int64_t looked = own->czxid > k->looked ? own->czxid : k->looked;

    if (n->live && n->seen && !n->waits && n->place == own->place &&
        lock_bars(n, own) && n->czxid < looked && !session_over(n->owner))
        sim_violation("lock %d enters, and %d is in the queue", own->slot,
                      n->seq);
}

/* Counts the contenders that should know that this one has come, and may not
 * know in time. */
static void note_urgent(const struct lock_node *n)
{
    struct lock_node *o = lock_world.node;
    const struct lock_node *own = NULL;

    if (n->waits)
        lock_world.place[n->place].late += lock_concerned(n);
    for (; !n->waits && o < lock_world.node + lock_world.nodes; o++) {
        if (has_entered(n, o))
            own = o;
    }
    for (o = lock_world.node; own && o < lock_world.node + lock_world.nodes;
         o++) {
        check_passed(own, o);
        if (o != n)
            check_entered(own, o);
    }
}

static void add(int place, const char *name, const struct lock_node *as_named,
                const struct ens_seen *seen)
{
    struct lock_node *n = &lock_world.node[lock_world.nodes];

    if (lock_world.nodes == LOCK_NODES) {
        sim_violation("a storm of creates");
        return;
    }
    lock_world.nodes++;
    *n = *as_named;
    n->czxid = seen->czxid;
    n->born = lock_world.changes;
    n->owner = seen->owner;
    n->place = place;
    n->slot = slot_of(seen);
    n->mzxid = seen->mzxid;
    n->live = n->seen = true;
    if (n->slot < 0)
        n->guid = 0;
    check_new(n, name);
    if (n->slot >= 0 && n->slot < lock_world.slots)
        lock_dirs_placed(n);
    note_moved(n);
    sim_say("tree %s is there, lock %d", name, n->slot);
}

static void note_asked(struct lock_node *n, const struct ens_seen *seen)
{
    n->seen = true;
    if (seen->mzxid == n->mzxid)
        return;
    n->mzxid = seen->mzxid;
    lock_world.place[n->place].touched++;
    if (seen->len != 6 || memcmp(seen->data, "unlock", 6) != 0) {
        n->asked = 0; /* Not asked any more. */
        return;
    }
    if (n->asked && ++n->again > n->by_hand)
        sim_violation("lock %d is asked once more", n->slot);
    n->asks++;
    n->asked = sim_now();
    if (!n->first_asked)
        n->first_asked = sim_now();
    sim_say("tree %d is asked to let go, lock %d", n->seq, n->slot);
}

static void see(int place, const char *name)
{
    char path[PATH];
    struct ens_seen seen;
    struct lock_node *n, as_named;

    if (!lock_read_name(name, &as_named) || !path_of(path, place, name) ||
        !ens_look(path, &seen))
        return;
    n = find(as_named.name, seen.czxid);
    if (n)
        note_asked(n, &seen);
    else
        add(place, name, &as_named, &seen);
}

/* The contenders that it barred, and that no nearer contender bars.  A copy may
 * have the number of another contender: then the names say which is before. */
int64_t lock_concerned(const struct lock_node *gone)
{
    const struct lock_node *n = lock_world.node, *o;
    int64_t count = 0;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        bool nearer = !n->live || n->place != gone->place || n == gone ||
                      lock_before(n, gone) || !lock_bars(gone, n);

        for (o = lock_world.node;
             !nearer && o < lock_world.node + lock_world.nodes; o++)
            nearer = o->live && o->seen && o->place == n->place &&
                     lock_before(gone, o) && lock_before(o, n) &&
                     lock_bars(o, n);
        count += !nearer;
    }
    return count > 1 ? count : 1;
}

static void bury(void)
{
    struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && !n->seen) {
            n->live = false;
            n->died = lock_world.changes;
            n->died_zxid = lock_world.looked;
            n->died_at = sim_now();
            n->removed = lock_removed(n);
            n->broken = operator_deleted(n->czxid) || n->removed;
            if (n->removed)
                operator_note_deleted(n->czxid);
            sim_say("tree %d is gone, lock %d", n->seq, n->slot);
            if (n->foreign)
                continue; /* Nobody waited for it. */
            lock_world.place[n->place].deaths++;
            lock_world.place[n->place].concerned += lock_concerned(n);
            lock_world.place[n->place].broken += n->broken;
        }
        n->seen = false;
    }
}

static void see_all(int place)
{
    const char *names[KIDS];
    size_t n = ens_children(lock_dir(place), names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++)
        see(place, names[i]);
}

void lock_look(void)
{
    if (ens_committed() == lock_world.looked)
        return;
    lock_world.looked = ens_committed();
    lock_world.changes++;
    for (struct lock_node *o = lock_world.node;
         o < lock_world.node + lock_world.nodes; o++)
        o->seen = false;
    for (int place = 0; place < LOCK_PLACES; place++)
        see_all(place);
    for (const struct lock_node *n = lock_world.node;
         n < lock_world.node + lock_world.nodes; n++) {
        if (n->born == lock_world.changes)
            note_urgent(n);
    }
    bury();
    if (lock_world.sc->locks[0].elect)
        lock_election_look();
}

/* The one that it was made of, which has gone. */
const struct lock_node *lock_original(const struct lock_node *n)
{
    const struct lock_node *o = lock_world.node;

    for (; n->slot < 0 && o < lock_world.node + lock_world.nodes; o++) {
        if (o != n && o->slot >= 0 && o->name == n->name &&
            o->place == n->place && operator_copied(o->czxid))
            return o;
    }
    return NULL;
}

bool lock_is_copy(const struct lock_node *n)
{
    return lock_original(n) != NULL;
}

bool lock_knows_copy(const struct lock_node *n, int64_t zxid)
{
    const struct lock_node *o = lock_original(n);
    int64_t proc = lock_world.slot[o->slot].proc;

    return lock_world.conn[proc].since > o->died_at &&
           zxid > lock_world.conn[proc].proposed &&
           wire_heard((int)proc) >= n->czxid;
}

bool lock_is_leaving(const struct lock_slot *k)
{
    const char *state = evzk_lock_state(k->l);

    return strcmp(state, "DELETING") == 0 || strcmp(state, "CHECKING") == 0;
}

bool lock_state_lists(const char *state)
{
    return strcmp(state, "LISTING") == 0 || strcmp(state, "PRIO_LISTING") == 0;
}

bool lock_state_waits(const char *state)
{
    return strcmp(state, "WATCHING") == 0 ||
           strcmp(state, "PRIO_WATCHING") == 0 ||
           strcmp(state, "READING_OWN") == 0;
}

bool lock_is_waiting(const struct lock_slot *k)
{
    return lock_state_waits(evzk_lock_state(k->l));
}

const struct lock_node *lock_node_of(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->slot == k - lock_world.slot)
            return n;
    }
    return NULL;
}

bool lock_was_broken(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->broken && n->slot == k - lock_world.slot)
            return true;
    }
    return false;
}

const struct lock_node *lock_node_named(const char *name)
{
    uint64_t hash = sim_hash(name, strlen(name));
    const struct lock_node *n = lock_world.node + lock_world.nodes;

    while (n-- > lock_world.node) { /* The newest of that name. */
        if (n->name == hash)
            return n;
    }
    return NULL;
}

static bool find_path(const struct lock_node *n, char path[PATH])
{
    const char *names[KIDS];
    int place = (int)n->place;
    size_t kids = ens_children(lock_dir(place), names, KIDS);

    for (size_t i = 0; i < kids && i < KIDS; i++) {
        if (sim_hash(names[i], strlen(names[i])) == n->name &&
            path_of(path, place, names[i]))
            return true;
    }
    return false;
}

void lock_break(const struct lock_node *n)
{
    char path[PATH];

    if (find_path(n, path))
        operator_delete(path);
}

void lock_write(const struct lock_node *n, const char *data)
{
    char path[PATH];

    if (find_path(n, path)) {
        ens_set_data(path, data, strlen(data));
        lock_world.node[n - lock_world.node].by_hand++;
    }
}

void lock_child(bool make)
{
    const struct lock_node *n = lock_world.node;
    char path[PATH], child[PATH + 8];

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (!n->live || n->slot >= 0 || !find_path(n, path))
            continue;
        snprintf(child, sizeof child, "%s/child", path);
        if (make)
            ens_create(child, "", 0, 0);
        else
            ens_delete(child);
    }
}
