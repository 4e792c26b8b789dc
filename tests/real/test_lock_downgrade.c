/*
 * A write lock that becomes a read lock: who comes in and who does not, what
 * its holder keeps, and what becomes of it when the request is cut, refused or
 * broken, or the holder leaves meanwhile.
 */
#define _GNU_SOURCE 1
#include <unistd.h>

#include "test_party.h"

/* Its own znode is watched at once: a downgrade need not read that before. */
#define WATCHED                                                                \
    (&(evzk_lock_options){.mode = EVZK_LOCK_WRITE, .revocable = true})

/* Its znode is there, and as it should be named. */
static void check_node(const char *dir, const struct claim *c, const char *mark,
                       const char *seq)
{
    const char *name = evzk_lock_node(c->l);

    ck_assert_str_eq(sequence_of(name), seq);
    ck_assert_ptr_nonnull(strstr(name, mark));
    ck_assert_int_eq(raw_exists(op(), node_path(dir, name), NULL), ZOK);
}

/* W R W R, in sessions of their own and in one.  Only who may hold it wakes. */
START_TEST(downgrade_lets_readers_in)
{
    struct proxy *proxy = proxy_start(the_server());
    struct party a;
    uint64_t token;
    int64_t woken;
    char seq[16];

    party_open(&a, "/down", _i ? 1 : 4, proxy_address(proxy));
    holds(&a, 0, BARE(WRITE));
    waits(&a, 1, BARE(READ));
    waits(&a, 2, BARE(WRITE));
    waits(&a, 3, BARE(READ));
    token = evzk_lock_token(a.c[0].l);
    strcpy(seq, sequence_of(evzk_lock_node(a.c[0].l)));
    check_node(a.dir, &a.c[0], "-write-", seq);
    woken = wakes(proxy);
    downgrade(&a.c[0]);
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[0].rec, "DOWNGRADED"));
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[1].rec, "GRANTED"));
    calm_held(&a, "1100");
    ck_assert_int_eq(wakes(proxy) - woken, 1);
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED");
    ck_assert_uint_eq(evzk_lock_token(a.c[0].l), token);
    ck_assert_int_eq(evzk_lock_mode_of(a.c[0].l), EVZK_LOCK_READ);
    check_node(a.dir, &a.c[0], "-read-", seq);
    ck_assert_int_eq(raw_count(op(), a.dir), 4);
    pass_on(&a, proxy, 0, "-100", 0);
    pass_on(&a, proxy, 1, "--10", 1);
    pass_on(&a, proxy, 2, "---1", 1);
    claim_release(&a.c[3]);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

/* W W X: the one right behind it looks again, and goes on waiting. */
START_TEST(downgrade_keeps_writers_out)
{
    struct proxy *proxy = proxy_start(the_server());
    struct party a;
    int64_t woken;

    party_open(&a, "/down-out", _i ? 1 : 3, proxy_address(proxy));
    holds(&a, 0, BARE(WRITE));
    waits(&a, 1, BARE(WRITE));
    waits(&a, 2, BARE(EXCLUSIVE));
    woken = wakes(proxy);
    downgrade(&a.c[0]);
    WAIT_EVENT(&a.c[0], "DOWNGRADED");
    calm_held(&a, "100");
    ck_assert_int_eq(wakes(proxy) - woken, 1);
    ck_assert_int_eq(a.c[1].rec.count + a.c[2].rec.count, 0);
    pass_on(&a, proxy, 0, "-10", 1);
    pass_on(&a, proxy, 1, "--1", 1);
    claim_release(&a.c[2]);
    party_close(&a);
    proxy_stop(proxy);
}
END_TEST

/* Contenders come while the downgrade is under way: from its own session, or
 * from others. */
