/*
 * Semaphores on a real server: how many hold a lease, in which order, and what
 * is left behind.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

enum { MANY = 12 };

/* An attempt, and what it said. */
struct seat {
    evzk_semaphore *p;
    int acquired, finals, rc;
    evzk_semaphore_event last;
};

static void on_seat(evzk_semaphore *p, evzk_semaphore_event event, int rc,
                    void *arg)
{
    struct seat *t = arg;

    ck_assert_ptr_eq(p, t->p);
    ck_assert_int_eq(t->finals, 0);
    t->last = event;
    t->rc = rc;
    t->acquired += event == EVZK_SEMAPHORE_ACQUIRED;
    t->finals += evzk_semaphore_event_is_final(event);
}

static void sit_at(struct seat *t, evzk_session *s, const char *path,
                   const evzk_semaphore_options *opt)
{
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(evzk_semaphore_acquire(s, path, opt, on_seat, t, &t->p),
                     EVZK_OK);
}

static void sit(struct seat *t, evzk_session *s,
                const evzk_semaphore_options *opt)
{
    sit_at(t, s, "/semaphore", opt);
}

static void seat_ends(struct seat *t, evzk_semaphore_event event, int rc)
{
    WAIT(t->finals == 1);
    ck_assert_str_eq(evzk_semaphore_event_name(t->last),
                     evzk_semaphore_event_name(event));
    ck_assert_int_eq(t->rc, rc);
    ck_assert(!evzk_semaphore_held(t->p));
    evzk_semaphore_free(t->p);
    t->p = NULL;
}

static void stand_up(struct seat *t)
{
    ck_assert_int_eq(evzk_semaphore_release(t->p), EVZK_OK);
    seat_ends(t, EVZK_SEMAPHORE_RELEASED, EVZK_OK);
}

/* The paths of the znodes are longer than any path that a call takes. */
START_TEST(longest_path)
{
    enum { LONGEST = 4096 - sizeof "/leases" + 1 };
    const evzk_acl acl = {EVZK_PERM_ALL, "world", "anyone"};
    const evzk_semaphore_options opt = {.acl = &acl, .acl_count = 1};
    static char path[LONGEST + 2];
    struct seat first, second;
    struct peer p, q;

    memset(path, 'x', LONGEST);
    path[0] = '/';
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    sit_at(&first, p.s, path, &opt);
    WAIT(evzk_semaphore_held(first.p));
    sit_at(&second, q.s, path, &opt);
    WAIT(strcmp(evzk_semaphore_state(second.p), "WAITING") == 0);
    stand_up(&first);
    WAIT(evzk_semaphore_held(second.p));
    stand_up(&second);
    path[LONGEST] = 'x';
    ck_assert_int_eq(
        evzk_semaphore_acquire(p.s, path, NULL, on_seat, &first, &first.p),
        EVZK_ERR_INVAL);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

static void nothing_of_it(evzk_session *s)
{
    nothing_left("/semaphore/leases", s);
    WAIT(raw_count(op(), "/semaphore/locks") <= 0);
}

/* Two sessions, three leases: all come in order, three at a time. */
START_TEST(in_order)
{
    const evzk_semaphore_options opt = {.leases = 3};
    struct seat t[MANY];
    struct peer p[2];
    uint64_t token = 0;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    for (int i = 0; i < MANY; i++) {
        sit(&t[i], p[i % 2].s, &opt);
        if (i < 3)
            WAIT(evzk_semaphore_held(t[i].p));
        else /* In the queue. */
            WAIT(raw_count(op(), "/semaphore/locks") == i - 2);
    }
    for (int i = 0; i < MANY; i++) {
        int held = 0;

        WAIT(evzk_semaphore_held(t[i].p));
        ck_assert_uint_gt(evzk_semaphore_token(t[i].p), token);
        token = evzk_semaphore_token(t[i].p);
        for (int k = i; k < MANY; k++)
            held += evzk_semaphore_held(t[k].p);
        ck_assert_int_le(held, 3);
        ck_assert_int_le(raw_count(op(), "/semaphore/leases"), 3);
        stand_up(&t[i]);
    }
    nothing_of_it(p[0].s);
    nothing_of_it(p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* The holder's session ends (0), or an operator deletes its lease (1): the next
 * one gets it. */
START_TEST(lease_is_taken_away)
{
    struct seat first, second;
    struct peer p, q;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    sit(&first, p.s, NULL);
    WAIT(evzk_semaphore_held(first.p));
    sit(&second, q.s, NULL);
    WAIT(strcmp(evzk_semaphore_state(second.p), "WAITING") == 0);
    all_answered(p.s); /* Its watch stands. */
    if (_i)
        raw_delete(
            op(), node_path("/semaphore/leases", evzk_semaphore_node(first.p)));
    else
        raw_expire(the_server(), evzk_session_id(p.s));
    seat_ends(&first, EVZK_SEMAPHORE_LOST,
              _i ? EVZK_ERR_NODEGONE : EVZK_ERR_EXPIRED);
    WAIT(evzk_semaphore_held(second.p));
    stand_up(&second);
    nothing_of_it(q.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* No lease is free: one does not wait, one not for long, one is canceled. */
START_TEST(given_up)
{
    const evzk_semaphore_options once = {.try_once = true},
                                 brief = {.timeout_ms = 200};
    struct seat holder, t;
    struct peer p;

    peer_open(&p, the_server());
    sit(&holder, p.s, NULL);
    WAIT(evzk_semaphore_held(holder.p));
    WAIT(raw_count(op(), "/semaphore/locks") <= 0); /* The turn is free. */
    sit(&t, p.s, &once);
    seat_ends(&t, EVZK_SEMAPHORE_FAILED, EVZK_ERR_BUSY);
    WAIT(raw_count(op(), "/semaphore/locks") <= 0);
    sit(&t, p.s, &brief);
    seat_ends(&t, EVZK_SEMAPHORE_FAILED, EVZK_ERR_TIMEOUT);
    sit(&t, p.s, NULL);
    WAIT(strcmp(evzk_semaphore_state(t.p), "WAITING") == 0);
    ck_assert_int_eq(evzk_semaphore_release(t.p), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_semaphore_cancel(t.p), EVZK_OK);
    seat_ends(&t, EVZK_SEMAPHORE_FAILED, EVZK_ERR_CANCELED);
    ck_assert_int_le(raw_count(op(), "/semaphore/locks"), 0);
    ck_assert_int_eq(evzk_semaphore_cancel(holder.p), EVZK_ERR_STATE);
    stand_up(&holder);
    nothing_of_it(p.s);
    peer_close(&p);
}
END_TEST

/* Freed while held, and while waiting. */
START_TEST(freed)
{
    struct seat holder, waiter;
    struct peer p;

    peer_open(&p, the_server());
    sit(&holder, p.s, NULL);
    WAIT(evzk_semaphore_held(holder.p));
    sit(&waiter, p.s, NULL);
    WAIT(strcmp(evzk_semaphore_state(waiter.p), "WAITING") == 0);
    evzk_semaphore_free(waiter.p);
    evzk_semaphore_free(holder.p);
    nothing_of_it(p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("semaphore");
    TCase *tests = lock_tests(suite, "semaphore", 60000);

    tcase_add_test(tests, in_order);
    tcase_add_loop_test(tests, lease_is_taken_away, 0, 2);
    tcase_add_test(tests, given_up);
    tcase_add_test(tests, freed);
    tcase_add_test(tests, longest_path);
    return lock_suite_run(suite);
}
