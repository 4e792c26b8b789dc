/* What `bench` measures: phases, each for a share of the time. */
#ifndef EVZK_COMMAND_BENCH_H
#define EVZK_COMMAND_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connect.h"

#define BENCH_RIVALS 8 /* Sessions. */
#define BENCH_MANY 100 /* Locks of one session at a time. */

/* A phase: so many contenders, each of which acquires and releases its lock
 * again and again. */
struct phase {
    const char *name, *what; /* For JSON; in words. */
    size_t contenders;
    bool one_path; /* All contend for one lock. */
    bool sessions; /* Each has a session of its own. */
};

struct bench;

struct contender {
    struct bench *bench;
    evzk_session *session; /* Borrowed. */
    evzk_lock *lock;
    int64_t asked_us;
    char path[4160];
};

/* The times from the call to GRANTED, in microseconds. */
struct samples {
    uint32_t *v;
    size_t n, room;
};

struct bench {
    struct connection connection;
    evzk_session *rivals[BENCH_RIVALS];
    size_t rivals_ready, rivals_left; /* Had a server; are not closed. */
    struct contender contenders[BENCH_MANY];
    size_t busy;  /* Contenders that have not ended. */
    size_t phase; /* The number of the phase. */
    bool sweeping;
    bool over;  /* The time of the phase is over, or a signal came. */
    int signo;  /* Which ended it, or 0. */
    int status; /* Of the first failure. */
    int64_t begun_us, ended_us;
    size_t rounds; /* Locks that were acquired and released. */
    struct samples samples;
    evzk_guard *guard;
    struct event *timer, *progress;
    const char *path; /* Locks are made below. */
    int64_t phase_ms; /* How long a phase lasts. */
    /* Called behind each phase; next: goes on with the next one, if any. */
    void (*report)(struct bench *b);
};

extern const struct phase bench_phases[];
extern const size_t bench_phase_count;

/* Begins with the first phase; events have been made. */
void bench_begin(struct bench *b);

/* Ends the phase that is under way: no lock is acquired any more. */
void bench_stop(struct bench *b);

/* Deletes what the other sessions have left, and ends all. */
void bench_sweep(struct bench *b);

/* The share of the samples that is not greater, in milliseconds. */
double bench_percentile(struct bench *b, double share);

#endif
