/* What the simulated network promises: messages come in order, late or not at
 * all, as by TCP, and a connection's end is seen as by TCP.  Where one of these
 * fails, the faults that the explorer makes are no longer those of a network.
 */
#include "test_world.h"

/* A server answers a ping at once: so it tells when it came. */

START_TEST(messages_take_their_time)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_ping(&c);
    pass(2 * WIRE_US - 1);
    RAW_HEARS(&c, "");
    ck_assert_int_eq(wire_readable_at(c.conn), sim_now() + 1);
    pass(1);
    ck_assert(wire_readable(c.conn));
    RAW_HEARS(&c, "1=0");
    ck_assert(!wire_readable(c.conn));
    all_is_well();
}
END_TEST

START_TEST(hold_keeps_the_order)
{
    for (int dir = WIRE_UPWARD; dir <= WIRE_DOWNWARD; dir++) {
        struct raw c = {0};

        begin();
        raw_open(&c, 0);
        raw_ping(&c);
        wire_hold(c.conn, (enum wire_dir)dir, sim_now() + 50 * MS);
        raw_ping(&c);
        pass(49 * MS);
        RAW_HEARS(&c, "");
        ck_assert_uint_eq(ens_requests(WIRE_PING), dir == WIRE_UPWARD ? 0 : 2);
        raw_ping(&c);
        pass(2 * MS);
        RAW_HEARS(&c, "1=0, 2=0, 3=0");
        raw_ping(&c); /* The session is over. */
        pass(2 * MS);
        RAW_HEARS(&c, "4=0");
        all_is_well();
    }
}
END_TEST

START_TEST(what_has_arrived_is_not_held)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_ping(&c);
    pass(2 * MS);
    wire_hold(c.conn, WIRE_DOWNWARD, sim_now() + 50 * MS);
    RAW_HEARS(&c, "1=0");
    all_is_well();
}
END_TEST

START_TEST(cut_drops_all_that_is_on_its_way)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_ping(&c);
    pass(2 * MS); /* Arrived, and not read. */
    raw_ping(&c);
    pass(1 * MS); /* The answer is on its way. */
    raw_ping(&c);
    wire_cut(c.conn);
    ck_assert(wire_readable(c.conn));
    RAW_HEARS(&c, "hung up");
    pass(10 * MS);
    RAW_HEARS(&c, "hung up");
    ck_assert_uint_eq(ens_requests(WIRE_PING), 2);
    ck_assert_int_eq(wire_conn_of(0), -1);
    all_is_well();
}
END_TEST

START_TEST(close_lets_what_was_sent_arrive)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_create(&c, "/x", 0);
    raw_close(&c);
    pass(10 * MS);
    ck_assert_uint_eq(ens_requests(ZOO_CREATE_OP), 1);
    all_is_well();
}
END_TEST

START_TEST(hang_up_delivers_what_was_before)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_ping(&c);
    raw_ask(&c, WIRE_CLOSE, NULL, 0, false);
    pass(10 * MS);
    ck_assert_int_eq(wire_state(c.conn), WIRE_UP); /* There is more to read. */
    RAW_HEARS(&c, "1=0, 2=0, hung up");
    ck_assert_int_eq(wire_state(c.conn), WIRE_BROKEN);
    all_is_well();
}
END_TEST

/* As a server does that is told nonsense. */
START_TEST(hang_up_takes_its_time)
{
    struct raw c = {0};

    begin();
    raw_dial(&c, 0);
    raw_ping(&c);
    pass(2 * WIRE_US - 1);
    RAW_HEARS(&c, "");
    pass(1);
    RAW_HEARS(&c, "hung up");
    all_is_well();
}
END_TEST

START_TEST(refused_while_nobody_listens)
{
    struct raw c = {0};

    begin();
    wire_refuse(1, sim_now() + 50 * MS);
    raw_dial(&c, 1);
    RAW_HEARS(&c, "hung up");
    raw_close(&c);
    raw_open(&c, 0);
    pass(50 * MS);
    raw_open(&c, 1);
    all_is_well();
}
END_TEST

START_TEST(partition_holds_new_connections_too)
{
    struct raw c = {0}, other = {.proc = 1};

    begin();
    raw_open(&c, 0);
    wire_hold_all(0, sim_now() + 50 * MS);
    raw_ping(&c);
    raw_close(&c);
    raw_dial(&c, 0);
    ck_assert_int_eq(wire_state(c.conn), WIRE_CONNECTING);
    raw_open(&other, 0); /* Concerns one process. */
    pass(20 * MS);
    ck_assert_uint_eq(ens_requests(WIRE_PING), 0);
    pass(30 * MS);
    ck_assert_int_eq(wire_state(c.conn), WIRE_UP);
    ck_assert_uint_eq(ens_requests(WIRE_PING), 1);
    all_is_well();
}
END_TEST

START_TEST(route_has_its_way)
{
    struct raw c = {0};

    begin();
    wire_route(0, 2);
    raw_open(&c, 1);
    ck_assert_int_eq(wire_server(c.conn), 2);
    wire_route(0, -1);
    raw_open(&c, 1);
    ck_assert_int_eq(wire_server(c.conn), 1);
    all_is_well();
}
END_TEST

/* The lowest number that both ends have let go of; never the same twice. */
START_TEST(numbers_are_used_again)
{
    struct raw c = {0}, d = {0};
    uint64_t born;

    begin();
    raw_open(&c, 0);
    born = wire_born(c.conn);
    sim_enter(0);
    wire_close(c.conn);
    ck_assert_uint_eq(wire_born(c.conn), 0);
    ck_assert_int_ne(wire_open(1), c.conn); /* The server has it still. */
    sim_leave(-1);
    pass(10 * MS);
    raw_dial(&d, 0);
    ck_assert_int_eq(d.conn, c.conn);
    ck_assert_uint_ne(wire_born(d.conn), born);
    all_is_well();
}
END_TEST

START_TEST(connection_is_used_by_its_owner_only)
{
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    sim_enter(1);
    ck_assert_ptr_null(wire_recv(c.conn));
    must_be_violated();
    wire_close(c.conn);
    must_be_violated();
    sim_leave(-1);
    ck_assert_uint_ne(wire_born(c.conn), 0);
    raw_close(&c);
    all_is_well();
    raw_close(&c); /* A second time. */
    must_be_violated();
}
END_TEST

START_TEST(dead_end_neither_sends_nor_receives)
{
    struct wire_msg *m;
    struct raw c = {0};

    begin();
    raw_open(&c, 0);
    raw_ping(&c);
    pass(2 * MS);
    sim_enter(0);
    wire_deaden(c.conn);
    m = wire_msg_new(WIRE_PING, 2);
    ck_assert(!wire_send(c.conn, m));
    sim_leave(-1);
    RAW_HEARS(&c, "hung up");
    pass(10 * MS);
    ck_assert_uint_eq(ens_requests(WIRE_PING), 1);
    raw_close(&c);
    all_is_well();
}
END_TEST

UNIT_MAIN("wire", messages_take_their_time, hold_keeps_the_order,
          what_has_arrived_is_not_held, cut_drops_all_that_is_on_its_way,
          close_lets_what_was_sent_arrive, hang_up_delivers_what_was_before,
          hang_up_takes_its_time, refused_while_nobody_listens,
          partition_holds_new_connections_too, route_has_its_way,
          numbers_are_used_again, connection_is_used_by_its_owner_only,
          dead_end_neither_sends_nor_receives)
