/* An attempt that has its lease: it comes into doubt and out again, or loses
 * the lease, or gives it back.
 *
 *   CONFIRMING --> HELD <--> VERIFYING
 *                   |
 *                   v
 *                  DELETING <--> CHECKING
 *
 * CONFIRMING and VERIFYING look at the own znode: before ACQUIRED is told,
 * where the session is in doubt; and after a doubt, or when a watch is missing.
 * They wait until the session is certain again.
 *
 * How it can fail.  The own znode may be gone, or be a copy that another client
 * made: then the lease is lost.  Not so before ACQUIRED was told: then the
 * attempt goes on.  A copy is not deleted, if this process could know of it: a
 * delete that waits to be sent, or is on its way, while an operator puts the
 * copy there takes the copy.  A delete names a znode, and cannot name its
 * czxid.
 */
#include "recipes/semaphore/semaphore_internal.h"

#include <string.h>

static bool is_deaf(const struct evzk_semaphore *p)
{
    return evzk__watch_missing(&p->m, (enum evzk__which)ON_OWN);
}

static void acquired(struct evzk_semaphore *p)
{
    p->reported = SEMAPHORE_ACQUIRED;
    evzk__machine_no_deadline(&p->m);
    evzk__semaphore_pass_on(p);
    evzk__semaphore_tell(p, EVZK_SEMAPHORE_ACQUIRED, EVZK_OK);
}

/* Entered again after every doubt. */
void evzk__semaphore_hold(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    bool first = !evzk__semaphore_acquired(p);

    if (p->canceled || (first && !evzk__machine_certain(m))) {
        evzk__machine_move(m, p->canceled ? DELETING : CONFIRMING);
        return;
    }
    if (m->in_doubt || is_deaf(p))
        evzk__machine_move(m, VERIFYING);
    if (first)
        acquired(p);
}

static int doubt(struct evzk_semaphore *p, const struct evzk__event *e)
{
    if (p->m.stopping || !evzk__semaphore_acquired(p))
        return EVZK_OK;
    if (e->type == EVZK__EV_SUSPENDED && e->first)
        evzk__semaphore_tell(p, EVZK_SEMAPHORE_SUSPENDED, EVZK_OK);
    if (e->type == EVZK__EV_LEASE_END) {
        evzk__machine_stop(&p->m, EVZK_ERR_LEASE);
        evzk__semaphore_end_early(p, EVZK_ERR_LEASE);
    }
    return EVZK_OK;
}

static int gone(struct evzk_semaphore *p)
{
    p->may_stand = false;
    return evzk__semaphore_acquired(p)
               ? evzk__machine_finish(&p->m, EVZK_ERR_NODEGONE)
               : evzk__semaphore_requeue(p, EVZK_ERR_NODEGONE);
}

int evzk__semaphore_still_held(struct evzk__machine *m,
                               const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (e->type != EVZK__EV_DELETED && e->type != EVZK__EV_CHANGED)
        return doubt(p, e);
    if (e->which != (enum evzk__which)ON_OWN)
        return EVZK_OK; /* From the time when it had the turn. */
    return e->type == EVZK__EV_DELETED ? gone(p)
                                       : evzk__machine_move(m, VERIFYING);
}

void evzk__semaphore_confirm(struct evzk__machine *m)
{
    evzk__exists(m, evzk__semaphore_of(m)->name);
}

void evzk__semaphore_verify(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    uint32_t n = 0;

    if (evzk__watch_listed(&p->watch[ON_LEASES - EVZK__PATH].w))
        p->step[n++] = (struct evzk__step){.verb = EVZK__STEP_UNWATCH,
                                           .watch = EVZK__WITH(ON_LEASES)};
    p->step[n++] = (struct evzk__step){
        .verb = EVZK__STEP_GET, .name = p->name, .watch = EVZK__WITH(ON_OWN)};
    evzk__ask(m, p->step, n, EVZK__SOON);
}

static int looked(struct evzk_semaphore *p, const struct evzk__reply *reply)
{
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (reply->rc == EVZK_ERR_NONODE ||
        !evzk__semaphore_owns(p, &reply->res->stat))
        return gone(p);
    p->m.place.own_verified = true;
    if (!evzk__machine_certain(&p->m))
        return EVZK_OK; /* The core enters this state again. */
    if (evzk__machine_end_doubt(&p->m) && evzk__semaphore_acquired(p))
        evzk__semaphore_tell(p, EVZK_SEMAPHORE_RESUMED, EVZK_OK);
    return p->m.stopping ? EVZK_OK : evzk__machine_move(&p->m, HELD);
}

/* No watch is set, and nothing was told yet that a doubt could change. */
int evzk__semaphore_confirmed(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY ? looked(evzk__semaphore_of(m), e->reply)
                                     : EVZK_OK;
}

int evzk__semaphore_verified(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (e->type == EVZK__EV_REPLY)
        return looked(p, e->reply);
    if (e->type == EVZK__EV_CHANGED && e->which == (enum evzk__which)ON_OWN)
        return evzk__machine_again(m);
    return evzk__semaphore_still_held(m, e);
}

/* The end. */

void evzk__semaphore_check(struct evzk__machine *m)
{
    evzk__exists(m, evzk__semaphore_of(m)->name);
}

int evzk__semaphore_checked(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, e->reply->rc);
    if (e->reply->rc == EVZK_ERR_NONODE ||
        !evzk__semaphore_owns(p, &e->reply->res->stat)) {
        p->may_stand = false;
        return evzk__semaphore_finish(p, m->rc);
    }
    m->place.own_verified = true;
    return evzk__machine_move(m, DELETING);
}

void evzk__semaphore_drop(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (m->place.own_verified && !p->watch[ON_OWN - EVZK__PATH].deleted)
        evzk__delete(m, p->name, NULL);
    else
        evzk__machine_move(m, CHECKING);
}

int evzk__semaphore_dropped(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, e->reply->rc);
    evzk__semaphore_of(m)->may_stand = false;
    return evzk__semaphore_finish(evzk__semaphore_of(m), m->rc);
}
