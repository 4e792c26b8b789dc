/* The public functions without a server: bad arguments, no memory, the life of
 * a lock that is never granted, and fork. */
#include "unit.h"

#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evzk/evzk.h"

/* Nobody listens there, so that no session ever connects. */
static const char nobody[] = "127.0.0.1:1";

/* Allocation, counted; number `fail_at` fails, and with `fail_on` all after. */
static long live, calls, fail_at;
static bool fail_on;

static void *counted_malloc(size_t n)
{
    bool fail = ++calls == fail_at || (fail_on && calls > fail_at);
    void *p = fail ? NULL : malloc(n);

    live += p != NULL;
    return p;
}

static void *counted_realloc(void *p, size_t n)
{
    live += p == NULL;
    return realloc(p, n);
}

static void counted_free(void *p)
{
    live -= p != NULL;
    free(p);
}

/* Calls of the API, so that callbacks can tell that they are not in one. */
static int inside, answer_of_call;
#define CALL(expr) (inside++, answer_of_call = (expr), inside--, answer_of_call)
#define DO(expr) (inside++, (expr), inside--)

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* What the callbacks heard. */
struct heard {
    int events, event, rc;
    bool free_it;
    evzk_session *close;
    struct world *w;
};

struct world {
    struct event_base *base;
    evzk_session *s;
    struct heard session;
    int closed, ended; /* Sessions; and locks, by their final events. */
};

static void on_session(evzk_session *s, evzk_session_event ev, int rc,
                       void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    h->events++;
    h->event = (int)ev;
    h->rc = rc;
    if (h->free_it)
        DO(evzk_session_free(s));
}

static void on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(h->events, 0); /* Without a server: one, and the last. */
    h->events++;
    h->event = (int)ev;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->close)
        DO(evzk_session_free(h->close));
    if (h->free_it)
        DO(evzk_lock_free(l));
}

static void on_query(evzk_lock_query *q, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    h->events++;
    h->rc = rc;
    if (h->free_it)
        DO(evzk_lock_query_free(q));
}

/* Without a server nobody is found, and nobody asked. */
static void on_revoke(evzk_lock_revoke *r, int rc, const evzk_revoked *v,
                      size_t n, void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_nonnull(r);
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
    h->events++;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->close)
        DO(evzk_session_free(h->close));
    if (h->free_it)
        DO(evzk_lock_revoke_free(r));
}

static void on_election(evzk_election *e, evzk_election_event ev, int rc,
                        void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(h->events, 0); /* Without a server: one, and the last. */
    h->events++;
    h->event = (int)ev;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->close)
        DO(evzk_session_free(h->close));
    if (h->free_it)
        DO(evzk_election_free(e));
}

/* Without a server nothing is seen: it hears the end only. */
static void on_observer(evzk_observer *o, int rc, const evzk_leader *leader,
                        void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_nonnull(o);
    ck_assert_ptr_null(leader);
    ck_assert_int_eq(h->events, 0);
    h->events++;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->free_it)
        DO(evzk_observer_free(o));
}

/* Without a server nothing is heard of any shard. */
static void on_shard(evzk_shards *a, uint32_t shard, evzk_election_event ev,
                     int rc, void *arg)
{
    (void)a;
    (void)arg;
    ck_abort_msg("shard %u: event %d, %s", shard, (int)ev, evzk_errname(rc));
}

static void on_shards(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(inside, 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(h->events, 0);
    h->events++;
    h->event = (int)ev;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->close)
        DO(evzk_session_free(h->close));
    if (h->free_it)
        DO(evzk_shards_free(a));
}

/* The lines of the log that tell why a call was refused. */
static struct {
    int lines, checked; /* Of the present call; of all. */
    int all;
    char line[256];
} said;

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    (void)arg;
    if (strncmp(line, "evzk_", 5) != 0)
        return; /* It is about something else. */
    ck_assert_int_eq(level, EVZK_LOG_ERROR);
    said.lines++;
    said.all++;
    snprintf(said.line, sizeof said.line, "%s", line);
}

/* Every call that is refused goes through here: exactly one line, "function:
 * argument: rule"; or none, when no session and no options have a log. */
static void told_why(const char *call, bool heard)
{
    size_t n = strcspn(call, "(");
    const char *argument = said.line + n + 2, *rule;

    ck_assert_msg(said.lines == heard, "%s: %d lines", call, said.lines);
    said.checked += said.lines;
    said.lines = 0;
    if (!heard)
        return;
    ck_assert_msg(strncmp(said.line, call, n) == 0 &&
                      strncmp(said.line + n, ": ", 2) == 0,
                  "%s: %s", call, said.line);
    rule = strstr(argument, ": ");
    ck_assert_msg(rule && rule > argument && rule[2], "%s", said.line);
}

#define INVAL_HEARD(heard, expr)                                               \
    do {                                                                       \
        said.lines = 0;                                                        \
        ck_assert_int_eq(CALL(expr), EVZK_ERR_INVAL);                          \
        told_why(#expr, heard);                                                \
    } while (0)
#define INVAL(expr) INVAL_HEARD(true, expr)
#define INVAL_DEAF(expr) INVAL_HEARD(false, expr) /* Nothing has a log. */

static void open_session(struct world *w, const char *servers)
{
    const evzk_session_options opt = {.log = on_log,
                                      .log_level = EVZK_LOG_ERROR};

    ck_assert_int_eq(CALL(evzk_session_open(w->base, servers, &opt, on_session,
                                            &w->session, &w->s)),
                     EVZK_OK);
}

static void set_up_at(struct world *w, const char *servers)
{
    memset(w, 0, sizeof *w);
    live = calls = fail_at = inside = 0;
    fail_on = false;
    evzk_set_allocator(counted_malloc, counted_realloc, counted_free);
    w->base = event_base_new();
    open_session(w, servers);
}

static void set_up(struct world *w) { set_up_at(w, nobody); }

/* Runs the loop until nothing is left to do. */
static void run_out(struct world *w)
{
    ck_assert_int_eq(event_base_dispatch(w->base), 1);
}

/* Everything that was allocated must be given back by the end. */
static void tear_down(struct world *w)
{
    DO(evzk_session_free(w->s));
    run_out(w);
    event_base_free(w->base);
    evzk_set_allocator(NULL, NULL, NULL);
    ck_assert_int_eq(live, 0);
    ck_assert_int_eq(said.all, said.checked); /* No refusal went unlooked at. */
}

static void run_ms(struct world *w, int64_t ms)
{
    struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

    event_base_loopexit(w->base, &tv);
    event_base_dispatch(w->base);
}

static void run_until(struct world *w, const int *count, int least)
{
    int64_t until = now_ms() + 30000;

    while (*count < least) {
        ck_assert_int_lt(now_ms(), until);
        event_base_loop(w->base, EVLOOP_ONCE);
    }
}

static evzk_lock *acquire(struct world *w, const evzk_lock_options *opt,
                          struct heard *h)
{
    evzk_lock *l = NULL;

    h->w = w;
    ck_assert_int_eq(
        CALL(evzk_lock_acquire(w->s, "/locks/a", opt, on_lock, h, &l)),
        EVZK_OK);
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(h->events, 0);
    return l;
}

static const evzk_lock_revoke_options all_revoke_options = {
    .mode = EVZK_LOCK_READ,
    .before = "x-read-0000000001",
    .priority = 1,
    .remove = true,
    .grace_ms = 5,
    .timeout_ms = 10000};

static evzk_lock_revoke *start_revoke(struct world *w,
                                      const evzk_lock_revoke_options *opt,
                                      struct heard *h)
{
    evzk_lock_revoke *r = NULL;

    h->w = w;
    ck_assert_int_eq(
        CALL(evzk_lock_revoke_start(w->s, "/locks/a", opt, on_revoke, h, &r)),
        EVZK_OK);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(h->events, 0);
    return r;
}

static evzk_election *
volunteer(struct world *w, const evzk_election_options *opt, struct heard *h)
{
    evzk_election *e = NULL;

    h->w = w;
    ck_assert_int_eq(
        CALL(evzk_election_volunteer(w->s, "/e/a", opt, on_election, h, &e)),
        EVZK_OK);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(h->events, 0);
    return e;
}

static evzk_observer *observe(struct world *w, struct heard *h)
{
    evzk_observer *o = NULL;

    h->w = w;
    ck_assert_int_eq(
        CALL(evzk_election_observe(w->s, "/e/a", on_observer, h, &o)), EVZK_OK);
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(h->events, 0);
    return o;
}

static const evzk_shards_options all_shards_options = {.count = 7,
                                                       .weight = 2,
                                                       .most = 5,
                                                       .acknowledge = true,
                                                       .data = "host:80",
                                                       .data_len = 7};

static evzk_shards *join(struct world *w, struct heard *h)
{
    evzk_shards *a = NULL;

    h->w = w;
    ck_assert_int_eq(CALL(evzk_shards_join(w->s, "/s/a", &all_shards_options,
                                           on_shard, on_shards, h, &a)),
                     EVZK_OK);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(h->events, 0);
    return a;
}

static void expect_end(const struct heard *h, int rc)
{
    ck_assert_int_eq(h->events, 1);
    ck_assert_int_eq(h->rc, rc);
}

static void expect(const struct heard *h, int event, int rc)
{
    ck_assert_int_eq(h->events, 1);
    ck_assert_int_eq(h->event, event);
    ck_assert_int_eq(h->rc, rc);
}

/* Bad arguments. */

static char mark_of_out; /* What `out` holds before, and after a refusal. */

static void open_fails(struct event_base *base, const char *servers,
                       const evzk_session_options *opt, int rc)
{
    evzk_session *before = (void *)&mark_of_out, *out = before;
    evzk_session_options o = {0};
    long blocks = live;

    if (opt)
        o = *opt;
    o.log = on_log;
    said.lines = 0;
    ck_assert_int_eq(
        CALL(evzk_session_open(base, servers, &o, on_session, NULL, &out)), rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_session_open(", true);
}

START_TEST(test_open_args)
{
    static const char *const servers[] = {
        "",           ",",  ":2181", "a:",   "a:0", "a:65536",
        "a:2181/app", "a,", "a, b",  "[::1", "::1", "1.2.3.4:1,a:x"};
    struct world w;

    set_up(&w);
    open_fails(NULL, nobody, NULL, EVZK_ERR_INVAL);
    open_fails(w.base, NULL, NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(servers); i++)
        open_fails(w.base, servers[i], NULL, EVZK_ERR_INVAL);
    INVAL_DEAF(evzk_session_open(w.base, nobody, NULL, on_session, NULL, NULL));
    tear_down(&w);
}
END_TEST

/* "127.0.0.1:1," again and again: `n` of them. */
static char *many_servers(size_t n)
{
    static const char one[] = "127.0.0.1:1,";
    char *list = malloc(n * (sizeof one - 1) + 1);

    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < n; i++)
        strcpy(list + i * (sizeof one - 1), one);
    list[n * (sizeof one - 1) - 1] = '\0'; /* The last comma. */
    return list;
}

/* The client takes its time for each server, in one turn of the loop. */
START_TEST(test_open_too_many)
{
    const size_t counts[] = {EVZK_SERVERS_MAX + 1, 20000, 1000000};
    char *most = many_servers(EVZK_SERVERS_MAX);
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(counts); i++) {
        char *list = many_servers(counts[i]);

        calls = 0;
        open_fails(w.base, list, NULL, EVZK_ERR_INVAL);
        ck_assert_str_eq(said.line,
                         "evzk_session_open: servers: must be at most 64");
        ck_assert_int_eq(calls, 0); /* None was looked at. */
        free(list);
    }
    tear_down(&w);
    set_up_at(&w, most);
    run_ms(&w, 20);
    tear_down(&w);
    free(most);
}
END_TEST

START_TEST(test_open_options)
{
    const evzk_session_options bad[] = {
        {.timeout_ms = UINT32_MAX},
        {.timeout_ms = 1},
        {.timeout_ms = 99},
        {.timeout_ms = 24 * 3600 * 1000 + 1},
        {.close_timeout_ms = UINT32_MAX},
        {.chroot = "app"},
        {.chroot = "/a//b"},
        {.chroot = "/a/../b"},
        {.chroot = "/."},
        {.chroot = "/a\x01"},
        {.data_len = 1},
        {.data = "x", .data_len = 65537},
        {.window = 100001},
        {.log_level = (evzk_log_level)(EVZK_LOG_DEBUG + 1)},
        {.log_level = (evzk_log_level)-1},
        {.reserved = {&mark_of_out}},
        {.reserved = {NULL, NULL, NULL, &mark_of_out}},
    };
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        open_fails(w.base, nobody, &bad[i], EVZK_ERR_INVAL);
    tear_down(&w);
}
END_TEST

START_TEST(test_open_defaults)
{
    static const evzk_acl acl[] = {{EVZK_PERM_ALL, "auth", ""}};
    const evzk_session_options good[] = {
        {.timeout_ms = 0},
        {.timeout_ms = 100},
        {.timeout_ms = 24 * 3600 * 1000},
        {.chroot = ""},
        {.chroot = "/"},
        {.chroot = "/app", .make_chroot = true},
        {.data = ""},
        {.data = "x", .data_len = 1},
        {.window = 1},
        {.log_level = EVZK_LOG_DEBUG},
        {.acl = acl, .acl_count = 1},
    };
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        evzk_session *s = NULL;

        ck_assert_int_eq(
            CALL(evzk_session_open(w.base, nobody, &good[i], NULL, NULL, &s)),
            EVZK_OK);
        ck_assert_ptr_nonnull(s);
        DO(evzk_session_free(s));
    }
    tear_down(&w);
}
END_TEST

