/*
 * Leader election on a real server: who is elected, what the leader znode says,
 * and what observers see; whatever the network, an operator and another program
 * do, and whatever is called inside a callback.
 */
#define _GNU_SOURCE 1
#include "test_election.h"

enum { OP_MULTI = 14 };

static int acknowledge(struct candidate *c, const char *data)
{
    return evzk_election_acknowledge(c->e, data, strlen(data));
}

static void delete_own(const struct candidate *c)
{
    ck_assert_int_eq(
        raw_delete(op(), node_path(c->dir, evzk_election_node(c->e))), ZOK);
}

static void delete_leader(const char *dir)
{
    ck_assert_int_eq(raw_delete(op(), leader_path(dir)), ZOK);
}

/* Ended, and not by its own wish. */
static void lost_with(struct candidate *c, int rc)
{
    WAIT(c->finals == 1);
    ck_assert_int_eq(c->last, EVZK_ELECTION_LOST);
    ck_assert_int_eq(c->rc, rc);
    ck_assert(!evzk_election_elected(c->e));
    ck_assert(!evzk_election_leading(c->e));
    evzk_election_free(c->e);
    c->e = NULL;
}

/* Its own znode is watched at once, so it hears at once. */
static const evzk_election_options watchful = {.revocable = true};

/* ---- One after another ---- */

/* Two stand; one leads, says so, resigns; then the other. */
START_TEST(one_leads_and_then_the_next)
{
    const char *dir = "/election";
    struct peer p, q, r;
    struct candidate a, b;
    struct watcher w;
    uint64_t first;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    peer_open(&r, the_server());
    observe(&w, r.s, dir);
    WAIT(w.told == 1);
    stand_elected(&a, p.s, dir);
    stand(&b, q.s, dir, NULL);
    WAIT(strcmp(evzk_election_state(b.e), "WATCHING") == 0);
    ck_assert_str_eq(w.text, "-");
    lead(&a, "a leads");
    WAIT(w.told == 2);
    first = evzk_election_epoch(a.e);
    ck_assert_uint_eq(w.epoch, first);
    resign(&a);
    WAIT(evzk_election_elected(b.e));
    ck_assert_uint_gt(evzk_election_epoch(b.e), first);
    WAIT(w.told == 3);
    lead(&b, "b leads");
    WAIT(w.told == 4);
    ck_assert_uint_eq(w.epoch, evzk_election_epoch(b.e));
    resign(&b);
    WAIT(w.told == 5);
    ck_assert_str_eq(w.text, "- a leads - b leads -");
    evzk_observer_free(w.o);
    nothing_left(dir, p.s);
    nothing_left(dir, q.s);
    nothing_left(dir, r.s);
    peer_close(&p);
    peer_close(&q);
    peer_close(&r);
}
END_TEST

/* Two of one session: the second's leader znode is not taken along with the
 * first's, which is freed late. */
START_TEST(two_of_one_session)
{
    struct hall h;

    hall_open(&h, "/election-one-session");
    stand_elected(&h.a, h.p.s, h.dir);
    stand_behind(&h.b, h.p.s, h.dir, NULL);
    lead(&h.a, "a");
    WAIT_TEXT(&h.w, "- a");
    ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_OK);
    WAIT(evzk_election_elected(h.b.e));
    lead(&h.b, "b");
    WAIT(h.a.finals == 1);
    ck_assert_str_eq(h.a.text, "ELECTED LEADING RESIGNED");
    evzk_election_free(h.a.e);
    settle(h.p.s);
    check_leader(&h.b, "b");
    ck_assert(evzk_election_leading(h.b.e));
    ck_assert_int_eq(h.w.session, evzk_session_id(h.p.s));
    ck_assert_str_eq(h.w.node, evzk_election_node(h.b.e));
    resign(&h.b);
    WAIT(h.w.epoch == 0);
    hall_close(&h);
}
END_TEST

