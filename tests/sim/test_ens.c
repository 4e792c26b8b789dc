/* What the simulated servers promise of writes and reads: their one order, who
 * sees how much of it, and what goes by itself.  Each test is one fact of real
 * servers that the library has to live with; where one fails, the explorer no
 * longer looks for the faults that come from it. */
#include "test_world.h"

/* A create is proposed and not committed, its connection cut, and its client
 * with another server. */
static void create_late(struct raw *c, int server)
{
    struct ens_seen seen;

    begin_with_a();
    raw_open(c, 1);
    ens_hold_commits(sim_now() + 100 * MS);
    raw_create(c, "/a/n-", ZOO_EPHEMERAL_SEQUENTIAL);
    pass(3 * MS);
    wire_cut(c->conn);
    raw_open(c, server);
    ck_assert(!ens_look("/a/n-0000000000", &seen));
    ck_assert(ens_look_ahead("/a/n-0000000000", &seen));
    ck_assert_int_eq(seen.owner, c->session);
    c->xid = 0;
}

/* Not even by a sync, which the leader answers its own clients like a read. */
START_TEST(late_create_is_not_seen_at_the_leader)
{
    struct raw c = {0};

    create_late(&c, 0);
    raw_list(&c, "/a");
    raw_sync(&c);
    raw_list(&c, "/a");
    pass(5 * MS);
    RAW_HEARS(&c, "1=0 [], 2=0 /a, 3=0 []");
    pass(100 * MS);
    raw_list(&c, "/a");
    pass(5 * MS);
    RAW_HEARS(&c, "4=0 [n-0000000000]");
    all_is_well();
}
END_TEST

START_TEST(late_create_is_seen_after_sync_at_a_follower)
{
    struct raw c = {0};

    create_late(&c, 2);
    raw_list(&c, "/a");
    raw_sync(&c);
    raw_list(&c, "/a");
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 []");
    pass(100 * MS);
    RAW_HEARS(&c, "2=0 /a, 3=0 [n-0000000000]");
    all_is_well();
}
END_TEST

/* A write settles it anywhere, also one that fails: errors have their place in
 * the order of transactions. */
START_TEST(late_create_is_seen_after_a_failing_delete)
{
    for (int server = 0; server < SIM_SERVERS; server += 2) {
        struct raw c = {0};

        create_late(&c, server);
        raw_delete(&c, "/none");
        raw_list(&c, "/a");
        pass(20 * MS);
        RAW_HEARS(&c, "");
        pass(100 * MS);
        RAW_HEARS(&c, "1=-101, 2=0 [n-0000000000]");
        all_is_well();
    }
}
END_TEST

/* To the leader, the commit, and back. */
START_TEST(writes_take_their_time)
{
    for (int server = 0; server < SIM_SERVERS; server++) {
        const struct ens_config cfg = three_servers();
        struct raw c = {0};

        begin_with_a();
        raw_open(&c, server);
        raw_create(&c, "/a/x", 0);
        pass(2 * WIRE_US + cfg.commit_us + (server ? 2 * cfg.link_us : 0) - 1);
        RAW_HEARS(&c, "");
        pass(1);
        RAW_HEARS(&c, "1=0 /a/x");
        all_is_well();
    }
}
END_TEST

START_TEST(own_writes_are_read_and_others_do_not_wait)
{
    struct raw c = {0}, other = {.proc = 1};

    begin_with_a();
    raw_open(&c, 1);
    raw_open(&other, 1);
    raw_create(&c, "/a/x", 0);
    raw_list(&c, "/a");
    raw_list(&other, "/a");
    pass(2 * WIRE_US);
    RAW_HEARS(&c, "");
    RAW_HEARS(&other, "1=0 []");
    pass(10 * MS);
    RAW_HEARS(&c, "1=0 /a/x, 2=0 [x]");
    all_is_well();
}
END_TEST

static void ask_all(struct raw *c)
{
    raw_list(c, "/a");
    raw_ask(c, ZOO_GETDATA_OP, "/a/x", 0, false);
    raw_ask(c, ZOO_EXISTS_OP, "/a/y", 0, false);
}

START_TEST(lagging_follower_reads_old)
{
    struct raw c = {0}, far = {.proc = 1};

    begin_with_a();
    ck_assert_int_eq(ens_create("/a/x", "", 0, ZOO_PERSISTENT), ZOK);
    raw_open(&c, 0);
    raw_open(&far, 2);
    ens_lag(2, sim_now() + 50 * MS);
    ck_assert_int_eq(ens_delete("/a/x"), ZOK);
    ck_assert_int_eq(ens_create("/a/y", "", 0, ZOO_PERSISTENT), ZOK);
    pass(10 * MS);
    ask_all(&c);
    ask_all(&far);
    pass(5 * MS);
    RAW_HEARS(&c, "1=0 [y], 2=-101, 3=0");
    RAW_HEARS(&far, "1=0 [x], 2=0, 3=-101");
    pass(40 * MS);
    ask_all(&far);
    pass(5 * MS);
    RAW_HEARS(&far, "4=0 [y], 5=-101, 6=0");
    all_is_well();
}
END_TEST

START_TEST(sync_waits_for_the_lagging_follower)
{
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 2);
    ck_assert_int_eq(ens_create("/a/x", "", 0, ZOO_PERSISTENT), ZOK);
    ens_lag(2, sim_now() + 50 * MS);
    raw_sync(&c);
    raw_list(&c, "/a");
    pass(40 * MS);
    RAW_HEARS(&c, "");
    pass(20 * MS);
    RAW_HEARS(&c, "1=0 /a, 2=0 [x]");
    all_is_well();
}
END_TEST

