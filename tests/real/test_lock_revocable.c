/*
 * What a holder, or a waiter, hears when it is asked to let go: exactly once
 * each time, early or late, also of what was written while it was cut off, and
 * how it may answer.
 */
#include "test_party.h"

/* Counts the times that its machines heard of a change. */
static void count_changes(const evzk_trace *move, void *arg)
{
    *(int *)arg += strcmp(move->event, "own changed") == 0;
}

/* A session whose own watches come soon. */
static void peer_watched(struct peer *p, const char *server, int *changes)
{
    evzk_session_options opt = {
        .timeout_ms = SHORT_MS, .trace = count_changes, .trace_arg = changes};

    *changes = 0;
    peer_start(p, server, &opt);
    WAIT(evzk_session_connected(p->s));
}

static void write_node(const char *dir, const struct claim *c, const char *text)
{
    ck_assert_int_eq(raw_set(op(), node_path(dir, evzk_lock_node(c->l)), text,
                             (int)strlen(text)),
                     ZOK);
}

#define ASKED "REVOKE_REQUESTED"

/* In each mode: exactly this word, and each time that it is written. */
START_TEST(holder_is_asked)
{
    static const char *const others[] = {
        "unlock ", "UNLOCK", "", "unlocked", "unloc", "\nunlock", "Unlock"};
    const evzk_lock_options opt = {.mode = (evzk_lock_mode)_i};
    const char *dir = "/asked";
    int changes;
    struct claim c;
    struct peer p;
    uint64_t token;

    peer_watched(&p, the_server(), &changes);
    claim_held(&c, p.s, dir, &opt);
    token = evzk_lock_token(c.l);
    wait_own_watches(p.s, 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int before = changes;

        write_node(dir, &c, others[i]);
        WAIT(still_held(&c) && changes > before);
        wait_own_watches(p.s, 1);
    }
    ck_assert_int_eq(heard(&c, ASKED), 0);
    for (int i = 1; i <= 3; i++) {
        write_node(dir, &c, "unlock");
        WAIT(still_held(&c) && heard(&c, ASKED) == i);
        settle(p.s);
        ck_assert_int_eq(heard(&c, ASKED), i);
        wait_own_watches(p.s, 1);
    }
    ck_assert_uint_eq(evzk_lock_token(c.l), token);
    ck_assert_int_eq(evzk_lock_mode_of(c.l), opt.mode);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* Before the own znode is watched, and of what was there from the beginning. */
START_TEST(holder_is_asked_early)
{
    const evzk_lock_options opt = {
        .mode = EVZK_LOCK_READ, .data = "unlock", .data_len = 6};
    const char *dir = "/asked-early";
    struct claim c, other;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&other, p.s, dir, &opt);
    claim_held(&c, p.s, dir, MODE(READ));
    write_node(dir, &c, "unlock");
    WAIT(heard(&c, ASKED) == 1);
    wait_own_watches(p.s, 2);
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED " ASKED);
    ck_assert_str_eq(recorder_story(&other.rec), "GRANTED");
    claim_release(&c);
    claim_release(&other);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* While it was disconnected: before its own znode was watched (0), or after
 * (1). It is not told again when it is cut once more. */
START_TEST(holder_is_asked_while_cut_off)
{
    const char *dir = "/asked-cut";
    struct scene sc;
    struct claim c;
    uint64_t token;

    scene_open(&sc, _i ? SHORT_MS : SESSION_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    token = evzk_lock_token(c.l);
    if (_i)
        wait_own_watches(sc.p.s, 1);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(still_held(&c) && recorder_has(&c.rec, "SUSPENDED"));
    write_node(dir, &c, "unlock");
    ck_assert_int_eq(heard(&c, ASKED), 0);
    proxy_refuse(sc.proxy, false);
    WAIT(still_held(&c) && recorder_has(&c.rec, "RESUMED") &&
         heard(&c, ASKED) == 1);
    settle(sc.p.s);
    recorder_clear(&sc.p.rec);
    proxy_cut(sc.proxy);
    WAIT(recorder_has(&sc.p.rec, "RESUMED"));
    settle(sc.p.s);
    ck_assert_int_eq(heard(&c, ASKED), 1);
    ck_assert_int_eq(heard(&c, "SUSPENDED"), heard(&c, "RESUMED"));
    ck_assert(still_held(&c));
    ck_assert_uint_eq(evzk_lock_token(c.l), token);
    claim_release(&c);
    scene_close(&sc, dir);
}
END_TEST

/* The waiter keeps its place, and does not hear the request again with its
 * grant; those beside it hear nothing. */
START_TEST(waiter_is_asked)
{
    const char *dir = "/asked-waiter";
    struct claim held, c, last;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&held, p.s, dir, MODE(WRITE));
    claim_queued(&c, p.s, dir, _i ? MODE(READ) : MODE(WRITE));
    claim_queued(&last, p.s, dir, MODE(WRITE));
    wait_own_watches(p.s, 5); /* Three own ones, and two before these. */
    write_node(dir, &c, "unlock");
    WAIT(heard(&c, ASKED) == 1);
    settle(p.s);
    ck_assert_str_eq(c.rec.text, ASKED);
    ck_assert(is_waiting(&c));
    claim_release(&held);
    WAIT_EVENT(&c, "GRANTED");
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), ASKED " GRANTED");
    ck_assert_int_eq(last.rec.count, 0);
    claim_release(&c);
    WAIT_EVENT(&last, "GRANTED");
    claim_release(&last);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* The holder answers inside the event: by release, by free, and by downgrade,
 * after which its new znode is asked. */
