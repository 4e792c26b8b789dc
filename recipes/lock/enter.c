/* From the priority wait into the queue: the contender's znode is changed for
 * one in the queue, in one transaction.
 *
 * How it can fail.  Whether the change was done may be unknown: then the GUID
 * of the new name is looked for, and a GUID is used for one attempt only.
 */
#include "recipes/lock/states.h"

#include <string.h>

void evzk__lock_enter_queue(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (!m->place.own_verified)
        evzk__machine_move(m, CONFIRMING);
    else if (evzk__lock_name(l, l->given->name, l->mode) != EVZK_OK)
        evzk__machine_give_up(m, EVZK_ERR_INTERNAL, DELETING);
    else
        evzk__lock_swap(l, true);
}

/* The old name is kept where the new one was: it may be ours all the same. */
static void rename_own(struct evzk_lock *l)
{
    char old[EVZK__NAME_MAX];

    evzk__forget_own(&l->m);
    strcpy(old, l->own);
    strcpy(l->own, l->given->name);
    strcpy(l->given->name, old);
}

static void come_in(struct evzk_lock *l, const struct evzk__first *stat)
{
    struct evzk__contender c;

    l->token = (uint64_t)stat->czxid;
    l->seen = 0;
    if (evzk__contender_parse(l->given->name, evzk__lock_marks, &c))
        evzk__rename_own(&l->m, l->own, l->given->name, c.seq);
    l->m.place.own_verified = true;
}

int evzk__lock_entered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_CONNLOSS) {
        rename_own(l);
        l->entering = true;
        return evzk__machine_move(m, RESOLVING);
    }
    if (rc == EVZK_OK)
        come_in(l, &e->reply->first);
    if (m->stopping)
        return evzk__machine_move(m, DELETING);
    if (rc == EVZK_ERR_NONODE)
        return evzk__lock_lose_place(l);
    if (rc == EVZK_OK)
        return evzk__machine_move(m, LISTING);
    l->reread = rc == EVZK_ERR_BADVERSION; /* First what was written to us. */
    if (l->reread)
        return evzk__machine_move(m, WATCHING);
    if (rc == EVZK_ERR_NODEEXISTS)
        rc = EVZK_ERR_SEQUENCE; /* Nobody else has our GUID. */
    return evzk__machine_give_up(m, rc, DELETING);
}

/* It was not done: the znode in the room is still ours, or was broken. */
int evzk__lock_not_entered(struct evzk_lock *l)
{
    int32_t seen = l->seen;

    rename_own(l);
    l->entering = false;
    evzk__lock_take_place(l, l->token);
    l->seen = seen;
    return evzk__machine_move(&l->m, l->m.stopping ? DELETING : LISTING);
}

/* What stood in the room may still stand there. */
int evzk__lock_unresolved(struct evzk_lock *l, int rc)
{
    if (!l->entering)
        return rc;
    rename_own(l);
    l->entering = false;
    return evzk__machine_give_up(&l->m, rc, DELETING);
}
