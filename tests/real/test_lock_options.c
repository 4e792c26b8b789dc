/*
 * The exclusive lock's options and arguments, where its directory is, and the
 * child of a fork.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <unistd.h>

#include "test_lock.h"

/* ---- Options ---- */

static void check_data(evzk_session *s, const void *data, size_t len,
                       const char *want, int want_len)
{
    static char buf[EVZK_LOCK_DATA_MAX];
    evzk_lock_options opt = {.data = data, .data_len = len};
    int got = sizeof buf;
    struct claim c;

    claim_held(&c, s, "/data", &opt);
    ck_assert_int_eq(
        raw_get(op(), node_path("/data", evzk_lock_node(c.l)), buf, &got, NULL),
        ZOK);
    ck_assert_int_eq(got < 0 ? 0 : got, want_len);
    ck_assert_int_eq(memcmp(buf, want, (size_t)want_len), 0);
    claim_release(&c);
}

START_TEST(data_of_the_znode)
{
    evzk_session_options opt = {
        .timeout_ms = SESSION_MS, .data = "the session's", .data_len = 13};
    static char big[EVZK_LOCK_DATA_MAX];
    char self[300], host[256];
    struct peer p;

    gethostname(host, sizeof host);
    snprintf(self, sizeof self, "%s:%d", host, (int)getpid());
    peer_open(&p, the_server());
    check_data(p.s, NULL, 0, self, (int)strlen(self));
    check_data(p.s, "mine\0too", 8, "mine\0too", 8);
    check_data(p.s, "", 0, "", 0);
    memset(big, 'x', sizeof big);
    check_data(p.s, big, sizeof big, big, (int)sizeof big);
    peer_close(&p);
    peer_start(&p, the_server(), &opt);
    check_data(p.s, NULL, 0, "the session's", 13);
    check_data(p.s, "mine", 4, "mine", 4);
    peer_close(&p);
}
END_TEST

/* Arguments may be changed and freed as soon as the call returns. */
START_TEST(everything_is_copied)
{
    char path[] = "/copied/lock", data[] = "data", scheme[] = "world",
         id[] = "anyone", buf[16];
    evzk_acl acl = {EVZK_PERM_ALL, scheme, id};
    evzk_lock_options opt = {
        .data = data, .data_len = 4, .acl = &acl, .acl_count = 1};
    struct peer p;
    struct claim c;
    int len = sizeof buf;

    peer_open(&p, the_server());
    claim(&c, p.s, path, &opt);
    memset(path, '?', sizeof path - 1);
    memset(data, '?', sizeof data - 1);
    memset(scheme, '?', sizeof scheme - 1);
    memset(id, '?', sizeof id - 1);
    memset(&acl, 0x5a, sizeof acl);
    memset(&opt, 0x5a, sizeof opt);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_eq(raw_get(op(),
                             node_path("/copied/lock", evzk_lock_node(c.l)),
                             buf, &len, NULL),
                     ZOK);
    ck_assert_int_eq(len, 4);
    ck_assert_int_eq(memcmp(buf, "data", 4), 0);
    claim_release(&c);
    peer_close(&p);
}
END_TEST

static void refused(evzk_session *s, const char *path,
                    const evzk_lock_options *opt)
{
    struct recorder rec = {0};
    evzk_lock *l = (evzk_lock *)(void *)&rec;

    ck_assert_msg(evzk_lock_acquire(s, path, opt, recorder_on_lock, &rec, &l) ==
                      EVZK_ERR_INVAL,
                  "not refused: %s", path ? path : "NULL");
    ck_assert_ptr_eq(l, &rec);
    ck_assert_int_eq(rec.count, 0);
}

