/* What a lock tells: each event comes in its turn, with a result that something
 * has caused, and GRANTED only to the first.
 *
 * Two things no lock can foresee: an operator deletes the holder's znode, and
 * the servers end a session before its time.  Then the next one may be granted
 * before the holder hears of it.
 *
 * How it can fail: a rule that excuses more than it must is silent.  So each
 * result has the least that explains it.
 */
#include "ens.h"
#include "processes.h"
#include "scene_lock.h"
#include "wire.h"

static bool expired_once(const struct lock_slot *k)
{
    return process_any_session((int)k->proc, session_over);
}

/* Is let go, or gives up where servers refuse: it is granted nothing any more.
 */
static bool goes(const struct lock_slot *k)
{
    return k->let_go ||
           (k->l && !k->granted && lock_is_leaving(k) &&
            (ens_throttles((int)k->proc) > REFUSALS || ens_shut((int)k->proc)));
}

/* Is of the same session, which has let it go, or takes it for its own: while
 * it stands nobody else can be first, and nobody holds it. */
static bool makes_way(const struct lock_node *n, const struct lock_node *own)
{
    const struct lock_node *o = n->slot < 0 ? lock_original(n) : n;

    return o && o->slot >= 0 && o->owner == own->owner &&
           goes(&lock_world.slot[o->slot]);
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
        sim_violation("lock %d is granted, and %d is before it", lock_index(k),
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
                          lock_index(k), what, n->seq);
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
        if (n->slot == lock_index(k) && n->waits && !n->live && n->asked &&
            n->asked > k->heard && !n->broken &&
            n->owner == evzk_session_id(lock_process(k)->s))
            sim_violation("lock %d was asked in the room, and has not heard",
                          lock_index(k));
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
        if (n->czxid == czxid && n->slot == lock_index(k) && !n->live &&
            n->died_zxid <= wire_heard((int)k->proc))
            sim_violation("lock %d is %s, and could know that its znode is "
                          "gone",
                          lock_index(k), what);
    }
}

static void check_granted(struct lock_slot *k)
{
    const struct lock_node *own = lock_node_named(evzk_lock_node(k->l));
    struct lock_place *pl = &lock_world.place[k->place];
    bool shared = k->plan->mode == EVZK_LOCK_READ;

    k->session = evzk_session_id(lock_process(k)->s);
    k->token = evzk_lock_token(k->l);
    if (k->granted || k->cancel || lock_process(k)->closing)
        sim_violation("lock %d: GRANTED out of turn", lock_index(k));
    check_heard(k);
    if (!evzk_lock_held(k->l))
        sim_violation("lock %d: GRANTED and not held", lock_index(k));
    if (own && own->live && own->slot == lock_index(k))
        check_first(k, own);
    lock_check_alone(k, "is granted");
    check_known(k, "granted");
    if (lock_is_excused(k))
        return;
    if (k->token <= (shared ? pl->last_alone : pl->last_token))
        sim_violation("lock %d: its token is not greater", lock_index(k));
    if (k->token > pl->last_token)
        pl->last_token = k->token;
    if (!shared && k->token > pl->last_alone)
        pl->last_alone = k->token;
    if (!own || !own->live || own->slot != lock_index(k))
        sim_violation("lock %d is granted without a znode", lock_index(k));
    else if (own->owner != k->session || (uint64_t)own->czxid != k->token)
        sim_violation("lock %d is granted another's znode", lock_index(k));
}

/* Errors that end a lock of any kind. */
static bool session_error(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_ERR_CLOSED)
        return lock_process(k)->closing;
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
        if (n->slot == lock_index(k))
            return !n->live && session_over(n->owner);
    }
    return false;
}

static bool lost_rc_ok(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_ERR_EXPIRED)
        return expired_once(k);
    if (rc == EVZK_ERR_NODEGONE)
        return operator_deleted((int64_t)k->token) ||
               operator_deleted(k->moved) || gone_with_session(k);
    if (rc == EVZK_ERR_NOMEM)
        return false; /* Such a request is repeated. */
    if (rc == EVZK_ERR_LEASE)
        return lock_lapsed(k);
    if (rc == EVZK_ERR_SERVER)
        return ens_throttles((int)k->proc) > REFUSALS;
    if (rc == EVZK_ERR_TOOLARGE)
        return ens_shut((int)k->proc);
    if (rc == EVZK_ERR_QUOTA)
        return ens_full_at() != 0;
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
        if (n->slot == lock_index(k) && (n->seq == INT32_MAX || n->seq < 0))
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

