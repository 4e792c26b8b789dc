/* Barriers without a server. */
#include "args.h"

#include <string.h>

/* A barrier tells only its end; without a server that is an error. */
static void on_barrier(evzk_barrier *b, int rc, void *arg)
{
    args_heard(arg, b, 0, rc);
}

ARGS_BEGIN(set, evzk_barrier, on_barrier,
           evzk_barrier_set(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(lift, evzk_barrier, on_barrier,
           evzk_barrier_lift(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(wait, evzk_barrier, on_barrier,
           evzk_barrier_wait(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_barrier, evzk_barrier, evzk_barrier_free)
ARGS_CALL(cancel, evzk_barrier, evzk_barrier_cancel(o))

static const evzk_barrier_options all_options = {.data = "me",
                                                 .data_len = 2,
                                                 .timeout_ms = 10000,
                                                 .acl = args_one_acl,
                                                 .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_barrier_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_DATA(BAD, EVZK_BARRIER_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_barrier_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_barrier_options)

static void expect_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_barrier_state(object)), 0);
}

static void no_barrier(void) { ck_assert_str_eq(evzk_barrier_state(NULL), ""); }

#define AS_ALL(function)                                                       \
    .begin = function, .most = &all_options, .rows = rows,                     \
    .n_rows = UNIT_COUNT(rows), .with_acl = with_acl,                          \
    .with_timeout = with_timeout, .stop_function = "evzk_barrier_cancel",      \
    .stop = cancel, .stopped_rc = EVZK_ERR_CANCELED, .free = free_barrier,     \
    .has_nothing = expect_state, .null = no_barrier

static const struct args_kind setting = {.start = "evzk_barrier_set",
                                         AS_ALL(set)};
static const struct args_kind lifting = {.start = "evzk_barrier_lift",
                                         AS_ALL(lift)};
static const struct args_kind waiting = {.start = "evzk_barrier_wait",
                                         AS_ALL(wait)};

static const struct args_kind *const kinds[] = {&setting, &lifting, &waiting,
                                                NULL};

/* There is no znode above the root. */
START_TEST(root_is_no_barrier)
{
    evzk_barrier *b = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_barrier_set(w.s, "/", NULL, on_barrier, NULL, &b));
    INVAL(evzk_barrier_lift(w.s, "/", NULL, on_barrier, NULL, &b));
    INVAL(evzk_barrier_wait(w.s, "/", NULL, on_barrier, NULL, &b));
    ck_assert_ptr_null(b);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite) { args_add(suite, root_is_no_barrier, 1); }

const struct args_recipe args_barrier = {kinds, add_tests};
