/*
 * What befalls many shards on a real server: members that expire, freeze, are
 * cut off or have no memory, answers that are lost, and what others write and
 * delete.  Shares, drains and callbacks are in test_shards.c.
 */
#include "test_shards.h"

/* ---- Sessions that end ---- */

/* Every shard of it is lost, and it is given its share again, as another. */
START_TEST(expired_comes_back)
{
    enum { N = 30 };
    struct team *t = team_start("/shards-expired", 2, 2, N);
    uint64_t plan = stats_of(&t->v[0]).plan;

    team_expire(t, 1);
    ck_assert_int_eq(t->v[1].lost, N / 2);
    ck_assert_int_eq(t->v[1].lost_rc, EVZK_ERR_EXPIRED);
    WAIT(stats_of(&t->v[0]).plan > plan);
    TEAM_BALANCED(t, 2, N);
    ck_assert_uint_eq(led_by(&t->v[1]), N / 2);
    ck_assert_int_eq(t->v[0].lost + t->v[1].finals, 0);
    team_close(t);
}
END_TEST

/* A member comes back with another znode, and knows itself in the plan that
 * still names the former one: no client is sent from it to itself.  Alone (0),
 * or behind who makes the plans (1). */
START_TEST(knows_itself_again)
{
    enum { N = 8 };
    const evzk_shards_options observer = {.count = N, .observer = true};
    const evzk_shards_options opt = {.count = N, .data = "me:1", .data_len = 4};
    struct team *t = team_open("/shards-itself", 2);
    struct member *m = &t->v[_i];
    evzk_shards_member to;
    uint64_t plan;

    if (_i == 1) {
        team_join(t, 0, &observer);
        WAIT(stats_of(&t->v[0]).planner);
    }
    team_join(t, _i, &opt);
    TEAM_BALANCED(t, (uint32_t)_i + 1, N);
    plan = stats_of(m).plan;
    team_expire(t, _i);
    while (stats_of(m).plan == plan) {
        ck_assert(!evzk_shards_leader(m->a, 0, &to) || to.self);
        event_base_loop(harness_base(), EVLOOP_ONCE);
    }
    TEAM_BALANCED(t, (uint32_t)_i + 1, N);
    team_close(t);
}
END_TEST

static void plan_no_more(struct team *t, int how)
{
    struct member *m = &t->v[0];

    switch (how) {
    case 0:
        team_expire(t, 0);
        break;
    case 1:
        ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_OK);
        ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_ERR_STATE);
        break;
    default:
        member_leave(m, 0);
        break;
    }
}

/* The planner expires, drains, or is freed: the next one makes them. */
START_TEST(planner_goes)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-planner", 3);
    uint64_t plan;

    team_join(t, 0, &opt);
    WAIT(stats_of(&t->v[0]).planner);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    ck_assert(!stats_of(&t->v[1]).planner);
    plan = stats_of(&t->v[1]).plan;
    plan_no_more(t, _i);
    WAIT(stats_of(&t->v[1]).planner);
    WAIT(stats_of(&t->v[1]).plan > plan);
    if (_i == 1)
        WAIT(t->v[0].last == EVZK_SHARDS_DRAINED);
    TEAM_BALANCED(t, _i == 0 ? 2 : 1, N);
    team_join(t, 2, &opt);
    TEAM_BALANCED(t, _i == 0 ? 3 : 2, N);
    if (_i == 1)
        ck_assert_int_eq(t->v[0].lost, 0);
    team_close(t);
}
END_TEST

START_TEST(session_closed)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_start("/shards-closed", 2, 2, N);
    struct member *m = &t->v[1];

    ck_assert_int_eq(evzk_session_close(m->s), EVZK_OK);
    ck_assert_int_eq(m->finals, 0);
    wait_failed(m, EVZK_ERR_CLOSED);
    WAIT(m->p.rec.finals == 1);
    ck_assert_uint_eq(stats_of(m).elected, 0);
    TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(
        evzk_shards_join(m->s, t->path, &opt, NULL, hear_shards, m, &m->a),
        EVZK_ERR_CLOSED);
    team_close(t);
}
END_TEST

/* ---- Behind a proxy ---- */

