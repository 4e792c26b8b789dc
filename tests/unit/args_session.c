/* The session's own calls without a server. */
#include "args.h"

#include <string.h>

START_TEST(test_open_args)
{
    static const char *const servers[] = {
        "",           ",",  ":2181", "a:",   "a:0", "a:65536",
        "a:2181/app", "a,", "a, b",  "[::1", "::1", "1.2.3.4:1,a:x"};
    struct world w;

    set_up(&w);
    args_open_fails(NULL, args_nobody, NULL, EVZK_ERR_INVAL);
    args_open_fails(w.base, NULL, NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(servers); i++)
        args_open_fails(w.base, servers[i], NULL, EVZK_ERR_INVAL);
    INVAL_SILENT(evzk_session_open(w.base, args_nobody, NULL, args_on_session,
                                   NULL, NULL));
    tear_down(&w);
}
END_TEST

/* "127.0.0.1:1," again and again: `n` of them. */
static char *many_servers(size_t n)
{
    static const char one[] = "127.0.0.1:1,";
    char *list = malloc(n * (sizeof one - 1) + 1);

    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < n; i++)
        strcpy(list + i * (sizeof one - 1), one);
    list[n * (sizeof one - 1) - 1] = '\0'; /* The last comma. */
    return list;
}

/* The client takes its time for each server, in one turn of the loop. */
START_TEST(test_open_too_many)
{
    const size_t counts[] = {EVZK_SERVERS_MAX + 1, 20000, 1000000};
    char *most = many_servers(EVZK_SERVERS_MAX);
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(counts); i++) {
        char *list = many_servers(counts[i]);

        args_allocations = 0;
        args_open_fails(w.base, list, NULL, EVZK_ERR_INVAL);
        ck_assert_str_eq(args_last_line(),
                         "evzk_session_open: servers: must be at most 64");
        ck_assert_int_eq(args_allocations, 0); /* None was looked at. */
        free(list);
    }
    tear_down(&w);
    set_up_at(&w, most);
    run_ms(&w, 20);
    tear_down(&w);
    free(most);
}
END_TEST

static const struct {
    evzk_session_options opt;
    int expected;
} rows[] = {
    {{.timeout_ms = UINT32_MAX}, EVZK_ERR_INVAL},
    {{.timeout_ms = 1}, EVZK_ERR_INVAL},
    {{.timeout_ms = 99}, EVZK_ERR_INVAL},
    {{.timeout_ms = 24 * 3600 * 1000 + 1}, EVZK_ERR_INVAL},
    {{.close_timeout_ms = UINT32_MAX}, EVZK_ERR_INVAL},
    {{.chroot = "app"}, EVZK_ERR_INVAL},
    {{.chroot = "/a//b"}, EVZK_ERR_INVAL},
    {{.chroot = "/a/../b"}, EVZK_ERR_INVAL},
    {{.chroot = "/."}, EVZK_ERR_INVAL},
    {{.chroot = "/a\x01"}, EVZK_ERR_INVAL},
    {{.data_len = 1}, EVZK_ERR_INVAL},
    {{.data = "x", .data_len = 65537}, EVZK_ERR_INVAL},
    {{.window = 100001}, EVZK_ERR_INVAL},
    {{.log_level = (evzk_log_level)(EVZK_LOG_DEBUG + 1)}, EVZK_ERR_INVAL},
    {{.log_level = (evzk_log_level)-1}, EVZK_ERR_INVAL},
    {{.reserved = {&args_mark}}, EVZK_ERR_INVAL},
    {{.reserved = {NULL, NULL, NULL, &args_mark}}, EVZK_ERR_INVAL},
    {{.timeout_ms = 0}, EVZK_OK},
    {{.timeout_ms = 100}, EVZK_OK},
    {{.timeout_ms = 24 * 3600 * 1000}, EVZK_OK},
    {{.chroot = ""}, EVZK_OK},
    {{.chroot = "/"}, EVZK_OK},
    {{.chroot = "/app", .make_chroot = true}, EVZK_OK},
    {{.data = ""}, EVZK_OK},
    {{.data = "x", .data_len = 1}, EVZK_OK},
    {{.window = 1}, EVZK_OK},
    {{.log_level = EVZK_LOG_DEBUG}, EVZK_OK},
    {{.acl = args_one_acl, .acl_count = 1}, EVZK_OK},
};