/* The last acknowledgement counts, and others hear all of it. */
START_TEST(acknowledged_again)
{
    struct hall h;
    uint64_t epoch;

    hall_open(&h, "/election-again");
    stand_elected(&h.a, h.p.s, h.dir);
    epoch = evzk_election_epoch(h.a.e);
    lead(&h.a, "one");
    WAIT_TEXT(&h.w, "- one");
    ck_assert_int_eq(acknowledge(&h.a, "two"), EVZK_OK);
    ck_assert_int_eq(acknowledge(&h.a, "three"), EVZK_ERR_STATE);
    ck_assert(evzk_election_leading(h.a.e));
    WAIT(times(&h.a, "LEADING") == 2);
    WAIT_TEXT(&h.w, "- one two");
    ck_assert_uint_eq(h.w.epoch, epoch);
    check_leader(&h.a, "two");
    ck_assert_int_eq(evzk_election_acknowledge(h.a.e, NULL, 0), EVZK_OK);
    WAIT(times(&h.a, "LEADING") == 3);
    WAIT_TEXT(&h.w, "- one two ");
    check_leader(&h.a, "");
    ck_assert_str_eq(h.a.text, "ELECTED LEADING LEADING LEADING");
    resign(&h.a);
    hall_close(&h);
}
END_TEST

/* Only who is elected says so, and one thing at a time. */
START_TEST(acknowledged_out_of_turn)
{
    struct hall h;

    hall_open(&h, "/election-turn");
    stand(&h.a, h.p.s, h.dir, NULL);
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_ERR_STATE);
    WAIT(evzk_election_elected(h.a.e));
    stand_behind(&h.b, h.q.s, h.dir, NULL);
    ck_assert_int_eq(acknowledge(&h.b, "b"), EVZK_ERR_STATE);
    ck_assert_uint_eq(evzk_election_epoch(h.b.e), 0);
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_OK);
    ck_assert(!evzk_election_leading(h.a.e)); /* Not before it is told. */
    ck_assert_int_eq(acknowledge(&h.a, "x"), EVZK_ERR_STATE);
    WAIT(evzk_election_leading(h.a.e));
    WAIT_TEXT(&h.w, "- a");
    ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_OK);
    ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_ERR_STATE);
    ck_assert_int_eq(acknowledge(&h.a, "x"), EVZK_ERR_STATE);
    WAIT(h.a.finals == 1);
    ck_assert_int_eq(acknowledge(&h.a, "x"), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_ERR_STATE);
    evzk_election_free(h.a.e);
    WAIT(evzk_election_elected(h.b.e));
    resign(&h.b);
    hall_close(&h);
}
END_TEST

/* All that fits, and bytes of every kind. */
START_TEST(data_is_taken_as_it_is)
{
    static char data[EVZK_ELECTION_DATA_MAX];
    struct said said;
    struct hall h;
    char *head;

    hall_open(&h, "/election-data");
    memset(data, '\n', sizeof data);
    data[0] = '\0';
    stand_elected(&h.a, h.p.s, h.dir);
    ck_assert_int_eq(evzk_election_acknowledge(h.a.e, data, sizeof data),
                     EVZK_OK);
    WAIT(evzk_election_leading(h.a.e));
    WAIT(h.w.told == 2);
    ck_assert_uint_eq(h.w.len, sizeof data);
    ck_assert_uint_eq(h.w.epoch, evzk_election_epoch(h.a.e));
    memset(&said, 0, sizeof said);
    ck_assert_int_eq(raw_exists(op(), leader_path(h.dir), &said.stat), ZOK);
    ck_assert_int_eq(asprintf(&head, "%llu %s\n",
                              (unsigned long long)evzk_election_epoch(h.a.e),
                              evzk_election_node(h.a.e)),
                     said.stat.dataLength - (int)sizeof data);
    free(head);
    resign(&h.a);
    hall_close(&h);
}
END_TEST

/* ---- Leaving ---- */

enum stage { WAITING, ELECTED, ASKING, ANSWERED, LEADS, STAGES };

/* Leads it to the stage; what it asked then, or was answered, is held. */
static void reach(struct candidate *c, struct scene *sc, enum stage stage)
{
    if (stage == WAITING) {
        WAIT(in_state(c, "WATCHING"));
        return;
    }
    WAIT(evzk_election_elected(c->e));
    if (stage == LEADS)
        lead(c, "c");
    if (stage == ELECTED || stage == LEADS)
        return;
    proxy_freeze(sc->proxy, stage == ASKING ? PROXY_C2S : PROXY_S2C);
    ck_assert_int_eq(acknowledge(c, "c"), EVZK_OK);
    WAIT(in_state(c, "ANNOUNCING"));
    if (stage == ANSWERED)
        WAIT(leader_there(c->dir));
}

