/*
 * The lease: what may be believed while the leader is silent, and what it costs
 * to know.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "test_session_kit.h"

enum { LEASE_MS = KIT_BRIEF_MS, OP_GET = 4, OP_PING = PROXY_OP_PING };

static const evzk_session_options lease_opt = {.timeout_ms = LEASE_MS};

/* Looks again and again, as an application would: when did each end? */
struct watch {
    struct app *a;
    struct one *o;
    int64_t lease_end, held_end; /* 0: not yet. */
    uint32_t last;
    bool rose, differ;
};

static void look(struct watch *w)
{
    uint32_t ms = evzk_session_lease_ms(w->a->s);
    bool held = evzk_lock_held(w->o->l);

    w->rose |= ms > w->last;
    w->differ |= held && ms == 0;
    w->last = ms;
    if (!w->lease_end && ms == 0)
        w->lease_end = now_ms();
    if (!w->held_end && !held)
        w->held_end = now_ms();
}

/* Seen in time, but for what the loop stood still. */
static void check_watch(const struct watch *w, int64_t start,
                        const struct stall *stall)
{
    int64_t still = (int64_t)stall_max_ms(stall);

    ck_assert_int_gt(w->lease_end, 0);
    ck_assert_int_lt(w->lease_end - start, LEASE_MS + still);
    ck_assert_int_lt(w->held_end - start, LEASE_MS + still);
    ck_assert_int_lt(w->o->rec.when - w->lease_end, slow_ms(100) + still);
    ck_assert_str_eq(recorder_story(&w->o->rec),
                     "GRANTED SUSPENDED LOST(LEASE)");
}

static bool lost_seen(void *arg)
{
    struct watch *w = arg;

    look(w);
    return w->o->rec.finals == 1;
}

/* A server that stands still cannot expire the session earlier than one
 * time-out after it last heard of it. */
START_TEST(lease_ends_before_a_stopped_server_could_expire_it)
{
    struct zk *zk = zk_start(NULL);
    struct app a;
    struct one o;
    struct watch w = {.a = &a, .o = &o};
    struct stall *stall;
    int64_t start;

    app_up(&a, zk_server(zk, 0), &lease_opt);
    one_hold(&o, &a, "/lease");
    WAIT(stats_of(&a).probes >= 4 && stats_of(&a).in_flight == 0 &&
         evzk_session_lease_ms(a.s) > LEASE_MS / 4);
    stall = stall_start(harness_base());
    start = now_ms(); /* No server hears later requests. */
    zk_stop_signal(zk, 0);
    /* Answers may still be on their way to us: the first look counts. */
    run_for(harness_base(), 20);
    w.last = evzk_session_lease_ms(a.s);
    ck_assert(run_until(harness_base(), lost_seen, &w, 60000));
    printf("lease: silent server: not held after %d ms, LOST after %d ms, "
           "time-out %d ms\n",
           (int)(w.held_end - start), (int)(o.rec.when - start), LEASE_MS);
    ck_assert(!w.rose && !w.differ);
    check_watch(&w, start, stall);
    stall_stop(stall);
    ck_assert_uint_eq(stats_of(&a).lease_ends, 1);
    zk_cont(zk, 0);
    WAIT(evzk_session_connected(a.s));
    one_free(&o);
    app_close(&a);
    zk_stop(zk);
    kit_done();
}
END_TEST

/* Nobody listens any more: there is no event to learn it from, only a clock. */
START_TEST(lease_ends_while_disconnected)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/cutoff");
    struct app a;
    struct one o;
    struct watch w = {.a = &a, .o = &o};
    struct stall *stall;
    int64_t start;

    app_up(&a, proxy_address(p), &lease_opt);
    one_hold(&o, &a, "/cutoff");
    stall = stall_start(harness_base());
    start = now_ms();
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(!evzk_session_connected(a.s));
    /* In doubt is not lost, for half of the time-out and more. */
    ck_assert((evzk_lock_held(o.l) && evzk_lock_lease_ms(o.l) > 0) ||
              now_ms() - start > LEASE_MS / 4);
    w.last = evzk_session_lease_ms(a.s);
    ck_assert(run_until(harness_base(), lost_seen, &w, 60000));
    check_watch(&w, start, stall);
    stall_stop(stall);
    ck_assert_str_eq(recorder_story(&a.rec), "CONNECTED SUSPENDED");
    proxy_refuse(p, false);
    WAIT(evzk_session_connected(a.s));
    WAIT(raw_count(r, "/cutoff") <= 0); /* Deleted, or expired. */
    one_free(&o);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/*
 * The end of the lease finds the lock in the middle of something: reading its
 * znode again after a reconnect, with the answer held back (0), or not yet sent
 * (1).  The znode must be gone in the end, by a request of our own.
 */
