/*
 * The exclusive lock when the outcome of a create is unknown, when its session
 * expires, and when the server restarts, stops or is cut off.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "test_lock.h"

/* ---- A create of unknown outcome ---- */

static void only_child(const char *dir, char name[128])
{
    struct raw_names names;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    snprintf(name, 128, "%s", names.name[0]);
    raw_names_free(&names);
}

START_TEST(create_without_a_reply_is_adopted)
{
    const char *dir = "/unknown-adopt";
    struct scene sc;
    struct claim c, next;
    struct Stat stat;
    char name[128];

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    claim(&c, sc.p.s, dir, NULL);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    ck_assert_str_eq(sc.moves, "CREATING RESOLVING ADOPTING LISTING HELD");
    /* Looked for behind a write of its own: a sync would prove nothing. */
    ck_assert_int_eq(proxy_frames_of(sc.proxy, PROXY_C2S, OP_DELETE), 1);
    only_child(dir, name);
    ck_assert_str_eq(name, evzk_lock_node(c.l));
    ck_assert_int_eq(raw_exists(op(), node_path(dir, name), &stat), ZOK);
    ck_assert_uint_eq(evzk_lock_token(c.l), (uint64_t)stat.czxid);
    /* Its own znode is watched all the same. */
    WAIT(zk_mntr(zk_shared(), 0, "zk_watch_count") == 1);
    claim_queued(&next, sc.rival.s, dir, NULL);
    claim_release(&c);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* An own znode that may not be read can be held (test_lock_foreign): so, too,
 * when the reply to its create was lost. */
START_TEST(unreadable_znode_is_adopted)
{
    const evzk_acl acl = {EVZK_PERM_DELETE, "world", "anyone"};
    const evzk_lock_options opt = {.acl = &acl, .acl_count = 1};
    const char *dir = "/unknown-blind";
    struct scene sc;
    struct claim c;

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    claim(&c, sc.p.s, dir, &opt);
    WAIT(c.rec.count == 1);
    ck_assert_str_eq(c.rec.text, "GRANTED");
    claim_release(&c);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* The same as a waiter: it keeps the place that it got unknowingly. */
START_TEST(adopted_waiter_keeps_its_place)
{
    const char *dir = "/unknown-place";
    struct scene sc;
    struct claim held, c, next;

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.rival.s, dir, NULL);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    proxy_refuse(sc.proxy, true);
    claim(&c, sc.p.s, dir, NULL);
    WAIT(proxy_fired(sc.proxy) == 1);
    WAIT(raw_count(op(), dir) == 2);
    claim_queued(&next, sc.rival.s, dir, NULL);
    ck_assert_str_eq(evzk_lock_node(c.l), "");
    proxy_refuse(sc.proxy, false);
    WAIT(strcmp(evzk_lock_state(c.l), "WATCHING") == 0);
    ck_assert_int_eq(raw_count(op(), dir), 3);
    claim_release(&held);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_eq(next.rec.count, 0);
    claim_release(&c);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

START_TEST(create_that_never_arrived_is_made_again)
{
    const char *dir = "/unknown-dropped";
    struct scene sc;
    struct claim c;

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_C2S, OP_CREATE, 1, PROXY_CUT_BEFORE);
    claim(&c, sc.p.s, dir, NULL);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    ck_assert_str_eq(sc.moves, "CREATING RESOLVING CREATING HELD");
    ck_assert_int_eq(raw_count(op(), dir), 1);
    claim_release(&c);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/*
 * The name that was made unknowingly is gone by the time it is looked for:
 * deleted by an operator (0), or with its session (1).  It is never used again.
 */
START_TEST(a_guid_is_used_once)
{
    const char *dir = "/unknown-guid";
    struct scene sc;
    struct claim c;
    char ghost[128], name[128];

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    proxy_refuse(sc.proxy, true);
    claim(&c, sc.p.s, dir, NULL);
    WAIT(strcmp(evzk_lock_state(c.l), "RESOLVING") == 0);
    only_child(dir, ghost);
    if (_i == 0)
        ck_assert_int_eq(raw_delete(op(), node_path(dir, ghost)), ZOK);
    else
        raw_expire(the_server(), evzk_session_id(sc.p.s));
    raw_wait_children(op(), dir, 0, 60000);
    proxy_refuse(sc.proxy, false);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_str_eq(c.rec.text, "GRANTED"); /* Had no place to lose. */
    only_child(dir, name);
    ck_assert_str_eq(name, evzk_lock_node(c.l));
    ck_assert_int_ne(strncmp(ghost, name, 36), 0);
    claim_release(&c);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* A namesake of an older session is not ours, whatever its GUID. */
START_TEST(somebody_elses_ghost_is_not_adopted)
{
    const char *dir = "/unknown-foreign";
    struct scene sc;
    struct claim c;
    char ghost[128], path[256];

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_CREATE, 1, PROXY_CUT_BEFORE);
    proxy_refuse(sc.proxy, true);
    claim(&c, sc.p.s, dir, NULL);
    WAIT(strcmp(evzk_lock_state(c.l), "RESOLVING") == 0);
    only_child(dir, ghost);
    snprintf(path, sizeof path, "%s", node_path(dir, ghost));
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    proxy_refuse(sc.proxy, false);
    WAIT(strcmp(evzk_lock_state(c.l), "WATCHING") == 0);
    ck_assert_int_ne(strncmp(ghost, evzk_lock_node(c.l), 36), 0);
    ck_assert_int_eq(c.rec.count, 0);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* Cancel, time-out and free while it is not known: with the znode there, and
 * with none. */
START_TEST(leaving_while_unknown)
{
    enum { CANCEL, TIMEOUT, FREE };
    const char *dir = "/unknown-leave";
    enum proxy_dir way = _i < 3 ? PROXY_S2C : PROXY_C2S;
    int how = _i % 3;
    const evzk_lock_options opt = {.timeout_ms = how == TIMEOUT ? 4000 : 0};
    struct scene sc;
    struct claim c, next;

    raw_mkdirs(op(), dir);
    scene_open(&sc, SESSION_MS);
    proxy_trap(sc.proxy, way, OP_CREATE, 1, PROXY_CUT_BEFORE);
    proxy_refuse(sc.proxy, true);
    claim(&c, sc.p.s, dir, &opt);
    WAIT(strcmp(evzk_lock_state(c.l), "RESOLVING") == 0);
    WAIT(raw_count(op(), dir) == (way == PROXY_S2C));
    if (how == CANCEL) {
        ck_assert_int_eq(evzk_lock_cancel(c.l), EVZK_OK);
        run_for(harness_base(), 100);
        ck_assert_int_eq(c.rec.count, 0); /* Not proved gone. */
    } else if (how == TIMEOUT) {
        WAIT(c.rec.finals == 1);
        ck_assert_str_eq(c.rec.text, "FAILED(TIMEOUT)");
    } else {
        evzk_lock_free(c.l);
    }
    proxy_refuse(sc.proxy, false);
    claim_held(&next, sc.rival.s, dir, NULL);
    if (how == CANCEL) {
        WAIT(c.rec.finals == 1);
        ck_assert_str_eq(c.rec.text, "FAILED(CANCELED)");
    }
    claim_release(&next);
    idle(sc.p.s);
    ck_assert_int_eq(c.rec.count, how == FREE ? 0 : 1);
    if (how != FREE)
        evzk_lock_free(c.l);
    scene_close(&sc, dir);
    raw_delete_tree(op(), dir);
}
END_TEST

/* ---- Doubt ---- */

START_TEST(cut_holder_is_resumed)
{
    const char *dir = "/doubt";
    struct claim held, waiting;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.p.s, dir, NULL);
    claim_queued(&waiting, sc.p.s, dir, NULL);
    for (int i = 0; i < 3; i++) {
        recorder_clear(&held.rec);
        proxy_refuse(sc.proxy, true);
        proxy_cut(sc.proxy);
        WAIT_EVENT(&held, "SUSPENDED");
        ck_assert(evzk_lock_held(held.l));
        ck_assert_uint_gt(evzk_lock_lease_ms(held.l), 0);
        proxy_refuse(sc.proxy, false);
        WAIT_EVENT(&held, "RESUMED");
        ck_assert_str_eq(held.rec.text, "SUSPENDED RESUMED");
        ck_assert_int_eq(waiting.rec.count, 0);
    }
    claim_release(&held);
    WAIT_EVENT(&waiting, "GRANTED");
    claim_release(&waiting);
    scene_close(&sc, dir);
}
END_TEST

/* Deleted while nobody could be told: the holder's, the predecessor's. */
START_TEST(deleted_while_cut)
{
    const char *dir = "/cut-delete";
    struct claim held, a, b;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.p.s, dir, NULL);
    claim_queued(&a, sc.rival.s, dir, NULL);
    claim_queued(&b, sc.p.s, dir, NULL);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT_EVENT(&held, "SUSPENDED");
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(held.l))),
                     ZOK);
    WAIT_EVENT(&a, "GRANTED");
    claim_release(&a);
    proxy_refuse(sc.proxy, false);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED LOST(NODEGONE)");
    WAIT_EVENT(&b, "GRANTED");
    claim_release(&b);
    evzk_lock_free(held.l);
    scene_close(&sc, dir);
}
END_TEST

