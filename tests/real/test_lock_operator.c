/*
 * The exclusive lock when others meddle: znodes deleted and changed by an
 * operator, foreign children, ACLs that deny.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_lock.h"

static void delete_node(const char *dir, const struct claim *c)
{
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(c->l))),
                     ZOK);
}

/* ---- Own znode deleted: heard at once, or after two probes ---- */

START_TEST(holder_is_broken)
{
    const char *dir = "/op-holder";
    struct peer p[2];
    struct claim held, next;

    peer_short(&p[0], the_server());
    peer_short(&p[1], the_server());
    claim_held(&held, p[0].s, dir, NULL);
    WAIT((settle(p[0].s), true));
    claim_queued(&next, p[_i].s, dir, NULL);
    delete_node(dir, &held);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&held.rec), "GRANTED LOST(NODEGONE)");
    ck_assert(!evzk_lock_held(held.l));
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_ERR_STATE);
    WAIT_EVENT(&next, "GRANTED");
    evzk_lock_free(held.l);
    claim_release(&next);
    nothing_left(dir, p[0].s);
    nothing_left(dir, p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* The next one of the session sees that it is gone: then it hears at once, long
 * before its own watch is there. */
START_TEST(holder_hears_from_the_next)
{
    const char *dir = "/broken-next";
    struct claim held, c;
    struct peer p;

    peer_open(&p, the_server());
    raw_mkdirs(op(), dir);
    claim_held(&held, p.s, dir, NULL);
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(held.l))),
                     ZOK);
    ck_assert(evzk_lock_held(held.l));
    claim(&c, p.s, dir, NULL);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_str_eq(held.rec.text, "GRANTED LOST(NODEGONE)");
    evzk_lock_free(held.l);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

START_TEST(waiter_goes_to_the_end)
{
    const char *dir = "/op-waiter";
    struct peer p;
    struct claim held, a, b;
    char old[256];

    peer_short(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&a, p.s, dir, NULL);
    claim_queued(&b, p.s, dir, NULL);
    strcpy(old, evzk_lock_node(a.l));
    delete_node(dir, &a);
    WAIT_EVENT(&a, "REQUEUED(NODEGONE)");
    WAIT(strcmp(evzk_lock_state(a.l), "WATCHING") == 0);
    ck_assert_int_ne(strncmp(old, evzk_lock_node(a.l), 36), 0); /* New GUID. */
    claim_release(&held);
    WAIT_EVENT(&b, "GRANTED");
    settle(p.s);
    ck_assert_str_eq(a.rec.text, "REQUEUED(NODEGONE)");
    claim_release(&b);
    WAIT_EVENT(&a, "GRANTED");
    claim_release(&a);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(waiter_gives_up_when_told)
{
    const evzk_lock_options opt = {.no_requeue = true};
    const char *dir = "/op-norequeue";
    struct peer p;
    struct claim held, a;

    peer_short(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&a, p.s, dir, &opt);
    delete_node(dir, &a);
    WAIT(a.rec.finals == 1);
    ck_assert_str_eq(a.rec.text, "FAILED(NODEGONE)");
    evzk_lock_free(a.l);
    claim_release(&held);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* The waiter left the queue while its predecessor stays: no watch may stay with
 * it. */
START_TEST(broken_waiter_leaves_no_watch)
{
    const char *dir = "/op-nowatch";
    struct peer holder, p;
    struct claim first, held, a;

    peer_short(&holder, the_server());
    peer_short(&p, the_server());
    claim_held(&first, holder.s, dir, &(evzk_lock_options){.no_own_watch = 1});
    claim_queued(&held, holder.s, dir, NULL);
    claim_queued(&a, p.s, dir, NULL);
    delete_node(dir, &held); /* Now first is before a. */
    WAIT(strcmp(evzk_lock_state(a.l), "WATCHING") == 0);
    evzk_lock_free(held.l);
    WAIT(raw_count(op(), dir) == 2);
    settle(p.s);
    delete_node(dir, &a);
    WAIT_EVENT(&a, "REQUEUED(NODEGONE)");
    WAIT(strcmp(evzk_lock_state(a.l), "WATCHING") == 0);
    claim_cancel(&a);
    idle(p.s);
    wait_watches(0);
    claim_release(&first);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&holder);
}
END_TEST

static void free_when_requeued(evzk_lock *l, evzk_lock_event ev, int rc,
                               void *arg)
{
    int *heard = arg;

    ck_assert_int_eq(ev, EVZK_LOCK_REQUEUED);
    ck_assert_int_eq(rc, EVZK_ERR_NODEGONE);
    ++*heard;
    evzk_lock_free(l);
}

/* Its create is not sent any more; its watch is to go all the same. */
START_TEST(waiter_freed_when_requeued_leaves_no_watch)
{
    const char *dir = "/op-freed";
    struct peer holder, p;
    struct claim held, a = {0};
    int heard = 0;

    peer_short(&holder, the_server());
    peer_short(&p, the_server());
    claim_held(&held, holder.s, dir, &(evzk_lock_options){.no_own_watch = 1});
    ck_assert_int_eq(
        evzk_lock_acquire(p.s, dir, NULL, free_when_requeued, &heard, &a.l),
        EVZK_OK);
    wait_watches(2); /* Its own, and the one before it. */
    settle(p.s);
    delete_node(dir, &a);
    WAIT(heard == 1);
    idle(p.s);
    wait_watches(0);
    ck_assert_int_eq(raw_count(op(), dir), 1);
    claim_release(&held);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&holder);
}
END_TEST

