/*
 * Defects that were found by attacking the locks from all sides, and are
 * mended: an answer to a call that failed, forks at the worst moment, calls
 * that are refused for a while, ACLs of many kilobytes, directories that an
 * operator has taken over, crowds that leave together.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <unistd.h>

#include "test_many.h"

/* ---- Transactions that fail: found here before the client's own ---- */

enum refusal {
    NONE,
    HALF, /* The call fails, but has queued the request. */
    ALL
};

static struct {
    enum refusal next; /* Of the calls from now on. */
    int calls;         /* Refused ones. */
} refused;

int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops,
               zoo_op_result_t *results, void_completion_t completion,
               const void *data)
{
    static __typeof__(&zoo_amulti) real;
    void *found = real ? NULL : dlsym(RTLD_NEXT, "zoo_amulti");

    if (found)
        memcpy(&real, &found, sizeof real);
    if (refused.next != NONE)
        refused.calls++;
    if (refused.next == ALL)
        return ZMARSHALLINGERROR;
    if (refused.next == HALF) {
        refused.next = NONE;
        (void)real(zh, count, ops, results, completion, data);
        return ZMARSHALLINGERROR;
    }
    return real(zh, count, ops, results, completion, data);
}

/* Its last allocation fails: the request does not leave, but its completion is
 * called, when the connection is lost.  The proxy sees to the first. */
START_TEST(a_refused_transaction_is_answered_after_all)
{
    const char *dir = "/mended-half/lock";
    struct scene sc;
    struct claim c[3];

    raw_mkdirs(op(), "/mended-half");
    scene_open(&sc, SESSION_MS);
    claim_held(&c[0], sc.p.s, dir, NULL);
    all_answered(sc.p.s);
    proxy_trap(sc.proxy, PROXY_C2S, OP_MULTI, 1, PROXY_CUT_BEFORE);
    refused.next = HALF;
    claim(&c[1], sc.p.s, "/mended-half/other", NULL);
    claim(&c[2], sc.p.s, "/mended-half/third", NULL);
    WAIT(evzk_lock_held(c[1].l) && evzk_lock_held(c[2].l));
    ck_assert_int_eq(refused.calls, 1);
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    WAIT(evzk_lock_held(c[0].l));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(c[i].rec.finals, 0);
        claim_release(&c[i]);
    }
    scene_close(&sc, dir);
    raw_delete_tree(op(), "/mended-half");
}
END_TEST

/* No memory for a while is asked for now and then, not in every turn. */
START_TEST(a_refusal_that_lasts_is_no_spin)
{
    enum { N = 10, REFUSED_MS = 500, FEW = 25 };
    struct crowd c;
    struct peer p;

    raw_mkdirs(op(), "/mended-refused");
    peer_open(&p, the_server());
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s, numbered("/mended-refused", i), NULL);
    WAIT(c.granted == N);
    all_answered(p.s);
    refused.next = ALL;
    crowd_release(&c);
    run_for(harness_base(), REFUSED_MS);
    ck_assert_int_ge(refused.calls, 1);
    ck_assert_int_le(refused.calls, FEW);
    ck_assert_int_eq(c.finals, 0);
    refused.next = NONE;
    WAIT(c.finals == N);
    crowd_check_served(&c);
    crowd_free(&c);
    peer_close(&p);
    raw_delete_tree(op(), "/mended-refused");
}
END_TEST

/* ---- Forks ---- */

enum { FORKED = 8, CULPRIT = FORKED - 1 };
enum { CANCELED = 4 }; /* And the one after it. */

static struct {
    struct claim c[FORKED];
    evzk_session *s;
    bool child;
    int forks, status;
} forked;

/* The child gives its copy back, and returns into the turn. */
static void fork_when_canceled(evzk_lock *l, evzk_lock_event event, int rc,
                               void *arg)
{
    struct claim *c = arg;
    pid_t pid;

    recorder_on_lock(l, event, rc, &c->rec);
    if (event != EVZK_LOCK_FAILED || forked.forks++ > 0)
        return;
    ck_assert_int_eq(rc, EVZK_ERR_CANCELED);
    pid = harness_fork();
    if (pid != 0) {
        forked.status = harness_join(pid);
        return;
    }
    forked.child = true;
    evzk_session_free(forked.s);
    for (int i = 0; i < FORKED; i++)
        evzk_lock_free(forked.c[i].l);
}

static bool all_sent(evzk_session *s)
{
    evzk_session_stats st;

    evzk_session_get_stats(s, &st);
    return st.queued == 0 && st.in_flight > 0;
}

/* All in one transaction, of which the last is to blame; two are canceled
 * while it is on its way. */