/* Deleted, and another made in its place: the name is the same, it is not. */
START_TEST(replaced_while_cut)
{
    const char *dir = "/cut-replace";
    struct claim held;
    struct scene sc;
    char path[256];

    scene_open(&sc, SESSION_MS);
    claim_held(&held, sc.p.s, dir, NULL);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT_EVENT(&held, "SUSPENDED");
    snprintf(path, sizeof path, "%s", node_path(dir, evzk_lock_node(held.l)));
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    proxy_refuse(sc.proxy, false);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED LOST(NODEGONE)");
    evzk_lock_free(held.l);
    idle(sc.p.s);
    raw_delete_tree(op(), dir);
    scene_close(&sc, dir);
}
END_TEST

/* A read of the own znode is under way, and its answer does not come. */
START_TEST(release_with_an_answer_outstanding)
{
    const char *dir = "/outstanding";
    struct claim held;
    struct scene sc;

    scene_open(&sc, BRIEF_MS);
    proxy_trap(sc.proxy, PROXY_S2C, OP_GET, 1, PROXY_FREEZE);
    claim_held(&held, sc.p.s, dir, NULL);
    WAIT(proxy_fired(sc.proxy) == 1);
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
    recorder_clear(&held.rec); /* A slow machine may have doubted before. */
    for (int64_t end = now_ms() + BRIEF_MS * 3 / 2; now_ms() < end;) {
        run_for(harness_base(), 10);
        if (held.rec.finals && held.rec.last == EVZK_LOCK_RELEASED)
            ck_assert_msg(held.rec.rc == EVZK_OK && raw_count(op(), dir) <= 0,
                          "not gone: %s", held.rec.text);
    }
    proxy_thaw(sc.proxy);
    WAIT(held.rec.finals == 1);
    ck_assert_msg(!recorder_has(&held.rec, "SUSPENDED"),
                  "given back before: %s", held.rec.text);
    evzk_lock_free(held.l);
    scene_close(&sc, dir);
}
END_TEST