/* A waiter between two others is broken: its old predecessor's watch goes. */
START_TEST(requeued_waiter_drops_the_old_watch)
{
    const char *dir = "/op-oldwatch";
    const evzk_lock_options quiet = {.no_own_watch = true};
    struct peer holder, p;
    struct claim first, second, a;

    peer_short(&holder, the_server());
    peer_short(&p, the_server());
    claim_held(&first, holder.s, dir, &quiet);
    claim_queued(&a, p.s, dir, NULL);
    claim_queued(&second, holder.s, dir, &quiet);
    delete_node(dir, &a);
    WAIT_EVENT(&a, "REQUEUED(NODEGONE)");
    WAIT(strcmp(evzk_lock_state(a.l), "WATCHING") == 0);
    claim_cancel(&a); /* Watched second, and before that first. */
    idle(p.s);
    WAIT(strcmp(evzk_lock_state(second.l), "WATCHING") == 0);
    wait_watches(1); /* Of second. */
    claim_release(&first);
    WAIT_EVENT(&second, "GRANTED");
    claim_release(&second);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&holder);
}
END_TEST

START_TEST(unwatched_holder_learns_at_reconnect)
{
    const evzk_lock_options opt = {.no_own_watch = true};
    const char *dir = "/op-unwatched";
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;
    struct claim held;

    peer_open(&p, proxy_address(proxy));
    claim_held(&held, p.s, dir, &opt);
    ck_assert_int_eq(zk_mntr(zk_shared(), 0, "zk_watch_count"), 0);
    delete_node(dir, &held);
    settle(p.s);
    ck_assert_str_eq(held.rec.text, "GRANTED");
    proxy_cut(proxy);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED LOST(NODEGONE)");
    evzk_lock_free(held.l);
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* An unwatched waiter, behind another of its session or of a rival's, learns it
 * when its turn should have come. */
START_TEST(unwatched_waiter_learns_in_turn)
{
    const evzk_lock_options opt = {.no_own_watch = true};
    const char *dir = "/op-unwatched-2";
    struct peer p, rival;
    struct claim held, a;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    claim_held(&held, _i ? rival.s : p.s, dir, NULL);
    claim_queued(&a, p.s, dir, &opt);
    delete_node(dir, &a);
    settle(p.s);
    ck_assert_int_eq(a.rec.count, 0);
    claim_release(&held);
    WAIT_EVENT(&a, "GRANTED");
    ck_assert_str_eq(a.rec.text, "REQUEUED(NODEGONE) GRANTED");
    claim_release(&a);
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/* The first that holds it; -1: none does. */
static int holder_of(const struct claim *c, int n)
{
    for (int i = 0; i < n; i++)
        if (c[i].l && evzk_lock_held(c[i].l))
            return i;
    return -1;
}

START_TEST(directory_is_deleted)
{
    enum { N = 6 };
    const char *dir = "/op-dir/lock";
    struct peer p[2];
    struct claim c[N];
    uint64_t token = 0;
    int granted = 0;

    peer_short(&p[0], the_server());
    peer_short(&p[1], the_server());
    claim_held(&c[0], p[0].s, dir, NULL);
    token = evzk_lock_token(c[0].l);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p[i % 2].s, dir, NULL);
    raw_drive(op(), NULL); /* Nobody may move before all is gone. */
    raw_delete_tree(op(), "/op-dir");
    raw_drive(op(), harness_base());
    WAIT_EVENT(&c[0], "LOST(NODEGONE)");
    evzk_lock_free(c[0].l);
    c[0].l = NULL;
    while (granted < N - 1) {
        int i;

        WAIT((i = holder_of(c, N)) >= 0);
        for (int j = 1; j < N; j++)
            ck_assert(j == i || !evzk_lock_held(c[j].l));
        ck_assert_uint_gt(evzk_lock_token(c[i].l), token);
        token = evzk_lock_token(c[i].l);
        ck_assert(recorder_has(&c[i].rec, "REQUEUED(NODEGONE)"));
        claim_release(&c[i]);
        granted++;
    }
    nothing_left(dir, p[0].s);
    nothing_left(dir, p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* A contender leaves from the middle of the queue: nobody may be granted for
 * it. */
START_TEST(middle_of_the_queue_is_deleted)
{
    enum { N = 5 };
    const char *dir = "/op-middle";
    struct peer p[2];
    struct claim c[N];

    peer_short(&p[0], the_server());
    peer_short(&p[1], the_server());
    claim_held(&c[0], p[0].s, dir, NULL);
    for (int i = 1; i < N; i++)
        claim_queued(&c[i], p[i % 2].s, dir, NULL);
    delete_node(dir, &c[2]);
    WAIT_EVENT(&c[2], "REQUEUED(NODEGONE)");
    settle(p[0].s);
    settle(p[1].s);
    for (int i = 1; i < N; i++) {
        ck_assert(!recorder_has(&c[i].rec, "GRANTED"));
        ck_assert_str_eq(evzk_lock_state(c[i].l), "WATCHING");
    }
    static const int order[] = {0, 1, 3, 4, 2};

    for (int i = 0; i < N; i++) {
        WAIT_EVENT(&c[order[i]], "GRANTED");
        for (int j = 0; j < N; j++)
            ck_assert(evzk_lock_held(c[j].l) == (j == order[i]));
        claim_release(&c[order[i]]);
    }
    nothing_left(dir, p[0].s);
    nothing_left(dir, p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

/* ---- Data changed ---- */

static void change_node(const char *dir, const struct claim *c, int times)
{
    for (int i = 0; i < times; i++) {
        ck_assert_int_eq(
            raw_set(op(), node_path(dir, evzk_lock_node(c->l)), "new", 3), ZOK);
        if (i % 2)
            run_for(harness_base(), 20);
    }
}

START_TEST(changes_are_ignored_deletions_are_not)
{
    const char *dir = "/op-change";
    struct peer p[2];
    struct claim held, a, b;

    peer_short(&p[0], the_server());
    peer_short(&p[1], the_server());
    claim_held(&held, p[0].s, dir, NULL);
    claim_queued(&a, p[1].s, dir, NULL);
    claim_queued(&b, p[1].s, dir, NULL);
    change_node(dir, &held, 5);
    change_node(dir, &a, 5);
    change_node(dir, &b, 5);
    settle(p[0].s);
    settle(p[1].s);
    ck_assert_str_eq(recorder_story(&held.rec), "GRANTED");
    ck_assert_int_eq(a.rec.count + b.rec.count, 0);
    delete_node(dir, &a); /* b's predecessor, and a's own. */
    WAIT_EVENT(&a, "REQUEUED(NODEGONE)");
    ck_assert_int_eq(b.rec.count, 0);
    change_node(dir, &held, 2);
    delete_node(dir, &held); /* Its own, and b's predecessor. */
    WAIT_EVENT(&held, "LOST(NODEGONE)");
    WAIT_EVENT(&b, "GRANTED");
    change_node(dir, &b, 3);
    settle(p[1].s);
    delete_node(dir, &b);
    WAIT_EVENT(&b, "LOST(NODEGONE)");
    WAIT_EVENT(&a, "GRANTED");
    claim_release(&a);
    evzk_lock_free(held.l);
    evzk_lock_free(b.l);
    nothing_left(dir, p[0].s);
    nothing_left(dir, p[1].s);
    peer_close(&p[0]);
    peer_close(&p[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-operator");
    TCase *tests = lock_tests(suite, "operator", 60000);

    tcase_add_loop_test(tests, holder_is_broken, 0, 2);
    tcase_add_test(tests, holder_hears_from_the_next);
    tcase_add_test(tests, waiter_goes_to_the_end);
    tcase_add_test(tests, waiter_gives_up_when_told);
    tcase_add_test(tests, broken_waiter_leaves_no_watch);
    tcase_add_test(tests, waiter_freed_when_requeued_leaves_no_watch);
    tcase_add_test(tests, requeued_waiter_drops_the_old_watch);
    tcase_add_test(tests, unwatched_holder_learns_at_reconnect);
    tcase_add_loop_test(tests, unwatched_waiter_learns_in_turn, 0, 2);
    tcase_add_test(tests, directory_is_deleted);
    tcase_add_test(tests, middle_of_the_queue_is_deleted);
    tcase_add_test(tests, changes_are_ignored_deletions_are_not);
    return lock_suite_run(suite);
}