/* Lists that are refused, for sessions and for locks. */
static const evzk_acl no_perms[] = {{0, "world", "anyone"}};
static const evzk_acl unknown_perms[] = {{32, "world", "anyone"}};
static const evzk_acl all_bits[] = {{UINT32_MAX, "world", "anyone"}};
static const evzk_acl no_scheme[] = {{EVZK_PERM_ALL, NULL, "anyone"}};
static const evzk_acl empty_scheme[] = {{EVZK_PERM_ALL, "", "anyone"}};
static const evzk_acl no_id[] = {{EVZK_PERM_ALL, "world", NULL}};
static const evzk_acl second[] = {{EVZK_PERM_ALL, "world", "anyone"},
                                  {0, "auth", ""}};
static const struct {
    const evzk_acl *v;
    size_t n;
} bad_acls[] = {
    {no_perms, 1},     {unknown_perms, 1}, {all_bits, 1}, {no_scheme, 1},
    {empty_scheme, 1}, {no_id, 1},         {second, 2},   {NULL, 1},
};

static void lock_fails(evzk_session *s, const char *path,
                       const evzk_lock_options *opt, int rc)
{
    evzk_lock *before = (void *)&mark_of_out, *out = before;
    long blocks = live;
    struct heard h = {0};

    said.lines = 0;
    ck_assert_int_eq(CALL(evzk_lock_acquire(s, path, opt, on_lock, &h, &out)),
                     rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_lock_acquire(", s != NULL);
}

START_TEST(test_acls)
{
    evzk_acl many[EVZK_ACL_MAX + 1];
    evzk_session_options so = {.timeout_ms = 0};
    evzk_lock_options lo = {.timeout_ms = 0};
    struct heard h = {0};
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad_acls); i++) {
        so.acl = lo.acl = bad_acls[i].v;
        so.acl_count = lo.acl_count = bad_acls[i].n;
        open_fails(w.base, nobody, &so, EVZK_ERR_INVAL);
        lock_fails(w.s, "/a", &lo, EVZK_ERR_INVAL);
    }
    for (size_t i = 0; i < UNIT_COUNT(many); i++)
        many[i] = (evzk_acl){EVZK_PERM_READ, "ip", "1.2.3.4"};
    so.acl = lo.acl = many;
    so.acl_count = lo.acl_count = UNIT_COUNT(many);
    open_fails(w.base, nobody, &so, EVZK_ERR_INVAL);
    lock_fails(w.s, "/a", &lo, EVZK_ERR_INVAL);
    so.acl_count = lo.acl_count = SIZE_MAX;
    open_fails(w.base, nobody, &so, EVZK_ERR_INVAL);
    lock_fails(w.s, "/a", &lo, EVZK_ERR_INVAL);
    lo.acl_count = EVZK_ACL_MAX;
    DO(evzk_lock_free(acquire(&w, &lo, &h)));
    tear_down(&w);
}
END_TEST

static const char *const bad_paths[] = {NULL,
                                        "",
                                        "a",
                                        "/",
                                        "//",
                                        "/a/",
                                        "/a//b",
                                        "/./a",
                                        "/..",
                                        "/a/.",
                                        "/a\x01",
                                        "/a\x7f",
                                        "/\xc2\x85",
                                        "/\xee\x80\x80",
                                        "/\xef\xbf\xbf"};

START_TEST(test_lock_args)
{
    evzk_lock *out = NULL;
    struct world w;

    set_up(&w);
    lock_fails(NULL, "/a", NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        lock_fails(w.s, bad_paths[i], NULL, EVZK_ERR_INVAL);
    INVAL(evzk_lock_acquire(w.s, "/a", NULL, NULL, NULL, &out));
    ck_assert_ptr_null(out);
    INVAL(evzk_lock_acquire(w.s, "/a", NULL, on_lock, NULL, NULL));
    tear_down(&w);
}
END_TEST

START_TEST(test_lock_options)
{
    static const evzk_lock_priority urgent = {.priority = 1};
    const evzk_lock_options bad[] = {
        {.mode = (evzk_lock_mode)(EVZK_LOCK_READ + 1)},
        {.mode = (evzk_lock_mode)-1},
        {.priority = &urgent},
        {.mode = EVZK_LOCK_EXCLUSIVE, .priority = &urgent},
        {.mode = EVZK_LOCK_WRITE, .priority = &urgent, .no_own_watch = true},
        {.mode = EVZK_LOCK_READ, .priority = &urgent, .no_own_watch = true},
        {.revocable = true, .no_own_watch = true},
        {.data_len = 1},
        {.data = "x", .data_len = EVZK_LOCK_DATA_MAX + 1},
        {.data = "x", .data_len = SIZE_MAX},
        {.reserved = {&mark_of_out}},
        {.reserved = {NULL, NULL, NULL, &mark_of_out}},
    };
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        lock_fails(w.s, "/a", &bad[i], EVZK_ERR_INVAL);
    tear_down(&w);
}
END_TEST

/* Every mode, every priority, and what becomes of the copies. */
START_TEST(test_lock_modes)
{
    struct world w;

    set_up(&w);
    for (int i = 0; i < 6; i++) {
        evzk_lock_priority urgent = {.priority = 255,
                                     .ageing = UINT32_MAX,
                                     .revoke = true,
                                     .grace_ms = UINT32_MAX};
        evzk_lock_options opt = {.mode = (evzk_lock_mode)(i / 2),
                                 .revocable = i % 2};
        struct heard h = {0};
        evzk_lock *l;

        if (i % 2 && opt.mode != EVZK_LOCK_EXCLUSIVE)
            opt.priority = &urgent;
        l = acquire(&w, &opt, &h);
        memset(&urgent, 0x5a, sizeof urgent); /* It was copied. */
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        run_ms(&w, 10);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        ck_assert_int_eq(CALL(evzk_lock_upgrade(l)), opt.mode == EVZK_LOCK_READ
                                                         ? EVZK_ERR_UPGRADE
                                                         : EVZK_ERR_STATE);
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        run_until(&w, &h.events, 1);
        expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
        ck_assert_int_eq(CALL(evzk_lock_downgrade(l)), EVZK_ERR_STATE);
        ck_assert_int_eq(evzk_lock_mode_of(l), i / 2);
        DO(evzk_lock_free(l));
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_lock_null)
{
    INVAL_DEAF(evzk_lock_cancel(NULL));
    INVAL_DEAF(evzk_lock_release(NULL));
    ck_assert(!evzk_lock_held(NULL));
    ck_assert_uint_eq(evzk_lock_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_lock_token(NULL), 0);
    ck_assert_str_eq(evzk_lock_node(NULL), "");
    ck_assert_str_eq(evzk_lock_state(NULL), "");
    INVAL_DEAF(evzk_lock_downgrade(NULL));
    INVAL_DEAF(evzk_lock_upgrade(NULL));
    ck_assert_int_eq(evzk_lock_mode_of(NULL), EVZK_LOCK_EXCLUSIVE);
    INVAL_DEAF(evzk_lock_revoke_cancel(NULL));
    evzk_lock_free(NULL);
    evzk_lock_query_free(NULL);
    evzk_lock_revoke_free(NULL);
}
END_TEST

START_TEST(test_lease_null)
{
    evzk_lease *lease = NULL;

    INVAL_DEAF(evzk_lock_lease(NULL, &lease));
    INVAL_DEAF(evzk_election_lease(NULL, &lease));
    INVAL_DEAF(evzk_shards_lease(NULL, 0, &lease));
    ck_assert(!evzk_lease_held(NULL));
    ck_assert_int_eq(evzk_lease_deadline_us(NULL), 0);
    ck_assert_uint_eq(evzk_lease_token(NULL), 0);
    ck_assert_ptr_null(evzk_lease_ref(NULL));
    evzk_lease_unref(NULL);
    ck_assert_ptr_null(lease);
}
END_TEST

START_TEST(test_session_null)
{
    evzk_session_stats stats;

    INVAL_DEAF(evzk_session_close(NULL));
    INVAL_DEAF(evzk_session_add_auth(NULL, "digest", "a:b", 3));
    ck_assert(!evzk_session_connected(NULL));
    ck_assert_uint_eq(evzk_session_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_session_timeout_ms(NULL), 0);
    ck_assert_int_eq(evzk_session_id(NULL), 0);
    memset(&stats, 0xff, sizeof stats);
    evzk_session_get_stats(NULL, &stats);
    ck_assert_uint_eq(stats.requests, 0);
    ck_assert_uint_eq(stats.machines, 0);
    evzk_session_get_stats(NULL, NULL);
    evzk_session_free(NULL);
}
END_TEST

START_TEST(test_auth_args)
{
    struct world w;
    long blocks;

    set_up(&w);
    blocks = live;
    INVAL(evzk_session_add_auth(w.s, NULL, "a:b", 3));
    INVAL(evzk_session_add_auth(w.s, "", "a:b", 3));
    INVAL(evzk_session_add_auth(w.s, "digest", NULL, 3));
    INVAL(evzk_session_add_auth(w.s, "digest", "x", SIZE_MAX));
    ck_assert_int_eq(live, blocks);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "digest", "a:b", 3)),
                     EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "x509", NULL, 0)),
                     EVZK_OK);
    tear_down(&w);
}
END_TEST

