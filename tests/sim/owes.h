/* Liveness: what acts by itself goes on acting. */
#ifndef SIM_OWES_H
#define SIM_OWES_H

#include "scene.h"

/* After every step.  A violation: the debt of a process has stood for too long,
 * in a session that is certain, and nothing has struck. */
void owes_check(const struct sim_recipe *r);

/* Does any process owe something, or may it when what has struck is over?
 * Before a scene ends an object that acts by itself, as planned, it asks; and
 * asks again in a while. */
bool owes_any(void);
/* When servers have refused a request last; 0: never. */
int64_t owes_refused_at(void);
/* So long the session may pause, since many of its requests were refused. */
int64_t owes_pause_us(int proc);
enum { OWES_AGAIN_US = 100 * 1000 };

#endif
