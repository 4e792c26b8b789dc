/* How a lock leaves: it deletes its znode, but not a copy that another client
 * has put in its place.
 *
 *   DELETING --> ENDED
 *    |    ^
 *    v    |
 *   CHECKING    is the znode the lock's own?
 *
 * How it can fail.  Between the check and the delete an operator can still put
 * a copy there: a delete names a znode, and cannot name its czxid.
 */
#include "recipes/lock/states.h"

#include "lib/base/mem.h"

void evzk__lock_drop_with(struct evzk__machine *m, const char *also)
{
    lock_of(m)->may_stand = true;
    if (m->place.own_verified)
        evzk__delete(m, lock_of(m)->own, also);
    else
        evzk__machine_move(m, CHECKING);
}

void evzk__lock_drop(struct evzk__machine *m)
{
    evzk__lock_stop_revoking(lock_of(m));
    evzk__lock_drop_with(m, NULL);
}

int evzk__lock_dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    bool gone = e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE;

    if (e->reply->rc == EVZK_ERR_NONODE && evzk__lock_other_name(lock_of(m)))
        return evzk__machine_again(m);
    if (e->reply->rc == EVZK_ERR_NONODE)
        evzk__own_gone(m);
    return evzk__machine_finish(m, gone ? m->rc : e->reply->rc);
}

int evzk__lock_checked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    switch (evzk__lock_verify(l, e->reply->rc, &e->reply->first)) {
    case EVZK__OWN_THERE:
        if (l->given)
            l->given->own_checked = true;
        return evzk__machine_move(m, DELETING);
    case EVZK__OWN_GONE:
        if (evzk__lock_other_name(l))
            return evzk__machine_again(m);
        evzk__own_gone(m);
        return evzk__machine_finish(m, m->rc);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_finish(m, e->reply->rc);
}

void evzk__lock_end(struct evzk__machine *m)
{
    evzk__lock_stop_revoking(lock_of(m));
    evzk__lock_tell_end(lock_of(m), m->rc);
}

void evzk__lock_on_deadline(struct evzk__machine *m)
{
    if (m->stopping && m->rc == EVZK_ERR_CANCELED)
        return; /* A release ends only when the znode is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    evzk__lock_end_early(lock_of(m), m->rc);
}

void evzk__lock_destroy(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    evzk__lock_stop_revoking(l);
    if (l->given) {
        evzk__acl_free(&l->given->acl);
        evzk__free(l->given->data);
        evzk__free(l->given->leader.text);
        evzk_lease_unref(l->given->lease);
    }
    evzk__free(l->given);
    evzk__free(l->pred);
    evzk__free(l);
}
