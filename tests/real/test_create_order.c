/*
 * Order of arrival: of the contenders of one session on one path, the one that
 * asks first comes first, whatever is missing above their directory, and
 * whatever happens while that is made.
 */
#include "test_election.h"
#include "test_party.h"

enum { LEVELS = 4, MANY = 24 };

/* A directory that is missing with this many levels above it. */
static const char *below(const char *top, int levels)
{
    static char path[128];
    int n = snprintf(path, sizeof path, "%s", top);

    for (int i = 0; i <= levels; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "/%c", 'a' + i);
    ck_assert_int_lt(n, (int)sizeof path);
    return path;
}

/* The server's number, or -1: it has none yet. */
static int32_t number_of(const char *node)
{
    size_t n = strlen(node);

    return n < 10 ? -1 : (int32_t)strtol(node + n - 10, NULL, 10);
}

/* Each has its place, and in the order in which they were asked for. */
static void check_order(struct claim *c, int n)
{
    for (int i = 0; i < n; i++)
        WAIT(number_of(evzk_lock_node(c[i].l)) >= 0);
    for (int i = 1; i < n; i++)
        ck_assert_msg(number_of(evzk_lock_node(c[i - 1].l)) <
                          number_of(evzk_lock_node(c[i].l)),
                      "%d was asked for before %d, and has the number %d, not "
                      "one below %d",
                      i - 1, i, (int)number_of(evzk_lock_node(c[i - 1].l)),
                      (int)number_of(evzk_lock_node(c[i].l)));
}

static void free_all(struct claim *c, int n, evzk_session *s)
{
    for (int i = 0; i < n; i++)
        evzk_lock_free(c[i].l);
    idle(s);
}

/* ---- Two that read, and one that writes ---- */

/* A program that lets go when both of them read has to end. */
START_TEST(readers_before_the_writer)
{
    const char *dir = below("/arrival-readers", _i);
    struct party a;

    raw_delete_tree(op(), "/arrival-readers");
    party_open(&a, dir, 1, the_server());
    claim(&a.c[0], session_of(&a, 0), dir, MODE(READ));
    claim(&a.c[1], session_of(&a, 0), dir, MODE(READ));
    claim(&a.c[2], session_of(&a, 0), dir, MODE(WRITE));
    check_order(a.c, 3);
    WAIT(evzk_lock_held(a.c[0].l) && evzk_lock_held(a.c[1].l));
    calm_held(&a, "110");
    claim_release(&a.c[0]);
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    claim_release(&a.c[2]);
    party_close(&a);
    raw_delete_tree(op(), "/arrival-readers");
}
END_TEST

/* ---- All kinds ---- */

static void ask_mixed(struct claim *c, int i, evzk_session *s, const char *dir)
{
    static const evzk_acl open_to_all = {EVZK_PERM_ALL, "world", "anyone"};
    evzk_lock_priority urgency = {.priority = (uint8_t)(i % 7)};
    evzk_lock_options opt = {.mode = (evzk_lock_mode)(i % 3)};

    if (i % 3 && i % 4 == 0)
        opt.priority = &urgency;
    if (i % 5 == 0) {
        opt.acl = &open_to_all;
        opt.acl_count = 1;
    }
    if (i % 2) {
        opt.data = "another";
        opt.data_len = 7;
    }
    claim(c, s, dir, &opt);
}

/* Their modes, priorities, data and ACLs are no matter. */
START_TEST(mixed_in_order)
{
    const char *dir = below("/arrival-mixed", _i);
    struct claim c[MANY];
    struct peer p;
    int32_t last = -1;

    raw_delete_tree(op(), "/arrival-mixed");
    peer_open(&p, the_server());
    for (int i = 0; i < MANY; i++)
        ask_mixed(&c[i], i, p.s, dir);
    for (int i = 0; i < MANY; i++) {
        bool waits = i % 3 && i % 4 == 0; /* Gets another number later. */

        WAIT(number_of(evzk_lock_node(c[i].l)) >= 0);
        if (waits)
            continue;
        ck_assert_int_gt(number_of(evzk_lock_node(c[i].l)), last);
        last = number_of(evzk_lock_node(c[i].l));
    }
    free_all(c, MANY, p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/arrival-mixed");
}
END_TEST

static void on_election(evzk_election *e, evzk_election_event event, int rc,
                        void *arg)
{
    (void)e;
    (void)event;
    (void)rc;
    (void)arg;
}

START_TEST(candidates_in_order)
{
    const char *dir = below("/arrival-elect", _i);
    evzk_election *e[MANY];
    struct peer p;

    raw_delete_tree(op(), "/arrival-elect");
    peer_open(&p, the_server());
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(
            evzk_election_volunteer(p.s, dir, NULL, on_election, NULL, &e[i]),
            EVZK_OK);
    for (int i = 0; i < MANY; i++)
        WAIT(number_of(evzk_election_node(e[i])) >= 0);
    for (int i = 1; i < MANY; i++)
        ck_assert_int_lt(number_of(evzk_election_node(e[i - 1])),
                         number_of(evzk_election_node(e[i])));
    for (int i = 0; i < MANY; i++)
        evzk_election_free(e[i]);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/arrival-elect");
}
END_TEST

/* ---- What happens meanwhile ---- */

/* The first gives up at once, later, or never comes to it: the others stay in
 * their order. */
START_TEST(first_gives_up)
{
    const char *dir = below("/arrival-gives-up", 2);
    struct claim c[6];
    struct peer p;

    raw_delete_tree(op(), "/arrival-gives-up");
    peer_open(&p, the_server());
    for (int i = 0; i < 6; i++)
        claim(&c[i], p.s, dir, NULL);
    if (_i > 0)
        WAIT(strcmp(evzk_lock_state(c[0].l),
                    _i == 1 ? "CREATING" : "MAKING_PARENTS") == 0);
    evzk_lock_free(c[0].l);
    check_order(c + 1, 5);
    free_all(c + 1, 5, p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/arrival-gives-up");
}
END_TEST

/* An operator, or a server, takes empty directories away as they are made. */
START_TEST(directories_go_meanwhile)
{
    static const char *const made[] = {"/arrival-goes/a/b/c",
                                       "/arrival-goes/a/b", "/arrival-goes/a",
                                       "/arrival-goes"};
    struct claim c[6];
    struct peer p;

    raw_delete_tree(op(), "/arrival-goes");
    peer_open(&p, the_server());
    for (int i = 0; i < 6; i++)
        claim(&c[i], p.s, made[0], MODE(READ));
    for (int i = 0; i < 12; i++)
        raw_delete(op(), made[i % 4]);
    check_order(c, 6);
    free_all(c, 6, p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/arrival-goes");
}
END_TEST

/* Nobody may make anything there: all fail, each with that, and soon. */
START_TEST(denied_together)
{
    enum { N = 300 };
    struct crowd c;
    struct peer p;

    raw_delete_tree(op(), "/arrival-denied");
    ck_assert_int_eq(raw_create_acl(op(), "/arrival-denied", "", 0, 0,
                                    &ZOO_READ_ACL_UNSAFE, NULL, 0),
                     ZOK);
    peer_open(&p, the_server());
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s,
                    _i == 0 ? "/arrival-denied"
                            : below("/arrival-denied", _i - 1),
                    NULL);
    WAIT(c.finals == N);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(c.v[i].rc, EVZK_ERR_NOAUTH);
    ck_assert_uint_le(requests_of(p.s), N / 10);
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), "/arrival-denied");
}
END_TEST

