/* A write lock that is held becomes a read lock: its znode is changed for
 * another one, of the same number, in one transaction.
 *
 *   HELD --> SWAPPING <--> CHECKING_SWAP
 *     ^         |               |
 *     `---------+---------------'
 *
 * How it can fail.  Whether the change was done may be unknown: the new name is
 * made once, and what is there now tells.
 */
#include "recipes/lock/states.h"

#include <string.h>

/* The old one is kept where the new one was. */
static void trade_names(struct evzk_lock *l)
{
    char old[OWN_MAX + EVZK__PRIORITY_MAX];

    strcpy(old, l->own);
    evzk__rename_own(&l->m, l->own, l->given->name, l->m.place.seq);
    strcpy(l->given->name, old);
}

/* It was not done: the old znode is still ours, or was broken. */
void evzk__lock_take_back(struct evzk_lock *l)
{
    trade_names(l);
    l->mode = EVZK_LOCK_WRITE;
    l->swapped = l->unsure = l->unseen = l->asked = l->sent = false;
}

/* Others may still watch the old one, also some of ours. */
static void take_swap(struct evzk_lock *l, int64_t czxid)
{
    trade_names(l);
    l->mode = EVZK_LOCK_READ;
    l->seen = 0;
    l->given->czxid = (uint64_t)czxid;
    l->swapped = true;
    l->m.place.own_verified = czxid != 0;
}

/* The other name of one that may have been swapped, or not. */
bool evzk__lock_other_name(struct evzk_lock *l)
{
    if (l->unsure && l->swapped)
        evzk__lock_take_back(l);
    else if (l->sent && !l->swapped)
        take_swap(l, 0);
    else
        return false;
    return true;
}

/* Again and again the same name, if need be: it is made once. */
void evzk__lock_become_reader(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (!m->place.own_verified) {
        evzk__machine_move(m, CHECKING_SWAP);
        return;
    }
    l->unsure = l->sent; /* What was sent before may have been done. */
    l->sent = true;
    evzk__lock_swap(l, false);
}

/* No such znode: it was broken, or this was done before, and the answer lost.
 * What is there now tells; so it does when this is refused, and an answer was
 * lost before.  Another version: somebody has written to it, and that is to be
 * heard first. */
static int change(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool done = reply->rc == EVZK_OK, gone = reply->rc == EVZK_ERR_NONODE;

    l->reread = reply->rc == EVZK_ERR_BADVERSION;
    l->unsure = l->unsure && !done && !gone && !l->reread;
    if (done || gone || l->unsure)
        take_swap(l, done ? reply->first.czxid : 0);
    l->given->refused = reply->rc;
    gone = gone || l->unsure;
    if (l->m.stopping)
        return evzk__machine_move(&l->m, DELETING);
    /* Not: refused, and it writes as before. */
    l->asked = done || gone || l->reread;
    l->sent = l->sent && l->asked;
    l->unseen = gone;
    evzk__machine_move(&l->m, HELD);
    if (!gone && !l->reread)
        evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, reply->rc);
    return EVZK_OK;
}

int evzk__lock_became_reader(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return change(l, e->reply);
    case EVZK__EV_SUSPENDED:
        evzk__lock_suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return evzk__lock_lose(l, EVZK_ERR_LEASE);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
    case EVZK__EV_ASKED:
        break;
    }
    return EVZK_OK;
}

/* The old znode is there: the swap was not done.  Else the new one may be. */
static int find_swapped(struct evzk_lock *l, const struct evzk__reply *reply)
{
    switch (evzk__lock_verify(l, reply->rc, &reply->first)) {
    case EVZK__OWN_THERE:
        return evzk__machine_move(&l->m, l->m.stopping ? DELETING : SWAPPING);
    case EVZK__OWN_GONE:
        take_swap(l, 0);
        l->unsure = false; /* Nothing is left to go back to. */
        l->unseen = true;
        return evzk__machine_move(&l->m, l->m.stopping ? DELETING : HELD);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_give_up(&l->m, reply->rc, DELETING);
}

int evzk__lock_checked_swap(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return find_swapped(l, e->reply);
    case EVZK__EV_SUSPENDED:
        evzk__lock_suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return evzk__lock_lose(l, EVZK_ERR_LEASE);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
    case EVZK__EV_ASKED:
        break;
    }
    return EVZK_OK;
}
