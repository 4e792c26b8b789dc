/* Guarded writes without a server. */
#include "args.h"

#include <string.h>

static void on_write(evzk_guard *g, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *arg)
{
    ck_assert_int_eq(outcome, EVZK_GUARD_FAILED); /* Nothing was ever sent. */
    ck_assert_int_eq(result->zxid, 0);
    ck_assert_ptr_null(result->version);
    args_heard(arg, g, (int)outcome, rc);
}

static const evzk_guard_op good[] = {
    {.verb = EVZK_GUARD_CREATE,
     .path = "/x",
     .data = "d",
     .data_len = 1,
     .acl = args_one_acl,
     .acl_count = 1},
    {.verb = EVZK_GUARD_SET,
     .path = "/y",
     .version = -1,
     .data = "d",
     .data_len = 1},
    {.verb = EVZK_GUARD_DELETE, .path = "/z", .version = 7},
    {.verb = EVZK_GUARD_CHECK, .path = "/y"}};

ARGS_BEGIN(begin_guard, evzk_guard, on_write,
           evzk_guard_write(a->s, &(const evzk_guard_by){.path = a->path}, good,
                            UNIT_COUNT(good), a->options, on, a->arg, to))
ARGS_FREE(free_guard, evzk_guard, evzk_guard_free)
ARGS_CALL(cancel, evzk_guard, evzk_guard_cancel(o))

static const evzk_guard_options all_options = {
    .timeout_ms = 10000, .acl = args_one_acl, .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_guard_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
#undef BAD
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_guard_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_guard_options)

static void expect_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_guard_state(object)), 0);
}

static void no_guard(void)
{
    ck_assert_str_eq(evzk_guard_state(NULL), "");
    ck_assert_str_eq(evzk_guard_outcome_name(EVZK_GUARD_DONE), "DONE");
    ck_assert_str_eq(evzk_guard_outcome_name(EVZK_GUARD_REFUSED), "REFUSED");
    ck_assert_str_eq(evzk_guard_outcome_name(EVZK_GUARD_FAILED), "FAILED");
    ck_assert_str_eq(evzk_guard_outcome_name(EVZK_GUARD_UNKNOWN), "UNKNOWN");
    ck_assert_str_eq(evzk_guard_outcome_name((evzk_guard_outcome)0), "?");
}

static const struct args_kind guard = {.start = "evzk_guard_write",
                                       .begin = begin_guard,
                                       .most = &all_options,
                                       .rows = rows,
                                       .n_rows = UNIT_COUNT(rows),
                                       .with_acl = with_acl,
                                       .with_timeout = with_timeout,
                                       .stop_function = "evzk_guard_cancel",
                                       .stop = cancel,
                                       .stopped_event = EVZK_GUARD_FAILED,
                                       .stopped_rc = EVZK_ERR_CANCELED,
                                       .failed_event = EVZK_GUARD_FAILED,
                                       .free = free_guard,
                                       .has_nothing = expect_state,
                                       .null = no_guard};

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    (void)l, (void)event, (void)rc, (void)arg;
}

static void on_election(evzk_election *e, evzk_election_event event, int rc,
                        void *arg)
{
    (void)e, (void)event, (void)rc, (void)arg;
}

