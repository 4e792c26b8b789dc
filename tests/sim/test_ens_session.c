/* What the simulated servers promise of sessions and watches: who may speak for
 * a session, when it ends, what goes with it, and when watches are told.  Where
 * one fails, the explorer no longer looks for the faults that come from it. */
#include "test_world.h"

/* A client that was thought dead speaks up on its old connection. */
START_TEST(moved_session_cannot_write_by_its_old_server)
{
    static const int move[][2] = {{1, 0}, {0, 1}, {1, 2}};

    for (size_t i = 0; i < UNIT_COUNT(move); i++) {
        struct raw old = {0}, c;

        begin_with_a();
        raw_open(&old, move[i][0]);
        c = old;
        raw_open(&c, move[i][1]);
        RAW_HEARS(&old, "");
        raw_create(&old, "/a/x", 0);
        pass(20 * MS);
        RAW_HEARS(&old, "hung up");
        ck_assert(!is_there("/a/x"));
        raw_create(&c, "/a/y", 0);
        pass(20 * MS);
        RAW_HEARS(&c, "1=0 /a/y");
        all_is_well();
    }
}
END_TEST

/* The leader knows at once; a follower would have to ask. */
START_TEST(moved_session_reads_on_at_a_follower)
{
    static const char *const heard[] = {"hung up", "1=0 []"};

    for (int server = 0; server < 2; server++) {
        struct raw old = {0}, c;

        begin_with_a();
        raw_open(&old, server);
        c = old;
        raw_open(&c, 2);
        raw_list(&old, "/a");
        pass(20 * MS);
        RAW_HEARS(&old, heard[server]);
        all_is_well();
    }
}
END_TEST

/* On one server the older connection goes at once. */
START_TEST(a_session_has_one_connection_at_a_server)
{
    struct raw old = {0}, c;

    begin_with_a();
    raw_open(&old, 1);
    c = old;
    raw_open(&c, 1);
    RAW_HEARS(&old, "hung up");
    RAW_HEARS(&c, "");
    all_is_well();
}
END_TEST

/* The leader rounds up to its tick; what the session owns goes at one moment,
 * in one transaction. */
START_TEST(silent_session_expires_at_a_tick)
{
    const int64_t tick = three_servers().tick_ms * MS;
    int64_t heard, end, before;
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 1);
    raw_create(&c, "/a/x", ZOO_EPHEMERAL);
    raw_create(&c, "/a/y", ZOO_EPHEMERAL);
    raw_create(&c, "/a/z", ZOO_PERSISTENT);
    heard = sim_now() + WIRE_US;
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 /a/x, 2=0 /a/y, 3=0 /a/z");
    before = ens_committed();
    end = when_gone("/a/x") - three_servers().commit_us;
    ck_assert_int_eq(end % tick, 0);
    ck_assert_int_gt(end, heard + 1000 * MS);
    ck_assert_int_le(end, heard + 1000 * MS + 2 * tick);
    ck_assert(!is_there("/a/y") && is_there("/a/z"));
    ck_assert_int_eq(ens_committed(), before + 1);
    ck_assert(!ens_alive(c.session));
    pass(10 * MS);
    RAW_HEARS(&c, "hung up");
    all_is_well();
}
END_TEST

START_TEST(pings_keep_a_session)
{
    for (int server = 0; server < SIM_SERVERS; server++) {
        struct raw c = {0};

        begin_with_a();
        raw_open(&c, server);
        for (int i = 0; i < 6; i++) {
            raw_ping(&c);
            pass(600 * MS);
        }
        ck_assert(ens_alive(c.session));
        RAW_HEARS(&c, "1=0, 2=0, 3=0, 4=0, 5=0, 6=0");
        all_is_well();
    }
}
END_TEST

START_TEST(ended_session_is_unknown)
{
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 0);
    ck_assert(ens_expire(c.session));
    ck_assert(!ens_expire(c.session)); /* Its end is proposed. */
    pass(10 * MS);
    RAW_HEARS(&c, "hung up");
    for (int server = 0; server < SIM_SERVERS; server++) {
        raw_connect(&c, server);
        RAW_HEARS(&c, "unknown, hung up");
    }
    all_is_well();
}
END_TEST

/* Nothing can save it any more. */
START_TEST(session_whose_end_is_proposed_is_unknown)
{
    for (int server = 0; server < SIM_SERVERS; server++) {
        struct raw c = {0};

        begin_with_a();
        raw_open(&c, 1);
        ens_hold_commits(sim_now() + 100 * MS);
        ck_assert(ens_expire(c.session));
        raw_connect(&c, server);
        ck_assert(ens_alive(c.session));
        RAW_HEARS(&c, "unknown, hung up");
        all_is_well();
    }
}
END_TEST

