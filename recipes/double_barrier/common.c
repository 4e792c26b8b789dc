/* What all states of a participant use: the reports to the user, the own znode,
 * and the watch on another participant's. */
#include "recipes/double_barrier/double_barrier_internal.h"

#include <string.h>

#include "lib/base/mem.h"

/* May free the participant: touches nothing after. */
static void call(struct evzk_double_barrier *d, evzk_double_barrier_event ev,
                 int rc)
{
    evzk_session *s = evzk__machine_session(&d->m);
    int64_t begun = evzk__machine_call_out(s);

    if (d->cb && (evzk_double_barrier_event_is_final(ev) || evzk__may_tell(s)))
        d->cb(d, ev, rc, d->arg);
    evzk__machine_called(s, begun);
}

void evzk__double_barrier_tell(struct evzk_double_barrier *d,
                               evzk_double_barrier_event ev, int rc)
{
    if (d->reported == REPORTED_ENTERED)
        call(d, ev, rc);
}

/* An inside participant that its user has stopped has left; one that something
 * else has ended was lost. */
static evzk_double_barrier_event
final_event(const struct evzk_double_barrier *d, int rc)
{
    if (d->reported == REPORTED_NOTHING)
        return EVZK_DOUBLE_BARRIER_FAILED;
    if (d->reported == REPORTED_LEAVE || rc == EVZK_ERR_CANCELED)
        return EVZK_DOUBLE_BARRIER_LEFT;
    return EVZK_DOUBLE_BARRIER_LOST;
}

void evzk__double_barrier_end_early(struct evzk_double_barrier *d, int rc)
{
    static const uint8_t reports[] = {
        [EVZK_DOUBLE_BARRIER_LEFT] = REPORTED_LEFT,
        [EVZK_DOUBLE_BARRIER_LOST] = REPORTED_LOST,
        [EVZK_DOUBLE_BARRIER_FAILED] = REPORTED_FAILED};
    evzk_double_barrier_event ev = final_event(d, rc);

    if (d->reported == REPORTED_FAILED || d->reported >= REPORTED_LOST)
        return;
    d->reported = reports[ev];
    call(d, ev, rc);
}

void evzk__double_barrier_end(struct evzk__machine *m)
{
    evzk__double_barrier_end_early(evzk__double_barrier_of(m), m->rc);
}

/* The time of the enter, or of the leave, is over.  A participant that has
 * given up, and whose znode has not gone, tells why. */
void evzk__double_barrier_on_deadline(struct evzk__machine *m)
{
    if (m->stopping && m->rc == EVZK_ERR_CANCELED)
        return; /* A cancel ends only when all is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    evzk__double_barrier_end_early(evzk__double_barrier_of(m), m->rc);
}

void evzk__double_barrier_drop_forming(struct evzk_double_barrier *d)
{
    evzk__free(d->forming);
    d->forming = NULL;
}

bool evzk__double_barrier_left(struct evzk__machine *m, unsigned i,
                               struct evzk__left *out)
{
    return i == 0 && evzk__make_left(&evzk__double_barrier_of(m)->make, out);
}

void evzk__double_barrier_destroy(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    evzk__double_barrier_drop_forming(d);
    evzk__free(d->copies);
    evzk__acl_free(&d->acl);
    evzk__free(d->data);
    evzk__free(d);
}

bool evzk__double_barrier_owns(const struct evzk_double_barrier *d,
                               const struct evzk__stat *stat)
{
    return evzk__machine_owns(&d->m, stat) && stat->czxid == d->make.czxid;
}

/* The watch on the old name, and its event, go first. */
int evzk__double_barrier_rejoin(struct evzk_double_barrier *d)
{
    bool watched = !evzk__watch_missing(&d->m, (enum evzk__which)ON_OWN);

    d->make.may_stand = false;
    return evzk__machine_move(&d->m, watched ? FORGETTING : CREATING);
}

/* The name that is watched stays where it is, until the watch is taken off. */
void evzk__double_barrier_aim(struct evzk_double_barrier *d, const char *name)
{
    const struct evzk__watch *w = &d->watch[ON_OTHER - EVZK__PATH].w;
    bool first = !evzk__watch_listed(w) || w->name != d->other[0];

    if (evzk__watch_listed(w) && strcmp(w->name, name) == 0) {
        d->target = w->name;
        return;
    }
    d->target = strcpy(d->other[first ? 0 : 1], name);
    d->looked = false;
}

/* A watch on the znode's children: a participant's znode has none, so that only
 * its end fires this watch, and no write does.  The watch may be there, and the
 * answer that says whose the znode is not: where the servers have refused to
 * take another watch off. */
bool evzk__double_barrier_watch_target(struct evzk_double_barrier *d)
{
    const struct evzk__watch *w = &d->watch[ON_OTHER - EVZK__PATH].w;
    bool watched = evzk__watch_listed(w) && w->name == d->target;
    uint32_t n = 0;

    if (watched && d->looked)
        return false;
    if (evzk__watch_listed(w) && !watched)
        d->step[n++] = (struct evzk__step){.verb = EVZK__STEP_UNWATCH,
                                           .watch = EVZK__WITH(ON_OTHER)};
    d->step[n] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = d->target};
    if (!watched)
        d->step[n].watch = EVZK__WITH(ON_OTHER);
    n++;
    evzk__ask(&d->m, d->step, n, 0);
    return true;
}
