/* Rounds of the machines: see rounds.h.
 *
 * The list of all machines is in the order in which they began, and a machine
 * that ends is taken out: so in one round each is visited once.
 */
#include "lib/machine/rounds.h"

#include "lib/base/os.h"
#include "lib/machine/machine_internal.h"
#include "lib/request/core.h"
#include "lib/request/look.h"

enum {
    PROBES = 6,        /* Of the lease, in a session time-out. */
    TOGETHER = 64,     /* Visits in one turn of the loop. */
    NAP_US = 20 * 1000 /* Visits that fall due within this time go together. */
};

static int64_t round_us(const struct evzk__core *s)
{
    int64_t us = 3 * PROBES * evzk__lease_probe_us(&s->lease);

    return us < EVZK__ROUND_MAX_US ? us : EVZK__ROUND_MAX_US;
}

uint32_t evzk__machine_round_ms(const struct evzk__machine *m)
{
    return (uint32_t)(round_us(m->place.s) / 1000);
}

/* From one visit to the next. */
static int64_t pace_us(const struct evzk__core *s)
{
    int64_t us = round_us(s) / (int64_t)s->stats.machines;

    return us > EVZK__VISIT_MIN_US ? us : EVZK__VISIT_MIN_US;
}

/* False: too much is under way, or there is no memory. */
static bool visit_next(struct evzk__core *s)
{
    struct evzk__machine *m = s->rounds.at;

    if (!m) {
        m = TAILQ_FIRST(&s->machines);
        evzk__look_new_round(s);
    }
    if (m && !evzk__look_at(&m->place)) {
        s->rounds.at = m;
        return false;
    }
    s->rounds.at = m ? TAILQ_NEXT(m, all) : NULL;
    return true;
}

/* While there is no connection nothing falls due: all watches are set again,
 * with the next one. */
static bool rests(const struct evzk__core *s)
{
    return s->stats.machines == 0 || s->phase != EVZK__RUNNING ||
           !evzk__session_usable(s) || s->cursor;
}

void evzk__rounds_step(struct evzk__core *s)
{
    int64_t now = evzk__now_us(), pace;

    if (s->stats.machines == 0) {
        s->rounds.next_us = 0;
        return;
    }
    pace = pace_us(s);
    if (s->rounds.next_us == 0 || s->rounds.next_us > now + pace)
        s->rounds.next_us = now + pace;
    for (unsigned n = 0; s->rounds.next_us <= now; n++) {
        if (rests(s) || n == TOGETHER || !visit_next(s)) {
            s->rounds.next_us = now + pace;
            return;
        }
        s->rounds.next_us += pace;
    }
}

int64_t evzk__rounds_next_us(const struct evzk__core *s)
{
    int64_t nap = evzk__now_us() + NAP_US;

    if (s->rounds.next_us == 0)
        return INT64_MAX;
    return s->rounds.next_us > nap ? s->rounds.next_us : nap;
}
