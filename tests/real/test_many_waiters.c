/*
 * Many waiters on one lock: what they cost, the order in which they are served,
 * and what happens to the queue when some of them leave it.
 */
#include "test_many.h"

static const char dir[] = "/queue/lock";

/* Each gives it back as soon as it has it; before that nobody else has it. */
static struct member *holding;
static uint64_t last_token;

static void pass_on(struct member *m)
{
    ck_assert(!holding || !evzk_lock_held(holding->l));
    ck_assert(evzk_lock_held(m->l));
    ck_assert_uint_gt(m->token, last_token);
    holding = m;
    last_token = m->token;
    ck_assert_int_eq(evzk_lock_release(m->l), EVZK_OK);
}

/* The one before all of them, until it is released. */
static void hold_first(struct claim *held, struct peer *p)
{
    claim_held(held, p->s, dir, NULL);
    holding = NULL;
    last_token = evzk_lock_token(held->l);
}

static bool all_waiting(const struct crowd *c)
{
    for (int i = 0; i < c->n; i++) {
        if (c->v[i].l && strcmp(evzk_lock_state(c->v[i].l), "WATCHING") != 0)
            return false;
    }
    return true;
}

/* All of one session, behind one that holds; each passes it on. */
static void line_up(struct crowd *c, int n, struct claim *held, struct peer *p)
{
    crowd_new(c, n);
    c->on_grant = pass_on;
    hold_first(held, p);
    for (int i = 0; i < n; i++)
        crowd_start(c, i, p->s, dir, NULL);
    WAIT(all_waiting(c));
}

/* In the order of their start. */
static void check_order(const struct crowd *c)
{
    for (int i = 1; i < c->n; i++)
        ck_assert_int_eq(c->v[i].turn, c->v[i - 1].turn + 1);
}

/* ---- One session ---- */

enum { MOST_PER_WAITER = 4 };

START_TEST(one_session_asks_little)
{
    int n = RUNNING_ON_VALGRIND ? 500 : 2000;
    struct proxy *proxy = proxy_start(the_server());
    long start, lists;
    struct claim held;
    struct crowd c;
    struct peer p;

    peer_fresh(&p, proxy_address(proxy));
    crowd_new(&c, n);
    c.on_grant = pass_on;
    hold_first(&held, &p);
    start = packets();
    for (int i = 0; i < n; i++)
        crowd_start(&c, i, p.s, dir, NULL);
    WAIT(all_waiting(&c));
    all_answered(p.s);
    lists = proxy_frames_of(proxy, PROXY_C2S, OP_CHILDREN);
    claim_release(&held);
    WAIT(c.finals == n);
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_CHILDREN), lists);
    printf("queue: %d waiters of one session: %.2f requests each\n", n,
           (double)(packets() - start) / n);
    ck_assert_int_le(packets() - start, MOST_PER_WAITER * n);
    crowd_check_served(&c);
    check_order(&c);
    crowd_free(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- In proportion ---- */

struct cost {
    int64_t requests, bytes;
};

static struct cost cost_now(struct proxy *proxy)
{
    return (struct cost){proxy_frames(proxy, PROXY_C2S),
                         proxy_bytes(proxy, PROXY_S2C)};
}

/* @n waiters, of @sessions in turn.  The cost of all. */
static struct cost serve(struct peer *p, int sessions, struct proxy *proxy,
                         int n)
{
    struct cost before = cost_now(proxy), after;
    struct claim held;
    struct crowd c;

    crowd_new(&c, n);
    c.on_grant = pass_on;
    hold_first(&held, &p[0]);
    for (int i = 0; i < n; i++) {
        crowd_start(&c, i, p[i % sessions].s, dir, NULL);
        if (sessions > 1) /* Two connections know no order. */
            WAIT(strcmp(evzk_lock_state(c.v[i].l), "WATCHING") == 0);
    }
    WAIT(all_waiting(&c));
    claim_release(&held);
    WAIT(c.finals == n);
    crowd_check_served(&c);
    check_order(&c);
    crowd_free(&c);
    for (int i = 0; i < sessions; i++)
        idle(p[i].s);
    after = cost_now(proxy);
    return (struct cost){after.requests - before.requests,
                         after.bytes - before.bytes};
}

/* All in one session, or every other one in another. */
START_TEST(cost_is_in_proportion)
{
    enum { FEW = 200, TIMES = 4 };
    int sessions = _i + 1;
    struct proxy *proxy = proxy_start(the_server());
    struct cost few, many;
    struct peer p[2];

    for (int i = 0; i < sessions; i++)
        peer_fresh(&p[i], proxy_address(proxy));
    few = serve(p, sessions, proxy, FEW);
    many = serve(p, sessions, proxy, TIMES * FEW);
    printf("queue: %d session(s), %d waiters: %d requests, %d bytes read; "
           "%d: %d, %d\n",
           sessions, FEW, (int)few.requests, (int)few.bytes, TIMES * FEW,
           (int)many.requests, (int)many.bytes);
    ck_assert_int_le(many.requests, (TIMES + 1) * few.requests);
    if (sessions == 1) /* Else each lists who is left. */
        ck_assert_int_le(many.bytes, (TIMES + 1) * few.bytes);
    for (int i = 0; i < sessions; i++) {
        nothing_left(dir, p[i].s);
        peer_close(&p[i]);
    }
    proxy_stop(proxy);
}
END_TEST

/* ---- Leaving the queue ---- */

START_TEST(every_other_one_is_canceled)
{
    enum { N = 400 };
    struct claim held;
    struct crowd c;
    struct peer p;

    peer_open(&p, the_server());
    line_up(&c, N, &held, &p);
    for (int i = _i; i < N; i += 2)
        ck_assert_int_eq(evzk_lock_cancel(c.v[i].l), EVZK_OK);
    WAIT(c.finals == N / 2);
    ck_assert_int_eq(raw_count(op(), dir), N / 2 + 1);
    claim_release(&held);
    WAIT(c.finals == N);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(c.v[i].granted, i % 2 != _i);
        ck_assert_int_eq(c.v[i].rc, i % 2 != _i ? EVZK_OK : EVZK_ERR_CANCELED);
        if (i > 1 && i % 2 != _i)
            ck_assert_int_eq(c.v[i].turn, c.v[i - 2].turn + 1);
    }
    crowd_free(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

enum way { TIMED_OUT, CANCELED, FREED, BROKEN, BROKEN_AT_THE_TURN, WAYS };

enum { OUT = 3, LINE = 8 }; /* The fourth of eight. */

static void leave(struct crowd *c, enum way way)
{
    struct member *m = &c->v[OUT];

    switch (way) {
    case TIMED_OUT: /* By itself. */
        break;
    case CANCELED:
        ck_assert_int_eq(evzk_lock_cancel(m->l), EVZK_OK);
        break;
    case FREED:
        evzk_lock_free(m->l);
        m->l = NULL;
        return;
    case BROKEN:
    case BROKEN_AT_THE_TURN:
        ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(m->l))),
                         ZOK);
        break;
    case WAYS:
        break;
    }
    if (way == BROKEN)
        WAIT(m->requeued == 1);
    else if (way != BROKEN_AT_THE_TURN)
        WAIT(m->finals == 1);
}

