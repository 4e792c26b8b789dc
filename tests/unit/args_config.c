/* Configurations without a server. */
#include "args.h"

#include <string.h>

#include "lib/base/mem.h"
#include "recipes/config/config_internal.h"

static void on_query(evzk_config_query *q, int rc, const evzk_config *config,
                     void *arg)
{
    ck_assert_ptr_null(config);
    args_heard(arg, q, 0, rc);
}

static void on_follower(evzk_config_follower *f,
                        evzk_config_follower_event event, int rc,
                        const evzk_config *config, void *arg)
{
    ck_assert_ptr_null(config);
    args_heard(arg, f, (int)event, rc);
}

static void on_update(evzk_config_update *u, int rc, int64_t number, void *arg)
{
    ck_assert_int_eq(number, 0);
    args_heard(arg, u, 0, rc);
}

static const evzk_config_key keys[] = {{"b", "x", 1}, {"a", NULL, 0}};

ARGS_BEGIN(get, evzk_config_query, on_query,
           evzk_config_get(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(follow, evzk_config_follower, on_follower,
           evzk_config_follow(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(set, evzk_config_update, on_update,
           evzk_config_set(a->s, a->path, keys, 2, a->options, on, a->arg, to))
ARGS_FREE(free_query, evzk_config_query, evzk_config_query_free)
ARGS_FREE(free_follower, evzk_config_follower, evzk_config_follower_free)
ARGS_FREE(free_update, evzk_config_update, evzk_config_update_free)
ARGS_CALL(cancel_query, evzk_config_query, evzk_config_query_cancel(o))
ARGS_CALL(cancel_follower, evzk_config_follower, evzk_config_follower_cancel(o))
ARGS_CALL(cancel_update, evzk_config_update, evzk_config_update_cancel(o))

static const evzk_config_options all_options = {
    .timeout_ms = 10000, .acl = args_one_acl, .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_config_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_config_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_config_options)

static void query_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_config_query_state(object)), 0);
}

static void follower_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_config_follower_state(object)), 0);
}

static void update_state(void *object)
{
    ck_assert_uint_gt(strlen(evzk_config_update_state(object)), 0);
}

static void no_config(void)
{
    ck_assert_str_eq(evzk_config_query_state(NULL), "");
    ck_assert_str_eq(evzk_config_follower_state(NULL), "");
    ck_assert_str_eq(evzk_config_update_state(NULL), "");
}

static const struct args_kind query = {.start = "evzk_config_get",
                                       .begin = get,
                                       .most = &all_options,
                                       .rows = rows,
                                       .n_rows = UNIT_COUNT(rows),
                                       .with_acl = with_acl,
                                       .with_timeout = with_timeout,
                                       .stop_function =
                                           "evzk_config_query_cancel",
                                       .stop = cancel_query,
                                       .stopped_rc = EVZK_ERR_CANCELED,
                                       .free = free_query,
                                       .has_nothing = query_state,
                                       .null = no_config};

static const struct args_kind follower = {
    .start = "evzk_config_follow",
    .begin = follow,
    .most = &all_options,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .with_acl = with_acl,
    .stop_function = "evzk_config_follower_cancel",
    .stop = cancel_follower,
    .stopped_event = EVZK_CONFIG_FOLLOWER_ENDED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_CONFIG_FOLLOWER_ENDED,
    .free = free_follower,
    .has_nothing = follower_state,
    .null = no_config};

static const struct args_kind update = {.start = "evzk_config_set",
                                        .begin = set,
                                        .most = &all_options,
                                        .rows = rows,
                                        .n_rows = UNIT_COUNT(rows),
                                        .with_acl = with_acl,
                                        .with_timeout = with_timeout,
                                        .stop_function =
                                            "evzk_config_update_cancel",
                                        .stop = cancel_update,
                                        .stopped_rc = EVZK_ERR_CANCELED,
                                        .free = free_update,
                                        .has_nothing = update_state,
                                        .null = no_config};

static const struct args_kind *const kinds[] = {&query, &follower, &update,
                                                NULL};

static char long_name[257];

static const struct {
    const char *what;
    evzk_config_key key[2];
    size_t n;
} bad_keys[] = {
    {"no name", {{NULL, "x", 1}}, 1},
    {"an empty name", {{"", "x", 1}}, 1},
    {"a slash", {{"a/b", "x", 1}}, 1},
    {"the name of what says that all is whole", {{"ready", "x", 1}}, 1},
    {"the name of what stamps a transaction", {{"ready-token", "x", 1}}, 1},
    {"this directory", {{".", "x", 1}}, 1},
    {"the one above", {{"..", "x", 1}}, 1},
    {"a name too long", {{long_name, "x", 1}}, 1},
    {"no data", {{"a", NULL, 1}}, 1},
    {"too much data", {{"a", "x", EVZK_CONFIG_DATA_MAX + 1}}, 1},
    {"far too much data", {{"a", "x", SIZE_MAX}}, 1},
    {"a bad one behind a good one", {{"a", "x", 1}, {"/", "x", 1}}, 2},
    {"a name twice", {{"a", "x", 1}, {"a", "y", 1}}, 2}};

