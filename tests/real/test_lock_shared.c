/*
 * Shared locks: who holds together and who does not, whom it wakes when one
 * leaves, those that do not wait or not for ever, and what a look-up shows.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_party.h"

/* ---- Who holds together ---- */

/* Each mode behind each, in two sessions and in one. */
START_TEST(modes_keep_each_other_out)
{
    evzk_lock_options first = {.mode = (evzk_lock_mode)(_i / 2 / 3)};
    evzk_lock_options second = {.mode = (evzk_lock_mode)(_i / 2 % 3)};
    struct party a;

    party_open(&a, "/shared-modes", 1 + _i % 2, the_server());
    holds(&a, 0, &first);
    ck_assert_int_eq(evzk_lock_mode_of(a.c[0].l), first.mode);
    if (first.mode == EVZK_LOCK_READ && second.mode == EVZK_LOCK_READ) {
        holds(&a, 1, &second);
        calm_held(&a, "11");
        claim_release(&a.c[0]);
    } else {
        waits(&a, 1, &second);
        calm_held(&a, "10");
        claim_release(&a.c[0]);
        WAIT_EVENT(&a.c[1], "GRANTED");
    }
    ck_assert_int_eq(evzk_lock_mode_of(a.c[1].l), second.mode);
    calm_held(&a, "-1");
    claim_release(&a.c[1]);
    party_close(&a);
}
END_TEST

/* Each token is greater than any before that was not of a reader beside it. */
START_TEST(readers_hold_together)
{
    struct party a;
    uint64_t before;

    party_open(&a, "/shared-together", _i ? 1 : 4, the_server());
    holds(&a, 0, MODE(WRITE));
    before = evzk_lock_token(a.c[0].l);
    for (int i = 1; i < 4; i++)
        waits(&a, i, MODE(READ));
    waits(&a, 4, MODE(WRITE));
    claim_release(&a.c[0]);
    for (int i = 1; i < 4; i++)
        WAIT_EVENT(&a.c[i], "GRANTED");
    calm_held(&a, "-1110");
    for (int i = 1; i < 4; i++) {
        ck_assert_uint_gt(evzk_lock_token(a.c[i].l), before);
        for (int j = 1; j < i; j++)
            ck_assert_uint_ne(evzk_lock_token(a.c[i].l),
                              evzk_lock_token(a.c[j].l));
    }
    before = evzk_lock_token(a.c[3].l);
    for (int i = 1; i < 4; i++)
        claim_release(&a.c[i]);
    WAIT_EVENT(&a.c[4], "GRANTED");
    ck_assert_uint_gt(evzk_lock_token(a.c[4].l), before);
    claim_release(&a.c[4]);
    party_close(&a);
}
END_TEST

START_TEST(reader_does_not_pass_a_waiting_writer)
{
    struct party a;

    party_open(&a, "/shared-pass", _i ? 1 : 3, the_server());
    holds(&a, 0, MODE(READ));
    waits(&a, 1, MODE(WRITE));
    waits(&a, 2, MODE(READ));
    calm_held(&a, "100");
    claim_release(&a.c[0]);
    WAIT_EVENT(&a.c[1], "GRANTED");
    calm_held(&a, "-10");
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    claim_release(&a.c[2]);
    party_close(&a);
}
END_TEST

/* Readers leave in every order, in sessions of their own and in one. */
START_TEST(writer_waits_for_all_readers)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int *order = orders[_i / 2];
    char want[] = "1110";
    struct party a;

    party_open(&a, "/shared-all", _i % 2 ? 1 : 4, the_server());
    for (int i = 0; i < 3; i++)
        holds(&a, i, MODE(READ));
    waits(&a, 3, MODE(WRITE));
    for (int i = 0; i < 3; i++) {
        calm_held(&a, want);
        claim_release(&a.c[order[i]]);
        want[order[i]] = '-';
    }
    WAIT_EVENT(&a.c[3], "GRANTED");
    calm_held(&a, "---1");
    claim_release(&a.c[3]);
    party_close(&a);
}
END_TEST

/* ---- Whom it wakes ---- */

/* The second in the queue, in a process of its own; its session is to end soon
 * after that. */
static pid_t start_reader(const char *server, const char *dir)
{
    pid_t pid = harness_fork();

    if (pid == 0) {
        evzk_session_options opt = {.timeout_ms = BRIEF_MS};
        struct claim c;
        struct peer p;

        peer_start(&p, server, &opt);
        claim(&c, p.s, dir, BARE(READ));
        WAIT(false);
    }
    wait_watches(1);
    return pid;
}

/*
 * W R R W R, and the first reader dies: its session is ended by the server, or
 * its process is killed.  It had nobody behind that waits for it.
 */
