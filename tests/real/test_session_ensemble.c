/*
 * Three servers: what a client cannot see of them, and what it must do all the
 * same.
 */
#include "test_session_kit.h"

enum { TICK_MS = 500, LEASE_MS = KIT_BRIEF_MS, LONG_MS = 30000 };

/* The links may be silent for 20 s: long after the leader ended a session. */
static struct zk *ensemble(void)
{
    struct zk *zk = zk_start(
        &(struct zk_config){.size = 3, .tick_ms = TICK_MS, .sync_limit = 40});

    zk_wait_mntr(zk, zk_leader(zk), "zk_synced_followers", 2);
    return zk;
}

/* When did holding end, when was it told, and when had the rival the lock? */
struct race {
    struct one *holder, *rival;
    int64_t not_held, granted;
    bool both; /* The worst there is. */
};

static bool race_over(void *arg)
{
    struct race *x = arg;
    bool held = evzk_lock_held(x->holder->l);

    if (!held && !x->not_held)
        x->not_held = now_ms();
    if (one_heard(x->rival, "GRANTED") && !x->granted)
        x->granted = x->rival->rec.when;
    x->both |= held && x->granted;
    return x->granted != 0 && x->not_held != 0;
}

/* Connected is not still the holder: the client's follower serves it well, and
 * the leader has not heard of it for long. */
START_TEST(ensemble_holder_gives_up_before_its_rival_is_granted)
{
    struct zk *zk = ensemble();
    int leader = zk_leader(zk), f = zk_follower(zk, 0), g = zk_follower(zk, 1);
    struct app a, b;
    struct one holder, rival;
    struct race x = {.holder = &holder, .rival = &rival};
    struct stall *stall;
    bool stood_still;
    uint64_t token;
    int64_t start;

    app_up(&a, zk_server(zk, f),
           &(evzk_session_options){.timeout_ms = LEASE_MS});
    app_up(&b, zk_server(zk, g),
           &(evzk_session_options){.timeout_ms = LONG_MS});
    one_hold(&holder, &a, "/contested");
    token = evzk_lock_token(holder.l);
    one_start(&rival, &b, "/contested");
    WAIT(strcmp(evzk_lock_state(rival.l), "WATCHING") == 0);
    WAIT(stats_of(&a).probes >= 6); /* As in real life. */
    ck_assert(evzk_lock_held(holder.l));
    stall = stall_start(harness_base());
    start = now_ms();
    zk_link_freeze(zk, f, leader);
    ck_assert(run_until(harness_base(), race_over, &x, 60000));
    stood_still = stall_max_ms(stall) > 100; /* Both may be seen at once. */
    stall_stop(stall);
    printf("ensemble: link frozen; holder not held after %d ms, told LOST "
           "after %d ms, rival granted after %d ms; holder's connection lost "
           "%d time(s)\n",
           (int)(x.not_held - start), (int)(holder.rec.when - start),
           (int)(x.granted - start), (int)stats_of(&a).losses);
    ck_assert(!x.both);
    ck_assert(x.not_held < x.granted || stood_still);
    WAIT(holder.rec.finals == 1);
    ck_assert(holder.rec.when < x.granted || stood_still);
    ck_assert_str_eq(recorder_story(&holder.rec),
                     "GRANTED SUSPENDED LOST(LEASE)");
    ck_assert(evzk_lock_token(rival.l) > token);
    zk_link_thaw(zk, f, leader);
    WAIT(app_heard(&a, "EXPIRED") && evzk_session_connected(a.s));
    one_free(&holder);
    one_free(&rival);
    app_close(&a);
    app_close(&b);
    zk_stop(zk);
    kit_done();
}
END_TEST

