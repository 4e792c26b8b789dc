/* How a candidate leaves: it deletes its own znode, and in the same transaction
 * the `leader` znode, if that is its own.
 *
 *   DELETING --> ENDED
 *    |   ^
 *    v   |
 *   CHECKING           does the own znode exist?  See lock/leave.c
 *   CHECKING_LEADER    is the leader znode its own?
 *   SETTLING_LEADER    comes first, if the create of `leader` was not answered
 *
 * How it can fail.  Between the check and the delete an operator can still put
 * a copy there: a delete names a znode, and cannot name its czxid.
 */
#include "recipes/lock/states.h"

/* Is the own znode known to exist, as the candidate resigns?  The reply that
 * set the watch may have come after the call to resign: then no reaction has
 * looked at it. */
static bool is_sure(const struct evzk_lock *l)
{
    return l->given->own_checked ||
           (l->given->own_was_there && evzk__lock_watches_own(l));
}

void evzk__election_drop(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    const struct leader_znode *leader = l->given ? &l->given->leader : NULL;

    l->may_stand = true;
    if (!leader || leader->is == LEADER_NONE) {
        evzk__lock_drop_with(m, NULL);
        return;
    }
    if (!is_sure(l))
        m->place.own_verified = false; /* There may be a new leader. */
    if (leader->seen_on != m->seen.connection_no)
        evzk__machine_move(m, leader->is == LEADER_UNKNOWN ? SETTLING_LEADER
                                                           : CHECKING_LEADER);
    else
        evzk__lock_drop_with(m, EVZK__LEADER);
}

/* A delete that must fail: when a server has looked at it, the lost create is
 * done, or never will be.  A delete that was refused unseen proves nothing. */
void evzk__election_settle_leader(struct evzk__machine *m)
{
    evzk__settle_list(m, "no-" EVZK__LEADER);
}

int evzk__election_settled_leader(struct evzk__machine *m,
                                  const struct evzk__event *e)
{
    if (e->reply->first_rc == EVZK_ERR_SERVER)
        return EVZK_ERR_SERVER;
    lock_of(m)->given->leader.is = LEADER_ANSWERED;
    return evzk__machine_move(m, CHECKING_LEADER);
}

void evzk__election_check_leader(struct evzk__machine *m)
{
    evzk__exists(m, EVZK__LEADER);
}

/* Another candidate's leader znode stays.  Where the servers refuse to say
 * whose it is, the session goes on asking: see evzk__lock_left(). */
int evzk__election_checked_leader(struct evzk__machine *m,
                                  const struct evzk__event *e)
{
    struct leader_znode *leader = &lock_of(m)->given->leader;
    const struct evzk__first *stat = &e->reply->first;

    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, e->reply->rc);
    if (e->reply->rc != EVZK_OK || !stat->ours ||
        (leader->czxid && leader->czxid != stat->czxid))
        leader->is = LEADER_NONE;
    leader->seen_on = m->seen.connection_no;
    return evzk__machine_move(m, DELETING);
}
