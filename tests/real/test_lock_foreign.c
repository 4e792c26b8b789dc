/*
 * The exclusive lock among foreign children, and behind ACLs that deny.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_lock.h"

/* ---- Foreign children ---- */

START_TEST(foreign_children_are_ignored)
{
    static const char *const names[] = {"a",
                                        "read-0000000000",
                                        "x-lock-abc",
                                        "-lock-abc",
                                        "-lock-0000000000",
                                        "x-lock-",
                                        "x-lock-00000000",
                                        "x-lock-000000000",
                                        "x-lock-00000000000",
                                        "x-lock-9999999999",
                                        "x-lock--9999999999",
                                        "x-lock- 000000000",
                                        "x-lock-+000000000",
                                        "x-lock-0000000000x",
                                        "x_lock_0000000000",
                                        "\xc3\xa9-0000000000"};
    const char *dir = "/foreign/lock";
    struct peer p;
    struct claim a, b;
    char path[1200];

    raw_delete_tree(op(), "/foreign");
    raw_mkdirs(op(), dir);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    }
    snprintf(path, sizeof path, "%s/%0*d-lock-0000000000", dir, 1000, 0);
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    peer_open(&p, the_server());
    claim_held(&a, p.s, dir, NULL);
    claim_queued(&b, p.s, dir, NULL);
    claim_release(&a);
    WAIT_EVENT(&b, "GRANTED");
    claim_release(&b);
    ck_assert_int_eq(raw_count(op(), dir),
                     (int)(sizeof names / sizeof names[0]) + 1);
    wait_watches(0);
    peer_close(&p);
    raw_delete_tree(op(), "/foreign");
}
END_TEST

