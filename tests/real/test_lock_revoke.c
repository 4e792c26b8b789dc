/*
 * The revoker's side: which contenders are asked to let go, what becomes of
 * each, that none is removed too early, and that each is asked once, whatever
 * is lost on the way.
 *
 * Most tests are rows of a table: contenders, a revocation, what is done
 * meanwhile, what the revocation reports, and how each contender ends.
 */
#define _GNU_SOURCE 1

#include "test_many.h"

enum { OP_SET = 5, GRACE_MS = 700, LONG_MS = 60000, REPORT_MAX = 1024 };
enum { MOST = 20 }; /* Contenders of a row. */

/* ---- What a revocation reports ---- */

struct report {
    evzk_lock_revoke *r;
    int count, rc;
    bool freed; /* The revocation; inside its callback, when set before. */
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
    if (p->freed)
        evzk_lock_revoke_free(r);
}

static struct report *revoke(evzk_session *s, const char *dir,
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
    if (!p->freed)
        evzk_lock_revoke_free(p->r);
    free(p);
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

/* ---- The rows ---- */

/* What a contender does when it is asked to let go. */
enum reaction { KEEPS, YIELDS, DOWNGRADES };

/* How a contender ends; a word is one of its events. */
enum ending {
    NO_CONTENDER,
    RELEASED,      /* "GRANTED REVOKE_REQUESTED RELEASED" */
    REMOVED,       /* "GRANTED REVOKE_REQUESTED LOST(NODEGONE)" */
    CANCELED,      /* "REVOKE_REQUESTED FAILED(CANCELED)" */
    ASKED_TWICE,   /* "GRANTED REVOKE_REQUESTED REVOKE_REQUESTED RELEASED" */
    ENDED,         /* Was asked, and has ended. */
    LET_GO,        /* The same, and its last event is RELEASED. */
    LOST,          /* Its last event is LOST. */
    LOST_NODE,     /* Its last event is LOST(NODEGONE). */
    QUEUED_AGAIN,  /* Is granted with another znode. */
    HOLDS_READING, /* Holds on, as a reader. */
    HOLDS,         /* Was asked, once, and holds on. */
    UNTOUCHED      /* Was not asked, nor written to; it holds, or will. */
};

struct contender {
    evzk_lock_mode mode;
    enum reaction reaction;
    enum ending ending;
    bool waits; /* Not first when the revocation begins. */
    uint8_t priority;
    const char *data;
};

/* Behind a proxy. */
enum proxied { NO_PROXY, REVOKER, CONTENDERS };

struct row {
    const char *name;
    struct contender c[MOST];
    evzk_lock_revoke_options opt;
    int before;        /* opt.before is this one's znode, counted from 1. */
    bool same_session; /* The contenders' session revokes. */
    bool quiet;        /* The revoker's lease asks nothing meanwhile. */
    enum proxied proxied;
    unsigned perms; /* Of all others for the znodes; 0: all. */
    /* Done before the revocation, while it goes on, and after its report. */
    void (*prepare)(void), (*meanwhile)(void), (*then)(void);
    /* The report: a word for each contender, "-" for one that is not in it.
     * NULL: none comes. */
    const char *how;
    int rc;
    int from_ms, by_ms; /* When it comes; 0: at any time. */
};

#define WRITE EVZK_LOCK_WRITE
#define READ EVZK_LOCK_READ
#define CONTENDER(mode_of, does, ends)                                         \
    .mode = EVZK_LOCK_##mode_of, .reaction = (does), .ending = (ends)
#define READER(does, ends) CONTENDER(READ, does, ends)
#define WRITER(does, ends) CONTENDER(WRITE, does, ends)
#define ALONE(does, ends) CONTENDER(EXCLUSIVE, does, ends)

/* A contender of the row, at work. */
struct holder {
    struct claim c;
    char node[128]; /* At the beginning of the revocation. */
    enum reaction reaction;
};

/* The row that is played. */
static struct {
    const struct row *row;
    char dir[32];
    struct proxy *proxy;
    struct peer contenders, revoker;
    struct holder h[MOST];
    int n;
    struct report *r;
    struct stall *stall;
    int64_t start;
} now;

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct holder *h = arg;

    recorder_on_lock(l, event, rc, &h->c.rec);
    if (event != EVZK_LOCK_REVOKE_REQUESTED || h->reaction == KEEPS)
        return;
    if (h->reaction == DOWNGRADES && evzk_lock_mode_of(l) == WRITE)
        ck_assert_int_eq(evzk_lock_downgrade(l), EVZK_OK);
    else if (h->reaction == YIELDS && recorder_has(&h->c.rec, "GRANTED"))
        ck_assert_int_eq(evzk_lock_release(l), EVZK_OK);
    else if (h->reaction == YIELDS)
        ck_assert_int_eq(evzk_lock_cancel(l), EVZK_OK);
}

