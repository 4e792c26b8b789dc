/* Candidates and observers without a server. */
#include "args.h"

#include <string.h>

/* Candidates. */

static void on_election(evzk_election *e, evzk_election_event event, int rc,
                        void *arg)
{
    args_heard(arg, e, (int)event, rc);
}

static const char most_data[EVZK_ELECTION_DATA_MAX + 1];

ARGS_BEGIN(volunteer, evzk_election, on_election,
           evzk_election_volunteer(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_election, evzk_election, evzk_election_free)
ARGS_CALL(resign, evzk_election, evzk_election_resign(o))
ARGS_CALL(say_x, evzk_election, evzk_election_acknowledge(o, "x", 1))
ARGS_CALL(say_nothing, evzk_election, evzk_election_acknowledge(o, NULL, 0))
ARGS_CALL(say_most, evzk_election,
          evzk_election_acknowledge(o, most_data, sizeof most_data - 1))
ARGS_CALL(say_null, evzk_election, evzk_election_acknowledge(o, NULL, 1))
ARGS_CALL(say_more, evzk_election,
          evzk_election_acknowledge(o, most_data, sizeof most_data))
ARGS_CALL(say_far_more, evzk_election,
          evzk_election_acknowledge(o, most_data, SIZE_MAX))
ARGS_CALL(lease, evzk_election, evzk_election_lease(o, &(evzk_lease *){NULL}))
ARGS_CALL(lease_nowhere, evzk_election, evzk_election_lease(o, NULL))

static const evzk_election_options all_options = {.revocable = true,
                                                  .timeout_ms = 10000,
                                                  .data = "me",
                                                  .data_len = 2,
                                                  .acl = args_one_acl,
                                                  .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_election_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    BAD("revocable: without watch", .revocable = true, .no_own_watch = true),
    ARGS_BAD_DIALECT(BAD),
    ARGS_BAD_DATA(BAD, EVZK_ELECTION_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

/* Nothing is said before it is elected, whatever it is. */
static const struct args_call calls[] = {
    {"evzk_election_acknowledge", say_x, EVZK_ERR_STATE},
    {"evzk_election_acknowledge", say_nothing, EVZK_ERR_STATE},
    {"evzk_election_acknowledge", say_most, EVZK_ERR_STATE},
    {"evzk_election_acknowledge", say_null, EVZK_ERR_INVAL},
    {"evzk_election_acknowledge", say_more, EVZK_ERR_INVAL},
    {"evzk_election_acknowledge", say_far_more, EVZK_ERR_INVAL},
    {"evzk_election_lease", lease, EVZK_ERR_STATE},
    {"evzk_election_lease", lease_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_election_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_election_options)

static void expect_not_elected(void *object)
{
    const evzk_election *e = object;

    ck_assert(!evzk_election_elected(e));
    ck_assert(!evzk_election_leading(e));
    ck_assert_uint_eq(evzk_election_lease_ms(e), 0);
    ck_assert_uint_eq(evzk_election_epoch(e), 0);
    ck_assert_str_eq(evzk_election_node(e), "");
    ck_assert_uint_gt(strlen(evzk_election_state(e)), 0);
}

static void no_election(void)
{
    evzk_lease *none = NULL;

    INVAL_SILENT(evzk_election_lease(NULL, &none));
    ck_assert_ptr_null(none);
    ck_assert(!evzk_election_elected(NULL));
    ck_assert(!evzk_election_leading(NULL));
    ck_assert_uint_eq(evzk_election_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_election_epoch(NULL), 0);
    ck_assert_str_eq(evzk_election_node(NULL), "");
    ck_assert_str_eq(evzk_election_state(NULL), "");
}

static const struct args_kind candidate = {
    .start = "evzk_election_volunteer",
    .begin = volunteer,
    .most = &all_options,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .calls = calls,
    .n_calls = UNIT_COUNT(calls),
    .with_acl = with_acl,
    .with_timeout = with_timeout,
    .stop_function = "evzk_election_resign",
    .stop = resign,
    .stopped_event = EVZK_ELECTION_FAILED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_ELECTION_FAILED,
    .free = free_election,
    .has_nothing = expect_not_elected,
    .null = no_election,
    .deaf = true};

/* Observers. */

/* Without a server nothing is seen: it hears the end only. */
static void on_observer(evzk_observer *o, int rc, const evzk_leader *leader,
                        void *arg)
{
    ck_assert_ptr_null(leader);
    args_heard(arg, o, 0, rc);
}

ARGS_BEGIN(observe, evzk_observer, on_observer,
           evzk_election_observe(a->s, a->path, on, a->arg, to))
ARGS_FREE(free_observer, evzk_observer, evzk_observer_free)

static const struct args_kind observer = {
    .start = "evzk_election_observe", .begin = observe, .free = free_observer};

static const struct args_kind *const kinds[] = {&candidate, &observer, NULL};

const struct args_recipe args_election = {kinds, NULL};