static void query_fails(evzk_session *s, const char *path,
                        evzk_lock_query_cb *cb, int rc)
{
    evzk_lock_query *before = (void *)&mark_of_out, *out = before;
    long blocks = live;

    said.lines = 0;
    ck_assert_int_eq(CALL(evzk_lock_query_start(s, path, cb, NULL, &out)), rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_lock_query_start(", s != NULL);
}

START_TEST(test_query_args)
{
    struct world w;

    set_up(&w);
    query_fails(NULL, "/a", on_query, EVZK_ERR_INVAL);
    query_fails(w.s, "/a", NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        query_fails(w.s, bad_paths[i], on_query, EVZK_ERR_INVAL);
    INVAL(evzk_lock_query_start(w.s, "/a", on_query, NULL, NULL));
    tear_down(&w);
}
END_TEST

static void revoke_fails(evzk_session *s, const char *path,
                         const evzk_lock_revoke_options *opt,
                         evzk_lock_revoke_cb *cb, int rc)
{
    evzk_lock_revoke *before = (void *)&mark_of_out, *out = before;
    long blocks = live;

    said.lines = 0;
    ck_assert_int_eq(CALL(evzk_lock_revoke_start(s, path, opt, cb, NULL, &out)),
                     rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_lock_revoke_start(", s != NULL);
}

START_TEST(test_revoke_args)
{
    struct world w;

    set_up(&w);
    revoke_fails(NULL, "/a", NULL, on_revoke, EVZK_ERR_INVAL);
    revoke_fails(w.s, "/a", NULL, NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        revoke_fails(w.s, bad_paths[i], NULL, on_revoke, EVZK_ERR_INVAL);
    INVAL(evzk_lock_revoke_start(w.s, "/a", NULL, on_revoke, NULL, NULL));
    tear_down(&w);
}
END_TEST

START_TEST(test_revoke_options)
{
    char longer[5000];
    const evzk_lock_revoke_options bad[] = {
        {.mode = (evzk_lock_mode)(EVZK_LOCK_READ + 1)},
        {.mode = (evzk_lock_mode)-1},
        {.before = longer},
        {.before = ""}, /* Of a lock that has no znode yet. */
        {.before = "config"},
        {.before = "x-read-1"},
        {.reserved = {&mark_of_out}},
        {.reserved = {NULL, NULL, NULL, &mark_of_out}},
    };
    struct heard h = {0};
    struct world w;

    set_up(&w);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        revoke_fails(w.s, "/a", &bad[i], on_revoke, EVZK_ERR_INVAL);
    DO(evzk_lock_revoke_free(start_revoke(&w, &all_revoke_options, &h)));
    DO(evzk_lock_revoke_free(start_revoke(&w, NULL, &h)));
    tear_down(&w);
    ck_assert_int_eq(h.events, 0);
}
END_TEST

static void volunteer_fails(evzk_session *s, const char *path,
                            const evzk_election_options *opt,
                            evzk_election_cb *cb, int rc)
{
    evzk_election *before = (void *)&mark_of_out, *out = before;
    long blocks = live;

    said.lines = 0;
    ck_assert_int_eq(
        CALL(evzk_election_volunteer(s, path, opt, cb, NULL, &out)), rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_election_volunteer(", s != NULL);
}

START_TEST(test_election_args)
{
    struct world w;

    set_up(&w);
    volunteer_fails(NULL, "/a", NULL, on_election, EVZK_ERR_INVAL);
    volunteer_fails(w.s, "/a", NULL, NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        volunteer_fails(w.s, bad_paths[i], NULL, on_election, EVZK_ERR_INVAL);
    INVAL(evzk_election_volunteer(w.s, "/a", NULL, on_election, NULL, NULL));
    tear_down(&w);
}
END_TEST

START_TEST(test_election_options)
{
    const evzk_election_options bad[] = {
        {.revocable = true, .no_own_watch = true},
        {.data_len = 1},
        {.data = "x", .data_len = EVZK_ELECTION_DATA_MAX + 1},
        {.data = "x", .data_len = SIZE_MAX},
        {.reserved = {&mark_of_out}},
        {.reserved = {NULL, NULL, NULL, &mark_of_out}},
    };
    evzk_election_options opt = {.timeout_ms = 0};
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        volunteer_fails(w.s, "/a", &bad[i], on_election, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_acls); i++) {
        opt.acl = bad_acls[i].v;
        opt.acl_count = bad_acls[i].n;
        volunteer_fails(w.s, "/a", &opt, on_election, EVZK_ERR_INVAL);
    }
    tear_down(&w);
}
END_TEST

static void observe_fails(evzk_session *s, const char *path,
                          evzk_observer_cb *cb, int rc)
{
    evzk_observer *before = (void *)&mark_of_out, *out = before;
    long blocks = live;

    said.lines = 0;
    ck_assert_int_eq(CALL(evzk_election_observe(s, path, cb, NULL, &out)), rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_election_observe(", s != NULL);
}

START_TEST(test_observe_args)
{
    struct world w;

    set_up(&w);
    observe_fails(NULL, "/a", on_observer, EVZK_ERR_INVAL);
    observe_fails(w.s, "/a", NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        observe_fails(w.s, bad_paths[i], on_observer, EVZK_ERR_INVAL);
    INVAL(evzk_election_observe(w.s, "/a", on_observer, NULL, NULL));
    tear_down(&w);
}
END_TEST

START_TEST(test_election_null)
{
    INVAL_DEAF(evzk_election_acknowledge(NULL, "x", 1));
    INVAL_DEAF(evzk_election_resign(NULL));
    ck_assert(!evzk_election_elected(NULL));
    ck_assert(!evzk_election_leading(NULL));
    ck_assert_uint_eq(evzk_election_lease_ms(NULL), 0);
    ck_assert_uint_eq(evzk_election_epoch(NULL), 0);
    ck_assert_str_eq(evzk_election_node(NULL), "");
    ck_assert_str_eq(evzk_election_state(NULL), "");
    evzk_election_free(NULL);
    evzk_observer_free(NULL);
}
END_TEST

static void join_fails(evzk_session *s, const char *path,
                       const evzk_shards_options *opt, evzk_shards_cb *cb,
                       int rc)
{
    evzk_shards *before = (void *)&mark_of_out, *out = before;
    long blocks = live;

    said.lines = 0;
    ck_assert_int_eq(
        CALL(evzk_shards_join(s, path, opt, on_shard, cb, NULL, &out)), rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(live, blocks);
    if (rc == EVZK_ERR_INVAL)
        told_why("evzk_shards_join(", s != NULL);
}

START_TEST(test_shards_args)
{
    const evzk_shards_options *opt = &all_shards_options;
    char longest[4096 - 12 + 2]; /* With "/shard-65535" behind it. */
    struct heard h = {0};
    struct world w;

    set_up(&w);
    join_fails(NULL, "/a", opt, on_shards, EVZK_ERR_INVAL);
    join_fails(w.s, "/a", NULL, on_shards, EVZK_ERR_INVAL);
    join_fails(w.s, "/a", opt, NULL, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(bad_paths); i++)
        join_fails(w.s, bad_paths[i], opt, on_shards, EVZK_ERR_INVAL);
    INVAL(evzk_shards_join(w.s, "/a", opt, on_shard, on_shards, NULL, NULL));
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    join_fails(w.s, longest, opt, on_shards, EVZK_ERR_INVAL);
    DO(evzk_shards_free(join(&w, &h)));
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_shards_options)
{
    static char data[EVZK_SHARDS_DATA_MAX + 1];
    const evzk_shards_options bad[] = {
        {.count = 0},
        {.count = EVZK_SHARDS_MAX + 1},
        {.count = UINT32_MAX},
        {.count = 1, .data_len = 1},
        {.count = 1, .data = data, .data_len = sizeof data},
        {.count = 1, .data = data, .data_len = SIZE_MAX},
        {.count = 1, .reserved = {data}},
        {.count = 1, .reserved = {NULL, NULL, NULL, data}},
    };
    const evzk_shards_options good[] = {
        {.count = 1},
        {.count = EVZK_SHARDS_MAX},
        {.count = 1, .data = data},
        {.count = 1, .data = data, .data_len = EVZK_SHARDS_DATA_MAX},
        {.count = 1,
         .observer = true,
         .weight = UINT32_MAX,
         .most = UINT32_MAX},
    };
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        join_fails(w.s, "/a", &bad[i], on_shards, EVZK_ERR_INVAL);
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        evzk_shards *a = NULL;

        ck_assert_int_eq(CALL(evzk_shards_join(w.s, "/a", &good[i], NULL,
                                               on_shards, NULL, &a)),
                         EVZK_OK);
        DO(evzk_shards_free(a));
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_shards_null)
{
    evzk_shards_member m;
    evzk_shards_stats st;

    INVAL_DEAF(evzk_shards_acknowledge(NULL, 0, "x", 1));
    INVAL_DEAF(evzk_shards_drain(NULL, 1));
    ck_assert(!evzk_shards_elected(NULL, 0));
    ck_assert(!evzk_shards_leading(NULL, 0));
    ck_assert_uint_eq(evzk_shards_epoch(NULL, 0), 0);
    ck_assert(!evzk_shards_leader(NULL, 0, &m));
    ck_assert(!evzk_shards_member_at(NULL, 0, &m));
    memset(&st, 1, sizeof st);
    evzk_shards_get_stats(NULL, &st);
    ck_assert_uint_eq(st.plan + st.moves, 0);
    ck_assert_uint_eq(st.members + st.planned + st.elected + st.leading, 0);
    ck_assert(!st.planner);
    evzk_shards_get_stats(NULL, NULL);
    evzk_shards_free(NULL);
}
END_TEST

/* A session that never was: its figures. */
START_TEST(test_session_figures)
{
    struct heard h = {0};
    evzk_session_stats stats;
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, NULL, &h);
    run_ms(&w, 50);
    ck_assert(!evzk_session_connected(w.s));
    ck_assert_uint_eq(evzk_session_lease_ms(w.s), 0);
    ck_assert_uint_eq(evzk_session_timeout_ms(w.s), 0);
    ck_assert_int_eq(evzk_session_id(w.s), 0);
    evzk_session_get_stats(w.s, &stats);
    ck_assert_uint_eq(stats.connects, 0);
    ck_assert_uint_eq(stats.machines, 1);
    ck_assert_uint_eq(stats.queued, 1);
    ck_assert_uint_eq(stats.in_flight, 0);
    ck_assert_int_eq(w.session.events, 0);
    DO(evzk_lock_free(l));
    run_ms(&w, 20);
    evzk_session_get_stats(w.s, &stats);
    ck_assert_uint_eq(stats.machines, 0);
    ck_assert_uint_eq(stats.queued, 0);
    tear_down(&w);
}
END_TEST

/* No memory. */

static evzk_acl one_acl[] = {{EVZK_PERM_ALL, "digest", "user:hash"}};
static const evzk_session_options all_session_options = {
    .chroot = "/app", .acl = one_acl, .acl_count = 1};
static const evzk_lock_priority all_priority = {
    .priority = 9, .ageing = 2, .revoke = true, .grace_ms = 5};
static const evzk_lock_options all_lock_options = {.mode = EVZK_LOCK_WRITE,
                                                   .priority = &all_priority,
                                                   .revocable = true,
                                                   .timeout_ms = 10000,
                                                   .data = "me",
                                                   .data_len = 2,
                                                   .acl = one_acl,
                                                   .acl_count = 1};

typedef int attempt(struct world *w, void **out);

/* What the call had begun ends in the loop. */
static bool ends_in_loop;

static int try_open(struct world *w, void **out)
{
    evzk_session *s = *out;
    int rc = CALL(evzk_session_open(w->base, "1.2.3.4:5,zk,[::1]",
                                    &all_session_options, NULL, NULL, &s));

    *out = s;
    return rc;
}

static int try_lock(struct world *w, void **out)
{
    evzk_lock *l = *out;
    int rc = CALL(evzk_lock_acquire(w->s, "/a/b", &all_lock_options, on_lock,
                                    &w->session, &l));

    *out = l;
    return rc;
}

static int try_query(struct world *w, void **out)
{
    evzk_lock_query *q = *out;
    int rc = CALL(evzk_lock_query_start(w->s, "/a/b", on_query, NULL, &q));

    *out = q;
    return rc;
}

static int try_revoke(struct world *w, void **out)
{
    evzk_lock_revoke *r = *out;
    int rc = CALL(evzk_lock_revoke_start(w->s, "/a/b", &all_revoke_options,
                                         on_revoke, &w->session, &r));

    *out = r;
    return rc;
}

static const evzk_election_options all_election_options = {.revocable = true,
                                                           .timeout_ms = 10000,
                                                           .data = "me",
                                                           .data_len = 2,
                                                           .acl = one_acl,
                                                           .acl_count = 1};

static int try_volunteer(struct world *w, void **out)
{
    evzk_election *e = *out;
    int rc = CALL(evzk_election_volunteer(w->s, "/a/b", &all_election_options,
                                          on_election, &w->session, &e));

    *out = e;
    return rc;
}

static int try_observe(struct world *w, void **out)
{
    evzk_observer *o = *out;
    int rc =
        CALL(evzk_election_observe(w->s, "/a/b", on_observer, &w->session, &o));

    *out = o;
    return rc;
}

static int try_join(struct world *w, void **out)
{
    evzk_shards *a = *out;
    int rc = CALL(evzk_shards_join(w->s, "/a/b", &all_shards_options, on_shard,
                                   on_shards, &w->session, &a));

    *out = a;
    return rc;
}

static int try_auth(struct world *w, void **out)
{
    (void)out;
    return CALL(evzk_session_add_auth(w->s, "digest", "user:password", 13));
}

/* Fails the first allocation, the second, ... until the call succeeds.  A call
 * whose allocation failed must say so, change nothing and keep nothing. */
static void *with_failures(struct world *w, attempt *try_it, bool all_after)
{
    void *out = &mark_of_out;
    int rc = EVZK_ERR_NOMEM;

    for (long i = 1; rc != EVZK_OK; i++) {
        long before = live;

        ck_assert_int_lt(i, 100);
        calls = 0;
        fail_at = i;
        fail_on = all_after;
        rc = try_it(w, &out);
        if (calls < i)
            break;
        ck_assert_msg(rc == EVZK_ERR_NOMEM, "allocation %ld: %s", i,
                      evzk_errname(rc));
        ck_assert_ptr_eq(out, &mark_of_out);
        /* Meanwhile the session makes handles, and throws them away. */
        for (int n = 0; ends_in_loop && live != before && n < 100; n++)
            run_ms(w, 20);
        ck_assert_int_eq(live, before);
    }
    fail_at = 0;
    fail_on = false;
    ck_assert_int_eq(rc, EVZK_OK);
    return out;
}

START_TEST(test_no_memory_open)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        DO(evzk_session_free(with_failures(&w, try_open, all)));
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_lock)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        DO(evzk_lock_free(with_failures(&w, try_lock, all)));
    run_ms(&w, 20);
    ck_assert_int_eq(w.session.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_query)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        DO(evzk_lock_query_free(with_failures(&w, try_query, all)));
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_revoke)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        DO(evzk_lock_revoke_free(with_failures(&w, try_revoke, all)));
    run_ms(&w, 20);
    ck_assert_int_eq(w.session.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_election)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++) {
        DO(evzk_election_free(with_failures(&w, try_volunteer, all)));
        DO(evzk_observer_free(with_failures(&w, try_observe, all)));
    }
    run_ms(&w, 20);
    ck_assert_int_eq(w.session.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_shards)
{
    struct heard h = {0};
    struct world w;

    set_up(&w);
    ends_in_loop = true;
    DO(evzk_shards_free(join(&w, &h)));
    run_ms(&w, 20); /* What the session keeps for all that follows. */
    for (int all = 0; all < 2; all++) {
        DO(evzk_shards_free(with_failures(&w, try_join, all)));
        run_ms(&w, 20);
    }
    ends_in_loop = false;
    ck_assert_int_eq(w.session.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_no_memory_auth)
{
    struct world w;

    set_up(&w);
    for (int all = 0; all < 2; all++)
        with_failures(&w, try_auth, all);
    tear_down(&w);
}
END_TEST

/* Ending takes no memory: cancel, close, free. */
START_TEST(test_ends_without_memory)
{
    struct heard a = {0}, b = {0}, c = {0}, d = {0}, e = {0};
    evzk_lock *la, *lb, *lc;
    evzk_lock_revoke *rd, *re;
    struct world w;

    set_up(&w);
    la = acquire(&w, NULL, &a);
    lb = acquire(&w, &all_lock_options, &b);
    lc = acquire(&w, NULL, &c);
    rd = start_revoke(&w, NULL, &d);
    re = start_revoke(&w, &all_revoke_options, &e);
    fail_at = calls + 1;
    fail_on = true;
    ck_assert_int_eq(CALL(evzk_lock_cancel(la)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(rd)), EVZK_OK);
    DO(evzk_lock_free(lc));
    run_until(&w, &w.ended, 2);
    expect(&a, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
    expect_end(&d, EVZK_ERR_CANCELED);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    expect(&b, EVZK_LOCK_FAILED, EVZK_ERR_CLOSED);
    expect_end(&e, EVZK_ERR_CLOSED);
    ck_assert_int_eq(c.events, 0);
    DO(evzk_lock_free(la));
    DO(evzk_lock_free(lb));
    DO(evzk_lock_revoke_free(rd));
    DO(evzk_lock_revoke_free(re));
    tear_down(&w);
}
END_TEST

/* While there is no memory for a handle, the session tries again. */
START_TEST(test_no_memory_in_loop)
{
    struct heard h = {0};
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, NULL, &h);
    fail_at = calls + 1;
    fail_on = true;
    run_ms(&w, 300);
    ck_assert_int_ge(calls, fail_at);
    ck_assert_int_eq(h.events, 0);
    fail_on = false;
    run_ms(&w, 200);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
    DO(evzk_lock_free(l));
    tear_down(&w);
}
END_TEST

/* The life of a lock without a server. */

static void expect_unheld(const evzk_lock *l)
{
    ck_assert(!evzk_lock_held(l));
    ck_assert_uint_eq(evzk_lock_lease_ms(l), 0);
    ck_assert_uint_eq(evzk_lock_token(l), 0);
    ck_assert_str_eq(evzk_lock_node(l), "");
    ck_assert_uint_gt(strlen(evzk_lock_state(l)), 0);
}

static void cancel_after(int64_t ms)
{
    struct heard h = {0};
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, NULL, &h);
    expect_unheld(l);
    if (ms > 0)
        run_ms(&w, ms);
    ck_assert_int_eq(CALL(evzk_lock_release(l)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
    ck_assert_int_eq(h.events, 0);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
    expect_unheld(l);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_lock_release(l)), EVZK_ERR_STATE);
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 1);
    DO(evzk_lock_free(l));
    tear_down(&w);
}

START_TEST(test_cancel)
{
    cancel_after(0);
    cancel_after(30);
}
END_TEST

/* The loop's own clock ticks every few milliseconds only. */
enum { TICK_MS = 20 };

START_TEST(test_timeout)
{
    const evzk_lock_options opt = {.timeout_ms = 200};
    struct heard h = {0};
    struct world w;
    int64_t begun;
    evzk_lock *l;

    set_up(&w);
    run_ms(&w, 20);
    begun = now_ms();
    l = acquire(&w, &opt, &h);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(now_ms() - begun, 200 - TICK_MS);
    ck_assert_int_lt(now_ms() - begun, 10000);
    expect_unheld(l);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_ERR_STATE);
    run_ms(&w, 50);
    ck_assert_int_eq(h.events, 1);
    DO(evzk_lock_free(l));
    tear_down(&w);
}
END_TEST

struct late_start {
    struct world *w;
    struct heard h;
    evzk_lock *l;
    int64_t begun;
};

/* The loop's idea of the time is old by now. */
static void work_then_acquire(evutil_socket_t fd, short what, void *arg)
{
    const evzk_lock_options opt = {.timeout_ms = 1000};
    struct late_start *t = arg;

    (void)fd;
    (void)what;
    t->begun = now_ms();
    while (now_ms() < t->begun + 1200)
        ;
    t->begun = now_ms();
    t->l = acquire(t->w, &opt, &t->h);
}

START_TEST(test_timeout_in_busy_loop)
{
    const struct timeval now = {0, 0};
    struct late_start t = {.l = NULL};
    struct world w;

    set_up(&w);
    t.w = &w;
    event_base_once(w.base, -1, EV_TIMEOUT, work_then_acquire, &t, &now);
    run_until(&w, &w.ended, 1);
    expect(&t.h, EVZK_LOCK_FAILED, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(now_ms() - t.begun, 1000 - TICK_MS);
    DO(evzk_lock_free(t.l));
    tear_down(&w);
}
END_TEST

START_TEST(test_timeout_freed_inside)
{
    const evzk_lock_options opt = {.timeout_ms = 1};
    struct heard h = {.free_it = true};
    struct world w;

    set_up(&w);
    acquire(&w, &opt, &h);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_TIMEOUT);
    tear_down(&w);
}
END_TEST

/* A time-out and a cancel at once: one final event all the same. */
START_TEST(test_timeout_and_cancel)
{
    const evzk_lock_options opt = {.timeout_ms = 1};
    struct heard h[40] = {{0}};
    evzk_lock *l[40];
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < UNIT_COUNT(h); i++)
        l[i] = acquire(&w, &opt, &h[i]);
    for (size_t i = 0; i < UNIT_COUNT(h); i++) {
        int rc;

        event_base_loop(w.base, EVLOOP_NONBLOCK);
        rc = CALL(evzk_lock_cancel(l[i]));
        ck_assert(rc == EVZK_OK || (rc == EVZK_ERR_STATE && h[i].events == 1));
    }
    run_until(&w, &w.ended, UNIT_COUNT(h));
    run_ms(&w, 20);
    for (size_t i = 0; i < UNIT_COUNT(h); i++) {
        ck_assert_int_eq(h[i].events, 1);
        ck_assert_int_eq(h[i].event, EVZK_LOCK_FAILED);
        ck_assert(h[i].rc == EVZK_ERR_TIMEOUT || h[i].rc == EVZK_ERR_CANCELED);
        DO(evzk_lock_free(l[i]));
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_free)
{
    struct heard h = {0};
    evzk_lock *l[3];
    struct world w;

    set_up(&w);
    DO(evzk_lock_free(acquire(&w, NULL, &h)));
    DO(evzk_lock_free(acquire(&w, &all_lock_options, &h)));
    for (int i = 0; i < 3; i++)
        l[i] = acquire(&w, &all_lock_options, &h);
    DO(evzk_lock_free(l[0]));
    run_ms(&w, 30);
    DO(evzk_lock_free(l[1]));
    ck_assert_int_eq(CALL(evzk_lock_cancel(l[2])), EVZK_OK);
    DO(evzk_lock_free(l[2])); /* Canceled, and then freed: not a word. */
    run_ms(&w, 30);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_free_inside)
{
    struct heard h = {.free_it = true};
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, NULL, &h);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
    tear_down(&w);
}
END_TEST

/* Locks outlive the session; their owners free them when they like. */
START_TEST(test_free_after_session)
{
    struct heard h = {0};
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, &all_lock_options, &h);
    run_ms(&w, 20);
    DO(evzk_session_free(w.s));
    w.s = NULL;
    ck_assert_int_eq(h.events, 0);
    run_out(&w);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CLOSED);
    ck_assert_int_eq(w.session.events, 0);
    expect_unheld(l);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_lock_release(l)), EVZK_ERR_STATE);
    DO(evzk_lock_free(l));
    tear_down(&w);
}
END_TEST

/* The session freed in a lock's callback, and the lock too. */
START_TEST(test_free_all_inside)
{
    struct heard h[5] = {{0}};
    evzk_lock *l[5];
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < 5; i++) {
        h[i].free_it = true;
        l[i] = acquire(&w, NULL, &h[i]);
    }
    h[2].close = w.s;
    ck_assert_int_eq(CALL(evzk_lock_cancel(l[2])), EVZK_OK);
    run_out(&w);
    for (size_t i = 0; i < 5; i++)
        expect(&h[i], EVZK_LOCK_FAILED,
               i == 2 ? EVZK_ERR_CANCELED : EVZK_ERR_CLOSED);
    w.s = NULL;
    tear_down(&w);
}
END_TEST

