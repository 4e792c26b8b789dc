/* How one plan follows from another, and whether a plan is to be believed.
 *
 * The next plan gives each member its share: its part by weight, rounded down.
 * The shards that are left over go one by one to members that have more than
 * that already, then to the others.  Each member keeps its shards, up to its
 * share.  Shards above a member's share, and shards without a member, go in
 * turn to members with less than their share.  So no shard moves that could
 * stay.
 *
 * How it can fail: any client may write a plan to the znode.  So a plan is
 * believed only if it gives each member the share that this file would have
 * given.
 */
#include "recipes/shards/plan.h"

#include <string.h>

#include "evzk/error.h"
#include "lib/base/mem.h"

struct share {
    uint32_t want, have, kept;
    bool full; /* `want` is final. */
};

static uint32_t limit_of(const struct evzk__member *m)
{
    return m->weight == 0 ? 0 : m->most ? m->most : UINT32_MAX;
}

/* The weight of the members that are not full, and the shards for them. */
static uint64_t open_weight(const struct evzk__plan *p, const struct share *s,
                            uint32_t *left)
{
    uint64_t weight = 0;

    *left = p->n_shards;
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (s[i].full)
            *left -= s[i].want;
        else
            weight += p->member[i].weight;
    }
    return weight;
}

/* A member's part of the shards that are left, by weight.  True: the member has
 * reached its limit, and is full. */
static bool share_one(const struct evzk__member *m, struct share *s,
                      uint64_t weight, uint32_t left)
{
    uint32_t limit = limit_of(m);

    s->want = weight ? (uint32_t)(m->weight * (uint64_t)left / weight) : 0;
    if (s->want < limit)
        return false;
    s->want = limit;
    s->full = true;
    return true;
}

/* Shares by weight, rounded down.  A member that reaches its limit is full, and
 * the others share what it leaves.  Returns how many shards are left over. */
static uint32_t share_out(const struct evzk__plan *p, struct share *s)
{
    for (;;) {
        uint32_t left, given = 0;
        uint64_t weight = open_weight(p, s, &left);
        bool again = false;

        for (uint32_t i = 0; i < p->n_members; i++) {
            if (s[i].full)
                continue;
            if (share_one(&p->member[i], &s[i], weight, left))
                again = true;
            given += s[i].want;
        }
        if (!again)
            return left - given;
    }
}

/* The shards left over, fewer than there are members: one each, first to
 * members that have more than their share already. */
static void share_rest(const struct evzk__plan *p, struct share *s,
                       uint32_t left)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < p->n_members && left > 0; i++) {
            if (s[i].full || (round == 0 && s[i].have <= s[i].want))
                continue;
            s[i].want++;
            s[i].full = true; /* One for each. */
            left--;
        }
    }
}

/* Of the members that are still there: which had each shard before. */
static void keep_owners(struct evzk__plan *p, const struct evzk__plan *prev,
                        struct share *s)
{
    uint16_t now[EVZK__PLAN_MEMBERS];

    for (uint32_t i = 0; i < prev->n_members; i++)
        now[i] = evzk__plan_find(p, prev->member[i].name);
    for (uint32_t i = 0; i < p->n_shards; i++) {
        uint16_t was = i < prev->n_shards ? prev->owner[i] : EVZK__NOBODY;

        p->owner[i] = EVZK__NOBODY;
        if (was != EVZK__NOBODY)
            p->owner[i] = now[was];
        if (p->owner[i] != EVZK__NOBODY)
            s[p->owner[i]].have++;
    }
}

static uint32_t next_with_room(const struct evzk__plan *p,
                               const struct share *s, uint32_t from)
{
    for (uint32_t n = 0; n < p->n_members; n++) {
        uint32_t i = (from + n) % p->n_members;

        if (s[i].kept < s[i].want)
            return i;
    }
    return EVZK__NOBODY;
}

static void deal(struct evzk__plan *p, struct share *s)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < p->n_shards; i++) {
        uint16_t own = p->owner[i];

        if (own != EVZK__NOBODY && s[own].kept < s[own].want)
            s[own].kept++;
        else
            p->owner[i] = EVZK__NOBODY;
    }
    for (uint32_t i = 0; i < p->n_shards; i++) {
        if (p->owner[i] != EVZK__NOBODY)
            continue;
        at = next_with_room(p, s, at);
        if (at == EVZK__NOBODY)
            return; /* All members are full. */
        p->owner[i] = (uint16_t)at;
        s[at++].kept++;
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
                    const struct evzk__member *v, uint32_t n, uint32_t n_shards)
{
    struct share *s = evzk__zalloc((n + 1) * sizeof *s);
    int rc;

    *p = (struct evzk__plan){.version =
                                 prev->version % EVZK__PLAN_VERSION_MAX + 1,
                             .n_shards = n_shards,
                             .n_members = n};
    rc = s ? evzk__plan_room(p) : EVZK_ERR_NOMEM;
    if (rc == EVZK_OK)
        rc = copy_members(p, v);
    if (rc == EVZK_OK) {
        keep_owners(p, prev, s);
        share_rest(p, s, share_out(p, s));
        deal(p, s);
    } else
        evzk__plan_free(p);
    evzk__free(s);
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

/* The shares follow from the weights, and from which members have one more
 * already: for a plan that this file made, they come out as they are. */
bool evzk__plan_is_even(const struct evzk__plan *p)
{
    struct share s[EVZK__PLAN_MEMBERS] = {{0}};

    if (p->version == 0 || p->n_members == 0 ||
        p->n_members > EVZK__PLAN_MEMBERS || has_twice(p))
        return false;
    for (uint32_t i = 0; i < p->n_shards; i++) {
        if (p->owner[i] != EVZK__NOBODY)
            s[p->owner[i]].have++;
    }
    share_rest(p, s, share_out(p, s));
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (s[i].have != s[i].want)
            return false;
    }
    return true;
}

bool evzk__plan_is_right(const struct evzk__plan *p,
                         const struct evzk__member *v, uint32_t n,
                         uint32_t n_shards)
{
    if (!evzk__plan_is_for(p, v, n, n_shards))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!evzk__member_same(&p->member[evzk__plan_find(p, v[i].name)],
                               &v[i]))
            return false;
    }
    return evzk__plan_is_even(p);
}