static void fail_together(struct proxy *proxy)
{
    proxy_freeze(proxy, PROXY_BOTH);
    for (int i = 0; i < FORKED; i++) {
        recorder_clear(&forked.c[i].rec);
        ck_assert_int_eq(
            evzk_lock_acquire(forked.s, numbered("/mended-fork", i), NULL,
                              fork_when_canceled, &forked.c[i], &forked.c[i].l),
            EVZK_OK);
    }
    WAIT(all_sent(forked.s));
    for (int i = CANCELED; i < CANCELED + 2; i++)
        ck_assert_int_eq(evzk_lock_cancel(forked.c[i].l), EVZK_OK);
    proxy_thaw(proxy);
}

START_TEST(a_fork_while_a_transaction_fails)
{
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;

    raw_mkdirs(op(), numbered("/mended-fork", CULPRIT));
    peer_fresh(&p, proxy_address(proxy));
    forked.s = p.s;
    fail_together(proxy);
    WAIT(forked.forks > 0);
    if (forked.child)
        _exit(0); /* Came out of the turn. */
    ck_assert_int_eq(forked.status, 0);
    for (int i = 0; i < FORKED; i++) {
        struct claim *c = &forked.c[i];

        WAIT(evzk_lock_held(c->l) || c->rec.finals == 1);
        ck_assert_int_eq(c->rec.finals, i / 2 == CANCELED / 2);
        if (c->rec.finals)
            evzk_lock_free(c->l);
        else
            claim_release(c);
    }
    nothing_left(numbered("/mended-fork", CULPRIT), p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/mended-fork");
}
END_TEST

enum { LISTERS = 5 };

/* Each behind a znode of a stranger; one question will do for all of them. */
static void queue_up(struct claim *c, struct peer *p, const char *dir)
{
    raw_mkdirs(op(), dir);
    for (int i = 0; i < LISTERS; i++) {
        ck_assert_int_eq(raw_create(op(), node_path(dir, "x-lock-"), "", 0,
                                    ZOO_SEQUENCE, NULL, 0),
                         ZOK);
        claim_queued(&c[i], p->s, dir, NULL);
    }
    all_answered(p->s);
}

static void drop_strangers(const char *dir)
{
    struct raw_names names;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        if (strncmp(names.name[i], "x-lock-", 7) == 0)
            ck_assert_int_eq(raw_delete(op(), node_path(dir, names.name[i])),
                             ZOK);
    }
    raw_names_free(&names);
}

static int listing(const struct claim *c)
{
    int n = 0;

    for (int i = 0; i < LISTERS; i++)
        n += strcmp(evzk_lock_state(c[i].l), "LISTING") == 0;
    return n;
}

_Noreturn static void free_all(struct claim *c, evzk_session *s)
{
    evzk_session_free(s);
    for (int i = 0; i < LISTERS; i++)
        evzk_lock_free(c[i].l);
    _exit(0);
}

/* A lock is freed: the one that listed for all, or one that waits with it. */
START_TEST(a_fork_while_others_wait_for_a_listing)
{
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = "/mended-listing";
    struct claim c[LISTERS];
    struct peer p;
    pid_t pid;

    peer_open(&p, proxy_address(proxy));
    queue_up(c, &p, dir);
    proxy_freeze(proxy, PROXY_S2C); /* The locks hear of it all at once, ... */
    drop_strangers(dir);
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    proxy_trap(proxy, PROXY_S2C, OP_CHILDREN, 1, PROXY_FREEZE);
    proxy_thaw(proxy); /* ... and of nothing after that. */
    WAIT(listing(c) >= LISTERS - 1);
    evzk_lock_free(c[_i].l);
    c[_i].l = NULL;
    pid = harness_fork();
    if (pid == 0)
        free_all(c, p.s);
    ck_assert_int_eq(harness_join(pid), 0);
    proxy_untrap(proxy);
    proxy_thaw(proxy);
    for (int i = 0; i < LISTERS; i++) {
        WAIT(!c[i].l || evzk_lock_held(c[i].l));
        if (c[i].l)
            claim_release(&c[i]);
    }
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), dir);
}
END_TEST

/* ---- ACLs ---- */

enum { ID_MAX = 600, ID_LEN = 500 };

/* 8 KB: a user's name may be long. */
static evzk_acl *long_acl(char id[EVZK_ACL_MAX][ID_MAX])
{
    static evzk_acl acl[EVZK_ACL_MAX];

    acl[0] = (evzk_acl){EVZK_PERM_ALL, "world", "anyone"};
    for (int i = 1; i < EVZK_ACL_MAX; i++) {
        memset(id[i], 'a' + i, ID_LEN);
        strcpy(id[i] + ID_LEN, ":0123456789012345678901234567=");
        acl[i] = (evzk_acl){EVZK_PERM_ALL, "digest", id[i]};
    }
    return acl;
}

