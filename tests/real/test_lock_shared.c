/*
 * Shared locks: who holds together and who does not, whom it wakes when one
 * leaves, a write lock that becomes a read lock, and what a holder hears when
 * it is asked to let go.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_many.h"

enum { MOST = 6 };

#define MODE(m) (&(const evzk_lock_options){.mode = EVZK_LOCK_##m})
/* Without an own watch, which comes, and fires, by the way. */
#define BARE(m)                                                                \
    (&(const evzk_lock_options){.mode = EVZK_LOCK_##m, .no_own_watch = true})

/* Some who contend, in sessions of their own, or all in one. */
struct party {
    const char *dir;
    int sessions;
    struct peer p[MOST];
    struct claim c[MOST];
};

static void party_open(struct party *a, const char *dir, int sessions,
                       const char *server)
{
    memset(a, 0, sizeof *a);
    a->dir = dir;
    a->sessions = sessions;
    for (int i = 0; i < sessions; i++)
        peer_open(&a->p[i], server);
}

static evzk_session *session_of(const struct party *a, int i)
{
    return a->p[i % a->sessions].s;
}

static void holds(struct party *a, int i, const evzk_lock_options *opt)
{
    claim_held(&a->c[i], session_of(a, i), a->dir, opt);
}

static void waits(struct party *a, int i, const evzk_lock_options *opt)
{
    claim_queued(&a->c[i], session_of(a, i), a->dir, opt);
}

static bool is_waiting(const struct claim *c)
{
    return strcmp(evzk_lock_state(c->l), "WATCHING") == 0;
}

/* What was done before has reached everybody, and nothing comes of it. */
static void calm(const struct party *a)
{
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    run_for(harness_base(), 100); /* For what must not happen. */
    for (int i = 0; i < a->sessions; i++)
        quiet(a->p[i].s);
}

/* A '1' for each that holds, a '0' for each that waits, '-' for none. */
static void check_held(const struct party *a, const char *want)
{
    for (int i = 0; want[i]; i++) {
        if (want[i] != '-')
            ck_assert_msg(evzk_lock_held(a->c[i].l) == (want[i] == '1') &&
                              is_waiting(&a->c[i]) == (want[i] == '0'),
                          "%d is %s, not as in %s", i,
                          evzk_lock_state(a->c[i].l), want);
    }
}

static void calm_held(const struct party *a, const char *want)
{
    calm(a);
    check_held(a, want);
}

static void party_close(struct party *a)
{
    for (int i = 0; i < a->sessions; i++) {
        nothing_left(a->dir, a->p[i].s);
        peer_close(&a->p[i]);
    }
}

/* How often it heard a word. */
static int heard(const struct claim *c, const char *word)
{
    const char *at = c->rec.text;
    int n = 0;

    while ((at = strstr(at, word)) != NULL) {
        at += strlen(word);
        n++;
    }
    return n;
}

/* For every turn of a wait. */
static bool still_held(const struct claim *c)
{
    ck_assert(evzk_lock_held(c->l));
    return true;
}

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

/* They leave in every order, in sessions of their own and in one. */
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

static int64_t wakes(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_S2C, PROXY_OP_WATCH);
}

/* The second in the queue, in a process of its own. */
static pid_t start_reader(const char *server, const char *dir)
{
    pid_t pid = harness_fork();

    if (pid == 0) {
        evzk_session_options opt = {.timeout_ms = SHORT_MS};
        struct claim c;
        struct peer p;

        peer_start(&p, server, &opt);
        claim(&c, p.s, dir, BARE(READ));
        WAIT(false);
    }
    wait_watches(1);
    return pid;
}

/* Releases one, after which all of these hold, and no others were woken. */
static void pass_on(struct party *a, struct proxy *proxy, int i,
                    const char *want, int woken)
{
    int64_t before = wakes(proxy);

    claim_release(&a->c[i]);
    for (int j = 0; want[j]; j++) {
        if (want[j] == '1')
            WAIT_EVENT(&a->c[j], "GRANTED");
    }
    calm_held(a, want);
    ck_assert_int_eq(wakes(proxy) - before, woken);
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
        quiet(p[i].s);
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
                                   .timeout_ms = way == TIMED_OUT ? 2000 : 0};

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

/* ---- A write lock becomes a read lock ---- */

/* Its znode is there, and as it should be named. */
static void check_node(const struct party *a, int i, const char *mark,
                       const char *seq)
{
    const char *name = evzk_lock_node(a->c[i].l);

    ck_assert_str_eq(sequence_of(name), seq);
    ck_assert_ptr_nonnull(strstr(name, mark));
    ck_assert_int_eq(raw_exists(op(), node_path(a->dir, name), NULL), ZOK);
}

/* Calls it, and looks at what is true from the call on. */
static void downgrade(struct claim *c)
{
    uint64_t token = evzk_lock_token(c->l);

    ck_assert_int_eq(evzk_lock_mode_of(c->l), EVZK_LOCK_WRITE);
    ck_assert_int_eq(evzk_lock_downgrade(c->l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_mode_of(c->l), EVZK_LOCK_READ);
    ck_assert_uint_eq(evzk_lock_token(c->l), token);
    ck_assert(evzk_lock_held(c->l));
    ck_assert_int_eq(heard(c, "DOWNGRADED"), 0); /* Never inside the call. */
}

/* W R W R, in sessions of their own and in one.  Only who may hold it wakes. */
START_TEST(downgrade_lets_readers_in)
{
    struct proxy *proxy = proxy_start(the_server());
    struct party a;
    uint64_t token;
    int64_t woken;
    char seq[16];

    party_open(&a, "/down", _i ? 1 : 4, proxy_address(proxy));
    holds(&a, 0, BARE(WRITE));
    waits(&a, 1, BARE(READ));
    waits(&a, 2, BARE(WRITE));
    waits(&a, 3, BARE(READ));
    token = evzk_lock_token(a.c[0].l);
    strcpy(seq, sequence_of(evzk_lock_node(a.c[0].l)));
    check_node(&a, 0, "-write-", seq);
    woken = wakes(proxy);
    downgrade(&a.c[0]);
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[0].rec, "DOWNGRADED"));
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[1].rec, "GRANTED"));
    calm_held(&a, "1100");
    ck_assert_int_eq(wakes(proxy) - woken, 1);
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED");
    ck_assert_uint_eq(evzk_lock_token(a.c[0].l), token);
    ck_assert_int_eq(evzk_lock_mode_of(a.c[0].l), EVZK_LOCK_READ);
    check_node(&a, 0, "-read-", seq);
    ck_assert_int_eq(raw_count(op(), a.dir), 4);
    pass_on(&a, proxy, 0, "-100", 0);
    pass_on(&a, proxy, 1, "--10", 1);
    pass_on(&a, proxy, 2, "---1", 1);
    claim_release(&a.c[3]);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

