/* How a contender with a priority waits before it enters the queue: see
 * lock/priority.c.
 *
 *   PRIO_LISTING <--> PRIO_WATCHING
 *      |   ^               |
 *      |   `--- READING_OWN (from ENTERING: see lock/enter.c)
 *      |   ^
 *      v   |
 *   PRIO_CONFIRMING
 *      |
 *      v
 *   ENTERING
 *
 * The lock lists the directory, and watches the contender that it waits for,
 * and its own znode: a contender that passes the lock writes to that.  If no
 * contender is in its way, the lock enters the queue.  Before that it reads its
 * own znode again, unless it knows that the znode exists.
 */
#include "recipes/lock/states.h"

static const struct evzk__waiting by_priority = {PRIO_LISTING, PRIO_WATCHING};

/* Waits for a contender before it, by priority; or for the holders; or for no
 * contender. */
static int look_by_priority(struct evzk_lock *l,
                            const struct evzk__result *list)
{
    struct evzk__order order;
    int rc;

    if (!evzk__lock_read_order(l, &by_priority, list, &order, &rc))
        return rc;
    l->position = POSITION_KNOWN;
    if (order.pred)
        return evzk__lock_await(l, &by_priority, order.pred, NULL);
    return evzk__machine_move(&l->m, l->m.place.own_verified ? ENTERING
                                                             : PRIO_CONFIRMING);
}

int evzk__lock_prio_look(struct evzk_lock *l, const struct evzk__result *list)
{
    return evzk__lock_look_by(l, list, look_by_priority);
}

int evzk__lock_prio_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_NONODE) /* The directory is gone, too. */
        return evzk__lock_lose_place(lock_of(m));
    return e->reply->rc == EVZK_OK
               ? evzk__lock_prio_look(lock_of(m), e->reply->res)
               : e->reply->rc;
}

/* Sets the watches that are missing. */
void evzk__lock_prio_watch(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool own = evzk__lock_wants_own_watch(l);
    const char *pred = evzk__watch_armed(&m->place.pred_watch) ? NULL : l->pred;

    if (own || pred)
        evzk__watch(m, own ? l->own : NULL, own, pred);
}

static int read_both(struct evzk__machine *m, const struct evzk__reply *reply)
{
    enum evzk__heard heard = EVZK__HEARD_NOTHING;
    int rc;

    if (evzk__place_read_own(&m->place) &&
        !evzk__lock_own_read(lock_of(m), reply, &heard, &rc))
        return rc;
    if (heard == EVZK__HEARD_PASSED)
        return evzk__machine_move(m, PRIO_LISTING);
    if (!evzk__place_read_pred(&m->place))
        return EVZK_OK;
    if (reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    evzk__lock_hear_of_another(lock_of(m));
    evzk__pred_gone(m); /* Ours should know, too. */
    return evzk__machine_move(m, PRIO_LISTING);
}

int evzk__lock_prio_watched(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return read_both(m, e->reply);
    case EVZK__EV_CHANGED: /* A watch fires once: set it again. */
    case EVZK__EV_LINGERED:
        return evzk__machine_again(m);
    case EVZK__EV_DELETED:
        if (e->which == EVZK__OWN)
            return evzk__lock_lose_place(lock_of(m));
        evzk__lock_hear_of_another(lock_of(m));
        return evzk__machine_move(m, PRIO_LISTING);
    case EVZK__EV_USER: /* A revocation has ended. */
        return evzk__machine_move(m, PRIO_LISTING);
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

/* No contender is in the lock's way: does its own znode exist? */
int evzk__lock_prio_confirmed(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    enum evzk__heard heard = EVZK__HEARD_NOTHING;

    switch (evzk__lock_verify(l, e->reply->rc, &e->reply->first)) {
    case EVZK__OWN_THERE:
        if (!l->own_hidden)
            heard = evzk__lock_hear(l, &e->reply->first);
        if (heard == EVZK__HEARD_STOP)
            return EVZK_OK;
        return evzk__machine_move(m, heard == EVZK__HEARD_PASSED ? PRIO_LISTING
                                                                 : ENTERING);
    case EVZK__OWN_GONE:
        return evzk__lock_lose_place(l);
    case EVZK__OWN_HIDDEN:
        return evzk__machine_again(m);
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return e->reply->rc;
}

/* Another client has written to the lock's znode: reads that before the lock
 * looks again. */
void evzk__lock_reread_own(struct evzk__machine *m)
{
    evzk__watch(m, lock_of(m)->own, true, NULL);
}

int evzk__lock_own_reread(struct evzk__machine *m, const struct evzk__event *e)
{
    enum evzk__heard heard;
    int rc;

    return evzk__lock_own_read(lock_of(m), e->reply, &heard, &rc)
               ? evzk__machine_move(m, PRIO_LISTING)
               : rc;
}
