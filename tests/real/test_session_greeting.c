/*
 * An endpoint in the list of servers that is no ZooKeeper: another service's
 * port, or a server whose greeting (its answer to the connect request) is
 * wrong.  Whatever it sends, the session comes to the good server, with the
 * time-out that was asked for, and the loop never stands still.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>

#include "test_session_kit.h"

enum {
    ASKED_MS = 6000,
    BLOCKED_US = 500000, /* The client's own probe blocks for 1 s. */
    GREETING = 41
};

/* ---- The endpoint ---- */

enum {
    FIRST = 1,   /* Speaks before it is spoken to. */
    CLOSES = 2,  /* Hangs up behind what it says. */
    ECHOES = 4,  /* Says what it hears. */
    DRIBBLES = 8 /* A byte at a time. */
};

struct stranger {
    struct evconnlistener *listener;
    struct bufferevent *conn[64];
    bool greeted[64];
    unsigned char text[128];
    size_t len;
    unsigned how;
    int port, accepts, later; /* later: so many are greeted; 0: all. */
    char address[32];
    struct event *tick; /* DRIBBLES */
    size_t said;
};

static const struct timeval a_millisecond = {0, 1000};

static void hang_up(struct stranger *st, int i)
{
    if (st->conn[i])
        bufferevent_free(st->conn[i]);
    st->conn[i] = NULL;
}

static int place_of(const struct stranger *st, const struct bufferevent *bev)
{
    int i = 0;

    while (st->conn[i] != bev)
        i++;
    return i;
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct stranger *st = arg;

    hang_up(st, place_of(st, bev));
}

static void on_gone(struct bufferevent *bev, short what, void *arg)
{
    struct stranger *st = arg;

    (void)what;
    hang_up(st, place_of(st, bev));
}

static void say(struct stranger *st, struct bufferevent *bev)
{
    if (st->how & DRIBBLES)
        evtimer_add(st->tick, &a_millisecond);
    else
        bufferevent_write(bev, st->text, st->len);
    if ((st->how & CLOSES) && st->len > 0)
        bufferevent_setcb(bev, NULL, on_written, on_gone, st);
    else if (st->how & CLOSES)
        hang_up(st, place_of(st, bev));
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct stranger *st = arg;
    struct bufferevent *bev = NULL;

    (void)fd;
    (void)what;
    for (int i = 0; i < 64 && !bev; i++)
        bev = st->conn[i];
    if (!bev || st->said == st->len)
        return;
    bufferevent_write(bev, &st->text[st->said++], 1);
    evtimer_add(st->tick, &a_millisecond);
}

/* The connect request.  With `later`, what comes behind it ends the connection,
 * and so does the next one's. */
static void on_heard(struct bufferevent *bev, void *arg)
{
    struct evbuffer *in = bufferevent_get_input(bev);
    struct stranger *st = arg;
    int i = place_of(st, bev);

    if (st->how & ECHOES) {
        bufferevent_write_buffer(bev, in);
        return;
    }
    evbuffer_drain(in, evbuffer_get_length(in));
    if (st->later && (st->greeted[i] || st->accepts > st->later))
        hang_up(st, i);
    else if (!st->greeted[i])
        say(st, bev);
    st->greeted[i] = true;
}

static void on_accepted(struct evconnlistener *listener, evutil_socket_t fd,
                        struct sockaddr *from, int len, void *arg)
{
    struct stranger *st = arg;
    int i = place_of(st, NULL);

    (void)listener;
    (void)from;
    (void)len;
    st->accepts++;
    st->conn[i] =
        bufferevent_socket_new(harness_base(), fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(st->conn[i], on_heard, NULL, on_gone, st);
    bufferevent_enable(st->conn[i], EV_READ | EV_WRITE);
    st->greeted[i] = st->how & FIRST;
    if (st->greeted[i])
        say(st, st->conn[i]);
}

static void stranger_start(struct stranger *st, const void *text, size_t len,
                           unsigned how)
{
    int fd;

    memset(st, 0, sizeof *st);
    fd = net_listen(&st->port);
    evutil_make_socket_nonblocking(fd);
    if (len > 0)
        memcpy(st->text, text, len);
    st->len = len;
    st->how = how;
    snprintf(st->address, sizeof st->address, "127.0.0.1:%d", st->port);
    st->tick = evtimer_new(harness_base(), on_tick, st);
    st->listener = evconnlistener_new(harness_base(), on_accepted, st,
                                      LEV_OPT_CLOSE_ON_FREE, 0, fd);
    ck_assert_ptr_nonnull(st->listener);
}

static void stranger_stop(struct stranger *st)
{
    evconnlistener_free(st->listener);
    event_free(st->tick);
    for (int i = 0; i < 64; i++)
        hang_up(st, i);
}

/* ---- What the log says ---- */

static struct {
    int lines;
    char last[256];
    int silent, silent_told; /* Lines of silent servers; those that warn. */
    char silent_last[256];
} said;

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    (void)arg;
    if (strstr(line, "no server reached for"))
        return; /* This line ends with the newest line of a server. */
    if (strstr(line, "did not answer within")) {
        said.silent++;
        said.silent_told += level == EVZK_LOG_WARN;
        snprintf(said.silent_last, sizeof said.silent_last, "%s", line);
    }
    if (!strstr(line, "is no ZooKeeper server"))
        return;
    said.lines++;
    snprintf(said.last, sizeof said.last, "%s", line);
}

