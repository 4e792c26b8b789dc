/* The list of servers: parsing, and resolution through a name server of our own
 * on the loopback. */
#include "unit.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <event2/util.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "evzk/session.h"
#include "lib/session/servers.h"

/* Allocation, counted; number `fail_at` fails. */
static long live, calls, fail_at;

static void *counted_malloc(size_t n)
{
    void *p = ++calls == fail_at ? NULL : malloc(n);

    live += p != NULL;
    return p;
}

static void counted_free(void *p)
{
    live -= p != NULL;
    free(p);
}

static void count_blocks(void)
{
    live = calls = fail_at = 0;
    evzk_set_allocator(counted_malloc, NULL, counted_free);
}

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The name server.  It knows what `zone` says; what is not there does not
 * exist, and names that begin with "silent" are never answered. */
struct record {
    const char *name, *a[4], *aaaa[2];
};

struct world {
    struct event_base *base;
    struct evdns_base *dns;
    struct evdns_server_port *server;
    int fd;
    const struct record *zone;
    unsigned asked, dropped;
    struct evzk__servers *sv;
    int changes;
};

static void changed(void *arg)
{
    struct world *w = arg;

    w->changes++;
}

static const struct record *look_up(const struct world *w, const char *name)
{
    for (const struct record *r = w->zone; r && r->name; r++) {
        if (evutil_ascii_strcasecmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

static void add_record(struct evdns_server_request *req, const char *name,
                       int type, const char *text)
{
    struct in6_addr raw; /* Room for both. */

    if (type == EVDNS_TYPE_A) {
        ck_assert_int_eq(inet_pton(AF_INET, text, &raw), 1);
        evdns_server_request_add_a_reply(req, name, 1, &raw, 1);
    } else {
        ck_assert_int_eq(inet_pton(AF_INET6, text, &raw), 1);
        evdns_server_request_add_aaaa_reply(req, name, 1, &raw, 1);
    }
}

static void answer(struct evdns_server_request *req, void *arg)
{
    struct world *w = arg;
    const struct evdns_server_question *q = req->questions[0];
    const struct record *r = look_up(w, q->name);

    w->asked++;
    if (evutil_ascii_strncasecmp(q->name, "silent", 6) == 0) {
        w->dropped++;
        evdns_server_request_drop(req);
        return;
    }
    for (size_t i = 0; r && q->type == EVDNS_TYPE_A && i < 4 && r->a[i]; i++)
        add_record(req, q->name, q->type, r->a[i]);
    for (size_t i = 0; r && q->type == EVDNS_TYPE_AAAA && i < 2 && r->aaaa[i];
         i++)
        add_record(req, q->name, q->type, r->aaaa[i]);
    evdns_server_request_respond(req, r ? DNS_ERR_NONE : DNS_ERR_NOTEXIST);
}

static void set_up(struct world *w, const struct record *zone)
{
    struct sockaddr_in sin = {.sin_family = AF_INET};
    socklen_t len = sizeof sin;

    memset(w, 0, sizeof *w);
    w->zone = zone;
    w->base = event_base_new();
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    w->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(w->fd, (struct sockaddr *)&sin, sizeof sin), 0);
    ck_assert_int_eq(getsockname(w->fd, (struct sockaddr *)&sin, &len), 0);
    w->server = evdns_add_server_port_with_base(w->base, w->fd, 0, answer, w);
    w->dns = evdns_base_new(w->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    ck_assert_ptr_nonnull(w->dns);
    ck_assert_int_eq(evdns_base_nameserver_sockaddr_add(
                         w->dns, (struct sockaddr *)&sin, sizeof sin, 0),
                     0);
    count_blocks();
}

static void run_all(struct world *w)
{
    for (int i = 0; i < 20; i++)
        event_base_loop(w->base, EVLOOP_NONBLOCK);
}

static void tear_down(struct world *w)
{
    evzk__servers_free(w->sv);
    run_all(w);
    evdns_base_free(w->dns, 0);
    evdns_close_server_port(w->server);
    close(w->fd);
    run_all(w);
    event_base_free(w->base);
    evzk_set_allocator(NULL, NULL, NULL);
    ck_assert_int_eq(live, 0);
}

static void make(struct world *w, const char *text)
{
    int rc = -77;

    w->sv = evzk__servers_new(w->base, w->dns, text, changed, w, &rc);
    ck_assert_ptr_nonnull(w->sv);
    ck_assert_int_eq(rc, EVZK_OK);
}

static const char *addresses(const struct world *w)
{
    return evzk__servers_addresses(w->sv);
}

/* Looks up, and runs the loop until that is over. */
static void refresh(struct world *w)
{
    int64_t until = now_ms() + 20000;

    evzk__servers_refresh(w->sv);
    while (evzk__servers_busy(w->sv)) {
        ck_assert_int_lt(now_ms(), until);
        event_base_loop(w->base, EVLOOP_ONCE);
    }
}

/* Parsing. */

START_TEST(test_good)
{
    static const struct {
        const char *text, *addresses;
    } good[] = {
        {"127.0.0.1", "127.0.0.1:2181"},
        {"127.0.0.1:1", "127.0.0.1:1"},
        {"127.0.0.1:65535", "127.0.0.1:65535"},
        {"10.0.0.1:02181", "10.0.0.1:2181"},
        {"10.0.0.1,10.0.0.2:5", "10.0.0.1:2181,10.0.0.2:5"},
        {"10.0.0.1:1,10.0.0.2:2,10.0.0.3:3",
         "10.0.0.1:1,10.0.0.2:2,10.0.0.3:3"},
        {"[::1]", "::1:2181"},
        {"[::1]:7", "::1:7"},
        {"[fe80::1:2]:7,1.2.3.4", "fe80::1:2:7,1.2.3.4:2181"},
        {"[::ffff:1.2.3.4]:8", "::ffff:1.2.3.4:8"},
        {"zk.example.org", NULL},
        {"zk1:2181,zk2", NULL},
        {"zk1,1.2.3.4", "1.2.3.4:2181"}, /* Known at once. */
        {"1.2.3.4:9,zk1", "1.2.3.4:9"},
    };
    struct world w;

    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        set_up(&w, NULL);
        make(&w, good[i].text);
        if (good[i].addresses)
            ck_assert_pstr_eq(addresses(&w), good[i].addresses);
        else
            ck_assert_ptr_null(addresses(&w));
        ck_assert(!evzk__servers_busy(w.sv));
        tear_down(&w);
    }
}
END_TEST

START_TEST(test_bad)
{
    static const char *const bad[] = {
        "",
        ",",
        "a,",
        ",a",
        "a,,b",
        "1.2.3.4,",
        ":2181",
        ":",
        "a:",
        "1.2.3.4:",
        "a:0",
        "a:00000",
        "a:65536",
        "a:99999",
        "a:123456",
        "a:-1",
        "a:+1",
        "a: 1",
        "a:1 ",
        "a:0x10",
        "a:1:2",
        "a:http",
        "a:2181/app",
        "a/b",
        "a b",
        " a",
        "a, b",
        "[::1",
        "[]",
        "[]:1",
        "[::1]2181",
        "[::1]x:1",
        "[::1]:",
        "[::1]:0",
        "[::1]:65536",
        "[1.2.3.4]:1",
        "[zk]:1",
        "::1",
        "fe80::1:2181",
        "good:1,[::1",
        "1.2.3.4:1,5.6.7.8:0",
    };
    struct world w;

    set_up(&w, NULL);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        int rc = -77;

        ck_assert_msg(
            !evzk__servers_new(w.base, w.dns, bad[i], changed, &w, &rc),
            "accepted: %s", bad[i]);
        ck_assert_int_eq(rc, EVZK_ERR_INVAL);
        ck_assert_int_eq(live, 0);
    }
    tear_down(&w);
}
END_TEST

START_TEST(test_long_name)
{
    char text[300];
    struct world w;
    int rc;

    set_up(&w, NULL);
    memset(text, 'a', sizeof text);
    text[256] = '\0';
    ck_assert_ptr_null(
        evzk__servers_new(w.base, w.dns, text, changed, &w, &rc));
    ck_assert_int_eq(rc, EVZK_ERR_INVAL);
    text[255] = '\0';
    make(&w, text);
    refresh(&w); /* Longer than a DNS label may be: found nowhere. */
    ck_assert_ptr_null(addresses(&w));
    tear_down(&w);
}
END_TEST

START_TEST(test_many)
{
    char text[8192] = "", expected[8192] = "";
    struct world w;

    for (int i = 0; i < 200; i++) {
        size_t n = strlen(text), m = strlen(expected);

        snprintf(text + n, sizeof text - n, "%s10.0.0.%d", i ? "," : "", i);
        snprintf(expected + m, sizeof expected - m, "%s10.0.0.%d:2181",
                 i ? "," : "", i);
    }
    set_up(&w, NULL);
    make(&w, text);
    ck_assert_str_eq(addresses(&w), expected);
    tear_down(&w);
}
END_TEST

/* Whichever allocation fails: a clean error, never a list without addresses. */
START_TEST(test_no_memory)
{
    struct world w;
    int rc = EVZK_ERR_NOMEM;

    set_up(&w, NULL);
    for (long i = 1; rc != EVZK_OK; i++) {
        struct evzk__servers *sv;

        calls = 0;
        fail_at = i;
        sv = evzk__servers_new(w.base, w.dns, "1.2.3.4,zk,[::1]:5", changed, &w,
                               &rc);
        if (calls >= i) {
            ck_assert_msg(!sv, "allocation %ld: its failure is hidden", i);
            ck_assert_int_eq(rc, EVZK_ERR_NOMEM);
            ck_assert_int_eq(live, 0);
        }
        evzk__servers_free(sv);
    }
    tear_down(&w);
}
END_TEST

/* Resolution. */

static const struct record zone[] = {
    {"one", {"127.0.0.9"}, {NULL}},
    {"six", {NULL}, {"fd00::6"}},
    {"many", {"10.1.0.1", "10.1.0.2", "10.1.0.3"}, {"fd00::1", "fd00::2"}},
    {"nothing", {NULL}, {NULL}},
    {NULL, {NULL}, {NULL}},
};

START_TEST(test_resolve_one)
{
    struct world w;

    set_up(&w, zone);
    make(&w, "one:7");
    ck_assert_ptr_null(addresses(&w));
    ck_assert_int_eq(w.changes, 0);
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "127.0.0.9:7");
    ck_assert_int_eq(w.changes, 1);
    refresh(&w); /* The same again is no change. */
    ck_assert_pstr_eq(addresses(&w), "127.0.0.9:7");
    ck_assert_int_eq(w.changes, 1);
    tear_down(&w);
}
END_TEST