/* A frozen member's shards are lost when its lease ends, and led by the others;
 * thawed, it comes back. */
START_TEST(frozen_and_thawed)
{
    enum { N = 30 };
    struct team *t = team_open("/shards-frozen", 2);
    struct proxy *proxy = behind_proxy(t, 2, BRIEF_MS);

    team_fill(t, 3, N);
    proxy_freeze(proxy, PROXY_BOTH);
    WAIT(t->v[2].lost == N / 3);
    ck_assert_uint_eq(stats_of(&t->v[2]).elected, 0);
    WAIT(led_by(&t->v[0]) + led_by(&t->v[1]) == N && shards_led(N) == N);
    printf("frozen: longest without a leader: %lld ms\n",
           (long long)shard_longest);
    proxy_thaw(proxy);
    TEAM_BALANCED(t, 3, N);
    ck_assert_uint_eq(led_by(&t->v[2]), N / 3);
    team_close(t);
}
END_TEST

/* A connection that is cut loses nobody's leader: each hears of the doubt. */
START_TEST(cut_off)
{
    enum { N = 20 };
    struct team *t = team_open("/shards-cut", 1);
    struct proxy *proxy = behind_proxy(t, 1, SESSION_MS);
    struct member *m = &t->v[1];
    uint64_t plan;

    team_fill(t, 2, N);
    plan = stats_of(m).plan;
    proxy_cut(proxy);
    WAIT(m->resumed == N / 2);
    ck_assert_int_eq(m->suspended, N / 2);
    settle(m->s);
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(m->lost, 0);
    ck_assert_uint_eq(stats_of(m).plan, plan);
    member_leave(&t->v[0], 0); /* Follows the plan, and the members. */
    TEAM_BALANCED(t, 1, N);
    team_close(t);
}
END_TEST

/* Never ready, it is given nothing: nobody loses its leader to it. */
START_TEST(frozen_while_it_joins)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_start("/shards-joins-frozen", 2, 2, N);
    int resigned = t->v[0].resigned + t->v[1].resigned; /* Who came first? */
    struct proxy *proxy = join_frozen(t, 2, &opt);

    ck_assert_uint_eq(stats_of(&t->v[0]).planned, N / 3);
    for (int i = 0; i < 2; i++)
        settle(t->v[i].s);
    ck_assert_uint_eq(shards_led(N), N);
    ck_assert_int_eq(t->v[0].resigned + t->v[1].resigned, resigned);
    proxy_thaw(proxy);
    TEAM_BALANCED(t, 3, N);
    ck_assert_int_eq(t->v[0].resigned + t->v[1].resigned, resigned + N / 3);
    team_close(t);
}
END_TEST

static struct {
    struct proxy *planner, *giver;
    struct member *taker;
} handing_over;

static void freeze_and_free_taker(struct member *m)
{
    (void)m;
    proxy_freeze(handing_over.planner, PROXY_BOTH);
    proxy_freeze(handing_over.giver, PROXY_BOTH);
    member_free(handing_over.taker);
}

/* The recipient goes before it has all shards, and no member is there to make
 * another plan: when that is heard, the rest stays where it is. */
START_TEST(taker_goes)
{
    enum { N = 600 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-taker", 0);
    struct member *m = &t->v[1];

    handing_over.planner = behind_proxy(t, 0, SESSION_MS);
    handing_over.giver = behind_proxy(t, 1, SESSION_MS);
    handing_over.taker = &t->v[2];
    peer_open(&t->v[2].p, the_server());
    t->sessions++;
    team_join(t, 0, &(evzk_shards_options){.count = N, .observer = true});
    WAIT(stats_of(&t->v[0]).planner);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    m->at_shard = EVZK_ELECTION_RESIGNED;
    m->act = freeze_and_free_taker;
    team_join(t, 2, &opt);
    WAIT(m->acted);
    idle(t->v[2].p.s); /* Its znodes have gone. */
    proxy_thaw(handing_over.giver);
    settle(m->s);
    ck_assert_int_lt(m->resigned, N / 2);
    ck_assert_uint_ge(shards_led(N), N / 2 + 1);
    proxy_thaw(handing_over.planner);
    TEAM_BALANCED(t, 2, N);
    team_close(t);
}
END_TEST

/* A write of unknown outcome: the plan's, or what a member says. */
START_TEST(answer_lost)
{
    enum { N = 10 };
    const evzk_shards_options opt = {.count = N};
    static const int ops[] = {OP_CREATE, OP_SET, OP_MULTI};
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];
    struct team *t = team_open("/shards-lost-answer", 1);
    struct proxy *proxy = behind_proxy(t, 1, SESSION_MS);

    proxy_trap(proxy, cut->dir, ops[_i / PROXY_CUTS], 1, cut->act);
    team_join(t, 1, &opt);
    WAIT(proxy_fired(proxy) == 1);
    TEAM_BALANCED(t, 1, N);
    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 2, N);
    team_close(t);
}
END_TEST

