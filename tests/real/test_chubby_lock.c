/*
 * The lock of Chubby's interface on a real server: modes, lock events, the
 * lock-delay, writes under a lock that was lost, and sequencers in other
 * processes.
 */
#define _GNU_SOURCE 1
#include "test_chubby.h"

static const char path[] = "/chubby/f", side[] = "/chubby/f.evzk";

static const evzk_chubby_options with_events = {.lock_events = true};

/* Two sessions, each with a handle on one file. */
struct pair {
    struct peer p, q;
    struct file f, g;
};

static void pair_open(struct pair *t, uint32_t delay_ms)
{
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_MUST_CREATE,
                                     .data = "new",
                                     .data_len = 3,
                                     .lock_events = true,
                                     .lock_delay_ms = delay_ms};

    clear();
    peer_open(&t->p, the_server());
    peer_open(&t->q, the_server());
    file_open(&t->f, t->p.s, path, &opt);
    file_open(&t->g, t->q.s, path, &with_events);
}

/* Deletes the file by the second handle. */
static void pair_close(struct pair *t)
{
    struct act a;

    ACT_0(&a, &t->g, delete, EVZK_OK);
    file_close(&t->g);
    if (t->f.h)
        file_close(&t->f);
    all_gone(t->q.s);
    peer_close(&t->p);
    peer_close(&t->q);
}

/* The znode of a contender: of the one whose sequencer this is. */
static const char *node_of(const char *sequencer)
{
    static char node[EVZK_CHUBBY_SEQUENCER_MAX];

    snprintf(node, sizeof node, "%s", sequencer);
    *strchr(node, ':') = '\0';
    return node;
}

static const char *sequencer_of(const struct file *f)
{
    static char text[EVZK_CHUBBY_SEQUENCER_MAX];

    ck_assert_int_eq(evzk_chubby_get_sequencer(f->h, text, sizeof text),
                     EVZK_OK);
    return text;
}

/* ---- Modes. ---- */