START_TEST(test_resolve_six)
{
    struct world w;

    set_up(&w, zone);
    make(&w, "six");
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "fd00::6:2181");
    tear_down(&w);
}
END_TEST

/* Tells whether the list has the address. */
static bool has(const char *list, const char *address)
{
    size_t len = strlen(address);

    for (const char *s = list; s; s = strchr(s, ',')) {
        s += *s == ',';
        if (strncmp(s, address, len) == 0 && (s[len] == ',' || !s[len]))
            return true;
    }
    return false;
}

static size_t count(const char *list)
{
    size_t n = 1;

    for (; *list; list++)
        n += *list == ',';
    return n;
}

START_TEST(test_resolve_several)
{
    static const char *const all[] = {
        "10.1.0.1:9", "10.1.0.2:9", "10.1.0.3:9",    "fd00::1:9",
        "fd00::2:9",  "1.2.3.4:5",  "127.0.0.9:2181"};
    struct world w;

    set_up(&w, zone);
    make(&w, "many:9,1.2.3.4:5,one");
    ck_assert_pstr_eq(addresses(&w), "1.2.3.4:5");
    refresh(&w);
    for (size_t i = 0; i < UNIT_COUNT(all); i++)
        ck_assert_msg(has(addresses(&w), all[i]), "%s is not in %s", all[i],
                      addresses(&w));
    ck_assert_uint_eq(count(addresses(&w)), UNIT_COUNT(all));
    tear_down(&w);
}
END_TEST

