/* The own znode of a lock: is the znode under the lock's name the lock's own?
 *
 * A name proves nothing: while a process was cut off, an operator may have
 * deleted its znode and put back a copy of the same name.  So owner and czxid
 * are compared.  After every lost connection, and after every event about
 * another contender's znode, a lock reads its own znode before it is granted,
 * resumed or downgraded, before its leader announces itself, and before it
 * deletes the znode.  (After an event about another contender's znode, the
 * lock's own may be gone, too: the events of one transaction come one by one,
 * with a time between.)
 *
 *   CHECKING        before DELETING: see lock/leave.c
 *   CHECKING_SWAP   before SWAPPING is tried once more: see lock/downgrade.c
 *   CONFIRMING      before all else: see lock/wait.c
 *   FORGETTING      removes a watch that was set on another client's znode
 *
 * How it can fail.  A znode that may not be read, not even by its owner, is
 * looked at by exists, which takes no permission and sets no watch.  The
 * session looks at it now and then (request/look.h), and fires its watch when
 * it may be read again.  Then the lock reads it, and sets the watch.
 */
#include "recipes/lock/states.h"

/* If the znode was found by its GUID, or replaced, its czxid is not known yet.
 * A name is used for one attempt, so the owner is enough. */
static bool is_own(struct evzk_lock *l, const struct evzk__first *stat)
{
    uint64_t *czxid = evzk__lock_swapped(l) ? &l->given->czxid : &l->token;

    if (!stat->ours)
        return false;
    if (*czxid == 0)
        *czxid = (uint64_t)stat->czxid;
    return (uint64_t)stat->czxid == *czxid;
}

enum evzk__own evzk__lock_verify(struct evzk_lock *l, int rc,
                                 const struct evzk__first *stat)
{
    bool looked = evzk__looked(&l->m);

    if (rc == EVZK_ERR_NOAUTH && !looked) {
        l->own_hidden = true;
        return EVZK__OWN_HIDDEN;
    }
    if (rc == EVZK_ERR_NONODE || (rc == EVZK_OK && !is_own(l, stat)))
        return EVZK__OWN_GONE;
    if (rc != EVZK_OK)
        return EVZK__OWN_UNKNOWN;
    if (!looked)
        l->own_hidden = false;
    l->m.place.own_verified = true;
    return EVZK__OWN_THERE;
}

bool evzk__lock_watches_own(const struct evzk_lock *l)
{
    return l->m.place.own_verified &&
           evzk__watch_armed(&l->m.place.own_watch) &&
           !evzk__watch_fires(&l->m, EVZK__OWN);
}

/* After a refused read the watch is listed as hidden, until a look fires it. */
bool evzk__lock_own_hidden(const struct evzk_lock *l)
{
    return l->own_hidden && (!evzk__lock_is(l, LOCK_WATCHES_OWN) ||
                             evzk__watch_listed(&l->m.place.own_watch));
}

void evzk__lock_read_own(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (l->given)
        l->given->own_was_there = false;
    if (evzk__lock_own_hidden(l))
        evzk__exists(m, l->own);
    else
        evzk__watch(m, l->own, evzk__lock_is(l, LOCK_WATCHES_OWN), NULL);
}

void evzk__lock_verify_before(struct evzk__machine *m,
                              const struct evzk__stat *stat)
{
    const struct evzk_lock *before;

    if (!m->place.before)
        return;
    before = lock_of(evzk__machine_of(m->place.before));
    if (evzk__machine_owns(m, stat) &&
        (evzk__lock_swapped(before) ||
         (uint64_t)stat->czxid == before->token)) {
        evzk__place_seen(m);
        return;
    }
    m->place.before->own_verified = false;
    evzk__place_unfollow(m); /* Not the znode of ours. */
}

/* The read has set a watch on another client's znode: removes the watch. */
void evzk__lock_forget_own(struct evzk__machine *m) { evzk__unwatch_own(m); }

int evzk__lock_forgotten(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return m->stopping ? evzk__machine_finish(m, m->rc)
                       : evzk__machine_move(m, CREATING);
}

void evzk__lock_check(struct evzk__machine *m)
{
    evzk__exists(m, lock_of(m)->own);
}

enum evzk__heard evzk__lock_hear(struct evzk_lock *l,
                                 const struct evzk__first *own)
{
    bool anew = own->version != l->seen;

    l->seen = own->version;
    if (anew && own->told)
        evzk__lock_tell(l, EVZK_LOCK_REVOKE_REQUESTED, EVZK_OK);
    if (l->m.stopping)
        return EVZK__HEARD_STOP;
    return anew && !own->told ? EVZK__HEARD_PASSED : EVZK__HEARD_NOTHING;
}

/* A watch on the own znode is worth its request only if the lock stays in its
 * row for a while; most do not.  Without a watch, a deletion is noticed before
 * the lock is granted.  Some set the watch at once.  A lock with a priority:
 * others notify it by a write to its znode.  A leader: when it resigns, it must
 * know that no other leads yet.  A waiter of a bulk create: it is to be first
 * as soon as the contender before it has gone, without a read of its own znode.
 */
bool evzk__lock_wants_own_watch(const struct evzk_lock *l)
{
    bool soon =
        l->m.stayed || evzk__lock_is(l, LOCK_WATCHES_EARLY) ||
        (evzk__place_is_one_of_many(&l->m.place) && l->m.state == WATCHING);

    return evzk__lock_is(l, LOCK_WATCHES_OWN) && soon &&
           !evzk__watch_armed(&l->m.place.own_watch);
}

/* The lock's znode is gone, and the lock was not held: queues again, at the
 * end. */
int evzk__lock_lose_place(struct evzk_lock *l)
{
    l->position = POSITION_BROKEN;
    l->may_stand = false;
    evzk__own_gone(&l->m);
    if (l->m.no_requeue)
        return evzk__machine_finish(&l->m, EVZK_ERR_NODEGONE);
    return evzk__machine_move(&l->m, evzk__watch_armed(&l->m.place.own_watch)
                                         ? FORGETTING
                                         : CREATING);
}

void evzk__lock_take_place(struct evzk_lock *l, uint64_t czxid)
{
    struct evzk__contender own;

    l->position = POSITION_KNOWN;
    l->seen = 0;
    l->token = czxid;
    if (evzk__contender_parse(l->own, evzk__lock_marks_of(l), &own))
        evzk__enter_queue(&l->m, l->own, own.seq);
    if (evzk__lock_stands(l))
        evzk__lock_tell(l, (evzk_lock_event)LOCK_PLACED, EVZK_OK);
}
