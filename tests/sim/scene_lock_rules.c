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
    ORPHAN_US = 15 * 1000 * 1000, /* No fault lasts so long. */
    TURN_US = 200 * 1000,         /* In calm: it may send nothing for 100 ms. */
    PRESSED_US = 8 * 1000 * 1000, /* Of those that give a second at most. */
    STORM = 600,                  /* Requests in a second. */
    SECOND_US = 1000 * 1000
};

static int index_of(const struct lock_slot *k)
{
    return (int)(k - lock_world.slot);
}

static const struct process *process(const struct lock_slot *k)
{
    return process_of((int)k->proc);
}

/* Its end could not be foreseen. */
static bool excused(const struct lock_slot *k)
{
    return operator_deleted((int64_t)k->token) || operator_deleted(k->moved) ||
           session_forced(k->session);
}

static bool expired_once(const struct process *p)
{
    for (unsigned i = 0; i < p->n_ids; i++) {
        if (session_over(p->ids[i]))
            return true;
    }
    return false;
}

/* Events. */

/* Is of the same session, which has let it go, or takes it for its own: while
 * it stands nobody else can be first, and nobody holds it. */
static bool makes_way(const struct lock_node *n, const struct lock_node *own)
{
    const struct lock_node *o = n->slot < 0 ? lock_original(n) : n;

    return o && o->slot >= 0 && o->owner == own->owner &&
           lock_world.slot[o->slot].let_go;
}

/* Put by hand before one of the same session that was there: what that hands on
 * is handed on past it.  Nobody can come there in another way. */
static bool jumped(const struct lock_node *n, const struct lock_node *own)
{
    const struct lock_node *o = lock_world.node;

    for (; n->slot < 0 && o < lock_world.node + lock_world.nodes; o++) {
        if (o->slot >= 0 && o->place == n->place && o->owner == own->owner &&
            o->czxid < n->czxid && lock_before(n, o))
            return true;
    }
    return false;
}

/* An operator's copy that has, beside a contender of the same session, the
 * number of that contender: its directory was made anew, or the operator chose
 * that number.  A contender that comes right behind another one of its session
 * looks at that one alone, and need not see the copy. */
static bool collides(const struct lock_node *copy, const struct lock_node *own)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (copy->slot < 0 && n->name != copy->name && n->seq == copy->seq &&
            n->place == copy->place && n->owner == own->owner &&
            (n->live || n->died_zxid > copy->czxid))
            return true;
    }
    return false;
}

const struct lock_node *lock_one_before(const struct lock_node *own)
{
    const struct lock_node *n = lock_world.node;

    /* A znode that came later with a lower number was made by hand. */
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->place == own->place && n->czxid < own->czxid &&
            lock_before(n, own) && lock_bars(n, own) && !makes_way(n, own) &&
            !jumped(n, own) && !collides(n, own))
            return n;
    }
    return NULL;
}

static void check_first(const struct lock_slot *k, const struct lock_node *own)
{
    const struct lock_node *n = lock_one_before(own);

    if (n)
        sim_violation("lock %d is granted, and %d is before it", index_of(k),
                      n->seq);
}

void lock_check_alone(const struct lock_slot *k, const char *what)
{
    const struct lock_node *own = lock_node_of(k), *n = lock_world.node;

    for (; own && n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->place == own->place && n->czxid < own->czxid &&
            lock_stranger(n, own->common))
            sim_violation("lock %d %s, and another library's contender %d was "
                          "there before",
                          index_of(k), what, n->seq);
    }
}

/* A contender of another library was there, at some time since this lock began.
 */
static bool stranger_seen(const struct lock_slot *k)
{
    bool common = !k->e && k->plan->mode == EVZK_LOCK_EXCLUSIVE;
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->place == k->place && lock_stranger(n, common) &&
            (n->live || n->died_at >= k->began))
            return true;
    }
    return false;
}

/* Data written to its znode, while it waited by priority, was heard before the
 * znode went. */
static void check_heard(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->slot == index_of(k) && n->waits && !n->live && n->asked &&
            n->asked > k->heard && !n->broken &&
            n->owner == evzk_session_id(process(k)->s))
            sim_violation("lock %d was asked in the room, and has not heard",
                          index_of(k));
    }
}

