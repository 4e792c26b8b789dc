/* Handles of Chubby's interface without a server: none is ever opened. */
#include "args.h"

#include <string.h>

#include "recipes/chubby/chubby_internal.h"

static void on_handle(evzk_chubby *h, evzk_chubby_event event, int rc,
                      const char *name, void *arg)
{
    ck_assert_ptr_null(name);
    args_heard(arg, h, (int)event, rc);
}

/* No operation begins before the handle is open. */
static void on_done(evzk_chubby *h, int rc, const evzk_chubby_answer *answer,
                    void *arg)
{
    (void)h, (void)answer, (void)arg;
    ck_abort_msg("an operation ends: %s", evzk_errname(rc));
}

#define DIR "/objects/a.evzk"
#define GUID "123e4567-e89b-42d3-a456-426614174000"
#define SEQUENCER DIR "/" GUID "-write-0000000007:00000000000000ff:w"

static int open_poisoned(const struct args_start *a, evzk_chubby_cb *on,
                         evzk_chubby **to)
{
    int rc = evzk_chubby_open(a->s, a->path, a->options, on, a->arg, to);

    if (rc == EVZK_OK)
        ck_assert_int_eq(evzk_chubby_poison(*to), EVZK_OK);
    return rc;
}

ARGS_BEGIN(begin_handle, evzk_chubby, on_handle,
           evzk_chubby_open(a->s, a->path, a->options, on, a->arg, to))
ARGS_BEGIN(begin_poisoned, evzk_chubby, on_handle, open_poisoned(a, on, to))
ARGS_FREE(free_handle, evzk_chubby, evzk_chubby_free)
ARGS_CALL(close_handle, evzk_chubby, evzk_chubby_close(o))
ARGS_CALL(poison, evzk_chubby, evzk_chubby_poison(o))

