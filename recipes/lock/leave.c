/* How a lock leaves: it deletes its znode, but not a copy that another client
 * has put in its place.
 *
 *   DELETING --> ENDED
 *    |    ^
 *    v    |
 *   CHECKING    is the znode the lock's own?
 *    |
 *    `--> RESOLVING    it was a copy, and nobody knows whether another stands
 *
 * If the servers refuse, the lock ends with their error, and the session goes
 * on deleting what may stand: lib/machine/left_overs.c.
 *
 * How it can fail.  Between the check and the delete an operator can still put
 * a copy there: a delete names a znode, and cannot name its czxid.
 */
#include "recipes/lock/states.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* Its own znode is gone.  If nobody knows what became of its way into the
 * queue, the znode there may stand. */
static int gone(struct evzk_lock *l)
{
    int unknown = l->given ? l->given->entry_rc : EVZK_OK;

    l->may_stand = unknown != EVZK_OK;
    return evzk__machine_finish(&l->m, l->may_stand ? unknown : l->m.rc);
}

int evzk__lock_dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_NONODE && evzk__lock_other_name(l))
        return evzk__machine_again(m);
    if (rc == EVZK_ERR_NONODE) {
        evzk__own_gone(m);
        return gone(l);
    }
    if (rc != EVZK_OK)
        return evzk__machine_finish(m, rc);
    l->may_stand = false;
    return evzk__machine_finish(m, m->rc);
}

/* Of a create whose outcome was never found out, the znode may have been a
 * copy: see evzk__lock_adopted().  Then another znode with its GUID is looked
 * for. */
static int checked_gone(struct evzk_lock *l)
{
    if (evzk__lock_other_name(l))
        return evzk__machine_again(&l->m);
    evzk__own_gone(&l->m);
    if (l->token == 0)
        return evzk__machine_move(&l->m, RESOLVING);
    return gone(l);
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
        return checked_gone(l);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_finish(m, e->reply->rc);
}

void evzk__lock_end(struct evzk__machine *m)
{
    evzk__lock_stop_revoking(lock_of(m));
    if (evzk__machine_outlives(m))
        lock_of(m)->may_stand = false;
    evzk__lock_tell_end(lock_of(m), m->rc);
}

size_t evzk__lock_prefix(const struct evzk_lock *l, const char *name)
{
    struct evzk__contender c;

    if (!evzk__contender_parse(name, evzk__lock_marks_of(l), &c))
        return strlen(name);
    return strlen(name) - (size_t)snprintf(NULL, 0, "%010" PRId32, c.seq);
}

/* The leader znode goes first, while the candidate's own znode keeps the next
 * one from making its own; then the znode of either name. */
bool evzk__lock_left(struct evzk__machine *m, unsigned i,
                     struct evzk__left *out)
{
    static char leader[] = EVZK__LEADER;
    struct evzk_lock *l = lock_of(m);
    const struct given *g = l->given;

    switch (i) {
    case 0:
        out->name = g && g->leader.is != LEADER_NONE ? leader : NULL;
        out->czxid = g ? g->leader.czxid : 0;
        break;
    case 1:
        out->name = l->own;
        out->czxid =
            evzk__lock_swapped(l) ? (int64_t)g->czxid : (int64_t)l->token;
        out->prefix = (uint32_t)evzk__lock_prefix(l, l->own);
        break;
    case 2:
        out->name = g && g->name[0] ? l->given->name : NULL;
        out->prefix = g ? (uint32_t)evzk__lock_prefix(l, g->name) : 0;
        break;
    default:
        break;
    }
    return l->may_stand && i <= 2;
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
