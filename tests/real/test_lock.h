/*
 * What the tests of the lock share, in whichever mode: sessions and locks with
 * a record of what they said, an operator's client, and the proof that nothing
 * is left on the server.  For tests/real/test_lock*.c, and by test_many.h for
 * others in tests/real.
 */
#ifndef TESTS_REAL_TEST_LOCK_H
#define TESTS_REAL_TEST_LOCK_H

#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proxy.h"
#include "raw.h"
#include "zk.h"

/*
 * Sessions live for longer than any machine stands still; so do the operator's.
 * The brief ones are for tests in which a lease is to end: there a machine that
 * stands still may bring about a doubt at any time (recorder_story()).
 */
enum {
    SESSION_MS = 30000,
    BRIEF_MS = 4000,
    SHORT_MS = 6000, /* Six probes, and no machine stands still for all. */
    OPERATOR_MS = 60000,
    CLOSE_MS = 60000 /* As long as the server takes. */
};

/* Opcodes that the proxy is asked for. */
enum {
    OP_DELETE = 2,
    OP_GET = 4,
    OP_SYNC = 9,
    OP_CHILDREN = 12,
    OP_CREATE = 15,
    OP_CONTAINER = 19
};

/* A session, and what it said. */
struct peer {
    evzk_session *s;
    struct recorder rec;
};

/* A lock, and what it said. */
struct claim {
    evzk_lock *l;
    struct recorder rec;
};

/* The shared server, whatever the test before did to it. */
static inline const char *the_server(void)
{
    zk_cont(zk_shared(), 0);
    return zk_server(zk_shared(), 0);
}

/* The operator: a raw client, made anew when its session has expired. */
static inline struct raw **operator_slot(void)
{
    static struct raw *r;

    return &r;
}

static inline void operator_close(void)
{
    raw_close(*operator_slot());
    *operator_slot() = NULL;
}

static inline struct raw *op(void)
{
    if (*operator_slot() && !raw_fresh(*operator_slot()))
        operator_close();
    if (!*operator_slot()) {
        *operator_slot() = raw_open(the_server(), OPERATOR_MS, NULL);
        raw_drive(*operator_slot(), harness_base());
    }
    return *operator_slot();
}

static inline void peer_start(struct peer *p, const char *server,
                              const evzk_session_options *opt)
{
    evzk_session_options o = {.timeout_ms = SESSION_MS};

    if (opt)
        o = *opt;
    if (o.close_timeout_ms == 0)
        o.close_timeout_ms = CLOSE_MS;
    recorder_clear(&p->rec);
    ck_assert_int_eq(evzk_session_open(harness_base(), server, &o,
                                       recorder_on_session, &p->rec, &p->s),
                     EVZK_OK);
}

static inline void peer_open(struct peer *p, const char *server)
{
    peer_start(p, server, NULL);
    WAIT(evzk_session_connected(p->s));
}

/* A session whose probes follow each other: what the library does when it has
 * stayed as it is for two of them comes soon. */
static inline void peer_short(struct peer *p, const char *server)
{
    evzk_session_options opt = {.timeout_ms = SHORT_MS};

    peer_start(p, server, &opt);
    WAIT(evzk_session_connected(p->s));
}

static inline void peer_close(struct peer *p)
{
    int rc = evzk_session_close(p->s);

    ck_assert(rc == EVZK_OK || rc == EVZK_ERR_CLOSED);
    WAIT(p->rec.finals == 1);
    evzk_session_free(p->s);
    p->s = NULL;
}

static inline void claim(struct claim *c, evzk_session *s, const char *dir,
                         const evzk_lock_options *opt)
{
    recorder_clear(&c->rec);
    ck_assert_int_eq(
        evzk_lock_acquire(s, dir, opt, recorder_on_lock, &c->rec, &c->l),
        EVZK_OK);
    ck_assert_int_eq(c->rec.count, 0);
}

#define WAIT_EVENT(c, word) WAIT(recorder_has(&(c)->rec, word))

/* In the queue, or by priority before that. */
static inline bool claim_waits(const struct claim *c)
{
    return strcmp(evzk_lock_state(c->l), "WATCHING") == 0 ||
           strcmp(evzk_lock_state(c->l), "PRIO_WATCHING") == 0;
}

/* Waits until it stands in the queue behind another. */
static inline void claim_queued(struct claim *c, evzk_session *s,
                                const char *dir, const evzk_lock_options *opt)
{
    claim(c, s, dir, opt);
    WAIT(claim_waits(c) && evzk_lock_node(c->l)[0]);
}

static inline void claim_held(struct claim *c, evzk_session *s, const char *dir,
                              const evzk_lock_options *opt)
{
    claim(c, s, dir, opt);
    WAIT(evzk_lock_held(c->l));
}

