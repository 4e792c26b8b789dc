/*
 * Many locks in one turn of the loop: they go as few requests, and what becomes
 * of one is no business of its neighbours.
 */
#include "test_many.h"

static void start_all(struct crowd *c, evzk_session *s, const char *parent)
{
    for (int i = 0; i < c->n; i++)
        crowd_start(c, i, s, numbered(parent, i), NULL);
}

/* The only one in its directory, with the token that it has. */
static void check_alone(const struct member *m, const char *dir)
{
    struct raw_names names;
    struct Stat stat;

    ck_assert(evzk_lock_held(m->l));
    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    ck_assert_str_eq(names.name[0], evzk_lock_node(m->l));
    raw_names_free(&names);
    ck_assert_int_eq(
        raw_exists(op(), node_path(dir, evzk_lock_node(m->l)), &stat), ZOK);
    ck_assert_uint_eq((uint64_t)stat.czxid, m->token);
}

static void check_all_alone(const struct crowd *c, const char *parent)
{
    for (int i = 0; i < c->n; i++)
        check_alone(&c->v[i], numbered(parent, i));
}

/* ---- Few requests ---- */

START_TEST(many_in_a_turn_are_few_requests)
{
    enum { N = 500, FEW = 30 };
    static uint64_t before[N];
    struct crowd c;
    struct peer p;

    peer_fresh(&p, the_server());
    for (int round = 0; round < 3; round++) {
        long start = packets();

        crowd_new(&c, N);
        start_all(&c, p.s, "/batch/few");
        WAIT(c.granted == N);
        all_answered(p.s);
        ck_assert_int_le(packets() - start, FEW);
        check_all_alone(&c, "/batch/few");
        for (int i = 0; i < N; i++) {
            ck_assert_uint_gt(c.v[i].token, before[i]);
            before[i] = c.v[i].token;
        }
        start = packets();
        crowd_release(&c);
        WAIT(c.finals == N);
        ck_assert_int_le(packets() - start, FEW);
        crowd_check_served(&c);
        ck_assert_int_le(raw_count(op(), "/batch/few"), 0);
        crowd_free(&c);
    }
    nothing_left("/batch/few", p.s);
    peer_close(&p);
}
END_TEST

/* Locks of different paths may have one transaction, and so one token; those of
 * one path never: a token means something on its path alone. */
START_TEST(tokens_are_of_their_path)
{
    enum { PATHS = 10, READERS = 3 };
    const evzk_lock_options reads = {.mode = EVZK_LOCK_READ};
    struct crowd c, readers;
    struct peer p;
    int alike = 0;

    peer_fresh(&p, the_server());
    crowd_new(&c, PATHS);
    crowd_new(&readers, READERS);
    start_all(&c, p.s, "/batch/paths");
    for (int i = 0; i < READERS; i++)
        crowd_start(&readers, i, p.s, "/batch/path", &reads);
    WAIT(c.granted == PATHS && readers.granted == READERS);
    for (int i = 1; i < PATHS; i++)
        alike += c.v[i].token == c.v[0].token;
    ck_assert_int_gt(alike, 0);
    for (int i = 0; i < READERS; i++) {
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(readers.v[i].token, readers.v[j].token);
        ck_assert_uint_le(readers.v[i].token, INT64_MAX);
    }
    crowd_release(&c);
    crowd_release(&readers);
    WAIT(c.finals == PATHS && readers.finals == READERS);
    crowd_free(&c);
    crowd_free(&readers);
    peer_close(&p);
}
END_TEST

/* ---- Each its own error ---- */

enum oddity {
    PLAIN,
    HELD_BY_RIVAL,
    EMPTY,       /* Its directory is there. */
    SHUT,        /* So it is, and its ACL lets nobody in. */
    SHUT_PARENT, /* Nobody may make its directory. */
    DEEP,        /* Parents are missing. */
    EPHEMERAL,   /* Its directory cannot have children. */
    ODDITIES
};

enum { NEIGHBOURS = 70, STEP = 9 };

/* Turned by @shift, so that each oddity is first and last once in a while. */
static enum oddity oddity_of(int i, int shift)
{
    int k = (i + shift) % NEIGHBOURS;

