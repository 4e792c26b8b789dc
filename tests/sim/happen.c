/* The one order of all that happens: the earliest of the sources, and at the
 * same time the order of sim_kind.  Servers go before processes, so that what
 * a turn sees does not depend on which of two was looked at first. */
#include "happen.h"

#include "world.h"

static const struct {
    bool (*next)(struct sim_happening *);
    void (*have)(const struct sim_happening *);
} source[] = {[SIM_ARRIVAL] = {wire_next, wire_do},
              [SIM_TREE] = {ens_next, ens_do},
              [SIM_STAGE] = {stage_next, stage_do},
              [SIM_TURN] = {proc_next, proc_do}};

enum { SOURCES = sizeof source / sizeof source[0] };

bool sim_next(struct sim_happening *h)
{
    struct sim_happening other;
    bool found = false;

    for (unsigned i = 0; i < SOURCES; i++) {
        if (!source[i].next(&other) || (found && other.at >= h->at))
            continue;
        *h = other;
        found = true;
    }
    if (found && h->at < sim_now())
        h->at = sim_now();
    return found;
}

void sim_do(const struct sim_happening *h)
{
    if (h->at > sim_now())
        sim_set_now(h->at);
    source[h->kind].have(h);
}