/* ---- What others write and delete ---- */

/* Of one who joined first, and one who joins after the plan was spoilt. */
static const char *const spoilt[] = {
    NULL, /* Deleted. */
    "",
    "garbage\n",
    "evzk-plan 1 1 20 1\nsomebody 1 0 0\n\n20*0\n",
    "evzk-plan 1 9 21 0\n21*65535\n",
    "evzk-plan 1 1152921504606846975 20 0\n20*65535\n"};
enum { SPOILT = sizeof spoilt / sizeof spoilt[0] };

/* The next plan is taken, whatever there was instead of the last one; and who
 * leads something goes on meanwhile. */
START_TEST(plan_is_spoilt)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_start("/shards-spoilt", 3, 1, N);

    if (spoilt[_i])
        ck_assert_int_eq(
            raw_set(op(), plan_path(t), spoilt[_i], (int)strlen(spoilt[_i])),
            ZOK);
    else
        ck_assert_int_eq(raw_delete(op(), plan_path(t)), ZOK);
    settle(t->v[0].s);
    ck_assert_int_eq(t->v[0].lost + t->v[0].finals, 0);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    ck_assert_uint_eq(led_by(&t->v[1]), N / 2);
    team_join(t, 2, &opt);
    TEAM_BALANCED(t, 3, N);
    team_close(t);
}
END_TEST

/* For the plan that is there: by its zxid, since a number may come again. */
static bool says_ready(const struct team *t, const char *node)
{
    char text[64] = "", want[64], plan[512];
    int len = sizeof text - 1, plan_len = sizeof plan;
    struct Stat st;

    ck_assert_int_eq(raw_get(op(), plan_path(t), plan, &plan_len, &st), ZOK);
    ck_assert_int_eq(raw_get(op(), node, text, &len, NULL), ZOK);
    snprintf(want, sizeof want, "1 0 %lld\n", (long long)st.mzxid);
    return strcmp(text, want) == 0;
}

/* A member whose znode has no data is left out of the next plan; the others
 * lead all. */
START_TEST(member_is_spoilt)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_start("/shards-member-spoilt", 3, 1, N);
    struct raw_names names;
    const char *node;

    ck_assert_int_eq(raw_children(op(), members_path(t), &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    node = node_path(members_path(t), names.name[0]);
    WAIT(says_ready(t, node)); /* Writes no more, until the next plan. */
    ck_assert_int_eq(raw_set(op(), node, "x\n", 2), ZOK);
    raw_names_free(&names);
    team_join(t, 1, &opt);
    WAIT(led_by(&t->v[1]) == N);
    ck_assert_uint_eq(stats_of(&t->v[0]).members, 1);
    ck_assert_uint_eq(stats_of(&t->v[0]).elected, 0);
    ck_assert_int_eq(t->v[0].resigned, N);
    team_join(t, 2, &opt);
    TEAM_BALANCED(t, 2, N);
    member_leave(&t->v[0], 0);
    TEAM_BALANCED(t, 2, N);
    team_close(t);
}
END_TEST

/* What somebody puts beside the members, which none of us has made: one whose
 * name no plan can have (0); one that may not be read (1).  It is left out, and
 * nobody fails of it. */
START_TEST(member_of_another_kind)
{
    enum { N = 20 };
    static const char *const name[] = {
        "a b-n_0000000009",
        "00000000-0000-4000-8000-000000000000-n_0000000009"};
    const evzk_shards_options opt = {.count = N};
    struct ACL one = {ZOO_PERM_ADMIN, {"world", "anyone"}};
    struct ACL_vector closed = {1, &one};
    struct team *t = team_start("/shards-other-kind", 2, 1, N);
    const char *node = node_path(members_path(t), name[_i]);

    ck_assert_int_eq(raw_create_acl(op(), node, "1 0 0\n", 6, 0,
                                    _i == 1 ? &closed : &ZOO_OPEN_ACL_UNSAFE,
                                    NULL, 0),
                     ZOK);
    settle(t->v[0].s);
    TEAM_BALANCED(t, 1, N);
    team_join(t, 1, &opt); /* Right behind it. */
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(t->v[0].finals + t->v[0].lost + t->v[1].finals, 0);
    ck_assert_uint_le(stats_of(&t->v[0]).plan, 2); /* Not again and again. */
    raw_delete(op(), node_path(members_path(t), name[_i]));
    team_close(t);
}
END_TEST

static void delete_one_child(const char *dir)
{
    struct raw_names names;
    const char *last = NULL;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        if (strcmp(names.name[i], "leader") != 0)
            last = names.name[i];
    }
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(raw_delete(op(), node_path(dir, last)), ZOK);
    raw_names_free(&names);
}

