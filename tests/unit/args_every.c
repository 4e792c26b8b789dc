/* Tests of every kind of object: bad arguments, no memory, and the ways in
 * which an object ends that never got what it waits for.  Each test is run for
 * each kind. */
#include "args.h"

#include <string.h>

static const struct args_kind *kind_of(int i) { return args_kinds()[i]; }

/* Bad arguments. */

static const char *const bad_paths[] = {NULL,
                                        "",
                                        "a",
                                        "/",
                                        "//",
                                        "/a/",
                                        "/a//b",
                                        "/./a",
                                        "/..",
                                        "/a/.",
                                        "/a\x01",
                                        "/a\x7f",
                                        "/\xc2\x85",
                                        "/\xee\x80\x80",
                                        "/\xef\xbf\xbf"};

static void try_options(const struct args_kind *k,
                        const struct args_start *good)
{
    struct args_start a = *good;

    for (size_t i = 0; i < k->n_rows; i++) {
        a.options = k->rows[i].options;
        if (k->rows[i].expected != EVZK_OK)
            args_begin_fails(k, &a, k->rows[i].what, k->rows[i].expected);
    }
    for (size_t i = 0; k->with_acl && i < args_n_bad_acls; i++) {
        a.options = k->with_acl(args_bad_acls[i].acl, args_bad_acls[i].n);
        args_begin_fails(k, &a, "its ACL", EVZK_ERR_INVAL);
    }
}

void args_try_start(const struct args_kind *k, evzk_session *s)
{
    struct heard h = {0};
    void *out = NULL;
    const struct args_start good = {
        .s = s, .path = "/a", .options = k->least, .arg = &h, .out = &out};
    struct args_start a = good;

    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++) {
        a.path = bad_paths[i];
        args_begin_fails(k, &a, "its path", EVZK_ERR_INVAL);
    }
    a = good;
    a.mute = true;
    args_begin_fails(k, &a, "no callback", EVZK_ERR_INVAL);
    a = good;
    a.out = NULL;
    args_begin_fails(k, &a, "no place for the object", EVZK_ERR_INVAL);
    a = good;
    a.s = NULL;
    args_begin_fails(k, &a, "no session", EVZK_ERR_INVAL);
    try_options(k, &good);
    ck_assert_int_eq(h.events, 0);
}

static void try_call(const struct args_call *c, void *object, bool logged)
{
    long blocks = args_live;
    int rc;

    args_log_begin();
    rc = CALL(c->call(object));
    ck_assert_msg(rc == c->expected, "%s: %s", c->function, evzk_errname(rc));
    if (rc == EVZK_ERR_INVAL)
        args_refused(c->function, logged);
    ck_assert_int_eq(args_live, blocks);
}

void args_try_calls(const struct args_kind *k, void *object, bool logged)
{
    for (size_t i = 0; i < k->n_calls; i++)
        try_call(&k->calls[i], object, logged);
}

void args_try_bad_calls(const struct args_kind *k, void *object, bool logged)
{
    for (size_t i = 0; i < k->n_calls; i++) {
        if (k->calls[i].expected == EVZK_ERR_INVAL)
            try_call(&k->calls[i], object, logged);
    }
}

START_TEST(test_refuses)
{
    struct world w;

    set_up(&w);
    args_try_start(kind_of(_i), w.s);
    tear_down(&w);
}
END_TEST

START_TEST(test_accepts)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < k->n_rows; i++) {
        if (k->rows[i].expected == EVZK_OK)
            DO(k->free(args_begin(k, &w, k->rows[i].options, &h)));
    }
    if (k->with_acl)
        DO(k->free(
            args_begin(k, &w, k->with_acl(args_many_acls, EVZK_ACL_MAX), &h)));
    DO(k->free(args_begin(k, &w, k->least, &h)));
    DO(k->free(args_begin(k, &w, k->most, &h)));
    run_ms(&w, 20);
    tear_down(&w);
    ck_assert_int_eq(h.events, 0);
}
END_TEST

