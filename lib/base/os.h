/* What the operating system gives: clock, randomness, the process.  A seam:
 * tests link a simulated one. */
#ifndef EVZK_OS_H
#define EVZK_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Microseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps. */
int64_t evzk__now_us(void);

/* Is it `until_us`, or later?  Step n of some looks at the clock at every
 * `every`-th only. */
bool evzk__is_late(unsigned n, unsigned every, int64_t until_us);

/* Milliseconds since 1970, to compare with the server's time stamps. */
int64_t evzk__wall_ms(void);

/* Fills buf with random bytes of the kernel.  0, or EVZK_ERR_INTERNAL. */
int evzk__random(void *buf, size_t len);

/* The process id: another one means that this is a forked child. */
long evzk__pid(void);

/* Writes "host:pid", the default data of a contender's znode. */
void evzk__self(char *buf, size_t size);

#endif
