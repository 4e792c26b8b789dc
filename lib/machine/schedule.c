/* When the loop looks at a machine: soon, after something was posted to it; at
 * its deadline; and when it has lingered in a row. */
#include "lib/machine/machine_internal.h"

#include "lib/base/loop.h"
#include "lib/request/core.h"

void evzk__machine_unlist(struct evzk__machine *m)
{
    if (m->listed == EVZK__L_RUNNING)
        TAILQ_REMOVE(&m->place.s->running, m, run);
    else if (m->listed == EVZK__L_LATER)
        TAILQ_REMOVE(&m->place.s->later, m, run);
    m->listed = EVZK__L_NONE;
}

void evzk__machine_post(struct evzk__machine *m)
{
    if (m->place.ended || m->listed == EVZK__L_RUNNING)
        return;
    evzk__machine_unlist(m);
    m->listed = EVZK__L_RUNNING;
    TAILQ_INSERT_TAIL(&m->place.s->running, m, run);
    evzk__session_kick(m->place.s);
}

void evzk__machine_ask(struct evzk__machine *m)
{
    m->pending |= EVZK__P_ASKED;
    evzk__machine_post(m);
}

/* A machine to which something happens need not be told: what makes it list its
 * directory shows it its own znode, too. */
void evzk__machine_linger(struct evzk__machine *m)
{
    if (m->listed != EVZK__L_NONE || m->stayed || m->place.ended ||
        (m->pending & EVZK__P_STAYED) ||
        !evzk__row_hears(evzk__machine_row(m), EVZK__ON_LINGERED))
        return;
    m->listed = EVZK__L_LATER;
    m->tick = m->place.s->tick;
    TAILQ_INSERT_TAIL(&m->place.s->later, m, run);
}

/* Two ticks after the machine was listed: at least one whole tick has passed.
 */
struct evzk__machine *evzk__machine_next_late(struct evzk__core *s)
{
    struct evzk__machine *m = TAILQ_FIRST(&s->later);

    if (!m || (uint8_t)(s->tick - m->tick) < 2)
        return NULL;
    evzk__machine_unlist(m);
    m->pending |= EVZK__P_STAYED;
    return m;
}

static void late(void *arg)
{
    struct evzk__machine *m = arg;

    m->pending |= EVZK__P_ON_DEADLINE;
    evzk__machine_post(m);
}

int evzk__machine_make_timer(struct evzk__machine *m, uint32_t timeout_ms)
{
    if (timeout_ms == 0 && !m->kind->keeps_timer)
        return EVZK_OK;
    m->timer = evzk__timer_new(m->place.s->base, late, m);
    if (!m->timer)
        return EVZK_ERR_NOMEM;
    evzk__machine_set_deadline(m, timeout_ms);
    return EVZK_OK;
}

void evzk__machine_set_deadline(struct evzk__machine *m, uint32_t timeout_ms)
{
    m->pending &= EVZK__P_ALL & ~EVZK__P_ON_DEADLINE;
    if (!m->timer)
        return;
    if (timeout_ms > 0)
        evzk__timer_set(m->timer, (int64_t)timeout_ms * 1000);
    else
        evzk__timer_stop(m->timer);
}

void evzk__machine_no_deadline(struct evzk__machine *m)
{
    evzk__machine_set_deadline(m, 0);
    if (m->kind->keeps_timer)
        return;
    evzk__timer_free(m->timer);
    m->timer = NULL;
}