/* What a waiter watches may get children, if it is no ephemeral. */
START_TEST(operators_node_counts)
{
    const evzk_lock_options opt = {.no_own_watch = true};
    const char *dir = "/foreign-op",
               *node = "/foreign-op/operator-lock-0000000000",
               *child = "/foreign-op/operator-lock-0000000000/child";
    struct peer p;
    struct claim a, tried;

    raw_delete_tree(op(), dir);
    raw_mkdirs(op(), dir);
    raw_create(op(), "/foreign-op/counted", "", 0, 0, NULL,
               0); /* Sequence 0. */
    ck_assert_int_eq(raw_create(op(), node, "", 0, 0, NULL, 0), ZOK);
    peer_open(&p, the_server());
    claim_queued(&a, p.s, dir, &opt);
    claim(&tried, p.s, dir, &(evzk_lock_options){.try_once = true});
    WAIT(tried.rec.finals == 1);
    ck_assert_str_eq(tried.rec.text, "FAILED(BUSY)");
    evzk_lock_free(tried.l);
    settle(p.s);
    ck_assert_int_eq(raw_set(op(), node, "x", 1), ZOK);
    wait_watches(1);
    ck_assert_int_eq(raw_create(op(), child, "", 0, 0, NULL, 0), ZOK);
    wait_watches(1); /* The watch had fired. */
    ck_assert_int_eq(raw_delete(op(), child), ZOK);
    wait_watches(1);
    ck_assert_int_eq(a.rec.count, 0);
    ck_assert_int_eq(raw_delete(op(), node), ZOK);
    WAIT_EVENT(&a, "GRANTED");
    claim_release(&a);
    wait_watches(0);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

/* Another program's contender, that dies without a word. */
START_TEST(foreign_contender_counts)
{
    const char *dir = "/foreign-mate";
    struct raw *mate = raw_open(the_server(), OPERATOR_MS, NULL);
    clientid_t id = raw_id(mate);
    struct peer p;
    struct claim a;
    char name[128];

    raw_mkdirs(op(), dir);
    ck_assert_int_eq(raw_create(mate, "/foreign-mate/somebody-lock-", "", 0,
                                ZOO_EPHEMERAL | ZOO_SEQUENCE, name,
                                sizeof name),
                     ZOK);
    peer_open(&p, the_server());
    claim_queued(&a, p.s, dir, NULL);
    settle(p.s);
    ck_assert_int_eq(a.rec.count, 0);
    raw_abandon(mate);
    raw_expire_with(the_server(), &id);
    WAIT_EVENT(&a, "GRANTED");
    ck_assert_int_eq(raw_exists(op(), name, NULL), ZNONODE);
    claim_release(&a);
    wait_watches(0);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

/* ---- ACLs ---- */

struct acl_seen {
    bool done;
    int rc, count, perms;
    char scheme[32], id[128];
};

static void see_acl(int rc, struct ACL_vector *acl, struct Stat *stat,
                    const void *data)
{
    struct acl_seen *seen = (struct acl_seen *)(uintptr_t)data;

    (void)stat;
    seen->done = true;
    seen->rc = rc;
    if (rc != ZOK)
        return;
    seen->count = acl->count;
    seen->perms = acl->data[0].perms;
    snprintf(seen->scheme, sizeof seen->scheme, "%s", acl->data[0].id.scheme);
    snprintf(seen->id, sizeof seen->id, "%s", acl->data[0].id.id);
}

static void no_log(const char *line) { (void)line; }

/* raw.h has no getACL: a handle of our own. */
static void get_acl(const char *path, struct acl_seen *seen)
{
    zhandle_t *zh =
        zookeeper_init2(the_server(), NULL, SESSION_MS, NULL, NULL, 0, no_log);
    int64_t end = now_ms() + slow_ms(30000);
    bool asked = false;

    memset(seen, 0, sizeof *seen);
    while (!seen->done && now_ms() < end) {
        struct timeval tv;
        int fd = -1, interest = 0;

        zookeeper_interest(zh, &fd, &interest, &tv);
        zookeeper_process(zh, interest);
        if (zoo_state(zh) == ZOO_CONNECTED_STATE && !asked)
            asked = zoo_aget_acl(zh, path, see_acl, seen) == ZOK;
        run_for(harness_base(), 1);
    }
    zookeeper_close(zh);
    ck_assert(seen->done);
    ck_assert_int_eq(seen->rc, ZOK);
}

START_TEST(acl_of_the_znode)
{
    const evzk_acl acl[] = {
        {EVZK_PERM_READ | EVZK_PERM_DELETE, "world", "anyone"},
        {EVZK_PERM_ALL, "ip", "127.0.0.1"}};
    const evzk_acl of_session = {EVZK_PERM_ALL, "ip", "127.0.0.1"};
    evzk_session_options sopt = {
        .timeout_ms = SESSION_MS, .acl = &of_session, .acl_count = 1};
    evzk_lock_options opt = {.acl = acl, .acl_count = 2};
    struct acl_seen seen;
    struct peer p;
    struct claim c;

    raw_delete_tree(op(), "/acl");
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/acl/of-lock", &opt);
    get_acl(node_path("/acl/of-lock", evzk_lock_node(c.l)), &seen);
    ck_assert_int_eq(seen.count, 2);
    ck_assert_int_eq(seen.perms, EVZK_PERM_READ | EVZK_PERM_DELETE);
    ck_assert_str_eq(seen.scheme, "world");
    get_acl("/acl/of-lock", &seen); /* Of parents made, too. */
    ck_assert_int_eq(seen.count, 2);
    claim_release(&c);
    claim_held(&c, p.s, "/acl-open", NULL);
    get_acl(node_path("/acl-open", evzk_lock_node(c.l)), &seen);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(seen.perms, EVZK_PERM_ALL);
    ck_assert_str_eq(seen.id, "anyone");
    claim_release(&c);
    peer_close(&p);
    peer_start(&p, the_server(), &sopt);
    claim_held(&c, p.s, "/acl-open", NULL);
    get_acl(node_path("/acl-open", evzk_lock_node(c.l)), &seen);
    ck_assert_str_eq(seen.scheme, "ip");
    ck_assert_str_eq(seen.id, "127.0.0.1");
    claim_release(&c);
    claim_held(&c, p.s, "/acl-open", &opt);
    get_acl(node_path("/acl-open", evzk_lock_node(c.l)), &seen);
    ck_assert_int_eq(seen.count, 2);
    claim_release(&c);
    peer_close(&p);
    raw_delete_tree(op(), "/acl");
}
END_TEST

/* An own znode that may not be read is held all the same. */
START_TEST(unreadable_own_znode)
{
    const evzk_acl acl = {EVZK_PERM_DELETE, "world", "anyone"};
    const evzk_lock_options opt = {.acl = &acl, .acl_count = 1};
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;
    struct claim c;

    raw_mkdirs(op(), "/acl-blind");
    peer_open(&p, proxy_address(proxy));
    claim_held(&c, p.s, "/acl-blind", &opt);
    settle(p.s);
    proxy_cut(proxy);
    WAIT_EVENT(&c, "RESUMED");
    ck_assert_str_eq(c.rec.text, "GRANTED SUSPENDED RESUMED");
    claim_release(&c);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/acl-blind");
}
END_TEST

static void deny(const char *path, int perms)
{
    struct ACL acl = {perms, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};

    raw_delete_tree(op(), path);
    raw_mkdirs(op(), path);
    ck_assert_int_eq(raw_set_acl(op(), path, &v), ZOK);
}

static void allow(const char *path)
{
    ck_assert_int_eq(raw_set_acl(op(), path, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    raw_delete_tree(op(), path);
}

START_TEST(create_is_denied)
{
    const int admin = ZOO_PERM_ADMIN | ZOO_PERM_READ | ZOO_PERM_DELETE;
    struct peer p;
    struct claim c;

    deny("/acl-create", admin);
    peer_open(&p, the_server());
    for (int deeper = 0; deeper < 2; deeper++) {
        claim(&c, p.s, deeper ? "/acl-create/a/b" : "/acl-create", NULL);
        WAIT(c.rec.finals == 1);
        ck_assert_str_eq(c.rec.text, "FAILED(NOAUTH)");
        evzk_lock_free(c.l);
    }
    nothing_left("/acl-create", p.s);
    peer_close(&p);
    allow("/acl-create");
}
END_TEST

START_TEST(listing_is_denied)
{
    struct peer p;
    struct claim c;

    deny("/acl-list", ZOO_PERM_ALL & ~ZOO_PERM_READ);
    peer_open(&p, the_server());
    claim(&c, p.s, "/acl-list", NULL);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(NOAUTH)");
    evzk_lock_free(c.l);
    idle(p.s);
    ck_assert_int_eq(raw_set_acl(op(), "/acl-list", &ZOO_OPEN_ACL_UNSAFE), ZOK);
    ck_assert_int_eq(raw_count(op(), "/acl-list"), 0); /* Taken back. */
    peer_close(&p);
    raw_delete_tree(op(), "/acl-list");
}
END_TEST

START_TEST(acl_is_bad)
{
    const evzk_acl acl[] = {{EVZK_PERM_ALL, "nonsense", "x"},
                            {EVZK_PERM_ALL, "ip", "not an address"},
                            {EVZK_PERM_ALL, "auth", ""}}; /* No credentials. */
    struct peer p;
    struct claim c;

    peer_open(&p, the_server());
    raw_mkdirs(op(), "/acl-bad");
    for (size_t i = 0; i < 3; i++) {
        for (int deeper = 0; deeper < 2; deeper++) {
            evzk_lock_options opt = {.acl = &acl[i], .acl_count = 1};

            claim(&c, p.s, deeper ? "/acl-bad/x/y" : "/acl-bad", &opt);
            WAIT(c.rec.finals == 1);
            ck_assert_str_eq(c.rec.text, "FAILED(BADACL)");
            evzk_lock_free(c.l);
        }
    }
    nothing_left("/acl-bad", p.s);
    peer_close(&p);
}
END_TEST

/* The directory's ACL says who may delete in it. */
START_TEST(delete_is_denied)
{
    struct peer p;
    struct claim held, waiting;
    evzk_session_stats stats;

    deny("/acl-delete", ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
    peer_open(&p, the_server());
    claim_held(&held, p.s, "/acl-delete", NULL);
    claim_queued(&waiting, p.s, "/acl-delete", NULL);
    ck_assert_int_eq(evzk_lock_cancel(waiting.l), EVZK_OK);
    WAIT(waiting.rec.finals == 1);
    ck_assert_str_eq(waiting.rec.text, "FAILED(NOAUTH)");
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED RELEASED(NOAUTH)");
    ck_assert_int_eq(raw_count(op(), "/acl-delete"), 2); /* Both znodes stay. */
    WAIT((evzk_session_get_stats(p.s, &stats), stats.left_overs == 2));
    wait_watches(0); /* Nobody needs to hear of them any more. */
    evzk_lock_free(held.l);
    evzk_lock_free(waiting.l);
    ck_assert_int_eq(raw_set_acl(op(), "/acl-delete", &ZOO_OPEN_ACL_UNSAFE),
                     ZOK);
    WAIT(raw_count(op(), "/acl-delete") == 0); /* The session lives on. */
    idle(p.s);
    peer_close(&p);
    allow("/acl-delete");
}
END_TEST

START_TEST(credentials_open_the_door)
{
    const evzk_acl acl = {EVZK_PERM_ALL, "auth", ""};
    const evzk_lock_options opt = {.acl = &acl, .acl_count = 1};
    struct peer p, other;
    struct claim c, stranger;

    peer_open(&p, the_server());
    peer_open(&other, the_server());
    ck_assert_int_eq(evzk_session_add_auth(p.s, "digest", "me:secret", 9),
                     EVZK_OK);
    claim_held(&c, p.s, "/acl-auth", &opt);
    claim(&stranger, other.s, "/acl-auth", NULL);
    WAIT(stranger.rec.finals == 1);
    ck_assert_str_eq(stranger.rec.text, "FAILED(NOAUTH)");
    evzk_lock_free(stranger.l);
    claim_release(&c);
    peer_close(&p);
    peer_close(&other);
    ck_assert_int_eq(raw_add_auth(op(), "digest", "me:secret"), ZOK);
    raw_delete_tree(op(), "/acl-auth");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-foreign");
    TCase *tests = lock_tests(suite, "foreign", 60000);

    tcase_add_test(tests, foreign_children_are_ignored);
    tcase_add_test(tests, operators_node_counts);
    tcase_add_test(tests, foreign_contender_counts);
    tcase_add_test(tests, acl_of_the_znode);
    tcase_add_test(tests, unreadable_own_znode);
    tcase_add_test(tests, create_is_denied);
    tcase_add_test(tests, listing_is_denied);
    tcase_add_test(tests, acl_is_bad);
    tcase_add_test(tests, delete_is_denied);
    tcase_add_test(tests, credentials_open_the_door);
    return lock_suite_run(suite);
}
