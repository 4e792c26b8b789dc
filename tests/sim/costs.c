/* What the scenes cost: the requests that the servers get, in all, while a
 * scene is played without a fault.
 *
 * A request too many breaks no rule, and no fault brings it out.  So the costs
 * are kept in costs.txt, and check-costs compares them.
 *
 * How it can fail: two changes that make up for each other. */
#include "costs.h"

#include <inttypes.h>
#include <stdio.h>

#include "ens.h"
#include "run.h"
#include "wire.h"

static void print_requests(const struct sim_scene *scene)
{
    printf("%s:", scene->name);
    for (int op = ENS_OP_FIRST; op <= ENS_OP_LAST; op++) {
        if (op != WIRE_PING && ens_requests(op) > 0)
            printf(" %s %" PRIu64, wire_op_name(op), ens_requests(op));
    }
    if (ens_operations() > 0)
        printf(", operations in multi %" PRIu64, ens_operations());
    if (ens_watches_asked() > 0)
        printf(", watches %" PRIu64, ens_watches_asked());
    putchar('\n');
}

int costs_print(const struct sim_recipe *recipe, uint64_t seed)
{
    struct run r = {.recipe = recipe, .seed = seed};
    bool right = true;

    for (unsigned i = 0; i < sim_scene_count(recipe); i++) {
        r.scene = sim_scene_at(recipe, i);
        right = run_play(&r) && right;
        print_requests(r.scene);
    }
    return right ? 0 : 1;
}
