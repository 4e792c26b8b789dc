/* Shares tasks out: how many each member gets, and which.  Planner and
 * evzk_rebalance() call the same functions.
 */
#ifndef EVZK_SHARDS_SHARE_H
#define EVZK_SHARDS_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    EVZK__SHARE_MEMBERS = 512, /* At most. */
    EVZK__SHARE_NOBODY = 0xffff
};

/* A member, and its share.  The caller sets the weight and the limit, and all
 * else to 0. */
struct evzk__share {
    uint32_t weight; /* Its share is by weight; 0: it gets no task. */
    uint32_t most;   /* The most tasks that it gets; 0: any number. */
    uint32_t want, have, kept;
    bool full; /* `want` is final. */
};

/* owner[] has the member that had each task before, or NOBODY; and then the
 * member that is to have it, or NOBODY: all members have their most. */
void evzk__share_out(struct evzk__share *s, uint32_t n_members, uint16_t *owner,
                     uint32_t n_tasks);

/* Has every member exactly its share? */
bool evzk__share_is_even(struct evzk__share *s, uint32_t n_members,
                         const uint16_t *owner, uint32_t n_tasks);

#endif
