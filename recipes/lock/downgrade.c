/* A held write lock becomes a read lock: its znode is replaced by another znode
 * of the same number, in one transaction.
 *
 *   HELD --> SWAPPING --> HELD
 *
 *   CHECKING_WRITER  reads its znode before SWAPPING: the znode may be gone, or
 *                    another client has written to it
 *   CHECKING_SWAP    the connection was lost in SWAPPING: does the old znode
 *                    exist?
 *   SWAPPING_AGAIN   it does: the change is asked for once more; the first
 *                    attempt may still be done
 *   CHECKING_READER  does the new znode exist?  The old one is gone; or the
 *                    second attempt was refused, and the first may have been
 *                    done
 *
 * How it can fail.  Whether the change was done may be unknown: the new name is
 * used once, so a look at both znodes tells.  While the znode may have either
 * name, given->downgrade says so, and given->name is the other one: a lock that
 * leaves looks for both.
 */
#include "recipes/lock/states.h"

#include <string.h>

/* Swaps the two names: the old znode may still exist. */
static void trade_names(struct evzk_lock *l)
{
    char old[OWN_MAX + EVZK__PRIORITY_MAX];

    strcpy(old, l->own);
    evzk__rename_own(&l->m, l->own, l->given->name, l->m.place.seq);
    strcpy(l->given->name, old);
}

/* The change was not done: the old znode is still ours, or was deleted. */
static void take_back(struct evzk_lock *l)
{
    trade_names(l);
    l->mode = EVZK_LOCK_WRITE;
    l->given->downgrade = SWAP_NOT_DONE;
    l->user_asked = false;
}

/* The change was done.  Contenders, some of them ours, may still watch the old
 * znode. */
static void take_swap(struct evzk_lock *l, int64_t czxid)
{
    trade_names(l);
    l->mode = EVZK_LOCK_READ;
    l->given->czxid = (uint64_t)czxid;
    l->given->downgrade = SWAP_DONE;
    l->m.place.own_verified = czxid != 0;
}

bool evzk__lock_other_name(struct evzk_lock *l)
{
    if (!l->given)
        return false;
    switch (l->given->downgrade) {
    case SWAP_SENT:
        take_swap(l, 0);
        return true;
    case SWAP_DOUBTED:
        take_back(l);
        return true;
    case SWAP_NOT_DONE:
    case SWAP_DONE:
        break;
    }
    return false;
}

/* SWAPPING deletes the old znode, so the lock must be sure that the znode is
 * its own. */
static int swap_asked(struct evzk_lock *l)
{
    if (!l->user_asked)
        return EVZK_OK;
    return evzk__machine_move(
        &l->m, evzk__lock_watches_own(l) ? SWAPPING : CHECKING_WRITER);
}

int evzk__lock_held_or_asked(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    return e->type == EVZK__EV_USER ? swap_asked(lock_of(m))
                                    : evzk__lock_still_held(m, e);
}

int evzk__lock_verified_or_asked(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    return e->type == EVZK__EV_USER ? swap_asked(lock_of(m))
                                    : evzk__lock_verified(m, e, HELD);
}

int evzk__lock_checked_writer(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    return evzk__lock_checked_for(m, e, SWAPPING);
}

/* Each attempt uses the same new name, which can be made only once. */
void evzk__lock_become_reader(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (!m->place.own_verified) {
        evzk__machine_move(m, CHECKING_SWAP);
        return;
    }
    l->given->downgrade = SWAP_SENT;
    evzk__lock_swap(l, false);
}

static int told(struct evzk_lock *l, int rc)
{
    l->user_asked = false;
    evzk__lock_go_on(l);
    evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, rc);
    return EVZK_OK;
}

/* Refused: the lock stays a write lock; but an earlier attempt may have been
 * done. */
static int refused(struct evzk_lock *l, int rc)
{
    if (l->m.state == SWAPPING) {
        l->given->downgrade = SWAP_NOT_DONE;
        return l->m.stopping ? evzk__machine_move(&l->m, DELETING)
                             : told(l, rc);
    }
    take_swap(l, 0);
    l->given->downgrade = SWAP_DOUBTED;
    l->given->refused = rc;
    return evzk__machine_move(&l->m,
                              l->m.stopping ? DELETING : CHECKING_READER);
}

/* NONODE: the old znode was deleted, or an earlier attempt was done and its
 * answer lost; a look at the new znode tells.  BADVERSION: another client has
 * written to the znode.  That data must be read first, and an earlier attempt
 * fails, too. */
static int change(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool stopping = l->m.stopping;

    switch (reply->rc) {
    case EVZK_OK:
        take_swap(l, reply->first.czxid);
        l->seen = 0;
        return stopping ? evzk__machine_move(&l->m, DELETING)
                        : told(l, EVZK_OK);
    case EVZK_ERR_NONODE:
        take_swap(l, 0);
        return evzk__machine_move(&l->m, stopping ? DELETING : CHECKING_READER);
    case EVZK_ERR_BADVERSION:
        l->given->downgrade = SWAP_NOT_DONE;
        return evzk__machine_move(&l->m, stopping ? DELETING : CHECKING_WRITER);
    default:
        return refused(l, reply->rc);
    }
}

int evzk__lock_became_reader(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY ? change(lock_of(m), e->reply)
                                     : evzk__lock_doubt(lock_of(m), e);
}

/* If the old znode exists, the change was not done.  Otherwise the new one may
 * exist. */
static int find_swapped(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool stopping = l->m.stopping;

    switch (evzk__lock_verify(l, reply->rc, &reply->first)) {
    case EVZK__OWN_THERE:
        return evzk__machine_move(&l->m, stopping ? DELETING : SWAPPING_AGAIN);
    case EVZK__OWN_GONE:
        take_swap(l, 0); /* The old znode is gone for good. */
        return evzk__machine_move(&l->m, stopping ? DELETING : CHECKING_READER);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_give_up(&l->m, reply->rc, DELETING);
}

int evzk__lock_checked_swap(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY ? find_swapped(lock_of(m), e->reply)
                                     : evzk__lock_doubt(lock_of(m), e);
}

/* The change was done. */
static int reads(struct evzk_lock *l, const struct evzk__first *stat)
{
    l->user_asked = false;
    l->given->downgrade = SWAP_DONE;
    l->seen = 0; /* Not before: the old znode may still be the lock's own. */
    evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, EVZK_OK);
    evzk__lock_own_there(l, stat);
    return l->m.stopping ? EVZK_OK : evzk__machine_move(&l->m, HELD);
}

/* The second attempt was refused, and the first was not done. */
static int stay_alone(struct evzk_lock *l)
{
    take_back(l);
    evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, l->given->refused);
    return l->m.stopping ? EVZK_OK : evzk__machine_move(&l->m, VERIFYING);
}

static int find_reader(struct evzk_lock *l, const struct evzk__reply *reply)
{
    enum evzk__own own = evzk__lock_verify(l, reply->rc, &reply->first);

    if (own == EVZK__OWN_THERE)
        return reads(l, &reply->first);
    if (own == EVZK__OWN_GONE && l->given->downgrade == SWAP_DOUBTED)
        return stay_alone(l);
    return evzk__lock_own_not_there(l, own, reply->rc);
}

int evzk__lock_checked_reader(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY ? find_reader(lock_of(m), e->reply)
                                     : evzk__lock_doubt(lock_of(m), e);
}