/* Resigns (0), or is freed (1). */
START_TEST(leaves_at_every_stage)
{
    enum stage stage = (enum stage)(_i / 2);
    struct candidate held;
    struct gate g;

    gate_observed(&g, "/election-leave", SESSION_MS);
    if (stage == WAITING)
        stand_elected(&held, g.sc.rival.s, g.dir);
    stand(&g.c, g.sc.p.s, g.dir, NULL);
    reach(&g.c, &g.sc, stage);
    stand_behind(&g.next, g.sc.rival.s, g.dir, NULL);
    if (_i % 2) {
        evzk_election_free(g.c.e);
        g.c.freed = true;
    } else {
        ck_assert_int_eq(evzk_election_resign(g.c.e), EVZK_OK);
        ck_assert(!evzk_election_elected(g.c.e));
        ck_assert(!evzk_election_leading(g.c.e));
    }
    proxy_thaw(g.sc.proxy);
    if (stage == WAITING)
        resign(&held);
    WAIT(evzk_election_elected(g.next.e));
    ck_assert(!leader_there(g.dir));
    if (_i % 2 == 0) {
        WAIT(g.c.finals == 1);
        ck_assert_str_eq(g.c.text, stage == WAITING ? "FAILED(CANCELED)"
                                   : stage == LEADS ? "ELECTED LEADING RESIGNED"
                                                    : "ELECTED RESIGNED");
        evzk_election_free(g.c.e);
    }
    lead(&g.next, "next");
    WAIT(g.w.epoch == evzk_election_epoch(g.next.e));
    settle(g.sc.p.s);
    check_leader(&g.next, "next");
    gate_close(&g);
}
END_TEST

static int do_resign(struct candidate *c) { return evzk_election_resign(c->e); }

static int do_free(struct candidate *c)
{
    evzk_election_free(c->e);
    c->e = NULL;
    c->freed = true;
    return EVZK_OK;
}

static bool is_final(evzk_election_event ev)
{
    return ev >= EVZK_ELECTION_RESIGNED;
}

/* Leads one that is elected, or waits, to the event. */
static void provoke(struct candidate *c, struct scene *sc)
{
    switch (c->at) {
    case EVZK_ELECTION_ELECTED:
    case EVZK_ELECTION_LEADING:
        break;
    case EVZK_ELECTION_SUSPENDED:
    case EVZK_ELECTION_RESUMED:
        proxy_cut(sc->proxy);
        break;
    case EVZK_ELECTION_REQUEUED:
        delete_own(c);
        break;
    case EVZK_ELECTION_RESIGN_REQUESTED:
        ck_assert_int_eq(raw_set(op(),
                                 node_path(c->dir, evzk_election_node(c->e)),
                                 "unlock", 6),
                         ZOK);
        break;
    case EVZK_ELECTION_RESIGNED:
    case EVZK_ELECTION_FAILED:
        ck_assert_int_eq(evzk_election_resign(c->e), EVZK_OK);
        break;
    case EVZK_ELECTION_LOST:
        raw_expire(the_server(), evzk_session_id(c->s));
        break;
    }
    WAIT(c->acted);
}

/* The candidate left, if it could; nothing was heard after a free. */
static void check_left(struct candidate *c, bool waits)
{
    bool leaves = !is_final(c->at);

    if (c->freed)
        return;
    ck_assert_int_eq(c->act_rc, leaves ? EVZK_OK : EVZK_ERR_STATE);
    WAIT(c->finals == 1);
    if (leaves)
        ck_assert_int_eq(c->last,
                         waits ? EVZK_ELECTION_FAILED : EVZK_ELECTION_RESIGNED);
    evzk_election_free(c->e);
}

/* In each event: resigns, or is freed. */
START_TEST(leaves_inside_every_callback)
{
    evzk_election_event at = (evzk_election_event)(1 + _i / 2);
    bool waits = at == EVZK_ELECTION_REQUEUED || at == EVZK_ELECTION_FAILED;
    struct candidate held;
    struct gate g;

    gate_open(&g, "/election-inside", SESSION_MS);
    if (waits)
        stand_elected(&held, g.sc.rival.s, g.dir);
    stand_acting(&g.c, g.sc.p.s, g.dir, &watchful, at,
                 _i % 2 ? do_free : do_resign);
    WAIT(g.c.acted ||
         (waits ? in_state(&g.c, "WATCHING") : evzk_election_elected(g.c.e)));
    if (!waits && !g.c.acted)
        ck_assert_int_eq(acknowledge(&g.c, "c"), EVZK_OK);
    WAIT(g.c.acted || waits || evzk_election_leading(g.c.e));
    provoke(&g.c, &g.sc);
    check_left(&g.c, waits);
    if (waits)
        resign(&held);
    stand_elected(&g.next, g.sc.rival.s, g.dir);
    lead(&g.next, "next");
    check_leader(&g.next, "next");
    gate_close(&g);
}
END_TEST

