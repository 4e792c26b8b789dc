/* Locks, look-ups and revocations without a server. */
#include "args.h"

#include <string.h>

/* Locks. */

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    args_heard(arg, l, (int)event, rc);
}

ARGS_BEGIN(begin_lock, evzk_lock, on_lock,
           evzk_lock_acquire(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_lock, evzk_lock, evzk_lock_free)
ARGS_CALL(cancel, evzk_lock, evzk_lock_cancel(o))
ARGS_CALL(release, evzk_lock, evzk_lock_release(o))
ARGS_CALL(downgrade, evzk_lock, evzk_lock_downgrade(o))
ARGS_CALL(upgrade, evzk_lock, evzk_lock_upgrade(o))
ARGS_CALL(lease, evzk_lock, evzk_lock_lease(o, &(evzk_lease *){NULL}))
ARGS_CALL(lease_nowhere, evzk_lock, evzk_lock_lease(o, NULL))

static const evzk_lock_priority urgent = {.priority = 1};
static const evzk_lock_priority all_priority = {
    .priority = 9, .ageing = 2, .revoke = true, .grace_ms = 5};
static const evzk_lock_options all_options = {.mode = EVZK_LOCK_WRITE,
                                              .priority = &all_priority,
                                              .revocable = true,
                                              .timeout_ms = 10000,
                                              .data = "me",
                                              .data_len = 2,
                                              .acl = args_one_acl,
                                              .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_lock_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row lock_rows[] = {
    BAD("mode: too high", .mode = (evzk_lock_mode)(EVZK_LOCK_READ + 1)),
    BAD("mode: below zero", .mode = (evzk_lock_mode)-1),
    BAD("priority: without a mode", .priority = &urgent),
    BAD("priority: an exclusive lock", .mode = EVZK_LOCK_EXCLUSIVE, .priority = &urgent),
    BAD("priority: a writer without watch", .mode = EVZK_LOCK_WRITE, .priority = &urgent, .no_own_watch = true),
    BAD("priority: a reader without watch", .mode = EVZK_LOCK_READ, .priority = &urgent, .no_own_watch = true),
    BAD("revocable: without watch", .revocable = true, .no_own_watch = true),
    ARGS_BAD_DIALECT(BAD),
    BAD("priority: in a dialect", .mode = EVZK_LOCK_WRITE, .priority = &urgent, .dialect = EVZK_DIALECT_KAZOO),
    ARGS_BAD_DATA(BAD, EVZK_LOCK_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
#undef BAD

static const struct args_call lock_calls[] = {
    {"evzk_lock_release", release, EVZK_ERR_STATE},
    {"evzk_lock_downgrade", downgrade, EVZK_ERR_STATE},
    {"evzk_lock_upgrade", upgrade, EVZK_ERR_STATE},
    {"evzk_lock_lease", lease, EVZK_ERR_STATE},
    {"evzk_lock_lease", lease_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(lock_acl, evzk_lock_options)
ARGS_WITH_TIMEOUT(lock_timeout, evzk_lock_options)

static void expect_unheld(void *object)
{
    const evzk_lock *l = object;

    ck_assert(!evzk_lock_held(l));
    ck_assert_uint_eq(evzk_lock_lease_ms(l), 0);
    ck_assert_uint_eq(evzk_lock_token(l), 0);
    ck_assert_str_eq(evzk_lock_node(l), "");
    ck_assert_uint_gt(strlen(evzk_lock_state(l)), 0);
}

static void no_lock(void)
{
    evzk_lease *none = NULL;

    INVAL_SILENT(evzk_lock_lease(NULL, &none));
    ck_assert_ptr_null(none);
    ck_assert(!evzk_lock_held(NULL));
    ck_assert_uint_eq(evzk_lock_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_lock_token(NULL), 0);
    ck_assert_str_eq(evzk_lock_node(NULL), "");
    ck_assert_str_eq(evzk_lock_state(NULL), "");
    ck_assert_int_eq(evzk_lock_mode_of(NULL), EVZK_LOCK_EXCLUSIVE);
}

static const struct args_kind lock = {.start = "evzk_lock_acquire",
                                      .begin = begin_lock,
                                      .most = &all_options,
                                      .rows = lock_rows,
                                      .n_rows = UNIT_COUNT(lock_rows),
                                      .calls = lock_calls,
                                      .n_calls = UNIT_COUNT(lock_calls),
                                      .with_acl = lock_acl,
                                      .with_timeout = lock_timeout,
                                      .stop_function = "evzk_lock_cancel",
                                      .stop = cancel,
                                      .stopped_event = EVZK_LOCK_FAILED,
                                      .stopped_rc = EVZK_ERR_CANCELED,
                                      .failed_event = EVZK_LOCK_FAILED,
                                      .free = free_lock,
                                      .has_nothing = expect_unheld,
                                      .null = no_lock,
                                      .deaf = true};

/* Every mode, every priority, and what becomes of the copies. */
START_TEST(test_lock_modes)
{
    struct world w;

    set_up(&w);
    for (int i = 0; i < 6; i++) {
        evzk_lock_priority most = {.priority = 255,
                                   .ageing = UINT32_MAX,
                                   .revoke = true,
                                   .grace_ms = UINT32_MAX};
        evzk_lock_options opt = {.mode = (evzk_lock_mode)(i / 2),
                                 .revocable = i % 2};
        struct heard h = {0};
        evzk_lock *l;

        if (i % 2 && opt.mode != EVZK_LOCK_EXCLUSIVE)
            opt.priority = &most;
        l = args_begin(&lock, &w, &opt, &h);
        memset(&most, 0x5a, sizeof most); /* The struct was copied. */
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        run_ms(&w, 10);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_lock_upgrade(l)), opt.mode == EVZK_LOCK_READ
                                                         ? EVZK_ERR_UPGRADE
                                                         : EVZK_ERR_STATE);
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        run_until(&w, &h.events, 1);
        expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        DO(evzk_lock_free(l));
    }
    tear_down(&w);
}
END_TEST

struct late_start {
    struct world *w;
    struct heard h;
    evzk_lock *l;
    int64_t begun;
};

/* The loop's idea of the time is old by now. */
static void work_then_acquire(evutil_socket_t fd, short what, void *arg)
{
    const evzk_lock_options opt = {.timeout_ms = 1000};
    struct late_start *t = arg;

    (void)fd;
    (void)what;
    t->begun = args_now_ms();
    while (args_now_ms() < t->begun + 1200)
        ;
    t->begun = args_now_ms();
    t->l = args_begin(&lock, t->w, &opt, &t->h);
}

START_TEST(test_timeout_in_busy_loop)
{
    const struct timeval now = {0, 0};
    struct late_start t = {.l = NULL};
    struct world w;

    set_up(&w);
    t.w = &w;
    event_base_once(w.base, -1, EV_TIMEOUT, work_then_acquire, &t, &now);
    run_until(&w, &w.ended, 1);
    expect(&t.h, EVZK_LOCK_FAILED, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(args_now_ms() - t.begun, 1000 - ARGS_TICK_MS);
    DO(evzk_lock_free(t.l));
    tear_down(&w);
}
END_TEST

/* Look-ups. */

static void on_query(evzk_lock_query *q, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    args_heard(arg, q, 0, rc);
}

ARGS_BEGIN(begin_query, evzk_lock_query, on_query,
           evzk_lock_query_start(a->s, a->path, on, a->arg, to))
ARGS_FREE(free_query, evzk_lock_query, evzk_lock_query_free)

static const struct args_kind query = {
    .start = "evzk_lock_query_start", .begin = begin_query, .free = free_query};

/* Revocations. */

/* Without a server nobody is found, and nobody asked. */
static void on_revoke(evzk_lock_revoke *r, int rc, const evzk_revoked *v,
                      size_t n, void *arg)
{
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    args_heard(arg, r, 0, rc);
}

ARGS_BEGIN(begin_revoke, evzk_lock_revoke, on_revoke,
           evzk_lock_revoke_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_revoke, evzk_lock_revoke, evzk_lock_revoke_free)
ARGS_CALL(cancel_revoke, evzk_lock_revoke, evzk_lock_revoke_cancel(o))

static const evzk_lock_revoke_options all_revoke_options = {
    .mode = EVZK_LOCK_READ,
    .before = "x-read-0000000001",
    .priority = 1,
    .remove = true,
    .grace_ms = 5,
    .timeout_ms = 10000};

/* Longer than any name of a znode. */
static const char long_name[5000] = {[0 ... 4998] = 'x'};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_lock_revoke_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row revoke_rows[] = {
    BAD("mode: too high", .mode = (evzk_lock_mode)(EVZK_LOCK_READ + 1)),
    BAD("mode: below zero", .mode = (evzk_lock_mode)-1),
    BAD("before: too long", .before = long_name),
    BAD("before: of a lock that has no znode yet", .before = ""),
    BAD("before: no contender's name", .before = "config"),
    BAD("before: a number that is too short", .before = "x-read-1"),
    ARGS_BAD_DIALECT(BAD),
    ARGS_BAD_RESERVED(BAD),
};
#undef BAD
/* clang-format on */

static const void *revoke_timeout(uint32_t ms)
{
    static evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 5};

    opt.timeout_ms = ms;
    return &opt;
}

static const struct args_kind revoke = {.start = "evzk_lock_revoke_start",
                                        .begin = begin_revoke,
                                        .most = &all_revoke_options,
                                        .rows = revoke_rows,
                                        .n_rows = UNIT_COUNT(revoke_rows),
                                        .with_timeout = revoke_timeout,
                                        .stop_function =
                                            "evzk_lock_revoke_cancel",
                                        .stop = cancel_revoke,
                                        .stopped_rc = EVZK_ERR_CANCELED,
                                        .free = free_revoke};

static const struct args_kind *const kinds[] = {&lock, &query, &revoke, NULL};

static void add_tests(Suite *suite)
{
    args_add(suite, test_lock_modes, 1);
    args_add(suite, test_timeout_in_busy_loop, 1);
}

const struct args_recipe args_lock = {kinds, add_tests};
