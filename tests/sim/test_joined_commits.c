/* Commits of several machines that go as one proposal (EVZK__JOIN of
 * lib/request/step.h): each is answered as if it had gone alone.  With a real
 * session in the simulated world. */
#include "test_session.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"

enum { READY, ASKING, ENDED, STATES };
enum { MOST = MACHINES, STEPS = 2 };

struct voter {
    struct evzk__machine m;
    char name[16];
    struct evzk__step steps[STEPS]; /* Check /a/guard; write to /a/<name>. */
    unsigned how, replies, part;
    int rc;
    int64_t zxid;
};

static struct voter *voter_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct voter, m);
}

static struct voter *nth(int i) { return voter_of(machines[i]); }

static void (*on_answer)(int i);

static void rest(struct evzk__machine *m) { (void)m; }

static int rested(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, ASKING);
}

static void ask(struct evzk__machine *m)
{
    evzk__ask(m, voter_of(m)->steps, STEPS, voter_of(m)->how);
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct voter *v = voter_of(m);

    v->replies++;
    v->rc = e->reply->rc;
    for (int i = 0; on_answer && i < MOST; i++) {
        if (machines[i] == m)
            on_answer(i);
    }
    v->part = e->reply->part;
    v->zxid = e->reply->res->stat.czxid;
    return evzk__machine_move(m, READY);
}

static void end(struct evzk__machine *m) { (void)m; }

