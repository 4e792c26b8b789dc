/* Endpoints that register, and resolvers, without a server. */
#include "args.h"

#include <string.h>

static const evzk_endpoint here = {.host = "here.example", .port = 80};
static const evzk_endpoint nowhere = {.port = 80, .weight = 1};

/* A registered endpoint is a member of a group. */

static void on_member(evzk_member *d, evzk_member_event event, int rc,
                      void *arg)
{
    args_heard(arg, d, (int)event, rc);
}

ARGS_BEGIN(enter, evzk_member, on_member,
           evzk_names_register(a->s, a->path, NULL, &here, a->options, on,
                               a->arg, to))
ARGS_FREE(free_member, evzk_member, evzk_member_free)
ARGS_CALL(leave, evzk_member, evzk_member_leave(o))
ARGS_CALL(update_null, evzk_member, evzk_names_update(o, NULL))
ARGS_CALL(update_nowhere, evzk_member, evzk_names_update(o, &nowhere))

static const evzk_names_options all_options = {
    .no_wait = true, .acl = args_one_acl, .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_names_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_call calls[] = {
    {"evzk_names_update", update_null, EVZK_ERR_INVAL},
    {"evzk_names_update", update_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_names_options)

static void expect_nothing(void *object)
{
    ck_assert(!evzk_member_joined(object));
    ck_assert_str_eq(evzk_member_name(object), "here.example:80");
}

static void no_member(void)
{
    INVAL_SILENT(evzk_names_update(NULL, &here));
    INVAL_SILENT(evzk_names_update(NULL, NULL));
}

static const struct args_kind member = {.start = "evzk_names_register",
                                        .begin = enter,
                                        .most = &all_options,
                                        .rows = rows,
                                        .n_rows = UNIT_COUNT(rows),
                                        .calls = calls,
                                        .n_calls = UNIT_COUNT(calls),
                                        .with_acl = with_acl,
                                        .stop_function = "evzk_member_leave",
                                        .stop = leave,
                                        .stopped_event = EVZK_MEMBER_LEFT,
                                        .stopped_rc = EVZK_OK,
                                        .failed_event = EVZK_MEMBER_FAILED,
                                        .free = free_member,
                                        .has_nothing = expect_nothing,
                                        .null = no_member,
                                        .deaf = true};

/* A resolver. */

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *endpoint, void *arg)
{
    ck_assert_ptr_null(endpoint);
    args_heard(arg, r, (int)event, rc);
}

ARGS_BEGIN(resolve, evzk_resolver, on_resolver,
           evzk_resolver_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_resolver, evzk_resolver, evzk_resolver_free)
ARGS_CALL(cancel, evzk_resolver, evzk_resolver_cancel(o))

static const evzk_resolver_options all_choices = {
    .pick = EVZK_PICK_LEAST_RECENTLY_FAILED, .forgive_ms = UINT32_MAX};

/* clang-format off */
#define BAD_CHOICE(what, ...)                                                  \
    {what, &(const evzk_resolver_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row choices[] = { /* evzk_resolver_start */
    BAD_CHOICE("pick: below zero", .pick = (evzk_pick)-1),
    BAD_CHOICE("pick: beyond the last", .pick = (evzk_pick)3),
    ARGS_BAD_RESERVED(BAD_CHOICE),
};
/* clang-format on */

static void expect_nobody(void *object)
{
    evzk_resolved e = {.name = "me"};

    ck_assert_uint_eq(evzk_resolver_count(object), 0);
    ck_assert(!evzk_resolver_ready(object));
    ck_assert(!evzk_resolver_pick(object, &e));
    ck_assert(!evzk_resolver_pick(object, NULL));
    ck_assert(!evzk_resolver_failed(object, "me", 0));
    ck_assert(!evzk_resolver_failed(object, NULL, 0));
    ck_assert(!evzk_resolver_worked(object, "me", 1));
    ck_assert(!evzk_resolver_worked(object, NULL, 0));
    ck_assert(!evzk_resolver_find(object, "me", &e));
    ck_assert(!evzk_resolver_find(object, NULL, &e));
    ck_assert(!evzk_resolver_find(object, "me", NULL));
    ck_assert(!evzk_resolver_first(object, &e));
    ck_assert(!evzk_resolver_first(object, NULL));
    ck_assert(!evzk_resolver_next(object, &e));
    ck_assert(!evzk_resolver_next(object, NULL));
    e.name = NULL;
    ck_assert(!evzk_resolver_next(object, &e));
    ck_assert_uint_gt(strlen(evzk_resolver_state(object)), 0);
}

static void no_resolver(void)
{
    evzk_resolved e = {.name = "me"};

    ck_assert_uint_eq(evzk_resolver_count(NULL), 0);
    ck_assert(!evzk_resolver_ready(NULL));
    ck_assert(!evzk_resolver_pick(NULL, &e));
    ck_assert(!evzk_resolver_failed(NULL, "me", 0));
    ck_assert(!evzk_resolver_worked(NULL, "me", 0));
    ck_assert(!evzk_resolver_find(NULL, "me", &e));
    ck_assert(!evzk_resolver_first(NULL, &e));
    ck_assert(!evzk_resolver_next(NULL, &e));
    ck_assert_str_eq(evzk_resolver_state(NULL), "");
}

static const struct args_kind resolver = {.start = "evzk_resolver_start",
                                          .begin = resolve,
                                          .most = &all_choices,
                                          .rows = choices,
                                          .n_rows = UNIT_COUNT(choices),
                                          .stop_function =
                                              "evzk_resolver_cancel",
                                          .stop = cancel,
                                          .stopped_event = EVZK_RESOLVER_ENDED,
                                          .stopped_rc = EVZK_ERR_CANCELED,
                                          .failed_event = EVZK_RESOLVER_ENDED,
                                          .free = free_resolver,
                                          .has_nothing = expect_nobody,
                                          .null = no_resolver,
                                          .deaf = true,
                                          .ends_in_loop = true};

static const struct args_kind *const kinds[] = {&member, &resolver, NULL};

/* The longest "host:port" that is a name; with one byte more a name is to be
 * given.  The name that is given wins. */
START_TEST(names_of_endpoints)
{
    evzk_endpoint e = {.port = 65535, .data = "x", .data_len = 1};
    struct heard h = {.kind = &member};
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    memset(e.host, 'h', EVZK_MEMBER_NAME_MAX - 5);
    INVAL(evzk_names_register(w.s, "/g", NULL, &e, NULL, on_member, &h, &d));
    INVAL(evzk_names_register(w.s, "/g", ".me", &e, NULL, on_member, &h, &d));
    INVAL(evzk_names_register(w.s, "/", "me", &e, NULL, on_member, &h, &d));
    ck_assert_ptr_null(d);
    ck_assert_int_eq(
        CALL(evzk_names_register(w.s, "/g", "me", &e, NULL, on_member, &h, &d)),
        EVZK_OK);
    ck_assert_str_eq(evzk_member_name(d), "me");
    DO(evzk_member_free(d));
    e.host[EVZK_MEMBER_NAME_MAX - 6] = '\0';
    ck_assert_int_eq(
        CALL(evzk_names_register(w.s, "/g", NULL, &e, NULL, on_member, &h, &d)),
        EVZK_OK);
    ck_assert_uint_eq(strlen(evzk_member_name(d)), EVZK_MEMBER_NAME_MAX);
    DO(evzk_member_free(d));
    strcpy(e.host, "::1");
    ck_assert_int_eq(
        CALL(evzk_names_register(w.s, "/g", NULL, &e, NULL, on_member, &h, &d)),
        EVZK_OK);
    ck_assert_str_eq(evzk_member_name(d), "[::1]:65535");
    DO(evzk_member_free(d));
    tear_down(&w);
}
END_TEST

START_TEST(bad_endpoints)
{
    static const evzk_endpoint bad[] = {
        {.port = 1},
        {.host = "a"},
        {.host = "a", .port = 1, .weight = EVZK_ENDPOINT_WEIGHT_MAX + 1},
        {.host = "a", .port = 1, .data_len = 1},
        {.host = "a", .port = 1, .data = "x", .data_len = SIZE_MAX},
    };
    struct heard h = {.kind = &member};
    evzk_endpoint endless = {.port = 1};
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    memset(endless.host, 'h', sizeof endless.host);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        INVAL(evzk_names_register(w.s, "/g", "me", &bad[i], NULL, on_member, &h,
                                  &d));
    INVAL(evzk_names_register(w.s, "/g", "me", &endless, NULL, on_member, &h,
                              &d));
    INVAL(evzk_names_register(w.s, "/g", "me", NULL, NULL, on_member, &h, &d));
    ck_assert_ptr_null(d);
    tear_down(&w);
}
END_TEST

START_TEST(updates)
{
    struct heard h = {.kind = &member};
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    h.w = &w;
    ck_assert_int_eq(CALL(evzk_names_register(w.s, "/g", NULL, &here, NULL,
                                              on_member, &h, &d)),
                     EVZK_OK);
    for (args_fail_at = 1; args_fail_at < 3; args_fail_at++) {
        args_allocations = 0;
        ck_assert_int_eq(CALL(evzk_names_update(d, &here)), EVZK_ERR_NOMEM);
    }
    args_fail_at = 0;
    ck_assert_int_eq(CALL(evzk_names_update(d, &here)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_member_leave(d)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_names_update(d, &here)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_MEMBER_LEFT, EVZK_OK);
    DO(evzk_member_free(d));
    tear_down(&w);
}
END_TEST

START_TEST(root_is_no_service)
{
    evzk_resolver *r = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_resolver_start(w.s, "/", NULL, on_resolver, NULL, &r));
    ck_assert_ptr_null(r);
    tear_down(&w);
}
END_TEST

START_TEST(names_of_resolver_events)
{
    static const char *const name[] = {"?",     "ADDED", "CHANGED", "REMOVED",
                                       "READY", "ENDED", "?"};

    for (size_t i = 0; i < UNIT_COUNT(name); i++) {
        evzk_resolver_event ev = (evzk_resolver_event)i;

        ck_assert_str_eq(evzk_resolver_event_name(ev), name[i]);
        ck_assert_int_eq(evzk_resolver_event_is_final(ev),
                         ev == EVZK_RESOLVER_ENDED);
    }
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, names_of_endpoints, 1);
    args_add(suite, bad_endpoints, 1);
    args_add(suite, updates, 1);
    args_add(suite, root_is_no_service, 1);
    args_add(suite, names_of_resolver_events, 1);
}

const struct args_recipe args_names = {kinds, add_tests};
