/*
 * Many shards spread over several members, on a real server: how even, how many
 * moves, and how long a shard has no leader.
 */
#include "test_shards.h"

/* Opcodes that the proxy is asked for. */
enum { OP_CREATE_1 = 1, OP_SET = 5, OP_MULTI = 14 };

/* One, then two, then three; each takes its share, and nothing else moves; then
 * one drains, and one dies. */
START_TEST(members_come_and_go)
{
    enum { N = 300 };
    const evzk_shards_options opt = {.count = N};
    static struct member m[3];

    for (int i = 0; i < 3; i++)
        peer_open(&m[i].p, the_server());
    for (int i = 0; i < 3; i++) {
        member_join(&m[i], i, m[i].p.s, "/shards", &opt);
        for (int j = 0; j <= i; j++)
            WAIT(is_balanced(&m[j], (uint32_t)i + 1));
        for (int j = 0; j <= i; j++)
            ck_assert_uint_eq(led_by(&m[j]), N / ((uint32_t)i + 1));
    }
    ck_assert_int_eq(m[0].resigned, 200);
    ck_assert_int_eq(m[1].resigned, 50);
    ck_assert_int_eq(m[1].elected, 150);
    ck_assert_int_eq(m[2].elected, 100);
    ck_assert_uint_eq(stats_of(&m[0]).moves, 150 + 100);
    ck_assert(stats_of(&m[0]).planner && !stats_of(&m[2]).planner);
    printf("longest without a leader: %lld ms\n", (long long)shard_longest);
    ck_assert_int_eq(evzk_shards_drain(m[0].a, 0), EVZK_OK);
    WAIT(m[0].finals == 1);
    ck_assert_int_eq(m[0].last, EVZK_SHARDS_DRAINED);
    WAIT(is_balanced(&m[1], 2) && is_balanced(&m[2], 2));
    ck_assert_uint_eq(led_by(&m[1]) + led_by(&m[2]), N);
    printf("longest without a leader: %lld ms\n", (long long)shard_longest);
    member_leave(&m[0], 0);
    member_leave(&m[1], 1);
    WAIT(is_balanced(&m[2], 1));
    ck_assert_uint_eq(led_by(&m[2]), N);
    member_leave(&m[2], 2);
    for (int i = 0; i < 3; i++) {
        idle(m[i].p.s);
        peer_close(&m[i].p);
    }
    wait_watches(0);
    raw_delete_tree(op(), "/shards");
}
END_TEST

/* ---- Shares ---- */

START_TEST(weights_and_most)
{
    enum { N = 100 };
    struct team *t = team_open("/shards-weights", 3);

    team_join(t, 0, &(evzk_shards_options){.count = N});
    team_join(t, 1, &(evzk_shards_options){.count = N, .weight = 2});
    team_join(t, 2,
              &(evzk_shards_options){.count = N, .weight = 5, .most = 10});
    TEAM_BALANCED(t, 3, N);
    ck_assert_uint_eq(led_by(&t->v[0]), 30);
    ck_assert_uint_eq(led_by(&t->v[1]), 60);
    ck_assert_uint_eq(led_by(&t->v[2]), 10);
    team_close(t);
}
END_TEST

/* Not all can be led: what is nobody's is led by nobody, and known as such. */
START_TEST(too_few_for_all)
{
    enum { N = 30 };
    const evzk_shards_options few = {.count = N, .most = 10};
    struct team *t = team_open("/shards-few", 3);
    evzk_shards_member to;
    uint32_t nobodys = 0;

    team_join(t, 0, &few);
    team_join(t, 1, &few);
    WAIT(team_is_balanced(t, 2) && shards_led(N) == 20);
    check_leaders(t, N);
    for (uint32_t i = 0; i < N; i++)
        nobodys += !evzk_shards_leader(t->v[0].a, i, &to);
    ck_assert_uint_eq(nobodys, 10);
    ck_assert_uint_eq(stats_of(&t->v[1]).nobodys, 10);
    team_join(t, 2, &few);
    TEAM_BALANCED(t, 3, N);
    ck_assert_int_eq(t->v[0].resigned + t->v[1].resigned, 0);
    member_leave(&t->v[0], 0);
    WAIT(team_is_balanced(t, 2) && shards_led(N) == 20);
    team_close(t);
}
END_TEST

