/* What the operating system gives: clock, randomness, who we are.  A seam:
 * tests link simulated ones. */
#ifndef EVZK_OS_H
#define EVZK_OS_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps. */
int64_t evzk__now_us(void);

/* Milliseconds since 1970, to compare with the server's time stamps. */
int64_t evzk__wall_ms(void);

/* Fills buf from the kernel's generator.  0, or EVZK_ERR_INTERNAL. */
int evzk__random(void *buf, size_t len);

/* Tells whether we are in a child of the process that called before. */
long evzk__pid(void);

/* "host:pid", what a contender says of itself by default. */
void evzk__self(char *buf, size_t size);

#endif