/* A call by its arguments, and the same without a callback. */
#define CALLS(name, function, ...)                                             \
    ARGS_CALL(name, evzk_chubby, function(o, __VA_ARGS__, on_done, NULL))      \
    ARGS_CALL(name##_mute, evzk_chubby, function(o, __VA_ARGS__, NULL, NULL))

CALLS(get, evzk_chubby_get, false)
CALLS(get_latest, evzk_chubby_get, true)
CALLS(get_stat, evzk_chubby_get_stat, true)
CALLS(set, evzk_chubby_set, -1, "x", 1)
CALLS(acquire, evzk_chubby_acquire, EVZK_CHUBBY_SHARED)
CALLS(try_acquire, evzk_chubby_try_acquire, EVZK_CHUBBY_EXCLUSIVE)
CALLS(set_sequencer, evzk_chubby_set_sequencer, SEQUENCER)
CALLS(check_sequencer, evzk_chubby_check_sequencer, SEQUENCER)
#undef CALLS

ARGS_CALL(read_dir, evzk_chubby, evzk_chubby_read_dir(o, on_done, NULL))
ARGS_CALL(read_dir_mute, evzk_chubby, evzk_chubby_read_dir(o, NULL, NULL))
ARGS_CALL(delete, evzk_chubby, evzk_chubby_delete(o, on_done, NULL))
ARGS_CALL(delete_mute, evzk_chubby, evzk_chubby_delete(o, NULL, NULL))
ARGS_CALL(release, evzk_chubby, evzk_chubby_release(o, on_done, NULL))
ARGS_CALL(release_mute, evzk_chubby, evzk_chubby_release(o, NULL, NULL))
ARGS_CALL(set_old, evzk_chubby, evzk_chubby_set(o, -2, "x", 1, on_done, NULL))
ARGS_CALL(set_oldest, evzk_chubby,
          evzk_chubby_set(o, INT32_MIN, "x", 1, on_done, NULL))
ARGS_CALL(set_null, evzk_chubby, evzk_chubby_set(o, -1, NULL, 1, on_done, NULL))
ARGS_CALL(set_long, evzk_chubby,
          evzk_chubby_set(o, -1, "x", EVZK_CHUBBY_DATA_MAX + 1, on_done, NULL))
ARGS_CALL(set_far, evzk_chubby,
          evzk_chubby_set(o, -1, "x", SIZE_MAX, on_done, NULL))
ARGS_CALL(acquire_high, evzk_chubby,
          evzk_chubby_acquire(o, (evzk_chubby_mode)2, on_done, NULL))
ARGS_CALL(acquire_low, evzk_chubby,
          evzk_chubby_acquire(o, (evzk_chubby_mode)-1, on_done, NULL))
ARGS_CALL(try_high, evzk_chubby,
          evzk_chubby_try_acquire(o, (evzk_chubby_mode)2, on_done, NULL))
ARGS_CALL(try_low, evzk_chubby,
          evzk_chubby_try_acquire(o, (evzk_chubby_mode)-1, on_done, NULL))
ARGS_CALL(sequencer, evzk_chubby,
          evzk_chubby_get_sequencer(o, (char[EVZK_CHUBBY_SEQUENCER_MAX]){""},
                                    EVZK_CHUBBY_SEQUENCER_MAX))
ARGS_CALL(sequencer_nowhere, evzk_chubby,
          evzk_chubby_get_sequencer(o, NULL, EVZK_CHUBBY_SEQUENCER_MAX))
ARGS_CALL(set_no_sequencer, evzk_chubby,
          evzk_chubby_set_sequencer(o, NULL, on_done, NULL))
ARGS_CALL(set_bad_sequencer, evzk_chubby,
          evzk_chubby_set_sequencer(o, "x", on_done, NULL))
ARGS_CALL(check_no_sequencer, evzk_chubby,
          evzk_chubby_check_sequencer(o, NULL, on_done, NULL))
ARGS_CALL(check_bad_sequencer, evzk_chubby,
          evzk_chubby_check_sequencer(o, "x", on_done, NULL))
ARGS_CALL(seen, evzk_chubby, evzk_chubby_check_seen(o, SEQUENCER))
ARGS_CALL(seen_none, evzk_chubby, evzk_chubby_check_seen(o, NULL))
ARGS_CALL(seen_bad, evzk_chubby, evzk_chubby_check_seen(o, "x"))

static const evzk_chubby_options all_options = {.create =
                                                    EVZK_CHUBBY_MAY_CREATE,
                                                .ephemeral = true,
                                                .data = "me",
                                                .data_len = 2,
                                                .acl = args_one_acl,
                                                .acl_count = 1,
                                                .read_only = true,
                                                .children = true,
                                                .lock_events = true,
                                                .lock_delay_ms = 1,
                                                .timeout_ms = 10000};

/* clang-format off */
#define ROW_OF(rc, what, ...)                                                  \
    {what, &(const evzk_chubby_options){__VA_ARGS__}, rc}
#define GOOD(what, ...) ROW_OF(EVZK_OK, what, __VA_ARGS__)
#define BAD(what, ...) ROW_OF(EVZK_ERR_INVAL, what, __VA_ARGS__)
#define BAD_NEW(what, ...) BAD(what, .create = EVZK_CHUBBY_MUST_CREATE, __VA_ARGS__)

static const struct args_row rows[] = {
    BAD("create: beyond the last", .create = (evzk_chubby_create)3),
    BAD("create: below zero", .create = (evzk_chubby_create)-1),
    BAD("ephemeral: of a file that must exist", .ephemeral = true),
    BAD("data: of a file that must exist", .data = "x", .data_len = 1),
    BAD("data: empty, of a file that must exist", .data = ""),
    BAD("data: a length, of a file that must exist", .data_len = 1),
    ARGS_BAD_DATA(BAD_NEW, EVZK_CHUBBY_DATA_MAX),
    BAD("lock-delay: too long", .lock_delay_ms = EVZK_CHUBBY_DELAY_MAX_MS + 1),
    BAD("lock-delay: far too long", .lock_delay_ms = UINT32_MAX),
    GOOD("lock-delay: the longest", .lock_delay_ms = EVZK_CHUBBY_DELAY_MAX_MS),
    GOOD("data: empty", .create = EVZK_CHUBBY_MAY_CREATE, .data = ""),
    GOOD("create: must, and only read", .create = EVZK_CHUBBY_MUST_CREATE, .read_only = true),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
#undef ROW_OF
#undef GOOD
#undef BAD
#undef BAD_NEW

#define CALLS                                                                  \
    {"evzk_chubby_get", get, EVZK_ERR_STATE},                                  \
    {"evzk_chubby_get", get_latest, EVZK_ERR_STATE},                           \
    {"evzk_chubby_get", get_mute, EVZK_ERR_INVAL},                             \
    {"evzk_chubby_get", get_latest_mute, EVZK_ERR_INVAL},                      \
    {"evzk_chubby_get_stat", get_stat, EVZK_ERR_STATE},                        \
    {"evzk_chubby_get_stat", get_stat_mute, EVZK_ERR_INVAL},                   \
    {"evzk_chubby_read_dir", read_dir, EVZK_ERR_STATE},                        \
    {"evzk_chubby_read_dir", read_dir_mute, EVZK_ERR_INVAL},                   \
    {"evzk_chubby_set", set, EVZK_ERR_STATE},                                  \
    {"evzk_chubby_set", set_mute, EVZK_ERR_INVAL},                             \
    {"evzk_chubby_set", set_old, EVZK_ERR_INVAL},                              \
    {"evzk_chubby_set", set_oldest, EVZK_ERR_INVAL},                           \
    {"evzk_chubby_set", set_null, EVZK_ERR_INVAL},                             \
    {"evzk_chubby_set", set_long, EVZK_ERR_INVAL},                             \
    {"evzk_chubby_set", set_far, EVZK_ERR_INVAL},                              \
    {"evzk_chubby_delete", delete, EVZK_ERR_STATE},                            \
    {"evzk_chubby_delete", delete_mute, EVZK_ERR_INVAL},                       \
    {"evzk_chubby_acquire", acquire, EVZK_ERR_STATE},                          \
    {"evzk_chubby_acquire", acquire_mute, EVZK_ERR_INVAL},                     \
    {"evzk_chubby_acquire", acquire_high, EVZK_ERR_INVAL},                     \
    {"evzk_chubby_acquire", acquire_low, EVZK_ERR_INVAL},                      \
    {"evzk_chubby_try_acquire", try_acquire, EVZK_ERR_STATE},                  \
    {"evzk_chubby_try_acquire", try_acquire_mute, EVZK_ERR_INVAL},             \
    {"evzk_chubby_try_acquire", try_high, EVZK_ERR_INVAL},                     \
    {"evzk_chubby_try_acquire", try_low, EVZK_ERR_INVAL},                      \
    {"evzk_chubby_release", release, EVZK_ERR_STATE},                          \
    {"evzk_chubby_release", release_mute, EVZK_ERR_INVAL},                     \
    {"evzk_chubby_get_sequencer", sequencer, EVZK_ERR_STATE},                  \
    {"evzk_chubby_get_sequencer", sequencer_nowhere, EVZK_ERR_INVAL},          \
    {"evzk_chubby_set_sequencer", set_sequencer, EVZK_ERR_STATE},              \
    {"evzk_chubby_set_sequencer", set_sequencer_mute, EVZK_ERR_INVAL},         \
    {"evzk_chubby_set_sequencer", set_no_sequencer, EVZK_ERR_INVAL},           \
    {"evzk_chubby_set_sequencer", set_bad_sequencer, EVZK_ERR_INVAL},          \
    {"evzk_chubby_check_sequencer", check_sequencer, EVZK_ERR_STATE},          \
    {"evzk_chubby_check_sequencer", check_sequencer_mute, EVZK_ERR_INVAL},     \
    {"evzk_chubby_check_sequencer", check_no_sequencer, EVZK_ERR_INVAL},       \
    {"evzk_chubby_check_sequencer", check_bad_sequencer, EVZK_ERR_INVAL},      \
    {"evzk_chubby_check_seen", seen, EVZK_ERR_STATE},                          \
    {"evzk_chubby_check_seen", seen_none, EVZK_ERR_INVAL},                     \
    {"evzk_chubby_check_seen", seen_bad, EVZK_ERR_INVAL}

static const struct args_call calls[] = {CALLS};
static const struct args_call poisoned_calls[] = {
    {"evzk_chubby_poison", poison, EVZK_ERR_STATE},
    CALLS,
};
#undef CALLS
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_chubby_options)
ARGS_WITH_TIMEOUT(with_timeout, evzk_chubby_options)

static void expect_nothing(void *object)
{
    ck_assert(!evzk_chubby_held(object));
    ck_assert_uint_eq(evzk_chubby_lease_ms(object), 0);
    ck_assert_uint_eq(evzk_chubby_token(object), 0);
    ck_assert(!evzk_chubby_created(object));
    ck_assert_uint_eq(evzk_chubby_outstanding(object), 0);
    ck_assert_uint_gt(strlen(evzk_chubby_state(object)), 0);
}

static void no_handle(void)
{
    ck_assert(!evzk_chubby_held(NULL));
    ck_assert_uint_eq(evzk_chubby_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_chubby_token(NULL), 0);
    ck_assert(!evzk_chubby_created(NULL));
    ck_assert_uint_eq(evzk_chubby_outstanding(NULL), 0);
    ck_assert_str_eq(evzk_chubby_state(NULL), "");
}

#define HANDLE(begins, of)                                                     \
    {                                                                          \
        .start = "evzk_chubby_open", .begin = (begins), .most = &all_options,  \
        .rows = rows, .n_rows = UNIT_COUNT(rows), .calls = (of),               \
        .n_calls = UNIT_COUNT(of), .with_acl = with_acl,                       \
        .with_timeout = with_timeout, .stop_function = "evzk_chubby_close",    \
        .stop = close_handle, .stopped_event = EVZK_CHUBBY_CLOSED,             \
        .stopped_rc = EVZK_OK, .failed_event = EVZK_CHUBBY_ENDED,              \
        .free = free_handle, .has_nothing = expect_nothing, .null = no_handle, \
        .deaf = true                                                           \
    }

static const struct args_kind handle = HANDLE(begin_handle, calls);
static const struct args_kind poisoned = HANDLE(begin_poisoned, poisoned_calls);

static const struct args_kind *const kinds[] = {&handle, &poisoned, NULL};

/* A poisoned handle is still to be closed, and needs no memory for either. */
START_TEST(poisoned_once)
{
    struct heard h = {0};
    struct world w;
    evzk_chubby *o;

    set_up(&w);
    o = args_begin(&handle, &w, NULL, &h);
    args_no_memory();
    ck_assert_int_eq(CALL(evzk_chubby_poison(o)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_chubby_poison(o)), EVZK_ERR_STATE);
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 0);
    ck_assert_int_eq(CALL(evzk_chubby_close(o)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_chubby_poison(o)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_CHUBBY_CLOSED, EVZK_OK);
    DO(evzk_chubby_free(o));
    tear_down(&w);
}
END_TEST

/* Names that the recipe has for its own znodes; and names nearly like them. */
START_TEST(names_of_files)
{
    static const char *const bad[] = {"/.evzk",           "/a.evzk",
                                      "/a.evzk/b",        "/a/b.evzk",
                                      "/a/.evzk",         "/a/" GUID "-receipt",
                                      "/" GUID "-receipt"};
    static const char *const good[] = {
        "/evzk",       "/a.evzk.",           "/a.EVZK",       "/a-receipt",
        "/a/-receipt", "/a" GUID "-receipt", "/" GUID "-file"};
    struct heard h = {.kind = &handle};
    evzk_chubby *o = NULL;
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        INVAL(evzk_chubby_open(w.s, bad[i], NULL, on_handle, &h, &o));
    ck_assert_ptr_null(o);
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        ck_assert_int_eq(
            CALL(evzk_chubby_open(w.s, good[i], NULL, on_handle, &h, &o)),
            EVZK_OK);
        DO(evzk_chubby_free(o));
    }
    tear_down(&w);
}
END_TEST

