/* Shares tasks out for a program that keeps them by itself: evzk_rebalance().
 *
 * How it can fail: by its arguments only, and then nothing has changed.
 */
#include <string.h>

#include "evzk/shards.h"
#include "lib/machine/refuse.h"
#include "recipes/shards/share.h"

static bool are_members(const uint16_t *owner, uint32_t n_tasks,
                        uint32_t n_members)
{
    for (uint32_t i = 0; i < n_tasks; i++) {
        if (owner[i] != EVZK_REBALANCE_NOBODY && owner[i] >= n_members)
            return false;
    }
    return true;
}

static bool is_bad(const evzk_rebalance_member *members, uint32_t n_members,
                   const uint16_t *before, const uint16_t *after,
                   uint32_t n_tasks)
{
    struct evzk__call c = evzk__call_of(NULL, "evzk_rebalance");

    return evzk__broken(&c, members || n_members == 0, "members",
                        EVZK__NOT_NULL) ||
           evzk__broken(&c, n_members <= EVZK_REBALANCE_MEMBERS_MAX,
                        "n_members",
                        "must be at most EVZK_REBALANCE_MEMBERS_MAX") ||
           evzk__broken(&c, after || n_tasks == 0, "after", EVZK__NOT_NULL) ||
           evzk__broken(&c, !before || are_members(before, n_tasks, n_members),
                        "before", "must be members, or nobody");
}

int evzk_rebalance(const evzk_rebalance_member *members, uint32_t n_members,
                   const uint16_t *before, uint16_t *after, uint32_t n_tasks)
{
    struct evzk__share s[EVZK__SHARE_MEMBERS];

    if (is_bad(members, n_members, before, after, n_tasks))
        return EVZK_ERR_INVAL;
    for (uint32_t i = 0; i < n_members; i++)
        s[i] = (struct evzk__share){.weight = members[i].weight,
                                    .most = members[i].most};
    for (uint32_t i = 0; i < n_tasks; i++)
        after[i] = before ? before[i] : EVZK_REBALANCE_NOBODY;
    evzk__share_out(s, n_members, after, n_tasks);
    return EVZK_OK;
}
