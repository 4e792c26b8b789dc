/* The view of a machine from outside: the name of its state, and a trace of
 * each event with the state that it led to. */
#include "lib/machine/machine_internal.h"

#include "lib/base/os.h"
#include "lib/request/core.h"

const char *evzk__machine_state(const struct evzk__machine *m)
{
    return m->started ? evzk__machine_row(m)->name : "NEW";
}

void evzk__machine_set_event(struct evzk__machine *m, enum evzk__cause event,
                             int rc)
{
    m->event = (uint8_t)event;
    m->event_rc = (int16_t)rc;
}

void evzk__machine_trace(struct evzk__machine *m, const char *from,
                         bool entered)
{
    evzk_trace move = {.kind = m->kind->name,
                       .object = m,
                       .from = from,
                       .event = evzk__cause_name[m->event],
                       .to = evzk__machine_row(m)->name,
                       .entered = entered,
                       .rc = m->event_rc};

    if (m->place.s && m->place.s->trace.cb) {
        move.path = m->place.dir->path;
        move.time_us = (uint64_t)evzk__now_us();
        m->place.s->trace.cb(&move, m->place.s->trace.arg);
    }
}

void evzk__machine_trace_idle(struct evzk__machine *m, uint16_t epoch)
{
    if (m->epoch == epoch)
        evzk__machine_trace(m, evzk__machine_row(m)->name, false);
}
