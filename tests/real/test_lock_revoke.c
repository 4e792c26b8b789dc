/*
 * The revoker's side: who is asked to let go, what becomes of each, that nobody
 * is removed too early, and that each is asked once, whatever is lost on the
 * way.
 */
#define _GNU_SOURCE 1

#include "test_many.h"

enum { OP_SET = 5, GRACE_MS = 700, REPORT_MAX = 1024 };

/* What a revocation said. */
struct report {
    evzk_lock_revoke *r;
    int count, rc;
    bool free_inside;
    int64_t when;
    size_t n;
    struct {
        char node[128];
        evzk_revoked_how how;
    } v[REPORT_MAX];
};

static void on_report(evzk_lock_revoke *r, int rc, const evzk_revoked *v,
                      size_t n, void *arg)
{
    struct report *p = arg;

    ck_assert_ptr_eq(r, p->r);
    ck_assert_uint_le(n, REPORT_MAX);
    ck_assert(v ? n > 0 : n == 0);
    p->count++;
    p->rc = rc;
    p->when = now_ms();
    p->n = n;
    for (size_t i = 0; i < n; i++) {
        snprintf(p->v[i].node, sizeof p->v[i].node, "%s", v[i].node);
        p->v[i].how = v[i].how;
    }
    if (p->free_inside)
        evzk_lock_revoke_free(r);
}

static struct report *press(evzk_session *s, const char *dir,
                            const evzk_lock_revoke_options *opt)
{
    struct report *p = calloc(1, sizeof *p);

    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(evzk_lock_revoke_start(s, dir, opt, on_report, p, &p->r),
                     EVZK_OK);
    ck_assert_int_eq(p->count, 0);
    return p;
}

static void report_free(struct report *p)
{
    ck_assert_int_le(p->count, 1);
    if (!p->free_inside)
        evzk_lock_revoke_free(p->r);
    free(p);
}

/* A lock, and how it takes it. */
struct holder {
    struct claim c;
    char node[128];
    bool yields; /* It lets go as soon as it is asked. */
};

static void on_asked(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct holder *h = arg;

    recorder_on_lock(l, event, rc, &h->c.rec);
    if (event != EVZK_LOCK_REVOKE_REQUESTED || !h->yields)
        return;
    if (recorder_has(&h->c.rec, "GRANTED"))
        ck_assert_int_eq(evzk_lock_release(l), EVZK_OK);
    else
        ck_assert_int_eq(evzk_lock_cancel(l), EVZK_OK);
}

static void stand_as(struct holder *h, evzk_session *s, const char *dir,
                     const evzk_lock_options *opt, bool yields)
{
    evzk_lock_options o = *opt;

    memset(h, 0, sizeof *h);
    h->yields = yields;
    o.revocable = true; /* Heard at once. */
    ck_assert_int_eq(evzk_lock_acquire(s, dir, &o, on_asked, h, &h->c.l),
                     EVZK_OK);
    WAIT(evzk_lock_held(h->c.l) ||
         strcmp(evzk_lock_state(h->c.l), "WATCHING") == 0);
    snprintf(h->node, sizeof h->node, "%s", evzk_lock_node(h->c.l));
    ck_assert_str_ne(h->node, "");
}

static void stand(struct holder *h, evzk_session *s, const char *dir,
                  evzk_lock_mode mode, bool yields)
{
    stand_as(h, s, dir, &(evzk_lock_options){.mode = mode}, yields);
}

static void stand_held(struct holder *h, evzk_session *s, const char *dir,
                       evzk_lock_mode mode, bool yields)
{
    stand(h, s, dir, mode, yields);
    WAIT(evzk_lock_held(h->c.l));
}

/* It has ended, and this is all that it heard. */
static void check_ended(struct holder *h, const char *story)
{
    WAIT(h->c.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&h->c.rec), story);
    evzk_lock_free(h->c.l);
}

static int asked(const struct holder *h)
{
    return recorder_has(&h->c.rec, "REVOKE_REQUESTED");
}

static const char *how_name(evzk_revoked_how how)
{
    switch (how) {
    case EVZK_REVOKED_STAYS:
        return "STAYS";
    case EVZK_REVOKED_YIELDED:
        return "YIELDED";
    case EVZK_REVOKED_REMOVED:
        return "REMOVED";
    }
    return "?";
}

/* The report, as "YIELDED REMOVED", and about whom. */
static void check_report(const struct report *p, int rc, const char *how,
                         const struct holder *const *who)
{
    char said[256] = "";

    ck_assert_int_eq(p->count, 1);
    ck_assert_int_eq(p->rc, rc);
    for (size_t i = 0; i < p->n && i < 8; i++) {
        size_t n = strlen(said);

        snprintf(said + n, sizeof said - n, "%s%s", n ? " " : "",
                 how_name(p->v[i].how));
    }
    ck_assert_str_eq(said, how);
    for (size_t i = 0; i < p->n; i++)
        ck_assert_str_eq(p->v[i].node, who[i]->node);
}

/* Waits for the end. */
static void expect(struct report *p, int rc, const char *how,
                   const struct holder *const *who)
{
    WAIT(p->count == 1);
    check_report(p, rc, how, who);
    report_free(p);
}

#define WHO(...)                                                               \
    (const struct holder *const[]) { __VA_ARGS__ }

/* How often a znode was written to; -1: it is not there. */
static int version_of(const char *dir, const char *node)
{
    struct Stat stat;
    int rc = raw_exists(op(), node_path(dir, node), &stat);

    ck_assert(rc == ZOK || rc == ZNONODE);
    return rc == ZOK ? stat.version : -1;
}

/* The sessions of those who hold and of the one who revokes. */
struct pair {
    struct peer p, q;
};

static void pair_open(struct pair *t)
{
    peer_open(&t->p, the_server());
    peer_open(&t->q, the_server());
}

static void pair_close(struct pair *t, const char *dir)
{
    nothing_left(dir, t->p.s);
    nothing_left(dir, t->q.s);
    peer_close(&t->p);
    peer_close(&t->q);
}

