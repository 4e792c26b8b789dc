/* Producers without a server. */
#include "args.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    args_heard(arg, p, (int)event, rc);
}

static const evzk_put_item one[] = {{.data = "x", .len = 1}};
static const evzk_put_item too_long[] = {
    {.data = "x", .len = 1}, {.data = "x", .len = EVZK_QUEUE_DATA_MAX + 1}};
static const evzk_put_item far_too_long[] = {{.data = "x", .len = SIZE_MAX}};
static const evzk_put_item no_data[] = {{.len = 1}};
static const evzk_put_item bad_priority[] = {
    {.data = "x", .len = 1, .priority = EVZK_QUEUE_PRIORITIES}};

ARGS_BEGIN(start, evzk_producer, on_producer,
           evzk_producer_start(a->s, a->path, a->options, on, a->arg, to))
ARGS_FREE(free_producer, evzk_producer, evzk_producer_free)
ARGS_CALL(close_it, evzk_producer, evzk_producer_close(o))
ARGS_CALL(cancel_it, evzk_producer, evzk_producer_cancel(o))
ARGS_CALL(put_null, evzk_producer, evzk_producer_put(o, NULL, 1, NULL, NULL))
ARGS_CALL(put_none, evzk_producer, evzk_producer_put(o, one, 0, NULL, NULL))
ARGS_CALL(put_long, evzk_producer,
          evzk_producer_put(o, too_long, 2, NULL, NULL))
ARGS_CALL(put_far, evzk_producer,
          evzk_producer_put(o, far_too_long, 1, NULL, NULL))
ARGS_CALL(put_no_data, evzk_producer,
          evzk_producer_put(o, no_data, 1, NULL, NULL))
ARGS_CALL(put_priority, evzk_producer,
          evzk_producer_put(o, bad_priority, 1, NULL, NULL))

static const evzk_producer_options all_options = {.layout =
                                                      EVZK_QUEUE_PLAIN_PRIORITY,
                                                  .ephemeral = true,
                                                  .pending_max = 100,
                                                  .acl = args_one_acl,
                                                  .acl_count = 1};

/* clang-format off */
#define BAD(what, ...)                                                         \
    {what, &(const evzk_producer_options){__VA_ARGS__}, EVZK_ERR_INVAL}

static const struct args_row rows[] = {
    BAD("layout: below zero", .layout = (evzk_queue_layout)-1),
    BAD("layout: too great", .layout = (evzk_queue_layout)(EVZK_QUEUE_PLAIN_PRIORITY + 1)),
    ARGS_BAD_RESERVED(BAD),
    ARGS_BAD_ACL(BAD),
};

static const struct args_call calls[] = {
    {"evzk_producer_put", put_null, EVZK_ERR_INVAL},
    {"evzk_producer_put", put_none, EVZK_ERR_INVAL},
    {"evzk_producer_put", put_long, EVZK_ERR_INVAL},
    {"evzk_producer_put", put_far, EVZK_ERR_INVAL},
    {"evzk_producer_put", put_no_data, EVZK_ERR_INVAL},
    {"evzk_producer_put", put_priority, EVZK_ERR_INVAL},
};
/* clang-format on */

ARGS_WITH_ACL(with_acl, evzk_producer_options)

static void expect_nothing(void *object)
{
    ck_assert_uint_eq(evzk_producer_pending(object), 0);
    ck_assert_uint_gt(strlen(evzk_producer_state(object)), 0);
}

static void no_producer(void)
{
    ck_assert_uint_eq(evzk_producer_pending(NULL), 0);
    ck_assert_str_eq(evzk_producer_state(NULL), "");
}

