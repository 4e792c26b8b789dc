/*
 * The events that are told, and their order: a session's events before those of
 * what is held in it, nothing but ends after its close, and errors that name
 * their cause.
 */
#include <evzk/shards.h>

#include "test_session_kit.h"

enum {
    STILL_MS = 4000,
    SETTLED = 6 /* Probes, until the lease is as short as it is as a rule. */
};

/* All events of a session and of what is in it, in one record. */
struct told {
    char text[512];
    evzk_session *s;
    int ends, rc;
};

static void tell(struct told *t, const char *who, const char *word, int rc)
{
    size_t n = strlen(t->text);

    snprintf(t->text + n, sizeof t->text - n, "%s%s:%s", n ? " " : "", who,
             word);
    t->rc = rc;
}

static void on_session(evzk_session *s, evzk_session_event ev, int rc,
                       void *arg)
{
    struct told *t = arg;

    (void)s;
    tell(t, "session", session_event_name(ev), rc);
    t->ends += ev == EVZK_SESSION_CLOSED;
}

static void on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct told *t = arg;

    (void)l;
    tell(t, "lock", lock_event_name(ev), rc);
}

static void told_open(struct told *t, const char *servers,
                      const evzk_session_options *opt)
{
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(
        evzk_session_open(harness_base(), servers, opt, on_session, t, &t->s),
        EVZK_OK);
}

static bool told_has(const struct told *t, const char *word)
{
    return strstr(t->text, word) != NULL;
}

static void told_close(struct told *t)
{
    int rc = evzk_session_close(t->s);

    ck_assert(rc == EVZK_OK || rc == EVZK_ERR_CLOSED);
    WAIT(t->ends == 1);
    evzk_session_free(t->s);
}

static uint64_t probes(const struct told *t)
{
    evzk_session_stats st;

    evzk_session_get_stats(t->s, &st);
    return st.probes;
}

/* ---- In which order ---- */

/* The loop stands still until the lease is over, and not the session. */
START_TEST(told_of_the_session_first)
{
    static const evzk_session_options opt = {.timeout_ms = STILL_MS};
    struct raw *r = operator_for("/told-still");
    struct told t;
    evzk_lock *l;
    const char *session, *lock;

    told_open(&t, server(), &opt);
    ck_assert_int_eq(
        evzk_lock_acquire(t.s, "/told-still", NULL, on_lock, &t, &l), EVZK_OK);
    WAIT(told_has(&t, "lock:GRANTED") && probes(&t) >= SETTLED);
    usleep(STILL_MS * 3 / 4 * 1000); /* That the loop stands still is tested. */
    WAIT(told_has(&t, "lock:LOST"));
    session = strstr(t.text, "session:SUSPENDED");
    lock = strstr(t.text, "lock:SUSPENDED");
    ck_assert_msg(session && lock && session < lock, "%s", t.text);
    evzk_lock_free(l);
    told_close(&t);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- After evzk_session_close() ---- */

static void on_query(evzk_lock_query *q, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    (void)q;
    (void)v;
    (void)n;
    tell(arg, "query", evzk_errname(rc), rc);
}

static void on_election(evzk_election *e, evzk_election_event ev, int rc,
                        void *arg)
{
    (void)e;
    if (ev == EVZK_ELECTION_ELECTED)
        tell(arg, "election", "ELECTED", rc);
    else if (ev == EVZK_ELECTION_LEADING)
        tell(arg, "election", "LEADING", rc);
    else
        tell(arg, "election", evzk_errname(rc), rc);
}

/* A session behind a proxy, of which no answer comes back; something is asked,
 * and then it is closed: what was asked is answered while it closes. */
struct closing {
    struct proxy *proxy;
    struct told t;
    evzk_lock_query *q;
};

static void closing_open(struct closing *c)
{
    static const evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                             .close_timeout_ms = KIT_CLOSE_MS};

    c->proxy = proxied();
    told_open(&c->t, proxy_address(c->proxy), &opt);
}

static bool in_flight(const struct told *t)
{
    evzk_session_stats st;

    evzk_session_get_stats(t->s, &st);
    return st.in_flight > 0 && st.queued == 0;
}

/* The look-up keeps the session from ending before the other answers come. */
static void closing_close(struct closing *c)
{
    ck_assert_int_eq(
        evzk_lock_query_start(c->t.s, "/told-nothing", on_query, &c->t, &c->q),
        EVZK_OK);
    run_for(harness_base(), 50);
    WAIT(in_flight(&c->t));
    c->t.text[0] = '\0';
    ck_assert_int_eq(evzk_session_close(c->t.s), EVZK_OK);
    run_for(harness_base(), 50);
    proxy_thaw(c->proxy);
    WAIT(c->t.ends == 1);
}

