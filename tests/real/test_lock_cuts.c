/*
 * The connection breaks, or freezes, at every single step: two contenders, one
 * behind a proxy, each acquire, hold and release; the proxy acts at the k-th
 * frame, for k = 1, 2, ... until the scenario ends before it.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_lock.h"

enum { FROZEN_MS = 800 }; /* Time-out of the session that is frozen. */

static const char dir[] = "/cuts/lock";

/* Two contenders, and what must be true of them. */
struct duel {
    struct claim c[2];
    bool done[2]; /* Asked to release. */
    int grants[2];
    uint64_t token; /* Of the latest grant. */
};

static void on_event(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct duel *d = arg;
    int me = l == d->c[1].l;

    recorder_on_lock(l, event, rc, &d->c[me].rec);
    ck_assert(!evzk_lock_held(d->c[0].l) || !evzk_lock_held(d->c[1].l));
    ck_assert_msg(d->c[me].rec.finals <= 1, "%s", d->c[me].rec.text);
    if (event != EVZK_LOCK_GRANTED)
        return;
    ck_assert(!evzk_lock_held(d->c[!me].l));
    ck_assert_int_eq(++d->grants[me], 1);
    ck_assert_uint_gt(evzk_lock_token(l), d->token);
    d->token = evzk_lock_token(l);
}

static void enter(struct duel *d, int i, evzk_session *s)
{
    ck_assert_int_eq(evzk_lock_acquire(s, dir, NULL, on_event, d, &d->c[i].l),
                     EVZK_OK);
}

static bool queued(const struct duel *d, int i)
{
    return d->c[i].rec.finals > 0 || evzk_lock_node(d->c[i].l)[0];
}

/* Whoever holds it gives it back, when the other stands in the queue. */
static bool advance(struct duel *d)
{
    ck_assert(!evzk_lock_held(d->c[0].l) || !evzk_lock_held(d->c[1].l));
    for (int i = 0; i < 2; i++) {
        if (!d->done[i] && evzk_lock_held(d->c[i].l) && queued(d, !i)) {
            d->done[i] = true;
            ck_assert_int_eq(evzk_lock_release(d->c[i].l), EVZK_OK);
            ck_assert(!evzk_lock_held(d->c[i].l));
        }
    }
    return d->c[0].rec.finals + d->c[1].rec.finals == 2;
}

static void check_released(const struct duel *d, int i)
{
    ck_assert_msg(d->c[i].rec.last == EVZK_LOCK_RELEASED &&
                      d->c[i].rec.rc == EVZK_OK,
                  "%d: %s", i, d->c[i].rec.text);
    ck_assert_int_eq(d->grants[i], 1);
}

static void leave(struct duel *d)
{
    evzk_lock_free(d->c[0].l);
    evzk_lock_free(d->c[1].l);
}

/* True if the trap fired. */
static bool cut_at(struct proxy *proxy, struct peer *rival, enum proxy_dir way,
                   enum proxy_act act, int k)
{
    struct duel d = {0};
    struct peer p;
    int64_t before = proxy_fired(proxy);
    bool fired;
    evzk_session_options opt = {.timeout_ms = SESSION_MS};

    raw_delete_tree(op(), "/cuts");
    proxy_cut_at_frame(proxy, way, k, act);
    peer_start(&p, proxy_address(proxy), &opt);
    enter(&d, 0, p.s);
    enter(&d, 1, rival->s);
    WAIT(advance(&d));
    fired = proxy_fired(proxy) > before;
    proxy_untrap(proxy);
    check_released(&d, 0);
    check_released(&d, 1);
    leave(&d);
    WAIT(evzk_session_connected(p.s));
    nothing_left(dir, p.s);
    nothing_left(dir, rival->s);
    peer_close(&p);
    return fired;
}

START_TEST(cut_at_every_frame)
{
    enum proxy_dir way = _i & 1 ? PROXY_S2C : PROXY_C2S;
    enum proxy_act act = _i & 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE;
    struct proxy *proxy = proxy_start(the_server());
    struct peer rival;
    int k = 1;

    peer_open(&rival, the_server());
    while (cut_at(proxy, &rival, way, act, k))
        k++;
    printf("%s frames, %s: %d cuts\n", _i & 1 ? "replies" : "requests",
           _i & 2 ? "delivered" : "dropped", k - 1);
    ck_assert_int_ge(k, 7);
    peer_close(&rival);
    proxy_stop(proxy);
}
END_TEST