START_TEST(test_null)
{
    const struct args_kind *k = kind_of(_i);

    for (size_t i = 0; i < k->n_calls; i++) {
        args_log_begin();
        ck_assert_int_eq(CALL(k->calls[i].call(NULL)), EVZK_ERR_INVAL);
        args_refused(k->calls[i].function, false);
    }
    if (k->stop) {
        args_log_begin();
        ck_assert_int_eq(CALL(k->stop(NULL)), EVZK_ERR_INVAL);
        args_refused(k->stop_function, false);
    }
    if (k->null)
        k->null();
    k->free(NULL);
}
END_TEST

/* No memory. */

static int try_begin(struct world *w, const struct args_kind *k, void **out)
{
    const struct args_start a = {.s = w->s,
                                 .path = "/a/b",
                                 .options = k->most,
                                 .arg = &w->session,
                                 .out = out};

    return CALL(k->begin(&a));
}

START_TEST(test_no_memory)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    struct world w;

    set_up(&w);
    if (k->ends_in_loop) {
        DO(k->free(args_begin(k, &w, k->most, &h)));
        run_ms(&w, 20); /* What the session keeps for all that follows. */
    }
    for (int all = 0; all < 2; all++) {
        DO(k->free(args_with_failures(&w, k, try_begin, all)));
        run_ms(&w, 20);
    }
    ck_assert_int_eq(w.session.events, 0);
    tear_down(&w);
}
END_TEST

/* Ending takes no memory: stop, close, free. */
START_TEST(test_ends_without_memory)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h[3] = {{0}};
    void *o[3];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 3; i++)
        o[i] = args_begin(k, &w, i == 1 ? k->most : k->least, &h[i]);
    args_no_memory();
    DO(k->free(o[2]));
    if (k->stop) {
        ck_assert_int_eq(CALL(k->stop(o[0])), EVZK_OK);
        run_until(&w, &w.ended, 1);
        expect(&h[0], k->stopped_event, k->stopped_rc);
    }
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    if (!k->stop)
        expect(&h[0], k->failed_event, EVZK_ERR_CLOSED);
    expect(&h[1], k->failed_event, EVZK_ERR_CLOSED);
    ck_assert_int_eq(h[2].events, 0);
    DO(k->free(o[0]));
    DO(k->free(o[1]));
    tear_down(&w);
}
END_TEST

/* While there is no memory for a handle, the session tries again. */
START_TEST(test_no_memory_in_loop)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    struct world w;
    void *o;

    set_up(&w);
    o = args_begin(k, &w, k->least, &h);
    args_no_memory();
    run_ms(&w, 300);
    ck_assert_int_ge(args_allocations, args_fail_at);
    ck_assert_int_eq(h.events, 0);
    args_fail_on = false;
    run_ms(&w, 200);
    ck_assert_int_eq(h.events, 0);
    if (k->stop) {
        ck_assert_int_eq(CALL(k->stop(o)), EVZK_OK);
        run_until(&w, &w.ended, 1);
        expect(&h, k->stopped_event, k->stopped_rc);
    }
    DO(k->free(o));
    tear_down(&w);
}
END_TEST

/* Stop, time-out, free, close. */

static void has_nothing(const struct args_kind *k, void *object)
{
    if (k->has_nothing)
        k->has_nothing(object);
}

static void ended_object(const struct args_kind *k, void *object)
{
    has_nothing(k, object);
    args_try_calls(k, object, !k->deaf);
    if (k->stop)
        ck_assert_int_eq(CALL(k->stop(object)), EVZK_ERR_STATE);
}

static void stop_after(const struct args_kind *k, const void *options,
                       int64_t ms)
{
    struct heard h = {0};
    struct world w;
    void *o;

    set_up(&w);
    o = args_begin(k, &w, options, &h);
    has_nothing(k, o);
    args_try_calls(k, o, true);
    if (ms > 0)
        run_ms(&w, ms);
    args_try_calls(k, o, true);
    ck_assert_int_eq(CALL(k->stop(o)), EVZK_OK);
    ck_assert_int_eq(h.events, 0);
    ck_assert_int_eq(CALL(k->stop(o)), EVZK_ERR_STATE);
    has_nothing(k, o);
    args_try_calls(k, o, true);
    run_until(&w, &w.ended, 1);
    expect(&h, k->stopped_event, k->stopped_rc);
    ended_object(k, o);
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 1);
    DO(k->free(o));
    tear_down(&w);
}

