/*
 * Many contenders: one release wakes one of them, and processes that contend
 * never hold the lock together.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test_lock.h"

/* ---- One release wakes one ---- */

struct woken {
    int deleted, changed;
};

static void count_woken(const evzk_trace *move, void *arg)
{
    struct woken *w = arg;

    w->deleted += strstr(move->event, "deleted") != NULL;
    w->changed += strstr(move->event, "changed") != NULL;
}

struct frames {
    int64_t watch, children, get, del, sync, ping, other;
};

static struct frames frames_now(struct proxy *p)
{
    struct frames f = {.watch = proxy_frames_of(p, PROXY_S2C, PROXY_OP_WATCH),
                       .children = proxy_frames_of(p, PROXY_C2S, OP_CHILDREN),
                       .get = proxy_frames_of(p, PROXY_C2S, OP_GET),
                       .del = proxy_frames_of(p, PROXY_C2S, OP_DELETE),
                       .sync = proxy_frames_of(p, PROXY_C2S, OP_SYNC),
                       .ping = proxy_frames_of(p, PROXY_C2S, PROXY_OP_PING)};

    f.other = proxy_frames(p, PROXY_C2S) - f.children - f.get - f.del - f.sync -
              f.ping;
    return f;
}

static void check_no_herd(const struct frames *a, const struct frames *b,
                          int sessions)
{
    /* Of its own locks a session need not be told. */
    ck_assert_int_le(b->watch - a->watch, 1);
    /* The next contender lists, and then reads its own znode: the event of
     * another znode's end says nothing of its own.  In one session it does
     * neither. */
    ck_assert_int_le(b->children - a->children + b->get - a->get,
                     sessions == 1 ? 1 : 2);
    if (sessions == 1)
        ck_assert_int_eq(b->children - a->children, 0);
    ck_assert_int_eq(b->del - a->del, 1);
    ck_assert_int_eq(b->other - a->other, 0);
}

static int granted(const struct claim *c, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += recorder_has(&c[i].rec, "GRANTED");
    return sum;
}

START_TEST(one_release_wakes_one)
{
    enum { N = 51 };
    int sessions = _i ? 5 : 1;
    struct proxy *proxy = proxy_start(the_server());
    struct woken woken = {0};
    evzk_session_options opt = {
        .timeout_ms = SESSION_MS, .trace = count_woken, .trace_arg = &woken};
    /* These come, and fire, by the way. */
    const evzk_lock_options bare = {.no_own_watch = true};
    struct peer p[5];
    static struct claim c[N];

    for (int i = 0; i < sessions; i++) {
        peer_start(&p[i], proxy_address(proxy), &opt);
        WAIT(evzk_session_connected(p[i].s));
    }
    claim_held(&c[0], p[0].s, "/herd", &bare);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p[i % sessions].s, "/herd", &bare);
    for (int i = 0; i < N - 1; i++) {
        struct frames before, after;

        for (int j = 0; j < sessions; j++) {
            evzk_session_stats stats;

            WAIT(
                (evzk_session_get_stats(p[j].s, &stats), stats.in_flight == 0));
        }
        before = frames_now(proxy);
        woken.deleted = woken.changed = 0;
        claim_release(&c[i]);
        WAIT_EVENT(&c[i + 1], "GRANTED");
        after = frames_now(proxy);
        check_no_herd(&before, &after, sessions);
        ck_assert_int_eq(woken.deleted, 1);
        ck_assert_int_eq(woken.changed, 0);
        ck_assert_int_eq(granted(c, N), i + 2);
    }
    claim_release(&c[N - 1]);
    for (int i = 0; i < sessions; i++) {
        nothing_left("/herd", p[i].s);
        peer_close(&p[i]);
    }
    proxy_stop(proxy);
}
END_TEST