/* As many names as there may be, each of five servers: two of each are used. */
START_TEST(test_resolve_many)
{
    char text[EVZK_SERVERS_MAX * sizeof "many:100,"] = "";
    struct world w;

    for (int i = 0; i < EVZK_SERVERS_MAX; i++)
        sprintf(text + strlen(text), "%smany:%d", i ? "," : "", 100 + i);
    set_up(&w, zone);
    make(&w, text);
    refresh(&w);
    ck_assert_uint_eq(count(addresses(&w)), 2 * EVZK_SERVERS_MAX);
    ck_assert(has(addresses(&w), "10.1.0.1:100"));
    ck_assert(has(addresses(&w), "10.1.0.2:163"));
    tear_down(&w);
}
END_TEST

/* A name that does not resolve does not hold up the others. */
START_TEST(test_resolve_some)
{
    struct world w;

    set_up(&w, zone);
    make(&w, "unknown,nothing,one:1");
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "127.0.0.9:1");
    ck_assert_int_eq(w.changes, 1);
    tear_down(&w);
}
END_TEST

START_TEST(test_resolve_none)
{
    struct world w;

    set_up(&w, zone);
    make(&w, "unknown");
    refresh(&w);
    ck_assert_ptr_null(addresses(&w));
    ck_assert_int_eq(w.changes, 0);
    ck_assert_uint_gt(w.asked, 0);
    refresh(&w); /* And again: it may be there later. */
    ck_assert_ptr_null(addresses(&w));
    tear_down(&w);
}
END_TEST

