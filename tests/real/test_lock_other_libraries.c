/*
 * Other libraries' contenders in the directories of locks, elections and
 * shards, made by hand: when they are seen, and when not.  The libraries
 * themselves are in test_lock_curator.c and test_lock_kazoo.c.
 */
#define _GNU_SOURCE 1
#include "test_peers.h"
#include "test_shards.h"

/* A contender of each, but for its number. */
static const struct {
    const char *name, *library;
    evzk_lock_mode mode;
} others[] = {
    {"_c_8c823d66-1389-45a5-ac10-1c0cab197064-__WRIT__", "Curator",
     EVZK_LOCK_EXCLUSIVE},
    {"_c_8c823d66-1389-45a5-ac10-1c0cab197064-__READ__", "Curator",
     EVZK_LOCK_READ},
    {"_c_8c823d66-1389-45a5-ac10-1c0cab197064-latch-", "Curator",
     EVZK_LOCK_EXCLUSIVE},
    {"_c_8c823d66-1389-45a5-ac10-1c0cab197064-lease-", "Curator",
     EVZK_LOCK_EXCLUSIVE},
    {"8c823d66138945a5ac101c0cab197064__lock__", "Kazoo", EVZK_LOCK_EXCLUSIVE},
    {"8c823d66138945a5ac101c0cab197064__rlock__", "Kazoo", EVZK_LOCK_READ},
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* Of the operator's session. */
static const char *put(const char *dir, const char *name)
{
    static char made[256];

    raw_mkdirs(op(), dir);
    ck_assert_int_eq(raw_create(op(), node_path(dir, name), "them", 4,
                                ZOO_EPHEMERAL | ZOO_SEQUENCE, made,
                                sizeof made),
                     ZOK);
    return made;
}

START_TEST(refused_and_shown)
{
    const char *dir = "/others/refused", *made;
    struct logged g;
    struct claim c;

    raw_delete_tree(op(), "/others");
    made = put(dir, others[_i].name);
    logged_open(&g);
    all_are_refused(g.p.s, dir, 1);
    ck_assert_ptr_nonnull(strstr(g.log, made)); /* Directory and name. */
    ck_assert_ptr_nonnull(strstr(g.log, others[_i].library));
    ck_assert_int_eq(raw_delete(op(), made), ZOK);
    claim_held(&c, g.p.s, dir, NULL);
    claim_release(&c);
    peer_close(&g.p);
    raw_delete_tree(op(), "/others");
}
END_TEST

/* ---- One that comes later ---- */

/* A waiter that looks again is refused; one that is handed the lock, and the
 * holder, do not look. */
START_TEST(seen_by_those_that_look)
{
    const char *dir = "/others/later";
    struct peer p, q;
    struct claim held, next, third;

    raw_delete_tree(op(), "/others");
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, q.s, dir, NULL);
    claim_queued(&third, p.s, dir, NULL);
    put(dir, others[0].name);
    claim_cancel(&next);
    WAIT(third.rec.finals == 1);
    ck_assert_str_eq(third.rec.text, "FAILED(FOREIGN)");
    evzk_lock_free(third.l);
    settle(p.s);
    ck_assert_str_eq(held.rec.text, "GRANTED");
    ck_assert(evzk_lock_held(held.l));
    claim_release(&held);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), "/others");
}
END_TEST

/* The foreign lock came before: one in the same session (0), or in another (1).
 */
START_TEST(not_seen_by_the_next)
{
    const char *dir = "/others/next";
    struct peer p, q;
    struct claim held, next, late;

    raw_delete_tree(op(), "/others");
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, _i == 0 ? p.s : q.s, dir, NULL);
    put(dir, others[0].name);
    claim(&late, p.s, dir, NULL); /* After it. */
    WAIT(late.rec.finals == 1);
    ck_assert_str_eq(late.rec.text, "FAILED(FOREIGN)");
    evzk_lock_free(late.l);
    claim_release(&held);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), "/others");
}
END_TEST

/* ---- Looking up ---- */

struct shown {
    size_t n;
    int rc;
    bool done;
    struct {
        char node[128], library[16];
        bool foreign, holder;
        evzk_lock_mode mode;
        int64_t session;
        uint64_t token;
        char data[8];
    } v[2 + OTHERS];
};

static void on_shown(evzk_lock_query *q, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct shown *s = arg;

    s->done = true;
    s->rc = rc;
    s->n = n;
    ck_assert_uint_le(n, 2 + OTHERS);
    for (size_t i = 0; i < n; i++) {
        snprintf(s->v[i].node, sizeof s->v[i].node, "%s", v[i].node);
        snprintf(s->v[i].library, sizeof s->v[i].library, "%s",
                 v[i].library ? v[i].library : "");
        snprintf(s->v[i].data, sizeof s->v[i].data, "%.*s", (int)v[i].data_len,
                 (const char *)v[i].data);
        s->v[i].foreign = v[i].foreign;
        s->v[i].holder = v[i].holder;
        s->v[i].mode = v[i].mode;
        s->v[i].session = v[i].session;
        s->v[i].token = v[i].token;
    }
    evzk_lock_query_free(q);
}

static void check_other(const struct shown *s, size_t i, int which)
{
    ck_assert_int_eq(
        strncmp(s->v[i].node, others[which].name, strlen(others[which].name)),
        0);
    ck_assert_str_eq(s->v[i].library, others[which].library);
    ck_assert(s->v[i].foreign);
    ck_assert(!s->v[i].holder);
    ck_assert_int_eq(s->v[i].mode, others[which].mode);
    ck_assert(s->v[i].session == raw_id(op()).client_id);
    ck_assert_uint_eq(s->v[i].token, 0);
    ck_assert_str_eq(s->v[i].data, "them");
}