static const evzk_lock_mode modes[] = {EVZK_LOCK_EXCLUSIVE, EVZK_LOCK_WRITE,
                                       EVZK_LOCK_READ};

/* ---- One holder ---- */

/* The revoker is in another session, or in the same. */
START_TEST(holder_yields)
{
    const char *dir = "/revoke-yield";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, modes[_i % 3], true);
    r = press(_i < 3 ? t.q.s : t.p.s, dir, NULL);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* With force, and it yields in time: it is not removed. */
START_TEST(holder_yields_in_time)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 60000};
    const char *dir = "/revoke-in-time";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, true);
    r = press(t.q.s, dir, &opt);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* It takes its time; the revoker waits, and asks nothing meanwhile. */
START_TEST(holder_yields_later)
{
    const char *dir = "/revoke-later";
    evzk_session_stats before, after;
    struct report *r;
    struct holder h;
    struct pair t;

    peer_open(&t.p, the_server());
    peer_fresh(&t.q, the_server());
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    r = press(t.q.s, dir, NULL);
    WAIT(asked(&h));
    WAIT((evzk_session_get_stats(t.q.s, &before), before.watches == 1));
    all_answered(t.q.s);
    evzk_session_get_stats(t.q.s, &before);
    run_for(harness_base(), 300);
    evzk_session_get_stats(t.q.s, &after);
    ck_assert_uint_eq(after.requests, before.requests);
    ck_assert_int_eq(r->count, 0);
    ck_assert(evzk_lock_held(h.c.l));
    ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* ---- Removed, and not too early ---- */

/* A client of its own that watches one znode, in the test's loop. */
struct seer {
    zhandle_t *zh;
    struct event *ev;
    char path[256];
    bool set;
    int64_t gone_at;
};

static void no_log(const char *line) { (void)line; }

static void watch_node(struct seer *w);

/* What is written to it is no news, but uses the watch up. */
static void see(zhandle_t *zh, int type, int state, const char *path,
                void *context)
{
    struct seer *w = context;

    (void)zh;
    (void)state;
    (void)path;
    if (type == ZOO_DELETED_EVENT)
        w->gone_at = now_ms();
    else if (type == ZOO_CHANGED_EVENT)
        watch_node(w);
}

static void watch_is_set(int rc, const struct Stat *stat, const void *data)
{
    struct seer *w = (struct seer *)(uintptr_t)data;

    (void)stat;
    ck_assert_int_eq(rc, ZOK);
    w->set = true;
}

static void watch_node(struct seer *w)
{
    ck_assert_int_eq(zoo_awexists(w->zh, w->path, see, w, watch_is_set, w),
                     ZOK);
}

static void pump(evutil_socket_t fd, short what, void *arg)
{
    struct seer *w = arg;
    struct timeval tv;
    int sock, interest = 0;

    (void)fd;
    (void)what;
    zookeeper_interest(w->zh, &sock, &interest, &tv);
    zookeeper_process(w->zh, interest);
}

static void seer_open(struct seer *w, const char *path)
{
    const struct timeval often = {0, 1000};

    memset(w, 0, sizeof *w);
    snprintf(w->path, sizeof w->path, "%s", path);
    w->zh =
        zookeeper_init2(the_server(), NULL, SESSION_MS, NULL, NULL, 0, no_log);
    ck_assert_ptr_nonnull(w->zh);
    w->ev = event_new(harness_base(), -1, EV_PERSIST, pump, w);
    event_add(w->ev, &often);
    WAIT(zoo_state(w->zh) == ZOO_CONNECTED_STATE);
    watch_node(w);
    WAIT(w->set);
}

static void seer_close(struct seer *w)
{
    event_free(w->ev);
    zookeeper_close(w->zh);
}

/* Whoever waits behind it gets it, with a greater token. */
START_TEST(holder_is_removed)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = GRACE_MS};
    const char *dir = "/revoke-remove";
    struct holder h, next;
    struct report *r;
    struct seer seer;
    struct pair t;
    int64_t start;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, modes[_i], false);
    seer_open(&seer, node_path(dir, h.node));
    start = now_ms();
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    stand(&next, t.q.s, dir, EVZK_LOCK_WRITE, false);
    ck_assert(evzk_lock_held(h.c.l));
    expect(r, EVZK_OK, "REMOVED", WHO(&h));
    WAIT(seer.gone_at != 0);
    ck_assert_int_ge(seer.gone_at - start, GRACE_MS);
    WAIT(evzk_lock_held(next.c.l));
    WAIT(h.c.rec.finals == 1);
    ck_assert_uint_gt(evzk_lock_token(next.c.l), evzk_lock_token(h.c.l));
    check_ended(&h, "GRANTED REVOKE_REQUESTED LOST(NODEGONE)");
    claim_release(&next.c);
    seer_close(&seer);
    pair_close(&t, dir);
}
END_TEST

/* No grace at all: it is asked, and removed at once. */
START_TEST(removed_at_once)
{
    const evzk_lock_revoke_options opt = {.remove = true};
    const char *dir = "/revoke-at-once";
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_EXCLUSIVE, false);
    expect(press(t.q.s, dir, &opt), EVZK_OK, "REMOVED", WHO(&h));
    WAIT(h.c.rec.finals == 1);
    ck_assert_int_eq(h.c.rec.last, EVZK_LOCK_LOST);
    ck_assert_int_eq(h.c.rec.rc, EVZK_ERR_NODEGONE);
    evzk_lock_free(h.c.l);
    pair_close(&t, dir);
}
END_TEST

/* ---- Several ---- */

