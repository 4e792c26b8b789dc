/*
 * The test of the tests' support: servers, proxy, raw client and harness do
 * what their headers say.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proxy.h"
#include "raw.h"
#include "zk.h"

enum { SYNC = 9, CREATE = 1, SESSION_MS = 4000 };
/* Of a session that no slowness of the servers, or of the test, must end. */
enum { PATIENT_MS = 60000 };

static void shared_up(void)
{
    int64_t start = now_ms();

    zk_shared();
    printf("one server: %d ms\n", (int)(now_ms() - start));
}

static struct raw *open_shared(void)
{
    return raw_open(zk_servers(zk_shared()), SESSION_MS, NULL);
}

/* ---- raw ---- */

START_TEST(raw_makes_reads_and_removes)
{
    struct raw *r = open_shared();
    struct raw_names names;
    char buf[16], name[64];
    int len = sizeof buf;

    raw_delete_tree(r, "/raw");
    raw_mkdirs(r, "/raw/a/b");
    ck_assert_int_eq(raw_create(r, "/raw/a/b", "", 0, 0, NULL, 0), ZNODEEXISTS);
    ck_assert_int_eq(raw_set(r, "/raw/a", "hello", 5), ZOK);
    ck_assert_int_eq(raw_get(r, "/raw/a", buf, &len, NULL), ZOK);
    ck_assert_int_eq(len, 5);
    ck_assert_int_eq(memcmp(buf, "hello", 5), 0);
    ck_assert_int_eq(raw_create(r, "/raw/n-", "", 0,
                                ZOO_EPHEMERAL | ZOO_SEQUENCE, name,
                                sizeof name),
                     ZOK);
    ck_assert_str_eq(name, "/raw/n-0000000001");
    ck_assert_int_eq(raw_children(r, "/raw", &names), ZOK);
    ck_assert_uint_eq(names.n, 2);
    ck_assert_str_eq(names.name[0], "a");
    raw_names_free(&names);
    raw_delete_tree(r, "/raw");
    raw_wait_gone(r, "/raw", 10000);
    ck_assert_int_eq(raw_count(r, "/raw"), -1);
    raw_close(r);
}
END_TEST

START_TEST(raw_keeps_others_out)
{
    struct raw *r = open_shared(), *s = open_shared();

    raw_delete_tree(r, "/mine");
    raw_mkdirs(r, "/mine");
    ck_assert_int_eq(raw_add_auth(r, "digest", "me:secret"), ZOK);
    ck_assert_int_eq(raw_set_acl(r, "/mine", &ZOO_CREATOR_ALL_ACL), ZOK);
    ck_assert_int_eq(raw_create(s, "/mine/x", "", 0, 0, NULL, 0), ZNOAUTH);
    ck_assert_int_eq(raw_add_auth(s, "digest", "me:secret"), ZOK);
    ck_assert_int_eq(raw_create(s, "/mine/x", "", 0, 0, NULL, 0), ZOK);
    raw_delete_tree(r, "/mine");
    raw_close(s);
    raw_close(r);
}
END_TEST

START_TEST(raw_expires_any_session)
{
    const char *servers = zk_servers(zk_shared());
    struct raw *r = open_shared(), *victim = open_shared();
    clientid_t id = raw_id(victim);
    char password[16];

    raw_password(id.client_id, password);
    ck_assert_int_eq(memcmp(password, id.passwd, 16), 0);
    raw_create(victim, "/victim", "", 0, ZOO_EPHEMERAL, NULL, 0);
    raw_expire(servers, id.client_id);
    raw_wait_gone(r, "/victim", 10000);
    while (!raw_expired(victim))
        raw_run(victim, 10);
    raw_close(victim);
    raw_close(r);
}
END_TEST

START_TEST(raw_crash_leaves_the_session)
{
    struct raw *r = open_shared(), *victim = open_shared();

    raw_create(victim, "/crashed", "", 0, ZOO_EPHEMERAL, NULL, 0);
    raw_abandon(victim);
    ck_assert_int_eq(raw_exists(r, "/crashed", NULL), ZOK);
    raw_wait_gone(r, "/crashed", 10 * SESSION_MS);
    raw_close(r);
}
END_TEST

