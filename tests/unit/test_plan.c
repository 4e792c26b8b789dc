/*
 * The plan of who leads which shard: how one follows from another, and that
 * what is written down is read again, and nothing else is.  The fair shares,
 * and the fewest moves, are computed here in another way.
 */
#include "unit.h"

#include <string.h>

#include "evzk/error.h"
#include "evzk/evzk.h"
#include "lib/base/name.h"
#include "recipes/shards/plan.h"

enum { MOST = 40, SHARDS = 2000, NAME = 32, DATA = 24 };

/* So many shards; and those that have names, of this fingerprint. */
#define NUMBERED(count) (&(const struct evzk__shard_list){.n = (count)})
#define NAMED(count, print)                                                    \
    (&(const struct evzk__shard_list){.n = (count), .names = (print)})

/* The members, in the order in which they joined. */
struct fleet {
    uint32_t n, next;
    struct evzk__member m[MOST];
    char name[MOST][NAME], data[MOST][DATA];
};

static void point_at_own(struct fleet *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        f->m[i].name = f->name[i];
        f->m[i].data = f->data[i];
    }
}

static void joins(struct fleet *f, uint32_t weight, uint32_t most, size_t len)
{
    uint32_t i = f->n++;

    f->m[i] = (struct evzk__member){.weight = weight, .most = most, .len = len};
    snprintf(f->name[i], NAME, "abc-n_%010" PRIu32, f->next++);
    memset(f->data[i], (char)i, DATA);
    point_at_own(f);
}

static void leaves(struct fleet *f, uint32_t i)
{
    f->n--;
    for (; i < f->n; i++) {
        f->m[i] = f->m[i + 1];
        memcpy(f->name[i], f->name[i + 1], sizeof f->name[0]);
        memcpy(f->data[i], f->data[i + 1], sizeof f->data[0]);
    }
    point_at_own(f);
}

static bool same_member(const struct evzk__member *a,
                        const struct evzk__member *b)
{
    return strcmp(a->name, b->name) == 0 && a->weight == b->weight &&
           a->most == b->most && a->len == b->len &&
           (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static bool same_plan(const struct evzk__plan *a, const struct evzk__plan *b)
{
    bool same = a->version == b->version && a->n_shards == b->n_shards &&
                a->names == b->names && a->n_members == b->n_members;

    for (uint32_t i = 0; same && i < a->n_members; i++)
        same = same_member(&a->member[i], &b->member[i]);
    for (uint32_t i = 0; same && i < a->n_shards; i++)
        same = a->owner[i] == b->owner[i];
    return same;
}

/* ---- What is fair ---- */

/* More than there are shards is as good as no limit: no product wraps round. */
static uint64_t limit_of(const struct evzk__member *m)
{
    return m->most > EVZK__PLAN_SHARDS ? EVZK__PLAN_SHARDS + 1 : m->most;
}

/* The member that reaches its limit first comes first: most/weight. */
static int by_limit(const void *pa, const void *pb)
{
    const struct evzk__member *a = *(const struct evzk__member *const *)pa;
    const struct evzk__member *b = *(const struct evzk__member *const *)pb;
    uint64_t fa = limit_of(a) * b->weight, fb = limit_of(b) * a->weight;

    return fa < fb ? -1 : fa > fb;
}

/* `rest` shards for those without a limit, who weigh `weight` together; those
 * in limited[] have their most. */
struct fair {
    uint64_t rest, weight;
    bool limited[MOST];
};

static struct fair fair_for(const struct fleet *f, uint32_t n_shards)
{
    const struct evzk__member *v[MOST];
    struct fair x = {.rest = n_shards};
    size_t n = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        x.weight += f->m[i].weight;
        if (f->m[i].weight > 0 && f->m[i].most > 0)
            v[n++] = &f->m[i];
    }
    if (n > 0)
        qsort(v, n, sizeof v[0], by_limit);
    for (size_t i = 0; i < n; i++) {
        if (limit_of(v[i]) * x.weight > v[i]->weight * x.rest)
            break;
        x.limited[v[i] - f->m] = true;
        x.rest -= v[i]->most;
        x.weight -= v[i]->weight;
    }
    return x;
}

/* Its share by weight, rounded down; or its limit. */
static uint32_t least_of(const struct fleet *f, const struct fair *x,
                         uint32_t i)
{
    const struct evzk__member *m = &f->m[i];

    if (m->weight == 0)
        return 0;
    return x->limited[i] ? m->most
                         : (uint32_t)(m->weight * x->rest / x->weight);
}

static uint32_t has(const struct evzk__plan *p, const char *name)
{
    uint16_t own = evzk__plan_find(p, name);
    uint32_t n = 0;

    for (uint32_t i = 0; own != EVZK__NOBODY && i < p->n_shards; i++)
        n += p->owner[i] == own;
    return n;
}

static void check_even(const struct evzk__plan *p, const struct fleet *f)
{
    struct fair x = fair_for(f, p->n_shards);
    uint64_t given = 0, nobodys = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t least = least_of(f, &x, i), n = has(p, f->m[i].name);
        bool fixed = x.limited[i] || f->m[i].weight == 0;

        UNIT_HOT(n >= least && n <= least + !fixed);
        UNIT_HOT(f->m[i].most == 0 || n <= f->m[i].most);
        given += n;
    }
    for (uint32_t i = 0; i < p->n_shards; i++)
        nobodys += p->owner[i] == EVZK__NOBODY;
    UNIT_HOT(given + nobodys == p->n_shards);
    UNIT_HOT(nobodys == (x.weight > 0 ? 0 : x.rest));
}

