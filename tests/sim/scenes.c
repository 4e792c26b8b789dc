/* The recipes that the explorer plays: those that recipes/manifest names. */
#include "scene.h"

#define ADDRESS(name) &sim_##name,

const struct sim_recipe *const sim_recipes[] = {EVZK__SCENES(ADDRESS) NULL};