/* The znode by which it is a member: it joins again, behind the other; alone,
 * it leads on meanwhile.  The one by which it stands for a shard: that one is
 * lost, and led anew. */
START_TEST(znodes_are_deleted)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-deleted", 0);
    struct member *m = &t->v[0];
    uint64_t plan;

    for (t->sessions = 0; t->sessions < 2; t->sessions++)
        peer_short(&t->v[t->sessions].p, the_server());
    for (int i = 0; i <= _i; i++) {
        team_join(t, i, &opt);
        TEAM_BALANCED(t, (uint32_t)i + 1, N);
    }
    plan = stats_of(m).plan;
    delete_one_child(members_path(t));
    if (_i == 0)
        delete_one_child(shard_path(t, 3));
    WAIT(stats_of(m).plan > plan && m->lost == (_i == 0));
    WAIT(raw_count(op(), members_path(t)) == _i + 1);
    TEAM_BALANCED(t, (uint32_t)_i + 1, N);
    ck_assert_int_eq(m->failed + m->finals + t->v[1].lost, 0);
    if (_i == 0) {
        ck_assert_int_eq(m->lost_rc, EVZK_ERR_NODEGONE);
        ck_assert_int_eq(m->elected, N + 1);
        ck_assert_int_eq(m->resigned, 0); /* There was nobody else. */
    }
    team_close(t);
}
END_TEST

/* The only member, with a new znode, has no other to wait for, though the plan
 * names a member: it drains, and needs no time-out for that. */
START_TEST(drains_as_another)
{
    enum { N = 6 };
    struct team *t = team_start("/shards-another", 1, 1, N);
    struct member *m = &t->v[0];

    delete_one_child(members_path(t));
    WAIT(stats_of(m).planned == 0);
    ck_assert_uint_eq(led_by(m), N);
    ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_OK);
    wait_drained(m);
    ck_assert_int_eq(m->resigned, N);
    team_close(t);
}
END_TEST

/* An acknowledgement that fails for one shard is told, and tried again with the
 * next plan. */