static void stand(struct holder *h, evzk_session *s, const struct contender *c)
{
    const evzk_acl acl[] = {{EVZK_PERM_ALL, "auth", ""},
                            {now.row->perms, "world", "anyone"}};
    const evzk_lock_priority priority = {.priority = c->priority};
    const evzk_lock_options opt = {.mode = c->mode,
                                   .revocable = true, /* Heard at once. */
                                   .priority = c->priority ? &priority : NULL,
                                   .data = c->data,
                                   .data_len = c->data ? strlen(c->data) : 0,
                                   .acl = now.row->perms ? acl : NULL,
                                   .acl_count = now.row->perms ? 2 : 0};

    memset(h, 0, sizeof *h);
    h->reaction = c->reaction;
    ck_assert_int_eq(evzk_lock_acquire(s, now.dir, &opt, on_lock, h, &h->c.l),
                     EVZK_OK);
    WAIT(c->waits ? claim_waits(&h->c) : evzk_lock_held(h->c.l));
    snprintf(h->node, sizeof h->node, "%s", evzk_lock_node(h->c.l));
    ck_assert_str_ne(h->node, "");
}

static bool asked(const struct holder *h)
{
    return recorder_has(&h->c.rec, "REVOKE_REQUESTED");
}

static int times_asked(const struct holder *h)
{
    int n = 0;

    for (const char *at = h->c.rec.text; (at = strstr(at, "REVOKE_REQUESTED"));
         at++)
        n++;
    return n;
}

/* How often a znode was written to; -1: it is not there. */
static int version_of(const char *node)
{
    struct Stat stat;
    int rc = raw_exists(op(), node_path(now.dir, node), &stat);

    ck_assert(rc == ZOK || rc == ZNONODE);
    return rc == ZOK ? stat.version : -1;
}

static void write_to(const char *node, const char *data)
{
    ck_assert_int_eq(
        raw_set(op(), node_path(now.dir, node), data, (int)strlen(data)), ZOK);
}

/* The revoker waits, with a watch, and has nothing more to ask. */
static void revoker_waits(void)
{
    evzk_session *s = now.revoker.s;
    evzk_session_stats st;

    WAIT(evzk_session_connected(s));
    WAIT((evzk_session_get_stats(s, &st), st.watches == 1));
    all_answered(s);
}

static void release(struct holder *h)
{
    ck_assert_int_eq(evzk_lock_release(h->c.l), EVZK_OK);
}

/* ---- Playing a row ---- */

/* The contenders' session may do all; what others may do, the row says. */
static void deny(void)
{
    static const char credentials[] = "holder:secret";

    ck_assert_int_eq(evzk_session_add_auth(now.contenders.s, "digest",
                                           credentials, strlen(credentials)),
                     EVZK_OK);
    ck_assert_int_eq(raw_add_auth(op(), "digest", credentials), ZOK);
    raw_delete_tree(op(), now.dir);
}

static const char *address_of(enum proxied who)
{
    return now.row->proxied == who ? proxy_address(now.proxy) : the_server();
}

static void row_begin(const struct row *row, int number)
{
    now.row = row;
    snprintf(now.dir, sizeof now.dir, "/revoke-%d", number);
    if (row->proxied)
        now.proxy = proxy_start(the_server());
    peer_open(&now.contenders, address_of(CONTENDERS));
    (row->quiet ? peer_fresh : peer_open)(&now.revoker, address_of(REVOKER));
    if (row->perms)
        deny();
    for (now.n = 0; now.n < MOST && row->c[now.n].ending; now.n++)
        stand(&now.h[now.n], now.contenders.s, &row->c[now.n]);
    if (row->prepare)
        row->prepare();
}

static void row_revoke(void)
{
    const struct row *row = now.row;
    evzk_lock_revoke_options opt = row->opt;

    if (row->before)
        opt.before = now.h[row->before - 1].node;
    now.stall = row->by_ms ? stall_start(harness_base()) : NULL;
    now.start = now_ms();
    now.r = revoke(row->same_session ? now.contenders.s : now.revoker.s,
                   now.dir, &opt);
    if (row->meanwhile)
        row->meanwhile();
}

/* Waits for the report: the result, and a word for each contender. */
static void expect(struct report *r, int rc, const char *how)
{
    char said[256] = "";
    size_t at = 0;

    WAIT(r->count == 1);
    ck_assert_int_eq(r->rc, rc);
    for (int i = 0; i < now.n; i++) {
        bool in = at < r->n && strcmp(r->v[at].node, now.h[i].node) == 0;
        size_t n = strlen(said);

        snprintf(said + n, sizeof said - n, "%s%s", i ? " " : "",
                 in ? how_name(r->v[at].how) : "-");
        at += in;
    }
    ck_assert_uint_eq(at, r->n); /* And no others, in order. */
    ck_assert_str_eq(said, how);
    if (!r->freed)
        ck_assert_int_eq(evzk_lock_revoke_cancel(r->r), EVZK_ERR_STATE);
}

static void check_time(void)
{
    int64_t took = now.r->when - now.start;

    ck_assert_int_ge(took, now.row->from_ms);
    if (now.stall) {
        ck_assert_int_le(took, now.row->by_ms + 50 +
                                   (int64_t)stall_max_ms(now.stall));
        stall_stop(now.stall);
    }
}