START_TEST(shared_and_exclusive)
{
    struct pair t;
    struct act a, b, none = {0};
    uint64_t token;

    pair_open(&t, 0);
    ck_assert_int_eq(evzk_chubby_release(t.f.h, act_heard, &none),
                     EVZK_ERR_STATE);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    token = evzk_chubby_token(t.f.h);
    ck_assert(evzk_chubby_held(t.f.h) && token > 0);
    ck_assert_uint_gt(evzk_chubby_lease_ms(t.f.h), 0);
    ck_assert_int_eq(
        evzk_chubby_acquire(t.f.h, EVZK_CHUBBY_SHARED, act_heard, &none),
        EVZK_ERR_STATE);
    ACT(&b, &t.g, try_acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    ck_assert(evzk_chubby_held(t.f.h) && evzk_chubby_held(t.g.h));
    ck_assert_uint_gt(evzk_chubby_token(t.g.h), token);
    ACT_0(&b, &t.g, release, EVZK_OK);
    ck_assert(!evzk_chubby_held(t.g.h));
    ck_assert_uint_eq(evzk_chubby_token(t.g.h), 0);
    ACT(&b, &t.g, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&b, &t.g, acquire, EVZK_CHUBBY_EXCLUSIVE);
    settle(t.q.s);
    ck_assert_int_eq(b.told, 0);
    ck_assert(!evzk_chubby_held(t.g.h));
    ACT_0(&a, &t.f, release, EVZK_OK);
    act_ends(&b, EVZK_OK);
    ck_assert(evzk_chubby_held(t.g.h));
    ACT(&a, &t.f, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_SHARED);
    ck_assert_int_eq(t.f.events[EVZK_CHUBBY_LOCK_LOST], 0);
    ck_assert_int_eq(t.g.events[EVZK_CHUBBY_LOCK_LOST], 0);
    pair_close(&t);
}
END_TEST

/* A handle that found the lock held is closed without an error. */
START_TEST(closed_after_busy)
{
    struct pair t;
    struct act a;

    pair_open(&t, 0);
    ACT(&a, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ACT(&a, &t.f, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_EXCLUSIVE);
    file_close(&t.f);
    pair_close(&t);
}
END_TEST

/* A lock that is held goes with its handle: closed (0), freed (1); so does one
 * that waits (2, 3). */
START_TEST(goes_with_its_handle)
{
    struct pair t;
    struct act a, b, c;

    pair_open(&t, 60000);
    if (_i >= 2)
        ACT(&b, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&a, &t.f, acquire, EVZK_CHUBBY_EXCLUSIVE);
    if (_i < 2)
        act_ends(&a, EVZK_OK);
    settle(t.p.s);
    if (_i % 2) {
        evzk_chubby_free(t.f.h);
        t.f.h = NULL;
    } else
        file_close(&t.f);
    idle(t.p.s);
    if (_i == 2)
        act_ends(&a, EVZK_ERR_CANCELED);
    if (_i == 3)
        ck_assert_int_eq(a.told, 0);
    if (_i < 2)
        ACT(&c, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    raw_wait_children(op(), side, 2, 60000); /* No mark. */
    pair_close(&t);
}
END_TEST

/* ---- Lock events. ---- */

START_TEST(lock_events)
{
    struct pair t;
    struct act a, b;

    pair_open(&t, 0);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    WAIT_TOLD(&t.f, LOCK_ACQUIRED);
    WAIT_TOLD(&t.g, LOCK_ACQUIRED);
    BEGIN_ACT(&b, &t.g, acquire, EVZK_CHUBBY_SHARED);
    WAIT_TOLD(&t.f, CONFLICT);
    ACT_0(&a, &t.f, release, EVZK_OK);
    act_ends(&b, EVZK_OK);
    WAIT(t.f.events[EVZK_CHUBBY_LOCK_ACQUIRED] == 2);
    WAIT(t.g.events[EVZK_CHUBBY_LOCK_ACQUIRED] == 2);
    BEGIN_ACT(&a, &t.f, acquire, EVZK_CHUBBY_EXCLUSIVE);
    WAIT_TOLD(&t.g, CONFLICT);
    settle(t.p.s);
    ck_assert_str_eq(t.f.text, "OPENED LOCK_ACQUIRED CONFLICT LOCK_ACQUIRED");
    ck_assert_str_eq(t.g.text, "OPENED LOCK_ACQUIRED LOCK_ACQUIRED CONFLICT");
    pair_close(&t);
}
END_TEST

/* Handles that share are in nobody's way. */
START_TEST(no_conflict_of_readers)
{
    struct pair t;
    struct act a, b;

    pair_open(&t, 0);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    ACT(&b, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    settle(t.p.s);
    ck_assert_int_eq(t.f.events[EVZK_CHUBBY_CONFLICT], 0);
    ck_assert_int_eq(t.g.events[EVZK_CHUBBY_CONFLICT], 0);
    pair_close(&t);
}
END_TEST

/* ---- The lock is lost. ---- */

/* An operator deletes its znode. */
START_TEST(taken_away)
{
    struct pair t;
    struct act a;

    pair_open(&t, 0);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert_int_eq(raw_delete(op(), node_of(sequencer_of(&t.f))), ZOK);
    WAIT_TOLD(&t.f, LOCK_LOST);
    ck_assert_int_eq(t.f.rc, EVZK_ERR_NODEGONE);
    ck_assert(!evzk_chubby_held(t.f.h));
    ACT(&a, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ACT(&a, &t.f, get, EVZK_OK, true); /* The handle is still open. */
    ACT_0(&a, &t.g, release, EVZK_OK);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    file_close(&t.f);
    pair_close(&t);
}
END_TEST

/* A holder that has not heard of it yet writes (0), or deletes (1); by a handle
 * that has written before, or not (2, 3). */
START_TEST(late_write_of_a_holder)
{
    struct scene sc;
    struct file f, g;
    struct act a, b;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&g, sc.rival.s, path);
    file_open(&f, sc.p.s, path, NULL);
    ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    if (_i < 2)
        ACT(&a, &f, set, EVZK_OK, -1, "new", 3);
    all_answered(sc.p.s);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    ck_assert_int_eq(raw_delete(op(), node_of(sequencer_of(&f))), ZOK);
    ACT(&b, &g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert(evzk_chubby_held(f.h)); /* As far as it knows. */
    if (_i % 2)
        BEGIN_ACT_0(&a, &f, delete);
    else
        BEGIN_ACT(&a, &f, set, -1, "late", 4);
    proxy_thaw(sc.proxy);
    act_ends(&a, EVZK_ERR_LEASE);
    ck_assert(!a.unknown);
    WAIT_TOLD(&f, LOCK_LOST);
    contents_are(path, "new");
    file_close(&f);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&g);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, side);
}
END_TEST

/* A write that is called before the release rests on the lock all the same. */
START_TEST(write_then_release)
{
    struct pair t;
    struct act a, b;

    pair_open(&t, 0);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&a, &t.f, set, -1, "held", 4);
    BEGIN_ACT_0(&b, &t.f, release);
    act_ends(&b, EVZK_OK);
    WAIT(a.told == 1);
    ck_assert(a.rc == EVZK_OK || a.rc == EVZK_ERR_LEASE);
    contents_are(path, a.rc ? "new" : "held");
    pair_close(&t);
}
END_TEST

/* ---- The lock-delay. ---- */

enum { DELAY_MS = 1500 };

/* The holder's session expires (0), or its znode is deleted (1): for so long
 * nobody gets the lock.  The next one counts from when it has seen that. */
START_TEST(delay_behind_an_unclean_end)
{
    struct pair t;
    struct act a, b;
    int64_t begun;

    pair_open(&t, DELAY_MS);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    raw_wait_children(op(), side, 3, 60000); /* Anchor, contender, mark. */
    if (_i) {
        ck_assert_int_eq(raw_delete(op(), node_of(sequencer_of(&t.f))), ZOK);
        WAIT_TOLD(&t.f, LOCK_LOST);
    } else {
        raw_expire(the_server(), evzk_session_id(t.p.s));
        file_ended(&t.f, EVZK_ERR_EXPIRED);
    }
    begun = now_ms();
    ACT(&b, &t.g, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_EXCLUSIVE);
    ACT(&b, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert_int_ge(now_ms() - begun, DELAY_MS);
    raw_wait_children(op(), side, 2, 60000); /* The mark went. */
    ACT_0(&b, &t.g, release, EVZK_OK);
    ACT(&b, &t.g, try_acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    pair_close(&t);
}
END_TEST

/* A znode is below the mark, which so cannot be deleted: the delay counts, and
 * then the lock is had all the same. */
START_TEST(delay_of_a_mark_that_stays)
{
    char mark[256];
    struct pair t;
    struct act b;
    int64_t begun;

    pair_open(&t, 0);
    snprintf(
        mark, sizeof mark,
        "%s/11111111-1111-4111-8111-111111111111-write-0000000003-%d-delay",
        side, DELAY_MS);
    raw_create(op(), side, "", 0, 0, NULL, 0);
    ck_assert_int_eq(raw_create(op(), mark, "", 0, 0, NULL, 0), ZOK);
    strcat(mark, "/child");
    ck_assert_int_eq(raw_create(op(), mark, "", 0, 0, NULL, 0), ZOK);
    begun = now_ms();
    ACT(&b, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert_int_ge(now_ms() - begun, DELAY_MS);
    ACT_0(&b, &t.g, release, EVZK_OK);
    ck_assert_int_eq(raw_delete(op(), mark), ZOK);
    ACT(&b, &t.g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    raw_wait_children(op(), side, 2, 60000); /* The mark went. */
    pair_close(&t);
}
END_TEST

/* The one that waited already waits for as long. */
START_TEST(delay_of_one_that_waits)
{
    struct pair t;
    struct act a, b;
    int64_t begun;

    pair_open(&t, DELAY_MS);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&b, &t.g, acquire, EVZK_CHUBBY_SHARED);
    settle(t.q.s);
    begun = now_ms();
    raw_expire(the_server(), evzk_session_id(t.p.s));
    act_ends(&b, EVZK_OK);
    ck_assert_int_ge(now_ms() - begun, DELAY_MS);
    file_ended(&t.f, EVZK_ERR_EXPIRED);
    pair_close(&t);
}
END_TEST

/* Behind a release (0), a close (1), and a free (2) there is none: the longest
 * delay is longer than this test may take. */
START_TEST(no_delay_behind_a_release)
{
    struct pair t;
    struct act a, b;
    int64_t begun;

    pair_open(&t, EVZK_CHUBBY_DELAY_MAX_MS);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    BEGIN_ACT(&b, &t.g, acquire, EVZK_CHUBBY_EXCLUSIVE);
    settle(t.q.s);
    begun = now_ms();
    if (_i == 0)
        ACT_0(&a, &t.f, release, EVZK_OK);
    else if (_i == 1)
        file_close(&t.f);
    else {
        evzk_chubby_free(t.f.h);
        t.f.h = NULL;
    }
    act_ends(&b, EVZK_OK);
    ck_assert_int_lt(now_ms() - begun, EVZK_CHUBBY_DELAY_MAX_MS);
    raw_wait_children(op(), side, 2, 60000);
    pair_close(&t);
}
END_TEST

/* A holder that shares leaves others that share alone. */
START_TEST(no_delay_of_readers)
{
    struct pair t;
    struct act a, b;

    pair_open(&t, EVZK_CHUBBY_DELAY_MAX_MS);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    raw_expire(the_server(), evzk_session_id(t.p.s));
    file_ended(&t.f, EVZK_ERR_EXPIRED);
    ACT(&b, &t.g, try_acquire, EVZK_OK, EVZK_CHUBBY_SHARED);
    ACT_0(&b, &t.g, release, EVZK_OK);
    ACT(&b, &t.g, try_acquire, EVZK_ERR_BUSY, EVZK_CHUBBY_EXCLUSIVE);
    ACT_0(&a, &t.g, delete, EVZK_OK);
    file_close(&t.g);
    idle(t.q.s);
    peer_close(&t.p);
    peer_close(&t.q);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

/* ---- Sequencers. ---- */

/* Given by one process, checked and set in another. */
START_TEST(sequencer_in_another_process)
{
    char text[EVZK_CHUBBY_SEQUENCER_MAX];
    struct pair t;
    struct act a, none = {0};

    pair_open(&t, 0);
    ck_assert_int_eq(evzk_chubby_get_sequencer(t.f.h, text, sizeof text),
                     EVZK_ERR_STATE);
    ACT(&a, &t.f, acquire, EVZK_OK, (evzk_chubby_mode)_i);
    strcpy(text, sequencer_of(&t.f));
    ck_assert_int_eq(text[strlen(text) - 1], _i ? 'r' : 'w');
    for (size_t n = 0; n <= strlen(text); n++)
        ck_assert_int_eq(evzk_chubby_get_sequencer(t.f.h, (char[512]){""}, n),
                         EVZK_ERR_INVAL);
    ACT(&a, &t.g, check_sequencer, EVZK_OK, text);
    ACT(&a, &t.g, set_sequencer, EVZK_OK, text);
    ck_assert_int_eq(evzk_chubby_set_sequencer(t.g.h, text, act_heard, &none),
                     EVZK_ERR_STATE);
    ACT(&a, &t.g, set, EVZK_OK, 0, "under it", 8);
    ACT_0(&a, &t.f, release, EVZK_OK);
    file_invalid(&t.g, EVZK_ERR_STATE);
    contents_are(path, "under it");
    file_close(&t.g);
    file_open(&t.g, t.q.s, path, NULL);
    ACT(&a, &t.g, check_sequencer, EVZK_ERR_NODEGONE, text);
    ACT(&a, &t.g, set_sequencer, EVZK_ERR_NODEGONE, text);
    ACT(&a, &t.g, set, EVZK_OK, 1, "as it was", 9);
    pair_close(&t);
}
END_TEST

/* The lock is released before the handle with its sequencer hears: its write is
 * refused. */
START_TEST(late_write_under_a_sequencer)
{
    char text[EVZK_CHUBBY_SEQUENCER_MAX];
    struct scene sc;
    struct file f, g;
    struct act a, b;

    clear();
    scene_open(&sc, SESSION_MS);
    file_make(&g, sc.rival.s, path);
    file_open(&f, sc.p.s, path, NULL);
    ACT(&b, &g, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    strcpy(text, sequencer_of(&g));
    ACT(&a, &f, set_sequencer, EVZK_OK, text);
    if (_i)
        ACT(&a, &f, set, EVZK_OK, -1, "new", 3);
    all_answered(sc.p.s);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    ACT_0(&b, &g, release, EVZK_OK);
    BEGIN_ACT(&a, &f, set, -1, "late", 4);
    proxy_thaw(sc.proxy);
    act_ends(&a, EVZK_ERR_STATE);
    file_invalid(&f, EVZK_ERR_STATE);
    contents_are(path, "new");
    file_close(&f);
    ACT_0(&a, &g, delete, EVZK_OK);
    file_close(&g);
    raw_wait_gone(op(), path, 60000);
    scene_close(&sc, side);
}
END_TEST

/* A contender that waits has a znode, and holds nothing. */
START_TEST(sequencer_of_one_that_waits)
{
    char text[EVZK_CHUBBY_SEQUENCER_MAX];
    struct raw_names names;
    struct Stat stat;
    struct pair t;
    struct act a, b, c;
    const char *last = NULL, *held;

    pair_open(&t, 0);
    ACT(&a, &t.f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    held = strrchr(node_of(sequencer_of(&t.f)), '/') + 1;
    BEGIN_ACT(&b, &t.g, acquire, EVZK_CHUBBY_EXCLUSIVE);
    raw_wait_children(op(), side, 3, 60000);
    ck_assert_int_eq(raw_children(op(), side, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        if (strstr(names.name[i], "-write-") && strcmp(names.name[i], held))
            last = names.name[i];
    }
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(raw_exists(op(), node_path(side, last), &stat), ZOK);
    snprintf(text, sizeof text, "%s:%016llx:w", node_path(side, last),
             (unsigned long long)stat.czxid);
    raw_names_free(&names);
    ACT(&c, &t.f, check_sequencer, EVZK_ERR_NODEGONE, text);
    ACT_0(&a, &t.f, release, EVZK_OK);
    act_ends(&b, EVZK_OK);
    ck_assert_str_eq(sequencer_of(&t.g), text);
    ACT(&c, &t.f, check_sequencer, EVZK_OK, text);
    text[strlen(text) - 3] = text[strlen(text) - 3] == '0' ? '1' : '0';
    ACT(&c, &t.f, check_sequencer, EVZK_ERR_NODEGONE, text);
    pair_close(&t);
}
END_TEST

/* Checked here, without a question, once the leader has been asked. */
START_TEST(sequencer_that_was_seen)
{
    char text[2][EVZK_CHUBBY_SEQUENCER_MAX];
    struct pair t;
    struct file deaf;
    struct act a;
    uint64_t before;

    pair_open(&t, 0);
    file_open(&deaf, t.q.s, path, NULL);
    for (int i = 0; i < 2; i++) {
        ACT(&a, &t.f, acquire, EVZK_OK, (evzk_chubby_mode)_i);
        strcpy(text[i], sequencer_of(&t.f));
        ck_assert_int_eq(evzk_chubby_check_seen(t.g.h, text[i]),
                         EVZK_ERR_STATE);
        ACT(&a, &t.g, check_sequencer, EVZK_OK, text[i]);
        WAIT(evzk_chubby_check_seen(t.g.h, text[i]) == EVZK_OK);
        all_answered(t.q.s);
        before = requests_of(t.q.s);
        for (int n = 0; n < 100; n++)
            ck_assert_int_eq(evzk_chubby_check_seen(t.g.h, text[i]), EVZK_OK);
        ck_assert_uint_eq(requests_of(t.q.s), before);
        ACT(&a, &deaf, check_sequencer, EVZK_OK, text[i]);
        ck_assert_int_eq(evzk_chubby_check_seen(deaf.h, text[i]),
                         EVZK_ERR_STATE);
        ACT_0(&a, &t.f, release, EVZK_OK);
        WAIT(evzk_chubby_check_seen(t.g.h, text[i]) == EVZK_ERR_NODEGONE);
    }
    ck_assert_int_eq(evzk_chubby_check_seen(t.g.h, text[0]), EVZK_ERR_NODEGONE);
    file_close(&deaf);
    pair_close(&t);
}
END_TEST

/* ---- Long paths. ---- */

START_TEST(long_path)
{
    static char file[4096], text[8192], small[EVZK_CHUBBY_SEQUENCER_MAX];
    struct peer p, q;
    struct file f, g;
    struct act a;

    clear();
    strcpy(file, "/chubby/");
    for (size_t n = strlen(file); n < 3900; n++)
        file[n] = n % 200 ? 'x' : '/';
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    file_make(&f, p.s, file);
    file_open(&g, q.s, file, NULL);
    ACT(&a, &f, acquire, EVZK_OK, EVZK_CHUBBY_EXCLUSIVE);
    ck_assert_int_eq(evzk_chubby_get_sequencer(f.h, small, sizeof small),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_chubby_get_sequencer(f.h, text, sizeof text),
                     EVZK_OK);
    ACT(&a, &g, check_sequencer, EVZK_OK, text);
    ACT(&a, &g, set_sequencer, EVZK_OK, text);
    ACT(&a, &g, set, EVZK_OK, 0, "x", 1);
    ACT(&a, &f, set, EVZK_OK, 1, "y", 1);
    ACT_0(&a, &f, release, EVZK_OK);
    file_invalid(&g, EVZK_ERR_STATE);
    ACT_0(&a, &f, delete, EVZK_OK);
    file_close(&f);
    file_close(&g);
    idle(p.s);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), "/chubby");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chubby lock");
    TCase *tests = lock_tests(suite, "chubby_lock", 120000);

    tcase_add_test(tests, shared_and_exclusive);
    tcase_add_test(tests, closed_after_busy);
    tcase_add_loop_test(tests, goes_with_its_handle, 0, 4);
    tcase_add_test(tests, lock_events);
    tcase_add_test(tests, no_conflict_of_readers);
    tcase_add_test(tests, taken_away);
    tcase_add_loop_test(tests, late_write_of_a_holder, 0, 4);
    tcase_add_test(tests, write_then_release);
    tcase_add_loop_test(tests, delay_behind_an_unclean_end, 0, 2);
    tcase_add_test(tests, delay_of_a_mark_that_stays);
    tcase_add_test(tests, delay_of_one_that_waits);
    tcase_add_loop_test(tests, no_delay_behind_a_release, 0, 3);
    tcase_add_test(tests, no_delay_of_readers);
    tcase_add_loop_test(tests, sequencer_in_another_process, 0, 2);
    tcase_add_loop_test(tests, late_write_under_a_sequencer, 0, 2);
    tcase_add_test(tests, sequencer_of_one_that_waits);
    tcase_add_loop_test(tests, sequencer_that_was_seen, 0, 2);
    tcase_add_test(tests, long_path);
    return lock_suite_run(suite);
}