/* W W X: the one right behind it looks again, and goes on waiting. */
START_TEST(downgrade_keeps_writers_out)
{
    struct proxy *proxy = proxy_start(the_server());
    struct party a;
    int64_t woken;

    party_open(&a, "/down-out", _i ? 1 : 3, proxy_address(proxy));
    holds(&a, 0, BARE(WRITE));
    waits(&a, 1, BARE(WRITE));
    waits(&a, 2, BARE(EXCLUSIVE));
    woken = wakes(proxy);
    downgrade(&a.c[0]);
    WAIT_EVENT(&a.c[0], "DOWNGRADED");
    calm_held(&a, "100");
    ck_assert_int_eq(wakes(proxy) - woken, 1);
    ck_assert_int_eq(a.c[1].rec.count + a.c[2].rec.count, 0);
    pass_on(&a, proxy, 0, "-10", 1);
    pass_on(&a, proxy, 1, "--1", 1);
    claim_release(&a.c[2]);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

/* They come while it is under way: from its own session, or from others. */
START_TEST(downgrade_meets_newcomers)
{
    const char *dir = "/down-meets";
    struct claim c, reader, writer;
    evzk_session *s;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    s = _i ? sc.p.s : sc.rival.s;
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    proxy_freeze(sc.proxy, PROXY_BOTH);
    downgrade(&c);
    WAIT(strcmp(evzk_lock_state(c.l), "SWAPPING") == 0);
    claim(&reader, s, dir, MODE(READ));
    claim(&writer, s, dir, MODE(WRITE));
    WAIT(_i || (is_waiting(&reader) && is_waiting(&writer)));
    proxy_thaw(sc.proxy);
    WAIT(still_held(&c) && recorder_has(&reader.rec, "GRANTED"));
    settle(s);
    ck_assert_str_eq(c.rec.text, "GRANTED DOWNGRADED");
    ck_assert(is_waiting(&writer));
    claim_release(&reader);
    settle(s);
    ck_assert(is_waiting(&writer));
    claim_release(&c);
    WAIT_EVENT(&writer, "GRANTED");
    claim_release(&writer);
    scene_close(&sc, dir);
}
END_TEST

/* The session has as many watches, and asks for nothing. */
static void wait_own_watches(evzk_session *s, unsigned n)
{
    evzk_session_stats st;

    WAIT((evzk_session_get_stats(s, &st), st.watches == n));
    quiet(s);
}

/* Its own znode was watched: that it goes now is no loss. */
START_TEST(downgrade_of_one_that_has_stayed)
{
    const char *dir = "/down-stayed";
    struct claim c, next;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, MODE(WRITE));
    wait_own_watches(p.s, 1);
    if (_i)
        claim_queued(&next, p.s, dir, MODE(READ));
    downgrade(&c);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED"));
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED DOWNGRADED");
    if (_i) {
        WAIT_EVENT(&next, "GRANTED");
        claim_release(&next);
    }
    wait_own_watches(p.s, 1); /* On the new one. */
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(c.l))),
                     ZOK);
    WAIT_EVENT(&c, "LOST(NODEGONE)");
    evzk_lock_free(c.l);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/*
 * The connection is cut before or after the request or its answer passes, and
 * for a while there is no other; the own znode is not watched yet, or is.
 */
