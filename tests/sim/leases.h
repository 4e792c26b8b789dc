/* The leases that a scene's processes hand to their workers (evzk/lease.h).
 * While a grant stands, a recipe's rules compare its lease with it.  When the
 * grant has ended, they hand the lease over here: from then on the lease must
 * say no, also when lock, shards and session have been freed. */
#ifndef SIM_LEASES_H
#define SIM_LEASES_H

#include "evzk/lease.h"

/* `proc` is the owner; `what` and `which` are for the message.  A lease may be
 * NULL, when there was no memory for it. */
void lease_matches(int proc, const evzk_lease *l, bool held, uint64_t token,
                   const char *what, int which);
void lease_over(int proc, evzk_lease *l);

/* For processes.c: after every step, and when the process has freed its
 * session: then its workers have gone, too. */
void leases_check(void);
void leases_drop(int proc);

#endif
