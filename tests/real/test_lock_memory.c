/*
 * The lock when the C client has no memory for one of its calls: every kind of
 * call is made to fail in turn.  A lock may fail then, or come later; it never
 * waits for what cannot happen, and never says that a znode is gone that is
 * still there.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>

#include "test_lock.h"

/* ---- The calls that fail: found here before the client's own ---- */

enum call {
    CREATE,
    LIST,
    GET,
    GUARD,
    DELETE,
    SYNC,
    UNWATCH,
    LOOK,
    MULTI,
    CALLS
};

static const char *const call_names[CALLS] = {
    "create", "list", "get", "delete", "sync", "unwatch", "exists", "multi"};

static struct {
    const char *path; /* Of calls for this path, and below it, ... */
    enum call call;
    int pass, fail; /* ... so many pass, and so many after them fail. */
    int failed;
} shortage;

static void run_short(enum call call, const char *path, int pass, int fail)
{
    shortage.path = path;
    shortage.call = call;
    shortage.pass = pass;
    shortage.fail = fail;
    shortage.failed = 0;
}

static bool fails(enum call call, const char *path)
{
    if (!shortage.path || shortage.call != call ||
        strncmp(path, shortage.path, strlen(shortage.path)) != 0)
        return false;
    if (shortage.pass > 0) {
        shortage.pass--;
        return false;
    }
    if (shortage.fail == 0)
        return false;
    shortage.fail--;
    shortage.failed++;
    return true;
}

/* Sets @fn, a pointer to a function, to the client's own. */
static void find_real(void *fn, size_t size, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(size, sizeof found);
    memcpy(fn, &found, size);
}

#define REAL(name)                                                             \
    static __typeof__(&name) real;                                             \
    if (!real)                                                                 \
    find_real(&real, sizeof real, #name)

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value,
                 int valuelen, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t completion, const void *data)
{
    REAL(zoo_acreate2);
    return fails(CREATE, path)
               ? ZMARSHALLINGERROR
               : real(zh, path, value, valuelen, acl, mode, completion, data);
}

int zoo_aget_children2(zhandle_t *zh, const char *path, int watch,
                       strings_stat_completion_t completion, const void *data)
{
    REAL(zoo_aget_children2);
    return fails(LIST, path) ? ZMARSHALLINGERROR
                             : real(zh, path, watch, completion, data);
}

int zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher,
              void *watcherCtx, data_completion_t completion, const void *data)
{
    REAL(zoo_awget);
    return fails(GET, path)
               ? ZMARSHALLINGERROR
               : real(zh, path, watcher, watcherCtx, completion, data);
}

int zoo_awget_children2(zhandle_t *zh, const char *path, watcher_fn watcher,
                        void *watcherCtx, strings_stat_completion_t completion,
                        const void *data)
{
    REAL(zoo_awget_children2);
    return fails(GUARD, path)
               ? ZMARSHALLINGERROR
               : real(zh, path, watcher, watcherCtx, completion, data);
}

int zoo_adelete(zhandle_t *zh, const char *path, int version,
                void_completion_t completion, const void *data)
{
    REAL(zoo_adelete);
    return fails(DELETE, path) ? ZMARSHALLINGERROR
                               : real(zh, path, version, completion, data);
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion,
              const void *data)
{
    REAL(zoo_async);
    return fails(SYNC, path) ? ZMARSHALLINGERROR
                             : real(zh, path, completion, data);
}

int zoo_awexists(zhandle_t *zh, const char *path, watcher_fn watcher,
                 void *watcherCtx, stat_completion_t completion,
                 const void *data)
{
    REAL(zoo_awexists);
    return fails(LOOK, path)
               ? ZMARSHALLINGERROR
               : real(zh, path, watcher, watcherCtx, completion, data);
}

int zoo_aremove_all_watches(zhandle_t *zh, const char *path,
                            ZooWatcherType wtype, int local,
                            void_completion_t *completion, const void *data)
{
    REAL(zoo_aremove_all_watches);
    return fails(UNWATCH, path)
               ? ZMARSHALLINGERROR
               : real(zh, path, wtype, local, completion, data);
}