START_TEST(downgrade_is_cut)
{
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];
    bool arrives = cut->dir == PROXY_S2C || cut->act == PROXY_CUT_AFTER;
    const char *dir = "/down-cut";
    struct claim c, reader, writer;
    struct scene sc;

    scene_open(&sc, _i < PROXY_CUTS ? SESSION_MS : SHORT_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    if (_i >= PROXY_CUTS)
        wait_own_watches(sc.p.s, 1);
    claim_queued(&reader, sc.rival.s, dir, MODE(READ));
    claim_queued(&writer, sc.rival.s, dir, MODE(WRITE));
    proxy_refuse(sc.proxy, true);
    proxy_trap(sc.proxy, cut->dir, OP_MULTI, 1, cut->act);
    downgrade(&c);
    WAIT(still_held(&c) && proxy_fired(sc.proxy) == 1);
    WAIT(still_held(&c) && recorder_has(&c.rec, "SUSPENDED"));
    if (arrives)
        WAIT_EVENT(&reader, "GRANTED");
    settle(sc.rival.s);
    ck_assert_int_eq(reader.rec.count, arrives);
    proxy_refuse(sc.proxy, false);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED") &&
         recorder_has(&c.rec, "RESUMED"));
    WAIT_EVENT(&reader, "GRANTED");
    settle(sc.p.s);
    settle(sc.rival.s);
    ck_assert_int_eq(heard(&c, "DOWNGRADED"), 1);
    ck_assert_int_eq(heard(&c, "SUSPENDED"), heard(&c, "RESUMED"));
    ck_assert(still_held(&c) && is_waiting(&writer));
    ck_assert_int_eq(raw_count(op(), dir), 3);
    claim_release(&c);
    claim_release(&reader);
    WAIT_EVENT(&writer, "GRANTED");
    claim_release(&writer);
    scene_close(&sc, dir);
}
END_TEST

static void delete_name(const char *dir, const char *name)
{
    ck_assert_int_eq(raw_delete(op(), node_path(dir, name)), ZOK);
}

/* Of the two that are there. */
static void delete_the_other(const char *dir, const struct claim *c)
{
    struct raw_names names;
    int other;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 2);
    other = strcmp(names.name[0], evzk_lock_node(c->l)) == 0;
    delete_name(dir, names.name[other]);
    raw_names_free(&names);
}

enum moment { AT_ONCE, UNDER_WAY, ANSWER_LOST, MOMENTS };

/* Begins it, and forgets what was heard before. */
static void start_downgrade(struct scene *sc, struct claim *c,
                            enum moment moment)
{
    if (moment == UNDER_WAY)
        proxy_freeze(sc->proxy, PROXY_BOTH);
    if (moment == ANSWER_LOST) {
        proxy_refuse(sc->proxy, true);
        proxy_trap(sc->proxy, PROXY_S2C, OP_MULTI, 1, PROXY_CUT_BEFORE);
    }
    downgrade(c);
    if (moment == UNDER_WAY)
        WAIT(strcmp(evzk_lock_state(c->l), "SWAPPING") == 0);
    if (moment == ANSWER_LOST)
        WAIT(proxy_fired(sc->proxy) == 1 && recorder_has(&c->rec, "SUSPENDED"));
    recorder_clear(&c->rec);
}

/* While it is under way its session ends (0), or its znode is deleted (1); or
 * the new one is, before it is known that it is there (2). */
