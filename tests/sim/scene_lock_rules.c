/* The lock's rules, asked after every step, against the true tree.
 *
 * Above all: never do two believe that they hold.  Belief is evzk_lock_held(),
 * asked of every lock at the same moment.
 *
 * Two things no lock can foresee, and they excuse: an operator deletes the
 * holder's znode, and the servers end a session before its time.  Then the next
 * may be granted before the holder hears of it; but nothing else is excused.
 *
 * How it can fail: a rule that is silent where it should speak.  The scenes are
 * there to make each of them speak when the library is broken on purpose.
 */
#include <string.h>

#include "ens.h"
#include "leases.h"
#include "processes.h"
#include "scene_lock.h"
#include "wire.h"

enum {
    SLACK_US = 20000,
    RESUMED_US = 1000 * 1000,
    TURN_US = 200 * 1000,         /* In calm: it may send nothing for 100 ms. */
    PRESSED_US = 8 * 1000 * 1000, /* Of those that give a second at most. */
    HINDERED_US = 500 * 1000,
    STORM = 600, /* Requests in a second. */
    SECOND_US = 1000 * 1000
};

bool lock_is_excused(const struct lock_slot *k)
{
    return operator_deleted((int64_t)k->token) || operator_deleted(k->moved) ||
           session_forced(k->session);
}

void lock_check_view(const struct lock_slot *k)
{
    lease_matches((int)k->proc, k->lease, evzk_lock_held(k->l), k->token,
                  "lock", lock_index(k));
}

void lock_leases(int proc)
{
    for (int64_t i = 0; i < lock_world.slots; i++) {
        const struct lock_slot *k = &lock_world.slot[i];

        if (k->proc == proc && k->l)
            lock_check_view(k);
    }
}

/* Answers of the calls. */

static void check_held(const struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);

    if (!k->granted || k->ended || k->release || lock_process(k)->closing)
        sim_violation("lock %d is held, and should not be", lock_index(k));
    if (lock_is_excused(k))
        return;
    if (!own || ((uint64_t)own->czxid != k->token && own->czxid != k->moved))
        sim_violation("lock %d is held, and its znode is gone", lock_index(k));
    else if (!ens_alive(own->owner))
        sim_violation("lock %d is held, and its session is over",
                      lock_index(k));
}

/* Is true for longer than anybody may take to notice. */
bool lock_lasts(const struct lock_slot *k, int64_t *since, bool is,
                int64_t most)
{
    if (!is) {
        *since = 0;
        return false;
    }
    if (*since == 0)
        *since = sim_now();
    return sim_now() - *since > most &&
           !process_was_frozen((int)k->proc, *since);
}

/* The lock looks whether its znode stands, and the servers answer with an
 * error. */
static bool was_just_refused(int proc)
{
    return ens_throttled(proc) &&
           sim_now() - ens_throttled_at(proc) < RESUMED_US;
}

static void check_holder(struct lock_slot *k)
{
    const evzk_session *s = lock_process(k)->s;
    bool is =
        k->granted && !k->ended && !k->release && !lock_process(k)->closing;

    if (lock_lasts(k, &k->lapse, is && evzk_session_lease_ms(s) == 0, SLACK_US))
        sim_violation("lock %d: the lease is over, and it was not told",
                      lock_index(k));
    if (lock_lasts(k, &k->doubt,
                   is && !k->suspended && !evzk_session_connected(s), SLACK_US))
        sim_violation("lock %d: in doubt, and it was not told", lock_index(k));
    if (lock_lasts(k, &k->unsaid,
                   is && k->suspended && evzk_session_connected(s) &&
                       lock_node_of(k) && !was_just_refused((int)k->proc),
                   RESUMED_US))
        sim_violation("lock %d: out of doubt, and it was not told",
                      lock_index(k));
}

static bool has_one_before(const struct lock_node *own)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n != own && n->place == own->place &&
            lock_bars(n, own) && (lock_before(n, own) || n->seq == own->seq))
            return true;
    }
    return false;
}