/* Behind our own, in the order in which they came. */
START_TEST(looked_up)
{
    const char *dir = "/others/shown";
    evzk_lock_query *q;
    struct shown s = {0};
    struct peer p;
    struct claim c;

    raw_delete_tree(op(), "/others");
    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, NULL);
    for (int i = 0; i < OTHERS; i++)
        put(dir, others[i].name);
    put(dir, "_c_8c823d66-1389-45a5-ac10-1c0cab197064-lock-");
    ck_assert_int_eq(evzk_lock_query_start(p.s, dir, on_shown, &s, &q),
                     EVZK_OK);
    WAIT(s.done);
    ck_assert_int_eq(s.rc, EVZK_OK);
    ck_assert_uint_eq(s.n, 2 + OTHERS);
    ck_assert_str_eq(s.v[0].node, evzk_lock_node(c.l));
    ck_assert(s.v[0].holder && !s.v[0].foreign);
    ck_assert_str_eq(s.v[0].library, "");
    ck_assert_str_eq(s.v[1].library, "Curator"); /* Its mutex waits. */
    ck_assert(!s.v[1].holder && !s.v[1].foreign);
    ck_assert_uint_gt(s.v[1].token, s.v[0].token);
    for (int i = 0; i < OTHERS; i++)
        check_other(&s, 2 + (size_t)i, i);
    claim_release(&c);
    peer_close(&p);
    raw_delete_tree(op(), "/others");
}
END_TEST

/* Where there is no contender of evzk's, the others hold and wait by the rules
 * of their library. */
START_TEST(looked_up_alone)
{
    const char *dir = "/others/alone";
    evzk_lock_query *q;
    struct shown s = {0};
    struct peer p;

    raw_delete_tree(op(), "/others");
    peer_open(&p, the_server());
    put(dir, "7ba7cf84a0d84f0bba9d3a02bb9c1e3d__rlock__");
    put(dir, "8ba7cf84a0d84f0bba9d3a02bb9c1e3d__rlock__");
    put(dir, "9ba7cf84a0d84f0bba9d3a02bb9c1e3d__lock__");
    ck_assert_int_eq(evzk_lock_query_start(p.s, dir, on_shown, &s, &q),
                     EVZK_OK);
    WAIT(s.done);
    ck_assert_uint_eq(s.n, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(s.v[i].library, "Kazoo");
        ck_assert(!s.v[i].foreign && s.v[i].holder == (i < 2));
        ck_assert_uint_gt(s.v[i].token, 0);
        ck_assert_int_eq(s.v[i].mode, i < 2 ? EVZK_LOCK_READ : EVZK_LOCK_WRITE);
    }
    peer_close(&p);
    raw_delete_tree(op(), "/others");
}
END_TEST

START_TEST(example_names_it)
{
    const char *dir = "/others/who";
    char line[512], said[1024];
    size_t n;
    FILE *f;

    raw_delete_tree(op(), "/others");
    put(dir, others[4].name);
    put(dir, "mine-lock-");
    snprintf(line, sizeof line, "exec '%s/examples/who' %s %s", build_folder(),
             the_server(), dir);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    n = fread(said, 1, sizeof said - 1, f);
    said[n] = '\0';
    ck_assert_int_eq(pclose(f), 0);
    ck_assert_msg(strstr(said, "there") && strstr(said, "of Kazoo") &&
                      strstr(said, others[4].name),
                  "%s", said);
    raw_delete_tree(op(), "/others");
}
END_TEST

/* ---- Shards ---- */

/* That shard is stood for again with the next plan; the others are led. */
START_TEST(one_shard_is_refused)
{
    enum { N = 4 };
    const evzk_shards_options opt = {.count = N};
    char made[256];
    struct team *t;

    raw_delete_tree(op(), "/others-shards");
    snprintf(made, sizeof made, "%s",
             put("/others-shards/shard-2", others[2].name));
    t = team_open("/others-shards", 2);
    team_join(t, 0, &opt);
    WAIT(t->v[0].failed == 1 && led_by(&t->v[0]) == N - 1);
    ck_assert_int_eq(t->v[0].lost_rc, EVZK_ERR_FOREIGN);
    ck_assert_int_eq(leaders_of(2), 0);
    ck_assert_int_eq(raw_delete(op(), made), ZOK);
    team_join(t, 1, &opt); /* Hence another plan. */
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(t->v[0].finals + t->v[1].finals, 0);
    team_close(t);
}
END_TEST

/* Nobody's lock is there: it does not matter. */
START_TEST(members_stay)
{
    enum { N = 4 };
    char made[256];
    struct team *t;

    raw_delete_tree(op(), "/others-members");
    snprintf(made, sizeof made, "%s",
             put("/others-members/members", others[4].name));
    t = team_start("/others-members", 2, 2, N);
    ck_assert_int_eq(t->v[0].finals + t->v[1].finals, 0);
    ck_assert_int_eq(raw_delete(op(), made), ZOK);
    team_close(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-others");
    TCase *tests = lock_tests(suite, "others", 60000);

    tcase_add_loop_test(tests, refused_and_shown, 0, OTHERS);
    tcase_add_test(tests, seen_by_those_that_look);
    tcase_add_loop_test(tests, not_seen_by_the_next, 0, 2);
    tcase_add_test(tests, looked_up);
    tcase_add_test(tests, looked_up_alone);
    tcase_add_test(tests, example_names_it);
    tcase_add_test(tests, one_shard_is_refused);
    tcase_add_test(tests, members_stay);
    return lock_suite_run(suite);
}
