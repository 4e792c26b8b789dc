/*
 * The session's end: in every state it can be in, asked for by close or by
 * free, from the loop or from any of its callbacks, and with a server that
 * answers, is silent, or is not there.  The loop never stands still for it.
 */
#include "test_session_kit.h"

/* Long before the session's doubt, or the client's time-out. */
enum { STALL_MS = 50, CLOSE_MS = 300, LATE_MS = 5000 };

static const evzk_session_options hasty = {.timeout_ms = KIT_SESSION_MS,
                                           .close_timeout_ms = CLOSE_MS};

/* Closes with a 1 ms timer running; the longest gap, without what other
 * processes took of the CPU. */
static double close_measured(struct app *a, int expected)
{
    struct stall *stall = stall_start(harness_base());
    double gap;

    ck_assert_int_eq(evzk_session_close(a->s), EVZK_OK);
    WAIT(a->rec.finals == 1);
    ck_assert_int_eq(a->rec.rc, expected);
    evzk_session_free(a->s); /* The rest is done in the loop, or here. */
    a->s = NULL;
    run_for(harness_base(), 20);
    gap = stall_own_ms(stall);
    printf("close: longest gap %.1f ms\n", gap);
    stall_stop(stall);
    ck_assert(gap < (double)slow_ms(STALL_MS));
    return gap;
}

START_TEST(close_ends_the_session_at_once)
{
    struct raw *r = operator_for("/close");
    struct app a;
    struct one held, waiter;

    app_up(&a, server(), NULL);
    one_hold(&held, &a, "/close");
    one_start(&waiter, &a, "/close");
    WAIT(raw_count(r, "/close") == 2);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    ck_assert(!evzk_lock_held(held.l));
    ck_assert_uint_eq(evzk_session_lease_ms(a.s), 0);
    ck_assert(!evzk_session_connected(a.s));
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_ERR_CLOSED);
    ck_assert_int_eq(evzk_session_add_auth(a.s, "digest", "a:b", 3),
                     EVZK_ERR_CLOSED);
    WAIT(a.rec.finals == 1);
    ck_assert_int_eq(raw_count(r, "/close"), 0); /* Not by expiry. */
    ck_assert_str_eq(a.rec.text, "CONNECTED CLOSED");
    ck_assert_str_eq(held.rec.text, "GRANTED LOST(CLOSED)");
    ck_assert_str_eq(waiter.rec.text, "FAILED(CLOSED)");
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_ERR_CLOSED);
    ck_assert_int_eq(evzk_lock_acquire(a.s, "/close", NULL, recorder_on_lock,
                                       &held.rec, &held.l),
                     EVZK_ERR_CLOSED);
    run_for(harness_base(), 50);
    ck_assert_int_eq(a.rec.count, 2);
    evzk_session_free(a.s);
    one_free(&held); /* After their session. */
    one_free(&waiter);
    raw_close(r);
    kit_done();
}
END_TEST