START_TEST(asked_holder_lets_go)
{
    static int (*const acts[])(evzk_lock *) = {evzk_lock_release, do_free,
                                               evzk_lock_downgrade};
    struct actor a = {.at = EVZK_LOCK_REVOKE_REQUESTED, .act = acts[_i]};
    const char *dir = "/asked-answer";
    struct peer p;

    peer_short(&p, the_server());
    actor_start(&a, p.s, dir);
    WAIT_EVENT(&a.c, "GRANTED");
    wait_own_watches(p.s, 1);
    write_node(dir, &a.c, "unlock");
    WAIT(a.rc != -999);
    ck_assert_int_eq(a.rc, EVZK_OK);
    if (_i == 2) {
        WAIT_EVENT(&a.c, "DOWNGRADED");
        a.act = evzk_lock_release;
        wait_own_watches(p.s, 1);
        ck_assert_int_eq(heard(&a.c, ASKED), 1);
        write_node(dir, &a.c, "unlock");
    }
    WAIT(_i == 1 || a.c.rec.finals == 1);
    nothing_left(dir, p.s);
    ck_assert_int_eq(heard(&a.c, ASKED), _i == 2 ? 2 : 1);
    ck_assert_int_eq(heard(&a.c, "RELEASED"), _i != 1);
    if (_i != 1)
        evzk_lock_free(a.c.l);
    peer_close(&p);
}
END_TEST

/* A request is heard, though the znode is about to be replaced (0); and other
 * data does not stand in the way (1). */
START_TEST(asked_right_before_downgrade)
{
    const char *dir = "/asked-down";
    struct claim c;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, MODE(WRITE));
    write_node(dir, &c, _i ? "new" : "unlock");
    downgrade(&c);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED"));
    wait_own_watches(p.s, 1);
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), _i ? "GRANTED DOWNGRADED"
                                                : "GRANTED " ASKED
                                                  " DOWNGRADED");
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-asked");
    TCase *tests = lock_tests(suite, "asked", 60000);

    tcase_add_loop_test(tests, holder_is_asked, 0, 3);
    tcase_add_test(tests, holder_is_asked_early);
    tcase_add_loop_test(tests, holder_is_asked_while_cut_off, 0, 2);
    tcase_add_loop_test(tests, waiter_is_asked, 0, 2);
    tcase_add_loop_test(tests, asked_holder_lets_go, 0, 3);
    tcase_add_loop_test(tests, asked_right_before_downgrade, 0, 2);
    return lock_suite_run(suite);
}
