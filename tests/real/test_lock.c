/*
 * The exclusive lock on a server that does what it should: grant, order,
 * tokens, cancel, try, time-out, wrong states, options.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <unistd.h>

#include "test_lock.h"

START_TEST(grants_and_releases)
{
    const char *dir = "/grants/a/b";
    struct peer p;
    struct claim c;
    struct Stat stat;

    peer_open(&p, the_server());
    claim(&c, p.s, dir, NULL);
    ck_assert_uint_eq(evzk_lock_token(c.l), 0);
    ck_assert_str_eq(evzk_lock_node(c.l), "");
    ck_assert(!evzk_lock_held(c.l));
    ck_assert_uint_eq(evzk_lock_lease_ms(c.l), 0);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert(evzk_lock_held(c.l));
    ck_assert_uint_gt(evzk_lock_lease_ms(c.l), 0);
    ck_assert_uint_le(evzk_lock_lease_ms(c.l), SESSION_MS);
    ck_assert_int_eq(
        raw_exists(op(), node_path(dir, evzk_lock_node(c.l)), &stat), ZOK);
    ck_assert_uint_eq((uint64_t)stat.czxid, evzk_lock_token(c.l));
    ck_assert(stat.ephemeralOwner == evzk_session_id(p.s));
    ck_assert_int_eq(raw_count(op(), dir), 1);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    ck_assert(!evzk_lock_held(c.l));
    ck_assert_uint_eq(evzk_lock_lease_ms(c.l), 0);
    ck_assert_str_eq(c.rec.text, "GRANTED"); /* Not from inside the call. */
    WAIT(c.rec.finals == 1);
    ck_assert_int_le(raw_count(op(), dir), 0); /* Proved gone by now. */
    ck_assert_str_eq(c.rec.text, "GRANTED RELEASED");
    ck_assert_uint_ne(evzk_lock_token(c.l), 0);
    evzk_lock_free(c.l);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* Releases them one after the other, and checks who is next. */
static void hand_over(struct claim *c, int n)
{
    uint64_t token = 0;

    for (int i = 0; i < n; i++) {
        WAIT_EVENT(&c[i], "GRANTED");
        ck_assert_uint_gt(evzk_lock_token(c[i].l), token);
        token = evzk_lock_token(c[i].l);
        for (int j = i; j < n; j++) {
            ck_assert(evzk_lock_held(c[j].l) == (j == i));
            ck_assert_int_eq(c[j].rec.count, j == i ? 1 : 0);
        }
        claim_release(&c[i]);
    }
}

START_TEST(arrival_orders_one_session)
{
    enum { N = 30 };
    struct peer p;
    struct claim c[N];

    peer_open(&p, the_server());
    for (int i = 0; i < N; i++)
        claim(&c[i], p.s, "/order-one", NULL); /* All in one turn. */
    hand_over(c, N);
    nothing_left("/order-one", p.s);
    peer_close(&p);
}
END_TEST

START_TEST(arrival_orders_sessions)
{
    enum { SESSIONS = 4, N = 20 };
    struct peer p[SESSIONS];
    struct claim c[N];

    for (int i = 0; i < SESSIONS; i++)
        peer_open(&p[i], the_server());
    claim_held(&c[0], p[0].s, "/order-many", NULL);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p[i * 7 % SESSIONS].s, "/order-many", NULL);
    hand_over(c, N);
    for (int i = 0; i < SESSIONS; i++) {
        nothing_left("/order-many", p[i].s);
        peer_close(&p[i]);
    }
}
END_TEST