/* Of those who have one and are to have another, nobody can do with fewer. */
static uint32_t fewest_moves(const struct evzk__plan *prev,
                             const struct fleet *f, uint32_t n_shards)
{
    struct fair x = fair_for(f, n_shards);
    uint32_t moves = 0, over = 0, kept = 0, left = (uint32_t)x.rest;

    for (uint32_t i = 0; i < prev->n_shards; i++)
        moves += prev->owner[i] != EVZK__NOBODY;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t least = least_of(f, &x, i), n = has(prev, f->m[i].name);

        kept += n < least ? n : least;
        if (x.limited[i] || f->m[i].weight == 0)
            continue;
        left -= least;
        over += n > least; /* May keep one more, if one is left over. */
    }
    return moves - kept - (over < left ? over : left);
}

/* As evzk__plan_moves(), shard by shard, by names. */
static uint32_t moves_between(const struct evzk__plan *prev,
                              const struct evzk__plan *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_shards && i < prev->n_shards; i++) {
        uint16_t was = prev->owner[i], is = p->owner[i];
        const char *to = is == EVZK__NOBODY ? "" : p->member[is].name;

        n += was != EVZK__NOBODY && strcmp(prev->member[was].name, to) != 0;
    }
    return n;
}

static void check_read_again(const struct evzk__plan *p)
{
    struct evzk__plan q;
    size_t len = 0;
    char *text = evzk__plan_print(p, &len);

    UNIT_HOT(text != NULL);
    UNIT_HOT(evzk__plan_parse(&q, text, len) == EVZK_OK);
    UNIT_HOT(same_plan(p, &q));
    evzk__plan_free(&q);
    free(text);
}

/* Makes the next plan, with all that is to be said of it. */
static void next_plan(struct evzk__plan *p, const struct fleet *f,
                      uint32_t n_shards)
{
    struct evzk__plan next, again;

    UNIT_HOT(evzk__plan_next(&next, p, f->m, f->n, NUMBERED(n_shards)) ==
             EVZK_OK);
    UNIT_HOT(evzk__plan_next(&again, p, f->m, f->n, NUMBERED(n_shards)) ==
             EVZK_OK);
    UNIT_HOT(same_plan(&next, &again)); /* The same from any planner. */
    UNIT_HOT(next.version == p->version + 1);
    UNIT_HOT(evzk__plan_is_for(&next, f->m, f->n, NUMBERED(n_shards)));
    for (uint32_t i = 0; i < f->n; i++)
        UNIT_HOT(same_member(&next.member[i], &f->m[i]));
    check_even(&next, f);
    UNIT_HOT(evzk__plan_is_right(&next, f->m, f->n, NUMBERED(n_shards)) ==
             (f->n > 0));
    check_read_again(&next);
    UNIT_HOT(evzk__plan_moves(&next, p) == moves_between(p, &next));
    if (p->n_shards == n_shards)
        UNIT_HOT(moves_between(p, &next) == fewest_moves(p, f, n_shards));
    evzk__plan_free(&again);
    evzk__plan_free(p);
    *p = next;
}

/* ---- What comes of it ---- */

/* The figures of the specification: three share 10,000 to within one. */
START_TEST(test_three_share)
{
    struct evzk__plan p = {0};
    struct fleet f = {0};

    for (uint32_t n = 1; n <= 3; n++) {
        joins(&f, 1, 0, 0);
        next_plan(&p, &f, 10000);
    }
    ck_assert_uint_eq(has(&p, f.m[0].name), 3334);
    ck_assert_uint_eq(has(&p, f.m[1].name), 3333);
    leaves(&f, 0);
    next_plan(&p, &f, 10000);
    ck_assert_uint_eq(has(&p, f.m[0].name), 5000);
    evzk__plan_free(&p);
}
END_TEST

