/* The turns of endpoints: of each endpoint of a resolver a small record, in the
 * order in which the endpoints are picked.  Knows neither the group nor the
 * clock, and draws no lots: so it can be tried by itself. */
#ifndef EVZK_TURNS_H
#define EVZK_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <bsd/sys/tree.h>

struct evzk__turn {
    RB_ENTRY(evzk__turn) by_name;
    TAILQ_ENTRY(evzk__turn) link; /* If the weight is not 0. */
    uint64_t token;
    int64_t failed_us; /* When it failed, if it did. */
    uint32_t weight;   /* 0: it has no turn. */
    bool has_failed;
    char name[];
};

RB_HEAD(evzk__turns_tree, evzk__turn);
TAILQ_HEAD(evzk__turns_list, evzk__turn);

struct evzk__turns {
    struct evzk__turns_tree all;
    struct evzk__turns_list good;   /* The next one first. */
    struct evzk__turns_list failed; /* The oldest failure first. */
};

void evzk__turns_init(struct evzk__turns *t);
void evzk__turns_clear(struct evzk__turns *t);

/* Adds this name, or changes it; false: no memory, and nothing has changed.  A
 * new name, another token, and a weight that was 0 come last. */
bool evzk__turns_set(struct evzk__turns *t, const char *name, uint64_t token,
                     uint32_t weight);
void evzk__turns_remove(struct evzk__turns *t, const char *name);

/* NULL: there is none of this name and token; any token, if it is 0. */
struct evzk__turn *evzk__turns_find(struct evzk__turns *t, const char *name,
                                    uint64_t token);

/* The one whose turn it is, or NULL: the first that has not failed, which comes
 * last from now on; else the one whose failure is oldest. */
const struct evzk__turn *evzk__turns_next(struct evzk__turns *t);

/* The one that `lot` falls on, by weight, of those that have not failed; or
 * NULL.  Every number is a good lot. */
const struct evzk__turn *evzk__turns_draw(struct evzk__turns *t, uint64_t lot);

/* Notes a failure, at `now_us`, which no earlier failure is after; its end; and
 * the end of all failures before `until_us`. */
void evzk__turns_fail(struct evzk__turns *t, struct evzk__turn *n,
                      int64_t now_us);
void evzk__turns_mend(struct evzk__turns *t, struct evzk__turn *n);
void evzk__turns_forgive(struct evzk__turns *t, int64_t until_us);

#endif