/* The path of each znode beside the file must be one that servers accept. */
START_TEST(long_paths)
{
    enum { MOST = EVZK__PATH_MAX - 6 - EVZK__CHUBBY_MARK_MAX };
    static char path[EVZK__PATH_MAX + 2];
    struct heard h = {.kind = &handle};
    evzk_chubby *o = NULL;
    struct world w;

    set_up(&w);
    for (size_t len = MOST + 1; len <= EVZK__PATH_MAX + 1; len++) {
        memset(path, 'x', sizeof path - 1);
        path[0] = '/';
        path[len] = '\0';
        INVAL(evzk_chubby_open(w.s, path, NULL, on_handle, &h, &o));
    }
    ck_assert_ptr_null(o);
    path[MOST] = '\0';
    ck_assert_int_eq(CALL(evzk_chubby_open(w.s, path, NULL, on_handle, &h, &o)),
                     EVZK_OK);
    DO(evzk_chubby_free(o));
    tear_down(&w);
}
END_TEST

#define NODE "/" GUID "-write-0000000007"
#define CZXID ":00000000000000ff"

static const char *const no_sequencers[] = {
    "",
    ":",
    "::",
    "w",
    "/",
    CZXID ":w",
    "/:00000000000000ff:w",
    /* The path. */
    "//a.evzk" NODE CZXID ":w",
    "a.evzk" NODE CZXID ":w",
    DIR NODE "/" CZXID ":w",
    "/a/../b.evzk" NODE CZXID ":w",
    "/a\n.evzk" NODE CZXID ":w",
    " " DIR NODE CZXID ":w",
    /* Its directory. */
    NODE CZXID ":w",
    "/a" NODE CZXID ":w",
    "/aevzk" NODE CZXID ":w",
    "/.evzk" NODE CZXID ":w",
    "/a/.evzk" NODE CZXID ":w",
    "/a.evzk/b" NODE CZXID ":w",
    "/a.EVZK" NODE CZXID ":w",
    /* The name. */
    DIR CZXID ":w",
    DIR "/" CZXID ":w",
    DIR "/" GUID "-file" CZXID ":w",
    DIR "/" GUID "-write-7" CZXID ":w",
    DIR "/" GUID "-write-000000007" CZXID ":w",
    DIR "/" GUID "-write-00000000007" CZXID ":w",
    DIR "/" GUID "-write-000000000x" CZXID ":w",
    DIR "/" GUID "-write-" CZXID ":w",
    DIR "/-write-0000000007" CZXID ":w",
    DIR "/" GUID "-other-0000000007" CZXID ":w",
    DIR "/" GUID "-write-wait-0000000007" CZXID ":w",
    DIR NODE "-1-delay" CZXID ":w",
    /* The czxid. */
    DIR NODE ":0:w",
    DIR NODE ":ff:w",
    DIR NODE "::w",
    DIR NODE ":000000000000ff:w",
    DIR NODE ":0000000000000ff:w",
    DIR NODE ":000000000000000ff:w",
    DIR NODE ":00000000000000FF:w",
    DIR NODE ":0x000000000000ff:w",
    DIR NODE ":+0000000000000ff:w",
    DIR NODE ":              ff:w",
    DIR NODE ":0000000000000000:w",
    DIR NODE ":8000000000000000:w",
    DIR NODE ":ffffffffffffffff:w",
    DIR NODE ":00000000000000fg:w",
    DIR NODE " 00000000000000ff:w",
    /* The mode. */
    DIR NODE CZXID,
    DIR NODE CZXID ":",
    DIR NODE CZXID ":r",
    DIR NODE CZXID ":W",
    DIR NODE CZXID ":x",
    DIR NODE CZXID ":ww",
    DIR NODE CZXID " w",
    DIR NODE CZXID "w",
    DIR NODE CZXID ":w ",
    DIR NODE CZXID ":w\n",
    DIR NODE CZXID ":w:",
    DIR "/" GUID "-read-0000000007" CZXID ":w",
};

