/*
 * Multi-locks on a real server: two that name their paths in opposite order,
 * parts that are refused or taken away, single locks beside them, and what is
 * left behind.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

enum { ROUNDS = 20 };

static const evzk_multi_lock_part a_and_b[] = {{.path = "/multi/a"},
                                               {.path = "/multi/b"}},
                                  b_and_a[] = {{.path = "/multi/b"},
                                               {.path = "/multi/a"}};

/* A multi-lock, and what it said. */
struct both {
    evzk_multi_lock *p;
    int granted, finals, rc;
    evzk_multi_lock_event last;
};

static void on_both(evzk_multi_lock *p, evzk_multi_lock_event event, int rc,
                    void *arg)
{
    struct both *t = arg;

    ck_assert_ptr_eq(p, t->p);
    ck_assert_int_eq(t->finals, 0);
    t->last = event;
    t->rc = rc;
    t->granted += event == EVZK_MULTI_LOCK_GRANTED;
    t->finals += evzk_multi_lock_event_is_final(event);
    if (event == EVZK_MULTI_LOCK_GRANTED)
        ck_assert(evzk_multi_lock_held(p));
}

static void take_all(struct both *t, evzk_session *s,
                     const evzk_multi_lock_part *parts, size_t n,
                     const evzk_multi_lock_options *opt)
{
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(
        evzk_multi_lock_acquire(s, parts, n, opt, on_both, t, &t->p), EVZK_OK);
}

static void take(struct both *t, evzk_session *s,
                 const evzk_multi_lock_part *parts,
                 const evzk_multi_lock_options *opt)
{
    take_all(t, s, parts, 2, opt);
}

static void both_end(struct both *t, evzk_multi_lock_event event, int rc)
{
    WAIT(t->finals == 1);
    ck_assert_str_eq(evzk_multi_lock_event_name(t->last),
                     evzk_multi_lock_event_name(event));
    ck_assert_int_eq(t->rc, rc);
    ck_assert(!evzk_multi_lock_held(t->p));
    evzk_multi_lock_free(t->p);
    t->p = NULL;
}

static void give_back(struct both *t)
{
    ck_assert_int_eq(evzk_multi_lock_release(t->p), EVZK_OK);
    ck_assert(!evzk_multi_lock_held(t->p));
    both_end(t, EVZK_MULTI_LOCK_RELEASED, EVZK_OK);
}

static void nothing_of_it(evzk_session *s)
{
    nothing_left("/multi/a", s);
    nothing_left("/multi/b", s);
}

