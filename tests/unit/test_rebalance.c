/*
 * Tasks are shared out by weight, with the fewest moves.  For few tasks and few
 * members every way to share them out is tried, and the shares follow from a
 * definition, not from steps.
 */
#include "unit.h"

#include <string.h>

#include "evzk/error.h"
#include "evzk/shards.h"
#include "recipes/shards/plan.h"

enum { NOBODY = EVZK_REBALANCE_NOBODY, FEW = 3, TASKS = 6, MANY = 300 };

struct
try {
    uint32_t n, tasks;
    evzk_rebalance_member m[FEW];
    uint16_t before[TASKS], after[TASKS];
};

/* More than there are tasks is as good as no limit. */
static int64_t limit_of(const struct try *t, uint32_t i)
{
    return t->m[i].weight == 0 ? 0 : t->m[i].most ? t->m[i].most : TASKS + 1;
}

/* The members in the set `full` have their most, and each other member would
 * have less than its most if the rest went by weight. */
static bool is_set(const struct try *t, unsigned full, int64_t *rest,
                   int64_t *weight)
{
    *rest = t->tasks;
    *weight = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (full & 1u << i)
            *rest -= limit_of(t, i);
        else
            *weight += t->m[i].weight;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t part = t->m[i].weight * *rest, most = limit_of(t, i) * *weight;

        if (*rest < 0 || ((full & 1u << i) ? most > part : most <= part))
            return false;
    }
    return true;
}

static int64_t count(const uint16_t *owner, uint32_t tasks, uint32_t member)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < tasks; i++)
        n += owner[i] == member;
    return n;
}

static bool is_even_for(const struct try *t, const uint16_t *owner,
                        unsigned full, int64_t rest, int64_t weight)
{
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t has = count(owner, t->tasks, i);

        if ((full & 1u << i) && has != limit_of(t, i))
            return false;
        if (!(full & 1u << i) && (has < t->m[i].weight * rest / weight ||
                                  has > t->m[i].weight * rest / weight + 1))
            return false;
    }
    return weight == 0 || count(owner, t->tasks, NOBODY) == 0;
}

static bool is_even(const struct try *t, const uint16_t *owner)
{
    int64_t rest, weight;

    for (unsigned full = 0; full < 1u << t->n; full++) {
        if (is_set(t, full, &rest, &weight))
            return is_even_for(t, owner, full, rest, weight);
    }
    ck_abort_msg("no shares: the test is wrong");
}

static uint32_t moves(const uint16_t *before, const uint16_t *after, uint32_t n)
{
    uint32_t moved = 0;

    for (uint32_t i = 0; i < n; i++)
        moved += before[i] != NOBODY && after[i] != before[i];
    return moved;
}

/* The next of all ways to give the tasks to members, or to nobody.  False: that
 * was the last one. */
static bool next_way(const struct try *t, uint16_t *owner)
{
    for (uint32_t i = 0; i < t->tasks; i++) {
        if (owner[i] == NOBODY) {
            owner[i] = 0;
            return true;
        }
        if (++owner[i] < t->n)
            return true;
        owner[i] = NOBODY;
    }
    return false;
}

static uint32_t fewest_moves(const struct try *t)
{
    uint32_t fewest = UINT32_MAX;
    uint16_t way[TASKS];

    memset(way, 0xff, sizeof way);
    do {
        if (is_even(t, way) && moves(t->before, way, t->tasks) < fewest)
            fewest = moves(t->before, way, t->tasks);
    } while (next_way(t, way));
    return fewest;
}

static void rebalance(struct try *t)
{
    uint16_t again[TASKS];

    UNIT_HOT(evzk_rebalance(t->m, t->n, t->before, t->after, t->tasks) ==
             EVZK_OK);
    memcpy(again, t->before, sizeof again); /* In place. */
    UNIT_HOT(evzk_rebalance(t->m, t->n, again, again, t->tasks) == EVZK_OK);
    UNIT_HOT(memcmp(again, t->after, t->tasks * sizeof *again) == 0);
}

static struct try random_try(struct unit_rng *r)
{
    struct try t = {.n = (uint32_t)unit_upto(r, FEW - 1) + 1,
                    .tasks = (uint32_t)unit_upto(r, TASKS - 1) + 1};

    for (uint32_t i = 0; i < t.n; i++)
        t.m[i] = (evzk_rebalance_member){
            .weight = (uint32_t)unit_upto(r, 3),
            .most = unit_upto(r, 1) ? (uint32_t)unit_upto(r, 4) : 0};
    for (uint32_t i = 0; i < t.tasks; i++) {
        int64_t own = unit_upto(r, t.n);

        t.before[i] = own == t.n ? NOBODY : (uint16_t)own;
    }
    return t;
}

/* Nothing moves that could stay, of all ways that are even; and what was shared
 * out stays as it is. */
