/* What the simulated C client promises: each test is one trait of the real one
 * that the library has to live with.  Where one fails, the library is no longer
 * tried against it.
 *
 * All that the client calls back is put into one text: "event 3" is a session
 * event with its state, "watch 2 /a" a watch with its type, "x=0 /a" the answer
 * to the request that was named x. */
#include "test_world.h"
#include "zoo.h"

static zhandle_t *zh;
static char told[512];

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
    size_t n = strlen(told);
    va_list ap;

    if (n)
        told[n++] = ' ';
    va_start(ap, fmt);
    vsnprintf(told + n, sizeof told - n, fmt, ap);
    va_end(ap);
}

static void on_event(zhandle_t *z, int type, int state, const char *path,
                     void *arg)
{
    (void)z;
    (void)arg;
    if (type == ZOO_SESSION_EVENT)
        note("event %d", state);
    else
        note("watch %d %s", type, path);
}

static void on_done(int rc, const void *name)
{
    note("%s=%d", (const char *)name, rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *name)
{
    (void)stat;
    on_done(rc, name);
}

static void on_path(int rc, const char *path, const void *name)
{
    note("%s=%d %s", (const char *)name, rc, path ? path : "-");
}

static void on_data(int rc, const char *data, int len, const struct Stat *stat,
                    const void *name)
{
    (void)stat;
    note("%s=%d %.*s", (const char *)name, rc, data ? len : 4,
         data ? data : "NULL");
}

static void on_names(int rc, const struct String_vector *v, const void *name)
{
    note("%s=%d", (const char *)name, rc);
    for (int i = 0; v && i < v->count; i++)
        note("%s", v->data[i] ? v->data[i] : "NULL");
}

static void on_done_close(int rc, const void *name)
{
    on_done(rc, name);
    zookeeper_close(zh);
    note("closed");
}

/* As a loop does.  When it is to be looked at again; 0: it did something. */
static int64_t turn(void)
{
    struct timeval tv = {0, 0};
    int fd = -1, interest = 0, what = 0;
    int64_t at, readable;

    zookeeper_interest(zh, &fd, &interest, &tv);
    at = sim_now() + tv.tv_sec * 1000 * MS + tv.tv_usec;
    if (fd < 0 || !interest)
        return at;
    if ((interest & ZOOKEEPER_READ) && wire_readable(fd - WIRE_FD))
        what |= ZOOKEEPER_READ;
    if ((interest & ZOOKEEPER_WRITE) &&
        wire_state(fd - WIRE_FD) != WIRE_CONNECTING)
        what |= ZOOKEEPER_WRITE;
    readable = wire_readable_at(fd - WIRE_FD);
    if (what)
        zookeeper_process(zh, what);
    return what ? 0 : readable < at ? readable : at;
}

/* Lets the client have its turns for so long. */
static void live(int64_t us)
{
    int64_t end = sim_now() + us, at;
    struct sim_step step;

    while (sim_now() < end) {
        at = turn();
        if (at == 0)
            continue;
        at = at <= sim_now() ? sim_now() + MS : at < end ? at : end;
        if (sim_next(&step) && step.at <= at)
            sim_do(&step);
        else
            sim_set_now(at);
    }
}

static const char *take_told(void)
{
    static char text[sizeof told];

    memcpy(text, told, sizeof text);
    memset(told, 0, sizeof told);
    return text;
}

#define TOLD(text) ck_assert_str_eq(take_told(), text)

/* Connected; there is /a, with a child. */
static void set_up(void)
{
    begin();
    memset(told, 0, sizeof told);
    ck_assert_int_eq(ens_create("/a", "data", 4, ZOO_PERSISTENT), ZOK);
    ck_assert_int_eq(ens_create("/a/b", "", 0, ZOO_PERSISTENT), ZOK);
    pass(10 * MS);
    sim_enter(0);
    zh = zookeeper_init2("127.0.0.1:2181,127.0.0.2:2181,127.0.0.3:2181",
                         on_event, 1000, NULL, NULL, 0, NULL);
    ck_assert_ptr_nonnull(zh);
    ck_assert_int_eq(zoo_state(zh), ZOO_NOTCONNECTED_STATE);
    live(20 * MS);
    TOLD("event 3");
}

/* As the library closes: the connection is dead before. */
static void tear_down(void)
{
    if (wire_conn_of(0) >= 0)
        wire_deaden(wire_conn_of(0));
    zookeeper_close(zh);
    ck_assert_uint_eq(sim_live(0), 0);
    sim_leave(-1);
    all_is_well();
}

static void sync_as(const char *name)
{
    ck_assert_int_eq(zoo_async(zh, "/a", on_path, name), ZOK);
}

/* Connections that are lost. */

/* Nobody is told before the first answer that is out of order. */
START_TEST(failed_send_is_silent)
{
    set_up();
    sync_as("sent");
    wire_cut(wire_conn_of(0));
    sync_as("queued"); /* ZOK, and the socket is closed. */
    ck_assert_int_eq(zoo_state(zh), ZOO_NOTCONNECTED_STATE);
    TOLD("");
    live(50 * MS);
    TOLD("event 3 event 1 sent=-2 - queued=-2 - event 3");
    ck_assert_int_eq(zoo_state(zh), ZOO_CONNECTED_STATE);
    tear_down();
}
END_TEST

/* With nothing outstanding what was queued goes to the next server. */
START_TEST(failed_send_is_made_good_alone)
{
    set_up();
    wire_cut(wire_conn_of(0));
    sync_as("queued");
    live(50 * MS);
    TOLD("event 3 queued=0 /a");
    tear_down();
}
END_TEST

START_TEST(loss_is_told_before_the_completions)
{
    set_up();
    sync_as("one");
    sync_as("two");
    wire_cut(wire_conn_of(0));
    live(20 * MS);
    TOLD("event 1 one=-4 - two=-4 - event 3");
    tear_down();
}
END_TEST

START_TEST(silence_is_noticed_after_two_thirds)
{
    int64_t last = 0;

    set_up();
    sync_as("one");
    live(5 * MS);
    TOLD("one=0 /a");
    last = sim_now();
    wire_hold_all(0, sim_now() + 2000 * MS);
    sync_as("two");
    live(last + 650 * MS - sim_now());
    TOLD("");
    live(20 * MS);
    TOLD("event 1 two=-7 -");
    tear_down();
}
END_TEST

START_TEST(idle_client_pings)
{
    set_up();
    live(5000 * MS);
    TOLD("");
    ck_assert_uint_ge(ens_requests(WIRE_PING), 5000 / 334 - 1);
    ck_assert(ens_alive(zoo_client_id(zh)->client_id));
    tear_down();
}
END_TEST

/* Learnt on reconnecting, and not before. */
START_TEST(expiry_is_told_by_the_next_server)
{
    struct timeval tv;
    int fd, interest;

    set_up();
    ck_assert(ens_expire(zoo_client_id(zh)->client_id));
    live(20 * MS);
    TOLD("event 1 event -112");
    ck_assert_int_eq(zoo_state(zh), ZOO_EXPIRED_SESSION_STATE);
    ck_assert_int_eq(zookeeper_interest(zh, &fd, &interest, &tv),
                     ZINVALIDSTATE);
    ck_assert_int_eq(zoo_async(zh, "/a", on_path, "x"), ZINVALIDSTATE);
    TOLD("");
    tear_down();
}
END_TEST

static void count_opens(const char *line, void *arg)
{
    *(int *)arg += strstr(line, " opens") != NULL;
}

/* One after the other, and after all of them it waits: a round takes three
 * refusals and a sixtieth of the time-out. */
START_TEST(servers_that_refuse_are_tried_in_turn)
{
    const int round_us = 3 * WIRE_US + 1000 / 60 * 1000;
    int opens = 0;

    set_up();
    for (int i = 0; i < SIM_SERVERS; i++)
        wire_refuse(i, sim_now() + 1000 * MS);
    wire_cut(wire_conn_of(0));
    sim_talk(count_opens, &opens);
    live(950 * MS);
    sim_talk(NULL, NULL);
    TOLD("event 1");
    ck_assert_int_ge(opens, 3 * (950000 / round_us - 2));
    ck_assert_int_le(opens, 3 * (950000 / round_us + 1));
    live(100 * MS);
    TOLD("event 3");
    tear_down();
}
END_TEST

/* Closing. */

START_TEST(close_that_would_block_is_a_violation)
{
    set_up();
    zookeeper_close(zh);
    ck_assert_ptr_nonnull(sim_violated());
    ck_assert_ptr_nonnull(strstr(sim_violated(), "would block"));
    sim_violation_clear();
    ck_assert_uint_eq(sim_live(0), 0);
    sim_leave(-1);
}
END_TEST

START_TEST(close_tells_what_is_outstanding)
{
    set_up();
    sync_as("one");
    tear_down();
    TOLD("one=-116 -");
}
END_TEST

/* From inside a callback it is put off until the outermost call returns. */
START_TEST(close_inside_a_callback_is_put_off)
{
    set_up();
    ck_assert_int_eq(zoo_adelete(zh, "/none", -1, on_done_close, "one"), ZOK);
    sync_as("two");
    wire_cut(wire_conn_of(0));
    ck_assert_int_eq(zookeeper_process(zh, ZOOKEEPER_READ), ZCONNECTIONLOSS);
    TOLD("event 1 one=-4 closed two=-4 -");
    ck_assert_uint_eq(sim_live(0), 0);
    sim_leave(-1);
    all_is_well();
}
END_TEST

/* Memory. */

START_TEST(answer_without_memory_is_ok_and_null)
{
    set_up();
    ck_assert_int_eq(zoo_aget(zh, "/a", 0, on_data, "data"), ZOK);
    ck_assert_int_eq(zoo_aget_children(zh, "/a", 0, on_names, "names"), ZOK);
    sync_as("path");
    sim_alloc_fail(0, 1, true);
    live(10 * MS);
    TOLD("data=0 NULL names=0 NULL path=0 -");
    sim_alloc_heal(0);
    ck_assert_int_eq(zoo_aget(zh, "/a", 0, on_data, "data"), ZOK);
    ck_assert_int_eq(zoo_aget_children(zh, "/a", 0, on_names, "names"), ZOK);
    live(10 * MS);
    TOLD("data=0 data names=0 b");
    tear_down();
}
END_TEST

START_TEST(call_without_memory_leaves_nothing)
{
    size_t before;

    set_up();
    before = sim_live(0);
    for (unsigned nth = 1; nth <= 2; nth++) {
        sim_alloc_fail(0, nth, false);
        ck_assert_int_eq(zoo_awget(zh, "/a", on_event, NULL, on_data, "data"),
                         ZMARSHALLINGERROR);
        ck_assert_uint_eq(sim_live(0), before);
    }
    sim_alloc_heal(0);
    live(10 * MS);
    TOLD("");
    ck_assert_uint_eq(ens_requests(ZOO_GETDATA_OP), 0);
    tear_down();
}
END_TEST

/* A request that was never sent waits for an answer, and takes that of another.
 */
START_TEST(call_without_memory_may_leave_an_orphan)
{
    set_up();
    zoo__orphans = true;
    sim_alloc_fail(0, 2, false);
    ck_assert_int_eq(zoo_aget(zh, "/a", 0, on_data, "data"), ZMARSHALLINGERROR);
    zoo__orphans = false;
    sync_as("sync");
    live(20 * MS);
    TOLD("event 1 data=-2 NULL sync=-2 - event 3");
    tear_down();
}
END_TEST

START_TEST(handle_without_memory_is_null)
{
    set_up();
    sim_alloc_fail(0, 1, false);
    ck_assert_ptr_null(
        zookeeper_init2("127.0.0.1:1", on_event, 1, NULL, NULL, 0, NULL));
    sim_alloc_heal(0);
    tear_down();
}
END_TEST

/* Watches. */

static char contexts[2];

static void watch(const char *path, int ctx)
{
    ck_assert_int_eq(
        zoo_awget(zh, path, on_event, &contexts[ctx], on_data, "get"), ZOK);
}

static void set(const char *name)
{
    ck_assert_int_eq(zoo_aset(zh, "/a", "x", 1, -1, on_stat, name), ZOK);
}

/* Once each, in the order of arrival with the answers. */
START_TEST(watch_is_told_once_and_in_order)
{
    set_up();
    watch("/a", 0);
    watch("/a", 0);
    watch("/a", 1);
    set("set");
    set("again");
    sync_as("sync");
    live(20 * MS);
    TOLD("get=0 data get=0 data get=0 data watch 3 /a watch 3 /a set=0 again=0 "
         "sync=0 /a");
    tear_down();
}
END_TEST

START_TEST(watcher_of_two_kinds_is_told_of_a_deletion_once)
{
    set_up();
    watch("/a/b", 0);
    ck_assert_int_eq(zoo_awget_children(zh, "/a/b", on_event, &contexts[0],
                                        on_names, "names"),
                     ZOK);
    ck_assert_int_eq(zoo_adelete(zh, "/a/b", -1, on_done, "delete"), ZOK);
    live(20 * MS);
    TOLD("get=0  names=0 watch 2 /a/b delete=0");
    tear_down();
}
END_TEST

START_TEST(watches_sent_again_are_a_violation)
{
    set_up();
    watch("/a", 0);
    live(10 * MS);
    TOLD("get=0 data");
    wire_cut(wire_conn_of(0));
    live(20 * MS);
    TOLD("event 1 event 1 event 3 event 3"); /* Each context is told. */
    ck_assert_ptr_nonnull(strstr(sim_violated(), "watches re-sent"));
    sim_violation_clear();
    tear_down();
}
END_TEST

START_TEST(watch_is_taken_out_while_disconnected)
{
    set_up();
    watch("/a", 0);
    watch("/a", 1);
    live(10 * MS);
    TOLD("get=0 data get=0 data");
    wire_cut(wire_conn_of(0));
    turn();
    TOLD("event 1 event 1 event 1");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            zoo_aremove_all_watches(zh, "/a", ZWATCHTYPE_DATA, 1, NULL, NULL),
            ZOK);
    live(20 * MS);
    TOLD("event 3");
    tear_down();
}
END_TEST

UNIT_MAIN(
    "zoo", failed_send_is_silent, failed_send_is_made_good_alone,
    loss_is_told_before_the_completions, silence_is_noticed_after_two_thirds,
    idle_client_pings, expiry_is_told_by_the_next_server,
    servers_that_refuse_are_tried_in_turn,
    close_that_would_block_is_a_violation, close_tells_what_is_outstanding,
    close_inside_a_callback_is_put_off, answer_without_memory_is_ok_and_null,
    call_without_memory_leaves_nothing, call_without_memory_may_leave_an_orphan,
    handle_without_memory_is_null, watch_is_told_once_and_in_order,
    watcher_of_two_kinds_is_told_of_a_deletion_once,
    watches_sent_again_are_a_violation, watch_is_taken_out_while_disconnected)
