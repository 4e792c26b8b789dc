/* CMD: a process in a process group of its own, that dies with evzk. */
#ifndef EVZK_COMMAND_CHILD_H
#define EVZK_COMMAND_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <event2/event.h>

#include "watchdog.h"

struct child {
    pid_t pid;     /* 0: it does not run. */
    int status;    /* Of its end: an exit status, or 128 + the signal. */
    bool terminal; /* The group has the terminal. */
    bool stopped;  /* For want of the terminal: evzk is in the background. */
    struct event *passed_on[2];
};

/* Makes evzk hear of SIGCHLD, and not of SIGPIPE, whatever its caller has set.
 * CMD gets what the caller had.  Once, before child_start(). */
void child_prepare(void);

/* Starts `argv`.  It runs only after the watchdog knows its group and the
 * moment of its end.  False: it cannot be forked; errno says why.  A program
 * that is not found is started, and ends with STATUS_NOT_FOUND. */
bool child_start(struct child *c, char **argv, struct watchdog *w,
                 int64_t kill_us);

/* Starts a shell with a command, in a group of its own, that nobody waits for.
 */
void child_hook(const char *command);

/* Does it stand still for want of the terminal?  Then ask again in half a
 * second: it goes on when a user has brought evzk to the foreground. */
bool child_stands(struct child *c);

/* Sends a signal to the group, if it runs. */
void child_signal(const struct child *c, int signo);

/* From now on passes SIGUSR1 and SIGUSR2 on to the group; child_free() ends
 * that.  False: there is no memory. */
bool child_pass_on(struct child *c, struct event_base *base);
void child_free(struct child *c);

/* Has it ended?  For each SIGCHLD.  If so, whatever is left of its group is
 * killed, and the watchdog rests. */
bool child_reap(struct child *c, struct watchdog *w);

#endif
