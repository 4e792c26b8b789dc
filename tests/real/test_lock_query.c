/*
 * The look-up of who holds a lock and who waits for it.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <time.h>

#include "test_lock.h"

enum { SEEN_MAX = 3000 };

/* What a look-up said. */
struct answer {
    evzk_lock_query *q;
    int count, rc;
    bool free_inside;
    size_t n;
    struct {
        char node[128];
        bool holder;
        int64_t session, created_ms, age_ms;
        uint64_t token;
        char data[64];
        size_t len;
    } v[SEEN_MAX];
};

static void on_answer(evzk_lock_query *q, int rc, const evzk_contender *v,
                      size_t n, void *arg)
{
    struct answer *a = arg;

    ck_assert_ptr_eq(q, a->q);
    a->count++;
    a->rc = rc;
    a->n = n;
    ck_assert_uint_le(n, SEEN_MAX);
    ck_assert(rc == EVZK_OK || n == 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(a->v[i].node, sizeof a->v[i].node, "%s", v[i].node);
        a->v[i].holder = v[i].holder;
        a->v[i].session = v[i].session;
        a->v[i].created_ms = v[i].created_ms;
        a->v[i].age_ms = v[i].age_ms;
        a->v[i].token = v[i].token;
        a->v[i].len = v[i].data_len;
        if (v[i].data_len > 0 && v[i].data_len <= sizeof a->v[i].data)
            memcpy(a->v[i].data, v[i].data, v[i].data_len);
    }
    if (a->free_inside)
        evzk_lock_query_free(q);
}

static struct answer *start(evzk_session *s, const char *dir)
{
    struct answer *a = calloc(1, sizeof *a);

    ck_assert_int_eq(evzk_lock_query_start(s, dir, on_answer, a, &a->q),
                     EVZK_OK);
    ck_assert_int_eq(a->count, 0);
    return a;
}

static struct answer *ask(evzk_session *s, const char *dir)
{
    struct answer *a = start(s, dir);

    WAIT(a->count == 1);
    return a;
}

static void end(struct answer *a)
{
    ck_assert_int_eq(a->count, 1);
    if (!a->free_inside)
        evzk_lock_query_free(a->q);
    free(a);
}

static int64_t wall_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Contenders made by hand, by a client that lives as long as it is not closed.
 */
static struct raw *fill(const char *dir, int n)
{
    struct raw *r = raw_open(the_server(), OPERATOR_MS, NULL);
    char path[128];

    raw_mkdirs(r, dir);
    snprintf(path, sizeof path, "%s/x-lock-", dir);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(raw_create(r, path, "raw", 3,
                                    ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL, 0),
                         ZOK);
    raw_drive(r, harness_base());
    return r;
}

static void check_filled(const struct answer *a, int n)
{
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_int_eq((int)a->n, n);
    for (int i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof name, "x-lock-%010d", i);
        ck_assert_str_eq(a->v[i].node, name);
        ck_assert(a->v[i].holder == (i == 0));
        ck_assert_uint_eq(a->v[i].len, 3);
        ck_assert_int_eq(memcmp(a->v[i].data, "raw", 3), 0);
    }
}

START_TEST(nobody_is_there)
{
    struct peer p;
    struct answer *a;

    raw_delete_tree(op(), "/query-none");
    peer_open(&p, the_server());
    a = ask(p.s, "/query-none/deep");
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, 0);
    end(a);
    ck_assert_int_eq(raw_exists(op(), "/query-none", NULL), ZNONODE);
    raw_mkdirs(op(), "/query-none/deep/other");
    a = ask(p.s, "/query-none/deep");
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, 0);
    end(a);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/query-none");
}
END_TEST