START_TEST(one_wake_for_each_that_leaves)
{
    const evzk_lock_options once = {
        .mode = EVZK_LOCK_READ, .no_requeue = true, .no_own_watch = true};
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = "/shared-wakes";
    pid_t pid = 0;
    struct party a;
    int64_t before;

    party_open(&a, dir, 5, proxy_address(proxy));
    holds(&a, 0, BARE(WRITE));
    if (_i)
        pid = start_reader(proxy_address(proxy), dir);
    else
        waits(&a, 1, &once);
    waits(&a, 2, BARE(READ));
    waits(&a, 3, BARE(WRITE));
    waits(&a, 4, BARE(READ));
    wait_watches(4);
    before = wakes(proxy);
    if (_i) {
        kill(pid, SIGKILL);
        ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
    } else {
        raw_expire(the_server(), evzk_session_id(a.p[1].s));
        WAIT_EVENT(&a.c[1], "FAILED(EXPIRED)");
        WAIT(evzk_session_connected(a.p[1].s));
    }
    raw_wait_children(op(), dir, 4, 60000);
    calm_held(&a, "1-000");
    ck_assert_int_eq(wakes(proxy), before);
    pass_on(&a, proxy, 0, "--100", 1);
    pass_on(&a, proxy, 2, "---10", 1);
    pass_on(&a, proxy, 3, "----1", 1);
    claim_release(&a.c[4]);
    evzk_lock_free(a.c[1].l);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

/* All readers behind a writer wake, and not the writer behind them. */
START_TEST(a_writer_wakes_its_readers)
{
    struct proxy *proxy = proxy_start(the_server());
    struct party a;

    party_open(&a, "/shared-group", 6, proxy_address(proxy));
    holds(&a, 0, BARE(EXCLUSIVE));
    for (int i = 1; i < 4; i++)
        waits(&a, i, BARE(READ));
    waits(&a, 4, BARE(WRITE));
    waits(&a, 5, BARE(READ));
    pass_on(&a, proxy, 0, "-11100", 3);
    pass_on(&a, proxy, 1, "--1100", 0);
    pass_on(&a, proxy, 3, "--1-00", 1); /* The writer, to look again. */
    pass_on(&a, proxy, 2, "----10", 1);
    pass_on(&a, proxy, 4, "-----1", 1);
    claim_release(&a.c[5]);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

static bool all_waiting(const struct crowd *c)
{
    for (int i = 0; i < c->n; i++) {
        if (strcmp(evzk_lock_state(c->v[i].l), "WATCHING") != 0)
            return false;
    }
    return true;
}

static bool all_held(const struct crowd *c)
{
    for (int i = 0; i < c->n; i++) {
        if (!evzk_lock_held(c->v[i].l))
            return false;
    }
    return true;
}

static void start_readers(struct crowd *c, int n, const char *dir,
                          struct peer *p, int sessions)
{
    crowd_new(c, n);
    for (int i = 0; i < n; i++)
        crowd_start(c, i, p[i % sessions].s, dir, BARE(READ));
    WAIT(all_waiting(c));
}

static int64_t lists(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_C2S, OP_CHILDREN);
}

/* A thousand of two sessions or four, behind a writer of another session, or of
 * one of theirs; and a writer behind them. */
START_TEST(readers_of_a_session_share_a_listing)
{
    int n = RUNNING_ON_VALGRIND ? 200 : 1000, sessions = _i % 2 ? 4 : 2;
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = "/shared-many";
    struct claim first, last;
    int64_t listed, woken;
    struct peer p[5];
    struct crowd c;

    for (int i = 0; i <= sessions; i++)
        peer_fresh(&p[i], proxy_address(proxy));
    claim_held(&first, p[_i < 2 ? sessions : 0].s, dir, BARE(WRITE));
    start_readers(&c, n, dir, p, sessions);
    claim_queued(&last, p[sessions].s, dir, BARE(WRITE));
    for (int i = 0; i <= sessions; i++)
        all_answered(p[i].s);
    listed = lists(proxy);
    woken = wakes(proxy);
    claim_release(&first);
    WAIT(c.granted == n);
    ck_assert_int_eq(wakes(proxy) - woken, sessions);
    ck_assert_int_eq(lists(proxy) - listed, sessions);
    ck_assert(all_held(&c));
    ck_assert_int_eq(last.rec.count, 0);
    crowd_release(&c);
    WAIT(c.finals == n);
    crowd_check_served(&c);
    WAIT_EVENT(&last, "GRANTED");
    claim_release(&last);
    crowd_free(&c);
    for (int i = 0; i <= sessions; i++) {
        nothing_left(dir, p[i].s);
        peer_close(&p[i]);
    }
    proxy_stop(proxy);
}
END_TEST

static struct {
    size_t from; /* So large, or larger, ... */
    int left;    /* ... so many times more, is refused. */
} shortage;

static void *scarce(size_t size)
{
    if (size < shortage.from || shortage.left == 0)
        return malloc(size);
    shortage.left--;
    return NULL;
}

/* A look through all names for each would stop the loop: one looks at what was
 * listed, one more at what it is for all, and the others list again. */
START_TEST(readers_without_memory_list_again)
{
    enum { N = 100, REFUSED = 3 };
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = "/shared-scarce";
    struct claim first;
    struct peer p[2];
    struct crowd c;
    int64_t listed;

    evzk_set_allocator(scarce, NULL, NULL);
    for (int i = 0; i < 2; i++)
        peer_fresh(&p[i], proxy_address(proxy));
    claim_held(&first, p[0].s, dir, BARE(WRITE));
    start_readers(&c, N, dir, &p[1], 1);
    all_answered(p[1].s);
    listed = lists(proxy);
    shortage.from = N * (size_t)24; /* Some bytes for each. */
    shortage.left = REFUSED;
    claim_release(&first);
    WAIT(c.granted == N);
    ck_assert_int_eq(shortage.left, 0);
    ck_assert_int_eq(lists(proxy) - listed, 1 + REFUSED);
    crowd_release(&c);
    WAIT(c.finals == N);
    crowd_check_served(&c);
    crowd_free(&c);
    for (int i = 0; i < 2; i++) {
        nothing_left(dir, p[i].s);
        peer_close(&p[i]);
    }
    proxy_stop(proxy);
}
END_TEST

/* ---- Those that do not wait, or not for ever ---- */

static void attempt(struct party *a, int i, evzk_lock_mode mode,
                    const char *want)
{
    const evzk_lock_options opt = {.mode = mode, .try_once = true};
    int there = raw_count(op(), a->dir);
    struct claim c;

    claim(&c, session_of(a, i), a->dir, &opt);
    WAIT(c.rec.count > 0);
    ck_assert_str_eq(c.rec.text, want);
    if (c.rec.finals == 0)
        claim_release(&c);
    evzk_lock_free(c.l);
    ck_assert_int_eq(raw_count(op(), a->dir), there);
}

START_TEST(try_once)
{
    struct party a;

    party_open(&a, "/shared-try", _i ? 1 : 3, the_server());
    holds(&a, 0, MODE(READ));
    holds(&a, 1, MODE(READ));
    attempt(&a, 2, EVZK_LOCK_READ, "GRANTED");
    attempt(&a, 2, EVZK_LOCK_WRITE, "FAILED(BUSY)");
    attempt(&a, 2, EVZK_LOCK_EXCLUSIVE, "FAILED(BUSY)");
    waits(&a, 3, MODE(WRITE));
    attempt(&a, 2, EVZK_LOCK_READ, "FAILED(BUSY)");
    claim_release(&a.c[0]);
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[3], "GRANTED");
    attempt(&a, 2, EVZK_LOCK_READ, "FAILED(BUSY)");
    attempt(&a, 2, EVZK_LOCK_WRITE, "FAILED(BUSY)");
    claim_release(&a.c[3]);
    party_close(&a);
}
END_TEST

