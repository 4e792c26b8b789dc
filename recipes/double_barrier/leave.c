/* How a participant leaves: it is done when all of its round have gone.
 *
 *   FOLLOWING --> REMOVING --> AWAITING <--> LISTING_REST --> ENDED
 *       ^          ^    ^
 *       v          |    v
 *    CHOOSING -----'  CHECKING    is the znode under its name its own?
 *       ^
 *       v
 *    STAYING                      the lowest one, until it is alone
 *
 * The lowest one of the round keeps its znode, and waits for the highest; each
 * other one deletes its own, and waits for the lowest.  So each deletion wakes
 * the lowest one at most, until that is alone, and deletes its znode together
 * with `ready`: then all are awake, and have left.
 *
 * How it can fail.  When the first one crashes, all that wait for it wake: each
 * of them waits for the lowest one that is left then.  A session may end while
 * its participant waits for the others: then its znode is gone all the same,
 * and the wait goes on in another session.
 */
#include "recipes/double_barrier/double_barrier_internal.h"

#include <string.h>

void evzk__double_barrier_follow(struct evzk__machine *m)
{
    if (!evzk__double_barrier_watch_target(evzk__double_barrier_of(m)))
        evzk__machine_move(m, REMOVING);
}

/* The znode that is to be watched. */
static bool is_copy(const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY && evzk__double_barrier_is_copy(e->reply);
}

/* The next one is chosen without it. */
static int pass(struct evzk_double_barrier *d, char past[EVZK__NAME_MAX],
                int next)
{
    strcpy(past, d->target);
    return evzk__machine_move(&d->m, next);
}

int evzk__double_barrier_followed(struct evzk__machine *m,
                                  const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (is_copy(e))
        return pass(d, d->past_low, CHOOSING);
    if (e->reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, CHOOSING);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    d->looked = true;
    return evzk__machine_move(m, REMOVING);
}

/* The participants of its round that a listing shows; false: an error, *rc.  A
 * directory that was made anew shows none: numbers began anew with it, and it
 * was empty when it was deleted. */
static bool read_left(struct evzk_double_barrier *d,
                      const struct evzk__reply *reply,
                      struct evzk__round_left *left, int *rc)
{
    *left = (struct evzk__round_left){0};
    *rc = reply->rc;
    if (reply->rc == EVZK_OK && reply->res->stat.czxid == d->dir_czxid)
        *left = evzk__round_left(&d->round, d->past_low, d->past_high,
                                 &reply->res->names);
    return reply->rc == EVZK_OK || reply->rc == EVZK_ERR_NONODE;
}

int evzk__double_barrier_chosen(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    struct evzk__round_left left;
    int rc;

    if (!read_left(d, e->reply, &left, &rc))
        return rc;
    if (left.n == 0)
        return evzk__machine_finish(m, EVZK_OK);
    if (strcmp(left.lowest, d->make.name) != 0) {
        evzk__double_barrier_aim(d, left.lowest);
        return evzk__machine_move(m, FOLLOWING);
    }
    if (left.n > 1) {
        evzk__double_barrier_aim(d, left.highest);
        return evzk__machine_move(m, STAYING);
    }
    d->is_last = true;
    return evzk__machine_move(m, REMOVING);
}

void evzk__double_barrier_await(struct evzk__machine *m)
{
    evzk__double_barrier_watch_target(evzk__double_barrier_of(m));
}

/* Both kinds of waiting for another's end. */
static int other_ends(struct evzk__machine *m, const struct evzk__event *e,
                      int next)
{
    if (e->type == EVZK__EV_REPLY && e->reply->rc != EVZK_ERR_NONODE) {
        evzk__double_barrier_of(m)->looked = e->reply->rc == EVZK_OK;
        return e->reply->rc;
    }
    if (e->type != EVZK__EV_REPLY && e->which != (enum evzk__which)ON_OTHER)
        return EVZK_OK;
    return evzk__machine_move(m, next);
}

int evzk__double_barrier_stayed(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    return is_copy(e) ? pass(d, d->past_high, CHOOSING)
                      : other_ends(m, e, CHOOSING);
}

void evzk__double_barrier_check(struct evzk__machine *m)
{
    evzk__exists(m, evzk__double_barrier_of(m)->make.name);
}

static int own_gone(struct evzk_double_barrier *d)
{
    d->make.may_stand = false;
    if (d->m.stopping || d->is_last)
        return evzk__machine_finish(&d->m, d->m.stopping ? d->m.rc : EVZK_OK);
    return evzk__machine_move(&d->m, AWAITING);
}

int evzk__double_barrier_checked(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, e->reply->rc);
    if (e->reply->rc == EVZK_ERR_NONODE ||
        !evzk__double_barrier_owns(d, &e->reply->res->stat))
        return own_gone(d);
    m->place.own_verified = true;
    return evzk__machine_move(m, REMOVING);
}

/* While its own znode stands, `ready` is of its round: the two go together.  A
 * copy that another client has made is left alone. */
void evzk__double_barrier_remove(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (m->place.own_verified && !d->watch[ON_OWN - EVZK__PATH].deleted)
        evzk__delete(m, d->make.name, d->is_last ? EVZK__READY : NULL);
    else
        evzk__machine_move(m, CHECKING);
}

int evzk__double_barrier_removed(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, e->reply->rc);
    return own_gone(evzk__double_barrier_of(m));
}

int evzk__double_barrier_awaited(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    return is_copy(e) ? pass(d, d->past_low, LISTING_REST)
                      : other_ends(m, e, LISTING_REST);
}

int evzk__double_barrier_rest_listed(struct evzk__machine *m,
                                     const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    struct evzk__round_left left;
    int rc;

    if (!read_left(d, e->reply, &left, &rc))
        return rc;
    if (left.n == 0)
        return evzk__machine_finish(m, EVZK_OK);
    evzk__double_barrier_aim(d, left.lowest);
    return evzk__machine_move(m, AWAITING);
}
