/*
 * Double barriers on a real server: a thousand participants of one process and
 * two hundred of ten, what that costs, and who goes on when others crash, give
 * up, or use the directory for something else.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#define GUID "01234567-89ab-4def-8123-456789abcdef"

/* A participant, and what it said. */
struct part {
    evzk_double_barrier *d;
    int entered, suspended, finals;
    evzk_double_barrier_event last;
    int rc; /* Of the final event. */
    int *count_in, *count_out;
};

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event event,
                     int rc, void *arg)
{
    struct part *p = arg;

    ck_assert_ptr_eq(d, p->d);
    ck_assert_int_eq(p->finals, 0);
    if (event == EVZK_DOUBLE_BARRIER_ENTERED) {
        ck_assert(evzk_double_barrier_inside(d));
        p->entered++;
        *p->count_in += 1;
    } else if (event == EVZK_DOUBLE_BARRIER_SUSPENDED)
        p->suspended++;
    else if (evzk_double_barrier_event_is_final(event)) {
        p->finals++;
        p->last = event;
        p->rc = rc;
        *p->count_out += 1;
    }
}

static int in, out; /* Participants that have entered; that have ended. */

static void come(struct part *p, evzk_session *s, const char *path,
                 const evzk_double_barrier_options *opt)
{
    *p = (struct part){.count_in = &in, .count_out = &out};
    ck_assert_int_eq(
        evzk_double_barrier_enter(s, path, opt, on_event, p, &p->d), EVZK_OK);
    ck_assert_int_eq(p->finals, 0);
}

static void come_all(struct part *v, int n, evzk_session *s, const char *path,
                     uint32_t count)
{
    const evzk_double_barrier_options opt = {.count = count};

    for (int i = 0; i < n; i++)
        come(&v[i], s, path, &opt);
}

static void leave(struct part *p)
{
    ck_assert_int_eq(evzk_double_barrier_leave(p->d), EVZK_OK);
    ck_assert(!evzk_double_barrier_inside(p->d));
    ck_assert_int_eq(evzk_double_barrier_leave(p->d), EVZK_ERR_STATE);
}

static void expect(struct part *p, evzk_double_barrier_event last, int rc)
{
    WAIT(p->finals == 1);
    ck_assert_int_eq(p->last, last);
    ck_assert_int_eq(p->rc, rc);
    evzk_double_barrier_free(p->d);
    p->d = NULL;
}