START_TEST(downgrade_meets_newcomers)
{
    const char *dir = "/down-meets";
    struct claim c, reader, writer;
    evzk_session *s;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    s = _i ? sc.p.s : sc.rival.s;
    claim_held(&c, sc.p.s, dir, WATCHED);
    wait_own_watches(sc.p.s, 1); /* So it reads nothing before. */
    proxy_freeze(sc.proxy, PROXY_BOTH);
    downgrade(&c);
    WAIT(strcmp(evzk_lock_state(c.l), "SWAPPING") == 0);
    claim(&reader, s, dir, MODE(READ));
    claim(&writer, s, dir, MODE(WRITE));
    WAIT(_i || (is_waiting(&reader) && is_waiting(&writer)));
    proxy_thaw(sc.proxy);
    WAIT(still_held(&c) && recorder_has(&reader.rec, "GRANTED"));
    settle(s);
    ck_assert_str_eq(c.rec.text, "GRANTED DOWNGRADED");
    ck_assert(is_waiting(&writer));
    claim_release(&reader);
    settle(s);
    ck_assert(is_waiting(&writer));
    claim_release(&c);
    WAIT_EVENT(&writer, "GRANTED");
    claim_release(&writer);
    scene_close(&sc, dir);
}
END_TEST

/* Its own znode was watched: that it goes now is no loss. */
START_TEST(downgrade_of_one_that_has_stayed)
{
    const char *dir = "/down-stayed";
    struct claim c, next;
    struct peer p;

    peer_short(&p, the_server());
    claim_held(&c, p.s, dir, MODE(WRITE));
    wait_own_watches(p.s, 1);
    if (_i)
        claim_queued(&next, p.s, dir, MODE(READ));
    downgrade(&c);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED"));
    settle(p.s);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED DOWNGRADED");
    if (_i) {
        WAIT_EVENT(&next, "GRANTED");
        claim_release(&next);
    }
    wait_own_watches(p.s, 1); /* On the new one. */
    ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(c.l))),
                     ZOK);
    WAIT_EVENT(&c, "LOST(NODEGONE)");
    evzk_lock_free(c.l);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/*
 * The connection is cut before or after the request or its answer passes, and
 * for a while there is no other; the own znode is not watched yet, or is.
 */
START_TEST(downgrade_is_cut)
{
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];
    bool arrives = cut->dir == PROXY_S2C || cut->act == PROXY_CUT_AFTER;
    const char *dir = "/down-cut";
    struct claim c, reader, writer;
    struct scene sc;

    scene_open(&sc, _i < PROXY_CUTS ? SESSION_MS : SHORT_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    if (_i >= PROXY_CUTS)
        wait_own_watches(sc.p.s, 1);
    claim_queued(&reader, sc.rival.s, dir, MODE(READ));
    claim_queued(&writer, sc.rival.s, dir, MODE(WRITE));
    proxy_refuse(sc.proxy, true);
    proxy_trap(sc.proxy, cut->dir, OP_MULTI, 1, cut->act);
    downgrade(&c);
    WAIT(still_held(&c) && proxy_fired(sc.proxy) == 1);
    WAIT(still_held(&c) && recorder_has(&c.rec, "SUSPENDED"));
    if (arrives)
        WAIT_EVENT(&reader, "GRANTED");
    settle(sc.rival.s);
    ck_assert_int_eq(reader.rec.count, arrives);
    proxy_refuse(sc.proxy, false);
    WAIT(still_held(&c) && recorder_has(&c.rec, "DOWNGRADED") &&
         recorder_has(&c.rec, "RESUMED"));
    WAIT_EVENT(&reader, "GRANTED");
    settle(sc.p.s);
    settle(sc.rival.s);
    ck_assert_int_eq(heard(&c, "DOWNGRADED"), 1);
    ck_assert_int_eq(heard(&c, "SUSPENDED"), heard(&c, "RESUMED"));
    ck_assert(still_held(&c) && is_waiting(&writer));
    ck_assert_int_eq(raw_count(op(), dir), 3);
    claim_release(&c);
    claim_release(&reader);
    WAIT_EVENT(&writer, "GRANTED");
    claim_release(&writer);
    scene_close(&sc, dir);
}
END_TEST

static void delete_name(const char *dir, const char *name)
{
    ck_assert_int_eq(raw_delete(op(), node_path(dir, name)), ZOK);
}

/* Of the two that are there. */
static void delete_the_other(const char *dir, const struct claim *c)
{
    struct raw_names names;
    int other;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 2);
    other = strcmp(names.name[0], evzk_lock_node(c->l)) == 0;
    delete_name(dir, names.name[other]);
    raw_names_free(&names);
}

