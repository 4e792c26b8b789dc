/* Values without a server. */
#include "args.h"

#include <inttypes.h>
#include <string.h>

#include "recipes/value/value_internal.h"

static void on_query(evzk_value_query *q, int rc, const evzk_value *value,
                     void *arg)
{
    ck_assert_ptr_null(value);
    args_heard(arg, q, 0, rc);
}

static void on_follower(evzk_value_follower *f, evzk_value_follower_event event,
                        int rc, const evzk_value *value, void *arg)
{
    ck_assert_ptr_null(value);
    args_heard(arg, f, (int)event, rc);
}

static void on_writer(evzk_value_writer *w, evzk_value_writer_event event,
                      int rc, void *arg)
{
    args_heard(arg, w, (int)event, rc);
}

static const evzk_value_stamp stamp = {.czxid = 7, .version = 1};

ARGS_BEGIN(get, evzk_value_query, on_query,
           evzk_value_get(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(follow, evzk_value_follower, on_follower,
           evzk_value_follow(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(start, evzk_value_writer, on_writer,
           evzk_value_writer_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_query, evzk_value_query, evzk_value_query_free)
ARGS_FREE(free_follower, evzk_value_follower, evzk_value_follower_free)
ARGS_FREE(free_writer, evzk_value_writer, evzk_value_writer_free)
ARGS_CALL(cancel_query, evzk_value_query, evzk_value_query_cancel(o))
ARGS_CALL(cancel_follower, evzk_value_follower, evzk_value_follower_cancel(o))
ARGS_CALL(cancel_writer, evzk_value_writer, evzk_value_writer_cancel(o))
ARGS_CALL(close_writer, evzk_value_writer, evzk_value_writer_close(o))
ARGS_CALL(set_null, evzk_value_writer, evzk_value_set(o, NULL, 1, NULL, NULL))
ARGS_CALL(set_long, evzk_value_writer,
          evzk_value_set(o, "x", EVZK_VALUE_DATA_MAX + 1, NULL, NULL))
ARGS_CALL(set_far, evzk_value_writer,
          evzk_value_set(o, "x", SIZE_MAX, NULL, NULL))
ARGS_CALL(compare_null, evzk_value_writer,
          evzk_value_compare_set(o, NULL, "x", 1, NULL, NULL))
ARGS_CALL(compare_no_data, evzk_value_writer,
          evzk_value_compare_set(o, &stamp, NULL, 1, NULL, NULL))
ARGS_CALL(create_null, evzk_value_writer,
          evzk_value_create(o, NULL, 1, NULL, NULL))

static const evzk_value_options all_options = {.timeout_ms = 10000,
                                               .pending_max = 100,
                                               .acl = args_one_acl,
                                               .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_value_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_call calls[] = {
    {"evzk_value_set", set_null, EVZK_ERR_INVAL},
    {"evzk_value_set", set_long, EVZK_ERR_INVAL},
    {"evzk_value_set", set_far, EVZK_ERR_INVAL},
    {"evzk_value_compare_set", compare_null, EVZK_ERR_INVAL},
    {"evzk_value_compare_set", compare_no_data, EVZK_ERR_INVAL},
    {"evzk_value_create", create_null, EVZK_ERR_INVAL},
    /* evzk_counter_add: every number is a good one. */
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_value_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_value_options)

static void query_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_value_query_state(object)), 0);
}

static void follower_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_value_follower_state(object)), 0);
}

static void writer_state(void *object)
{
    ck_assert_uint_eq(evzk_value_writer_pending(object), 0);
    ck_assert_uint_gt(strlen(evzk_value_writer_state(object)), 0);
}

static void no_value(void)
{
    ck_assert_str_eq(evzk_value_query_state(NULL), "");
    ck_assert_str_eq(evzk_value_follower_state(NULL), "");
    ck_assert_str_eq(evzk_value_writer_state(NULL), "");
    ck_assert_uint_eq(evzk_value_writer_pending(NULL), 0);
}

static const struct args_kind query = {.start = "evzk_value_get",
                                       .begin = get,
                                       .most = &all_options,
                                       .rows = rows,
                                       .n_rows = UNIT_COUNT(rows),
                                       .with_acl = with_acl,
                                       .with_timeout = with_timeout,
                                       .stop_function =
                                           "evzk_value_query_cancel",
                                       .stop = cancel_query,
                                       .stopped_rc = EVZK_ERR_CANCELED,
                                       .free = free_query,
                                       .has_nothing = query_state,
                                       .null = no_value};

static const struct args_kind follower = {
    .start = "evzk_value_follow",
    .begin = follow,
    .most = &all_options,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .with_acl = with_acl,
    .stop_function = "evzk_value_follower_cancel",
    .stop = cancel_follower,
    .stopped_event = EVZK_VALUE_FOLLOWER_ENDED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_VALUE_FOLLOWER_ENDED,
    .free = free_follower,
    .has_nothing = follower_state,
    .null = no_value};

