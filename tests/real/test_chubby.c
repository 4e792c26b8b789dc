/*
 * Handles of Chubby's interface on a real server: files that are made, written,
 * listed and deleted; instances of files; other programs' files; what ends
 * handles and operations.  The lock is in test_chubby_lock.c.
 */
#define _GNU_SOURCE 1
#include "test_chubby.h"

static const char path[] = "/chubby/f";

/* ---- From the open to the close. ---- */

START_TEST(one_file)
{
    struct peer p;
    struct file f;
    struct act a;
    int64_t instance;

    clear();
    peer_open(&p, the_server());
    file_make(&f, p.s, path);
    ACT(&a, &f, get, EVZK_OK, _i == 1);
    ck_assert_str_eq(a.data, "new");
    ck_assert_int_eq(a.stat.content_gen, 0);
    ck_assert_int_eq(a.stat.owner, 0);
    ck_assert_int_eq(a.stat.instance, a.stat.modified);
    instance = a.stat.instance;
    ACT(&a, &f, set, EVZK_OK, 0, "one", 3);
    ck_assert_int_eq(a.stat.content_gen, 1);
    ACT(&a, &f, set, EVZK_ERR_BADVERSION, 0, "two", 3);
    ck_assert(!a.unknown);
    ACT(&a, &f, set, EVZK_OK, -1, NULL, 0);
    ACT(&a, &f, get_stat, EVZK_OK, true);
    ck_assert_int_eq(a.stat.content_gen, 2);
    ck_assert_int_eq(a.stat.instance, instance);
    ck_assert_int_gt(a.stat.modified, instance);
    ck_assert_uint_eq(a.stat.len, 0);
    ACT_0(&a, &f, read_dir, EVZK_OK);
    ck_assert_str_eq(a.names, "");
    ck_assert_uint_eq(evzk_chubby_outstanding(f.h), 0);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_invalid(&f, EVZK_ERR_NODEGONE);
    file_close(&f);
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

/* A copy is read without a question; it follows what others write. */
START_TEST(copy_is_followed)
{
    struct peer p, q;
    struct file f, g;
    struct act a;
    uint64_t before;

    clear();
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    file_make(&f, p.s, path);
    file_open(&g, q.s, path, NULL);
    ck_assert(!evzk_chubby_created(g.h));
    ACT(&a, &f, set, EVZK_OK, -1, "seen", 4);
    WAIT_TOLD(&g, CONTENTS_CHANGED);
    all_answered(q.s);
    before = requests_of(q.s);
    ACT(&a, &g, get, EVZK_OK, false);
    ck_assert_str_eq(a.data, "seen");
    ck_assert_int_eq(a.stat.content_gen, 1);
    ck_assert_uint_eq(requests_of(q.s), before);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_invalid(&g, EVZK_ERR_NODEGONE);
    ck_assert_str_eq(g.text, "OPENED CONTENTS_CHANGED "
                             "INVALID(EVZK_ERR_NODEGONE)");
    file_close(&f);
    file_close(&g);
    all_gone(p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

START_TEST(made_or_not)
{
    evzk_chubby_options opt = {.create = EVZK_CHUBBY_MUST_CREATE};
    struct peer p;
    struct file f, g;
    struct act a;

    clear();
    peer_open(&p, the_server());
    file_start(&f, p.s, path, NULL);
    file_ended(&f, EVZK_ERR_NONODE);
    file_open(&f, p.s, path, &opt);
    file_start(&g, p.s, path, &opt);
    file_ended(&g, EVZK_ERR_NODEEXISTS);
    opt.create = EVZK_CHUBBY_MAY_CREATE;
    file_open(&g, p.s, path, &opt);
    ck_assert(!evzk_chubby_created(g.h));
    ck_assert_int_eq(raw_count(op(), "/chubby/f.evzk"), 1);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&g);
    WAIT_TOLD(&f, INVALID);
    file_open(&g, p.s, path, &opt); /* The first handle is still there. */
    ck_assert(evzk_chubby_created(g.h));
    file_close(&f);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&g);
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

/* Directories above a file that is made come with it. */
START_TEST(directories_above)
{
    struct peer p;
    struct file f;
    struct act a;

    clear();
    peer_open(&p, the_server());
    file_make(&f, p.s, "/chubby/a/b/f");
    ck_assert_int_eq(raw_count(op(), "/chubby/a/b"), 2);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

/* The file and its anchor go with the session: expired (0), or closed (1). */
START_TEST(ephemeral_file)
{
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_MAY_CREATE,
                                     .ephemeral = true};
    const evzk_chubby_options below = {.create = EVZK_CHUBBY_MAY_CREATE};
    struct peer p, q;
    struct file f, g, h;
    struct act a;

    clear();
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    file_open(&f, p.s, path, &opt);
    file_open(&g, q.s, path, &opt);
    ck_assert(evzk_chubby_created(f.h) && !evzk_chubby_created(g.h));
    ACT(&a, &g, get_stat, EVZK_OK, _i == 0);
    ck_assert_int_eq(a.stat.owner, evzk_session_id(p.s));
    file_start(&h, q.s, "/chubby/f/below", &below);
    file_ended(&h, EVZK_ERR_EPHEMERAL);
    if (_i) {
        peer_close(&p);
        file_ended(&f, EVZK_ERR_CLOSED);
    } else {
        raw_expire(the_server(), evzk_session_id(p.s));
        file_ended(&f, EVZK_ERR_EXPIRED);
        peer_close(&p);
    }
    file_invalid(&g, EVZK_ERR_NODEGONE);
    file_close(&g);
    all_gone(q.s);
    peer_close(&q);
}
END_TEST

/* ---- Instances. ---- */

/* The file goes, and another one of its name comes, before the handle hears of
 * it: its write (0) and its delete (1) do not reach the other. */
START_TEST(another_instance)
{
    struct scene sc;
    struct file f, g, other;
    struct act a, b;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&f, sc.p.s, path);
    file_open(&g, sc.rival.s, path, NULL);
    if (_i > 1)
        ACT(&a, &f, set, EVZK_OK, -1, "old", 3);
    all_answered(sc.p.s);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    ACT_0(&b, &g, delete, EVZK_OK);
    file_close(&g);
    file_make(&other, sc.rival.s, path);
    if (_i % 2)
        BEGIN_ACT_0(&a, &f, delete);
    else
        BEGIN_ACT(&a, &f, set, -1, "late", 4);
    proxy_thaw(sc.proxy);
    act_ends(&a, EVZK_ERR_NODEGONE);
    file_invalid(&f, EVZK_ERR_NODEGONE);
    contents_are(path, "new");
    ck_assert_int_eq(other.events[EVZK_CHUBBY_CONTENTS_CHANGED], 0);
    file_close(&f);
    ACT_0(&b, &other, delete, EVZK_OK);
    file_close(&other);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, "/chubby/f.evzk");
}
END_TEST

