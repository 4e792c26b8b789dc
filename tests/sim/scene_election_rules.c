/* The rules for who leads, against the true tree.
 *
 * Whenever the tree changes: a leader znode that a candidate made is its
 * session's, and names that candidate, which is there, and first; its epoch is
 * not lower than any before it.  An operator who deletes the candidate is
 * excused, until the next one leads.  Nobody takes away the leader znode of one
 * that stands.  LEADING is told only when the znode says what was to be said.
 *
 * How it can fail: the znode is looked at after every step, so one
 * that comes and goes in between is not known.  One transaction makes both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_lock.h"

enum {
    LEADERS = 24,
    PATH = 160,
    NAME = 96,
    LEADING_US = 3 * 1000 * 1000, /* No server lags so long. */
    SOON_US = 100 * 1000          /* In calm. */
};

static struct {
    struct lock_leader v[LEADERS];
    int64_t n;
    uint64_t epoch[LOCK_PLACES]; /* The highest of all. */
} all;
SIM_KEEP(all)

/* The leader znode's data. */

/* "w41": lock 4's, for the first time. */
static void read_said(struct lock_leader *r, const char *said, size_t len)
{
    r->slot = r->nth = -1;
    r->said = sim_hash(said, len);
    if (len == 3 && said[0] == 'w' && said[1] >= '0' && said[1] <= '9') {
        r->slot = said[1] - '0';
        r->nth = said[2] - '0';
    }
}

/* "<epoch> <node>\n", and what it says. */
static void read_leader(struct lock_leader *r, const struct ens_seen *seen)
{
    char text[2 * NAME] = "";
    char *node, *end;
    size_t len = seen->len > 0 ? (size_t)seen->len : 0;

    r->epoch = r->node = r->said = 0;
    r->slot = r->nth = -1;
    if (len > 0)
        memcpy(text, seen->data, len < sizeof text ? len : sizeof text - 1);
    node = strchr(text, ' ');
    end = strchr(text, '\n');
    if (text[0] < '1' || text[0] > '9' || !node || !end || end < node ||
        strspn(text, "0123456789") != (size_t)(node - text))
        return;
    r->epoch = strtoull(text, NULL, 10);
    if (r->epoch > (uint64_t)seen->czxid)
        r->epoch = 0; /* Its candidate was there before it. */
    r->node = sim_hash(node + 1, (size_t)(end - node - 1));
    read_said(r, seen->data + (end + 1 - text), len - (size_t)(end + 1 - text));
}

const struct lock_node *lock_leader_node(const struct lock_leader *r)
{
    const struct lock_node *n = lock_world.node + lock_world.nodes;

    while (n-- > lock_world.node) {
        if (n->name == r->node && n->place == r->place)
            return n;
    }
    return NULL;
}

const struct lock_leader *lock_leader_of(int64_t place)
{
    for (int64_t i = 0; i < all.n; i++) {
        const struct lock_leader *r = &all.v[i];
        const struct lock_node *n = lock_leader_node(r);

        if (r->live && r->place == place && r->epoch && n && n->live)
            return r;
    }
    return NULL;
}

const struct lock_leader *lock_leader_told(int64_t place, const evzk_leader *l)
{
    uint64_t node = sim_hash(l->node, strlen(l->node));
    struct lock_leader told;

    read_said(&told, l->data, l->data_len);
    for (int64_t i = all.n; i-- > 0;) {
        const struct lock_leader *r = &all.v[i];

        if (r->place == place && r->epoch == l->epoch && r->node == node &&
            r->owner == l->session && r->said == told.said)
            return r;
    }
    return NULL;
}

/* The rules for the znode. */

/* The candidate that it names exists, and is first. */
static void check_named(const struct lock_leader *r)
{
    const struct lock_node *n = lock_leader_node(r), *o;

    if (!n) {
        sim_violation("a leader znode names one that never was");
        return;
    }
    if (lock_is_copy(n))
        return;
    if (n->live
            ? n->owner != r->owner
            : !n->broken && !ens_denied((int)lock_world.slot[n->slot].proc) &&
                  !ens_shut((int)lock_world.slot[n->slot].proc))
        sim_violation("a leader znode names lock %d, which has gone", n->slot);
    o = n->live ? lock_one_before(n) : NULL;
    if (o)
        sim_violation("lock %d is said to lead, and %d is before it", n->slot,
                      o->seq);
}

