/*
 * How soon: a free lock is granted after one round trip, and what an operator
 * does to a znode is noticed in time.
 */
#include "test_many.h"

static int64_t sent(struct proxy *proxy)
{
    return proxy_frames(proxy, PROXY_C2S);
}

/*
 * One round trip, whatever the clock says: all that is asked is on its way
 * while no answer comes, and the answers to that are enough.
 */
static void one_trip(struct proxy *proxy, struct peer *p, const char *path,
                     int frames)
{
    int64_t before = sent(proxy);
    struct claim c;

    all_answered(p->s);
    proxy_freeze(proxy, PROXY_S2C);
    claim(&c, p->s, path, NULL);
    WAIT(sent(proxy) == before + frames);
    run_for(harness_base(), 50); /* For what must not happen. */
    ck_assert_int_eq(c.rec.count, 0);
    ck_assert_int_eq(sent(proxy), before + frames);
    proxy_trap(proxy, PROXY_C2S, PROXY_OP_ANY, 1, PROXY_FREEZE);
    proxy_thaw(proxy);
    WAIT_EVENT(&c, "GRANTED"); /* With nothing more sent. */
    ck_assert_int_eq(sent(proxy), before + frames);
    ck_assert(evzk_lock_held(c.l));
    proxy_untrap(proxy);
    proxy_thaw(proxy);
    claim_release(&c);
}

/* The directory comes with the lock, as one request. */
START_TEST(one_trip_where_nothing_is)
{
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;

    raw_delete_tree(op(), "/trip-new");
    raw_mkdirs(op(), "/trip-new");
    peer_fresh(&p, proxy_address(proxy));
    for (int i = 0; i < 3; i++)
        one_trip(proxy, &p, "/trip-new/lock", 1);
    nothing_left("/trip-new", p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* The session has learnt that directories exist: create and list leave
 * together. */
START_TEST(one_trip_in_a_directory)
{
    struct proxy *proxy = proxy_start(the_server());
    struct claim c, stay;
    struct peer p;

    raw_mkdirs(op(), "/trip-old/lock");
    peer_fresh(&p, proxy_address(proxy));
    for (int i = 0; i < 8; i++) { /* So that what is new to it is tried so. */
        claim_held(&c, p.s, "/trip-old/lock", NULL);
        claim_release(&c);
    }
    one_trip(proxy, &p, "/trip-old/lock", 2);
    claim_held(&stay, p.s, "/trip-old/held", NULL);
    one_trip(proxy, &p, "/trip-old/lock", 2);
    claim_release(&stay);
    nothing_left("/trip-old/lock", p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/trip-old");
}
END_TEST

/* ---- An operator's deletion ---- */

static uint32_t probe_ms(const struct peer *p)
{
    evzk_session_stats st;

    evzk_session_get_stats(p->s, &st);
    return st.probe_ms;
}

/* Waits until it was noticed; how long that took. */
static int64_t break_and_wait(struct claim *c, const char *dir,
                              const char *word)
{
    int64_t start = now_ms();

    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(c->l))),
                     ZOK);
    WAIT_EVENT(c, word);
    return c->rec.when - start;
}

enum { SLACK_MS = 1500 };

/* A holder's (the even ones), or that of a waiter behind it. */
START_TEST(deletion_is_noticed)
{
    const char *dir = "/trip-own/lock";
    bool waits = _i % 2, placed = _i / 2;
    const char *word = waits ? "REQUEUED(NODEGONE)" : "LOST(NODEGONE)";
    struct claim held, c, *it = waits ? &c : &held;
    evzk_session_stats st;
    struct peer p;
    int64_t limit, took;

    peer_short(&p, the_server());
    ck_assert_uint_le(probe_ms(&p), SHORT_MS / 6);
    limit = placed ? probe_ms(&p) / 2 : 2 * probe_ms(&p) + SLACK_MS;
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&c, p.s, dir, NULL);
    if (placed)
        WAIT((evzk_session_get_stats(p.s, &st), st.watches == 3));
    if (placed)
        wait_watches(3); /* Two of them are on one znode. */
    took = break_and_wait(it, dir, word);
    ck_assert_int_le(took, slow_ms(limit));
    ck_assert(!evzk_lock_held(it->l));
    evzk_lock_free(held.l);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* With a rival next to it: for a while both may be told, but a token tells who
 * is the newer one, and the broken one hears in time. */
START_TEST(broken_at_its_turn_hears_in_time)
{
    const char *dir = "/trip-turn/lock";
    struct claim first, broken, next;
    struct peer p, rival;

    peer_short(&p, the_server());
    peer_short(&rival, the_server());
    claim_held(&first, p.s, dir, NULL);
    claim_queued(&broken, p.s, dir, NULL);
    claim_queued(&next, rival.s, dir, NULL);
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(broken.l))),
                     ZOK);
    claim_release(&first);
    WAIT_EVENT(&next, "GRANTED");
    WAIT(recorder_has(&broken.rec, "LOST(NODEGONE)") ||
         recorder_has(&broken.rec, "REQUEUED(NODEGONE)"));
    ck_assert(!evzk_lock_held(broken.l));
    ck_assert_int_le(broken.rec.when - next.rec.when,
                     slow_ms(2 * probe_ms(&p) + SLACK_MS));
    evzk_lock_free(broken.l);
    claim_release(&next);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trip");
    TCase *tests = lock_tests(suite, "trip", 60000);

    tcase_add_test(tests, one_trip_where_nothing_is);
    tcase_add_test(tests, one_trip_in_a_directory);
    tcase_add_loop_test(tests, deletion_is_noticed, 0, 4);
    tcase_add_test(tests, broken_at_its_turn_hears_in_time);
    return lock_suite_run(suite);
}