/* The figure that is promised: no gap above 50 ms. */
START_TEST(close_does_not_stall_on_a_stopped_server)
{
    struct zk *zk = zk_start(NULL);
    struct app a;
    struct one o;
    int64_t start;

    app_up(&a, zk_server(zk, 0), &hasty);
    one_hold(&o, &a, "/stopped");
    zk_stop_signal(zk, 0);
    start = now_ms();
    close_measured(&a, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(now_ms() - start, CLOSE_MS);
    ck_assert_int_lt(now_ms() - start, slow_ms(CLOSE_MS + LATE_MS));
    ck_assert_str_eq(o.rec.text, "GRANTED LOST(CLOSED)");
    one_free(&o);
    zk_cont(zk, 0);
    zk_stop(zk);
    kit_done();
}
END_TEST

static void fill(struct app *a, struct one *o, int n)
{
    static char data[EVZK_LOCK_DATA_MAX];
    evzk_lock_options opt = {.data = data, .data_len = sizeof data};

    for (int i = 0; i < n; i++) {
        memset(&o[i], 0, sizeof o[i]);
        ck_assert_int_eq(evzk_lock_acquire(a->s, "/full", &opt,
                                           recorder_on_lock, &o[i].rec,
                                           &o[i].l),
                         EVZK_OK);
    }
}

/* So much is on its way that nothing more can be sent. */
START_TEST(close_does_not_stall_on_a_full_socket)
{
    enum { N = 300 }; /* 19 MB. */
    static struct one o[N];
    struct proxy *p = proxied();
    struct raw *r = operator_for("/full");
    struct app a;

    raw_mkdirs(r, "/full");
    app_up(&a, proxy_address(p), &hasty);
    proxy_freeze(p, PROXY_BOTH);
    fill(&a, o, N);
    WAIT(stats_of(&a).queued == 0);
    close_measured(&a, EVZK_ERR_TIMEOUT);
    for (int i = 0; i < N; i++) {
        ck_assert_str_eq(o[i].rec.text, "FAILED(CLOSED)");
        one_free(&o[i]);
    }
    proxy_stop(p);
    raw_close(r);
    kit_done();
}
END_TEST

/* Pending bytes are sent first, then the end. */
START_TEST(close_waits_for_a_full_socket_to_empty)
{
    enum { N = 100 };
    static struct one o[N];
    struct proxy *p = proxied();
    struct raw *r = operator_for("/full");
    struct app a;

    raw_mkdirs(r, "/full");
    app_up(&a, proxy_address(p),
           &(evzk_session_options){.timeout_ms = KIT_SESSION_MS,
                                   .close_timeout_ms = 60000});
    proxy_freeze(p, PROXY_C2S);
    fill(&a, o, N);
    WAIT(stats_of(&a).queued == 0);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    run_for(harness_base(), 100);
    ck_assert_int_eq(a.rec.finals, 0);
    proxy_thaw(p);
    WAIT(a.rec.finals == 1);
    ck_assert_int_eq(a.rec.rc, EVZK_OK);
    ck_assert_int_eq(raw_count(r, "/full"), 0);
    for (int i = 0; i < N; i++)
        one_free(&o[i]);
    evzk_session_free(a.s);
    proxy_stop(p);
    raw_close(r);
    kit_done();
}
END_TEST

/* 0: before the loop has run; 1: refused so far; 2: in the handshake. */
START_TEST(close_while_connecting)
{
    struct proxy *p = proxied();
    struct app a;
    struct one o;

    if (_i == 1)
        proxy_refuse(p, true);
    if (_i == 2)
        proxy_freeze(p, PROXY_BOTH);
    app_open(&a, proxy_address(p), &hasty);
    one_start(&o, &a, "/never");
    if (_i > 0)
        run_for(harness_base(), 150);
    if (_i == 2)
        WAIT(proxy_accepts(p) == 1);
    close_measured(&a, EVZK_OK); /* There is no session to end. */
    ck_assert_str_eq(a.rec.text, "CLOSED");
    ck_assert_str_eq(o.rec.text, "FAILED(CLOSED)");
    one_free(&o);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A session behind a proxy, with a lock, and an operator who sees the lock's
 * znode. */
struct behind {
    struct proxy *p;
    struct raw *r;
    struct app a;
    struct one o;
    const char *path;
};

static void hold_behind(struct behind *b, const char *path, uint32_t close_ms)
{
    b->p = proxied();
    b->r = operator_for(path);
    b->path = path;
    app_up(&b->a, proxy_address(b->p),
           &(evzk_session_options){.timeout_ms = KIT_SESSION_MS,
                                   .close_timeout_ms = close_ms});
    one_hold(&b->o, &b->a, path);
}

/* The server has ended the session: the lock's znode is gone. */
static void expect_ended(struct behind *b, const char *heard)
{
    WAIT(b->a.rec.finals == 1);
    ck_assert_str_eq(b->a.rec.text, heard);
    ck_assert_int_eq(raw_count(b->r, b->path), 0);
}

static void behind_done(struct behind *b)
{
    one_free(&b->o);
    evzk_session_free(b->a.s);
    raw_close(b->r);
    proxy_stop(b->p);
    kit_done();
}

/* The session connects once more, to tell the server. */
START_TEST(close_while_disconnected_reconnects_to_end_it)
{
    struct behind b;

    hold_behind(&b, "/gone", 60000);
    proxy_refuse(b.p, true);
    proxy_cut(b.p);
    WAIT(app_heard(&b.a, "SUSPENDED"));
    ck_assert_int_eq(evzk_session_close(b.a.s), EVZK_OK);
    run_for(harness_base(), 100);
    ck_assert_int_eq(b.a.rec.finals, 0);
    ck_assert_int_eq(raw_count(b.r, "/gone"), 1);
    proxy_refuse(b.p, false);
    expect_ended(&b, "CONNECTED SUSPENDED CLOSED");
    ck_assert_uint_eq(stats_of(&b.a).connects, 2);
    behind_done(&b);
}
END_TEST

START_TEST(close_while_disconnected_ends_in_time)
{
    struct proxy *p = proxied();
    struct app a;
    struct one o, waiter;
    int64_t start;

    app_up(&a, proxy_address(p), &hasty);
    one_hold(&o, &a, "/intime");
    one_start(&waiter, &a, "/intime");
    WAIT(strcmp(evzk_lock_state(waiter.l), "WATCHING") == 0);
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(app_heard(&a, "SUSPENDED"));
    ck_assert_int_eq(evzk_lock_cancel(waiter.l), EVZK_OK);
    start = now_ms();
    close_measured(&a, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(now_ms() - start, CLOSE_MS);
    ck_assert_int_lt(now_ms() - start, slow_ms(CLOSE_MS + LATE_MS));
    ck_assert_str_eq(o.rec.text, "GRANTED SUSPENDED LOST(CLOSED)");
    /* Nobody said that its znode is gone: not CANCELED. */
    ck_assert_str_eq(waiter.rec.text, "FAILED(CLOSED)");
    one_free(&waiter);
    one_free(&o);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* The server ended it first: over is over. */
START_TEST(close_of_a_session_that_expired)
{
    struct proxy *p = proxied();
    struct app a;

    app_up(&a, proxy_address(p),
           &(evzk_session_options){.timeout_ms = KIT_SESSION_MS,
                                   .close_timeout_ms = 60000});
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(app_heard(&a, "SUSPENDED"));
    raw_expire(server(), evzk_session_id(a.s));
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    proxy_refuse(p, false);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED CLOSED");
    evzk_session_free(a.s);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* The request to close, and its answer, cut before and after. */
START_TEST(close_is_proved_over_a_cut)
{
    struct behind b;

    hold_behind(&b, "/proved", 60000);
    proxy_trap(b.p, proxy_cuts[_i].dir, PROXY_OP_CLOSE, 1, proxy_cuts[_i].act);
    ck_assert_int_eq(evzk_session_close(b.a.s), EVZK_OK);
    expect_ended(&b, "CONNECTED CLOSED");
    behind_done(&b);
}
END_TEST

/* The request to close is lost, and the connection stays: the session asks
 * again by another connection, long before the session could expire. */
START_TEST(close_leaves_a_silent_connection)
{
    struct behind b;

    hold_behind(&b, "/silent", (uint32_t)slow_ms(9000));
    proxy_trap(b.p, PROXY_C2S, PROXY_OP_CLOSE, 1, PROXY_DROP);
    ck_assert_int_eq(evzk_session_close(b.a.s), EVZK_OK);
    expect_ended(&b, "CONNECTED CLOSED");
    ck_assert_uint_eq(stats_of(&b.a).connects, 2);
    behind_done(&b);
}
END_TEST

START_TEST(close_of_a_thousand_locks)
{
    enum { N = 1000 };
    static struct recorder rec; /* Of all. */
    static evzk_lock *l[N];
    struct raw *r = operator_for("/thousand");
    struct app a;
    char path[64];

    app_up(&a, server(), NULL);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/thousand/%d", i / 2);
        ck_assert_int_eq(
            evzk_lock_acquire(a.s, path, NULL, recorder_on_lock, &rec, &l[i]),
            EVZK_OK);
    }
    WAIT(rec.count == N / 2 && stats_of(&a).in_flight == 0);
    close_measured(&a, EVZK_OK);
    ck_assert_int_eq(rec.count, N / 2 + N);
    ck_assert_int_eq(rec.finals, N);
    ck_assert_int_eq(raw_count(r, "/thousand/1"), 0);
    for (int i = 0; i < N; i++)
        evzk_lock_free(l[i]);
    raw_delete_tree(r, "/thousand");
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- From callbacks ---- */

static struct {
    evzk_session_event at; /* Act at this event. */
    bool free;             /* Free; or close. */
    int count, after;      /* Events heard; of them, after that. */
    bool done;
    evzk_session *s;
    evzk_lock *l; /* Freed in the same callback. */
    int rc;
} plan;

static void act(evzk_session *s, evzk_session_event ev, int rc, void *arg)
{
    ck_assert_ptr_eq(arg, &plan);
    ck_assert_ptr_eq(s, plan.s);
    plan.count++;
    plan.after += plan.done;
    if (plan.done)
        plan.rc = ev == EVZK_SESSION_CLOSED ? rc : -999;
    if (plan.done || ev != plan.at)
        return;
    plan.done = true;
    if (plan.free) {
        evzk_lock_free(plan.l);
        evzk_session_free(s);
        return;
    }
    plan.rc = rc;
    ck_assert_int_eq(evzk_session_close(s),
                     ev == EVZK_SESSION_CLOSED ? EVZK_ERR_CLOSED : EVZK_OK);
}

/* Brings the event about. */
static void provoke(struct proxy *p)
{
    switch (plan.at) {
    case EVZK_SESSION_CONNECTED:
        return;
    case EVZK_SESSION_SUSPENDED:
    case EVZK_SESSION_RESUMED:
        proxy_cut(p);
        return;
    case EVZK_SESSION_EXPIRED:
        raw_expire(server(), evzk_session_id(plan.s));
        return;
    case EVZK_SESSION_CLOSED:
        ck_assert_int_eq(evzk_session_close(plan.s), EVZK_OK);
        return;
    }
}

static void ignore(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    (void)l;
    (void)ev;
    (void)rc;
    (void)arg;
}

static void play(struct proxy *p, struct raw *r)
{
    evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                .close_timeout_ms = KIT_CLOSE_MS};

    raw_mkdirs(r, "/act");
    ck_assert_int_eq(evzk_session_open(harness_base(), proxy_address(p), &opt,
                                       act, &plan, &plan.s),
                     EVZK_OK);
    ck_assert_int_eq(
        evzk_lock_acquire(plan.s, "/act", NULL, ignore, NULL, &plan.l),
        EVZK_OK);
    if (plan.at != EVZK_SESSION_CONNECTED)
        WAIT(evzk_lock_held(plan.l));
    provoke(p);
    WAIT(plan.done);
}

START_TEST(free_inside_every_event)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/act");

    plan.at = (evzk_session_event)_i;
    plan.free = true;
    play(p, r);
    WAIT(raw_count(r, "/act") == 0); /* Closed from the loop. */
    WAIT(proxy_open(p) == 0);
    run_for(harness_base(), 50);
    ck_assert_int_eq(plan.after, 0);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

START_TEST(close_inside_every_event)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/act");
    int more = _i == EVZK_SESSION_CLOSED ? 0 : 1;

    plan.at = (evzk_session_event)_i;
    play(p, r);
    WAIT(plan.after == more);
    run_for(harness_base(), 50);
    ck_assert_int_eq(plan.after, more);
    ck_assert_int_eq(plan.rc, EVZK_OK);
    ck_assert_int_eq(raw_count(r, "/act"), 0);
    evzk_lock_free(plan.l);
    evzk_session_free(plan.s);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* 0: connected; 1: never run; 2: disconnected; 3: closing. */
START_TEST(free_without_close_ends_the_session)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/freed");
    struct app a;
    struct one o;

    raw_mkdirs(r, "/freed");
    app_open(&a, proxy_address(p), NULL);
    one_start(&o, &a, "/freed");
    if (_i != 1)
        WAIT(evzk_lock_held(o.l));
    if (_i == 2) {
        proxy_cut(p);
        WAIT(app_heard(&a, "SUSPENDED"));
    }
    if (_i == 3)
        ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    recorder_clear(&a.rec);
    evzk_session_free(a.s);
    ck_assert(!evzk_lock_held(o.l));
    WAIT(o.rec.finals == 1); /* The lock hears of it ... */
    ck_assert_int_eq(o.rec.rc, EVZK_ERR_CLOSED);
    ck_assert_int_eq(raw_count(r, "/freed"), 0);
    WAIT(proxy_open(p) == 0);
    ck_assert_int_eq(a.rec.count, 0); /* ... the session's user does not. */
    one_free(&o);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* What the library has of memory, and has not given back. */
static int blocks;

static void *count_malloc(size_t size)
{
    void *p = malloc(size);

    blocks += p != NULL;
    return p;
}

static void *count_realloc(void *p, size_t size)
{
    void *q = realloc(p, size);

    blocks += !p && q;
    return q;
}

static void count_free(void *p)
{
    blocks -= p != NULL;
    free(p);
}

/* On a base of its own, with a lock that is held; the memory is counted. */
static struct event_base *hold_on_base(struct app *a, uint32_t timeout_ms,
                                       const char *path)
{
    struct event_base *base = event_base_new();
    struct one o;

    evzk_set_allocator(count_malloc, count_realloc, count_free);
    harness_set_base(base);
    app_up(a, server(), &(evzk_session_options){.timeout_ms = timeout_ms});
    one_hold(&o, a, path);
    harness_set_base(NULL);
    one_free(&o);
    return base;
}

/* Nothing tells the end, but for the base: it has no event of the session any
 * more. */
START_TEST(free_is_finished_by_the_base)
{
    struct raw *r = operator_for("/based");
    struct event_base *base;
    struct app a;

    raw_mkdirs(r, "/based");
    base = hold_on_base(&a, KIT_SESSION_MS, "/based");
    evzk_session_free(a.s);
    ck_assert_int_gt(blocks, 0);
    ck_assert_int_eq(event_base_dispatch(base), 1); /* The base has no event. */
    ck_assert_int_eq(blocks, 0);
    ck_assert_int_eq(raw_count(r, "/based"), 0);
    event_base_free(base);
    raw_close(r);
    kit_done();
}
END_TEST

/* The session is left to the server, which ends it when its time has come; and
 * its memory to the process. */
START_TEST(free_without_the_base_tells_no_server)
{
    static evzk_session *volatile kept; /* Is no leak, to the sanitizer. */
    struct raw *r = operator_for("/baseless");
    struct event_base *base;
    struct app a;

    raw_mkdirs(r, "/baseless");
    base = hold_on_base(&a, KIT_BRIEF_MS, "/baseless");
    kept = a.s;
    evzk_session_free(kept);
    event_base_free(base);
    ck_assert_int_gt(blocks, 0);
    ck_assert_int_eq(raw_count(r, "/baseless"), 1);
    WAIT(raw_count(r, "/baseless") == 0);
    ck_assert_int_gt(blocks, 0);
    raw_close(r);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: close");
    TCase *tc = kit_shared_tcase(suite, "close", 120);

    tcase_add_test(tc, close_ends_the_session_at_once);
    tcase_add_test(tc, close_does_not_stall_on_a_full_socket);
    tcase_add_test(tc, close_waits_for_a_full_socket_to_empty);
    tcase_add_loop_test(tc, close_while_connecting, 0, 3);
    tcase_add_test(tc, close_while_disconnected_reconnects_to_end_it);
    tcase_add_test(tc, close_while_disconnected_ends_in_time);
    tcase_add_test(tc, close_of_a_session_that_expired);
    tcase_add_loop_test(tc, close_is_proved_over_a_cut, 0, PROXY_CUTS);
    tcase_add_test(tc, close_leaves_a_silent_connection);
    tcase_add_test(tc, close_of_a_thousand_locks);
    tcase_add_loop_test(tc, free_inside_every_event, EVZK_SESSION_CONNECTED,
                        EVZK_SESSION_CLOSED + 1);
    tcase_add_loop_test(tc, close_inside_every_event, EVZK_SESSION_CONNECTED,
                        EVZK_SESSION_CLOSED + 1);
    tcase_add_loop_test(tc, free_without_close_ends_the_session, 0, 4);
    tcase_add_test(tc, free_is_finished_by_the_base);
    tcase_add_test(tc, free_without_the_base_tells_no_server);
    tc = kit_tcase(suite, "with an own server", 120);
    tcase_add_test(tc, close_does_not_stall_on_a_stopped_server);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
