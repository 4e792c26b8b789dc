/*
 * Observers of elections on a real server: what each is told, and what not,
 * whatever befalls its session, and whatever another program writes to the
 * leader znode.  Candidates and leaders are in test_election.c.
 */
#define _GNU_SOURCE 1
#include "test_election.h"

/* Of what was never there; freed at once (0), or when it has looked (1). */
START_TEST(observer_of_nothing)
{
    const char *dir = "/election-never/there";
    struct watcher w;
    struct peer p;

    peer_open(&p, the_server());
    observe(&w, p.s, dir);
    if (_i) {
        WAIT_TEXT(&w, "-");
        wait_watches(1);
    }
    blind(&w);
    nothing_left(dir, p.s);
    ck_assert_int_eq(raw_exists(op(), "/election-never", NULL), ZNONODE);
    peer_close(&p);
}
END_TEST

/* Several of one path, candidates in the same session; one leaves. */
START_TEST(observers_of_one_session)
{
    enum { N = 3 };
    const char *dir = "/election-shared";
    struct candidate a, b;
    struct watcher w[N];
    struct peer p;

    peer_open(&p, the_server());
    for (int i = 0; i < N; i++)
        observe(&w[i], p.s, dir);
    for (int i = 0; i < N; i++)
        WAIT_TEXT(&w[i], "-");
    stand_elected(&a, p.s, dir);
    stand_behind(&b, p.s, dir, NULL);
    lead(&a, "a");
    for (int i = 0; i < N; i++)
        WAIT_TEXT(&w[i], "- a");
    blind(&w[1]);
    resign(&a);
    WAIT_TEXT(&w[0], "- a -");
    WAIT_TEXT(&w[2], "- a -");
    WAIT(evzk_election_elected(b.e));
    lead(&b, "b");
    WAIT_TEXT(&w[0], "- a - b");
    WAIT_TEXT(&w[2], "- a - b");
    observe(&w[1], p.s, dir); /* A late observer. */
    WAIT_TEXT(&w[1], "b");
    resign(&b);
    WAIT_TEXT(&w[1], "b -");
    WAIT_TEXT(&w[0], "- a - b -");
    WAIT_TEXT(&w[2], "- a - b -");
    for (int i = 0; i < N; i++)
        blind(&w[i]);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* Where somebody leads (0), or nobody does (1): two requests for each that
 * looks, and one sync for all. */
START_TEST(those_that_look_share_a_sync)
{
    enum { N = 100, FEW = 10 };
    static struct candidate c[N];
    static struct watcher w[N];
    static char dir[N][40];
    struct peer p, r;
    uint64_t before;

    peer_open(&p, the_server());
    peer_open(&r, the_server());
    for (int i = 0; i < N; i++) {
        snprintf(dir[i], sizeof dir[i], "/election-looks/%d", i);
        stand(&c[i], p.s, dir[i], NULL);
    }
    for (int i = 0; i < N; i++) {
        WAIT(evzk_election_elected(c[i].e));
        if (_i == 0)
            lead(&c[i], "a");
    }
    all_answered(p.s);
    before = requests_of(r.s);
    for (int i = 0; i < N; i++)
        observe(&w[i], r.s, dir[i]);
    for (int i = 0; i < N; i++)
        WAIT_TEXT(&w[i], _i == 0 ? "a" : "-");
    ck_assert_uint_le(requests_of(r.s) - before, 2 * N + FEW);
    for (int i = 0; i < N; i++) {
        blind(&w[i]);
        resign(&c[i]);
    }
    for (int i = 0; i < N; i++)
        nothing_left(dir[i], i == N - 1 ? p.s : NULL);
    peer_close(&p);
    peer_close(&r);
}
END_TEST

/* The observer is cut off: nothing happens meanwhile (0), its leader says
 * something else (1), another comes to lead (2), nobody leads any more (3). */
START_TEST(observer_is_cut_off)
{
    static const char *const then[] = {"a", "a two", "a b", "a -"};
    struct candidate a;
    struct gate g;

    gate_open(&g, "/election-blink", SESSION_MS);
    stand_elected(&a, g.sc.rival.s, g.dir);
    lead(&a, "a");
    observe(&g.w, g.sc.p.s, g.dir);
    WAIT_TEXT(&g.w, "a");
    stand_behind(&g.next, g.sc.rival.s, g.dir, NULL);
    settle(g.sc.p.s);
    proxy_refuse(g.sc.proxy, true);
    proxy_cut(g.sc.proxy);
    WAIT(!evzk_session_connected(g.sc.p.s));
    if (_i == 1)
        lead(&a, "two");
    if (_i == 1)
        WAIT(times(&a, "LEADING") == 2);
    if (_i >= 2) {
        resign(&a);
        WAIT(evzk_election_elected(g.next.e));
    }
    if (_i == 2)
        lead(&g.next, "b");
    ck_assert_str_eq(g.w.text, "a");
    proxy_refuse(g.sc.proxy, false);
    WAIT(evzk_session_connected(g.sc.p.s));
    WAIT_TEXT(&g.w, then[_i]);
    settle(g.sc.p.s);
    ck_assert_str_eq(g.w.text, then[_i]);
    if (_i < 2)
        resign(&a);
    WAIT(evzk_election_elected(g.next.e));
    gate_close(&g);
}
END_TEST

/* Its own session expires: with nothing else happening (0), or while another
 * comes to lead (1). */
START_TEST(observer_expires)
{
    struct hall h;

    hall_led(&h, "/election-reborn", NULL);
    stand_behind(&h.b, h.q.s, h.dir, NULL);
    recorder_clear(&h.r.rec);
    raw_expire(the_server(), evzk_session_id(h.r.s));
    if (_i)
        ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_OK);
    WAIT(recorder_has(&h.r.rec, "EXPIRED"));
    WAIT(evzk_session_connected(h.r.s));
    if (!_i) {
        settle(h.r.s);
        ck_assert_str_eq(h.w.text, "- a");
        ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_OK);
    }
    WAIT_TEXT(&h.w, "- a -");
    WAIT(h.a.finals == 1);
    evzk_election_free(h.a.e);
    hall_next(&h);
    hall_close(&h);
}
END_TEST