/* The life of a candidate and of an observer without a server. */

static void expect_not_elected(const evzk_election *e)
{
    ck_assert(!evzk_election_elected(e));
    ck_assert(!evzk_election_leading(e));
    ck_assert_uint_eq(evzk_election_lease_ms(e), 0);
    ck_assert_uint_eq(evzk_election_epoch(e), 0);
    ck_assert_str_eq(evzk_election_node(e), "");
    ck_assert_uint_gt(strlen(evzk_election_state(e)), 0);
}

/* Nothing is said before it is elected, whatever it is. */
static void cannot_acknowledge(evzk_election *e)
{
    static const char most[EVZK_ELECTION_DATA_MAX + 1];
    /* What has ended has let go of its session, and of the log. */
    bool heard = strcmp(evzk_election_state(e), "ENDED") != 0;
    long blocks = live;

    ck_assert_int_eq(CALL(evzk_election_acknowledge(e, "x", 1)),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_election_acknowledge(e, NULL, 0)),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(CALL(evzk_election_acknowledge(e, most, sizeof most - 1)),
                     EVZK_ERR_STATE);
    INVAL_HEARD(heard, evzk_election_acknowledge(e, NULL, 1));
    INVAL_HEARD(heard, evzk_election_acknowledge(e, most, sizeof most));
    INVAL_HEARD(heard, evzk_election_acknowledge(e, most, SIZE_MAX));
    ck_assert_int_eq(live, blocks);
}

