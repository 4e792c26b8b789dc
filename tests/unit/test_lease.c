/* The lease's promise, as properties over random schedules.
 *
 * The model is a leader that hears of a contact up to a quarter of the time-out
 * late, or never when the connection ends first, and that ends the session one
 * time-out after the newest contact it has heard of.  Its clock is faster than
 * ours by as much as the lease allows for.  After every answer the lease must
 * not reach beyond the end that the leader has in mind at that very moment: it
 * may hear nothing more.
 */
#include "unit.h"

#include <string.h>

#include "lib/base/lease.h"

enum { PENDING = 64 };

/* One contact on its way to the leader. */
struct contact {
    int64_t at, heard; /* Sent; and when the leader hears of it. */
};

struct world {
    struct unit_rng rng;
    struct evzk__lease l;
    int64_t timeout;
    int64_t now;    /* Ours. */
    int64_t expiry; /* When the leader ends the session; 0: it has. */
    struct contact pending[PENDING];
    size_t n;
    int64_t phase; /* Of the follower's reports, when they are regular. */
    unsigned answers, extended, ended, pauses;
};

static int64_t upto(struct world *w, int64_t most)
{
    return unit_upto(&w->rng, most);
}

static bool one_in(struct world *w, int64_t n) { return upto(w, n - 1) == 0; }

static int64_t leaders_timeout(const struct world *w)
{
    return w->timeout - w->timeout / 20;
}

/* How late this contact is heard of.  Mostly as early or as late as can be. */
static int64_t delay(struct world *w, int64_t at)
{
    int64_t tick = w->timeout / 4;

    switch (upto(w, 3)) {
    case 0:
        return 0;
    case 1:
        return tick;
    case 2:
        return upto(w, tick);
    }
    return tick - (at + w->phase) % tick; /* With the next report. */
}

/* The contact reaches the follower at `at`. */
static void send_contact(struct world *w, int64_t at)
{
    UNIT_HOT(w->n < PENDING);
    w->pending[w->n].at = at;
    w->pending[w->n].heard = at + delay(w, at);
    w->n++;
}

/* The contact that the leader hears of next, until `t`; or none. */
static struct contact *next_heard(struct world *w, int64_t t)
{
    struct contact *next = NULL;

    for (size_t i = 0; i < w->n; i++) {
        struct contact *c = &w->pending[i];

        if (c->heard <= t && (!next || c->heard < next->heard))
            next = c;
    }
    return next;
}

static void leader_runs(struct world *w, int64_t t)
{
    struct contact *c;

    while ((c = next_heard(w, t)) != NULL) {
        int64_t until = c->at + leaders_timeout(w);

        if (c->heard > w->expiry)
            w->expiry = 0; /* Too late. */
        else if (until > w->expiry)
            w->expiry = until;
        *c = w->pending[--w->n];
    }
    if (t > w->expiry)
        w->expiry = 0;
}

/* Never longer than the leader means to wait, if it hears nothing more. */
static void check_promise(struct world *w)
{
    if (w->expiry && w->l.valid_until > w->expiry)
        ck_abort_msg("lease ends %" PRId64 " us late, time-out %" PRId64,
                     w->l.valid_until - w->expiry, w->timeout);
}

/* The session is no more, at `t`: we cannot have believed in it any longer. */
static void session_ended(struct world *w, int64_t expiry)
{
    UNIT_HOT(w->l.valid_until <= expiry);
    evzk__lease_end(&w->l);
    UNIT_HOT(w->l.valid_until == 0);
    w->n = 0;
    w->ended++;
}

/* A pause of the process comes between anything and anything. */
static void pass(struct world *w, int64_t most, bool gaps)
{
    w->now += upto(w, most);
    if (gaps && one_in(w, 12)) {
        w->now += upto(w, 3 * w->timeout);
        w->pauses++;
    }
}

/* Before the leader looks, it is remembered what it had in mind last. */
static bool alive_at(struct world *w, int64_t t)
{
    int64_t before = w->expiry;

    leader_runs(w, t);
    if (w->expiry)
        return true;
    session_ended(w, before);
    return false;
}

/* The old connection is gone, perhaps with what the follower had not told. */
static void reconnect(struct world *w, bool gaps)
{
    int64_t begun, heard, until;

    pass(w, w->timeout / 10, gaps);
    begun = w->now;
    heard = begun + upto(w, w->timeout / 20);
    if (!w->expiry || !alive_at(w, heard))
        w->expiry = begun + leaders_timeout(w); /* A new session. */
    if (one_in(w, 2))
        w->n = 0;
    until = begun + leaders_timeout(w); /* The handshake is heard at once. */
    if (until > w->expiry)
        w->expiry = until;
    pass(w, w->timeout / 20, gaps);
    if (w->now < heard)
        w->now = heard;
    evzk__lease_connected(&w->l, begun, w->now, w->timeout);
    check_promise(w);
}

static void probe(struct world *w, bool gaps)
{
    int64_t sent = w->now, asked = sent, until = w->l.valid_until;

    if (!one_in(w, 3)) /* Held up on its way, now and then for long. */
        asked += upto(w, one_in(w, 4) ? w->timeout / 3 : w->timeout / 10);
    send_contact(w, sent + upto(w, asked - sent));
    if (!alive_at(w, asked)) {
        reconnect(w, gaps);
        return;
    }
    if (w->now < asked)
        w->now = asked;
    evzk__lease_confirmed(&w->l, sent, w->now);
    UNIT_HOT(w->l.valid_until >= until); /* The lease never shrinks. */
    check_promise(w);
    w->extended += w->l.valid_until > until;
    w->answers++;
    pass(w, w->timeout / 20, gaps); /* The answer may be on its way for long. */
}

