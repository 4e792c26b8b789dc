/* What a planner reads: the members' znodes, and the plan that is there. */
#include "recipes/shards/planner_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

void evzk__planner_clear(struct evzk__planner *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        evzk__free(p->names[i]);
        evzk__free(p->texts[i]);
    }
    evzk__free(p->names);
    evzk__free(p->texts);
    evzk__free(p->member);
    evzk__free(p->text);
    evzk__plan_free(&p->prev);
    evzk__plan_free(&p->next);
    p->names = NULL;
    p->texts = NULL;
    p->member = NULL;
    p->text = NULL;
    p->n = 0;
    p->there = p->cut = false;
    p->failed = p->denied = EVZK_OK;
}

static int in_order(const void *pa, const void *pb)
{
    const char *a = *(char *const *)pa, *b = *(char *const *)pb;
    struct evzk__contender ca = {0}, cb = {0};

    evzk__shards_is_member(strrchr(a, '/') + 1, &ca);
    evzk__shards_is_member(strrchr(b, '/') + 1, &cb);
    return evzk__contender_before(&ca, &cb) ? -1 : 1;
}

int evzk__planner_copy_names(struct evzk__planner *p,
                             const struct evzk__names *names)
{
    struct evzk__contender c;

    p->names = evzk__zalloc((names->n + 1) * sizeof *p->names);
    p->texts = evzk__zalloc((names->n + 1) * sizeof *p->texts);
    p->member = evzk__zalloc((names->n + 1) * sizeof *p->member);
    if (!p->names || !p->texts || !p->member)
        return EVZK_ERR_NOMEM;
    for (size_t i = 0; i < names->n; i++) {
        if (!evzk__shards_is_member(names->v[i], &c))
            continue;
        p->names[p->n] = evzk__concat(EVZK__SHARDS_MEMBERS "/", names->v[i]);
        if (!p->names[p->n])
            return EVZK_ERR_NOMEM;
        p->n++;
    }
    if (p->n > 1)
        qsort(p->names, p->n, sizeof *p->names, in_order);
    return EVZK_OK;
}

/* A znode that no session owns (a restored copy, say) is no member: it leads
 * nothing, and never goes by itself. */
static int note_member(struct evzk__planner *p, uint32_t i,
                       const struct evzk__result *res)
{
    struct evzk__member *to = &p->member[i];
    uint64_t ready;

    if (res->stat.owner == 0)
        return EVZK_OK;
    p->texts[i] = evzk__memdup(res->data, res->len);
    if (!p->texts[i])
        return EVZK_ERR_NOMEM;
    if (!evzk__member_parse(to, &ready, p->texts[i], res->len))
        return EVZK_ERR_FOREIGN;
    to->name = strrchr(p->names[i], '/') + 1;
    if (to->names != p->shards.names)
        to->weight = 0; /* Its shards are others: it could lead none of ours. */
    return EVZK_OK;
}

static int note_plan(struct evzk__planner *p, const struct evzk__result *res)
{
    int rc = evzk__plan_parse(&p->prev, res->data, res->len);

    p->there = true;
    p->version = res->stat.version;
    return rc == EVZK_ERR_INVAL ? EVZK_OK : rc; /* Not a plan. */
}

void evzk__planner_note(struct evzk__planner *p,
                        const struct evzk__reply *reply)
{
    int rc = reply->rc;

    if (rc == EVZK_OK)
        rc = reply->part < p->n ? note_member(p, reply->part, reply->res)
                                : note_plan(p, reply->res);
    if (rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_NOMEM)
        p->cut = true;
    else if ((rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_FOREIGN) &&
             reply->part < p->n)
        p->denied = rc; /* Counts as without data. */
    else if (rc != EVZK_OK && rc != EVZK_ERR_NONODE)
        p->failed = rc;
}

/* Leaves out znodes that have gone meanwhile, or do not hold a member's data.
 * Where there are too many members, those that came last wait. */
uint32_t evzk__planner_pack(struct evzk__planner *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->n && kept < EVZK__PLAN_MEMBERS; i++) {
        if (p->member[i].name)
            p->member[kept++] = p->member[i];
    }
    return kept;
}
