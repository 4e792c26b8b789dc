/* The lease: until when a session is surely alive.
 *
 * The leader ends a session one time-out after it last heard of the session.
 * It hears of a follower's clients with a delay: a follower passes on, every
 * half tick, which sessions were alive.  So an answer of the leader to a sync
 * proves that the leader has heard of our last contact that was answered *at
 * least half a tick before* the sync was sent.  The session lives for one
 * time-out from the beginning of that contact.  The client cannot see the tick;
 * with the servers' default limits a time-out is at least two ticks, so half a
 * tick is at most a quarter of the time-out.  See doc/lease.md.
 *
 * Pings and reads are answered by the follower alone, and prove nothing.
 */
#include "lib/base/lease.h"

#include <string.h>

/* For clocks that do not run alike, and for the time that a callback takes. */
static int64_t margin(const struct evzk__lease *l)
{
    return l->timeout_us / 20 + 5000;
}

static void extend(struct evzk__lease *l, int64_t base)
{
    int64_t until = base + l->timeout_us - margin(l);

    if (until > l->valid_until)
        l->valid_until = until;
}

static void remember(struct evzk__lease *l, int64_t sent, int64_t answered)
{
    if (l->contacts == EVZK__LEASE_CONTACTS) {
        l->contacts--;
        memmove(l->contact, l->contact + 1, l->contacts * sizeof *l->contact);
    }
    l->contact[l->contacts].sent = sent;
    l->contact[l->contacts++].answered = answered;
}

void evzk__lease_connected(struct evzk__lease *l, int64_t begun, int64_t now,
                           int64_t timeout_us)
{
    if (l->timeout_us != timeout_us)
        evzk__lease_end(l); /* Another time-out: forget all contacts. */
    l->timeout_us = timeout_us;
    remember(l, begun, now);
    extend(l, begun);
}

void evzk__lease_confirmed(struct evzk__lease *l, int64_t sent, int64_t now)
{
    int64_t newest = sent - l->timeout_us / 4;

    remember(l, sent, now);
    for (unsigned i = l->contacts; i-- > 0;) {
        if (l->contact[i].answered <= newest) {
            extend(l, l->contact[i].sent);
            return;
        }
    }
}

void evzk__lease_end(struct evzk__lease *l)
{
    l->valid_until = 0;
    l->contacts = 0;
}

int64_t evzk__lease_probe_us(const struct evzk__lease *l)
{
    return l->timeout_us / 6;
}
