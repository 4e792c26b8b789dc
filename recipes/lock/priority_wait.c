/* How a contender with a priority waits in the room before the queue: see
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
 * It lists, and watches the contender for which it has to wait, and its own
 * znode, to which others write when they have come before it.  If it has to
 * wait for nobody, it enters the queue; before that it reads its own znode
 * again, unless that is known to be there.
 */
#include "recipes/lock/states.h"

static const struct evzk__waiting in_room = {PRIO_LISTING, PRIO_WATCHING};

/* It waits for one before it in the room, or for the holders; or for nobody. */
static int look_in_room(struct evzk_lock *l, const struct evzk__result *list)
{
    struct evzk__stand stand;
    int rc;

    if (!evzk__lock_read_order(l, &in_room, list, &stand, &rc))
        return rc;
    l->second = false;
    if (stand.pred)
        return evzk__lock_await(l, &in_room, stand.pred, NULL);
    return evzk__machine_move(&l->m, l->m.place.own_verified ? ENTERING
                                                             : PRIO_CONFIRMING);
}

int evzk__lock_prio_look(struct evzk_lock *l, const struct evzk__result *list)
{
    return evzk__lock_look_by(l, list, look_in_room);
}

int evzk__lock_prio_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_NONODE) /* The directory and all in it. */
        return evzk__lock_lose_place(lock_of(m));
    return e->reply->rc == EVZK_OK
               ? evzk__lock_prio_look(lock_of(m), e->reply->res)
               : e->reply->rc;
}

/* The watches that it has not. */
void evzk__lock_prio_watch(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool own = evzk__lock_wants_own_watch(l);
    const char *pred = m->place.pred_watch.armed ? NULL : l->pred;

    if (own || pred)
        evzk__watch(m, own ? l->own : NULL, own, pred);
}

static int read_both(struct evzk__machine *m, const struct evzk__reply *reply)
{
    enum evzk__heard heard = EVZK__HEARD_NOTHING;
    int rc;

    if (m->place.req.name &&
        !evzk__lock_own_read(lock_of(m), reply, &heard, &rc))
        return rc;
    if (heard == EVZK__HEARD_PASSED)
        return evzk__machine_move(m, PRIO_LISTING);
    if (!m->place.req.pred || reply->rc != EVZK_ERR_NONODE)
        return m->place.req.pred ? reply->rc : EVZK_OK;
    evzk__lock_hear_of_another(lock_of(m));
    evzk__pred_gone(m); /* If it is one of ours, it is to know. */
    return evzk__machine_move(m, PRIO_LISTING);
}

int evzk__lock_prio_watched(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return read_both(m, e->reply);
    case EVZK__EV_CHANGED: /* A watch fires once: set it again. */
    case EVZK__EV_STAYED:
        return evzk__machine_again(m);
    case EVZK__EV_DELETED:
        if (e->which == EVZK__OWN)
            return evzk__lock_lose_place(lock_of(m));
        evzk__lock_hear_of_another(lock_of(m));
        return evzk__machine_move(m, PRIO_LISTING);
    case EVZK__EV_ASKED: /* What it asked of others has ended. */
        return evzk__machine_move(m, PRIO_LISTING);
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

/* It has to wait for nobody: is its own znode there? */
int evzk__lock_prio_confirmed(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    enum evzk__heard heard = EVZK__HEARD_NOTHING;

    switch (evzk__lock_verify(l, e->reply->rc, &e->reply->first)) {
    case EVZK__OWN_THERE:
        if (!l->blind)
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

/* Somebody has written to its znode: what, is told before it looks again. */
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