static const char *const stories[] = {
    [RELEASED] = "GRANTED REVOKE_REQUESTED RELEASED",
    [REMOVED] = "GRANTED REVOKE_REQUESTED LOST(NODEGONE)",
    [CANCELED] = "REVOKE_REQUESTED FAILED(CANCELED)",
    [ASKED_TWICE] = "GRANTED REVOKE_REQUESTED REVOKE_REQUESTED RELEASED"};

/* The holder has ended in this way. */
static void check_end(const struct holder *h, enum ending ending)
{
    WAIT(h->c.rec.finals == 1);
    if (ending < ENDED)
        ck_assert_str_eq(recorder_story(&h->c.rec), stories[ending]);
    if (ending == ENDED || ending == LET_GO)
        ck_assert(asked(h));
    if (ending == LET_GO)
        ck_assert_int_eq(h->c.rec.last, EVZK_LOCK_RELEASED);
    if (ending == LOST || ending == LOST_NODE)
        ck_assert_int_eq(h->c.rec.last, EVZK_LOCK_LOST);
    if (ending == LOST_NODE)
        ck_assert_int_eq(h->c.rec.rc, EVZK_ERR_NODEGONE);
    evzk_lock_free(h->c.l);
}

/* The holder was asked; it is not removed, and will not be. */
static void holds(struct holder *h)
{
    WAIT(asked(h)); /* Its watch may be slower than the report. */
    idle(now.revoker.s);
    run_for(harness_base(), 2 * GRACE_MS); /* For what must not happen. */
    ck_assert_int_eq(version_of(h->node), 1);
    ck_assert(evzk_lock_held(h->c.l));
    ck_assert_str_eq(recorder_story(&h->c.rec), "GRANTED REVOKE_REQUESTED");
    claim_release(&h->c);
}

static void is_untouched(struct holder *h)
{
    WAIT(evzk_lock_held(h->c.l));
    settle(now.revoker.s);
    settle(now.contenders.s);
    ck_assert_int_eq(version_of(evzk_lock_node(h->c.l)), 0);
    ck_assert_str_eq(recorder_story(&h->c.rec), "GRANTED");
    claim_release(&h->c);
}

static void holds_reading(struct holder *h)
{
    WAIT_EVENT(&h->c, "DOWNGRADED");
    ck_assert(evzk_lock_held(h->c.l));
    evzk_lock_free(h->c.l);
}

static void check_contender(struct holder *h, enum ending ending)
{
    if (ending <= LOST_NODE) {
        check_end(h, ending);
    } else if (ending == HOLDS_READING) {
        holds_reading(h);
    } else if (ending == HOLDS) {
        holds(h);
    } else if (ending == UNTOUCHED) {
        is_untouched(h);
    } else {
        WAIT(evzk_lock_held(h->c.l));
        claim_release(&h->c);
    }
}

static void row_end(void)
{
    const struct row *row = now.row;

    if (row->how) {
        expect(now.r, row->rc, row->how);
        check_time();
    }
    if (row->then)
        row->then();
    for (int i = 0; i < now.n; i++)
        check_contender(&now.h[i], row->c[i].ending);
    ck_assert_int_eq(now.r->count, row->how != NULL);
    report_free(now.r);
    WAIT(evzk_session_connected(now.contenders.s));
    WAIT(evzk_session_connected(now.revoker.s));
    nothing_left(now.dir, now.contenders.s);
    nothing_left(now.dir, now.revoker.s);
    peer_close(&now.contenders);
    peer_close(&now.revoker);
    if (now.proxy)
        proxy_stop(now.proxy);
}

/* ---- What is done meanwhile ---- */

/* The holder takes its time; the revoker waits, and asks nothing meanwhile. */
static void released_later(void)
{
    evzk_session_stats before, after;

    WAIT(asked(&now.h[0]));
    revoker_waits();
    evzk_session_get_stats(now.revoker.s, &before);
    run_for(harness_base(), 300);
    evzk_session_get_stats(now.revoker.s, &after);
    ck_assert_uint_eq(after.requests, before.requests);
    ck_assert_int_eq(now.r->count, 0);
    ck_assert(evzk_lock_held(now.h[0].c.l));
    release(&now.h[0]);
}

/* A contender that is not in the row. */
static struct holder later;

static void another_comes(void)
{
    WAIT(asked(&now.h[0]));
    stand(&later, now.contenders.s, &(struct contender){.mode = READ});
    release(&now.h[0]);
}

static void the_other_holds(void)
{
    ck_assert(evzk_lock_held(later.c.l));
    ck_assert_int_eq(version_of(later.node), 0);
    claim_release(&later.c);
}

