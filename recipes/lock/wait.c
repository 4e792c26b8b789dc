/* How a lock waits: which contender is before it, and what happens to that
 * contender's znode and to its own, until the lock is first.
 *
 * How it can fail.  The contender before the lock may have left from the middle
 * of the queue, or may have replaced its znode.  So a lock that wakes lists
 * again, unless it knows that no other contender was before it.
 */
#include "recipes/lock/states.h"

#include <string.h>

#include "lib/base/foreign.h"
#include "lib/base/mem.h"
#include "recipes/parts/numbers.h"

static const struct evzk__waiting in_queue = {LISTING, WATCHING};

/* A listing shows only names.  The znode of the lock's name is its own if
 * nothing was made or deleted in the directory since it was made, or if it is
 * watched. */
static bool is_own_listed(const struct evzk_lock *l,
                          const struct evzk__stat *dir)
{
    return evzk__lock_watches_own(l) ||
           (l->m.place.own_verified && (uint64_t)dir->pzxid == l->token);
}

/* No contender is in the lock's way; `alone`: none is before it at all. */
static int be_first(struct evzk_lock *l, bool alone,
                    const struct evzk__stat *dir)
{
    bool sure = evzk__machine_certain(&l->m) && is_own_listed(l, dir);

    evzk__lead(&l->m);
    l->m.place.rank = alone ? EVZK__LEADS : EVZK__BEHIND;
    return evzk__machine_move(&l->m, sure ? HELD : CONFIRMING);
}

/* A server told the end of another contender's znode.  The same transaction may
 * have deleted the lock's own znode.  If that is watched, the event of its end
 * comes before the answer to the next request; if not, it must be read again.
 */
void evzk__lock_hear_of_another(struct evzk_lock *l)
{
    l->m.place.own_verified =
        l->m.place.own_verified && evzk__watch_armed(&l->m.place.own_watch);
}

int evzk__lock_await(struct evzk_lock *l, const struct evzk__waiting *in,
                     const char *pred, struct evzk__machine *ours)
{
    char *copy;

    if (evzk__lock_is(l, LOCK_TRY_ONCE))
        return evzk__machine_give_up(&l->m, EVZK_ERR_BUSY, DELETING);
    copy = evzk__strdup(pred);
    if (!copy) {
        evzk__machine_pause(&l->m);
        return evzk__machine_move(&l->m, in->list);
    }
    l->unowned_said = l->unowned_said && l->pred && strcmp(l->pred, pred) == 0;
    evzk__free(l->pred);
    l->pred = copy;
    l->whose = evzk__lock_is(l, LOCK_PATIENT) ? WHOSE_ASKED : WHOSE_KNOWN;
    l->pred_unowned = false;
    evzk__place_follow(&l->m, ours);
    return evzk__machine_move(&l->m, in->watch);
}

/* A contender of another library that would not wait for ours: both might hold.
 */
static int refuse(struct evzk_lock *l, const char *name)
{
    struct evzk__foreign f;
    const char *library =
        evzk__foreign_parse(name, &f) ? f.library : evzk__foreign_maker(name);

    evzk__log(evzk__machine_session(&l->m), EVZK_LOG_WARN,
              "refused: %s/%s is a contender of another library, %s",
              l->m.place.dir->path, name, library ? library : "evzk");
    return evzk__machine_give_up(&l->m, EVZK_ERR_FOREIGN, DELETING);
}

bool evzk__lock_read_order(struct evzk_lock *l, const struct evzk__waiting *in,
                           const struct evzk__result *list,
                           struct evzk__order *order, int *rc)
{
    evzk__order(order, &list->names, evzk__lock_marks_of(l), l->own);
    if (l->m.place.where != EVZK__IN_QUEUE ||
        evzk__numbers_used_up(l->m.place.seq, &list->stat))
        *rc = evzk__machine_give_up(&l->m, EVZK_ERR_SEQUENCE, DELETING);
    else if (order->foreign && !evzk__lock_is(l, LOCK_TOLERANT))
        *rc = refuse(l, order->foreign);
    else if (!order->found)
        *rc = evzk__lock_lose_place(l);
    else if (order->pred && !evzk__lock_is(l, LOCK_TRY_ONCE) &&
             evzk__lock_look_round(l, list->names.ordered) != EVZK_OK) {
        evzk__machine_pause(&l->m);
        *rc = evzk__machine_move(&l->m, in->list);
    } else
        return true;
    return false;
}