/* Two cuts: at the k-th frame, and again at the n-th of the next connection. */
START_TEST(cut_twice)
{
    struct proxy *proxy = proxy_start(the_server());
    struct peer rival, p;
    evzk_session_options opt = {.timeout_ms = SESSION_MS};
    enum proxy_dir way = _i & 1 ? PROXY_S2C : PROXY_C2S;

    peer_open(&rival, the_server());
    for (int k = 2; k <= 7; k++) {
        for (int n = 1; n <= 5; n++) {
            struct duel d = {0};
            int64_t fired = proxy_fired(proxy);

            proxy_cut_at_frame(proxy, way, k, PROXY_CUT_BEFORE);
            peer_start(&p, proxy_address(proxy), &opt);
            enter(&d, 0, p.s);
            enter(&d, 1, rival.s);
            WAIT(advance(&d) || proxy_fired(proxy) > fired);
            proxy_cut_at_frame(proxy, way, n, PROXY_CUT_BEFORE);
            WAIT(advance(&d));
            proxy_untrap(proxy);
            check_released(&d, 0);
            check_released(&d, 1);
            leave(&d);
            WAIT(evzk_session_connected(p.s));
            nothing_left(dir, p.s);
            peer_close(&p);
        }
    }
    peer_close(&rival);
    proxy_stop(proxy);
}
END_TEST

/* The end of a contender that was out of reach for longer than its session. */
static void check_frozen(const struct duel *d)
{
    const struct recorder *rec = &d->c[0].rec;

    ck_assert_msg(rec->last == EVZK_LOCK_LOST
                      ? rec->rc == EVZK_ERR_LEASE || rec->rc == EVZK_ERR_EXPIRED
                      : rec->last == EVZK_LOCK_RELEASED && rec->rc == EVZK_OK,
                  "%s", rec->text);
    ck_assert_int_eq(d->grants[0], 1);
}

static bool freeze_at(struct proxy *proxy, struct peer *rival,
                      enum proxy_dir way, int k)
{
    evzk_session_options opt = {.timeout_ms = FROZEN_MS};
    int64_t before = proxy_fired(proxy), thaw_at;
    struct duel d = {0};
    struct peer p;
    bool fired;

    proxy_cut_at_frame(proxy, way, k, PROXY_FREEZE);
    peer_start(&p, proxy_address(proxy), &opt);
    enter(&d, 0, p.s);
    enter(&d, 1, rival->s);
    WAIT(advance(&d) || proxy_fired(proxy) > before);
    fired = proxy_fired(proxy) > before;
    thaw_at = now_ms() + (fired ? FROZEN_MS * 7 / 4 : 0);
    WAIT((advance(&d), now_ms() >= thaw_at));
    proxy_thaw(proxy);
    WAIT(advance(&d));
    proxy_untrap(proxy);
    check_frozen(&d);
    check_released(&d, 1);
    leave(&d);
    WAIT(evzk_session_connected(p.s));
    nothing_left(dir, p.s);
    nothing_left(dir, rival->s);
    peer_close(&p);
    return fired;
}

START_TEST(freeze_at_every_frame)
{
    enum proxy_dir way = _i & 1 ? PROXY_S2C : PROXY_C2S;
    struct proxy *proxy = proxy_start(the_server());
    struct peer rival;
    int k = 1;

    peer_open(&rival, the_server());
    while (freeze_at(proxy, &rival, way, k) && k < 20)
        k++;
    ck_assert_int_ge(k, 7);
    peer_close(&rival);
    proxy_stop(proxy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-cuts");
    TCase *tests = lock_tests(suite, "cuts", 120000);

    tcase_add_loop_test(tests, cut_at_every_frame, 0, 4);
    tcase_add_loop_test(tests, cut_twice, 0, 2);
    tcase_add_loop_test(tests, freeze_at_every_frame, 0, 2);
    return lock_suite_run(suite);
}