/* A copy, by a candidate that has no cause to look whether it is its own. */
static bool takes_for_own(const struct lock_node *n, int64_t zxid)
{
    return n && lock_is_copy(n) && !lock_knows_copy(n, zxid);
}

static void check_new(const struct lock_leader *r)
{
    const struct lock_node *n = lock_leader_node(r);
    uint64_t *highest = &all.epoch[r->place];

    if (takes_for_own(n, r->czxid))
        return;
    if (!n || !n->live || lock_is_copy(n))
        sim_violation("a leader znode is made of one that has gone");
    else if (n->slot != r->slot || (uint64_t)n->czxid != r->epoch)
        sim_violation("a leader znode is wrong about lock %d", n->slot);
    if (!r->owner)
        sim_violation("a leader znode is nobody's");
    if (r->epoch < *highest)
        sim_violation("the epoch of lock %d is lower than one before",
                      (int)r->slot);
    if (r->epoch > *highest)
        *highest = r->epoch;
    if (r->slot < LOCK_SLOTS && r->nth > lock_world.slot[r->slot].acks)
        sim_violation("lock %d is said to lead, and never said so",
                      (int)r->slot);
}

static void add(int place, const struct ens_seen *seen, bool changed)
{
    struct lock_leader *r = &all.v[all.n];

    if (all.n == LEADERS) {
        sim_violation("a storm of leader znodes");
        return;
    }
    all.n++;
    r->czxid = seen->czxid;
    r->mzxid = seen->mzxid;
    r->owner = seen->owner;
    r->place = place;
    r->live = r->seen = true;
    r->changed = changed;
    read_leader(r, seen);
    sim_say("tree leader is there, lock %d", (int)r->slot);
    if (r->slot >= 0 && !changed)
        check_new(r);
}

static bool path_of(char path[PATH], int place)
{
    return snprintf(path, PATH, "%s/leader", lock_dir(place)) < PATH;
}

static void see(int place)
{
    char path[PATH];
    struct ens_seen seen;
    bool changed = false;

    if (!path_of(path, place) || !ens_look(path, &seen))
        return;
    for (int64_t i = 0; i < all.n; i++) {
        struct lock_leader *r = &all.v[i];

        if (r->czxid != seen.czxid || r->place != place || !r->live)
            continue;
        r->seen = r->mzxid == seen.mzxid;
        if (r->seen)
            return;
        changed = true; /* Nobody of ours writes to it. */
    }
    /* Or makes one to stay. */
    add(place, &seen, changed || ens_is_by_hand(seen.owner));
}

/* The one that came in its place, in the same change. */
static const struct lock_leader *next_of(const struct lock_leader *r)
{
    for (const struct lock_leader *o = all.v; o < all.v + all.n; o++) {
        if (o != r && o->live && o->seen && o->place == r->place)
            return o;
    }
    return NULL;
}

/* A candidate there goes at this moment. */
static bool somebody_goes(const struct lock_leader *r)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->place == r->place && n->died == lock_world.changes)
            return true;
    }
    return false;
}

/* A candidate that takes a copy for its own znode resigns at this moment. */
static bool deceived(int64_t place)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->place == place && n->died == lock_world.changes &&
            takes_for_own(n, lock_world.looked))
            return true;
    }
    return false;
}

/* Its lock was told that the servers refuse, or is free and hears nothing: its
 * session deletes both, each when it may. */
static bool is_left(const struct lock_leader *r)
{
    const struct lock_slot *k = r->slot < 0 ? NULL : &lock_world.slot[r->slot];
    int proc = k ? (int)k->proc : process_with(r->owner);

    return (k ? k->ended || k->freed : r->changed) && proc >= 0 &&
           (ens_throttles(proc) > REFUSALS || ens_denied(proc));
}

/* Its candidate goes with it, or had gone; or something else is said.  One by
 * hand, or that was written to, goes with whoever may have made his own. */
