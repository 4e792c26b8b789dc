/*
 * Nothing is granted, resumed or deleted on the word of a name, or of an event
 * about another contender's znode: the events of one transaction arrive one by
 * one, and a znode can be put back under the name of one that was deleted.
 */
#include "evzk/election.h"
#include "test_lock.h"

enum { KINDS = 3 };

static void heard(evzk_election *e, evzk_election_event event, int rc,
                  void *text)
{
    (void)e, (void)rc;
    strcat(text, evzk_election_event_name(event));
    strcat(text, " ");
}

/* A holder, and a waiter that watches its own znode. */
static void begin(struct claim *holder, struct claim *waiter, struct scene *sc,
                  const char *dir, int kind)
{
    static const evzk_lock_priority usual;
    const evzk_lock_options write = {.mode = EVZK_LOCK_WRITE};
    const evzk_lock_options wait[KINDS] = {
        {.revocable = true},
        {.revocable = true, .mode = EVZK_LOCK_READ},
        {.mode = EVZK_LOCK_WRITE, .priority = &usual}};

    raw_delete_tree(op(), dir);
    scene_open(sc, SESSION_MS);
    claim_held(holder, sc->rival.s, dir, kind ? &write : NULL);
    claim_queued(waiter, sc->p.s, dir, &wait[kind]);
    settle(sc->p.s);
}

static void delete_both(const char *dir, const struct claim *a,
                        const struct claim *b)
{
    char first[256];

    snprintf(first, sizeof first, "%s", node_path(dir, evzk_lock_node(a->l)));
    ck_assert_int_eq(
        raw_delete_both(op(), first, node_path(dir, evzk_lock_node(b->l))),
        ZOK);
}

/* One transaction deletes the holder's znode and the waiter's; the event of the
 * waiter's own is held back.  A third one is granted meanwhile. */
START_TEST(events_of_a_transaction_come_apart)
{
    const char *dir = "/verify-apart";
    struct claim holder, waiter, third;
    struct scene sc;

    begin(&holder, &waiter, &sc, dir, _i);
    proxy_trap(sc.proxy, PROXY_S2C, PROXY_OP_WATCH, 2, PROXY_FREEZE);
    delete_both(dir, &holder, &waiter);
    WAIT(proxy_fired(sc.proxy) == 1);
    WAIT_EVENT(&holder, "LOST(NODEGONE)");
    claim_held(&third, sc.rival.s, dir, NULL);
    run_for(harness_base(), 300); /* For what must not happen. */
    ck_assert(!evzk_lock_held(waiter.l));
    ck_assert_str_eq(waiter.rec.text, "");
    proxy_thaw(sc.proxy);
    WAIT_EVENT(&waiter, "REQUEUED(NODEGONE)");
    claim_release(&third);
    WAIT_EVENT(&waiter, "GRANTED");
    claim_release(&waiter);
    evzk_lock_free(holder.l);
    scene_close(&sc, dir);
}
END_TEST

/* The same in an election. */
START_TEST(events_come_apart_in_an_election)
{
    const char *dir = "/verify-elect";
    const evzk_election_options opt = {.revocable = true};
    evzk_election *e[2];
    char first[256], told[2][256] = {"", ""};
    struct scene sc;

    raw_delete_tree(op(), dir);
    scene_open(&sc, SESSION_MS);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(evzk_election_volunteer(i ? sc.p.s : sc.rival.s, dir,
                                                 &opt, heard, told[i], &e[i]),
                         EVZK_OK);
        WAIT(i ? strcmp(evzk_election_state(e[1]), "WATCHING") == 0
               : evzk_election_elected(e[0]));
    }
    settle(sc.p.s);
    proxy_trap(sc.proxy, PROXY_S2C, PROXY_OP_WATCH, 2, PROXY_FREEZE);
    snprintf(first, sizeof first, "%s",
             node_path(dir, evzk_election_node(e[0])));
    ck_assert_int_eq(
        raw_delete_both(op(), first, node_path(dir, evzk_election_node(e[1]))),
        ZOK);
    WAIT(proxy_fired(sc.proxy) == 1);
    run_for(harness_base(), 300); /* For what must not happen. */
    ck_assert(!evzk_election_elected(e[1]));
    proxy_thaw(sc.proxy);
    WAIT(evzk_election_elected(e[1]));
    ck_assert_str_eq(told[1], "REQUEUED ELECTED ");
    for (int i = 0; i < 2; i++) {
        evzk_election_resign(e[i]);
        evzk_election_free(e[i]);
    }
    scene_close(&sc, dir);
}
END_TEST

/* An operator deletes a znode, and puts a persistent one of its name there. */
static void put_back(char path[256], const char *dir, const struct claim *c)
{
    snprintf(path, 256, "%s", node_path(dir, evzk_lock_node(c->l)));
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
}

static void replace_both(const char *own, const char *leader)
{
    const char *const path[] = {own, leader};

    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(raw_delete(op(), path[i]), ZOK);
        ck_assert_int_eq(raw_create(op(), path[i], "", 0, 0, NULL, 0), ZOK);
    }
}

static void cut_off(struct scene *sc)
{
    proxy_refuse(sc->proxy, true);
    proxy_cut(sc->proxy);
    WAIT(!evzk_session_connected(sc->p.s));
}

