/* Members of groups without a server. */
#include "args.h"

#include <string.h>

static void on_member(evzk_member *d, evzk_member_event event, int rc,
                      void *arg)
{
    args_heard(arg, d, (int)event, rc);
}

static const char far_too_long[EVZK_MEMBER_DATA_MAX + 1];

ARGS_BEGIN(join, evzk_member, on_member,
           evzk_group_join(a->s, a->path, "me", a->options, on, a->arg, to))
ARGS_FREE(free_member, evzk_member, evzk_member_free)
ARGS_CALL(leave, evzk_member, evzk_member_leave(o))
ARGS_CALL(update_null, evzk_member, evzk_member_update(o, NULL, 1))
ARGS_CALL(update_long, evzk_member,
          evzk_member_update(o, far_too_long, sizeof far_too_long))

ARGS_CALL(lease, evzk_member, evzk_member_lease(o, &(evzk_lease *){NULL}))
ARGS_CALL(lease_nowhere, evzk_member, evzk_member_lease(o, NULL))

static const evzk_member_options all_options = {.no_wait = true,
                                                .data = "here",
                                                .data_len = 4,
                                                .acl = args_one_acl,
                                                .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_member_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_DATA(BAD, EVZK_MEMBER_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

/* evzk_group_join: its rows are those of its options. */
static const struct args_call calls[] = {
    {"evzk_member_update", update_null, EVZK_ERR_INVAL},
    {"evzk_member_update", update_long, EVZK_ERR_INVAL},
    {"evzk_member_lease", lease, EVZK_ERR_STATE},
    {"evzk_member_lease", lease_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_member_options)

static void expect_nothing(void *object)
{
    ck_assert(!evzk_member_joined(object));
    ck_assert_uint_eq(evzk_member_lease_ms(object), 0);
    ck_assert_uint_eq(evzk_member_token(object), 0);
    ck_assert_str_eq(evzk_member_name(object), "me");
    ck_assert_uint_gt(strlen(evzk_member_state(object)), 0);
}

static void no_member(void)
{
    ck_assert(!evzk_member_joined(NULL));
    ck_assert_uint_eq(evzk_member_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_member_token(NULL), 0);
    ck_assert_str_eq(evzk_member_name(NULL), "");
    ck_assert_str_eq(evzk_member_state(NULL), "");
    INVAL_SILENT(evzk_member_update(NULL, "x", 1));
    INVAL_SILENT(evzk_member_leave(NULL));
}

static const struct args_kind member = {.start = "evzk_group_join",
                                        .begin = join,
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

/* A view. */

static void on_view(evzk_group_view *v, evzk_group_event event, int rc,
                    const evzk_group_member *member_told, void *arg)
{
    ck_assert_ptr_null(member_told);
    args_heard(arg, v, (int)event, rc);
}

ARGS_BEGIN(watch, evzk_group_view, on_view,
           evzk_group_watch(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_view, evzk_group_view, evzk_group_view_free)
ARGS_CALL(cancel_view, evzk_group_view, evzk_group_view_cancel(o))

/* clang-format off */
#define BAD_VIEW(what, ...)                                                    \
    {what, &(const evzk_group_view_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row view_rows[] = { /* evzk_group_watch */
    ARGS_BAD_RESERVED(BAD_VIEW),
};
/* clang-format on */

static void expect_nobody(void *object)
{
    evzk_group_member m = {.name = "me"};

    ck_assert_uint_eq(evzk_group_view_count(object), 0);
    ck_assert(!evzk_group_view_ready(object));
    ck_assert(!evzk_group_view_find(object, "me", &m));
    ck_assert(!evzk_group_view_find(object, "", &m));
    ck_assert(!evzk_group_view_find(object, NULL, &m));
    ck_assert(!evzk_group_view_find(object, "me", NULL));
    ck_assert(!evzk_group_view_first(object, &m));
    ck_assert(!evzk_group_view_first(object, NULL));
    ck_assert(!evzk_group_view_next(object, &m));
    ck_assert(!evzk_group_view_next(object, NULL));
    ck_assert_uint_gt(strlen(evzk_group_view_state(object)), 0);
}

static void no_view(void)
{
    evzk_group_member m = {.name = "me"};

    ck_assert_uint_eq(evzk_group_view_count(NULL), 0);
    ck_assert(!evzk_group_view_ready(NULL));
    ck_assert(!evzk_group_view_find(NULL, "me", &m));
    ck_assert(!evzk_group_view_first(NULL, &m));
    ck_assert(!evzk_group_view_next(NULL, &m));
    ck_assert_str_eq(evzk_group_view_state(NULL), "");
}

static const struct args_kind view = {.start = "evzk_group_watch",
                                      .begin = watch,
                                      .rows = view_rows,
                                      .n_rows = UNIT_COUNT(view_rows),
                                      .stop_function = "evzk_group_view_cancel",
                                      .stop = cancel_view,
                                      .stopped_event = EVZK_GROUP_ENDED,
                                      .stopped_rc = EVZK_ERR_CANCELED,
                                      .failed_event = EVZK_GROUP_ENDED,
                                      .free = free_view,
                                      .has_nothing = expect_nobody,
                                      .null = no_view,
                                      .deaf = true,
                                      .ends_in_loop = true};

static const struct args_kind *const kinds[] = {&member, &view, NULL};

/* Bad identities, and the longest good one. */
START_TEST(bad_names)
{
    static const char *const bad[] = {NULL,  "",    ".",      "..", ".me",
                                      "a/b", "/me", "a\x01z", "a/"};
    char longest[EVZK_MEMBER_NAME_MAX + 2];
    struct heard h = {.kind = &member};
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        INVAL(evzk_group_join(w.s, "/g", bad[i], NULL, on_member, &h, &d));
    INVAL(evzk_group_join(w.s, "/", "me", NULL, on_member, &h, &d));
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    INVAL(evzk_group_join(w.s, "/g", longest, NULL, on_member, &h, &d));
    ck_assert_ptr_null(d);
    longest[sizeof longest - 2] = '\0';
    ck_assert_int_eq(
        CALL(evzk_group_join(w.s, "/g", longest, NULL, on_member, &h, &d)),
        EVZK_OK);
    ck_assert_str_eq(evzk_member_name(d), longest);
    DO(evzk_member_free(d));
    tear_down(&w);
}
END_TEST

/* The longest path of a group. */
START_TEST(what_fits)
{
    static char path[4096];
    struct heard h = {.kind = &member};
    size_t most = 4096 - sizeof "/.evzk" - EVZK_MEMBER_NAME_MAX - 1;
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[most + 1] = '\0';
    INVAL(evzk_group_join(w.s, path, "me", NULL, on_member, &h, &d));
    path[most] = '\0';
    ck_assert_int_eq(
        CALL(evzk_group_join(w.s, path, "me", NULL, on_member, &h, &d)),
        EVZK_OK);
    DO(evzk_member_free(d));
    tear_down(&w);
}
END_TEST

/* Updates wait until the member has joined; its end ends them. */
START_TEST(updates)
{
    struct heard h = {.kind = &member};
    evzk_member *d = NULL;
    struct world w;

    set_up(&w);
    h.w = &w;
    ck_assert_int_eq(
        CALL(evzk_group_join(w.s, "/g", "me", NULL, on_member, &h, &d)),
        EVZK_OK);
    ck_assert_int_eq(CALL(evzk_member_update(d, NULL, 0)), EVZK_OK);
    args_allocations = 0;
    args_fail_at = 1;
    ck_assert_int_eq(CALL(evzk_member_update(d, "x", 1)), EVZK_ERR_NOMEM);
    args_fail_at = 0;
    ck_assert_int_eq(CALL(evzk_member_update(d, "x", 1)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_member_leave(d)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_member_update(d, "x", 1)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_member_leave(d)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_MEMBER_LEFT, EVZK_OK);
    ck_assert_int_eq(CALL(evzk_member_update(d, "x", 1)), EVZK_ERR_STATE);
    DO(evzk_member_free(d));
    tear_down(&w);
}
END_TEST

START_TEST(names_of_events)
{
    static const char *const name[] = {
        "?",         "JOINED",   "UPDATED", "SUSPENDED", "RESUMED",
        "REJOINING", "CONFLICT", "LEFT",    "FAILED",    "?"};

    for (size_t i = 0; i < UNIT_COUNT(name); i++) {
        evzk_member_event ev = (evzk_member_event)i;

        ck_assert_str_eq(evzk_member_event_name(ev), name[i]);
        ck_assert_int_eq(evzk_member_event_is_final(ev),
                         ev == EVZK_MEMBER_LEFT || ev == EVZK_MEMBER_FAILED);
    }
}
END_TEST

START_TEST(names_of_view_events)
{
    static const char *const name[] = {"?",     "JOINED", "LEFT", "CHANGED",
                                       "READY", "ENDED",  "?"};

    for (size_t i = 0; i < UNIT_COUNT(name); i++) {
        evzk_group_event ev = (evzk_group_event)i;

        ck_assert_str_eq(evzk_group_event_name(ev), name[i]);
        ck_assert_int_eq(evzk_group_event_is_final(ev), ev == EVZK_GROUP_ENDED);
    }
}
END_TEST

START_TEST(root_is_no_group)
{
    evzk_group_view *v = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_group_watch(w.s, "/", NULL, on_view, NULL, &v));
    ck_assert_ptr_null(v);
    tear_down(&w);
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, names_of_view_events, 1);
    args_add(suite, root_is_no_group, 1);
    args_add(suite, bad_names, 1);
    args_add(suite, what_fits, 1);
    args_add(suite, updates, 1);
    args_add(suite, names_of_events, 1);
}

const struct args_recipe args_group = {kinds, add_tests};
