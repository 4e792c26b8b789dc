/* Consumers without a server. */
#include "args.h"

#include <string.h>

/* Without a server no item is heard of, only the end. */
static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    ck_assert_ptr_null(item);
    args_heard(arg, c, (int)event, rc);
}

static evzk_item other; /* Of no consumer. */

ARGS_BEGIN(start, evzk_consumer, on_consumer,
           evzk_consumer_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_consumer, evzk_consumer, evzk_consumer_free)
ARGS_CALL(close_it, evzk_consumer, evzk_consumer_close(o))
ARGS_CALL(cancel, evzk_consumer, evzk_consumer_cancel(o))
ARGS_CALL(take_none, evzk_consumer, evzk_consumer_take(o, 0, 0))
ARGS_CALL(take_more, evzk_consumer,
          evzk_consumer_take(o, EVZK_CONSUMER_PREFETCH_MAX + 1, 0))
ARGS_CALL(finish_null, evzk_consumer, evzk_consumer_finish(o, NULL))
ARGS_CALL(give_null, evzk_consumer, evzk_consumer_give_back(o, NULL))

static const evzk_consumer_options all_options = {
    .layout = EVZK_QUEUE_SEGMENTS,
    .mode = EVZK_CONSUMER_CLAIMED,
    .prefetch = EVZK_CONSUMER_PREFETCH_MAX,
    .max_deliveries = 3,
    .acl = args_one_acl,
    .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_consumer_options){__VA_ARGS__}, EVZK_ERR_INVAL}
#define GOOD(what, ...)                                                        \
    {what, &(const evzk_consumer_options){__VA_ARGS__}, EVZK_OK}
#define CLAIMED .mode = EVZK_CONSUMER_CLAIMED

static const struct args_row rows[] = {
    BAD("layout: unknown", .layout = (evzk_queue_layout)3),
    BAD("layout: below zero", .layout = (evzk_queue_layout)-1),
    BAD("mode: unknown", .mode = (evzk_consumer_mode)2),
    BAD("mode: below zero", .mode = (evzk_consumer_mode)-1),
    BAD("mode: claimed in a plain queue", CLAIMED, .layout = EVZK_QUEUE_PLAIN),
    BAD("mode: the same, with priorities", CLAIMED, .layout = EVZK_QUEUE_PLAIN_PRIORITY),
    BAD("prefetch: too many", CLAIMED, .prefetch = EVZK_CONSUMER_PREFETCH_MAX + 1),
    BAD("prefetch: far too many", CLAIMED, .prefetch = UINT32_MAX),
    BAD("prefetch: without claims", .prefetch = 1),
    BAD("max_deliveries: without claims", .max_deliveries = 1),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
    GOOD("max_deliveries: the most", CLAIMED, .max_deliveries = UINT32_MAX),
    GOOD("layout: plain", .layout = EVZK_QUEUE_PLAIN),
    GOOD("layout: plain, with priorities", .layout = EVZK_QUEUE_PLAIN_PRIORITY),
};

