/*
 * The session over its connections: it is made, lost, found again, expired and
 * made anew; what the C client does wrong meanwhile never shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "recipes/kinds.h"
#include "test_session_kit.h"

/* ---- Made ---- */

/* A server that restarts, and one that is not there yet. */
START_TEST(session_waits_for_a_server)
{
    struct zk *zk = zk_start(NULL);
    struct app a;
    struct one o;

    zk_kill(zk, 0);
    app_open(&a, zk_server(zk, 0),
             &(evzk_session_options){.timeout_ms = 60000});
    one_start(&o, &a, "/late/lock");
    run_for(harness_base(), 300);
    ck_assert_uint_eq(stats_of(&a).connects, 0);
    ck_assert_str_eq(a.rec.text, "");
    zk_revive(zk, 0);
    WAIT(evzk_lock_held(o.l));
    ck_assert_str_eq(a.rec.text, "CONNECTED");

    zk_kill(zk, 0);
    WAIT(app_heard(&a, "SUSPENDED"));
    ck_assert(!evzk_session_connected(a.s));
    zk_revive(zk, 0);
    WAIT(one_heard(&o, "RESUMED"));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    ck_assert_str_eq(o.rec.text, "GRANTED SUSPENDED RESUMED");
    one_free(&o);
    app_close(&a);
    zk_stop(zk);
    kit_done();
}
END_TEST

START_TEST(session_timeout_is_what_the_server_grants)
{
    static const struct {
        uint32_t asked, granted;
    } v[] = {{100, 400}, {1000, 1000}, {3600000, 60000}};
    struct app a;

    app_open(&a, server(), &(evzk_session_options){.timeout_ms = v[_i].asked});
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), 0);
    ck_assert(evzk_session_id(a.s) == 0);
    WAIT(app_heard(&a, "CONNECTED"));
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), v[_i].granted);
    ck_assert(evzk_session_id(a.s) != 0);
    ck_assert_uint_le(evzk_session_lease_ms(a.s), v[_i].granted);
    app_close(&a);
    kit_done();
}
END_TEST

START_TEST(session_events_never_come_inside_a_call)
{
    struct app a;

    app_open(&a, server(), NULL);
    ck_assert_int_eq(a.rec.count, 0);
    WAIT(app_heard(&a, "CONNECTED"));
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    ck_assert_int_eq(a.rec.count, 1);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(a.rec.text, "CONNECTED CLOSED");
    evzk_session_free(a.s);
    kit_done();
}
END_TEST

/* ---- Lost and found ---- */

START_TEST(session_goes_through_a_cut)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/cut");
    struct app a;
    struct one o;
    uint64_t token;
    int64_t id;

    app_up(&a, proxy_address(p), NULL);
    one_hold(&o, &a, "/cut");
    id = evzk_session_id(a.s);
    token = evzk_lock_token(o.l);
    proxy_cut(p);
    WAIT(one_heard(&o, "RESUMED"));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    ck_assert_str_eq(o.rec.text, "GRANTED SUSPENDED RESUMED");
    ck_assert(evzk_session_id(a.s) == id);
    ck_assert(evzk_lock_held(o.l) && evzk_lock_token(o.l) == token);
    ck_assert_int_eq(raw_count(r, "/cut"), 1);
    ck_assert_uint_eq(stats_of(&a).connects, 2);
    ck_assert_uint_eq(stats_of(&a).losses, 1);
    ck_assert_uint_eq(stats_of(&a).expirations, 0);
    one_free(&o);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A server that stands still: in doubt long before the client notices. */
