/*
 * The exclusive lock when its session expires.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_lock.h"

/* ---- Expiry ---- */

START_TEST(holder_expires)
{
    const char *dir = "/expire-holder";
    struct peer p, rival;
    struct claim held, next;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, rival.s, dir, NULL);
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED LOST(EXPIRED)");
    ck_assert(!evzk_lock_held(held.l));
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    evzk_lock_free(held.l);
    WAIT(evzk_session_connected(p.s));
    claim_held(&held, p.s, dir, NULL); /* In the new session. */
    claim_release(&held);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

START_TEST(waiter_expires)
{
    const evzk_lock_options opt = {.no_requeue = true};
    const char *dir = "/expire-waiter";
    struct peer p, rival;
    struct claim held, a, b, last;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, rival.s, dir, NULL);
    claim_queued(&a, p.s, dir, NULL);
    claim_queued(&b, p.s, dir, &opt);
    claim_queued(&last, rival.s, dir, NULL);
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT_EVENT(&a, "REQUEUED(EXPIRED)");
    WAIT(b.rec.finals == 1);
    ck_assert_str_eq(b.rec.text, "FAILED(EXPIRED)");
    evzk_lock_free(b.l);
    WAIT(strcmp(evzk_lock_state(a.l), "WATCHING") == 0);
    claim_release(&held);
    WAIT_EVENT(&last, "GRANTED"); /* Was behind, and is before it now. */
    ck_assert_str_eq(a.rec.text, "REQUEUED(EXPIRED)");
    claim_release(&last);
    WAIT_EVENT(&a, "GRANTED");
    ck_assert_str_eq(a.rec.text, "REQUEUED(EXPIRED) GRANTED");
    claim_release(&a);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* In any state on the way to the lock: it gets it in the next session. */
START_TEST(expires_on_the_way)
{
    static const char *const states[] = {"CREATING", "MAKING_PARENTS",
                                         "RESOLVING", "ADOPTING", "LISTING"};
    const char *dir = "/expire-way/x", *state = states[_i];
    bool listing = strcmp(state, "LISTING") == 0;
    struct claim c, held, second; /* A listing must tell who comes next. */
    struct scene sc;

    raw_delete_tree(op(), "/expire-way");
    scene_open(&sc, SESSION_MS);
    if (listing) {
        claim_held(&held, sc.rival.s, dir, NULL);
        claim_queued(&second, sc.rival.s, dir, NULL);
    } else if (strcmp(state, "MAKING_PARENTS") != 0)
        raw_mkdirs(op(), dir);
    if (strcmp(state, "RESOLVING") == 0 || strcmp(state, "ADOPTING") == 0)
        proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    claim(&c, sc.p.s, dir, NULL);
    if (listing) {
        WAIT(strcmp(evzk_lock_state(c.l), "WATCHING") == 0);
        ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
        ck_assert_int_eq(evzk_lock_cancel(second.l), EVZK_OK);
    }
    WAIT(strcmp(evzk_lock_state(c.l), state) == 0);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    if (evzk_session_connected(sc.p.s))
        raw_expire(the_server(), evzk_session_id(sc.p.s));
    else
        raw_expire(the_server(), proxy_session(sc.proxy));
    proxy_thaw(sc.proxy);
    if (listing) {
        WAIT(held.rec.finals == 1);
        ck_assert_str_eq(held.rec.text, "GRANTED RELEASED");
        evzk_lock_free(held.l);
        evzk_lock_free(second.l);
    }
    WAIT(evzk_lock_held(c.l) || c.rec.finals > 0);
    /* A grant on its way may have come before the news: then the lock was held.
     */
    if (c.rec.finals == 0 && recorder_has(&sc.p.rec, "EXPIRED")) {
        ck_assert(evzk_lock_held(c.l));
        claim_release(&c);
    } else {
        WAIT(c.rec.finals == 1);
        ck_assert(recorder_has(&c.rec, "LOST(EXPIRED)"));
        evzk_lock_free(c.l);
    }
    scene_close(&sc, dir);
    raw_delete_tree(op(), "/expire-way");
}
END_TEST

START_TEST(releasing_expires)
{
    const char *dir = "/expire-release";
    struct claim held, waiting;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.p.s, dir, NULL);
    claim_queued(&waiting, sc.p.s, dir, NULL);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_cancel(waiting.l), EVZK_OK);
    WAIT(strcmp(evzk_lock_state(held.l), "DELETING") == 0);
    raw_expire(the_server(), evzk_session_id(sc.p.s));
    run_for(harness_base(), 100);
    ck_assert_str_eq(held.rec.text, "GRANTED"); /* The lock cannot know. */
    proxy_cut(sc.proxy);
    proxy_thaw(sc.proxy);
    WAIT(held.rec.finals == 1 && waiting.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED RELEASED");
    ck_assert_str_eq(waiting.rec.text, "FAILED(CANCELED)");
    evzk_lock_free(held.l);
    evzk_lock_free(waiting.l);
    scene_close(&sc, dir);
}
END_TEST

/*
 * Out of reach for longer than the session lives: the holder hears so before a
 * rival can have the lock; the waiter joins again.
 */
START_TEST(out_of_reach)
{
    const char *dir = "/reach", *other = "/reach-2";
    struct claim held, next, blocker, waiting;
    struct scene sc;
    struct stall *stall;
    int64_t cut_at;

    scene_open(&sc, BRIEF_MS);
    claim_held(&held, sc.p.s, dir, NULL);
    claim_queued(&next, sc.rival.s, dir, NULL);
    claim_held(&blocker, sc.rival.s, other, NULL);
    claim_queued(&waiting, sc.p.s, other, NULL);
    stall = stall_start(harness_base());
    cut_at = now_ms();
    if (_i == 0) {
        proxy_freeze(sc.proxy, PROXY_BOTH);
    } else {
        proxy_refuse(sc.proxy, true);
        proxy_cut(sc.proxy);
    }
    WAIT(!evzk_session_connected(sc.p.s));
    /* The lease had a second and more; on a slow machine that may be over. */
    ck_assert(evzk_lock_held(held.l) || now_ms() - cut_at > BRIEF_MS / 4);
    WAIT(recorder_has(&next.rec, "GRANTED") || held.rec.finals == 1);
    ck_assert(!evzk_lock_held(held.l));
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&held.rec),
                     "GRANTED SUSPENDED LOST(LEASE)");
    WAIT_EVENT(&next, "GRANTED");
    /* Both may be heard at once, when the loop stood still. */
    ck_assert(next.rec.when >= held.rec.when || stall_max_ms(stall) > 100);
    stall_stop(stall);
    ck_assert_int_eq(waiting.rec.count, 0);
    WAIT(raw_count(op(), other) == 1);
    if (_i == 0)
        proxy_thaw(sc.proxy);
    else
        proxy_refuse(sc.proxy, false);
    WAIT_EVENT(&waiting, "REQUEUED(EXPIRED)");
    claim_release(&blocker);
    WAIT_EVENT(&waiting, "GRANTED");
    claim_release(&waiting);
    claim_release(&next);
    evzk_lock_free(held.l);
    nothing_left(other, sc.p.s);
    scene_close(&sc, dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-expiry");
    TCase *tests = lock_tests(suite, "expiry", 60000);

    tcase_add_test(tests, holder_expires);
    tcase_add_test(tests, waiter_expires);
    tcase_add_loop_test(tests, expires_on_the_way, 0, 5);
    tcase_add_test(tests, releasing_expires);
    tcase_add_loop_test(tests, out_of_reach, 0, 2);
    return lock_suite_run(suite);
}
