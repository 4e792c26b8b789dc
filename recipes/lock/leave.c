/* How a lock leaves: its znode is deleted, and in an election the leader's with
 * it; what another has put in its place stays.
 *
 *   CHECKING        before DELETING: is the znode its own?
 *   CHECKING_LEADER the same, of the znode that says who leads
 *   SETTLING_LEADER first, when the create of that was not answered
 *
 * How it can fail.  Between the check and the delete an operator can still put
 * a copy there: a delete names a znode, and cannot name its czxid.
 */
#include "recipes/lock/states.h"

/* Of its own znode, as it resigns.  The answer that set the watch may have come
 * when it was asked to already: then nobody has looked at it. */
static bool is_sure(const struct evzk_lock *l)
{
    return l->given->checked ||
           (l->given->watched && evzk__lock_watches_own(l));
}

void evzk__lock_drop(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    evzk__lock_calm(l);
    if (l->said && !is_sure(l))
        m->place.own_verified = false; /* Another may lead by now. */
    if (l->said && l->given->leader_on != m->seen.conn)
        evzk__machine_move(m, l->given->leader_sent ? SETTLING_LEADER
                                                    : CHECKING_LEADER);
    else if (!m->place.own_verified)
        evzk__machine_move(m, CHECKING);
    else
        evzk__delete(m, l->own, l->said ? EVZK__LEADER : NULL);
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
            l->given->checked = true;
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

/* A delete that must fail: its answer comes behind the create that was lost. */
void evzk__lock_settle_leader(struct evzk__machine *m)
{
    evzk__settle_list(m, "no-" EVZK__LEADER);
}

int evzk__lock_settled_leader(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    (void)e;
    lock_of(m)->given->leader_sent = false;
    return evzk__machine_move(m, CHECKING_LEADER);
}

void evzk__lock_check_leader(struct evzk__machine *m)
{
    evzk__look(m, EVZK__LEADER);
}

/* A leader znode that is another's stays, and so does one of which nothing is
 * known: the end of the session takes it. */
int evzk__lock_checked_leader(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    const struct evzk__first *stat = &e->reply->first;

    l->said = e->reply->rc == EVZK_OK && stat->ours &&
              (!l->given->leader || l->given->leader == stat->czxid);
    l->given->leader_on = m->seen.conn;
    return evzk__machine_move(m, DELETING);
}

void evzk__lock_end(struct evzk__machine *m)
{
    evzk__lock_calm(lock_of(m));
    evzk__lock_tell_end(lock_of(m), m->rc);
}