/* It is even the first, and makes the plans; it leads nothing, and knows who
 * does. */
START_TEST(observer_says_where_to_go)
{
    enum { N = 20 };
    static const char host[] = "host:80";
    struct team *t = team_open("/shards-observer", 2);
    evzk_shards_member to;
    evzk_shards_stats st;

    team_join(t, 0, &(evzk_shards_options){.count = N, .observer = true});
    WAIT(t->v[0].planned == 1);
    ck_assert(!evzk_shards_leader(t->v[0].a, 0, &to));
    team_join(t, 1,
              &(evzk_shards_options){
                  .count = N, .data = host, .data_len = sizeof host});
    TEAM_BALANCED(t, 2, N);
    for (uint32_t i = 0; i < N; i++) {
        ck_assert(evzk_shards_leader(t->v[0].a, i, &to));
        ck_assert(!to.self);
        ck_assert_uint_eq(to.data_len, sizeof host);
        ck_assert_str_eq(to.data, host);
    }
    st = stats_of(&t->v[0]);
    ck_assert(st.planner);
    ck_assert_uint_eq(st.planned + st.elected + st.leading + st.nobodys, 0);
    ck_assert(evzk_shards_member_at(t->v[0].a, 1, &to));
    ck_assert_uint_eq(to.planned, N);
    ck_assert(evzk_shards_member_at(t->v[0].a, 0, &to));
    ck_assert(to.self);
    ck_assert(!evzk_shards_member_at(t->v[0].a, 2, &to));
    ck_assert(!evzk_shards_leader(t->v[0].a, N, &to));
    member_leave(&t->v[1], 1);
    WAIT(stats_of(&t->v[0]).nobodys == N);
    ck_assert(!evzk_shards_leader(t->v[0].a, 0, &to));
    ck_assert_int_eq(t->v[0].elected, 0);
    team_close(t);
}
END_TEST

START_TEST(twice_in_one_session)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-twice", 1);

    member_join(&t->v[0], 0, t->v[0].p.s, t->path, &opt);
    member_join(&t->v[1], 1, t->v[0].p.s, t->path, &opt);
    TEAM_BALANCED(t, 2, N);
    ck_assert_uint_eq(led_by(&t->v[0]), N / 2);
    member_leave(&t->v[0], 0);
    TEAM_BALANCED(t, 1, N);
    team_close(t);
}
END_TEST

/* Who has another number of shards is told so, and leads nothing; the others go
 * on, and never hand over to it. */
START_TEST(another_number)
{
    enum { N = 20 };
    struct team *t = team_open("/shards-number", 2);

    team_join(t, 0, &(evzk_shards_options){.count = N});
    TEAM_BALANCED(t, 1, N);
    team_join(t, 1, &(evzk_shards_options){.count = N + 1});
    WAIT(t->v[1].finals == 1);
    ck_assert_int_eq(t->v[1].last, EVZK_SHARDS_FAILED);
    ck_assert_int_eq(t->v[1].rc, EVZK_ERR_INVAL);
    ck_assert_int_eq(t->v[1].elected, 0);
    ck_assert_int_eq(evzk_shards_drain(t->v[1].a, 0), EVZK_ERR_STATE);
    TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(t->v[0].resigned, 0);
    ck_assert_int_eq(t->v[0].elected, N);
    team_close(t);
}
END_TEST