/* Who yields, and who does not, first or last. */
START_TEST(readers_yield_or_are_removed)
{
    enum { N = 4 };
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = GRACE_MS};
    static const char *const how[] = {"YIELDED REMOVED YIELDED REMOVED",
                                      "REMOVED YIELDED REMOVED YIELDED"};
    const char *dir = "/revoke-readers";
    struct holder h[N];
    struct report *r;
    struct pair t;
    int64_t start;

    pair_open(&t);
    for (int i = 0; i < N; i++)
        stand_held(&h[i], t.p.s, dir, EVZK_LOCK_READ, i % 2 == _i);
    start = now_ms();
    r = press(t.q.s, dir, &opt);
    WAIT(r->count == 1);
    ck_assert_int_ge(r->when - start, GRACE_MS);
    expect(r, EVZK_OK, how[_i], WHO(&h[0], &h[1], &h[2], &h[3]));
    for (int i = 0; i < N; i++)
        check_ended(&h[i], h[i].yields
                               ? "GRANTED REVOKE_REQUESTED RELEASED"
                               : "GRANTED REVOKE_REQUESTED LOST(NODEGONE)");
    pair_close(&t, dir);
}
END_TEST

/* Those who wait are asked, too. */
START_TEST(waiters_are_asked)
{
    const char *dir = "/revoke-waiters";
    struct holder h[3];
    struct report *r;
    struct pair t;

    pair_open(&t);
    stand_held(&h[0], t.p.s, dir, EVZK_LOCK_READ, true);
    stand(&h[1], t.p.s, dir, EVZK_LOCK_EXCLUSIVE, true);
    stand(&h[2], t.p.s, dir, EVZK_LOCK_WRITE, true);
    r = press(t.q.s, dir, NULL);
    WAIT(r->count == 1);
    ck_assert_uint_eq(r->n, 3);
    expect(r, EVZK_OK, "YIELDED YIELDED YIELDED", WHO(&h[0], &h[1], &h[2]));
    for (int i = 0; i < 3; i++) {
        WAIT(h[i].c.rec.finals == 1);
        ck_assert(asked(&h[i]));
        evzk_lock_free(h[i].c.l);
    }
    pair_close(&t, dir);
}
END_TEST

/* Who came to wait and was removed is to join the queue again. */
START_TEST(removed_waiter_queues_again)
{
    const char *dir = "/revoke-requeue";
    struct holder h, w;
    evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 1};
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_READ, false);
    stand(&w, t.p.s, dir, EVZK_LOCK_WRITE, false);
    opt.mode = EVZK_LOCK_READ;
    expect(press(t.q.s, dir, &opt), EVZK_OK, "REMOVED", WHO(&w));
    WAIT(recorder_has(&w.c.rec, "REQUEUED(NODEGONE)"));
    WAIT(evzk_lock_node(w.c.l)[0] && strcmp(evzk_lock_node(w.c.l), w.node));
    ck_assert(!asked(&h));
    claim_release(&h.c);
    WAIT(evzk_lock_held(w.c.l));
    claim_release(&w.c);
    pair_close(&t, dir);
}
END_TEST

START_TEST(reading_asks_those_that_do_not)
{
    enum { N = 5 };
    const evzk_lock_revoke_options opt = {.mode = EVZK_LOCK_READ};
    static const evzk_lock_mode of[N] = {EVZK_LOCK_READ, EVZK_LOCK_WRITE,
                                         EVZK_LOCK_READ, EVZK_LOCK_EXCLUSIVE,
                                         EVZK_LOCK_READ};
    const char *dir = "/revoke-reading";
    struct holder h[N];
    struct pair t;

    pair_open(&t);
    for (int i = 0; i < N; i++)
        stand(&h[i], t.p.s, dir, of[i], true);
    expect(press(t.q.s, dir, &opt), EVZK_OK, "YIELDED YIELDED",
           WHO(&h[1], &h[3]));
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(asked(&h[i]), of[i] != EVZK_LOCK_READ);
        if (of[i] != EVZK_LOCK_READ) {
            check_ended(&h[i], "REVOKE_REQUESTED FAILED(CANCELED)");
            continue;
        }
        WAIT(evzk_lock_held(h[i].c.l));
        ck_assert_int_eq(version_of(dir, h[i].node), 0);
        claim_release(&h[i].c);
    }
    pair_close(&t, dir);
}
END_TEST

START_TEST(only_those_before)
{
    enum { N = 4 };
    const char *dir = "/revoke-before";
    struct holder h[N];
    struct pair t;
    evzk_lock_revoke_options opt = {.mode = EVZK_LOCK_WRITE};

    pair_open(&t);
    for (int i = 0; i < N; i++)
        stand(&h[i], t.p.s, dir, EVZK_LOCK_WRITE, true);
    opt.before = h[0].node; /* Nobody is before the first. */
    expect(press(t.q.s, dir, &opt), EVZK_OK, "", NULL);
    opt.before = h[2].node;
    expect(press(t.q.s, dir, &opt), EVZK_OK, "YIELDED YIELDED",
           WHO(&h[0], &h[1]));
    WAIT(evzk_lock_held(h[2].c.l));
    check_ended(&h[0], "GRANTED REVOKE_REQUESTED RELEASED");
    WAIT(h[1].c.rec.finals == 1);
    evzk_lock_free(h[1].c.l);
    for (int i = 2; i < N; i++) {
        ck_assert(!asked(&h[i]));
        WAIT(evzk_lock_held(h[i].c.l));
        claim_release(&h[i].c);
    }
    pair_close(&t, dir);
}
END_TEST