START_TEST(test_weights_and_limits)
{
    struct evzk__plan p = {0};
    struct fleet f = {0};

    joins(&f, 1, 0, 0);
    joins(&f, 3, 0, 0);
    joins(&f, 0, 0, 0); /* An observer. */
    joins(&f, 4, 10, 0);
    next_plan(&p, &f, 90);
    ck_assert_uint_eq(has(&p, f.m[0].name), 20);
    ck_assert_uint_eq(has(&p, f.m[1].name), 60);
    ck_assert_uint_eq(has(&p, f.m[2].name), 0);
    ck_assert_uint_eq(has(&p, f.m[3].name), 10);
    leaves(&f, 0);
    leaves(&f, 0); /* Now there are too few for all. */
    next_plan(&p, &f, 90);
    ck_assert_uint_eq(has(&p, f.m[1].name), 10);
    leaves(&f, 1);
    next_plan(&p, &f, 90);
    leaves(&f, 0);
    next_plan(&p, &f, 90); /* Nobody. */
    ck_assert_uint_eq(p.owner[89], EVZK__NOBODY);
    evzk__plan_free(&p);
}
END_TEST

/* The greatest weights and limits there are: no sum wraps round. */
START_TEST(test_greatest)
{
    struct evzk__plan p = {0};
    struct fleet f = {0};

    for (int i = 0; i < MOST; i++)
        joins(&f, UINT32_MAX - (uint32_t)(i % 2), UINT32_MAX, 0);
    next_plan(&p, &f, EVZK__PLAN_SHARDS);
    leaves(&f, 7);
    joins(&f, 1, 1, 0);
    next_plan(&p, &f, EVZK__PLAN_SHARDS);
    evzk__plan_free(&p);
}
END_TEST

static void one_change(struct fleet *f, struct unit_rng *r, bool plain)
{
    if (f->n == 0 || (f->n < MOST && unit_upto(r, 99) < 55))
        joins(f, plain ? 1 : (uint32_t)unit_upto(r, 4),
              plain || unit_upto(r, 1) ? 0 : (uint32_t)unit_upto(r, 200),
              (size_t)unit_upto(r, DATA));
    else
        leaves(f, (uint32_t)unit_upto(r, f->n - 1));
}

/* Some come and go, one or more between two plans. */
START_TEST(test_comings_and_goings)
{
    struct unit_rng r = unit_seeded("comings and goings");

    for (int run = 0; run < unit_rounds(120); run++) {
        uint32_t n_shards = (uint32_t)unit_upto(&r, SHARDS - 1) + 1;
        struct evzk__plan p = {0};
        struct fleet f = {0};

        for (int change = 0; change < 60; change++) {
            one_change(&f, &r, run % 2 == 0);
            if (unit_upto(&r, 3) > 0)
                next_plan(&p, &f, n_shards);
        }
        evzk__plan_free(&p);
    }
}
END_TEST

/* Few shards and few members: every way to be uneven. */
START_TEST(test_small)
{
    struct unit_rng r = unit_seeded("small");

    for (int run = 0; run < unit_rounds(3000); run++) {
        uint32_t n_shards = (uint32_t)unit_upto(&r, 12) + 1;
        struct evzk__plan p = {0};
        struct fleet f = {0};

        for (int change = 0; change < 12; change++) {
            if (f.n == 5)
                leaves(&f, (uint32_t)unit_upto(&r, 4));
            one_change(&f, &r, run % 2 == 0);
            next_plan(&p, &f, n_shards);
        }
        evzk__plan_free(&p);
    }
}
END_TEST

/* The old plan was for other shards: what fits is kept. */
START_TEST(test_another_number)
{
    struct evzk__plan p = {0};
    struct fleet f = {0};

    joins(&f, 1, 0, 0);
    joins(&f, 1, 0, 0);
    next_plan(&p, &f, 100);
    ck_assert(!evzk__plan_is_for(&p, f.m, f.n, NUMBERED(101)));
    next_plan(&p, &f, 40);
    next_plan(&p, &f, 200);
    evzk__plan_free(&p);
}
END_TEST

/* The plan before was for shards of other names, or for numbered ones: nothing
 * is kept by number. */
START_TEST(test_other_names)
{
    struct evzk__plan p, again, other;
    struct fleet f = {0};

    joins(&f, 1, 0, 0);
    joins(&f, 1, 0, 0);
    ck_assert_int_eq(
        evzk__plan_next(&p, &(struct evzk__plan){0}, f.m, f.n, NAMED(4, 7)),
        EVZK_OK);
    ck_assert_uint_eq(p.names, 7);
    ck_assert(evzk__plan_is_right(&p, f.m, f.n, NAMED(4, 7)));
    ck_assert(!evzk__plan_is_right(&p, f.m, f.n, NAMED(4, 8)));
    ck_assert(!evzk__plan_is_for(&p, f.m, f.n, NUMBERED(4)));
    p.owner[0] = p.owner[1] = 1;
    p.owner[2] = p.owner[3] = 0;
    ck_assert_int_eq(evzk__plan_next(&again, &p, f.m, f.n, NAMED(4, 7)),
                     EVZK_OK);
    ck_assert_int_eq(evzk__plan_next(&other, &p, f.m, f.n, NAMED(4, 8)),
                     EVZK_OK);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(again.owner[i], p.owner[i]);
        ck_assert_uint_eq(other.owner[i], i % 2);
    }
    check_read_again(&again);
    ck_assert(!evzk__plan_same(&p, &other));
    evzk__plan_free(&other);
    evzk__plan_free(&again);
    evzk__plan_free(&p);
}
END_TEST

