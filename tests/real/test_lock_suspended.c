/*
 * The lock in doubt: what happens all at once when the application keeps the
 * loop for long, what is asked for inside the events, and what comes on time
 * though the server is silent.
 */
#include "test_lock.h"

/* A lock that acts inside its events. */
struct actor {
    evzk_lock *l;
    struct recorder rec;
    evzk_lock_event at;       /* At this event ... */
    int (*act)(evzk_lock *l); /* ... it calls this. */
    int rc;                   /* The call's result. */
    const char *dir;          /* Or NULL: */
    int left;                 /* How many were in it at the final event. */
};

static int children(const char *dir)
{
    struct raw *r = raw_open(the_server(), OPERATOR_MS, NULL);
    int n = raw_count(r, dir);

    raw_close(r);
    return n;
}

static void on_actor(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct actor *a = arg;

    recorder_on_lock(l, ev, rc, &a->rec);
    if (ev == a->at)
        a->rc = a->act(l);
    if (a->dir && ev >= EVZK_LOCK_RELEASED)
        a->left = children(a->dir);
}

static void actor_start(struct actor *a, evzk_session *s, const char *dir,
                        const evzk_lock_options *opt)
{
    a->rc = -999;
    ck_assert_int_eq(evzk_lock_acquire(s, dir, opt, on_actor, a, &a->l),
                     EVZK_OK);
}

static evzk_session_stats stats_of(const struct peer *p)
{
    evzk_session_stats stats;

    evzk_session_get_stats(p->s, &stats);
    return stats;
}

/* The application keeps the loop until the lease is over. */
static void outstay_lease(evzk_session *s)
{
    int64_t end = now_ms() + slow_ms(10 * BRIEF_MS), over;

    while (evzk_session_lease_ms(s) > 0)
        ck_assert_int_lt(now_ms(), end);
    over = now_ms() + 20; /* Less than 1 ms is 0, too. */
    while (now_ms() < over)
        ;
}

/*
 * The doubt is over, but the answer about the own znode is late: it arrives
 * together with the next word of the leader, after the lease has ended, and all
 * of that is seen at once.
 */
START_TEST(doubt_ends_one_way_or_the_other)
{
    const char *dir = "/doubt-late";
    struct stall *stall;
    struct scene sc;
    struct claim c;

    scene_open(&sc, BRIEF_MS);
    claim_held(&c, sc.p.s, dir, NULL);
    /* The lease is in its stride, and no doubt is about to pass. */
    WAIT(stats_of(&sc.p).probes >= 6 && stats_of(&sc.p).in_flight == 0 &&
         evzk_session_connected(sc.p.s));
    stall = stall_start(harness_base());
    proxy_freeze(sc.proxy, PROXY_S2C);
    WAIT(!evzk_session_connected(sc.p.s) && /* And the lock has heard. */
         strcmp(recorder_story(&c.rec), "GRANTED") != 0);
    proxy_trap(sc.proxy, PROXY_S2C, OP_GET, 1, PROXY_FREEZE);
    proxy_thaw(sc.proxy);
    WAIT(evzk_session_connected(sc.p.s) || c.rec.finals == 1);
    WAIT(stats_of(&sc.p).in_flight == 2 || c.rec.finals == 1 ||
         strcmp(recorder_story(&c.rec), "GRANTED") == 0);
    /* On a slow machine the lease is over by now, or all of it passed. */
    ck_assert_msg(c.rec.finals == 1 || stall_max_ms(stall) > 100 ||
                      strcmp(recorder_story(&c.rec), "GRANTED SUSPENDED") == 0,
                  "%s", c.rec.text);
    stall_stop(stall);
    WAIT(proxy_fired(sc.proxy) == 1 || c.rec.finals == 1 ||
         strcmp(recorder_story(&c.rec), "GRANTED") == 0);
    proxy_untrap(sc.proxy); /* Else it might fire after the thaw. */
    proxy_thaw(sc.proxy);
    outstay_lease(sc.p.s);
    WAIT(strcmp(recorder_story(&c.rec), "GRANTED") == 0 || c.rec.finals == 1);
    if (c.rec.finals == 0)
        claim_release(&c);
    else
        ck_assert_str_eq(recorder_story(&c.rec),
                         "GRANTED SUSPENDED LOST(LEASE)");
    evzk_lock_free(c.l);
    scene_close(&sc, dir);
}
END_TEST

/* The cut and the end of the lease are seen at once, and the lock is given back
 * in the first event of the two: RELEASED is said when it is true. */