    return k % STEP == 0 && k / STEP < ODDITIES ? (enum oddity)(k / STEP)
                                                : PLAIN;
}

static const char *path_of(int i, int shift)
{
    switch (oddity_of(i, shift)) {
    case SHUT_PARENT:
        return "/odd-shut/lock";
    case DEEP:
        return "/odd-deep/a/b/lock";
    case PLAIN:
    case HELD_BY_RIVAL:
    case EMPTY:
    case SHUT:
    case EPHEMERAL:
    case ODDITIES:
        break;
    }
    return numbered("/odd", i);
}

static void prepare(int shift, struct claim *rival, evzk_session *s)
{
    raw_delete_tree(op(), "/odd");
    raw_delete_tree(op(), "/odd-shut");
    raw_delete_tree(op(), "/odd-deep");
    raw_mkdirs(op(), "/odd");
    ck_assert_int_eq(raw_create_acl(op(), "/odd-shut", "", 0, 0,
                                    &ZOO_READ_ACL_UNSAFE, NULL, 0),
                     ZOK);
    for (int i = 0; i < NEIGHBOURS; i++) {
        const char *path = path_of(i, shift);

        if (oddity_of(i, shift) == HELD_BY_RIVAL)
            claim_held(rival, s, path, NULL);
        else if (oddity_of(i, shift) == EMPTY)
            raw_mkdirs(op(), path);
        else if (oddity_of(i, shift) == SHUT)
            ck_assert_int_eq(raw_create_acl(op(), path, "", 0, 0,
                                            &ZOO_READ_ACL_UNSAFE, NULL, 0),
                             ZOK);
        else if (oddity_of(i, shift) == EPHEMERAL)
            ck_assert_int_eq(
                raw_create(op(), path, "", 0, ZOO_EPHEMERAL, NULL, 0), ZOK);
    }
}

/* The expected error, or 0. */
static int due_error(enum oddity oddity)
{
    switch (oddity) {
    case HELD_BY_RIVAL:
        return EVZK_ERR_BUSY;
    case SHUT:
    case SHUT_PARENT:
        return EVZK_ERR_NOAUTH;
    case EPHEMERAL:
        return EVZK_ERR_EPHEMERAL;
    case PLAIN:
    case EMPTY:
    case DEEP:
    case ODDITIES:
        break;
    }
    return EVZK_OK;
}

/* Is its directory another's, so that it stays? */
static bool found_there(enum oddity oddity)
{
    return oddity == EMPTY || oddity == SHUT || oddity == EPHEMERAL;
}

static void check_each(const struct crowd *c, int shift)
{
    for (int i = 0; i < NEIGHBOURS; i++) {
        const struct member *m = &c->v[i];
        int rc = due_error(oddity_of(i, shift));

        ck_assert_int_eq(m->granted, rc == EVZK_OK);
        ck_assert_int_eq(m->finals, rc != EVZK_OK);
        if (rc == EVZK_OK)
            check_alone(m, path_of(i, shift));
        else
            ck_assert_int_eq(m->last, EVZK_LOCK_FAILED);
        ck_assert_int_eq(m->rc, rc);
    }
}

START_TEST(each_its_own_error)
{
    enum { FAIL = 4 };
    const evzk_lock_options try_once = {.try_once = true};
    int shift = _i * STEP + _i % 2;
    struct peer p, other;
    struct claim rival;
    struct crowd c;

    peer_open(&p, the_server());
    peer_open(&other, the_server());
    prepare(shift, &rival, other.s);
    crowd_new(&c, NEIGHBOURS);
    for (int i = 0; i < NEIGHBOURS; i++)
        crowd_start(&c, i, p.s, path_of(i, shift), &try_once);
    WAIT(c.granted + c.finals >= NEIGHBOURS);
    all_answered(p.s);
    check_each(&c, shift);
    ck_assert(evzk_lock_held(rival.l));
    ck_assert_int_eq(c.finals, FAIL);
    crowd_free(&c);
    idle(p.s);
    claim_release(&rival);
    for (int i = 0; i < NEIGHBOURS; i++)
        ck_assert_int_eq(raw_count(op(), path_of(i, shift)),
                         found_there(oddity_of(i, shift)) ? 0 : -1);
    peer_close(&p);
    peer_close(&other);
}
END_TEST