#define WRITER(function, end)                                                  \
    {                                                                          \
        .start = "evzk_value_writer_start", .begin = start,                    \
        .most = &all_options, .rows = rows, .n_rows = UNIT_COUNT(rows),        \
        .calls = calls, .n_calls = UNIT_COUNT(calls), .with_acl = with_acl,    \
        .stop_function = (function), .stop = (end),                            \
        .stopped_event = EVZK_VALUE_WRITER_CLOSED, .stopped_rc = EVZK_OK,      \
        .failed_event = EVZK_VALUE_WRITER_FAILED, .free = free_writer,         \
        .has_nothing = writer_state, .null = no_value, .deaf = true            \
    }

static const struct args_kind writer =
    WRITER("evzk_value_writer_close", close_writer);
static const struct args_kind canceled =
    WRITER("evzk_value_writer_cancel", cancel_writer);

static const struct args_kind *const kinds[] = {&query, &follower, &writer,
                                                &canceled, NULL};

/* The writes of one test, and what they heard: "0 CANCELED, 1 ...". */
static char heard[256];
static evzk_value_writer *free_in_write;

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    size_t n = strlen(heard);

    ck_assert_int_eq(args_inside, 0);
    ck_assert_int_eq(number, 0);
    snprintf(heard + n, sizeof heard - n, "%s %s, ", (const char *)arg,
             evzk_errname(rc));
    if (w == free_in_write)
        DO(evzk_value_writer_free(w));
}

static evzk_value_writer *with_writes(struct world *w, struct heard *h)
{
    evzk_value_writer *v = args_begin(&writer, w, NULL, h);
    char data[] = "x";

    heard[0] = '\0';
    free_in_write = NULL;
    ck_assert_int_eq(CALL(evzk_value_set(v, data, 1, on_write, "set")),
                     EVZK_OK);
    memset(data, 0, sizeof data); /* The writer has a copy. */
    ck_assert_int_eq(
        CALL(evzk_value_compare_set(v, &stamp, NULL, 0, NULL, NULL)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_value_create(v, "y", 1, on_write, "create")),
                     EVZK_OK);
    ck_assert_int_eq(CALL(evzk_counter_add(v, -1, on_write, "add")), EVZK_OK);
    ck_assert_uint_eq(evzk_value_writer_pending(v), 4);
    ck_assert_str_eq(heard, "");
    return v;
}

/* Writes end before their writer does, in their order; a close alone waits. */
START_TEST(writes_are_canceled)
{
    struct heard h = {0};
    struct world w;
    evzk_value_writer *v;

    set_up(&w);
    v = with_writes(&w, &h);
    if (_i == 1) {
        ck_assert_int_eq(CALL(evzk_value_writer_close(v)), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_value_writer_close(v)), EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_counter_add(v, 1, NULL, NULL)),
                         EVZK_ERR_STATE);
        run_ms(&w, 30);
        ck_assert_int_eq(h.events, 0);
    }
    ck_assert_int_eq(CALL(evzk_value_writer_cancel(v)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_value_writer_cancel(v)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_value_writer_close(v)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_VALUE_WRITER_CLOSED, EVZK_OK);
    ck_assert_str_eq(heard, "set EVZK_ERR_CANCELED, create EVZK_ERR_CANCELED, "
                            "add EVZK_ERR_CANCELED, ");
    ck_assert_uint_eq(evzk_value_writer_pending(v), 0);
    ck_assert_int_eq(CALL(evzk_value_writer_cancel(v)), EVZK_ERR_STATE);
    DO(evzk_value_writer_free(v));
    tear_down(&w);
}
END_TEST