START_TEST(test_open_options)
{
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        evzk_session *s = NULL;

        if (rows[i].expected != EVZK_OK) {
            args_open_fails(w.base, args_nobody, &rows[i].opt,
                            rows[i].expected);
            continue;
        }
        ck_assert_int_eq(CALL(evzk_session_open(w.base, args_nobody,
                                                &rows[i].opt, NULL, NULL, &s)),
                         EVZK_OK);
        ck_assert_ptr_nonnull(s);
        DO(evzk_session_free(s));
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_open_acls)
{
    evzk_session_options opt = {.timeout_ms = 0};
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < args_n_bad_acls; i++) {
        opt.acl = args_bad_acls[i].acl;
        opt.acl_count = args_bad_acls[i].n;
        args_open_fails(w.base, args_nobody, &opt, EVZK_ERR_INVAL);
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_session_null)
{
    evzk_session_stats stats;

    INVAL_SILENT(evzk_session_close(NULL));
    INVAL_SILENT(evzk_session_add_auth(NULL, "digest", "a:b", 3));
    ck_assert(!evzk_session_connected(NULL));
    ck_assert_uint_eq(evzk_session_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_session_timeout_ms(NULL), 0);
    ck_assert_int_eq(evzk_session_id(NULL), 0);
    memset(&stats, 0xff, sizeof stats);
    evzk_session_get_stats(NULL, &stats);
    ck_assert_uint_eq(stats.requests, 0);
    ck_assert_uint_eq(stats.machines, 0);
    evzk_session_get_stats(NULL, NULL);
    evzk_session_free(NULL);
}
END_TEST

START_TEST(test_lease_null)
{
    ck_assert(!evzk_lease_held(NULL));
    ck_assert_int_eq(evzk_lease_deadline_us(NULL), 0);
    ck_assert_uint_eq(evzk_lease_token(NULL), 0);
    ck_assert_ptr_null(evzk_lease_ref(NULL));
    evzk_lease_unref(NULL);
}
END_TEST

START_TEST(test_auth_args)
{
    struct world w;
    long blocks;

    set_up(&w);
    blocks = args_live;
    INVAL(evzk_session_add_auth(w.s, NULL, "a:b", 3));
    INVAL(evzk_session_add_auth(w.s, "", "a:b", 3));
    INVAL(evzk_session_add_auth(w.s, "digest", NULL, 3));
    INVAL(evzk_session_add_auth(w.s, "digest", "x", SIZE_MAX));
    ck_assert_int_eq(args_live, blocks);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "digest", "a:b", 3)),
                     EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "x509", NULL, 0)),
                     EVZK_OK);
    tear_down(&w);
}
END_TEST

void args_try_session(struct world *w)
{
    static char data[65537];
    const evzk_session_options opt = {.log = args_on_log};
    evzk_session *out = NULL;

    INVAL(evzk_session_open(w->base, "a:x", &opt, NULL, NULL, &out));
    INVAL(evzk_session_open(w->base, args_nobody, &opt, NULL, NULL, NULL));
    INVAL(evzk_session_add_auth(w->s, "", "a:b", 3));
    INVAL(evzk_session_add_auth(w->s, "digest", NULL, 3));
    INVAL(evzk_session_add_auth(w->s, "digest", data, sizeof data));
    ck_assert_ptr_null(out);
}

/* No memory. */

static int try_open(struct world *w, const struct args_kind *k, void **out)
{
    const evzk_session_options opt = {
        .chroot = "/app", .acl = args_one_acl, .acl_count = 1};
    evzk_session *s = *out;
    int rc = CALL(
        evzk_session_open(w->base, "1.2.3.4:5,zk,[::1]", &opt, NULL, NULL, &s));

    (void)k;
    *out = s;
    return rc;
}