/* ---- What many have in common ---- */

/* What the server says of the ACL it says of the ACL of all. */
START_TEST(one_error_of_all)
{
    enum { N = 256 };
    static const evzk_acl nobody = {EVZK_PERM_ALL, "auth", ""};
    const evzk_lock_options opt = {.acl = &nobody, .acl_count = 1};
    struct crowd c;
    struct peer p;

    peer_open(&p, the_server());
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s, numbered("/batch-acl", i), &opt);
    WAIT(c.finals == N);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(c.v[i].rc, EVZK_ERR_BADACL);
    ck_assert_uint_le(requests_of(p.s), N / 4);
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
}
END_TEST

/* After directories came to be shared, only their removal is a risk: znodes in
 * directories that stay go together all the same. */
START_TEST(deletes_stay_together)
{
    enum { SHARED = 200, N = 640 };
    struct crowd shared, rivals, c;
    struct peer p, rival;
    uint64_t asked;

    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    crowd_new(&shared, SHARED);
    crowd_new(&rivals, SHARED);
    crowd_new(&c, N);
    start_all(&shared, p.s, "/batch-shared");
    WAIT(shared.granted == SHARED);
    start_all(&rivals, rival.s, "/batch-shared");
    WAIT(raw_count(op(), numbered("/batch-shared", SHARED - 1)) == 2);
    all_answered(rival.s);
    crowd_release(&shared);
    WAIT(rivals.granted == SHARED);
    crowd_release(&rivals);
    raw_mkdirs(op(), "/batch-there");
    for (int i = 0; i < N; i++)
        raw_mkdirs(op(), numbered("/batch-there", i));
    start_all(&c, p.s, "/batch-there");
    WAIT(c.granted == N);
    all_answered(p.s);
    asked = requests_of(p.s);
    crowd_release(&c);
    WAIT(c.finals == N);
    ck_assert_uint_le(requests_of(p.s) - asked, N / 16);
    crowd_free(&shared);
    crowd_free(&rivals);
    crowd_free(&c);
    peer_close(&p);
    peer_close(&rival);
    raw_delete_tree(op(), "/batch-there");
}
END_TEST

/* ---- In the order in which they were asked for ---- */

static int32_t number_of(const struct member *m)
{
    const char *node = evzk_lock_node(m->l);
    size_t n = strlen(node);

    return n < 10 ? -1 : (int32_t)strtol(node + n - 10, NULL, 10);
}

static const struct {
    const char *path[4];
} orders[] = {
    {{"/order/there", "/order/there", "/order/there", "/order/there"}},
    {{"/order/new", "/order/there", "/order/new", "/order/new"}},
    {{"/order/new", "/order/new", "/order/there", "/order/new"}},
    {{"/order/new", "/order/new", "/order/new", "/order/new"}}};

/* Whether a directory is there is only guessed: who asked first comes first. */
START_TEST(first_come_first)
{
    struct crowd c;
    struct peer p;

    raw_delete_tree(op(), "/order");
    raw_mkdirs(op(), "/order/there");
    peer_open(&p, the_server());
    crowd_new(&c, 4);
    for (int i = 0; i < 4; i++)
        crowd_start(&c, i, p.s, orders[_i].path[i], NULL);
    for (int i = 0; i < 4; i++)
        WAIT(number_of(&c.v[i]) >= 0);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(orders[_i].path[k], orders[_i].path[i]) == 0)
                ck_assert_int_lt(number_of(&c.v[k]), number_of(&c.v[i]));
        }
    }
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/order");
}
END_TEST

/* ---- Cut in flight ---- */

enum { CUT_LOCKS = 200 };

static void trap(struct proxy *proxy, int way, int k)
{
    proxy_trap(proxy, proxy_cuts[way].dir, OP_MULTI, k, proxy_cuts[way].act);
}