/* Asked are those of this priority, and those less urgent. */
START_TEST(only_the_less_urgent)
{
    enum { N = 4 };
    static const uint8_t priority[N] = {0, 3, 4, 9};
    static const char *const how[N] = {"", "YIELDED", "YIELDED", "YIELDED"};
    static const uint8_t asks[N] = {10, 9, 4, 1};
    const char *dir = "/revoke-priority";
    struct holder h[N];
    struct pair t;

    pair_open(&t);
    for (int i = 0; i < N; i++) {
        const evzk_lock_priority of = {.priority = priority[i]};

        stand_as(&h[i], t.p.s, dir,
                 &(evzk_lock_options){.mode = EVZK_LOCK_READ,
                                      .priority = i ? &of : NULL},
                 true);
        WAIT(evzk_lock_held(h[i].c.l));
        snprintf(h[i].node, sizeof h[i].node, "%s", evzk_lock_node(h[i].c.l));
    }
    for (int i = 0; i < N; i++) {
        const evzk_lock_revoke_options opt = {.priority = asks[i]};

        expect(press(t.q.s, dir, &opt), EVZK_OK, how[i], WHO(&h[N - i]));
    }
    ck_assert(!asked(&h[0])); /* Nobody is more urgent than who has none. */
    claim_release(&h[0].c);
    for (int i = 1; i < N; i++)
        check_ended(&h[i], "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* Who waits in the room is in nobody's way. */
START_TEST(the_room_is_not_asked)
{
    const evzk_lock_priority urgent = {.priority = 3};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .priority = &urgent};
    evzk_lock_revoke_options before = {.mode = EVZK_LOCK_WRITE};
    const char *dir = "/revoke-room";
    struct holder h, w;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_EXCLUSIVE, true);
    stand_as(&w, t.p.s, dir, &opt, true);
    ck_assert_ptr_nonnull(strstr(w.node, "-wait-"));
    before.before = w.node; /* All in the queue are. */
    expect(press(t.q.s, dir, _i ? &before : NULL), EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    WAIT(evzk_lock_held(w.c.l));
    ck_assert(!asked(&w));
    claim_release(&w.c);
    pair_close(&t, dir);
}
END_TEST

/* Whoever comes after the question was put is not asked, nor waited for. */
START_TEST(who_comes_later_is_not_asked)
{
    const char *dir = "/revoke-later-one";
    struct holder h, later;
    struct report *r;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_READ, false);
    r = press(t.q.s, dir, NULL);
    WAIT(asked(&h));
    stand_held(&later, t.p.s, dir, EVZK_LOCK_READ, false);
    ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    ck_assert(evzk_lock_held(later.c.l));
    ck_assert_int_eq(version_of(dir, later.node), 0);
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    claim_release(&later.c);
    pair_close(&t, dir);
}
END_TEST

/* What one does that is asked, and only reads from then on. */
static void downgrade_when_asked(evzk_lock *l, evzk_lock_event event, int rc,
                                 void *arg)
{
    recorder_on_lock(l, event, rc, arg);
    if (event == EVZK_LOCK_REVOKE_REQUESTED &&
        evzk_lock_mode_of(l) == EVZK_LOCK_WRITE)
        ck_assert_int_eq(evzk_lock_downgrade(l), EVZK_OK);
}

/* Its znode has gone, and it writes no more: that counts, whoever asks. */
START_TEST(who_downgrades_has_yielded)
{
    const evzk_lock_options writes = {.mode = EVZK_LOCK_WRITE,
                                      .revocable = true};
    const evzk_lock_revoke_options opt = {.mode = _i ? EVZK_LOCK_WRITE
                                                     : EVZK_LOCK_READ,
                                          .remove = true,
                                          .grace_ms = GRACE_MS};
    const char *dir = "/revoke-downgrade";
    struct report *r;
    struct claim c;
    struct pair t;

    pair_open(&t);
    recorder_clear(&c.rec);
    ck_assert_int_eq(evzk_lock_acquire(t.p.s, dir, &writes,
                                       downgrade_when_asked, &c.rec, &c.l),
                     EVZK_OK);
    WAIT(evzk_lock_held(c.l));
    r = press(t.q.s, dir, &opt);
    WAIT_EVENT(&c, "DOWNGRADED");
    WAIT(r->count == 1);
    ck_assert_int_eq(r->rc, EVZK_OK);
    ck_assert_uint_eq(r->n, 1);
    ck_assert_int_eq(r->v[0].how, EVZK_REVOKED_YIELDED);
    ck_assert(evzk_lock_held(c.l));
    report_free(r);
    evzk_lock_free(c.l);
    pair_close(&t, dir);
}
END_TEST

/* ---- Nobody ---- */

START_TEST(nobody_is_there)
{
    struct proxy *proxy = proxy_start(the_server());
    const char *dir = "/revoke-none/deep";
    evzk_lock_revoke_options opt = {.remove = true};
    struct holder reader;
    struct peer p;

    raw_delete_tree(op(), "/revoke-none");
    peer_open(&p, proxy_address(proxy));
    expect(press(p.s, dir, NULL), EVZK_OK, "", NULL);
    expect(press(p.s, dir, &opt), EVZK_OK, "", NULL);
    ck_assert_int_eq(raw_exists(op(), "/revoke-none", NULL), ZNONODE);
    raw_mkdirs(op(), "/revoke-none/deep/other");
    expect(press(p.s, dir, &opt), EVZK_OK, "", NULL);
    stand_held(&reader, p.s, dir, EVZK_LOCK_READ, false);
    opt.mode = EVZK_LOCK_READ;
    expect(press(p.s, dir, &opt), EVZK_OK, "", NULL);
    ck_assert_int_eq(raw_count(op(), dir), 2); /* All are there still. */
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_SET), 0);
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_DELETE), 0);
    claim_release(&reader.c);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/revoke-none");
}
END_TEST

/* ---- It ends before they have gone ---- */

/* Nobody was removed, and nobody will be. */
static void check_stays(struct pair *t, struct holder *h, const char *dir)
{
    idle(t->q.s);
    run_for(harness_base(), 2 * GRACE_MS); /* For what must not happen. */
    ck_assert_int_eq(version_of(dir, h->node), 1);
    ck_assert(evzk_lock_held(h->c.l));
    ck_assert_str_eq(recorder_story(&h->c.rec), "GRANTED REVOKE_REQUESTED");
    claim_release(&h->c);
    pair_close(t, dir);
}

START_TEST(timeout_comes_on_time)
{
    const evzk_lock_revoke_options opt = {
        .remove = _i, .grace_ms = 2 * GRACE_MS, .timeout_ms = GRACE_MS};
    const char *dir = "/revoke-timeout";
    struct stall *stall;
    struct report *r;
    struct holder h;
    struct pair t;
    int64_t start;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    stall = stall_start(harness_base());
    start = now_ms();
    r = press(t.q.s, dir, &opt);
    WAIT(r->count == 1);
    ck_assert_int_ge(r->when - start, GRACE_MS);
    ck_assert_int_le(r->when - start,
                     GRACE_MS + 50 + (int64_t)stall_max_ms(stall));
    stall_stop(stall);
    ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_ERR_STATE);
    WAIT(asked(&h)); /* Its watch may be slower than that. */
    expect(r, EVZK_ERR_TIMEOUT, "STAYS", WHO(&h));
    check_stays(&t, &h, dir);
}
END_TEST

