/* The end of a machine: out of all lists at once; out of memory when the
 * machine awaits no answer, has no watch left to take off, and its owner let it
 * go. */
#include "lib/machine/machine_internal.h"

#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"
#include "lib/request/watch.h"

void evzk__machine_unref(struct evzk__machine *m)
{
    if (--m->refs == 0)
        m->kind->destroy(m);
}

void evzk__machine_over(struct evzk__machine *m)
{
    if (m->kind->over)
        m->kind->over(m);
}

void evzk__machine_detach(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    evzk__request_cancel(s, &m->place.req);
    evzk__machine_unlist(m);
    evzk__create_order_left(&m->place);
    evzk__queue_remove(&m->place);
    if (s->cursor == m)
        s->cursor = TAILQ_NEXT(m, all);
    if (s->rounds.at == m)
        s->rounds.at = TAILQ_NEXT(m, all);
    TAILQ_REMOVE(&s->machines, m, all);
    TAILQ_INSERT_TAIL(&s->awaiting_reply, m, all);
    evzk__timer_free(m->timer);
    m->timer = NULL;
    if (m->kind->detach)
        m->kind->detach(m);
    m->place.ended = true;
    evzk__machine_over(m);
}

/* The machine has ended, and nothing more comes for it. */
static void part(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;
    struct evzk__watch *w;

    for (unsigned i = 0; (w = evzk__watch_of(&m->place, (enum evzk__which)i));
         i++)
        evzk__watch_remove(&m->place, w);
    TAILQ_REMOVE(&s->awaiting_reply, m, all);
    s->stats.machines--;
    evzk__dir_put(s, m->place.dir);
    m->place.dir = NULL;
    m->place.s = NULL;
    evzk__machine_unref(m);
}

void evzk__machine_wind_up(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    if (m->seen.connection_no != s->now.connection_no)
        evzk__watches_lost(m);
    if (m->place.req.state != EVZK__IDLE || evzk__left_over_begin(m))
        return;
    if (m->seen.connection_no != s->now.connection_no || !evzk__session_up(s) ||
        s->phase != EVZK__RUNNING || !evzk__unwatch_rest(m))
        part(m);
}

void evzk__machines_drop_awaiting_reply(struct evzk__core *s)
{
    struct evzk__machine *m;

    while ((m = TAILQ_FIRST(&s->awaiting_reply)) != NULL) {
        evzk__request_cancel(s, &m->place.req);
        evzk__watches_lost(m);
        part(m);
    }
}