START_TEST(session_doubts_a_silent_server)
{
    struct proxy *p = proxied();
    struct app a;

    app_up(&a, proxy_address(p), NULL);
    proxy_freeze(p, PROXY_BOTH);
    WAIT(app_heard(&a, "SUSPENDED"));
    ck_assert(!evzk_session_connected(a.s));
    ck_assert_uint_eq(stats_of(&a).losses, 0); /* Has not noticed. */
    proxy_thaw(p);
    WAIT(app_heard(&a, "RESUMED"));
    ck_assert(evzk_session_connected(a.s));
    app_close(&a);
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED CLOSED");
    proxy_stop(p);
    kit_done();
}
END_TEST

/* Every frame kind of an acquisition, cut before and after it. */
static const struct {
    enum proxy_dir dir;
    int op;
    enum proxy_act act;
} cuts[] = {
    {PROXY_C2S, OP_CREATE, PROXY_CUT_BEFORE},
    {PROXY_C2S, OP_CREATE, PROXY_CUT_AFTER},
    {PROXY_S2C, OP_CREATE, PROXY_CUT_BEFORE},
    {PROXY_S2C, OP_CREATE, PROXY_CUT_AFTER},
    {PROXY_C2S, PROXY_OP_ANY, PROXY_CUT_BEFORE},
    {PROXY_S2C, PROXY_OP_ANY, PROXY_CUT_AFTER},
};

static bool all_held(const struct one *o, int n)
{
    for (int i = 0; i < n; i++)
        if (!evzk_lock_held(o[i].l))
            return false;
    return true;
}

static void start_many(struct one *o, struct app *a, const char *dir, int n)
{
    char path[64];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        one_start(&o[i], a, path);
    }
}

/* Directories that are there: each lock is a request of its own. */
static void make_many(struct raw *r, const char *dir, int n)
{
    char path[64];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        raw_mkdirs(r, path);
    }
}

/* Exactly one znode each: no ghost of a create whose reply was lost. */
static void check_single(struct raw *r, const char *dir, int n)
{
    char path[64];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        ck_assert_int_eq(raw_count(r, path), 1);
    }
}

static void free_many(struct one *o, int n)
{
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(o[i].rec.finals, 0);
        one_free(&o[i]);
    }
}

START_TEST(session_resolves_what_was_in_flight)
{
    enum { N = 30 };
    static struct one o[N];
    struct proxy *p = proxied();
    struct raw *r = operator_for("/inflight");
    struct app a;

    make_many(r, "/inflight", N);
    app_up(&a, proxy_address(p), NULL);
    proxy_trap(p, cuts[_i].dir, cuts[_i].op, N / 2, cuts[_i].act);
    start_many(o, &a, "/inflight", N);
    WAIT(all_held(o, N) && app_heard(&a, "RESUMED"));
    ck_assert_int_eq(proxy_fired(p), 1);
    check_single(r, "/inflight", N);
    ck_assert_uint_eq(stats_of(&a).connects, 2);
    free_many(o, N);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/*
 * The client's silent failure: a send that fails leaves state 999, a closed
 * socket, and not a word.  The proxy is frozen, so it hangs up on nobody.
 */
START_TEST(session_notices_a_send_that_failed_silently)
{
    enum { N = 20 };
    static struct one o[2 * N];
    struct proxy *p = proxied();
    struct raw *r = operator_for("/silent");
    struct app a;
    int64_t start;
    int fd;

    raw_mkdirs(r, "/silent");
    app_up(&a, proxy_address(p), NULL);
    proxy_freeze(p, PROXY_S2C); /* The server gets them, we no answer. */
    start_many(o, &a, "/silent", N);
    WAIT(stats_of(&a).in_flight > 0 && stats_of(&a).queued == 0);
    proxy_freeze(p, PROXY_BOTH);
    fd = socket_to(proxy_port(p));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(shutdown(fd, _i == 1 ? SHUT_RDWR : SHUT_WR), 0);
    start = now_ms();
    for (int i = N; i < 2 * N; i++) {
        char path[64];

        snprintf(path, sizeof path, "/silent/%d", i);
        one_start(&o[i], &a, path);
    }
    ck_assert_int_eq(a.rec.count, 1);
    WAIT(app_heard(&a, "SUSPENDED"));
    /* Not by time-outs: those take a third of the session's and more. */
    ck_assert_int_lt(now_ms() - start, slow_ms(KIT_SESSION_MS / 4));
    ck_assert_uint_eq(stats_of(&a).losses, 1);
    proxy_thaw(p);
    WAIT(all_held(o, 2 * N));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    check_single(r, "/silent", 2 * N);
    free_many(o, 2 * N);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/*
 * The client's own recv(): the test's stands in front of it, and makes the
 * server answer what was not asked.
 */
static int bend; /* Replies to be given another number. */

ssize_t recv(int fd, void *buf, size_t n, int flags);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    ssize_t got = recvfrom(fd, buf, n, flags, NULL, NULL);
    unsigned char *b = buf;

    /* A reply's body begins with its number; those below 0 are pings. */
    if (bend > 0 && got >= 16 && (size_t)got == n && b[0] < 0x80) {
        bend--;
        b[3] ^= 1;
    }
    return got;
}

ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags)
{
    (void)size;
    return recv(fd, buf, n, flags);
}