#define PRODUCER(function, end)                                                \
    {                                                                          \
        .start = "evzk_producer_start", .begin = start, .most = &all_options,  \
        .rows = rows, .n_rows = UNIT_COUNT(rows), .calls = calls,              \
        .n_calls = UNIT_COUNT(calls), .with_acl = with_acl,                    \
        .stop_function = (function), .stop = (end),                            \
        .stopped_event = EVZK_PRODUCER_CLOSED, .stopped_rc = EVZK_OK,          \
        .failed_event = EVZK_PRODUCER_FAILED, .free = free_producer,           \
        .has_nothing = expect_nothing, .null = no_producer, .deaf = true       \
    }

static const struct args_kind producer =
    PRODUCER("evzk_producer_close", close_it);
static const struct args_kind canceled =
    PRODUCER("evzk_producer_cancel", cancel_it);

static const struct args_kind *const kinds[] = {&producer, &canceled, NULL};

/* The puts of one test, and what they heard: "0 CANCELED, 1 ...". */
static char heard[256];
static evzk_producer *free_in_put;

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    size_t n = strlen(heard);

    ck_assert_int_eq(args_inside, 0);
    ck_assert_uint_eq(done, 0);
    snprintf(heard + n, sizeof heard - n, "%s %s, ", (const char *)arg,
             evzk_errname(rc));
    if (p == free_in_put)
        DO(evzk_producer_free(p));
}

static evzk_producer *with_two_puts(struct world *w, struct heard *h)
{
    evzk_producer *p = args_begin(&producer, w, NULL, h);
    char data[] = "x";
    const evzk_put_item item[2] = {{.data = data, .len = 1}, {.len = 0}};

    heard[0] = '\0';
    free_in_put = NULL;
    ck_assert_int_eq(CALL(evzk_producer_put(p, item, 2, on_put, "first")),
                     EVZK_OK);
    memset(data, 0, sizeof data); /* The producer has a copy. */
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, on_put, "last")),
                     EVZK_OK);
    ck_assert_uint_eq(evzk_producer_pending(p), 4);
    ck_assert_str_eq(heard, "");
    return p;
}

/* Puts end before their producer does, in their order; a close alone waits. */
START_TEST(puts_are_canceled)
{
    struct heard h = {0};
    struct world w;
    evzk_producer *p;

    set_up(&w);
    p = with_two_puts(&w, &h);
    if (_i == 1) {
        ck_assert_int_eq(CALL(evzk_producer_close(p)), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_producer_close(p)), EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)),
                         EVZK_ERR_STATE);
        run_ms(&w, 30);
        ck_assert_int_eq(h.events, 0);
    }
    ck_assert_int_eq(CALL(evzk_producer_cancel(p)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_producer_cancel(p)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_producer_close(p)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_PRODUCER_CLOSED, EVZK_OK);
    ck_assert_str_eq(heard,
                     "first EVZK_ERR_CANCELED, last EVZK_ERR_CANCELED, ");
    ck_assert_uint_eq(evzk_producer_pending(p), 0);
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_producer_cancel(p)), EVZK_ERR_STATE);
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

START_TEST(puts_end_with_session)
{
    struct heard h = {0};
    struct world w;
    evzk_producer *p;

    set_up(&w);
    p = with_two_puts(&w, &h);
    run_ms(&w, _i ? 20 : 0);
    DO(evzk_session_close(w.s));
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_PRODUCER_FAILED, EVZK_ERR_CLOSED);
    ck_assert_str_eq(heard, "first EVZK_ERR_CLOSED, last EVZK_ERR_CLOSED, ");
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