/* The plan of those that have gone was for another number: it is no reason. */
START_TEST(another_number_before)
{
    struct team *t = team_open("/shards-before", 1);

    team_join(t, 0, &(evzk_shards_options){.count = 10});
    TEAM_BALANCED(t, 1, 10);
    member_leave(&t->v[0], 0);
    idle(t->v[0].p.s);
    team_join_anew(t, 0, &(evzk_shards_options){.count = 25});
    TEAM_BALANCED(t, 1, 25);
    team_close(t);
}
END_TEST

/* ---- Acknowledged by the application ---- */

START_TEST(acknowledged_one_by_one)
{
    enum { N = 10 };
    const evzk_shards_options opt = {.count = N, .acknowledge = true};
    struct team *t = team_open("/shards-acknowledge", 1);
    struct member *m = &t->v[0];

    ck_assert_int_eq(evzk_shards_acknowledge(NULL, 0, NULL, 0), EVZK_ERR_INVAL);
    team_join(t, 0, &opt);
    ck_assert_int_eq(evzk_shards_acknowledge(m->a, 0, NULL, 0), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_shards_acknowledge(m->a, N, NULL, 0), EVZK_ERR_INVAL);
    WAIT(m->elected == N);
    settle(m->s);
    ck_assert_int_eq(m->leading + m->balanced, 0);
    ck_assert_uint_eq(stats_of(m).elected, N);
    ck_assert_uint_eq(stats_of(m).leading, 0);
    for (uint32_t i = 0; i < N - 1; i++)
        ck_assert_int_eq(evzk_shards_acknowledge(m->a, i, "x", 1), EVZK_OK);
    WAIT(m->leading == N - 1);
    settle(m->s);
    ck_assert_int_eq(m->balanced, 0);
    ck_assert(evzk_shards_elected(m->a, N - 1));
    ck_assert(!evzk_shards_leading(m->a, N - 1));
    ck_assert_int_eq(evzk_shards_acknowledge(m->a, N - 1, NULL, 0), EVZK_OK);
    WAIT(m->balanced == 1);
    TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(evzk_shards_acknowledge(m->a, 3, "again", 5), EVZK_OK);
    WAIT(m->leading == N + 1);
    ck_assert_uint_eq(led_by(m), N);
    team_close(t);
}
END_TEST

/* ---- Sessions that end ---- */

/* Every shard of it is lost, and it is given its share again, as another. */
START_TEST(expired_comes_back)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-expired", 2);
    uint64_t plan;

    team_join(t, 0, &opt);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    plan = stats_of(&t->v[0]).plan;
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

/* Who makes the plans expires, drains, or is freed: the next one makes them. */
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
    struct team *t = team_open("/shards-closed", 2);
    struct member *m = &t->v[1];

    team_join(t, 0, &opt);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(evzk_session_close(m->s), EVZK_OK);
    ck_assert_int_eq(m->finals, 0);
    WAIT(m->finals == 1 && m->p.rec.finals == 1);
    ck_assert_int_eq(m->last, EVZK_SHARDS_FAILED);
    ck_assert_int_eq(m->rc, EVZK_ERR_CLOSED);
    ck_assert_uint_eq(stats_of(m).elected, 0);
    TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(
        evzk_shards_join(m->s, t->path, &opt, NULL, hear_shards, m, &m->a),
        EVZK_ERR_CLOSED);
    team_close(t);
}
END_TEST

/* ---- Behind a proxy ---- */

static struct proxy *behind_proxy(struct team *t, int i, uint32_t timeout_ms)
{
    const evzk_session_options opt = {.timeout_ms = timeout_ms};
    struct proxy *proxy = proxy_start(the_server());

    ck_assert_int_eq(i, t->sessions);
    peer_start(&t->v[i].p, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(t->v[i].p.s));
    t->sessions++;
    return proxy;
}

/* What it leads is lost when its lease ends, and led by the others; thawed, it
 * comes back. */
START_TEST(frozen_and_thawed)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-frozen", 2);
    struct proxy *proxy = behind_proxy(t, 2, BRIEF_MS);

    for (int i = 0; i < 3; i++)
        team_join(t, i, &opt);
    TEAM_BALANCED(t, 3, N);
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
    proxy_stop(proxy);
}
END_TEST