START_TEST(own_locks_contend)
{
    struct peer p;
    struct claim a, b;

    peer_open(&p, the_server());
    claim_held(&a, p.s, "/own", NULL);
    claim_queued(&b, p.s, "/own", NULL);
    ck_assert_str_ne(evzk_lock_node(a.l), evzk_lock_node(b.l));
    ck_assert_int_eq(raw_count(op(), "/own"), 2);
    run_for(harness_base(), 100);
    ck_assert_int_eq(b.rec.count, 0);
    claim_release(&a);
    WAIT_EVENT(&b, "GRANTED");
    claim_release(&b);
    nothing_left("/own", p.s);
    peer_close(&p);
}
END_TEST

START_TEST(tokens_outlive_the_directory)
{
    struct peer p[2];
    uint64_t token = 0;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    for (int i = 0; i < 6; i++) {
        struct claim c;

        claim_held(&c, p[i % 2].s, "/again/lock", NULL);
        ck_assert_str_eq(sequence_of(evzk_lock_node(c.l)), "0000000000");
        ck_assert_uint_gt(evzk_lock_token(c.l), token);
        token = evzk_lock_token(c.l);
        claim_release(&c);
        if (i % 3)
            raw_delete_tree(op(), "/again");
        else /* The directory went with the lock. */
            ck_assert_int_eq(raw_count(op(), "/again/lock"), -1);
    }
    nothing_left("/again/lock", p[0].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* The server itself takes them away when they are empty. */
START_TEST(parents_are_containers)
{
    struct zk *zk = zk_start(&(struct zk_config){
        .java_flags = "-Dznode.container.checkIntervalMs=50"});
    struct raw *r = raw_open(zk_server(zk, 0), OPERATOR_MS, NULL);
    struct peer p;
    uint64_t token = 0;

    raw_drive(r, harness_base());
    peer_open(&p, zk_server(zk, 0));
    for (int i = 0; i < 3; i++) {
        struct claim c;

        claim_held(&c, p.s, "/containers/x/lock", NULL);
        ck_assert_uint_gt(evzk_lock_token(c.l), token);
        token = evzk_lock_token(c.l);
        claim_release(&c);
        WAIT(raw_exists(r, "/containers", NULL) == ZNONODE);
    }
    peer_close(&p);
    raw_close(r);
    zk_stop(zk);
}
END_TEST

/* Contenders come and go while the server takes the directory away. */
START_TEST(containers_go_under_our_hands)
{
    struct zk *zk = zk_start(&(struct zk_config){
        .java_flags = "-Dznode.container.checkIntervalMs=1 "
                      "-Dznode.container.maxPerMinute=60000"});
    struct peer p[2];
    uint64_t token = 0;

    peer_open(&p[0], zk_server(zk, 0));
    peer_open(&p[1], zk_server(zk, 0));
    for (int i = 0; i < 300; i++) {
        struct claim c;

        claim_held(&c, p[i % 2].s, "/reaped/x", NULL);
        ck_assert_uint_gt(evzk_lock_token(c.l), token);
        token = evzk_lock_token(c.l);
        claim_release(&c);
    }
    peer_close(&p[0]);
    peer_close(&p[1]);
    zk_stop(zk);
}
END_TEST

START_TEST(parents_are_made_once_for_many)
{
    enum { N = 100 };
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;
    struct claim c[N];
    char dir[64];

    raw_delete_tree(op(), "/once");
    peer_open(&p, proxy_address(proxy));
    for (int i = 0; i < N; i++) {
        snprintf(dir, sizeof dir, "/once/deep/%d", i);
        claim(&c[i], p.s, dir, NULL);
    }
    for (int i = 0; i < N; i++)
        WAIT_EVENT(&c[i], "GRANTED");
    /* Each directory is tried, found to lack its parent, and made. */
    ck_assert_int_le(proxy_frames_of(proxy, PROXY_C2S, OP_CONTAINER),
                     2 * N + 8);
    for (int i = 0; i < N; i++)
        claim_release(&c[i]);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/once");
}
END_TEST

/* A lock that leaves, the first, a middle one or the last, does not stop the
 * others. */
START_TEST(cancel_leaves_the_queue_whole)
{
    enum { N = 5 };
    static const int leaver[] = {1, 2, 4};
    struct peer p[2];
    struct claim c[N];
    char node[256];
    int k = leaver[_i];

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    claim_held(&c[0], p[0].s, "/cancel", NULL);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p[i % 2].s, "/cancel", NULL);
    snprintf(node, sizeof node, "%s",
             node_path("/cancel", evzk_lock_node(c[k].l)));
    ck_assert_int_eq(evzk_lock_cancel(c[k].l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_cancel(c[k].l), EVZK_ERR_STATE);
    ck_assert_int_eq(c[k].rec.count, 0);
    WAIT(c[k].rec.finals == 1);
    ck_assert_str_eq(c[k].rec.text, "FAILED(CANCELED)");
    ck_assert_int_eq(raw_exists(op(), node, NULL), ZNONODE);
    evzk_lock_free(c[k].l);
    for (int i = 0; i < N; i++) {
        if (i == k)
            continue;
        WAIT_EVENT(&c[i], "GRANTED");
        claim_release(&c[i]);
    }
    nothing_left("/cancel", p[0].s);
    nothing_left("/cancel", p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

START_TEST(cancel_before_anything_was_sent)
{
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;
    struct claim c;

    peer_open(&p, proxy_address(proxy));
    claim(&c, p.s, "/cancel-early", NULL);
    ck_assert_int_eq(evzk_lock_cancel(c.l), EVZK_OK);
    ck_assert_int_eq(c.rec.count, 0);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(CANCELED)");
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_CREATE), 0);
    evzk_lock_free(c.l);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

START_TEST(try_takes_or_leaves)
{
    const evzk_lock_options try_once = {.try_once = true};
    struct peer p[2];
    struct claim held, c;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    for (int i = 0; i < 5; i++) {
        claim_held(&held, p[0].s, "/try", &try_once);
        claim(&c, p[1].s, "/try", &try_once);
        WAIT(c.rec.finals == 1);
        ck_assert_str_eq(c.rec.text, "FAILED(BUSY)");
        ck_assert_int_eq(raw_count(op(), "/try"), 1); /* No ghost of it. */
        evzk_lock_free(c.l);
        claim_release(&held);
        claim(&c, p[1].s, "/try", &try_once);
        WAIT(c.rec.count == 1);
        ck_assert_str_eq(c.rec.text, "GRANTED");
        claim_release(&c);
    }
    nothing_left("/try", p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* A second try inside the first one's final callback. */
struct again {
    evzk_session *s;
    evzk_lock *first, *second;
    struct recorder rec;
    int finals;
};

static void try_again(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    const evzk_lock_options try_once = {.try_once = true};
    struct again *a = arg;

    ck_assert_ptr_eq(l, a->first);
    ck_assert_int_eq(event, EVZK_LOCK_FAILED);
    ck_assert_int_eq(rc, EVZK_ERR_BUSY);
    a->finals++;
    evzk_lock_free(a->first);
    ck_assert_int_eq(evzk_lock_acquire(a->s, "/try-again", &try_once,
                                       recorder_on_lock, &a->rec, &a->second),
                     EVZK_OK);
}

START_TEST(try_again_inside_busy)
{
    const evzk_lock_options try_once = {.try_once = true};
    struct again a = {0};
    struct peer p[2];
    struct claim held;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    a.s = p[1].s;
    claim_held(&held, p[0].s, "/try-again", NULL);
    ck_assert_int_eq(evzk_lock_acquire(a.s, "/try-again", &try_once, try_again,
                                       &a, &a.first),
                     EVZK_OK);
    WAIT(strcmp(evzk_lock_state(a.first), "DELETING") == 0);
    claim_release(&held); /* Before it, the holder's delete was not sent. */
    WAIT(a.rec.count == 1);
    ck_assert(strcmp(a.rec.text, "GRANTED") == 0 ||
              strcmp(a.rec.text, "FAILED(BUSY)") == 0);
    ck_assert_int_eq(a.finals, 1);
    evzk_lock_free(a.second);
    nothing_left("/try-again", p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

enum { SOON_MS = 5000 };

/* In time: not before, and soon after: what else could tell is the session's
 * doubt, after a third of its time-out. */
static void check_time(const struct claim *c, int64_t start, int64_t ms)
{
    ck_assert_str_eq(c->rec.text, "FAILED(TIMEOUT)");
    ck_assert_int_ge(c->rec.when - start, ms);
    ck_assert_int_le(c->rec.when - start, ms + slow_ms(SOON_MS));
}

START_TEST(timeout_of_a_waiter)
{
    const evzk_lock_options opt = {.timeout_ms = 400};
    struct peer p;
    struct claim held, c, next;
    int64_t start;

    peer_open(&p, the_server());
    claim_held(&held, p.s, "/timeout", NULL);
    start = now_ms();
    claim(&c, p.s, "/timeout", &opt);
    claim(&next, p.s, "/timeout", NULL);
    WAIT(c.rec.finals == 1);
    check_time(&c, start, 400);
    ck_assert_int_eq(evzk_lock_cancel(c.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_ERR_STATE);
    WAIT(raw_count(op(), "/timeout") == 2);
    ck_assert_int_eq(c.rec.count, 1);
    evzk_lock_free(c.l);
    claim_release(&held);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    nothing_left("/timeout", p.s);
    peer_close(&p);
}
END_TEST

START_TEST(timeout_ends_with_the_grant)
{
    const evzk_lock_options opt = {.timeout_ms = 4000};
    struct peer p;
    struct claim c;

    peer_open(&p, the_server());
    claim(&c, p.s, "/timeout-held", &opt);
    WAIT(c.rec.count > 0);
    run_for(harness_base(), 4200);
    ck_assert_str_eq(c.rec.text, "GRANTED");
    ck_assert(evzk_lock_held(c.l));
    claim_release(&c);
    peer_close(&p);
}
END_TEST

/* With a stopped server: one in the queue, and one that is not yet. */
START_TEST(timeout_of_a_stopped_server)
{
    enum { DEADLINE_MS = 4000 }; /* To be in the queue by then. */
    const evzk_lock_options opt = {.timeout_ms = DEADLINE_MS};
    struct peer p;
    struct claim held, c[2];
    int64_t start[2];

    peer_open(&p, the_server());
    claim_held(&held, p.s, "/timeout-stop", NULL);
    operator_close();
    start[0] = now_ms();
    claim_queued(&c[0], p.s, "/timeout-stop", &opt);
    zk_stop_signal(zk_shared(), 0);
    start[1] = now_ms();
    claim(&c[1], p.s, "/timeout-stop", &opt);
    for (int i = 0; i < 2; i++) {
        WAIT(c[i].rec.finals == 1);
        check_time(&c[i], start[i], DEADLINE_MS);
    }
    zk_cont(zk_shared(), 0);
    WAIT(raw_count(op(), "/timeout-stop") == 1);
    evzk_lock_free(c[0].l);
    evzk_lock_free(c[1].l);
    WAIT(evzk_lock_held(held.l));
    claim_release(&held);
    nothing_left("/timeout-stop", p.s);
    peer_close(&p);
}
END_TEST

START_TEST(timeout_without_any_server)
{
    const evzk_lock_options opt = {.timeout_ms = 300};
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;
    struct claim c, canceled;
    int64_t start = now_ms();

    proxy_refuse(proxy, true);
    peer_start(&p, proxy_address(proxy), NULL);
    claim(&c, p.s, "/timeout-none", &opt);
    claim(&canceled, p.s, "/timeout-none", NULL);
    WAIT(c.rec.finals == 1);
    check_time(&c, start, 300);
    claim_cancel(&canceled);
    evzk_lock_free(c.l);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* The loop's idea of the time is old inside a callback that takes long. */
struct late {
    evzk_session *s;
    struct claim c;
    int64_t start;
};

static void work_then_acquire(evzk_lock *l, evzk_lock_event event, int rc,
                              void *arg)
{
    const evzk_lock_options opt = {.timeout_ms = 300};
    struct late *late = arg;

    (void)l;
    (void)rc;
    if (event != EVZK_LOCK_GRANTED)
        return;
    for (int64_t end = now_ms() + 200; now_ms() < end;)
        ;
    late->start = now_ms();
    claim(&late->c, late->s, "/timeout-late", &opt);
}

START_TEST(timeout_after_a_long_callback)
{
    struct late late = {0};
    evzk_lock *held;
    struct peer p;

    peer_open(&p, the_server());
    late.s = p.s;
    ck_assert_int_eq(evzk_lock_acquire(p.s, "/timeout-late", NULL,
                                       work_then_acquire, &late, &held),
                     EVZK_OK);
    WAIT(late.c.rec.finals == 1);
    check_time(&late.c, late.start, 300);
    evzk_lock_free(late.c.l);
    evzk_lock_free(held);
    nothing_left("/timeout-late", p.s);
    peer_close(&p);
}
END_TEST

START_TEST(wrong_states_are_refused)
{
    struct peer p;
    struct claim a, b;

    peer_open(&p, the_server());
    claim(&a, p.s, "/states", NULL);
    ck_assert_int_eq(evzk_lock_release(a.l), EVZK_ERR_STATE);
    WAIT_EVENT(&a, "GRANTED");
    ck_assert_int_eq(evzk_lock_cancel(a.l), EVZK_ERR_STATE);
    claim_queued(&b, p.s, "/states", NULL);
    ck_assert_int_eq(evzk_lock_release(b.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_cancel(b.l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_cancel(b.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_release(b.l), EVZK_ERR_STATE);
    WAIT(b.rec.finals == 1);
    ck_assert_int_eq(evzk_lock_cancel(b.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_release(b.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_release(a.l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_release(a.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_cancel(a.l), EVZK_ERR_STATE);
    WAIT(a.rec.finals == 1);
    ck_assert_int_eq(evzk_lock_release(a.l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_cancel(a.l), EVZK_ERR_STATE);
    ck_assert_str_eq(a.rec.text, "GRANTED RELEASED");
    ck_assert_str_eq(b.rec.text, "FAILED(CANCELED)");
    peer_close(&p);
    ck_assert_int_eq(evzk_lock_release(a.l), EVZK_ERR_STATE); /* Outlives it. */
    ck_assert(!evzk_lock_held(a.l));
    evzk_lock_free(a.l);
    evzk_lock_free(b.l);
    ck_assert_int_eq(evzk_lock_release(NULL), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_cancel(NULL), EVZK_ERR_INVAL);
    ck_assert(!evzk_lock_held(NULL));
    ck_assert_uint_eq(evzk_lock_token(NULL), 0);
    ck_assert_uint_eq(evzk_lock_lease_ms(NULL), 0);
    ck_assert_str_eq(evzk_lock_node(NULL), "");
    ck_assert_ptr_nonnull(evzk_lock_state(NULL));
    evzk_lock_free(NULL);
}
END_TEST

START_TEST(closing_ends_all)
{
    struct peer p;
    struct claim held, waiting, releasing, fresh;

    peer_open(&p, the_server());
    claim_held(&held, p.s, "/closing", NULL);
    claim_queued(&waiting, p.s, "/closing", NULL);
    claim_held(&releasing, p.s, "/closing-2", NULL);
    claim(&fresh, p.s, "/closing-3", NULL);
    ck_assert_int_eq(evzk_lock_release(releasing.l), EVZK_OK);
    ck_assert_int_eq(evzk_session_close(p.s), EVZK_OK);
    ck_assert(!evzk_lock_held(held.l));
    ck_assert_int_eq(evzk_lock_acquire(p.s, "/closing", NULL, recorder_on_lock,
                                       NULL, &(evzk_lock *){NULL}),
                     EVZK_ERR_CLOSED);
    ck_assert_str_eq(held.rec.text, "GRANTED");
    peer_close(&p);
    ck_assert_str_eq(held.rec.text, "GRANTED LOST(CLOSED)");
    ck_assert_str_eq(waiting.rec.text, "FAILED(CLOSED)");
    ck_assert_str_eq(releasing.rec.text, "GRANTED RELEASED");
    ck_assert_str_eq(fresh.rec.text, "FAILED(CLOSED)");
    evzk_lock_free(held.l);
    evzk_lock_free(waiting.l);
    evzk_lock_free(releasing.l);
    evzk_lock_free(fresh.l);
    nothing_left("/closing", NULL);
}
END_TEST

/* ---- The moves ---- */

static void note_move(const evzk_trace *move, void *arg)
{
    char *text = arg;
    size_t n = strlen(text);

    if (move->entered)
        snprintf(text + n, 1024 - n, "%s%s", n ? " " : "", move->to);
}

START_TEST(moves_are_traced)
{
    char moves[1024] = "";
    evzk_session_options opt = {
        .timeout_ms = SESSION_MS, .trace = note_move, .trace_arg = moves};
    struct peer p, other;
    struct claim c, held;

    raw_delete_tree(op(), "/traced");
    peer_start(&p, the_server(), &opt);
    claim_held(&c, p.s, "/traced/lock", NULL);
    ck_assert_str_eq(evzk_lock_state(c.l), "HELD");
    claim_release(&c);
    ck_assert_str_eq(moves,
                     "CREATING MAKING_PARENTS CREATING HELD DELETING ENDED");
    moves[0] = '\0';
    claim_held(&c, p.s, "/traced/lock", NULL);
    claim_release(&c);
    ck_assert_str_eq(moves, "CREATING HELD DELETING ENDED");
    peer_open(&other, the_server());
    claim_held(&held, other.s, "/traced/lock", NULL);
    moves[0] = '\0';
    claim_queued(&c, p.s, "/traced/lock", NULL);
    all_answered(p.s); /* Else it may find that nobody is before it. */
    claim_release(&held);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    ck_assert_str_eq(moves, "CREATING WATCHING CONFIRMING HELD DELETING ENDED");
    peer_close(&p);
    peer_close(&other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock");
    TCase *tests = lock_tests(suite, "basics", 60000);

    tcase_add_test(tests, grants_and_releases);
    tcase_add_test(tests, arrival_orders_one_session);
    tcase_add_test(tests, arrival_orders_sessions);
    tcase_add_test(tests, own_locks_contend);
    tcase_add_test(tests, tokens_outlive_the_directory);
    tcase_add_test(tests, parents_are_containers);
    tcase_add_test(tests, containers_go_under_our_hands);
    tcase_add_test(tests, parents_are_made_once_for_many);
    tcase_add_loop_test(tests, cancel_leaves_the_queue_whole, 0, 3);
    tcase_add_test(tests, cancel_before_anything_was_sent);
    tcase_add_test(tests, try_takes_or_leaves);
    tcase_add_test(tests, try_again_inside_busy);
    tcase_add_test(tests, timeout_of_a_waiter);
    tcase_add_test(tests, timeout_after_a_long_callback);
    tcase_add_test(tests, timeout_ends_with_the_grant);
    tcase_add_test(tests, timeout_of_a_stopped_server);
    tcase_add_test(tests, timeout_without_any_server);
    tcase_add_test(tests, wrong_states_are_refused);
    tcase_add_test(tests, closing_ends_all);
    tcase_add_test(tests, moves_are_traced);
    return lock_suite_run(suite);
}