enum moment { AT_ONCE, UNDER_WAY, ANSWER_LOST, MOMENTS };

/* Begins it, and forgets what was heard before. */
static void start_downgrade(struct scene *sc, struct claim *c,
                            enum moment moment)
{
    if (moment == UNDER_WAY) {
        wait_own_watches(sc->p.s, 1); /* So it reads nothing before. */
        proxy_freeze(sc->proxy, PROXY_BOTH);
    }
    if (moment == ANSWER_LOST) {
        proxy_refuse(sc->proxy, true);
        proxy_trap(sc->proxy, PROXY_S2C, OP_MULTI, 1, PROXY_CUT_BEFORE);
    }
    downgrade(c);
    if (moment == UNDER_WAY)
        WAIT(strcmp(evzk_lock_state(c->l), "SWAPPING") == 0);
    if (moment == ANSWER_LOST)
        WAIT(proxy_fired(sc->proxy) == 1 && recorder_has(&c->rec, "SUSPENDED"));
    recorder_clear(&c->rec);
}

/* While it is under way its session ends (0), or its znode is deleted (1); or
 * the new one is, before it is known that it is there (2). */
START_TEST(downgrade_is_broken)
{
    const char *dir = "/down-broken";
    struct claim c, next;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, WATCHED);
    claim_queued(&next, sc.rival.s, dir, MODE(WRITE));
    start_downgrade(&sc, &c, _i == 2 ? ANSWER_LOST : UNDER_WAY);
    if (_i == 0)
        raw_expire(the_server(), evzk_session_id(sc.p.s));
    else if (_i == 1)
        delete_name(dir, evzk_lock_node(c.l));
    else
        delete_the_other(dir, &next);
    proxy_thaw(sc.proxy);
    WAIT_EVENT(&next, "GRANTED");
    proxy_refuse(sc.proxy, false);
    WAIT(c.rec.finals == 1);
    ck_assert(!evzk_lock_held(c.l));
    ck_assert(recorder_has(&c.rec, _i ? "LOST(NODEGONE)" : "LOST(EXPIRED)"));
    ck_assert_int_eq(heard(&c, "DOWNGRADED"), 0);
    evzk_lock_free(c.l);
    ck_assert_int_eq(raw_count(op(), dir), 1);
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