/* Its znode has gone, or a copy is there under its name, and the process has
 * read what a server sent later: then the lock could have known. */
static void check_known(const struct lock_slot *k, const char *what)
{
    const struct lock_node *n = lock_world.node;
    int64_t czxid = k->moved ? k->moved : (int64_t)k->token;

    if (k->handed && !k->granted)
        return; /* By its own session: it may rest on the watch. */
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->czxid == czxid && n->slot == index_of(k) && !n->live &&
            n->died_zxid <= wire_heard((int)k->proc))
            sim_violation("lock %d is %s, and could know that its znode is "
                          "gone",
                          index_of(k), what);
    }
}

static void check_granted(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_named(evzk_lock_node(k->l));
    struct lock_place *pl = &lock_world.place[k->place];
    bool shared = k->plan->mode == EVZK_LOCK_READ;

    k->session = evzk_session_id(process(k)->s);
    k->token = evzk_lock_token(k->l);
    if (k->granted || k->cancel || process(k)->closing)
        sim_violation("lock %d: GRANTED out of turn", index_of(k));
    check_heard(k);
    if (!evzk_lock_held(k->l))
        sim_violation("lock %d: GRANTED and not held", index_of(k));
    if (own && own->live && own->slot == index_of(k))
        check_first(k, own);
    lock_check_alone(k, "is granted");
    check_known(k, "granted");
    if (excused(k))
        return;
    if (k->token <= (shared ? pl->last_alone : pl->last_token))
        sim_violation("lock %d: its token is not greater", index_of(k));
    if (k->token > pl->last_token)
        pl->last_token = k->token;
    if (!shared && k->token > pl->last_alone)
        pl->last_alone = k->token;
    if (!own || !own->live || own->slot != index_of(k))
        sim_violation("lock %d is granted without a znode", index_of(k));
    else if (own->owner != k->session || (uint64_t)own->czxid != k->token)
        sim_violation("lock %d is granted another's znode", index_of(k));
}

/* Errors that end a lock of any kind. */
static bool session_error(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_ERR_CLOSED)
        return process(k)->closing;
    if (rc == EVZK_ERR_NOMEM)
        return process_lacked_memory((int)k->proc);
    return false;
}

/* The event of its znode's end came before the connection's: the session that
 * it was of is over. */
static bool gone_with_session(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node + lock_world.nodes;

    while (n-- > lock_world.node) { /* The newest that it had. */
        if (n->slot == index_of(k))
            return !n->live && session_over(n->owner);
    }
    return false;
}

static bool lost_rc_ok(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_ERR_EXPIRED)
        return expired_once(process(k));
    if (rc == EVZK_ERR_NODEGONE)
        return operator_deleted((int64_t)k->token) ||
               operator_deleted(k->moved) || gone_with_session(k);
    if (rc == EVZK_ERR_NOMEM)
        return false; /* Such a request is repeated. */
    if (rc == EVZK_ERR_LEASE)
        return lock_lapsed(k);
    return session_error(k, rc);
}

static bool timeout_ok(const struct lock_slot *k)
{
    return k->plan->timeout_ms && !k->cancel &&
           sim_now() >= k->began + in_us(k->plan->timeout_ms);
}

/* Its create got the last number, or one from the far end. */
static bool at_the_end(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->slot == index_of(k) && (n->seq == INT32_MAX || n->seq < 0))
            return lock_world.sc->numbers_end;
    }
    return false;
}

/* A lock that hides its znodes makes the directory anew, and hides that, too.
 */
bool lock_denied(int64_t place)
{
    return lock_world.place[place].denied ||
           (lock_world.sc->locks[0].hidden && operator_deleted_any()) ||
           ((lock_world.sc->deny_create >> place |
             lock_world.sc->deny_create >> LOCK_PLACES) &
            1);
}