enum leave { CANCELED, TIMED_OUT, FREED, LEAVES };

/* Joins the queue, to leave it before its turn; it may be gone already when
 * that is by time. */
static void waits_a_while(struct party *a, int i, evzk_lock_mode mode,
                          enum leave way)
{
    const evzk_lock_options opt = {.mode = mode,
                                   .timeout_ms = way == TIMED_OUT ? 1000 : 0};

    claim(&a->c[i], session_of(a, i), a->dir, &opt);
    WAIT(is_waiting(&a->c[i]) || a->c[i].rec.finals > 0);
}

static void leaves(struct party *a, int i, enum leave way)
{
    struct claim *c = &a->c[i];

    switch (way) {
    case CANCELED:
        claim_cancel(c);
        break;
    case TIMED_OUT:
        WAIT(c->rec.finals == 1);
        ck_assert_str_eq(c->rec.text, "FAILED(TIMEOUT)");
        evzk_lock_free(c->l);
        break;
    case FREED:
        ck_assert_int_eq(c->rec.count, 0);
        evzk_lock_free(c->l);
        break;
    case LEAVES:
        break;
    }
    c->l = NULL;
}

/* R W R: without the writer both hold. */
START_TEST(writer_leaves_the_queue)
{
    enum leave way = (enum leave)(_i % LEAVES);
    struct party a;

    party_open(&a, "/shared-leave-w", _i < LEAVES ? 3 : 1, the_server());
    holds(&a, 0, MODE(READ));
    waits_a_while(&a, 1, EVZK_LOCK_WRITE, way);
    claim(&a.c[2], session_of(&a, 2), a.dir, MODE(READ));
    WAIT(is_waiting(&a.c[2]) || evzk_lock_held(a.c[2].l));
    leaves(&a, 1, way);
    WAIT_EVENT(&a.c[2], "GRANTED");
    calm_held(&a, "1-1");
    claim_release(&a.c[0]);
    claim_release(&a.c[2]);
    party_close(&a);
}
END_TEST