static void set_perms(const char *dir, int perms)
{
    struct ACL acl = {perms, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector v = {1, &acl};

    ck_assert_int_eq(raw_set_acl(op(), dir, &v), ZOK);
}

/* The server refuses: it is what it was, and can be asked again. */
START_TEST(downgrade_is_refused)
{
    struct party a;
    char seq[16];

    party_open(&a, "/down-refused", 2, the_server());
    holds(&a, 0, MODE(WRITE));
    waits(&a, 1, MODE(READ));
    strcpy(seq, sequence_of(evzk_lock_node(a.c[0].l)));
    set_perms(a.dir, ZOO_PERM_ALL & ~ZOO_PERM_CREATE);
    downgrade(&a.c[0]);
    WAIT(still_held(&a.c[0]) && recorder_has(&a.c[0].rec, "DOWNGRADED"));
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED(NOAUTH)");
    ck_assert_int_eq(evzk_lock_mode_of(a.c[0].l), EVZK_LOCK_WRITE);
    calm_held(&a, "10");
    check_node(a.dir, &a.c[0], "-write-", seq);
    set_perms(a.dir, ZOO_PERM_ALL);
    ck_assert_int_eq(evzk_lock_downgrade(a.c[0].l), EVZK_OK);
    WAIT_EVENT(&a.c[1], "GRANTED");
    calm_held(&a, "11");
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED DOWNGRADED(NOAUTH) DOWNGRADED");
    check_node(a.dir, &a.c[0], "-read-", seq);
    claim_release(&a.c[0]);
    claim_release(&a.c[1]);
    party_close(&a);
}
END_TEST

/* Cut with its answer (0), or before it came (1, 2): nobody may change anything
 * there when it goes again. */
static void cut_and_refuse(struct scene *sc, struct claim *c, const char *dir,
                           bool done)
{
    proxy_refuse(sc->proxy, true);
    proxy_trap(sc->proxy, done ? PROXY_S2C : PROXY_C2S, OP_MULTI, 1,
               PROXY_CUT_BEFORE);
    downgrade(c);
    WAIT(still_held(c) && proxy_fired(sc->proxy) == 1 &&
         recorder_has(&c->rec, "SUSPENDED"));
    set_perms(dir, ZOO_PERM_ALL & ~(ZOO_PERM_CREATE | ZOO_PERM_DELETE));
    proxy_refuse(sc->proxy, false);
    WAIT(still_held(c) && recorder_has(&c->rec, "DOWNGRADED") &&
         recorder_has(&c->rec, "RESUMED"));
    settle(sc->p.s);
    settle(sc->rival.s);
}

/* That it was refused does not say that it was not done before: what it says
 * is what is there.  If it was not, it can be asked again (2). */
START_TEST(cut_downgrade_is_refused)
{
    bool done = _i == 0;
    const char *dir = numbered("/down-cut-refused", _i);
    struct claim c, reader;
    struct scene sc;
    char seq[16];

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, MODE(WRITE));
    claim_queued(&reader, sc.rival.s, dir, MODE(READ));
    strcpy(seq, sequence_of(evzk_lock_node(c.l)));
    cut_and_refuse(&sc, &c, dir, done);
    if (done)
        WAIT_EVENT(&reader, "GRANTED");
    ck_assert_int_eq(heard(&c, "DOWNGRADED"), 1);
    ck_assert_int_eq(heard(&c, "DOWNGRADED(NOAUTH)"), !done);
    ck_assert_int_eq(evzk_lock_mode_of(c.l),
                     done ? EVZK_LOCK_READ : EVZK_LOCK_WRITE);
    check_node(dir, &c, done ? "-read-" : "-write-", seq);
    ck_assert(still_held(&c) && evzk_lock_held(reader.l) == done);
    ck_assert_int_eq(raw_count(op(), dir), 2);
    set_perms(dir, ZOO_PERM_ALL);
    recorder_clear(&c.rec);
    if (_i == 2) {
        downgrade(&c);
        WAIT(still_held(&c) && recorder_has(&reader.rec, "GRANTED"));
        WAIT_EVENT(&c, "DOWNGRADED");
        ck_assert_str_eq(c.rec.text, "DOWNGRADED");
        check_node(dir, &c, "-read-", seq);
    }
    claim_release(&c);
    WAIT_EVENT(&reader, "GRANTED");
    claim_release(&reader);
    scene_close(&sc, dir);
}
END_TEST

static int64_t multis(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_C2S, OP_MULTI);
}

/* Lets the replies pass when the server has answered @reads more reads than the
 * @before: all that were asked in one turn are then answered in one. */
static void thaw_when_read(struct proxy *proxy, int64_t before, int reads)
{
    WAIT(proxy_frames_of(proxy, PROXY_C2S, OP_GET) - before == reads);
    raw_mkdirs(op(), "/down-behind");
    raw_delete_tree(op(), "/down-behind");
    proxy_thaw(proxy);
}

/* Its ACL lets nobody read it, not even its own session, and an operator has
 * written to it: before it tried to look (0), or after. */
START_TEST(downgrade_of_one_that_is_not_read)
{
    enum { MANY = 8 }; /* More requests than this are a loop. */
    const evzk_acl acl = {EVZK_PERM_ALL & ~EVZK_PERM_READ, "world", "anyone"};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .revocable = _i == 1,
                                   .acl = &acl,
                                   .acl_count = 1};
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = numbered("/down-unread", _i);
    struct claim c, reader;
    struct peer p;
    int64_t sent;
    char seq[16];

    raw_mkdirs(op(), dir);
    peer_open(&p, proxy_address(proxy));
    claim_held(&c, p.s, dir, &opt);
    strcpy(seq, sequence_of(evzk_lock_node(c.l)));
    all_answered(p.s);
    ck_assert_int_eq(
        raw_set(op(), node_path(dir, evzk_lock_node(c.l)), "note", 4), ZOK);
    sent = multis(proxy);
    downgrade(&c);
    WAIT(still_held(&c) &&
         (recorder_has(&c.rec, "DOWNGRADED") || multis(proxy) - sent > MANY));
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED DOWNGRADED");
    ck_assert_int_le(multis(proxy) - sent, 2);
    check_node(dir, &c, "-read-", seq);
    claim_held(&reader, p.s, dir, MODE(READ));
    claim_release(&reader);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), dir);
}
END_TEST