/* evzk_consumer_start: its rows are those of the options. */
static const struct args_call calls[] = {
    {"evzk_consumer_take", take_none, EVZK_ERR_INVAL},
    {"evzk_consumer_take", take_more, EVZK_ERR_INVAL},
    {"evzk_consumer_cancel", cancel, EVZK_ERR_STATE},
    {"evzk_consumer_finish", finish_null, EVZK_ERR_INVAL},
    {"evzk_consumer_give_back", give_null, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_consumer_options)

static void expect_nothing(void *object)
{
    evzk_consumer *c = object;

    ck_assert_uint_gt(strlen(evzk_consumer_state(c)), 0);
    ck_assert_uint_eq(evzk_consumer_held(c), 0);
    ck_assert_uint_eq(evzk_consumer_lease_ms(c), 0);
    ck_assert(!evzk_consumer_holds(c, NULL));
}

static void no_consumer(void)
{
    INVAL_SILENT(evzk_consumer_take(NULL, 1, 0));
    INVAL_SILENT(evzk_consumer_finish(NULL, &other));
    INVAL_SILENT(evzk_consumer_give_back(NULL, &other));
    ck_assert_int_eq(evzk_consumer_cancel(NULL), EVZK_ERR_INVAL);
    ck_assert_str_eq(evzk_consumer_state(NULL), "");
    ck_assert_uint_eq(evzk_consumer_held(NULL), 0);
    ck_assert_uint_eq(evzk_consumer_lease_ms(NULL), 0);
    ck_assert(!evzk_consumer_holds(NULL, &other));
}

static const struct args_kind consumer = {.start = "evzk_consumer_start",
                                          .begin = start,
                                          .most = &all_options,
                                          .rows = rows,
                                          .n_rows = UNIT_COUNT(rows),
                                          .calls = calls,
                                          .n_calls = UNIT_COUNT(calls),
                                          .with_acl = with_acl,
                                          .stop_function =
                                              "evzk_consumer_close",
                                          .stop = close_it,
                                          .stopped_event = EVZK_CONSUMER_CLOSED,
                                          .stopped_rc = EVZK_OK,
                                          .failed_event = EVZK_CONSUMER_FAILED,
                                          .free = free_consumer,
                                          .has_nothing = expect_nothing,
                                          .null = no_consumer,
                                          .deaf = true};

static const struct args_kind *const kinds[] = {&consumer, NULL};

/* What a consumer tells, without a server. */
struct told {
    int taken, rc, ended;
};

static void on_take(evzk_consumer *c, evzk_consumer_event event, int rc,
                    evzk_item *item, void *arg)
{
    struct told *t = arg;

    (void)c;
    ck_assert_int_eq(args_inside, 0);
    ck_assert_ptr_null(item);
    t->taken += event == EVZK_CONSUMER_TAKEN;
    t->ended += evzk_consumer_event_is_final(event);
    t->rc = rc;
}

/* A take ends by its time, or is canceled; then the next one may begin. */
START_TEST(test_takes)
{
    struct told t = {0};
    evzk_consumer *c = NULL;
    struct world w;

    set_up(&w);
    ck_assert_int_eq(
        CALL(evzk_consumer_start(w.s, "/q", NULL, on_take, &t, &c)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 1, 30)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 1, 30)), EVZK_ERR_STATE);
    run_until(&w, &t.taken, 1);
    ck_assert_int_eq(t.rc, EVZK_ERR_TIMEOUT);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 1, 0)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_cancel(c)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_cancel(c)), EVZK_ERR_STATE);
    run_until(&w, &t.taken, 2);
    ck_assert_int_eq(t.rc, EVZK_ERR_CANCELED);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 2, 0)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_close(c)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 1, 0)), EVZK_ERR_STATE);
    run_until(&w, &t.ended, 1);
    ck_assert_int_eq(t.taken, 3);
    ck_assert_int_eq(t.rc, EVZK_OK);
    DO(evzk_consumer_free(c));
    tear_down(&w);
}
END_TEST

START_TEST(test_prefetch_takes_by_itself)
{
    struct told t = {0};
    evzk_consumer *c = NULL;
    struct world w;

    set_up(&w);
    ck_assert_int_eq(
        CALL(evzk_consumer_start(w.s, "/q", &all_options, on_take, &t, &c)),
        EVZK_OK);
    ck_assert_int_eq(CALL(evzk_consumer_take(c, 1, 0)), EVZK_ERR_STATE);
    DO(evzk_consumer_free(c));
    ck_assert_int_eq(t.taken + t.ended, 0);
    tear_down(&w);
}
END_TEST

/* There is nothing above the root; and the names below have to fit. */
START_TEST(test_no_queue_there)
{
    char longest[4096];
    evzk_consumer *c = NULL;
    struct world w;

    set_up(&w);
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 20] = '\0';
    INVAL(evzk_consumer_start(w.s, "/", NULL, on_take, NULL, &c));
    INVAL(evzk_consumer_start(w.s, longest, NULL, on_take, NULL, &c));
    ck_assert_ptr_null(c);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, test_takes, 1);
    args_add(suite, test_prefetch_takes_by_itself, 1);
    args_add(suite, test_no_queue_there, 1);
}

const struct args_recipe args_consumer = {kinds, add_tests};