/* While it is cut off: it goes to the end of the queue, and the copy stays. */
START_TEST(waiter_is_not_its_copy)
{
    const char *dir = "/verify-waiter";
    struct claim holder, waiter;
    struct scene sc;
    char copy[256];

    begin(&holder, &waiter, &sc, dir, _i);
    cut_off(&sc);
    put_back(copy, dir, &waiter);
    claim_release(&holder);
    proxy_refuse(sc.proxy, false);
    WAIT_EVENT(&waiter, "REQUEUED(NODEGONE)");
    settle(sc.p.s);
    ck_assert(!evzk_lock_held(waiter.l) || _i == 1); /* Reads with the copy. */
    ck_assert_int_eq(raw_exists(op(), copy, NULL), ZOK);
    WAIT(_i != 1 || evzk_lock_held(waiter.l));
    ck_assert_int_eq(raw_delete(op(), copy), ZOK);
    WAIT_EVENT(&waiter, "GRANTED");
    claim_release(&waiter);
    scene_close(&sc, dir);
}
END_TEST

/* A holder hears LOST, or, if it lets go at once, RELEASED; the copy stays. */
START_TEST(holder_is_not_its_copy)
{
    const char *dir = "/verify-holder";
    const evzk_lock_options none = {.no_own_watch = true};
    struct claim holder;
    struct scene sc;
    char copy[256];

    raw_delete_tree(op(), dir);
    scene_open(&sc, SESSION_MS);
    claim_held(&holder, sc.p.s, dir, _i & 1 ? &none : NULL);
    cut_off(&sc);
    put_back(copy, dir, &holder);
    if (_i & 2)
        ck_assert_int_eq(evzk_lock_release(holder.l), EVZK_OK);
    proxy_refuse(sc.proxy, false);
    WAIT(holder.rec.finals == 1);
    ck_assert_int_eq(holder.rec.last,
                     _i & 2 ? EVZK_LOCK_RELEASED : EVZK_LOCK_LOST);
    evzk_lock_free(holder.l);
    idle(sc.p.s);
    ck_assert_int_eq(raw_exists(op(), copy, NULL), ZOK);
    ck_assert_int_eq(raw_delete(op(), copy), ZOK);
    scene_close(&sc, dir);
}
END_TEST

/* While the connection lasts, and nothing is watched: another may hold by now.
 */
START_TEST(downgrade_of_a_copy)
{
    const char *dir = "/verify-down";
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .no_own_watch = true};
    struct claim holder;
    struct scene sc;
    char copy[256];

    raw_delete_tree(op(), dir);
    scene_open(&sc, SESSION_MS);
    claim_held(&holder, sc.p.s, dir, &opt);
    put_back(copy, dir, &holder);
    ck_assert_int_eq(evzk_lock_downgrade(holder.l), EVZK_OK);
    WAIT_EVENT(&holder, "LOST(NODEGONE)");
    ck_assert(!recorder_has(&holder.rec, "DOWNGRADED"));
    evzk_lock_free(holder.l);
    idle(sc.p.s);
    ck_assert_int_eq(raw_exists(op(), copy, NULL), ZOK);
    ck_assert_int_eq(raw_delete(op(), copy), ZOK);
    scene_close(&sc, dir);
}
END_TEST

/* A leader acknowledges again (0), or resigns (1): a newer `leader` znode
 * stays. */
START_TEST(leader_over_a_copy)
{
    const char *dir = "/verify-leader";
    const evzk_election_options opt = {.no_own_watch = true};
    char own[256], leader[256], told[256] = "";
    evzk_election *e;
    struct scene sc;

    raw_delete_tree(op(), dir);
    scene_open(&sc, SESSION_MS);
    ck_assert_int_eq(
        evzk_election_volunteer(sc.p.s, dir, &opt, heard, told, &e), EVZK_OK);
    WAIT(evzk_election_elected(e));
    ck_assert_int_eq(evzk_election_acknowledge(e, NULL, 0), EVZK_OK);
    WAIT(evzk_election_leading(e));
    snprintf(own, sizeof own, "%s", node_path(dir, evzk_election_node(e)));
    snprintf(leader, sizeof leader, "%s", node_path(dir, "leader"));
    replace_both(own, leader);
    if (_i)
        ck_assert_int_eq(evzk_election_resign(e), EVZK_OK);
    else
        ck_assert_int_eq(evzk_election_acknowledge(e, NULL, 0), EVZK_OK);
    WAIT(strstr(told, _i ? "RESIGNED" : "LOST"));
    evzk_election_free(e);
    idle(sc.p.s);
    ck_assert_int_eq(raw_exists(op(), leader, NULL), ZOK);
    ck_assert_int_eq(raw_exists(op(), own, NULL), ZOK);
    raw_delete_tree(op(), dir);
    scene_close(&sc, dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-verify");
    TCase *tests = lock_tests(suite, "verify", 60000);

    tcase_add_loop_test(tests, events_of_a_transaction_come_apart, 0, KINDS);
    tcase_add_test(tests, events_come_apart_in_an_election);
    tcase_add_loop_test(tests, waiter_is_not_its_copy, 0, KINDS);
    tcase_add_loop_test(tests, holder_is_not_its_copy, 0, 4);
    tcase_add_test(tests, downgrade_of_a_copy);
    tcase_add_loop_test(tests, leader_over_a_copy, 0, 2);
    return lock_suite_run(suite);
}