static void closing_free(struct closing *c)
{
    evzk_lock_query_free(c->q);
    evzk_session_free(c->t.s);
    proxy_stop(c->proxy);
}

/* A waiter's znode is deleted: another would have been made. */
START_TEST(told_no_requeued_after_close)
{
    const evzk_lock_options soon = {.revocable = true};
    struct raw *r = operator_for("/told-close");
    struct closing c;
    struct app a;
    struct one o;
    evzk_lock *l;
    char path[256];

    app_up(&a, server(), NULL);
    one_hold(&o, &a, "/told-close");
    closing_open(&c);
    ck_assert_int_eq(
        evzk_lock_acquire(c.t.s, "/told-close", &soon, on_lock, &c.t, &l), 0);
    WAIT(strcmp(evzk_lock_state(l), "WATCHING") == 0);
    WAIT(zk_mntr(zk_shared(), 0, "zk_watch_count") >= 2);
    snprintf(path, sizeof path, "/told-close/%s", evzk_lock_node(l));
    proxy_freeze(c.proxy, PROXY_S2C);
    ck_assert_int_eq(raw_delete(r, path), ZOK);
    closing_close(&c);
    ck_assert_msg(!told_has(&c.t, "REQUEUED"), "%s", c.t.text);
    ck_assert(told_has(&c.t, "lock:FAILED"));
    evzk_lock_free(l);
    closing_free(&c);
    one_free(&o);
    app_close(&a);
    raw_close(r);
    kit_done();
}
END_TEST

/* The candidate acknowledges, and the session closes. */
START_TEST(told_no_leading_after_close)
{
    struct raw *r = operator_for("/told-lead");
    struct closing c;
    evzk_election *e;

    closing_open(&c);
    ck_assert_int_eq(evzk_election_volunteer(c.t.s, "/told-lead", NULL,
                                             on_election, &c.t, &e),
                     EVZK_OK);
    WAIT(told_has(&c.t, "election:ELECTED"));
    proxy_freeze(c.proxy, PROXY_S2C);
    ck_assert_int_eq(evzk_election_acknowledge(e, "x", 1), EVZK_OK);
    closing_close(&c);
    ck_assert_msg(!told_has(&c.t, "LEADING"), "%s", c.t.text);
    ck_assert(told_has(&c.t, "election:EVZK_ERR_CLOSED"));
    evzk_election_free(e);
    closing_free(&c);
    raw_close(r);
    kit_done();
}
END_TEST

/* ---- Errors that name their cause ---- */

static void on_revoke(evzk_lock_revoke *q, int rc, const evzk_revoked *v,
                      size_t n, void *arg)
{
    (void)q;
    (void)v;
    (void)n;
    tell(arg, "revoke", evzk_errname(rc), rc);
}

static void on_leader(evzk_observer *o, int rc, const evzk_leader *l, void *arg)
{
    (void)o;
    tell(arg, l ? "leader" : "observer", evzk_errname(rc), rc);
}

static void on_shards(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    (void)a;
    tell(arg, ev == EVZK_SHARDS_FAILED ? "shards" : "?", evzk_errname(rc), rc);
}

/* Asks by everything that looks, and waits for its answer. */
static void ask_all(struct told *t, const char *path, const char *want)
{
    evzk_lock_query *q;
    evzk_lock_revoke *r;
    evzk_observer *o;
    char all[256];

    t->text[0] = '\0';
    ck_assert_int_eq(evzk_lock_query_start(t->s, path, on_query, t, &q), 0);
    WAIT(told_has(t, "query:"));
    ck_assert_int_eq(evzk_lock_revoke_start(t->s, path, NULL, on_revoke, t, &r),
                     0);
    WAIT(told_has(t, "revoke:"));
    ck_assert_int_eq(evzk_election_observe(t->s, path, on_leader, t, &o), 0);
    WAIT(told_has(t, "observer:"));
    snprintf(all, sizeof all, "query:%s revoke:%s observer:%s", want, want,
             want);
    ck_assert_str_eq(t->text, all);
    evzk_lock_query_free(q);
    evzk_lock_revoke_free(r);
    evzk_observer_free(o);
}

