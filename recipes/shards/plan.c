/* A plan: which member is to lead which shard. */
#include "recipes/shards/plan.h"

#include <string.h>

#include "evzk/error.h"
#include "lib/base/mem.h"

bool evzk__shards_is_member(const char *name, struct evzk__contender *c)
{
    static const struct evzk__mark marks[] = {{"-n_", EVZK__WHOLE}, {NULL, 0}};

    return evzk__contender_parse(name, marks, c);
}

void evzk__plan_free(struct evzk__plan *p)
{
    evzk__free(p->member);
    evzk__free(p->owner);
    evzk__free(p->text);
    *p = (struct evzk__plan){0};
}

int evzk__plan_room(struct evzk__plan *p)
{
    p->member = evzk__zalloc(p->n_members * sizeof *p->member);
    p->owner = evzk__zalloc(p->n_shards * sizeof *p->owner);
    return p->member && p->owner ? EVZK_OK : EVZK_ERR_NOMEM;
}

uint16_t evzk__plan_find(const struct evzk__plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (strcmp(p->member[i].name, name) == 0)
            return (uint16_t)i;
    }
    return EVZK__NOBODY;
}

bool evzk__plan_is_of(const struct evzk__plan *p,
                      const struct evzk__shard_list *shards)
{
    return p->n_shards == shards->n && p->names == shards->names;
}

bool evzk__plan_is_for(const struct evzk__plan *p, const struct evzk__member *v,
                       uint32_t n, const struct evzk__shard_list *shards)
{
    if (p->version == 0 || p->n_members != n || !evzk__plan_is_of(p, shards))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (evzk__plan_find(p, v[i].name) == EVZK__NOBODY)
            return false;
    }
    return true;
}

uint32_t evzk__plan_moves(const struct evzk__plan *p,
                          const struct evzk__plan *prev)
{
    uint32_t moves = 0;

    for (uint32_t i = 0; i < p->n_shards && i < prev->n_shards; i++) {
        uint16_t was = prev->owner[i], is = p->owner[i];

        if (was != EVZK__NOBODY)
            moves += is == EVZK__NOBODY ||
                     strcmp(prev->member[was].name, p->member[is].name) != 0;
    }
    return moves;
}

bool evzk__member_same(const struct evzk__member *a,
                       const struct evzk__member *b)
{
    return strcmp(a->name, b->name) == 0 && a->weight == b->weight &&
           a->most == b->most && a->len == b->len &&
           (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

bool evzk__plan_same(const struct evzk__plan *a, const struct evzk__plan *b)
{
    bool same = a->version == b->version && a->n_shards == b->n_shards &&
                a->names == b->names && a->n_members == b->n_members;

    for (uint32_t i = 0; same && i < a->n_members; i++)
        same = evzk__member_same(&a->member[i], &b->member[i]);
    return same &&
           (a->n_shards == 0 ||
            memcmp(a->owner, b->owner, a->n_shards * sizeof *a->owner) == 0);
}

uint64_t evzk__plan_number(uint64_t seen, uint64_t known)
{
    seen = seen < EVZK__PLAN_VERSION_MAX ? seen : 0;
    known = known < EVZK__PLAN_VERSION_MAX ? known : 0;
    return (seen > known ? seen : known) + 1;
}
