/* How the one that is first in an election says that it leads: by a znode
 * `leader` beside its own, made in one transaction, which is done only while
 * its own znode is there.
 *
 *     check <own>
 *     create leader     (ephemeral: "<epoch> <own>", and what it says)
 *
 * So nobody says it that is not first.  One that is there already is of an
 * earlier leader, whose own znode was deleted by another, or of this one, made
 * before: it is replaced, in the same transaction.  It goes in one transaction
 * with the own znode: whoever comes next finds none.
 *
 * How it can fail.  Whether it was made may be unknown: then it is made again,
 * in its own place.  Who reads it is to look whether the znode that it names is
 * there: see observer.c.
 */
#include "recipes/lock/states.h"

/* Is its own znode still there?  Then it is tried once more. */
static int look_again(struct evzk_lock *l)
{
    l->reread = true;
    return evzk__machine_move(&l->m, l->leads ? LEADING : HELD);
}

void evzk__lock_announce(struct evzk__machine *m)
{
    static char leader[] = EVZK__LEADER; /* Nothing is added to it. */
    struct evzk_lock *l = lock_of(m);
    struct evzk__create_args args = evzk__lock_args(l);
    struct evzk__swap *swap = &l->given->swap;

    if (m->stopping) {
        evzk__machine_move(m, DELETING);
        return;
    }
    if (!m->place.own_verified) {
        look_again(l);
        return;
    }
    l->said = true;
    l->given->leader = 0; /* It will be another znode. */
    l->given->leader_sent = true;
    *swap = (struct evzk__swap){.own = l->own,
                                .old = l->replaces ? leader : NULL,
                                .created = leader,
                                .version = -1,
                                .data = l->given->said,
                                .len = l->given->said_len,
                                .acl = args.acl,
                                .acl_count = args.acl_count};
    evzk__swap(m, swap);
}

/* Refused, it is as ready as before. */
static int come_back(struct evzk_lock *l, int rc)
{
    l->asked = false;
    l->leads = l->leads || rc == EVZK_OK;
    evzk__machine_move(&l->m, l->leads ? LEADING : HELD);
    evzk__lock_tell(l, (evzk_lock_event)LOCK_ANNOUNCED, rc);
    return EVZK_OK;
}

static int note(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool was = l->replaces;
    int rc = reply->rc;

    l->given->leader = rc == EVZK_OK ? reply->first.czxid : 0;
    l->given->leader_sent = false;
    l->given->leader_on = rc == EVZK_OK ? l->m.seen.conn : -1;

    if (l->m.stopping)
        return evzk__machine_move(&l->m, DELETING);
    l->replaces = rc == EVZK_ERR_NODEEXISTS || rc == EVZK_OK;
    if (rc == EVZK_ERR_NODEEXISTS)
        return look_again(l); /* Another leads, or has led. */
    if (rc == EVZK_ERR_NONODE && was)
        return evzk__machine_again(&l->m); /* It has gone. */
    return rc == EVZK_ERR_NONODE ? evzk__lock_break(l) : come_back(l, rc);
}

int evzk__lock_announced(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return note(l, e->reply);
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
