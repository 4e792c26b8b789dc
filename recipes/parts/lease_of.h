/* The lease of what a machine has been granted, for other threads: what the
 * public functions do that give one (evzk_semaphore_lease() and its like). */
#ifndef EVZK_LEASE_OF_H
#define EVZK_LEASE_OF_H

#include "evzk/lease.h"
#include "lib/machine/machine.h"

/* Gives a reference to the machine's lease, which is made when it is asked for
 * first.  `m` is NULL where the public function was given NULL; `own` is where
 * the recipe keeps its reference.  When the grant ends, the recipe calls
 * evzk__view_end(), before the user is told anything; and evzk_lease_unref().
 *
 * EVZK_OK; EVZK_ERR_STATE: not `held`; EVZK_ERR_NOMEM, _INVAL, _FORKED. */
int evzk__lease_of(struct evzk__machine *m, const char *function, bool held,
                   uint64_t token, evzk_lease **own, evzk_lease **out);

#endif