/* ---- proxy ---- */

static struct proxy *shared_proxy(void)
{
    return proxy_start(zk_server(zk_shared(), 0));
}

static void until_connected(struct raw *r)
{
    while (!raw_connected(r))
        raw_run(r, 10);
}

START_TEST(proxy_counts_frames)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);

    ck_assert_int_eq(proxy_frames_of(p, PROXY_C2S, PROXY_OP_CONNECT), 1);
    ck_assert(proxy_session(p) == raw_id(r).client_id);
    for (int i = 0; i < 10; i++)
        raw_sync(r, "/");
    ck_assert_int_eq(proxy_frames_of(p, PROXY_C2S, SYNC), 10);
    ck_assert_int_eq(proxy_frames_of(p, PROXY_S2C, SYNC), 10);
    ck_assert_int_ge(proxy_frames(p, PROXY_S2C), 11);
    ck_assert_int_eq(proxy_accepts(p), 1);
    ck_assert_int_eq(proxy_open(p), 1);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_cuts_and_refuses)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);

    proxy_refuse(p, true);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    proxy_cut(p);
    ck_assert_int_eq(proxy_open(p), 0);
    ck_assert_int_lt(net_reserve(proxy_port(p)), 0); /* Kept for its return. */
    while (raw_connected(r))
        raw_run(r, 10);
    raw_run(r, 200);
    ck_assert(!raw_connected(r));
    ck_assert_int_eq(proxy_accepts(p), 1);
    proxy_refuse(p, false);
    until_connected(r);
    ck_assert_int_eq(proxy_accepts(p), 2);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

static void note(int rc, const char *value, const void *data)
{
    (void)value;
    *(int *)(uintptr_t)data = rc == ZOK ? 1 : rc;
}

/* A frozen client stays connected, and its bytes arrive after the thaw. */
START_TEST(proxy_freezes_and_thaws)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);
    struct raw *direct = open_shared();
    int dir = _i; /* Each, and both. */

    raw_delete_tree(direct, "/frozen");
    proxy_freeze(p, dir);
    {
        struct event_base *base = harness_base();
        struct stall *stall = stall_start(base);

        raw_drive(direct, base);
        raw_run(direct, 100);
        ck_assert(stall_own_ms(stall) < (double)slow_ms(90));
        stall_stop(stall);
        raw_drive(direct, NULL);
        harness_free();
    }
    ck_assert(raw_connected(r));
    if (dir == PROXY_S2C) {
        proxy_trap(p, PROXY_C2S, CREATE, 1, PROXY_CUT_AFTER);
        ck_assert_int_ne(raw_create(r, "/frozen", "", 0, 0, NULL, 0), ZOK);
        raw_wait_there(direct, "/frozen", 10000);
    }
    proxy_thaw(p);
    raw_sync(r, "/");
    until_connected(r);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    raw_delete_tree(direct, "/frozen");
    raw_close(direct);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

static const struct {
    enum proxy_dir dir;
    enum proxy_act act;
    int applied, answered; /* Of creates 1 to 4, of which the third is hit. */
} cuts[] = {
    {PROXY_C2S, PROXY_CUT_BEFORE, 2, 0},
    {PROXY_C2S, PROXY_CUT_AFTER, 3, 0},
    {PROXY_S2C, PROXY_CUT_BEFORE, 4, 2},
    {PROXY_S2C, PROXY_CUT_AFTER, 4, 3},
};

/* Sends four creates at once over @zh, with the answers in @rc. */
static void send_four(zhandle_t *zh, int rc[4])
{
    for (int i = 0; i < 4; i++) {
        char path[32];

        snprintf(path, sizeof path, "/kth/%d", i);
        rc[i] = 0;
        zoo_acreate(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, note, &rc[i]);
    }
}

