/* Double barriers without a server. */
#include "args.h"

#include <string.h>

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event event,
                     int rc, void *arg)
{
    args_heard(arg, d, (int)event, rc);
}

static void on_answer(evzk_double_barrier_query *q, int rc,
                      const evzk_participant *v, size_t n, void *arg)
{
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    args_heard(arg, q, 0, rc);
}

ARGS_BEGIN(enter, evzk_double_barrier, on_event,
           evzk_double_barrier_enter(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(ask, evzk_double_barrier_query, on_answer,
           evzk_double_barrier_query_start(a->s, a->path, on, a->arg, to))
ARGS_FREE(free_it, evzk_double_barrier, evzk_double_barrier_free)
ARGS_FREE(free_query, evzk_double_barrier_query, evzk_double_barrier_query_free)
ARGS_CALL(cancel, evzk_double_barrier, evzk_double_barrier_cancel(o))
ARGS_CALL(leave, evzk_double_barrier, evzk_double_barrier_leave(o))

static const evzk_double_barrier_options one = {.count = 1};
static const evzk_double_barrier_options all_options = {.count = UINT32_MAX,
                                                        .timeout_ms = 10000,
                                                        .leave_timeout_ms = 10,
                                                        .data = "me",
                                                        .data_len = 2,
                                                        .acl = args_one_acl,
                                                        .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_double_barrier_options){.count = 2, __VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    {"count: none", &(const evzk_double_barrier_options){.timeout_ms = 1}, EVZK_ERR_INVAL},
    ARGS_BAD_DATA(BAD, EVZK_DOUBLE_BARRIER_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_call calls[] = {
    {"evzk_double_barrier_leave", leave, EVZK_ERR_STATE},
};
/* clang-format on */

static const void *with_acl(const evzk_acl *acl, size_t n)
{
    static evzk_double_barrier_options opt = {.count = 3};

    opt.acl = acl;
    opt.acl_count = n;
    return &opt;
}

static const void *with_timeout(uint32_t ms)
{
    static evzk_double_barrier_options opt = {.count = 3};

    opt.timeout_ms = ms;
    return &opt;
}

static void expect_outside(void *object)
{
    const evzk_double_barrier *d = object;

    ck_assert(!evzk_double_barrier_inside(d));
    ck_assert_uint_eq(evzk_double_barrier_lease_ms(d), 0);
    ck_assert_str_eq(evzk_double_barrier_node(d), "");
    ck_assert_uint_gt(strlen(evzk_double_barrier_state(d)), 0);
}

static void no_participant(void)
{
    INVAL_SILENT(evzk_double_barrier_leave(NULL));
    ck_assert(!evzk_double_barrier_inside(NULL));
    ck_assert_uint_eq(evzk_double_barrier_lease_ms(NULL), 0);
    ck_assert_str_eq(evzk_double_barrier_node(NULL), "");
    ck_assert_str_eq(evzk_double_barrier_state(NULL), "");
}

static const struct args_kind participant = {
    .start = "evzk_double_barrier_enter",
    .begin = enter,
    .least = &one,
    .most = &all_options,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .calls = calls,
    .n_calls = UNIT_COUNT(calls),
    .with_acl = with_acl,
    .with_timeout = with_timeout,
    .stop_function = "evzk_double_barrier_cancel",
    .stop = cancel,
    .stopped_event = EVZK_DOUBLE_BARRIER_FAILED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_DOUBLE_BARRIER_FAILED,
    .free = free_it,
    .has_nothing = expect_outside,
    .null = no_participant};

/* clang-format off */
static const struct args_kind query = {
    .start = "evzk_double_barrier_query_start", .begin = ask, .free = free_query};
/* clang-format on */

static const struct args_kind *const kinds[] = {&participant, &query, NULL};

/* There is no count by default. */
START_TEST(options_are_needed)
{
    evzk_double_barrier *d = NULL;
    struct heard h = {0};
    struct world w;

    set_up(&w);
    INVAL(evzk_double_barrier_enter(w.s, "/d", NULL, on_event, &h, &d));
    ck_assert_ptr_null(d);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite) { args_add(suite, options_are_needed, 1); }

const struct args_recipe args_double_barrier = {kinds, add_tests};