/* Cut at each request of the beginning, before and after it arrives. */
START_TEST(cut_meanwhile)
{
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = below("/arrival-cut", 1);
    int way = _i % PROXY_CUTS, k = 1 + _i / PROXY_CUTS;
    struct claim c[8];
    struct peer p;

    raw_delete_tree(op(), "/arrival-cut");
    peer_open(&p, proxy_address(proxy));
    all_answered(p.s);
    proxy_cut_at_frame(proxy, proxy_cuts[way].dir, k, proxy_cuts[way].act);
    for (int i = 0; i < 8; i++)
        claim(&c[i], p.s, dir, i % 3 == 2 ? MODE(WRITE) : MODE(READ));
    check_order(c, 8);
    free_all(c, 8, p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/arrival-cut");
}
END_TEST

/* Contenders ask while the connection is away, behind creates of unknown
 * outcome. */
START_TEST(asked_while_cut)
{
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = below("/arrival-away", 0);
    struct claim c[9];
    struct peer p;

    raw_delete_tree(op(), "/arrival-away");
    peer_open(&p, proxy_address(proxy));
    claim_held(&c[0], p.s, dir, NULL);
    all_answered(p.s);
    proxy_trap(proxy, proxy_cuts[_i].dir, OP_CREATE, 2, proxy_cuts[_i].act);
    for (int i = 1; i < 5; i++)
        claim(&c[i], p.s, dir, NULL);
    WAIT(!evzk_session_connected(p.s));
    for (int i = 5; i < 9; i++)
        claim(&c[i], p.s, dir, NULL);
    check_order(c, 9);
    free_all(c, 9, p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/arrival-away");
}
END_TEST

/* Contenders of another session come and go, and take the directory along. */
START_TEST(rival_comes_and_goes)
{
    enum { ROUNDS = 40 };
    const char *dir = "/arrival-rival/a";
    struct peer p, rival;

    raw_delete_tree(op(), "/arrival-rival");
    peer_open(&p, the_server());
    peer_open(&rival, the_server());
    for (int round = 0; round < ROUNDS; round++) {
        struct claim c[6], other;

        claim_held(&other, rival.s, dir, NULL);
        ck_assert_int_eq(evzk_lock_release(other.l), EVZK_OK);
        for (int i = 0; i < 6; i++)
            claim(&c[i], p.s, dir, NULL);
        check_order(c, 6);
        WAIT(other.rec.finals == 1);
        evzk_lock_free(other.l);
        free_all(c, 6, p.s);
    }
    idle(rival.s);
    peer_close(&p);
    peer_close(&rival);
    raw_delete_tree(op(), "/arrival-rival");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arrival");
    TCase *tests = lock_tests(suite, "arrival", 60000);

    tcase_add_loop_test(tests, readers_before_the_writer, 0, LEVELS);
    tcase_add_loop_test(tests, mixed_in_order, 0, LEVELS);
    tcase_add_loop_test(tests, candidates_in_order, 0, LEVELS);
    tcase_add_loop_test(tests, first_gives_up, 0, 3);
    tcase_add_test(tests, directories_go_meanwhile);
    tcase_add_loop_test(tests, denied_together, 0, 3);
    tcase_add_loop_test(tests, cut_meanwhile, 0, 8 * PROXY_CUTS);
    tcase_add_loop_test(tests, asked_while_cut, 0, PROXY_CUTS);
    tcase_add_test(tests, rival_comes_and_goes);
    return lock_suite_run(suite);
}