/* After the highest number that a plan may have comes one that it may have. */
START_TEST(test_last_version)
{
    const char *text = "evzk-plan 1 1152921504606846975 1 0\n1*65535\n";
    struct fleet f = {0};
    struct evzk__plan p, next;

    joins(&f, 1, 0, 0);
    ck_assert_int_eq(evzk__plan_parse(&p, text, strlen(text)), EVZK_OK);
    ck_assert_int_eq(evzk__plan_next(&next, &p, f.m, f.n, NUMBERED(1)),
                     EVZK_OK);
    ck_assert_uint_ne(next.version, p.version);
    check_read_again(&next);
    evzk__plan_free(&next);
    evzk__plan_free(&p);
}
END_TEST

/* Only the same members are the plan's. */
START_TEST(test_is_for)
{
    struct evzk__plan p = {0};
    struct fleet f = {0};

    joins(&f, 1, 0, 0);
    ck_assert(
        !evzk__plan_is_for(&p, f.m, 0, NUMBERED(0))); /* The empty plan. */
    joins(&f, 1, 0, 0);
    next_plan(&p, &f, 10);
    ck_assert(!evzk__plan_is_for(&p, f.m, 1, NUMBERED(10)));
    joins(&f, 1, 0, 0);
    ck_assert(!evzk__plan_is_for(&p, f.m, 3, NUMBERED(10)));
    ck_assert(!evzk__plan_is_for(&p, &f.m[1], 2, NUMBERED(10)));
    ck_assert_uint_eq(evzk__plan_find(&p, f.m[2].name), EVZK__NOBODY);
    ck_assert_uint_eq(evzk__plan_find(&p, f.m[1].name), 1);
    evzk__plan_free(&p);
}
END_TEST

/* ---- What is believed ---- */

/* Of three members: whatever is exchanged in what they say is seen, and nobody
 * is right by another's words. */
START_TEST(test_is_right)
{
    struct evzk__plan p = {0};
    struct fleet f = {0}, g;

    joins(&f, 1, 0, 3);
    joins(&f, 2, 5, 0);
    joins(&f, 0, 0, DATA);
    next_plan(&p, &f, 10);
    ck_assert(evzk__plan_is_right(&p, f.m, f.n, NUMBERED(10)));
    ck_assert(!evzk__plan_is_right(&p, f.m, f.n, NUMBERED(11)));
    ck_assert(!evzk__plan_is_right(&p, f.m, 2, NUMBERED(10)));
    for (int what = 0; what < 4; what++) {
        g = f;
        point_at_own(&g);
        g.m[0].weight += what == 0;
        g.m[1].most += what == 1;
        g.m[2].len -= what == 2;
        g.data[0][1] ^= what == 3;
        ck_assert_msg(!evzk__plan_is_right(&p, g.m, g.n, NUMBERED(10)), "%d",
                      what);
    }
    evzk__plan_free(&p);
}
END_TEST

/* One shard is another's than it was: no plan of ours is so, but where two have
 * exchanged one.  Tried against shares that are computed in another way. */
START_TEST(test_uneven)
{
    struct unit_rng r = unit_seeded("uneven");
    int even = 0, uneven = 0;

    for (int run = 0; run < unit_rounds(3000); run++) {
        uint32_t n_shards = (uint32_t)unit_upto(&r, 12) + 1;
        struct evzk__plan p = {0};
        struct fleet f = {0};
        uint32_t was, is, s = (uint32_t)unit_upto(&r, n_shards - 1);
        bool same = true;

        for (int n = (int)unit_upto(&r, 4); n >= 0; n--)
            one_change(&f, &r, run % 2 == 0);
        if (f.n == 0)
            joins(&f, 1, 0, 0);
        next_plan(&p, &f, n_shards);
        was = p.owner[s];
        is = (uint32_t)unit_upto(&r, f.n);
        p.owner[s] = is == f.n ? EVZK__NOBODY : (uint16_t)is;
        /* Even are only those that have what they had, or one who had its
         * share and takes one of those that are left over. */
        if (p.owner[s] != was) {
            struct fair x = fair_for(&f, n_shards);

            same = p.owner[s] != EVZK__NOBODY && was != EVZK__NOBODY;
            for (uint32_t i = 0; same && i < f.n; i++) {
                uint32_t least = least_of(&f, &x, i);
                uint32_t n = has(&p, f.m[i].name);
                bool fixed = x.limited[i] || f.m[i].weight == 0;

                same = n >= least && n <= least + !fixed;
            }
        }
        UNIT_HOT(evzk__plan_is_even(&p) == same);
        even += same;
        uneven += !same;
        evzk__plan_free(&p);
    }
    ck_assert_int_gt(even, 100);
    ck_assert_int_gt(uneven, 100);
}
END_TEST