static bool failed_rc_ok(const struct lock_slot *k, int rc)
{
    switch (rc) {
    case EVZK_ERR_CANCELED:
        return k->cancel;
    case EVZK_ERR_TIMEOUT:
        return timeout_ok(k);
    case EVZK_ERR_BUSY:
        return k->plan->try_once && !k->cancel;
    case EVZK_ERR_EXPIRED:
        return k->plan->no_requeue && expired_once(process(k));
    case EVZK_ERR_NODEGONE:
        return k->plan->no_requeue &&
               (lock_was_broken(k) || gone_with_session(k));
    case EVZK_ERR_SEQUENCE:
        return at_the_end(k);
    case EVZK_ERR_FOREIGN:
        return stranger_seen(k);
    case EVZK_ERR_SERVER:
        return ens_throttled((int)k->proc);
    case EVZK_ERR_NOCHROOT:
        return lock_rootless();
    case EVZK_ERR_NOAUTH:
        return lock_denied(k->place) ||
               (lock_world.sc->locks[0].hidden && !k->plan->hidden);
    }
    return session_error(k, rc);
}

static bool requeued_rc_ok(const struct lock_slot *k, int rc)
{
    if (k->plan->no_requeue)
        return false;
    return rc == EVZK_ERR_EXPIRED
               ? expired_once(process(k))
               : rc == EVZK_ERR_NODEGONE &&
                     (lock_was_broken(k) || gone_with_session(k));
}

/* Told that the znode is gone: then it is, for ever. */
static bool proves_gone(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_OK || rc == EVZK_ERR_CANCELED)
        return true;
    if (process(k)->closing)
        return false; /* The servers may not have answered. */
    if (rc == EVZK_ERR_BUSY || rc == EVZK_ERR_SEQUENCE ||
        rc == EVZK_ERR_FOREIGN)
        return k->plan->timeout_ms == 0; /* Its end does not wait for that. */
    return false;
}

static void check_gone(struct lock_slot *k, int rc)
{
    const struct lock_node *own = lock_node_of(k);

    k->gone = proves_gone(k, rc);
    if (k->gone && own && !session_over(own->owner))
        sim_violation("lock %d has ended, and its znode is there", index_of(k));
}

/* So often somebody has asked it, in all of its places. */
static int64_t asks_of(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;
    int64_t asks = 0;

    for (; n < lock_world.node + lock_world.nodes; n++)
        asks += n->slot == index_of(k) ? n->asks : 0;
    return asks;
}

static bool in_turn(const struct lock_slot *k, evzk_lock_event ev)
{
    if (k->ended)
        return false;
    switch (ev) {
    case EVZK_LOCK_GRANTED:
        return !k->granted;
    case EVZK_LOCK_SUSPENDED:
        return k->granted && !k->suspended && !k->release;
    case EVZK_LOCK_RESUMED:
        return k->granted && k->suspended && !k->release;
    case EVZK_LOCK_REQUEUED:
        return !k->granted && !k->cancel;
    case EVZK_LOCK_DOWNGRADED:
        return k->granted && k->asked_down && !k->told_down && !k->release;
    case EVZK_LOCK_REVOKE_REQUESTED:
        return !k->release && !k->cancel && k->revokes < asks_of(k);
    case EVZK_LOCK_RELEASED:
        return k->granted && k->release;
    case EVZK_LOCK_LOST:
        return k->granted && !k->release;
    case EVZK_LOCK_FAILED:
        return !k->granted;
    }
    return false;
}

static bool rc_ok(const struct lock_slot *k, evzk_lock_event ev, int rc)
{
    switch (ev) {
    case EVZK_LOCK_GRANTED:
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return rc == EVZK_OK;
    case EVZK_LOCK_DOWNGRADED:
        return rc == EVZK_OK ||
               (rc == EVZK_ERR_NOAUTH && lock_world.place[k->place].denied) ||
               (rc == EVZK_ERR_SERVER && ens_throttled((int)k->proc));
    case EVZK_LOCK_REQUEUED:
        return requeued_rc_ok(k, rc);
    case EVZK_LOCK_RELEASED:
        return rc == EVZK_OK || (rc == EVZK_ERR_CLOSED && process(k)->closing);
    case EVZK_LOCK_LOST:
        return lost_rc_ok(k, rc);
    case EVZK_LOCK_FAILED:
        return failed_rc_ok(k, rc);
    }
    return false;
}