/* How long until the next sync: mostly as the lease asks for, or anything. */
static int64_t until_next(struct world *w)
{
    if (one_in(w, 8))
        return upto(w, 2000); /* A burst. */
    if (one_in(w, 4))
        return upto(w, w->timeout);
    return evzk__lease_probe_us(&w->l);
}

static void run_schedule(struct world *w, bool gaps)
{
    memset(&w->l, 0, sizeof w->l);
    w->n = 0;
    w->expiry = 0;
    w->now = 1000000 + upto(w, 1000000000);
    w->timeout = 1000 * (200 + upto(w, 60000));
    w->phase = upto(w, w->timeout);
    reconnect(w, gaps);
    for (int i = 0; i < 60; i++) {
        w->now += until_next(w);
        if (one_in(w, 10))
            reconnect(w, gaps);
        else
            probe(w, gaps);
    }
}

static void run_schedules(const char *what, bool gaps)
{
    static struct world w;

    w.rng = unit_seeded(what);
    for (int i = 0; i < 3000; i++)
        run_schedule(&w, gaps);
    printf("%s: %u syncs answered, %u extended the lease, %u pauses, "
           "%u sessions ended\n",
           what, w.answers, w.extended, w.pauses, w.ended);
    ck_assert_uint_gt(w.extended, 10000); /* The test did look at something. */
    ck_assert(w.ended > 100 || !gaps);
}

START_TEST(test_never_too_long) { run_schedules("lease", false); }
END_TEST

START_TEST(test_never_too_long_paused) { run_schedules("paused", true); }
END_TEST

/* Steady state: syncs go out as asked for and come back soon.  Always more than
 * a third of the time-out is left, from the very start. */
static void run_steady(struct unit_rng *rng, int64_t timeout)
{
    struct evzk__lease l = {.timeout_us = 0};
    int64_t begun = 5000000, now = begun + unit_upto(rng, timeout / 15), sent;

    evzk__lease_connected(&l, begun, now, timeout);
    for (int i = 0; i < 200; i++) {
        sent = now;
        now += unit_upto(rng, timeout / 15); /* There and back. */
        if (l.valid_until - now < timeout / 3)
            ck_abort_msg("%" PRId64 " of %" PRId64 " left at sync %d",
                         l.valid_until - now, timeout, i);
        evzk__lease_confirmed(&l, sent, now);
        UNIT_HOT(l.valid_until - now >= timeout / 3);
        UNIT_HOT(l.valid_until < sent + timeout);
        sent += evzk__lease_probe_us(&l) + unit_upto(rng, timeout / 100);
        if (now < sent)
            now = sent;
    }
}

START_TEST(test_steady)
{
    static const int64_t timeouts_ms[] = {400,   1000,   4000,    10000,
                                          40000, 600000, 86400000};
    struct unit_rng rng = unit_seeded("steady");

    for (size_t i = 0; i < UNIT_COUNT(timeouts_ms); i++) {
        for (int n = 0; n < 100; n++)
            run_steady(&rng, timeouts_ms[i] * 1000);
    }
}
END_TEST

/* After a pause, however long, the lease is as good as new after some syncs. */
START_TEST(test_recovers)
{
    int64_t timeout = 4000000, now = 1000000;
    struct evzk__lease l = {.timeout_us = 0};

    evzk__lease_connected(&l, now, now, timeout);
    for (int round = 0; round < 10; round++) {
        now += round * timeout / 10; /* Still in time, at the leader's. */
        for (int i = 0; i < 4; i++) {
            evzk__lease_confirmed(&l, now, now);
            now += evzk__lease_probe_us(&l);
        }
        ck_assert_int_ge(l.valid_until - now, timeout / 3);
    }
}
END_TEST

START_TEST(test_nothing_yet)
{
    struct evzk__lease l = {.timeout_us = 0};

    ck_assert_int_eq(evzk__lease_probe_us(&l), 0);
    evzk__lease_end(&l);
    ck_assert_int_eq(l.valid_until, 0);
}
END_TEST

/* Knowledge of a session that ended says nothing of the next session. */
START_TEST(test_next_session)
{
    int64_t timeout = 6000000, t0 = 10000000, t1 = t0 + 3 * timeout;
    struct evzk__lease l = {.timeout_us = 0}, fresh = l;

    evzk__lease_connected(&l, t0, t0, timeout);
    for (int i = 1; i < 20; i++)
        evzk__lease_confirmed(&l, t0 + i * timeout / 6, t0 + i * timeout / 6);
    evzk__lease_end(&l);
    ck_assert_int_eq(l.valid_until, 0);
    evzk__lease_connected(&l, t1, t1, timeout / 2); /* A shorter one. */
    evzk__lease_connected(&fresh, t1, t1, timeout / 2);
    ck_assert_int_eq(l.valid_until, fresh.valid_until);
    for (int i = 0; i < 20; i++) {
        int64_t t = t1 + i * timeout / 13;

        evzk__lease_confirmed(&l, t, t);
        evzk__lease_confirmed(&fresh, t, t);
        ck_assert_int_eq(l.valid_until, fresh.valid_until);
    }
}
END_TEST

/* A server that grants less on reconnecting counts anew. */
START_TEST(test_smaller_timeout)
{
    struct evzk__lease l = {.timeout_us = 0};

    evzk__lease_connected(&l, 1000000, 1000000, 10000000);
    evzk__lease_connected(&l, 2000000, 2000000, 4000000);
    ck_assert_int_le(l.valid_until, 6000000);
}
END_TEST

UNIT_MAIN("lease", test_never_too_long, test_never_too_long_paused, test_steady,
          test_recovers, test_nothing_yet, test_next_session,
          test_smaller_timeout)