/* The leader, too, is asked about the instance. */
START_TEST(reads_of_another_instance)
{
    struct scene sc;
    struct file f, g, other;
    struct act got, stat, dir;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&f, sc.p.s, path);
    file_open(&g, sc.rival.s, path, NULL);
    all_answered(sc.p.s);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    ACT_0(&got, &g, delete, EVZK_OK);
    file_close(&g);
    file_make(&other, sc.rival.s, path);
    BEGIN_ACT(&got, &f, get, true);
    BEGIN_ACT(&stat, &f, get_stat, true);
    BEGIN_ACT_0(&dir, &f, read_dir);
    ck_assert_uint_eq(evzk_chubby_outstanding(f.h), 3);
    proxy_thaw(sc.proxy);
    act_ends(&got, EVZK_ERR_NODEGONE);
    act_ends(&stat, EVZK_ERR_NODEGONE);
    act_ends(&dir, EVZK_ERR_NODEGONE);
    file_close(&f);
    ACT_0(&got, &other, delete, EVZK_OK);
    file_close(&other);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, "/chubby/f.evzk");
}
END_TEST

/* An operator deletes the file by hand, and makes another of its name. */
START_TEST(replaced_by_hand)
{
    struct peer p;
    struct file f, g;
    struct act a;

    clear();
    peer_open(&p, the_server());
    file_make(&f, p.s, path);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    file_invalid(&f, EVZK_ERR_NODEGONE);
    ck_assert_int_eq(raw_create(op(), path, "by hand", 7, 0, NULL, 0), ZOK);
    file_open(&g, p.s, path, NULL); /* The old anchor is another's. */
    ACT(&a, &g, set, EVZK_OK, 0, "mine", 4);
    contents_are(path, "mine");
    ck_assert_int_eq(f.events[EVZK_CHUBBY_INVALID], 1);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&f);
    file_close(&g);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