/* Data written to the old znode was heard before the znode went. */
static void check_downgraded(const struct lock_slot *k)
{
    const struct lock_node *n = lock_node_named(evzk_lock_node(k->l));

    if (!operator_deleted(k->moved) &&
        (!n || !n->shares || n->slot != index_of(k)))
        sim_violation("lock %d is downgraded, and has no znode that reads",
                      index_of(k));
    n = lock_world.node;
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if ((uint64_t)n->czxid == k->token && !n->live && n->asked &&
            !k->plan->hidden && n->asked > k->heard && !n->broken)
            sim_violation("lock %d was asked to let go, and goes on reading",
                          index_of(k));
    }
}

/* The rules for what was told, and what is known from now on. */
static void note_told(struct lock_slot *k, evzk_lock_event ev, int rc)
{
    if (ev == EVZK_LOCK_GRANTED) {
        check_granted(k);
        lock_dirs_granted(k);
        k->granted = true;
        k->placed = 0;
        lock_seen_granted(k);
        lock_take_lease(k);
    }
    if (ev == EVZK_LOCK_SUSPENDED || ev == EVZK_LOCK_RESUMED)
        k->suspended = ev == EVZK_LOCK_SUSPENDED;
    if (ev == EVZK_LOCK_RESUMED)
        check_known(k, "resumed");
    if (ev == EVZK_LOCK_REQUEUED)
        k->guid = 0;
    if (ev == EVZK_LOCK_DOWNGRADED && rc == EVZK_OK)
        check_downgraded(k);
    k->told_down = k->told_down || ev == EVZK_LOCK_DOWNGRADED;
    if (ev == EVZK_LOCK_DOWNGRADED)
        k->placed = 0; /* A new znode. */
    if (ev == EVZK_LOCK_DOWNGRADED && rc != EVZK_OK) {
        k->asked_down = 0; /* The program may ask for it again. */
        k->told_down = false;
        k->guid = 0; /* The lock may have had its new name. */
    }
    if (ev == EVZK_LOCK_REVOKE_REQUESTED) {
        k->revokes++;
        k->heard = sim_now();
    }
}

/* After the session's own events, and none after its close but the end. */
static void check_order(struct lock_slot *k, evzk_lock_event ev)
{
    if (ev < EVZK_LOCK_RELEASED)
        process_news((int)k->proc, "a lock's event");
    if (ev == EVZK_LOCK_GRANTED || ev == EVZK_LOCK_RESUMED)
        process_certain((int)k->proc, &k->doubts,
                        "a lock's GRANTED or RESUMED");
    if (ev == EVZK_LOCK_SUSPENDED)
        process_doubtful((int)k->proc, &k->doubts, "a lock's SUSPENDED");
}

/* What other threads see is what this one sees. */
static void check_view(const struct lock_slot *k)
{
    lease_matches((int)k->proc, k->lease, evzk_lock_held(k->l), k->token,
                  "lock", index_of(k));
}

void lock_leases(int proc)
{
    for (int64_t i = 0; i < lock_world.slots; i++) {
        const struct lock_slot *k = &lock_world.slot[i];

        if (k->proc == proc && k->l)
            check_view(k);
    }
}

void lock_told(struct lock_slot *k, evzk_lock_event ev, int rc)
{
    check_order(k, ev);
    if (!in_turn(k, ev))
        sim_violation("lock %d: event %d out of turn", index_of(k), ev);
    if (!rc_ok(k, ev, rc))
        sim_violation("lock %d: event %d with %s", index_of(k), ev,
                      evzk_errname(rc));
    lock_seen_told(k, ev);
    note_told(k, ev, rc);
    check_view(k);
    if (ev < EVZK_LOCK_RELEASED)
        return;
    k->ended = true;
    if (!k->let_go)
        k->let_go = sim_now();
    check_gone(k, rc);
    if (evzk_lock_held(k->l))
        sim_violation("lock %d has ended, and is held", index_of(k));
}

/* Answers of the calls. */

static void check_held(const struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);

    if (!k->granted || k->ended || k->release || process(k)->closing)
        sim_violation("lock %d is held, and should not be", index_of(k));
    if (excused(k))
        return;
    if (!own || ((uint64_t)own->czxid != k->token && own->czxid != k->moved))
        sim_violation("lock %d is held, and its znode is gone", index_of(k));
    else if (!ens_alive(own->owner))
        sim_violation("lock %d is held, and its session is over", index_of(k));
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

