/*
 * Many shards spread over several members, on a real server: how even, how many
 * moves, and how long a shard has no leader.
 */
#include "test_shards.h"

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
    wait_drained(&m[0]);
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

/* This member, though first and the planner, leads nothing, and knows the
 * leaders. */
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

/* A member with another number of shards is told so, and leads nothing; the
 * others go on, and never hand over to it. */
START_TEST(another_number)
{
    enum { N = 20 };
    struct team *t = team_start("/shards-number", 2, 1, N);

    team_join(t, 1, &(evzk_shards_options){.count = N + 1});
    wait_failed(&t->v[1], EVZK_ERR_INVAL);
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
    struct team *t = team_start("/shards-before", 1, 1, 10);

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

static struct proxy *taker_proxy;
static int64_t taker_frozen;

static void freeze_taker(struct member *m)
{
    (void)m;
    taker_frozen = now_ms();
    proxy_freeze(taker_proxy, PROXY_BOTH);
}

/* A slow recipient is given one shard, and no more before it leads that; or,
 * each time a while has passed, one: it may be frozen. */
START_TEST(given_as_it_is_taken)
{
    enum { N = 64, PATIENCE_MS = 1000 };
    const evzk_shards_options opt = {.count = N};
    struct team *t = team_start("/shards-slow-taker", 1, 1, N);
    struct member *m = &t->v[0];

    taker_proxy = behind_proxy(t, 1, 30000);
    m->at_shard = EVZK_ELECTION_RESIGNED;
    m->act = freeze_taker;
    team_join(t, 1, &opt);
    WAIT(m->resigned > 0);
    ck_assert_int_eq(m->resigned, 1);
    WAIT(m->resigned > 1);
    ck_assert_int_ge(now_ms() - taker_frozen, PATIENCE_MS / 2);
    WAIT(m->resigned > 2);
    ck_assert_int_eq(m->resigned, 1 + 1 + 1);
    ck_assert_int_ge(now_ms() - taker_frozen, PATIENCE_MS * 3 / 2);
    ck_assert_uint_eq(shards_led(N), N - 3);
    proxy_thaw(taker_proxy);
    TEAM_BALANCED(t, 2, N);
    ck_assert_int_eq(m->resigned, N / 2);
    team_close(t);
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
    wait_drained(m);
    ck_assert_int_eq(m->resigned, _i == 1 ? N : m->elected);
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
    struct team *t = team_start("/shards-drain-late", 1, 1, N);
    struct member *m = &t->v[0];
    struct proxy *proxy;
    int64_t begun;

    proxy = join_frozen(t, 1, &opt);
    begun = now_ms();
    ck_assert_int_eq(evzk_shards_drain(m->a, TIMEOUT), EVZK_OK);
    WAIT(m->resigned > 0);
    ck_assert_int_ge(now_ms() - begun, TIMEOUT - 1);
    wait_drained(m);
    ck_assert_int_eq(m->resigned, N);
    ck_assert_uint_eq(shards_led(N), 0);
    proxy_thaw(proxy);
    TEAM_BALANCED(t, 1, N);
    team_close(t);
}
END_TEST

/* Both hand over all they have to the one that stays. */
START_TEST(two_drain_at_once)
{
    enum { N = 60 };
    struct team *t = team_start("/shards-drain-two", 3, 3, N);

    shard_longest = 0;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(evzk_shards_drain(t->v[_i ? 1 + i : i].a, 0), EVZK_OK);
    for (int i = 0; i < 2; i++) {
        struct member *m = &t->v[_i ? 1 + i : i];

        wait_drained(m);
        ck_assert_int_ge(m->resigned, N / 3);
    }
    TEAM_BALANCED(t, 1, N);
    printf("two drain: longest without a leader: %lld ms\n",
           (long long)shard_longest);
    team_close(t);
}
END_TEST

/* The last two: nobody is left to take, so nobody waits for anybody. */
START_TEST(all_drain)
{
    enum { N = 20 };
    struct team *t = team_start("/shards-drain-all", 2, 2, N);

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(evzk_shards_drain(t->v[i].a, 0), EVZK_OK);
    for (int i = 0; i < 2; i++)
        wait_drained(&t->v[i]);
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

enum { INSIDE_MS = 400 };

static void hold_the_loop(struct member *m)
{
    int64_t until = now_ms() + INSIDE_MS;

    (void)m;
    while (now_ms() < until)
        ;
}

/* The application's callback holds the loop: the session does not say that it
 * was the session. */
START_TEST(time_inside_is_not_the_sessions)
{
    struct team *t = team_open("/shards-time-inside", 2);
    struct member *m = &t->v[0];
    evzk_session_stats st;

    one_acts(t, _i, hold_the_loop);
    TEAM_BALANCED(t, m->finals ? 1 : 2, 20);
    evzk_session_get_stats(m->s, &st);
    ck_assert_uint_gt(st.turn_max_us, 0);
    ck_assert_uint_lt(st.turn_max_us, INSIDE_MS * 1000);
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
    struct team *t = team_open("/shards-cost", 0);
    struct proxy *proxy = behind_proxy(t, 0, SESSION_MS);
    int64_t joined;

    team_fill(t, 1, N);
    joined = writes(proxy);
    ck_assert_int_eq(evzk_shards_drain(t->v[0].a, 0), EVZK_OK);
    wait_drained(&t->v[0]);
    ck_assert_int_eq(t->v[0].resigned, N);
    printf("%d shards: %lld write requests to join, %lld to leave\n", N,
           (long long)joined, (long long)(writes(proxy) - joined));
    ck_assert_int_le(joined, 200);
    team_close(t);
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
    tcase_add_test(tests, given_as_it_is_taken);
    tcase_add_loop_test(tests, drain_alone, 0, 2);
    tcase_add_test(tests, drain_with_a_timeout);
    tcase_add_loop_test(tests, two_drain_at_once, 0, 2);
    tcase_add_test(tests, all_drain);
    tcase_add_loop_test(tests, freed_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, drained_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, closed_inside, 0, KINDS_OF_CALLBACK);
    tcase_add_loop_test(tests, time_inside_is_not_the_sessions, 0,
                        KINDS_OF_CALLBACK);
    tcase_add_test(tests, few_write_requests);
    return lock_suite_run(suite);
}