/* A connection that is cut loses nobody's leader: each hears of the doubt. */
START_TEST(cut_off)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-cut", 1);
    struct proxy *proxy = behind_proxy(t, 1, SESSION_MS);
    struct member *m = &t->v[1];
    uint64_t plan;

    team_join(t, 0, &opt);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    plan = stats_of(m).plan;
    proxy_cut(proxy);
    WAIT(m->resumed == N / 2);
    ck_assert_int_eq(m->suspended, N / 2);
    settle(m->s);
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(m->lost, 0);
    ck_assert_uint_eq(stats_of(m).plan, plan);
    member_leave(&t->v[0], 0); /* It follows the plan, and the members. */
    TEAM_BALANCED(t, 1, N);
    team_close(t);
    proxy_stop(proxy);
}
END_TEST

/* Its znode is there, and it does not know: nothing else comes from it. */
static struct proxy *join_frozen(struct team *t, int i,
                                 const evzk_shards_options *opt)
{
    struct proxy *proxy = behind_proxy(t, i, SESSION_MS);
    int there = raw_count(op(), members_path(t));

    proxy_trap(proxy, PROXY_S2C, OP_CREATE, 1, PROXY_FREEZE_BOTH);
    team_join(t, i, opt);
    WAIT(proxy_fired(proxy) == 1);
    WAIT(raw_count(op(), members_path(t)) == there + 1);
    WAIT(stats_of(&t->v[0]).members == (uint32_t)there + 1);
    return proxy;
}

/* Never ready, it is given nothing: nobody loses its leader to it. */
START_TEST(frozen_while_it_joins)
{
    enum { N = 30 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-joins-frozen", 2);
    struct proxy *proxy;
    int resigned;

    team_join(t, 0, &opt);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    resigned = t->v[0].resigned + t->v[1].resigned; /* Who came first? */
    proxy = join_frozen(t, 2, &opt);
    ck_assert_uint_eq(stats_of(&t->v[0]).planned, N / 3);
    for (int i = 0; i < 2; i++)
        settle(t->v[i].s);
    ck_assert_uint_eq(shards_led(N), N);
    ck_assert_int_eq(t->v[0].resigned + t->v[1].resigned, resigned);
    proxy_thaw(proxy);
    TEAM_BALANCED(t, 3, N);
    ck_assert_int_eq(t->v[0].resigned + t->v[1].resigned, resigned + N / 3);
    team_close(t);
    proxy_stop(proxy);
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

/* Who takes over goes before it has all, and nobody is there to make another
 * plan: when that is heard, the rest stays where it is. */
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
    proxy_stop(handing_over.planner);
    proxy_stop(handing_over.giver);
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
    proxy_stop(proxy);
}
END_TEST

/* ---- Drain ---- */

START_TEST(drain_alone)
{
    enum { N = 20 };
    struct team *t = team_open("/shards-drain-alone", 1);
    struct member *m = &t->v[0];

    team_join(t, 0, &(evzk_shards_options){.count = N});
    if (_i == 1)
        TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(evzk_shards_drain(NULL, 0), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_OK);
    ck_assert_int_eq(evzk_shards_drain(m->a, 10), EVZK_ERR_STATE);
    ck_assert_int_eq(m->finals, 0);
    WAIT(m->finals == 1);
    ck_assert_int_eq(m->last, EVZK_SHARDS_DRAINED);
    ck_assert_int_eq(m->rc, EVZK_OK);
    ck_assert_int_eq(m->resigned, _i == 1 ? N : m->elected);
    ck_assert_int_eq(m->lost, 0);
    ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_ERR_STATE);
    WAIT(raw_count(op(), members_path(t)) <= 0);
    for (uint32_t i = 0; i < N; i++) /* Proved gone when it said so. */
        ck_assert_int_le(raw_count(op(), shard_path(t, i)), 0);
    team_close(t);
}
END_TEST