static int do_stand(struct candidate *c)
{
    stand(c->next, c->s, c->dir, NULL);
    return EVZK_OK;
}

/* Stands again inside RESIGNED (0), and inside LOST, its session having expired
 * (1) or its znode having been deleted (2). */
START_TEST(stands_again_inside_its_end)
{
    struct candidate again;
    struct hall h;
    uint64_t epoch;

    hall_open(&h, "/election-rejoin");
    stand_acting(&h.a, h.p.s, h.dir, &watchful,
                 _i ? EVZK_ELECTION_LOST : EVZK_ELECTION_RESIGNED, do_stand);
    h.a.next = &again;
    WAIT(evzk_election_elected(h.a.e));
    lead(&h.a, "a");
    epoch = evzk_election_epoch(h.a.e);
    stand_behind(&h.b, h.q.s, h.dir, NULL);
    settle(h.p.s); /* The candidate watches its znode. */
    if (_i == 1)
        raw_expire(the_server(), evzk_session_id(h.p.s));
    else if (_i == 2)
        delete_own(&h.a);
    else
        ck_assert_int_eq(evzk_election_resign(h.a.e), EVZK_OK);
    WAIT(h.a.finals == 1);
    evzk_election_free(h.a.e);
    WAIT(evzk_election_elected(h.b.e));
    ck_assert_uint_gt(evzk_election_epoch(h.b.e), epoch);
    lead(&h.b, "b");
    WAIT(in_state(&again, "WATCHING"));
    ck_assert_str_eq(again.text, "");
    epoch = evzk_election_epoch(h.b.e);
    resign(&h.b);
    WAIT(evzk_election_elected(again.e));
    ck_assert_uint_gt(evzk_election_epoch(again.e), epoch);
    lead(&again, "again");
    WAIT(h.w.epoch == evzk_election_epoch(again.e));
    resign(&again);
    WAIT(h.w.epoch == 0);
    hall_close(&h);
}
END_TEST

/* ---- The network ---- */

/* The request is dropped (0), or its answer (1): it comes once, and is ours. */
START_TEST(cut_while_acknowledging)
{
    struct gate g;

    gate_elected(&g, "/election-cut", SESSION_MS, NULL);
    proxy_trap(g.sc.proxy, _i ? PROXY_S2C : PROXY_C2S, OP_MULTI, 1,
               PROXY_CUT_BEFORE);
    ck_assert_int_eq(acknowledge(&g.c, "c"), EVZK_OK);
    WAIT(evzk_election_leading(g.c.e));
    ck_assert_int_eq(proxy_fired(g.sc.proxy), 1);
    WAIT(times(&g.c, "RESUMED") == 1);
    settle(g.sc.p.s);
    ck_assert_int_eq(times(&g.c, "LEADING"), 1);
    ck_assert_int_eq(times(&g.c, "SUSPENDED"), 1);
    ck_assert_int_eq(g.c.finals, 0);
    check_leader(&g.c, "c");
    WAIT(g.w.epoch == evzk_election_epoch(g.c.e));
    resign(&g.c);
    WAIT(evzk_election_elected(g.next.e));
    ck_assert(!leader_there(g.dir));
    gate_close(&g);
}
END_TEST

/* Its znodes have gone, and the answer is lost: when it asks again, the next
 * one leads, and goes on leading. */
