/* The recipes that the explorer plays: those that recipes/manifest names, and
 * one of the tests alone. */
#include "scene.h"

#define ADDRESS(name) &sim_##name,

const struct sim_recipe *const sim_recipes[] = {
    EVZK__SCENES(ADDRESS) & sim_ballot, NULL};
