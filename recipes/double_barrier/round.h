/* A round of a double barrier, as the znodes of its directory say it: the text
 * of `ready`, and the participants in a listing. */
#ifndef EVZK_DOUBLE_BARRIER_ROUND_H
#define EVZK_DOUBLE_BARRIER_ROUND_H

#include "lib/base/order.h"

/* A participant's znode is named <guid>-in-<number>; no other name is one. */
#define EVZK__IN "-in-"
#define EVZK__READY "ready"

extern const struct evzk__mark evzk__round_marks[];

/* What `ready` says: the participants up to the number `last` are in the round.
 * The lowest of them had the znode `first` when the round was formed.  The
 * round is of the directory that was made with the czxid `dir`: in a copy of
 * the tree, or in a directory that was made anew, nobody is in it. */
struct evzk__round {
    int32_t last;
    int64_t dir;
    char first[EVZK__NAME_MAX];
};

enum { EVZK__ROUND_TEXT = 48 + EVZK__NAME_MAX };

/* Writes the text of `ready`; returns its length. */
size_t evzk__round_print(char text[EVZK__ROUND_TEXT],
                         const struct evzk__round *round);

/* False: that is no text of `ready`. */
bool evzk__round_parse(struct evzk__round *round, const void *data, size_t len);

/* Is the participant with this number in the round? */
bool evzk__round_covers(const struct evzk__round *round, int32_t seq);

/* Those of a round that a listing shows, but for those up to `past_low`, and
 * from `past_high` on: names of participants, or "". */
struct evzk__round_left {
    size_t n;
    const char *lowest, *highest; /* Borrowed from the listing. */
};
struct evzk__round_left evzk__round_left(const struct evzk__round *round,
                                         const char *past_low,
                                         const char *past_high,
                                         const struct evzk__names *names);

/* All participants of a listing, in order.  NULL: no memory. */
struct evzk__contender *evzk__round_sort(const struct evzk__names *names,
                                         size_t *n);

#endif