/* Nothing is told of the puts behind, nor of the producer. */
START_TEST(freed_in_a_put)
{
    struct heard h = {0};
    struct world w;
    evzk_producer *p;

    set_up(&w);
    p = with_two_puts(&w, &h);
    free_in_put = p;
    ck_assert_int_eq(CALL(evzk_producer_cancel(p)), EVZK_OK);
    run_ms(&w, 30);
    ck_assert_str_eq(heard, "first EVZK_ERR_CANCELED, ");
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

/* All but what the child's copy of the loop still refers to: one event. */
START_TEST(freed_in_a_child)
{
    struct heard h = {0};
    struct world w;
    evzk_producer *p;
    pid_t child;
    int status;

    set_up(&w);
    p = with_two_puts(&w, &h);
    fflush(stdout);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        evzk_session_free(w.s);
        evzk_producer_free(p);
        ck_assert_int_le(args_live, 1);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

START_TEST(too_much_waits)
{
    static const evzk_producer_options opt = {.pending_max = 140};
    const evzk_put_item three[3] = {{.len = 0}, {.len = 0}, {.len = 0}};
    struct heard h = {0};
    struct world w;
    evzk_producer *p;

    set_up(&w);
    p = args_begin(&producer, &w, &opt, &h);
    INVAL(evzk_producer_put(p, three, 3, NULL, NULL)); /* Never. */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)),
                         EVZK_OK);
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)),
                     EVZK_ERR_BUSY);
    ck_assert_uint_eq(evzk_producer_pending(p), 2);
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

START_TEST(put_without_memory)
{
    struct heard h = {0};
    struct world w;
    evzk_producer *p;

    set_up(&w);
    p = args_begin(&producer, &w, NULL, &h);
    args_allocations = 0;
    args_fail_at = 1;
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)),
                     EVZK_ERR_NOMEM);
    ck_assert_uint_eq(evzk_producer_pending(p), 0);
    args_fail_at = 0;
    ck_assert_int_eq(CALL(evzk_producer_put(p, one, 1, NULL, NULL)), EVZK_OK);
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

/* The longest path, and what no longer fits beside it; plain queues without
 * priorities have none. */
START_TEST(what_fits)
{
    static char path[4096 - 48 + 2];
    static const char data[EVZK_QUEUE_DATA_MAX];
    const evzk_put_item longest = {.data = data, .len = sizeof data};
    const evzk_put_item urgent = {.data = data, .priority = 1};
    static const evzk_producer_options plain = {.layout = EVZK_QUEUE_PLAIN};
    struct heard h = {0};
    evzk_producer *p = NULL;
    struct world w;

    set_up(&w);
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    INVAL(evzk_producer_start(w.s, path, NULL, on_producer, &h, &p));
    path[sizeof path - 2] = '\0';
    h.kind = &producer;
    ck_assert_int_eq(
        CALL(evzk_producer_start(w.s, path, &plain, on_producer, &h, &p)),
        EVZK_OK);
    ck_assert_int_eq(CALL(evzk_producer_put(p, &longest, 1, NULL, NULL)),
                     EVZK_OK);
    INVAL(evzk_producer_put(p, &urgent, 1, NULL, NULL));
    DO(evzk_producer_free(p));
    tear_down(&w);
}
END_TEST

START_TEST(names_of_events)
{
    ck_assert_str_eq(evzk_producer_event_name(EVZK_PRODUCER_CLOSED), "CLOSED");
    ck_assert_str_eq(evzk_producer_event_name(EVZK_PRODUCER_FAILED), "FAILED");
    ck_assert_str_eq(evzk_producer_event_name((evzk_producer_event)0), "?");
    ck_assert(evzk_producer_event_is_final(EVZK_PRODUCER_CLOSED));
    ck_assert(evzk_producer_event_is_final(EVZK_PRODUCER_FAILED));
    ck_assert(!evzk_producer_event_is_final((evzk_producer_event)0));
}
END_TEST

static void add_tests(Suite *suite)
{
    args_add(suite, puts_are_canceled, 2);
    args_add(suite, puts_end_with_session, 2);
    args_add(suite, freed_in_a_put, 1);
    args_add(suite, freed_in_a_child, 1);
    args_add(suite, too_much_waits, 1);
    args_add(suite, put_without_memory, 1);
    args_add(suite, what_fits, 1);
    args_add(suite, names_of_events, 1);
}

const struct args_recipe args_producer = {kinds, add_tests};
