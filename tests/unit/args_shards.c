/* Shards without a server. */
#include "args.h"

#include <string.h>

enum { SHARDS = 7 };

/* Without a server nothing is heard of any shard. */
static void on_shard(evzk_shards *a, uint32_t shard, evzk_election_event ev,
                     int rc, void *arg)
{
    (void)a;
    (void)arg;
    ck_abort_msg("shard %u: event %d, %s", shard, (int)ev, evzk_errname(rc));
}

static void on_shards(evzk_shards *a, evzk_shards_event event, int rc,
                      void *arg)
{
    args_heard(arg, a, (int)event, rc);
}

static const char *const two[] = {"beta", "alpha"};
static const char most_data[EVZK_SHARDS_DATA_MAX + 1];
/* What a leader says is as long as a candidate's words. */
static const char said[EVZK_ELECTION_DATA_MAX + 1];
static evzk_lease *lease; /* Never set. */

/* Names of the greatest length and beyond: filled when the tests are added. */
static char longest[EVZK_SHARDS_NAME_MAX + 1], longer[sizeof longest + 1];
#define NAMES(...) ((const char *const[]){__VA_ARGS__})

ARGS_BEGIN(join, evzk_shards, on_shards,
           evzk_shards_join(a->s, a->path, a->options, on_shard, on, a->arg,
                            to))
ARGS_FREE(free_shards, evzk_shards, evzk_shards_free)
ARGS_CALL(drain, evzk_shards, evzk_shards_drain(o, 0))
ARGS_CALL(say_x, evzk_shards, evzk_shards_acknowledge(o, 0, "x", 1))
ARGS_CALL(say_x_last, evzk_shards,
          evzk_shards_acknowledge(o, SHARDS - 1, "x", 1))
ARGS_CALL(say_beyond, evzk_shards, evzk_shards_acknowledge(o, SHARDS, "x", 1))
ARGS_CALL(say_null, evzk_shards, evzk_shards_acknowledge(o, 0, NULL, 1))
ARGS_CALL(say_more, evzk_shards,
          evzk_shards_acknowledge(o, 0, said, sizeof said))
ARGS_CALL(lease_first, evzk_shards, evzk_shards_lease(o, 0, &lease))
ARGS_CALL(lease_beyond, evzk_shards, evzk_shards_lease(o, SHARDS, &lease))
ARGS_CALL(lease_nowhere, evzk_shards, evzk_shards_lease(o, 0, NULL))

static const evzk_shards_options all_options = {.count = SHARDS,
                                                .weight = 2,
                                                .most = 5,
                                                .acknowledge = true,
                                                .data = "host:80",
                                                .data_len = 7};

/* clang-format off */
#define ROW(what, expected, ...)                                               \
    {what, &(const evzk_shards_options){__VA_ARGS__}, expected}

static const struct args_row rows[] = {
    {"no options", NULL, EVZK_ERR_INVAL},
    ROW("count: none", EVZK_ERR_INVAL, .count = 0),
    ROW("count: too many", EVZK_ERR_INVAL, .count = EVZK_SHARDS_MAX + 1),
    ROW("count: far too many", EVZK_ERR_INVAL, .count = UINT32_MAX),
    ROW("data: NULL, with a length", EVZK_ERR_INVAL, .count = 1, .data_len = 1),
    ROW("data: too long", EVZK_ERR_INVAL, .count = 1, .data = most_data, .data_len = sizeof most_data),
    ROW("data: far too long", EVZK_ERR_INVAL, .count = 1, .data = most_data, .data_len = SIZE_MAX),
    ROW("reserved: the first", EVZK_ERR_INVAL, .count = 1, .reserved = {&args_mark}),
    ROW("reserved: the last", EVZK_ERR_INVAL, .count = 1, .reserved = {NULL, NULL, NULL, &args_mark}),
    ROW("names: NULL", EVZK_ERR_INVAL, .count = 2, .names = NAMES("a", NULL)),
    ROW("names: empty", EVZK_ERR_INVAL, .count = 2, .names = NAMES("", "a")),
    ROW("names: a slash", EVZK_ERR_INVAL, .count = 2, .names = NAMES("a", "a/b")),
    ROW("names: a dot", EVZK_ERR_INVAL, .count = 1, .names = NAMES(".")),
    ROW("names: two dots", EVZK_ERR_INVAL, .count = 1, .names = NAMES("..")),
    ROW("names: a control character", EVZK_ERR_INVAL, .count = 1, .names = NAMES("a\n")),
    ROW("names: no UTF-8", EVZK_ERR_INVAL, .count = 1, .names = NAMES("\200")),
    ROW("names: too long", EVZK_ERR_INVAL, .count = 1, .names = NAMES(longer)),
    ROW("names: twice the same", EVZK_ERR_INVAL, .count = 3, .names = NAMES("b", "a", "b")),
    ROW("names: none of them", EVZK_ERR_INVAL, .count = 0, .names = two),
    ROW("names: two", EVZK_OK, .count = 2, .names = two),
    ROW("names: the longest", EVZK_OK, .count = 1, .names = NAMES(longest)),
    ROW("names: those of other znodes there", EVZK_OK, .count = 4, .names = NAMES("plan", "members", "0", " a")),
    ROW("count: one", EVZK_OK, .count = 1),
    ROW("count: the most", EVZK_OK, .count = EVZK_SHARDS_MAX),
    ROW("data: empty", EVZK_OK, .count = 1, .data = most_data),
    ROW("data: the most", EVZK_OK, .count = 1, .data = most_data, .data_len = EVZK_SHARDS_DATA_MAX),
    ROW("weights: the most", EVZK_OK, .count = 1, .observer = true, .weight = UINT32_MAX, .most = UINT32_MAX),
};
#undef ROW