/* Fails, and no refusal is the cause. */
static bool is_failed(const struct lock_slot *k)
{
    return k->let_go || k->cancel || k->plan->try_once || stranger_seen(k) ||
           at_the_end(k) || lock_denied(k->place) || ens_shut((int)k->proc) ||
           lock_process(k)->closing;
}

/* Nine refusals are enough to fail it, but not to fail also what it does then:
 * a lock that nobody stops either gets its place, or deletes its znode.  Where
 * the listing was refused that would have shown the znode, the session does.  A
 * quota has failed it before. */
static bool gave_up(const struct lock_slot *k)
{
    const struct lock_node *own = lock_node_of(k);
    bool shown = lock_node_named(evzk_lock_node(k->l)) == own ||
                 !ens_throttled_read((int)k->proc);

    return own && shown && !is_failed(k) && !ens_full_at() &&
           ens_throttles((int)k->proc) <= REFUSALS + 2;
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
        return k->plan->no_requeue && expired_once(k);
    case EVZK_ERR_NODEGONE:
        return k->plan->no_requeue &&
               (lock_was_broken(k) || gone_with_session(k));
    case EVZK_ERR_SEQUENCE:
        return at_the_end(k);
    case EVZK_ERR_FOREIGN:
        return stranger_seen(k);
    case EVZK_ERR_SERVER:
        return ens_throttled((int)k->proc) && !gave_up(k);
    case EVZK_ERR_TOOLARGE:
        return ens_shut((int)k->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOCHROOT:
        return lock_rootless();
    case EVZK_ERR_NOAUTH:
        return ens_denied((int)k->proc) || lock_denied(k->place) ||
               (lock_world.sc->locks[0].hidden && !k->plan->hidden);
    }
    return session_error(k, rc);
}

static bool requeued_rc_ok(const struct lock_slot *k, int rc)
{
    if (k->plan->no_requeue)
        return false;
    return rc == EVZK_ERR_EXPIRED
               ? expired_once(k)
               : rc == EVZK_ERR_NODEGONE &&
                     (lock_was_broken(k) || gone_with_session(k));
}

/* Told that the znode is gone: then it is, for ever. */
static bool proves_gone(const struct lock_slot *k, int rc)
{
    if (rc == EVZK_OK || rc == EVZK_ERR_CANCELED)
        return true;
    if (lock_process(k)->closing)
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
        sim_violation("lock %d has ended, and its znode is there",
                      lock_index(k));
}

/* So often somebody has asked it, in all of its places. */
static int64_t asks_of(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;
    int64_t asks = 0;

    for (; n < lock_world.node + lock_world.nodes; n++)
        asks += n->slot == lock_index(k) ? n->asks : 0;
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
               (rc == EVZK_ERR_NOAUTH && (ens_denied((int)k->proc) ||
                                          lock_world.place[k->place].denied)) ||
               (rc == EVZK_ERR_SERVER && ens_throttled((int)k->proc)) ||
               (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
               (rc == EVZK_ERR_TOOLARGE && ens_shut((int)k->proc));
    case EVZK_LOCK_REQUEUED:
        return requeued_rc_ok(k, rc);
    case EVZK_LOCK_RELEASED:
        return rc == EVZK_OK || (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
               (rc == EVZK_ERR_TOOLARGE && ens_shut((int)k->proc)) ||
               (rc == EVZK_ERR_NOAUTH && ens_denied((int)k->proc)) ||
               (rc == EVZK_ERR_SERVER &&
                ens_throttles((int)k->proc) > REFUSALS) ||
               (rc == EVZK_ERR_CLOSED && lock_process(k)->closing);
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
        (!n || !n->shares || n->slot != lock_index(k)))
        sim_violation("lock %d is downgraded, and has no znode that reads",
                      lock_index(k));
    n = lock_world.node;
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if ((uint64_t)n->czxid == k->token && !n->live && n->asked &&
            !k->plan->hidden && n->asked > k->heard && !n->broken)
            sim_violation("lock %d was asked to let go, and goes on reading",
                          lock_index(k));
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

void lock_told(struct lock_slot *k, evzk_lock_event ev, int rc)
{
    check_order(k, ev);
    if (!in_turn(k, ev))
        sim_violation("lock %d: event %d out of turn", lock_index(k), ev);
    if (!rc_ok(k, ev, rc))
        sim_violation("lock %d: event %d with %s", lock_index(k), ev,
                      evzk_errname(rc));
    lock_seen_told(k, ev);
    note_told(k, ev, rc);
    lock_check_view(k);
    if (ev < EVZK_LOCK_RELEASED)
        return;
    k->ended = true;
    if (!k->let_go)
        k->let_go = sim_now();
    check_gone(k, rc);
    if (evzk_lock_held(k->l))
        sim_violation("lock %d has ended, and is held", lock_index(k));
}
