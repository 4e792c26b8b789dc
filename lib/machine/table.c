/* What can be read off a table: which events a row can be given.  What the
 * tests count, and the traces' words for it, are the same list. */
#include "lib/machine/machine.h"

const char *const evzk__event_name[EVZK__EVENTS] = {
    [EVZK__EV_REPLY] = "reply",         [EVZK__EV_DELETED] = "deleted",
    [EVZK__EV_CHANGED] = "changed",     [EVZK__EV_SUSPENDED] = "suspended",
    [EVZK__EV_STAYED] = "stayed",       [EVZK__EV_ASKED] = "asked",
    [EVZK__EV_LEASE_END] = "lease end", [EVZK__EV_RECONNECTED] = "reconnected",
    [EVZK__EV_STOP] = "stop",           [EVZK__EV_EXPIRED] = "expired",
    [EVZK__EV_CLOSED] = "closed",       [EVZK__EV_START] = "start"};

static struct evzk__never never_of(const struct evzk__kind *kind, int state)
{
    static const struct evzk__never nothing;
    const struct evzk__never *n = kind->never;

    for (; n && (n->next || n->on); n++) {
        if (n->state == state)
            return *n;
    }
    return nothing;
}

uint32_t evzk__row_next(const struct evzk__kind *kind, int state)
{
    if (!evzk__has_row(kind, state))
        return 0;
    return kind->rows[state].next & ~kind->without &
           ~never_of(kind, state).next;
}

uint32_t evzk__row_events(const struct evzk__kind *kind, int state)
{
    const struct evzk__row *r = &kind->rows[state];
    uint32_t on = EVZK__ON(EVZK__EV_STOP) | EVZK__ON(EVZK__EV_EXPIRED) |
                  EVZK__ON(EVZK__EV_CLOSED);

    if (r->flags & EVZK__FINAL || !evzk__has_row(kind, state))
        return 0;
    if (r->enter && r->react)
        on |= EVZK__ON(EVZK__EV_REPLY);
    if (r->flags & EVZK__WATCHES)
        on |= EVZK__ON(EVZK__EV_DELETED) | EVZK__ON(EVZK__EV_CHANGED);
    if (r->flags & EVZK__STAYS)
        on |= EVZK__ON(EVZK__EV_STAYED);
    if (r->flags & EVZK__HEEDS)
        on |= EVZK__ON(EVZK__EV_ASKED);
    if (r->flags & EVZK__HOLDS)
        on |= EVZK__ON(EVZK__EV_SUSPENDED) | EVZK__ON(EVZK__EV_LEASE_END);
    if (r->flags & (EVZK__HOLDS | EVZK__RETRY))
        on |= EVZK__ON(EVZK__EV_RECONNECTED);
    return on & ~never_of(kind, state).on;
}
