/* How a lock is held: in doubt and out of it, lost, and changed for one that
 * reads.
 *
 * How it can fail.  Whether the change was done may be unknown: the new name is
 * made once, and what is there now tells.
 */
#include "recipes/lock/states.h"

#include <string.h>

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

/* Reports the end now; what is left to do on the server goes on. */
void evzk__lock_end_early(struct evzk_lock *l, int rc)
{
    evzk__lock_tell_end(l, rc);
    l->told = true;
}

int evzk__lock_lose(struct evzk_lock *l, int rc)
{
    evzk__machine_stop(&l->m, rc);
    evzk__lock_end_early(l, rc);
    return EVZK_OK;
}

int evzk__lock_break(struct evzk_lock *l)
{
    evzk__own_gone(&l->m);
    return evzk__machine_finish(&l->m, EVZK_ERR_NODEGONE);
}

/* The old one is kept where the new one was. */
static void trade_names(struct evzk_lock *l)
{
    char old[OWN_MAX + EVZK__PRIORITY_MAX];

    strcpy(old, l->own);
    evzk__rename_own(&l->m, l->own, l->given->name, l->m.seq);
    strcpy(l->given->name, old);
}

/* It was not done: the old znode is still ours, or was broken. */
void evzk__lock_take_back(struct evzk_lock *l)
{
    trade_names(l);
    l->mode = EVZK_LOCK_WRITE;
    l->swapped = l->unsure = l->unseen = l->asked = l->sent = false;
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

void evzk__lock_swap(struct evzk_lock *l, bool numbered)
{
    struct evzk__create_args args = evzk__lock_args(l);
    struct evzk__swap *swap = &l->given->swap;

    swap->old = l->own;
    swap->created = l->given->name;
    swap->numbered = numbered;
    swap->version = l->blind ? -1 : l->seen;
    swap->data = args.data;
    swap->len = args.len;
    swap->acl = args.acl;
    swap->acl_count = args.acl_count;
    evzk__swap(&l->m, swap);
}

void evzk__lock_suspend(struct evzk_lock *l)
{
    l->blind = false; /* It may be allowed by now to read it. */
    if (l->given)
        l->given->checked = false;
    if (!l->suspended) {
        l->suspended = true;
        evzk__lock_tell(l, EVZK_LOCK_SUSPENDED, EVZK_OK);
    }
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

/* Again and again the same name, if need be: it is made once. */
void evzk__lock_become_reader(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (!m->own_verified) {
        evzk__machine_move(m, CHECKING_SWAP);
        return;
    }
    l->unsure = l->sent; /* What was sent before may have been done. */
    l->sent = true;
    evzk__lock_swap(l, false);
}

/* Others may still watch the old one, also some of ours. */
void evzk__lock_take_swap(struct evzk_lock *l, int64_t czxid)
{
    trade_names(l);
    l->mode = EVZK_LOCK_READ;
    l->seen = 0;
    l->given->czxid = (uint64_t)czxid;
    l->swapped = true;
    l->m.own_verified = czxid != 0;
}

/* No such znode: it was broken, or this was done before, and the answer lost.
 * What is there now tells; so it does when this is refused, and an answer was
 * lost before.  Another version: somebody has written to it, and that is to be
 * heard first. */
static int change(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool done = reply->rc == EVZK_OK, gone = reply->rc == EVZK_ERR_NONODE;

    l->reread = reply->rc == EVZK_ERR_BADVERSION;
    l->unsure = l->unsure && !done && !gone && !l->reread;
    if (done || gone || l->unsure)
        evzk__lock_take_swap(l, done ? reply->first.czxid : 0);
    l->given->refused = reply->rc;
    gone = gone || l->unsure;
    if (l->m.stopping)
        return evzk__machine_move(&l->m, DELETING);
    /* Not: refused, and it writes as before. */
    l->asked = done || gone || l->reread;
    l->sent = l->sent && l->asked;
    l->unseen = gone;
    evzk__machine_move(&l->m, HELD);
    if (!gone && !l->reread)
        evzk__lock_tell(l, EVZK_LOCK_DOWNGRADED, reply->rc);
    return EVZK_OK;
}

int evzk__lock_became_reader(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return change(l, e->reply);
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