/* A follower that is cut off from its leader. */
START_TEST(cut_follower_answers_old_and_then_hangs_up)
{
    struct raw c = {0}, late = {.proc = 1};

    begin_with_a();
    raw_open(&c, 2);
    ens_cut(2, sim_now() + 800 * MS);
    ck_assert_int_eq(ens_create("/a/x", "", 0, ZOO_PERSISTENT), ZOK);
    pass(300 * MS);
    raw_ping(&c);
    raw_list(&c, "/a");
    pass(50 * MS);
    RAW_HEARS(&c, "1=0, 2=0 []");
    raw_create(&c, "/a/y", 0); /* Lost with the link. */
    pass(100 * MS);
    RAW_HEARS(&c, "hung up");
    raw_dial(&late, 2);
    pass(5 * MS);
    RAW_HEARS(&late, "hung up");
    pass(400 * MS);
    raw_open(&c, 2);
    raw_list(&c, "/a");
    pass(5 * MS);
    RAW_HEARS(&c, "4=0 [x]");
    ck_assert(!is_there("/a/y"));
    all_is_well();
}
END_TEST

/* Sequence numbers, and their end. */

static void number(struct raw *c, bool quirk)
{
    struct ens_config cfg = three_servers();

    cfg.quirk_end = quirk;
    world_begin(&cfg);
    ck_assert_int_eq(ens_create("/a", "", 0, ZOO_PERSISTENT), ZOK);
    ens_set_sequence("/a", 2147483646);
    pass(10 * MS);
    raw_open(c, 1);
    for (int i = 0; i < 3; i++) {
        raw_create(c, "/a/n-", ZOO_PERSISTENT_SEQUENTIAL);
        pass(10 * MS);
    }
}

START_TEST(sequence_stays_at_its_end_as_3_8_0_has_it)
{
    struct raw c = {0};

    number(&c, true);
    RAW_HEARS(&c, "1=0 /a/n-2147483646, 2=0 /a/n-2147483647, 3=-110");
    raw_delete(&c, "/a/n-2147483647");
    pass(10 * MS);
    raw_create(&c, "/a/n-", ZOO_PERSISTENT_SEQUENTIAL);
    pass(10 * MS);
    RAW_HEARS(&c, "4=0, 5=0 /a/n-2147483647");
    all_is_well();
}
END_TEST

START_TEST(sequence_goes_on_negative_as_others_have_it)
{
    struct raw c = {0};

    number(&c, false);
    RAW_HEARS(&c, "1=0 /a/n-2147483646, 2=0 /a/n-2147483647, "
                  "3=0 /a/n--2147483648");
    all_is_well();
}
END_TEST

/* A directory that is made anew counts from 0 again. */
START_TEST(sequence_begins_anew_with_its_directory)
{
    struct raw c = {0};

    begin_with_a();
    raw_open(&c, 1);
    for (int i = 0; i < 2; i++) {
        raw_create(&c, "/a/d", 0);
        raw_create(&c, "/a/d/n-", ZOO_PERSISTENT_SEQUENTIAL);
        raw_delete(&c, "/a/d/n-0000000000");
        raw_delete(&c, "/a/d");
    }
    pass(30 * MS);
    RAW_HEARS(&c, "1=0 /a/d, 2=0 /a/d/n-0000000000, 3=0, 4=0, "
                  "5=0 /a/d, 6=0 /a/d/n-0000000000, 7=0, 8=0");
    all_is_well();
}
END_TEST

/* Containers: only those that had a child go, and only when they are empty. */
static void make_containers(void)
{
    static const char *const dirs[] = {"/never", "/had", "/has"};

    for (size_t i = 0; i < UNIT_COUNT(dirs); i++)
        ck_assert_int_eq(ens_create(dirs[i], "", 0, ZOO_CONTAINER), ZOK);
    ck_assert_int_eq(ens_create("/had/x", "", 0, ZOO_PERSISTENT), ZOK);
    ck_assert_int_eq(ens_create("/has/x", "", 0, ZOO_PERSISTENT), ZOK);
    ck_assert_int_eq(ens_delete("/had/x"), ZOK);
    pass(10 * MS);
}

START_TEST(empty_container_goes_when_reaped)
{
    begin_with_a();
    make_containers();
    pass(120000 * MS); /* Not by itself: there is no period. */
    ck_assert(is_there("/had"));
    ens_reap();
    pass(10 * MS);
    ck_assert(!is_there("/had") && is_there("/has") && is_there("/never"));
    all_is_well();
}
END_TEST

START_TEST(empty_container_goes_at_the_period)
{
    struct ens_config cfg = three_servers();

    cfg.container_us = 60000 * MS;
    world_begin(&cfg);
    make_containers();
    ck_assert(is_there("/had"));
    ck_assert_int_eq(when_gone("/had") - cfg.commit_us, cfg.container_us);
    ck_assert(is_there("/has") && is_there("/never"));
    all_is_well();
}
END_TEST

UNIT_MAIN("ens", writes_take_their_time, late_create_is_not_seen_at_the_leader,
          late_create_is_seen_after_sync_at_a_follower,
          late_create_is_seen_after_a_failing_delete,
          own_writes_are_read_and_others_do_not_wait,
          lagging_follower_reads_old, sync_waits_for_the_lagging_follower,
          cut_follower_answers_old_and_then_hangs_up,
          sequence_stays_at_its_end_as_3_8_0_has_it,
          sequence_goes_on_negative_as_others_have_it,
          sequence_begins_anew_with_its_directory,
          empty_container_goes_when_reaped, empty_container_goes_at_the_period)
