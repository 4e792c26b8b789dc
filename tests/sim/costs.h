/* What the scenes cost. */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include <stdint.h>

#include "scene.h"

/* Prints a line for each scene of the recipe.  0: no rule was broken. */
int costs_print(const struct sim_recipe *recipe, uint64_t seed);

#endif