/* ---- The server ---- */

START_TEST(server_restarts)
{
    struct zk *zk = zk_start(NULL);
    evzk_session_options opt = {.timeout_ms = SESSION_MS};
    struct peer p[2];
    struct claim c[4];
    uint64_t token = 0;

    for (int i = 0; i < 2; i++) {
        peer_start(&p[i], zk_server(zk, 0), &opt);
        WAIT(evzk_session_connected(p[i].s));
    }
    claim_held(&c[0], p[0].s, "/restart", NULL);
    for (int i = 1; i < 4; i++)
        claim_queued(&c[i], p[i % 2].s, "/restart", NULL);
    zk_kill(zk, 0);
    WAIT_EVENT(&c[0], "SUSPENDED");
    zk_revive(zk, 0);
    WAIT(c[0].rec.count == 3);
    if (recorder_has(&c[0].rec, "RESUMED")) {
        claim_release(&c[0]);
    } else { /* A slow machine. */
        ck_assert_str_eq(c[0].rec.text, "GRANTED SUSPENDED LOST(LEASE)");
        evzk_lock_free(c[0].l);
    }
    for (int i = 1; i < 4; i++) {
        WAIT_EVENT(&c[i], "GRANTED");
        ck_assert_str_eq(c[i].rec.text, "GRANTED");
        ck_assert_uint_gt(evzk_lock_token(c[i].l), token);
        token = evzk_lock_token(c[i].l);
        claim_release(&c[i]);
    }
    peer_close(&p[0]);
    peer_close(&p[1]);
    zk_stop(zk);
}
END_TEST

/* Away for so long that the lease ends, but the session lives on: what it
 * owned must not stay in the way. */
START_TEST(server_is_away_for_long)
{
    struct zk *zk = zk_start(NULL);
    evzk_session_options opt = {.timeout_ms = BRIEF_MS};
    struct peer p, rival;
    struct claim held, next;

    peer_start(&p, zk_server(zk, 0), &opt);
    peer_start(&rival, zk_server(zk, 0), NULL);
    claim_held(&held, p.s, "/away", NULL);
    claim_queued(&next, rival.s, "/away", NULL);
    zk_kill(zk, 0);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&held.rec),
                     "GRANTED SUSPENDED LOST(LEASE)");
    zk_revive(zk, 0);
    WAIT_EVENT(&next, "GRANTED"); /* Though held was not freed. */
    ck_assert_int_eq(held.rec.last, EVZK_LOCK_LOST);
    claim_release(&next);
    evzk_lock_free(held.l);
    peer_close(&p);
    peer_close(&rival);
    zk_stop(zk);
}
END_TEST