/* evzk_shards_drain: every time is a good one. */
/* evzk_rebalance: every bad argument is in tests/unit/test_rebalance.c. */
static const struct args_call calls[] = {
    {"evzk_shards_acknowledge", say_x, EVZK_ERR_STATE},
    {"evzk_shards_acknowledge", say_x_last, EVZK_ERR_STATE},
    {"evzk_shards_acknowledge", say_beyond, EVZK_ERR_INVAL},
    {"evzk_shards_acknowledge", say_null, EVZK_ERR_INVAL},
    {"evzk_shards_acknowledge", say_more, EVZK_ERR_INVAL},
    {"evzk_shards_lease", lease_first, EVZK_ERR_STATE},
    {"evzk_shards_lease", lease_beyond, EVZK_ERR_INVAL},
    {"evzk_shards_lease", lease_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

static void expect_no_shards(void *object)
{
    evzk_shards *a = object;
    evzk_shards_member m;
    evzk_shards_stats st;
    uint32_t index = 7;

    for (uint32_t i = 0; i < SHARDS + 1; i++) {
        ck_assert(!evzk_shards_elected(a, i));
        ck_assert(!evzk_shards_leading(a, i));
        ck_assert_uint_eq(evzk_shards_epoch(a, i), 0);
        ck_assert(!evzk_shards_leader(a, i, &m));
        ck_assert(!evzk_shards_member_at(a, i, &m));
        ck_assert_ptr_null(evzk_shards_name(a, i));
    }
    ck_assert(!evzk_shards_index(a, "alpha", &index));
    evzk_shards_get_stats(a, &st);
    ck_assert_uint_eq(st.plan + st.moves, 0);
    ck_assert_uint_eq(st.members + st.planned + st.elected + st.leading, 0);
    ck_assert_uint_eq(st.nobodys, 0);
    ck_assert(!st.planner);
}

static void no_shards(void)
{
    evzk_shards_member m;
    evzk_shards_stats st;

    INVAL_SILENT(evzk_shards_drain(NULL, 1));
    INVAL_SILENT(evzk_shards_lease(NULL, 0, &lease));
    ck_assert_ptr_null(lease);
    ck_assert_ptr_null(evzk_shards_name(NULL, 0));
    ck_assert(!evzk_shards_index(NULL, "alpha", &(uint32_t){0}));
    ck_assert(!evzk_shards_elected(NULL, 0));
    ck_assert(!evzk_shards_leading(NULL, 0));
    ck_assert_uint_eq(evzk_shards_epoch(NULL, 0), 0);
    ck_assert(!evzk_shards_leader(NULL, 0, &m));
    ck_assert(!evzk_shards_member_at(NULL, 0, &m));
    memset(&st, 1, sizeof st);
    evzk_shards_get_stats(NULL, &st);
    ck_assert_uint_eq(st.plan + st.moves, 0);
    ck_assert_uint_eq(st.members + st.planned + st.elected + st.leading, 0);
    ck_assert(!st.planner);
    evzk_shards_get_stats(NULL, NULL);
}

static const struct args_kind shards = {.start = "evzk_shards_join",
                                        .begin = join,
                                        .least = &all_options,
                                        .most = &all_options,
                                        .rows = rows,
                                        .n_rows = UNIT_COUNT(rows),
                                        .calls = calls,
                                        .n_calls = UNIT_COUNT(calls),
                                        .stop_function = "evzk_shards_drain",
                                        .stop = drain,
                                        .stopped_event = EVZK_SHARDS_DRAINED,
                                        .stopped_rc = EVZK_OK,
                                        .failed_event = EVZK_SHARDS_FAILED,
                                        .free = free_shards,
                                        .has_nothing = expect_no_shards,
                                        .null = no_shards,
                                        .ends_in_loop = true,
                                        .close_wins = true};

/* "/shard-65535" has to fit behind the path; and "/task-", with the longest
 * name. */
START_TEST(test_shards_path_too_long)
{
    static const evzk_shards_options named = {.count = 2, .names = two};
    char path[4096 - 12 + 2];
    void *out = NULL;
    struct args_start a = {.path = path, .options = &all_options, .out = &out};
    struct world w;

    set_up(&w);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    a.s = w.s;
    args_begin_fails(&shards, &a, "its path", EVZK_ERR_INVAL);
    path[4096 - 6 - EVZK_SHARDS_NAME_MAX + 1] = '\0';
    a.options = &named;
    args_begin_fails(&shards, &a, "its path", EVZK_ERR_INVAL);
    tear_down(&w);
}
END_TEST

/* The names are copied, in order. */
START_TEST(test_shards_names)
{
    char names[3][2] = {"c", "a", "b"};
    const char *const list[] = {names[0], names[1], names[2]};
    const evzk_shards_options opt = {.count = 3, .names = list};
    struct heard h = {0};
    uint32_t index = 7;
    struct world w;
    evzk_shards *a;

    set_up(&w);
    a = args_begin(&shards, &w, &opt, &h);
    memset(names, 'z', sizeof names);
    ck_assert_str_eq(evzk_shards_name(a, 0), "a");
    ck_assert_str_eq(evzk_shards_name(a, 1), "b");
    ck_assert_str_eq(evzk_shards_name(a, 2), "c");
    ck_assert_ptr_null(evzk_shards_name(a, 3));
    ck_assert(evzk_shards_index(a, "c", &index));
    ck_assert_uint_eq(index, 2);
    ck_assert(!evzk_shards_index(a, "d", &index));
    ck_assert(!evzk_shards_index(a, NULL, &index));
    ck_assert(!evzk_shards_index(a, "a", NULL));
    ck_assert_uint_eq(index, 2);
    DO(evzk_shards_free(a));
    tear_down(&w);
}
END_TEST

/* Every shard, and one more; drained with a time. */
START_TEST(test_shards_drain_in_time)
{
    struct heard h[2] = {{0}}, none = {0};
    evzk_shards *a[2], *freed;
    struct world w;

    set_up(&w);
    freed = args_begin(&shards, &w, &all_options, &none);
    ck_assert_int_eq(CALL(evzk_shards_drain(freed, 10)), EVZK_OK);
    DO(evzk_shards_free(freed));
    for (int i = 0; i < 2; i++) {
        a[i] = args_begin(&shards, &w, &all_options, &h[i]);
        if (i == 1)
            run_ms(&w, 20);
        for (uint32_t n = 0; n < SHARDS; n++)
            ck_assert_int_eq(CALL(evzk_shards_acknowledge(a[i], n, "x", 1)),
                             EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_shards_drain(a[i], i ? 60000 : 10)),
                         EVZK_OK);
        ck_assert_int_eq(CALL(evzk_shards_drain(a[i], 0)), EVZK_ERR_STATE);
        expect_no_shards(a[i]);
    }
    run_until(&w, &w.ended, 2);
    for (int i = 0; i < 2; i++) {
        expect(&h[i], EVZK_SHARDS_DRAINED, EVZK_OK);
        DO(evzk_shards_free(a[i]));
    }
    ck_assert_int_eq(none.events, 0);
    tear_down(&w);
}
END_TEST

/* The callback for one shard may be left out. */
START_TEST(test_shards_without_callback_for_one)
{
    struct heard h = {.kind = &shards};
    evzk_shards *a = NULL;
    struct world w;

    set_up(&w);
    ck_assert_int_eq(CALL(evzk_shards_join(w.s, "/a", &all_options, NULL,
                                           on_shards, &h, &a)),
                     EVZK_OK);
    run_ms(&w, 20);
    DO(evzk_shards_free(a));
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

static const struct args_kind *const kinds[] = {&shards, NULL};

static void add_tests(Suite *suite)
{
    memset(longest, 'n', EVZK_SHARDS_NAME_MAX);
    memset(longer, 'n', sizeof longer - 1);
    args_add(suite, test_shards_path_too_long, 1);
    args_add(suite, test_shards_names, 1);
    args_add(suite, test_shards_drain_in_time, 1);
    args_add(suite, test_shards_without_callback_for_one, 1);
}

const struct args_recipe args_shards = {kinds, add_tests};