/* Well-formed, and never made by us. */
START_TEST(test_forged)
{
    static const char *const no[] = {
        "evzk-plan 1 9 2 0\n2*65535\n",
        "evzk-plan 1 9 2 1\na 1 0 0\n\n2*65535\n",
        "evzk-plan 1 9 2 1\na 0 0 0\n\n2*0\n",
        "evzk-plan 1 9 3 1\na 1 2 0\n\n3*0\n",
        "evzk-plan 1 9 3 1\na 1 2 0\n\n1*0\n2*65535\n",
        "evzk-plan 1 9 2 2\na 1 0 0\n\nb 1 0 0\n\n2*0\n",
        "evzk-plan 1 9 2 2\na 1 0 0\n\na 1 0 0\n\n1*0\n1*1\n",
        "evzk-plan 1 9 4 2\na 3 0 0\n\nb 1 0 0\n\n2*0\n2*1\n"};
    static const char *const yes[] = {
        "evzk-plan 1 9 2 1\na 0 0 0\n\n2*65535\n",
        "evzk-plan 1 9 3 1\na 1 2 0\n\n1*65535\n2*0\n",
        "evzk-plan 1 9 2 2\na 1 0 0\n\nb 1 0 0\n\n1*1\n1*0\n",
        "evzk-plan 1 9 3 2\na 1 0 0\n\nb 1 0 0\n\n2*1\n1*0\n"};
    struct evzk__plan p;

    for (size_t i = 0; i < UNIT_COUNT(no) + UNIT_COUNT(yes); i++) {
        bool ok = i >= UNIT_COUNT(no);
        const char *text = ok ? yes[i - UNIT_COUNT(no)] : no[i];

        ck_assert_int_eq(evzk__plan_parse(&p, text, strlen(text)), EVZK_OK);
        ck_assert_msg(evzk__plan_is_even(&p) == ok, "%s", text);
        evzk__plan_free(&p);
    }
}
END_TEST

/* Whatever number was seen, the next one is greater than all that members may
 * have said; the greatest one is nobody's. */
START_TEST(test_number)
{
    const uint64_t most = UINT64_MAX / 16;

    ck_assert_uint_eq(evzk__plan_number(0, 0), 1);
    ck_assert_uint_eq(evzk__plan_number(4, 9), 10);
    ck_assert_uint_eq(evzk__plan_number(9, 4), 10);
    ck_assert_uint_eq(evzk__plan_number(UINT32_MAX, 4), UINT64_C(4294967296));
    ck_assert_uint_eq(evzk__plan_number(most, 4), 5);
    ck_assert_uint_eq(evzk__plan_number(most - 1, 4), most);
    ck_assert_uint_eq(evzk__plan_number(most, most), 1);
}
END_TEST

/* Of three members and some shards that are nobody's; with names, unless that
 * is 0. */
static char *some_plan(struct evzk__plan *p, uint64_t names, size_t *len)
{
    struct fleet f = {0};
    char *text;

    *p = (struct evzk__plan){.version = 41};
    joins(&f, 1, 2, 0);
    joins(&f, 2, 3, DATA);
    joins(&f, 0, 0, 5);
    ck_assert_int_eq(evzk__plan_next(p, &(struct evzk__plan){.version = 41},
                                     f.m, f.n, NAMED(9, names)),
                     EVZK_OK);
    text = evzk__plan_print(p, len);
    ck_assert_ptr_nonnull(text);
    return text;
}

START_TEST(test_same)
{
    struct evzk__plan p, q;
    size_t len;
    char *text = some_plan(&p, 0, &len);

    for (int what = 0; what < 5; what++) {
        ck_assert_int_eq(evzk__plan_parse(&q, text, len), EVZK_OK);
        ck_assert(evzk__plan_same(&p, &q));
        q.names += what == 4;
        q.version += what == 0;
        q.member[1].weight += what == 1;
        q.owner[0] = what == 2 ? EVZK__NOBODY : q.owner[0];
        q.n_members -= what == 3;
        ck_assert_msg(!evzk__plan_same(&p, &q), "%d", what);
        q.n_members += what == 3;
        evzk__plan_free(&q);
    }
    ck_assert(!evzk__plan_same(&p, &(struct evzk__plan){0}));
    free(text);
    evzk__plan_free(&p);
}
END_TEST

