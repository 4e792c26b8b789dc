/* Multi-locks without a server. */
#include "args.h"

#include <string.h>

static void on_multi_lock(evzk_multi_lock *p, evzk_multi_lock_event event,
                          int rc, void *arg)
{
    args_heard(arg, p, (int)event, rc);
}

/* Options, and a list of parts besides: what is bad may be in either. */
struct with_parts {
    evzk_multi_lock_options opt;
    const evzk_multi_lock_part *parts; /* NULL: the path, and another. */
    size_t n;
    bool none; /* NULL, in the place of the list. */
};

static int acquire(const struct args_start *a, evzk_multi_lock_cb *on,
                   evzk_multi_lock **to)
{
    static const struct with_parts least;
    const struct with_parts *w = a->options ? a->options : &least;
    const evzk_multi_lock_part two[] = {{.path = "/z"}, {.path = a->path}};
    const evzk_multi_lock_part *parts = w->parts || w->none ? w->parts : two;

    return evzk_multi_lock_acquire(a->s, parts, parts == two ? 2 : w->n,
                                   a->options ? &w->opt : NULL, on, a->arg, to);
}

ARGS_BEGIN(begin_multi_lock, evzk_multi_lock, on_multi_lock, acquire(a, on, to))
ARGS_FREE(free_multi_lock, evzk_multi_lock, evzk_multi_lock_free)
ARGS_CALL(cancel, evzk_multi_lock, evzk_multi_lock_cancel(o))
ARGS_CALL(release, evzk_multi_lock, evzk_multi_lock_release(o))

static const evzk_multi_lock_part
    three[] = {{.path = "/c"}, {.path = "/a"}, {.path = "/b"}},
    twice[] = {{.path = "/a"}, {.path = "/b"}, {.path = "/a"}},
    bad_path[] = {{.path = "/a"}, {.path = "b"}},
    no_path[] = {{.path = "/a"}, {.path = NULL}},
    bad_mode[] = {{.path = "/a"}, {.path = "/b", .mode = (evzk_lock_mode)3}},
    all_modes[] = {{.path = "/a", .mode = EVZK_LOCK_WRITE},
                   {.path = "/b", .mode = EVZK_LOCK_READ}};

static const struct with_parts all = {.opt = {.timeout_ms = 10000,
                                              .no_requeue = true,
                                              .data = "me",
                                              .data_len = 2,
                                              .acl = args_one_acl,
                                              .acl_count = 1},
                                      .parts = three,
                                      .n = 3};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const struct with_parts){.opt = {__VA_ARGS__}}, EVZK_ERR_INVAL}
#define PARTS(what, list, count, rc)                                           \
    {what, &(const struct with_parts){.parts = (list), .n = (count)}, rc}

static const struct args_row rows[] = {
    {"evzk_multi_lock_acquire: no list", &(const struct with_parts){.none = true, .n = 1}, EVZK_ERR_INVAL},
    PARTS("parts: none", three, 0, EVZK_ERR_INVAL),
    PARTS("parts: too many", three, EVZK_MULTI_LOCK_MAX + 1, EVZK_ERR_INVAL),
    PARTS("parts: far too many", three, SIZE_MAX, EVZK_ERR_INVAL),
    PARTS("parts: a path twice", twice, 3, EVZK_ERR_INVAL),
    PARTS("parts: a relative path", bad_path, 2, EVZK_ERR_INVAL),
    PARTS("parts: no path", no_path, 2, EVZK_ERR_INVAL),
    PARTS("parts: an unknown mode", bad_mode, 2, EVZK_ERR_INVAL),
    PARTS("parts: one", three, 1, EVZK_OK),
    PARTS("parts: other modes", all_modes, 2, EVZK_OK),
    ARGS_BAD_DATA(BAD, EVZK_LOCK_DATA_MAX),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};
#undef BAD
#undef PARTS

static const struct args_call calls[] = {
    {"evzk_multi_lock_release", release, EVZK_ERR_STATE},
};
/* clang-format on */

static const void *with_acl(const evzk_acl *acl, size_t n)
{
    static struct with_parts w;

    w.opt.acl = acl;
    w.opt.acl_count = n;
    return &w;
}

static const void *with_timeout(uint32_t ms)
{
    static struct with_parts w;

    w.opt.timeout_ms = ms;
    return &w;
}

static void expect_unheld(void *object)
{
    const evzk_multi_lock *p = object;

    ck_assert(!evzk_multi_lock_held(p));
    ck_assert_uint_eq(evzk_multi_lock_lease_ms(p), 0);
    ck_assert_uint_eq(evzk_multi_lock_token(p, 0), 0);
    ck_assert_uint_eq(evzk_multi_lock_token(p, EVZK_MULTI_LOCK_MAX), 0);
    ck_assert_str_eq(evzk_multi_lock_node(p, 0), "");
    ck_assert_str_eq(evzk_multi_lock_node(p, SIZE_MAX), "");
    ck_assert_uint_le(evzk_multi_lock_failed_part(p), EVZK_MULTI_LOCK_MAX);
    ck_assert_uint_gt(strlen(evzk_multi_lock_state(p)), 0);
}

static void no_multi_lock(void)
{
    ck_assert_int_eq(evzk_multi_lock_release(NULL), EVZK_ERR_INVAL);
    ck_assert(!evzk_multi_lock_held(NULL));
    ck_assert_uint_eq(evzk_multi_lock_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_multi_lock_token(NULL, 0), 0);
    ck_assert_str_eq(evzk_multi_lock_node(NULL, 0), "");
    ck_assert_uint_eq(evzk_multi_lock_failed_part(NULL), 0);
    ck_assert_str_eq(evzk_multi_lock_state(NULL), "");
    ck_assert_str_eq(evzk_multi_lock_event_name(EVZK_MULTI_LOCK_GRANTED),
                     "GRANTED");
    ck_assert_str_eq(evzk_multi_lock_event_name((evzk_multi_lock_event)0), "?");
}

static const struct args_kind multi_lock = {
    .start = "evzk_multi_lock_acquire",
    .begin = begin_multi_lock,
    .most = &all,
    .rows = rows,
    .n_rows = UNIT_COUNT(rows),
    .calls = calls,
    .n_calls = UNIT_COUNT(calls),
    .with_acl = with_acl,
    .with_timeout = with_timeout,
    .stop_function = "evzk_multi_lock_cancel",
    .stop = cancel,
    .stopped_event = EVZK_MULTI_LOCK_FAILED,
    .stopped_rc = EVZK_ERR_CANCELED,
    .failed_event = EVZK_MULTI_LOCK_FAILED,
    .free = free_multi_lock,
    .has_nothing = expect_unheld,
    .null = no_multi_lock,
    .deaf = true};

static const struct args_kind *const kinds[] = {&multi_lock, NULL};

const struct args_recipe args_multi_lock = {kinds, NULL};
