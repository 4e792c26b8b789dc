/* A patient lock, as a member of shards has: it goes on waiting where another
 * lock fails.
 *
 * Another lock fails when it may not read the directory, or the znode before
 * its own: it could wait for ever, and its caller must know.  A patient lock
 * keeps its place, says so, and looks again when it is asked to
 * (evzk__lock_try_again()): after a wrong ACL was corrected, it goes on in its
 * place.  It also tells whether any session owns the znode before its own: a
 * znode without an owner never goes by itself.
 *
 * How it can fail.  Without a watch, the lock does not hear that the contender
 * before it has gone, until it is asked to look again.
 */
#include "recipes/lock/states.h"

#include "lib/base/mem.h"

static int tell(struct evzk_lock *l, int rc)
{
    evzk__lock_tell(l, (evzk_lock_event)LOCK_BEHIND, rc);
    return EVZK_OK;
}

/* Keeps its place; the contender before it is not known. */
int evzk__lock_list_denied(struct evzk_lock *l)
{
    evzk__free(l->pred);
    l->pred = NULL;
    l->pred_unowned = false;
    evzk__machine_move(&l->m, WATCHING);
    return tell(l, EVZK_ERR_NOAUTH);
}

/* The watch on the end of the znode before is set, or may not be set.  It was
 * set by a listing of that znode, which does not show the owner. */
int evzk__lock_ask_whose(struct evzk_lock *l, int rc)
{
    if (rc != EVZK_OK && rc != EVZK_ERR_NOAUTH)
        return rc;
    l->whose = rc == EVZK_OK ? WHOSE_ASKED : WHOSE_BARRED;
    return evzk__machine_again(&l->m);
}

/* If the watch was lost with its connection, it is set first. */
bool evzk__lock_asks_whose(const struct evzk_lock *l)
{
    return l->pred && (l->whose == WHOSE_BARRED ||
                       (l->whose == WHOSE_ASKED &&
                        evzk__watch_armed(&l->m.place.pred_watch)));
}

int evzk__lock_told_whose(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool barred = l->whose == WHOSE_BARRED;

    l->whose = WHOSE_KNOWN;
    if (reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(&l->m, LISTING);
    if (reply->rc != EVZK_OK)
        return reply->rc;
    l->pred_unowned = reply->res->stat.owner == 0;
    tell(l, barred ? EVZK_ERR_NOAUTH : EVZK_OK);
    if (!l->m.stopping && (l->watch_anew || (!evzk__lock_own_hidden(l) &&
                                             evzk__lock_wants_own_watch(l))))
        return evzk__machine_again(&l->m); /* Its turn now. */
    return EVZK_OK;
}

/* Also if there is a watch: the server may have dropped it silently. */
void evzk__lock_try_again(struct evzk_lock *l)
{
    l->watch_anew = true;
    evzk__machine_fired(&l->m, EVZK__PRED, EVZK__CHANGED);
}
