/*
 * The session's identity, and what it leaves on the server: credentials, ACLs,
 * the data of its znodes, its chroot.
 */
#include <poll.h>

#include "test_session_kit.h"

static const evzk_acl creator_only[] = {{EVZK_PERM_ALL, "auth", ""}};

static void add_auth(struct app *a, const char *scheme, const char *cert)
{
    ck_assert_int_eq(evzk_session_add_auth(a->s, scheme, cert, strlen(cert)),
                     EVZK_OK);
}

static void check_lock_ends(struct app *a, const char *path, const char *text)
{
    struct one o;

    one_start(&o, a, path);
    WAIT(o.rec.finals == 1);
    ck_assert_str_eq(o.rec.text, text);
    one_free(&o);
}

/* ---- Credentials ---- */

static const evzk_session_options private_opt = {
    .timeout_ms = KIT_SESSION_MS, .acl = creator_only, .acl_count = 1};

/* 0: added while connecting; 1: while connected. */
START_TEST(auth_opens_what_is_the_creators_alone)
{
    struct raw *r = operator_for("/private");
    struct app mine, other, wrong;
    struct one o;

    app_open(&mine, server(), &private_opt);
    if (_i == 1)
        WAIT(app_heard(&mine, "CONNECTED"));
    add_auth(&mine, "digest", "me:secret");
    one_hold(&o, &mine, "/private/lock");
    ck_assert_int_eq(raw_count(r, "/private"), -1); /* Not for the operator. */
    app_up(&other, server(), NULL);
    check_lock_ends(&other, "/private/lock", "FAILED(NOAUTH)");
    app_up(&wrong, server(), NULL);
    add_auth(&wrong, "digest", "me:guess");
    check_lock_ends(&wrong, "/private/lock", "FAILED(NOAUTH)");
    ck_assert_str_eq(wrong.rec.text, "CONNECTED");
    add_auth(&other, "digest", "me:secret");
    one_free(&o);
    one_hold(&o, &other, "/private/lock");
    one_free(&o);
    app_close(&mine);
    app_close(&other);
    app_close(&wrong);
    ck_assert_int_eq(raw_add_auth(r, "digest", "me:secret"), ZOK);
    raw_delete_tree(r, "/private");
    raw_close(r);
    kit_done();
}
END_TEST

/* Both credentials, on every connection and for every generation. */
START_TEST(auth_is_presented_again)
{
    static const evzk_acl both[] = {{EVZK_PERM_ALL, "auth", ""}};
    evzk_session_options opt = {
        .timeout_ms = KIT_SESSION_MS, .acl = both, .acl_count = 1};
    struct proxy *p = proxied();
    struct raw *r = operator_for("/again");
    struct app a;
    struct one o;
    char path[64];

    ck_assert_int_eq(raw_add_auth(r, "digest", "second:two"), ZOK);
    raw_mkdirs(r, "/again");
    ck_assert_int_eq(raw_set_acl(r, "/again", &ZOO_CREATOR_ALL_ACL), ZOK);
    app_open(&a, proxy_address(p), &opt);
    add_auth(&a, "digest", "first:one");
    add_auth(&a, "digest", "second:two");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/again/%d", i);
        one_hold(&o, &a, path);
        one_free(&o);
        WAIT(stats_of(&a).machines == 0);
        if (i == 0)
            proxy_cut(p);
        if (i == 1)
            raw_expire(server(), evzk_session_id(a.s));
        WAIT(stats_of(&a).losses > (unsigned)i || i == 2);
    }
    ck_assert_uint_eq(stats_of(&a).expirations, 1);
    app_close(&a);
    raw_delete_tree(r, "/again");
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A scheme the server does not know: it refuses, and hangs up for good. */
START_TEST(auth_refused_ends_the_session)
{
    struct app a;
    struct one o;

    app_open(&a, server(), NULL);
    if (_i == 1)
        one_hold(&o, &a, "/refused");
    add_auth(&a, "no-such-scheme", "x");
    if (_i == 0)
        one_start(&o, &a, "/refused");
    WAIT(a.rec.finals == 1);
    ck_assert_int_eq(a.rec.last, EVZK_SESSION_CLOSED);
    ck_assert_int_eq(a.rec.rc, EVZK_ERR_AUTH);
    ck_assert_int_eq(o.rec.finals, 1);
    ck_assert_int_eq(o.rec.rc, EVZK_ERR_AUTH);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_ERR_CLOSED);
    ck_assert_uint_eq(evzk_session_lease_ms(a.s), 0);
    one_free(&o);
    evzk_session_free(a.s);
    kit_done();
}
END_TEST