START_TEST(lease_ends_while_the_znode_is_read_again)
{
    struct proxy *p = proxied();
    struct raw *r = operator_for("/again");
    struct app a;
    struct one o, next;

    app_up(&a, proxy_address(p), &lease_opt);
    one_hold(&o, &a, "/again");
    WAIT(stats_of(&a).in_flight == 0);
    if (_i == 0)
        proxy_trap(p, PROXY_S2C, OP_GET, 1, PROXY_FREEZE);
    else
        proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(o.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&o.rec), "GRANTED SUSPENDED LOST(LEASE)");
    proxy_refuse(p, false);
    proxy_thaw(p);
    one_start(&next, &a, "/again");
    WAIT(evzk_lock_held(next.l));
    WAIT(raw_count(r, "/again") == 1);
    one_free(&o);
    one_free(&next);
    WAIT(stats_of(&a).machines == 0);
    ck_assert_uint_eq(stats_of(&a).queued, 0);
    ck_assert_uint_eq(stats_of(&a).watches, 0);
    app_close(&a);
    ck_assert_int_le(raw_count(r, "/again"), 0);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A time in which the lease never ended. */
struct stretch {
    int64_t since;
    uint64_t ends;
};

/* Was there one of two leases' length?  Without renewal there is none; a busy
 * machine, whose servers answer late now and then, has one in the end. */
static bool lived_long(struct app *a, struct stretch *st)
{
    uint64_t ends = stats_of(a).lease_ends;

    if (ends != st->ends || evzk_session_lease_ms(a->s) == 0)
        *st = (struct stretch){now_ms(), ends};
    return now_ms() - st->since > 2 * LEASE_MS;
}

/* Answers of the server alone (pings, reads) do not renew it: the sync's reply
 * is held back, and all after it. */
