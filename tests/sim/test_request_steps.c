/* How a recipe asks (lib/request/step.h), by a machine that asks for what the
 * test says and writes down what it hears: each verb, each place, each mode,
 * transactions and watches, with real sessions in the simulated world.
 *
 * The events it has heard are a text.  Of one reply: "first rc/rc", and what
 * came with it.  Of EVZK__EACH: "[part] rc" for each, and "." behind the last.
 */
#include "test_session.h"

#include "config.h"
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "lib/request/path_watch.h"

enum { READY, ASKING, ENDED, STATES };

struct asker {
    struct evzk__machine m;
    struct evzk__path_watch watch[3];
    const struct evzk__step *steps;
    char *const *names;
    const char *name;
    uint32_t n;
    unsigned how;
    const char *deletes; /* The machine deletes this name instead of asking. */
    bool leaves_pred;    /* Takes the pred watch off before it asks. */
    bool goes_on;        /* An event has it ask again: the table lacks that. */
    unsigned pauses;     /* Once, after the answer of this number; 0: never. */
    char heard[1024];
};

/* The asker of the running test; NULL once destroyed. */
static struct asker *the;

static struct asker *asker_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct asker, m);
}

static void note(struct asker *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct asker *a, const char *fmt, ...)
{
    size_t n = strlen(a->heard);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(a->heard + n, sizeof a->heard - n, fmt, ap);
    va_end(ap);
}

/* "NONODE" for EVZK_ERR_NONODE. */
static const char *word(int rc)
{
    static const char all[] = "EVZK_ERR_", ok[] = "EVZK_";
    const char *name = evzk_errname(rc);

    if (strncmp(name, all, sizeof all - 1) == 0)
        return name + sizeof all - 1;
    return strncmp(name, ok, sizeof ok - 1) == 0 ? name + sizeof ok - 1 : name;
}

static void rest(struct evzk__machine *m) { (void)m; }

static int rested(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_USER || asker_of(m)->goes_on)
        return evzk__machine_move(m, ASKING);
    note(asker_of(m), "%s %s",
         e->type == EVZK__EV_DELETED ? "deleted" : "changed",
         e->which == EVZK__OWN    ? "own"
         : e->which == EVZK__PRED ? "pred"
                                  : "");
    if (e->which >= EVZK__PATH)
        note(asker_of(m), "%d", e->which - EVZK__PATH);
    note(asker_of(m), ", ");
    return EVZK_OK;
}

static void ask(struct evzk__machine *m)
{
    struct asker *a = asker_of(m);

    if (a->leaves_pred)
        evzk__unwatch_pred(m);
    if (a->deletes)
        evzk__delete(m, a->deletes, NULL);
    else if (a->names)
        evzk__ask_each(m, a->steps, a->names, a->n);
    else
        evzk__ask_about(m, a->name, a->steps, a->n, a->how);
}

static void note_names(struct asker *a, const struct evzk__names *names)
{
    for (size_t i = 0; i < names->n; i++)
        note(a, "%s%s", i ? " " : " {", names->v[i]);
    if (names->n)
        note(a, "}");
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct asker *a = asker_of(m);
    const struct evzk__reply *r = e->reply;
    bool all = a->names || a->how & EVZK__EACH;

    if (a->pauses > 0 && --a->pauses == 0)
        evzk__machine_pause(m);
    if (all)
        note(a, "[%u] %s", r->part, word(r->rc));
    else
        note(a, "%s/%s", word(r->first_rc), word(r->rc));
    if (a->how & EVZK__COMMIT && r->rc != EVZK_OK)
        note(a, " at %u", r->part);
    if (r->res->data)
        note(a, " '%.*s'", (int)r->res->len, (const char *)r->res->data);
    note_names(a, &r->res->names);
    note(a, !all ? ", " : r->last ? ". " : ", ");
    return r->last ? evzk__machine_move(m, READY) : EVZK_OK;
}

static void end(struct evzk__machine *m)
{
    note(asker_of(m), "ended %s", word(m->rc));
}