/* Which contender is before the lock? */
static int look_at(struct evzk_lock *l, const struct evzk__result *list)
{
    struct evzk__order order;
    struct evzk__machine *ours;
    int rc;

    if (!evzk__lock_read_order(l, &in_queue, list, &order, &rc))
        return rc;
    if (!order.pred)
        return be_first(l, order.before == 0, &list->stat);
    l->position = order.next ? POSITION_SECOND : POSITION_KNOWN;
    ours = l->mode == EVZK_LOCK_READ ? NULL : evzk__place_before(&l->m);
    /* A reader is not told by ours that it leads: other readers may be before
     * it.  A leading contender is the only one before us; if not, znodes were
     * made by hand, and only a listing can say which contender comes next. */
    if (!ours || strcmp(ours->place.own_watch.name, order.pred) != 0 ||
        (ours->place.rank != EVZK__BEHIND && order.before > 1))
        ours = NULL;
    if (ours && ours->place.rank == EVZK__PASSED)
        return be_first(l, true, &list->stat);
    return evzk__lock_await(l, &in_queue, order.pred, ours);
}

/* A lock with a priority needs an by_order listing, also if it is the only lock
 * that looks. */
int evzk__lock_look_by(struct evzk_lock *l, const struct evzk__result *list,
                       int (*look)(struct evzk_lock *l,
                                   const struct evzk__result *list))
{
    struct evzk__result by_order = *list;
    struct evzk__ordered ordered = {0};
    int rc;

    if (list->names.ordered || !evzk__lock_urgent(l))
        return look(l, list);
    by_order.names.ordered = &ordered;
    rc = look(l, &by_order);
    evzk__ordered_free(&ordered);
    return rc;
}

int evzk__lock_look(struct evzk_lock *l, const struct evzk__result *list)
{
    return evzk__lock_look_by(l, list, look_at);
}

static bool bars(const struct evzk_lock *l, const char *name)
{
    struct evzk__contender a, b;

    return evzk__contender_parse(name, evzk__lock_marks_of(l), &a) &&
           evzk__contender_parse(l->own, evzk__lock_marks_of(l), &b) &&
           !(a.flags & EVZK__WAITS) && evzk__contender_bars(&a, &b);
}

/* No contender can be between ours and the next number, if the znode of ours
 * still exists when it is read.  The last numbers need a listing, and so does a
 * lock that may be first. */
int evzk__lock_look_around(struct evzk_lock *l)
{
    struct evzk__machine *ours = evzk__place_before(&l->m);

    if (!ours || ours->place.rank == EVZK__PASSED ||
        !bars(l, ours->place.own_watch.name) || ours->place.seq < 0 ||
        ours->place.seq >= INT32_MAX - 1 ||
        l->m.place.seq != ours->place.seq + 1)
        return evzk__machine_move(&l->m, LISTING);
    return evzk__lock_await(l, &in_queue, ours->place.own_watch.name,
                            l->mode == EVZK_LOCK_READ ? NULL : ours);
}

void evzk__lock_list(struct evzk__machine *m)
{
    evzk__unwatch_pred(m);
    evzk__list(m);
}

int evzk__lock_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_NONODE)
        return evzk__lock_lose_place(
            lock_of(m)); /* The directory and all in it. */
    if (e->reply->rc == EVZK_ERR_NOAUTH &&
        evzk__lock_is(lock_of(m), LOCK_PATIENT))
        return evzk__lock_list_denied(lock_of(m));
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    return evzk__lock_look(lock_of(m), e->reply->res);
}

/* Not by exists: its watch would stay on a path where no znode ever comes. */
void evzk__lock_watch(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool own = evzk__lock_wants_own_watch(l) || l->watch_anew;
    const char *pred = evzk__watch_armed(&m->place.pred_watch) && !l->watch_anew
                           ? NULL
                           : l->pred;

    if (evzk__lock_asks_whose(l)) {
        evzk__exists(m, l->pred);
        return;
    }
    if (pred && evzk__lock_is(l, LOCK_PATIENT))
        l->whose = WHOSE_ASKED; /* Also if the other half is asked again. */
    if (own || pred)
        evzk__watch(m, own ? l->own : NULL, own, pred);
}

bool evzk__lock_own_read(struct evzk_lock *l, const struct evzk__reply *reply,
                         enum evzk__heard *heard, int *rc)
{
    *heard = EVZK__HEARD_NOTHING;
    *rc = EVZK_OK;
    switch (evzk__lock_verify(l, reply->first_rc, &reply->first)) {
    case EVZK__OWN_THERE:
        *heard = evzk__lock_hear(l, &reply->first);
        return *heard != EVZK__HEARD_STOP;
    case EVZK__OWN_GONE:
        *rc = evzk__lock_lose_place(l);
        return false;
    case EVZK__OWN_HIDDEN:
        return true;
    case EVZK__OWN_UNKNOWN:
        break;
    }
    *rc = reply->first_rc;
    return false;
}