int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops,
               zoo_op_result_t *results, void_completion_t completion,
               const void *data)
{
    const char *first = ops[0].type == ZOO_DELETE_OP ? ops[0].delete_op.path
                                                     : ops[0].create_op.path;

    REAL(zoo_amulti);
    return fails(MULTI, first)
               ? ZMARSHALLINGERROR
               : real(zh, count, ops, results, completion, data);
}

/* ---- Helpers ---- */

/* Granted and given back, or failed: one or the other must come. */
static void come_to_an_end(struct claim *c)
{
    WAIT(evzk_lock_held(c->l) || c->rec.finals == 1);
    if (c->rec.finals == 0) {
        claim_release(c);
        return;
    }
    ck_assert_int_eq(c->rec.last, EVZK_LOCK_FAILED);
    ck_assert_int_eq(c->rec.rc, EVZK_ERR_NOMEM);
    evzk_lock_free(c->l);
    c->l = NULL;
}

/* ---- On the way to the lock ---- */

static const struct {
    enum call call;
    int pass, fail;
    bool no_own_watch;
    bool asked_of_rivals; /* Nothing of the kind behind one of our own. */
} joins[] = {
    {CREATE, 0, 1, false, false},
    {CREATE, 0, 3, false, false},
    {LIST, 0, 1, false, true}, /* The second half of create and list. */
    {LIST, 0, 3, false, true},
    {GUARD, 0, 1, false, false}, /* Of the one before it. */
    {GUARD, 0, 3, false, false},
    {GUARD, 0, 1, true, true},
    {GET, 0, 1, false, true}, /* Of the own znode, after a while. */
    {GET, 0, 3, false, true},
};