START_TEST(test_election_resigns)
{
    struct heard h[2] = {{0}, {.free_it = true}};
    evzk_election *e[2];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 2; i++) {
        e[i] = volunteer(&w, i ? &all_election_options : NULL, &h[i]);
        expect_not_elected(e[i]);
        cannot_acknowledge(e[i]);
    }
    run_ms(&w, 20);
    for (int i = 0; i < 2; i++) {
        cannot_acknowledge(e[i]);
        ck_assert_int_eq(CALL(evzk_election_resign(e[i])), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_election_resign(e[i])), EVZK_ERR_STATE);
        cannot_acknowledge(e[i]);
    }
    run_until(&w, &w.ended, 2);
    for (int i = 0; i < 2; i++)
        expect(&h[i], EVZK_ELECTION_FAILED, EVZK_ERR_CANCELED);
    expect_not_elected(e[0]);
    cannot_acknowledge(e[0]);
    ck_assert_int_eq(CALL(evzk_election_resign(e[0])), EVZK_ERR_STATE);
    DO(evzk_election_free(e[0]));
    tear_down(&w);
}
END_TEST

START_TEST(test_election_timeout)
{
    const evzk_election_options opt = {.timeout_ms = 50};
    struct heard h = {0};
    struct world w;
    evzk_election *e;

    set_up(&w);
    e = volunteer(&w, &opt, &h);
    run_until(&w, &w.ended, 1);
    expect(&h, EVZK_ELECTION_FAILED, EVZK_ERR_TIMEOUT);
    expect_not_elected(e);
    DO(evzk_election_free(e));
    tear_down(&w);
}
END_TEST

