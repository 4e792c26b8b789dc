/*
 * What the tests of the session share: a session with its record, a lock with
 * its record, and a suite on one real server.
 */
#ifndef TESTS_REAL_TEST_SESSION_KIT_H
#define TESTS_REAL_TEST_SESSION_KIT_H

#include <arpa/inet.h>
#include <check.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <evzk/evzk.h>

#include "harness.h"
#include "proxy.h"
#include "raw.h"
#include "zk.h"

enum {
    KIT_SESSION_MS = 30000,  /* Longer than any machine stands still. */
    KIT_SHORT_MS = 6000,     /* Where two probes are waited for. */
    KIT_BRIEF_MS = 5000,     /* Where a lease is to end. */
    KIT_OPERATOR_MS = 60000, /* The most the servers grant. */
    KIT_CLOSE_MS = 60000,    /* As long as the server takes. */
    OP_SYNC = 9,
    OP_MULTI = 14,
    OP_CREATE = 15, /* The one that answers with a Stat. */
};

struct app {
    evzk_session *s;
    struct recorder rec;
};

struct one {
    evzk_lock *l;
    struct recorder rec;
};

static inline const char *server(void) { return zk_server(zk_shared(), 0); }

static inline struct proxy *proxied(void) { return proxy_start(server()); }

static inline bool app_heard(const struct app *a, const char *word)
{
    return recorder_has(&a->rec, word);
}

static inline bool one_heard(const struct one *o, const char *word)
{
    return recorder_has(&o->rec, word);
}

/* Opens a session and does not wait for it. */
static inline void app_open(struct app *a, const char *servers,
                            const evzk_session_options *opt)
{
    evzk_session_options o = {.timeout_ms = KIT_SESSION_MS};

    if (opt)
        o = *opt;
    if (o.close_timeout_ms == 0)
        o.close_timeout_ms = KIT_CLOSE_MS;
    memset(a, 0, sizeof *a);
    ck_assert_int_eq(evzk_session_open(harness_base(), servers, &o,
                                       recorder_on_session, &a->rec, &a->s),
                     EVZK_OK);
}

static inline void app_up(struct app *a, const char *servers,
                          const evzk_session_options *opt)
{
    app_open(a, servers, opt);
    WAIT(app_heard(a, "CONNECTED"));
}

/* Closes, waits for it, frees; the server must have confirmed it. */
static inline void app_close(struct app *a)
{
    ck_assert_int_eq(evzk_session_close(a->s), EVZK_OK);
    WAIT(a->rec.finals == 1);
    ck_assert_int_eq(a->rec.rc, EVZK_OK);
    evzk_session_free(a->s);
    a->s = NULL;
}

static inline void one_start(struct one *o, struct app *a, const char *path)
{
    memset(o, 0, sizeof *o);
    ck_assert_int_eq(
        evzk_lock_acquire(a->s, path, NULL, recorder_on_lock, &o->rec, &o->l),
        EVZK_OK);
}

static inline void one_hold(struct one *o, struct app *a, const char *path)
{
    one_start(o, a, path);
    WAIT(evzk_lock_held(o->l));
}

static inline void one_free(struct one *o)
{
    evzk_lock_free(o->l);
    o->l = NULL;
}

static inline evzk_session_stats stats_of(const struct app *a)
{
    evzk_session_stats st;

    evzk_session_get_stats(a->s, &st);
    return st;
}

/* This process's socket that is connected to that loopback port; -1: none. */
static inline int socket_to(int port)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in to;
        socklen_t len = sizeof to;

        memset(&to, 0, sizeof to);
        if (getpeername(fd, (struct sockaddr *)&to, &len) == 0 &&
            to.sin_family == AF_INET && ntohs(to.sin_port) == port)
            return fd;
    }
    return -1;
}

static inline struct raw *operator_open(void)
{
    return raw_open(server(), KIT_OPERATOR_MS, NULL);
}

/* A fresh directory of this name, for a test of its own. */
static inline struct raw *operator_for(const char *dir)
{
    struct raw *r = operator_open();

    raw_delete_tree(r, dir);
    return r;
}

/* An end that did not crash: nothing is left on the loop. */
static inline void kit_done(void) { harness_free(); }

static inline void kit_server_up(void) { zk_shared(); }

static inline TCase *kit_tcase(Suite *suite, const char *name, int seconds)
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, (double)slow_ms((int64_t)seconds * 1000) / 1000);
    suite_add_tcase(suite, tc);
    return tc;
}

/* The same, on the shared server. */
static inline TCase *kit_shared_tcase(Suite *suite, const char *name,
                                      int seconds)
{
    TCase *tc = kit_tcase(suite, name, seconds);

    tcase_add_unchecked_fixture(tc, kit_server_up, NULL);
    return tc;
}

static inline int kit_main(Suite *suite)
{
    SRunner *runner;
    int failed;

    setvbuf(stdout, NULL, _IOLBF, 0);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    zk_shared_stop();
    return failed ? 1 : 0;
}

#endif