START_TEST(downgrade_is_broken)
{
    const char *dir = "/down-broken";
    struct claim c, next;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    claim_queued(&next, sc.rival.s, dir, MODE(WRITE));
    start_downgrade(&sc, &c, _i == 2 ? ANSWER_LOST : UNDER_WAY);
    if (_i == 0)
        raw_expire(the_server(), evzk_session_id(sc.p.s));
    else if (_i == 1)
        delete_name(dir, evzk_lock_node(c.l));
    else
        delete_the_other(dir, &next);
    proxy_thaw(sc.proxy);
    WAIT_EVENT(&next, "GRANTED");
    proxy_refuse(sc.proxy, false);
    WAIT(c.rec.finals == 1);
    ck_assert(!evzk_lock_held(c.l));
    ck_assert(recorder_has(&c.rec, _i ? "LOST(NODEGONE)" : "LOST(EXPIRED)"));
    ck_assert_int_eq(heard(&c, "DOWNGRADED"), 0);
    evzk_lock_free(c.l);
    ck_assert_int_eq(raw_count(op(), dir), 1);
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

/* The server refuses: it is what it was, and can be asked again. */
START_TEST(downgrade_is_refused)
{
    struct ACL acl = {ZOO_PERM_ALL & ~ZOO_PERM_CREATE, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};
    struct party a;
    char seq[16];

    party_open(&a, "/down-refused", 2, the_server());
    holds(&a, 0, MODE(WRITE));
    waits(&a, 1, MODE(READ));
    strcpy(seq, sequence_of(evzk_lock_node(a.c[0].l)));
    ck_assert_int_eq(raw_set_acl(op(), a.dir, &v), ZOK);
    downgrade(&a.c[0]);
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[0].rec, "DOWNGRADED"));
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED(NOAUTH)");
    ck_assert_int_eq(evzk_lock_mode_of(a.c[0].l), EVZK_LOCK_WRITE);
    calm_held(&a, "10");
    check_node(&a, 0, "-write-", seq);
    ck_assert_int_eq(raw_set_acl(op(), a.dir, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    ck_assert_int_eq(evzk_lock_downgrade(a.c[0].l), EVZK_OK);
    WAIT_EVENT(&a.c[1], "GRANTED");
    calm_held(&a, "11");
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED(NOAUTH) DOWNGRADED");
    check_node(&a, 0, "-read-", seq);
    claim_release(&a.c[0]);
    claim_release(&a.c[1]);
    party_close(&a);
}
END_TEST

static int64_t multis(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_C2S, OP_MULTI);
}

static const char *many_dir(int i) { return numbered("/down-many", i); }

/* Many at once, each in its directory: few requests, and each its own result;
 * one of them was broken (1), or none (0). */
START_TEST(many_are_downgraded_at_once)
{
    enum { N = 100, OUT = 20 };
    struct proxy *proxy = proxy_start(the_server());
    struct crowd c;
    struct peer p;
    int64_t sent;

    raw_mkdirs(op(), "/down-many");
    peer_fresh(&p, proxy_address(proxy));
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s, many_dir(i), BARE(WRITE));
    WAIT(c.granted == N);
    if (_i)
        delete_name(many_dir(OUT), evzk_lock_node(c.v[OUT].l));
    sent = multis(proxy);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(evzk_lock_downgrade(c.v[i].l), EVZK_OK);
    WAIT(c.doubts + c.finals == N);
    ck_assert_int_eq(c.finals, _i);
    ck_assert_int_le(multis(proxy) - sent, _i ? 5 : 2);
    for (int i = 0; i < N; i++) {
        if (_i && i == OUT)
            continue;
        ck_assert(evzk_lock_held(c.v[i].l));
        ck_assert_uint_eq(evzk_lock_token(c.v[i].l), c.v[i].token);
        ck_assert_int_eq(evzk_lock_release(c.v[i].l), EVZK_OK);
    }
    WAIT(c.finals == N);
    ck_assert_int_eq(c.v[OUT].rc, _i ? EVZK_ERR_NODEGONE : EVZK_OK);
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/down-many");
}
END_TEST

enum end { RELEASE, FREE, CLOSE, ENDS };

static void end_it(struct scene *sc, struct claim *c, enum end way)
{
    switch (way) {
    case RELEASE:
        ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
        ck_assert(!evzk_lock_held(c->l));
        break;
    case FREE:
        evzk_lock_free(c->l);
        c->l = NULL;
        break;
    case CLOSE:
        ck_assert_int_eq(evzk_session_close(sc->p.s), EVZK_OK);
        break;
    case ENDS:
        break;
    }
}

/* It may have been downgraded before the session was. */
static void check_end(const struct claim *c, enum end way)
{
    if (way == FREE)
        ck_assert_int_eq(c->rec.count, 0);
    else if (way == RELEASE)
        ck_assert_str_eq(c->rec.text, "RELEASED");
    else
        ck_assert(recorder_has(&c->rec, "LOST(CLOSED)") &&
                  c->rec.count == heard(c, "DOWNGRADED") + 1);
}

/* Released, freed, or its session closed, at each moment: its znode goes,
 * whatever it is called by now. */