START_TEST(holder_and_waiters)
{
    enum { N = 4 };
    const char *dir = "/query";
    struct peer p[2];
    struct claim c[N];
    struct answer *a;
    int64_t before = wall_ms() - 1, after;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    for (int i = 0; i < N; i++) {
        char data[16];
        evzk_lock_options opt = {.data = data, .data_len = 8};

        snprintf(data, sizeof data, "number %d", i);
        if (i == 0)
            claim_held(&c[i], p[0].s, dir, &opt);
        else
            claim_queued(&c[i], p[i % 2].s, dir, &opt);
    }
    raw_create(op(), "/query/foreign", "", 0, 0, NULL, 0);
    raw_create(op(), "/query/x-lock-abc", "", 0, 0, NULL, 0);
    a = ask(p[1].s, dir);
    after = wall_ms() + 1;
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, N);
    for (int i = 0; i < N; i++) {
        ck_assert_str_eq(a->v[i].node, evzk_lock_node(c[i].l));
        ck_assert(a->v[i].holder == (i == 0));
        ck_assert(a->v[i].session == evzk_session_id(p[i % 2].s));
        ck_assert_uint_eq(a->v[i].len, 8);
        ck_assert_int_eq(a->v[i].data[7], '0' + i);
        ck_assert(a->v[i].created_ms >= before && a->v[i].created_ms <= after);
        ck_assert_int_ge(a->v[i].age_ms, 0);
        ck_assert_int_le(a->v[i].age_ms, after - before);
    }
    raw_delete(op(), "/query/foreign");
    raw_delete(op(), "/query/x-lock-abc");
    for (int i = 0; i < N; i++) {
        WAIT_EVENT(&c[i], "GRANTED");
        ck_assert_uint_eq(a->v[i].token, evzk_lock_token(c[i].l));
        claim_release(&c[i]);
    }
    end(a);
    nothing_left(dir, p[0].s);
    nothing_left(dir, p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

START_TEST(persistent_contender_has_no_session)
{
    struct peer p;
    struct answer *a;

    raw_mkdirs(op(), "/query-op");
    raw_create(op(), "/query-op/operator-lock-0000000000", "", 0, 0, NULL, 0);
    peer_open(&p, the_server());
    a = ask(p.s, "/query-op");
    ck_assert_uint_eq(a->n, 1);
    ck_assert(a->v[0].holder);
    ck_assert(a->v[0].session == 0);
    ck_assert_uint_eq(a->v[0].len, 0);
    end(a);
    peer_close(&p);
    raw_delete_tree(op(), "/query-op");
}
END_TEST

/* More than the window has room for; other requests are not held up. */
START_TEST(many_more_than_the_window)
{
    enum { N = 2000 };
    evzk_session_options opt = {.timeout_ms = SESSION_MS, .window = 100};
    struct raw *r = fill("/query-many", N);
    struct answer *a;
    struct claim c;
    struct peer p;

    peer_start(&p, the_server(), &opt);
    WAIT(evzk_session_connected(p.s));
    a = start(p.s, "/query-many");
    claim(&c, p.s, "/query-many-other", NULL);
    while (a->count == 0) {
        evzk_session_stats stats;

        event_base_loop(harness_base(), EVLOOP_ONCE);
        evzk_session_get_stats(p.s, &stats);
        ck_assert_uint_le(stats.in_flight,
                          101); /* One request is the lease's. */
    }
    check_filled(a, N);
    end(a);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    idle(p.s);
    peer_close(&p);
    raw_close(r);
    raw_delete_tree(op(), "/query-many");
}
END_TEST

/* Cut at the k-th frame, of any kind, and at some in the middle of many. */
START_TEST(cut_in_the_middle)
{
    static const int at[] = {1, 2, 3, 4, 5, 6, 7, 40, 120, 239, 240};
    enum { N = 240 };
    enum proxy_dir way = _i ? PROXY_S2C : PROXY_C2S;
    evzk_session_options opt = {.timeout_ms = SESSION_MS, .window = 50};
    struct raw *r = fill("/query-cut", N);
    struct proxy *proxy = proxy_start(the_server());
    int64_t fired = 0;
    struct peer p;

    peer_start(&p, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(p.s));
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        struct answer *a;

        ck_assert(raw_fresh(r)); /* All children are its contenders. */
        proxy_cut_at_frame(proxy, way, at[i],
                           i % 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE);
        a = ask(p.s, "/query-cut");
        check_filled(a, N);
        end(a);
        idle(p.s);
        ck_assert_int_eq(proxy_fired(proxy), ++fired);
        WAIT(evzk_session_connected(p.s));
    }
    peer_close(&p);
    proxy_stop(proxy);
    raw_close(r);
    raw_delete_tree(op(), "/query-cut");
}
END_TEST

