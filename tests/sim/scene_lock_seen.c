/* The lock's rules of what must be seen: a znode that is gone, or left, and a
 * listing or a look that was answered and says so.
 *
 * What a server had applied when a connection to it was made, or when a listing
 * was still to be asked for, is in every answer that comes of it.  So one that
 * goes by the answer knows at least that, whoever deleted what.
 *
 * How it can fail: what is awaited takes time, more of it when faults are
 * about. So the bounds are longer than any of them; a scene must last as long.
 */
#include <string.h>

#include "ens.h"
#include "owes.h"
#include "processes.h"
#include "scene_lock.h"
#include "wire.h"

enum {
    GUID = 36,
    MISSING_US = 3 * 1000 * 1000, /* No server lags so long. */
    LEFT_US = 3 * 1000 * 1000,
    SOON_US = 200 * 1000, /* In calm; a server may have no room for 100 ms. */
    PROBE_US = LOCK_TIMEOUT_MS * 1000 / 6,
    NOTICE_US = 50 * 1000, /* From the deletion to who watches. */
    HAND_US = 1000         /* No answer of a server comes in that time. */
};

/* Somebody deleted its znode: that is never silence. */
static void check_missing(struct lock_slot *k)
{
    bool has_place = k->granted || lock_is_waiting(k);
    bool going =
        k->ended || k->release || k->cancel || lock_process(k)->closing;

    if (lock_lasts(k, &k->missing,
                   has_place && !going && !k->plan->no_own_watch &&
                       !lock_node_of(k) &&
                       evzk_session_connected(lock_process(k)->s),
                   MISSING_US))
        sim_violation("lock %d: its znode is gone, and it was not told",
                      lock_index(k));
}

/* In calm it is heard of soon: the watch may be placed only when a lock was
 * held, or waited for, as long as one question for the lease takes to the next,
 * and then that one is awaited. */
static void check_notice(struct lock_slot *k)
{
    const struct lock_node *n = lock_node_named(evzk_lock_node(k->l));
    bool waits = !k->granted && lock_is_waiting(k);
    bool going = k->let_go || lock_process(k)->closing;
    int64_t from, late;

    if (going || (!k->granted && !waits)) {
        k->placed = 0;
        return;
    }
    if (!k->placed)
        k->placed = sim_now();
    if (!n || n->live || !n->broken || k->plan->no_own_watch || k->plan->hidden)
        return;
    from = k->placed < n->died_at ? k->placed : n->died_at;
    late = k->placed + 2 * PROBE_US;
    late = (late > n->died_at ? late : n->died_at) + NOTICE_US;
    if (sim_now() > late && lock_calm((int)k->proc, from) &&
        !process_was_frozen((int)k->proc, from))
        sim_violation("lock %d: its znode is gone, and it hears late of it",
                      lock_index(k));
}

/* Calls are obeyed, and requests by others are told. */
static void check_asked(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    const struct process *p = lock_process(k);
    bool well = !k->ended && !k->release && !k->cancel && !p->closing &&
                evzk_session_connected(p->s);
    bool soon = (k->plan->urgent || k->plan->revocable) &&
                lock_calm((int)k->proc, k->unheard);

    if (lock_lasts(k, &k->undone, well && k->asked_down && !k->told_down,
                   MISSING_US))
        sim_violation("lock %d is not downgraded", lock_index(k));
    if (lock_lasts(k, &k->unheard,
                   well && own && own->asked && k->heard < own->asked &&
                       !k->plan->no_own_watch && !k->plan->hidden,
                   soon ? SOON_US : MISSING_US))
        sim_violation("lock %d was asked to let go, and has not heard",
                      lock_index(k));
}

/* The lock is over, its session lives on: then its znode is not to stay, longer
 * than until it is asked for again behind the last refusal. */
static void check_left(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    const struct process *p = lock_process(k);
    bool alive = own && p->s && !p->closing && evzk_session_connected(p->s) &&
                 own->owner == evzk_session_id(p->s) &&
                 !session_over(own->owner);

    if (ens_shut((int)k->proc))
        return; /* At the delete, maybe. */
    if (lock_lasts(k, &k->left,
                   alive && (k->ended || k->freed) &&
                       (!k->left || k->left >= owes_refused_at()),
                   LEFT_US + owes_pause_us((int)k->proc)))
        sim_violation("lock %d is over, and its znode stays", lock_index(k));
}

/* Noted after every step: the listing is not asked for before. */
static void note_listing(struct lock_slot *k)
{
    int conn = wire_conn_of((int)k->proc);
    bool listing = k->l && lock_state_lists(evzk_lock_state(k->l));

    if (!listing || conn < 0) {
        k->listing = 0;
        k->listing_on = 0;
    } else if (k->listing_on != wire_born(conn)) {
        k->listing = k->looked = ens_applied(wire_server(conn));
        k->listing_on = wire_born(conn);
    }
}

/* The lease is told in whole milliseconds: the last one counts as its end. */
static int64_t lease_end(const struct lock_slot *k)
{
    int64_t left = evzk_session_lease_ms(lock_process(k)->s);

    return sim_now() + (left ? left - 1 : 0) * 1000;
}

/* Noted, too, if nothing happened at its end. */
static void note_lease(struct lock_slot *k)
{
    k->lapsed = lock_lapsed(k);
    k->lease_end = lease_end(k);
}

bool lock_lapsed(const struct lock_slot *k)
{
    return k->lapsed || (k->granted && sim_now() >= k->lease_end);
}