/* Freed at once, later, and after the call to resign: not a word. */
START_TEST(test_election_free)
{
    struct heard h = {0};
    evzk_election *e[2];
    evzk_observer *o;
    struct world w;

    set_up(&w);
    DO(evzk_election_free(volunteer(&w, &all_election_options, &h)));
    DO(evzk_observer_free(observe(&w, &h)));
    for (int i = 0; i < 2; i++)
        e[i] = volunteer(&w, NULL, &h);
    o = observe(&w, &h);
    run_ms(&w, 20);
    DO(evzk_election_free(e[0]));
    ck_assert_int_eq(CALL(evzk_election_resign(e[1])), EVZK_OK);
    DO(evzk_election_free(e[1]));
    DO(evzk_observer_free(o));
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

/* Closed (0), or the session is freed (1). */
static void elections_end(bool freed)
{
    struct heard h[4] = {{0}, {.free_it = true}, {0}, {.free_it = true}};
    evzk_election *e;
    evzk_observer *o;
    struct world w;

    set_up(&w);
    e = volunteer(&w, &all_election_options, &h[0]);
    volunteer(&w, NULL, &h[1]);
    o = observe(&w, &h[2]);
    observe(&w, &h[3]);
    run_ms(&w, 20);
    if (!freed) {
        ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
        volunteer_fails(w.s, "/a", NULL, on_election, EVZK_ERR_CLOSED);
        observe_fails(w.s, "/a", on_observer, EVZK_ERR_CLOSED);
    } else {
        DO(evzk_session_free(w.s));
        w.s = NULL;
    }
    run_out(&w);
    for (int i = 0; i < 2; i++)
        expect(&h[i], EVZK_ELECTION_FAILED, EVZK_ERR_CLOSED);
    for (int i = 2; i < 4; i++)
        expect_end(&h[i], EVZK_ERR_CLOSED);
    expect_not_elected(e);
    cannot_acknowledge(e);
    ck_assert_int_eq(CALL(evzk_election_resign(e)), EVZK_ERR_STATE);
    DO(evzk_election_free(e));
    DO(evzk_observer_free(o));
    tear_down(&w);
}

START_TEST(test_election_closed)
{
    elections_end(false);
    elections_end(true);
}
END_TEST

/* The life of shards without a server. */

static void expect_no_shards(evzk_shards *a)
{
    evzk_shards_member m;
    evzk_shards_stats st;

    for (uint32_t i = 0; i < 8; i++) {
        ck_assert(!evzk_shards_elected(a, i));
        ck_assert(!evzk_shards_leading(a, i));
        ck_assert_uint_eq(evzk_shards_epoch(a, i), 0);
        ck_assert(!evzk_shards_leader(a, i, &m));
        ck_assert(!evzk_shards_member_at(a, i, &m));
        if (i < 7)
            ck_assert_int_eq(CALL(evzk_shards_acknowledge(a, i, "x", 1)),
                             EVZK_ERR_STATE);
        else
            INVAL(evzk_shards_acknowledge(a, i, "x", 1));
    }
    evzk_shards_get_stats(a, &st);
    ck_assert_uint_eq(st.plan + st.moves, 0);
    ck_assert_uint_eq(st.members + st.planned + st.elected + st.leading, 0);
    ck_assert_uint_eq(st.nobodys, 0);
    ck_assert(!st.planner);
}

/* Drained at once, later, with a time, and freed inside. */
START_TEST(test_shards_drain)
{
    struct heard h[3] = {{0}, {0}, {.free_it = true}};
    evzk_shards *a[3];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 3; i++) {
        a[i] = join(&w, &h[i]);
        expect_no_shards(a[i]);
        if (i == 1)
            run_ms(&w, 20);
        ck_assert_int_eq(CALL(evzk_shards_drain(a[i], i ? 60000 : 0)), EVZK_OK);
        ck_assert_int_eq(CALL(evzk_shards_drain(a[i], 0)), EVZK_ERR_STATE);
        expect_no_shards(a[i]);
    }
    run_until(&w, &w.ended, 3);
    for (int i = 0; i < 3; i++)
        expect(&h[i], EVZK_SHARDS_DRAINED, EVZK_OK);
    for (int i = 0; i < 2; i++) {
        expect_no_shards(a[i]);
        ck_assert_int_eq(CALL(evzk_shards_drain(a[i], 0)), EVZK_ERR_STATE);
        DO(evzk_shards_free(a[i]));
    }
    tear_down(&w);
}
END_TEST

/* Freed at once, later, and after the call to drain: not a word. */
START_TEST(test_shards_free)
{
    struct heard h = {0};
    evzk_shards *a[2];
    struct world w;

    set_up(&w);
    DO(evzk_shards_free(join(&w, &h)));
    for (int i = 0; i < 2; i++)
        a[i] = join(&w, &h);
    run_ms(&w, 20);
    DO(evzk_shards_free(a[0]));
    ck_assert_int_eq(CALL(evzk_shards_drain(a[1], 10)), EVZK_OK);
    DO(evzk_shards_free(a[1]));
    run_ms(&w, 40);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

/* Closed (0), or the session is freed (1), there by one of them (2). */
static void shards_end(int how)
{
    struct heard h[3] = {{0}, {.free_it = true}, {.free_it = true}};
    struct world w;
    evzk_shards *a;

    set_up(&w);
    a = join(&w, &h[0]);
    join(&w, &h[1]);
    if (how == 2)
        h[2].close = w.s;
    if (how == 2)
        ck_assert_int_eq(CALL(evzk_shards_drain(join(&w, &h[2]), 0)), EVZK_OK);
    run_ms(&w, 20);
    if (how == 0)
        ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    if (how == 0)
        join_fails(w.s, "/a", &all_shards_options, on_shards, EVZK_ERR_CLOSED);
    if (how == 1)
        DO(evzk_session_free(w.s));
    if (how > 0)
        w.s = NULL;
    run_out(&w);
    for (int i = 0; i < 2; i++)
        expect(&h[i], EVZK_SHARDS_FAILED, EVZK_ERR_CLOSED);
    expect_no_shards(a);
    ck_assert_int_eq(CALL(evzk_shards_drain(a, 0)), EVZK_ERR_STATE);
    DO(evzk_shards_free(a));
    tear_down(&w);
}

START_TEST(test_shards_closed)
{
    for (int how = 0; how < 3; how++)
        shards_end(how);
}
END_TEST

/* Closing. */

START_TEST(test_close)
{
    enum { LOCKS = 50 };
    struct heard h[LOCKS] = {{0}}, q = {0};
    evzk_lock *l[LOCKS], *none = NULL;
    evzk_lock_query *query = NULL;
    struct world w;

    set_up(&w);
    for (size_t i = 0; i < LOCKS; i++) {
        l[i] = acquire(&w, i % 2 ? &all_lock_options : NULL, &h[i]);
        if (i == LOCKS / 2)
            run_ms(&w, 20); /* Some have begun, some have not. */
    }
    ck_assert_int_eq(
        CALL(evzk_lock_query_start(w.s, "/a", on_query, &q, &query)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_ERR_CLOSED);
    ck_assert_int_eq(
        CALL(evzk_lock_acquire(w.s, "/a", NULL, on_lock, NULL, &none)),
        EVZK_ERR_CLOSED);
    query_fails(w.s, "/a", on_query, EVZK_ERR_CLOSED);
    revoke_fails(w.s, "/a", NULL, on_revoke, EVZK_ERR_CLOSED);
    ck_assert_int_eq(CALL(evzk_session_add_auth(w.s, "a", "b", 1)),
                     EVZK_ERR_CLOSED);
    ck_assert_int_eq(w.session.events, 0);
    while (w.session.events == 0) {
        event_base_loop(w.base, EVLOOP_ONCE);
        ck_assert(w.session.events == 0 || w.ended == LOCKS); /* It is last. */
    }
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    ck_assert_int_eq(q.events, 1);
    ck_assert_int_eq(q.rc, EVZK_ERR_CLOSED);
    DO(evzk_lock_query_free(query));
    for (size_t i = 0; i < LOCKS; i++) {
        expect(&h[i], EVZK_LOCK_FAILED, EVZK_ERR_CLOSED);
        expect_unheld(l[i]);
        DO(evzk_lock_free(l[i]));
    }
    run_out(&w);
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_ERR_CLOSED);
    tear_down(&w);
}
END_TEST

START_TEST(test_close_freed_inside)
{
    struct world w;

    set_up(&w);
    w.session.free_it = true;
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    expect(&w.session, EVZK_SESSION_CLOSED, EVZK_OK);
    w.s = NULL;
    tear_down(&w);
}
END_TEST

/* Canceled first, closed then: the first one counts. */
START_TEST(test_cancel_then_close)
{
    struct heard h = {0};
    struct world w;
    evzk_lock *l;

    set_up(&w);
    l = acquire(&w, NULL, &h);
    ck_assert_int_eq(CALL(evzk_lock_cancel(l)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_session_close(w.s)), EVZK_OK);
    run_out(&w);
    expect(&h, EVZK_LOCK_FAILED, EVZK_ERR_CANCELED);
    DO(evzk_lock_free(l));
    tear_down(&w);
}
END_TEST

/* The life of a revocation without a server. */

static void revoke_cancel_after(int64_t ms)
{
    struct heard h = {0};
    struct world w;
    evzk_lock_revoke *r;

    set_up(&w);
    r = start_revoke(&w, NULL, &h);
    if (ms > 0)
        run_ms(&w, ms);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r)), EVZK_OK);
    ck_assert_int_eq(h.events, 0);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r)), EVZK_ERR_STATE);
    run_until(&w, &w.ended, 1);
    expect_end(&h, EVZK_ERR_CANCELED);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r)), EVZK_ERR_STATE);
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 1);
    DO(evzk_lock_revoke_free(r));
    tear_down(&w);
}

START_TEST(test_revoke_cancel)
{
    revoke_cancel_after(0);
    revoke_cancel_after(30);
}
END_TEST

START_TEST(test_revoke_timeout)
{
    const evzk_lock_revoke_options opt = {
        .remove = true, .grace_ms = 5, .timeout_ms = 200};
    struct heard h = {0};
    struct world w;
    evzk_lock_revoke *r;
    int64_t begun;

    set_up(&w);
    run_ms(&w, 20);
    begun = now_ms();
    r = start_revoke(&w, &opt, &h);
    run_until(&w, &w.ended, 1);
    expect_end(&h, EVZK_ERR_TIMEOUT);
    ck_assert_int_ge(now_ms() - begun, 200 - TICK_MS);
    ck_assert_int_lt(now_ms() - begun, 10000);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r)), EVZK_ERR_STATE);
    run_ms(&w, 50);
    ck_assert_int_eq(h.events, 1);
    DO(evzk_lock_revoke_free(r));
    tear_down(&w);
}
END_TEST

/* At once, after a while, canceled before, and inside the callback. */
START_TEST(test_revoke_free)
{
    struct heard h = {0}, inner = {.free_it = true};
    evzk_lock_revoke *r[3];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 3; i++)
        r[i] = start_revoke(&w, i ? &all_revoke_options : NULL, &h);
    DO(evzk_lock_revoke_free(r[0]));
    run_ms(&w, 30);
    DO(evzk_lock_revoke_free(r[1]));
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r[2])), EVZK_OK);
    DO(evzk_lock_revoke_free(r[2]));
    run_ms(&w, 30);
    ck_assert_int_eq(h.events, 0);
    ck_assert_int_eq(
        CALL(evzk_lock_revoke_cancel(start_revoke(&w, NULL, &inner))), EVZK_OK);
    run_until(&w, &w.ended, 1);
    expect_end(&inner, EVZK_ERR_CANCELED);
    tear_down(&w);
}
END_TEST