/* The session's ACL, or the same given with each lock. */
START_TEST(a_long_acl_goes_with_many_locks)
{
    enum { N = 1000 };
    static char id[EVZK_ACL_MAX][ID_MAX];
    const evzk_acl *acl = long_acl(id);
    evzk_session_options of_session = {.timeout_ms = OPERATOR_MS};
    evzk_lock_options of_lock = {0};
    evzk_session_stats before, after;
    struct crowd c;
    struct peer p;

    raw_mkdirs(op(), "/mended-acl");
    if (_i == 0) {
        of_session.acl = acl;
        of_session.acl_count = EVZK_ACL_MAX;
    } else {
        of_lock.acl = acl;
        of_lock.acl_count = EVZK_ACL_MAX;
    }
    peer_start(&p, the_server(), &of_session);
    WAIT(evzk_session_connected(p.s));
    all_answered(p.s);
    evzk_session_get_stats(p.s, &before);
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s, numbered("/mended-acl", i), &of_lock);
    WAIT(c.granted + c.finals == N);
    evzk_session_get_stats(p.s, &after);
    ck_assert_int_eq(c.granted, N);
    ck_assert_uint_eq(after.connects, 1);
    ck_assert_uint_eq(after.losses, 0);
    ck_assert_uint_lt(after.requests - before.requests, N / 5);
    crowd_release(&c);
    WAIT(c.finals == N);
    crowd_free(&c);
    peer_close(&p);
    raw_delete_tree(op(), "/mended-acl");
}
END_TEST

/* ---- Directories that are an operator's by now ---- */

/* Whatever the session still wants to tidy up, it has by then. */
static void tidied(evzk_session *s)
{
    evzk_session_stats st;
    uint64_t probes;

    evzk_session_get_stats(s, &st);
    probes = st.probes;
    WAIT((evzk_session_get_stats(s, &st), st.probes >= probes + 4));
    all_answered(s);
}

static void check_data(const char *path, const char *want)
{
    char data[64];
    int len = sizeof data;

    ck_assert_int_eq(raw_get(op(), path, data, &len, NULL), ZOK);
    ck_assert_int_eq(len, (int)strlen(want));
    ck_assert_int_eq(memcmp(data, want, (size_t)len), 0);
}

static void check_stays(const char *dir, const char *data, struct peer *p)
{
    check_data(dir, data);
    tidied(p->s);
    check_data(dir, data);
    nothing_left(dir, p->s);
    peer_close(p);
    raw_delete_tree(op(), dir);
}

START_TEST(a_directory_made_anew_by_an_operator_stays)
{
    const char *dir = "/mended-anew";
    struct peer p;
    struct claim a, b;

    peer_short(&p, the_server());
    claim_held(&a, p.s, dir, NULL);
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(a.l))),
                     ZOK);
    ck_assert_int_eq(raw_delete(op(), dir), ZOK);
    ck_assert_int_eq(raw_create(op(), dir, "the operator's", 14, 0, NULL, 0),
                     ZOK);
    claim_held(&b, p.s, dir, NULL);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&a.rec), "GRANTED LOST(NODEGONE)");
    evzk_lock_free(a.l);
    claim_release(&b);
    check_stays(dir, "the operator's", &p);
}
END_TEST

START_TEST(a_directory_that_an_operator_wrote_to_stays)
{
    const char *dir = "/mended-note";
    struct peer p;
    struct claim c;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, NULL);
    ck_assert_int_eq(raw_set(op(), dir, "ticket 4711", 11), ZOK);
    claim_release(&c);
    check_stays(dir, "ticket 4711", &p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mended");
    TCase *t = lock_tests(suite, "refused", 90000);

    tcase_add_test(t, a_refused_transaction_is_answered_after_all);
    tcase_add_test(t, a_refusal_that_lasts_is_no_spin);
    t = lock_tests(suite, "forks", 90000);
    tcase_add_test(t, a_fork_while_a_transaction_fails);
    tcase_add_loop_test(t, a_fork_while_others_wait_for_a_listing, 0, LISTERS);
    t = lock_tests(suite, "acls", 120000);
    tcase_add_loop_test(t, a_long_acl_goes_with_many_locks, 0, 2);
    t = lock_tests(suite, "operators", 90000);
    tcase_add_test(t, a_directory_made_anew_by_an_operator_stays);
    tcase_add_test(t, a_directory_that_an_operator_wrote_to_stays);
    return lock_suite_run(suite);
}