START_TEST(session_survives_replies_out_of_order)
{
    enum { N = 20 };
    static struct one o[N];
    struct raw *r = operator_for("/order");
    struct app a;

    raw_mkdirs(r, "/order");
    app_up(&a, server(), NULL);
    bend = 1;
    start_many(o, &a, "/order", N);
    WAIT(all_held(o, N) && app_heard(&a, "RESUMED"));
    ck_assert_int_eq(bend, 0);
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    check_single(r, "/order", N);
    free_many(o, N);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- Expired ---- */

START_TEST(session_expired_is_made_anew)
{
    struct raw *r = operator_for("/exp");
    struct app a;
    struct one held, waiter, later;
    int64_t id;

    app_up(&a, server(), NULL);
    one_hold(&held, &a, "/exp");
    one_start(&waiter, &a, "/exp");
    WAIT(strcmp(evzk_lock_state(waiter.l), "WATCHING") == 0);
    id = evzk_session_id(a.s);
    raw_expire(server(), id);
    WAIT(held.rec.finals == 1 && evzk_lock_held(waiter.l));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED EXPIRED(EXPIRED) "
                                 "CONNECTED");
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED LOST(EXPIRED)");
    ck_assert_str_eq(waiter.rec.text, "REQUEUED(EXPIRED) GRANTED");
    ck_assert(evzk_session_id(a.s) != id);
    ck_assert_uint_eq(stats_of(&a).expirations, 1);
    one_free(&held);
    one_start(&later, &a, "/exp");
    ck_assert_int_eq(evzk_lock_release(waiter.l), EVZK_OK);
    WAIT(evzk_lock_held(later.l));
    ck_assert_int_eq(raw_count(r, "/exp"), 1);
    one_free(&waiter);
    one_free(&later);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* Over and over: no generation takes what another one was told. */
START_TEST(session_expires_ten_times)
{
    struct raw *r = operator_for("/exp10");
    struct app a;
    struct one o;
    uint64_t token = 0;

    app_up(&a, server(), NULL);
    for (int i = 0; i < 10; i++) {
        one_hold(&o, &a, "/exp10");
        ck_assert(evzk_lock_token(o.l) > token);
        token = evzk_lock_token(o.l);
        raw_expire(server(), evzk_session_id(a.s));
        WAIT(o.rec.finals == 1);
        ck_assert_int_eq(o.rec.last, EVZK_LOCK_LOST);
        one_free(&o);
    }
    WAIT(evzk_session_connected(a.s));
    ck_assert_uint_eq(stats_of(&a).expirations, 10);
    ck_assert_uint_eq(stats_of(&a).machines, 0);
    ck_assert_uint_eq(stats_of(&a).watches, 0);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* Cut off until the server ended it: learnt only on the way back. */
START_TEST(session_learns_of_its_expiry_after_a_partition)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/part");
    struct app a;
    struct one o;
    char node[256];

    app_up(&a, proxy_address(p),
           &(evzk_session_options){.timeout_ms = KIT_BRIEF_MS});
    one_hold(&o, &a, "/part");
    snprintf(node, sizeof node, "/part/%s", evzk_lock_node(o.l));
    raw_drive(r, harness_base());
    proxy_freeze(p, PROXY_BOTH);
    raw_wait_gone(r, node, 60000); /* The server has ended it. */
    ck_assert(!evzk_lock_held(o.l));
    WAIT(o.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&o.rec), "GRANTED SUSPENDED LOST(LEASE)");
    ck_assert_str_eq(recorder_story(&a.rec), "CONNECTED SUSPENDED");
    proxy_thaw(p);
    WAIT(app_heard(&a, "EXPIRED") && evzk_session_connected(a.s));
    ck_assert_str_eq(recorder_story(&a.rec),
                     "CONNECTED SUSPENDED EXPIRED(EXPIRED) CONNECTED");
    raw_drive(r, NULL);
    one_free(&o);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* ---- Several ---- */

START_TEST(sessions_share_a_process)
{
    enum { N = 4 };
    static struct app a[N];
    static struct one o[N];
    struct proxy *p = proxied();
    struct raw *r = operator_for("/several");

    for (int i = 0; i < N; i++)
        app_up(&a[i], i == 0 ? proxy_address(p) : server(), NULL);
    for (int i = 0; i < N; i++) {
        one_start(&o[i], &a[i], "/several");
        WAIT(evzk_lock_node(o[i].l)[0] && raw_count(r, "/several") == i + 1);
    }
    WAIT(evzk_lock_held(o[0].l));
    proxy_cut(p);
    WAIT(one_heard(&o[0], "RESUMED"));
    for (int i = 0; i < N; i++) {
        WAIT(evzk_lock_held(o[i].l));
        for (int j = 0; j < N; j++)
            ck_assert(i == j || !o[j].l || !evzk_lock_held(o[j].l));
        if (i > 0)
            ck_assert_str_eq(a[i].rec.text, "CONNECTED");
        app_close(&a[i]);
        ck_assert_int_eq(o[i].rec.last, EVZK_LOCK_LOST);
        ck_assert_int_eq(o[i].rec.rc, EVZK_ERR_CLOSED);
        one_free(&o[i]);
    }
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* ---- What is told of it ---- */

static int lines[EVZK_LOG_DEBUG + 1], bad_lines;

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    if (level < EVZK_LOG_ERROR || level > EVZK_LOG_DEBUG || arg != lines ||
        !line[0] || strchr(line, '\n'))
        bad_lines++;
    else
        lines[level]++;
}

static int count_upto(int level)
{
    int n = 0;

    for (int i = EVZK_LOG_ERROR; i <= level; i++)
        n += lines[i];
    return n;
}

/* Sends 1 and 2 into a file. */
static int redirect(int saved[2])
{
    FILE *f = tmpfile();
    int fd = dup(fileno(f));

    fclose(f);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        saved[i] = dup(i + 1);
        dup2(fd, i + 1);
    }
    return fd;
}

