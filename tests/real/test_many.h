/*
 * What the tests of many locks share: a crowd of locks, what became of each,
 * the server's own count of requests, and sessions that ask for nothing
 * meanwhile.  For whichever test in tests/real needs more than test_lock.h.
 */
#ifndef TESTS_REAL_TEST_MANY_H
#define TESTS_REAL_TEST_MANY_H

#include "test_lock.h"

enum { OP_MULTI = 14 };

struct crowd;

struct member {
    evzk_lock *l;
    struct crowd *crowd;
    int granted, requeued, finals;
    int last, rc;   /* Of the final event. */
    int turn;       /* The how manieth grant of the crowd it was. */
    uint64_t token; /* As it was at the grant. */
};

struct crowd {
    int n;
    struct member *v;
    int granted, requeued, doubts, finals;
    void (*on_grant)(struct member *m); /* NULL: nothing. */
};

static inline void crowd_new(struct crowd *c, int n)
{
    *c = (struct crowd){.n = n, .v = calloc((size_t)n, sizeof *c->v)};
    ck_assert_ptr_nonnull(c->v);
    for (int i = 0; i < n; i++)
        c->v[i].crowd = c;
}

static inline void crowd_hear(evzk_lock *l, evzk_lock_event event, int rc,
                              void *arg)
{
    struct member *m = arg;
    struct crowd *c = m->crowd;

    ck_assert_int_eq(m->finals, 0);
    if (event == EVZK_LOCK_GRANTED) {
        m->turn = c->granted++;
        m->granted++;
        m->token = evzk_lock_token(l);
        if (c->on_grant)
            c->on_grant(m);
    } else if (event == EVZK_LOCK_REQUEUED) {
        m->requeued++;
        c->requeued++;
    } else if (event < EVZK_LOCK_RELEASED) {
        c->doubts++;
    } else {
        m->finals++;
        m->last = (int)event;
        m->rc = rc;
        c->finals++;
    }
}

static inline void crowd_start(struct crowd *c, int i, evzk_session *s,
                               const char *path, const evzk_lock_options *opt)
{
    ck_assert_int_eq(
        evzk_lock_acquire(s, path, opt, crowd_hear, &c->v[i], &c->v[i].l),
        EVZK_OK);
}

/* Releases all of it in one turn. */
static inline void crowd_release(struct crowd *c)
{
    for (int i = 0; i < c->n; i++)
        ck_assert_int_eq(evzk_lock_release(c->v[i].l), EVZK_OK);
}

/* Each had its grant, and was released without an error. */
static inline void crowd_check_served(const struct crowd *c)
{
    for (int i = 0; i < c->n; i++) {
        ck_assert_int_eq(c->v[i].granted, 1);
        ck_assert_int_eq(c->v[i].finals, 1);
        ck_assert_int_eq(c->v[i].last, EVZK_LOCK_RELEASED);
        ck_assert_int_eq(c->v[i].rc, EVZK_OK);
    }
}

static inline void crowd_free(struct crowd *c)
{
    for (int i = 0; i < c->n; i++)
        evzk_lock_free(c->v[i].l);
    free(c->v);
}

/* "parent/NNNN". */
static inline const char *numbered(const char *parent, int i)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%04d", parent, i);
    return path;
}

/* What the server got so far, from whomever; the question itself is one. */
static inline long packets(void)
{
    return zk_mntr(zk_shared(), 0, "zk_packets_received");
}

/* A session whose probe has just been answered: the next is far off. */
static inline void peer_fresh(struct peer *p, const char *server)
{
    evzk_session_options opt = {.timeout_ms = OPERATOR_MS};
    evzk_session_stats st;

    peer_start(p, server, &opt);
    WAIT(evzk_session_connected(p->s));
    WAIT((evzk_session_get_stats(p->s, &st), st.probes >= 1));
    all_answered(p->s);
}

#endif