/* The same, from the other side: granted on a cut-off follower is nothing. */
START_TEST(ensemble_grants_nothing_without_the_leader)
{
    struct zk *zk = ensemble();
    int leader = zk_leader(zk), f = zk_follower(zk, 0), g = zk_follower(zk, 1);
    struct app a, b;
    struct one holder, waiter;

    app_up(&a, zk_server(zk, g),
           &(evzk_session_options){.timeout_ms = LONG_MS});
    app_up(&b, zk_server(zk, f),
           &(evzk_session_options){.timeout_ms = LEASE_MS});
    one_hold(&holder, &a, "/stale");
    one_start(&waiter, &b, "/stale");
    WAIT(strcmp(evzk_lock_state(waiter.l), "WATCHING") == 0);
    zk_link_freeze(zk, f, leader);
    WAIT(evzk_session_lease_ms(b.s) == 0);
    ck_assert_int_eq(evzk_lock_release(holder.l), EVZK_OK);
    WAIT(holder.rec.finals == 1);
    run_for(harness_base(), LEASE_MS);
    ck_assert(!one_heard(&waiter, "GRANTED"));
    zk_link_thaw(zk, f, leader);
    WAIT(evzk_lock_held(waiter.l));
    ck_assert(evzk_lock_token(waiter.l) > evzk_lock_token(holder.l));
    one_free(&holder);
    one_free(&waiter);
    app_close(&a);
    app_close(&b);
    zk_stop(zk);
    kit_done();
}
END_TEST

/* Which server is the session connected to? */
static int server_of(struct zk *zk)
{
    for (int i = 0; i < zk_size(zk); i++)
        if (socket_to(
                (int)strtol(strrchr(zk_server(zk, i), ':') + 1, NULL, 10)) >= 0)
            return i;
    return -1;
}

static void check_kept(struct app *a, struct one *o, int64_t id, uint64_t token)
{
    ck_assert(evzk_session_id(a->s) == id);
    ck_assert(evzk_lock_held(o->l));
    ck_assert(evzk_lock_token(o->l) == token);
    ck_assert_int_eq(o->rec.finals, 0);
    ck_assert(!app_heard(a, "EXPIRED"));
    ck_assert_uint_eq(stats_of(a).lease_ends, 0);
}

/* Sessions start on any server: until one is where it is wanted. */
static void app_up_on(struct app *a, struct zk *zk, bool on_leader)
{
    int leader = zk_leader(zk);

    for (int i = 0; i < 100; i++) {
        app_up(a, zk_servers(zk),
               &(evzk_session_options){.timeout_ms = LONG_MS});
        if ((server_of(zk) == leader) == on_leader)
            return;
        app_close(a);
    }
    ck_abort_msg("the client never took the other server");
}

static const struct {
    bool on_leader, leader_dies;
    const char *text;
} deaths[] = {{true, true, "the leader, with the client on it"},
              {false, true, "the leader, with the client on a follower"},
              {false, false, "the follower with the client on it"}};

START_TEST(ensemble_session_survives_the_death_of_a_server)
{
    struct zk *zk = ensemble();
    struct app a;
    struct one o, later;
    uint64_t token;
    int64_t id, start;

    app_up_on(&a, zk, deaths[_i].on_leader);
    one_hold(&o, &a, "/kept");
    id = evzk_session_id(a.s);
    token = evzk_lock_token(o.l);
    start = now_ms();
    zk_kill(zk, deaths[_i].leader_dies ? zk_leader(zk) : server_of(zk));
    WAIT(app_heard(&a, "SUSPENDED"));
    WAIT(one_heard(&o, "RESUMED") && evzk_session_connected(a.s));
    printf("ensemble: killed %s: resumed after %d ms\n", deaths[_i].text,
           (int)(now_ms() - start));
    check_kept(&a, &o, id, token);
    one_hold(&later, &a, "/kept/after"); /* Works, too. */
    ck_assert(evzk_lock_token(later.l) > token);
    check_kept(&a, &o, id, token);
    one_free(&later);
    one_free(&o);
    app_close(&a);
    zk_stop(zk);
    kit_done();
}
END_TEST

