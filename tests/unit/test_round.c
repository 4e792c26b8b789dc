/*
 * The round of a double barrier: what is written to `ready` is read again, and
 * nothing else is; numbers wrap, and come to their end; a listing shows who is
 * left.
 */
#include "unit.h"

#include <string.h>

#include "lib/base/mem.h"
#include "recipes/double_barrier/round.h"
#include "recipes/parts/numbers.h"

#define GUID "01234567-89ab-4def-8123-456789abcdef"
#define REST "1234567-89ab-4def-8123-456789abcdef"
#define FIRST GUID "-in-0000000001"

static bool reads(struct evzk__round *r, const char *text)
{
    return evzk__round_parse(r, text, strlen(text));
}

START_TEST(test_text)
{
    static const int32_t lasts[] = {0, 7, -1, INT32_MAX, INT32_MIN};
    static const int64_t dirs[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    struct evzk__round r = {.first = FIRST}, again;
    char text[EVZK__ROUND_TEXT];

    for (size_t i = 0; i < UNIT_COUNT(lasts); i++) {
        r.last = lasts[i];
        r.dir = dirs[i];
        evzk__round_print(text, &r);
        ck_assert(reads(&again, text));
        ck_assert_int_eq(again.last, r.last);
        ck_assert_int_eq(again.dir, r.dir);
        ck_assert_str_eq(again.first, r.first);
    }
}
END_TEST

START_TEST(test_no_text)
{
    static const char *const bad[] = {"",
                                      "evzk",
                                      "evzk 1",
                                      "evzk 1 3",
                                      "evzk 1 3 9",
                                      "evzk 1 3 9 ",
                                      "evzk 1 3 " FIRST,
                                      "evzk 2 3 9 " FIRST,
                                      "evzk 1 03 9 " FIRST,
                                      "evzk 1  3 9 " FIRST,
                                      "evzk 1 3 09 " FIRST,
                                      "evzk 1 x 9 " FIRST,
                                      "evzk 1 3 x " FIRST,
                                      "evzk 1 3 9 x",
                                      "evzk 1 3 9 x-in-0000000001",
                                      "evzk 1 3 9 " FIRST "0",
                                      "evzk 1 3 9 a/" FIRST,
                                      "evzk 1 3 9 a " FIRST,
                                      "evzk 1 99999999999 9 " FIRST,
                                      "evzk 1 3 99999999999999999999 " FIRST,
                                      " evzk 1 3 9 " FIRST};
    struct evzk__round r;
    char many[2 * EVZK__ROUND_TEXT];

    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ck_assert_msg(!reads(&r, bad[i]), "read: %s", bad[i]);
    ck_assert(reads(&r, "evzk 1 3 9 " FIRST));
    ck_assert(!evzk__round_parse(&r, "evzk 1 3 9 " FIRST "\0",
                                 sizeof "evzk 1 3 9 " FIRST));
    ck_assert(!evzk__round_parse(&r, NULL, 0));
    strcpy(many, "evzk 1 3 9 ");
    memset(many + 11, 'x', sizeof many - 12);
    many[sizeof many - 1] = '\0';
    ck_assert(!reads(&r, many));
}
END_TEST

START_TEST(test_covers)
{
    struct evzk__round r = {.last = 5};

    ck_assert(evzk__round_covers(&r, 5) && evzk__round_covers(&r, -3));
    ck_assert(!evzk__round_covers(&r, 6));
    r.last = INT32_MIN + 2; /* The numbers have wrapped. */
    ck_assert(evzk__round_covers(&r, INT32_MAX));
    ck_assert(!evzk__round_covers(&r, INT32_MIN + 3));
}
END_TEST

START_TEST(test_left)
{
    static char *const v[] = {
        "a" REST "-in-0000000004", "ready",
        "b" REST "-in-0000000002", "x" REST "-in-0000000001",
        "c" REST "-in-0000000003", "d" REST "-in-0000000009",
        "b-in-0000000000",         "e" REST "-out-0000000001",
        "-in-0000000001",          "a" REST "-x-in-0000000001",
        "a" REST "-in-000000001",  "a" REST "-in-00000000001"};
    struct evzk__names names = {.n = UNIT_COUNT(v), .v = v};
    struct evzk__round r = {.last = 4};
    struct evzk__round_left left = evzk__round_left(&r, "", "", &names);
    struct evzk__contender *all;
    size_t n;

    ck_assert_uint_eq(left.n, 3);
    ck_assert_ptr_eq(left.lowest, v[2]);
    ck_assert_ptr_eq(left.highest, v[0]);
    left = evzk__round_left(&r, v[2], v[0], &names); /* But for the two. */
    ck_assert_uint_eq(left.n, 1);
    ck_assert_ptr_eq(left.lowest, v[4]);
    ck_assert_ptr_eq(left.highest, v[4]);
    r.last = 1;
    ck_assert_uint_eq(evzk__round_left(&r, "", "", &names).n, 0);
    all = evzk__round_sort(&names, &n);
    ck_assert_uint_eq(n, 4);
    ck_assert_ptr_eq(all[0].name, v[2]);
    ck_assert_ptr_eq(all[1].name, v[4]);
    ck_assert_ptr_eq(all[2].name, v[0]);
    ck_assert_ptr_eq(all[3].name, v[5]);
    evzk__free(all);
}
END_TEST

/* Where all numbers were given, the last one may be given again, or one from
 * the far end. */
START_TEST(test_used_up)
{
    const struct evzk__stat fresh = {.cversion = 3, .children = 1};
    const struct evzk__stat end = {.cversion = -3, .children = 1};

    ck_assert(evzk__numbers_used_up(INT32_MAX, &end));
    ck_assert(evzk__numbers_used_up(INT32_MIN, &end));
    ck_assert(evzk__numbers_used_up(-1, &end));
    ck_assert(!evzk__numbers_used_up(0, &end));
    ck_assert(!evzk__numbers_used_up(INT32_MAX - 1, &end));
    ck_assert(!evzk__numbers_used_up(INT32_MAX, &fresh));
    ck_assert(!evzk__numbers_used_up(-1, &fresh));
}
END_TEST

UNIT_MAIN("round", test_text, test_no_text, test_covers, test_left,
          test_used_up)
