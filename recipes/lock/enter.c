/* From the priority wait into the queue: the contender's znode is replaced by a
 * znode in the queue, in one transaction.
 *
 *   ENTERING --> LISTING                       it was done
 *    |    ^
 *    |    `--- PRIO_CONFIRMING                 its znode is to be read before
 *    |    `--> READING_OWN --> PRIO_LISTING    another client wrote to it
 *    v
 *   RESOLVING_ENTRY <--> ADOPTING_ENTRY        the outcome is unknown
 *
 * From RESOLVING_ENTRY the lock goes back to PRIO_LISTING if its old znode
 * still exists, and from ADOPTING_ENTRY to LISTING if the new znode is its own.
 *
 * How it can fail.  Whether the change was done may be unknown: then the GUID
 * of the new name is looked for, and a GUID is used for one attempt only.
 * While that is unknown, the session does not count the lock as a contender:
 * `own` is the old name, given->name the name in the queue.  A lock that must
 * give up there looks whether its old znode stands; if not, the new one may,
 * and the session goes on looking for it.
 */
#include "recipes/lock/states.h"

#include <string.h>

void evzk__lock_enter_queue(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (!m->place.own_verified)
        evzk__machine_move(m, PRIO_CONFIRMING);
    else if (evzk__lock_name(l, l->given->name, l->mode) != EVZK_OK)
        evzk__machine_give_up(m, EVZK_ERR_INTERNAL, DELETING);
    else
        evzk__lock_swap(l, true);
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
        evzk__forget_own(m);
        return evzk__machine_move(m, RESOLVING_ENTRY);
    }
    if (rc == EVZK_OK)
        come_in(l, &e->reply->first);
    if (m->stopping)
        return evzk__machine_move(m, DELETING);
    if (rc == EVZK_ERR_NONODE)
        return evzk__lock_lose_place(l);
    if (rc == EVZK_OK)
        return evzk__machine_move(m, LISTING);
    if (rc == EVZK_ERR_BADVERSION) /* New data comes first. */
        return evzk__machine_move(m, READING_OWN);
    if (rc == EVZK_ERR_NODEEXISTS)
        rc = EVZK_ERR_SEQUENCE; /* No other contender has our GUID. */
    return evzk__machine_give_up(m, rc, DELETING);
}

/* The change was not done: the old znode is still ours, or was deleted. */
static int go_on_waiting(struct evzk_lock *l)
{
    int32_t seen = l->seen;

    evzk__lock_take_place(l, l->token);
    l->seen = seen;
    return evzk__machine_move(&l->m, l->m.stopping ? DELETING : PRIO_LISTING);
}

void evzk__lock_resolve_entry(struct evzk__machine *m)
{
    lock_of(m)->may_stand = true;
    evzk__settle_list(m, lock_of(m)->given->name);
}

int evzk__lock_resolved_entry(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->rc;

    switch (evzk__lock_find(l, l->given->name, e->reply)) {
    case EVZK__FOUND:
        return evzk__machine_move(m, ADOPTING_ENTRY);
    case EVZK__FOUND_NONE:
        return go_on_waiting(l);
    case EVZK__FIND_REFUSED:
        rc = evzk__machine_refused(m, e->reply);
        break;
    case EVZK__FIND_LATER:
    case EVZK__FIND_FAILED:
        break;
    }
    if (rc == EVZK_OK)
        return EVZK_OK;
    l->given->entry_rc = (int8_t)rc; /* The old znode may still exist. */
    return evzk__machine_give_up(m, rc, DELETING);
}

void evzk__lock_adopt_entry(struct evzk__machine *m)
{
    evzk__exists(m, lock_of(m)->given->name);
}

int evzk__lock_adopted_entry(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    uint64_t first = l->token;
    enum evzk__own found;

    l->token = 0; /* The znode in the queue is another one. */
    found = evzk__lock_verify(l, e->reply->rc, &e->reply->first);
    if (found == EVZK__OWN_GONE) { /* A copy: see evzk__lock_adopted(). */
        l->token = first;
        evzk__own_gone(m);
        return evzk__machine_move(m, RESOLVING_ENTRY);
    }
    strcpy(l->own, l->given->name);
    if (found != EVZK__OWN_THERE)
        return evzk__machine_give_up(m, e->reply->rc, DELETING);
    evzk__lock_take_place(l, l->token);
    return evzk__machine_move(m, m->stopping ? DELETING : LISTING);
}
