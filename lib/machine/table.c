/* Answers questions about a table: where may each event lead from a row?  The
 * core asks before each move; tests and diagrams read the whole table. */
#include "lib/machine/kind.h"

const char *const evzk__cause_name[EVZK__CAUSES] = {
    [EVZK__ON_REPLY] = "reply",
    [EVZK__ON_OWN_DELETED] = "own deleted",
    [EVZK__ON_OWN_CHANGED] = "own changed",
    [EVZK__ON_PRED_DELETED] = "pred deleted",
    [EVZK__ON_PRED_CHANGED] = "pred changed",
    [EVZK__ON_PATH_DELETED] = "path deleted",
    [EVZK__ON_PATH_CHANGED] = "path changed",
    [EVZK__ON_LINGERED] = "lingered",
    [EVZK__ON_USER_EVENT] = "user event",
    [EVZK__ON_SUSPENDED] = "suspended",
    [EVZK__ON_LEASE_END] = "lease end",
    [EVZK__ON_ENTRY] = "entry",
    [EVZK__ON_DEADLINE] = "deadline",
    [EVZK__ON_STOP] = "stop",
    [EVZK__ON_RECONNECTED] = "reconnected",
    [EVZK__ON_EXPIRED] = "expired",
    [EVZK__ON_CLOSED] = "closed",
    [EVZK__ON_START] = "start"};

static uint32_t stop_of(const struct evzk__row *r, uint32_t end)
{
    uint32_t to =
        r->stop == EVZK__STAY ? EVZK__BIT(EVZK__HERE) : EVZK__BIT(r->stop);

    return r->flags & EVZK__NOTHING_SENT ? to | end : to;
}

/* The moves that follow from the columns and flags; the ON lists do not repeat
 * them. */
static uint32_t columns(const struct evzk__row *r, int state,
                        enum evzk__cause cause, uint32_t end)
{
    unsigned again = EVZK__RETRY | EVZK__HOLDS | EVZK__UNSENT;

    if (cause == EVZK__ON_STOP)
        return stop_of(r, end);
    if (cause == EVZK__ON_EXPIRED)
        return EVZK__BIT(r->expiry);
    if (cause == EVZK__ON_CLOSED)
        return end;
    if (cause == EVZK__ON_RECONNECTED)
        return r->flags & again ? EVZK__BIT(state) : 0;
    if (cause == EVZK__ON_SUSPENDED || cause == EVZK__ON_LEASE_END)
        return r->flags & EVZK__HOLDS ? EVZK__BIT(EVZK__HERE) : 0;
    return 0;
}

static uint32_t without_fail(const struct evzk__row *r, uint32_t next,
                             uint32_t end)
{
    if (!(next & EVZK__BIT(EVZK__FAIL)))
        return next;
    next &= ~EVZK__BIT(EVZK__FAIL);
    return next | (r->stop == EVZK__STAY ? end : EVZK__BIT(r->stop));
}

static uint32_t next_of(const struct evzk__kind *kind, int state,
                        enum evzk__cause cause, uint32_t listed, uint32_t rare)
{
    const struct evzk__row *r = &kind->rows[state];
    uint32_t end = EVZK__BIT(kind->n_rows - 1);

    if (r->flags & EVZK__FINAL)
        return 0;
    listed &= ~EVZK__BIT(EVZK__NEVER);
    listed |= columns(r, state, cause, end);
    return without_fail(r, listed & ~rare, end);
}

uint32_t evzk__row_may(const struct evzk__kind *kind, int state,
                       enum evzk__cause cause)
{
    const struct evzk__row *r = &kind->rows[state];

    uint32_t listed = r->on[cause] | r->rarely[cause];

    /* A machine that is to stop, or not to queue again, ends. */
    if (cause == EVZK__ON_EXPIRED)
        listed |= EVZK__BIT(kind->n_rows - 1);
    return next_of(kind, state, cause, listed, 0);
}

uint32_t evzk__row_next(const struct evzk__kind *kind, int state,
                        enum evzk__cause cause)
{
    uint32_t listed = kind->rows[state].on[cause];

    if (listed & EVZK__BIT(EVZK__NEVER))
        return 0;
    return next_of(kind, state, cause, listed, kind->rows[state].rarely[cause]);
}

uint32_t evzk__row_reach(const struct evzk__kind *kind, int state)
{
    uint32_t reach = 0;

    for (int c = 0; c < EVZK__CAUSES; c++)
        reach |= evzk__row_may(kind, state, (enum evzk__cause)c);
    return reach & ~EVZK__BIT(EVZK__HERE);
}

bool evzk__row_watches(const struct evzk__row *r)
{
    return evzk__row_hears(r, EVZK__ON_OWN_DELETED) ||
           evzk__row_hears(r, EVZK__ON_OWN_CHANGED) ||
           evzk__row_hears(r, EVZK__ON_PRED_DELETED) ||
           evzk__row_hears(r, EVZK__ON_PRED_CHANGED) ||
           evzk__row_hears(r, EVZK__ON_PATH_DELETED) ||
           evzk__row_hears(r, EVZK__ON_PATH_CHANGED);
}