static bool all_held(const struct one *o, int n)
{
    for (int i = 0; i < n; i++)
        if (!evzk_lock_held(o[i].l))
            return false;
    return true;
}

/* Creates that are stuck behind a frozen link, and may be applied when nobody
 * expects them any more. */
START_TEST(ensemble_late_creates_leave_no_ghost)
{
    enum { N = 20 };
    static struct one o[N];
    struct zk *zk = ensemble();
    int leader = zk_leader(zk), f = zk_follower(zk, 0), g = zk_follower(zk, 1);
    struct proxy *pf = proxy_start(zk_server(zk, f));
    struct proxy *pg = proxy_start(zk_server(zk, g));
    struct raw *r = raw_open(zk_server(zk, leader), LONG_MS, NULL);
    bool together = _i / 2; /* One transaction, or each by itself. */
    char servers[128], path[64];
    int64_t before;
    struct app a;

    raw_mkdirs(r, "/ghost");
    for (int i = 0; i < N && !together; i++) {
        snprintf(path, sizeof path, "/ghost/%d", i);
        raw_mkdirs(r, path);
    }
    snprintf(servers, sizeof servers, "%s,%s", proxy_address(pf),
             proxy_address(pg));
    proxy_refuse(pg, true);
    app_up(&a, servers, &(evzk_session_options){.timeout_ms = LONG_MS});
    for (int i = 0; i < N && !together; i++) { /* So they are known. */
        snprintf(path, sizeof path, "/ghost/%d", i);
        one_hold(&o[i], &a, path);
    }
    for (int i = 0; i < N && !together; i++)
        one_free(&o[i]);
    WAIT(stats_of(&a).machines == 0 && stats_of(&a).in_flight == 0);
    before = proxy_frames_of(pf, PROXY_C2S, together ? OP_MULTI : OP_CREATE);
    zk_link_freeze(zk, f, leader);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/ghost/%d", i);
        one_start(&o[i], &a, path);
    }
    WAIT(proxy_frames_of(pf, PROXY_C2S, together ? OP_MULTI : OP_CREATE) ==
         before + (together ? 1 : N));
    ck_assert(!all_held(o, 1));
    proxy_refuse(pg, false);
    proxy_refuse(pf, true);
    proxy_cut(pf);
    WAIT(app_heard(&a, "RESUMED"));
    if (_i % 2 == 0) /* Let go before, or after, we were granted. */
        zk_link_thaw(zk, f, leader);
    WAIT(all_held(o, N));
    if (_i % 2 == 1)
        zk_link_thaw(zk, f, leader);
    zk_wait_mntr(zk, zk_leader(zk), "zk_synced_followers", 2);
    raw_close(r);
    r = raw_open(zk_server(zk, f), LONG_MS, NULL); /* As the late one sees. */
    ck_assert_int_eq(raw_sync(r, "/ghost"), ZOK);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/ghost/%d", i);
        ck_assert_int_eq(raw_count(r, path), 1);
        ck_assert_str_eq(o[i].rec.text, "GRANTED");
        one_free(&o[i]);
    }
    WAIT(stats_of(&a).machines == 0);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/ghost/%d", i);
        WAIT(raw_count(r, path) <= 0);
    }
    app_close(&a);
    raw_close(r);
    proxy_stop(pf);
    proxy_stop(pg);
    zk_stop(zk);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: ensemble");
    TCase *tc = kit_tcase(suite, "three servers", 180);

    tcase_add_test(tc, ensemble_holder_gives_up_before_its_rival_is_granted);
    tcase_add_test(tc, ensemble_grants_nothing_without_the_leader);
    tcase_add_loop_test(tc, ensemble_session_survives_the_death_of_a_server, 0,
                        3);
    tcase_add_loop_test(tc, ensemble_late_creates_leave_no_ghost, 0, 4);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