static const char *many_dir(int i) { return numbered("/down-many", i); }

/* Many at once, each in its directory: few requests, and each its own result;
 * one of them was broken (1, 3), or none.  Locks whose own znodes are not
 * watched (2, 3) read them before: the answers come in some pieces. */
START_TEST(many_are_downgraded_at_once)
{
    enum { OUT = 7, BROKEN = 1, UNWATCHED = 2, MORE = 3 };
    const evzk_lock_options *opt = _i & UNWATCHED ? BARE(WRITE) : WATCHED;
    int broken = _i & BROKEN, few = broken ? 2 + MORE : 2;
    const int n = RUNNING_ON_VALGRIND ? 20 : 100; /* In one turn's budget. */
    struct proxy *proxy = proxy_start(the_server());
    struct crowd c;
    struct peer p;
    int64_t sent, read;

    raw_mkdirs(op(), "/down-many");
    peer_fresh(&p, proxy_address(proxy));
    crowd_new(&c, n);
    for (int i = 0; i < n; i++)
        crowd_start(&c, i, p.s, many_dir(i), opt);
    WAIT(c.granted == n);
    wait_own_watches(p.s, _i & UNWATCHED ? 0 : (unsigned)n);
    proxy_freeze(proxy, PROXY_S2C); /* Nobody hears of it before. */
    if (broken)
        delete_name(many_dir(OUT), evzk_lock_node(c.v[OUT].l));
    sent = multis(proxy);
    read = proxy_frames_of(proxy, PROXY_C2S, OP_GET);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(evzk_lock_downgrade(c.v[i].l), EVZK_OK);
    thaw_when_read(proxy, read, _i & UNWATCHED ? n : 0);
    WAIT(c.doubts + c.finals == n);
    ck_assert_int_eq(c.finals, broken);
    ck_assert_int_le(multis(proxy) - sent, _i & UNWATCHED ? n / 2 : few);
    for (int i = 0; i < n; i++) {
        if (broken && i == OUT)
            continue;
        ck_assert(evzk_lock_held(c.v[i].l));
        ck_assert_uint_eq(evzk_lock_token(c.v[i].l), c.v[i].token);
        ck_assert_int_eq(evzk_lock_release(c.v[i].l), EVZK_OK);
    }
    WAIT(c.finals == n);
    ck_assert_int_eq(c.v[OUT].rc, broken ? EVZK_ERR_NODEGONE : EVZK_OK);
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/down-many");
}
END_TEST

/* Over 16 KB: of 64 znodes that is more than a server takes at once. */
static const evzk_acl *long_acl(void)
{
    enum { ID_LEN = 1100 };
    static char id[EVZK_ACL_MAX][ID_LEN + 1];
    static evzk_acl acl[EVZK_ACL_MAX];

    acl[0] = (evzk_acl){EVZK_PERM_ALL, "world", "anyone"};
    for (int i = 1; i < EVZK_ACL_MAX; i++) {
        memset(id[i], 'a' + i, ID_LEN);
        id[i][ID_LEN / 2] = ':'; /* As the scheme wants it. */
        acl[i] = (evzk_acl){EVZK_PERM_ALL, "digest", id[i]};
    }
    return acl;
}

/* All are changed, on one connection, and still several at a time: how many go
 * into one transaction depends on how fast the large ones before it leave. */