/* Back again; how much was written. */
static int64_t restore(int fd, const int saved[2])
{
    struct stat st;

    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
    fstat(fd, &st);
    close(fd);
    return (int64_t)st.st_size;
}

/* Without a log callback, and with one at each level. */
START_TEST(session_logs_through_its_callback_alone)
{
    evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                .log = _i < 0 ? NULL : on_log,
                                .log_arg = lines,
                                .log_level = (evzk_log_level)(_i < 0 ? 0 : _i)};
    int level = _i == 0 ? EVZK_LOG_WARN : _i, saved[2], fd;
    struct proxy *p = proxied();
    struct app a;

    fd = redirect(saved);
    app_up(&a, proxy_address(p), &opt);
    proxy_cut(p);
    WAIT(app_heard(&a, "RESUMED"));
    raw_expire(server(), evzk_session_id(a.s));
    WAIT(app_heard(&a, "EXPIRED") && evzk_session_connected(a.s));
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(!evzk_session_connected(a.s));
    run_for(harness_base(), 100);
    proxy_refuse(p, false);
    WAIT(evzk_session_connected(a.s));
    app_close(&a);
    ck_assert_int_eq(restore(fd, saved), 0);
    ck_assert_int_eq(bad_lines, 0);
    if (_i >= 0) {
        ck_assert_int_eq(count_upto(EVZK_LOG_DEBUG), count_upto(level));
        ck_assert_int_eq(lines[EVZK_LOG_ERROR], 0);
        ck_assert(level < EVZK_LOG_WARN || lines[EVZK_LOG_WARN] > 0);
        ck_assert(level < EVZK_LOG_INFO || lines[EVZK_LOG_INFO] > 0);
        ck_assert(level < EVZK_LOG_DEBUG || lines[EVZK_LOG_DEBUG] > 0);
    }
    proxy_stop(p);
    kit_done();
}
END_TEST

