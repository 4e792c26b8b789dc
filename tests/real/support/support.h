/*
 * What every file here needs: a clock, patience that can be stretched, failing
 * with a reason, loopback ports, and helper processes that die with the test.
 */
#ifndef TESTS_REAL_SUPPORT_H
#define TESTS_REAL_SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/real/support/on_valgrind.h"

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t now_ms(void);

/* @ms stretched for slow runs: times EVZK_TEST_SLOW, times 10 in Valgrind. */
int64_t slow_ms(int64_t ms);

/* @n, or a tenth of it in Valgrind and with a sanitizer: for tests that do one
 * thing many times, since the same lines run in fewer. */
int fewer_if_slow(int n);

/* The number in a variable of the environment; @usual: it is not set. */
int number_set(const char *variable, int usual);

/* Where the programs were built: EVZK_BUILDDIR, or this folder. */
const char *build_folder(void);

/* Fails the running test, in Check's way. */
_Noreturn void support_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * A socket that listens on a free loopback port below the range of outgoing
 * connections: nobody's connect() can take it while a server is restarted, nor
 * connect to itself.  The port stays reserved until the process ends.
 */
int net_listen(int *port);

/*
 * Reserves a port: no other net_listen() and no zk-private chooses it until the
 * socket returned is closed, also while nobody listens there.  -1: it is taken
 * or reserved.
 */
int net_reserve(int port);

/* Takes a known port, reserved or not; -1 when another listens there. */
int net_listen_on(int port);

/* Makes @fd non-blocking and, for TCP, without delay. */
void net_unblock(int fd);

/*
 * A forked process that serves one command at a time over a socket.  It has its
 * own session, so that Check's killpg() spares it, and hears of the death of
 * the process that made it: by @deathsig, and by end of file.
 */
struct child {
    pid_t pid;
    pid_t owner;
    int fd;
};

/*
 * Runs @main in a new process, with all signals blocked, no file but 0, 1, 2
 * and @fd open, and SIGPIPE ignored.  It must not return.
 */
void child_start(struct child *child, int deathsig,
                 void (*main)(int fd, void *arg), void *arg);

/* Sends a command and waits for the answer; fails when none comes. */
void child_call(const struct child *child, const void *command, size_t len,
                void *answer, size_t size);

/* Hangs up and waits for the end.  In another process than the owner's it only
 * closes this process's end. */
void child_end(struct child *child);

#endif