/* ---- As text ---- */

/* Exactly as long as it is, so that a sanitizer sees a byte too many. */
static int parse_exactly(struct evzk__plan *p, const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    int rc;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    rc = evzk__plan_parse(p, copy, len);
    free(copy);
    return rc;
}

static void check_empty(const struct evzk__plan *p)
{
    UNIT_HOT(p->version == 0 && p->n_shards == 0 && p->n_members == 0 &&
             !p->member && !p->owner && !p->text);
}

static void check_cut_short(uint64_t names)
{
    struct evzk__plan p, q;
    size_t len;
    char *text = some_plan(&p, names, &len);

    for (size_t n = 0; n < len; n++) {
        ck_assert_int_eq(parse_exactly(&q, text, n), EVZK_ERR_INVAL);
        check_empty(&q);
    }
    ck_assert_int_eq(parse_exactly(&q, text, len), EVZK_OK);
    ck_assert(same_plan(&p, &q));
    evzk__plan_free(&q);
    free(text);
    evzk__plan_free(&p);
}

/* Numbered (0), and with names (1). */
START_TEST(test_cut_short)
{
    for (uint64_t names = 0; names < 2; names++)
        check_cut_short(names);
}
END_TEST

/* Bytes that are taken for a plan are a sound plan, whatever happened to them.
 */
static void check_sound(struct evzk__plan *p)
{
    UNIT_HOT(p->version > 0);
    UNIT_HOT(p->n_shards <= EVZK__PLAN_SHARDS);
    UNIT_HOT(p->n_members <= EVZK__PLAN_MEMBERS);
    for (uint32_t i = 0; i < p->n_shards; i++)
        UNIT_HOT(p->owner[i] < p->n_members || p->owner[i] == EVZK__NOBODY);
    for (uint32_t i = 0; i < p->n_members; i++)
        UNIT_HOT(*p->member[i].name && p->member[i].len <= EVZK__PLAN_DATA);
    check_read_again(p);
}

START_TEST(test_corrupted)
{
    static const char likely[] = "0123456789 *\n\n-\0\xff";
    struct unit_rng r = unit_seeded("corrupted");
    struct evzk__plan p, q;
    int taken = 0;
    size_t len;
    char *text = some_plan(&p, UINT64_C(0x123456789abcdef), &len),
         *copy = malloc(len);

    ck_assert_ptr_nonnull(copy);
    for (int run = 0; run < unit_rounds(200000); run++) {
        memcpy(copy, text, len);
        for (int64_t n = unit_upto(&r, 2); n >= 0; n--)
            copy[unit_upto(&r, (int64_t)len - 1)] =
                likely[unit_upto(&r, (int64_t)sizeof likely - 2)];
        if (parse_exactly(&q, copy, len) == EVZK_OK) {
            check_sound(&q);
            taken++;
        } else
            check_empty(&q);
        evzk__plan_free(&q);
    }
    ck_assert_int_gt(taken, 0);
    ck_assert_int_lt(taken, 100000);
    free(copy);
    free(text);
    evzk__plan_free(&p);
}
END_TEST

/* A name that no znode can have is refused. */
START_TEST(test_no_names)
{
    static const struct {
        const char *name;
        size_t len;
    } no[] = {
        {"a/b", 3},    {"..", 2},   {".", 1},       {"a\0b", 3},
        {"a\001b", 3}, {"\200", 1}, {"../plan", 7}, {NULL, EVZK__NAME_MAX},
        {NULL, 10000}};
    static char longest[10000], text[10100];
    struct evzk__plan p;

    memset(longest, 'a', sizeof longest);
    for (size_t i = 0; i <= UNIT_COUNT(no); i++) {
        bool ok = i == UNIT_COUNT(no); /* The longest one that is a name. */
        size_t len = ok ? EVZK__NAME_MAX - 1 : no[i].len, n;

        n = (size_t)sprintf(text, "evzk-plan 1 1 1 1\n");
        memcpy(text + n, ok || !no[i].name ? longest : no[i].name, len);
        n += len;
        n += (size_t)sprintf(text + n, " 1 0 0\n\n1*0\n");
        ck_assert_msg(parse_exactly(&p, text, n) ==
                          (ok ? EVZK_OK : EVZK_ERR_INVAL),
                      "name %zu", i);
        evzk__plan_free(&p);
    }
}
END_TEST

