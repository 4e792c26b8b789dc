/*
 * Barriers on a real server: who passes and who goes on waiting, whatever
 * befalls the session; what a refusal says; what is left behind.  Barriers that
 * other libraries set and lift are in test_lock_curator.c and
 * test_lock_kazoo.c.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

typedef int begin_fn(evzk_session *s, const char *path,
                     const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                     void *arg, evzk_barrier **out);

/* An operation, and its end. */
struct act {
    evzk_barrier *b;
    int told, rc;
    struct act *frees[2]; /* In its callback; NULL: none. */
};

static void free_act(struct act *a)
{
    evzk_barrier_free(a->b);
    a->b = NULL;
}

static void on_end(evzk_barrier *b, int rc, void *arg)
{
    struct act *a = arg;

    ck_assert_ptr_eq(b, a->b); /* Not inside the call that began it. */
    ck_assert_int_eq(evzk_barrier_cancel(b), EVZK_ERR_STATE);
    a->told++;
    a->rc = rc;
    for (int i = 0; i < 2; i++) {
        if (a->frees[i])
            free_act(a->frees[i]);
    }
}

static void act(struct act *a, begin_fn *begin, evzk_session *s,
                const char *path, const evzk_barrier_options *opt)
{
    a->told = 0;
    ck_assert_int_eq(begin(s, path, opt, on_end, a, &a->b), EVZK_OK);
    ck_assert_int_eq(a->told, 0);
}

static void act_ends(struct act *a, int rc)
{
    WAIT(a->told > 0);
    ck_assert_int_eq(a->told, 1);
    ck_assert_int_eq(a->rc, rc);
    free_act(a);
}

/* From the call to the end. */
static void whole(begin_fn *begin, evzk_session *s, const char *path, int rc)
{
    struct act a = {0};

    act(&a, begin, s, path, NULL);
    act_ends(&a, rc);
}

static bool waits(const struct act *a)
{
    return strcmp(evzk_barrier_state(a->b), "WAITING") == 0;
}

/* Until the wait has seen the barrier. */
static void act_waits(struct act *a, evzk_session *s, const char *path,
                      const evzk_barrier_options *opt)
{
    act(a, evzk_barrier_wait, s, path, opt);
    WAIT(waits(a));
}

static bool stands(const char *path)
{
    return raw_exists(op(), path, NULL) == ZOK;
}

static void lift_at(const char *path)
{
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
}

static void set_at(const char *path)
{
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
}

/* ---- Waits ---- */