START_TEST(expired_in_the_middle)
{
    enum { N = 30 };
    struct raw *r = fill("/query-expire", N);
    struct proxy *proxy = proxy_start(the_server());
    struct answer *a;
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    proxy_trap(proxy, PROXY_S2C, _i ? OP_GET : OP_CHILDREN, 1, PROXY_FREEZE);
    a = start(p.s, "/query-expire");
    WAIT(proxy_fired(proxy) == 1);
    raw_expire(the_server(), evzk_session_id(p.s));
    proxy_cut(proxy);
    proxy_thaw(proxy);
    WAIT(a->count == 1);
    ck_assert(recorder_has(&p.rec, "EXPIRED"));
    check_filled(a, N);
    end(a);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_close(r);
    raw_delete_tree(op(), "/query-expire");
}
END_TEST

/* All leave while the answers are cut off, the directory too: what the first
 * listing had is not told. */
START_TEST(cut_look_up_begins_from_nothing)
{
    struct raw *r = fill("/query-anew", 30);
    struct proxy *proxy = proxy_start(the_server());
    struct answer *a;
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    proxy_trap(proxy, PROXY_S2C, OP_GET, 5, PROXY_FREEZE);
    a = start(p.s, "/query-anew");
    WAIT(proxy_fired(proxy) == 1);
    raw_close(r);
    raw_wait_children(op(), "/query-anew", 0, 60000);
    if (_i)
        raw_delete_tree(op(), "/query-anew");
    proxy_cut(proxy);
    proxy_thaw(proxy);
    WAIT(a->count == 1);
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, 0);
    end(a);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/query-anew");
}
END_TEST

/* A contender leaves between the listing and the reading. */
START_TEST(leaver_is_left_out)
{
    struct raw *r = fill("/query-leave", 4);
    struct proxy *proxy = proxy_start(the_server());
    struct answer *a;
    struct peer p;
    int gone = _i ? 2 : 0;
    char path[64];

    peer_open(&p, proxy_address(proxy));
    proxy_trap(proxy, PROXY_S2C, OP_CHILDREN, 1, PROXY_FREEZE);
    a = start(p.s, "/query-leave");
    WAIT(proxy_fired(proxy) == 1);
    snprintf(path, sizeof path, "/query-leave/x-lock-%010d", gone);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    proxy_thaw(proxy);
    WAIT(a->count == 1);
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, 3);
    ck_assert_str_eq(a->v[0].node,
                     gone ? "x-lock-0000000000" : "x-lock-0000000001");
    ck_assert_str_eq(a->v[2].node, "x-lock-0000000003");
    for (int i = 0; i < 3; i++)
        ck_assert(a->v[i].holder == (i == 0));
    end(a);
    peer_close(&p);
    proxy_stop(proxy);
    raw_close(r);
    raw_delete_tree(op(), "/query-leave");
}
END_TEST

/* Freed at once, in the listing, and in the reading: no answer comes. */
START_TEST(freed_in_the_middle)
{
    static const int ops[] = {0, OP_SYNC, OP_CHILDREN, OP_GET};
    evzk_session_options opt = {.timeout_ms = SESSION_MS, .window = 10};
    struct raw *r = fill("/query-free", 50);
    struct proxy *proxy = proxy_start(the_server());
    struct answer *a;
    struct peer p;

    peer_start(&p, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(p.s));
    if (ops[_i])
        proxy_trap(proxy, PROXY_S2C, ops[_i], _i == 3 ? 5 : 1, PROXY_FREEZE);
    a = start(p.s, "/query-free");
    WAIT(!ops[_i] || proxy_fired(proxy) == 1);
    ck_assert_int_eq(a->count, 0);
    evzk_lock_query_free(a->q);
    run_for(harness_base(), 50);
    proxy_thaw(proxy);
    idle(p.s);
    ck_assert_int_eq(a->count, 0);
    free(a);
    peer_close(&p);
    proxy_stop(proxy);
    raw_close(r);
    raw_delete_tree(op(), "/query-free");
}
END_TEST

START_TEST(freed_inside_its_callback)
{
    struct raw *r = fill("/query-inside", 3);
    struct answer *a;
    struct peer p;

    peer_open(&p, the_server());
    a = start(p.s, "/query-inside");
    a->free_inside = true;
    WAIT(a->count == 1);
    check_filled(a, 3);
    idle(p.s);
    end(a);
    peer_close(&p);
    raw_close(r);
    raw_delete_tree(op(), "/query-inside");
}
END_TEST