static int try_auth(struct world *w, const struct args_kind *k, void **out)
{
    (void)k;
    (void)out;
    return CALL(evzk_session_add_auth(w->s, "digest", "user:password", 13));
}

START_TEST(test_no_memory_open)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        DO(evzk_session_free(args_with_failures(&w, NULL, try_open, all)));
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_auth)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        args_with_failures(&w, NULL, try_auth, all);
    tear_down(&w);
}
END_TEST

/* The life of a session. */

/* A session that never was: its figures. */
START_TEST(test_session_figures)
{
    const struct args_kind *k = args_kinds()[0];
    struct heard h = {0};
    evzk_session_stats stats;
    struct world w;
    void *o;

    set_up(&w);
    o = args_begin(k, &w, k->least, &h);
    run_ms(&w, 50);
    ck_assert(!evzk_session_connected(w.s));
    ck_assert_uint_eq(evzk_session_lease_ms(w.s), 0);
    ck_assert_uint_eq(evzk_session_timeout_ms(w.s), 0);
    ck_assert_int_eq(evzk_session_id(w.s), 0);
    evzk_session_get_stats(w.s, &stats);
    ck_assert_uint_eq(stats.connects, 0);
    ck_assert_uint_eq(stats.machines, 1);
    ck_assert_uint_eq(stats.queued, 1);
    ck_assert_uint_eq(stats.in_flight, 0);
    ck_assert_int_eq(w.session.events, 0);
    DO(k->free(o));
    run_ms(&w, 20);
    evzk_session_get_stats(w.s, &stats);
    ck_assert_uint_eq(stats.machines, 0);
    ck_assert_uint_eq(stats.queued, 0);
    tear_down(&w);
}
END_TEST

/* No session at all, and a closed one at once. */
START_TEST(test_open_and_free)
{
    struct world w;

    set_up(&w);
    tear_down(&w);
    ck_assert_int_eq(w.session.events, 0);
    set_up(&w);
    args_use_allocator(false);
    tear_down(&w);
}
END_TEST

START_TEST(test_close_freed_inside)
{
    struct world w;

    set_up(&w);
    w.session.free_it = true;
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    w.s = NULL;
    tear_down(&w);
}
END_TEST

/* Fifty objects of each kind end, and then the session says that it is closed.
 */
START_TEST(test_close)
{
    enum { MANY = 50 };
    int n = args_n_kinds() * MANY;
    struct heard *h = calloc((size_t)n, sizeof *h);
    void **o = calloc((size_t)n, sizeof *o);
    struct world w;

    set_up(&w);
    for (int i = 0; i < n; i++) {
        const struct args_kind *k = args_kinds()[i % args_n_kinds()];

        o[i] = args_begin(k, &w, i / args_n_kinds() % 2 ? k->most : k->least,
                          &h[i]);
        if (i == n / 2)
            run_ms(&w, 20); /* Some have begun, some have not. */
    }
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_ERR_CLOSED);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "a", "b", 1)),
                     EVZK_ERR_CLOSED);
    ck_assert_int_eq(w.session.events, 0);
    while (w.session.events == 0) {
        event_base_loop(w.base, EVLOOP_ONCE);
        ck_assert(w.session.events == 0 || w.ended == n); /* CLOSED is last. */
    }
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    for (int i = 0; i < n; i++) {
        expect(&h[i], h[i].kind->failed_event, EVZK_ERR_CLOSED);
        if (h[i].kind->has_nothing)
            h[i].kind->has_nothing(o[i]);
        DO(h[i].kind->free(o[i]));
    }
    run_out(&w);
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_ERR_CLOSED);
    tear_down(&w);
    free(h);
    free(o);
}
END_TEST

void args_add_session(Suite *suite)
{
    const TTest *const tests[] = {
        test_open_args,       test_open_too_many,  test_open_options,
        test_open_acls,       test_session_null,   test_lease_null,
        test_auth_args,       test_no_memory_open, test_no_memory_auth,
        test_session_figures, test_open_and_free,  test_close_freed_inside,
        test_close,
    };

    for (size_t i = 0; i < UNIT_COUNT(tests); i++)
        args_add(suite, tests[i], 1);
}
