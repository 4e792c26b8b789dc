/* How a lock is held: in doubt, out of it again, or lost.
 *
 * Its znode is read when there is a doubt whether that is there.
 */
#include "recipes/lock/states.h"

/* Entered again after every doubt, to see our own znode once more. */
void evzk__lock_hold(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (l->suspended || l->unseen || l->reread || l->anew ||
        evzk__lock_wants_own_watch(l))
        evzk__lock_read_own(m);
    l->anew = false;
    if (l->granted)
        return;
    l->granted = true;
    evzk__lock_calm(l);
    evzk__machine_no_deadline(m);
    evzk__lock_tell(l, EVZK_LOCK_GRANTED, EVZK_OK);
}

static int stay_alone(struct evzk_lock *l)
{
    evzk__lock_take_back(l);
    l->reread = true; /* Its znode is to be seen, before all. */
    evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, l->given->refused);
    return l->m.stopping ? EVZK_OK : evzk__machine_again(&l->m);
}

/* It is there, and ours: so much for every doubt. */
static int still_there(struct evzk_lock *l, const struct evzk__first *stat)
{
    l->unsure = false;
    if (l->given)
        l->given->watched = !l->blind;
    if (l->unseen) {
        l->unseen = false;
        evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, EVZK_OK);
    }
    if (l->suspended && !l->m.stopping && evzk__machine_certain(&l->m)) {
        l->suspended = false;
        evzk__lock_tell(l, EVZK_LOCK_RESUMED, EVZK_OK);
    }
    if (!l->blind && !l->m.stopping)
        evzk__lock_hear(l, stat);
    if (l->reread && l->asked) {
        l->given->checked = true;
        evzk__machine_ask(&l->m);
    }
    l->reread = false;
    return EVZK_OK;
}

static int seen_again(struct evzk_lock *l, const struct evzk__reply *reply)
{
    switch (evzk__lock_verify(l, reply->rc, &reply->first)) {
    case EVZK__OWN_THERE:
        return still_there(l, &reply->first);
    case EVZK__OWN_GONE:
        return l->unsure ? stay_alone(l) : evzk__lock_break(l);
    case EVZK__OWN_HIDDEN:
        return evzk__machine_again(&l->m);
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__lock_lose(l, reply->rc);
}

/* What deletes a znode on the word of its own being there is sure of that: a
 * downgrade, and an announcement in the place of another. */
static int do_asked(struct evzk_lock *l)
{
    bool deletes = !l->stands || l->replaces;

    if (!l->asked || l->swapped)
        return EVZK_OK;
    if (deletes && !l->given->checked && !evzk__lock_watches_own(l)) {
        l->reread = true;
        return evzk__machine_again(&l->m);
    }
    l->given->checked = false;
    return evzk__machine_move(&l->m, l->stands ? ANNOUNCING : SWAPPING);
}

int evzk__lock_still_held(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    switch (e->type) {
    case EVZK__EV_REPLY:
        return seen_again(l, e->reply);
    case EVZK__EV_DELETED:
        return evzk__lock_break(l);
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
        return evzk__machine_again(m);
    case EVZK__EV_ASKED: /* Or what it asked of others has ended. */
        return do_asked(l);
    case EVZK__EV_SUSPENDED:
        evzk__lock_suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return evzk__lock_lose(l, EVZK_ERR_LEASE);
    }
    return EVZK_OK;
}
