/* Whether the znode under a lock's name is the lock's own.
 *
 * A name proves nothing: while a process was cut off, an operator may have
 * deleted its znode and put back a copy of the same name.  So owner and czxid
 * are compared.  After every lost connection, and after every event about
 * another contender's znode, a lock reads its own znode before it is granted,
 * resumed or downgraded, before its leader announces itself, and before it
 * deletes the znode.  (An event about another's znode says nothing of one's
 * own: the events of one transaction come one by one, and may come apart.)
 *
 *   FORGETTING      takes a watch off that was set on another's znode
 *   CHECKING        before DELETING
 *   CHECKING_LEADER the same, of the znode that says who leads
 *   CHECKING_SWAP   before SWAPPING is tried once more
 *   CONFIRMING      before all else: see lock/wait.c
 *
 * How it can fail.  A znode that may not be read, not even by its owner, is
 * looked at by exists, which takes no permission and sets no watch.  Between
 * the check and the delete an operator can still put a copy there: a delete
 * names a znode, and cannot name its czxid.
 */
#include "recipes/lock/states.h"

/* The czxid of one that was resolved by its GUID, or swapped, is not known yet:
 * the name is used for one attempt, so the owner is enough. */
static bool is_own(struct evzk_lock *l, const struct evzk__first *stat)
{
    uint64_t *czxid = l->swapped ? &l->given->czxid : &l->token;

    if (!stat->ours)
        return false;
    if (*czxid == 0)
        *czxid = (uint64_t)stat->czxid;
    return (uint64_t)stat->czxid == *czxid;
}

enum evzk__own evzk__lock_verify(struct evzk_lock *l, int rc,
                                 const struct evzk__first *stat)
{
    bool looked = l->m.req.op == EVZK__LOOK;

    if (rc == EVZK_ERR_NOAUTH && !looked) {
        l->blind = true;
        return EVZK__OWN_HIDDEN;
    }
    if (rc == EVZK_ERR_NONODE || (rc == EVZK_OK && !is_own(l, stat)))
        return EVZK__OWN_GONE;
    if (rc != EVZK_OK)
        return EVZK__OWN_UNKNOWN;
    if (!looked)
        l->blind = false;
    l->m.own_verified = true;
    return EVZK__OWN_THERE;
}

bool evzk__lock_watches_own(const struct evzk_lock *l)
{
    return l->m.own_verified && l->m.own_watch.armed &&
           !evzk__watch_fires(&l->m, EVZK__OWN);
}

void evzk__lock_read_own(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (l->given)
        l->given->watched = false;
    if (l->blind)
        evzk__look(m, l->own);
    else
        evzk__watch(m, l->own, l->watch_own, NULL);
}

void evzk__lock_verify_before(struct evzk__machine *m,
                              const struct evzk__stat *stat)
{
    const struct evzk_lock *before;

    if (!m->before)
        return;
    before = lock_of(m->before);
    if (stat->owner == m->s->id &&
        (before->swapped || (uint64_t)stat->czxid == before->token)) {
        evzk__place_seen(m);
        return;
    }
    m->before->own_verified = false;
    evzk__place_unfollow(m); /* What stands there is another's. */
}

/* The watch that came with the read stands on another's znode: it goes. */
void evzk__lock_forget_own(struct evzk__machine *m) { evzk__unwatch_own(m); }

int evzk__lock_forgotten(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return m->stopping ? evzk__machine_finish(m, m->rc)
                       : evzk__machine_move(m, CREATING);
}

void evzk__lock_check(struct evzk__machine *m)
{
    evzk__look(m, lock_of(m)->own);
}

/* The other name of one that may have been swapped, or not. */
bool evzk__lock_other_name(struct evzk_lock *l)
{
    if (l->unsure && l->swapped)
        evzk__lock_take_back(l);
    else if (l->sent && !l->swapped)
        evzk__lock_take_swap(l, 0);
    else
        return false;
    return true;
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
    l->given->leader_on = m->conn;
    return evzk__machine_move(m, DELETING);
}

/* The old znode is there: the swap was not done.  Else the new one may be. */
static int find_swapped(struct evzk_lock *l, const struct evzk__reply *reply)
{
    switch (evzk__lock_verify(l, reply->rc, &reply->first)) {
    case EVZK__OWN_THERE:
        return evzk__machine_move(&l->m, l->m.stopping ? DELETING : SWAPPING);
    case EVZK__OWN_GONE:
        evzk__lock_take_swap(l, 0);
        l->unsure = false; /* Nothing is left to go back to. */
        l->unseen = true;
        return evzk__machine_move(&l->m, l->m.stopping ? DELETING : HELD);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_give_up(&l->m, reply->rc, DELETING);
}

int evzk__lock_checked_swap(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return find_swapped(l, e->reply);
    case EVZK__EV_SUSPENDED:
        evzk__lock_suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return evzk__lock_lose(l, EVZK_ERR_LEASE);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
    case EVZK__EV_ASKED:
        break;
    }
    return EVZK_OK;
}