START_TEST(texts_that_are_no_sequencers)
{
    struct heard h = {0};
    struct world w;
    evzk_chubby *o;

    set_up(&w);
    o = args_begin(&handle, &w, NULL, &h);
    for (size_t i = 0; i < UNIT_COUNT(no_sequencers); i++) {
        const char *text = no_sequencers[i];
        struct evzk__sequencer q;

        ck_assert_msg(evzk__sequencer_parse(&q, text) == EVZK_ERR_INVAL, "%s",
                      text);
        INVAL(evzk_chubby_set_sequencer(o, text, on_done, NULL));
        INVAL(evzk_chubby_check_sequencer(o, text, on_done, NULL));
        INVAL(evzk_chubby_check_seen(o, text));
    }
    DO(evzk_chubby_free(o));
    tear_down(&w);
}
END_TEST

START_TEST(texts_that_are_sequencers)
{
    static const char *const good[] = {
        SEQUENCER, DIR NODE ":0000000000000001:w",
        DIR NODE ":7fffffffffffffff:w",
        DIR "/" GUID "-read-0000000007" CZXID ":r",
        DIR "/" GUID "-write--000000007" CZXID ":w"};
    static const char of_another[] = "/objects/b.evzk" NODE CZXID ":w";
    struct heard h = {0};
    struct world w;
    evzk_chubby *o;

    set_up(&w);
    o = args_begin(&handle, &w, &all_options, &h);
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        long blocks = args_live;

        ck_assert_int_eq(
            CALL(evzk_chubby_set_sequencer(o, good[i], on_done, NULL)),
            EVZK_ERR_STATE);
        ck_assert_int_eq(
            CALL(evzk_chubby_check_sequencer(o, good[i], on_done, NULL)),
            EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_chubby_check_seen(o, good[i])),
                         EVZK_ERR_STATE);
        ck_assert_int_eq(args_live, blocks);
    }
    ck_assert_int_eq(
        CALL(evzk_chubby_check_sequencer(o, of_another, on_done, NULL)),
        EVZK_ERR_STATE);
    INVAL(evzk_chubby_check_seen(o, of_another));
    DO(evzk_chubby_free(o));
    tear_down(&w);
}
END_TEST