START_TEST(told_of_a_missing_chroot)
{
    static const evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                             .chroot = "/told-chroot"};
    static const evzk_shards_options one = {.count = 1};
    struct raw *r = operator_for("/told-chroot");
    struct told t;
    evzk_election *e;
    evzk_shards *a;
    evzk_lock *l;

    told_open(&t, server(), &opt);
    WAIT(told_has(&t, "session:CONNECTED"));
    ask_all(&t, "/lock", "EVZK_ERR_NOCHROOT");
    ask_all(&t, "/deep/lock", "EVZK_ERR_NOCHROOT");
    t.text[0] = '\0';
    ck_assert_int_eq(evzk_lock_acquire(t.s, "/lock", NULL, on_lock, &t, &l), 0);
    WAIT(told_has(&t, "lock:FAILED"));
    ck_assert_int_eq(t.rc, EVZK_ERR_NOCHROOT);
    ck_assert_int_eq(
        evzk_election_volunteer(t.s, "/e", NULL, on_election, &t, &e), 0);
    WAIT(told_has(&t, "election:EVZK_ERR_NOCHROOT"));
    ck_assert_int_eq(evzk_shards_join(t.s, "/s", &one, NULL, on_shards, &t, &a),
                     0);
    WAIT(told_has(&t, "shards:EVZK_ERR_NOCHROOT"));
    evzk_lock_free(l);
    evzk_election_free(e);
    evzk_shards_free(a);
    raw_mkdirs(r, "/told-chroot");
    ask_all(&t, "/lock", "EVZK_OK");
    told_close(&t);
    raw_delete_tree(r, "/told-chroot");
    raw_close(r);
    kit_done();
}
END_TEST

/* A server that enforces quotas, and one that is used up. */
START_TEST(told_of_a_quota)
{
    static const char limits[] = "count=1,bytes=-1,byteHardLimit=-1,"
                                 "countHardLimit=1";
    struct zk *zk =
        zk_start(&(struct zk_config){.cfg_lines = "enforceQuota=true"});
    static const evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS};
    struct raw *r = raw_open(zk_server(zk, 0), KIT_OPERATOR_MS, NULL);
    struct told t;
    evzk_lock *l;

    raw_mkdirs(r, "/full");
    raw_mkdirs(r, "/zookeeper/quota/full");
    ck_assert_int_eq(raw_create(r, "/zookeeper/quota/full/zookeeper_limits",
                                limits, (int)strlen(limits), 0, NULL, 0),
                     ZOK);
    ck_assert_int_eq(raw_create(r, "/zookeeper/quota/full/zookeeper_stats",
                                "count=1,bytes=0", 15, 0, NULL, 0),
                     ZOK);
    told_open(&t, zk_server(zk, 0), &opt);
    ck_assert_int_eq(
        evzk_lock_acquire(t.s, "/full/lock", NULL, on_lock, &t, &l), 0);
    WAIT(told_has(&t, "lock:FAILED"));
    ck_assert_str_eq(evzk_errname(t.rc), "EVZK_ERR_QUOTA");
    evzk_lock_free(l);
    told_close(&t);
    raw_close(r);
    zk_stop(zk);
    kit_done();
}
END_TEST

/* ---- What the log says ---- */

static struct {
    int away, refused, odd;
    char line[256];
} noted;

static void note(evzk_log_level level, const char *line, void *arg)
{
    (void)arg;
    if (strstr(line, "ZOO_") || (line[0] >= '0' && line[0] <= '9'))
        noted.odd++; /* The client's own time and place. */
    if (strncmp(line, "no server reached for ", 22) != 0) {
        noted.refused += level <= EVZK_LOG_WARN;
        return;
    }
    ck_assert_int_eq(level, EVZK_LOG_WARN);
    noted.away++;
    snprintf(noted.line, sizeof noted.line, "%s", line);
}

static void away(struct told *t, const char *servers)
{
    static const evzk_session_options opt = {
        .timeout_ms = KIT_SESSION_MS, .log = note, .log_level = EVZK_LOG_DEBUG};

    memset(&noted, 0, sizeof noted);
    told_open(t, servers, &opt);
    WAIT(noted.away == 1);
    ck_assert_int_eq(noted.odd, 0);
    ck_assert_int_eq(noted.refused, 0); /* That one line, and no flood. */
}

START_TEST(told_why_there_is_no_server)
{
    struct told t;

    away(&t, "127.0.0.1:1");
    ck_assert_msg(strstr(noted.line, "refused"), "%s", noted.line);
    told_close(&t);
    away(&t, "no-such-host.invalid:2181");
    ck_assert_msg(strstr(noted.line, "resolved"), "%s", noted.line);
    told_close(&t);
    kit_done();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("told");
    TCase *tc = kit_shared_tcase(suite, "order", 120);

    tcase_add_test(tc, told_of_the_session_first);
    tcase_add_test(tc, told_no_requeued_after_close);
    tcase_add_test(tc, told_no_leading_after_close);
    tc = kit_shared_tcase(suite, "errors", 120);
    tcase_add_test(tc, told_of_a_missing_chroot);
    tcase_add_test(tc, told_of_a_quota);
    tc = kit_tcase(suite, "log", 120);
    tcase_add_test(tc, told_why_there_is_no_server);
    return kit_main(suite);
}