START_TEST(leaving_after_downgrade)
{
    enum end way = (enum end)(_i % ENDS);
    const char *dir = "/down-leave";
    struct claim c, next;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    claim_queued(&next, sc.rival.s, dir, MODE(WRITE));
    start_downgrade(&sc, &c, (enum moment)(_i / ENDS));
    end_it(&sc, &c, way);
    run_for(harness_base(), 50); /* For what must not happen. */
    proxy_refuse(sc.proxy, false);
    proxy_thaw(sc.proxy);
    WAIT_EVENT(&next, "GRANTED");
    ck_assert_int_eq(raw_count(op(), dir), 1);
    WAIT(way == FREE || c.rec.finals == 1);
    check_end(&c, way);
    evzk_lock_free(c.l);
    if (way == CLOSE) { /* For the end of the scene. */
        WAIT(sc.p.rec.finals == 1);
        evzk_session_free(sc.p.s);
        peer_open(&sc.p, proxy_address(sc.proxy));
    }
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

/* The lease ends, and no server has confirmed that the znode is gone. */
START_TEST(released_downgrade_proves_it)
{
    const char *dir = "/down-prove";
    struct claim c;
    struct scene sc;

    scene_open(&sc, BRIEF_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    WAIT(evzk_session_connected(sc.p.s));
    quiet(sc.p.s);
    proxy_refuse(sc.proxy, true);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    start_downgrade(&sc, &c, UNDER_WAY);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    WAIT(evzk_session_lease_ms(sc.p.s) == 0);
    run_for(harness_base(), 100); /* For what must not happen. */
    ck_assert_int_eq(c.rec.finals, 0);
    proxy_cut(sc.proxy);
    proxy_thaw(sc.proxy);
    proxy_refuse(sc.proxy, false);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "RELEASED");
    ck_assert_int_le(raw_count(op(), dir), 0);
    evzk_lock_free(c.l);
    scene_close(&sc, dir);
}
END_TEST

static void check_no_downgrade(const struct claim *c, evzk_lock_mode mode)
{
    ck_assert_int_eq(evzk_lock_downgrade(c->l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_mode_of(c->l), mode);
}

START_TEST(downgrade_of_another_mode)
{
    evzk_lock_mode mode = _i ? EVZK_LOCK_READ : EVZK_LOCK_EXCLUSIVE;
    struct party a;

    party_open(&a, "/down-mode", 1, the_server());
    ck_assert_int_eq(evzk_lock_downgrade(NULL), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_mode_of(NULL), EVZK_LOCK_EXCLUSIVE);
    claim(&a.c[0], a.p[0].s, a.dir, &(evzk_lock_options){.mode = mode});
    check_no_downgrade(&a.c[0], mode);
    WAIT_EVENT(&a.c[0], "GRANTED");
    check_no_downgrade(&a.c[0], mode);
    calm_held(&a, "1");
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED");
    claim_release(&a.c[0]);
    party_close(&a);
}
END_TEST

/* Before its time, twice, and after the end; _i: it was never downgraded. */
START_TEST(downgrade_in_wrong_states)
{
    evzk_lock_mode mode = _i ? EVZK_LOCK_WRITE : EVZK_LOCK_READ;
    struct party a;
    struct claim *c = &a.c[1];

    party_open(&a, "/down-state", 1, the_server());
    holds(&a, 0, MODE(EXCLUSIVE));
    claim(c, a.p[0].s, a.dir, MODE(WRITE));
    check_no_downgrade(c, EVZK_LOCK_WRITE);
    WAIT(is_waiting(c));
    check_no_downgrade(c, EVZK_LOCK_WRITE);
    claim_release(&a.c[0]);
    WAIT_EVENT(c, "GRANTED");
    if (!_i) {
        downgrade(c);
        check_no_downgrade(c, mode);
        WAIT_EVENT(c, "DOWNGRADED");
        check_no_downgrade(c, mode);
    }
    ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
    check_no_downgrade(c, mode);
    WAIT(c->rec.finals == 1);
    check_no_downgrade(c, mode);
    ck_assert_str_eq(c->rec.text,
                     _i ? "GRANTED RELEASED" : "GRANTED DOWNGRADED RELEASED");
    evzk_lock_free(c->l);
    party_close(&a);
}
END_TEST

/* A lock that calls this inside one of its events. */
struct actor {
    evzk_lock_event at;
    int (*act)(evzk_lock *l);
    int rc;
    struct claim c;
};

static void on_actor(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct actor *a = arg;

    recorder_on_lock(l, event, rc, &a->c.rec);
    if (event == a->at)
        a->rc = a->act(l);
}

static int do_free(evzk_lock *l)
{
    evzk_lock_free(l);
    return EVZK_OK;
}

static void actor_start(struct actor *a, evzk_session *s, const char *dir)
{
    a->rc = -999;
    ck_assert_int_eq(
        evzk_lock_acquire(s, dir, MODE(WRITE), on_actor, a, &a->c.l), EVZK_OK);
}

/* In GRANTED; then released (0) or freed (1) in DOWNGRADED. */
START_TEST(downgrade_inside_events)
{
    struct actor a = {.at = EVZK_LOCK_GRANTED, .act = evzk_lock_downgrade};
    const char *dir = "/down-inside";
    struct peer p;

    peer_open(&p, the_server());
    actor_start(&a, p.s, dir);
    WAIT(a.rc != -999);
    ck_assert_int_eq(a.rc, EVZK_OK);
    a.at = EVZK_LOCK_DOWNGRADED;
    a.act = _i ? do_free : evzk_lock_release;
    WAIT(_i ? recorder_has(&a.c.rec, "DOWNGRADED") : a.c.rec.finals == 1);
    ck_assert_int_eq(a.rc, EVZK_OK);
    nothing_left(dir, p.s);
    ck_assert_str_eq(a.c.rec.text,
                     _i ? "GRANTED DOWNGRADED" : "GRANTED DOWNGRADED RELEASED");
    if (!_i)
        evzk_lock_free(a.c.l);
    peer_close(&p);
}
END_TEST

/* What it says of itself is the same after. */
START_TEST(downgrade_keeps_the_data)
{
    const evzk_acl acl = {EVZK_PERM_ALL, "world", "anyone"};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .data = "mine\0too",
                                   .data_len = 8,
                                   .acl = &acl,
                                   .acl_count = 1};
    const char *dir = "/down-data";
    struct claim c;
    struct peer p;
    char buf[16];
    int len = sizeof buf;

    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, &opt);
    downgrade(&c);
    WAIT_EVENT(&c, "DOWNGRADED");
    ck_assert_int_eq(
        raw_get(op(), node_path(dir, evzk_lock_node(c.l)), buf, &len, NULL),
        ZOK);
    ck_assert_int_eq(len, 8);
    ck_assert_int_eq(memcmp(buf, "mine\0too", 8), 0);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* There is no way back, and it says so from the call on. */
START_TEST(upgrade_says_why_not)
{
    struct party a;

    party_open(&a, "/upgrade", 1, the_server());
    ck_assert_int_eq(evzk_lock_upgrade(NULL), EVZK_ERR_INVAL);
    holds(&a, 0, MODE(READ));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[0].l), EVZK_ERR_UPGRADE);
    ck_assert(evzk_lock_held(a.c[0].l));
    waits(&a, 1, MODE(WRITE));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_STATE);
    waits(&a, 2, MODE(EXCLUSIVE));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[2].l), EVZK_ERR_STATE);
    claim_release(&a.c[0]);
    WAIT_EVENT(&a.c[1], "GRANTED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_STATE);
    downgrade(&a.c[1]);
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_UPGRADE);
    WAIT_EVENT(&a.c[1], "DOWNGRADED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_UPGRADE);
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[2].l), EVZK_ERR_STATE);
    claim_release(&a.c[2]);
    party_close(&a);
}
END_TEST