START_TEST(lease_is_renewed_by_the_leader_alone)
{
    struct proxy *p = proxied();
    struct stretch st = {0};
    struct app a;
    int64_t sent;

    app_up(&a, proxy_address(p), &lease_opt);
    st.since = now_ms();
    sent = proxy_frames_of(p, PROXY_S2C, OP_SYNC);
    WAIT(lived_long(&a, &st));
    WAIT(evzk_session_lease_ms(a.s) > 0);
    ck_assert_uint_le(evzk_session_lease_ms(a.s), LEASE_MS);
    sent = proxy_frames_of(p, PROXY_S2C, OP_SYNC) - sent;
    ck_assert_int_ge(sent, 2); /* The lease lived on those. */
    proxy_trap(p, PROXY_S2C, OP_SYNC, 1, PROXY_FREEZE);
    WAIT(proxy_fired(p) == 1);
    WAIT(evzk_session_lease_ms(a.s) == 0);
    WAIT(!evzk_session_connected(a.s) && app_heard(&a, "SUSPENDED"));
    proxy_thaw(p);
    WAIT(app_heard(&a, "RESUMED") && evzk_session_connected(a.s));
    WAIT(evzk_session_lease_ms(a.s) > 0);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* ---- A process that stands still ---- */

static struct {
    struct one o;
    struct app a;
    struct event *timer;
    int64_t last_ms;
    int at_cont;  /* Seen by the handler of SIGCONT: -1 not yet. */
    int at_timer; /* Seen by the first timer after it: -1 not yet. */
} frozen;

/* Runs before any of the program's own code. */
static void on_cont(int sig)
{
    (void)sig;
    if (frozen.at_cont < 0)
        frozen.at_cont = evzk_lock_held(frozen.o.l);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    int64_t now = now_ms();

    (void)fd;
    (void)what;
    (void)arg;
    if (frozen.at_timer < 0 && now - frozen.last_ms > LEASE_MS)
        frozen.at_timer = evzk_lock_held(frozen.o.l);
    frozen.last_ms = now;
}

static int frozen_verdict(void)
{
    if (frozen.at_cont != 0)
        return 2;
    if (frozen.at_timer != 0)
        return 3;
    return frozen.o.rec.last == EVZK_LOCK_LOST ? 0 : 4;
}

_Noreturn static void be_frozen(int up)
{
    struct timeval ms = {0, 1000};

    frozen.at_cont = frozen.at_timer = -1;
    app_up(&frozen.a, server(), &lease_opt);
    one_hold(&frozen.o, &frozen.a, "/paused");
    signal(SIGCONT, on_cont);
    frozen.last_ms = now_ms();
    frozen.timer = event_new(harness_base(), -1, EV_PERSIST, on_timer, NULL);
    event_add(frozen.timer, &ms);
    if (write(up, "h", 1) != 1)
        _exit(1);
    WAIT(frozen.at_timer >= 0 && frozen.o.rec.finals == 1);
    _exit(frozen_verdict());
}

START_TEST(lease_is_over_after_a_pause_of_the_process)
{
    static struct raw *r; /* Static: the child still knows of it. */
    int fds[2], status;
    char c;
    pid_t pid;

    r = operator_for("/paused");
    ck_assert_int_eq(pipe(fds), 0);
    pid = harness_fork();
    if (pid == 0)
        be_frozen(fds[1]);
    ck_assert_int_eq(read(fds[0], &c, 1), 1);
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    raw_drive(r, harness_base());
    run_for(harness_base(), 2 * LEASE_MS);
    raw_drive(r, NULL);
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(harness_join(pid), 0);
    close(fds[0]);
    close(fds[1]);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- Idle ---- */

static int64_t cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static void drive_for(struct event_base *base, int64_t ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    event_base_loopexit(base, &tv);
    event_base_dispatch(base);
}

static void check_idle(struct app *a, struct proxy *p, int n)
{
    enum { WINDOW_MS = 11000 }; /* Two probes and more. */
    uint32_t probe = stats_of(a).probe_ms;
    int64_t all = proxy_frames(p, PROXY_C2S), back = proxy_frames(p, PROXY_S2C);
    int64_t syncs = proxy_frames_of(p, PROXY_C2S, OP_SYNC);
    int64_t pings = proxy_frames_of(p, PROXY_C2S, OP_PING);
    uint64_t requests = stats_of(a).requests;
    int64_t cpu = cpu_us(), start = now_ms(), took;

    drive_for(harness_base(), WINDOW_MS);
    cpu = cpu_us() - cpu;
    WAIT(stats_of(a).in_flight == 0); /* So the proxy has seen all. */
    took = now_ms() - start;
    requests = stats_of(a).requests - requests;
    all = proxy_frames(p, PROXY_C2S) - all;
    back = proxy_frames(p, PROXY_S2C) - back;
    syncs = proxy_frames_of(p, PROXY_C2S, OP_SYNC) - syncs;
    pings = proxy_frames_of(p, PROXY_C2S, OP_PING) - pings;
    printf("idle: %d locks, %d ms: %d syncs (one each %u ms), %d pings, %d "
           "frames in all, %.1f ms CPU\n",
           n, WINDOW_MS, (int)syncs, probe, (int)pings, (int)all,
           (double)cpu / 1000);
    ck_assert_int_eq(all, syncs);
    ck_assert_int_eq(pings, 0);
    ck_assert_int_le(syncs, took / (int)probe + 1);
    ck_assert_int_ge(syncs, WINDOW_MS / (int)probe / 2);
    ck_assert_int_le(back, syncs + 1);
    ck_assert_int_le((int64_t)requests, syncs + 1);
    ck_assert_int_lt(cpu, slow_ms(WINDOW_MS * 1000 / 100)); /* 1 %. */
}

START_TEST(idle_locks_cost_the_probes_alone)
{
    enum { MANY = 10000 };
    static evzk_lock *l[MANY];
    static struct recorder rec;
    const int n = RUNNING_ON_VALGRIND ? MANY / 10 : MANY;
    struct proxy *p = proxied();
    struct raw *r = operator_for("/idle");
    struct app a;
    char path[64];

    raw_close(r); /* Would expire meanwhile. */
    app_up(&a, proxy_address(p), NULL);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/idle/%d", i);
        ck_assert_int_eq(
            evzk_lock_acquire(a.s, path, NULL, recorder_on_lock, &rec, &l[i]),
            EVZK_OK);
    }
    /* Each watches its own znode, after a while. */
    WAIT(rec.count == n && stats_of(&a).watches == (unsigned)n &&
         stats_of(&a).in_flight == 0 && stats_of(&a).queued == 0);
    /* A sixth of the time-out: in one of them three probes may be lost. */
    ck_assert_uint_ge(stats_of(&a).probe_ms, KIT_SESSION_MS / 10);
    ck_assert_uint_le(stats_of(&a).probe_ms, KIT_SESSION_MS / 4);
    check_idle(&a, p, n);
    ck_assert_int_eq(rec.count, n);
    for (int i = 0; i < n; i++) {
        ck_assert(evzk_lock_held(l[i]));
        evzk_lock_free(l[i]);
    }
    WAIT(stats_of(&a).machines == 0);
    app_close(&a);
    r = operator_for("/idle");
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* The first request of a connection is the leader's to answer: all that
 * machines ask comes behind it. */
START_TEST(lease_is_asked_for_first)
{
    enum { N = 20 };
    static struct one o[N];
    struct proxy *p = proxied();
    struct app a;
    int64_t gets;
    char path[32];

    app_up(&a, proxy_address(p), NULL);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/first/%d", i);
        one_hold(&o[i], &a, path);
    }
    WAIT(stats_of(&a).in_flight == 0 && stats_of(&a).queued == 0);
    gets = proxy_frames_of(p, PROXY_C2S, OP_GET);
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(app_heard(&a, "SUSPENDED"));
    proxy_trap(p, PROXY_C2S, OP_SYNC, 1, PROXY_FREEZE);
    proxy_refuse(p, false);
    WAIT(proxy_fired(p) == 1);
    ck_assert_int_eq(proxy_frames_of(p, PROXY_C2S, OP_GET), gets);
    proxy_thaw(p);
    WAIT(proxy_frames_of(p, PROXY_C2S, OP_GET) == gets + N);
    for (int i = 0; i < N; i++)
        one_free(&o[i]);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* What a session says in the callback that tells of a connection. */
struct first {
    struct recorder rec;
    uint32_t lease_ms;
    uint64_t probes;
    bool connected;
};

static void on_first(evzk_session *s, evzk_session_event ev, int rc, void *arg)
{
    struct first *f = arg;
    evzk_session_stats st;

    recorder_on_session(s, ev, rc, &f->rec);
    evzk_session_get_stats(s, &st);
    f->lease_ms = evzk_session_lease_ms(s);
    f->probes = st.probes;
    f->connected = evzk_session_connected(s);
}

/* All but the margin, and what the handshake took. */
static void check_first(const struct first *f, uint64_t probes)
{
    ck_assert(f->connected);
    ck_assert_uint_eq(f->probes, probes);
    ck_assert_uint_gt(f->lease_ms, KIT_SESSION_MS / 2);
    ck_assert_uint_lt(f->lease_ms, KIT_SESSION_MS * 19 / 20);
}

/* The leader took part in the handshake: that counts before the first sync of
 * the connection is sent. */
START_TEST(lease_begins_with_the_connection)
{
    const evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS};
    struct proxy *p = proxied();
    struct first f = {.lease_ms = 0};
    uint64_t probes;
    struct app a;

    ck_assert_int_eq(evzk_session_open(harness_base(), proxy_address(p), &opt,
                                       on_first, &f, &a.s),
                     EVZK_OK);
    ck_assert_uint_eq(evzk_session_lease_ms(a.s), 0);
    ck_assert(!evzk_session_connected(a.s));
    WAIT(recorder_has(&f.rec, "CONNECTED"));
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), KIT_SESSION_MS);
    check_first(&f, 0);
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(recorder_has(&f.rec, "SUSPENDED"));
    ck_assert(!f.connected);
    ck_assert_uint_gt(f.lease_ms, 0);
    probes = stats_of(&a).probes;
    proxy_refuse(p, false);
    WAIT(recorder_has(&f.rec, "RESUMED"));
    check_first(&f, probes);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    WAIT(f.rec.finals == 1);
    evzk_session_free(a.s);
    proxy_stop(p);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: lease");
    TCase *tc = kit_shared_tcase(suite, "lease", 120);

    tcase_add_test(tc, lease_begins_with_the_connection);
    tcase_add_test(tc, lease_ends_while_disconnected);
    tcase_add_loop_test(tc, lease_ends_while_the_znode_is_read_again, 0, 2);
    tcase_add_test(tc, lease_is_renewed_by_the_leader_alone);
    tcase_add_test(tc, lease_is_asked_for_first);
    tcase_add_test(tc, lease_is_over_after_a_pause_of_the_process);
    tcase_add_test(tc, idle_locks_cost_the_probes_alone);
    tc = kit_tcase(suite, "with an own server", 120);
    tcase_add_test(tc, lease_ends_before_a_stopped_server_could_expire_it);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