START_TEST(wrong_password_is_unknown)
{
    struct raw c = {0}, thief;

    begin_with_a();
    raw_open(&c, 1);
    for (int server = 0; server < SIM_SERVERS; server += 2) {
        thief = c;
        thief.passwd[15] ^= 1;
        raw_connect(&thief, server);
        RAW_HEARS(&thief, "unknown, hung up");
    }
    raw_create(&c, "/a/x", 0);
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 /a/x");
    all_is_well();
}
END_TEST

/* Time must not go backwards for a client. */
START_TEST(client_that_has_seen_more_is_hung_up_on)
{
    struct raw c = {0};

    begin_with_a();
    ens_lag(2, sim_now() + 50 * MS);
    ck_assert_int_eq(ens_create("/a/x", "", 0, ZOO_PERSISTENT), ZOK);
    pass(10 * MS);
    c.zxid = ens_committed();
    raw_connect(&c, 2);
    RAW_HEARS(&c, "hung up");
    raw_open(&c, 1);
    all_is_well();
}
END_TEST

/* Watches. */

START_TEST(watch_is_lost_with_its_connection)
{
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 1);
    raw_ask(&c, ZOO_GETDATA_OP, "/a", 0, true);
    pass(5 * MS);
    RAW_HEARS(&c, "1=0");
    ck_assert_uint_eq(ens_watches_of(c.session), 1);
    wire_cut(c.conn);
    raw_open(&c, 1);
    ck_assert_uint_eq(ens_watches(), 0);
    ck_assert_int_eq(ens_set_data("/a", "x", 1), ZOK);
    pass(10 * MS);
    RAW_HEARS(&c, "");
    all_is_well();
}
END_TEST

/* One-shot, and told before the answer to the write that set it off. */
START_TEST(event_comes_before_the_writers_answer)
{
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 1);
    raw_ask(&c, ZOO_GETCHILDREN_OP, "/a", 0, true);
    raw_create(&c, "/a/x", 0);
    raw_create(&c, "/a/y", 0);
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 [], event 4 /a, 2=0 /a/x, 3=0 /a/y");
    ck_assert_uint_eq(ens_watches(), 0);
    all_is_well();
}
END_TEST

/* Each server tells when it has applied it: a lagging one late. */
START_TEST(event_comes_when_the_own_server_applies)
{
    struct raw c = {0}, far = {.proc = 1};

    begin_with_a();
    raw_open(&c, 0);
    raw_open(&far, 2);
    raw_ask(&c, ZOO_EXISTS_OP, "/a/x", 0, true);
    raw_ask(&far, ZOO_EXISTS_OP, "/a/x", 0, true);
    pass(5 * MS);
    ens_lag(2, sim_now() + 50 * MS);
    ck_assert_int_eq(ens_create("/a/x", "", 0, ZOO_PERSISTENT), ZOK);
    pass(20 * MS);
    RAW_HEARS(&c, "1=-101, event 1 /a/x");
    RAW_HEARS(&far, "1=-101");
    pass(40 * MS);
    RAW_HEARS(&far, "event 1 /a/x");
    all_is_well();
}
END_TEST

/* The end. */

START_TEST(closed_session_leaves_nothing)
{
    struct sim_step step;
    struct raw c = {0};
    size_t before;

    begin_with_a();
    before = sim_live(SIM_OUTSIDE);
    raw_open(&c, 1);
    raw_ask(&c, ZOO_GETCHILDREN_OP, "/a", 0, true);
    raw_ask(&c, ZOO_EXISTS_OP, "/b", 0, true);
    raw_create(&c, "/a/x", ZOO_EPHEMERAL);
    raw_ask(&c, WIRE_CLOSE, NULL, 0, false);
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 [], 2=-101, event 4 /a, 3=0 /a/x, 4=0, hung up");
    raw_close(&c);
    pass(1000 * MS);
    ck_assert(!is_there("/a/x"));
    ck_assert_uint_eq(ens_sessions(), 0);
    ck_assert_uint_eq(ens_watches(), 0);
    ck_assert_uint_eq(sim_live(SIM_OUTSIDE), before);
    ck_assert(!sim_next(&step)); /* Nothing will ever happen. */
    all_is_well();
}
END_TEST

UNIT_MAIN("ens_session", moved_session_reads_on_at_a_follower,
          session_whose_end_is_proposed_is_unknown,
          moved_session_cannot_write_by_its_old_server,
          a_session_has_one_connection_at_a_server,
          silent_session_expires_at_a_tick, pings_keep_a_session,
          ended_session_is_unknown, wrong_password_is_unknown,
          client_that_has_seen_more_is_hung_up_on,
          watch_is_lost_with_its_connection,
          event_comes_before_the_writers_answer,
          event_comes_when_the_own_server_applies,
          closed_session_leaves_nothing)