static inline void claim_release(struct claim *c)
{
    ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
    ck_assert(!evzk_lock_held(c->l));
    WAIT(c->rec.finals == 1);
    ck_assert_int_eq(c->rec.last, EVZK_LOCK_RELEASED);
    ck_assert_int_eq(c->rec.rc, EVZK_OK);
    evzk_lock_free(c->l);
    c->l = NULL;
}

static inline void claim_cancel(struct claim *c)
{
    ck_assert_int_eq(evzk_lock_cancel(c->l), EVZK_OK);
    WAIT(c->rec.finals == 1);
    ck_assert_int_eq(c->rec.last, EVZK_LOCK_FAILED);
    ck_assert_int_eq(c->rec.rc, EVZK_ERR_CANCELED);
    evzk_lock_free(c->l);
    c->l = NULL;
}

/* The path of a lock's znode. */
static inline const char *node_path(const char *dir, const char *name)
{
    static char path[256];

    ck_assert_str_ne(name, "");
    ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", dir, name),
                     (int)sizeof path);
    return path;
}

/* The last ten digits of a name. */
static inline const char *sequence_of(const char *name)
{
    ck_assert_uint_gt(strlen(name), 10);
    return name + strlen(name) - 10;
}

/* Nothing that a session does is under way any more. */
static inline void idle(evzk_session *s)
{
    evzk_session_stats stats;

    WAIT((evzk_session_get_stats(s, &stats), stats.machines == 0));
}

/* How many watches the server has, of all sessions. */
static inline void wait_watches(long n)
{
    WAIT(zk_mntr(zk_shared(), 0, "zk_watch_count") == n);
}

/* No contender, and no watch: not in the library, not on the server. */
static inline void nothing_left(const char *dir, evzk_session *s)
{
    evzk_session_stats stats;

    if (s) {
        idle(s);
        evzk_session_get_stats(s, &stats);
        ck_assert_int_eq(stats.watches, 0);
    }
    WAIT(raw_count(op(), dir) <= 0);
    wait_watches(0);
}

/* All requests are answered: so a watch that was asked for stands. */
static inline void all_answered(evzk_session *s)
{
    evzk_session_stats stats;

    WAIT((evzk_session_get_stats(s, &stats),
          stats.in_flight == 0 && stats.queued == 0));
}

/* So far, those of the lease included. */
static inline uint64_t requests_of(evzk_session *s)
{
    evzk_session_stats stats;

    evzk_session_get_stats(s, &stats);
    return stats.requests;
}

/* Everybody in the directory learnt of what was done before. */
static inline void settle(evzk_session *s)
{
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    run_for(harness_base(), 100); /* For what must not happen. */
    all_answered(s);
}

/* A session behind a proxy, its moves, and a rival that is not. */
struct scene {
    struct proxy *proxy;
    struct peer p, rival;
    char moves[4096];
};

static inline void scene_move(const evzk_trace *move, void *arg)
{
    struct scene *sc = arg;
    size_t n = strlen(sc->moves);

    if (move->entered)
        snprintf(sc->moves + n, sizeof sc->moves - n, "%s%s", n ? " " : "",
                 move->to);
}

static inline void scene_open(struct scene *sc, uint32_t timeout_ms)
{
    evzk_session_options opt = {
        .timeout_ms = timeout_ms, .trace = scene_move, .trace_arg = sc};

    sc->moves[0] = '\0';
    sc->proxy = proxy_start(the_server());
    peer_start(&sc->p, proxy_address(sc->proxy), &opt);
    WAIT(evzk_session_connected(sc->p.s));
    peer_open(&sc->rival, the_server());
}

static inline void scene_close(struct scene *sc, const char *dir)
{
    WAIT(evzk_session_connected(sc->p.s));
    nothing_left(dir, sc->p.s);
    nothing_left(dir, sc->rival.s);
    peer_close(&sc->p);
    peer_close(&sc->rival);
    proxy_stop(sc->proxy);
}

static inline void lock_suite_up(void) { zk_shared(); }

static inline void lock_test_down(void)
{
    operator_close();
    harness_free();
}

static inline TCase *lock_tests(Suite *suite, const char *name,
                                int64_t timeout_ms)
{
    TCase *tests = tcase_create(name);

    /* WAIT() gives up sooner, and says why. */
    tcase_set_timeout(tests, (double)slow_ms(timeout_ms) / 1000);
    tcase_add_unchecked_fixture(tests, lock_suite_up, zk_shared_stop);
    tcase_add_checked_fixture(tests, NULL, lock_test_down);
    suite_add_tcase(suite, tests);
    return tests;
}

static inline int lock_suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    setvbuf(stdout, NULL, _IOLBF, 0);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

#endif
