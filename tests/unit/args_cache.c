/* Caches without a server. */
#include "args.h"

#include <string.h>

static void on_cache(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    ck_assert_ptr_null(entry);
    ck_assert_ptr_null(before);
    args_heard(arg, c, (int)event, rc);
}

ARGS_BEGIN(begin_cache, evzk_cache, on_cache,
           evzk_cache_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_cache, evzk_cache, evzk_cache_free)
ARGS_CALL(cancel, evzk_cache, evzk_cache_cancel(o))
ARGS_CALL(get_nothing, evzk_cache,
          evzk_cache_get(o, NULL, &(evzk_cache_entry){0}))
ARGS_CALL(get_nowhere, evzk_cache, evzk_cache_get(o, "", NULL))

static const evzk_cache_options all_options = {.depth = EVZK_CACHE_SUBTREE,
                                               .names_only = true};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_cache_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    BAD("depth: beyond the last", .depth = (evzk_cache_depth)3),
    BAD("depth: below zero", .depth = (evzk_cache_depth)-1),
    ARGS_BAD_RESERVED(BAD),
};

static const struct args_call calls[] = {
    {"evzk_cache_get", get_nothing, EVZK_ERR_INVAL},
    {"evzk_cache_get", get_nowhere, EVZK_ERR_INVAL},
};
/* clang-format on */

static void expect_empty(void *object)
{
    evzk_cache_entry e;

    ck_assert_uint_eq(evzk_cache_count(object), 0);
    ck_assert(!evzk_cache_ready(object));
    ck_assert_int_eq(evzk_cache_get(object, "", &e), EVZK_ERR_NONODE);
    ck_assert_int_eq(evzk_cache_get(object, "a/b", &e), EVZK_ERR_NONODE);
    ck_assert_int_eq(evzk_cache_get(object, "/", &e), EVZK_ERR_NONODE);
    ck_assert(!evzk_cache_first(object, &e));
    ck_assert(!evzk_cache_first_child(object, "", &e));
    ck_assert(!evzk_cache_first_child(object, NULL, &e));
    ck_assert(!evzk_cache_first_child(object, "", NULL));
    ck_assert(!evzk_cache_first(object, NULL));
    ck_assert(!evzk_cache_next(object, NULL));
    ck_assert(!evzk_cache_next_child(object, NULL));
    e = (evzk_cache_entry){.path = "a"};
    ck_assert(!evzk_cache_next(object, &e));
    ck_assert(!evzk_cache_next_child(object, &e));
    ck_assert_uint_gt(strlen(evzk_cache_state(object)), 0);
}

static void no_cache(void)
{
    evzk_cache_entry e = {.path = ""};

    ck_assert_uint_eq(evzk_cache_count(NULL), 0);
    ck_assert(!evzk_cache_ready(NULL));
    ck_assert_int_eq(evzk_cache_get(NULL, "", &e), EVZK_ERR_INVAL);
    ck_assert(!evzk_cache_first(NULL, &e));
    ck_assert(!evzk_cache_next(NULL, &e));
    ck_assert(!evzk_cache_first_child(NULL, "", &e));
    ck_assert(!evzk_cache_next_child(NULL, &e));
    ck_assert_str_eq(evzk_cache_state(NULL), "");
}

static const struct args_kind cache = {.start = "evzk_cache_start",
                                       .begin = begin_cache,
                                       .most = &all_options,
                                       .rows = rows,
                                       .n_rows = UNIT_COUNT(rows),
                                       .calls = calls,
                                       .n_calls = UNIT_COUNT(calls),
                                       .stop_function = "evzk_cache_cancel",
                                       .stop = cancel,
                                       .stopped_event = EVZK_CACHE_ENDED,
                                       .stopped_rc = EVZK_ERR_CANCELED,
                                       .failed_event = EVZK_CACHE_ENDED,
                                       .free = free_cache,
                                       .has_nothing = expect_empty,
                                       .null = no_cache,
                                       .deaf = true,
                                       .ends_in_loop = true};

static const struct args_kind *const kinds[] = {&cache, NULL};

START_TEST(root_is_no_cache)
{
    evzk_cache *c = NULL;
    struct world w;

    set_up(&w);
    INVAL(evzk_cache_start(w.s, "/", NULL, on_cache, NULL, &c));
    ck_assert_ptr_null(c);
    tear_down(&w);
}
END_TEST

START_TEST(cache_events)
{
    ck_assert_str_eq(evzk_cache_event_name(EVZK_CACHE_ADDED), "ADDED");
    ck_assert_str_eq(evzk_cache_event_name(EVZK_CACHE_CHANGED), "CHANGED");
    ck_assert_str_eq(evzk_cache_event_name(EVZK_CACHE_REMOVED), "REMOVED");
    ck_assert_str_eq(evzk_cache_event_name(EVZK_CACHE_READY), "READY");
    ck_assert_str_eq(evzk_cache_event_name(EVZK_CACHE_ENDED), "ENDED");
    ck_assert_str_eq(evzk_cache_event_name((evzk_cache_event)0), "?");
    ck_assert(evzk_cache_event_is_final(EVZK_CACHE_ENDED));
    ck_assert(!evzk_cache_event_is_final(EVZK_CACHE_READY));
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, root_is_no_cache, 1);
    args_add(suite, cache_events, 1);
}

const struct args_recipe args_cache = {kinds, add_tests};
