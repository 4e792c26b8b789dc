/*
 * The directories that come and go with their locks: with what data and whose
 * ACL, which of them go, and which must not.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <unistd.h>

#include "test_many.h"

static const char mark[] = "evzk: goes with the last contender";

/* ---- Data ---- */

enum { DATA_LOCKS = 20 };

static void check_data(const struct crowd *c, char *want)
{
    static char got[EVZK_LOCK_DATA_MAX];

    for (int i = 0; i < DATA_LOCKS; i++) {
        const char *dir = numbered("/dirs-data", i);
        int len = sizeof got;

        memset(want, 'a' + i, EVZK_LOCK_DATA_MAX);
        ck_assert_int_eq(raw_get(op(),
                                 node_path(dir, evzk_lock_node(c->v[i].l)), got,
                                 &len, NULL),
                         ZOK);
        ck_assert_int_eq(len, EVZK_LOCK_DATA_MAX);
        ck_assert_mem_eq(got, want, EVZK_LOCK_DATA_MAX);
    }
}

/* More than one request takes: a server would hang up. */
START_TEST(much_data_each)
{
    static char data[EVZK_LOCK_DATA_MAX];
    const evzk_lock_options opt = {.data = data, .data_len = sizeof data};
    struct proxy *proxy = proxy_start(the_server());
    evzk_session_stats st;
    struct crowd c;
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    crowd_new(&c, DATA_LOCKS);
    for (int i = 0; i < DATA_LOCKS; i++) {
        memset(data, 'a' + i, sizeof data);
        crowd_start(&c, i, p.s, numbered("/dirs-data", i), &opt);
    }
    WAIT(c.granted == DATA_LOCKS);
    evzk_session_get_stats(p.s, &st);
    ck_assert_uint_eq(st.losses, 0);
    check_data(&c, data);
    crowd_release(&c);
    WAIT(c.finals == DATA_LOCKS);
    crowd_check_served(&c);
    crowd_free(&c);
    nothing_left("/dirs-data", p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- ACLs ---- */

enum { ACL_LOCKS = 30 };

static const evzk_acl mine[] = {{EVZK_PERM_ALL, "auth", ""}};
static const evzk_acl seen[] = {{EVZK_PERM_ALL, "auth", ""},
                                {EVZK_PERM_READ, "world", "anyone"}};
static const evzk_acl wrong[] = {{EVZK_PERM_ALL, "nonsense", "x"}};

static evzk_lock_options acl_of(int i)
{
    evzk_lock_options opt = {0};

    if (i % 3 == 1) {
        opt.acl = mine;
        opt.acl_count = 1;
    } else if (i % 3 == 2) {
        opt.acl = seen;
        opt.acl_count = 2;
    }
    return opt;
}

/* By one who is nobody to them. */
static void check_acl(const struct crowd *c, int i)
{
    const char *dir = numbered("/dirs-acl", i);
    char path[256], buf[64];
    struct raw_names names;
    int len = sizeof buf, kind = i % 3;

    snprintf(path, sizeof path, "%s", dir);
    if (raw_children(op(), path, &names) == ZOK) {
        ck_assert_int_ne(kind, 1);
        raw_names_free(&names);
    } else {
        ck_assert_int_eq(kind, 1);
    }
    snprintf(path, sizeof path, "%s",
             node_path(dir, evzk_lock_node(c->v[i].l)));
    ck_assert_int_eq(raw_get(op(), path, buf, &len, NULL),
                     kind == 1 ? ZNOAUTH : ZOK);
    ck_assert_int_eq(raw_set(op(), path, "x", 1), kind ? ZNOAUTH : ZOK);
    snprintf(path, sizeof path, "%s/intruder", numbered("/dirs-acl", i));
    ck_assert_int_eq(raw_create(op(), path, "", 0, ZOO_EPHEMERAL, NULL, 0),
                     kind ? ZNOAUTH : ZOK);
    if (kind == 0)
        ck_assert_int_eq(raw_delete(op(), path), ZOK);
}

START_TEST(each_its_own_acl)
{
    const evzk_lock_options bad = {.acl = wrong, .acl_count = 1};
    struct claim refused;
    struct crowd c;
    struct peer p;

    raw_mkdirs(op(), "/dirs-acl");
    peer_open(&p, the_server());
    ck_assert_int_eq(evzk_session_add_auth(p.s, "digest", "me:secret", 9),
                     EVZK_OK);
    crowd_new(&c, ACL_LOCKS);
    for (int i = 0; i < ACL_LOCKS; i++) {
        evzk_lock_options opt = acl_of(i);

        crowd_start(&c, i, p.s, numbered("/dirs-acl", i), &opt);
        if (i == ACL_LOCKS / 2)
            claim(&refused, p.s, "/dirs-acl/wrong", &bad);
    }
    WAIT(c.granted == ACL_LOCKS && refused.rec.finals == 1);
    ck_assert_str_eq(refused.rec.text, "FAILED(BADACL)");
    ck_assert_int_eq(raw_count(op(), "/dirs-acl/wrong"), -1);
    evzk_lock_free(refused.l);
    for (int i = 0; i < ACL_LOCKS; i++)
        check_acl(&c, i);
    crowd_release(&c);
    WAIT(c.finals == ACL_LOCKS);
    crowd_check_served(&c);
    crowd_free(&c);
    nothing_left("/dirs-acl", p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/dirs-acl");
}
END_TEST

/* ---- Left by one who died ---- */

START_TEST(left_by_the_dead)
{
    const char *dir = "/dirs-dead/lock", *server = the_server();
    struct shared {
        _Atomic int64_t session;
    } *sh = harness_share(sizeof *sh);
    struct claim c;
    struct peer p;
    pid_t pid;

    pid = harness_fork();
    if (pid == 0) {
        peer_open(&p, server);
        claim_held(&c, p.s, dir, NULL);
        sh->session = evzk_session_id(p.s);
        WAIT(false);
    }
    peer_short(&p, server);
    WAIT(sh->session != 0);
    kill(pid, SIGKILL);
    ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
    raw_expire(server, sh->session);
    ck_assert_int_eq(raw_count(op(), dir), 0); /* The directory stays. */
    claim_held(&c, p.s, dir, NULL);
    ck_assert_int_eq(raw_count(op(), dir), 1);
    claim_release(&c);
    WAIT(raw_count(op(), dir) == -1);
    nothing_left(dir, p.s);
    peer_close(&p);
    harness_unshare(sh, sizeof *sh);
}
END_TEST

/* The one who left it to others is gone; they look at it, and are cut: before
 * their question arrives, or after its answer has left, and so on. */
START_TEST(cut_while_it_is_looked_at)
{
    enum { OP_RMDIR = OP_DELETE };
    const char *dir = "/dirs-cut";
    struct proxy *proxy = proxy_start(the_server());
    int ops[] = {OP_GET, OP_RMDIR}, way = _i % PROXY_CUTS;
    struct claim first, second;
    struct peer p, other;

    peer_short(&p, proxy_address(proxy));
    peer_open(&other, the_server());
    claim_held(&first, other.s, dir, NULL);
    claim_queued(&second, p.s, dir, &(evzk_lock_options){.no_own_watch = true});
    claim_release(&first);
    peer_close(&other); /* Or it would look, too. */
    WAIT_EVENT(&second, "GRANTED");
    claim_release(&second);
    proxy_trap(proxy, proxy_cuts[way].dir, ops[_i / PROXY_CUTS], 1,
               proxy_cuts[way].act);
    WAIT(proxy_fired(proxy) == 1);
    WAIT(raw_count(op(), dir) == -1);
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- Whose they are ---- */

static const struct {
    const char *path;
    const char *data;
    bool stays;
    bool inhabited;
} dirs[] = {
    {"/dirs-whose/bare", "", true, false},
    {"/dirs-whose/other", "evzk: goes with the last contendeR", true, false},
    {"/dirs-whose/longer", "evzk: goes with the last contender.", true, false},
    {"/dirs-whose/used", mark, true, true},
    {"/dirs-whose/ours", mark, false, false},
    {"/dirs-whose/ours-too", mark, false, false}};

enum { DIRS = sizeof dirs / sizeof dirs[0] };

static void prepare(void)
{
    raw_delete_tree(op(), "/dirs-whose");
    raw_mkdirs(op(), "/dirs-whose");
    for (int i = 0; i < DIRS; i++) {
        char path[64];

        ck_assert_int_eq(raw_create(op(), dirs[i].path, dirs[i].data,
                                    (int)strlen(dirs[i].data), 0, NULL, 0),
                         ZOK);
        snprintf(path, sizeof path, "%s/tenant", dirs[i].path);
        if (dirs[i].inhabited)
            ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    }
}

static void use_all(struct peer *p)
{
    struct crowd c;

    crowd_new(&c, DIRS);
    for (int i = 0; i < DIRS; i++)
        crowd_start(&c, i, p->s, dirs[i].path, NULL);
    WAIT(c.granted == DIRS);
    crowd_release(&c);
    WAIT(c.finals == DIRS);
    crowd_check_served(&c);
    crowd_free(&c);
}

/* One after the other, and by two sessions in turn. */
START_TEST(what_is_not_ours_stays)
{
    struct peer p[2];

    prepare();
    peer_short(&p[0], the_server());
    peer_short(&p[1], the_server());
    for (int i = 0; i < 4; i++)
        use_all(&p[i % 2]);
    for (int i = 0; i < DIRS; i++) {
        if (!dirs[i].stays)
            WAIT(raw_exists(op(), dirs[i].path, NULL) == ZNONODE);
    }
    run_for(harness_base(), SHORT_MS / 4); /* For what must not go. */
    for (int i = 0; i < DIRS; i++) {
        if (dirs[i].stays)
            ck_assert_int_eq(raw_count(op(), dirs[i].path), dirs[i].inhabited);
    }
    peer_close(&p[0]);
    peer_close(&p[1]);
    raw_delete_tree(op(), "/dirs-whose");
}
END_TEST

/* An operator makes the directory anew, or writes to it, while it is used: it
 * is the operator's then. */
START_TEST(taken_over_by_an_operator)
{
    const char *dir = "/dirs-anew/lock";
    struct claim c;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, NULL);
    if (_i == 2) {
        ck_assert_int_eq(raw_set(op(), dir, "mine", 4), ZOK);
    } else {
        raw_delete_tree(op(), dir);
        raw_mkdirs(op(), dir);
    }
    if (_i == 1) {
        WAIT_EVENT(&c, "LOST(NODEGONE)");
        evzk_lock_free(c.l);
        claim_held(&c, p.s, dir, NULL);
    }
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    WAIT(c.rec.finals == 1);
    evzk_lock_free(c.l);
    idle(p.s);
    if (_i < 2)
        run_for(harness_base(), SHORT_MS / 2); /* For what must not happen. */
    ck_assert_int_eq(raw_count(op(), dir), 0);
    peer_close(&p);
    raw_delete_tree(op(), "/dirs-anew");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dirs");
    TCase *tests = lock_tests(suite, "dirs", 60000);

    tcase_add_test(tests, much_data_each);
    tcase_add_test(tests, each_its_own_acl);
    tcase_add_test(tests, left_by_the_dead);
    tcase_add_loop_test(tests, cut_while_it_is_looked_at, 0, 2 * PROXY_CUTS);
    tcase_add_test(tests, what_is_not_ours_stays);
    tcase_add_loop_test(tests, taken_over_by_an_operator, 0, 3);
    return lock_suite_run(suite);
}
