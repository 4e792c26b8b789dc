/*
 * A queue by the C client without any library, as the recipes page has it: what
 * the two raw ways share.  A put is one create.  As many requests are in flight
 * as the library's default.
 */
#ifndef TESTS_BENCH_RAW_QUEUE_H
#define TESTS_BENCH_RAW_QUEUE_H

#include "bench.h"
#include "plain.h"

struct raw_queue {
    struct plain p;
    struct run *run;
    struct plain_todo todo; /* An item to put, or ~item to take. */
    int flying;             /* Requests. */
    bool claimed;           /* An ephemeral znode stands beside each item that
                               is worked on. */
    char dir[PATH_SIZE];
};

extern struct raw_queue raw_queue;

static inline int number_of(const void *data) { return (int)(intptr_t)data; }

static inline const void *as_data(int i) { return (const void *)(intptr_t)i; }

/* The path of item @seq, or of its claim. */
void raw_queue_item(int32_t seq, char path[PATH_SIZE]);
void raw_queue_claim(int32_t seq, char path[PATH_SIZE]);

/* The numbers of a listing's items without a claim, in order; owned by the
 * caller. */
int32_t *raw_queue_sort(const struct String_vector *names, int *n);

/* These are parts of a way; see there. */
void raw_queue_open(struct run *r, const char *servers, bool claimed,
                    void (*turn)(void));
bool raw_queue_busy(void);
bool raw_queue_connected(void);
void raw_queue_ask_put(int i);
void raw_queue_ask_take(int i);

/* Deletes what was not taken, and closes. */
void raw_queue_close(void);

void raw_queue_put(int i);

#endif
