/* Liveness: what acts by itself goes on acting. */
#ifndef SIM_OWES_H
#define SIM_OWES_H

#include "scene.h"

/* After every step.  A violation: the debt of a process has stood for too long,
 * in a session that is certain, and nothing has struck. */
void owes_check(const struct sim_recipe *r);

#endif
