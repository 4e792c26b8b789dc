/* The rule for what requests borrow.
 *
 * The names of a request are read long after it was asked: when the rest of it
 * is sent, and when a connection ends during it.  So after each reaction of a
 * machine all requests that are under way are looked through.
 *
 * How it can fail: memory that was freed, and allocated again before the look,
 * is not seen.  Under sanitizers the look itself is the error. */
#include "borrowed.h"

#include "area.h"
#include "lib/machine/machine.h"
#include "lib/request/core.h"
#include "lib/request/step_internal.h"
#include "world.h"

static void look(int proc, const struct evzk__machine *m)
{
    const struct evzk__request *r = &m->place.req;

    if (r->state == EVZK__IDLE || !evzk__request_is_steps(r))
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        const char *name = evzk__steps_name_at(r, i);

        if (name && area_is_freed(name))
            sim_violation("p%d: %s, in %s: a name was freed, and is asked for",
                          proc, m->kind->name, evzk__machine_state(m));
    }
}

void borrowed_check(int proc, evzk_session *s)
{
    struct evzk__core *core = s ? evzk__core_of(s) : NULL;
    const struct evzk__machine *m;

    if (!core)
        return;
    TAILQ_FOREACH(m, &core->machines, all)
    look(proc, m);
    TAILQ_FOREACH(m, &core->awaiting_reply, all)
    look(proc, m);
}