START_TEST(many_with_a_long_acl_are_downgraded)
{
    enum { N = 64, FEW = N / 2 };
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .no_own_watch = true,
                                   .acl = long_acl(),
                                   .acl_count = EVZK_ACL_MAX};
    struct proxy *proxy = proxy_start(the_server());
    evzk_session_stats st;
    struct crowd c;
    struct peer p;
    int64_t sent, read;

    raw_mkdirs(op(), "/down-many");
    peer_fresh(&p, proxy_address(proxy));
    crowd_new(&c, N);
    for (int i = 0; i < N; i++)
        crowd_start(&c, i, p.s, many_dir(i), &opt);
    WAIT(c.granted == N);
    proxy_freeze(proxy, PROXY_S2C);
    sent = multis(proxy);
    read = proxy_frames_of(proxy, PROXY_C2S, OP_GET);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(evzk_lock_downgrade(c.v[i].l), EVZK_OK);
    thaw_when_read(proxy, read, N);
    WAIT(c.doubts + c.finals == N);
    evzk_session_get_stats(p.s, &st);
    ck_assert_uint_eq(st.losses, 0);
    ck_assert_int_le(multis(proxy) - sent, FEW);
    for (int i = 0; i < N; i++) {
        ck_assert(evzk_lock_held(c.v[i].l));
        ck_assert_ptr_nonnull(strstr(evzk_lock_node(c.v[i].l), "-read-"));
    }
    crowd_release(&c);
    WAIT(c.finals == N);
    crowd_check_served(&c);
    ck_assert_int_eq(proxy_accepts(proxy), 1);
    crowd_free(&c);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/down-many");
}
END_TEST

enum end { RELEASE, FREE, CLOSE, ENDS };

static void end_it(struct scene *sc, struct claim *c, enum end way)
{
    switch (way) {
    case RELEASE:
        ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
        ck_assert(!evzk_lock_held(c->l));
        break;
    case FREE:
        evzk_lock_free(c->l);
        c->l = NULL;
        break;
    case CLOSE:
        ck_assert_int_eq(evzk_session_close(sc->p.s), EVZK_OK);
        break;
    case ENDS:
        break;
    }
}

/* The lock may have been downgraded before the session ended. */
static void check_end(const struct claim *c, enum end way)
{
    if (way == FREE)
        ck_assert_int_eq(c->rec.count, 0);
    else if (way == RELEASE)
        ck_assert_str_eq(c->rec.text, "RELEASED");
    else
        ck_assert(recorder_has(&c->rec, "LOST(CLOSED)") &&
                  c->rec.count == heard(c, "DOWNGRADED") + 1);
}

/* Released, freed, or its session closed, at each moment: its znode goes,
 * whatever it is called by now. */
START_TEST(leaving_after_downgrade)
{
    enum end way = (enum end)(_i % ENDS);
    const char *dir = "/down-leave";
    struct claim c, next;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    claim_held(&c, sc.p.s, dir, WATCHED);
    claim_queued(&next, sc.rival.s, dir, MODE(WRITE));
    start_downgrade(&sc, &c, (enum moment)(_i / ENDS));
    end_it(&sc, &c, way);
    run_for(harness_base(), 50); /* For what must not happen. */
    proxy_refuse(sc.proxy, false);
    proxy_thaw(sc.proxy);
    WAIT_EVENT(&next, "GRANTED");
    ck_assert_int_eq(raw_count(op(), dir), 1);
    WAIT(way == FREE || c.rec.finals == 1);
    check_end(&c, way);
    evzk_lock_free(c.l);
    if (way == CLOSE) { /* For the end of the scene. */
        WAIT(sc.p.rec.finals == 1);
        evzk_session_free(sc.p.s);
        peer_open(&sc.p, proxy_address(sc.proxy));
    }
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

/* The lease ends, and no server has confirmed that the znode is gone. */
START_TEST(released_downgrade_proves_it)
{
    const char *dir = "/down-prove";
    struct claim c;
    struct scene sc;

    scene_open(&sc, BRIEF_MS);
    claim_held(&c, sc.p.s, dir, WATCHED);
    WAIT(evzk_session_connected(sc.p.s));
    start_downgrade(&sc, &c, UNDER_WAY);
    proxy_refuse(sc.proxy, true);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    WAIT(evzk_session_lease_ms(sc.p.s) == 0);
    run_for(harness_base(), 100); /* For what must not happen. */
    ck_assert_int_eq(c.rec.finals, 0);
    proxy_cut(sc.proxy);
    proxy_thaw(sc.proxy);
    proxy_refuse(sc.proxy, false);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "RELEASED");
    ck_assert_int_le(raw_count(op(), dir), 0);
    evzk_lock_free(c.l);
    scene_close(&sc, dir);
}
END_TEST