START_TEST(test_stops)
{
    const struct args_kind *k = kind_of(_i);

    for (int i = 0; k->stop && i < 4; i++)
        stop_after(k, i % 2 ? k->most : k->least, i / 2 * 30);
}
END_TEST

START_TEST(test_times_out)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    struct world w;
    int64_t begun;
    void *o;

    if (!k->with_timeout)
        return;
    set_up(&w);
    run_ms(&w, 20);
    begun = args_now_ms();
    o = args_begin(k, &w, k->with_timeout(200), &h);
    run_until(&w, &w.ended, 1);
    expect(&h, k->failed_event, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(args_now_ms() - begun, 200 - ARGS_TICK_MS);
    ck_assert_int_lt(args_now_ms() - begun, 10000);
    ended_object(k, o);
    run_ms(&w, 50);
    ck_assert_int_eq(h.events, 1);
    DO(k->free(o));
    tear_down(&w);
}
END_TEST

START_TEST(test_times_out_freed_inside)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {.free_it = true};
    struct world w;

    if (!k->with_timeout)
        return;
    set_up(&w);
    args_begin(k, &w, k->with_timeout(1), &h);
    run_until(&w, &w.ended, 1);
    expect(&h, k->failed_event, EVZK_ERR_TIMEOUT);
    tear_down(&w);
}
END_TEST

/* A time-out and a stop at once: one final event all the same. */
START_TEST(test_times_out_and_stops)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h[40] = {{0}};
    void *o[40];
    struct world w;

    if (!k->with_timeout)
        return;
    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(h); i++)
        o[i] = args_begin(k, &w, k->with_timeout(1), &h[i]);
    for (size_t i = 0; i < UNIT_COUNT(h); i++) {
        int rc;

        event_base_loop(w.base, EVLOOP_NONBLOCK);
        rc = CALL(k->stop(o[i]));
        ck_assert(rc == EVZK_OK || (rc == EVZK_ERR_STATE && h[i].events == 1));
    }
    run_until(&w, &w.ended, UNIT_COUNT(h));
    run_ms(&w, 20);
    for (size_t i = 0; i < UNIT_COUNT(h); i++) {
        if (h[i].rc == EVZK_ERR_TIMEOUT)
            expect(&h[i], k->failed_event, EVZK_ERR_TIMEOUT);
        else
            expect(&h[i], k->stopped_event, k->stopped_rc);
        DO(k->free(o[i]));
    }
    tear_down(&w);
}
END_TEST

/* At once, later, and after it was stopped: no event is told. */
START_TEST(test_freed)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    void *o[3];
    struct world w;

    set_up(&w);
    DO(k->free(args_begin(k, &w, k->least, &h)));
    DO(k->free(args_begin(k, &w, k->most, &h)));
    for (int i = 0; i < 3; i++)
        o[i] = args_begin(k, &w, i == 1 ? k->least : k->most, &h);
    DO(k->free(o[0]));
    run_ms(&w, 30);
    DO(k->free(o[1]));
    if (k->stop)
        ck_assert_int_eq(CALL(k->stop(o[2])), EVZK_OK);
    DO(k->free(o[2]));
    run_ms(&w, 40);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_freed_inside)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {.free_it = true};
    struct world w;
    void *o;

    set_up(&w);
    o = args_begin(k, &w, k->least, &h);
    if (!k->stop)
        ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    else
        ck_assert_int_eq(CALL(k->stop(o)), EVZK_OK);
    run_until(&w, &w.ended, 1);
    if (!k->stop)
        expect(&h, k->failed_event, EVZK_ERR_CLOSED);
    else
        expect(&h, k->stopped_event, k->stopped_rc);
    tear_down(&w);
}
END_TEST

