/* One read for all machines that ask for the same at the same time
 * (lib/request/shared_read.h): each hears what it would have heard alone.  With
 * a real session in the simulated world. */
#include "test_session.h"

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "lib/request/path_watch.h"

enum { READY, ASKING, ENDED, STATES };
enum { MOST = 10, OWN_PATH = EVZK__PATH };

struct reader {
    struct evzk__machine m;
    struct evzk__path_watch watch[1];
    const struct evzk__step *steps;
    uint32_t n;
    unsigned how, replies, changes;
    int rc;
    char data[16];
    int lets_go; /* In its next answer, of this reader; -1: of none. */
};

static struct reader *reader_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct reader, m);
}

static struct reader *nth(int i) { return reader_of(machines[i]); }

static void rest(struct evzk__machine *m) { (void)m; }

static int rested(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_USER)
        return evzk__machine_move(m, ASKING);
    reader_of(m)->changes++;
    return EVZK_OK;
}

static void ask(struct evzk__machine *m)
{
    const struct reader *r = reader_of(m);

    evzk__ask(m, r->steps, r->n, r->how);
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct reader *r = reader_of(m);
    const struct evzk__reply *reply = e->reply;

    if (r->lets_go >= 0 && machines[r->lets_go])
        evzk__machine_let_go(machines[r->lets_go]);
    r->lets_go = -1;
    if (!reply->last)
        return EVZK_OK;
    r->replies++;
    r->rc = reply->first_rc == EVZK_ERR_CONNLOSS ? reply->first_rc : reply->rc;
    if (reply->res->data)
        snprintf(r->data, sizeof r->data, "%.*s", (int)reply->res->len,
                 (const char *)reply->res->data);
    return evzk__machine_move(m, READY);
}

static void end(struct evzk__machine *m) { (void)m; }

