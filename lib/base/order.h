/* Where a contender stands: whom it has to wait for.
 *
 * A directory has one queue, in the order of sequence numbers, and may have a
 * room before it, where contenders wait that are not all alike: see
 * recipes/lock/priority.c. */
#ifndef EVZK_STAND_H
#define EVZK_STAND_H

#include "lib/base/name.h"

/* What a contender of one kind says in its name, before the number. */
struct evzk__mark {
    const char *text; /* NULL: the end of an array. */
    uint8_t flags;
};

enum {
    EVZK__SHARES = 1, /* It holds together with others that share. */
    EVZK__MOVES = 2,  /* Another name of the same number may take its place. */
    EVZK__WAITS = 4,  /* It is in the room, and not in the queue. */
    EVZK__COMMON = 8  /* Other libraries wait for it, too. */
};

struct evzk__contender {
    const char *name; /* Borrowed. */
    int32_t seq;
    uint8_t flags;
    uint8_t priority; /* 0: the most urgent, and who does not say. */
    int64_t handicap; /* In the room: it counts as come so much later. */
};

/* Reads "<some prefix><mark><sequence>"; the prefix may end in a priority, as
 * evzk__priority_print() writes it.  False: the name is no contender's. */
bool evzk__contender_parse(const char *name, const struct evzk__mark *marks,
                           struct evzk__contender *c);

/* Among those in the room, and among those in the queue. */
bool evzk__contender_before(const struct evzk__contender *a,
                            const struct evzk__contender *b);

/* Has b to wait while a is before it? */
bool evzk__contender_bars(const struct evzk__contender *a,
                          const struct evzk__contender *b);

/* "-p<priority>a<ageing>": one that is by 1 less urgent counts as come by
 * `ageing` contenders later; 0: later than all. */
enum { EVZK__PRIORITY_MAX = 20 };
void evzk__priority_print(char out[EVZK__PRIORITY_MAX], uint8_t priority,
                          uint32_t ageing);

/* Contenders of other libraries in a listing, by their names; NULL: none. */
struct evzk__strangers {
    const char *any;    /* It waits for none of ours. */
    const char *common; /* It waits for those alone that are EVZK__COMMON. */
};

/* A listing's contenders in order: made once for all who look at it. */
struct evzk__roll {
    size_t n, queued; /* All; those in the queue, which are first. */
    struct evzk__place *v;
    struct evzk__strangers strangers;
    bool failed; /* No memory, or no order: each looks for itself. */
};

/* No memory to put it in order: a look by itself is through all names. */
static inline bool evzk__roll_short(const struct evzk__roll *roll)
{
    return roll->failed && !roll->v;
}

struct evzk__stand {
    const char *pred;    /* The nearest that it has to wait for; or NULL. */
    const char *foreign; /* Another library's, that would not wait for it; or
                            NULL. */
    size_t before;       /* How many of its kind come before it. */
    bool found;          /* It is there itself. */
    bool next;           /* When `pred` has gone, it is first. */
};

/* Finds `own` in a listing, and whom it waits for. */
void evzk__stand(struct evzk__stand *s, const struct evzk__names *names,
                 const struct evzk__mark *marks, const char *own);

/* Of a roll that was made, for one that has just come into the room: those that
 * were there, and have to wait for it from now on.  Their names go to `out`,
 * when that is not NULL; returns how many. */
size_t evzk__passed(const struct evzk__roll *roll,
                    const struct evzk__contender *own, char **out);

/* The same: is one in the queue less urgent, before it, and in its way? */
bool evzk__held_by_less(const struct evzk__roll *roll,
                        const struct evzk__contender *own);

void evzk__roll_free(struct evzk__roll *roll);

#endif
