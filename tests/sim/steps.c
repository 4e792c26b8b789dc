/* The one order of all that happens: the earliest of the sources, and at the
 * same time the order of sim_kind.  Servers go before processes, so that what
 * a loop step sees does not depend on which of two was looked at first. */
#include "steps.h"

#include "wire.h"
#include "world.h"

static const struct {
    bool (*next)(struct sim_step *);
    void (*have)(const struct sim_step *);
} source[] = {[SIM_ARRIVAL] = {wire_next, wire_do},
              [SIM_TREE] = {ens_next, ens_do},
              [SIM_SCENE_TIMER] = {scene_timer_next, scene_timer_do},
              [SIM_LOOP] = {loop_next, loop_do}};

enum { SOURCES = sizeof source / sizeof source[0] };

bool sim_next(struct sim_step *step)
{
    struct sim_step other;
    bool found = false;

    for (unsigned i = 0; i < SOURCES; i++) {
        if (!source[i].next(&other) || (found && other.at >= step->at))
            continue;
        *step = other;
        found = true;
    }
    if (found && step->at < sim_now())
        step->at = sim_now();
    return found;
}

void sim_do(const struct sim_step *step)
{
    if (step->at > sim_now())
        sim_set_now(step->at);
    wire_step_begins();
    source[step->kind].have(step);
}