/* Nobody is ready: all stays led until the time is up, and is given up then. */
START_TEST(drain_with_a_timeout)
{
    enum { N = 20, TIMEOUT = 400 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-drain-late", 1);
    struct member *m = &t->v[0];
    struct proxy *proxy;
    int64_t begun;

    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 1, N);
    proxy = join_frozen(t, 1, &opt);
    begun = now_ms();
    ck_assert_int_eq(evzk_shards_drain(m->a, TIMEOUT), EVZK_OK);
    WAIT(m->resigned > 0);
    ck_assert_int_ge(now_ms() - begun, TIMEOUT - 1);
    WAIT(m->finals == 1);
    ck_assert_int_eq(m->last, EVZK_SHARDS_DRAINED);
    ck_assert_int_eq(m->resigned, N);
    ck_assert_uint_eq(shards_led(N), 0);
    proxy_thaw(proxy);
    TEAM_BALANCED(t, 1, N);
    team_close(t);
    proxy_stop(proxy);
}
END_TEST

/* Both hand over all they have to the one that stays. */
START_TEST(two_drain_at_once)
{
    enum { N = 60 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-drain-two", 3);

    for (int i = 0; i < 3; i++)
        team_join(t, i, &opt);
    TEAM_BALANCED(t, 3, N);
    shard_longest = 0;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(evzk_shards_drain(t->v[_i ? 1 + i : i].a, 0), EVZK_OK);
    for (int i = 0; i < 2; i++) {
        struct member *m = &t->v[_i ? 1 + i : i];

        WAIT(m->finals == 1);
        ck_assert_int_eq(m->last, EVZK_SHARDS_DRAINED);
        ck_assert_int_eq(m->lost, 0);
        ck_assert_int_ge(m->resigned, N / 3);
    }
    TEAM_BALANCED(t, 1, N);
    printf("two drain: longest without a leader: %lld ms\n",
           (long long)shard_longest);
    team_close(t);
}
END_TEST

/* The last two: nobody is left to take, and the time-out ends it. */
START_TEST(all_drain)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-drain-all", 2);

    team_join(t, 0, &opt);
    team_join(t, 1, &opt);
    TEAM_BALANCED(t, 2, N);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(evzk_shards_drain(t->v[i].a, 300), EVZK_OK);
    for (int i = 0; i < 2; i++) {
        WAIT(t->v[i].finals == 1);
        ck_assert_int_eq(t->v[i].last, EVZK_SHARDS_DRAINED);
        ck_assert_int_eq(t->v[i].lost, 0);
    }
    ck_assert_uint_eq(shards_led(N), 0);
    team_close(t);
}
END_TEST

/* ---- Inside a callback ---- */

static void cause(struct team *t, int shard_event, int all_event)
{
    struct member *m = &t->v[0];

    if (shard_event == EVZK_ELECTION_RESIGNED)
        team_join(t, 1, &(evzk_shards_options){.count = m->count});
    else if (shard_event == EVZK_ELECTION_LOST)
        raw_expire(the_server(), evzk_session_id(m->s));
    else if (all_event == EVZK_SHARDS_DRAINED)
        ck_assert_int_eq(evzk_shards_drain(m->a, 0), EVZK_OK);
    else if (all_event == EVZK_SHARDS_FAILED)
        ck_assert_int_eq(evzk_session_close(m->s), EVZK_OK);
}

static const struct {
    int shard, all;
} kinds_of_callback[] = {
    {EVZK_ELECTION_ELECTED, 0},  {EVZK_ELECTION_LEADING, 0},
    {EVZK_ELECTION_RESIGNED, 0}, {EVZK_ELECTION_LOST, 0},
    {0, EVZK_SHARDS_PLANNED},    {0, EVZK_SHARDS_BALANCED},
    {0, EVZK_SHARDS_DRAINED},    {0, EVZK_SHARDS_FAILED}};