/* Waiting costs nothing but the lease's probe and the client's ping. */
START_TEST(waiting_is_silent)
{
    enum { N = 20 };
    struct proxy *proxy = proxy_start(the_server());
    struct frames a, b;
    evzk_session_stats stats;
    struct claim c[N];
    struct peer p;
    int64_t start, took;

    peer_short(&p, proxy_address(proxy));
    claim_held(&c[0], p.s, "/silent", NULL);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p.s, "/silent", NULL);
    /* The own ones come after a while; all but one are there already. */
    WAIT((evzk_session_get_stats(p.s, &stats), stats.watches == 2 * N - 1));
    wait_watches(2 * N - 1);
    all_answered(p.s);
    start = now_ms();
    a = frames_now(proxy);
    WAIT(proxy_frames_of(proxy, PROXY_C2S, OP_SYNC) >= a.sync + 2);
    all_answered(p.s);
    took = now_ms() - start;
    b = frames_now(proxy);
    ck_assert_int_eq(b.children + b.get + b.del + b.other,
                     a.children + a.get + a.del + a.other);
    ck_assert_int_eq(b.watch, a.watch);
    ck_assert_int_le(b.sync - a.sync, took / (SHORT_MS / 6) + 1);
    for (int i = 0; i < N; i++)
        evzk_lock_free(c[i].l);
    nothing_left("/silent", p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- Processes ---- */

enum { PROCESSES = 4, ROUNDS = 25 };

struct shared {
    atomic_int owner;
    atomic_int violations;
    atomic_int grants;
    _Atomic uint64_t token;
    atomic_int ready;
};

static void take(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct claim *c = arg;

    recorder_on_lock(l, event, rc, &c->rec);
}

static void note_owner(struct shared *sh, const evzk_lock *l)
{
    int nobody = 0;

    if (!atomic_compare_exchange_strong(&sh->owner, &nobody, (int)getpid()))
        atomic_fetch_add(&sh->violations, 1);
    if (atomic_exchange(&sh->token, evzk_lock_token(l)) >= evzk_lock_token(l))
        atomic_fetch_add(&sh->violations, 1);
    atomic_fetch_add(&sh->grants, 1);
}

/* One of the processes; true if it had all its turns. */
static bool contend(struct shared *sh, const char *server)
{
    struct peer p;
    struct claim c;

    peer_open(&p, server);
    atomic_fetch_add(&sh->ready, 1);
    WAIT(atomic_load(&sh->ready) == PROCESSES);
    for (int i = 0; i < ROUNDS; i++) {
        int me = (int)getpid();

        recorder_clear(&c.rec);
        if (evzk_lock_acquire(p.s, "/processes", NULL, take, &c, &c.l))
            return false;
        WAIT(c.rec.count > 0);
        if (!evzk_lock_held(c.l))
            return false;
        note_owner(sh, c.l);
        run_for(harness_base(), 1);
        if (!atomic_compare_exchange_strong(&sh->owner, &me, 0))
            atomic_fetch_add(&sh->violations, 1);
        if (evzk_lock_release(c.l))
            return false;
        WAIT(c.rec.finals == 1);
        if (strcmp(c.rec.text, "GRANTED RELEASED") != 0)
            return false;
        evzk_lock_free(c.l);
    }
    peer_close(&p);
    return true;
}

START_TEST(processes_exclude_each_other)
{
    struct shared *sh = harness_share(sizeof *sh);
    const char *server = the_server();
    pid_t pid[PROCESSES];

    for (int i = 0; i < PROCESSES; i++) {
        pid[i] = harness_fork();
        if (pid[i] == 0)
            _exit(contend(sh, server) ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++)
        ck_assert_int_eq(harness_join(pid[i]), 0);
    ck_assert_int_eq(atomic_load(&sh->violations), 0);
    ck_assert_int_eq(atomic_load(&sh->grants), PROCESSES * ROUNDS);
    ck_assert_int_eq(atomic_load(&sh->owner), 0);
    nothing_left("/processes", NULL);
    harness_unshare(sh, sizeof *sh);
}
END_TEST

/* The process dies holding the lock: the next gets it when the session ends. */
START_TEST(killed_process_leaves_the_lock)
{
    struct shared *sh = harness_share(sizeof *sh);
    const char *server = the_server();
    struct peer p;
    struct claim c;
    pid_t pid = harness_fork();

    if (pid == 0) {
        evzk_session_options opt = {.timeout_ms = BRIEF_MS};

        peer_start(&p, server, &opt);
        claim_held(&c, p.s, "/killed", NULL);
        atomic_store(&sh->token, evzk_lock_token(c.l));
        WAIT(false);
    }
    peer_open(&p, server);
    WAIT(atomic_load(&sh->token) != 0);
    claim_queued(&c, p.s, "/killed", NULL);
    kill(pid, SIGKILL);
    ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_uint_gt(evzk_lock_token(c.l), atomic_load(&sh->token));
    claim_release(&c);
    nothing_left("/killed", p.s);
    peer_close(&p);
    harness_unshare(sh, sizeof *sh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-herd");
    TCase *tests = lock_tests(suite, "herd", 60000);

    tcase_add_loop_test(tests, one_release_wakes_one, 0, 2);
    tcase_add_test(tests, waiting_is_silent);
    tcase_add_test(tests, processes_exclude_each_other);
    tcase_add_test(tests, killed_process_leaves_the_lock);
    return lock_suite_run(suite);
}
