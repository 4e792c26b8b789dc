/* CMD for `barrier`, `queue`, `config`, `group` and `name`: runs beside a
 * session, with bytes on its standard input, and is gone before a lease ends if
 * there is one.
 *
 *     struct work w = {.connection = &c, .ended = on_end, .arg = &mine};
 *
 *     work_prepare(&w);         before connection_open()
 *     work_start(&w, ...);      as often as need be, one at a time
 *     work_free(&w);
 *
 * Where there is a lease: SIGTERM a third of the session time-out, at most 2 s,
 * before its end, if the servers are silent; SIGKILL a twentieth of the
 * time-out, at least 100 ms, before its end. */
#ifndef EVZK_COMMAND_WORK_H
#define EVZK_COMMAND_WORK_H

#include "child.h"
#include "connect.h"

struct work {
    struct connection *connection;
    /* NULL: nothing is held.  Else for how long what is held is sure. */
    uint32_t (*lease_ms)(void *arg);
    /* CMD has ended with this status; STATUS_LOST: it was ended, since what was
     * held is lost. */
    void (*ended)(int status, void *arg);
    void *arg;

    /* For work.c alone. */
    struct watchdog watchdog;
    struct child child;
    struct event *reaped, *look;
    bool warned, lost;
};

/* Starts the watchdog: 0, or an exit status with a message. */
int work_prepare(struct work *w);

/* Runs CMD.  Its standard input has `input`, or is that of evzk when `input` is
 * NULL.  False, with a message: it cannot be run, and nothing ends. */
bool work_start(struct work *w, char **argv, const void *input, size_t len);

bool work_runs(const struct work *w);

/* Passes a signal on.  False: no CMD runs. */
bool work_signal(struct work *w, int signo);

/* What CMD rests on is lost: ends it at once. */
void work_lost(struct work *w, const char *path, int rc);

void work_free(struct work *w);

/* Sets a variable for CMD. */
void work_number(const char *name, uint64_t number);

#endif