static int moves, stays, bad_moves;
static uint64_t last_us;

static const struct evzk__row *find_row(const char *kind, const char *name,
                                        int *at)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++)
        for (*at = 0; strcmp((*k)->name, kind) == 0 && *at < (*k)->n_rows;
             ++*at)
            if (strcmp((*k)->rows[*at].name, name) == 0)
                return &(*k)->rows[*at];
    return NULL;
}

/* Where the event may lead from a row; 0: the row is not given it. */
static uint32_t led_to(const char *kind, int row, const char *event)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++)
        for (int e = 0; strcmp((*k)->name, kind) == 0 && e < EVZK__CAUSES; e++)
            if (strcmp(evzk__cause_name[e], event) == 0)
                return evzk__row_may(*k, row, (enum evzk__cause)e);
    return 0;
}

/* All is in the table, but that a row may always be entered once more. */
static void on_move(const evzk_trace *t, void *arg)
{
    const struct evzk__row *to, *from;
    int to_at = 0, from_at = 0;
    uint32_t next;

    moves += t->entered;
    stays += !t->entered;
    to = find_row(t->kind, t->to, &to_at);
    from = t->from ? find_row(t->kind, t->from, &from_at) : NULL;
    next = from ? led_to(t->kind, from_at, t->event) : 0;
    if (arg != &moves || !to || !t->event || !t->path || t->time_us < last_us ||
        (t->from && !from) || (!t->entered && from != to) || (from && !next))
        bad_moves++;
    else if (!from)
        bad_moves += to_at != 0 && !(to->flags & EVZK__FINAL);
    else if (!t->entered)
        bad_moves += !(next & EVZK__BIT(EVZK__HERE));
    else
        bad_moves += from != to && !(next & EVZK__BIT(to_at));
    last_us = t->time_us;
}

START_TEST(session_traces_legal_moves_only)
{
    enum { N = 20 };
    static struct one o[N], w[N];
    evzk_session_options opt = {
        .timeout_ms = KIT_SESSION_MS, .trace = on_move, .trace_arg = &moves};
    struct proxy *p = proxied();
    struct raw *r = operator_for("/trace");
    struct app a;

    make_many(r, "/trace", N);
    app_up(&a, proxy_address(p), &opt);
    proxy_trap(p, PROXY_S2C, OP_CREATE, N, PROXY_CUT_BEFORE);
    start_many(o, &a, "/trace", N);
    WAIT(all_held(o, N));
    start_many(w, &a, "/trace", N);
    for (int i = 0; i < N / 2; i++)
        evzk_lock_release(o[i].l);
    WAIT(all_held(w, N / 2));
    proxy_cut(p);
    WAIT(evzk_session_connected(a.s) && all_held(w, N / 2));
    raw_expire(server(), evzk_session_id(a.s));
    WAIT(all_held(w + N / 2, N / 2));
    app_close(&a);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(o[i].rec.finals, 1);
        ck_assert_int_eq(w[i].rec.finals, 1);
        one_free(&o[i]);
        one_free(&w[i]);
    }
    ck_assert_int_gt(moves, 10 * N);
    ck_assert_int_gt(stays, N); /* The holders' reads of their own znodes. */
    ck_assert_int_eq(bad_moves, 0);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