/* Nothing is told of the writes behind, nor of the writer. */
START_TEST(freed_in_a_write)
{
    struct heard h = {0};
    struct world w;
    evzk_value_writer *v;

    set_up(&w);
    v = with_writes(&w, &h);
    free_in_write = v;
    ck_assert_int_eq(CALL(evzk_value_writer_cancel(v)), EVZK_OK);
    run_ms(&w, 30);
    ck_assert_str_eq(heard, "set EVZK_ERR_CANCELED, ");
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(too_much_waits)
{
    static const evzk_value_options opt = {.pending_max = 140};
    struct heard h = {0};
    struct world w;
    evzk_value_writer *v;

    set_up(&w);
    v = args_begin(&writer, &w, &opt, &h);
    INVAL(evzk_value_set(v, opt.reserved, 77, NULL, NULL)); /* Never. */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(CALL(evzk_counter_add(v, 1, NULL, NULL)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_counter_add(v, 1, NULL, NULL)), EVZK_ERR_BUSY);
    ck_assert_uint_eq(evzk_value_writer_pending(v), 2);
    DO(evzk_value_writer_free(v));
    tear_down(&w);
}
END_TEST

START_TEST(write_without_memory)
{
    struct heard h = {0};
    struct world w;
    evzk_value_writer *v;

    set_up(&w);
    v = args_begin(&writer, &w, NULL, &h);
    args_allocations = 0;
    args_fail_at = 1;
    ck_assert_int_eq(CALL(evzk_value_set(v, "x", 1, NULL, NULL)),
                     EVZK_ERR_NOMEM);
    ck_assert_uint_eq(evzk_value_writer_pending(v), 0);
    args_fail_at = 0;
    ck_assert_int_eq(CALL(evzk_value_set(v, "x", 1, NULL, NULL)), EVZK_OK);
    DO(evzk_value_writer_free(v));
    tear_down(&w);
}
END_TEST

/* There is no znode above the root; and a receipt must fit below the value. */
START_TEST(bad_paths)
{
    static char path[4096];
    struct heard h = {0};
    evzk_value_query *q = NULL;
    evzk_value_follower *f = NULL;
    evzk_value_writer *v = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_value_get(w.s, "/", NULL, on_query, NULL, &q));
    INVAL(evzk_value_follow(w.s, "/", NULL, on_follower, NULL, &f));
    INVAL(evzk_value_writer_start(w.s, "/", NULL, on_writer, NULL, &v));
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[4096 - EVZK__VALUE_NAME + 1] = '\0';
    INVAL(evzk_value_writer_start(w.s, path, NULL, on_writer, NULL, &v));
    path[4096 - EVZK__VALUE_NAME] = '\0';
    h.kind = &writer;
    ck_assert_int_eq(
        CALL(evzk_value_writer_start(w.s, path, NULL, on_writer, &h, &v)),
        EVZK_OK);
    DO(evzk_value_writer_free(v));
    tear_down(&w);
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    int64_t n;
} numbers[] = {{"", true, 0},
               {"0", true, 0},
               {"-0", true, 0},
               {"007", true, 7},
               {"-12", true, -12},
               {"9223372036854775807", true, INT64_MAX},
               {"-9223372036854775808", true, INT64_MIN},
               {"9223372036854775808", false, 0},
               {"-9223372036854775809", false, 0},
               {"99999999999999999999", false, 0},
               {"-", false, 0},
               {"+1", false, 0},
               {" 1", false, 0},
               {"1\n", false, 0},
               {"1.5", false, 0}};

START_TEST(test_numbers)
{
    for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
        const char *text = numbers[i].text;
        int64_t n = 0, back = 0;
        char out[EVZK__NUMBER_SIZE];

        ck_assert_msg(evzk__number_parse(text, strlen(text), &n) ==
                          numbers[i].ok,
                      "%s", text);
        if (!numbers[i].ok)
            continue;
        ck_assert_int_eq(n, numbers[i].n);
        ck_assert(evzk__number_parse(out, evzk__number_print(out, n), &back));
        ck_assert_int_eq(back, n);
    }
}
END_TEST

START_TEST(test_sums)
{
    int64_t n = INT64_MAX - 1;

    ck_assert(evzk__number_add(&n, 1));
    ck_assert(!evzk__number_add(&n, 1));
    ck_assert_int_eq(n, INT64_MAX);
    ck_assert(evzk__number_add(&n, INT64_MIN));
    ck_assert_int_eq(n, -1);
    ck_assert(!evzk__number_add(&n, INT64_MIN));
    ck_assert(evzk__number_add(&n, 0));
    ck_assert_int_eq(n, -1);
}
END_TEST

START_TEST(names_of_events)
{
    ck_assert_str_eq(evzk_value_writer_event_name(EVZK_VALUE_WRITER_CLOSED),
                     "CLOSED");
    ck_assert_str_eq(evzk_value_writer_event_name(EVZK_VALUE_WRITER_FAILED),
                     "FAILED");
    ck_assert_str_eq(evzk_value_writer_event_name((evzk_value_writer_event)0),
                     "?");
    ck_assert(evzk_value_writer_event_is_final(EVZK_VALUE_WRITER_CLOSED));
    ck_assert(evzk_value_writer_event_is_final(EVZK_VALUE_WRITER_FAILED));
    ck_assert(!evzk_value_writer_event_is_final((evzk_value_writer_event)0));
    ck_assert_str_eq(evzk_value_follower_event_name(EVZK_VALUE_FOLLOWER_VALUE),
                     "VALUE");
    ck_assert_str_eq(evzk_value_follower_event_name(EVZK_VALUE_FOLLOWER_ENDED),
                     "ENDED");
    ck_assert_str_eq(
        evzk_value_follower_event_name((evzk_value_follower_event)0), "?");
    ck_assert(!evzk_value_follower_event_is_final(EVZK_VALUE_FOLLOWER_VALUE));
    ck_assert(evzk_value_follower_event_is_final(EVZK_VALUE_FOLLOWER_ENDED));
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, writes_are_canceled, 2);
    args_add(suite, freed_in_a_write, 1);
    args_add(suite, too_much_waits, 1);
    args_add(suite, write_without_memory, 1);
    args_add(suite, bad_paths, 1);
    args_add(suite, test_numbers, 1);
    args_add(suite, test_sums, 1);
    args_add(suite, names_of_events, 1);
}

const struct args_recipe args_value = {kinds, add_tests};