void lock_seen_granted(struct lock_slot *k)
{
    k->lapsed = false;
    k->lease_end = lease_end(k);
}

/* Not a znode in the queue, which the lock has entered after it waited by
 * priority. */
static bool waits_again(const char *name) { return strstr(name, "-wait-"); }

/* Another znode is another place in the queue, and that is told. */
static void check_place(struct lock_slot *k)
{
    const char *name = evzk_lock_node(k->l);
    uint64_t guid = strlen(name) < GUID ? 0 : sim_hash(name, GUID);

    if (guid && k->guid && guid != k->guid && !k->asked_down &&
        !(k->plan->urgent && !waits_again(name)))
        sim_violation("lock %d has lost its place, and it was not told",
                      lock_index(k));
    if (guid)
        k->guid = guid;
}

void lock_seen_check(struct lock_slot *k)
{
    int before = sim_enter((int)k->proc);

    if (k->l) {
        check_missing(k);
        check_notice(k);
        check_asked(k);
        check_place(k);
        note_lease(k);
    }
    check_left(k);
    note_listing(k);
    sim_leave(before);
}

void lock_seen_conns(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        int conn = wire_conn_of(p);
        uint64_t born = conn < 0 ? 0 : wire_born(conn);

        if (born == lock_world.conn[p].born)
            continue;
        lock_world.conn[p].born = born;
        lock_world.conn[p].since = sim_now();
        lock_world.conn[p].proposed = ens_proposed();
        lock_world.conn[p].count += born != 0;
        lock_world.conn[p].applied =
            conn < 0 ? 0 : ens_applied(wire_server(conn));
    }
}

/* Handed over inside its session: by no answer at all. */
static bool handed_over(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;

    for (; o < lock_world.slot + lock_world.slots; o++) {
        if (o != k && o->proc == k->proc && o->place == k->place &&
            o->granted && o->let_go && sim_now() < o->let_go + HAND_US)
            return true;
    }
    return false;
}

/* Was the lock told something by an answer that cannot have shown its znode? */
void lock_seen_told(const struct lock_slot *k, evzk_lock_event ev)
{
    const struct lock_node *own = lock_node_named(evzk_lock_node(k->l));
    int64_t seen = lock_world.conn[k->proc].applied;

    if (ev != EVZK_LOCK_GRANTED && ev != EVZK_LOCK_RESUMED)
        return;
    if (ev == EVZK_LOCK_GRANTED && handed_over(k))
        return;
    if (ev == EVZK_LOCK_GRANTED && k->listing > seen &&
        k->listing_on == lock_world.conn[k->proc].born)
        seen = k->listing;
    if (own && !own->live && own->died_zxid <= seen)
        sim_violation("lock %d is told %s, and its znode was seen to be gone",
                      lock_index(k),
                      ev == EVZK_LOCK_GRANTED ? "GRANTED" : "RESUMED");
}

/* Is it the only one of its session in the directory?  Else nothing may have
 * been listed with its create. */
static bool is_lone(const struct lock_slot *k)
{
    const struct lock_slot *o = lock_world.slot;

    for (; o < lock_world.slot + lock_world.slots; o++) {
        if (o != k && o->used && o->proc == k->proc && o->place == k->place)
            return false;
    }
    return true;
}

/* The lock has seen all that is in its directory, and goes on waiting. */
static void check_listed(const evzk_trace *t)
{
    const struct lock_slot *k = lock_world.slot;
    bool created = t->from && strcmp(t->from, "CREATING") == 0;
    bool listed = t->from && lock_state_lists(t->from);

    if ((!created && !listed) ||
        (!lock_state_waits(t->to) && strcmp(t->to, "PRIO_CONFIRMING") != 0 &&
         strcmp(t->to, "ENTERING") != 0))
        return;
    for (; k < lock_world.slot + lock_world.slots; k++) {
        if (k->l && (const void *)k->l == t->object && (listed || is_lone(k)))
            lock_check_alone(k, "waits");
    }
}

/* A request that may be sent again is, when there was no memory for the answer.
 */
void lock_traced(int proc, const evzk_trace *t)
{
    static const char *const again[] = {"LISTING",          "WATCHING",
                                        "CONFIRMING",       "PRIO_LISTING",
                                        "PRIO_WATCHING",    "PRIO_CONFIRMING",
                                        "READING_OWN",      "HELD",
                                        "ELECTED",          "VERIFYING",
                                        "CHECKING_WRITER",  "CHECKING_READER",
                                        "CHECKING_ELECTED", "ANNOUNCING",
                                        "CHECKING_RIVAL",   "REPLACING",
                                        "LEADING",          "VERIFYING_LEADER",
                                        "CHECKING_LEADING", "REANNOUNCING"};

    check_listed(t);
    lock_world.unasked[proc] += strcmp(t->kind, "lock-revoke") == 0 &&
                                t->rc == EVZK_ERR_NOMEM &&
                                strcmp(t->to, "ENDED") == 0;
    if ((strcmp(t->kind, "lock") != 0 && strcmp(t->kind, "election") != 0) ||
        t->rc != EVZK_ERR_NOMEM || !t->from || strcmp(t->from, t->to) == 0)
        return;
    for (unsigned i = 0; i < sizeof again / sizeof again[0]; i++) {
        if (strcmp(t->from, again[i]) == 0)
            sim_violation("p%d: %s is given up for want of memory", proc,
                          again[i]);
    }
}