START_TEST(listing_is_denied)
{
    struct ACL acl = {ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};
    struct answer *a;
    struct peer p;

    raw_mkdirs(op(), "/query-deny");
    ck_assert_int_eq(raw_set_acl(op(), "/query-deny", &v), ZOK);
    peer_open(&p, the_server());
    a = ask(p.s, "/query-deny");
    ck_assert_int_eq(a->rc, EVZK_ERR_NOAUTH);
    end(a);
    ck_assert_int_eq(raw_set_acl(op(), "/query-deny", &ZOO_OPEN_ACL_UNSAFE),
                     ZOK);
    peer_close(&p);
    raw_delete_tree(op(), "/query-deny");
}
END_TEST

/* One contender may not be read: it is there, without its data. */
START_TEST(unreadable_contender_is_shown)
{
    struct ACL acl = {ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};
    struct raw *r = fill("/query-blind", 3);
    struct answer *a;
    struct peer p;

    ck_assert_int_eq(raw_set_acl(op(), "/query-blind/x-lock-0000000001", &v),
                     ZOK);
    peer_open(&p, the_server());
    a = ask(p.s, "/query-blind");
    ck_assert_int_eq(a->rc, EVZK_OK);
    ck_assert_uint_eq(a->n, 3);
    ck_assert_str_eq(a->v[1].node, "x-lock-0000000001");
    ck_assert_uint_eq(a->v[1].len, 0);
    ck_assert_uint_eq(a->v[0].len, 3);
    ck_assert_uint_eq(a->v[2].len, 3);
    end(a);
    peer_close(&p);
    raw_close(r);
    raw_delete_tree(op(), "/query-blind");
}
END_TEST

START_TEST(closing_answers)
{
    struct raw *r = fill("/query-close", 3);
    struct proxy *proxy = proxy_start(the_server());
    evzk_session_options opt = {.timeout_ms = SESSION_MS,
                                .close_timeout_ms = 500};
    evzk_lock_query *q = NULL;
    struct answer *a, *late;
    struct peer p;

    peer_start(&p, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(p.s));
    proxy_freeze(proxy, PROXY_BOTH);
    a = start(p.s, "/query-close");
    late = start(p.s, "/query-close");
    ck_assert_int_eq(evzk_session_close(p.s), EVZK_OK);
    ck_assert_int_eq(
        evzk_lock_query_start(p.s, "/query-close", on_answer, a, &q),
        EVZK_ERR_CLOSED);
    ck_assert_ptr_null(q);
    WAIT(p.rec.finals == 1);
    ck_assert_int_eq(a->count, 1);
    ck_assert_int_eq(a->rc, EVZK_ERR_CLOSED);
    ck_assert_int_eq(late->rc, EVZK_ERR_CLOSED);
    end(a);
    evzk_session_free(p.s);
    end(late); /* Outlives the session. */
    proxy_stop(proxy);
    raw_close(r);
    raw_delete_tree(op(), "/query-close");
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    static const char *const paths[] = {NULL,  "",      "/",      "a",
                                        "/a/", "/a//b", "/a/../b"};
    evzk_lock_query *q = NULL;
    struct peer p;

    peer_open(&p, the_server());
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        ck_assert_int_eq(
            evzk_lock_query_start(p.s, paths[i], on_answer, NULL, &q),
            EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_query_start(NULL, "/a", on_answer, NULL, &q),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_query_start(p.s, "/a", NULL, NULL, &q),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_query_start(p.s, "/a", on_answer, NULL, NULL),
                     EVZK_ERR_INVAL);
    ck_assert_ptr_null(q);
    evzk_lock_query_free(NULL);
    idle(p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-query");
    TCase *tests = lock_tests(suite, "query", 60000);

    tcase_add_test(tests, nobody_is_there);
    tcase_add_test(tests, holder_and_waiters);
    tcase_add_test(tests, persistent_contender_has_no_session);
    tcase_add_test(tests, many_more_than_the_window);
    tcase_add_loop_test(tests, cut_in_the_middle, 0, 2);
    tcase_add_loop_test(tests, expired_in_the_middle, 0, 2);
    tcase_add_loop_test(tests, cut_look_up_begins_from_nothing, 0, 2);
    tcase_add_loop_test(tests, leaver_is_left_out, 0, 2);
    tcase_add_loop_test(tests, freed_in_the_middle, 0, 4);
    tcase_add_test(tests, freed_inside_its_callback);
    tcase_add_test(tests, listing_is_denied);
    tcase_add_test(tests, unreadable_contender_is_shown);
    tcase_add_test(tests, closing_answers);
    tcase_add_test(tests, bad_arguments_are_refused);
    return lock_suite_run(suite);
}
