/* Gives an event to the present row's reaction. */
#include "lib/machine/machine_internal.h"

static void fail(struct evzk__machine *m, int rc)
{
    if (m->place.ended)
        return;
    if (evzk__machine_row(m)->stop != EVZK__STAY)
        evzk__machine_give_up(m, rc, evzk__machine_row(m)->stop);
    else
        evzk__machine_finish(m, rc);
}

/* In a row that looks at `stopping` itself, the reply brings the stop. */
static enum evzk__cause reply_of(const struct evzk__machine *m)
{
    return m->stopping && evzk__row_hears(evzk__machine_row(m), EVZK__ON_STOP)
               ? EVZK__ON_STOP
               : EVZK__ON_REPLY;
}

static enum evzk__cause watch_cause(enum evzk__which which, bool deleted)
{
    if (which == EVZK__OWN)
        return deleted ? EVZK__ON_OWN_DELETED : EVZK__ON_OWN_CHANGED;
    if (which == EVZK__PRED)
        return deleted ? EVZK__ON_PRED_DELETED : EVZK__ON_PRED_CHANGED;
    return deleted ? EVZK__ON_PATH_DELETED : EVZK__ON_PATH_CHANGED;
}

static enum evzk__cause cause_of(const struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return reply_of(m);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
        return watch_cause(e->which, e->type == EVZK__EV_DELETED);
    case EVZK__EV_LINGERED:
        return EVZK__ON_LINGERED;
    case EVZK__EV_USER:
        return EVZK__ON_USER_EVENT;
    case EVZK__EV_SUSPENDED:
        return EVZK__ON_SUSPENDED;
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK__ON_LEASE_END;
}

void evzk__machine_dispatch(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    uint16_t epoch = m->epoch;
    int rc;

    evzk__machine_set_event(m, cause_of(m, e), e->reply ? e->reply->rc : 0);
    rc = evzk__machine_row(m)->react ? evzk__machine_row(m)->react(m, e)
                                     : EVZK_OK;
    if (rc != EVZK_OK)
        fail(m, rc);
    evzk__machine_trace_idle(m, epoch);
}