static void check_holder(struct lock_slot *k)
{
    const evzk_session *s = process(k)->s;
    bool is = k->granted && !k->ended && !k->release && !process(k)->closing;

    if (lock_lasts(k, &k->lapse, is && evzk_session_lease_ms(s) == 0, SLACK_US))
        sim_violation("lock %d: the lease is over, and it was not told",
                      index_of(k));
    if (lock_lasts(k, &k->doubt,
                   is && !k->suspended && !evzk_session_connected(s), SLACK_US))
        sim_violation("lock %d: in doubt, and it was not told", index_of(k));
    if (lock_lasts(k, &k->unsaid,
                   is && k->suspended && evzk_session_connected(s) &&
                       lock_node_of(k),
                   RESUMED_US))
        sim_violation("lock %d: out of doubt, and it was not told",
                      index_of(k));
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

/* By policy it has those that are less urgent go. */
static void check_pressing(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool watching =
        !k->granted && !k->ended && !k->cancel && own && lock_is_waiting(k);

    if (lock_lasts(k, &k->pressing,
                   watching && k->plan->revoke && k->plan->grace_ms &&
                       less_holds(k, own) &&
                       evzk_session_connected(process(k)->s),
                   PRESSED_US))
        sim_violation("lock %d is in a hurry, and asks nobody", index_of(k));
}

static void check_waiter(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool watching =
        !k->granted && !k->ended && !k->cancel && own && lock_is_waiting(k);
    int64_t late = k->began + in_us(k->plan->timeout_ms);
    bool calm = evzk_session_connected(process(k)->s) &&
                lock_calm((int)k->proc, k->orphan);

    if (lock_lasts(k, &k->orphan, watching && !has_one_before(own),
                   calm ? TURN_US : ORPHAN_US))
        sim_violation("lock %d waits for nobody", index_of(k));
    if (k->plan->timeout_ms && !k->granted && !k->ended && !k->cancel &&
        sim_now() > late + SLACK_US && !process_was_frozen((int)k->proc, late))
        sim_violation("lock %d: its time-out passed, and it was not told",
                      index_of(k));
}

/* The lock's lease is the session's, and only while the lock holds. */
static void check_lease(const struct lock_slot *k, bool held)
{
    uint32_t own = evzk_lock_lease_ms(k->l);
    uint32_t all = evzk_session_lease_ms(process(k)->s);

    if (!held && own)
        sim_violation("lock %d: a lease, and not held", index_of(k));
    if (held && own != all)
        sim_violation("lock %d: a lease of %u ms, the session's is %u",
                      index_of(k), own, all);
}

/* Whether it believes that it holds, and may be blamed for it. */
static bool check_slot(struct lock_slot *k)
{
    int before = sim_enter((int)k->proc);
    bool held = evzk_lock_held(k->l);

    if (held)
        check_held(k);
    if (held && k->denied)
        sim_violation("lock %d is held again", index_of(k));
    k->denied = k->denied || (k->granted && !held);
    check_lease(k, held);
    check_view(k);
    if (evzk_lock_token(k->l) != (k->granted ? k->token : 0))
        sim_violation("lock %d: its token has changed", index_of(k));
    check_holder(k);
    check_waiter(k);
    check_pressing(k);
    if (k->e)
        lock_election_check(k);
    sim_leave(before);
    return held && !excused(k);
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
        /* A revocation by a waiting lock ends when the others go, or fails some
         * times. */
        if (pl->again[p] > (pl->deaths + pl->touched) * locks + 8 * presses)
            sim_violation("p%d looks again, and nobody has gone", p);
    }
}

static void check_wakes(int place)
{
    const struct lock_place *pl = &lock_world.place[place];

    /* A lock whose znode was deleted, and that does not know so, may watch
     * together with another, once. */
    if (pl->wakes > pl->concerned + pl->broken + pl->late)
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
    for (struct lock_slot *k = lock_world.slot;
         k < lock_world.slot + lock_world.slots; k++) {
        lock_seen_check(k);
        if (!k->l || !check_slot(k))
            continue;
        if (holder[k->place] && !(reads(holder[k->place]) && reads(k)))
            sim_violation("locks %d and %d are held at the same time",
                          index_of(holder[k->place]), index_of(k));
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