/* A contender amid the session's own goes: the rest is served in order. */
START_TEST(one_leaves_the_line)
{
    const evzk_lock_options soon = {.timeout_ms = 1000};
    bool broken = _i == BROKEN || _i == BROKEN_AT_THE_TURN;
    struct claim held;
    struct crowd c;
    struct peer p;
    int turn = -1;

    peer_short(&p, the_server());
    crowd_new(&c, LINE);
    c.on_grant = pass_on;
    hold_first(&held, &p);
    for (int i = 0; i < LINE; i++)
        crowd_start(&c, i, p.s, dir,
                    i == OUT && _i == TIMED_OUT ? &soon : NULL);
    WAIT(all_waiting(&c) || c.finals > 0);
    leave(&c, (enum way)_i);
    claim_release(&held);
    WAIT(c.granted >= LINE - 1);
    for (int i = 0; i < LINE; i++) {
        if (i == OUT)
            continue;
        ck_assert_int_gt(c.v[i].turn, turn);
        turn = c.v[i].turn;
        ck_assert_int_eq(c.v[i].requeued, 0);
    }
    WAIT(c.finals == LINE - (_i == FREED));
    ck_assert_int_eq(c.v[OUT].granted, broken);
    crowd_free(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* ---- Cut in the middle ---- */

START_TEST(cut_between_hand_overs)
{
    enum { N = 300 };
    bool ask = _i % 2, early = _i / 2;
    struct proxy *proxy = proxy_start(the_server());
    struct claim held;
    struct crowd c;
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    line_up(&c, N, &held, &p);
    all_answered(p.s);
    proxy_trap(proxy, ask ? PROXY_C2S : PROXY_S2C, PROXY_OP_ANY, 3,
               early ? PROXY_CUT_BEFORE : PROXY_CUT_AFTER);
    claim_release(&held);
    WAIT(c.finals == N);
    ck_assert_int_eq(proxy_fired(proxy), 1);
    crowd_check_served(&c);
    check_order(&c);
    crowd_free(&c);
    WAIT(evzk_session_connected(p.s));
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- The own znode ---- */

START_TEST(one_of_many_sees_its_znode_go)
{
    int n = RUNNING_ON_VALGRIND ? 300 : 2000;
    struct claim held;
    struct crowd c;
    struct peer p;

    peer_short(&p, the_server());
    line_up(&c, n, &held, &p);
    ck_assert_int_eq(
        raw_delete(op(), node_path(dir, evzk_lock_node(c.v[n / 2].l))), ZOK);
    WAIT(c.v[n / 2].requeued == 1);
    ck_assert_int_eq(c.requeued, 1);
    WAIT(all_waiting(&c));
    ck_assert_int_eq(c.granted, 0);
    claim_release(&held);
    WAIT(c.finals == n);
    crowd_check_served(&c);
    ck_assert_int_eq(c.v[n / 2].turn, n - 1);
    crowd_free(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue");
    TCase *tests = lock_tests(suite, "queue", 60000);

    tcase_add_test(tests, one_session_asks_little);
    tcase_add_loop_test(tests, cost_is_in_proportion, 0, 2);
    tcase_add_loop_test(tests, every_other_one_is_canceled, 0, 2);
    tcase_add_loop_test(tests, one_leaves_the_line, 0, WAYS);
    tcase_add_loop_test(tests, cut_between_hand_overs, 0, 4);
    tcase_add_test(tests, one_of_many_sees_its_znode_go);
    return lock_suite_run(suite);
}