/* Made by another program: there is no anchor, and no directory of a lock. */
START_TEST(file_of_another_program)
{
    struct peer p;
    struct file f;
    struct act a;

    clear();
    ck_assert_int_eq(raw_create(op(), path, "theirs", 6, 0, NULL, 0), ZOK);
    peer_open(&p, the_server());
    file_open(&f, p.s, path, NULL);
    ACT(&a, &f, get, EVZK_OK, _i == 1);
    ck_assert_str_eq(a.data, "theirs");
    ACT(&a, &f, set, EVZK_ERR_BADVERSION, 5, "no", 2);
    ACT(&a, &f, set, EVZK_OK, 0, "ours", 4);
    ck_assert_int_eq(a.stat.content_gen, 1);
    if (_i) {
        ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
        ACT(&a, &f, set, EVZK_OK, 1, "held", 4);
        ACT_0(&a, &f, release, EVZK_OK);
    }
    WAIT_TOLD(&f, CONTENTS_CHANGED);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

/* ---- Children. ---- */

START_TEST(children)
{
    const evzk_chubby_options opt = {.children = true};
    struct ACL none = {ZOO_PERM_DELETE, {"world", "anyone"}};
    const struct ACL_vector sealed = {1, &none};
    struct peer p;
    struct file f, g, c;
    struct act a;
    uint64_t before;

    clear();
    peer_open(&p, the_server());
    file_make(&g, p.s, path);
    file_open(&f, p.s, path, &opt);
    file_make(&c, p.s, "/chubby/f/c");
    WAIT_TOLD(&f, CHILD_ADDED);
    ACT(&a, &c, set, EVZK_OK, -1, "x", 1);
    WAIT_TOLD(&f, CHILD_CHANGED);
    ACT_0(&a, &f, delete, EVZK_ERR_NOTEMPTY);
    raw_mkdirs(op(), "/chubby/f/b");
    WAIT(f.events[EVZK_CHUBBY_CHILD_ADDED] == 2);
    ck_assert_int_eq(
        raw_create_acl(op(), "/chubby/f/a", "x", 1, 0, &sealed, NULL, 0), ZOK);
    WAIT(f.events[EVZK_CHUBBY_CHILD_ADDED] == 3);
    all_answered(p.s);
    before = requests_of(p.s);
    ACT_0(&a, &f, read_dir, EVZK_OK);
    ck_assert_str_eq(a.names, "a(hidden) b c ");
    ck_assert_uint_eq(requests_of(p.s), before);
    ACT_0(&a, &g, read_dir, EVZK_OK);
    ck_assert_str_eq(a.names, "a(hidden) b c ");
    ck_assert_uint_gt(requests_of(p.s), before);
    ACT_0(&a, &c, delete, EVZK_OK);
    WAIT_TOLD(&f, CHILD_REMOVED);
    ck_assert_str_eq(f.text, "OPENED CHILD_ADDED(c) CHILD_CHANGED(c) "
                             "CHILD_ADDED(b) CHILD_ADDED(a) CHILD_REMOVED(c)");
    ck_assert_str_eq(g.text, "OPENED");
    file_close(&c);
    file_close(&f);
    file_close(&g);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

/* ---- Permissions. ---- */

/* The ACL of the options is that of the file, of its directory and its anchor,
 * and of the znodes of the lock. */
START_TEST(own_acl)
{
    const evzk_acl acl = {EVZK_PERM_ALL & ~EVZK_PERM_ADMIN, "world", "anyone"};
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_MUST_CREATE,
                                     .acl = &acl,
                                     .acl_count = 1,
                                     .lock_delay_ms = 1000};
    struct raw_names names;
    struct peer p;
    struct file f;
    struct act a;

    clear();
    peer_open(&p, the_server());
    file_open(&f, p.s, path, &opt);
    ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ACT(&a, &f, set, EVZK_OK, 0, "x", 1);
    ck_assert_int_eq(raw_set_acl(op(), path, &ZOO_OPEN_ACL_UNSAFE), ZNOAUTH);
    ck_assert_int_eq(raw_set_acl(op(), "/chubby/f.evzk", &ZOO_OPEN_ACL_UNSAFE),
                     ZNOAUTH);
    raw_wait_children(op(), "/chubby/f.evzk", 3, 60000);
    ck_assert_int_eq(raw_children(op(), "/chubby/f.evzk", &names), ZOK);
    for (size_t i = 0; i < names.n; i++)
        ck_assert_int_eq(raw_set_acl(op(),
                                     node_path("/chubby/f.evzk", names.name[i]),
                                     &ZOO_OPEN_ACL_UNSAFE),
                         ZNOAUTH);
    raw_names_free(&names);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

/* A file that may only be read: writes are refused by the servers (0), or by
 * the handle (1). */
START_TEST(only_read)
{
    struct ACL read = {ZOO_PERM_READ, {"world", "anyone"}};
    const struct ACL_vector acl = {1, &read};
    const evzk_chubby_options opt = {.read_only = _i == 1};
    struct peer p;
    struct file f;
    struct act a = {0};

    clear();
    ck_assert_int_eq(raw_create_acl(op(), path, "x", 1, 0, &acl, NULL, 0), ZOK);
    peer_open(&p, the_server());
    file_open(&f, p.s, path, &opt);
    if (_i) {
        ck_assert_int_eq(evzk_chubby_set(f.h, -1, "y", 1, act_heard, &a),
                         EVZK_ERR_STATE);
        ck_assert_int_eq(evzk_chubby_delete(f.h, act_heard, &a),
                         EVZK_ERR_STATE);
        ck_assert_int_eq(
            evzk_chubby_acquire(f.h, EVZK_CHUBBY_SHARED, act_heard, &a),
            EVZK_ERR_STATE);
        ck_assert_int_eq(
            evzk_chubby_try_acquire(f.h, EVZK_CHUBBY_SHARED, act_heard, &a),
            EVZK_ERR_STATE);
    } else
        ACT(&a, &f, set, EVZK_ERR_NOAUTH, -1, "y", 1);
    ACT(&a, &f, get, EVZK_OK, true);
    ck_assert_str_eq(a.data, "x");
    ACT_0(&a, &f, read_dir, EVZK_OK);
    file_close(&f);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

/* ---- Poison, close, free, time-out. ---- */

/* Poisoned (0), closed (1) or freed (2) while the servers do not answer: a
 * write that was sent ends when its outcome is known. */
START_TEST(outstanding_operations)
{
    struct scene sc;
    struct file f, h;
    struct act got, dir, set, lock;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&f, sc.p.s, path);
    ACT(&set, &f, set, EVZK_OK, -1, "one", 3);
    file_open(&h, sc.rival.s, path, NULL);
    ACT(&lock, &h, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&lock, &f, acquire, EVZK_CHUBBY_SHARED);
    settle(sc.p.s);
    proxy_freeze(sc.proxy, PROXY_S2C);
    BEGIN_ACT(&got, &f, get, true);
    BEGIN_ACT_0(&dir, &f, read_dir);
    BEGIN_ACT(&set, &f, set, -1, "two", 3);
    run_for(harness_base(), 50);
    ck_assert_uint_eq(evzk_chubby_outstanding(f.h), 4);
    if (_i == 2) {
        evzk_chubby_free(f.h);
    } else {
        ck_assert_int_eq(_i ? evzk_chubby_close(f.h) : evzk_chubby_poison(f.h),
                         EVZK_OK);
        act_ends(&got, EVZK_ERR_CANCELED);
        act_ends(&dir, EVZK_ERR_CANCELED);
        act_ends(&lock, EVZK_ERR_CANCELED);
        ck_assert_int_eq(f.events[EVZK_CHUBBY_CLOSED], 0);
        ck_assert_int_eq(evzk_chubby_get(f.h, false, act_heard, &got),
                         EVZK_ERR_STATE);
    }
    proxy_thaw(sc.proxy);
    if (_i < 2) {
        WAIT(set.told == 1);
        ck_assert(set.rc == EVZK_OK || set.rc == EVZK_ERR_CANCELED);
        ck_assert(!set.unknown);
        settle(sc.p.s);
        contents_are(path, set.rc == EVZK_OK ? "two" : "one");
    }
    if (_i == 0)
        file_close(&f);
    if (_i == 1) {
        WAIT_TOLD(&f, CLOSED);
        ck_assert_int_eq(f.rc, EVZK_OK);
        evzk_chubby_free(f.h);
    }
    idle(sc.p.s);
    if (_i == 2)
        ck_assert_int_eq(got.told + dir.told + set.told + lock.told, 0);
    ACT_0(&set, &h, delete, EVZK_OK);
    file_close(&h);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, "/chubby/f.evzk");
}
END_TEST

/* A poisoned handle tells its events, and keeps its lock until the close. */
START_TEST(poisoned)
{
    struct peer p, q;
    struct file f, g;
    struct act a;

    clear();
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    file_make(&f, p.s, path);
    file_open(&g, q.s, path, NULL);
    ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert_int_eq(evzk_chubby_poison(f.h), EVZK_OK);
    ck_assert_int_eq(evzk_chubby_poison(f.h), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_chubby_release(f.h, act_heard, &a), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_chubby_get(f.h, false, act_heard, &a),
                     EVZK_ERR_STATE);
    ACT(&a, &g, set, EVZK_OK, -1, "x", 1);
    WAIT_TOLD(&f, CONTENTS_CHANGED);
    ck_assert(evzk_chubby_held(f.h));
    ACT(&a, &g, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_SHARED);
    file_close(&f);
    ACT(&a, &g, try_acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&g);
    all_gone(p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* Before the file is known nothing can be called; the open has an end. */
START_TEST(not_opened)
{
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_EXISTING,
                                     .timeout_ms = 200};
    struct scene sc;
    struct file f, g, h;
    struct act a = {0};

    clear();
    scene_open(&sc, SESSION_MS);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    file_start(&f, sc.p.s, path, &opt);
    file_start(&g, sc.p.s, path, NULL);
    file_start(&h, sc.p.s, path, NULL);
    ck_assert_int_eq(evzk_chubby_get(f.h, false, act_heard, &a),
                     EVZK_ERR_STATE);
    evzk_chubby_free(h.h);
    file_close(&g);
    file_ended(&f, EVZK_ERR_TIMEOUT);
    proxy_thaw(sc.proxy);
    ck_assert_str_eq(h.text, "");
    idle(sc.p.s);
    scene_close(&sc, "/chubby/f.evzk");
}
END_TEST

/* The connection is lost, and comes back. */
START_TEST(jeopardy_and_safe)
{
    struct scene sc;
    struct file f;
    struct act a;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&f, sc.p.s, path);
    all_answered(sc.p.s);
    proxy_cut(sc.proxy);
    WAIT_TOLD(&f, JEOPARDY);
    WAIT_TOLD(&f, SAFE);
    ck_assert_str_eq(f.text, "OPENED JEOPARDY SAFE");
    ACT(&a, &f, set, EVZK_OK, 0, "x", 1);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, "/chubby/f.evzk");
}
END_TEST

