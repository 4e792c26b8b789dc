/* The leases that a scene's processes hand to their workers (evzk/lease.h): a
 * recipe's rules compare each with its grant while that stands, and give it
 * here when the grant has ended.  From then on it says no, for ever: also when
 * lock, shards and session have been freed. */
#ifndef SIM_LEASES_H
#define SIM_LEASES_H

#include "evzk/lease.h"

/* Of process `proc`; `what` and `which` are for the message.  NULL: none was to
 * be had. */
void lease_matches(int proc, const evzk_lease *l, bool held, uint64_t token,
                   const char *what, int which);
void lease_over(int proc, evzk_lease *l);

/* For processes.c: after every step, and when the process has
 * freed its session: then its workers have gone, too. */
void leases_check(void);
void leases_drop(int proc);

#endif
