/* The order of contenders in a directory: which one does a contender wait for?
 *
 * A directory has one queue, in the order of sequence numbers.  Contenders with
 * a priority wait by priority before they enter the queue: see
 * recipes/lock/priority.c. */
#ifndef EVZK_ORDER_H
#define EVZK_ORDER_H

#include "lib/base/name.h"

/* The part of a contender's name before the number, and what it means. */
struct evzk__mark {
    const char *text; /* NULL: the end of an array. */
    uint8_t flags;
};

enum {
    EVZK__SHARES = 1,   /* Holds together with others that share. */
    EVZK__MOVES = 2,    /* Another name of the same number may replace it. */
    EVZK__WAITS = 4,    /* Waits by priority, and is not in the queue. */
    EVZK__COMMON = 8,   /* Contenders of other libraries wait for it, too. */
    EVZK__STRANGE = 16, /* No contender here: it does not wait for ours. */
    EVZK__WHOLE = 32    /* Only behind a GUID, and nothing else. */
};

/* Which names count.  A recipe that keeps others out (a lock, an
 * election, a semaphore) takes each name with its mark and a number for a
 * contender's, whatever is before them: to wait for one too many does less harm
 * than two holders, and other programs choose other prefixes.  A recipe that
 * counts who has come (a double barrier, the members of shards) takes only
 * names that are EVZK__WHOLE: one too many there lets somebody in too early, or
 * gives work to nobody. */

struct evzk__contender {
    const char *name; /* Borrowed. */
    int32_t seq;
    uint8_t flags;
    uint8_t priority; /* 0: the most urgent, or the name has no priority. */
    int64_t handicap; /* Added to the number, while it waits by priority. */
};

/* Parses "<some prefix><mark><sequence>", or, of a mark that is EVZK__WHOLE,
 * "<guid><mark><sequence>" and nothing else; some prefix may end in a priority,
 * as evzk__priority_print() writes it.  False: no contender has such a name, or
 * it is refused. */
bool evzk__contender_parse(const char *name, const struct evzk__mark *marks,
                           struct evzk__contender *c);

/* Does a come before b?  Both wait by priority, or both are in the queue. */
bool evzk__contender_before(const struct evzk__contender *a,
                            const struct evzk__contender *b);

/* Must b wait while a is before it? */
bool evzk__contender_bars(const struct evzk__contender *a,
                          const struct evzk__contender *b);

/* Writes "-p<priority>a<ageing>".  A contender that is less urgent by 1 counts
 * as come `ageing` contenders later; 0: later than all. */
enum { EVZK__PRIORITY_MAX = 20 };
void evzk__priority_print(char out[EVZK__PRIORITY_MAX], uint8_t priority,
                          uint32_t ageing);

/* Names of contenders of other libraries in a listing; NULL: none. */
struct evzk__strangers {
    const char *any;    /* Waits for no contender of evzk. */
    const char *common; /* Waits only for contenders that are EVZK__COMMON. */
};

/* The contenders of a listing in order: made once for all machines that share
 * the listing. */
struct evzk__ordered {
    size_t n, queued; /* All; those in the queue, which come first in `v`. */
    struct evzk__entry *v;
    struct evzk__strangers strangers;
    const struct evzk__mark *marks; /* Those by which it was put in order. */
    bool failed; /* No memory, or no order: see evzk__order(). */
};

/* Was there no memory to put the listing in order? */
static inline bool evzk__ordered_short(const struct evzk__ordered *ordered)
{
    return ordered->failed && !ordered->v;
}

struct evzk__order {
    const char *pred;    /* The nearest contender to wait for; or NULL. */
    const char *foreign; /* A contender of another library that would not wait
                            for `own`; or NULL. */
    size_t before;       /* How many contenders come before `own`. */
    bool found;          /* `own` is in the listing. */
    bool next;           /* When `pred` has gone, `own` is first. */
};

/* Finds `own` in a listing, and the contender that it waits for: by binary
 * search in an ordered listing, else by a look at every name. */
void evzk__order(struct evzk__order *s, const struct evzk__names *names,
                 const struct evzk__mark *marks, const char *own);

/* In an ordered listing, for a contender that has just begun to wait by
 * priority: finds those that were there and must wait for it from now on.
 * Copies pointers to their names to `out`, unless that is NULL; returns how
 * many. */
size_t evzk__passed(const struct evzk__ordered *ordered,
                    const struct evzk__contender *own, char **out);

/* In an ordered listing: is a contender in the queue less urgent than `own`,
 * before it, and in its way? */
bool evzk__blocked_by_less(const struct evzk__ordered *ordered,
                           const struct evzk__contender *own);

void evzk__ordered_free(struct evzk__ordered *ordered);

#endif