/* The session expires: all that is outstanding ends, and the handle. */
START_TEST(session_ends)
{
    struct peer p;
    struct file f, g;
    struct act a, b, made = {0};

    clear();
    peer_open(&p, the_server());
    file_make(&f, p.s, path);
    file_open(&g, p.s, path, NULL);
    ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&b, &g, acquire, EVZK_CHUBBY_EXCLUSIVE);
    settle(p.s);
    raw_expire(the_server(), evzk_session_id(p.s));
    act_ends(&b, EVZK_ERR_EXPIRED);
    WAIT_TOLD(&f, ENDED);
    ck_assert(!evzk_chubby_held(f.h));
    ck_assert_int_eq(evzk_chubby_close(f.h), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_chubby_set(f.h, -1, "x", 1, act_heard, &made),
                     EVZK_ERR_STATE);
    file_ended(&f, EVZK_ERR_EXPIRED);
    file_ended(&g, EVZK_ERR_EXPIRED);
    file_open(&f, p.s, path, NULL); /* In the session that comes then. */
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

/* ---- Freed in callbacks. ---- */

static void free_at_event(evzk_chubby *h, evzk_chubby_event event, int rc,
                          const char *name, void *arg)
{
    int *told = arg;

    (void)event, (void)rc, (void)name;
    ++*told;
    evzk_chubby_free(h);
}