static bool less_holds(const struct lock_slot *k, const struct lock_node *own)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n != own && n->place == own->place && !n->waits &&
            lock_bars(n, own) && n->priority > k->plan->priority)
            return true;
    }
    return false;
}

/* Something was refused just now, or there was no memory: asks again soon. */
static bool was_hindered(int proc)
{
    int64_t since = sim_now() - HINDERED_US;

    return (ens_throttled(proc) && ens_throttled_at(proc) > since) ||
           process_lacked_memory_since(proc, since);
}

/* By policy it has those that are less urgent go, for as long as it waits. */
static void check_pressing(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool watching =
        !k->granted && !k->ended && !k->cancel && own && lock_is_waiting(k);

    if (lock_lasts(k, &k->pressing,
                   watching && k->plan->revoke && k->plan->grace_ms &&
                       !ens_denied((int)k->proc) && !ens_shut((int)k->proc) &&
                       !was_hindered((int)k->proc) && less_holds(k, own) &&
                       evzk_session_connected(lock_process(k)->s),
                   PRESSED_US))
        sim_violation("lock %d is in a hurry, and asks nobody", lock_index(k));
}

/* A refused contender before it may not know yet that it is first; one that the
 * servers hang up at loses five connections before it gives up. */
static bool anyone_held_up(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_throttled(p) || ens_shut(p))
            return true;
    }
    return false;
}

static void check_waiter(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool watching =
        !k->granted && !k->ended && !k->cancel && own && lock_is_waiting(k);
    int64_t late = k->began + in_us(k->plan->timeout_ms);
    bool calm = evzk_session_connected(lock_process(k)->s) &&
                lock_calm((int)k->proc, k->orphan) && !anyone_held_up();

    if (lock_lasts(k, &k->orphan, watching && !has_one_before(own),
                   calm ? TURN_US : INT64_MAX))
        sim_violation("lock %d waits for nobody", lock_index(k));
    if (k->plan->timeout_ms && !k->granted && !k->ended && !k->cancel &&
        sim_now() > late + SLACK_US && !process_was_frozen((int)k->proc, late))
        sim_violation("lock %d: its time-out passed, and it was not told",
                      lock_index(k));
}

/* What the lock is there for, and could do now; NULL: nothing. */
static const char *debt_of(const struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool watches = !k->plan->no_own_watch && !k->plan->hidden;

    if (k->release || k->cancel)
        return "a lock is to let go, and does not";
    if (!own)
        return watches ? "a lock has no place" : NULL;
    if (!k->granted)
        return has_one_before(own) ? NULL : "a lock waits for nobody";
    if (k->suspended)
        return "a lock is out of doubt, and it was not told";
    if (k->asked_down && !k->told_down)
        return "a lock is to be shared, and is not";
    return k->acked ? "a candidate is ready to lead, and does not" : NULL;
}

void lock_owes(int proc, struct sim_debt *debt)
{
    for (int64_t i = 0; i < lock_world.slots; i++) {
        const struct lock_slot *k = &lock_world.slot[i];
        const char *what =
            k->l && !k->ended && k->proc == proc ? debt_of(k) : NULL;

        sim_owe(debt, what != NULL, what, i);
    }
    sim_owe(debt, lock_asking(proc), "a look-up is not told", 0);
    sim_owe(debt, lock_revoke_is_due(proc), "a revocation does not end", 0);
    lock_observers_owe(proc, debt);
}

/* The lock's lease is the session's, and only while the lock holds. */
static void check_lease(const struct lock_slot *k, bool held)
{
    uint32_t own = evzk_lock_lease_ms(k->l);
    uint32_t all = evzk_session_lease_ms(lock_process(k)->s);

    if (!held && own)
        sim_violation("lock %d: a lease, and not held", lock_index(k));
    if (held && own != all)
        sim_violation("lock %d: a lease of %u ms, the session's is %u",
                      lock_index(k), own, all);
}