START_TEST(forked_child_changes_nothing)
{
    struct party a;
    pid_t pid;

    party_open(&a, "/down-forked", 1, the_server());
    holds(&a, 0, MODE(WRITE));
    operator_close();
    pid = harness_fork();
    if (pid == 0) {
        int bad = evzk_lock_downgrade(a.c[0].l) != EVZK_ERR_FORKED;

        bad |= (evzk_lock_upgrade(a.c[0].l) != EVZK_ERR_FORKED) << 1;
        bad |= (evzk_lock_mode_of(a.c[0].l) != EVZK_LOCK_WRITE) << 2;
        evzk_session_free(a.p[0].s);
        evzk_lock_free(a.c[0].l);
        _exit(bad);
    }
    ck_assert_int_eq(harness_join(pid), 0);
    claim_release(&a.c[0]);
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

/* ---- Asked to let go ---- */

/* Counts the times that its machines heard of a change. */
static void count_changes(const evzk_trace *move, void *arg)
{
    *(int *)arg += strcmp(move->event, "changed") == 0;
}

/* A session whose own watches come soon. */
static void peer_watched(struct peer *p, const char *server, int *changes)
{
    evzk_session_options opt = {
        .timeout_ms = SHORT_MS, .trace = count_changes, .trace_arg = changes};

    *changes = 0;
    peer_start(p, server, &opt);
    WAIT(evzk_session_connected(p->s));
}

static void write_node(const char *dir, const struct claim *c, const char *text)
{
    ck_assert_int_eq(raw_set(op(), node_path(dir, evzk_lock_node(c->l)), text,
                             (int)strlen(text)),
                     ZOK);
}

#define ASKED "REVOKE_REQUESTED"

/* In each mode: exactly this word, and each time that it is written. */
START_TEST(holder_is_asked)
{
    static const char *const others[] = {
        "unlock ", "UNLOCK", "", "unlocked", "unloc", "\nunlock", "Unlock"};
    const evzk_lock_options opt = {.mode = (evzk_lock_mode)_i};
    const char *dir = "/asked";
    int changes;
    struct claim c;
    struct peer p;
    uint64_t token;

    peer_watched(&p, the_server(), &changes);
    claim_held(&c, p.s, dir, &opt);
    token = evzk_lock_token(c.l);
    wait_own_watches(p.s, 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int before = changes;

        write_node(dir, &c, others[i]);
        WAIT(still_held(&c) && changes > before);
        wait_own_watches(p.s, 1);
    }
    ck_assert_int_eq(heard(&c, ASKED), 0);
    for (int i = 1; i <= 3; i++) {
        write_node(dir, &c, "unlock");
        WAIT(still_held(&c) && heard(&c, ASKED) == i);
        settle(p.s);
        ck_assert_int_eq(heard(&c, ASKED), i);
        wait_own_watches(p.s, 1);
    }
    ck_assert_uint_eq(evzk_lock_token(c.l), token);
    ck_assert_int_eq(evzk_lock_mode_of(c.l), opt.mode);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* Before the own znode is watched, and of what was there from the beginning. */
START_TEST(holder_is_asked_early)
{
    const evzk_lock_options opt = {
        .mode = EVZK_LOCK_READ, .data = "unlock", .data_len = 6};
    const char *dir = "/asked-early";
    struct claim c, other;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&other, p.s, dir, &opt);
    claim_held(&c, p.s, dir, MODE(READ));
    write_node(dir, &c, "unlock");
    WAIT(heard(&c, ASKED) == 1);
    wait_own_watches(p.s, 2);
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED " ASKED);
    ck_assert_str_eq(recorder_story(&other.rec), "GRANTED");
    claim_release(&c);
    claim_release(&other);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* While it was disconnected: before its own znode was watched (0), or after
 * (1). It is not told again when it is cut once more. */
START_TEST(holder_is_asked_while_cut_off)
{
    const char *dir = "/asked-cut";
    struct scene sc;
    struct claim c;
    uint64_t token;

    scene_open(&sc, _i ? SHORT_MS : SESSION_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    token = evzk_lock_token(c.l);
    if (_i)
        wait_own_watches(sc.p.s, 1);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(still_held(&c) && recorder_has(&c.rec, "SUSPENDED"));
    write_node(dir, &c, "unlock");
    ck_assert_int_eq(heard(&c, ASKED), 0);
    proxy_refuse(sc.proxy, false);
    WAIT(still_held(&c) && recorder_has(&c.rec, "RESUMED") &&
         heard(&c, ASKED) == 1);
    settle(sc.p.s);
    recorder_clear(&sc.p.rec);
    proxy_cut(sc.proxy);
    WAIT(recorder_has(&sc.p.rec, "RESUMED"));
    settle(sc.p.s);
    ck_assert_int_eq(heard(&c, ASKED), 1);
    ck_assert_int_eq(heard(&c, "SUSPENDED"), heard(&c, "RESUMED"));
    ck_assert(still_held(&c));
    ck_assert_uint_eq(evzk_lock_token(c.l), token);
    claim_release(&c);
    scene_close(&sc, dir);
}
END_TEST

/* It keeps its place, and does not hear it again with its grant; those beside
 * it hear nothing. */
START_TEST(waiter_is_asked)
{
    const char *dir = "/asked-waiter";
    struct claim held, c, last;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&held, p.s, dir, MODE(WRITE));
    claim_queued(&c, p.s, dir, _i ? MODE(READ) : MODE(WRITE));
    claim_queued(&last, p.s, dir, MODE(WRITE));
    wait_own_watches(p.s, 5); /* Three own ones, and two before these. */
    write_node(dir, &c, "unlock");
    WAIT(heard(&c, ASKED) == 1);
    settle(p.s);
    ck_assert_str_eq(c.rec.text, ASKED);
    ck_assert(is_waiting(&c));
    claim_release(&held);
    WAIT_EVENT(&c, "GRANTED");
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), ASKED " GRANTED");
    ck_assert_int_eq(last.rec.count, 0);
    claim_release(&c);
    WAIT_EVENT(&last, "GRANTED");
    claim_release(&last);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* It answers inside the event: by release, by free, and by downgrade, after
 * which its new znode is asked. */
START_TEST(asked_holder_lets_go)
{
    static int (*const acts[])(evzk_lock *) = {evzk_lock_release, do_free,
                                               evzk_lock_downgrade};
    struct actor a = {.at = EVZK_LOCK_REVOKE_REQUESTED, .act = acts[_i]};
    const char *dir = "/asked-answer";
    struct peer p;

    peer_short(&p, the_server());
    actor_start(&a, p.s, dir);
    WAIT_EVENT(&a.c, "GRANTED");
    wait_own_watches(p.s, 1);
    write_node(dir, &a.c, "unlock");
    WAIT(a.rc != -999);
    ck_assert_int_eq(a.rc, EVZK_OK);
    if (_i == 2) {
        WAIT_EVENT(&a.c, "DOWNGRADED");
        a.act = evzk_lock_release;
        wait_own_watches(p.s, 1);
        ck_assert_int_eq(heard(&a.c, ASKED), 1);
        write_node(dir, &a.c, "unlock");
    }
    WAIT(_i == 1 || a.c.rec.finals == 1);
    nothing_left(dir, p.s);
    ck_assert_int_eq(heard(&a.c, ASKED), _i == 2 ? 2 : 1);
    ck_assert_int_eq(heard(&a.c, "RELEASED"), _i != 1);
    if (_i != 1)
        evzk_lock_free(a.c.l);
    peer_close(&p);
}
END_TEST

/* What was written is heard, though its znode is about to be another (0); and
 * what says nothing does not stand in the way (1). */
START_TEST(asked_right_before_downgrade)
{
    const char *dir = "/asked-down";
    struct claim c;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, MODE(WRITE));
    write_node(dir, &c, _i ? "new" : "unlock");
    downgrade(&c);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED"));
    wait_own_watches(p.s, 1);
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), _i ? "GRANTED DOWNGRADED"
                                                : "GRANTED " ASKED
                                                  " DOWNGRADED");
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