START_TEST(test_every_way)
{
    struct unit_rng r = unit_seeded("every way");

    for (int run = 0; run < unit_rounds(20000); run++) {
        struct try t = random_try(&r), next;

        rebalance(&t);
        UNIT_HOT(is_even(&t, t.after));
        UNIT_HOT(moves(t.before, t.after, t.tasks) == fewest_moves(&t));
        next = t;
        memcpy(next.before, t.after, sizeof next.before);
        rebalance(&next);
        UNIT_HOT(memcmp(next.after, t.after, sizeof *t.after * t.tasks) == 0);
    }
}
END_TEST

/* The member in the middle goes: its tasks go to the two others, and nothing
 * else moves. */
START_TEST(test_one_goes)
{
    evzk_rebalance_member m[3] = {{.weight = 1}, {.weight = 1}, {.weight = 1}};
    uint16_t owner[MANY], next[MANY];
    int64_t has;

    ck_assert_int_eq(evzk_rebalance(m, 3, NULL, owner, MANY), EVZK_OK);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(count(owner, MANY, i), MANY / 3);
    for (uint32_t i = 0; i < MANY; i++)
        next[i] = owner[i] == 1 ? NOBODY : owner[i] / 2;
    ck_assert_int_eq(evzk_rebalance(m, 2, next, next, MANY), EVZK_OK);
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert(owner[i] == 1 || next[i] == owner[i] / 2);
    has = count(next, MANY, 0);
    ck_assert_int_eq(has, MANY / 2);
    ck_assert_int_eq(has + count(next, MANY, 1), MANY);
}
END_TEST

/* A plan gives the same. */
START_TEST(test_as_in_plans)
{
    static const char *const names[FEW] = {"a", "b", "c"};
    struct unit_rng r = unit_seeded("as in plans");

    for (int run = 0; run < unit_rounds(3000); run++) {
        struct evzk__plan prev = {.version = 1}, next;
        struct evzk__member m[FEW] = {{0}};
        struct try t = random_try(&r);

        for (uint32_t i = 0; i < t.n; i++)
            m[i] = (struct evzk__member){
                .name = names[i], .weight = t.m[i].weight, .most = t.m[i].most};
        prev.n_shards = t.tasks;
        prev.n_members = t.n;
        prev.member = m;
        prev.owner = t.before;
        UNIT_HOT(evzk__plan_next(&next, &prev, m, t.n,
                                 &(struct evzk__shard_list){.n = t.tasks}) ==
                 EVZK_OK);
        rebalance(&t);
        UNIT_HOT(memcmp(next.owner, t.after, t.tasks * sizeof *t.after) == 0);
        evzk__plan_free(&next);
    }
}
END_TEST

/* The most members, very many tasks, and none at all. */
START_TEST(test_sizes)
{
    static evzk_rebalance_member m[EVZK_REBALANCE_MEMBERS_MAX + 1];
    static uint16_t owner[1 << 20];
    uint32_t tasks = sizeof owner / sizeof *owner;

    for (uint32_t i = 0; i < EVZK_REBALANCE_MEMBERS_MAX; i++)
        m[i] =
            (evzk_rebalance_member){.weight = UINT32_MAX, .most = UINT32_MAX};
    ck_assert_int_eq(
        evzk_rebalance(m, EVZK_REBALANCE_MEMBERS_MAX, NULL, owner, tasks),
        EVZK_OK);
    ck_assert_int_eq(count(owner, tasks, 511), 2048);
    ck_assert_int_eq(evzk_rebalance(NULL, 0, NULL, owner, tasks), EVZK_OK);
    ck_assert_int_eq(count(owner, tasks, NOBODY), tasks);
    ck_assert_int_eq(evzk_rebalance(m, 3, NULL, NULL, 0), EVZK_OK);
    ck_assert_int_eq(evzk_rebalance(NULL, 0, NULL, NULL, 0), EVZK_OK);
}
END_TEST

START_TEST(test_refused)
{
    static const evzk_rebalance_member m[EVZK_REBALANCE_MEMBERS_MAX + 1];
    const uint16_t fine[2] = {1, NOBODY}, bad[2] = {0, 2};
    uint16_t after[2] = {7, 7};

    ck_assert_int_eq(evzk_rebalance(NULL, 1, fine, after, 2), EVZK_ERR_INVAL);
    ck_assert_int_eq(
        evzk_rebalance(m, EVZK_REBALANCE_MEMBERS_MAX + 1, fine, after, 2),
        EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_rebalance(m, 2, fine, NULL, 2), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_rebalance(m, 2, bad, after, 2), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_rebalance(m, 1, fine, after, 2), EVZK_ERR_INVAL);
    ck_assert_uint_eq(after[0], 7);
    ck_assert_uint_eq(after[1], 7);
    ck_assert_int_eq(evzk_rebalance(m, 2, fine, after, 2), EVZK_OK);
    ck_assert_uint_eq(after[0], NOBODY); /* No member has a weight. */
}
END_TEST

UNIT_MAIN("rebalance", test_every_way, test_one_goes, test_as_in_plans,
          test_sizes, test_refused)