START_TEST(cut_while_resigning)
{
    const char *dir = "/election-cut-resign";
    struct gate g;

    raw_mkdirs(op(), dir); /* Not made by a lock, so it stays. */
    gate_elected(&g, dir, SESSION_MS, "c");
    proxy_trap(g.sc.proxy, PROXY_S2C, OP_MULTI, 1, PROXY_CUT_BEFORE);
    proxy_refuse(g.sc.proxy, true);
    ck_assert_int_eq(evzk_election_resign(g.c.e), EVZK_OK);
    if (_i)
        evzk_election_free(g.c.e);
    g.c.freed = _i;
    WAIT(evzk_election_elected(g.next.e));
    ck_assert_int_eq(g.c.finals, 0);
    ck_assert(!leader_there(g.dir));
    lead(&g.next, "next");
    WAIT(g.w.epoch == evzk_election_epoch(g.next.e));
    proxy_refuse(g.sc.proxy, false);
    WAIT(evzk_session_connected(g.sc.p.s));
    idle(g.sc.p.s);
    check_leader(&g.next, "next");
    if (!_i) {
        ck_assert_int_eq(g.c.finals, 1);
        ck_assert_int_eq(g.c.last, EVZK_ELECTION_RESIGNED);
        ck_assert_int_eq(g.c.rc, EVZK_OK);
        evzk_election_free(g.c.e);
    }
    gate_close(&g);
    raw_delete_tree(op(), dir);
}
END_TEST

/* Nothing comes through, and what it says in doubt is said at the end of it. */
START_TEST(leads_through_a_doubt)
{
    struct gate g;

    gate_elected(&g, "/election-doubt", SESSION_MS, "one");
    proxy_refuse(g.sc.proxy, true);
    proxy_cut(g.sc.proxy);
    WAIT(times(&g.c, "SUSPENDED") == 1);
    ck_assert(evzk_election_elected(g.c.e));
    ck_assert(evzk_election_leading(g.c.e));
    ck_assert_uint_gt(evzk_election_lease_ms(g.c.e), 0);
    if (_i)
        ck_assert_int_eq(acknowledge(&g.c, "two"), EVZK_OK);
    proxy_refuse(g.sc.proxy, false);
    WAIT(times(&g.c, "RESUMED") == 1);
    WAIT(times(&g.c, "LEADING") == 1 + _i);
    ck_assert(evzk_election_leading(g.c.e));
    if (_i)
        WAIT_TEXT(&g.w, "- one two");
    settle(g.sc.rival.s);
    ck_assert_str_eq(g.w.text, _i ? "- one two" : "- one");
    ck_assert_str_eq(g.next.text, "");
    resign(&g.c);
    WAIT(evzk_election_elected(g.next.e));
    gate_close(&g);
}
END_TEST

/* The events told, without the doubts that passed. */
static const char *story(const struct candidate *c)
{
    static const char doubt[] = " SUSPENDED RESUMED";
    static char text[sizeof c->text];
    char *at;

    snprintf(text, sizeof text, "%s", c->text);
    while ((at = strstr(text, doubt)) != NULL)
        memmove(at, at + strlen(doubt), strlen(at + strlen(doubt)) + 1);
    return text;
}

/* Its lease ends, elected only (0), or leading (1): before anybody else can be
 * elected. */
START_TEST(lease_ends)
{
    struct gate g;

    gate_elected(&g, "/election-lease", (uint32_t)slow_ms(2000),
                 _i ? "c" : NULL);
    proxy_freeze(g.sc.proxy, PROXY_BOTH);
    WAIT(g.c.finals == 1);
    ck_assert(!evzk_election_elected(g.next.e));
    ck_assert_str_eq(story(&g.c), _i ? "ELECTED LEADING SUSPENDED LOST(LEASE)"
                                     : "ELECTED SUSPENDED LOST(LEASE)");
    ck_assert(!evzk_election_elected(g.c.e) && !evzk_election_leading(g.c.e));
    proxy_thaw(g.sc.proxy);
    WAIT(evzk_election_elected(g.next.e));
    lead(&g.next, "next");
    WAIT(g.w.epoch == evzk_election_epoch(g.next.e));
    ck_assert_ptr_null(strstr(strstr(g.w.text, "next"), "c ")); /* Not again. */
    evzk_election_free(g.c.e);
    gate_close(&g);
}
END_TEST

START_TEST(leader_expires)
{
    struct hall h;
    uint64_t epoch;

    hall_led(&h, "/election-expire", NULL);
    epoch = evzk_election_epoch(h.a.e);
    stand_behind(&h.b, h.q.s, h.dir, NULL);
    raw_expire(the_server(), evzk_session_id(h.p.s));
    WAIT_TEXT(&h.w, "- a -");
    lost_with(&h.a, EVZK_ERR_EXPIRED);
    ck_assert_str_eq(h.a.text, "ELECTED LEADING SUSPENDED LOST(EXPIRED)");
    WAIT(evzk_election_elected(h.b.e));
    ck_assert_uint_gt(evzk_election_epoch(h.b.e), epoch);
    hall_next(&h);
    WAIT(evzk_session_connected(h.p.s));
    hall_close(&h);
}
END_TEST