enum {
    KINDS_OF_CALLBACK = sizeof kinds_of_callback / sizeof kinds_of_callback[0]
};

static void one_acts(struct team *t, int kind, void (*act)(struct member *m))
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct member *m = &t->v[0];
    bool early;

    m->act = act;
    m->at_shard = (evzk_election_event)kinds_of_callback[kind].shard;
    m->at_all = (evzk_shards_event)kinds_of_callback[kind].all;
    team_join(t, 0, &opt);
    early = m->at_shard == EVZK_ELECTION_ELECTED ||
            m->at_shard == EVZK_ELECTION_LEADING ||
            m->at_all == EVZK_SHARDS_PLANNED ||
            m->at_all == EVZK_SHARDS_BALANCED;
    if (!early) {
        TEAM_BALANCED(t, 1, N);
        cause(t, kinds_of_callback[kind].shard, kinds_of_callback[kind].all);
    }
    WAIT(m->acted);
    if (!t->v[1].a)
        team_join(t, 1, &opt);
}

/* Freed there, it says no more, and gives up all: another takes it. */
START_TEST(freed_inside)
{
    struct team *t = team_open("/shards-freed", 2);

    one_acts(t, _i, member_free);
    TEAM_BALANCED(t, 1, 20);
    team_close(t);
}
END_TEST

static void drain_it(struct member *m)
{
    m->lost_rc = evzk_shards_drain(m->a, 0);
}

/* Asked for there, it ends in DRAINED all the same. */
START_TEST(drained_inside)
{
    struct team *t = team_open("/shards-drained-inside", 2);
    struct member *m = &t->v[0];

    one_acts(t, _i, drain_it);
    WAIT(m->finals == 1);
    if (_i < KINDS_OF_CALLBACK - 2)
        ck_assert_int_eq(m->last, EVZK_SHARDS_DRAINED);
    TEAM_BALANCED(t, 1, 20);
    team_close(t);
}
END_TEST

static void close_session(struct member *m)
{
    int rc = evzk_session_close(m->s);

    ck_assert(rc == EVZK_OK || rc == EVZK_ERR_CLOSED);
}

/* The session is closed there: it ends in FAILED, or has ended. */
START_TEST(closed_inside)
{
    struct team *t = team_open("/shards-closed-inside", 2);
    struct member *m = &t->v[0];

    one_acts(t, _i, close_session);
    WAIT(m->finals == 1);
    if (_i < KINDS_OF_CALLBACK - 2) {
        ck_assert_int_eq(m->last, EVZK_SHARDS_FAILED);
        ck_assert_int_eq(m->rc, EVZK_ERR_CLOSED);
    }
    TEAM_BALANCED(t, 1, 20);
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
    struct team *t = team_open("/shards-spoilt", 3);

    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 1, N);
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

static bool says(const char *node, const char *want)
{
    char text[64] = "";
    int len = sizeof text - 1;

    ck_assert_int_eq(raw_get(op(), node, text, &len, NULL), ZOK);
    return strcmp(text, want) == 0;
}

/* One whose znode says nothing is left out of the next plan; the others lead
 * all. */
