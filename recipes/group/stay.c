/* A member that has joined, and one whose identity another process has.
 *
 *   LOOKING <--> JOINED --> UPDATING --> LOOKING
 *   LOOKING <--> WAITING
 *
 * JOINED waits on watches: on the name and on the claim.  Whatever happens
 * there, LOOKING sees what it means.  So an UPDATED is told when the data were
 * seen in the znode, and not when a server took them.
 *
 * How it can fail.  Another client writes to the znode: the member writes its
 * own data again.
 */
#include "recipes/group/group_internal.h"

int evzk__member_doubt(struct evzk_member *d, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_SUSPENDED && e->first &&
        d->reported == REPORTED_JOINED)
        evzk__member_tell(d, EVZK_MEMBER_SUSPENDED, EVZK_OK);
    if (e->type == EVZK__EV_LEASE_END)
        evzk__member_lose(d, EVZK_ERR_LEASE);
    return EVZK_OK;
}

static bool is_missing(const struct evzk_member *d, int which)
{
    return evzk__watch_missing(&d->m, (enum evzk__which)which);
}

static void tell_news(struct evzk_member *d)
{
    bool too_large = d->too_large == d->updates;

    d->m.tries = 0;
    if (!d->waits)
        evzk__member_content(d);
    if (d->reported != REPORTED_JOINED) {
        d->reported = REPORTED_JOINED;
        d->told_token = d->czxid;
        evzk__member_tell(d, EVZK_MEMBER_JOINED, EVZK_OK);
    }
    if (!d->m.stopping && d->told != d->updates && d->seen == d->updates) {
        d->told = d->updates;
        evzk__member_tell(d, EVZK_MEMBER_UPDATED,
                          too_large ? EVZK_ERR_TOOLARGE : EVZK_OK);
    }
}

/* A claim that may not be made now is not watched. */
static bool is_blind(const struct evzk_member *d)
{
    bool no_claim = d->waits && d->sight.claim == GROUP_ABSENT;

    return is_missing(d, ON_NAME) || (!no_claim && is_missing(d, ON_CLAIM));
}

void evzk__member_stay(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    if (m->in_doubt || is_blind(d))
        evzk__machine_move(m, LOOKING);
    else
        tell_news(d);
}

int evzk__member_stayed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);

    switch (e->type) {
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
        return evzk__machine_move(m, LOOKING);
    case EVZK__EV_USER:
        if (!d->waits && d->refused_rc != EVZK_OK)
            return evzk__machine_move(m, LOOKING);
        return d->told != d->updates && !d->waits
                   ? evzk__machine_move(m, UPDATING)
                   : EVZK_OK;
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        return evzk__member_doubt(d, e);
    case EVZK__EV_REPLY:
    case EVZK__EV_LINGERED:
        break;
    }
    return EVZK_OK;
}

/* Not if the guard has gone, and not over what another client has written. */
void evzk__member_write(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);
    struct evzk__member_data data;

    if (!evzk__member_may_write(d)) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    data = evzk__member_take_data(d);
    d->step[0] =
        (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = d->guard};
    d->step[1] = (struct evzk__step){.verb = EVZK__STEP_SET,
                                     .name = d->path,
                                     .data = data.v,
                                     .len = data.len,
                                     .versioned = true,
                                     .version = d->sight.version};
    evzk__ask(m, d->step, 2, EVZK__COMMIT | EVZK__JOIN);
}

int evzk__member_written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_member *d = evzk__member_of(m);
    int rc;

    if (e->type != EVZK__EV_REPLY)
        return evzk__member_doubt(d, e);
    rc = e->reply->rc;
    if (rc == EVZK_OK) {
        d->unsettled = false;
        evzk__member_data_stand(d);
    } else
        rc = evzk__member_not_written(d, rc);
    return rc != EVZK_OK ? evzk__member_refused(d, rc)
                         : evzk__machine_move(m, LOOKING);
}

/* The claim, or the name, belongs to another process. */
void evzk__member_wait(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    if ((d->sight.name == GROUP_OTHERS && is_missing(d, ON_NAME)) ||
        (d->sight.claim == GROUP_OTHERS && is_missing(d, ON_CLAIM))) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    m->tries = 0;
    if (d->reported == REPORTED_CONFLICT)
        return;
    d->reported = REPORTED_CONFLICT;
    evzk__member_tell(d, EVZK_MEMBER_CONFLICT, EVZK_OK);
}

int evzk__member_waited(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}
