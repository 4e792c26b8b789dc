/*
 * Every call inside every callback, and free in every state: no callback after
 * it, and nothing left on the server.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <signal.h>

#include "test_lock.h"

enum action {
    RELEASE,
    CANCEL,
    FREE,
    ACQUIRE,
    QUERY,
    CLOSE,
    FREE_SESSION,
    ACTIONS
};

static const char *const action_name[ACTIONS] = {
    "release", "cancel", "free", "acquire", "query", "close", "free session"};

enum { EVENTS = 9 };      /* From 1. */
enum { LONG_MS = 12000 }; /* Of a session whose lease ends, but not it. */

static bool is_held(evzk_lock_event event)
{
    return event < EVZK_LOCK_RELEASED && event != EVZK_LOCK_REQUEUED;
}

/* What a call inside an event's callback must give. */
static int wanted_rc(evzk_lock_event event, enum action a)
{
    if (a == RELEASE)
        return is_held(event) ? EVZK_OK : EVZK_ERR_STATE;
    if (a == CANCEL)
        return event == EVZK_LOCK_REQUEUED ? EVZK_OK : EVZK_ERR_STATE;
    return EVZK_OK;
}

/* One lock under test, in a session behind a proxy; a rival has its own. */
struct attempt {
    struct proxy *proxy;
    struct peer p, rival;
    struct claim blocker;
    const char *dir;
    evzk_lock *l;
    struct recorder rec;
    evzk_lock_event event; /* At which ... */
    enum action action;    /* ... this is done. */
    bool in_call, acted, freed;
    int after; /* Callbacks since. */
    struct claim another;
    evzk_lock_query *query;
    int answers;
};

static void on_query(evzk_lock_query *q, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct attempt *st = arg;

    (void)v;
    ck_assert(!st->in_call);
    ck_assert(rc == EVZK_OK || rc == EVZK_ERR_CLOSED);
    ck_assert_uint_le(n, 4);
    st->answers++;
    evzk_lock_query_free(q);
}