START_TEST(bad_arguments_are_refused)
{
    static const char *const paths[] = {
        NULL,           "",      "/",          "a",
        "a/b",          "/a/",   "//a",        "/a//b",
        "/a/./b",       "/a/..", "/.",         "/a\x01",
        "/a\n",         "/\x7f", "/a\xc2\x80", "/\xef\xbf\xbf",
        "/\xee\x80\x80"};
    evzk_acl acl = {EVZK_PERM_ALL, "world", "anyone"};
    evzk_lock *l = NULL;
    char longest[5000];
    struct peer p;

    peer_open(&p, the_server());
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        refused(p.s, paths[i], NULL);
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    refused(p.s, longest, NULL);
    refused(NULL, "/bad", NULL);
    ck_assert_int_eq(evzk_lock_acquire(p.s, "/bad", NULL, NULL, NULL, &l),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(
        evzk_lock_acquire(p.s, "/bad", NULL, recorder_on_lock, NULL, NULL),
        EVZK_ERR_INVAL);
    for (int i = 0; i < 4; i++) {
        evzk_lock_options opt = {0};

        opt.reserved[i] = &p;
        refused(p.s, "/bad", &opt);
    }
    refused(p.s, "/bad", &(evzk_lock_options){.data_len = 1});
    refused(p.s, "/bad",
            &(evzk_lock_options){.data = longest,
                                 .data_len = EVZK_LOCK_DATA_MAX + 1});
    refused(p.s, "/bad", &(evzk_lock_options){.acl_count = 1});
    refused(p.s, "/bad",
            &(evzk_lock_options){.acl = &acl, .acl_count = EVZK_ACL_MAX + 1});
    acl.scheme = NULL;
    refused(p.s, "/bad", &(evzk_lock_options){.acl = &acl, .acl_count = 1});
    acl = (evzk_acl){EVZK_PERM_ALL, "world", NULL};
    refused(p.s, "/bad", &(evzk_lock_options){.acl = &acl, .acl_count = 1});
    run_for(harness_base(), 50);
    ck_assert_int_eq(raw_count(op(), "/bad"), -1);
    peer_close(&p);
}
END_TEST

/* ---- Where the directory is ---- */

START_TEST(chroot_is_respected)
{
    evzk_session_options opt = {.timeout_ms = SESSION_MS, .chroot = "/root/is"};
    struct peer p;
    struct claim c;

    raw_delete_tree(op(), "/root");
    peer_start(&p, the_server(), &opt);
    claim(&c, p.s, "/lock", NULL);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(NOCHROOT)");
    ck_assert_int_eq(raw_exists(op(), "/root", NULL), ZNONODE);
    evzk_lock_free(c.l);
    peer_close(&p);
    opt.make_chroot = true;
    peer_start(&p, the_server(), &opt);
    claim_held(&c, p.s, "/lock", NULL);
    ck_assert_int_eq(raw_count(op(), "/root/is/lock"), 1);
    claim_release(&c);
    peer_close(&p);
    raw_delete_tree(op(), "/root");
}
END_TEST

START_TEST(ephemeral_parent_is_refused)
{
    struct raw *r = raw_open(the_server(), OPERATOR_MS, NULL);
    struct peer p;
    struct claim c;

    ck_assert_int_eq(raw_create(r, "/mayfly", "", 0, ZOO_EPHEMERAL, NULL, 0),
                     ZOK);
    peer_open(&p, the_server());
    claim(&c, p.s, "/mayfly", NULL);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(EPHEMERAL)");
    evzk_lock_free(c.l);
    claim(&c, p.s, "/mayfly/deeper/still", NULL);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(EPHEMERAL)");
    evzk_lock_free(c.l);
    peer_close(&p);
    raw_close(r);
}
END_TEST

START_TEST(forked_child_is_refused)
{
    struct peer p;
    struct claim c;
    pid_t pid;

    peer_open(&p, the_server());
    claim_held(&c, p.s, "/forked", NULL);
    operator_close();
    pid = harness_fork();
    if (pid == 0) {
        evzk_lock *l = NULL;
        int bad = 0;

        bad |= evzk_lock_acquire(p.s, "/forked", NULL, recorder_on_lock, NULL,
                                 &l) != EVZK_ERR_FORKED;
        bad |= (evzk_lock_release(c.l) != EVZK_ERR_FORKED) << 1;
        bad |= evzk_lock_held(c.l) << 2;
        evzk_session_free(p.s);
        evzk_lock_free(c.l);
        _exit(bad);
    }
    ck_assert_int_eq(harness_join(pid), 0);
    ck_assert(evzk_lock_held(c.l));
    ck_assert_int_eq(raw_count(op(), "/forked"), 1);
    claim_release(&c);
    nothing_left("/forked", p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-options");
    TCase *tests = lock_tests(suite, "options", 60000);

    tcase_add_test(tests, data_of_the_znode);
    tcase_add_test(tests, everything_is_copied);
    tcase_add_test(tests, bad_arguments_are_refused);
    tcase_add_test(tests, chroot_is_respected);
    tcase_add_test(tests, ephemeral_parent_is_refused);
    tcase_add_test(tests, forked_child_is_refused);
    return lock_suite_run(suite);
}