/* While its leader znode is asked for (0), or the answer is held (1). */
START_TEST(expires_while_acknowledging)
{
    struct gate g;

    gate_observed(&g, "/election-expire-asking", SESSION_MS);
    stand(&g.c, g.sc.p.s, g.dir, NULL);
    reach(&g.c, &g.sc, _i ? ANSWERED : ASKING);
    stand_behind(&g.next, g.sc.rival.s, g.dir, NULL);
    raw_expire(the_server(), evzk_session_id(g.sc.p.s));
    WAIT(evzk_election_elected(g.next.e));
    ck_assert(!leader_there(g.dir));
    lead(&g.next, "next");
    proxy_thaw(g.sc.proxy);
    WAIT(g.c.finals == 1);
    ck_assert_int_eq(g.c.last, EVZK_ELECTION_LOST);
    ck_assert_int_eq(g.c.rc, EVZK_ERR_EXPIRED);
    evzk_election_free(g.c.e);
    WAIT(evzk_session_connected(g.sc.p.s));
    settle(g.sc.p.s);
    check_leader(&g.next, "next");
    WAIT(g.w.epoch == evzk_election_epoch(g.next.e));
    gate_close(&g);
}
END_TEST

/* ---- An operator, and other programs ---- */

/* A leader znode is there that is not ours: ephemeral (0), or persistent. */
START_TEST(foreign_leader_is_replaced)
{
    struct hall h;

    hall_open(&h, "/election-foreign");
    stand_elected(&h.a, h.p.s, h.dir);
    ck_assert_int_eq(raw_create(op(), leader_path(h.dir), "who?", 4,
                                _i ? 0 : ZOO_EPHEMERAL, NULL, 0),
                     ZOK);
    lead(&h.a, "a");
    ck_assert_str_eq(h.a.text, "ELECTED LEADING");
    check_leader(&h.a, "a");
    WAIT_TEXT(&h.w, "- a");
    resign(&h.a);
    WAIT_TEXT(&h.w, "- a -");
    hall_close(&h);
}
END_TEST

/* The leader znode cannot be replaced, which is told; elected as before (0).
 * The one who resigns leaves it (1). */
START_TEST(foreign_leader_with_a_child)
{
    struct hall h;
    char child[256];

    hall_open(&h, "/election-child");
    stand_elected(&h.a, h.p.s, h.dir);
    snprintf(child, sizeof child, "%s/child", leader_path(h.dir));
    raw_mkdirs(op(), child);
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_OK);
    WAIT(h.a.text[strlen("ELECTED")]);
    ck_assert_str_eq(h.a.text, "ELECTED LEADING(NOTEMPTY)");
    ck_assert(evzk_election_elected(h.a.e));
    ck_assert(!evzk_election_leading(h.a.e));
    if (_i) {
        resign(&h.a);
        ck_assert(leader_there(h.dir));
        settle(h.r.s);
        ck_assert_str_eq(h.w.text, "-");
        raw_delete_tree(op(), leader_path(h.dir));
    } else {
        ck_assert_int_eq(raw_delete(op(), child), ZOK);
        lead(&h.a, "a");
        check_leader(&h.a, "a");
        WAIT_TEXT(&h.w, "- a");
        resign(&h.a);
    }
    hall_close(&h);
}
END_TEST

/* The candidate leads no more; its leader znode says so still, but nobody
 * believes it. */
START_TEST(own_znode_is_deleted)
{
    struct said said;
    struct hall h;

    hall_led(&h, "/election-gone", &watchful);
    stand_behind(&h.b, h.q.s, h.dir, NULL);
    settle(h.p.s);
    delete_own(&h.a);
    WAIT_TEXT(&h.w, "- a -");
    lost_with(&h.a, EVZK_ERR_NODEGONE);
    leader_read(h.dir, &said);
    ck_assert_int_eq(said.stat.ephemeralOwner, evzk_session_id(h.p.s));
    hall_next(&h);
    hall_close(&h);
}
END_TEST