START_TEST(auth_arguments_are_copied)
{
    struct raw *r = operator_for("/copied");
    char scheme[] = "digest", cert[] = "me:copy", id[] = "anyone";
    char world[] = "world", data[] = "hello", chroot[] = "/copied";
    evzk_acl acl[] = {{EVZK_PERM_ALL, world, id}};
    evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                .chroot = chroot,
                                .make_chroot = true,
                                .acl = acl,
                                .acl_count = 1,
                                .data = data,
                                .data_len = 5};
    char servers[64], path[128], buf[64] = "";
    int len = sizeof buf;
    struct app a;
    struct one o;

    snprintf(servers, sizeof servers, "%s", server());
    app_open(&a, servers, &opt);
    add_auth(&a, scheme, cert);
    memset(servers, 'x', sizeof servers - 1);
    memset(scheme, 'x', sizeof scheme - 1);
    memset(cert, 'x', sizeof cert - 1);
    memset(id, 'x', sizeof id - 1);
    memset(world, 'x', sizeof world - 1);
    memset(data, 'x', sizeof data - 1);
    memset(chroot, 'x', sizeof chroot - 1);
    memset(acl, 0xff, sizeof acl);
    one_hold(&o, &a, "/l");
    snprintf(path, sizeof path, "/copied/l/%s", evzk_lock_node(o.l));
    ck_assert_int_eq(raw_get(r, path, buf, &len, NULL), ZOK);
    ck_assert_int_eq(len, 5);
    ck_assert_int_eq(memcmp(buf, "hello", 5), 0);
    one_free(&o);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- What is on the znodes ---- */

struct acl_seen {
    bool done;
    int rc, count, perms[4];
    char scheme[4][32], id[4][128];
};

static void on_acl(int rc, struct ACL_vector *v, struct Stat *stat,
                   const void *arg)
{
    struct acl_seen *seen = (struct acl_seen *)(uintptr_t)arg;

    (void)stat;
    seen->done = true;
    seen->rc = rc;
    seen->count = v ? v->count : 0;
    for (int i = 0; i < seen->count && i < 4; i++) {
        seen->perms[i] = v->data[i].perms;
        snprintf(seen->scheme[i], 32, "%s", v->data[i].id.scheme);
        snprintf(seen->id[i], 128, "%s", v->data[i].id.id);
    }
}

static void quiet(const char *line) { (void)line; }