static void leave_all(struct part *v, int n)
{
    for (int i = 0; i < n; i++)
        leave(&v[i]);
    for (int i = 0; i < n; i++)
        expect(&v[i], EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
}

static bool is_in(const struct part *p, const char *state)
{
    return strcmp(evzk_double_barrier_state(p->d), state) == 0;
}

static void mkdir_at(const char *path) { raw_mkdirs(op(), path); }

static void write_at(const char *path, const char *text)
{
    ck_assert_int_eq(
        raw_create(op(), path, text, (int)strlen(text), 0, NULL, 0), ZOK);
}

/* ---- Many ---- */

struct cost {
    uint64_t enter, leave; /* Requests. */
    int64_t enter_ms, leave_ms;
};

/* One round of `n`, in one process. */
static struct cost round_of(int n, const char *path)
{
    struct part *v = calloc((size_t)n, sizeof *v);
    struct cost cost;
    struct peer p;
    uint64_t before;
    int64_t start;

    ck_assert_ptr_nonnull(v);
    in = out = 0;
    peer_open(&p, the_server());
    all_answered(p.s);
    before = requests_of(p.s);
    start = now_ms();
    come_all(v, n, p.s, path, (uint32_t)n);
    WAIT(in == n);
    cost.enter_ms = now_ms() - start;
    cost.enter = requests_of(p.s) - before;
    before = requests_of(p.s);
    start = now_ms();
    leave_all(v, n);
    cost.leave_ms = now_ms() - start;
    cost.leave = requests_of(p.s) - before;
    printf("double-barrier processes=1 participants=%d enter_requests=%d "
           "enter_ms=%d leave_requests=%d leave_ms=%d\n",
           n, (int)cost.enter, (int)cost.enter_ms, (int)cost.leave,
           (int)cost.leave_ms);
    nothing_left(path, p.s);
    peer_close(&p);
    free(v);
    return cost;
}

/* Far from the square of the number.  A busy machine changes the count, since
 * the participants then look in smaller groups.  The exact one is that of
 * tests/sim/test_double_barrier_requests. */
START_TEST(requests_are_in_proportion)
{
    enum { PROBES = 10 };

    for (uint64_t n = 100; n <= 800; n *= 2) {
        struct cost cost;
        char path[32];

        snprintf(path, sizeof path, "/step-%d", (int)n);
        cost = round_of((int)n, path);
        ck_assert_uint_le(cost.enter, 10 * n + PROBES);
        ck_assert_uint_le(cost.leave, 5 * n + PROBES);
    }
}
END_TEST

START_TEST(thousand_in_one_process) { round_of(1000, "/step-thousand"); }
END_TEST

enum { PROCESSES = 10, EACH = 20, ALL = PROCESSES * EACH };

static bool reply(int fd, uint64_t number)
{
    return write(fd, &number, sizeof number) == sizeof number;
}

/* Two rounds of one of the processes: tells how many requests they took. */
static void process(const char *server, const char *path, int fd)
{
    static struct part v[EACH];
    struct peer p;
    uint64_t before;

    harness_set_base(event_base_new());
    peer_open(&p, server);
    all_answered(p.s);
    before = requests_of(p.s);
    for (int round = 0; round < 2; round++) {
        in = out = 0;
        come_all(v, EACH, p.s, path, ALL);
        WAIT(in == EACH);
        leave_all(v, EACH);
    }
    reply(fd, requests_of(p.s) - before);
    peer_close(&p);
    _exit(0);
}

START_TEST(two_hundred_in_ten_processes)
{
    const char *server = the_server(), *path = "/step-ten";
    int64_t start = now_ms();
    uint64_t all = 0, number;
    pid_t pids[PROCESSES];
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = harness_fork();
        if (pids[i] == 0)
            process(server, path, fds[1]);
    }
    for (int i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(harness_join(pids[i]), 0);
        ck_assert_int_eq(read(fds[0], &number, sizeof number), sizeof number);
        all += number;
    }
    printf("double-barrier processes=%d participants=%d rounds=2 requests=%d "
           "ms=%d\n",
           PROCESSES, ALL, (int)all, (int)(now_ms() - start));
    ck_assert_uint_le(all, 2 * 10 * ALL);
    nothing_left(path, NULL);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

/* More than make a round: they enter by turns, exactly so many at a time. */
START_TEST(rounds_follow_each_other)
{
    enum { N = 12, COUNT = 4 };
    const char *path = "/step-turns";
    struct part v[N];
    struct peer p;
    int first = 0;

    in = out = 0;
    peer_open(&p, the_server());
    come_all(v, N, p.s, path, COUNT);
    for (int round = 1; round <= N / COUNT; round++) {
        WAIT(in == round * COUNT);
        settle(p.s);
        ck_assert_int_eq(in, round * COUNT);
        for (int i = first; i < first + COUNT; i++)
            ck_assert_int_eq(v[i].entered, 1);
        leave_all(&v[first], COUNT);
        first += COUNT;
    }
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* ---- Those that go otherwise ---- */

/* Of two inside, the first (0) or the second (1) is cut off until its session
 * ends: the other one leaves without it. */
START_TEST(crash_inside)
{
    const evzk_double_barrier_options opt = {.count = 2};
    const char *path = "/step-crash";
    struct part lost, stays;
    struct scene sc;

    in = out = 0;
    scene_open(&sc, BRIEF_MS);
    come(_i == 0 ? &lost : &stays, _i == 0 ? sc.p.s : sc.rival.s, path, &opt);
    WAIT(is_in(_i == 0 ? &lost : &stays, "WAITING"));
    come(_i == 0 ? &stays : &lost, _i == 0 ? sc.rival.s : sc.p.s, path, &opt);
    WAIT(in == 2);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    leave(&stays);
    settle(sc.rival.s);
    ck_assert_int_eq(stays.finals, 0);
    expect(&stays, EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
    expect(&lost, EVZK_DOUBLE_BARRIER_LOST, EVZK_ERR_LEASE);
    ck_assert_int_eq(lost.suspended, 1);
    proxy_refuse(sc.proxy, false);
    raw_delete_tree(op(), path); /* The first one leaves `ready` behind. */
    scene_close(&sc, path);
}
END_TEST

START_TEST(too_few_come)
{
    const evzk_double_barrier_options brief = {.count = 2, .timeout_ms = 200},
                                      opt = {.count = 2};
    const char *path = "/step-few";
    struct part late, canceled, freed, last[2];
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    come(&late, p.s, path, &brief);
    expect(&late, EVZK_DOUBLE_BARRIER_FAILED, EVZK_ERR_TIMEOUT);
    WAIT(raw_count(op(), path) == 0);
    come(&canceled, p.s, path, &opt);
    WAIT(is_in(&canceled, "WAITING"));
    ck_assert_int_eq(evzk_double_barrier_leave(canceled.d), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_double_barrier_cancel(canceled.d), EVZK_OK);
    ck_assert_int_eq(evzk_double_barrier_cancel(canceled.d), EVZK_ERR_STATE);
    expect(&canceled, EVZK_DOUBLE_BARRIER_FAILED, EVZK_ERR_CANCELED);
    ck_assert_int_le(raw_count(op(), path), 0); /* Proved gone. */
    come(&freed, p.s, path, &opt);
    evzk_double_barrier_free(freed.d);
    idle(p.s);
    come_all(last, 2, p.s, path, 2);
    WAIT(in == 2);
    leave_all(last, 2);
    ck_assert_int_eq(freed.finals, 0);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* The other one stays inside for too long. */
START_TEST(leave_takes_too_long)
{
    const evzk_double_barrier_options brief = {.count = 2,
                                               .leave_timeout_ms = 200},
                                      opt = {.count = 2};
    const char *path = "/step-long";
    struct part quick, slow;
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    come(&slow, p.s, path, &opt);
    come(&quick, p.s, path, &brief);
    WAIT(in == 2);
    leave(&quick);
    expect(&quick, EVZK_DOUBLE_BARRIER_LEFT, EVZK_ERR_TIMEOUT);
    ck_assert(evzk_double_barrier_inside(slow.d));
    ck_assert_uint_gt(evzk_double_barrier_lease_ms(slow.d), 0);
    leave(&slow);
    expect(&slow, EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* An operator deletes the znode of one that waits, and of one that is inside.
 */
START_TEST(operator_deletes)
{
    const evzk_double_barrier_options opt = {.count = 2};
    const char *path = "/step-broken";
    struct part a, b;
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    come(&a, p.s, path, &opt);
    WAIT(is_in(&a, "WAITING"));
    ck_assert_int_eq(
        raw_delete(op(), node_path(path, evzk_double_barrier_node(a.d))), ZOK);
    WAIT(raw_count(op(), path) == 1); /* Its new one. */
    come(&b, p.s, path, &opt);
    WAIT(in == 2);
    ck_assert_int_eq(
        raw_delete(op(), node_path(path, evzk_double_barrier_node(b.d))), ZOK);
    expect(&b, EVZK_DOUBLE_BARRIER_LOST, EVZK_ERR_NODEGONE);
    leave(&a);
    expect(&a, EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* ---- What else is in the directory ---- */

/* `ready` of a round of that directory whose only participant, with the number
 * 0, has crashed. */
static void write_stale(const char *path)
{
    struct Stat stat;
    char text[128], at[64];

    ck_assert_int_eq(raw_exists(op(), path, &stat), ZOK);
    snprintf(text, sizeof text, "evzk 1 0 %" PRId64 " %s-in-0000000000",
             (int64_t)stat.czxid, GUID);
    snprintf(at, sizeof at, "%s/ready", path);
    write_at(at, text);
}

/* A znode that is named nearly as a participant's is none. */
static const char *const nearly[] = {
    "check-in-0000000000", "-in-0000000000", "x" GUID "-in-0000000000",
    GUID "-x-in-0000000000",
    "01234567-89AB-4def-8123-456789abcdef-in-0000000000"};
enum { NEARLY = sizeof nearly / sizeof nearly[0] };

START_TEST(no_participant_counts)
{
    char path[32];
    struct part v[2];
    struct peer p;

    in = out = 0;
    snprintf(path, sizeof path, "/step-nearly-%d", _i);
    peer_open(&p, the_server());
    mkdir_at(path);
    write_at(node_path(path, nearly[_i]), "");
    come_all(v, 1, p.s, path, 2);
    settle(p.s);
    ck_assert_int_eq(in, 0);
    come_all(&v[1], 1, p.s, path, 2);
    WAIT(in == 2);
    leave_all(v, 2);
    raw_delete_tree(op(), path);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* Copies the children of a znode, one by one, as an operator's tool does it. */
static void copy_tree(const char *from, const char *to)
{
    struct raw_names names;

    mkdir_at(to);
    ck_assert_int_eq(raw_children(op(), from, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        char text[256];
        int len = sizeof text;

        ck_assert_int_eq(
            raw_get(op(), node_path(from, names.name[i]), text, &len, NULL),
            ZOK);
        ck_assert_int_eq(raw_create(op(), node_path(to, names.name[i]), text,
                                    len > 0 ? len : 0, 0, NULL, 0),
                         ZOK);
    }
    raw_names_free(&names);
}

/* The next participant gets a number that is at least twice as great. */
static void use_numbers(const char *path, int n)
{
    mkdir_at(path);
    for (int i = 0; i < n; i++) {
        write_at(node_path(path, "used"), "");
        ck_assert_int_eq(raw_delete(op(), node_path(path, "used")), ZOK);
    }
}

/* A barrier with a round inside is copied: with its participants and `ready`
 * (0), with its participants alone (1), or with `ready` alone (2).  Nobody
 * enters the copy alone. */
START_TEST(copied_tree)
{
    char path[32], copy[32];
    struct part v[2], here[2];
    struct peer p;

    in = out = 0;
    snprintf(path, sizeof path, "/step-original-%d", _i);
    snprintf(copy, sizeof copy, "/step-copy-%d", _i);
    peer_open(&p, the_server());
    use_numbers(path, 20);
    come_all(v, 2, p.s, path, 2);
    WAIT(in == 2);
    copy_tree(path, copy);
    if (_i == 1)
        ck_assert_int_eq(raw_delete(op(), node_path(copy, "ready")), ZOK);
    for (int i = 0; _i == 2 && i < 2; i++)
        raw_delete(op(), node_path(copy, evzk_double_barrier_node(v[i].d)));
    come_all(here, 1, p.s, copy, 2);
    settle(p.s);
    ck_assert_int_eq(in, 2);
    come_all(&here[1], 1, p.s, copy, 2);
    WAIT(in == 4);
    leave_all(v, 2);
    leave_all(here, 2);
    raw_delete_tree(op(), copy);
    raw_delete_tree(op(), path);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* A `ready` that covers a participant, is of its directory, and is older than
 * its znode: by hand. */
START_TEST(older_ready)
{
    const evzk_double_barrier_options opt = {.count = 2};
    const char *path = "/step-older";
    struct part a;
    struct peer p;
    struct Stat stat;
    char text[128];

    in = out = 0;
    peer_open(&p, the_server());
    mkdir_at(path);
    ck_assert_int_eq(raw_exists(op(), path, &stat), ZOK);
    snprintf(text, sizeof text, "evzk 1 100 %" PRId64 " %s-in-0000000000",
             (int64_t)stat.czxid, GUID);
    write_at("/step-older/ready", text);
    come(&a, p.s, path, &opt);
    expect(&a, EVZK_DOUBLE_BARRIER_FAILED, EVZK_ERR_FOREIGN);
    raw_delete_tree(op(), path);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(stale_ready_and_foreign_children)
{
    const char *path = "/step-stale";
    struct part v[3];
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    mkdir_at(path);
    write_at("/step-stale/readme", "hello");
    write_stale("/step-stale");
    come_all(v, 2, p.s, path, 3);
    settle(p.s);
    ck_assert_int_eq(in, 0); /* Neither of the others counts. */
    come_all(&v[2], 1, p.s, path, 3);
    WAIT(in == 3);
    leave_all(v, 3);
    ck_assert_int_eq(raw_count(op(), path), 1);
    raw_delete_tree(op(), path);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

START_TEST(foreign_ready)
{
    const evzk_double_barrier_options opt = {.count = 1};
    const char *path = "/step-foreign";
    struct part a;
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    mkdir_at(path);
    write_at("/step-foreign/ready", "another program's");
    come(&a, p.s, path, &opt);
    expect(&a, EVZK_DOUBLE_BARRIER_FAILED, EVZK_ERR_FOREIGN);
    raw_delete_tree(op(), path);
    nothing_left(path, p.s);
    peer_close(&p);
}
END_TEST

/* Nobody may list the directory. */
START_TEST(denied)
{
    static const evzk_acl mute[] = {{.perms = EVZK_PERM_ALL & ~EVZK_PERM_READ,
                                     .scheme = "world",
                                     .id = "anyone"}};
    const evzk_double_barrier_options opt = {
        .count = 1, .acl = mute, .acl_count = 1};
    const char *path = "/step-denied";
    struct part a;
    struct peer p;

    in = out = 0;
    peer_open(&p, the_server());
    come(&a, p.s, path, &opt);
    expect(&a, EVZK_DOUBLE_BARRIER_FAILED, EVZK_ERR_NOAUTH);
    idle(p.s);
    wait_watches(0);
    ck_assert_int_eq(raw_delete(op(), path), ZOK); /* Empty. */
    peer_close(&p);
}
END_TEST

struct answer {
    int told, n;
    char text[256]; /* "data+" inside, "data-" outside. */
};

static void on_answer(evzk_double_barrier_query *query, int rc,
                      const evzk_participant *v, size_t n, void *arg)
{
    struct answer *a = arg;
    size_t len = 0;

    ck_assert_int_eq(rc, EVZK_OK);
    a->told++;
    a->n = (int)n;
    a->text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(a->text + len, sizeof a->text - len, "%.*s%c",
                                (int)v[i].data_len, (const char *)v[i].data,
                                v[i].inside ? '+' : '-');
    evzk_double_barrier_query_free(query);
}

static const char *who(evzk_session *s, const char *path)
{
    static struct answer a;
    evzk_double_barrier_query *query;

    a.told = 0;
    ck_assert_int_eq(
        evzk_double_barrier_query_start(s, path, on_answer, &a, &query),
        EVZK_OK);
    WAIT(a.told == 1);
    return a.text;
}

START_TEST(who_is_inside)
{
    const char *path = "/step-who", *const names[] = {"ann", "bob", "cid"};
    struct part v[3];
    struct peer p, q;

    in = out = 0;
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    ck_assert_str_eq(who(q.s, path), "");
    for (int i = 0; i < 3; i++) {
        evzk_double_barrier_options opt = {
            .count = 2, .data = names[i], .data_len = strlen(names[i])};

        come(&v[i], p.s, path, &opt);
        WAIT(evzk_double_barrier_node(v[i].d)[0]);
        if (i == 0)
            ck_assert_str_eq(who(q.s, path), "ann-");
    }
    WAIT(in == 2);
    ck_assert_str_eq(who(q.s, path), "ann+bob+cid-");
    leave(&v[1]);
    WAIT(is_in(&v[1], "AWAITING"));
    ck_assert_str_eq(who(q.s, path), "ann+cid-");
    leave(&v[0]);
    expect(&v[0], EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
    expect(&v[1], EVZK_DOUBLE_BARRIER_LEFT, EVZK_OK);
    ck_assert_str_eq(who(q.s, path), "cid-");
    evzk_double_barrier_free(v[2].d);
    nothing_left(path, p.s);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("double-barrier");
    TCase *many = lock_tests(suite, "many", 120000);
    TCase *few = lock_tests(suite, "few", 60000);
    TCase *forged = lock_tests(suite, "forged", 60000);

    tcase_add_test(many, requests_are_in_proportion);
    tcase_add_test(many, thousand_in_one_process);
    tcase_add_test(many, two_hundred_in_ten_processes);
    tcase_add_test(few, rounds_follow_each_other);
    tcase_add_loop_test(few, crash_inside, 0, 2);
    tcase_add_test(few, too_few_come);
    tcase_add_test(few, leave_takes_too_long);
    tcase_add_test(few, operator_deletes);
    tcase_add_test(few, stale_ready_and_foreign_children);
    tcase_add_test(few, foreign_ready);
    tcase_add_loop_test(forged, no_participant_counts, 0, NEARLY);
    tcase_add_loop_test(forged, copied_tree, 0, 3);
    tcase_add_test(forged, older_ready);
    tcase_add_test(few, denied);
    tcase_add_test(few, who_is_inside);
    return lock_suite_run(suite);
}