START_TEST(test_numeric_asks_nobody)
{
    struct world w;

    set_up(&w, zone);
    make(&w, "1.2.3.4,[::1]:5");
    evzk__servers_refresh(w.sv);
    ck_assert(!evzk__servers_busy(w.sv));
    run_all(&w);
    ck_assert_uint_eq(w.asked, 0);
    tear_down(&w);
}
END_TEST

START_TEST(test_moves)
{
    static const struct record before[] = {{"zk", {"10.0.0.1"}, {NULL}},
                                           {NULL, {NULL}, {NULL}}};
    static const struct record after[] = {{"zk", {"10.0.0.2"}, {NULL}},
                                          {NULL, {NULL}, {NULL}}};
    struct world w;

    set_up(&w, NULL);
    make(&w, "zk:3");
    refresh(&w);
    ck_assert_ptr_null(addresses(&w)); /* Not there yet. */
    w.zone = before;
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "10.0.0.1:3");
    ck_assert_int_eq(w.changes, 1);
    w.zone = after;
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "10.0.0.2:3");
    ck_assert_int_eq(w.changes, 2);
    w.zone = NULL; /* The name server has forgotten: better old than none. */
    refresh(&w);
    ck_assert_pstr_eq(addresses(&w), "10.0.0.2:3");
    ck_assert_int_eq(w.changes, 2);
    tear_down(&w);
}
END_TEST

/* A name server that gives its addresses in turn has nothing new to say. */
START_TEST(test_rotation)
{
    static const struct record turns[][2] = {
        {{"zk", {"10.0.0.1", "10.0.0.2"}, {NULL}}, {NULL, {NULL}, {NULL}}},
        {{"zk", {"10.0.0.2", "10.0.0.1"}, {NULL}}, {NULL, {NULL}, {NULL}}},
    };
    struct world w;

    set_up(&w, NULL);
    make(&w, "zk:3");
    for (int i = 0; i < 6; i++) {
        w.zone = turns[i % 2];
        refresh(&w);
        ck_assert(has(addresses(&w), "10.0.0.1:3"));
        ck_assert(has(addresses(&w), "10.0.0.2:3"));
        ck_assert_uint_eq(count(addresses(&w)), 2);
        ck_assert_int_eq(w.changes, 1);
    }
    tear_down(&w);
}
END_TEST

/* No memory while it resolves: the next time, it may do. */
START_TEST(test_resolve_no_memory)
{
    struct world w;

    for (long i = 1; i <= 2; i++) {
        set_up(&w, zone);
        make(&w, "one:7");
        fail_at = calls + i;
        refresh(&w);
        ck_assert_int_ge(calls, fail_at);
        ck_assert_ptr_null(addresses(&w));
        refresh(&w);
        ck_assert_pstr_eq(addresses(&w), "127.0.0.9:7");
        ck_assert_int_eq(w.changes, 1);
        tear_down(&w);
    }
}
END_TEST