/* Alone, the first in its directory. */
START_TEST(a_call_fails_before_a_free_lock)
{
    const evzk_lock_options opt = {.no_own_watch = joins[_i].no_own_watch};
    const char *dir = "/memory-free";
    struct peer p;
    struct claim c;

    raw_mkdirs(op(), dir);
    peer_open(&p, the_server());
    run_short(joins[_i].call, dir, joins[_i].pass, joins[_i].fail);
    claim(&c, p.s, dir, &opt);
    come_to_an_end(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

/* The same in a directory that comes with the lock, and goes with it. */
START_TEST(a_transaction_fails)
{
    const char *dir = "/memory-multi/lock";
    struct peer p;
    struct claim c;

    raw_mkdirs(op(), "/memory-multi");
    peer_open(&p, the_server());
    run_short(MULTI, dir, _i % 2, _i / 2 + 1);
    claim(&c, p.s, dir, NULL);
    come_to_an_end(&c);
    ck_assert_int_ge(shortage.failed, 1);
    ck_assert_int_eq(raw_count(op(), dir), -1);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/memory-multi");
}
END_TEST

/* Behind another of the same session (the even ones), or of another: what it
 * waits for must still wake it. */
START_TEST(a_call_fails_before_a_held_lock)
{
    const int i = _i / 2;
    const evzk_lock_options opt = {.no_own_watch = joins[i].no_own_watch};
    const char *dir = "/memory-held";
    struct peer p, rival;
    struct claim held, c, next;

    if (_i % 2 == 0 && joins[i].asked_of_rivals)
        return;
    peer_short(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, _i % 2 ? rival.s : p.s, dir, NULL);
    all_answered(p.s);
    all_answered(rival.s);
    run_short(joins[i].call, dir, joins[i].pass, joins[i].fail);
    claim(&c, p.s, dir, &opt);
    WAIT(shortage.fail == 0 || c.rec.finals == 1);
    settle(p.s);
    ck_assert_int_ge(shortage.failed, 1);
    if (joins[i].call == GET || joins[i].call == GUARD) /* Asked again. */
        ck_assert_int_eq(c.rec.finals, 0);
    run_short(CALLS, NULL, 0, 0);
    claim_queued(&next, rival.s, dir, NULL);
    claim_release(&held);
    come_to_an_end(&c);
    WAIT(evzk_lock_held(next.l));
    claim_release(&next);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* The waiter's second look at the queue, when the one before it has left. */
START_TEST(the_second_listing_fails)
{
    const char *dir = "/memory-second";
    struct peer p, rival;
    struct claim held, between, c;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, rival.s, dir, NULL);
    claim_queued(&between, rival.s, dir, NULL);
    claim_queued(&c, p.s, dir, NULL);
    all_answered(p.s);
    run_short(LIST, dir, 0, _i + 1);
    evzk_lock_free(between.l);
    claim_release(&held);
    come_to_an_end(&c);
    ck_assert_int_ge(shortage.failed, 1);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* ---- On being told of a change: a watch that is used up ---- */

static const struct {
    bool holders; /* The holder's znode, or the waiter's own. */
    int fail;
} changes[] = {{true, 1}, {true, 3}, {false, 1}, {false, 3}};

/* Of what is written only the znode's own lock hears: the waiter watches the
 * holder's end alone. */
START_TEST(a_watch_is_set_again_after_a_change)
{
    const char *dir = "/memory-change";
    struct peer p, rival;
    struct claim held, c, *changed = changes[_i].holders ? &held : &c;

    peer_short(&p, the_server());
    peer_short(&rival, the_server());
    claim_held(&held, rival.s, dir, NULL);
    claim_queued(&c, p.s, dir, NULL);
    wait_watches(3); /* The own ones come after a while. */
    all_answered(rival.s);
    all_answered(p.s);
    run_short(GET, dir, 0, changes[_i].fail);
    ck_assert_int_eq(
        raw_set(op(), node_path(dir, evzk_lock_node(changed->l)), "x", 1), ZOK);
    WAIT(shortage.fail == 0);
    wait_watches(3); /* The waiter's two, and the holder's own. */
    ck_assert_int_eq(
        raw_delete(op(), node_path(dir, evzk_lock_node(changed->l))), ZOK);
    if (changes[_i].holders) {
        WAIT_EVENT(&held, "LOST(NODEGONE)");
        WAIT_EVENT(&c, "GRANTED");
        ck_assert_int_eq(c.rec.count, 1);
        evzk_lock_free(held.l);
    } else {
        WAIT_EVENT(&c, "REQUEUED(NODEGONE)");
        claim_release(&held);
        WAIT_EVENT(&c, "GRANTED");
    }
    claim_release(&c);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* ---- On the way out of it ---- */

START_TEST(the_delete_of_a_held_lock_fails)
{
    const char *dir = "/memory-release";
    struct peer p;
    struct claim c;

    raw_mkdirs(op(), dir); /* Stays: the lock leaves alone. */
    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, NULL);
    all_answered(p.s);
    run_short(DELETE, dir, 0, _i + 1);
    claim_release(&c); /* RELEASED, without an error, and then it is gone. */
    ck_assert_int_eq(raw_count(op(), dir), 0);
    ck_assert_int_eq(shortage.failed, _i + 1);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

START_TEST(the_delete_of_a_freed_lock_fails)
{
    const char *dir = "/memory-freed";
    struct peer p;
    struct claim c;

    raw_mkdirs(op(), dir); /* Stays: the lock leaves alone. */
    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, NULL);
    run_short(DELETE, dir, 0, _i + 1);
    evzk_lock_free(c.l);
    WAIT(shortage.failed == _i + 1);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

static const struct {
    enum call call;
    int fail;
} exits[] = {{DELETE, 1}, {DELETE, 3}, {UNWATCH, 1}, {UNWATCH, 3}};

/* A waiter takes its watch away with the delete: each may fail.  The one behind
 * it hears of its going all the same. */
START_TEST(the_delete_of_a_waiter_fails)
{
    const char *dir = "/memory-cancel";
    struct peer p, rival;
    struct claim held, c, next;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, rival.s, dir, NULL);
    claim_queued(&c, p.s, dir, NULL);
    all_answered(p.s);
    claim_queued(&next, p.s, dir, NULL);
    all_answered(p.s);
    run_short(exits[_i].call, dir, 0, exits[_i].fail);
    claim_cancel(&c); /* FAILED(CANCELED), and then it is gone. */
    ck_assert_int_eq(raw_count(op(), dir), 2);
    ck_assert_int_ge(shortage.failed, 1);
    claim_release(&held);
    WAIT(evzk_lock_held(next.l));
    claim_release(&next);
    nothing_left(dir, p.s);
    nothing_left(dir, rival.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* ---- A create of unknown outcome, and no memory to look for it ---- */

static const struct {
    enum call call;
    int pass, fail;
} searches[] = {{DELETE, 0, 1}, {DELETE, 0, 3}, {LIST, 1, 1},
                {LIST, 1, 3},   {LOOK, 0, 1},   {LOOK, 0, 3}};

START_TEST(a_call_fails_while_the_znode_is_looked_for)
{
    const char *dir = "/memory-unknown";
    struct scene sc;
    struct claim c;

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    run_short(searches[_i].call, dir, searches[_i].pass, searches[_i].fail);
    claim(&c, sc.p.s, dir, NULL);
    come_to_an_end(&c);
    ck_assert_int_ge(shortage.failed, 1);
    ck_assert_msg(strstr(sc.moves, "RESOLVING"), "%s of %s", sc.moves,
                  call_names[searches[_i].call]);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* The same when nobody wants the lock any more: the znode must still go. */
START_TEST(a_call_fails_while_a_canceled_one_is_looked_for)
{
    const char *dir = "/memory-forsaken";
    struct scene sc;
    struct claim c;

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    proxy_refuse(sc.proxy, true);
    claim(&c, sc.p.s, dir, NULL);
    WAIT(strcmp(evzk_lock_state(c.l), "RESOLVING") == 0);
    raw_wait_children(op(), dir, 1, 60000);
    run_short(searches[_i].call, dir, 0, searches[_i].fail);
    ck_assert_int_eq(evzk_lock_cancel(c.l), EVZK_OK);
    proxy_refuse(sc.proxy, false);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(CANCELED)");
    ck_assert_int_eq(raw_count(op(), dir), 0);
    ck_assert_int_ge(shortage.failed, 1);
    evzk_lock_free(c.l);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

int main(void)
{
    enum { JOINS = sizeof joins / sizeof joins[0] };
    enum { CHANGES = sizeof changes / sizeof changes[0] };
    enum { EXITS = sizeof exits / sizeof exits[0] };
    enum { SEARCHES = sizeof searches / sizeof searches[0] };
    Suite *suite = suite_create("lock: no memory in the client");
    TCase *t = lock_tests(suite, "joining", 90000);

    tcase_add_loop_test(t, a_call_fails_before_a_free_lock, 0, JOINS);
    tcase_add_loop_test(t, a_transaction_fails, 0, 6);
    tcase_add_loop_test(t, a_call_fails_before_a_held_lock, 0, 2 * JOINS);
    tcase_add_loop_test(t, the_second_listing_fails, 0, 3);
    tcase_add_loop_test(t, a_watch_is_set_again_after_a_change, 0, CHANGES);
    t = lock_tests(suite, "leaving", 90000);
    tcase_add_loop_test(t, the_delete_of_a_held_lock_fails, 0, 3);
    tcase_add_loop_test(t, the_delete_of_a_freed_lock_fails, 0, 3);
    tcase_add_loop_test(t, the_delete_of_a_waiter_fails, 0, EXITS);
    t = lock_tests(suite, "unknown", 90000);
    tcase_add_loop_test(t, a_call_fails_while_the_znode_is_looked_for, 0,
                        SEARCHES);
    tcase_add_loop_test(t, a_call_fails_while_a_canceled_one_is_looked_for, 0,
                        4); /* A canceled create needs no look. */
    return lock_suite_run(suite);
}
