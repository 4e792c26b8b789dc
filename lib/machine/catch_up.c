/* What a machine does when it sees that its session has changed: a connection
 * was lost, the session is in doubt, its lease has ended, or it is another. */
#include "lib/machine/machine_internal.h"

#include "lib/request/core.h"

/* What the machine made outlives the session: its rows still clean up. */
static void stop_in_another(struct evzk__machine *m)
{
    if (evzk__machine_row(m)->stop == EVZK__STAY) {
        evzk__machine_move(m, evzk__machine_row(m)->expiry);
        return;
    }
    evzk__machine_set_event(m, EVZK__ON_STOP, m->rc);
    evzk__machine_move(m, evzk__machine_row(m)->stop);
}

/* The session was replaced: the ephemeral znodes of the earlier one are gone.
 */
static void expired(struct evzk__machine *m)
{
    int to = evzk__machine_row(m)->expiry;

    evzk__machine_set_event(m, EVZK__ON_EXPIRED, EVZK_ERR_EXPIRED);
    if (!m->started)
        return;
    evzk__request_cancel(m->place.s, &m->place.req);
    if (m->stopping && m->kind->outlives_session)
        stop_in_another(m);
    else if (m->stopping)
        evzk__machine_finish(m, m->rc);
    else if (m->no_requeue || to == evzk__machine_final_state(m))
        evzk__machine_finish(m, EVZK_ERR_EXPIRED);
    else
        evzk__machine_move(m, to);
}

/* Rows with one of these flags are entered again. */
static unsigned again_at(const struct evzk__machine *m, bool cut)
{
    unsigned unsent = m->place.req.state == EVZK__QUEUED ? EVZK__UNSENT : 0;

    return cut ? EVZK__RETRY | unsent : (unsigned)EVZK__HOLDS;
}

static void tell_doubt(struct evzk__machine *m, bool lease_ended)
{
    struct evzk__event e = {.type = EVZK__EV_SUSPENDED, .first = !m->in_doubt};
    uint16_t epoch = m->epoch;

    m->in_doubt = true;
    evzk__machine_dispatch(m, &e);
    if (lease_ended && !m->place.ended && m->epoch == epoch &&
        !evzk__machine_leaves(m)) {
        e.type = EVZK__EV_LEASE_END;
        evzk__machine_dispatch(m, &e);
    }
}

static void adapt(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;
    bool cut = m->seen.connection_no != s->now.connection_no,
         other = m->seen.session_no != s->now.session_no;
    bool lease_ended = m->seen.lease_ends != s->now.lease_ends;
    uint16_t epoch = m->epoch;

    m->seen.connection_no = s->now.connection_no;
    if (cut) {
        evzk__watches_lost(m);
        m->stayed = false; /* The new watches come first. */
    }
    if (other) {
        expired(m);
        return;
    }
    if (!m->started)
        return;
    if (evzk__machine_leaves(m))
        return; /* Doubt about what it holds is no news any more. */
    if ((evzk__machine_row(m)->flags & EVZK__HOLDS) &&
        (cut || s->contact == EVZK__IN_DOUBT || lease_ended))
        tell_doubt(m, lease_ended);
    if (m->place.ended || m->epoch != epoch || evzk__machine_leaves(m) ||
        m->place.req.state == EVZK__SENT || m->refused_for_good)
        return;
    if (evzk__machine_row(m)->flags & again_at(m, cut)) {
        evzk__machine_set_event(m, EVZK__ON_RECONNECTED, EVZK_OK);
        evzk__machine_repeat(m);
    } else if (cut)
        evzk__request_cut(s, &m->place.req);
}

/* The machine takes over the numbers of its session and lease last: so, while
 * it is told that the earlier ones have ended, evzk__machine_sure() is false.
 * Another session may hold the same by then. */
void evzk__machine_catch_up(struct evzk__machine *m)
{
    uint16_t gen = m->place.s->now.session_no,
             lease_ends = m->place.s->now.lease_ends;

    if (m->seen.change_count == m->place.s->now.change_count)
        return;
    m->seen.change_count = m->place.s->now.change_count;
    adapt(m);
    m->seen.session_no = gen;
    m->seen.lease_ends = lease_ends;
}

/* The end of a lease may be followed by a new lease.  To a machine that has not
 * heard of that end, the new lease says nothing. */
bool evzk__machine_sure(const struct evzk__machine *m)
{
    return !m->place.ended && !m->stopping &&
           m->seen.session_no == m->place.s->now.session_no &&
           m->seen.lease_ends == m->place.s->now.lease_ends &&
           !evzk__session_forked(m->place.s) && evzk__session_sure(m->place.s);
}