static void destroy(struct evzk__machine *m)
{
    machine_destroyed(m);
    evzk__free(reader_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
ROW(READY,  rest, rested,   ASKING, ENDED, READY, 0,
    ON(USER_EVENT, ASKING), ON(PATH_DELETED, HERE), ON(PATH_CHANGED, HERE)),
ROW(ASKING, ask,  answered, READY,  ENDED, READY, 0, ON(REPLY, READY, HERE)),
END(ENDED,  end),
};
/* clang-format on */

static const struct evzk__kind reader_kind = {
    .name = "reader",
    .rows = rows,
    .n_rows = STATES,
    .destroy = destroy,
    EVZK__PATH_WATCHES(struct reader, m, watch)};

static void set_up(unsigned window)
{
    const struct process_config cfg = {.timeout_ms = 10000, .window = window};
    int before;

    begin_with_a();
    ens_create("/a/x", "ex", 2, ZOO_PERSISTENT);
    ens_create("/a/y", "why", 3, ZOO_PERSISTENT);
    session_open(&cfg);
    before = sim_enter(0);
    for (int i = 0; i < MOST; i++) {
        struct reader *r = evzk__zalloc(sizeof *r);

        r->lets_go = -1;
        add_machine(i, &r->m, &reader_kind);
    }
    sim_leave(before);
    pass(10 * MS);
}

static void tear_down(void)
{
    let_machines_go();
    session_close();
}

#define SYNC                                                                   \
    {                                                                          \
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true                    \
    }
#define WATCHED .watch = EVZK__WITH(OWN_PATH)

static const struct evzk__step
    get_x[] = {SYNC, {.verb = EVZK__STEP_GET, .name = "x", WATCHED}},
    look_x[] = {SYNC, {.verb = EVZK__STEP_EXISTS, .name = "x", WATCHED}},
    get_x_once[] =
        {{.verb = EVZK__STEP_SYNC, .name = "", .shared = true, .once = true},
         {.verb = EVZK__STEP_GET, .name = "x", WATCHED}},
    get_y[] = {SYNC, {.verb = EVZK__STEP_GET, .name = "y", WATCHED}},
    get_only[] = {SYNC, {.verb = EVZK__STEP_GET, .name = "x"}},
    get_at_once[] = {{.verb = EVZK__STEP_GET, .name = "x"}},
    look_none[] = {{.verb = EVZK__STEP_EXISTS, .name = "none", WATCHED}};

/* With the lease's probes, of which there are few, and a look at what is
 * watched: machine/rounds.h. */
enum { PROBES = 2, LOOKS = 1 };

static void ask_by(int i, const struct evzk__step *steps, uint32_t n,
                   unsigned how)
{
    int before = sim_enter(0);

    nth(i)->steps = steps;
    nth(i)->n = n;
    nth(i)->how = how;
    nth(i)->replies = 0;
    nth(i)->data[0] = '\0';
    evzk__machine_ask(machines[i]);
    sim_leave(before);
}

static void ask_by_all(const struct evzk__step *steps, uint32_t n, unsigned how)
{
    for (int i = 0; i < MOST; i++)
        ask_by(i, steps, n, how);
}

#define ASK(i, steps, how) ask_by(i, steps, UNIT_COUNT(steps), how)
#define ASK_ALL(steps, how) ask_by_all(steps, UNIT_COUNT(steps), how)

/* Time passes; returns how many requests were made in it. */
static uint64_t pass_counting(int64_t us)
{
    uint64_t from = session_requests();

    pass(us);
    return session_requests() - from;
}

/* Nothing is sent for a tenth of a second. */
static void pause_sending(void)
{
    int before = sim_enter(0);

    evzk__machine_pause(machines[0]);
    sim_leave(before);
}

static void check(int i, int rc, const char *data)
{
    ck_assert_msg(nth(i)->replies == 1, "reader %d: %u replies", i,
                  nth(i)->replies);
    ck_assert_int_eq(nth(i)->rc, rc);
    ck_assert_str_eq(nth(i)->data, data);
}

/* All whose machines are there still. */
static void check_all(int rc, const char *data)
{
    for (int i = 0; i < MOST; i++) {
        if (machines[i])
            check(i, rc, data);
    }
}

/* Each of them once. */
static void check_changed(void)
{
    for (int i = 0; i < MOST; i++)
        ck_assert_uint_eq(nth(i)->changes, 1);
}

/* One sync, one read; and each has the watch. */
START_TEST(one_for_all)
{
    static const unsigned ways[] = {0, EVZK__EACH, EVZK__SOON};

    set_up(0);
    for (size_t w = 0; w < UNIT_COUNT(ways); w++) {
        ASK_ALL(get_x, ways[w]);
        ck_assert_uint_le(pass_counting(50 * MS), 2 + PROBES);
        check_all(EVZK_OK, "ex");
    }
    ens_set_data("/a/x", "new", 3);
    pass(50 * MS);
    check_changed();
    tear_down();
}
END_TEST

START_TEST(what_is_not_there)
{
    set_up(0);
    ASK_ALL(look_none, 0);
    ck_assert_uint_le(pass_counting(50 * MS), 1 + PROBES);
    check_all(EVZK_ERR_NONODE, "");
    ens_create("/a/none", "", 0, ZOO_PERSISTENT);
    pass(50 * MS);
    check_changed();
    tear_down();
}
END_TEST

START_TEST(only_the_same)
{
    set_up(0);
    ASK(0, get_x, 0);
    ASK(1, look_x, 0);
    ASK(2, get_y, 0);
    ASK(3, get_only, 0);
    ASK(4, get_at_once, 0);
    ASK(5, get_x, EVZK__SOON);
    ck_assert_uint_ge(pass_counting(50 * MS), 7); /* One sync. */
    check(0, EVZK_OK, "ex");
    check(1, EVZK_OK, "");
    check(2, EVZK_OK, "why");
    check(3, EVZK_OK, "ex");
    check(4, EVZK_OK, "ex");
    check(5, EVZK_OK, "ex");
    tear_down();
}
END_TEST

/* A read that was sent before may be answered with what was there before. */
START_TEST(never_what_was_sent)
{
    uint64_t from;

    set_up(0);
    from = session_requests();
    ASK(0, get_x, 0);
    pass(WIRE_US / 2);
    ASK(1, get_x, 0);
    pass(50 * MS);
    ck_assert_uint_ge(session_requests() - from, 4);
    check(0, EVZK_OK, "ex");
    check(1, EVZK_OK, "ex");
    tear_down();
}
END_TEST

/* The first of the others reads for all. */
START_TEST(leader_goes)
{
    uint64_t from;

    set_up(0);
    pause_sending();
    ASK_ALL(get_x, 0);
    pass(10 * MS);
    from = session_requests();
    let_machine_go(machines[0]);
    pass(500 * MS);
    ck_assert_ptr_null(machines[0]);
    ck_assert_uint_le(session_requests() - from, 2 + PROBES + LOOKS);
    check_all(EVZK_OK, "ex");
    tear_down();
}
END_TEST

START_TEST(follower_goes)
{
    set_up(0);
    pause_sending();
    for (int i = 0; i < 5; i++)
        ASK(i, get_x, 0);
    pass(10 * MS);
    let_machine_go(machines[2]);
    pass(500 * MS);
    ck_assert_ptr_null(machines[2]);
    for (int i = 5; i < MOST; i++)
        ASK(i, get_x, 0);
    pass(WIRE_US / 2);
    let_machine_go(machines[7]); /* Sent, not answered. */
    pass(50 * MS);
    check_all(EVZK_OK, "ex");
    ck_assert_ptr_null(machines[7]);
    tear_down();
}
END_TEST

/* The window has room for the leader's sync alone. */
static void ask_with_little_room(void)
{
    set_up(4);
    ASK(0, get_y, EVZK__SOON);
    ASK(1, look_x, EVZK__SOON);
    for (int i = 2; i < 5; i++)
        ASK(i, get_x, EVZK__EACH);
    pass(WIRE_US / 2);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(nth(i)->replies, 0);
}

START_TEST(leader_goes_in_the_middle)
{
    ask_with_little_room();
    let_machine_go(machines[2]);
    pass(200 * MS);
    ck_assert_ptr_null(machines[2]);
    check(3, EVZK_OK, "ex");
    check(4, EVZK_OK, "ex");
    tear_down();
}
END_TEST

START_TEST(cut)
{
    ask_with_little_room();
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    for (int i = 0; i < 5; i++)
        check(i, EVZK_ERR_CONNLOSS, "");
    ASK_ALL(get_x, 0);
    pass(WIRE_US / 2);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    check_all(EVZK_ERR_CONNLOSS, "");
    ASK_ALL(get_x, 0);
    pass(50 * MS);
    check_all(EVZK_OK, "ex");
    tear_down();
}
END_TEST

static uint64_t count_each(const struct evzk__step *steps, uint32_t n)
{
    uint64_t from = session_requests();

    for (int i = 0; i < MOST; i++) {
        ask_by(i, steps, n, 0);
        pass(50 * MS);
        check(i, EVZK_OK, "ex");
    }
    return session_requests() - from;
}

/* Each asks by itself; the first sync of a connection is enough for those that
 * say so, and for no other. */
START_TEST(one_sync_for_a_connection)
{
    set_up(0);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_le(count_each(get_x_once, 2), MOST + 1 + PROBES);
        ck_assert_uint_ge(count_each(get_x, 2), 2 * MOST);
        wire_cut(wire_conn_of(0));
        pass(500 * MS);
    }
    tear_down();
}
END_TEST

/* The first that is told lets go of the leader, and the next of the last. */
START_TEST(let_go_while_told)
{
    set_up(0);
    for (int i = 0; i < MOST; i++) {
        nth(i)->lets_go = i == MOST - 1 ? 0 : i == MOST - 2 ? 1 : -1;
        ASK(i, get_x, 0);
    }
    pass(50 * MS);
    ck_assert_ptr_null(machines[0]);
    ck_assert_ptr_null(machines[1]);
    check_all(EVZK_OK, "ex");
    tear_down();
}
END_TEST

UNIT_MAIN("shared reads", one_for_all, what_is_not_there, only_the_same,
          never_what_was_sent, leader_goes, follower_goes,
          leader_goes_in_the_middle, cut, one_sync_for_a_connection,
          let_go_while_told)
