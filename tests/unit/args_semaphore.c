/* Semaphores without a server. */
#include "args.h"

#include <string.h>

static void on_semaphore(evzk_semaphore *p, evzk_semaphore_event event, int rc,
                         void *arg)
{
    args_heard(arg, p, (int)event, rc);
}

ARGS_BEGIN(begin_semaphore, evzk_semaphore, on_semaphore,
           evzk_semaphore_acquire(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_semaphore, evzk_semaphore, evzk_semaphore_free)
ARGS_CALL(cancel, evzk_semaphore, evzk_semaphore_cancel(o))
ARGS_CALL(release, evzk_semaphore, evzk_semaphore_release(o))
ARGS_CALL(lease, evzk_semaphore, evzk_semaphore_lease(o, &(evzk_lease *){NULL}))
ARGS_CALL(lease_nowhere, evzk_semaphore, evzk_semaphore_lease(o, NULL))

static const evzk_semaphore_options all_options = {.leases = 7,
                                                   .timeout_ms = 10000,
                                                   .no_requeue = true,
                                                   .data = "me",
                                                   .data_len = 2,
                                                   .acl = args_one_acl,
                                                   .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_semaphore_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_DATA(BAD, EVZK_SEMAPHORE_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_DIALECT(BAD),
    ARGS_BAD_ACL(BAD),
};
#undef BAD

static const struct args_call calls[] = {
    {"evzk_semaphore_release", release, EVZK_ERR_STATE},
    {"evzk_semaphore_lease", lease, EVZK_ERR_STATE},
    {"evzk_semaphore_lease", lease_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_semaphore_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_semaphore_options)

static void expect_unheld(void *object)
{
    const evzk_semaphore *p = object;

    ck_assert(!evzk_semaphore_held(p));
    ck_assert_uint_eq(evzk_semaphore_lease_ms(p), 0);
    ck_assert_uint_eq(evzk_semaphore_token(p), 0);
    ck_assert_str_eq(evzk_semaphore_node(p), "");
    ck_assert_uint_gt(strlen(evzk_semaphore_state(p)), 0);
}

static void no_semaphore(void)
{
    ck_assert_int_eq(evzk_semaphore_release(NULL), EVZK_ERR_INVAL);
    ck_assert(!evzk_semaphore_held(NULL));
    ck_assert_uint_eq(evzk_semaphore_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_semaphore_token(NULL), 0);
    ck_assert_str_eq(evzk_semaphore_node(NULL), "");
    ck_assert_str_eq(evzk_semaphore_state(NULL), "");
    ck_assert_str_eq(evzk_semaphore_event_name(EVZK_SEMAPHORE_ACQUIRED),
                     "ACQUIRED");
    ck_assert_str_eq(evzk_semaphore_event_name((evzk_semaphore_event)0), "?");
}

static const struct args_kind semaphore = {
    .start = "evzk_semaphore_acquire",
    .begin = begin_semaphore,
    .most = &all_options,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .calls = calls,
    .n_calls = UNIT_COUNT(calls),
    .with_acl = with_acl,
    .with_timeout = with_timeout,
    .stop_function = "evzk_semaphore_cancel",
    .stop = cancel,
    .stopped_event = EVZK_SEMAPHORE_FAILED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_SEMAPHORE_FAILED,
    .free = free_semaphore,
    .has_nothing = expect_unheld,
    .null = no_semaphore,
    .deaf = true};

static const struct args_kind *const kinds[] = {&semaphore, NULL};

const struct args_recipe args_semaphore = {kinds, NULL};
