/* Of a patient lock, as that of a member of shards: who is before it, and what
 * that one may not keep it from.
 *
 * Any lock fails when it may not read the directory, or the znode before its
 * own: it could wait for ever, and its caller is to know.  A patient one waits
 * in its place, says so, and looks again when it is asked to
 * (evzk__lock_try_again()): an ACL that was set by mistake costs it nothing
 * when it is set right.  And it says whether any session owns the znode before
 * its own.  One that nobody owns never goes by itself.
 *
 * How it can fail.  Where there is no watch, it does not hear that the one
 * before it has gone, until it is asked to look again.
 */
#include "recipes/lock/states.h"

#include "lib/base/mem.h"

static int tell(struct evzk_lock *l, int rc)
{
    evzk__lock_tell(l, (evzk_lock_event)LOCK_BEHIND, rc);
    return EVZK_OK;
}

/* In its place, behind nobody knows whom. */
int evzk__lock_list_denied(struct evzk_lock *l)
{
    evzk__free(l->pred);
    l->pred = NULL;
    l->unowned = false;
    evzk__machine_move(&l->m, WATCHING);
    return tell(l, EVZK_ERR_NOAUTH);
}

/* The watch on its end is set, or cannot be had.  The list of what is in it, by
 * which it was set, does not say whose it is. */
int evzk__lock_ask_whose(struct evzk_lock *l, int rc)
{
    if (rc != EVZK_OK && rc != EVZK_ERR_NOAUTH)
        return rc;
    l->barred = rc != EVZK_OK;
    l->looks = true;
    return evzk__machine_again(&l->m);
}

/* A watch that went with its connection comes first. */
bool evzk__lock_asks_whose(const struct evzk_lock *l)
{
    return l->looks && l->pred && (l->barred || l->m.place.pred_watch.armed);
}

int evzk__lock_told_whose(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool barred = l->barred;

    l->looks = l->barred = false;
    if (reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(&l->m, LISTING);
    if (reply->rc != EVZK_OK)
        return reply->rc;
    l->unowned = reply->res->stat.owner == 0;
    tell(l, barred ? EVZK_ERR_NOAUTH : EVZK_OK);
    if (!l->m.stopping && (l->anew || evzk__lock_wants_own_watch(l)))
        return evzk__machine_again(&l->m); /* This could not be read before. */
    return EVZK_OK;
}

/* Also where there is a watch: it may have gone without a word. */
void evzk__lock_try_again(struct evzk_lock *l)
{
    l->anew = true;
    evzk__machine_fired(&l->m, EVZK__PRED, EVZK__CHANGED);
}