START_TEST(release_in_suspended_proves_it)
{
    const char *dir = "/doubt-release";
    struct scene sc;
    struct actor a = {.act = evzk_lock_release, .dir = dir, .left = 1};

    scene_open(&sc, BRIEF_MS);
    actor_start(&a, sc.p.s, dir, NULL);
    WAIT(evzk_lock_held(a.l));
    WAIT(stats_of(&sc.p).in_flight == 0 && evzk_session_connected(sc.p.s));
    a.at = EVZK_LOCK_SUSPENDED; /* Not in a doubt of a slow machine's. */
    recorder_clear(&a.rec);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    outstay_lease(sc.p.s);
    WAIT(recorder_has(&a.rec, "SUSPENDED"));
    run_for(harness_base(), 50); /* For what must not happen. */
    ck_assert_int_eq(a.rc, EVZK_OK);
    proxy_refuse(sc.proxy, false);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(a.rec.text, "SUSPENDED RELEASED");
    ck_assert_int_le(a.left, 0);
    evzk_lock_free(a.l);
    scene_close(&sc, dir);
}
END_TEST

/* Over is over, while the znode is still being deleted too. */
START_TEST(nothing_is_asked_of_what_has_ended)
{
    const evzk_lock_options opt = {.timeout_ms = 200};
    const char *dir = "/doubt-ended";
    struct actor a = {.at = EVZK_LOCK_FAILED, .act = evzk_lock_cancel};
    struct peer p;
    struct claim held;

    peer_open(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    actor_start(&a, p.s, dir, &opt);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(a.rec.text, "FAILED(TIMEOUT)");
    ck_assert_int_eq(a.rc, EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_cancel(a.l), EVZK_ERR_STATE);
    evzk_lock_free(a.l);
    claim_release(&held);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(nothing_is_asked_of_what_was_lost)
{
    const char *dir = "/doubt-lost";
    struct actor a = {.at = EVZK_LOCK_LOST, .act = evzk_lock_release};
    struct scene sc;

    scene_open(&sc, BRIEF_MS);
    actor_start(&a, sc.p.s, dir, NULL);
    WAIT(evzk_lock_held(a.l));
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&a.rec), "GRANTED SUSPENDED LOST(LEASE)");
    ck_assert_int_eq(a.rc, EVZK_ERR_STATE);
    proxy_refuse(sc.proxy, false);
    evzk_lock_free(a.l);
    scene_close(&sc, dir);
}
END_TEST

/* The session knows that another process holds the lock, but the server does
 * not confirm that the znode is gone: the deadline does not wait for that. */
START_TEST(busy_comes_at_the_deadline)
{
    /* Time to learn it is held; the doubt comes long after both. */
    enum { DEADLINE_MS = 4000, LATE_MS = 4000 };
    const evzk_lock_options opt = {.try_once = true, .timeout_ms = DEADLINE_MS};
    const char *dir = "/doubt-busy";
    struct scene sc;
    struct claim held, c;
    int64_t start;

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.rival.s, dir, NULL);
    proxy_trap(sc.proxy, PROXY_S2C, OP_DELETE, 1, PROXY_FREEZE);
    start = now_ms();
    claim(&c, sc.p.s, dir, &opt);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(BUSY)");
    ck_assert_int_lt(c.rec.when - start, DEADLINE_MS + slow_ms(LATE_MS));
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    ck_assert_uint_eq(stats_of(&sc.p).losses, 0); /* Still silent. */
    proxy_thaw(sc.proxy);
    evzk_lock_free(c.l);
    WAIT(raw_count(op(), dir) == 1);
    claim_release(&held);
    scene_close(&sc, dir);
}
END_TEST

/* The leader's word comes after the session was closed: nothing is resumed that
 * nobody holds any more. */
START_TEST(nothing_resumes_after_the_close)
{
    const char *dir = "/doubt-close";
    struct scene sc;
    struct claim c;

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, NULL);
    WAIT(stats_of(&sc.p).probes >= 2);
    proxy_freeze(sc.proxy, PROXY_S2C);
    WAIT_EVENT(&c, "SUSPENDED");
    WAIT_EVENT(&sc.p, "SUSPENDED");
    ck_assert_uint_eq(stats_of(&sc.p).losses, 0);
    ck_assert_int_eq(evzk_session_close(sc.p.s), EVZK_OK);
    ck_assert(!evzk_lock_held(c.l));
    proxy_thaw(sc.proxy);
    WAIT(sc.p.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "GRANTED SUSPENDED LOST(CLOSED)");
    ck_assert(recorder_has(&sc.p.rec, "CLOSED"));
    ck_assert_msg(!recorder_has(&sc.p.rec, "RESUMED"), "%s", sc.p.rec.text);
    evzk_lock_free(c.l);
    evzk_session_free(sc.p.s);
    nothing_left(dir, sc.rival.s);
    peer_close(&sc.rival);
    proxy_stop(sc.proxy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock: in doubt");
    TCase *t = lock_tests(suite, "doubt", 90000);

    tcase_add_test(t, doubt_ends_one_way_or_the_other);
    tcase_add_test(t, release_in_suspended_proves_it);
    tcase_add_test(t, nothing_is_asked_of_what_has_ended);
    tcase_add_test(t, nothing_is_asked_of_what_was_lost);
    tcase_add_test(t, busy_comes_at_the_deadline);
    tcase_add_test(t, nothing_resumes_after_the_close);
    return lock_suite_run(suite);
}