static void quiet(const char *line) { (void)line; }

/* Runs a bare handle on harness_base() for a turn. */
static void turn(zhandle_t *zh)
{
    struct timeval tv = {0, 0};
    int fd = -1, interest = 0;

    zookeeper_interest(zh, &fd, &interest, &tv);
    run_for(harness_base(), 1);
    zookeeper_process(zh, interest);
}

START_TEST(proxy_cuts_at_the_kth_frame)
{
    struct proxy *p = shared_proxy();
    struct raw *direct = open_shared();
    zhandle_t *zh = zookeeper_init2(proxy_address(p), NULL, SESSION_MS, NULL,
                                    NULL, 0, quiet);
    int rc[4], answered = 0;

    raw_delete_tree(direct, "/kth");
    raw_mkdirs(direct, "/kth");
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        turn(zh);
    proxy_freeze(p, PROXY_BOTH);
    send_four(zh, rc);
    proxy_trap(p, cuts[_i].dir, CREATE, 3, cuts[_i].act);
    proxy_thaw(p);
    while (!rc[0] || !rc[1] || !rc[2] || !rc[3])
        turn(zh);
    for (int i = 0; i < 4; i++)
        answered += rc[i] == 1;
    ck_assert_int_eq(proxy_fired(p), 1);
    ck_assert_int_le(answered, cuts[_i].applied);
    if (cuts[_i].dir == PROXY_S2C)
        ck_assert_int_eq(answered, cuts[_i].answered);
    raw_wait_children(direct, "/kth", cuts[_i].applied, 10000);
    zookeeper_close(zh);
    harness_free();
    raw_delete_tree(direct, "/kth");
    raw_close(direct);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_holds_the_kth_reply)
{
    struct proxy *p = shared_proxy();
    struct raw *direct = open_shared();
    zhandle_t *zh = zookeeper_init2(proxy_address(p), NULL, SESSION_MS, NULL,
                                    NULL, 0, quiet);
    int rc[4];

    raw_delete_tree(direct, "/kth");
    raw_mkdirs(direct, "/kth");
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        turn(zh);
    proxy_freeze(p, PROXY_BOTH);
    send_four(zh, rc);
    proxy_trap(p, PROXY_S2C, CREATE, 3, PROXY_FREEZE);
    proxy_thaw(p);
    raw_wait_children(direct, "/kth", 4, 10000);
    while (!rc[0] || !rc[1] || proxy_fired(p) == 0)
        turn(zh);
    ck_assert(rc[0] == 1 && rc[1] == 1 && !rc[2] && !rc[3]);
    proxy_thaw(p);
    while (!rc[2] || !rc[3])
        turn(zh);
    ck_assert(rc[2] == 1 && rc[3] == 1);
    zookeeper_close(zh);
    harness_free();
    raw_delete_tree(direct, "/kth");
    raw_close(direct);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_cuts_inside_a_frame)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);
    int64_t before = proxy_bytes(p, PROXY_S2C);

    proxy_cut_after_bytes(p, PROXY_S2C, 7);
    ck_assert_int_ne(raw_create(r, "/bytes", "", 0, ZOO_EPHEMERAL, NULL, 0),
                     ZOK);
    ck_assert_int_eq(proxy_fired(p), 1);
    until_connected(r);
    ck_assert_int_ge(proxy_bytes(p, PROXY_S2C), before + 7);
    ck_assert_int_eq(raw_exists(r, "/bytes", NULL), ZOK);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_holds_for_a_time)
{
    enum { HELD_MS = 300 };
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);
    enum proxy_act act = _i & 2 ? PROXY_FREEZE_BOTH : PROXY_FREEZE;
    int64_t start = now_ms();

    proxy_hold_at_frame(p, _i & 1 ? PROXY_S2C : PROXY_C2S, 1, act, HELD_MS);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    ck_assert_int_ge(now_ms() - start, HELD_MS - 1);
    ck_assert_int_eq(proxy_fired(p), 1);
    ck_assert_int_eq(proxy_accepts(p), 1);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