/* Objects outlive the session; their owners free them when they like. */
START_TEST(test_outlives_session)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h[2] = {{0}};
    void *o[2];
    struct world w;

    set_up(&w);
    o[0] = args_begin(k, &w, k->most, &h[0]);
    o[1] = args_begin(k, &w, k->least, &h[1]);
    run_ms(&w, 20);
    DO(evzk_session_free(w.s));
    w.s = NULL;
    ck_assert_int_eq(h[0].events, 0);
    run_out(&w);
    ck_assert_int_eq(w.session.events, 0);
    for (int i = 0; i < 2; i++) {
        expect(&h[i], k->failed_event, EVZK_ERR_CLOSED);
        ended_object(k, o[i]);
        DO(k->free(o[i]));
    }
    tear_down(&w);
}
END_TEST

/* The session freed in an object's callback; the objects too, or later. */
static void session_freed_inside(const struct args_kind *k, bool free_it)
{
    struct heard h[5] = {{0}};
    void *o[5];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 5; i++) {
        h[i].free_it = free_it;
        o[i] = args_begin(k, &w, k->least, &h[i]);
    }
    run_ms(&w, 20);
    h[2].close = w.s;
    ck_assert_int_eq(CALL(k->stop(o[2])), EVZK_OK);
    run_out(&w);
    w.s = NULL;
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            expect(&h[i], k->stopped_event, k->stopped_rc);
        else
            expect(&h[i], k->failed_event, EVZK_ERR_CLOSED);
        if (!free_it) {
            ended_object(k, o[i]);
            DO(k->free(o[i]));
        }
    }
    tear_down(&w);
}

START_TEST(test_session_freed_inside)
{
    const struct args_kind *k = kind_of(_i);

    for (int free_it = 0; k->stop && free_it < 2; free_it++)
        session_freed_inside(k, free_it);
}
END_TEST

/* In a session that is being closed none begins, and all end. */
START_TEST(test_closed)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h[2] = {{0}, {.free_it = true}};
    void *o, *out = NULL;
    struct world w;
    struct args_start a = {.path = "/a", .options = k->least, .out = &out};

    set_up(&w);
    o = args_begin(k, &w, k->most, &h[0]);
    args_begin(k, &w, k->least, &h[1]);
    run_ms(&w, 20);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    a.s = w.s;
    args_begin_fails(k, &a, "a closed session", EVZK_ERR_CLOSED);
    run_out(&w);
    for (int i = 0; i < 2; i++)
        expect(&h[i], k->failed_event, EVZK_ERR_CLOSED);
    ended_object(k, o);
    DO(k->free(o));
    tear_down(&w);
}
END_TEST

/* Stopped first, closed then: of most kinds the first one counts. */
START_TEST(test_stopped_then_closed)
{
    const struct args_kind *k = kind_of(_i);
    struct heard h = {0};
    struct world w;
    void *o;

    if (!k->stop)
        return;
    set_up(&w);
    o = args_begin(k, &w, k->least, &h);
    ck_assert_int_eq(CALL(k->stop(o)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    if (k->close_wins)
        expect(&h, k->failed_event, EVZK_ERR_CLOSED);
    else
        expect(&h, k->stopped_event, k->stopped_rc);
    DO(k->free(o));
    tear_down(&w);
}
END_TEST

void args_add_every(Suite *suite)
{
    const TTest *const tests[] = {
        test_refuses,
        test_accepts,
        test_null,
        test_no_memory,
        test_ends_without_memory,
        test_no_memory_in_loop,
        test_stops,
        test_times_out,
        test_times_out_freed_inside,
        test_times_out_and_stops,
        test_freed,
        test_freed_inside,
        test_outlives_session,
        test_session_freed_inside,
        test_closed,
        test_stopped_then_closed,
    };

    for (size_t i = 0; i < UNIT_COUNT(tests); i++)
        args_add(suite, tests[i], args_n_kinds());
}
