/*
 * For Check tests that drive an event_base: waiting for a condition, with a
 * deadline, while the loop runs; a record of what the library's callbacks said;
 * a meter of how long the loop stood still.  No test sleeps.
 */
#ifndef TESTS_REAL_HARNESS_H
#define TESTS_REAL_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/evzk.h>

#include "support.h" /* now_ms(), slow_ms() */

struct event;
struct event_base;

/*
 * The base that WAIT() runs: this process's own, made by the first call, or one
 * that was set.  harness_free() frees the own one.
 */
struct event_base *harness_base(void);
void harness_set_base(struct event_base *base);
void harness_free(void);

/*
 * Runs @base until @cond says true (true) or @ms pass (false; stretched as
 * slow_ms() does).  The condition is looked at after every turn of the loop,
 * and every 10 ms for what happens outside it.
 */
bool run_until(struct event_base *base, bool (*cond)(void *arg), void *arg,
               int64_t ms);

/* Runs @base for @ms, not stretched: to see that nothing happens. */
void run_for(struct event_base *base, int64_t ms);

/* Runs harness_base() until @cond is true; fails after 60 s, or @ms. */
#define WAIT(cond) WAIT_MS(60000, cond)
#define WAIT_MS(ms, cond)                                                      \
    do {                                                                       \
        struct harness_wait wait_;                                             \
        harness_wait_begin(&wait_, ms, __FILE__, __LINE__, #cond);             \
        while (!(cond))                                                        \
            harness_wait_turn(&wait_);                                         \
        harness_wait_end(&wait_);                                              \
    } while (0)

/* Of WAIT() only. */
struct harness_wait {
    const char *file;
    int line;
    const char *text;
    int64_t ms;
    int64_t end;
    struct event_base *base;
    struct event *tick;
};

void harness_wait_begin(struct harness_wait *w, int64_t ms, const char *file,
                        int line, const char *text);
void harness_wait_turn(struct harness_wait *w);
void harness_wait_end(struct harness_wait *w);

/*
 * What callbacks said, in order, as in "GRANTED SUSPENDED LOST(LEASE)": a
 * result other than 0 in brackets.  Zero-initialize it; one may serve several
 * objects.  It is the @arg of the callbacks below.
 */
struct recorder {
    char text[8192];
    size_t len;
    int count;    /* Events heard. */
    int last;     /* The last event ... */
    int rc;       /* ... and its result. */
    int finals;   /* RELEASED, LOST, FAILED, CLOSED. */
    int64_t when; /* now_ms() of the last. */
};

void recorder_on_session(evzk_session *session, evzk_session_event event,
                         int rc, void *arg);
void recorder_on_lock(evzk_lock *lock, evzk_lock_event event, int rc,
                      void *arg);
void recorder_clear(struct recorder *rec);

/* True if the record has that word: "LOST(LEASE)", or "LOST" for any reason. */
bool recorder_has(const struct recorder *rec, const char *word);

/*
 * The record without each "SUSPENDED RESUMED": a doubt that has passed, as a
 * machine that stood still brings about.  Valid until the next call.
 */
const char *recorder_story(const struct recorder *rec);

const char *session_event_name(evzk_session_event event);
const char *lock_event_name(evzk_lock_event event);

/*
 * A 1 ms timer on the base, and the largest gap between its runs.  Part of a
 * gap may be others' doing: stall_own_ms() leaves out what this thread waited
 * for a CPU, as the kernel counts it, and what a second thread stood still as
 * well.
 */
struct stall;

struct stall *stall_start(struct event_base *base);
void stall_reset(struct stall *stall);
double stall_max_ms(const struct stall *stall);
double stall_own_ms(const struct stall *stall);
void stall_stop(struct stall *stall);

/*
 * fork() for a test that plays several processes: the child dies with its
 * parent, and is to end with _exit().
 */
pid_t harness_fork(void);

/* Zeroed memory that the test shares with the processes it forks afterwards. */
void *harness_share(size_t size);
void harness_unshare(void *shared, size_t size);

/* Waits for it, at most 60 s; its exit status, or 128 + signal. */
int harness_join(pid_t pid);

#endif