START_TEST(sequencer_without_memory)
{
    struct heard h = {0};
    struct world w;
    evzk_chubby *o;

    set_up(&w);
    o = args_begin(&handle, &w, NULL, &h);
    args_no_memory();
    ck_assert_int_eq(
        CALL(evzk_chubby_check_sequencer(o, SEQUENCER, on_done, NULL)),
        EVZK_ERR_NOMEM);
    ck_assert_int_eq(CALL(evzk_chubby_check_seen(o, SEQUENCER)),
                     EVZK_ERR_NOMEM);
    args_fail_on = false;
    DO(evzk_chubby_free(o));
    tear_down(&w);
}
END_TEST

START_TEST(names_of_events)
{
    static const char *const name[] = {"?",
                                       "OPENED",
                                       "CONTENTS_CHANGED",
                                       "CHILD_ADDED",
                                       "CHILD_REMOVED",
                                       "CHILD_CHANGED",
                                       "LOCK_ACQUIRED",
                                       "CONFLICT",
                                       "LOCK_LOST",
                                       "JEOPARDY",
                                       "SAFE",
                                       "INVALID",
                                       "CLOSED",
                                       "ENDED",
                                       "?"};

    for (size_t i = 0; i < UNIT_COUNT(name); i++) {
        evzk_chubby_event ev = (evzk_chubby_event)i;

        ck_assert_str_eq(evzk_chubby_event_name(ev), name[i]);
        ck_assert_int_eq(evzk_chubby_event_is_final(ev),
                         ev == EVZK_CHUBBY_CLOSED || ev == EVZK_CHUBBY_ENDED);
    }
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, poisoned_once, 1);
    args_add(suite, names_of_files, 1);
    args_add(suite, long_paths, 1);
    args_add(suite, texts_that_are_no_sequencers, 1);
    args_add(suite, texts_that_are_sequencers, 1);
    args_add(suite, sequencer_without_memory, 1);
    args_add(suite, names_of_events, 1);
}

const struct args_recipe args_chubby = {kinds, add_tests};