START_TEST(session_refuses_bad_arguments)
{
    struct event_base *base = harness_base();
    evzk_session *mark = (evzk_session *)(void *)&mark, *s = mark;
    evzk_session_options o = {.reserved = {&o}};
    static const char *const bad[] = {
        "",      ":1",   "h:",   "h:0",   "h:65536", "h:1,",   ",h:1",
        "h:1:2", "[::1", "h:1x", "a b:1", "h:1/x",   "[zz]:1", "h:-1"};

    ck_assert_int_eq(evzk_session_open(NULL, "h:1", NULL, NULL, NULL, &s),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_session_open(base, NULL, NULL, NULL, NULL, &s),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_session_open(base, "h:1", NULL, NULL, NULL, NULL),
                     EVZK_ERR_INVAL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(evzk_session_open(base, bad[i], NULL, NULL, NULL, &s) ==
                          EVZK_ERR_INVAL,
                      "taken: \"%s\"", bad[i]);
    ck_assert_int_eq(evzk_session_open(base, "h:1", &o, NULL, NULL, &s),
                     EVZK_ERR_INVAL);
    o = (evzk_session_options){.chroot = "app"};
    ck_assert_int_eq(evzk_session_open(base, "h:1", &o, NULL, NULL, &s),
                     EVZK_ERR_INVAL);
    o = (evzk_session_options){.data_len = 1};
    ck_assert_int_eq(evzk_session_open(base, "h:1", &o, NULL, NULL, &s),
                     EVZK_ERR_INVAL);
    ck_assert_ptr_eq(s, mark);
    ck_assert_int_eq(evzk_session_close(NULL), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_session_add_auth(NULL, "digest", "a:b", 3),
                     EVZK_ERR_INVAL);
    ck_assert_uint_eq(evzk_session_lease_ms(NULL), 0);
    ck_assert(!evzk_session_connected(NULL));
    evzk_session_free(NULL);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session");
    TCase *tc = kit_shared_tcase(suite, "made, lost, found, expired", 120);
    int n_cuts = sizeof cuts / sizeof *cuts;

    tcase_add_test(tc, session_refuses_bad_arguments);
    tcase_add_loop_test(tc, session_timeout_is_what_the_server_grants, 0, 3);
    tcase_add_test(tc, session_events_never_come_inside_a_call);
    tcase_add_test(tc, session_goes_through_a_cut);
    tcase_add_test(tc, session_doubts_a_silent_server);
    tcase_add_loop_test(tc, session_resolves_what_was_in_flight, 0, n_cuts);
    tcase_add_loop_test(tc, session_notices_a_send_that_failed_silently, 0, 2);
    tcase_add_test(tc, session_survives_replies_out_of_order);
    tcase_add_test(tc, session_expired_is_made_anew);
    tcase_add_test(tc, session_expires_ten_times);
    tcase_add_test(tc, session_learns_of_its_expiry_after_a_partition);
    tcase_add_test(tc, sessions_share_a_process);
    tcase_add_loop_test(tc, session_logs_through_its_callback_alone, -1, 5);
    tcase_add_test(tc, session_traces_legal_moves_only);
    tc = kit_tcase(suite, "with an own server", 120);
    tcase_add_test(tc, session_waits_for_a_server);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