START_TEST(bad_keys_are_refused)
{
    evzk_config_update *u = NULL;
    struct world w;

    set_up(&w);
    memset(long_name, 'x', sizeof long_name - 1);
    for (size_t i = 0; i < UNIT_COUNT(bad_keys); i++)
        INVAL(evzk_config_set(w.s, "/c", bad_keys[i].key, bad_keys[i].n, NULL,
                              on_update, NULL, &u));
    INVAL(evzk_config_set(w.s, "/c", NULL, 1, NULL, on_update, NULL, &u));
    INVAL(
        evzk_config_set(w.s, "/c", keys, SIZE_MAX, NULL, on_update, NULL, &u));
    ck_assert_ptr_null(u);
    tear_down(&w);
}
END_TEST

/* A list of permissions that is long in a request. */
static void long_acl(evzk_acl acl[EVZK_ACL_MAX])
{
    static char id[300];

    memset(id, 'x', sizeof id - 1);
    for (int i = 0; i < EVZK_ACL_MAX; i++)
        acl[i] = (evzk_acl){EVZK_PERM_ALL, "digest", id};
}

/* Znodes are made with the ACL of the options, or with that of the session: the
 * longest key must leave room for either. */
START_TEST(acls_need_room)
{
    static char data[EVZK_CONFIG_DATA_MAX];
    const evzk_config_key key = {"a", data, sizeof data};
    evzk_config_update *u = NULL;
    evzk_acl acl[EVZK_ACL_MAX];
    struct world w;
    evzk_config_options opt = {.acl = acl, .acl_count = EVZK_ACL_MAX};

    long_acl(acl);
    set_up(&w);
    INVAL(evzk_config_set(w.s, "/c", &key, 1, &opt, on_update, NULL, &u));
    tear_down(&w);
    set_up_acl(&w, acl, EVZK_ACL_MAX);
    INVAL(evzk_config_set(w.s, "/c", &key, 1, NULL, on_update, NULL, &u));
    ck_assert_ptr_null(u);
    tear_down(&w);
}
END_TEST

START_TEST(numbers_are_not_negative)
{
    const evzk_config_options opt = {.if_number = EVZK_CONFIG_NONE - 1};
    evzk_config_update *u = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_config_set(w.s, "/c", keys, 1, &opt, on_update, NULL, &u));
    ck_assert_ptr_null(u);
    tear_down(&w);
}
END_TEST

/* There is no directory above the root; and the keys must fit below it. */
START_TEST(bad_paths)
{
    static char path[4096];
    evzk_config_query *q = NULL;
    evzk_config_follower *f = NULL;
    evzk_config_update *u = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_config_get(w.s, "/", NULL, on_query, NULL, &q));
    INVAL(evzk_config_follow(w.s, "/", NULL, on_follower, NULL, &f));
    INVAL(evzk_config_set(w.s, "/", NULL, 0, NULL, on_update, NULL, &u));
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    INVAL(evzk_config_set(w.s, path, NULL, 0, NULL, on_update, NULL, &u));
    ck_assert_ptr_null(u);
    tear_down(&w);
}
END_TEST

START_TEST(copies_are_sorted)
{
    evzk_config c = {.n = 2};
    char name[] = "b", data[] = "x";
    const evzk_config_key given[] = {{name, data, 1}, {"a", NULL, 0}};

    c.key = evzk__config_copy(given, 2);
    name[0] = data[0] = '?';
    ck_assert_ptr_nonnull(c.key);
    ck_assert_str_eq(c.key[0].name, "a");
    ck_assert_uint_eq(c.key[0].len, 0);
    ck_assert_str_eq(c.key[1].name, "b");
    ck_assert_mem_eq(c.key[1].data, "x", 1);
    ck_assert_ptr_eq(evzk_config_find(&c, "b"), &c.key[1]);
    ck_assert_ptr_null(evzk_config_find(&c, "c"));
    ck_assert_ptr_null(evzk_config_find(&c, NULL));
    ck_assert_ptr_null(evzk_config_find(NULL, "a"));
    evzk__free((void *)(uintptr_t)c.key);
}
END_TEST

START_TEST(names_of_events)
{
    ck_assert_str_eq(
        evzk_config_follower_event_name(EVZK_CONFIG_FOLLOWER_CONFIG), "CONFIG");
    ck_assert_str_eq(
        evzk_config_follower_event_name(EVZK_CONFIG_FOLLOWER_ENDED), "ENDED");
    ck_assert_str_eq(
        evzk_config_follower_event_name((evzk_config_follower_event)0), "?");
    ck_assert(
        !evzk_config_follower_event_is_final(EVZK_CONFIG_FOLLOWER_CONFIG));
    ck_assert(evzk_config_follower_event_is_final(EVZK_CONFIG_FOLLOWER_ENDED));
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, bad_keys_are_refused, 1);
    args_add(suite, acls_need_room, 1);
    args_add(suite, numbers_are_not_negative, 1);
    args_add(suite, bad_paths, 1);
    args_add(suite, copies_are_sorted, 1);
    args_add(suite, names_of_events, 1);
}

const struct args_recipe args_config = {kinds, add_tests};
