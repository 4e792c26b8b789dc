/*
 * The raw client with a list of work, as the raw ways of several recipes use
 * it: a piece of work is begun when there is room for its requests.  As many
 * requests are in flight as the library's default.
 */
#ifndef TESTS_BENCH_RAW_WAY_H
#define TESTS_BENCH_RAW_WAY_H

#include "bench.h"
#include "plain.h"

/* What a way does for each piece of its work. */
struct raw_work {
    void (*start)(int i); /* Sends at most @requests. */
    void (*stop)(int i);  /* Likewise; NULL: there is nothing to stop. */
    bool (*ready)(void);  /* May the next one begin?  NULL: always. */
    int requests;
    int window; /* At most so many in flight; 0: WINDOW. */
};

struct raw {
    struct plain p;
    struct run *run;
    const struct raw_work *work;
    struct plain_todo todo; /* Number @i, to be started, or ~i: stopped. */
    int flying;             /* Requests. */
    char dir[PATH_SIZE];    /* The first path of the run. */
};

extern struct raw raw;

static inline int raw_number(const void *data) { return (int)(intptr_t)data; }

static inline const void *raw_data(int i) { return (const void *)(intptr_t)i; }

/* Count a request; both fail unless it went well. */
void raw_sent(int rc, const char *what);
void raw_answered(int rc, const char *what);

/* Runs the loop until nothing is in flight. */
void raw_await_answers(void);

/* These are parts of a way; see there. */
void raw_begin(struct run *r, const char *servers, const struct raw_work *work);
void raw_start(int i);
void raw_stop(int i);
bool raw_busy(void);
bool raw_connected(void);
void raw_end(void);

#define RAW_WAY(title, lacks, opens, closes)                                   \
    {                                                                          \
        .name = (title), .note = (lacks), .open = (opens),                     \
        .acquire = raw_start, .release = raw_stop, .busy = raw_busy,           \
        .connected = raw_connected, .close = (closes)                          \
    }

#endif