/* Nothing more comes that way, until the client's own time-out. */
START_TEST(proxy_drops_the_kth_frame)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS / 4, NULL);
    enum proxy_dir dir = _i ? PROXY_S2C : PROXY_C2S;

    proxy_trap(p, dir, SYNC, 2, PROXY_DROP);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    ck_assert_int_eq(proxy_fired(p), 0);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK); /* Which asks again. */
    ck_assert_int_eq(proxy_fired(p), 1);
    ck_assert_int_ge(proxy_accepts(p), 2);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_cuts_twice)
{
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);

    proxy_cut_at_frame(p, PROXY_C2S, 1, PROXY_CUT_BEFORE);
    proxy_then_at_frame(p, PROXY_S2C, 1, PROXY_CUT_BEFORE);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK); /* Which asks again. */
    ck_assert_int_eq(proxy_fired(p), 2);
    ck_assert_int_ge(proxy_accepts(p), 3);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

START_TEST(proxy_is_slow_and_reset)
{
    enum { EXISTS_BYTES = 18 + 88 }; /* Request and reply. */
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);
    int64_t start = now_ms();

    proxy_slow(p, true);
    ck_assert_int_eq(raw_exists(r, "/", NULL), ZOK);
    ck_assert_int_ge(now_ms() - start, EXISTS_BYTES - 5);
    proxy_freeze(p, PROXY_BOTH);
    proxy_cut_at_frame(p, PROXY_C2S, 1, PROXY_CUT_BEFORE);
    proxy_reset(p);
    ck_assert_int_eq(proxy_open(p), 0);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    ck_assert_int_ge(proxy_accepts(p), 2);
    ck_assert_int_eq(proxy_fired(p), 0);
    raw_close(r);
    proxy_stop(p);
}
END_TEST

/* Through the proxy at most a little slower, and everything arrives. */
START_TEST(proxy_carries_much)
{
    enum { N = 2000 };
    struct proxy *p = shared_proxy();
    struct raw *r = raw_open(proxy_address(p), SESSION_MS, NULL);
    static char big[500000];
    int len = sizeof big;
    int64_t start = now_ms();

    raw_delete_tree(r, "/much");
    ck_assert_int_eq(raw_create(r, "/much", big, len, 0, NULL, 0), ZOK);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(raw_exists(r, "/much", NULL), ZOK);
    ck_assert_int_eq(raw_get(r, "/much", big, &len, NULL), ZOK);
    ck_assert_int_eq(len, sizeof big);
    printf("proxy: %d round trips in %d ms\n", N, (int)(now_ms() - start));
    raw_delete_tree(r, "/much");
    raw_close(r);
    proxy_stop(p);
}
END_TEST

/* ---- harness ---- */

static bool is_set(void *arg) { return *(bool *)arg; }

static void set(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    *(bool *)arg = true;
}

START_TEST(harness_waits_and_records)
{
    struct event_base *base = harness_base();
    struct timeval soon = {0, 20000};
    struct recorder rec = {0};
    bool flag = false;

    ck_assert(!run_until(base, is_set, &flag, 30));
    event_base_once(base, -1, EV_TIMEOUT, set, &flag, &soon);
    ck_assert(run_until(base, is_set, &flag, 10000));
    flag = false;
    event_base_once(base, -1, EV_TIMEOUT, set, &flag, &soon);
    WAIT(flag);
    recorder_on_lock(NULL, EVZK_LOCK_GRANTED, 0, &rec);
    recorder_on_lock(NULL, EVZK_LOCK_LOST, EVZK_ERR_LEASE, &rec);
    ck_assert_str_eq(rec.text, "GRANTED LOST(LEASE)");
    ck_assert(recorder_has(&rec, "LOST") && !recorder_has(&rec, "LEASE"));
    ck_assert_int_eq(rec.finals, 1);
    harness_free();
}
END_TEST