START_TEST(server_stops_for_a_while)
{
    const char *dir = "/stop-short";
    struct claim held, next;
    struct peer p;

    peer_open(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, p.s, dir, NULL);
    operator_close();
    zk_stop_signal(zk_shared(), 0);
    WAIT_EVENT(&held, "SUSPENDED");
    ck_assert(evzk_lock_held(held.l));
    zk_cont(zk_shared(), 0);
    WAIT_EVENT(&held, "RESUMED");
    ck_assert_str_eq(held.rec.text, "GRANTED SUSPENDED RESUMED");
    ck_assert_int_eq(next.rec.count, 0);
    claim_release(&held);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(server_stops_for_long)
{
    const char *dir = "/stop-long";
    evzk_session_options opt = {.timeout_ms = BRIEF_MS};
    struct claim held, next;
    struct stall *stall;
    struct peer p, rival;
    int64_t stopped;

    peer_start(&p, the_server(), &opt);
    peer_start(&rival, the_server(), NULL);
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, rival.s, dir, NULL);
    operator_close();
    stopped = now_ms();
    stall = stall_start(harness_base());
    zk_stop_signal(zk_shared(), 0);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&held.rec),
                     "GRANTED SUSPENDED LOST(LEASE)");
    ck_assert_int_le(held.rec.when - stopped,
                     BRIEF_MS + (int64_t)stall_max_ms(stall));
    stall_stop(stall);
    ck_assert_int_eq(next.rec.count, 0);
    zk_cont(zk_shared(), 0);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    evzk_lock_free(held.l);
    WAIT(evzk_session_connected(p.s));
    nothing_left(dir, p.s);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

/*
 * A follower that is cut off from the leader: the doubt stays until the leader
 * is heard of.  (The server itself holds a session's reads back behind its
 * unanswered sync.)
 */
START_TEST(a_follower_cannot_end_the_doubt)
{
    struct zk *zk = zk_start(&(struct zk_config){.size = 3, .sync_limit = 60});
    evzk_session_options opt = {.timeout_ms = BRIEF_MS};
    const char *story;
    int leader = zk_leader(zk), follower = zk_follower(zk, 0);
    struct claim held;
    struct peer p;

    peer_start(&p, zk_server(zk, follower), &opt);
    claim_held(&held, p.s, "/follower", NULL);
    zk_link_freeze(zk, follower, leader);
    WAIT_EVENT(&held, "SUSPENDED");
    WAIT(evzk_session_lease_ms(p.s) < BRIEF_MS / 5);
    WAIT(!evzk_session_connected(p.s));
    story = recorder_story(&held.rec);
    ck_assert_msg(strcmp(story, "GRANTED SUSPENDED") == 0 ||
                      strcmp(story, "GRANTED SUSPENDED LOST(LEASE)") == 0,
                  "%s", story);
    zk_link_thaw(zk, follower, leader);
    WAIT(strcmp(recorder_story(&held.rec), "GRANTED") == 0 ||
         held.rec.finals == 1);
    peer_close(&p);
    evzk_lock_free(held.l);
    zk_stop(zk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-faults");
    TCase *tests = lock_tests(suite, "faults", 60000);

    tcase_add_test(tests, create_without_a_reply_is_adopted);
    tcase_add_test(tests, unreadable_znode_is_adopted);
    tcase_add_test(tests, adopted_waiter_keeps_its_place);
    tcase_add_test(tests, create_that_never_arrived_is_made_again);
    tcase_add_loop_test(tests, a_guid_is_used_once, 0, 2);
    tcase_add_test(tests, somebody_elses_ghost_is_not_adopted);
    tcase_add_loop_test(tests, leaving_while_unknown, 0, 6);
    tcase_add_test(tests, cut_holder_is_resumed);
    tcase_add_test(tests, deleted_while_cut);
    tcase_add_test(tests, replaced_while_cut);
    tcase_add_test(tests, release_with_an_answer_outstanding);
    tcase_add_test(tests, server_restarts);
    tcase_add_test(tests, server_is_away_for_long);
    tcase_add_test(tests, server_stops_for_a_while);
    tcase_add_test(tests, server_stops_for_long);
    tcase_add_test(tests, a_follower_cannot_end_the_doubt);
    return lock_suite_run(suite);
}