START_TEST(test_no_plans)
{
    static const char *const no[] = {
        "evzk-plan 1 0 1 0\n1*65535\n",  /* Made by nobody. */
        "evzk-plan 1 01 1 0\n1*65535\n", /* Not as it is written. */
        "evzk-plan 2 1 1 0\n1*65535\n",  /* Of another form. */
        "evzk-plan 1 1 65537 0\n65537*65535\n",
        "evzk-plan 1 1 1 513\n1*65535\n",
        "evzk-plan 1 18446744073709551616 1 0\n1*65535\n",
        "evzk-plan 1 1 1 0\n1*0\n", /* Of a member too many. */
        "evzk-plan 1 1 1 0\n1*65536\n",
        "evzk-plan 1 1 1 0\n1*131071\n",
        "evzk-plan 1 1 1 0\n2*65535\n", /* Of a shard too many. */
        "evzk-plan 1 1 2 0\n0*65535\n2*65535\n",
        "evzk-plan 1 1 1 0\n1*65535\nx",      /* More than it is. */
        "evzk-plan 1 1 1 1\n 1 0 0\n\n1*0\n", /* Without a name. */
        "evzk-plan 1 1 1 1\na\nb 1 0 0\n\n1*0\n",
        "evzk-plan 1 1 1 1\na 1 0 1025\n\n1*0\n",
        "evzk-plan 1 1 1 1\na 4294967296 0 0\n\n1*0\n",
        "evzk-plan 1 1 1 1\na -1 0 0\n\n1*0\n",
        "evzk-plan 1 1 1 0 \n1*65535\n", /* Names that are none. */
        "evzk-plan 1 1 1 0 000000000000000\n1*65535\n",
        "evzk-plan 1 1 1 0 0000000000000000\n1*65535\n",
        "evzk-plan 1 1 1 0 000000000000000A\n1*65535\n",
        "evzk-plan 1 1 1 0 00000000000000001\n1*65535\n",
        "evzk-plan 1 1 1 0  000000000000001\n1*65535\n",
        "evzk-plan 1 1 1 0 0000000000000001"};
    static const char names[] = "evzk-plan 1 7 1 0 0123456789abcdef\n1*65535\n";
    static const char yes[] = "evzk-plan 1 7 3 1\na 1 0 1\n\n\n2*0\n1*65535\n";
    struct evzk__plan p;

    for (size_t i = 0; i < UNIT_COUNT(no); i++)
        ck_assert_msg(parse_exactly(&p, no[i], strlen(no[i])) == EVZK_ERR_INVAL,
                      "taken for a plan: %s", no[i]);
    ck_assert_int_eq(parse_exactly(&p, yes, strlen(yes)), EVZK_OK);
    ck_assert_uint_eq(p.version, 7);
    ck_assert_uint_eq(p.owner[1], 0);
    ck_assert_uint_eq(p.owner[2], EVZK__NOBODY);
    ck_assert_int_eq(*(const char *)p.member[0].data, '\n');
    ck_assert_uint_eq(p.names, 0);
    evzk__plan_free(&p);
    ck_assert_int_eq(parse_exactly(&p, names, strlen(names)), EVZK_OK);
    ck_assert_uint_eq(p.names, UINT64_C(0x0123456789abcdef));
    check_read_again(&p);
    evzk__plan_free(&p);
}
END_TEST

/* ---- Members ---- */

static bool parse_member(struct evzk__member *m, uint64_t *ready,
                         const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    bool ok;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    ok = evzk__member_parse(m, ready, copy, len);
    ck_assert(!ok || ((const char *)m->data >= copy &&
                      (const char *)m->data + m->len == copy + len));
    free(copy);
    return ok;
}

START_TEST(test_member)
{
    static char text[64 + EVZK__PLAN_DATA + 1], data[EVZK__PLAN_DATA];
    const struct evzk__member m = {.weight = UINT32_MAX,
                                   .most = UINT32_MAX,
                                   .names = UINT64_MAX,
                                   .data = data,
                                   .len = sizeof data};
    struct evzk__member q = {0};
    uint64_t ready;
    int n, head;

    memset(data, '7', sizeof data);
    n = evzk__member_print(text, sizeof text, &m, INT64_MAX);
    head = n - (int)sizeof data;
    for (int i = 0; i <= n; i++)
        ck_assert(parse_member(&q, &ready, text, (size_t)i) == (i >= head));
    ck_assert(evzk__member_parse(&q, &ready, text, (size_t)n));
    ck_assert_uint_eq(q.weight, m.weight);
    ck_assert_uint_eq(q.most, m.most);
    ck_assert_uint_eq(ready, INT64_MAX);
    ck_assert_uint_eq(q.names, UINT64_MAX);
    ck_assert_mem_eq(q.data, data, sizeof data);
    ck_assert_uint_eq(q.len, sizeof data);
    ck_assert(!parse_member(&q, &ready, text, (size_t)n + 1)); /* Too long. */
}
END_TEST