static void turn(zhandle_t *zh)
{
    struct timeval tv = {0, 0};
    int fd = -1, interest = 0, ready = 0;
    struct pollfd p;

    zookeeper_interest(zh, &fd, &interest, &tv);
    p.fd = fd;
    p.events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                       (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    if (poll(&p, 1, 10) > 0)
        ready = (p.revents & POLLOUT ? ZOOKEEPER_WRITE : 0) |
                (p.revents & ~POLLOUT ? ZOOKEEPER_READ : 0);
    zookeeper_process(zh, ready);
}

/* Reads an ACL with a bare handle: raw.h has no call for it. */
static struct acl_seen acl_on(const char *path)
{
    zhandle_t *zh =
        zookeeper_init2(server(), NULL, KIT_SESSION_MS, NULL, NULL, 0, quiet);
    int64_t end = now_ms() + slow_ms(30000);
    struct acl_seen seen = {0};

    while (zoo_state(zh) != ZOO_CONNECTED_STATE && now_ms() < end)
        turn(zh);
    ck_assert_int_eq(zoo_aget_acl(zh, path, on_acl, &seen), ZOK);
    while (!seen.done && now_ms() < end)
        turn(zh);
    zookeeper_close(zh);
    ck_assert_int_eq(seen.rc, ZOK);
    return seen;
}

/* The session's ACL is on the znode and on the parents made; a lock's own goes
 * before it. */
START_TEST(znodes_have_the_acl_asked_for)
{
    static const evzk_acl dflt[] = {{EVZK_PERM_ALL, "world", "anyone"},
                                    {EVZK_PERM_READ, "ip", "127.0.0.1"}};
    static const evzk_acl own[] = {
        {EVZK_PERM_READ | EVZK_PERM_DELETE, "world", "anyone"}};
    evzk_session_options opt = {
        .timeout_ms = KIT_SESSION_MS, .acl = dflt, .acl_count = 2};
    evzk_lock_options lock_opt = {.acl = own, .acl_count = 1};
    struct raw *r = operator_for("/acl");
    struct acl_seen seen;
    struct app a;
    struct one o, p = {0};
    char path[128];

    app_up(&a, server(), &opt);
    one_hold(&o, &a, "/acl/one");
    seen = acl_on("/acl/one");
    ck_assert_int_eq(seen.count, 2);
    ck_assert_int_eq(seen.perms[0], ZOO_PERM_ALL);
    ck_assert_str_eq(seen.scheme[1], "ip");
    snprintf(path, sizeof path, "/acl/one/%s", evzk_lock_node(o.l));
    seen = acl_on(path);
    ck_assert_int_eq(seen.count, 2);
    ck_assert_int_eq(seen.perms[1], ZOO_PERM_READ);
    ck_assert_str_eq(seen.id[1], "127.0.0.1");

    ck_assert_int_eq(evzk_lock_acquire(a.s, "/acl/one", &lock_opt,
                                       recorder_on_lock, &p.rec, &p.l),
                     EVZK_OK);
    WAIT(strcmp(evzk_lock_state(p.l), "WATCHING") == 0);
    snprintf(path, sizeof path, "/acl/one/%s", evzk_lock_node(p.l));
    seen = acl_on(path);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(seen.perms[0], ZOO_PERM_READ | ZOO_PERM_DELETE);
    one_free(&o);
    one_free(&p);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

START_TEST(znodes_are_open_and_say_host_and_pid_by_default)
{
    struct raw *r = operator_for("/dflt");
    char path[128], buf[300] = "", host[200], want[300];
    int len = sizeof buf - 1;
    struct acl_seen seen;
    struct Stat stat;
    struct app a;
    struct one o;

    gethostname(host, sizeof host);
    snprintf(want, sizeof want, "%s:%d", host, (int)getpid());
    app_up(&a, server(), NULL);
    one_hold(&o, &a, "/dflt");
    snprintf(path, sizeof path, "/dflt/%s", evzk_lock_node(o.l));
    ck_assert_int_eq(raw_get(r, path, buf, &len, &stat), ZOK);
    buf[len] = '\0';
    ck_assert_str_eq(buf, want);
    ck_assert(stat.ephemeralOwner == evzk_session_id(a.s));
    ck_assert((uint64_t)stat.czxid == evzk_lock_token(o.l));
    seen = acl_on(path);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_str_eq(seen.scheme[0], "world");
    ck_assert_int_eq(seen.perms[0], ZOO_PERM_ALL);
    one_free(&o);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- Chroot ---- */

START_TEST(chroot_missing_fails_what_is_started)
{
    evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                .chroot = "/nowhere/app"};
    struct raw *r = operator_for("/nowhere");
    struct app a;
    struct one o;

    if (_i == 1)
        raw_mkdirs(r, "/nowhere"); /* A part of it is there. */
    app_up(&a, server(), &opt);
    check_lock_ends(&a, "/lock", "FAILED(NOCHROOT)");
    check_lock_ends(&a, "/deep/in/lock", "FAILED(NOCHROOT)");
    ck_assert_int_eq(raw_count(r, "/nowhere"), _i == 1 ? 0 : -1);
    raw_mkdirs(r, "/nowhere/app");
    one_hold(&o, &a, "/deep/in/lock"); /* Now it is there. */
    one_free(&o);
    app_close(&a);
    raw_delete_tree(r, "/nowhere");
    raw_close(r);
    kit_done();
}
END_TEST

/* Znodes above the recipes stay when these are gone; what is theirs does not:
 * the server of this test looks for empty containers all the time. */
START_TEST(chroot_is_made_of_plain_znodes)
{
    evzk_session_options opt = {.timeout_ms = KIT_SHORT_MS,
                                .chroot = "/root/of/app",
                                .make_chroot = true};
    struct zk *zk = zk_start(&(struct zk_config){
        .java_flags = "-Dznode.container.checkIntervalMs=100"});
    struct raw *r = raw_open(zk_server(zk, 0), KIT_OPERATOR_MS, NULL);
    struct app a;
    struct one o;
    char path[128];

    app_open(&a, zk_server(zk, 0), &opt);
    one_hold(&o, &a, "/locks/one");
    snprintf(path, sizeof path, "/root/of/app/locks/one/%s",
             evzk_lock_node(o.l));
    ck_assert_int_eq(raw_exists(r, path, NULL), ZOK);
    ck_assert_int_eq(raw_exists(r, "/locks", NULL), ZNONODE);
    ck_assert_int_eq(raw_delete(r, path), ZOK); /* Its watch works below it. */
    WAIT(o.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&o.rec), "GRANTED LOST(NODEGONE)");
    one_free(&o);
    WAIT(raw_exists(r, "/root/of/app/locks", NULL) == ZNONODE);
    raw_run(r, 1000); /* Several rounds of the reaper. */
    ck_assert_int_eq(raw_count(r, "/root/of/app"), 0);
    one_hold(&o, &a, "/locks/one"); /* And is made again. */
    one_free(&o);
    app_close(&a);
    raw_close(r);
    zk_stop(zk);
    kit_done();
}
END_TEST

/* Two sessions with and without it meet at the same znode. */
START_TEST(chroot_is_a_prefix_and_nothing_more)
{
    evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                .chroot = "/meet"};
    evzk_session_options none = {.timeout_ms = KIT_SESSION_MS, .chroot = "/"};
    struct raw *r = operator_for("/meet");
    struct app in, out;
    struct one o, w;

    raw_mkdirs(r, "/meet");
    app_up(&in, server(), &opt);
    app_up(&out, server(), &none);
    one_hold(&o, &in, "/x");
    one_start(&w, &out, "/meet/x");
    WAIT(strcmp(evzk_lock_state(w.l), "WATCHING") == 0);
    ck_assert_int_eq(evzk_lock_release(o.l), EVZK_OK);
    WAIT(evzk_lock_held(w.l) && o.rec.finals == 1);
    ck_assert_str_eq(o.rec.text, "GRANTED RELEASED");
    one_free(&o);
    one_free(&w);
    app_close(&in);
    app_close(&out);
    raw_close(r);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: auth");
    TCase *tc = kit_shared_tcase(suite, "auth", 120);

    tcase_add_loop_test(tc, auth_opens_what_is_the_creators_alone, 0, 2);
    tcase_add_test(tc, auth_is_presented_again);
    tcase_add_loop_test(tc, auth_refused_ends_the_session, 0, 2);
    tcase_add_test(tc, auth_arguments_are_copied);
    tcase_add_test(tc, znodes_have_the_acl_asked_for);
    tcase_add_test(tc, znodes_are_open_and_say_host_and_pid_by_default);
    tcase_add_loop_test(tc, chroot_missing_fails_what_is_started, 0, 2);
    tcase_add_test(tc, chroot_is_a_prefix_and_nothing_more);
    tc = kit_tcase(suite, "with an own server", 120);
    tcase_add_test(tc, chroot_is_made_of_plain_znodes);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