/* What the write rests on: one thing, and of this session. */
START_TEST(test_guard_by)
{
    evzk_guard *g = NULL;
    evzk_election *e;
    evzk_lock *l;
    struct heard h = {0};
    evzk_session *other;
    struct world w;

    set_up(&w);
    ck_assert_int_eq(evzk_session_open(w.base, args_nobody, NULL,
                                       args_on_session, &h, &other),
                     0);
    ck_assert_int_eq(evzk_lock_acquire(w.s, "/l", NULL, on_lock, NULL, &l), 0);
    ck_assert_int_eq(
        evzk_election_volunteer(w.s, "/e", NULL, on_election, NULL, &e), 0);
    const evzk_guard_by bad[] = {{.lock = NULL},
                                 {.lock = l, .path = "/p"},
                                 {.lock = l, .candidate = e},
                                 {.lock = l, .candidate = e, .path = "/p"},
                                 {.path = "/"},
                                 {.path = "p"},
                                 {.path = "/p", .reserved = {&args_mark}}};

    INVAL(evzk_guard_write(w.s, NULL, good, 1, NULL, on_write, NULL, &g));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        INVAL(
            evzk_guard_write(w.s, &bad[i], good, 1, NULL, on_write, NULL, &g));
    INVAL_SILENT(evzk_guard_write(other, &(evzk_guard_by){.lock = l}, good, 1,
                                  NULL, on_write, NULL, &g));
    /* Neither was granted. */
    ck_assert_int_eq(evzk_guard_write(w.s, &(evzk_guard_by){.lock = l}, good, 1,
                                      NULL, on_write, NULL, &g),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_guard_write(w.s, &(evzk_guard_by){.candidate = e},
                                      good, 1, NULL, on_write, NULL, &g),
                     EVZK_ERR_STATE);
    ck_assert_ptr_null(g);
    evzk_lock_free(l);
    evzk_election_free(e);
    evzk_session_free(other);
    tear_down(&w);
}
END_TEST

#define CREATE .verb = EVZK_GUARD_CREATE, .path = "/x"
#define SET .verb = EVZK_GUARD_SET, .path = "/x"

/* Each operation is looked at, the last one too. */
START_TEST(test_guard_ops)
{
    static const evzk_guard_op bad[] = {
        {.path = "/x"},
        {.verb = (evzk_guard_verb)(EVZK_GUARD_CHECK + 1), .path = "/x"},
        {.verb = EVZK_GUARD_SET},
        {.verb = EVZK_GUARD_SET, .path = "x"},
        {CREATE, .version = 1},
        {CREATE, .version = -1},
        {SET, .ephemeral = true},
        {SET, .acl = args_one_acl, .acl_count = 1},
        {SET, .data_len = 1},
        {SET, .data = "x", .data_len = EVZK_GUARD_DATA_MAX + 1},
        {CREATE, .acl_count = 1},
        {.verb = EVZK_GUARD_DELETE, .path = "/x", .data = "x", .data_len = 1},
        {.verb = EVZK_GUARD_CHECK, .path = "/x", .data_len = 1}};
    static char big[EVZK_GUARD_DATA_MAX];
    static const evzk_guard_op half = {SET, .data = big,
                                       .data_len = sizeof big / 2};
    const evzk_guard_by by = {.path = "/p"};
    evzk_guard_op many[EVZK_GUARD_OPS_MAX + 1], two[2] = {half, half};
    static char id[EVZK_GUARD_DATA_MAX / 2];
    const evzk_acl acl = {EVZK_PERM_ALL, "digest", id};
    const evzk_guard_op long_acl[2] = {{CREATE, .acl = &acl, .acl_count = 1},
                                       half};
    evzk_guard *g = NULL;
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(many); i++)
        many[i] = good[0];
    INVAL(evzk_guard_write(w.s, &by, NULL, 1, NULL, on_write, NULL, &g));
    INVAL(evzk_guard_write(w.s, &by, good, 0, NULL, on_write, NULL, &g));
    INVAL(evzk_guard_write(w.s, &by, many, UNIT_COUNT(many), NULL, on_write,
                           NULL, &g));
    INVAL(evzk_guard_write(w.s, &by, two, 2, NULL, on_write, NULL, &g));
    memset(id, 'i', sizeof id - 1);
    INVAL(evzk_guard_write(w.s, &by, long_acl, 2, NULL, on_write, NULL, &g));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        many[EVZK_GUARD_OPS_MAX - 1] = bad[i];
        INVAL(evzk_guard_write(w.s, &by, many, EVZK_GUARD_OPS_MAX, NULL,
                               on_write, NULL, &g));
    }
    ck_assert_ptr_null(g);
    tear_down(&w);
}
END_TEST

static const struct args_kind *const kinds[] = {&guard, NULL};

static void add_tests(Suite *suite)
{
    args_add(suite, test_guard_by, 1);
    args_add(suite, test_guard_ops, 1);
}

const struct args_recipe args_guard = {kinds, add_tests};
