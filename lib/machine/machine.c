/* A machine's first and last moments with its session: it joins the session,
 * and ends with it. */
#include "lib/machine/machine_internal.h"

#include "lib/request/core.h"
#include "lib/request/path_watch.h"

int evzk__machine_init(struct evzk__machine *m, evzk_session *session,
                       const struct evzk__kind *kind, const char *dir,
                       uint32_t timeout_ms)
{
    struct evzk__core *s = evzk__core_of(session);

    if (kind->n_watches > EVZK__PATH_WATCHES_MAX) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: %u watches are too many",
                          kind->name, (unsigned)kind->n_watches);
        return EVZK_ERR_INTERNAL;
    }
    m->kind = kind;
    m->place.s = s;
    m->place.req.done = evzk__machine_answered;
    m->place.dir = evzk__dir_get(s, s->chroot, dir);
    if (!m->place.dir)
        return EVZK_ERR_NOMEM;
    if (evzk__machine_make_timer(m, timeout_ms) != EVZK_OK) {
        evzk__dir_put(s, m->place.dir);
        return EVZK_ERR_NOMEM;
    }
    m->seen = s->now;
    m->place.own_watch.which = EVZK__OWN;
    m->place.pred_watch.which = EVZK__PRED;
    evzk__path_watches_init(&m->place);
    m->refs = 2;
    m->pending = EVZK__P_START;
    TAILQ_INSERT_TAIL(&s->machines, m, all);
    s->stats.machines++;
    evzk__machine_post(m);
    return EVZK_OK;
}

/* The session is over; `proved`: a server has said so. */
void evzk__machine_closed(struct evzk__machine *m, int rc, bool proved)
{
    bool promise = m->rc == EVZK_OK || m->rc == EVZK_ERR_CANCELED;

    m->refs++;
    evzk__machine_set_event(m, EVZK__ON_CLOSED, rc);
    evzk__watches_lost(m);
    if (!m->stopping || (promise && !proved))
        m->rc = rc; /* No server says that its znode is gone. */
    evzk__machine_set_state(m, evzk__machine_final_state(m));
    evzk__machine_unref(m);
}

/* In the child of a fork a machine ends, and nothing is told.  Other machines
 * may have joined its listing: it is let go when all have ended. */
void evzk__machine_forked(struct evzk__machine *m) { evzk__machine_detach(m); }

bool evzk__machine_has_like(struct evzk__machine *m,
                            bool (*like)(struct evzk__machine *m,
                                         struct evzk__machine *other))
{
    struct evzk__machine *other;

    TAILQ_FOREACH(other, &m->place.s->machines, all)
    {
        if (other != m && other->kind == m->kind && like(m, other))
            return true;
    }
    return false;
}