START_TEST(harness_measures_stalls)
{
    struct event_base *base = harness_base();
    struct stall *stall = stall_start(base);
    int64_t end;

    run_for(base, 100);
    stall_reset(stall);
    end = now_ms() + 80;
    while (now_ms() < end) /* The thing to be found. */
        ;
    run_for(base, 20);
    ck_assert(stall_max_ms(stall) >= 79);
    ck_assert(stall_own_ms(stall) <= stall_max_ms(stall) + 1);
    stall_stop(stall);
    harness_free();
}
END_TEST

START_TEST(harness_fails_in_time)
{
    bool never = false;

    WAIT_MS(50, never);
}
END_TEST

/* ---- zk ---- */

START_TEST(zk_is_stopped_and_restarted)
{
    struct zk *zk = zk_start(NULL);
    struct raw *r = raw_open(zk_servers(zk), PATIENT_MS, NULL);
    char buf[64], folder[256];

    raw_mkdirs(r, "/kept");
    zk_stop_signal(zk, 0);
    ck_assert_int_eq(zk_mode(zk, 0), ZK_DOWN);
    zk_cont(zk, 0);
    ck_assert_int_eq(zk_mode(zk, 0), ZK_STANDALONE);
    ck_assert_int_ge(zk_mntr(zk, 0, "zk_num_alive_connections"), 1);
    zk_restart(zk, 0);
    ck_assert_int_eq(raw_exists(r, "/kept", NULL), ZOK);
    zk_kill(zk, 0);
    ck_assert_int_eq(zk_pid(zk, 0), 0);
    ck_assert_int_eq(zk_4lw(zk, 0, "ruok", buf, sizeof buf), -1);
    snprintf(folder, sizeof folder, "%s", zk_folder(zk));
    raw_close(r);
    zk_stop(zk);
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

/* Freezing a link: the leader drops that follower, and takes it back. */
START_TEST(zk_ensemble_loses_a_link)
{
    int64_t start = now_ms();
    struct zk *zk = zk_start(&(struct zk_config){.size = 3});
    int leader = zk_leader(zk), f = zk_follower(zk, 0), g = zk_follower(zk, 1);
    struct raw *r;

    printf("three servers: %d ms\n", (int)(now_ms() - start));
    zk_wait_mntr(zk, leader, "zk_synced_followers", 2);
    start = now_ms();
    zk_link_freeze(zk, f, leader);
    zk_wait_mntr(zk, leader, "zk_synced_followers", 1);
    printf("link frozen: dropped by the leader after %d ms\n",
           (int)(now_ms() - start));
    r = raw_open(zk_server(zk, g), PATIENT_MS, NULL);
    raw_mkdirs(r, "/quorum");
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    ck_assert_int_eq(zk_leader(zk), leader);
    zk_link_thaw(zk, f, leader);
    zk_wait_mntr(zk, leader, "zk_synced_followers", 2);
    zk_wait(zk, f);
    printf("thawed: in the ensemble again after %d ms\n",
           (int)(now_ms() - start));
    raw_close(r);
    zk_stop(zk);
}
END_TEST

/* The follower of a frozen link serves reads, but confirms no sync. */
START_TEST(zk_ensemble_follower_is_cut_off)
{
    struct zk *zk = zk_start(&(struct zk_config){.size = 3});
    int leader = zk_leader(zk), f = zk_follower(zk, 0);
    struct raw *r = raw_open(zk_server(zk, f), PATIENT_MS, NULL);

    zk_link_freeze(zk, leader, f);
    ck_assert_int_eq(raw_exists(r, "/", NULL), ZOK);
    zk_link_thaw(zk, leader, f);
    ck_assert_int_eq(raw_sync(r, "/"), ZOK);
    raw_close(r);
    zk_stop(zk);
}
END_TEST

/* A new leader after the death of the old; the dead one comes back. */
START_TEST(zk_ensemble_elects_again)
{
    struct zk *zk = zk_start(&(struct zk_config){.size = 3});
    int old = zk_leader(zk), leader;
    struct raw *r = raw_open(zk_servers(zk), PATIENT_MS, NULL);
    int64_t start = now_ms();

    raw_mkdirs(r, "/before");
    zk_kill(zk, old);
    leader = zk_leader(zk);
    ck_assert_int_ne(leader, old);
    printf("new leader after %d ms\n", (int)(now_ms() - start));
    ck_assert_int_eq(raw_exists(r, "/before", NULL), ZOK);
    zk_restart(zk, old);
    zk_wait_mntr(zk, zk_leader(zk), "zk_synced_followers", 2);
    raw_close(r);
    zk_stop(zk);
}
END_TEST

struct held {
    char folder[256];
    pid_t pid;
    int port;
};

/* Servers and a proxy, until SIGKILL. */
_Noreturn static void hold(int fd)
{
    struct zk *zk = zk_start(NULL);
    struct proxy *p = proxy_start(zk_server(zk, 0));
    struct held held = {"", zk_pid(zk, 0), proxy_port(p)};

    snprintf(held.folder, sizeof held.folder, "%s", zk_folder(zk));
    if (write(fd, &held, sizeof held) != sizeof held)
        _exit(1);
    for (;;)
        pause();
}

/* True when nobody listens there any more. */
static bool is_free(int port)
{
    int fd = net_listen_on(port);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

START_TEST(all_dies_with_its_owner)
{
    struct held held;
    int fds[2];
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    pid = harness_fork();
    if (pid == 0)
        hold(fds[1]);
    ck_assert_int_eq(read(fds[0], &held, sizeof held), sizeof held);
    ck_assert_int_eq(kill(held.pid, 0), 0);
    ck_assert(!is_free(held.port));
    kill(pid, SIGKILL);
    ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
    WAIT(access(held.folder, F_OK) != 0);
    WAIT(kill(held.pid, 0) != 0);
    WAIT(is_free(held.port));
    harness_free();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("support");
    TCase *one = tcase_create("one server"), *own = tcase_create("own servers");

    tcase_set_timeout(one, (double)slow_ms(60000) / 1000);
    tcase_add_unchecked_fixture(one, shared_up, zk_shared_stop);
    tcase_add_test(one, raw_makes_reads_and_removes);
    tcase_add_test(one, raw_keeps_others_out);
    tcase_add_test(one, raw_expires_any_session);
    tcase_add_test(one, raw_crash_leaves_the_session);
    tcase_add_test(one, proxy_counts_frames);
    tcase_add_test(one, proxy_cuts_and_refuses);
    tcase_add_loop_test(one, proxy_freezes_and_thaws, 0, 3);
    tcase_add_loop_test(one, proxy_cuts_at_the_kth_frame, 0, 4);
    tcase_add_test(one, proxy_holds_the_kth_reply);
    tcase_add_test(one, proxy_cuts_inside_a_frame);
    tcase_add_loop_test(one, proxy_holds_for_a_time, 0, 4);
    tcase_add_loop_test(one, proxy_drops_the_kth_frame, 0, 2);
    tcase_add_test(one, proxy_cuts_twice);
    tcase_add_test(one, proxy_is_slow_and_reset);
    tcase_add_test(one, proxy_carries_much);
    tcase_add_test(one, harness_waits_and_records);
    tcase_add_test(one, harness_measures_stalls);
    tcase_add_exit_test(one, harness_fails_in_time, 1);
    suite_add_tcase(suite, one);
    tcase_set_timeout(own, (double)slow_ms(180000) / 1000);
    tcase_add_test(own, zk_is_stopped_and_restarted);
    tcase_add_test(own, all_dies_with_its_owner);
    tcase_add_test(own, zk_ensemble_loses_a_link);
    tcase_add_test(own, zk_ensemble_follower_is_cut_off);
    tcase_add_test(own, zk_ensemble_elects_again);
    suite_add_tcase(suite, own);
    return suite;
}

int main(void)
{
    SRunner *runner;
    int failed;

    setvbuf(stdout, NULL, _IOLBF, 0);
    runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
