/*
 * What processes believed to hold, and when.  All append to one log lines of a
 * worker's number, an event, and the time by CLOCK_MONOTONIC in nanoseconds.
 * The events are
 *
 *   w r   acquire() has returned: a writer (or the mutex), a reader
 *   E     release() is about to be called
 *   S C   the library says: the connection is suspended; it is there (again)
 *   X     the library says: the session is lost
 *   D     evzk only: in doubt; the time is the end of the lease, and may come
 *   L     evzk only: the lock is lost
 *   K     the worker was killed
 */
#ifndef TESTS_REAL_TEST_BELIEFS_H
#define TESTS_REAL_TEST_BELIEFS_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test_lock.h"

enum { WORKERS_MAX = 96 };

struct belief {
    int who;
    bool writes;
    int64_t begin, end; /* INT64_MAX: it lasts. */
    char how;           /* The event that ended it. */
};

/* What the log says of a worker so far. */
struct story {
    bool met, suspended, held, writes;
    int last; /* Its last belief; -1: none. */
    int64_t grants, expiries;
};

struct beliefs {
    struct story of[WORKERS_MAX];
    struct belief *v;
    int n, size;
};

static inline int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* In one write(): lines of several processes do not mix. */
static inline void belief_say(const char *log, int who, char event, int64_t ns)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    char line[64];
    int n = snprintf(line, sizeof line, "%d %c %" PRId64 "\n", who, event, ns);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, line, (size_t)n), n);
    close(fd);
}

static inline bool belief_lasts(const struct beliefs *b, int who)
{
    int last = b->of[who].last;

    return last >= 0 && b->v[last].end == INT64_MAX;
}

static inline void belief_begin(struct beliefs *b, int who, int64_t ns)
{
    if (b->n == b->size) {
        b->size = b->size ? 2 * b->size : 1024;
        b->v = realloc(b->v, (size_t)b->size * sizeof *b->v);
        ck_assert_ptr_nonnull(b->v);
    }
    b->of[who].last = b->n;
    b->v[b->n++] = (struct belief){
        .who = who, .writes = b->of[who].writes, .begin = ns, .end = INT64_MAX};
}

static inline void belief_end(struct beliefs *b, int who, char how, int64_t ns)
{
    int last = b->of[who].last;

    if (last < 0 || b->v[last].end <= ns)
        return;
    b->v[last].end = ns > b->v[last].begin ? ns : b->v[last].begin;
    b->v[last].how = how;
}

/* A belief that was to end with a lease, and has not yet, goes on. */
static inline void belief_go_on(struct beliefs *b, int who, int64_t ns)
{
    int last = b->of[who].last;

    if (last >= 0 && b->v[last].end > ns)
        b->v[last].end = INT64_MAX;
    else
        belief_begin(b, who, ns);
}

static inline void belief_hear(struct beliefs *b, int who, char event,
                               int64_t ns)
{
    struct story *of = &b->of[who];

    of->met = true;
    switch (event) {
    case 'w':
    case 'r':
        of->grants++;
        of->held = true;
        of->writes = event == 'w';
        if (!of->suspended)
            belief_begin(b, who, ns);
        return;
    case 'C':
        of->suspended = false;
        if (of->held)
            belief_go_on(b, who, ns);
        return;
    }
    belief_end(b, who, event, ns);
    of->expiries += event == 'X';
    of->held = of->held && (event == 'S' || event == 'D');
    of->suspended = event == 'S' || (of->suspended && event != 'K');
}

/* Reads the log from its beginning. */
static inline void beliefs_read(struct beliefs *b, const char *log)
{
    FILE *file = fopen(log, "r");
    int64_t ns;
    char event;
    int who;

    ck_assert_ptr_nonnull(file);
    memset(b->of, 0, sizeof b->of);
    b->n = 0;
    for (int i = 0; i < WORKERS_MAX; i++)
        b->of[i].last = -1;
    while (fscanf(file, "%d %c %" SCNd64, &who, &event, &ns) == 3) {
        ck_assert(who >= 0 && who < WORKERS_MAX);
        belief_hear(b, who, event, ns);
    }
    fclose(file);
}

static inline int by_begin(const void *a, const void *b)
{
    const struct belief *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

#endif
