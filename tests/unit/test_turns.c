/* The turns of endpoints: each in turn, by weight, or the one that
 * failed longest ago; compared with the rules, over endpoints that come and go.
 */
#include "unit.h"

#include <string.h>

#include "evzk/evzk.h"
#include "recipes/names/turns.h"

enum { NAMES = 12 };

static struct evzk__turns t;
static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f",
                                         "g", "h", "i", "j", "k", "l"};

static void set(const char *name, uint64_t token, uint32_t weight)
{
    ck_assert(evzk__turns_set(&t, name, token, weight));
}

static void fails(const char *name, int64_t us)
{
    struct evzk__turn *n = evzk__turns_find(&t, name, 0);

    ck_assert_ptr_nonnull(n);
    evzk__turns_fail(&t, n, us);
}

static void mends(const char *name)
{
    struct evzk__turn *n = evzk__turns_find(&t, name, 0);

    ck_assert_ptr_nonnull(n);
    evzk__turns_mend(&t, n);
}

/* The next ones, in this order; "" for none. */
static void next_are(const char *expected)
{
    for (; *expected; expected++) {
        const struct evzk__turn *n = evzk__turns_next(&t);

        ck_assert_ptr_nonnull(n);
        ck_assert_msg(n->name[0] == *expected, "%s, and not %s", n->name,
                      expected);
    }
}

static void begin(const char *all)
{
    char name[2] = "";

    evzk__turns_init(&t);
    for (; *all; all++) {
        name[0] = *all;
        set(name, 1, 1);
    }
}

START_TEST(in_turn)
{
    begin("");
    ck_assert_ptr_null(evzk__turns_next(&t));
    evzk__turns_remove(&t, "a");
    begin("bca");
    next_are("bcabc");
    set("d", 1, 1);
    next_are("abcdab");
    set("d", 1, 0);
    set("c", 1, 7); /* Another weight: no other place. */
    next_are("cabca");
    set("d", 1, 1);
    next_are("bcad");
    set("b", 2, 1); /* Another znode. */
    set("c", 2, 1);
    next_are("adbcadbc");
    evzk__turns_remove(&t, "a");
    evzk__turns_remove(&t, "x");
    next_are("dbcd");
    evzk__turns_remove(&t, "d");
    evzk__turns_remove(&t, "b");
    evzk__turns_remove(&t, "c");
    ck_assert_ptr_null(evzk__turns_next(&t));
    evzk__turns_clear(&t);
}
END_TEST

/* What the rule says of each: present since, and picked since X was. */
struct seen {
    bool there;
    uint32_t picked[NAMES]; /* Of each other: how often since own last pick. */
    bool stayed[NAMES];     /* Each other: there all that time. */
};

static void check_fair(struct seen *s, int x)
{
    for (int i = 0; i < NAMES; i++) {
        if (i != x && s[i].there && s[x].stayed[i])
            UNIT_HOT(s[x].picked[i] == 1);
        s[x].picked[i] = 0;
        s[x].stayed[i] = s[i].there;
    }
    for (int i = 0; i < NAMES; i++)
        s[i].picked[x]++;
}

static void comes_or_goes(struct seen *s, int i, uint64_t token)
{
    s[i].there = !s[i].there;
    if (s[i].there && token % 3 == 0)
        set(names[i], token, 0);
    if (s[i].there)
        set(names[i], token, 1 + (uint32_t)(token % 5));
    else if (token % 2)
        set(names[i], token, 0);
    else
        evzk__turns_remove(&t, names[i]);
    for (int k = 0; k < NAMES; k++) {
        s[k].stayed[i] = false;
        s[i].stayed[k] = false; /* Its own turn begins anew. */
    }
}

START_TEST(nobody_starves)
{
    struct unit_rng r = unit_seeded("turns");
    struct seen s[NAMES];

    memset(s, 0, sizeof s);
    begin("");
    for (uint64_t step = 1; step < 100000; step++) {
        if (unit_upto(&r, 9) == 0) {
            comes_or_goes(s, (int)unit_upto(&r, NAMES - 1), step);
        } else {
            const struct evzk__turn *n = evzk__turns_next(&t);

            if (n)
                UNIT_HOT(s[n->name[0] - 'a'].there);
            for (int i = 0; !n && i < NAMES; i++)
                UNIT_HOT(!s[i].there);
            if (n)
                check_fair(s, n->name[0] - 'a');
        }
    }
    evzk__turns_clear(&t);
}
END_TEST