static void free_at_end(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                        void *arg)
{
    int *told = arg;

    (void)rc, (void)a;
    ++*told;
    evzk_chubby_free(h);
}

START_TEST(freed_in_callbacks)
{
    struct peer p;
    struct file f;
    struct act a;
    evzk_chubby *h;
    int told = 0;

    clear();
    peer_open(&p, the_server());
    file_make(&f, p.s, path);
    ck_assert_int_eq(
        evzk_chubby_open(p.s, path, NULL, free_at_event, &told, &h), EVZK_OK);
    WAIT(told == 1);
    evzk_chubby_free(f.h);
    for (int i = 0; i < 6; i++) {
        int rc = EVZK_OK;

        file_open(&f, p.s, path, NULL);
        told = 0;
        if (i == 0)
            rc = evzk_chubby_get(f.h, false, free_at_end, &told);
        else if (i == 1)
            rc = evzk_chubby_get(f.h, true, free_at_end, &told);
        else if (i == 2)
            rc = evzk_chubby_read_dir(f.h, free_at_end, &told);
        else if (i == 3)
            rc = evzk_chubby_set(f.h, -1, "x", 1, free_at_end, &told);
        else if (i == 4)
            rc = evzk_chubby_acquire(f.h, EVZK_CHUBBY_SHARED, free_at_end,
                                     &told);
        else
            rc = evzk_chubby_delete(f.h, free_at_end, &told);
        ck_assert_int_eq(rc, EVZK_OK);
        ck_assert_int_eq(evzk_chubby_get(f.h, true, act_heard, &a), EVZK_OK);
        a.told = 0;
        WAIT(told == 1);
        idle(p.s);
        ck_assert_int_eq(told, 1);
    }
    all_gone(p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chubby");
    TCase *tests = lock_tests(suite, "chubby", 120000);

    tcase_add_loop_test(tests, one_file, 0, 2);
    tcase_add_test(tests, copy_is_followed);
    tcase_add_test(tests, made_or_not);
    tcase_add_test(tests, directories_above);
    tcase_add_loop_test(tests, ephemeral_file, 0, 2);
    tcase_add_loop_test(tests, another_instance, 0, 4);
    tcase_add_test(tests, reads_of_another_instance);
    tcase_add_test(tests, replaced_by_hand);
    tcase_add_loop_test(tests, file_of_another_program, 0, 2);
    tcase_add_test(tests, children);
    tcase_add_test(tests, own_acl);
    tcase_add_loop_test(tests, only_read, 0, 2);
    tcase_add_loop_test(tests, outstanding_operations, 0, 3);
    tcase_add_test(tests, poisoned);
    tcase_add_test(tests, not_opened);
    tcase_add_test(tests, jeopardy_and_safe);
    tcase_add_test(tests, session_ends);
    tcase_add_test(tests, freed_in_callbacks);
    return lock_suite_run(suite);
}