/* It outlives the session, which may be freed in its callback. */
START_TEST(test_revoke_closed)
{
    struct heard h[3] = {{0}};
    evzk_lock_revoke *r[3];
    struct world w;

    set_up(&w);
    for (int i = 0; i < 3; i++)
        r[i] = start_revoke(&w, NULL, &h[i]);
    h[1].close = w.s;
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r[1])), EVZK_OK);
    run_out(&w);
    w.s = NULL;
    for (int i = 0; i < 3; i++) {
        expect_end(&h[i], i == 1 ? EVZK_ERR_CANCELED : EVZK_ERR_CLOSED);
        ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(r[i])), EVZK_ERR_STATE);
        DO(evzk_lock_revoke_free(r[i]));
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_query_freed)
{
    struct heard h = {0};
    evzk_lock_query *q[2] = {NULL, NULL};
    struct world w;

    set_up(&w);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            CALL(evzk_lock_query_start(w.s, "/a", on_query, &h, &q[i])),
            EVZK_OK);
    DO(evzk_lock_query_free(q[0]));
    run_ms(&w, 20);
    DO(evzk_lock_query_free(q[1]));
    run_ms(&w, 20);
    ck_assert_int_eq(h.events, 0);
    tear_down(&w);
}
END_TEST

/* No session at all, and a closed one at once. */
START_TEST(test_open_and_free)
{
    struct world w;

    set_up(&w);
    tear_down(&w);
    ck_assert_int_eq(w.session.events, 0);
    set_up(&w);
    evzk_set_allocator(counted_malloc, NULL, counted_free);
    tear_down(&w);
}
END_TEST

/* Fork.  A server that shakes hands, and says nothing more. */

struct server {
    struct event_base *base;
    int listener, peer;
    struct event *accepting, *reading;
    size_t got;
    char servers[32];
};

static void shake_hands(evutil_socket_t fd, short what, void *arg)
{
    /* Length; version, time-out 100 s, session 7, a password, not read-only. */
    static const unsigned char answer[41] = {
        [3] = 37, [9] = 1,   [10] = 0x86, [11] = 0xa0,
        [19] = 7, [23] = 16, [24] = 1};
    struct server *sv = arg;
    unsigned char buf[256];
    ssize_t n = recv(fd, buf, sizeof buf, 0);
    bool before = sv->got >= 44;

    (void)what;
    if (n <= 0) {
        event_del(sv->reading);
        return;
    }
    sv->got += (size_t)n;
    if (!before && sv->got >= 44)
        ck_assert_int_eq(send(fd, answer, sizeof answer, MSG_NOSIGNAL),
                         sizeof answer);
}

static void accept_one(evutil_socket_t fd, short what, void *arg)
{
    struct server *sv = arg;

    (void)what;
    sv->peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ck_assert_int_ge(sv->peer, 0);
    sv->reading =
        event_new(sv->base, sv->peer, EV_READ | EV_PERSIST, shake_hands, sv);
    event_add(sv->reading, NULL);
}

static void start_server(struct server *sv)
{
    struct sockaddr_in sin = {.sin_family = AF_INET};
    socklen_t len = sizeof sin;

    memset(sv, 0, sizeof *sv);
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sv->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(sv->listener, (struct sockaddr *)&sin, sizeof sin),
                     0);
    ck_assert_int_eq(listen(sv->listener, 1), 0);
    ck_assert_int_eq(getsockname(sv->listener, (struct sockaddr *)&sin, &len),
                     0);
    snprintf(sv->servers, sizeof sv->servers, "127.0.0.1:%u",
             ntohs(sin.sin_port));
}

static void serve(struct server *sv, struct event_base *base)
{
    sv->base = base;
    sv->accepting = event_new(base, sv->listener, EV_READ, accept_one, sv);
    event_add(sv->accepting, NULL);
}

static void stop_server(struct server *sv)
{
    event_free(sv->accepting);
    if (sv->reading)
        event_free(sv->reading);
    close(sv->peer);
    close(sv->listener);
}

/* A parent with a connection, and two locks that wait. */
struct parent {
    struct world w;
    struct server sv;
    struct heard h[7]; /* Each operation's own. */
    evzk_lock *l[2];
    evzk_lock_query *q;
    evzk_lock_revoke *r;
    evzk_election *e;
    evzk_observer *o;
    evzk_shards *a;
};

/* Of those, so many count their ends: a query does not. */
enum { PARENT_ENDS = 6 };

static void begin_parent(struct parent *p)
{
    memset(p, 0, sizeof *p);
    start_server(&p->sv);
    set_up_at(&p->w, p->sv.servers);
    serve(&p->sv, p->w.base);
    p->l[0] = acquire(&p->w, NULL, &p->h[0]);
    p->l[1] = acquire(&p->w, &all_lock_options, &p->h[1]);
    ck_assert_int_eq(
        CALL(evzk_lock_query_start(p->w.s, "/a", on_query, &p->h[2], &p->q)),
        EVZK_OK);
    p->r = start_revoke(&p->w, &all_revoke_options, &p->h[3]);
    p->e = volunteer(&p->w, &all_election_options, &p->h[4]);
    p->o = observe(&p->w, &p->h[5]);
    p->a = join(&p->w, &p->h[6]);
}

static void set_up_parent(struct parent *p)
{
    begin_parent(p);
    run_until(&p->w, &p->w.session.events, 1);
    expect(&p->w.session, EVZK_SESSION_CONNECTED, EVZK_OK);
    ck_assert(evzk_session_connected(p->w.s));
    ck_assert_uint_gt(evzk_session_lease_ms(p->w.s), 0);
    run_ms(&p->w, 20);
}

static void close_parent(struct parent *p)
{
    DO(evzk_lock_free(p->l[0]));
    DO(evzk_lock_free(p->l[1]));
    DO(evzk_lock_query_free(p->q));
    DO(evzk_lock_revoke_free(p->r));
    DO(evzk_election_free(p->e));
    DO(evzk_observer_free(p->o));
    DO(evzk_shards_free(p->a));
    stop_server(&p->sv);
    tear_down(&p->w);
}

/* What fails in the child is told by its exit status. */
typedef bool child_part(struct parent *p);

static void in_child(struct parent *p, child_part *part)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(part(p) ? 0 : 3);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static bool say(bool ok, const char *what)
{
    if (!ok) {
        printf("in the child, not so: %s\n", what);
        fflush(stdout);
    }
    return ok;
}
#define SAY(cond) say(cond, #cond)

static bool session_calls(struct parent *p)
{
    evzk_lock *l = NULL;
    evzk_lock_query *q = NULL;
    evzk_lock_revoke *r = NULL;
    evzk_election *e = NULL;
    evzk_observer *o = NULL;
    evzk_shards *a = NULL;
    evzk_session *s = p->w.s;
    bool ok = SAY(evzk_session_close(s) == EVZK_ERR_FORKED);

    ok &= SAY(evzk_session_add_auth(s, "digest", "a:b", 3) == EVZK_ERR_FORKED);
    ok &= SAY(evzk_lock_acquire(s, "/a", NULL, on_lock, NULL, &l) ==
              EVZK_ERR_FORKED);
    ok &= SAY(evzk_lock_query_start(s, "/a", on_query, NULL, &q) ==
              EVZK_ERR_FORKED);
    ok &= SAY(evzk_lock_revoke_start(s, "/a", NULL, on_revoke, NULL, &r) ==
              EVZK_ERR_FORKED);
    ok &= SAY(evzk_election_volunteer(s, "/a", NULL, on_election, NULL, &e) ==
              EVZK_ERR_FORKED);
    ok &= SAY(evzk_election_observe(s, "/a", on_observer, NULL, &o) ==
              EVZK_ERR_FORKED);
    ok &= SAY(evzk_shards_join(s, "/a", &all_shards_options, NULL, on_shards,
                               NULL, &a) == EVZK_ERR_FORKED);
    ok &= SAY(!l && !q && !r && !e && !o && !a);
    return ok && SAY(evzk_session_lease_ms(s) == 0);
}

START_TEST(test_fork_session_calls)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, session_calls);
    close_parent(&p);
}
END_TEST

static bool connected_call(struct parent *p)
{
    return SAY(!evzk_session_connected(p->w.s));
}

START_TEST(test_fork_connected)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, connected_call);
    close_parent(&p);
}
END_TEST

static bool lock_calls(struct parent *p)
{
    bool ok = true;

    for (int i = 0; i < 2; i++) {
        ok &= SAY(evzk_lock_release(p->l[i]) == EVZK_ERR_FORKED);
        ok &= SAY(evzk_lock_cancel(p->l[i]) == EVZK_ERR_FORKED);
        ok &= SAY(evzk_lock_downgrade(p->l[i]) == EVZK_ERR_FORKED);
        ok &= SAY(evzk_lock_upgrade(p->l[i]) == EVZK_ERR_FORKED);
        ok &= SAY(!evzk_lock_held(p->l[i]));
    }
    ok &= SAY(evzk_lock_revoke_cancel(p->r) == EVZK_ERR_FORKED);
    ok &= SAY(evzk_election_acknowledge(p->e, "x", 1) == EVZK_ERR_FORKED);
    ok &= SAY(evzk_election_resign(p->e) == EVZK_ERR_FORKED);
    ok &= SAY(!evzk_election_elected(p->e) && !evzk_election_leading(p->e));
    ok &= SAY(evzk_shards_drain(p->a, 0) == EVZK_ERR_FORKED);
    ok &= SAY(evzk_shards_acknowledge(p->a, 0, "x", 1) == EVZK_ERR_FORKED);
    ok &= SAY(!evzk_shards_elected(p->a, 0) && !evzk_shards_leading(p->a, 0));
    return ok;
}

START_TEST(test_fork_lock_calls)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, lock_calls);
    close_parent(&p);
}
END_TEST

/* All but what the child's copy of the loop still refers to: one event. */
static bool free_all(struct parent *p)
{
    evzk_session_free(p->w.s);
    evzk_lock_free(p->l[0]);
    evzk_lock_free(p->l[1]);
    evzk_lock_query_free(p->q);
    evzk_lock_revoke_free(p->r);
    evzk_election_free(p->e);
    evzk_observer_free(p->o);
    evzk_shards_free(p->a);
    if (live > 1)
        printf("%ld blocks are left\n", live);
    return SAY(live <= 1);
}

static bool free_locks_first(struct parent *p)
{
    evzk_lock_free(p->l[0]);
    evzk_lock_query_free(p->q);
    evzk_lock_revoke_free(p->r);
    evzk_election_free(p->e);
    evzk_observer_free(p->o);
    evzk_shards_free(p->a);
    evzk_lock_free(p->l[1]);
    evzk_session_free(p->w.s);
    if (live > 1)
        printf("%ld blocks are left\n", live);
    return SAY(live <= 1);
}