/* W R W R: without the reader the second writer waits for the first. */
START_TEST(reader_leaves_the_queue)
{
    enum leave way = (enum leave)(_i % LEAVES);
    struct party a;

    party_open(&a, "/shared-leave-r", _i < LEAVES ? 4 : 1, the_server());
    holds(&a, 0, MODE(WRITE));
    waits_a_while(&a, 1, EVZK_LOCK_READ, way);
    waits(&a, 2, MODE(WRITE));
    waits(&a, 3, MODE(READ));
    leaves(&a, 1, way);
    raw_wait_children(op(), a.dir, 3, 60000);
    calm_held(&a, "1-00");
    claim_release(&a.c[0]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    calm_held(&a, "--10");
    claim_release(&a.c[2]);
    WAIT_EVENT(&a.c[3], "GRANTED");
    claim_release(&a.c[3]);
    party_close(&a);
}
END_TEST

/* ---- The look-up ---- */

struct answer {
    int count;
    char text[256];
};

static void on_answer(evzk_lock_query *q, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    static const char *const modes[] = {"exclusive", "write", "read"};
    struct answer *a = arg;

    ck_assert_int_eq(rc, EVZK_OK);
    for (size_t i = 0; i < n; i++) {
        size_t at = strlen(a->text);

        snprintf(a->text + at, sizeof a->text - at, "%s%s%s", at ? " " : "",
                 v[i].holder ? "+" : "", modes[v[i].mode]);
    }
    a->count++;
    evzk_lock_query_free(q);
}

static void check_seen(const struct party *a, const char *want)
{
    struct answer seen = {0};
    evzk_lock_query *q;

    ck_assert_int_eq(evzk_lock_query_start(a->p[a->sessions - 1].s, a->dir,
                                           on_answer, &seen, &q),
                     EVZK_OK);
    WAIT(seen.count == 1);
    ck_assert_str_eq(seen.text, want);
}

START_TEST(look_up_shows_all_holders)
{
    struct party a;

    party_open(&a, "/shared-who", 3, the_server());
    holds(&a, 0, MODE(WRITE));
    waits(&a, 1, MODE(READ));
    check_seen(&a, "+write read");
    downgrade(&a.c[0]);
    WAIT_EVENT(&a.c[1], "GRANTED");
    check_seen(&a, "+read +read");
    waits(&a, 2, MODE(WRITE));
    waits(&a, 3, MODE(READ));
    check_seen(&a, "+read +read write read");
    claim_release(&a.c[0]);
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    waits(&a, 4, MODE(EXCLUSIVE));
    check_seen(&a, "+write read exclusive");
    claim_release(&a.c[2]);
    WAIT_EVENT(&a.c[3], "GRANTED");
    claim_release(&a.c[3]);
    WAIT_EVENT(&a.c[4], "GRANTED");
    check_seen(&a, "+exclusive");
    claim_release(&a.c[4]);
    party_close(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-shared");
    TCase *tests = lock_tests(suite, "together", 60000);

    tcase_add_loop_test(tests, modes_keep_each_other_out, 0, 18);
    tcase_add_loop_test(tests, readers_hold_together, 0, 2);
    tcase_add_loop_test(tests, reader_does_not_pass_a_waiting_writer, 0, 2);
    tcase_add_loop_test(tests, writer_waits_for_all_readers, 0, 12);
    tcase_add_loop_test(tests, one_wake_for_each_that_leaves, 0, 2);
    tcase_add_test(tests, a_writer_wakes_its_readers);
    tcase_add_loop_test(tests, readers_of_a_session_share_a_listing, 0, 4);
    tcase_add_test(tests, readers_without_memory_list_again);
    tcase_add_loop_test(tests, try_once, 0, 2);
    tcase_add_loop_test(tests, writer_leaves_the_queue, 0, 2 * LEAVES);
    tcase_add_loop_test(tests, reader_leaves_the_queue, 0, 2 * LEAVES);
    tcase_add_test(tests, look_up_shows_all_holders);
    return lock_suite_run(suite);
}