static void add_together(Suite *suite)
{
    TCase *tests = lock_tests(suite, "together", 60000);

    tcase_add_loop_test(tests, modes_keep_each_other_out, 0, 18);
    tcase_add_loop_test(tests, readers_hold_together, 0, 2);
    tcase_add_loop_test(tests, reader_does_not_pass_a_waiting_writer, 0, 2);
    tcase_add_loop_test(tests, writer_waits_for_all_readers, 0, 12);
    tcase_add_loop_test(tests, one_wake_for_each_that_leaves, 0, 2);
    tcase_add_test(tests, a_writer_wakes_its_readers);
    tcase_add_loop_test(tests, readers_of_a_session_share_a_listing, 0, 4);
    tcase_add_loop_test(tests, try_once, 0, 2);
    tcase_add_loop_test(tests, writer_leaves_the_queue, 0, 2 * LEAVES);
    tcase_add_loop_test(tests, reader_leaves_the_queue, 0, 2 * LEAVES);
    tcase_add_test(tests, look_up_shows_all_holders);
}

static void add_downgrade(Suite *suite)
{
    TCase *tests = lock_tests(suite, "downgrade", 60000);

    tcase_add_loop_test(tests, downgrade_lets_readers_in, 0, 2);
    tcase_add_loop_test(tests, downgrade_keeps_writers_out, 0, 2);
    tcase_add_loop_test(tests, downgrade_meets_newcomers, 0, 2);
    tcase_add_loop_test(tests, downgrade_of_one_that_has_stayed, 0, 2);
    tcase_add_loop_test(tests, downgrade_is_cut, 0, 2 * PROXY_CUTS);
    tcase_add_loop_test(tests, downgrade_is_broken, 0, 3);
    tcase_add_test(tests, downgrade_is_refused);
    tcase_add_loop_test(tests, many_are_downgraded_at_once, 0, 2);
    tcase_add_loop_test(tests, leaving_after_downgrade, 0, MOMENTS * ENDS);
    tcase_add_test(tests, released_downgrade_proves_it);
    tcase_add_loop_test(tests, downgrade_of_another_mode, 0, 2);
    tcase_add_loop_test(tests, downgrade_in_wrong_states, 0, 2);
    tcase_add_loop_test(tests, downgrade_inside_events, 0, 2);
    tcase_add_test(tests, downgrade_keeps_the_data);
    tcase_add_test(tests, upgrade_says_why_not);
    tcase_add_test(tests, forked_child_changes_nothing);
}

static void add_asked(Suite *suite)
{
    TCase *tests = lock_tests(suite, "asked", 60000);

    tcase_add_loop_test(tests, holder_is_asked, 0, 3);
    tcase_add_test(tests, holder_is_asked_early);
    tcase_add_loop_test(tests, holder_is_asked_while_cut_off, 0, 2);
    tcase_add_loop_test(tests, waiter_is_asked, 0, 2);
    tcase_add_loop_test(tests, asked_holder_lets_go, 0, 3);
    tcase_add_loop_test(tests, asked_right_before_downgrade, 0, 2);
}

int main(void)
{
    Suite *suite = suite_create("lock-shared");

    add_together(suite);
    add_downgrade(suite);
    add_asked(suite);
    return lock_suite_run(suite);
}
