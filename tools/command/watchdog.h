/* A process beside evzk that kills CMD's process group in time when evzk itself
 * cannot: evzk was stopped, is too slow, or was killed.
 *
 * The watchdog learns by a pipe which group it guards, and until when the group
 * may run.  The moment is in microseconds of CLOCK_BOOTTIME, as leases are.  It
 * kills the group at that moment, unless a later one has come; and at once when
 * the pipe's other end closes, which is evzk's end.  When evzk and the watchdog
 * are stopped both, nobody kills: then the token protects the resource. */
#ifndef EVZK_COMMAND_WATCHDOG_H
#define EVZK_COMMAND_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watchdog {
    pid_t pid; /* 0: none. */
    int pipe;
};

/* Forks it.  Call this before the session is opened, so that the watchdog has
 * nothing of it.  0, or an exit status with a message. */
int watchdog_start(struct watchdog *w);

/* From now on `group` is guarded, and killed at `kill_us`.  A later call puts
 * that off.  Where the watchdog was killed another one is started, and one that
 * was stopped goes on: so this is also for each SIGCHLD.  False, with a
 * message: there is none. */
bool watchdog_guard(struct watchdog *w, pid_t group, int64_t kill_us);

/* The group has ended by itself. */
void watchdog_rest(struct watchdog *w);

/* Lets it end. */
void watchdog_end(struct watchdog *w);

/* Now, by CLOCK_BOOTTIME. */
int64_t boottime_us(void);

#endif
