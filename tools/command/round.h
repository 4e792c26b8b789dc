/* A round of a double barrier: enter, run CMD, leave. */
#ifndef EVZK_COMMAND_ROUND_H
#define EVZK_COMMAND_ROUND_H

#include <stdint.h>

/* Does all: returns the exit status.  `run` may be NULL; `wait_ms` 0 waits for
 * ever for the others to come. */
int round_run(const char *path, uint32_t count, uint32_t wait_ms, char **run);

#endif