/* One event wakes all waits, which share the watch and the sync before it. */
START_TEST(thousand_wait)
{
    enum { N = 1000, FEW = 20 };
    static struct act a[N];
    const char *path = "/barrier-many";
    struct peer p, q;
    uint64_t before;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    whole(evzk_barrier_set, q.s, path, EVZK_OK);
    all_answered(p.s);
    before = requests_of(p.s);
    for (int i = 0; i < N; i++)
        act(&a[i], evzk_barrier_wait, p.s, path, NULL);
    for (int i = 0; i < N; i++)
        WAIT(waits(&a[i]));
    ck_assert_uint_le(requests_of(p.s) - before, N + FEW);
    wait_watches(1);
    before = requests_of(p.s);
    whole(evzk_barrier_lift, q.s, path, EVZK_OK);
    for (int i = 0; i < N; i++)
        act_ends(&a[i], EVZK_OK);
    ck_assert_uint_le(requests_of(p.s) - before, FEW);
    nothing_left(path, p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* A wait has too little time, another is canceled, a third is freed: the fourth
 * goes on. */
START_TEST(wait_is_given_up)
{
    const evzk_barrier_options brief = {.timeout_ms = 200};
    const char *path = "/barrier-given-up";
    struct act late, canceled, freed, last;
    struct peer p;

    memset(&late, 0, sizeof late);
    canceled = freed = last = late;
    peer_open(&p, the_server());
    set_at(path);
    act_waits(&canceled, p.s, path, NULL);
    act_waits(&freed, p.s, path, NULL);
    act_waits(&last, p.s, path, NULL);
    act(&late, evzk_barrier_wait, p.s, path, &brief);
    act_ends(&late, EVZK_ERR_TIMEOUT);
    ck_assert_int_eq(evzk_barrier_cancel(canceled.b), EVZK_OK);
    ck_assert_int_eq(evzk_barrier_cancel(canceled.b), EVZK_ERR_STATE);
    ck_assert_int_eq(canceled.told, 0);
    act_ends(&canceled, EVZK_ERR_CANCELED);
    free_act(&freed);
    settle(p.s);
    ck_assert(waits(&last));
    wait_watches(1);
    lift_at(path);
    act_ends(&last, EVZK_OK);
    ck_assert_int_eq(freed.told, 0);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* The last wait is canceled: then the server has no watch any more. */
START_TEST(last_wait_takes_its_watch)
{
    const char *path = "/barrier-last";
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    set_at(path);
    act_waits(&a, p.s, path, NULL);
    wait_watches(1);
    ck_assert_int_eq(evzk_barrier_cancel(a.b), EVZK_OK);
    act_ends(&a, EVZK_ERR_CANCELED);
    idle(p.s);
    wait_watches(0);
    lift_at(path);
    whole(evzk_barrier_wait, p.s, path, EVZK_OK); /* At once. */
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* While a wait is cut off: nothing happens (0), the barrier is lifted (1), and
 * set again (2). */
START_TEST(wait_is_cut_off)
{
    const char *path = "/barrier-cut-off";
    struct act a = {0};
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    set_at(path);
    act_waits(&a, sc.p.s, path, NULL);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(!evzk_session_connected(sc.p.s));
    if (_i >= 1)
        whole(evzk_barrier_lift, sc.rival.s, path, EVZK_OK);
    if (_i >= 2)
        whole(evzk_barrier_set, sc.rival.s, path, EVZK_OK);
    ck_assert_int_eq(a.told, 0);
    proxy_refuse(sc.proxy, false);
    WAIT(evzk_session_connected(sc.p.s));
    if (_i == 0) {
        settle(sc.p.s);
        WAIT(waits(&a));
        ck_assert_int_eq(a.told, 0);
        lift_at(path);
    }
    act_ends(&a, EVZK_OK);
    ck_assert(stands(path) == (_i == 2));
    if (_i == 2)
        lift_at(path);
    scene_close(&sc, path);
}
END_TEST

/* Time-outs of waits, while no server can be reached. */
START_TEST(wait_has_no_server)
{
    const evzk_barrier_options brief = {.timeout_ms = 300};
    const char *path = "/barrier-no-server";
    struct act a = {0}, b = {0};
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    set_at(path);
    act_waits(&a, sc.p.s, path, &(evzk_barrier_options){.timeout_ms = 2000});
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(!evzk_session_connected(sc.p.s));
    act(&b, evzk_barrier_wait, sc.p.s, path, &brief);
    act_ends(&b, EVZK_ERR_TIMEOUT);
    act_ends(&a, EVZK_ERR_TIMEOUT);
    proxy_refuse(sc.proxy, false);
    lift_at(path);
    scene_close(&sc, path);
}
END_TEST

/* The session of a wait expires: the barrier still stands (0), or was
 * lifted and set again before that is noticed (1). */
START_TEST(wait_outlives_its_session)
{
    const char *path = "/barrier-expired";
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    set_at(path);
    act_waits(&a, p.s, path, NULL);
    raw_expire(the_server(), evzk_session_id(p.s));
    if (_i == 1) {
        lift_at(path);
        set_at(path);
    } else {
        WAIT(recorder_has(&p.rec, "EXPIRED"));
        WAIT(evzk_session_connected(p.s) && waits(&a));
        settle(p.s);
        ck_assert_int_eq(a.told, 0);
        lift_at(path);
    }
    act_ends(&a, EVZK_OK);
    if (_i == 1)
        lift_at(path);
    nothing_left(path, NULL);
    peer_close(&p);
}
END_TEST

/* Each callback frees its own operation, and another that has passed as well.
 */
START_TEST(freed_inside_callbacks)
{
    enum { N = 6 };
    const char *path = "/barrier-free-inside";
    struct act a[N], set = {0}, lift = {0};
    int told = 0;
    struct peer p;

    memset(a, 0, sizeof a);
    set.frees[0] = &set;
    lift.frees[0] = &lift;
    peer_open(&p, the_server());
    act(&set, evzk_barrier_set, p.s, path, NULL);
    WAIT(set.told == 1);
    for (int i = 0; i < N; i++) {
        a[i].frees[0] = &a[i];
        a[i].frees[1] = &a[i ^ 1];
        act_waits(&a[i], p.s, path, NULL);
    }
    act(&lift, evzk_barrier_lift, p.s, path, NULL);
    WAIT(lift.told == 1);
    for (int i = 0; i < N; i++)
        WAIT(!a[i].b);
    settle(p.s);
    for (int i = 0; i < N; i++)
        told += a[i].told;
    ck_assert_int_eq(told, N / 2);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* The application closes the session while a wait is under way. */
START_TEST(closed_while_waiting)
{
    const char *path = "/barrier-closed";
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    set_at(path);
    act_waits(&a, p.s, path, NULL);
    peer_close(&p);
    act_ends(&a, EVZK_ERR_CLOSED);
    lift_at(path);
    nothing_left(path, NULL);
}
END_TEST

/* ---- Sets and lifts ---- */

static void check_data(const char *path, const char *want)
{
    char text[64] = "";
    int len = sizeof text - 1;

    ck_assert_int_eq(raw_get(op(), path, text, &len, NULL), ZOK);
    text[len > 0 ? len : 0] = '\0';
    ck_assert_str_eq(text, want);
}

/* A barrier that stands is left as it is, whoever set it. */
START_TEST(set_that_stands)
{
    const evzk_barrier_options mine = {.data = "mine", .data_len = 4};
    const char *path = "/barrier-above/deep/stands";
    struct Stat before, after;
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    act(&a, evzk_barrier_set, p.s, path, &mine);
    act_ends(&a, EVZK_OK);
    check_data(path, "mine");
    ck_assert_int_eq(raw_exists(op(), path, &before), ZOK);
    ck_assert_int_eq(before.ephemeralOwner, 0);
    whole(evzk_barrier_set, p.s, path, EVZK_OK);
    ck_assert_int_eq(raw_exists(op(), path, &after), ZOK);
    ck_assert_int_eq(after.czxid, before.czxid);
    check_data(path, "mine");
    whole(evzk_barrier_lift, p.s, path, EVZK_OK);
    ck_assert(!stands(path));
    whole(evzk_barrier_lift, p.s, path, EVZK_OK); /* Already so. */
    nothing_left(path, p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/barrier-above");
}
END_TEST

/* A barrier with a child of another program cannot be lifted. */
START_TEST(lift_with_a_child)
{
    const char *path = "/barrier-child";
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    set_at(path);
    raw_mkdirs(op(), "/barrier-child/foreign");
    act_waits(&a, p.s, path, NULL);
    whole(evzk_barrier_lift, p.s, path, EVZK_ERR_NOTEMPTY);
    settle(p.s);
    ck_assert(waits(&a) && stands(path));
    ck_assert_int_eq(raw_delete(op(), "/barrier-child/foreign"), ZOK);
    whole(evzk_barrier_lift, p.s, path, EVZK_OK);
    act_ends(&a, EVZK_OK);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* ---- Refusals ---- */

static void permit(const char *path, int perms)
{
    struct ACL acl = {perms, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};

    ck_assert_int_eq(raw_set_acl(op(), path, &v), ZOK);
}

/* The znode above says who may set a barrier, and who may lift it. */
START_TEST(set_and_lift_are_denied)
{
    const char *above = "/barrier-denied", *path = "/barrier-denied/gate";
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    raw_mkdirs(op(), above);
    permit(above, ZOO_PERM_ALL & ~ZOO_PERM_CREATE);
    whole(evzk_barrier_set, p.s, path, EVZK_ERR_NOAUTH);
    whole(evzk_barrier_set, p.s, "/barrier-denied/more/gate", EVZK_ERR_NOAUTH);
    permit(above, ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
    whole(evzk_barrier_set, p.s, path, EVZK_OK);
    act_waits(&a, p.s, path, NULL);
    whole(evzk_barrier_lift, p.s, path, EVZK_ERR_NOAUTH);
    settle(p.s);
    ck_assert(waits(&a) && stands(path));
    permit(above, ZOO_PERM_ALL);
    whole(evzk_barrier_lift, p.s, path, EVZK_OK);
    act_ends(&a, EVZK_OK);
    nothing_left(path, p.s);
    peer_close(&p);
    raw_delete_tree(op(), above);
}
END_TEST

/* A server does not tell what befalls a znode that the session may not read:
 * the wait would never hear of the lift. */
START_TEST(reading_is_denied)
{
    const char *path = "/barrier-unread";
    struct peer p;

    peer_open(&p, the_server());
    set_at(path);
    permit(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    whole(evzk_barrier_wait, p.s, path, EVZK_ERR_NOAUTH);
    nothing_left(path, p.s);
    whole(evzk_barrier_lift, p.s, path, EVZK_OK);
    whole(evzk_barrier_wait, p.s, path, EVZK_OK);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(acl_is_bad)
{
    const evzk_acl acl = {EVZK_PERM_ALL, "nonsense", "x"};
    const evzk_barrier_options opt = {.acl = &acl, .acl_count = 1};
    struct act a = {0};
    struct peer p;

    peer_open(&p, the_server());
    act(&a, evzk_barrier_set, p.s, "/barrier-bad", &opt);
    act_ends(&a, EVZK_ERR_BADACL);
    nothing_left("/barrier-bad", p.s);
    peer_close(&p);
}
END_TEST

/* Below a chroot: one that is missing (0), one that is there (1). */
START_TEST(chroot_is_obeyed)
{
    const evzk_session_options opt = {.timeout_ms = SESSION_MS,
                                      .chroot = "/barrier-root"};
    int rc = _i ? EVZK_OK : EVZK_ERR_NOCHROOT;
    struct act a = {0};
    struct peer p;

    if (_i)
        raw_mkdirs(op(), opt.chroot);
    peer_start(&p, the_server(), &opt);
    WAIT(evzk_session_connected(p.s));
    whole(evzk_barrier_wait, p.s, "/gate", rc);
    whole(evzk_barrier_lift, p.s, "/gate", rc);
    whole(evzk_barrier_set, p.s, "/gate", rc);
    ck_assert(stands("/barrier-root/gate") == (_i == 1));
    if (_i) {
        act_waits(&a, p.s, "/gate", NULL);
        whole(evzk_barrier_lift, p.s, "/gate", EVZK_OK);
        act_ends(&a, EVZK_OK);
    }
    nothing_left("/barrier-root/gate", p.s);
    peer_close(&p);
    raw_delete_tree(op(), opt.chroot);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("barrier");
    TCase *wait = lock_tests(suite, "wait", 60000);
    TCase *others = lock_tests(suite, "set-lift", 60000);

    tcase_add_test(wait, thousand_wait);
    tcase_add_test(wait, wait_is_given_up);
    tcase_add_test(wait, last_wait_takes_its_watch);
    tcase_add_loop_test(wait, wait_is_cut_off, 0, 3);
    tcase_add_test(wait, wait_has_no_server);
    tcase_add_loop_test(wait, wait_outlives_its_session, 0, 2);
    tcase_add_test(wait, freed_inside_callbacks);
    tcase_add_test(wait, closed_while_waiting);
    tcase_add_test(others, set_that_stands);
    tcase_add_test(others, lift_with_a_child);
    tcase_add_test(others, set_and_lift_are_denied);
    tcase_add_test(others, reading_is_denied);
    tcase_add_test(others, acl_is_bad);
    tcase_add_loop_test(others, chroot_is_obeyed, 0, 2);
    return lock_suite_run(suite);
}