static void check_gone(const struct lock_leader *r)
{
    const struct lock_leader *next = next_of(r);
    const struct lock_node *n = lock_leader_node(r);

    if (operator_deleted(r->czxid) ||
        (r->changed && (session_over(r->owner) || is_left(r))))
        return;
    if (r->owner == 0 || r->changed) {
        if (!next && !somebody_goes(r))
            sim_violation("another's leader znode was deleted");
        return;
    }
    if (deceived(r->place) || is_left(r) ||
        (next && takes_for_own(lock_leader_node(next), next->czxid)))
        return;
    if (n && n->live && !lock_is_copy(n) &&
        !(next && (next->slot == r->slot || next->changed)))
        sim_violation("lock %d stands, and its leader znode was deleted",
                      (int)r->slot);
}

void lock_election_look(void)
{
    for (int64_t i = 0; i < all.n; i++)
        all.v[i].seen = false;
    for (int place = 0; place < LOCK_PLACES; place++)
        see(place);
    for (struct lock_leader *r = all.v; r < all.v + all.n; r++) {
        if (r->live && !r->seen) {
            r->live = false;
            r->died = lock_world.changes;
            sim_say("tree leader is gone, lock %d", (int)r->slot);
            check_gone(r);
        }
        if (r->live && r->slot >= 0 && !r->changed)
            check_named(r);
    }
    lock_observers_look();
}

void lock_unseat(int64_t place)
{
    char path[PATH];

    if (path_of(path, (int)place))
        operator_delete(path);
}

void lock_seat(int64_t place)
{
    char path[PATH], text[NAME];

    if (!path_of(path, (int)place))
        return;
    snprintf(text, sizeof text, "%lld g-n_0000000000\nnobody",
             (long long)ens_committed());
    ens_create(path, text, strlen(text), ZOO_PERSISTENT);
}

/* Events, and answers of the calls. */

static bool rc_ok(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_ERR_NOTEMPTY)
        return lock_world.sc->leader == LOCK_LEADER_PARENT;
    if (rc == EVZK_ERR_NOAUTH)
        return ens_denied((int)k->proc) || lock_world.place[k->place].denied;
    return rc == EVZK_OK ||
           (rc == EVZK_ERR_SERVER && ens_throttled((int)k->proc)) ||
           (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut((int)k->proc));
}

/* The leader znode exists, or existed, with the data that was said last. */
static bool was_there(const struct lock_slot *k)
{
    for (int64_t i = 0; i < all.n; i++) {
        const struct lock_leader *r = &all.v[i];

        if (r->place == k->place && r->epoch == k->token &&
            r->slot == lock_index(k) && r->nth == k->acks % 10)
            return true;
    }
    return false;
}

void lock_told_leading(struct lock_slot *k, int rc)
{
    if (!k->granted || k->ended || k->release || !k->acked)
        sim_violation("lock %d: LEADING out of turn", lock_index(k));
    if (!rc_ok(k, rc))
        sim_violation("lock %d: LEADING with %s", lock_index(k),
                      evzk_errname(rc));
    if (rc == EVZK_OK && !was_there(k))
        sim_violation("lock %d: LEADING, and the leader znode never stood",
                      lock_index(k));
    k->acked = 0;
    k->placed = 0; /* Has to stay anew before it is watched. */
    k->leads = k->leads || rc == EVZK_OK;
}

/* The election's answers about itself are those of its lock. */
static void check_words(const struct lock_slot *k)
{
    if (evzk_election_elected(k->e) != evzk_lock_held(k->l) ||
        evzk_election_lease_ms(k->e) != evzk_lock_lease_ms(k->l) ||
        evzk_election_epoch(k->e) != evzk_lock_token(k->l) ||
        strcmp(evzk_election_node(k->e), evzk_lock_node(k->l)) != 0 ||
        strcmp(evzk_election_state(k->e), evzk_lock_state(k->l)) != 0)
        sim_violation("lock %d is another as a candidate", lock_index(k));
}

void lock_election_check(struct lock_slot *k)
{
    const struct process *p = process_of((int)k->proc);
    bool well = k->granted && !k->ended && !k->release && !p->closing &&
                evzk_session_connected(p->s) && lock_node_of(k);
    bool leads = evzk_lock_held(k->l) && k->leads;

    check_words(k);
    if (evzk_election_leading(k->e) != leads)
        sim_violation("lock %d %s", lock_index(k),
                      leads ? "does not lead, and should" : "leads too early");
    if (lock_lasts(k, &k->unled, well && k->acked,
                   lock_calm((int)k->proc, k->unled) ? SOON_US : LEADING_US))
        sim_violation("lock %d is ready to lead, and does not", lock_index(k));
}