static evzk_session_options asked(void)
{
    memset(&said, 0, sizeof said);
    return (evzk_session_options){
        .timeout_ms = ASKED_MS, .log = on_log, .log_level = EVZK_LOG_WARN};
}

/* ---- Greetings ---- */

/* A good one, of a new session: length, protocol, time-out, id, password, and
 * whether it is read-only. */
static void good_greeting(unsigned char g[GREETING])
{
    static const unsigned char head[24] = {
        0, 0, 0, 37, 0, 0, 0, 0, 0, 0, ASKED_MS >> 8, ASKED_MS & 0xff, 1, 0,
        0, 7, 7, 7,  7, 7, 0, 0, 0, 16};

    memcpy(g, head, sizeof head);
    memset(g + 24, 'p', 16);
    g[40] = 0;
}

#define TEXT(s) s, sizeof s - 1

/* clang-format off */
static const struct kind {
    const char *name;
    const char *text;
    size_t len;
    unsigned how;
    const char *says; /* In the log; NULL: nothing. */
} kinds[] = {
{"ssh", TEXT("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"), FIRST, "it sent \"SSH-2.0-Op"},
{"ssh, long", TEXT("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3 and a long comment\r\n"), FIRST, "it sent \"SSH-2.0-Op"},
{"smtp, short", TEXT("220 a\r\n"), FIRST, "it sent \"220 a"},
{"http", TEXT("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), CLOSES, "it sent \"HTTP/1.1 4"},
{"http, open", TEXT("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), 0, "it sent \"HTTP/1.1 4"},
{"tls alert", TEXT("\x15\x03\x01\x00\x02\x02\x16"), 0, "it sent the bytes 15 03 01"},
{"garbage", TEXT("\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff\xfe\x80\xff\xff"), 0, "it sent the bytes ff fe 80"},
{"huge length", TEXT("\x7f\xff\xff\xff" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0, "it sent"},
{"right length, wrong body", TEXT("\0\0\0\x25" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0, "protocol version"},
{"read-only", TEXT("\0\0\0\x25\0\0\0\0\0\0\xea\x60\1\0\0\7\7\7\7\7\0\0\0\x10pppppppppppppppp\1"), 0, "read-only"},
{"no session", TEXT("\0\0\0\x25\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0, "new session"},
{"no time-out", TEXT("\0\0\0\x25\0\0\0\0\0\0\0\0\1\0\0\7\7\7\7\7\0\0\0\x10pppppppppppppppp\0"), 0, "time-out"},
{"negative time-out", TEXT("\0\0\0\x25\0\0\0\0\xff\xff\0\0\1\0\0\7\7\7\7\7\0\0\0\x10pppppppppppppppp\0"), 0, "time-out"},
{"endless time-out", TEXT("\0\0\0\x25\0\0\0\0\x7f\xff\0\0\1\0\0\7\7\7\7\7\0\0\0\x10pppppppppppppppp\0"), 0, "time-out"},
{"no password", TEXT("\0\0\0\x25\0\0\0\0\0\0\x17\x70\1\0\0\7\7\7\7\7\0\0\0\0pppppppppppppppp\0"), 0, "password"},
{"old, and more", TEXT("\0\0\0\x24\0\0\0\0\0\0\x17\x70\1\0\0\7\7\7\7\7\0\0\0\x10ppppppppppppppppX"), 0, "behind"},
{"echo", TEXT(""), ECHOES, "it sent the bytes 00 00 00 2d"},
{"half, then silence", TEXT("\0\0\0\x25\0\0\0\0\0\0\xea\x60\1\0\0\7"), 0, NULL},
{"half, then the end", TEXT("\0\0\0\x25\0\0\0\0\0\0\xea\x60\1\0\0\7"), CLOSES, NULL},
{"silence", TEXT(""), 0, NULL},
{"hangs up", TEXT(""), CLOSES, NULL},
};
/* clang-format on */
enum {
    KINDS = sizeof kinds / sizeof kinds[0],
    SPOKEN = KINDS - 4, /* With a word in the log. */
    SSH_LONG = 1,
    READ_ONLY = 9
};

static void tell(const char *what, const struct app *a, int64_t start)
{
    printf("greeting: %s: connected after %d ms, time-out %u ms, longest turn "
           "%.1f ms; log: %s\n",
           what, (int)(now_ms() - start), evzk_session_timeout_ms(a->s),
           (double)stats_of(a).turn_max_us / 1000, said.last);
}

static void check_loop(const struct app *a)
{
    ck_assert_uint_lt(stats_of(a).turn_max_us,
                      (uint64_t)slow_ms(1) * BLOCKED_US);
}

/* The false server comes first in the list, the good one behind it. */
START_TEST(greeting_of_no_server_is_passed_over)
{
    const struct kind *k = &kinds[_i];
    evzk_session_options opt = asked();
    struct stranger st;
    char servers[128];
    struct app a;
    int64_t start = now_ms();

    zoo_deterministic_conn_order(1);
    stranger_start(&st, k->text, k->len, k->how);
    snprintf(servers, sizeof servers, "%s,%s", st.address, server());
    app_open(&a, servers, &opt);
    WAIT_MS(20000, app_heard(&a, "CONNECTED") ||
                       stats_of(&a).turn_max_us > BLOCKED_US);
    tell(k->name, &a, start);
    check_loop(&a);
    ck_assert_int_ge(st.accepts, 1);
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), ASKED_MS);
    if (k->says) /* At once, and not after the client's time-out. */
        ck_assert_int_lt(now_ms() - start, slow_ms(ASKED_MS / 2));
    ck_assert_int_eq(said.lines, k->says ? 1 : 0);
    if (k->says) {
        ck_assert_ptr_nonnull(strstr(said.last, st.address));
        ck_assert_ptr_nonnull(strstr(said.last, k->says));
    }
    run_for(harness_base(), 200);
    check_loop(&a);
    app_close(&a);
    stranger_stop(&st);
    kit_done();
}
END_TEST

/* A server that says nothing has its share of the time alone, and the log names
 * it.  The next one is tried while the session lives. */
START_TEST(greeting_is_awaited_for_a_share)
{
    evzk_session_options opt = asked();
    struct stranger st[2];
    char servers[128], want[128];
    struct app a;

    zoo_deterministic_conn_order(1);
    for (int i = 0; i < 2; i++)
        stranger_start(&st[i], "\0\0", 2, i == 1 ? FIRST : 0);
    snprintf(servers, sizeof servers, "%s,%s,%s", st[0].address, st[1].address,
             server());
    app_open(&a, servers, &opt);
    WAIT(app_heard(&a, "CONNECTED"));
    snprintf(want, sizeof want, "%s did not answer within %d ms", st[1].address,
             ASKED_MS * 2 / 3 / 3);
    ck_assert_str_eq(said.silent_last, want);
    ck_assert_int_eq(said.silent, 2);
    ck_assert_int_eq(said.silent_told, 2);
    ck_assert_int_eq(said.lines, 0);
    ck_assert_int_eq(st[0].accepts, 1);
    ck_assert_int_eq(st[1].accepts, 1);
    check_loop(&a);
    app_close(&a);
    for (int i = 0; i < 2; i++)
        stranger_stop(&st[i]);
    kit_done();
}
END_TEST

/* Where all are slow each has longer in the next round: as long as the client
 * itself would wait.  The log warns once of each. */
START_TEST(greeting_is_awaited_longer_by_and_by)
{
    enum { SHORT_MS = 2400, MOST_MS = SHORT_MS * 2 / 3 };
    evzk_session_options opt = asked();
    struct stranger st[2];
    char servers[128], want[32];
    struct app a;

    opt.timeout_ms = SHORT_MS;
    opt.log_level = EVZK_LOG_INFO;
    for (int i = 0; i < 2; i++)
        stranger_start(&st[i], "", 0, 0);
    snprintf(servers, sizeof servers, "%s,%s", st[0].address, st[1].address);
    app_open(&a, servers, &opt);
    WAIT(said.silent == 1);
    snprintf(want, sizeof want, "within %d ms", MOST_MS / 2);
    ck_assert_ptr_nonnull(strstr(said.silent_last, want));
    WAIT(said.silent == 4);
    snprintf(want, sizeof want, "within %d ms", MOST_MS);
    ck_assert_ptr_nonnull(strstr(said.silent_last, want));
    ck_assert_int_eq(said.silent_told, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_ge(st[i].accepts, 2);
    app_close(&a);
    for (int i = 0; i < 2; i++)
        stranger_stop(&st[i]);
    kit_done();
}
END_TEST

/* A slow link: the bytes of a greeting come one by one. */
START_TEST(greeting_may_come_bytewise)
{
    evzk_session_options opt = asked();
    unsigned char g[GREETING];
    struct stranger st;
    struct app a;

    good_greeting(g);
    opt.close_timeout_ms = 1;
    stranger_start(&st, g, sizeof g, DRIBBLES);
    app_open(&a, st.address, &opt);
    WAIT(app_heard(&a, "CONNECTED"));
    ck_assert_int_eq(st.accepts, 1);
    ck_assert_int_eq(said.lines, 0);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    WAIT(a.rec.finals == 1);
    evzk_session_free(a.s);
    stranger_stop(&st);
    kit_done();
}
END_TEST

/* None is good: the loop does not spin, the log stays short, and the session
 * can be closed. */
START_TEST(greeting_of_nobody_does_not_spin)
{
    enum { RUN_MS = 3000 };
    static const int few[] = {SSH_LONG, READ_ONLY, SPOKEN - 1};
    evzk_session_options opt = asked();
    const struct kind *k = &kinds[few[_i]];
    struct stranger st[2];
    char servers[128];
    struct app a;
    int64_t end;

    for (int i = 0; i < 2; i++)
        stranger_start(&st[i], k->text, k->len, k->how);
    snprintf(servers, sizeof servers, "%s,%s", st[0].address, st[1].address);
    app_open(&a, servers, &opt);
    for (end = now_ms() + RUN_MS; now_ms() < end;)
        run_for(harness_base(), 1);
    printf("greeting: %s: %d and %d connections in %d ms, %d lines\n", k->name,
           st[0].accepts, st[1].accepts, RUN_MS, said.lines);
    for (int i = 0; i < 2; i++)
        ck_assert_int_le(st[i].accepts, 6);
    ck_assert_int_eq(a.rec.count, 0);
    ck_assert_int_le(said.lines, 2);
    check_loop(&a);
    app_close(&a);
    for (int i = 0; i < 2; i++)
        stranger_stop(&st[i]);
    kit_done();
}
END_TEST

/* The good server comes only after all were tried more than once. */
START_TEST(greeting_does_not_keep_a_late_server_away)
{
    evzk_session_options opt = asked();
    const struct kind *k = &kinds[_i];
    struct proxy *p = proxied();
    struct stranger st;
    char servers[128];
    struct app a;
    int64_t start;

    zoo_deterministic_conn_order(1);
    proxy_refuse(p, true);
    stranger_start(&st, k->text, k->len, k->how);
    snprintf(servers, sizeof servers, "%s,%s", st.address, proxy_address(p));
    app_open(&a, servers, &opt);
    WAIT(st.accepts >= 2);
    ck_assert_int_eq(a.rec.count, 0);
    start = now_ms();
    proxy_refuse(p, false);
    WAIT_MS(20000, app_heard(&a, "CONNECTED"));
    tell(k->name, &a, start);
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), ASKED_MS);
    check_loop(&a);
    app_close(&a);
    stranger_stop(&st);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* The same with an address where nobody is. */
START_TEST(greeting_awaited_from_every_server_again)
{
    evzk_session_options opt = asked();
    struct proxy *p = proxied(), *none = proxied();
    char servers[128];
    struct app a;
    int64_t start;

    zoo_deterministic_conn_order(1);
    proxy_refuse(p, true);
    proxy_refuse(none, true);
    snprintf(servers, sizeof servers, "%s,%s", proxy_address(none),
             proxy_address(p));
    app_open(&a, servers, &opt);
    run_for(harness_base(), 1000);
    start = now_ms();
    proxy_refuse(p, false);
    WAIT_MS(20000, app_heard(&a, "CONNECTED"));
    tell("a late server", &a, start);
    app_close(&a);
    proxy_stop(none);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A session is not ended by what another endpoint says of it. */
START_TEST(greeting_with_another_session_ends_none)
{
    evzk_session_options opt = asked();
    struct proxy *p = proxied();
    unsigned char g[GREETING];
    struct stranger st;
    char servers[128];
    struct app a;
    int64_t id;

    zoo_deterministic_conn_order(1);
    good_greeting(g);
    if (_i == 1)
        memset(g + 12, 0, 8); /* Ended, but with a time-out. */
    stranger_start(&st, g, sizeof g, 0);
    snprintf(servers, sizeof servers, "%s,%s", proxy_address(p), st.address);
    app_up(&a, servers, &opt);
    id = evzk_session_id(a.s);
    proxy_refuse(p, true);
    proxy_cut(p);
    WAIT(st.accepts > 0);
    run_for(harness_base(), 50);
    proxy_refuse(p, false);
    WAIT(recorder_has(&a.rec, "RESUMED") || recorder_has(&a.rec, "EXPIRED"));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    ck_assert_int_eq(evzk_session_id(a.s), id);
    ck_assert_int_eq(said.lines, 1);
    app_close(&a);
    stranger_stop(&st);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* ---- The sweep ---- */

static bool at_home(struct proxy *p, const struct app *a)
{
    return evzk_session_connected(a->s) &&
           proxy_session(p) == evzk_session_id(a->s);
}

/* Each byte of a good greeting is changed, or is the last.  What no check can
 * see (another id, another password) is a server that greets, and then hangs
 * up.  In the end the session is at the good one.  Before each visit to that it
 * has been at the stranger once, or twice if the client skipped an address. */
static void play(struct proxy *p, const unsigned char *g, size_t len,
                 unsigned how, uint64_t *worst)
{
    evzk_session_options opt = asked();
    int64_t good, before = proxy_accepts(p);
    struct stranger st;
    char servers[128];
    struct app a;

    proxy_reset(p);
    stranger_start(&st, g, len, how);
    st.later = 1;
    snprintf(servers, sizeof servers, "%s,%s", st.address, proxy_address(p));
    app_open(&a, servers, &opt);
    WAIT_MS(20000, at_home(p, &a));
    ck_assert_uint_eq(evzk_session_timeout_ms(a.s), ASKED_MS);
    good = proxy_accepts(p) - before;
    ck_assert_int_ge(st.accepts, 1);
    ck_assert_int_le(st.accepts, 2 * good);
    check_loop(&a);
    if (stats_of(&a).turn_max_us > *worst)
        *worst = stats_of(&a).turn_max_us;
    app_close(&a);
    stranger_stop(&st);
}

START_TEST(greeting_of_every_garbled_byte)
{
    static const unsigned char flip[] = {0x01, 0x80, 0xff, 'A'};
    unsigned char g[GREETING];
    struct proxy *p = proxied();
    uint64_t worst = 0;
    int n = 0;

    zoo_deterministic_conn_order(1);
    for (size_t at = 0; at < GREETING; at++) {
        good_greeting(g);
        g[at] ^= flip[_i];
        play(p, g, sizeof g, 0, &worst);
        n++;
    }
    printf("greeting: %d garbled bytes, longest turn %.1f ms\n", n,
           (double)worst / 1000);
    proxy_stop(p);
    kit_done();
}
END_TEST

START_TEST(greeting_cut_at_every_byte)
{
    unsigned char g[GREETING];
    struct proxy *p = proxied();
    uint64_t worst = 0;

    zoo_deterministic_conn_order(1);
    good_greeting(g);
    for (size_t len = 1; len <= GREETING; len++)
        play(p, g, len, CLOSES, &worst);
    printf("greeting: cut at %d bytes, longest turn %.1f ms\n", GREETING,
           (double)worst / 1000);
    proxy_stop(p);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: greeting");
    TCase *tc = kit_shared_tcase(suite, "first", 120);

    tcase_add_loop_test(tc, greeting_of_no_server_is_passed_over, 0, KINDS);
    tc = kit_shared_tcase(suite, "all", 120);
    tcase_add_loop_test(tc, greeting_of_nobody_does_not_spin, 0, 3);
    tc = kit_shared_tcase(suite, "late", 120);
    tcase_add_loop_test(tc, greeting_does_not_keep_a_late_server_away, 0,
                        SPOKEN);
    tcase_add_test(tc, greeting_awaited_from_every_server_again);
    tc = kit_shared_tcase(suite, "other", 120);
    tcase_add_test(tc, greeting_may_come_bytewise);
    tcase_add_test(tc, greeting_is_awaited_for_a_share);
    tcase_add_test(tc, greeting_is_awaited_longer_by_and_by);
    tcase_add_loop_test(tc, greeting_with_another_session_ends_none, 0, 2);
    tc = kit_shared_tcase(suite, "sweep", 120);
    tcase_add_loop_test(tc, greeting_of_every_garbled_byte, 0, 4);
    tcase_add_test(tc, greeting_cut_at_every_byte);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