/* And it has not heard of it when it acknowledges. */
START_TEST(own_znode_is_gone_before)
{
    const evzk_election_options opt = {.no_own_watch = true};
    struct hall h;

    hall_open(&h, "/election-gone-before");
    stand(&h.a, h.p.s, h.dir, &opt);
    WAIT(evzk_election_elected(h.a.e));
    delete_own(&h.a);
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_OK);
    lost_with(&h.a, EVZK_ERR_NODEGONE);
    ck_assert_str_eq(h.a.text, "ELECTED LOST(NODEGONE)");
    ck_assert(!leader_there(h.dir));
    settle(h.r.s);
    ck_assert_str_eq(h.w.text, "-");
    hall_close(&h);
}
END_TEST

/* The candidate leads as before, but others do not see so until it acknowledges
 * again. */
START_TEST(leader_znode_is_deleted)
{
    struct hall h;
    uint64_t epoch;

    hall_led(&h, "/election-unsaid", NULL);
    epoch = evzk_election_epoch(h.a.e);
    delete_leader(h.dir);
    WAIT_TEXT(&h.w, "- a -");
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_OK);
    WAIT(times(&h.a, "LEADING") == 2);
    WAIT_TEXT(&h.w, "- a - a");
    ck_assert_uint_eq(h.w.epoch, epoch);
    ck_assert_uint_eq(evzk_election_epoch(h.a.e), epoch);
    check_leader(&h.a, "a");
    delete_leader(h.dir);
    WAIT_TEXT(&h.w, "- a - a -");
    resign(&h.a); /* There is nothing to take along. */
    ck_assert_str_eq(h.a.text, "ELECTED LEADING LEADING RESIGNED");
    hall_close(&h);
}
END_TEST

/* ---- Refused, and closed ---- */

/* A candidate that may not read its own znode is elected, but cannot announce
 * it. */
START_TEST(blind_one_is_refused)
{
    const evzk_acl acl = {EVZK_PERM_ALL & ~EVZK_PERM_READ, "world", "anyone"};
    const evzk_election_options opt = {.acl = &acl, .acl_count = 1};
    struct hall h;

    hall_open(&h, "/election-blind");
    raw_mkdirs(op(), h.dir);
    stand(&h.a, h.p.s, h.dir, &opt);
    WAIT(evzk_election_elected(h.a.e));
    ck_assert_int_eq(acknowledge(&h.a, "a"), EVZK_OK);
    WAIT(h.a.text[strlen("ELECTED")]);
    ck_assert_str_eq(h.a.text, "ELECTED LEADING(NOAUTH)");
    ck_assert(evzk_election_elected(h.a.e));
    ck_assert(!evzk_election_leading(h.a.e));
    ck_assert(!leader_there(h.dir));
    resign(&h.a);
    hall_close(&h);
    raw_delete_tree(op(), "/election-blind");
}
END_TEST

/* The session is closed: everybody hears the end, once. */
START_TEST(session_is_closed)
{
    struct hall h;

    hall_led(&h, "/election-close", NULL);
    stand_behind(&h.b, h.r.s, h.dir, NULL);
    peer_close(&h.r);
    ck_assert_str_eq(h.w.text, "- a END(CLOSED)");
    ck_assert_str_eq(h.b.text, "FAILED(CLOSED)");
    peer_close(&h.p);
    ck_assert_int_eq(h.a.finals, 1);
    ck_assert(!evzk_election_elected(h.a.e));
    evzk_election_free(h.a.e);
    evzk_election_free(h.b.e);
    blind(&h.w);
    nothing_left(h.dir, h.q.s);
    peer_close(&h.q);
}
END_TEST

/* ---- Many ---- */

enum { MANY = 200, FEW = 12 };

static struct candidate many[MANY];

static int count_final(void)
{
    int n = 0;

    for (int i = 0; i < MANY; i++)
        n += many[i].finals;
    return n;
}

static int count_if(bool (*is)(const evzk_election *e))
{
    int n = 0;

    for (int i = 0; i < MANY; i++)
        n += is(many[i].e);
    return n;
}

static int64_t multis(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_C2S, OP_MULTI);
}

static bool leads_verified(const evzk_election *e)
{
    return strcmp(evzk_election_state(e), "LEADING") == 0;
}

/* In as many directories, all in one turn each: few transactions do.  A leader
 * that is still reading its own znode resigns when it is answered: so that all
 * resign in one turn, the test waits until none reads any more. */