START_TEST(leader_is_refused)
{
    enum { N = 10 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-refused", 2);
    struct member *m = &t->v[0];

    raw_mkdirs(op(), "/shards-refused/shard-3/leader/child");
    team_join(t, 0, &opt);
    WAIT(m->refused == 1 && led_by(m) == N - 1);
    settle(m->s);
    ck_assert(evzk_shards_elected(m->a, 3));
    ck_assert(!evzk_shards_leading(m->a, 3));
    ck_assert_int_eq(m->refused, 1); /* Not again and again. */
    ck_assert_int_eq(m->balanced + m->finals, 0);
    raw_delete_tree(op(), "/shards-refused/shard-3/leader");
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    WAIT(m->balanced >= 1);
    team_close(t);
}
END_TEST

/* A process that may not be a member (0) fails.  Not write the plan (1), or
 * stand for a shard (2), which is told for each, once: it is tried until it
 * may. */
START_TEST(not_allowed)
{
    enum { N = 10 };
    const evzk_shards_options opt = {.count = N};
    struct ACL one = {ZOO_PERM_READ | ZOO_PERM_ADMIN, {"world", "anyone"}};
    struct ACL_vector closed = {1, &one};
    struct team *t = team_open("/shards-denied", 1);
    struct member *m = &t->v[0];

    raw_mkdirs(op(), _i > 0 ? members_path(t) : t->path);
    if (_i == 2)
        raw_mkdirs(op(), plan_path(t));
    ck_assert_int_eq(raw_set_acl(op(), t->path, &closed), ZOK);
    team_join(t, 0, &opt);
    if (_i == 0)
        wait_failed(m, EVZK_ERR_NOAUTH);
    else if (_i == 1)
        WAIT(stats_of(m).trouble == EVZK_ERR_NOAUTH);
    else {
        WAIT(m->failed == N);
        settle(m->s);
        ck_assert_int_eq(m->failed, N);
        ck_assert_int_eq(m->lost_rc, EVZK_ERR_NOAUTH);
    }
    ck_assert_int_eq(m->elected + m->balanced, 0);
    ck_assert_int_eq(m->finals, _i == 0);
    ck_assert_int_eq(raw_set_acl(op(), t->path, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    if (_i > 0)
        TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(m->failed, _i == 2 ? N : 0);
    team_close(t);
}
END_TEST

/* ---- Memory ---- */

/* While it is short, every so manieth allocation fails. */
static struct {
    unsigned every, n, failed;
} shortage;

static void *scarce(size_t size)
{
    if (shortage.every == 0 || ++shortage.n % shortage.every != 0)
        return malloc(size);
    shortage.failed++;
    return NULL;
}

static bool is_over_or_balanced(const struct member *m)
{
    return m->finals == 1 || is_balanced(m, 2);
}

/* One joins, and takes over, and there is too little memory at times: it fails
 * and says so, or takes its share; what failed for a shard only is mended by
 * the next plan. */
START_TEST(memory_is_short)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t;
    int64_t until;

    evzk_set_allocator(scarce, NULL, NULL);
    t = team_start("/shards-memory", 3, 1, N);
    team_join(t, 1, &opt);
    shortage.every = 3 + 2 * (unsigned)_i;
    until = now_ms() + 200;
    WAIT((now_ms() >= until && shortage.failed > 0) ||
         is_over_or_balanced(&t->v[1]));
    shortage.every = 0;
    ck_assert_uint_gt(shortage.failed, 0);
    team_join(t, 2, &opt);
    for (int i = 0; i < 2; i++)
        ck_assert(t->v[i].finals == 0 || t->v[i].rc == EVZK_ERR_NOMEM);
    WAIT(stats_of(&t->v[2]).members ==
             3 - (uint32_t)(t->v[0].finals + t->v[1].finals) &&
         team_is_balanced(t, stats_of(&t->v[2]).members) && shards_led(N) == N);
    check_leaders(t, N);
    team_close(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shards_trouble");
    TCase *tests = lock_tests(suite, "shards_trouble", 60000);

    tcase_add_test(tests, expired_comes_back);
    tcase_add_loop_test(tests, knows_itself_again, 0, 2);
    tcase_add_loop_test(tests, planner_goes, 0, 3);
    tcase_add_test(tests, session_closed);
    tcase_add_test(tests, frozen_and_thawed);
    tcase_add_test(tests, cut_off);
    tcase_add_test(tests, frozen_while_it_joins);
    tcase_add_test(tests, taker_goes);
    tcase_add_loop_test(tests, answer_lost, 0, 3 * PROXY_CUTS);
    tcase_add_loop_test(tests, plan_is_spoilt, 0, SPOILT);
    tcase_add_test(tests, member_is_spoilt);
    tcase_add_loop_test(tests, member_of_another_kind, 0, 2);
    tcase_add_loop_test(tests, znodes_are_deleted, 0, 2);
    tcase_add_test(tests, drains_as_another);
    tcase_add_test(tests, leader_is_refused);
    tcase_add_loop_test(tests, not_allowed, 0, 3);
    tcase_add_loop_test(tests, memory_is_short, 0, 5);
    return lock_suite_run(suite);
}