static void cut_once(struct proxy *proxy, evzk_session *s, int way, int k)
{
    int64_t fired = proxy_fired(proxy);
    char parent[32];
    struct crowd c;

    snprintf(parent, sizeof parent, "/batch-cut/%d-%d", way, k);
    raw_mkdirs(op(), parent);
    crowd_new(&c, CUT_LOCKS);
    trap(proxy, way, k);
    start_all(&c, s, parent);
    WAIT(c.granted == CUT_LOCKS && proxy_fired(proxy) == fired + 1);
    WAIT(evzk_session_connected(s));
    all_answered(s);
    check_all_alone(&c, parent);
    trap(proxy, way, k);
    crowd_release(&c);
    WAIT(c.finals == CUT_LOCKS && proxy_fired(proxy) == fired + 2);
    crowd_check_served(&c);
    crowd_free(&c);
    WAIT(evzk_session_connected(s));
    idle(s);
    raw_sync(op(), "/");
    for (int i = 0; i < CUT_LOCKS; i++)
        ck_assert_int_le(raw_count(op(), numbered(parent, i)), 0);
}

START_TEST(cut_in_flight)
{
    struct proxy *proxy = proxy_start(the_server());
    struct peer p;

    raw_delete_tree(op(), "/batch-cut");
    peer_short(&p, proxy_address(proxy));
    for (int k = 1; k <= 3; k += 2)
        cut_once(proxy, p.s, _i, k);
    for (int k = 1; k <= 3; k += 2) { /* Directories go when they were idle. */
        char parent[32];

        snprintf(parent, sizeof parent, "/batch-cut/%d-%d", _i, k);
        WAIT(raw_count(op(), parent) <= 0);
    }
    raw_delete_tree(op(), "/batch-cut");
    nothing_left("/batch-cut", p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* ---- Released together, some with others behind them ---- */

START_TEST(released_together_some_contended)
{
    enum { N = 500, EVERY = 10, BEHIND = N / EVERY };
    struct crowd c, behind;
    struct peer p, rival;
    long start;

    raw_delete_tree(op(), "/batch-some");
    peer_short(&p, the_server());
    peer_short(&rival, the_server());
    crowd_new(&c, N);
    crowd_new(&behind, BEHIND);
    start_all(&c, p.s, "/batch-some");
    WAIT(c.granted == N);
    for (int i = 0; i < BEHIND; i++)
        crowd_start(&behind, i, rival.s, numbered("/batch-some", i * EVERY),
                    NULL);
    for (int i = 0; i < BEHIND; i++)
        WAIT(strcmp(evzk_lock_state(behind.v[i].l), "WATCHING") == 0);
    all_answered(rival.s);
    start = packets();
    crowd_release(&c);
    WAIT(c.finals == N && behind.granted == BEHIND);
    ck_assert_int_le(packets() - start, N);
    crowd_check_served(&c);
    for (int i = 0; i < BEHIND; i++) {
        check_alone(&behind.v[i], numbered("/batch-some", i * EVERY));
        ck_assert_uint_gt(behind.v[i].token, c.v[i * EVERY].token);
    }
    crowd_release(&behind);
    WAIT(behind.finals == BEHIND);
    crowd_check_served(&behind);
    WAIT(raw_count(op(), "/batch-some") <= 0); /* In a while. */
    crowd_free(&c);
    crowd_free(&behind);
    peer_close(&p);
    peer_close(&rival);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("batch");
    TCase *tests = lock_tests(suite, "batch", 60000);

    tcase_add_test(tests, many_in_a_turn_are_few_requests);
    tcase_add_test(tests, tokens_are_of_their_path);
    tcase_add_loop_test(tests, each_its_own_error, 0, ODDITIES);
    tcase_add_test(tests, one_error_of_all);
    tcase_add_test(tests, deletes_stay_together);
    tcase_add_loop_test(tests, first_come_first, 0,
                        sizeof orders / sizeof orders[0]);
    tcase_add_loop_test(tests, cut_in_flight, 0, PROXY_CUTS);
    tcase_add_test(tests, released_together_some_contended);
    return lock_suite_run(suite);
}
