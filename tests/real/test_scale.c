/*
 * Twenty thousand watches on one session, and one cut of the connection: more
 * than the client can set again in one packet, or list without standing still.
 */
#include "test_session_kit.h"

enum {
    MANY = 20000,
    PATH_MIN = 75,    /* Of what is watched. */
    ARMED_MS = 30000, /* After the cut; the session lives twice as long. */
    RECONNECTS = 3,   /* At most. */
    STALL_GOAL_MS = 20
};

static struct {
    int granted, suspended, resumed, other;
} heard;

static void on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    (void)l;
    (void)rc;
    (void)arg;
    heard.granted += ev == EVZK_LOCK_GRANTED;
    heard.suspended += ev == EVZK_LOCK_SUSPENDED;
    heard.resumed += ev == EVZK_LOCK_RESUMED;
    heard.other += ev > EVZK_LOCK_RESUMED;
}

static void acquire_all(struct app *a, evzk_lock **l, int n)
{
    char path[128];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/scale/a-lock-of-many-%06d", i);
        ck_assert_int_eq(
            evzk_lock_acquire(a->s, path, NULL, on_lock, NULL, &l[i]), EVZK_OK);
    }
}

static bool settled(const struct app *a)
{
    evzk_session_stats st = stats_of(a);

    return st.in_flight == 0 && st.queued == 0;
}

static void check_all_held(evzk_lock **l, int n)
{
    char path[256];

    for (int i = 0; i < n; i++)
        ck_assert(evzk_lock_held(l[i]));
    snprintf(path, sizeof path, "/scale/a-lock-of-many-%06d/%s", 0,
             evzk_lock_node(l[0]));
    ck_assert_uint_ge(strlen(path), PATH_MIN);
}

/* A watch that is armed works: the operator deletes some of the znodes. */
static void check_watches_fire(struct raw *r, evzk_lock **l, int n)
{
    char path[256];
    int k = 0;

    for (int i = 0; i < n; i += n / 10, k++) {
        snprintf(path, sizeof path, "/scale/a-lock-of-many-%06d/%s", i,
                 evzk_lock_node(l[i]));
        ck_assert_int_eq(raw_delete(r, path), ZOK);
    }
    WAIT(heard.other == k);
}

START_TEST(scale_watches_are_armed_again_after_a_cut)
{
    static evzk_lock *l[MANY];
    int n = RUNNING_ON_VALGRIND ? MANY / 20 : MANY;
    struct zk *zk = zk_start(NULL);
    struct proxy *p = proxy_start(zk_server(zk, 0));
    struct raw *r = raw_open(zk_server(zk, 0), KIT_OPERATOR_MS, NULL);
    struct stall *stall;
    struct app a;
    int64_t start, took, grant_ms, connects;
    double first, first_gap, gap, own;
    double turn;

    app_up(&a, proxy_address(p), &(evzk_session_options){.timeout_ms = 60000});
    stall = stall_start(harness_base());
    start = now_ms();
    acquire_all(&a, l, n);
    stall_reset(stall); /* The test's own loop above held it. */
    WAIT_MS(300000, heard.granted == n && settled(&a));
    grant_ms = now_ms() - start;
    first = stall_own_ms(stall);
    first_gap = stall_max_ms(stall);
    turn = (double)stats_of(&a).turn_max_us / 1000;
    /* The watches come after a while. */
    WAIT_MS(300000, stats_of(&a).watches == (unsigned)n && settled(&a));
    ck_assert_int_eq(zk_mntr(zk, 0, "zk_watch_count"), n);
    check_all_held(l, n);

    connects = (int64_t)stats_of(&a).connects;
    run_for(harness_base(), 10);
    stall_reset(stall);
    start = now_ms();
    proxy_cut(p);
    WAIT(heard.suspended == n);
    WAIT(heard.resumed == n && settled(&a));
    took = now_ms() - start;
    gap = stall_max_ms(stall);
    own = stall_own_ms(stall);
    connects = (int64_t)stats_of(&a).connects - connects;
    printf("scale: %d locks granted in %d ms (stall "
           "%.1f ms, own %.1f, the library's turn %.1f); cut: all armed "
           "again in %d ms, %d reconnect(s), %d lost, longest stall %.1f ms "
           "(own %.1f, the library's turn %.1f; goal %d)\n",
           n, (int)grant_ms, first_gap, first, turn, (int)took, (int)connects,
           heard.other, gap, own, (double)stats_of(&a).turn_max_us / 1000,
           STALL_GOAL_MS);
    ck_assert_int_eq(heard.other, 0);
    ck_assert_int_eq(heard.granted, n);
    ck_assert_int_le(connects, RECONNECTS);
    ck_assert_int_ge(connects, 1);
    ck_assert_int_le(took, slow_ms(ARMED_MS));
    ck_assert_int_eq(zk_mntr(zk, 0, "zk_watch_count"), n);
    ck_assert(own < (double)slow_ms(STALL_GOAL_MS));
    check_all_held(l, n);
    stall_stop(stall);

    check_watches_fire(r, l, n);
    for (int i = 0; i < n; i++)
        evzk_lock_free(l[i]);
    WAIT_MS(120000, stats_of(&a).machines == 0);
    ck_assert_uint_eq(stats_of(&a).watches, 0);
    zk_wait_mntr(zk, 0, "zk_watch_count", 0);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    zk_stop(zk);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("scale");
    TCase *tc = kit_tcase(suite, "scale", 400);

    tcase_add_test(tc, scale_watches_are_armed_again_after_a_cut);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