START_TEST(by_weight)
{
    enum { DRAWS = 600000 };
    struct unit_rng r = {.state = 42};
    int64_t count[4] = {0};

    begin("");
    ck_assert_ptr_null(evzk__turns_draw(&t, 0));
    set("a", 1, 1);
    set("b", 1, 2);
    set("c", 1, 0);
    set("d", 1, 3);
    for (uint64_t lot = 0; lot < 12; lot++)
        ck_assert_int_eq(evzk__turns_draw(&t, lot)->name[0],
                         "abbdddabbddd"[lot]);
    ck_assert_ptr_nonnull(evzk__turns_draw(&t, UINT64_MAX));
    for (int i = 0; i < DRAWS; i++)
        count[evzk__turns_draw(&t, unit_next(&r))->name[0] - 'a']++;
    ck_assert_int_eq(count[2], 0);
    ck_assert_int_lt(llabs(count[0] - DRAWS / 6), 2000);
    ck_assert_int_lt(llabs(count[1] - DRAWS / 3), 2000);
    ck_assert_int_lt(llabs(count[3] - DRAWS / 2), 2000);
    set("a", 1, 0);
    set("b", 1, 0);
    set("d", 1, 0);
    ck_assert_ptr_null(evzk__turns_draw(&t, 5));
    evzk__turns_clear(&t);
}
END_TEST

START_TEST(the_greatest_weights)
{
    begin("");
    for (int i = 0; i < NAMES; i++)
        set(names[i], 1, EVZK_ENDPOINT_WEIGHT_MAX);
    ck_assert_str_eq(evzk__turns_draw(&t, NAMES * UINT64_C(1000000) - 1)->name,
                     "l");
    ck_assert_str_eq(evzk__turns_draw(&t, NAMES * UINT64_C(1000000))->name,
                     "a");
    evzk__turns_clear(&t);
}
END_TEST

START_TEST(least_recently_failed)
{
    begin("abcd");
    fails("b", 100);
    next_are("acdac");
    fails("d", 200);
    fails("a", 300);
    next_are("ccc");
    fails("c", 300);
    next_are("bb"); /* The oldest failure, until more is known of it. */
    fails("b", 400);
    next_are("dd");
    mends("c");
    next_are("cc");
    mends("c"); /* No failure is left to mend. */
    fails("c", 500);
    evzk__turns_remove(&t, "d");
    next_are("aa");
    evzk__turns_clear(&t);
}
END_TEST

START_TEST(failures_are_forgotten)
{
    begin("abc");
    fails("a", 100);
    fails("b", 200);
    fails("c", 300);
    evzk__turns_forgive(&t, 99);
    next_are("aa");
    evzk__turns_forgive(&t, 200);
    next_are("abab");
    set("c", 1, 5); /* The same znode. */
    next_are("ab");
    set("c", 1, 0);
    set("c", 1, 5);
    next_are("ab");
    set("c", 2, 5);
    next_are("abcabc");
    fails("c", 400);
    evzk__turns_remove(&t, "c");
    set("c", 2, 1);
    next_are("abc");
    evzk__turns_clear(&t);
}
END_TEST

/* Without a weight a failure is remembered, and keeps its place. */
START_TEST(failed_while_drained)
{
    begin("abc");
    fails("a", 100);
    set("a", 1, 0);
    fails("b", 200);
    fails("c", 300);
    next_are("bb");
    set("a", 1, 1);
    next_are("aa");
    set("b", 1, 0);
    set("b", 1, 1);
    set("a", 1, 0);
    next_are("bb");
    mends("a");
    next_are("bb");
    set("a", 1, 1);
    next_are("aa");
    set("c", 1, 0);
    fails("c", 400);
    mends("c");
    set("c", 1, 1);
    next_are("acac");
    evzk__turns_clear(&t);
}
END_TEST

START_TEST(found_by_token)
{
    begin("b");
    set("a", 5, 1);
    set("c", 6, 0);
    ck_assert_ptr_null(evzk__turns_find(&t, "x", 0));
    ck_assert_ptr_null(evzk__turns_find(&t, "", 0));
    ck_assert_ptr_null(evzk__turns_find(&t, "a", 4));
    ck_assert_ptr_null(evzk__turns_find(&t, "aa", 0));
    ck_assert_str_eq(evzk__turns_find(&t, "a", 5)->name, "a");
    ck_assert_str_eq(evzk__turns_find(&t, "a", 0)->name, "a");
    ck_assert_str_eq(evzk__turns_find(&t, "c", 6)->name, "c");
    evzk__turns_clear(&t);
    ck_assert_ptr_null(evzk__turns_find(&t, "a", 0));
}
END_TEST

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

START_TEST(without_memory)
{
    begin("ab");
    evzk_set_allocator(no_memory, NULL, free);
    ck_assert(!evzk__turns_set(&t, "c", 1, 1));
    set("a", 2, 3); /* A change takes no memory. */
    next_are("baba");
    evzk_set_allocator(NULL, NULL, NULL);
    evzk__turns_clear(&t);
}
END_TEST

UNIT_MAIN("turns", in_turn, nobody_starves, by_weight, the_greatest_weights,
          least_recently_failed, failures_are_forgotten, failed_while_drained,
          found_by_token, without_memory)