/* Whether it believes that it holds, and may be blamed for it. */
static bool check_slot(struct lock_slot *k)
{
    int before = sim_enter((int)k->proc);
    bool held = evzk_lock_held(k->l);

    if (held)
        check_held(k);
    if (held && k->denied)
        sim_violation("lock %d is held again", lock_index(k));
    k->denied = k->denied || (k->granted && !held);
    check_lease(k, held);
    lock_check_view(k);
    if (evzk_lock_token(k->l) != (k->granted ? k->token : 0))
        sim_violation("lock %d: its token has changed", lock_index(k));
    check_holder(k);
    check_waiter(k);
    check_pressing(k);
    if (k->e)
        lock_election_check(k);
    sim_leave(before);
    return held && !lock_is_excused(k);
}

/* So many locks of the process have failed at most, since the servers refused
 * something more often than a lock repeats it, or hang up at it.  Each wakes
 * the next of its session. */
static int64_t failures(int proc)
{
    return ens_throttles(proc) / (REFUSALS + 1) + ens_shut(proc);
}

static int64_t all_failures(void)
{
    int64_t n = 0;

    for (int p = 0; p < SIM_PROCS; p++)
        n += failures(p);
    return n;
}

/* A waiter looks again only when one before it has gone. */
static void check_polling(int place)
{
    const struct lock_place *pl = &lock_world.place[place];

    for (int p = 0; p < SIM_PROCS; p++) {
        int64_t locks = 0, presses = 0;

        for (int64_t i = 0; i < lock_world.slots; i++) {
            const struct lock_slot *k = &lock_world.slot[i];
            bool is = k->proc == p && k->place == place;

            locks += is;
            presses += is && k->plan->revoke;
        }
        /* A revocation by a waiting lock ends when the others go, or fails: for
         * each refusal once, and some times without memory. */
        if (pl->again[p] >
            (pl->deaths + pl->touched + ens_denied(p) + failures(p)) * locks +
                (8 + ens_throttles(p) + lock_world.unasked[p]) * presses)
            sim_violation("p%d looks again, and nobody has gone", p);
    }
}

static void check_wakes(int place)
{
    const struct lock_place *pl = &lock_world.place[place];

    /* A lock whose znode was deleted, and that does not know so, may watch
     * together with another, once.  A lock whose delete is refused wakes the
     * next of its session, as does one that fails. */
    if (pl->wakes > pl->concerned + pl->broken + pl->late + ens_denials() +
                        ens_shuts() + all_failures())
        sim_violation("%lld were waited for, and %lld were woken",
                      (long long)pl->concerned, (long long)pl->wakes);
}

/* No herd, and no storm. */
static void check_traffic(void)
{
    int64_t now = sim_now(), all = (int64_t)ens_requests(ENS_ALL);

    for (int place = 0; place < LOCK_PLACES; place++) {
        check_wakes(place);
        check_polling(place);
    }
    if (now >= lock_world.second) {
        lock_world.second = now + SECOND_US;
        lock_world.asked = all;
    }
    if (all - lock_world.asked > STORM)
        sim_violation("a storm of requests");
}

/* As its user has to believe. */
static bool reads(const struct lock_slot *k)
{
    return !k->e && evzk_lock_mode_of(k->l) == EVZK_LOCK_READ;
}

void lock_check(void)
{
    const struct lock_slot *holder[LOCK_PLACES] = {NULL};

    lock_look();
    lock_seen_conns();
    lock_dirs_check();
    lock_revoke_check();
    for (struct lock_slot *k = lock_world.slot;
         k < lock_world.slot + lock_world.slots; k++) {
        lock_seen_check(k);
        if (!k->l || !check_slot(k))
            continue;
        if (holder[k->place] && !(reads(holder[k->place]) && reads(k)))
            sim_violation("locks %d and %d are held at the same time",
                          lock_index(holder[k->place]), lock_index(k));
        if (!holder[k->place] || !reads(k))
            holder[k->place] = k;
    }
    lock_observers_check();
    check_traffic();
}

void lock_check_end(void)
{
    const struct lock_node *n = lock_world.node;

    lock_look();
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->slot >= 0)
            sim_violation("a znode of lock %d is left", n->slot);
    }
    for (int64_t i = 0; i < lock_world.slots; i++) {
        if (!lock_world.slot[i].freed)
            sim_violation("lock %d was not freed", (int)i);
    }
    lock_dirs_check_end();
}
