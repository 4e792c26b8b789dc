/* The outcome of a guarded write: noted when it is found out, and told once.
 *
 * How it can fail.  The machine may stop, or end with its session, before the
 * outcome is known: then the machine's own error is told, and UNKNOWN if the
 * transaction was sent.  A transaction that still waits in its queue was not.
 */
#include "recipes/guard/guard_internal.h"

/* May free the write: touches nothing after. */
static void tell(struct evzk_guard *g, int rc)
{
    evzk_session *s = evzk__machine_session(&g->m);
    evzk_guard_result result = {.failed = g->n};
    int64_t begun;

    if (g->told)
        return;
    g->told = true;
    evzk__machine_no_deadline(&g->m);
    if (g->outcome == EVZK_GUARD_DONE) {
        result.zxid = g->zxid;
        result.version = g->versions;
    } else if (g->outcome == EVZK_GUARD_FAILED)
        result.failed = g->failed;
    begun = evzk__machine_call_out(s);
    if (g->cb)
        g->cb(g, g->outcome, rc, &result, g->arg);
    evzk__machine_called(s, begun);
}

bool evzk__guard_knows(const struct evzk_guard *g)
{
    return g->outcome == EVZK_GUARD_DONE || g->rc != EVZK_OK;
}

void evzk__guard_tell(struct evzk_guard *g)
{
    if (g->asked && evzk__place_awaits_answer(&g->m.place))
        g->outcome = EVZK_GUARD_UNKNOWN;
    tell(g, evzk__guard_knows(g) ? g->rc : g->m.rc);
}

void evzk__guard_note(struct evzk_guard *g, evzk_guard_outcome outcome, int rc)
{
    g->outcome = outcome;
    g->rc = rc;
}

void evzk__guard_note_done(struct evzk_guard *g, int64_t zxid)
{
    g->zxid = zxid;
    evzk__guard_note(g, EVZK_GUARD_DONE, EVZK_OK);
}

int evzk__guard_found_out(struct evzk_guard *g, evzk_guard_outcome outcome,
                          int rc)
{
    evzk__guard_note(g, outcome, rc);
    return evzk__machine_move(&g->m, CLEANING);
}
