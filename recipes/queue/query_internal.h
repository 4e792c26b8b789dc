/* A look at a queue, as its table (query.c) and its count (count.c) know it. */
#ifndef EVZK_QUEUE_QUERY_INTERNAL_H
#define EVZK_QUEUE_QUERY_INTERNAL_H

#include "evzk/queue.h"
#include "recipes/parts/queue_layout.h"
#include "recipes/parts/read_all.h"

/* One of the first items of the queue. */
struct evzk__peeked {
    uint32_t priority;
    uint32_t segment; /* Its number in the list of segments. */
    int32_t seq;
    bool claimed;
};

/* What a look has found so far. */
struct evzk__count {
    uint32_t n_segments;
    struct evzk__segment *segments; /* Owned, in order. */
    struct evzk__read_all lists;    /* Their names. */
    uint64_t size, claimed, dead;
    uint32_t peek, n_peeked; /* How many are wanted; how many are known. */
    struct evzk__peeked peeked[EVZK_QUEUE_PEEK_MAX];
};

/* Forgets all but `peek`. */
void evzk__count_clear(struct evzk__count *c);

/* Takes the segments out of a listing of the queue.  0, or EVZK_ERR_NOMEM. */
int evzk__count_segments(struct evzk__count *c,
                         const struct evzk__names *names);

/* Counts the items and the claims in a listing of segment number i. */
void evzk__count_segment(struct evzk__count *c, uint32_t i,
                         const struct evzk__names *names);

/* Counts the items in the listing of a plain queue. */
void evzk__count_plain(struct evzk__count *c, const struct evzk__names *names);

/* The names of the first items, in the queue's directory.  0, or
 * EVZK_ERR_NOMEM. */
int evzk__count_names(const struct evzk__count *c, evzk_queue_layout layout,
                      struct evzk__read_all *all);

#endif