/* The server says nothing at all: on time all the same. */
START_TEST(timeout_without_an_answer)
{
    const evzk_lock_revoke_options opt = {.remove = true,
                                          .timeout_ms = GRACE_MS};
    const char *dir = "/revoke-silent";
    struct stall *stall;
    struct report *r;
    struct holder h;
    struct scene sc;
    int64_t start;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.rival.s, dir, EVZK_LOCK_WRITE, false);
    proxy_freeze(sc.proxy, PROXY_BOTH);
    stall = stall_start(harness_base());
    start = now_ms();
    r = press(sc.p.s, dir, &opt);
    WAIT(r->count == 1);
    ck_assert_int_ge(r->when - start, GRACE_MS);
    ck_assert_int_le(r->when - start,
                     GRACE_MS + 50 + (int64_t)stall_max_ms(stall));
    stall_stop(stall);
    expect(r, EVZK_ERR_TIMEOUT, "", NULL);
    proxy_thaw(sc.proxy);
    idle(sc.p.s);
    settle(sc.p.s);
    ck_assert_int_eq(version_of(dir, h.node), 0);
    ck_assert_str_eq(h.c.rec.text, "GRANTED");
    claim_release(&h.c);
    scene_close(&sc, dir);
}
END_TEST

START_TEST(canceled)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = GRACE_MS};
    const char *dir = "/revoke-cancel";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_READ, false);
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    ck_assert_int_eq(r->count, 0);
    ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_OK);
    ck_assert_int_eq(r->count, 0); /* Never inside a call. */
    ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_ERR_STATE);
    expect(r, EVZK_ERR_CANCELED, "STAYS", WHO(&h));
    check_stays(&t, &h, dir);
}
END_TEST

/* What has become of them so far. */
START_TEST(canceled_half_way)
{
    const char *dir = "/revoke-half";
    evzk_session_stats st;
    struct holder a, b;
    struct report *r;
    struct pair t;

    pair_open(&t);
    stand_held(&a, t.p.s, dir, EVZK_LOCK_READ, true);
    stand_held(&b, t.p.s, dir, EVZK_LOCK_READ, false);
    r = press(t.q.s, dir, NULL);
    WAIT(asked(&b));
    check_ended(&a, "GRANTED REVOKE_REQUESTED RELEASED");
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    run_for(harness_base(), 100);
    WAIT((evzk_session_get_stats(t.q.s, &st), st.watches == 1));
    all_answered(t.q.s);
    ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_OK);
    expect(r, EVZK_ERR_CANCELED, "YIELDED STAYS", WHO(&a, &b));
    check_stays(&t, &b, dir);
}
END_TEST

START_TEST(freed)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = GRACE_MS};
    const char *dir = "/revoke-free";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_EXCLUSIVE, false);
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    evzk_lock_revoke_free(r->r);
    r->free_inside = true; /* It is gone. */
    check_stays(&t, &h, dir);
    ck_assert_int_eq(r->count, 0);
    report_free(r);
}
END_TEST

/* Before it was sent: nobody is asked. */
START_TEST(freed_at_once)
{
    const char *dir = "/revoke-free-0";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_EXCLUSIVE, false);
    r = press(t.q.s, dir, &(evzk_lock_revoke_options){.remove = true});
    evzk_lock_revoke_free(r->r);
    r->free_inside = true;
    idle(t.q.s);
    settle(t.q.s);
    ck_assert_int_eq(r->count, 0);
    ck_assert_int_eq(version_of(dir, h.node), 0);
    ck_assert_str_eq(h.c.rec.text, "GRANTED");
    report_free(r);
    claim_release(&h.c);
    pair_close(&t, dir);
}
END_TEST

START_TEST(freed_inside)
{
    const char *dir = "/revoke-inside";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_EXCLUSIVE, true);
    r = press(t.q.s, dir, NULL);
    r->free_inside = true;
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* Closing its session ends it; whom it asked stays asked. */
START_TEST(closed)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = GRACE_MS};
    const char *dir = "/revoke-close";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    peer_close(&t.q);
    ck_assert_int_eq(r->count, 1); /* The session's own word is the last. */
    expect(r, EVZK_ERR_CLOSED, "STAYS", WHO(&h));
    peer_open(&t.q, the_server());
    check_stays(&t, &h, dir);
}
END_TEST

/* ---- Sessions that end ---- */

/* A holder that dies without a word has gone. */
START_TEST(holder_dies)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 60000};
    const char *dir = "/revoke-dies";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    raw_expire(the_server(), evzk_session_id(t.p.s));
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    WAIT(h.c.rec.finals == 1);
    ck_assert_int_eq(h.c.rec.last, EVZK_LOCK_LOST);
    evzk_lock_free(h.c.l);
    WAIT(evzk_session_connected(t.p.s));
    pair_close(&t, dir);
}
END_TEST