/* Each names the paths in its own order, again and again. */
START_TEST(opposite_orders)
{
    struct both t[2] = {{0}};
    struct peer p[2];
    int done[2] = {0};
    uint64_t token = 0;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    while (done[0] < ROUNDS || done[1] < ROUNDS) {
        int i;

        for (i = 0; i < 2; i++) {
            if (!t[i].p)
                take(&t[i], p[i].s, i ? b_and_a : a_and_b, NULL);
        }
        WAIT(evzk_multi_lock_held(t[0].p) || evzk_multi_lock_held(t[1].p));
        i = evzk_multi_lock_held(t[1].p);
        ck_assert(!evzk_multi_lock_held(t[1 - i].p));
        ck_assert_uint_gt(evzk_multi_lock_token(t[i].p, (size_t)i), token);
        token = evzk_multi_lock_token(t[i].p, (size_t)i);
        ck_assert_int_eq(evzk_multi_lock_cancel(t[i].p), EVZK_ERR_STATE);
        give_back(&t[i]);
        done[i]++;
    }
    for (int i = 0; i < 2; i++)
        evzk_multi_lock_free(t[i].p);
    nothing_of_it(p[0].s);
    nothing_of_it(p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* The holder's session ends (0), or an operator deletes a part (1): the other
 * part is free, too. */
START_TEST(part_is_taken_away)
{
    struct both first, second;
    struct peer p, q;

    peer_short(&p, the_server());
    peer_open(&q, the_server());
    take(&first, p.s, b_and_a, NULL);
    WAIT(evzk_multi_lock_held(first.p));
    take(&second, q.s, a_and_b, NULL);
    WAIT(raw_count(op(), "/multi/a") == 2);
    if (_i)
        raw_delete(op(),
                   node_path("/multi/b", evzk_multi_lock_node(first.p, 0)));
    else
        raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(first.finals == 1);
    if (_i)
        ck_assert_uint_eq(evzk_multi_lock_failed_part(first.p), 0);
    ck_assert_uint_gt(evzk_multi_lock_token(first.p, 0), 0);
    both_end(&first, EVZK_MULTI_LOCK_LOST,
             _i ? EVZK_ERR_NODEGONE : EVZK_ERR_EXPIRED);
    WAIT(evzk_multi_lock_held(second.p));
    give_back(&second);
    nothing_of_it(q.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* The second part is held: what was taken before it is given back. */
START_TEST(given_up)
{
    const evzk_multi_lock_options once = {.try_once = true},
                                  brief = {.timeout_ms = 300};
    struct claim holder, next;
    struct both t;
    struct peer p, q;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    claim_held(&holder, q.s, "/multi/b", NULL);
    take(&t, p.s, b_and_a, &once);
    WAIT(t.finals == 1);
    ck_assert_int_le(raw_count(op(), "/multi/a"), 0);
    ck_assert_uint_eq(evzk_multi_lock_failed_part(t.p), 0);
    both_end(&t, EVZK_MULTI_LOCK_FAILED, EVZK_ERR_BUSY);
    take(&t, p.s, a_and_b, &brief);
    WAIT(t.finals == 1);
    ck_assert_uint_eq(evzk_multi_lock_failed_part(t.p), 1);
    both_end(&t, EVZK_MULTI_LOCK_FAILED, EVZK_ERR_TIMEOUT);
    claim_held(&next, q.s, "/multi/a", NULL);
    claim_release(&next);
    take(&t, p.s, a_and_b, NULL);
    WAIT(raw_count(op(), "/multi/b") == 2);
    claim_queued(&next, q.s, "/multi/a", NULL);
    ck_assert_int_eq(evzk_multi_lock_release(t.p), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_multi_lock_cancel(t.p), EVZK_OK);
    both_end(&t, EVZK_MULTI_LOCK_FAILED, EVZK_ERR_CANCELED);
    ck_assert_int_eq(raw_count(op(), "/multi/b"), 1);
    WAIT(evzk_lock_held(next.l));
    claim_release(&next);
    claim_release(&holder);
    nothing_of_it(p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* A part that was taken is deleted while the next one is waited for: all is
 * given back, and taken anew. */
START_TEST(starts_over)
{
    struct raw_names names;
    struct claim holder;
    struct both t;
    struct peer p, q;

    peer_short(&p, the_server());
    peer_open(&q, the_server());
    claim_held(&holder, q.s, "/multi/b", NULL);
    take(&t, p.s, a_and_b, NULL);
    WAIT(raw_count(op(), "/multi/b") == 2);
    ck_assert_int_eq(raw_children(op(), "/multi/a", &names), ZOK);
    raw_delete(op(), node_path("/multi/a", names.name[0]));
    raw_names_free(&names);
    WAIT(t.last == EVZK_MULTI_LOCK_REQUEUED);
    ck_assert_int_eq(t.rc, EVZK_ERR_NODEGONE);
    WAIT(raw_count(op(), "/multi/a") == 1 && raw_count(op(), "/multi/b") == 2);
    claim_release(&holder);
    WAIT(evzk_multi_lock_held(t.p));
    give_back(&t);
    nothing_of_it(p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* Freed while held, and while waiting. */
START_TEST(freed)
{
    struct both holder, waiter;
    struct peer p;

    peer_open(&p, the_server());
    take(&holder, p.s, a_and_b, NULL);
    WAIT(evzk_multi_lock_held(holder.p));
    take(&waiter, p.s, b_and_a, NULL);
    WAIT(raw_count(op(), "/multi/a") == 2);
    evzk_multi_lock_free(waiter.p);
    evzk_multi_lock_free(holder.p);
    nothing_of_it(p.s);
    peer_close(&p);
}
END_TEST

/* As many as there may be, readers among them; each has its own token. */
START_TEST(many_parts)
{
    evzk_multi_lock_part parts[EVZK_MULTI_LOCK_MAX];
    char path[EVZK_MULTI_LOCK_MAX][24];
    struct both t, readers;
    struct peer p;

    for (int i = 0; i < EVZK_MULTI_LOCK_MAX; i++) {
        snprintf(path[i], sizeof path[i], "/multi/%d", i * 7 % 256);
        parts[i] =
            (evzk_multi_lock_part){.path = path[i], .mode = EVZK_LOCK_READ};
    }
    peer_open(&p, the_server());
    take_all(&t, p.s, parts, EVZK_MULTI_LOCK_MAX, NULL);
    take_all(&readers, p.s, parts, EVZK_MULTI_LOCK_MAX, NULL);
    WAIT(evzk_multi_lock_held(t.p) && evzk_multi_lock_held(readers.p));
    for (size_t i = 0; i < EVZK_MULTI_LOCK_MAX; i++) {
        struct Stat stat = {0};

        ck_assert_int_eq(
            raw_exists(op(), node_path(path[i], evzk_multi_lock_node(t.p, i)),
                       &stat),
            ZOK);
        ck_assert_uint_eq((uint64_t)stat.czxid, evzk_multi_lock_token(t.p, i));
    }
    give_back(&t);
    give_back(&readers);
    nothing_left("/multi/0", p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("multi-lock");
    TCase *tests = lock_tests(suite, "multi-lock", 60000);

    tcase_add_test(tests, opposite_orders);
    tcase_add_loop_test(tests, part_is_taken_away, 0, 2);
    tcase_add_test(tests, given_up);
    tcase_add_test(tests, starts_over);
    tcase_add_test(tests, freed);
    tcase_add_test(tests, many_parts);
    return lock_suite_run(suite);
}