/* Look-ups given up. */

static void free_while_busy(const char *text, int turns)
{
    struct world w;

    set_up(&w, zone);
    make(&w, text);
    w.changes = 0;
    evzk__servers_refresh(w.sv);
    for (int i = 0; i < turns; i++)
        event_base_loop(w.base, EVLOOP_NONBLOCK);
    evzk__servers_free(w.sv);
    w.sv = NULL;
    for (int64_t until = now_ms() + 20000; live > 0;) {
        ck_assert_int_lt(now_ms(), until);
        event_base_loop(w.base, EVLOOP_NONBLOCK);
    }
    run_all(&w);
    if (turns == 0)
        ck_assert_int_eq(w.changes, 0);
    tear_down(&w);
}

START_TEST(test_free_at_once)
{
    free_while_busy("one", 0);
    free_while_busy("one,many,unknown,1.2.3.4", 0);
    free_while_busy("silent1,silent2", 0);
}
END_TEST

START_TEST(test_free_under_way)
{
    for (int turns = 1; turns < 8; turns++) {
        free_while_busy("one", turns);
        free_while_busy("one,many,unknown,silent", turns);
    }
}
END_TEST

START_TEST(test_no_callback_after_free)
{
    struct world w;
    int before;

    set_up(&w, zone);
    make(&w, "silent,one,1.2.3.4");
    evzk__servers_refresh(w.sv);
    while (w.changes < 2) /* One look-up is answered, the other never. */
        event_base_loop(w.base, EVLOOP_ONCE);
    ck_assert(evzk__servers_busy(w.sv));
    before = w.changes;
    evzk__servers_free(w.sv);
    w.sv = NULL;
    run_all(&w);
    ck_assert_int_eq(w.changes, before);
    tear_down(&w);
}
END_TEST

/* A second refresh while one goes on asks nothing more. */
START_TEST(test_refresh_twice)
{
    struct world w;
    unsigned asked;

    set_up(&w, zone);
    make(&w, "silent");
    evzk__servers_refresh(w.sv);
    while (w.dropped < 2)
        event_base_loop(w.base, EVLOOP_ONCE);
    asked = w.asked;
    for (int i = 0; i < 10; i++)
        evzk__servers_refresh(w.sv);
    run_all(&w);
    ck_assert_uint_eq(w.asked, asked);
    ck_assert(evzk__servers_busy(w.sv));
    tear_down(&w);
}
END_TEST

static void tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ++*(int *)arg;
}

/* A blocking resolver would wait five seconds and more. */
START_TEST(test_silent_server)
{
    struct timeval ms = {0, 1000};
    int64_t begun, longest = 0;
    struct event *timer;
    struct world w;
    int ticks = 0;

    set_up(&w, zone);
    timer = event_new(w.base, -1, EV_PERSIST, tick, &ticks);
    event_add(timer, &ms);
    begun = now_ms();
    make(&w, "silent1,silent2,1.2.3.4:5");
    evzk__servers_refresh(w.sv);
    while (ticks < 300) {
        int64_t before = now_ms();

        event_base_loop(w.base, EVLOOP_ONCE);
        if (now_ms() - before > longest)
            longest = now_ms() - before;
    }
    ck_assert(evzk__servers_busy(w.sv));
    ck_assert_uint_gt(w.dropped, 0);
    ck_assert_pstr_eq(addresses(&w),
                      "1.2.3.4:5"); /* The known address serves. */
    ck_assert_int_lt(longest, 2000);
    ck_assert_int_lt(now_ms() - begun, 20000);
    begun = now_ms();
    evzk__servers_free(w.sv);
    w.sv = NULL;
    ck_assert_int_lt(now_ms() - begun, 2000);
    event_free(timer);
    tear_down(&w);
}
END_TEST

UNIT_MAIN("servers", test_good, test_bad, test_long_name, test_many,
          test_no_memory, test_resolve_one, test_resolve_six,
          test_resolve_several, test_resolve_many, test_resolve_some,
          test_resolve_none, test_numeric_asks_nobody, test_moves,
          test_rotation, test_resolve_no_memory, test_free_at_once,
          test_free_under_way, test_no_callback_after_free, test_refresh_twice,
          test_silent_server)