static void check_no_downgrade(const struct claim *c, evzk_lock_mode mode)
{
    ck_assert_int_eq(evzk_lock_downgrade(c->l), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_lock_mode_of(c->l), mode);
}

START_TEST(downgrade_of_another_mode)
{
    evzk_lock_mode mode = _i ? EVZK_LOCK_READ : EVZK_LOCK_EXCLUSIVE;
    struct party a;

    party_open(&a, "/down-mode", 1, the_server());
    ck_assert_int_eq(evzk_lock_downgrade(NULL), EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_lock_mode_of(NULL), EVZK_LOCK_EXCLUSIVE);
    claim(&a.c[0], a.p[0].s, a.dir, &(evzk_lock_options){.mode = mode});
    check_no_downgrade(&a.c[0], mode);
    WAIT_EVENT(&a.c[0], "GRANTED");
    check_no_downgrade(&a.c[0], mode);
    calm_held(&a, "1");
    ck_assert_str_eq(a.c[0].rec.text, "GRANTED");
    claim_release(&a.c[0]);
    party_close(&a);
}
END_TEST

/* Before its time, twice, and after the end; _i: it was never downgraded. */
START_TEST(downgrade_in_wrong_states)
{
    evzk_lock_mode mode = _i ? EVZK_LOCK_WRITE : EVZK_LOCK_READ;
    struct party a;
    struct claim *c = &a.c[1];

    party_open(&a, "/down-state", 1, the_server());
    holds(&a, 0, MODE(EXCLUSIVE));
    claim(c, a.p[0].s, a.dir, MODE(WRITE));
    check_no_downgrade(c, EVZK_LOCK_WRITE);
    WAIT(is_waiting(c));
    check_no_downgrade(c, EVZK_LOCK_WRITE);
    claim_release(&a.c[0]);
    WAIT_EVENT(c, "GRANTED");
    if (!_i) {
        downgrade(c);
        check_no_downgrade(c, mode);
        WAIT_EVENT(c, "DOWNGRADED");
        check_no_downgrade(c, mode);
    }
    ck_assert_int_eq(evzk_lock_release(c->l), EVZK_OK);
    check_no_downgrade(c, mode);
    WAIT(c->rec.finals == 1);
    check_no_downgrade(c, mode);
    ck_assert_str_eq(c->rec.text,
                     _i ? "GRANTED RELEASED" : "GRANTED DOWNGRADED RELEASED");
    evzk_lock_free(c->l);
    party_close(&a);
}
END_TEST

/* In GRANTED; then released (0) or freed (1) in DOWNGRADED. */
START_TEST(downgrade_inside_events)
{
    struct actor a = {.at = EVZK_LOCK_GRANTED, .act = evzk_lock_downgrade};
    const char *dir = "/down-inside";
    struct peer p;

    peer_open(&p, the_server());
    actor_start(&a, p.s, dir);
    WAIT(a.rc != -999);
    ck_assert_int_eq(a.rc, EVZK_OK);
    a.at = EVZK_LOCK_DOWNGRADED;
    a.act = _i ? do_free : evzk_lock_release;
    WAIT(_i ? recorder_has(&a.c.rec, "DOWNGRADED") : a.c.rec.finals == 1);
    ck_assert_int_eq(a.rc, EVZK_OK);
    nothing_left(dir, p.s);
    ck_assert_str_eq(a.c.rec.text,
                     _i ? "GRANTED DOWNGRADED" : "GRANTED DOWNGRADED RELEASED");
    if (!_i)
        evzk_lock_free(a.c.l);
    peer_close(&p);
}
END_TEST

/* The data of the lock's znode is the same after. */
START_TEST(downgrade_keeps_the_data)
{
    const evzk_acl acl = {EVZK_PERM_ALL, "world", "anyone"};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .data = "mine\0too",
                                   .data_len = 8,
                                   .acl = &acl,
                                   .acl_count = 1};
    const char *dir = "/down-data";
    struct claim c;
    struct peer p;
    char buf[16];
    int len = sizeof buf;

    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, &opt);
    downgrade(&c);
    WAIT_EVENT(&c, "DOWNGRADED");
    ck_assert_int_eq(
        raw_get(op(), node_path(dir, evzk_lock_node(c.l)), buf, &len, NULL),
        ZOK);
    ck_assert_int_eq(len, 8);
    ck_assert_int_eq(memcmp(buf, "mine\0too", 8), 0);
    claim_release(&c);
    nothing_left(dir, p.s);
    peer_close(&p);
}
END_TEST