static void all_is_denied_but_the_node(void)
{
    struct ACL open = {ZOO_PERM_ALL, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector all = {1, &open};

    ck_assert_int_eq(raw_set_acl(op(), now.dir, &all), ZOK);
}

static void in_the_priority_wait(void)
{
    ck_assert_ptr_nonnull(strstr(now.h[1].node, "-wait-"));
}

static void stands_again(void)
{
    const struct holder *h = &now.h[1];

    WAIT(recorder_has(&h->c.rec, "REQUEUED(NODEGONE)"));
    WAIT(evzk_lock_node(h->c.l)[0] && strcmp(evzk_lock_node(h->c.l), h->node));
}

/* The server says nothing at all to the revoker. */
static void server_is_silent(void) { proxy_freeze(now.proxy, PROXY_BOTH); }

static void server_speaks(void) { proxy_thaw(now.proxy); }

static void cancel(void)
{
    WAIT(asked(&now.h[0]));
    ck_assert_int_eq(now.r->count, 0);
    ck_assert_int_eq(evzk_lock_revoke_cancel(now.r->r), EVZK_OK);
    ck_assert_int_eq(now.r->count, 0); /* Never inside a call. */
    ck_assert_int_eq(evzk_lock_revoke_cancel(now.r->r), EVZK_ERR_STATE);
}

/* The first has gone, the second has not. */
static void cancel_half_way(void)
{
    WAIT(asked(&now.h[1]));
    WAIT(now.h[0].c.rec.finals == 1);
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    run_for(harness_base(), 100);
    revoker_waits();
    ck_assert_int_eq(evzk_lock_revoke_cancel(now.r->r), EVZK_OK);
}

/* Before it was sent: nobody is asked. */
static void free_at_once(void)
{
    evzk_lock_revoke_free(now.r->r);
    now.r->freed = true;
}

static void free_it(void)
{
    WAIT(asked(&now.h[0]));
    free_at_once();
}

static void free_inside(void) { now.r->freed = true; }

/* Closing its session ends it; the contender that it asked stays asked. */
static void close_session(void)
{
    WAIT(asked(&now.h[0]));
    peer_close(&now.revoker);
    ck_assert_int_eq(now.r->count, 1); /* The session's own word is the last. */
    peer_open(&now.revoker, the_server());
}

static void contender_expires(void)
{
    WAIT(asked(&now.h[0]));
    raw_expire(the_server(), evzk_session_id(now.contenders.s));
}

/* The revocation goes on in the next session. */
static void revoker_expires(void)
{
    WAIT(asked(&now.h[0]));
    raw_expire(the_server(), evzk_session_id(now.revoker.s));
    WAIT(recorder_has(&now.revoker.rec, "EXPIRED"));
    if (now.row->opt.remove)
        return;
    ck_assert_int_eq(now.r->count, 0);
    release(&now.h[0]);
}

static void cut_off(bool on)
{
    proxy_refuse(now.proxy, on);
    if (on)
        proxy_cut(now.proxy);
}

/* The contender leaves while the revoker is cut off. */
static void leaves_unseen(void)
{
    WAIT(asked(&now.h[0]));
    cut_off(true);
    WAIT(!evzk_session_connected(now.revoker.s));
    release(&now.h[0]);
    WAIT(now.h[0].c.rec.finals == 1);
    ck_assert_int_eq(now.h[0].c.rec.rc, EVZK_OK);
    ck_assert_int_eq(now.r->count, 0);
    cut_off(false);
}

static void contender_is_cut(void)
{
    cut_off(true);
    WAIT_EVENT(&now.h[0].c, "SUSPENDED");
}

/* The contender is asked while it is cut off: it hears of it when it is back.
 */
static void contender_comes_back(void)
{
    WAIT(version_of(now.h[0].node) == 1);
    ck_assert(!asked(&now.h[0]));
    cut_off(false);
}

/* A holder that another session has asked is waited for, and not asked again.
 */
static void others_revoke(void)
{
    struct report *r[2];

    WAIT(asked(&now.h[0]));
    r[0] = revoke(now.contenders.s, now.dir, NULL);
    r[1] = revoke(now.revoker.s, now.dir, NULL);
    wait_watches(3);
    settle(now.contenders.s);
    settle(now.revoker.s);
    ck_assert_int_eq(version_of(now.h[0].node), 1);
    release(&now.h[0]);
    for (int i = 0; i < 2; i++) {
        expect(r[i], EVZK_OK, "YIELDED");
        report_free(r[i]);
    }
}

static void operator_asks(void)
{
    write_to(now.h[0].node, "unlock");
    WAIT(asked(&now.h[0]));
}

/* An operator's word is the same; what was written over it is asked anew. */
static void operator_takes_it_back(void)
{
    revoker_waits();
    ck_assert_int_eq(version_of(now.h[0].node), 1);
    ck_assert_int_eq(evzk_lock_revoke_cancel(now.r->r), EVZK_OK);
    expect(now.r, EVZK_ERR_CANCELED, "STAYS");
    report_free(now.r);
    write_to(now.h[0].node, "me");
    now.r = revoke(now.revoker.s, now.dir, NULL);
    WAIT(times_asked(&now.h[0]) == 2);
    ck_assert_int_eq(version_of(now.h[0].node), 3);
    release(&now.h[0]);
}

/* Data that the holder wrote into its znode itself is no request. */
static void is_not_asked(void)
{
    settle(now.contenders.s);
    ck_assert(!asked(&now.h[0]));
}

static void hold_the_write(void)
{
    proxy_trap(now.proxy, PROXY_C2S, OP_SET, 1, PROXY_FREEZE);
}

static void another_writes_first(void)
{
    WAIT(proxy_fired(now.proxy) == 1);
    write_to(now.h[0].node, "me");
    proxy_thaw(now.proxy);
}

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

/* That it was written to is no news, but uses up the watch. */
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

static struct seer seer;

static void watch_it(void)
{
    seer_open(&seer, node_path(now.dir, now.h[0].node));
}

static void another_waits(void)
{
    WAIT(asked(&now.h[0]));
    stand(&later, now.revoker.s,
          &(struct contender){.mode = WRITE, .waits = true});
    ck_assert(evzk_lock_held(now.h[0].c.l));
}

/* The one that waited gets it, with a greater token. */
static void the_other_is_next(void)
{
    const evzk_lock *l = now.h[0].c.l;

    WAIT(seer.gone_at != 0);
    ck_assert_int_ge(seer.gone_at - now.start, GRACE_MS);
    WAIT(evzk_lock_held(later.c.l));
    WAIT(now.h[0].c.rec.finals == 1);
    ck_assert_uint_gt(evzk_lock_token(later.c.l), evzk_lock_token(l));
    claim_release(&later.c);
    seer_close(&seer);
}

/* ---- The table ---- */

#define REMOVE(ms) .opt = {.remove = true, .grace_ms = (ms)}

/* clang-format off */
static const struct row rows[] = {
    {"an exclusive holder yields", {{ALONE(YIELDS, RELEASED)}},
     .how = "YIELDED"},
    {"a writer yields", {{WRITER(YIELDS, RELEASED)}}, .how = "YIELDED"},
    {"a reader yields", {{READER(YIELDS, RELEASED)}}, .how = "YIELDED"},
    {"an exclusive holder yields to its own session",
     {{ALONE(YIELDS, RELEASED)}}, .same_session = true, .how = "YIELDED"},
    {"a writer yields to its own session",
     {{WRITER(YIELDS, RELEASED)}}, .same_session = true, .how = "YIELDED"},
    {"a reader yields to its own session",
     {{READER(YIELDS, RELEASED)}}, .same_session = true, .how = "YIELDED"},
    {"a holder yields in time: it is not removed",
     {{WRITER(YIELDS, RELEASED)}}, REMOVE(LONG_MS), .how = "YIELDED"},
    {"a holder yields later; the revoker asks nothing meanwhile",
     {{WRITER(KEEPS, RELEASED)}}, .quiet = true,
     .meanwhile = released_later, .how = "YIELDED"},

    {"an exclusive holder is removed, and the next one gets it",
     {{ALONE(KEEPS, REMOVED)}}, REMOVE(GRACE_MS),
     .prepare = watch_it, .meanwhile = another_waits, .then = the_other_is_next,
     .how = "REMOVED", .from_ms = GRACE_MS},
    {"a writer is removed, and the next one gets it",
     {{WRITER(KEEPS, REMOVED)}}, REMOVE(GRACE_MS),
     .prepare = watch_it, .meanwhile = another_waits, .then = the_other_is_next,
     .how = "REMOVED", .from_ms = GRACE_MS},
    {"a reader is removed, and the next one gets it",
     {{READER(KEEPS, REMOVED)}}, REMOVE(GRACE_MS),
     .prepare = watch_it, .meanwhile = another_waits, .then = the_other_is_next,
     .how = "REMOVED", .from_ms = GRACE_MS},
    {"without a grace time a holder is asked, and removed at once",
     {{ALONE(KEEPS, LOST_NODE)}}, REMOVE(0), .how = "REMOVED"},

    {"of four readers the second and the last yield",
     {{READER(KEEPS, REMOVED)}, {READER(YIELDS, RELEASED)},
      {READER(KEEPS, REMOVED)}, {READER(YIELDS, RELEASED)}}, REMOVE(GRACE_MS),
     .how = "REMOVED YIELDED REMOVED YIELDED", .from_ms = GRACE_MS},
    {"of four readers the first and the third yield",
     {{READER(YIELDS, RELEASED)}, {READER(KEEPS, REMOVED)},
      {READER(YIELDS, RELEASED)}, {READER(KEEPS, REMOVED)}}, REMOVE(GRACE_MS),
     .how = "YIELDED REMOVED YIELDED REMOVED", .from_ms = GRACE_MS},
    {"waiters are asked, too",
     {{READER(YIELDS, ENDED)}, {ALONE(YIELDS, ENDED), .waits = true},
      {WRITER(YIELDS, ENDED), .waits = true}},
     .how = "YIELDED YIELDED YIELDED"},
    {"a waiter that is removed joins the queue again",
     {{READER(KEEPS, UNTOUCHED)}, {WRITER(KEEPS, QUEUED_AGAIN), .waits = true}},
     .opt = {.mode = READ, .remove = true, .grace_ms = 1},
     .then = stands_again, .how = "- REMOVED"},
    {"to read, those that do not read are asked",
     {{READER(YIELDS, UNTOUCHED)}, {WRITER(YIELDS, CANCELED), .waits = true},
      {READER(YIELDS, UNTOUCHED), .waits = true},
      {ALONE(YIELDS, CANCELED), .waits = true},
      {READER(YIELDS, UNTOUCHED), .waits = true}},
     .opt = {.mode = READ}, .how = "- YIELDED - YIELDED -"},
    {"no contender is before the first",
     {{WRITER(YIELDS, UNTOUCHED)}, {WRITER(YIELDS, UNTOUCHED), .waits = true},
      {WRITER(YIELDS, UNTOUCHED), .waits = true},
      {WRITER(YIELDS, UNTOUCHED), .waits = true}},
     .opt = {.mode = WRITE}, .before = 1, .how = "- - - -"},
    {"only those before the third are asked",
     {{WRITER(YIELDS, RELEASED)}, {WRITER(YIELDS, ENDED), .waits = true},
      {WRITER(YIELDS, UNTOUCHED), .waits = true},
      {WRITER(YIELDS, UNTOUCHED), .waits = true}},
     .opt = {.mode = WRITE}, .before = 3, .how = "YIELDED YIELDED - -"},

    /* A contender without a priority is more urgent than any with one. */
    {"none is less urgent than 10",
     {{READER(YIELDS, UNTOUCHED)}, {READER(YIELDS, UNTOUCHED), .priority = 3},
      {READER(YIELDS, UNTOUCHED), .priority = 4},
      {READER(YIELDS, UNTOUCHED), .priority = 9}},
     .opt = {.priority = 10}, .how = "- - - -"},
    {"one has the priority 9",
     {{READER(YIELDS, UNTOUCHED)}, {READER(YIELDS, UNTOUCHED), .priority = 3},
      {READER(YIELDS, UNTOUCHED), .priority = 4},
      {READER(YIELDS, RELEASED), .priority = 9}},
     .opt = {.priority = 9}, .how = "- - - YIELDED"},
    {"two are as urgent as 4, or less urgent",
     {{READER(YIELDS, UNTOUCHED)}, {READER(YIELDS, UNTOUCHED), .priority = 3},
      {READER(YIELDS, RELEASED), .priority = 4},
      {READER(YIELDS, RELEASED), .priority = 9}},
     .opt = {.priority = 4}, .how = "- - YIELDED YIELDED"},
    {"three are less urgent than 1",
     {{READER(YIELDS, UNTOUCHED)}, {READER(YIELDS, RELEASED), .priority = 3},
      {READER(YIELDS, RELEASED), .priority = 4},
      {READER(YIELDS, RELEASED), .priority = 9}},
     .opt = {.priority = 1}, .how = "- YIELDED YIELDED YIELDED"},

    {"a contender in the priority wait is not asked",
     {{ALONE(YIELDS, RELEASED)},
      {WRITER(YIELDS, UNTOUCHED), .waits = true, .priority = 3}},
     .prepare = in_the_priority_wait, .how = "YIELDED -"},
    {"all in the queue are before a contender in the priority wait",
     {{ALONE(YIELDS, RELEASED)},
      {WRITER(YIELDS, UNTOUCHED), .waits = true, .priority = 3}},
     .opt = {.mode = WRITE}, .before = 2,
     .prepare = in_the_priority_wait, .how = "YIELDED -"},
    {"a contender that comes later is not asked, nor waited for",
     {{READER(KEEPS, RELEASED)}}, .meanwhile = another_comes,
     .then = the_other_holds, .how = "YIELDED"},
    {"a writer that becomes a reader has yielded to a reader",
     {{WRITER(DOWNGRADES, HOLDS_READING)}},
     .opt = {.mode = READ, .remove = true, .grace_ms = GRACE_MS},
     .how = "YIELDED"},
    {"a writer that becomes a reader has yielded to a writer",
     {{WRITER(DOWNGRADES, HOLDS_READING)}},
     .opt = {.mode = WRITE, .remove = true, .grace_ms = GRACE_MS},
     .how = "YIELDED"},

    {"the time-out comes on time",
     {{WRITER(KEEPS, HOLDS)}},
     .opt = {.grace_ms = 2 * GRACE_MS, .timeout_ms = GRACE_MS},
     .rc = EVZK_ERR_TIMEOUT, .how = "STAYS",
     .from_ms = GRACE_MS, .by_ms = GRACE_MS},
    {"the time-out comes before the grace time is over",
     {{WRITER(KEEPS, HOLDS)}},
     .opt = {.remove = true, .grace_ms = 2 * GRACE_MS, .timeout_ms = GRACE_MS},
     .rc = EVZK_ERR_TIMEOUT, .how = "STAYS",
     .from_ms = GRACE_MS, .by_ms = GRACE_MS},
    {"the time-out comes on time though the server is silent",
     {{WRITER(KEEPS, UNTOUCHED)}},
     .opt = {.remove = true, .timeout_ms = GRACE_MS}, .proxied = REVOKER,
     .prepare = server_is_silent, .then = server_speaks,
     .rc = EVZK_ERR_TIMEOUT, .how = "-",
     .from_ms = GRACE_MS, .by_ms = GRACE_MS},
    {"canceled",
     {{READER(KEEPS, HOLDS)}}, REMOVE(GRACE_MS), .meanwhile = cancel,
     .rc = EVZK_ERR_CANCELED, .how = "STAYS"},
    {"canceled when one of two has gone",
     {{READER(YIELDS, RELEASED)}, {READER(KEEPS, HOLDS)}},
     .meanwhile = cancel_half_way,
     .rc = EVZK_ERR_CANCELED, .how = "YIELDED STAYS"},
    {"freed",
     {{ALONE(KEEPS, HOLDS)}}, REMOVE(GRACE_MS), .meanwhile = free_it},
    {"freed before it was sent",
     {{ALONE(KEEPS, UNTOUCHED)}}, REMOVE(0), .meanwhile = free_at_once},
    {"freed inside its callback",
     {{ALONE(YIELDS, RELEASED)}}, .meanwhile = free_inside, .how = "YIELDED"},
    {"its session is closed",
     {{WRITER(KEEPS, HOLDS)}}, REMOVE(GRACE_MS), .meanwhile = close_session,
     .rc = EVZK_ERR_CLOSED, .how = "STAYS"},

    {"a holder whose session ends has yielded",
     {{WRITER(KEEPS, LOST)}}, REMOVE(LONG_MS), .meanwhile = contender_expires,
     .how = "YIELDED"},
    {"the revoker's session ends, and the holder yields",
     {{WRITER(KEEPS, RELEASED)}}, .opt = {.grace_ms = GRACE_MS},
     .meanwhile = revoker_expires, .how = "YIELDED"},
    {"the revoker's session ends, and the holder is removed",
     {{WRITER(KEEPS, REMOVED)}}, REMOVE(GRACE_MS),
     .meanwhile = revoker_expires, .how = "REMOVED", .from_ms = GRACE_MS},
    {"a holder yields while the revoker is cut off",
     {{WRITER(KEEPS, RELEASED)}}, .proxied = REVOKER,
     .meanwhile = leaves_unseen, .how = "YIELDED"},
    {"a holder is asked while it is cut off",
     {{WRITER(YIELDS, LET_GO)}}, .proxied = CONTENDERS,
     .prepare = contender_is_cut, .meanwhile = contender_comes_back,
     .how = "YIELDED"},

    {"three revoke, and the holder is asked once",
     {{WRITER(KEEPS, RELEASED)}}, .meanwhile = others_revoke, .how = "YIELDED"},
    {"an operator has asked, and then writes something else",
     {{WRITER(KEEPS, ASKED_TWICE)}}, .prepare = operator_asks,
     .meanwhile = operator_takes_it_back, .how = "YIELDED"},
    {"a contender's own data is no request",
     {{ALONE(YIELDS, RELEASED), .data = "unlock"}}, .prepare = is_not_asked,
     .how = "YIELDED"},
    {"another writes at the same time",
     {{WRITER(YIELDS, RELEASED)}}, .proxied = REVOKER,
     .prepare = hold_the_write, .meanwhile = another_writes_first,
     .how = "YIELDED"},

    /* The directory was made by the holder, with the same ACL. */
    {"the revoker may not write",
     {{ALONE(KEEPS, UNTOUCHED)}}, .perms = EVZK_PERM_READ | EVZK_PERM_DELETE,
     .rc = EVZK_ERR_NOAUTH, .how = "STAYS"},
    {"the revoker may not write, but delete",
     {{ALONE(KEEPS, UNTOUCHED)}}, REMOVE(0),
     .perms = EVZK_PERM_READ | EVZK_PERM_DELETE,
     .rc = EVZK_ERR_NOAUTH, .how = "STAYS"},
    {"the revoker may not read the znode",
     {{ALONE(KEEPS, UNTOUCHED)}}, REMOVE(0),
     .perms = EVZK_PERM_WRITE | EVZK_PERM_DELETE,
     .prepare = all_is_denied_but_the_node,
     .rc = EVZK_ERR_NOAUTH, .how = "STAYS"},
    {"the revoker may not list the directory",
     {{ALONE(KEEPS, UNTOUCHED)}}, REMOVE(0),
     .perms = EVZK_PERM_WRITE | EVZK_PERM_DELETE,
     .rc = EVZK_ERR_NOAUTH, .how = "-"},
    {"the revoker may not delete",
     {{ALONE(KEEPS, HOLDS)}}, REMOVE(1),
     .perms = EVZK_PERM_READ | EVZK_PERM_WRITE,
     .rc = EVZK_ERR_NOAUTH, .how = "STAYS"},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

START_TEST(a_row)
{
    printf("row %d: %s\n", _i, rows[_i].name);
    row_begin(&rows[_i], _i);
    row_revoke();
    row_end();
}
END_TEST

/* ---- Asked once ---- */

/* The write, or the answer to it, is lost: it lands once. */
START_TEST(one_write_for_each)
{
    static const struct row row = {
        .c = {{WRITER(KEEPS, RELEASED)}}, .proxied = REVOKER, .how = "YIELDED"};
    const struct proxy_cut *cut = &proxy_cuts[_i];

    row_begin(&row, _i);
    proxy_trap(now.proxy, cut->dir, OP_SET, 1, cut->act);
    row_revoke();
    WAIT(proxy_fired(now.proxy) == 1);
    WAIT(asked(&now.h[0]));
    revoker_waits();
    ck_assert_int_eq(version_of(now.h[0].node), 1);
    /* All that reached the server; of what was dropped nothing did. */
    ck_assert_int_eq(proxy_frames_of(now.proxy, PROXY_C2S, OP_SET), 1);
    ck_assert_int_eq(now.r->count, 0);
    release(&now.h[0]);
    row_end();
}
END_TEST

/* Several writes are under way, and one answer is lost: the contenders whose
 * answers had come are not asked again, nor the others. */
START_TEST(one_write_for_each_of_many)
{
    struct row row = {.proxied = REVOKER};
    char how[MOST * 8] = "YIELDED";

    for (int i = 0; i < MOST; i++)
        row.c[i] = (struct contender){READER(KEEPS, RELEASED)};
    for (int i = 1; i < MOST; i++)
        strcat(how, " YIELDED");
    row.how = how;
    row_begin(&row, _i);
    proxy_trap(now.proxy, _i < 2 ? PROXY_S2C : PROXY_C2S, OP_SET, MOST / 2,
               _i % 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE);
    row_revoke();
    WAIT(proxy_fired(now.proxy) == 1);
    for (int i = 0; i < MOST; i++)
        WAIT(asked(&now.h[i]));
    revoker_waits();
    for (int i = 0; i < MOST; i++) {
        ck_assert_int_eq(version_of(now.h[i].node), 1);
        ck_assert_int_eq(times_asked(&now.h[i]), 1);
        release(&now.h[i]);
    }
    row_end();
}
END_TEST

/* Each of the revoker's requests is cut in each way: the revocation ends as it
 * should, and the holder is asked once, and not removed too early. */
START_TEST(every_request_is_cut)
{
    static const int ops[] = {OP_SYNC, OP_CHILDREN, OP_GET, OP_SET, OP_DELETE};
    static const struct row row = {.c = {{WRITER(KEEPS, REMOVED)}},
                                   REMOVE(200),
                                   .proxied = REVOKER,
                                   .how = "REMOVED",
                                   .from_ms = 200};
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];

    row_begin(&row, _i);
    all_answered(now.revoker.s);
    proxy_trap(now.proxy, cut->dir, ops[_i / PROXY_CUTS], 1, cut->act);
    row_revoke();
    WAIT(now.r->count == 1);
    ck_assert_int_eq(proxy_fired(now.proxy), 1);
    row_end();
}
END_TEST

/* ---- No contender ---- */

static void finds_nobody(evzk_session *s, const char *dir,
                         const evzk_lock_revoke_options *opt)
{
    struct report *r = revoke(s, dir, opt);

    WAIT(r->count == 1);
    ck_assert_int_eq(r->rc, EVZK_OK);
    ck_assert_uint_eq(r->n, 0);
    report_free(r);
}

/* Nothing is there, then a child that is no contender, then a reader that may
 * stay: nothing is written to, and nothing deleted. */
START_TEST(nobody_is_there)
{
    evzk_lock_revoke_options opt = {.remove = true};
    const char *dir = "/revoke-none/deep";
    struct proxy *proxy = proxy_start(the_server());
    struct claim reader;
    struct peer p;

    raw_delete_tree(op(), "/revoke-none");
    peer_open(&p, proxy_address(proxy));
    finds_nobody(p.s, dir, NULL);
    finds_nobody(p.s, dir, &opt);
    ck_assert_int_eq(raw_exists(op(), "/revoke-none", NULL), ZNONODE);
    raw_mkdirs(op(), "/revoke-none/deep/other");
    finds_nobody(p.s, dir, &opt);
    claim_held(&reader, p.s, dir,
               &(evzk_lock_options){.mode = READ, .revocable = true});
    opt.mode = READ;
    finds_nobody(p.s, dir, &opt);
    ck_assert_int_eq(raw_count(op(), dir), 2); /* All are there still. */
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_SET), 0);
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_DELETE), 0);
    claim_release(&reader);
    idle(p.s);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/revoke-none");
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
    r = revoke(t.q.s, dir, &opt);
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

    tcase_add_loop_test(tests, a_row, 0, ROWS);
    tcase_add_loop_test(tests, one_write_for_each, 0, PROXY_CUTS);
    tcase_add_loop_test(tests, one_write_for_each_of_many, 0, 4);
    tcase_add_loop_test(tests, every_request_is_cut, 0, 5 * PROXY_CUTS);
    tcase_add_test(tests, nobody_is_there);
    tcase_add_loop_test(tests, a_thousand, 0, 2);
    return lock_suite_run(suite);
}