/* A copy that an operator has put there, say: it goes with no session. */
static void warn_of_unowned(struct evzk_lock *l, const struct evzk__stat *pred)
{
    if (pred->owner != 0 || l->unowned_said || !l->pred)
        return;
    l->unowned_said = true;
    evzk__log(evzk__machine_session(&l->m), EVZK_LOG_WARN,
              "waits behind %s/%s, which no session owns: until somebody "
              "deletes it",
              l->m.place.dir->path, l->pred);
}

static int read_both(struct evzk__machine *m, const struct evzk__reply *reply)
{
    enum evzk__heard heard;
    int rc;

    if (evzk__place_read_pred(&m->place)) /* Not before the answer. */
        lock_of(m)->watch_anew = false;
    if (evzk__place_read_own(&m->place) &&
        !evzk__lock_own_read(lock_of(m), reply, &heard, &rc))
        return rc;
    if (!evzk__place_read_pred(&m->place))
        return EVZK_OK;
    if (reply->rc == EVZK_OK) {
        evzk__lock_verify_before(m, &reply->res->stat);
        warn_of_unowned(lock_of(m), &reply->res->stat);
    }
    if (reply->rc == EVZK_ERR_NONODE) {
        m->place.rank = EVZK__BEHIND; /* Perhaps it was gone before. */
        evzk__lock_hear_of_another(lock_of(m));
        evzk__pred_gone(m); /* If it is one of ours, it is to know. */
        return evzk__machine_move(m, LISTING);
    }
    return evzk__lock_is(lock_of(m), LOCK_PATIENT)
               ? evzk__lock_ask_whose(lock_of(m), reply->rc)
               : reply->rc;
}

/* The contender of ours before this one begins to leave, and both znodes were
 * seen.  This lock relies on the watch on its znode, as a holder does. */
static int handed_over(struct evzk_lock *l)
{
    bool sure = evzk__machine_certain(&l->m) && l->m.place.own_verified &&
                evzk__place_guarded(&l->m);

    evzk__lead(&l->m);
    return evzk__machine_move(&l->m, sure ? HELD : CONFIRMING);
}

/* The contender before the lock may have left from the middle of the queue.
 * Not so if that contender was known to be first: no contender comes in before
 * us. */
static int moved_up(struct evzk_lock *l, bool by_ours)
{
    if (l->m.place.rank != EVZK__BEHIND)
        return handed_over(l);
    evzk__lock_hear_of_another(l);
    if (l->position != POSITION_SECOND || by_ours)
        return evzk__machine_move(&l->m, LISTING);
    evzk__lead(&l->m);
    return evzk__machine_move(&l->m, CONFIRMING);
}

int evzk__lock_watched(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return evzk__looked(m) ? evzk__lock_told_whose(lock_of(m), e->reply)
                               : read_both(m, e->reply);
    case EVZK__EV_CHANGED: /* A watch fires once: set it again. */
    case EVZK__EV_LINGERED:
        return lock_of(m)->pred ? evzk__machine_again(m)
                                : evzk__machine_move(m, LISTING);
    case EVZK__EV_DELETED:
        return e->which == EVZK__OWN ? evzk__lock_lose_place(lock_of(m))
                                     : moved_up(lock_of(m), e->by_ours);
    case EVZK__EV_USER: /* A revocation has ended. */
        return evzk__machine_move(m, LISTING);
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

static int confirm(struct evzk_lock *l, const struct evzk__reply *reply)
{
    switch (evzk__lock_verify(l, reply->rc, &reply->first)) {
    case EVZK__OWN_THERE:
        if (!l->own_hidden &&
            evzk__lock_hear(l, &reply->first) == EVZK__HEARD_STOP)
            return EVZK_OK;
        if (!evzk__machine_certain(&l->m))
            return EVZK_OK;
        evzk__machine_end_doubt(&l->m); /* Nothing was held in it. */
        return evzk__machine_move(&l->m, HELD);
    case EVZK__OWN_GONE:
        return evzk__lock_lose_place(l);
    case EVZK__OWN_HIDDEN:
        return evzk__machine_again(&l->m);
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return reply->rc;
}

/* First, but not sure that the session is alive, or that the own znode exists:
 * the core enters this state again as soon as the leader has confirmed the
 * session. */
int evzk__lock_confirmed(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return confirm(lock_of(m), e->reply);
    case EVZK__EV_DELETED:
        return evzk__lock_lose_place(lock_of(m));
    case EVZK__EV_CHANGED:
        return evzk__machine_again(m);
    case EVZK__EV_LINGERED:
    case EVZK__EV_USER:
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}
