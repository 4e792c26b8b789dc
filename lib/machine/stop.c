/* A machine is asked to stop, and leaves as its row says. */
#include "lib/machine/machine_internal.h"

#include "lib/request/core.h"

void evzk__machine_stop(struct evzk__machine *m, int rc)
{
    if (m->place.ended || m->stopping)
        return;
    m->stopping = true;
    m->rc = rc;
    evzk__machine_over(m);
    m->pending |= EVZK__P_STOP;
    evzk__machine_post(m);
}

void evzk__machine_stop_at_once(struct evzk__machine *m,
                                const struct evzk__reply *reply)
{
    if (!reply)
        evzk__machine_finish(m, m->rc);
}

void evzk__machine_let_go(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_CANCELED);
    evzk__machine_unref(m);
}

bool evzk__machine_leaves(const struct evzk__machine *m)
{
    return m->stopping && evzk__machine_row(m)->stop != EVZK__STAY;
}

void evzk__machine_take_stop(struct evzk__machine *m)
{
    uint16_t epoch = m->epoch;

    evzk__machine_set_event(m, EVZK__ON_STOP, m->rc);
    if (m->kind->on_stop)
        m->kind->on_stop(m, NULL);
    if (m->place.ended) /* The user has forked, and this is the child. */
        return;
    if (!m->started)
        evzk__machine_finish(m, m->rc);
    else if (m->place.req.state == EVZK__SENT) {
        /* The answer is handled with `stopping` set.  A row that stays wants to
         * know what became of its steps: they are done to the end. */
        if (evzk__machine_leaves(m) || !evzk__request_is_steps(&m->place.req))
            evzk__request_cancel(m->place.s, &m->place.req);
        if (evzk__machine_leaves(m))
            return; /* The stop comes with the answer. */
    } else if (evzk__machine_row(m)->flags & EVZK__NOTHING_SENT)
        evzk__machine_finish(m, m->rc);
    else if (evzk__machine_leaves(m)) {
        evzk__request_cancel(m->place.s, &m->place.req);
        evzk__machine_move(m, evzk__machine_row(m)->stop);
    }
    evzk__machine_trace_idle(m, epoch);
}
