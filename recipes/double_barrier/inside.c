/* A participant that is inside: it comes into doubt and out again, or loses its
 * place; or its user wants to leave.
 *
 *   CONFIRMING --> INSIDE <--> VERIFYING
 *
 * CONFIRMING and VERIFYING look at the own znode: before ENTERED is told, where
 * the session is in doubt; and after a doubt, or when a watch is missing.  They
 * wait until the session is certain again.
 *
 * How it can fail.  The own znode may be gone, or be a copy that another client
 * made: then the place is lost.  Not so before ENTERED was told: then the
 * participant comes anew.
 */
#include "recipes/double_barrier/double_barrier_internal.h"

#include <string.h>

void evzk__double_barrier_stay_inside(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (m->in_doubt || evzk__watch_missing(m, (enum evzk__which)ON_OWN)) {
        evzk__machine_move(m, VERIFYING);
        return;
    }
    if (d->reported != REPORTED_NOTHING)
        return;
    evzk__machine_no_deadline(m);
    d->reported = REPORTED_ENTERED;
    evzk__double_barrier_tell(d, EVZK_DOUBLE_BARRIER_ENTERED, EVZK_OK);
}

/* The first one of the round stays until all others have gone; each other one
 * goes at once, and waits for the first one. */
static int leave(struct evzk_double_barrier *d)
{
    if (strcmp(d->round.first, d->make.name) == 0)
        return evzk__machine_move(&d->m, CHOOSING);
    evzk__double_barrier_aim(d, d->round.first);
    return evzk__machine_move(&d->m, FOLLOWING);
}

static int doubt(struct evzk_double_barrier *d, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_SUSPENDED && e->first)
        evzk__double_barrier_tell(d, EVZK_DOUBLE_BARRIER_SUSPENDED, EVZK_OK);
    if (e->type == EVZK__EV_LEASE_END && d->reported == REPORTED_ENTERED) {
        evzk__machine_stop(&d->m, EVZK_ERR_LEASE);
        evzk__double_barrier_end_early(d, EVZK_ERR_LEASE);
    }
    return EVZK_OK;
}

static int lose(struct evzk_double_barrier *d)
{
    d->make.may_stand = false;
    return evzk__machine_finish(&d->m, EVZK_ERR_NODEGONE);
}

int evzk__double_barrier_still_inside(struct evzk__machine *m,
                                      const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (e->type == EVZK__EV_USER)
        return leave(d);
    if (e->type == EVZK__EV_DELETED || e->type == EVZK__EV_CHANGED) {
        if (e->which != (enum evzk__which)ON_OWN)
            return EVZK_OK; /* Of the way in. */
        return e->type == EVZK__EV_DELETED ? lose(d)
                                           : evzk__machine_move(m, VERIFYING);
    }
    return doubt(d, e);
}

void evzk__double_barrier_verify(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    d->step[0] = (struct evzk__step){.verb = EVZK__STEP_GET,
                                     .name = d->make.name,
                                     .watch = EVZK__WITH(ON_OWN)};
    evzk__ask(m, d->step, 1, EVZK__SOON);
}

/* Is the own znode there?  `gone` is called if not. */
static int verify(struct evzk_double_barrier *d,
                  const struct evzk__reply *reply,
                  int (*gone)(struct evzk_double_barrier *d))
{
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (reply->rc == EVZK_ERR_NONODE ||
        !evzk__double_barrier_owns(d, &reply->res->stat))
        return gone(d);
    d->m.place.own_verified = true;
    if (!evzk__machine_certain(&d->m))
        return EVZK_OK; /* The core enters this state again. */
    if (evzk__machine_end_doubt(&d->m))
        evzk__double_barrier_tell(d, EVZK_DOUBLE_BARRIER_RESUMED, EVZK_OK);
    return d->m.stopping ? EVZK_OK : evzk__machine_move(&d->m, INSIDE);
}

/* Both states: true, the event is an answer, or the own znode's. */
static bool hears_own(struct evzk__machine *m, const struct evzk__event *e,
                      int (*gone)(struct evzk_double_barrier *d), int *rc)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    bool own = e->which == (enum evzk__which)ON_OWN;

    *rc = EVZK_OK;
    if (e->type == EVZK__EV_REPLY)
        *rc = verify(d, e->reply, gone);
    else if (e->type == EVZK__EV_DELETED && own)
        *rc = gone(d);
    else if (e->type == EVZK__EV_CHANGED && own)
        *rc = evzk__machine_again(m);
    else
        return e->type == EVZK__EV_DELETED || e->type == EVZK__EV_CHANGED;
    return true;
}

int evzk__double_barrier_confirmed(struct evzk__machine *m,
                                   const struct evzk__event *e)
{
    int rc;

    hears_own(m, e, evzk__double_barrier_rejoin, &rc);
    return rc; /* Nothing was told yet that a doubt could change. */
}

int evzk__double_barrier_verified(struct evzk__machine *m,
                                  const struct evzk__event *e)
{
    int rc;

    return hears_own(m, e, lose, &rc) ? rc
                                      : evzk__double_barrier_still_inside(m, e);
}
