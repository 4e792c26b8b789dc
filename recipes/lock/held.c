/* How a lock is held: it comes into doubt and out again, or is lost.
 *
 *   HELD <--> VERIFYING
 *
 * In HELD nothing is under way.  VERIFYING reads its own znode: after a doubt
 * (and then the lock stays there until the session is certain again), to set a
 * watch that is missing, and after each change of its data.
 *
 * How it can fail.  Its znode may be gone, or be a copy that another client
 * made: then the lock is lost.
 */
#include "recipes/lock/states.h"

static bool wants_to_verify(const struct evzk_lock *l)
{
    return l->m.in_doubt || l->watch_anew || evzk__lock_wants_own_watch(l);
}

static void grant(struct evzk_lock *l)
{
    l->reported = REPORTED_GRANTED;
    evzk__lock_stop_revoking(l);
    evzk__machine_no_deadline(&l->m);
    evzk__lock_tell(l, EVZK_LOCK_GRANTED, EVZK_OK);
}

/* Entered again after every doubt. */
void evzk__lock_hold(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool first = !evzk__lock_granted(l);

    if (l->m.in_doubt || l->watch_anew || (first && wants_to_verify(l)))
        evzk__machine_move(m, VERIFYING);
    if (first)
        grant(l);
}

int evzk__lock_go_on(struct evzk_lock *l)
{
    return evzk__machine_move(&l->m, wants_to_verify(l) ? VERIFYING : HELD);
}

void evzk__lock_own_there(struct evzk_lock *l, const struct evzk__first *stat)
{
    if (l->given)
        l->given->own_was_there = !l->own_hidden;
    if (!l->m.stopping && evzk__machine_end_doubt(&l->m))
        evzk__lock_tell(l, EVZK_LOCK_RESUMED, EVZK_OK);
    if (!l->own_hidden && !l->m.stopping)
        evzk__lock_hear(l, stat);
}

int evzk__lock_own_not_there(struct evzk_lock *l, enum evzk__own own, int rc)
{
    if (own == EVZK__OWN_GONE)
        return evzk__lock_break(l);
    return own == EVZK__OWN_HIDDEN ? evzk__machine_again(&l->m)
                                   : evzk__lock_lose(l, rc);
}

bool evzk__lock_see_own(struct evzk_lock *l, const struct evzk__reply *reply,
                        int *rc)
{
    enum evzk__own own = evzk__lock_verify(l, reply->rc, &reply->first);

    *rc = EVZK_OK;
    if (own == EVZK__OWN_THERE)
        evzk__lock_own_there(l, &reply->first);
    else
        *rc = evzk__lock_own_not_there(l, own, reply->rc);
    return own == EVZK__OWN_THERE && !l->m.stopping;
}

int evzk__lock_doubt(struct evzk_lock *l, const struct evzk__event *e)
{
    if (l->m.stopping)
        return EVZK_OK; /* Leaving: doubt is no news any more. */
    if (e->type == EVZK__EV_SUSPENDED)
        evzk__lock_suspend(l, e->first);
    else if (e->type == EVZK__EV_LEASE_END)
        return evzk__lock_lose(l, EVZK_ERR_LEASE);
    return EVZK_OK;
}

int evzk__lock_still_held(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_DELETED)
        return evzk__lock_break(lock_of(m));
    if (e->type == EVZK__EV_CHANGED || e->type == EVZK__EV_LINGERED)
        return wants_to_verify(lock_of(m)) ? evzk__machine_move(m, VERIFYING)
                                           : EVZK_OK;
    return evzk__lock_doubt(lock_of(m), e);
}

void evzk__lock_verify_held(struct evzk__machine *m)
{
    lock_of(m)->watch_anew = false;
    evzk__lock_read_own(m);
}

int evzk__lock_verified(struct evzk__machine *m, const struct evzk__event *e,
                        int held)
{
    struct evzk_lock *l = lock_of(m);
    int rc;

    switch (e->type) {
    case EVZK__EV_REPLY:
        if (!evzk__lock_see_own(l, e->reply, &rc) || l->m.in_doubt)
            return rc;
        return evzk__machine_move(m, held);
    case EVZK__EV_DELETED:
        return evzk__lock_break(l);
    case EVZK__EV_CHANGED:
    case EVZK__EV_LINGERED:
        return evzk__machine_again(m);
    case EVZK__EV_USER:
        break;
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        return evzk__lock_doubt(l, e);
    }
    return EVZK_OK;
}

int evzk__lock_checked_for(struct evzk__machine *m, const struct evzk__event *e,
                           int next)
{
    int rc;

    if (e->type != EVZK__EV_REPLY)
        return evzk__lock_doubt(lock_of(m), e);
    return evzk__lock_see_own(lock_of(m), e->reply, &rc)
               ? evzk__machine_move(m, next)
               : rc;
}