static void destroy(struct evzk__machine *m)
{
    the = NULL;
    evzk__free(asker_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
ROW(READY, rest, rested, ASKING, ENDED, READY, 0,
    ON(USER_EVENT, ASKING),
    ON(OWN_DELETED, HERE), ON(OWN_CHANGED, HERE),
    ON(PRED_DELETED, HERE), ON(PRED_CHANGED, HERE),
    ON(PATH_DELETED, HERE), ON(PATH_CHANGED, HERE)),
ROW(ASKING, ask, answered, READY, ENDED, READY, 0,
    ON(REPLY, READY, HERE)),
END(ENDED, end),
};
/* clang-format on */

static const struct evzk__kind asker_kind = {
    .name = "asker",
    .rows = rows,
    .n_rows = STATES,
    .destroy = destroy,
    EVZK__PATH_WATCHES(struct asker, m, watch)};

/* A session of process 0, below a chroot, and a machine in /a. */
static void set_up_window(const char *chroot, unsigned window)
{
    struct process_config cfg = {
        .timeout_ms = 1000, .chroot = chroot, .window = window};
    int before;

    begin();
    ens_create("/app", "", 0, ZOO_PERSISTENT);
    ens_create("/app/a", "dir", 3, ZOO_PERSISTENT);
    ens_create("/app/a/x", "ex", 2, ZOO_PERSISTENT);
    ens_create("/app/a/x/y", "why", 3, ZOO_PERSISTENT);
    session_open(&cfg);
    before = sim_enter(0);
    the = evzk__zalloc(sizeof *the);
    ck_assert_int_eq(evzk__machine_init(&the->m, process_of(0)->s, &asker_kind,
                                        chroot ? "/a" : "/app/a", 0),
                     EVZK_OK);
    sim_leave(before);
    pass(10 * MS);
}

static void set_up(void) { set_up_window("/app", 0); }

static void tear_down(void)
{
    let_machine_go(&the->m);
    ck_assert_ptr_null(the);
    session_close();
}

static void submit(const struct evzk__step *steps, size_t n, unsigned how)
{
    int before = sim_enter(0);

    the->heard[0] = '\0';
    the->steps = steps;
    the->n = (uint32_t)n;
    the->how = how;
    evzk__machine_ask(&the->m);
    sim_leave(before);
}

/* Nothing is sent for a tenth of a second. */
static void pause_sending(void)
{
    int before = sim_enter(0);

    evzk__machine_pause(&the->m);
    sim_leave(before);
}

#define HEARD(text)                                                            \
    do {                                                                       \
        ck_assert_str_eq(the->heard, text);                                    \
        the->heard[0] = '\0';                                                  \
    } while (0)

/* Asks, and waits for the answer. */
#define ASK(how, text, ...)                                                    \
    do {                                                                       \
        static const struct evzk__step steps_[] = {__VA_ARGS__};               \
                                                                               \
        submit(steps_, UNIT_COUNT(steps_), how);                               \
        pass(100 * MS);                                                        \
        HEARD(text);                                                           \
    } while (0)

#define SYNC .verb = EVZK__STEP_SYNC, .name = ""
#define EXISTS .verb = EVZK__STEP_EXISTS
#define GET .verb = EVZK__STEP_GET
#define CHILDREN .verb = EVZK__STEP_CHILDREN
#define CREATE .verb = EVZK__STEP_CREATE
#define SET .verb = EVZK__STEP_SET
#define DELETE .verb = EVZK__STEP_DELETE
#define CHECK .verb = EVZK__STEP_CHECK
#define WITH_DATA(text) .data = (text), .len = sizeof(text) - 1
#define IN_VERSION(v) .versioned = true, .version = (v)

START_TEST(places)
{
    set_up();
    ASK(0, "OK/OK 'dir', ", {GET, .name = ""});
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x"});
    ASK(0, "OK/OK 'why', ", {GET, .name = "x/y"});
    ASK(0, "OK/OK 'why', ", {GET, .name = "/a/x/y"});
    ASK(0, "OK/OK {a}, ", {CHILDREN, .name = "/"});
    ASK(0, "OK/OK {x}, ", {CHILDREN, .name = ""});
    the->name = "x";
    ASK(0, "OK/OK 'ex', ", {GET});
    ASK(0, "OK/OK 'dir', ", {GET, .name = ""});
    tear_down();
}
END_TEST

START_TEST(places_without_chroot)
{
    set_up_window(NULL, 0);
    ASK(0, "OK/OK {app zookeeper}, ", {CHILDREN, .name = "/"});
    ASK(0, "OK/OK 'ex', ", {GET, .name = "/app/a/x"});
    ASK(0, "OK/OK 'dir', ", {GET, .name = ""});
    tear_down();
}
END_TEST

START_TEST(bytes_of_a_path)
{
    set_up();
    ck_assert_uint_eq(evzk__path_bytes(process_of(0)->s, "/a"), 6);
    ck_assert_uint_eq(evzk__path_bytes(process_of(0)->s, "/a/none"), 11);
    tear_down();
    set_up_window(NULL, 0);
    ck_assert_uint_eq(evzk__path_bytes(process_of(0)->s, "/app/a"), 6);
    tear_down();
}
END_TEST

START_TEST(reads)
{
    set_up();
    ASK(0, "OK/OK, ", {EXISTS, .name = "x"});
    ASK(0, "NONODE/NONODE, ", {EXISTS, .name = "none"});
    ASK(0, "NONODE/NONODE, ", {GET, .name = "none"});
    ASK(0, "NONODE/NONODE, ", {CHILDREN, .name = "none"});
    ASK(0, "OK/OK 'ex', ", {SYNC}, {GET, .name = "x"});
    ASK(0, "NONODE/OK {x}, ", {GET, .name = "none"}, {CHILDREN, .name = ""});
    ASK(EVZK__SOON, "OK/OK 'ex', ", {SYNC}, {GET, .name = "x"});
    tear_down();
}
END_TEST

START_TEST(writes)
{
    set_up();
    ASK(0, "OK/OK 'new', ", {CREATE, .name = "p", WITH_DATA("new")},
        {GET, .name = "p"});
    ASK(0, "NODEEXISTS/NODEEXISTS, ", {CREATE, .name = "p"});
    ASK(0, "OK/OK 'set', ", {SET, .name = "p", WITH_DATA("set")},
        {GET, .name = "p"});
    ASK(0, "BADVERSION/BADVERSION, ", {SET, .name = "p", IN_VERSION(0)});
    ASK(0, "OK/OK, ", {SET, .name = "p", IN_VERSION(1)});
    ASK(0, "BADVERSION/BADVERSION, ", {DELETE, .name = "p", IN_VERSION(1)});
    ASK(0, "OK/OK, ", {DELETE, .name = "p", IN_VERSION(2)});
    ASK(0, "NONODE/NONODE, ", {DELETE, .name = "p"});
    ASK(0, "NOTEMPTY/NOTEMPTY, ", {DELETE, .name = ""});
    ASK(0, "INTERNAL/INTERNAL, ", {CHECK, .name = "x"});
    tear_down();
}
END_TEST

static char made[32];

START_TEST(modes)
{
    struct ens_seen seen;

    set_up();
    strcpy(made, "s-");
    ASK(0, "OK/OK, ",
        {CREATE, .mode = EVZK__PERSISTENT_SEQUENTIAL, .name = "s-",
         .made = made});
    ck_assert_str_eq(made, "s-0000000001");
    ck_assert(ens_look("/app/a/s-0000000001", &seen) && !seen.owner);
    strcpy(made, "e-");
    ASK(0, "OK/OK, ",
        {CREATE, .mode = EVZK__EPHEMERAL_SEQUENTIAL, .name = made,
         .made = made});
    ck_assert_str_eq(made, "e-0000000002");
    ck_assert(ens_look("/app/a/e-0000000002", &seen) && seen.owner > 0);
    ASK(0, "OK/OK, ", {CREATE, .mode = EVZK__EPHEMERAL, .name = "e"});
    ck_assert(ens_look("/app/a/e", &seen) && seen.owner > 0);
    ASK(0, "OK/OK, ", {CREATE, .mode = EVZK__CONTAINER, .name = "c"});
    ck_assert(ens_look("/app/a/c", &seen));
    tear_down();
}
END_TEST

START_TEST(a_reply_for_each)
{
    static char *names[] = {"x", "none", "x/y"};
    static const struct evzk__step get = {GET};

    set_up();
    ASK(EVZK__EACH, "[0] OK 'ex', [1] NONODE, [2] OK 'why'. ",
        {GET, .name = "x"}, {GET, .name = "none"}, {GET, .name = "x/y"});
    the->names = names;
    submit(&get, 3, 0);
    pass(100 * MS);
    HEARD("[0] OK 'ex', [1] NONODE, [2] OK 'why'. ");
    the->names = NULL;
    /* Its own sync is no other's. */
    ASK(EVZK__EACH, "[0] OK, [1] OK 'ex', [2] OK {y}. ", {SYNC, .shared = true},
        {GET, .name = "x"}, {CHILDREN, .name = "x"});
    tear_down();
}
END_TEST

START_TEST(no_steps_at_all)
{
    static char *names[] = {"x"};
    static const struct evzk__step get = {GET};

    set_up();
    the->names = names;
    submit(&get, 0, 0);
    pass(100 * MS);
    HEARD("[0] INTERNAL. ");
    the->names = NULL;
    tear_down();
}
END_TEST

/* More than there is room for at a time: it goes bit by bit, with one reply. */
START_TEST(more_than_the_window)
{
    static char *names[40];
    static const struct evzk__step get = {GET};
    uint64_t before;

    set_up_window("/app", 4);
    ASK(0, "OK/OK 'why', ", {GET, .name = "x"}, {GET, .name = "x"},
        {GET, .name = "x"}, {GET, .name = "x"}, {GET, .name = "x"},
        {GET, .name = "x/y"});
    for (size_t i = 0; i < UNIT_COUNT(names); i++)
        names[i] = i == 39 ? "x/y" : "none";
    the->names = names;
    before = ens_requests(ZOO_GETDATA_OP);
    submit(&get, 40, 0);
    pass(300 * MS);
    ck_assert_uint_eq(ens_requests(ZOO_GETDATA_OP) - before, 40);
    ck_assert_ptr_nonnull(strstr(the->heard, "[39] OK 'why'. "));
    the->names = NULL;
    tear_down();
}
END_TEST

/* A watch that is taken off on the way of a request is no step. */
START_TEST(a_reply_for_each_behind_an_unwatch)
{
    set_up();
    ASK(0, "OK/OK {y}, ",
        {CHILDREN, .name = "x", .watch = EVZK__WITH(EVZK__PRED)});
    the->leaves_pred = true;
    ASK(EVZK__EACH, "[0] OK 'ex', [1] NONODE. ", {GET, .name = "x"},
        {GET, .name = "none"});
    ck_assert_uint_eq(ens_watches(), 0);
    tear_down();
}
END_TEST

/* A request that went out bit by bit, and of which nothing is on its way when
 * the connection is lost: another server may know less than the first one. */
START_TEST(no_step_goes_by_another_connection)
{
    static char *names[6] = {"x", "x", "x", "x", "x", "x"};
    static const struct evzk__step get = {GET};
    static const struct evzk__step read[] = {{GET, .name = "x"}};
    static const struct evzk__step synced[] = {{SYNC}, {GET, .name = "x"}};

    set_up_window("/app", 4);
    the->names = names;
    the->pauses = 4;
    submit(&get, 6, 0);
    pass(50 * MS);
    HEARD("[0] OK 'ex', [1] OK 'ex', [2] OK 'ex', [3] OK 'ex', ");
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("[4] CONNLOSS. ");
    the->names = NULL;
    /* Nor does a read of which nothing was sent yet; a sync may begin anew. */
    pause_sending();
    submit(read, 1, 0);
    pass(50 * MS);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("CONNLOSS/CONNLOSS, ");
    pause_sending();
    submit(synced, 2, 0);
    pass(50 * MS);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("OK/OK 'ex', ");
    tear_down();
}
END_TEST

START_TEST(commit)
{
    struct ens_seen p, q;

    set_up();
    ASK(EVZK__COMMIT, "OK/OK, ", {CHECK, .name = "x"},
        {CREATE, .name = "p", WITH_DATA("new")},
        {SET, .name = "x", WITH_DATA("set"), IN_VERSION(0)},
        {DELETE, .name = "x/y"});
    ASK(EVZK__EACH, "[0] OK 'new', [1] OK 'set', [2] NONODE. ",
        {GET, .name = "p"}, {GET, .name = "x"}, {GET, .name = "x/y"});
    ASK(EVZK__COMMIT, "BADVERSION/BADVERSION at 1, ", {DELETE, .name = "p"},
        {CHECK, .name = "x", IN_VERSION(0)});
    ASK(EVZK__COMMIT, "NONODE/NONODE at 0, ", {CHECK, .name = "none"},
        {DELETE, .name = "p"});
    ASK(EVZK__COMMIT, "NODEEXISTS/NODEEXISTS at 2, ", {CREATE, .name = "q"},
        {DELETE, .name = "p", IN_VERSION(0)}, {CREATE, .name = "/a/x"});
    ASK(EVZK__COMMIT, "INTERNAL/INTERNAL at 1, ", {GET, .name = "x"});
    ASK(0, "OK/OK {p x}, ", {CHILDREN, .name = ""});
    strcpy(made, "s-");
    ASK(EVZK__COMMIT | EVZK__STAMP, "OK/OK, ",
        {CREATE, .mode = EVZK__EPHEMERAL_SEQUENTIAL, .name = "s-",
         .made = made},
        {CREATE, .mode = EVZK__EPHEMERAL, .name = "/a/q"});
    ck_assert_str_eq(made, "s-0000000002");
    ck_assert(ens_look("/app/a/q", &q));
    ck_assert(ens_look("/app/a/s-0000000002", &p));
    ck_assert_int_eq(q.czxid, p.czxid);
    tear_down();
}
END_TEST

/* Each create has its own. */
START_TEST(commit_with_acls)
{
    static const evzk_acl read = {EVZK_PERM_READ, "world", "anyone"};
    struct ens_seen seen;

    set_up();
    ASK(EVZK__COMMIT, "OK/OK, ",
        {CREATE, .name = "r", .acl = &read, .acl_count = 1},
        {CREATE, .name = "w"});
    ASK(EVZK__EACH, "[0] NOAUTH, [1] OK. ", {SET, .name = "r"},
        {SET, .name = "w"});
    ASK(EVZK__COMMIT, "NOAUTH/NOAUTH at 1, ", {SET, .name = "w"},
        {SET, .name = "r"});
    ck_assert(ens_look("/app/a/w", &seen));
    ck_assert_int_eq(seen.version, 1);
    tear_down();
}
END_TEST

START_TEST(watches)
{
    set_up();
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x", .watch = EVZK__WITH(EVZK__OWN)});
    ens_set_data("/app/a/x", "1", 1);
    pass(50 * MS);
    HEARD("changed own, ");
    ASK(0, "OK/OK {y}, ",
        {CHILDREN, .name = "x", .watch = EVZK__WITH(EVZK__PRED)});
    ens_delete("/app/a/x/y");
    pass(50 * MS);
    HEARD("changed pred, ");
    tear_down();
}
END_TEST

#define WATCH(i) .watch = EVZK__WITH(EVZK__PATH + (i))
#define UNWATCH .verb = EVZK__STEP_UNWATCH

START_TEST(watches_at_any_path)
{
    set_up();
    ASK(0, "OK/NONODE, ", {CHILDREN, .name = "", WATCH(0)},
        {GET, .name = "x/y", WATCH(1)}, {EXISTS, .name = "/other", WATCH(2)});
    ck_assert_uint_eq(ens_watches(), 3);
    ens_create("/app/other", "", 0, ZOO_PERSISTENT);
    ens_set_data("/app/a/x/y", "1", 1);
    ens_create("/app/a/p", "", 0, ZOO_PERSISTENT);
    pass(50 * MS);
    HEARD("changed 0, changed 1, changed 2, ");
    /* Of the znode, and of its children: one event is of one of them. */
    ASK(0, "OK/OK, ", {GET, .name = "/a/p", WATCH(0)},
        {CHILDREN, .name = "p", WATCH(1)}, {EXISTS, .name = "p", WATCH(2)});
    ens_create("/app/a/p/q", "", 0, ZOO_PERSISTENT);
    pass(50 * MS);
    HEARD("changed 1, ");
    ens_delete("/app/a/p/q");
    ens_delete("/app/a/p");
    pass(50 * MS);
    HEARD("deleted 0, deleted 2, ");
    ASK(0, "OK/OK, ", {GET, .name = "", WATCH(0)},
        {EXISTS, .name = "x", WATCH(1)});
    tear_down();
}
END_TEST

START_TEST(watches_are_taken_off)
{
    set_up();
    ASK(0, "OK/OK, ", {GET, .name = "x", WATCH(0)},
        {EXISTS, .name = "/a/x", WATCH(1)},
        {EXISTS, .name = "x", .watch = EVZK__WITH(EVZK__OWN)});
    ck_assert_uint_eq(ens_watches(), 1);
    ASK(0, "OK/OK, ", {UNWATCH, WATCH(0)});
    ck_assert_uint_eq(ens_watches(), 1); /* Other machines use it. */
    ens_set_data("/app/a/x", "1", 1);
    pass(50 * MS);
    HEARD("changed own, changed 1, ");
    ASK(0, "OK/OK '1', ", {GET, .name = "x", WATCH(0)}, {UNWATCH, WATCH(0)},
        {UNWATCH, WATCH(2)}, {GET, .name = "x"});
    ck_assert_uint_eq(ens_watches(), 0);
    ens_set_data("/app/a/x", "2", 1);
    pass(50 * MS);
    HEARD("");
    tear_down();
}
END_TEST

/* The machine ends, and is kept for a look at it. */
static void end_asker(void)
{
    int before = sim_enter(0);

    evzk__machine_stop(&the->m, EVZK_OK);
    sim_leave(before);
    pass(100 * MS);
}

/* A read with the same watch as before may be refused: the server has
 * the watch of the earlier question all the same. */
START_TEST(watches_stand_that_are_refused_anew)
{
    set_up();
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x", WATCH(0)});
    ck_assert_uint_eq(ens_watches(), 1);
    ens_set_perms("/app/a/x", 0);
    pass(10 * MS);
    ASK(0, "NOAUTH/NOAUTH, ", {GET, .name = "x", WATCH(0)});
    end_asker();
    ck_assert_uint_eq(ens_watches(), 0);
    tear_down();
}
END_TEST

/* A machine leaves its watch to another, whose own is refused. */
START_TEST(watches_are_left_to_one_that_is_refused)
{
    set_up();
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x", WATCH(0)});
    ens_set_perms("/app/a/x", 0);
    pass(10 * MS);
    ASK(0, "NOAUTH/OK, ", {GET, .name = "/a/x", WATCH(1)}, {UNWATCH, WATCH(0)});
    end_asker();
    ck_assert_uint_eq(ens_watches(), 0);
    tear_down();
}
END_TEST

/* The same of one that waits for what is absent, and one that only reads. */
START_TEST(watches_are_left_to_one_that_finds_nothing)
{
    set_up();
    ASK(0, "NONODE/NONODE, ", {EXISTS, .name = "p", WATCH(0)});
    ASK(0, "NONODE/OK, ", {GET, .name = "p", WATCH(1)}, {UNWATCH, WATCH(0)});
    end_asker();
    ck_assert_uint_eq(ens_watches(), 0);
    tear_down();
}
END_TEST

/* A watch that stands is taken off before it is set elsewhere. */
START_TEST(watches_do_not_move)
{
    set_up();
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x", WATCH(0)});
    ASK(0, "INTERNAL/INTERNAL, ", {GET, .name = "x/y", WATCH(0)});
    ASK(0, "INTERNAL/INTERNAL, ", {CHILDREN, .name = "x", WATCH(0)});
    ASK(0, "OK/OK 'why', ", {UNWATCH, WATCH(0)},
        {GET, .name = "x/y", WATCH(0)});
    ck_assert_uint_eq(ens_watches(), 1);
    ASK(0, "OK/OK 'why', ", {GET, .name = "/a/x/y", WATCH(0)});
    ck_assert_uint_eq(ens_watches(), 1);
    tear_down();
}
END_TEST

/* An event from before the watch was taken off is dropped. */
START_TEST(watches_that_have_fired_are_taken_off)
{
    static const struct evzk__step own[] = {
        {GET, .name = "x", .watch = EVZK__WITH(EVZK__OWN)},
        {GET, .name = "x/y", WATCH(0)}};
    static const struct evzk__step off[] = {
        {UNWATCH, .watch = EVZK__WITH(EVZK__OWN)}, {UNWATCH, WATCH(0)}};

    set_up();
    submit(own, 2, 0);
    pass(100 * MS);
    HEARD("OK/OK 'why', ");
    pause_sending();
    submit(off, 2, 0);
    pass(10 * MS);
    ens_set_data("/app/a/x", "1", 1);
    ens_set_data("/app/a/x/y", "1", 1);
    pass(200 * MS);
    HEARD("NONODE/NONODE, "); /* There is nothing to take off. */
    tear_down();
}
END_TEST

/* The watches went with their connection, and are set anew. */
START_TEST(watches_are_lost)
{
    set_up();
    ASK(0, "OK/OK, ", {GET, .name = "x", WATCH(0)},
        {EXISTS, .name = "", WATCH(1)});
    ck_assert(!evzk__watch_missing(&the->m, EVZK__PATH));
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    ck_assert(evzk__watch_missing(&the->m, EVZK__PATH));
    ck_assert(evzk__watch_missing(&the->m, EVZK__PATH + 1));
    ck_assert_uint_eq(ens_watches(), 0);
    ens_set_data("/app/a/x", "1", 1);
    pass(50 * MS);
    HEARD("");
    ASK(0, "OK/OK '1', ", {GET, .name = "x", WATCH(0)});
    ens_set_data("/app/a/x", "2", 1);
    pass(50 * MS);
    HEARD("changed 0, ");
    tear_down();
}
END_TEST

/* A watch whose events cannot be heard is refused. */
START_TEST(watches_that_are_none)
{
    set_up();
    ASK(0, "INTERNAL/INTERNAL, ", {GET, .name = "x", WATCH(3)});
    ASK(0, "INTERNAL/INTERNAL, ",
        {GET, .name = "x", .watch = EVZK__WITH(EVZK__PRED)});
    ASK(0, "INTERNAL/INTERNAL, ",
        {CHILDREN, .name = "x", .watch = EVZK__WITH(EVZK__OWN)});
    ASK(0, "INTERNAL/INTERNAL, ",
        {GET, .name = "x/y", .watch = EVZK__WITH(EVZK__OWN)});
    ASK(0, "INTERNAL/INTERNAL, ", {SET, .name = "x", WATCH(0)});
    tear_down();
}
END_TEST

/* Another event of the row leads there: the machine goes on, and logs. */
START_TEST(move_that_the_table_lacks)
{
#ifndef EVZK_DEBUG /* There it stops the program. */
    set_up();
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x", WATCH(0)});
    the->goes_on = true;
    ens_set_data("/app/a/x", "2", 1);
    pass(100 * MS);
    HEARD("OK/OK '2', ");
    ck_assert_str_eq(sim_violated(),
                     "p0: asker /app/a: illegal move READY to ASKING: path "
                     "changed");
    sim_violation_clear();
    tear_down();
#endif
}
END_TEST

START_TEST(too_many_watches)
{
    struct evzk__kind many = asker_kind;
    struct evzk__machine m = {0};
    int before;

    set_up();
    many.n_watches = EVZK__PATH_WATCHES_MAX + 1;
    before = sim_enter(0);
    ck_assert_int_eq(evzk__machine_init(&m, process_of(0)->s, &many, "/a", 0),
                     EVZK_ERR_INTERNAL);
    sim_leave(before);
    tear_down();
}
END_TEST

/* As one of the children of another, and as what it has itself. */
START_TEST(watches_on_the_own_directory)
{
    set_up();
    ASK(0, "OK/OK {x}, ", {GET, .name = "", .watch = EVZK__WITH(EVZK__OWN)},
        {CHILDREN, .name = "", .watch = EVZK__WITH(EVZK__PRED)});
    ck_assert_uint_eq(ens_watches(), 2);
    ens_create("/app/a/p", "", 0, ZOO_PERSISTENT);
    pass(50 * MS);
    HEARD("changed pred, ");
    ens_set_data("/app/a", "1", 1);
    pass(50 * MS);
    HEARD("changed own, ");
    ASK(0, "OK/OK, ", {DELETE, .name = "p"}, {DELETE, .name = "x/y"},
        {DELETE, .name = "x"});
    ASK(0, "OK/OK, ", {EXISTS, .name = "", .watch = EVZK__WITH(EVZK__OWN)},
        {CHILDREN, .name = "", .watch = EVZK__WITH(EVZK__PRED)});
    ens_delete("/app/a");
    pass(50 * MS);
    HEARD("deleted own, deleted pred, ");
    ASK(0, "NONODE/NONODE, ",
        {EXISTS, .name = "", .watch = EVZK__WITH(EVZK__OWN)});
    ens_create("/app/a", "", 0, ZOO_PERSISTENT);
    pass(50 * MS);
    HEARD("changed own, ");
    ASK(0, "OK/OK, ", {CHILDREN, .name = "", .watch = EVZK__WITH(EVZK__PRED)});
    tear_down();
}
END_TEST

/* There or not: read with a watch, or waited for. */
START_TEST(what_is_absent_is_waited_for)
{
    static const struct evzk__step see[] = {
        {GET, .name = "p", .watch = EVZK__WITH(EVZK__OWN), .or_absent = true}};

    set_up();
    submit(see, 1, 0);
    pass(100 * MS);
    HEARD("NONODE/NONODE, ");
    ens_create("/app/a/p", "came", 4, ZOO_PERSISTENT);
    pass(50 * MS);
    HEARD("changed own, ");
    submit(see, 1, 0);
    pass(100 * MS);
    HEARD("OK/OK 'came', ");
    tear_down();
}
END_TEST

/* A recipe that does not contend leaves as a contender does.  It has no place
 * in the queue of its directory, so nothing but the delete is done. */
START_TEST(a_delete_without_a_place)
{
    set_up();
    the->deletes = "p";
    submit(NULL, 0, 0);
    pass(100 * MS);
    HEARD("NONODE/NONODE, ");
    ens_create("/app/a/p", "", 0, ZOO_PERSISTENT);
    pass(10 * MS);
    submit(NULL, 0, 0);
    pass(100 * MS);
    HEARD("OK/OK, ");
    ck_assert(!is_there("/app/a/p"));
    ck_assert(is_there("/app/a/x"));
    submit(NULL, 0, 0);
    pass(WIRE_US / 2);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("CONNLOSS/CONNLOSS, ");
    the->deletes = NULL;
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x"});
    tear_down();
}
END_TEST

/* A sent request that is cut has an unknown outcome; so are its last steps
 * where the first ones were answered. */
START_TEST(cut)
{
    static const struct evzk__step read[] = {{GET, .name = "x"},
                                             {GET, .name = "x/y"}};
    static const struct evzk__step write[] = {{SET, .name = "x"},
                                              {CHECK, .name = "x"}};

    set_up();
    submit(read, 2, EVZK__EACH);
    pass(WIRE_US / 2);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("[0] CONNLOSS, [1] CONNLOSS. ");
    submit(write, 2, EVZK__COMMIT);
    pass(WIRE_US / 2);
    wire_cut(wire_conn_of(0));
    pass(500 * MS);
    HEARD("CONNLOSS/CONNLOSS at 2, ");
    ASK(0, "OK/OK 'ex', ", {GET, .name = "x"});
    tear_down();
}
END_TEST

UNIT_MAIN("steps", places, places_without_chroot, bytes_of_a_path, reads,
          writes, modes, a_reply_for_each, more_than_the_window, commit,
          commit_with_acls, watches, watches_on_the_own_directory,
          what_is_absent_is_waited_for, watches_at_any_path,
          watches_are_taken_off, watches_are_lost, watches_that_are_none,
          move_that_the_table_lacks, too_many_watches, cut,
          a_delete_without_a_place, a_reply_for_each_behind_an_unwatch,
          no_step_goes_by_another_connection,
          watches_stand_that_are_refused_anew,
          watches_are_left_to_one_that_is_refused,
          watches_are_left_to_one_that_finds_nothing, watches_do_not_move,
          no_steps_at_all, watches_that_have_fired_are_taken_off)