START_TEST(member_is_spoilt)
{
    enum { N = 20 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-member-spoilt", 3);
    struct raw_names names;
    const char *node;

    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 1, N);
    ck_assert_int_eq(raw_children(op(), members_path(t), &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    node = node_path(members_path(t), names.name[0]);
    WAIT(says(node, "1 0 1\n")); /* It writes no more, until the next plan. */
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

/* What cannot be said for one shard is told, and tried again with the next
 * plan. */
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
    ck_assert_int_ge(m->balanced, 1);
    team_close(t);
}
END_TEST

/* It may not be a member (0), nor write the plan (1): it fails.  Not stand for
 * a shard (2): that is told for each, once. */
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
    if (_i < 2) {
        WAIT(m->finals == 1);
        ck_assert_int_eq(m->last, EVZK_SHARDS_FAILED);
        ck_assert_int_eq(m->rc, EVZK_ERR_NOAUTH);
    } else {
        WAIT(m->failed == N);
        settle(m->s);
        ck_assert_int_eq(m->failed, N);
        ck_assert_int_eq(m->lost_rc, EVZK_ERR_NOAUTH);
        ck_assert_int_eq(m->balanced + m->finals, 0);
    }
    ck_assert_int_eq(m->elected, 0);
    member_leave(m, 0);
    ck_assert_int_eq(raw_set_acl(op(), t->path, &ZOO_OPEN_ACL_UNSAFE), ZOK);
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
    t = team_open("/shards-memory", 3);
    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 1, N);
    team_join(t, 1, &opt);
    shortage.every = 3 + 2 * (unsigned)_i;
    until = now_ms() + 200;
    WAIT(now_ms() >= until || is_over_or_balanced(&t->v[1]));
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

/* ---- What it costs ---- */

static int64_t writes(struct proxy *proxy)
{
    static const int ops[] = {OP_CREATE_1, OP_DELETE,    OP_SET,
                              OP_CREATE,   OP_CONTAINER, OP_MULTI};
    int64_t n = 0;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        n += proxy_frames_of(proxy, PROXY_C2S, ops[i]);
    return n;
}

START_TEST(few_write_requests)
{
    enum { N = 2000 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_open("/shards-cost", 0);
    struct proxy *proxy = behind_proxy(t, 0, SESSION_MS);
    int64_t joined;

    team_join(t, 0, &opt);
    TEAM_BALANCED(t, 1, N);
    joined = writes(proxy);
    ck_assert_int_eq(evzk_shards_drain(t->v[0].a, 0), EVZK_OK);
    WAIT(t->v[0].finals == 1);
    ck_assert_int_eq(t->v[0].resigned, N);
    printf("%d shards: %lld write requests to join, %lld to leave\n", N,
           (long long)joined, (long long)(writes(proxy) - joined));
    ck_assert_int_le(joined, 200);
    team_close(t);
    proxy_stop(proxy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shards");
    TCase *tests = lock_tests(suite, "shards", 60000);

    tcase_add_test(tests, members_come_and_go);
    tcase_add_test(tests, weights_and_most);
    tcase_add_test(tests, too_few_for_all);
    tcase_add_test(tests, observer_says_where_to_go);
    tcase_add_test(tests, twice_in_one_session);
    tcase_add_test(tests, another_number);
    tcase_add_test(tests, another_number_before);
    tcase_add_test(tests, acknowledged_one_by_one);
    tcase_add_test(tests, expired_comes_back);
    tcase_add_loop_test(tests, planner_goes, 0, 3);
    tcase_add_test(tests, session_closed);
    tcase_add_test(tests, frozen_and_thawed);
    tcase_add_test(tests, cut_off);
    tcase_add_test(tests, frozen_while_it_joins);
    tcase_add_test(tests, taker_goes);
    tcase_add_loop_test(tests, answer_lost, 0, 3 * PROXY_CUTS);
    tcase_add_loop_test(tests, drain_alone, 0, 2);
    tcase_add_test(tests, drain_with_a_timeout);
    tcase_add_loop_test(tests, two_drain_at_once, 0, 2);
    tcase_add_test(tests, all_drain);
    tcase_add_loop_test(tests, freed_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, drained_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, closed_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, plan_is_spoilt, 0, SPOILT);
    tcase_add_test(tests, member_is_spoilt);
    tcase_add_loop_test(tests, znodes_are_deleted, 0, 2);
    tcase_add_test(tests, leader_is_refused);
    tcase_add_loop_test(tests, not_allowed, 0, 3);
    tcase_add_loop_test(tests, memory_is_short, 0, 5);
    tcase_add_test(tests, few_write_requests);
    return lock_suite_run(suite);
}