static void free_both(struct watcher *w)
{
    blind(w->arg);
    blind(w);
}

/* An observer frees itself, and another, inside its callback; a third goes on.
 */
START_TEST(observer_freed_inside)
{
    const char *at = _i ? "a" : "-";
    struct watcher w[2];
    struct hall h;

    hall_open(&h, "/election-free-inside");
    for (int i = 0; i < 2; i++)
        observe(&w[i], h.r.s, h.dir);
    for (int i = 0; i < 2 && _i; i++)
        WAIT_TEXT(&w[i], "-");
    for (int i = 0; i < 2; i++) { /* Whichever comes first. */
        w[i].at = at;
        w[i].arg = &w[1 - i];
        w[i].act = free_both;
    }
    if (_i == 0)
        WAIT(w[0].freed && w[1].freed);
    stand_elected(&h.a, h.p.s, h.dir);
    lead(&h.a, "a");
    WAIT_TEXT(&h.w, "- a");
    WAIT(w[0].freed && w[1].freed);
    ck_assert_int_eq(w[0].told + w[1].told, _i ? 3 : 1);
    resign(&h.a);
    WAIT_TEXT(&h.w, "- a -");
    hall_close(&h);
}
END_TEST

/* ---- What another program writes ---- */

/* What another program may have written; NULL stands for too long a name. */
static const struct {
    const char *text;
    int len;
} garbage[] = {{"", 0},          {"7 x", 3},      {"7 \n", 3},
               {"7\n", 2},       {"7 x\0y\n", 6}, {"0 x\n", 4},
               {"-1 x\n", 5},    {"+1 x\n", 5},   {" 1 x\n", 5},
               {"07 x\n", 5},    {"7  x/y\n", 7}, {"7 ../x\n", 7},
               {"leader\n", 7},  {"7\0 x\n", 5},  {"\n7 x\n", 5},
               {"\0007 x\n", 5}, {"7 ..\n", 5},   {"7 .\n", 4},
               {"7 a\001\n", 5}, {"7 \200\n", 4}, {NULL, 0}};

static void write_garbage(const char *dir, size_t i)
{
    char longest[8192];
    int len = garbage[i].len;

    memset(longest, 'x', sizeof longest);
    memcpy(longest, "7 ", 2);
    longest[sizeof longest - 1] = '\n';
    if (garbage[i].text)
        memcpy(longest, garbage[i].text, (size_t)len);
    else
        len = sizeof longest;
    ck_assert_int_eq(raw_set(op(), leader_path(dir), longest, len), ZOK);
}

/* Garbage says that nobody leads; what is right again is heard again. */
START_TEST(garbage_says_nobody)
{
    struct said said;
    struct hall h;

    hall_led(&h, "/election-garbage", NULL);
    ck_assert_int_eq(h.w.told, 2);
    leader_read(h.dir, &said);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        write_garbage(h.dir, i);
        WAIT(h.w.told == 3 + 2 * (int)i);
        ck_assert_msg(h.w.epoch == 0, "garbage %d: %s", (int)i, h.w.text);
        ck_assert_int_eq(raw_set(op(), leader_path(h.dir), said.text, said.len),
                         ZOK);
        WAIT(h.w.told == 4 + 2 * (int)i);
        ck_assert_uint_eq(h.w.epoch, evzk_election_epoch(h.a.e));
    }
    ck_assert_str_eq(h.a.text, "ELECTED LEADING");
    resign(&h.a);
    WAIT(h.w.epoch == 0);
    hall_close(&h);
}
END_TEST