START_TEST(test_no_member)
{
    static const char *const no[] = {"",
                                     "1",
                                     "1 0 0",
                                     "1  0 0\n",
                                     " 1 0 0\n",
                                     "01 0 0\n",
                                     "1 0\n",
                                     "x",
                                     "1 0 -1\n",
                                     "1 0 0 \n",
                                     "4294967296 0 0\n",
                                     "1 0 0 0123456789abcdef",
                                     "1 0 0 123456789abcdef\n",
                                     "1 0 0 0123456789abcdeg\n",
                                     "1 0 0 0000000000000000\n",
                                     "1 0 0 0123456789abcdef \n",
                                     "1 0 9223372036854775808\n",
                                     "1 0 18446744073709551615\n"};
    struct evzk__member m;
    uint64_t ready;

    for (size_t i = 0; i < UNIT_COUNT(no); i++)
        ck_assert_msg(!parse_member(&m, &ready, no[i], strlen(no[i])),
                      "taken for a member: %s", no[i]);
    ck_assert(parse_member(&m, &ready, "1 2 3\n", 6));
    ck_assert_uint_eq(m.len, 0);
    ck_assert_uint_eq(ready, 3);
    ck_assert_uint_eq(m.names, 0);
    ck_assert(parse_member(&m, &ready, "1 2 3 0123456789abcdef\nx", 24));
    ck_assert_uint_eq(m.len, 1);
    ck_assert_uint_eq(m.names, UINT64_C(0x0123456789abcdef));
}
END_TEST

START_TEST(test_member_corrupted)
{
    struct unit_rng r = unit_seeded("member corrupted");
    struct evzk__member m;
    uint64_t ready;

    for (int run = 0; run < unit_rounds(200000); run++) {
        char text[] = "12 3456 7890\nhost:80";

        text[unit_upto(&r, 19)] = (char)unit_upto(&r, 255);
        text[unit_upto(&r, 19)] = (char)unit_upto(&r, 255);
        if (parse_member(&m, &ready, text, 20))
            UNIT_HOT(m.len <= 20 - 6);
    }
}
END_TEST

/* ---- No memory ---- */

static long live, calls, fail_at;

static void *scarce(size_t n)
{
    void *p = ++calls == fail_at ? NULL : malloc(n);

    live += p != NULL;
    return p;
}

static void counted_free(void *p)
{
    live -= p != NULL;
    free(p);
}

/* From the first allocation that fails to the first time that none does. */
#define EACH_FAILURE(what)                                                     \
    for (fail_at = 1; calls = 0, (what), calls >= fail_at; fail_at++)

static int next_rc, parse_rc;
static char *printed;

static bool try_next(const struct evzk__plan *prev, const struct fleet *f)
{
    struct evzk__plan p;

    next_rc = evzk__plan_next(&p, prev, f->m, f->n, NUMBERED(9));
    if (next_rc != EVZK_OK)
        check_empty(&p);
    evzk__plan_free(&p);
    return true;
}

static bool try_parse(const char *text, size_t len)
{
    struct evzk__plan p;

    parse_rc = evzk__plan_parse(&p, text, len);
    if (parse_rc != EVZK_OK)
        check_empty(&p);
    evzk__plan_free(&p);
    return true;
}

static bool try_print(const struct evzk__plan *p)
{
    size_t len;

    printed = evzk__plan_print(p, &len);
    if (printed)
        counted_free(printed);
    return true;
}

START_TEST(test_no_memory)
{
    struct fleet f = {0};
    struct evzk__plan p;
    size_t len;
    char *text = some_plan(&p, 0, &len);

    joins(&f, 1, 0, 5);
    evzk_set_allocator(scarce, NULL, counted_free);
    EACH_FAILURE(try_next(&p, &f))
    {
        ck_assert_int_eq(next_rc, EVZK_ERR_NOMEM);
        ck_assert_int_eq(live, 0);
    }
    ck_assert_int_eq(next_rc, EVZK_OK);
    ck_assert_int_gt(fail_at, 3);
    EACH_FAILURE(try_parse(text, len))
    {
        ck_assert_int_eq(parse_rc, EVZK_ERR_NOMEM);
        ck_assert_int_eq(live, 0);
    }
    ck_assert_int_eq(parse_rc, EVZK_OK);
    ck_assert_int_gt(fail_at, 3);
    EACH_FAILURE(try_print(&p)) ck_assert_ptr_null(printed);
    ck_assert_ptr_nonnull(printed);
    ck_assert_int_eq(live, 0);
    evzk_set_allocator(NULL, NULL, NULL);
    free(text);
    evzk__plan_free(&p);
}
END_TEST

UNIT_MAIN("plan", test_three_share, test_weights_and_limits, test_greatest,
          test_comings_and_goings, test_small, test_another_number,
          test_other_names, test_last_version, test_is_for, test_is_right,
          test_uneven, test_forged, test_number, test_same, test_cut_short,
          test_corrupted, test_no_names, test_no_plans, test_member,
          test_no_member, test_member_corrupted, test_no_memory)