/* The revoker's own session ends in between: it goes on in the next one. */
START_TEST(revoker_expires)
{
    const evzk_lock_revoke_options opt = {.remove = _i, .grace_ms = GRACE_MS};
    const char *dir = "/revoke-expires";
    struct report *r;
    struct holder h;
    struct pair t;
    int64_t start;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    start = now_ms();
    r = press(t.q.s, dir, &opt);
    WAIT(asked(&h));
    raw_expire(the_server(), evzk_session_id(t.q.s));
    WAIT(recorder_has(&t.q.rec, "EXPIRED"));
    if (_i == 0) {
        ck_assert_int_eq(r->count, 0);
        ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    }
    WAIT(r->count == 1);
    if (_i == 1)
        ck_assert_int_ge(r->when - start, GRACE_MS);
    expect(r, EVZK_OK, _i ? "REMOVED" : "YIELDED", WHO(&h));
    check_ended(&h, _i ? "GRANTED REVOKE_REQUESTED LOST(NODEGONE)"
                       : "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* It leaves while the revoker is cut off: the revoker finds it gone. */
START_TEST(left_while_the_revoker_is_cut)
{
    const char *dir = "/revoke-cut";
    struct report *r;
    struct holder h;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.rival.s, dir, EVZK_LOCK_WRITE, false);
    r = press(sc.p.s, dir, NULL);
    WAIT(asked(&h));
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT(!evzk_session_connected(sc.p.s));
    claim_release(&h.c);
    ck_assert_int_eq(r->count, 0);
    proxy_refuse(sc.proxy, false);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    scene_close(&sc, dir);
}
END_TEST

/* It is asked while it is cut off itself: it hears of it, and once. */
START_TEST(holder_is_cut)
{
    const char *dir = "/revoke-deaf";
    struct report *r;
    struct holder h;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.p.s, dir, EVZK_LOCK_WRITE, true);
    proxy_refuse(sc.proxy, true);
    proxy_cut(sc.proxy);
    WAIT_EVENT(&h.c, "SUSPENDED");
    r = press(sc.rival.s, dir, NULL);
    WAIT(version_of(dir, h.node) == 1);
    ck_assert(!asked(&h));
    proxy_refuse(sc.proxy, false);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    WAIT(h.c.rec.finals == 1);
    ck_assert_int_eq(h.c.rec.last, EVZK_LOCK_RELEASED);
    ck_assert(asked(&h));
    evzk_lock_free(h.c.l);
    scene_close(&sc, dir);
}
END_TEST

/* ---- Asked once ---- */

static int times_asked(const struct holder *h)
{
    int n = 0;

    for (const char *at = h->c.rec.text; (at = strstr(at, "REVOKE_REQUESTED"));
         at++)
        n++;
    return n;
}

/* It waits, with a watch, and has nothing more to ask. */
static void waiting(evzk_session *s)
{
    evzk_session_stats st;

    WAIT(evzk_session_connected(s));
    WAIT((evzk_session_get_stats(s, &st), st.watches == 1));
    all_answered(s);
}

/* The write, or the answer to it, is lost: it lands once. */
START_TEST(one_write_for_each)
{
    const struct proxy_cut *cut = &proxy_cuts[_i];
    const char *dir = "/revoke-once";
    struct report *r;
    struct holder h;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.rival.s, dir, EVZK_LOCK_WRITE, false);
    proxy_trap(sc.proxy, cut->dir, OP_SET, 1, cut->act);
    r = press(sc.p.s, dir, NULL);
    WAIT(proxy_fired(sc.proxy) == 1);
    WAIT(asked(&h));
    waiting(sc.p.s);
    ck_assert_int_eq(version_of(dir, h.node), 1);
    /* All that reached the server; of what was dropped nothing did. */
    ck_assert_int_eq(proxy_frames_of(sc.proxy, PROXY_C2S, OP_SET), 1);
    ck_assert_int_eq(r->count, 0);
    ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    ck_assert_int_eq(times_asked(&h), 1);
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    scene_close(&sc, dir);
}
END_TEST

/* Several writes are under way, and one answer is lost: those that it was not
 * told of are not written again. */
START_TEST(one_write_for_each_of_many)
{
    enum { N = 20 };
    const char *dir = "/revoke-once-many";
    struct holder h[N];
    struct report *r;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    for (int i = 0; i < N; i++)
        stand_held(&h[i], sc.rival.s, dir, EVZK_LOCK_READ, false);
    proxy_trap(sc.proxy, _i < 2 ? PROXY_S2C : PROXY_C2S, OP_SET, N / 2,
               _i % 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE);
    r = press(sc.p.s, dir, NULL);
    WAIT(proxy_fired(sc.proxy) == 1);
    for (int i = 0; i < N; i++)
        WAIT(asked(&h[i]));
    waiting(sc.p.s);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(version_of(dir, h[i].node), 1);
        ck_assert_int_eq(times_asked(&h[i]), 1);
        ck_assert_int_eq(evzk_lock_release(h[i].c.l), EVZK_OK);
    }
    WAIT(r->count == 1);
    ck_assert_int_eq(r->rc, EVZK_OK);
    ck_assert_uint_eq(r->n, N);
    for (int i = 0; i < N; i++) {
        ck_assert_str_eq(r->v[i].node, h[i].node);
        ck_assert_int_eq(r->v[i].how, EVZK_REVOKED_YIELDED);
        check_ended(&h[i], "GRANTED REVOKE_REQUESTED RELEASED");
    }
    report_free(r);
    scene_close(&sc, dir);
}
END_TEST

/* Each of the revoker's requests is cut in each way; it ends as it should, and
 * nobody is asked twice, or removed too early. */
START_TEST(every_request_is_cut)
{
    static const int ops[] = {OP_SYNC, OP_CHILDREN, OP_GET, OP_SET, OP_DELETE};
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 200};
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];
    const char *dir = "/revoke-every";
    struct report *r;
    struct holder h;
    struct scene sc;
    int64_t start;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.rival.s, dir, EVZK_LOCK_WRITE, false);
    all_answered(sc.p.s);
    proxy_trap(sc.proxy, cut->dir, ops[_i / PROXY_CUTS], 1, cut->act);
    start = now_ms();
    r = press(sc.p.s, dir, &opt);
    WAIT(r->count == 1);
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    ck_assert_int_ge(r->when - start, 200);
    expect(r, EVZK_OK, "REMOVED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED LOST(NODEGONE)");
    scene_close(&sc, dir);
}
END_TEST