START_TEST(test_fork_memory)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, free_all);
    in_child(&p, free_locks_first);
    close_parent(&p);
}
END_TEST

static bool free_quietly(struct parent *p)
{
    evzk_session_free(p->w.s);
    evzk_lock_free(p->l[0]);
    evzk_lock_free(p->l[1]);
    evzk_lock_query_free(p->q);
    evzk_lock_revoke_free(p->r);
    evzk_election_free(p->e);
    evzk_observer_free(p->o);
    evzk_shards_free(p->a);
    return true;
}

static void count_readable(evutil_socket_t fd, short what, void *arg)
{
    char c;

    (void)what;
    if (read(fd, &c, 1) == 1)
        ++*(int *)arg;
}

/* The parent's events go on: its own, and those of the session's socket. */
START_TEST(test_fork_parent_goes_on)
{
    struct event *own;
    int fd[2], read_own = 0;
    struct parent p;
    int64_t begun;

    set_up_parent(&p);
    ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
    own = event_new(p.w.base, fd[0], EV_READ | EV_PERSIST, count_readable,
                    &read_own);
    event_add(own, NULL);
    run_ms(&p.w, 20);
    in_child(&p, free_quietly);
    ck_assert_int_eq(write(fd[1], "x", 1), 1);
    run_until(&p.w, &read_own, 1);
    run_ms(&p.w, 20);
    ck_assert_int_eq(p.w.session.events, 1); /* Nothing was heard of it. */
    ck_assert(evzk_session_connected(p.w.s));
    p.w.session.events = 0;
    begun = now_ms();
    shutdown(p.sv.peer, SHUT_RDWR); /* Seen at once, not by a time-out. */
    run_until(&p.w, &p.w.session.events, 1);
    ck_assert_int_lt(now_ms() - begun, 15000);
    expect(&p.w.session, EVZK_SESSION_SUSPENDED, EVZK_OK);
    event_free(own);
    close(fd[0]);
    close(fd[1]);
    close_parent(&p);
}
END_TEST

/* A child that goes on with its copy of the loop, as libevent says. */
static bool reinit_after(struct parent *p)
{
    free_quietly(p);
    return SAY(event_reinit(p->w.base) == 0);
}

static bool reinit_before(struct parent *p)
{
    bool ok = SAY(event_reinit(p->w.base) == 0);

    free_quietly(p);
    return ok;
}

START_TEST(test_fork_reinit_before)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, reinit_before);
    close_parent(&p);
}
END_TEST

START_TEST(test_fork_reinit_after)
{
    struct parent p;

    set_up_parent(&p);
    in_child(&p, reinit_after);
    close_parent(&p);
}
END_TEST

/* Bad arguments of every call that takes any, whatever state its object is in:
 * they are looked at first, and nothing is changed.  tests/check-exports looks
 * whether a function is missing in bad_calls(). */

static void bad_calls_of_session(struct parent *p)
{
    static char data[65537];
    const evzk_session_options opt = {.log = on_log};
    const evzk_lock_options mode = {.mode = (evzk_lock_mode)-1};
    const evzk_lock_revoke_options before = {.before = ""};
    const evzk_election_options acl = {.acl_count = 1};
    const evzk_shards_options none = {.count = 0};
    evzk_session *s = p->w.s, *out = NULL;
    evzk_lock *l = NULL;
    evzk_lock_query *q = NULL;
    evzk_lock_revoke *r = NULL;
    evzk_election *e = NULL;
    evzk_observer *o = NULL;
    evzk_shards *a = NULL;

    INVAL(evzk_session_open(p->w.base, "a:x", &opt, NULL, NULL, &out));
    INVAL(evzk_session_open(p->w.base, nobody, &opt, NULL, NULL, NULL));
    INVAL(evzk_session_add_auth(s, "", "a:b", 3));
    INVAL(evzk_session_add_auth(s, "digest", NULL, 3));
    INVAL(evzk_session_add_auth(s, "digest", data, sizeof data));
    INVAL(evzk_lock_acquire(s, "a", NULL, on_lock, NULL, &l));
    INVAL(evzk_lock_acquire(s, "/a", &mode, on_lock, NULL, &l));
    INVAL(evzk_lock_acquire(s, "/a", NULL, NULL, NULL, &l));
    INVAL(evzk_lock_acquire(s, "/a", NULL, on_lock, NULL, NULL));
    INVAL(evzk_lock_query_start(s, "a", on_query, NULL, &q));
    INVAL(evzk_lock_query_start(s, "/a", NULL, NULL, &q));
    INVAL(evzk_lock_query_start(s, "/a", on_query, NULL, NULL));
    INVAL(evzk_lock_revoke_start(s, "a", NULL, on_revoke, NULL, &r));
    INVAL(evzk_lock_revoke_start(s, "/a", &before, on_revoke, NULL, &r));
    INVAL(evzk_lock_revoke_start(s, "/a", NULL, NULL, NULL, &r));
    INVAL(evzk_lock_revoke_start(s, "/a", NULL, on_revoke, NULL, NULL));
    INVAL(evzk_election_volunteer(s, "a", NULL, on_election, NULL, &e));
    INVAL(evzk_election_volunteer(s, "/a", &acl, on_election, NULL, &e));
    INVAL(evzk_election_volunteer(s, "/a", NULL, NULL, NULL, &e));
    INVAL(evzk_election_volunteer(s, "/a", NULL, on_election, NULL, NULL));
    INVAL(evzk_election_observe(s, "a", on_observer, NULL, &o));
    INVAL(evzk_election_observe(s, "/a", NULL, NULL, &o));
    INVAL(evzk_election_observe(s, "/a", on_observer, NULL, NULL));
    INVAL(evzk_shards_join(s, "a", &all_shards_options, NULL, on_shards, NULL,
                           &a));
    INVAL(evzk_shards_join(s, "/a", NULL, NULL, on_shards, NULL, &a));
    INVAL(evzk_shards_join(s, "/a", &none, NULL, on_shards, NULL, &a));
    INVAL(evzk_shards_join(s, "/a", &all_shards_options, NULL, NULL, NULL, &a));
    INVAL(evzk_shards_join(s, "/a", &all_shards_options, NULL, on_shards, NULL,
                           NULL));
    ck_assert(!out && !l && !q && !r && !e && !o && !a);
}

/* A lock or an election that has ended has let go of its session, and of the
 * log with it. */
static void bad_calls_of_others(struct parent *p, bool logs)
{
    static char data[EVZK_ELECTION_DATA_MAX + 1];
    uint32_t count = all_shards_options.count;
    evzk_lease *lease = NULL;

    for (int i = 0; i < 2; i++)
        INVAL_HEARD(logs, evzk_lock_lease(p->l[i], NULL));
    INVAL_HEARD(logs, evzk_election_acknowledge(p->e, NULL, 1));
    INVAL_HEARD(logs, evzk_election_acknowledge(p->e, data, sizeof data));
    INVAL_HEARD(logs, evzk_election_lease(p->e, NULL));
    INVAL(evzk_shards_acknowledge(p->a, count, "x", 1));
    INVAL(evzk_shards_acknowledge(p->a, 0, NULL, 1));
    INVAL(evzk_shards_acknowledge(p->a, 0, data, sizeof data));
    INVAL(evzk_shards_lease(p->a, count, &lease));
    INVAL(evzk_shards_lease(p->a, 0, NULL));
    ck_assert_ptr_null(lease);
}

static void bad_calls(struct parent *p)
{
    long blocks = live;

    bad_calls_of_session(p);
    bad_calls_of_others(p, p->w.ended < PARENT_ENDS);
    ck_assert_int_eq(live, blocks);
}

static bool bad_calls_in_child(struct parent *p)
{
    bad_calls(p);
    return true;
}

/* All that can be told to stop. */
static void stop_all(struct parent *p)
{
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(CALL(evzk_lock_cancel(p->l[i])), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_lock_revoke_cancel(p->r)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_election_resign(p->e)), EVZK_OK);
    ck_assert_int_eq(CALL(evzk_shards_drain(p->a, 0)), EVZK_OK);
}

static void bad_calls_in_every_state(bool stopped)
{
    struct parent p;

    begin_parent(&p);
    bad_calls(&p); /* The loop has seen none of them. */
    run_until(&p.w, &p.w.session.events, 1);
    run_ms(&p.w, 20);
    bad_calls(&p); /* They work. */
    in_child(&p, bad_calls_in_child);
    if (stopped) {
        stop_all(&p);
        bad_calls(&p);
    }
    p.w.session.events = 0;
    ck_assert_int_eq(CALL(evzk_session_close(p.w.s)), EVZK_OK);
    bad_calls(&p);
    run_until(&p.w, &p.w.ended, PARENT_ENDS);
    run_until(&p.w, &p.w.session.events, 1);
    bad_calls(&p); /* They have ended. */
    in_child(&p, bad_calls_in_child);
    close_parent(&p);
}

START_TEST(test_bad_args_in_every_state)
{
    bad_calls_in_every_state(false);
    bad_calls_in_every_state(true);
}
END_TEST

UNIT_MAIN("args", test_open_args, test_open_too_many, test_open_options,
          test_open_defaults, test_acls, test_lock_args, test_lock_options,
          test_lock_modes, test_lock_null, test_lease_null, test_session_null,
          test_auth_args, test_query_args, test_revoke_args,
          test_revoke_options, test_election_args, test_election_options,
          test_observe_args, test_election_null, test_shards_args,
          test_shards_options, test_shards_null, test_session_figures,
          test_no_memory_open, test_no_memory_lock, test_no_memory_query,
          test_no_memory_revoke, test_no_memory_election, test_no_memory_shards,
          test_no_memory_auth, test_ends_without_memory, test_no_memory_in_loop,
          test_cancel, test_timeout, test_timeout_in_busy_loop,
          test_timeout_freed_inside, test_timeout_and_cancel, test_free,
          test_free_inside, test_free_after_session, test_free_all_inside,
          test_election_resigns, test_election_timeout, test_election_free,
          test_election_closed, test_shards_drain, test_shards_free,
          test_shards_closed, test_close, test_close_freed_inside,
          test_cancel_then_close, test_revoke_cancel, test_revoke_timeout,
          test_revoke_free, test_revoke_closed, test_query_freed,
          test_open_and_free, test_fork_session_calls, test_fork_connected,
          test_fork_lock_calls, test_fork_memory, test_fork_parent_goes_on,
          test_fork_reinit_before, test_fork_reinit_after,
          test_bad_args_in_every_state)