static void destroy(struct evzk__machine *m)
{
    machine_destroyed(m);
    evzk__free(voter_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
ROW(READY,  rest, rested,   ASKING, ENDED, READY, 0, ON(USER_EVENT, ASKING)),
ROW(ASKING, ask,  answered, READY,  ENDED, READY, 0, ON(REPLY, READY)),
END(ENDED,  end),
};
/* clang-format on */

static const struct evzk__kind voter_kind = {
    .name = "voter", .rows = rows, .n_rows = STATES, .destroy = destroy};

static void add_voter(int i, unsigned how)
{
    struct voter *v = evzk__zalloc(sizeof *v);
    char path[32];

    snprintf(v->name, sizeof v->name, "v%02d", i);
    snprintf(path, sizeof path, "/a/%s", v->name);
    ck_assert_int_eq(ens_create(path, "", 0, ZOO_PERSISTENT), ZOK);
    v->steps[0] = (struct evzk__step){
        .verb = EVZK__STEP_CHECK, .name = "guard", .versioned = true};
    v->steps[1] = (struct evzk__step){.verb = EVZK__STEP_SET, .name = v->name};
    v->how = how;
    add_machine(i, &v->m, &voter_kind);
}

static void open_with(int n, unsigned how, const struct process_config *cfg)
{
    int before;

    session_open(cfg);
    before = sim_enter(0);
    for (int i = 0; i < n; i++)
        add_voter(i, how);
    sim_leave(before);
    pass(10 * MS);
}

static void set_up(int n, unsigned how)
{
    const struct process_config cfg = {.timeout_ms = 10000};

    begin_with_a();
    ens_create("/a/guard", "", 0, ZOO_PERSISTENT);
    open_with(n, how, &cfg);
}

static void tear_down(void)
{
    let_machines_go();
    session_close();
}

/* The guard is of version 0: this voter's commit must fail. */
static void spoil(int i) { nth(i)->steps[0].version = 7; }

/* All ask in one turn of the loop. */
static void ask_all(int n)
{
    int before = sim_enter(0);

    for (int i = 0; i < n; i++) {
        nth(i)->replies = 0;
        evzk__machine_ask(machines[i]);
    }
    sim_leave(before);
}

static int32_t writes_to(int i)
{
    struct ens_seen seen;
    char path[32];

    snprintf(path, sizeof path, "/a/v%02d", i);
    ck_assert(ens_look(path, &seen));
    return seen.version;
}

static void check_done(int i)
{
    ck_assert_uint_eq(nth(i)->replies, 1);
    ck_assert_int_eq(nth(i)->rc, EVZK_OK);
    ck_assert_int_eq(writes_to(i), 1);
}

static void check_refused(int i)
{
    ck_assert_uint_eq(nth(i)->replies, 1);
    ck_assert_int_eq(nth(i)->rc, EVZK_ERR_BADVERSION);
    ck_assert_uint_eq(nth(i)->part, 0);
    ck_assert_int_eq(writes_to(i), 0);
}

START_TEST(together)
{
    int64_t proposed;

    set_up(MOST, EVZK__COMMIT | EVZK__JOIN);
    proposed = ens_proposed();
    ask_all(MOST);
    pass(100 * MS);
    ck_assert_int_eq(ens_proposed(), proposed + 1);
    for (int i = 0; i < MOST; i++) {
        check_done(i);
        ck_assert_int_eq(nth(i)->zxid, ens_proposed());
    }
    tear_down();
}
END_TEST

START_TEST(only_if_asked_so)
{
    int64_t proposed;

    set_up(10, EVZK__COMMIT);
    nth(3)->how = nth(6)->how = EVZK__COMMIT | EVZK__JOIN;
    proposed = ens_proposed();
    ask_all(10);
    pass(100 * MS);
    ck_assert_int_eq(ens_proposed(), proposed + 9);
    for (int i = 0; i < 10; i++)
        check_done(i);
    ck_assert_int_eq(nth(3)->zxid, nth(6)->zxid);
    tear_down();
}
END_TEST

/* All write to this znode, if it is of version 0: the first of them in a
 * transaction would spoil the others.  An error is true when it is told. */
static const char *contended;
static int32_t version_when_told[MOST];

static void told_of_it(int i)
{
    struct ens_seen seen;

    ck_assert(ens_look(contended, &seen));
    version_when_told[i] = seen.version;
}

/* The name is as a step has it. */
static void contend(int n, const char *path, const char *name)
{
    int done = 0;

    for (int i = 0; i < n; i++)
        nth(i)->steps[0] = nth(i)->steps[1] = (struct evzk__step){
            .verb = EVZK__STEP_SET, .name = name, .versioned = true};
    for (int i = 0; i < n; i++)
        nth(i)->steps[1].versioned = false;
    contended = path;
    on_answer = told_of_it;
    ask_all(n);
    pass(200 * MS);
    on_answer = NULL;
    for (int i = 0; i < n; i++) {
        ck_assert_uint_eq(nth(i)->replies, 1);
        ck_assert_int_eq(version_when_told[i], 2); /* Each writes twice. */
        done += nth(i)->rc == EVZK_OK;
    }
    ck_assert_int_eq(done, 1);
}

START_TEST(no_error_by_what_was_not_done)
{
    set_up(3, EVZK__COMMIT | EVZK__JOIN);
    contend(3, "/a/guard", "guard");
    tear_down();
}
END_TEST

/* The same of a znode whose path is longer at the servers than one that a
 * program may name: the session's chroot stands before it. */
START_TEST(no_error_by_what_was_not_done_far_down)
{
    enum { CHROOT = 100, LEN = CHROOT + 4000 };
    static char chroot[CHROOT + 1], path[LEN + 1];
    const struct process_config cfg = {.timeout_ms = 10000, .chroot = chroot};

    memset(chroot, 'c', CHROOT);
    chroot[0] = '/';
    memset(path, 'x', LEN);
    memcpy(path, chroot, CHROOT);
    path[CHROOT] = '/';
    begin_with_a();
    ck_assert_int_eq(ens_create(chroot, "", 0, ZOO_PERSISTENT), ZOK);
    ck_assert_int_eq(ens_create(path, "", 0, ZOO_PERSISTENT), ZOK);
    open_with(3, EVZK__COMMIT | EVZK__JOIN, &cfg);
    contend(3, path, path + CHROOT);
    tear_down();
}
END_TEST

/* The others' commits are done, each once; the culprits alone are refused. */
START_TEST(each_its_own_error)
{
    set_up(20, EVZK__COMMIT | EVZK__JOIN);
    spoil(0);
    spoil(7);
    spoil(8);
    spoil(19);
    ask_all(20);
    pass(200 * MS);
    for (int i = 0; i < 20; i++) {
        if (i == 0 || i == 7 || i == 8 || i == 19)
            check_refused(i);
        else
            check_done(i);
    }
    tear_down();
}
END_TEST

/* A proposal finds one culprit.  Where most commits must fail, the others do
 * not wait for one trip after another. */
START_TEST(many_culprits)
{
    enum { TRIPS = 16 };

    set_up(MOST, EVZK__COMMIT | EVZK__JOIN);
    for (int i = 0; i < MOST; i++) {
        if (i % 4 != 3)
            spoil(i);
    }
    ask_all(MOST);
    pass(TRIPS * 10 * MS);
    for (int i = 0; i < MOST; i++) {
        if (i % 4 != 3)
            check_refused(i);
        else
            check_done(i);
    }
    tear_down();
}
END_TEST

/* Nobody knows the outcome of any. */
START_TEST(cut)
{
    set_up(5, EVZK__COMMIT | EVZK__JOIN);
    ask_all(5);
    pass(WIRE_US / 2);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(nth(i)->replies, 1);
        ck_assert_int_eq(nth(i)->rc, EVZK_ERR_CONNLOSS);
        ck_assert_uint_eq(nth(i)->part, STEPS);
    }
    tear_down();
}
END_TEST

/* A machine that is let go while its commit is on the way does not send it
 * again, if a neighbour has spoilt it. */
START_TEST(given_up)
{
    set_up(5, EVZK__COMMIT | EVZK__JOIN);
    spoil(4);
    ask_all(5);
    pass(WIRE_US / 2);
    let_machine_go(machines[1]);
    pass(200 * MS);
    ck_assert_ptr_null(machines[1]);
    ck_assert_int_eq(writes_to(1), 0);
    check_done(0);
    check_done(3);
    check_refused(4);
    tear_down();
}
END_TEST

UNIT_MAIN("joined commits", together, only_if_asked_so, each_its_own_error,
          no_error_by_what_was_not_done, no_error_by_what_was_not_done_far_down,
          many_culprits, cut, given_up)
