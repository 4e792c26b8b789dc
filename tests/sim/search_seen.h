/* The worlds that were seen, by their digests: a table in memory that all jobs
 * share. */
#ifndef SIM_SEARCH_SEEN_H
#define SIM_SEARCH_SEEN_H

#include "world.h"

/* Before the jobs fork.  False: no memory. */
bool seen_open(void);
void seen_close(void);

/* Notes a world from which at most `left` more faults strike.  True: it was
 * seen before, with as many or more. */
enum { SEEN_LEFT = 2 };
bool seen_add(struct sim_digest d, unsigned left);

uint64_t seen_count(void);
bool seen_full(void); /* Some could not be noted: they are visited again. */

#endif