START_TEST(many_elections)
{
    static char dir[MANY][64];
    struct scene sc;
    int64_t sent;

    scene_open(&sc, SESSION_MS);
    raw_mkdirs(op(), "/election-many");
    sent = multis(sc.proxy);
    for (int i = 0; i < MANY; i++) {
        snprintf(dir[i], sizeof dir[i], "/election-many/%03d", i);
        stand(&many[i], sc.p.s, dir[i], NULL);
    }
    WAIT(count_if(evzk_election_elected) == MANY);
    ck_assert_int_le(multis(sc.proxy) - sent, FEW);
    sent = multis(sc.proxy);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(acknowledge(&many[i], dir[i]), EVZK_OK);
    WAIT(count_if(evzk_election_leading) == MANY);
    ck_assert_int_le(multis(sc.proxy) - sent, FEW);
    for (int i = 0; i < MANY; i += 67)
        check_leader(&many[i], dir[i]);
    WAIT(count_if(leads_verified) == MANY);
    sent = multis(sc.proxy);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(evzk_election_resign(many[i].e), EVZK_OK);
    WAIT(count_final() == MANY);
    ck_assert_int_le(multis(sc.proxy) - sent, FEW);
    for (int i = 0; i < MANY; i++) {
        ck_assert_str_eq(many[i].text, "ELECTED LEADING RESIGNED");
        evzk_election_free(many[i].e);
        ck_assert_int_le(raw_count(op(), dir[i]), 0);
    }
    scene_close(&sc, dir[0]);
    raw_delete_tree(op(), "/election-many");
}
END_TEST

/* One of many has lost its znode, and does not know: it alone is told. */
START_TEST(one_of_many_is_gone)
{
    enum { N = 20, OUT = 7 };
    const evzk_election_options opt = {.no_own_watch = true};
    static char dir[N][64];
    struct scene sc;
    int64_t sent;

    scene_open(&sc, SESSION_MS);
    raw_mkdirs(op(), "/election-some");
    for (int i = 0; i < N; i++) {
        snprintf(dir[i], sizeof dir[i], "/election-some/%03d", i);
        stand(&many[i], sc.p.s, dir[i], &opt);
    }
    for (int i = 0; i < N; i++)
        WAIT(evzk_election_elected(many[i].e));
    delete_own(&many[OUT]);
    sent = multis(sc.proxy);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(acknowledge(&many[i], dir[i]), EVZK_OK);
    lost_with(&many[OUT], EVZK_ERR_NODEGONE);
    for (int i = 0; i < N; i++) {
        if (i == OUT)
            continue;
        WAIT(evzk_election_leading(many[i].e));
        check_leader(&many[i], dir[i]);
    }
    ck_assert_int_le(multis(sc.proxy) - sent, FEW);
    for (int i = 0; i < N; i++) {
        if (i != OUT)
            resign(&many[i]);
    }
    scene_close(&sc, dir[0]);
    raw_delete_tree(op(), "/election-some");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("election");
    TCase *tests = lock_tests(suite, "election", 60000);

    tcase_add_test(tests, one_leads_and_then_the_next);
    tcase_add_test(tests, two_of_one_session);
    tcase_add_test(tests, acknowledged_again);
    tcase_add_test(tests, acknowledged_out_of_turn);
    tcase_add_test(tests, data_is_taken_as_it_is);
    tcase_add_loop_test(tests, leaves_at_every_stage, 0, 2 * STAGES);
    tcase_add_loop_test(tests, leaves_inside_every_callback, 0,
                        2 * EVZK_ELECTION_FAILED);
    tcase_add_loop_test(tests, stands_again_inside_its_end, 0, 3);
    tcase_add_loop_test(tests, cut_while_acknowledging, 0, 2);
    tcase_add_loop_test(tests, cut_while_resigning, 0, 2);
    tcase_add_loop_test(tests, leads_through_a_doubt, 0, 2);
    tcase_add_loop_test(tests, lease_ends, 0, 2);
    tcase_add_test(tests, leader_expires);
    tcase_add_loop_test(tests, expires_while_acknowledging, 0, 2);
    tcase_add_loop_test(tests, foreign_leader_is_replaced, 0, 2);
    tcase_add_loop_test(tests, foreign_leader_with_a_child, 0, 2);
    tcase_add_test(tests, own_znode_is_deleted);
    tcase_add_test(tests, own_znode_is_gone_before);
    tcase_add_test(tests, leader_znode_is_deleted);
    tcase_add_test(tests, blind_one_is_refused);
    tcase_add_test(tests, session_is_closed);
    tcase_add_test(tests, many_elections);
    tcase_add_test(tests, one_of_many_is_gone);
    return lock_suite_run(suite);
}