/* There is no way back, and it says so from the call on. */
START_TEST(upgrade_says_why_not)
{
    struct party a;

    party_open(&a, "/upgrade", 1, the_server());
    ck_assert_int_eq(evzk_lock_upgrade(NULL), EVZK_ERR_INVAL);
    holds(&a, 0, MODE(READ));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[0].l), EVZK_ERR_UPGRADE);
    ck_assert(evzk_lock_held(a.c[0].l));
    waits(&a, 1, MODE(WRITE));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_STATE);
    waits(&a, 2, MODE(EXCLUSIVE));
    ck_assert_int_eq(evzk_lock_upgrade(a.c[2].l), EVZK_ERR_STATE);
    claim_release(&a.c[0]);
    WAIT_EVENT(&a.c[1], "GRANTED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_STATE);
    downgrade(&a.c[1]);
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_UPGRADE);
    WAIT_EVENT(&a.c[1], "DOWNGRADED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[1].l), EVZK_ERR_UPGRADE);
    claim_release(&a.c[1]);
    WAIT_EVENT(&a.c[2], "GRANTED");
    ck_assert_int_eq(evzk_lock_upgrade(a.c[2].l), EVZK_ERR_STATE);
    claim_release(&a.c[2]);
    party_close(&a);
}
END_TEST

START_TEST(forked_child_changes_nothing)
{
    struct party a;
    pid_t pid;

    party_open(&a, "/down-forked", 1, the_server());
    holds(&a, 0, MODE(WRITE));
    operator_close();
    pid = harness_fork();
    if (pid == 0) {
        int bad = evzk_lock_downgrade(a.c[0].l) != EVZK_ERR_FORKED;

        bad |= (evzk_lock_upgrade(a.c[0].l) != EVZK_ERR_FORKED) << 1;
        bad |= (evzk_lock_mode_of(a.c[0].l) != EVZK_LOCK_WRITE) << 2;
        evzk_session_free(a.p[0].s);
        evzk_lock_free(a.c[0].l);
        _exit(bad);
    }
    ck_assert_int_eq(harness_join(pid), 0);
    claim_release(&a.c[0]);
    party_close(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-downgrade");
    TCase *tests = lock_tests(suite, "downgrade", 60000);

    tcase_add_loop_test(tests, downgrade_lets_readers_in, 0, 2);
    tcase_add_loop_test(tests, downgrade_keeps_writers_out, 0, 2);
    tcase_add_loop_test(tests, downgrade_meets_newcomers, 0, 2);
    tcase_add_loop_test(tests, downgrade_of_one_that_has_stayed, 0, 2);
    tcase_add_loop_test(tests, downgrade_is_cut, 0, 2 * PROXY_CUTS);
    tcase_add_loop_test(tests, downgrade_is_broken, 0, 3);
    tcase_add_test(tests, downgrade_is_refused);
    tcase_add_loop_test(tests, cut_downgrade_is_refused, 0, 3);
    tcase_add_loop_test(tests, downgrade_of_one_that_is_not_read, 0, 2);
    tcase_add_loop_test(tests, many_are_downgraded_at_once, 0, 4);
    tcase_add_test(tests, many_with_a_long_acl_are_downgraded);
    tcase_add_loop_test(tests, leaving_after_downgrade, 0, MOMENTS * ENDS);
    tcase_add_test(tests, released_downgrade_proves_it);
    tcase_add_loop_test(tests, downgrade_of_another_mode, 0, 2);
    tcase_add_loop_test(tests, downgrade_in_wrong_states, 0, 2);
    tcase_add_loop_test(tests, downgrade_inside_events, 0, 2);
    tcase_add_test(tests, downgrade_keeps_the_data);
    tcase_add_test(tests, upgrade_says_why_not);
    tcase_add_test(tests, forked_child_changes_nothing);
    return lock_suite_run(suite);
}