/* Who was asked by another is waited for, and not asked again. */
START_TEST(asked_already)
{
    const char *dir = "/revoke-again";
    struct report *r[3];
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    r[0] = press(t.q.s, dir, NULL);
    WAIT(asked(&h));
    r[1] = press(t.p.s, dir, NULL);
    r[2] = press(t.q.s, dir, NULL);
    WAIT(zk_mntr(zk_shared(), 0, "zk_watch_count") == 3);
    settle(t.p.s);
    settle(t.q.s);
    ck_assert_int_eq(version_of(dir, h.node), 1);
    ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    for (int i = 0; i < 3; i++)
        expect(r[i], EVZK_OK, "YIELDED", WHO(&h));
    ck_assert_int_eq(times_asked(&h), 1);
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* An operator's word is the same; what was written over it is asked anew. */
START_TEST(asked_by_hand)
{
    const char *dir = "/revoke-hand";
    struct report *r;
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_held(&h, t.p.s, dir, EVZK_LOCK_WRITE, false);
    ck_assert_int_eq(raw_set(op(), node_path(dir, h.node), "unlock", 6), ZOK);
    WAIT(asked(&h));
    r = press(t.q.s, dir, NULL);
    waiting(t.q.s);
    ck_assert_int_eq(version_of(dir, h.node), 1);
    ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_OK);
    expect(r, EVZK_ERR_CANCELED, "STAYS", WHO(&h));
    ck_assert_int_eq(raw_set(op(), node_path(dir, h.node), "me", 2), ZOK);
    r = press(t.q.s, dir, NULL);
    WAIT(times_asked(&h) == 2);
    ck_assert_int_eq(version_of(dir, h.node), 3);
    ck_assert_int_eq(evzk_lock_release(h.c.l), EVZK_OK);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    check_ended(&h, "GRANTED REVOKE_REQUESTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* Of what it said itself it was not asked. */
START_TEST(own_data_is_no_request)
{
    const evzk_lock_options opt = {.data = "unlock", .data_len = 6};
    const char *dir = "/revoke-data";
    struct holder h;
    struct pair t;

    pair_open(&t);
    stand_as(&h, t.p.s, dir, &opt, true);
    settle(t.p.s);
    ck_assert(!asked(&h));
    expect(press(t.q.s, dir, NULL), EVZK_OK, "YIELDED", WHO(&h));
    ck_assert_int_eq(times_asked(&h), 1);
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    pair_close(&t, dir);
}
END_TEST

/* Another writes to it at the same time: it is asked all the same. */
START_TEST(written_to_in_between)
{
    const char *dir = "/revoke-race";
    struct report *r;
    struct holder h;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    stand_held(&h, sc.rival.s, dir, EVZK_LOCK_WRITE, true);
    proxy_trap(sc.proxy, PROXY_C2S, OP_SET, 1, PROXY_FREEZE);
    r = press(sc.p.s, dir, NULL);
    WAIT(proxy_fired(sc.proxy) == 1);
    ck_assert_int_eq(raw_set(op(), node_path(dir, h.node), "me", 2), ZOK);
    proxy_thaw(sc.proxy);
    expect(r, EVZK_OK, "YIELDED", WHO(&h));
    ck_assert_int_eq(times_asked(&h), 1);
    check_ended(&h, "GRANTED REVOKE_REQUESTED RELEASED");
    scene_close(&sc, dir);
}
END_TEST

/* ---- What is denied ---- */

static const char credentials[] = "holder:secret";

/* Its session may do all; what others may do, `perms` says. */
static void stand_denying(struct holder *h, struct pair *t, const char *dir,
                          unsigned perms)
{
    const evzk_acl acl[] = {{EVZK_PERM_ALL, "auth", ""},
                            {perms, "world", "anyone"}};
    const evzk_lock_options opt = {.acl = acl, .acl_count = 2};

    pair_open(t);
    ck_assert_int_eq(evzk_session_add_auth(t->p.s, "digest", credentials,
                                           strlen(credentials)),
                     EVZK_OK);
    ck_assert_int_eq(raw_add_auth(op(), "digest", credentials), ZOK);
    raw_delete_tree(op(), dir);
    stand_as(h, t->p.s, dir, &opt, false);
    WAIT(evzk_lock_held(h->c.l));
}

/* The directory was made by the holder, with the same ACL. */
START_TEST(writing_is_denied)
{
    const evzk_lock_revoke_options opt = {.remove = true};
    const char *dir = "/revoke-noauth-write";
    struct holder h;
    struct pair t;

    stand_denying(&h, &t, dir, EVZK_PERM_READ | EVZK_PERM_DELETE);
    expect(press(t.q.s, dir, _i ? &opt : NULL), EVZK_ERR_NOAUTH, "STAYS",
           WHO(&h));
    settle(t.q.s);
    ck_assert_int_eq(version_of(dir, h.node), 0);
    ck_assert_str_eq(h.c.rec.text, "GRANTED");
    claim_release(&h.c);
    pair_close(&t, dir);
}
END_TEST

/* Of the znode; of the directory, it is not known whom to ask. */
START_TEST(reading_is_denied)
{
    const char *dir = "/revoke-noauth-read";
    struct ACL open = {ZOO_PERM_ALL, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector all = {1, &open};
    struct holder h;
    struct pair t;

    stand_denying(&h, &t, dir, EVZK_PERM_WRITE | EVZK_PERM_DELETE);
    if (_i == 0)
        ck_assert_int_eq(raw_set_acl(op(), dir, &all), ZOK);
    expect(press(t.q.s, dir, &(evzk_lock_revoke_options){.remove = true}),
           EVZK_ERR_NOAUTH, _i ? "" : "STAYS", WHO(&h));
    settle(t.q.s);
    ck_assert_int_eq(version_of(dir, h.node), 0);
    ck_assert_str_eq(h.c.rec.text, "GRANTED");
    claim_release(&h.c);
    pair_close(&t, dir);
}
END_TEST

/* It was asked, and stays so, but may not be removed. */
START_TEST(deleting_is_denied)
{
    const evzk_lock_revoke_options opt = {.remove = true, .grace_ms = 1};
    const char *dir = "/revoke-noauth-delete";
    struct holder h;
    struct pair t;

    stand_denying(&h, &t, dir, EVZK_PERM_READ | EVZK_PERM_WRITE);
    expect(press(t.q.s, dir, &opt), EVZK_ERR_NOAUTH, "STAYS", WHO(&h));
    WAIT(asked(&h));
    settle(t.q.s);
    ck_assert_int_eq(version_of(dir, h.node), 1);
    ck_assert(evzk_lock_held(h.c.l));
    claim_release(&h.c);
    pair_close(&t, dir);
}
END_TEST

/* ---- Many ---- */

enum { MANY = 1000, MANY_SESSIONS = 4 };

struct throng {
    struct peer p[MANY_SESSIONS], q;
    evzk_lock *l[MANY];
    int granted, asked, finals, wrong;
    bool yield;
};

static void in_throng(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct throng *t = arg;

    if (event == EVZK_LOCK_GRANTED)
        t->granted++;
    else if (event == EVZK_LOCK_REVOKE_REQUESTED) {
        t->asked++;
        if (t->yield)
            ck_assert_int_eq(evzk_lock_release(l), EVZK_OK);
    } else if (event == (t->yield ? EVZK_LOCK_RELEASED : EVZK_LOCK_LOST) &&
               rc == (t->yield ? EVZK_OK : EVZK_ERR_NODEGONE))
        t->finals++;
    else if (event != EVZK_LOCK_SUSPENDED && event != EVZK_LOCK_RESUMED)
        t->wrong++;
}

static void throng_open(struct throng *t, const char *dir)
{
    const evzk_lock_options opt = {.mode = EVZK_LOCK_READ, .revocable = true};

    for (int i = 0; i < MANY_SESSIONS; i++)
        peer_open(&t->p[i], the_server());
    peer_open(&t->q, the_server());
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(evzk_lock_acquire(t->p[i % MANY_SESSIONS].s, dir, &opt,
                                           in_throng, t, &t->l[i]),
                         EVZK_OK);
    WAIT(t->granted == MANY);
}

static void throng_close(struct throng *t, const char *dir)
{
    for (int i = 0; i < MANY; i++)
        evzk_lock_free(t->l[i]);
    nothing_left(dir, t->q.s);
    for (int i = 0; i < MANY_SESSIONS; i++) {
        nothing_left(dir, t->p[i].s);
        peer_close(&t->p[i]);
    }
    peer_close(&t->q);
}

/* All yield, or none does. */
START_TEST(a_thousand)
{
    const evzk_lock_revoke_options opt = {.remove = _i,
                                          .grace_ms = 60000 * !_i};
    static struct throng t;
    const char *dir = "/revoke-many";
    evzk_session_stats before, after;
    struct report *r;

    t = (struct throng){.yield = _i == 0};
    throng_open(&t, dir);
    evzk_session_get_stats(t.q.s, &before);
    r = press(t.q.s, dir, &opt);
    WAIT(r->count == 1);
    ck_assert_int_eq(r->rc, EVZK_OK);
    ck_assert_uint_eq(r->n, MANY);
    for (size_t i = 0; i < r->n; i++) {
        ck_assert_int_eq(r->v[i].how,
                         _i ? EVZK_REVOKED_REMOVED : EVZK_REVOKED_YIELDED);
        if (i > 0)
            ck_assert_int_lt(atoi(sequence_of(r->v[i - 1].node)),
                             atoi(sequence_of(r->v[i].node)));
    }
    WAIT(t.finals == MANY);
    ck_assert_int_eq(t.wrong, 0);
    ck_assert_int_le(t.asked, MANY);
    if (t.yield)
        ck_assert_int_eq(t.asked, MANY);
    /* Each is read, written to, and waited for, or removed. */
    evzk_session_get_stats(t.q.s, &after);
    ck_assert_uint_le(after.requests - before.requests, 3 * MANY + 50);
    report_free(r);
    throng_close(&t, dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-revoke");
    TCase *tests = lock_tests(suite, "revoke", 60000);

    tcase_add_loop_test(tests, holder_yields, 0, 6);
    tcase_add_test(tests, holder_yields_in_time);
    tcase_add_test(tests, holder_yields_later);
    tcase_add_loop_test(tests, holder_is_removed, 0, 3);
    tcase_add_test(tests, removed_at_once);
    tcase_add_loop_test(tests, readers_yield_or_are_removed, 0, 2);
    tcase_add_test(tests, waiters_are_asked);
    tcase_add_test(tests, removed_waiter_queues_again);
    tcase_add_test(tests, reading_asks_those_that_do_not);
    tcase_add_test(tests, only_those_before);
    tcase_add_test(tests, only_the_less_urgent);
    tcase_add_loop_test(tests, the_room_is_not_asked, 0, 2);
    tcase_add_test(tests, who_comes_later_is_not_asked);
    tcase_add_loop_test(tests, who_downgrades_has_yielded, 0, 2);
    tcase_add_test(tests, nobody_is_there);
    tcase_add_loop_test(tests, timeout_comes_on_time, 0, 2);
    tcase_add_test(tests, timeout_without_an_answer);
    tcase_add_test(tests, canceled);
    tcase_add_test(tests, canceled_half_way);
    tcase_add_test(tests, freed);
    tcase_add_test(tests, freed_at_once);
    tcase_add_test(tests, freed_inside);
    tcase_add_test(tests, closed);
    tcase_add_test(tests, holder_dies);
    tcase_add_loop_test(tests, revoker_expires, 0, 2);
    tcase_add_test(tests, left_while_the_revoker_is_cut);
    tcase_add_test(tests, holder_is_cut);
    tcase_add_loop_test(tests, one_write_for_each, 0, PROXY_CUTS);
    tcase_add_loop_test(tests, one_write_for_each_of_many, 0, 4);
    tcase_add_loop_test(tests, every_request_is_cut, 0, 5 * PROXY_CUTS);
    tcase_add_test(tests, asked_already);
    tcase_add_test(tests, asked_by_hand);
    tcase_add_test(tests, own_data_is_no_request);
    tcase_add_test(tests, written_to_in_between);
    tcase_add_loop_test(tests, writing_is_denied, 0, 2);
    tcase_add_loop_test(tests, reading_is_denied, 0, 2);
    tcase_add_test(tests, deleting_is_denied);
    tcase_add_loop_test(tests, a_thousand, 0, 2);
    return lock_suite_run(suite);
}