static int act(struct attempt *st)
{
    switch (st->action) {
    case RELEASE:
        return evzk_lock_release(st->l);
    case CANCEL:
        return evzk_lock_cancel(st->l);
    case FREE:
        evzk_lock_free(st->l);
        st->freed = true;
        return EVZK_OK;
    case ACQUIRE:
        recorder_clear(&st->another.rec);
        return evzk_lock_acquire(st->p.s, st->dir, NULL, recorder_on_lock,
                                 &st->another.rec, &st->another.l);
    case QUERY:
        return evzk_lock_query_start(st->p.s, st->dir, on_query, st,
                                     &st->query);
    case CLOSE:
        return evzk_session_close(st->p.s);
    case FREE_SESSION:
        evzk_session_free(st->p.s);
        st->p.s = NULL;
        return EVZK_OK;
    case ACTIONS:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

static void on_event(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct attempt *st = arg;

    ck_assert(!st->in_call);
    ck_assert_ptr_eq(l, st->l);
    ck_assert(!st->freed);
    recorder_on_lock(l, event, rc, &st->rec);
    st->after += st->acted;
    if (st->acted || event != st->event)
        return;
    st->acted = true;
    st->in_call = true;
    rc = act(st);
    st->in_call = false;
    ck_assert_msg(rc == wanted_rc(event, st->action), "%s in %s: %s",
                  action_name[st->action], lock_event_name(event),
                  evzk_errname(rc));
    if (!st->freed && rc == EVZK_OK &&
        (st->action == RELEASE || st->action >= CLOSE))
        ck_assert(!evzk_lock_held(l));
}

static bool passed(const struct attempt *st, const char *word)
{
    return st->acted || recorder_has(&st->rec, word);
}

/* Leads the lock to the event. */
static void provoke(struct attempt *st)
{
    switch (st->event) {
    case EVZK_LOCK_GRANTED:
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
        WAIT(passed(st, "GRANTED"));
        proxy_cut(st->proxy);
        break;
    case EVZK_LOCK_REQUEUED:
        WAIT(strcmp(evzk_lock_state(st->l), "WATCHING") == 0);
        raw_delete(op(), node_path(st->dir, evzk_lock_node(st->l)));
        break;
    case EVZK_LOCK_DOWNGRADED:
        WAIT(passed(st, "GRANTED"));
        ck_assert_int_eq(evzk_lock_downgrade(st->l), EVZK_OK);
        break;
    case EVZK_LOCK_REVOKE_REQUESTED:
        WAIT(passed(st, "GRANTED"));
        raw_set(op(), node_path(st->dir, evzk_lock_node(st->l)), "unlock", 6);
        break;
    case EVZK_LOCK_RELEASED:
        WAIT(passed(st, "GRANTED"));
        ck_assert_int_eq(evzk_lock_release(st->l), EVZK_OK);
        break;
    case EVZK_LOCK_LOST:
        WAIT(passed(st, "GRANTED"));
        raw_delete(op(), node_path(st->dir, evzk_lock_node(st->l)));
        break;
    case EVZK_LOCK_FAILED:
        WAIT(strcmp(evzk_lock_state(st->l), "WATCHING") == 0);
        ck_assert_int_eq(evzk_lock_cancel(st->l), EVZK_OK);
        break;
    }
    WAIT(st->acted);
}

static bool waits(const struct attempt *st)
{
    return st->event == EVZK_LOCK_REQUEUED || st->event == EVZK_LOCK_FAILED;
}

/* The lock goes on as if nothing special had been done. */
static void end_lock(struct attempt *st)
{
    if (st->action == FREE)
        return;
    if (st->action == RELEASE || st->action == CANCEL || st->action >= CLOSE) {
        if (wanted_rc(st->event, st->action) == EVZK_OK)
            WAIT(st->rec.finals == 1);
    }
    if (st->rec.finals == 0 && waits(st)) {
        claim_release(&st->blocker);
        WAIT(recorder_has(&st->rec, "GRANTED"));
    }
    if (st->rec.finals == 0) {
        WAIT(evzk_lock_held(st->l));
        ck_assert_int_eq(evzk_lock_release(st->l), EVZK_OK);
    }
    WAIT(st->rec.finals == 1);
}

static void check_end(struct attempt *st)
{
    bool final = st->event >= EVZK_LOCK_RELEASED;

    if (st->action == FREE) {
        ck_assert_int_eq(st->after, 0);
        return;
    }
    ck_assert_int_eq(st->rec.finals, 1);
    if (final)
        ck_assert_int_eq(st->after, 0);
    else if (st->action == RELEASE && is_held(st->event))
        ck_assert_int_eq(st->rec.last, EVZK_LOCK_RELEASED);
    else if (st->action == CANCEL && st->event == EVZK_LOCK_REQUEUED)
        ck_assert_int_eq(st->rec.last, EVZK_LOCK_FAILED);
    else if (st->action >= CLOSE)
        ck_assert_int_eq(st->rec.rc, EVZK_ERR_CLOSED);
}

static void end_others(struct attempt *st)
{
    if (st->blocker.l)
        claim_release(&st->blocker);
    if (st->action == ACQUIRE) {
        WAIT_EVENT(&st->another, "GRANTED");
        claim_release(&st->another);
    }
    if (st->action == QUERY)
        WAIT(st->answers == 1);
}

static void play(evzk_lock_event event, enum action action)
{
    static const evzk_lock_options write = {.mode = EVZK_LOCK_WRITE};
    struct attempt st = {.event = event, .action = action, .dir = "/callbacks"};

    st.proxy = proxy_start(the_server());
    if (event == EVZK_LOCK_REQUEUED || event == EVZK_LOCK_LOST ||
        event == EVZK_LOCK_REVOKE_REQUESTED)
        peer_short(&st.p, proxy_address(st.proxy)); /* Heard after a while. */
    else
        peer_open(&st.p, proxy_address(st.proxy));
    peer_open(&st.rival, the_server());
    if (waits(&st))
        claim_held(&st.blocker, st.rival.s, st.dir, NULL);
    ck_assert_int_eq(
        evzk_lock_acquire(st.p.s, st.dir, &write, on_event, &st, &st.l),
        EVZK_OK);
    provoke(&st);
    end_lock(&st);
    end_others(&st);
    check_end(&st);
    if (action < CLOSE)
        nothing_left(st.dir, st.p.s);
    else
        nothing_left(st.dir, NULL);
    if (action != FREE)
        evzk_lock_free(st.l);
    if (st.p.s)
        peer_close(&st.p);
    else
        WAIT(proxy_open(st.proxy) == 0);
    peer_close(&st.rival);
    proxy_stop(st.proxy);
}

START_TEST(every_call_in_every_callback)
{
    for (int a = 0; a < ACTIONS; a++)
        play((evzk_lock_event)(EVZK_LOCK_GRANTED + _i), (enum action)a);
}
END_TEST

/* ---- Free in every state ---- */

/* Runs the loop, turn by turn, until it is in that state; false: it ended. */
static bool reach(struct claim *c, const char *state)
{
    WAIT(strcmp(evzk_lock_state(c->l), state) == 0 || c->rec.finals > 0);
    return c->rec.finals == 0;
}

/* The process is paused, as by SIGSTOP or a debugger, until the lease is over:
 * from then on the session lives for another fifth of its time-out. */
static void outsleep_lease(evzk_session *s)
{
    int64_t end = now_ms() + slow_ms(2 * LONG_MS);

    while (evzk_session_lease_ms(s) > 0) {
        ck_assert_int_lt(now_ms(), end);
        poll(NULL, 0, 20);
    }
    poll(NULL, 0, 20); /* Less than 1 ms is 0, too. */
}

static const char *const states[] = {
    "NEW",     "CREATING", "MAKING_PARENTS", "RESOLVING", "ADOPTING",
    "LISTING", "WATCHING", "CONFIRMING",     "HELD",      "DELETING"};

static bool is(const char *state, const char *other)
{
    return strcmp(state, other) == 0;
}

/* From then on the lease reaches back to an older contact with the leader than
 * the newest. */
static bool settled_in(evzk_session *s)
{
    evzk_session_stats stats;

    evzk_session_get_stats(s, &stats);
    return stats.probes >= 4;
}

static const evzk_session_options sleeper = {.timeout_ms = LONG_MS};

static bool nothing_asked(evzk_session *s)
{
    evzk_session_stats stats;

    evzk_session_get_stats(s, &stats);
    return stats.in_flight == 0 && stats.queued == 0;
}

/* Leads a lock into a state; what is in the way is the rival's: one that holds,
 * and one behind it, so that a listing must tell who comes next. */
static void lead(struct claim *c, struct peer *p, struct claim blocker[2],
                 struct proxy *proxy, const char *dir, const char *state)
{
    if (is(state, "MAKING_PARENTS"))
        raw_delete_tree(op(), "/free-state");
    if (is(state, "RESOLVING") || is(state, "ADOPTING")) {
        raw_mkdirs(op(), dir); /* Else it would be a transaction. */
        proxy_trap(proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    }
    if (is(state, "CONFIRMING"))
        WAIT(settled_in(p->s));
    claim(c, p->s, dir, NULL);
    if (is(state, "LISTING") || is(state, "CONFIRMING"))
        WAIT(is(evzk_lock_state(c->l), "WATCHING") && nothing_asked(p->s));
    if (is(state, "LISTING"))
        ck_assert_int_eq(evzk_lock_cancel(blocker[1].l), EVZK_OK);
    if (is(state, "CONFIRMING"))
        ck_assert_int_eq(evzk_lock_release(blocker[0].l), EVZK_OK);
    if (is(state, "LISTING") || is(state, "CONFIRMING"))
        ck_assert(reach(c, state));
    if (is(state, "CONFIRMING"))
        outsleep_lease(p->s);
    if (is(state, "DELETING")) {
        WAIT(evzk_lock_held(c->l));
        ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
    }
}

static bool needs_blocker(const char *state)
{
    return is(state, "LISTING") || is(state, "WATCHING") ||
           is(state, "CONFIRMING");
}

/* No callback comes any more. */
static void leave(struct claim *c)
{
    int count = c->rec.count;

    evzk_lock_free(c->l);
    run_for(harness_base(), 50);
    ck_assert_int_eq(c->rec.count, count);
}

START_TEST(free_in_every_state)
{
    const char *state = states[_i], *dir = "/free-state/x";
    struct proxy *proxy = proxy_start(the_server());
    struct peer p, rival;
    struct claim c, blocker[2] = {0}, next;

    raw_mkdirs(op(), "/free-state");
    if (is(state, "CONFIRMING"))
        peer_start(&p, proxy_address(proxy), &sleeper);
    else
        peer_start(&p, proxy_address(proxy), NULL);
    WAIT(evzk_session_connected(p.s));
    peer_open(&rival, the_server());
    if (needs_blocker(state))
        claim_held(&blocker[0], rival.s, dir, NULL);
    if (is(state, "LISTING"))
        claim_queued(&blocker[1], rival.s, dir, NULL);
    lead(&c, &p, blocker, proxy, dir, state);
    ck_assert(reach(&c, state));
    leave(&c);
    evzk_lock_free(blocker[0].l);
    evzk_lock_free(blocker[1].l);
    claim_held(&next, rival.s, dir, NULL); /* Nobody is in its way. */
    ck_assert_int_eq(c.rec.finals, 0);
    claim_release(&next);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
    proxy_stop(proxy);
}
END_TEST

/* After the final callback there is only memory to free. */
START_TEST(free_after_the_end)
{
    struct peer p;
    struct claim c;

    peer_open(&p, the_server());
    claim_held(&c, p.s, "/free-end", NULL);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(evzk_lock_state(c.l), "ENDED");
    peer_close(&p);
    evzk_lock_free(c.l);
    nothing_left("/free-end", NULL);
}
END_TEST

/* The lease is over, but not the session: first in the queue, and not sure. */
START_TEST(nothing_is_granted_in_doubt)
{
    struct peer p, rival;
    struct claim c, blocker[2] = {0};

    peer_start(&p, the_server(), &sleeper);
    peer_open(&rival, the_server());
    claim_held(&blocker[0], rival.s, "/confirm", NULL);
    lead(&c, &p, blocker, NULL, "/confirm", "CONFIRMING");
    ck_assert(reach(&c, "CONFIRMING"));
    ck_assert(!evzk_lock_held(c.l));
    ck_assert_int_eq(c.rec.count, 0);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_uint_gt(evzk_session_lease_ms(p.s), 0);
    ck_assert_str_eq(c.rec.text, "GRANTED");
    claim_release(&c);
    evzk_lock_free(blocker[0].l);
    nothing_left("/confirm", p.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* Paused for longer than the lease: the first look says no. */
START_TEST(held_is_computed_not_remembered)
{
    const evzk_session_options brief = {.timeout_ms = BRIEF_MS};
    struct peer p;
    struct claim c;

    peer_start(&p, the_server(), &brief);
    claim_held(&c, p.s, "/paused", NULL);
    poll(NULL, 0, BRIEF_MS + BRIEF_MS / 8);
    ck_assert(!evzk_lock_held(c.l));
    ck_assert_uint_eq(evzk_lock_lease_ms(c.l), 0);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED");
    WAIT(c.rec.finals == 1);
    ck_assert(recorder_has(&c.rec, "LOST(LEASE)"));
    evzk_lock_free(c.l);
    WAIT(evzk_session_connected(p.s));
    nothing_left("/paused", p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-callbacks");
    TCase *tests = lock_tests(suite, "callbacks", 120000);

    tcase_add_loop_test(tests, every_call_in_every_callback, 0, EVENTS);
    tcase_add_loop_test(tests, free_in_every_state, 0,
                        (int)(sizeof states / sizeof states[0]));
    tcase_add_test(tests, free_after_the_end);
    tcase_add_test(tests, nothing_is_granted_in_doubt);
    tcase_add_test(tests, held_is_computed_not_remembered);
    return lock_suite_run(suite);
}
