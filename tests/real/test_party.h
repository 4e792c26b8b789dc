/*
 * What the tests of readers and writers share: a party of contenders, in
 * sessions of their own or all in one, who of them holds, what it wakes when
 * one leaves, the call of a downgrade, and a lock that acts inside its events.
 * For test_lock_shared.c, test_lock_downgrade.c and test_lock_revocable.c only.
 */
#ifndef TESTS_REAL_TEST_PARTY_H
#define TESTS_REAL_TEST_PARTY_H

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

static inline void party_open(struct party *a, const char *dir, int sessions,
                              const char *server)
{
    memset(a, 0, sizeof *a);
    a->dir = dir;
    a->sessions = sessions;
    for (int i = 0; i < sessions; i++)
        peer_open(&a->p[i], server);
}

static inline evzk_session *session_of(const struct party *a, int i)
{
    return a->p[i % a->sessions].s;
}

static inline void holds(struct party *a, int i, const evzk_lock_options *opt)
{
    claim_held(&a->c[i], session_of(a, i), a->dir, opt);
}

static inline void waits(struct party *a, int i, const evzk_lock_options *opt)
{
    claim_queued(&a->c[i], session_of(a, i), a->dir, opt);
}

static inline bool is_waiting(const struct claim *c)
{
    return strcmp(evzk_lock_state(c->l), "WATCHING") == 0;
}

/* All earlier changes have reached every process, and cause nothing more. */
static inline void calm(const struct party *a)
{
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    run_for(harness_base(), 100); /* For what must not happen. */
    for (int i = 0; i < a->sessions; i++)
        all_answered(a->p[i].s);
}

/* A '1' for each that holds, a '0' for each that waits, '-' for none. */
static inline void check_held(const struct party *a, const char *want)
{
    for (int i = 0; want[i]; i++) {
        if (want[i] != '-')
            ck_assert_msg(evzk_lock_held(a->c[i].l) == (want[i] == '1') &&
                              is_waiting(&a->c[i]) == (want[i] == '0'),
                          "%d is %s, not as in %s", i,
                          evzk_lock_state(a->c[i].l), want);
    }
}

static inline void calm_held(const struct party *a, const char *want)
{
    calm(a);
    check_held(a, want);
}

static inline void party_close(struct party *a)
{
    for (int i = 0; i < a->sessions; i++) {
        nothing_left(a->dir, a->p[i].s);
        peer_close(&a->p[i]);
    }
}

/* How often it heard a word. */
static inline int heard(const struct claim *c, const char *word)
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
static inline bool still_held(const struct claim *c)
{
    ck_assert(evzk_lock_held(c->l));
    return true;
}

/* The session has as many watches, and asks for nothing. */
static inline void wait_own_watches(evzk_session *s, unsigned n)
{
    evzk_session_stats st;

    WAIT((evzk_session_get_stats(s, &st), st.watches == n));
    all_answered(s);
}

static inline int64_t wakes(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_S2C, PROXY_OP_WATCH);
}

/* Releases one, after which all of these hold, and no others were woken. */
static inline void pass_on(struct party *a, struct proxy *proxy, int i,
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

/* Calls it, and looks at what is true from the call on. */
static inline void downgrade(struct claim *c)
{
    uint64_t token = evzk_lock_token(c->l);

    ck_assert_int_eq(evzk_lock_mode_of(c->l), EVZK_LOCK_WRITE);
    ck_assert_int_eq(evzk_lock_downgrade(c->l), EVZK_OK);
    ck_assert_int_eq(evzk_lock_mode_of(c->l), EVZK_LOCK_READ);
    ck_assert_uint_eq(evzk_lock_token(c->l), token);
    ck_assert(evzk_lock_held(c->l));
    ck_assert_int_eq(heard(c, "DOWNGRADED"), 0); /* Never inside the call. */
}

/* A lock that calls this inside one of its events. */
struct actor {
    evzk_lock_event at;
    int (*act)(evzk_lock *l);
    int rc;
    struct claim c;
};

static inline void on_actor(evzk_lock *l, evzk_lock_event event, int rc,
                            void *arg)
{
    struct actor *a = arg;

    recorder_on_lock(l, event, rc, &a->c.rec);
    if (event == a->at)
        a->rc = a->act(l);
}

static inline int do_free(evzk_lock *l)
{
    evzk_lock_free(l);
    return EVZK_OK;
}

static inline void actor_start(struct actor *a, evzk_session *s,
                               const char *dir)
{
    a->rc = -999;
    ck_assert_int_eq(
        evzk_lock_acquire(s, dir, MODE(WRITE), on_actor, a, &a->c.l), EVZK_OK);
}

#endif
