/* How one plan follows from another, and whether a plan is to be believed.
 *
 * The next plan shares the shards out among the members (shards/share.c): each
 * member has its share, and no shard moves that could stay.
 *
 * How it can fail: any client may write a plan to the znode.  So a plan is
 * believed only if it gives each member the share that this file would have
 * given.
 */
#include <string.h>

#include "evzk/error.h"
#include "lib/base/mem.h"
#include "recipes/shards/plan.h"
#include "recipes/shards/share.h"

static void set_members(struct evzk__share *s, const struct evzk__plan *p)
{
    for (uint32_t i = 0; i < p->n_members; i++)
        s[i] = (struct evzk__share){.weight = p->member[i].weight,
                                    .most = p->member[i].most};
}

/* Of the members that are still there: which had each shard before.  In a plan
 * for other names the same number stands for another shard. */
static void keep_owners(struct evzk__plan *p, const struct evzk__plan *prev)
{
    uint16_t now[EVZK__PLAN_MEMBERS];
    uint32_t known = prev->names == p->names ? prev->n_shards : 0;

    for (uint32_t i = 0; i < prev->n_members; i++)
        now[i] = evzk__plan_find(p, prev->member[i].name);
    for (uint32_t i = 0; i < p->n_shards; i++) {
        uint16_t was = i < known ? prev->owner[i] : EVZK__NOBODY;

        p->owner[i] = was != EVZK__NOBODY ? now[was] : EVZK__NOBODY;
    }
}

static int copy_members(struct evzk__plan *p, const struct evzk__member *v)
{
    size_t n = 1;
    char *to;

    for (uint32_t i = 0; i < p->n_members; i++)
        n += strlen(v[i].name) + 1 + v[i].len;
    p->text = to = evzk__zalloc(n);
    if (!to)
        return EVZK_ERR_NOMEM;
    for (uint32_t i = 0; i < p->n_members; i++) {
        p->member[i] = v[i];
        p->member[i].name = to;
        to = stpcpy(to, v[i].name) + 1;
        p->member[i].data = to;
        if (v[i].len > 0)
            memcpy(to, v[i].data, v[i].len);
        to += v[i].len;
    }
    return EVZK_OK;
}

int evzk__plan_next(struct evzk__plan *p, const struct evzk__plan *prev,
                    const struct evzk__member *v, uint32_t n,
                    const struct evzk__shard_list *shards)
{
    struct evzk__share s[EVZK__PLAN_MEMBERS];
    int rc;

    *p = (struct evzk__plan){.version =
                                 prev->version % EVZK__PLAN_VERSION_MAX + 1,
                             .n_shards = shards->n,
                             .names = shards->names,
                             .n_members = n};
    rc = evzk__plan_room(p);
    if (rc == EVZK_OK)
        rc = copy_members(p, v);
    if (rc == EVZK_OK) {
        keep_owners(p, prev);
        set_members(s, p);
        evzk__share_out(s, n, p->owner, p->n_shards);
    } else
        evzk__plan_free(p);
    return rc;
}

/* A member that is named twice finds only the shards of the first entry. */
static bool has_twice(const struct evzk__plan *p)
{
    for (uint32_t i = 1; i < p->n_members; i++) {
        if (evzk__plan_find(p, p->member[i].name) != i)
            return true;
    }
    return false;
}

bool evzk__plan_is_even(const struct evzk__plan *p)
{
    struct evzk__share s[EVZK__PLAN_MEMBERS];

    if (p->version == 0 || p->n_members == 0 ||
        p->n_members > EVZK__PLAN_MEMBERS || has_twice(p))
        return false;
    set_members(s, p);
    return evzk__share_is_even(s, p->n_members, p->owner, p->n_shards);
}

bool evzk__plan_is_right(const struct evzk__plan *p,
                         const struct evzk__member *v, uint32_t n,
                         const struct evzk__shard_list *shards)
{
    if (!evzk__plan_is_for(p, v, n, shards))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!evzk__member_same(&p->member[evzk__plan_find(p, v[i].name)],
                               &v[i]))
            return false;
    }
    return evzk__plan_is_even(p);
}