/* Garbage is there at first, and goes. */
START_TEST(garbage_at_first)
{
    const char *dir = "/election-garbage-first";
    struct candidate a;
    struct watcher w;
    struct peer p;

    peer_open(&p, the_server());
    raw_mkdirs(op(), leader_path(dir));
    write_garbage(dir, (size_t)_i);
    observe(&w, p.s, dir);
    WAIT_TEXT(&w, "-");
    stand_elected(&a, p.s, dir);
    lead(&a, "a");
    WAIT_TEXT(&w, "- a");
    resign(&a);
    WAIT_TEXT(&w, "- a -");
    blind(&w);
    nothing_left(dir, p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

/* A leader is there whose znodes others may not read: that is the end of it. */
START_TEST(leader_may_not_be_read)
{
    const evzk_acl acl = {EVZK_PERM_ALL, "auth", ""};
    const evzk_election_options opt = {.acl = &acl, .acl_count = 1};
    struct hall h;

    hall_open(&h, "/election-secret");
    blind(&h.w);
    raw_mkdirs(op(), h.dir); /* May be read. */
    ck_assert_int_eq(evzk_session_add_auth(h.p.s, "digest", "a:b", 3), EVZK_OK);
    stand(&h.a, h.p.s, h.dir, &opt);
    WAIT(evzk_election_elected(h.a.e));
    lead(&h.a, "a");
    observe(&h.w, h.r.s, h.dir);
    WAIT_TEXT(&h.w, "END(NOAUTH)");
    resign(&h.a);
    idle(h.r.s);
    ck_assert_str_eq(h.a.text, "ELECTED LEADING RESIGNED");
    ck_assert_str_eq(h.w.text, "END(NOAUTH)");
    hall_close(&h);
    raw_delete_tree(op(), "/election-secret");
}
END_TEST

/* Somebody wrote an epoch that is none, or that can never be; and took it
 * away. */
START_TEST(forged_epoch_is_no_epoch)
{
    static const char *const forged[] = {"18446744073709551615 x\n",
                                         "99999999999999999999999 x\n",
                                         "4611686018427387904 x\n"};
    char dir[32];
    struct hall h;

    snprintf(dir, sizeof dir, "/election-forged-%d", _i);
    hall_open(&h, dir);
    stand_elected(&h.a, h.p.s, h.dir);
    ck_assert_int_eq(raw_create(op(), leader_path(h.dir), forged[_i],
                                (int)strlen(forged[_i]), 0, NULL, 0),
                     ZOK);
    settle(h.r.s);
    ck_assert_str_eq(h.w.text, "-");
    lead(&h.a, "a");
    for (int i = 0; i < 20 && h.w.told < 2; i++)
        settle(h.r.s);
    ck_assert_str_eq(h.w.text, "- a");
    resign(&h.a);
    WAIT_TEXT(&h.w, "- a -");
    hall_close(&h);
}
END_TEST

/* Its watch is left to one that is just asking, and may not read. */
START_TEST(observer_leaves_its_watch)
{
    char scheme[] = "digest", id[] = "x:y";
    struct ACL perm = {ZOO_PERM_ALL, {scheme, id}};
    struct ACL_vector others = {1, &perm};
    const char *dir = "/election-shut";
    struct watcher w[2];
    struct scene sc;
    uint64_t n;

    scene_open(&sc, SESSION_MS);
    raw_mkdirs(op(), leader_path(dir)); /* Nobody's. */
    observe(&w[0], sc.p.s, dir);
    WAIT_TEXT(&w[0], "-");
    all_answered(sc.p.s);
    ck_assert_int_eq(raw_set_acl(op(), leader_path(dir), &others), ZOK);
    proxy_freeze(sc.proxy, PROXY_S2C);
    n = requests_of(sc.p.s);
    observe(&w[1], sc.p.s, dir);
    WAIT(requests_of(sc.p.s) >= n + 2);
    n = requests_of(sc.p.s);
    blind(&w[0]);
    WAIT(requests_of(sc.p.s) > n);
    proxy_thaw(sc.proxy);
    WAIT_TEXT(&w[1], "END(NOAUTH)");
    blind(&w[1]);
    idle(sc.p.s);
    wait_watches(0);
    raw_delete_tree(op(), dir);
    scene_close(&sc, dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("observer");
    TCase *tests = lock_tests(suite, "observer", 60000);

    tcase_add_loop_test(tests, observer_of_nothing, 0, 2);
    tcase_add_test(tests, observers_of_one_session);
    tcase_add_loop_test(tests, those_that_look_share_a_sync, 0, 2);
    tcase_add_test(tests, observer_leaves_its_watch);
    tcase_add_loop_test(tests, observer_is_cut_off, 0, 4);
    tcase_add_loop_test(tests, observer_expires, 0, 2);
    tcase_add_test(tests, garbage_says_nobody);
    tcase_add_loop_test(tests, garbage_at_first, 0,
                        sizeof garbage / sizeof garbage[0]);
    tcase_add_test(tests, leader_may_not_be_read);
    tcase_add_loop_test(tests, observer_freed_inside, 0, 2);
    tcase_add_loop_test(tests, forged_epoch_is_no_epoch, 0, 3);
    return lock_suite_run(suite);
}
