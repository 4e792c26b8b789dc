/*
 * The way to the servers: names that a slow or silent DNS resolves, addresses
 * that change, servers that do not answer; and what a fork leaves of it all.
 */
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <netdb.h>
#include <sys/wait.h>

#include "test_session_kit.h"

enum { STALL_MS = 50, OP_PING = PROXY_OP_PING };

/* ---- Names ---- */

/* The client's own look-ups: with names they would block.  The test's function
 * stands in front of the C library's. */
static int blocking_lookups;

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **res)
{
    struct sockaddr_in *to = calloc(1, sizeof *to);
    struct addrinfo *ai = calloc(1, sizeof *ai);

    (void)hints;
    if (!to || !ai || inet_pton(AF_INET, node, &to->sin_addr) != 1) {
        blocking_lookups++;
        free(to);
        free(ai);
        return EAI_NONAME;
    }
    to->sin_family = AF_INET;
    to->sin_port = htons((uint16_t)strtol(service, NULL, 10));
    ai->ai_family = AF_INET;
    ai->ai_socktype = SOCK_STREAM;
    ai->ai_addrlen = sizeof *to;
    ai->ai_addr = (struct sockaddr *)to;
    *res = ai;
    return 0;
}

void freeaddrinfo(struct addrinfo *res)
{
    free(res->ai_addr);
    free(res);
}

/* A name server on the loop under test. */
static struct {
    int fd, port;
    struct evdns_server_port *server;
    struct evdns_base *client;
    const char *answer; /* An address; NULL: says nothing. */
    int asked;
} dns;

static void answer_question(struct evdns_server_request *req,
                            const struct evdns_server_question *q)
{
    struct in_addr in;

    inet_pton(AF_INET, dns.answer, &in);
    if (q->type == EVDNS_TYPE_A)
        evdns_server_request_add_a_reply(req, q->name, 1, &in, 1);
}

static void on_question(struct evdns_server_request *req, void *arg)
{
    (void)arg;
    dns.asked++;
    if (!dns.answer) {
        evdns_server_request_drop(req);
        return;
    }
    for (int i = 0; i < req->nquestions; i++)
        answer_question(req, req->questions[i]);
    evdns_server_request_respond(req, 0);
}

static void dns_start(const char *answer)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof to;
    char address[32];

    dns.answer = answer;
    dns.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(dns.fd, (struct sockaddr *)&to, sizeof to), 0);
    getsockname(dns.fd, (struct sockaddr *)&to, &len);
    dns.server = evdns_add_server_port_with_base(harness_base(), dns.fd, 0,
                                                 on_question, NULL);
    dns.client = evdns_base_new(harness_base(), 0);
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(to.sin_port));
    ck_assert_int_eq(evdns_base_nameserver_ip_add(dns.client, address), 0);
    evdns_base_set_option(dns.client, "timeout:", "0.3");
    evdns_base_set_option(dns.client, "attempts:", "1");
    evdns_base_set_option(dns.client, "max-timeouts:", "1000");
    evdns_base_set_option(dns.client, "randomize-case:", "0");
}

static void dns_stop(void)
{
    run_for(harness_base(), 10); /* Look-ups that were given up end. */
    evdns_base_free(dns.client, 0);
    evdns_close_server_port(dns.server);
    close(dns.fd);
    run_for(harness_base(), 10);
    kit_done();
}

static void name_of(char *buf, size_t size, const char *host, const char *addr)
{
    snprintf(buf, size, "%s:%s", host, strrchr(addr, ':') + 1);
}

static evzk_session_options dns_opt(void)
{
    return (evzk_session_options){.timeout_ms = KIT_SESSION_MS,
                                  .dns = dns.client};
}

START_TEST(net_resolves_names_without_blocking)
{
    evzk_session_options opt;
    char servers[256];
    struct app a;

    dns_start("127.0.0.1");
    opt = dns_opt();
    name_of(servers, sizeof servers, "zk.example", server());
    app_up(&a, servers, &opt);
    ck_assert_int_gt(dns.asked, 0);
    ck_assert_int_eq(blocking_lookups, 0);
    app_close(&a);
    dns_stop();
}
END_TEST

/* The base of the session's own, and /etc/hosts. */
START_TEST(net_resolves_localhost_by_itself)
{
    char servers[256];
    struct app a;

    name_of(servers, sizeof servers, "localhost", server());
    app_up(&a, servers, NULL);
    ck_assert_int_eq(blocking_lookups, 0);
    app_close(&a);
    kit_done();
}
END_TEST

/* A DNS that never answers: the loop runs, close works; and when it answers at
 * last (1), there is a session. */
START_TEST(net_lives_with_a_silent_dns)
{
    evzk_session_options opt;
    struct stall *stall;
    char servers[256];
    struct app a;
    struct one o;

    dns_start(NULL);
    opt = dns_opt();
    name_of(servers, sizeof servers, "zk.example", server());
    stall = stall_start(harness_base());
    app_open(&a, servers, &opt);
    one_start(&o, &a, "/silent-dns");
    WAIT(dns.asked > 1);
    if (_i == 1) {
        dns.answer = "127.0.0.1";
        WAIT(evzk_lock_held(o.l));
    }
    app_close(&a);
    ck_assert_str_eq(o.rec.text,
                     _i == 1 ? "GRANTED LOST(CLOSED)" : "FAILED(CLOSED)");
    one_free(&o);
    run_for(harness_base(), 20);
    printf("net: silent DNS: longest gap %.1f ms\n", stall_own_ms(stall));
    ck_assert(stall_own_ms(stall) < (double)slow_ms(STALL_MS));
    stall_stop(stall);
    ck_assert_int_eq(blocking_lookups, 0);
    dns_stop();
}
END_TEST

/* Nobody is at the first address; then the name moves. */
START_TEST(net_follows_a_name_that_moves)
{
    evzk_session_options opt;
    struct proxy *p = proxied();
    char servers[256];
    struct app a;

    dns_start("127.0.0.2");
    opt = dns_opt();
    name_of(servers, sizeof servers, "zk.example", proxy_address(p));
    app_open(&a, servers, &opt);
    WAIT(dns.asked > 2);
    ck_assert_int_eq(a.rec.count, 0);
    dns.answer = "127.0.0.1";
    WAIT(app_heard(&a, "CONNECTED"));
    dns.answer = "127.0.0.2"; /* The connection stays; the next one fails. */
    proxy_cut(p);
    WAIT(app_heard(&a, "RESUMED") || dns.asked > 8);
    dns.answer = "127.0.0.1";
    WAIT(evzk_session_connected(a.s));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    ck_assert_int_eq(blocking_lookups, 0);
    app_close(&a);
    proxy_stop(p);
    dns_stop();
}
END_TEST

/* One name resolves, the other never does. */
START_TEST(net_uses_what_it_has)
{
    evzk_session_options opt;
    char servers[256];
    struct app a;

    dns_start(NULL);
    opt = dns_opt();
    snprintf(servers, sizeof servers, "zk.example:1,%s", server());
    app_up(&a, servers, &opt);
    app_close(&a);
    dns_stop();
}
END_TEST

/* ---- Addresses ---- */

/* A port whose queue is full: connecting hangs until it is closed. */
static int full_port(int *port, int filler[], int n)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = net_listen(port);

    ck_assert_int_eq(listen(fd, 0), 0);
    to.sin_port = htons((uint16_t)*port);
    for (int i = 0; i < n; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(filler[i], (struct sockaddr *)&to, sizeof to);
    }
    return fd;
}

/*
 * A connect that fails some time later, and the next one gets the descriptor
 * of the same number at once, for the same events: is it listened to?  Else
 * only the client's time-out, a third of the session's, would tell.
 */
START_TEST(net_goes_on_after_a_connect_that_failed_late)
{
    enum { N = 8, ASKED_MS = 120000 };
    evzk_session_options opt = {.timeout_ms = ASKED_MS};
    int port[2], filler[2][N], fd[2];
    char servers[128];
    struct app a;
    int64_t start;

    for (int i = 0; i < 2; i++)
        fd[i] = full_port(&port[i], filler[i], N);
    zoo_deterministic_conn_order(1);
    snprintf(servers, sizeof servers, "127.0.0.1:%d,127.0.0.1:%d,%s", port[0],
             port[1], server());
    app_open(&a, servers, &opt);
    start = now_ms();
    WAIT(socket_to(port[0]) >= 0 || now_ms() - start > 200);
    ck_assert_int_eq(a.rec.count, 0); /* The server hangs. */
    close(fd[0]);
    run_for(harness_base(), 2000); /* On to the second; it hangs, too. */
    ck_assert_int_eq(a.rec.count, 0);
    start = now_ms();
    close(fd[1]);
    WAIT(app_heard(&a, "CONNECTED"));
    printf("net: connected %d ms after a late refusal\n",
           (int)(now_ms() - start));
    /* TCP tries again after 1, 3, 7 and 15 s, and is refused then. */
    ck_assert_int_lt(now_ms() - start, slow_ms(25000));
    for (int i = 0; i < 2 * N; i++)
        close(filler[i / N][i % N]);
    app_close(&a);
    kit_done();
}
END_TEST

/* A server that takes connections and says nothing: the next one is tried. */
START_TEST(net_leaves_a_server_that_is_silent)
{
    evzk_session_options opt = {.timeout_ms = KIT_BRIEF_MS};
    struct proxy *p = proxied();
    char servers[128];
    struct app a;

    zoo_deterministic_conn_order(1);
    proxy_freeze(p, PROXY_BOTH);
    snprintf(servers, sizeof servers, "%s,%s", proxy_address(p), server());
    app_up(&a, servers, &opt);
    ck_assert_int_ge(proxy_accepts(p), 1);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* Taken and hung up on, again and again: not in a busy loop. */
static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

START_TEST(net_does_not_spin_on_a_server_that_hangs_up)
{
    struct proxy *p = proxied();
    struct app a;
    int64_t accepts;

    app_up(&a, proxy_address(p), NULL);
    accepts = proxy_accepts(p);
    for (int i = 0; i < 3; i++) {
        proxy_trap(p, PROXY_C2S, PROXY_OP_CONNECT, 1, PROXY_CUT_BEFORE);
        proxy_cut(p);
        WAIT(proxy_fired(p) == i + 1);
        WAIT(evzk_session_connected(a.s));
    }
    ck_assert_int_le(proxy_accepts(p) - accepts, 10 * 3);
    ck_assert_uint_eq(stats_of(&a).expirations, 0);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A helper that was forked keeps a copy of the connection's socket.  The lost
 * connection must not be watched any more, or the loop spins for as long as the
 * helper lives.
 */
START_TEST(net_does_not_spin_on_what_a_child_keeps)
{
    struct proxy *p = proxied();
    struct app a;
    pid_t child;
    int64_t turns = 0, end;

    unsetenv("EVZK_TEST_LATE"); /* The loop spins. */
    app_up(&a, proxy_address(p), NULL);
    child = harness_fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    proxy_cut(p);
    WAIT(stats_of(&a).connects == 2 && evzk_session_connected(a.s));
    end = now_ms() + 300;
    ck_assert_int_eq(event_base_once(harness_base(), -1, EV_TIMEOUT, on_late,
                                     NULL, &(struct timeval){0, 300000}),
                     0);
    while (now_ms() < end) {
        ck_assert_int_eq(event_base_loop(harness_base(), EVLOOP_ONCE), 0);
        turns++;
    }
    ck_assert_int_le(turns, 100); /* A spinning loop has thousands. */
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(harness_join(child), 128 + SIGKILL);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* A server that grants a session and hangs up in the same breath. */
struct curt {
    struct event *accepts, *reads;
    int fd, port, served;
};

static void on_hello(evutil_socket_t fd, short what, void *arg)
{
    /* Length; protocol; time-out; session; password; not read-only. */
    static const unsigned char welcome[41] = {0, 0, 0,    37,   0, 0, 0, 0,
                                              0, 0, 0x75, 0x30, 0, 0, 0, 0,
                                              0, 0, 0,    7,    0, 0, 0, 16};
    struct curt *c = arg;
    char hello[256];

    (void)what;
    if (recv(fd, hello, sizeof hello, 0) > 0) {
        ck_assert_int_eq(send(fd, welcome, sizeof welcome, MSG_NOSIGNAL),
                         sizeof welcome);
        c->served++;
    }
    event_free(c->reads);
    c->reads = NULL;
    close(fd);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
    struct curt *c = arg;
    int client = accept(fd, NULL, NULL);

    (void)what;
    ck_assert_int_ge(client, 0);
    ck_assert_ptr_null(c->reads);
    c->reads = event_new(harness_base(), client, EV_READ, on_hello, c);
    event_add(c->reads, NULL);
}

/* Connected and cut within one turn of the loop: both are seen each time, and
 * the handle is not used for a second connection. */
START_TEST(net_sees_a_connection_of_one_turn)
{
    struct curt c = {0};
    evzk_session_stats st;
    char address[32];
    struct app a;

    c.fd = net_listen(&c.port);
    c.accepts =
        event_new(harness_base(), c.fd, EV_READ | EV_PERSIST, on_accept, &c);
    event_add(c.accepts, NULL);
    snprintf(address, sizeof address, "127.0.0.1:%d", c.port);
    app_open(&a, address,
             &(evzk_session_options){.timeout_ms = KIT_SESSION_MS,
                                     .close_timeout_ms = 1});
    WAIT(c.served == 4);
    st = stats_of(&a);
    ck_assert_uint_ge(st.connects, 3); /* The last may still be under way. */
    ck_assert_uint_ge(st.losses, 3);
    ck_assert_int_eq(evzk_session_id(a.s), 7);
    ck_assert_int_eq(
        strncmp(a.rec.text, "CONNECTED SUSPENDED RESUMED SUSPENDED", 37), 0);
    ck_assert_int_eq(evzk_session_close(a.s), EVZK_OK);
    WAIT(a.rec.finals == 1);
    evzk_session_free(a.s);
    if (c.reads) {
        close(event_get_fd(c.reads));
        event_free(c.reads);
    }
    event_free(c.accepts);
    close(c.fd);
    kit_done();
}
END_TEST

/* ---- fork ---- */

static void never(evzk_lock_query *q, int rc, const evzk_contender *v, size_t n,
                  void *arg)
{
    (void)q;
    (void)rc;
    (void)v;
    (void)n;
    (void)arg;
    _exit(99);
}

#define CHILD_CHECK(cond)                                                      \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "in the child: %s\n", #cond);                      \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

/* All calls refuse; those that free give memory back and say nothing. */
_Noreturn static void be_forked(struct app *a, struct one *held,
                                struct one *waiter, bool run)
{
    bool connected = evzk_session_connected(a->s);
    evzk_lock_query *q;
    evzk_lock *l;

    CHILD_CHECK(!evzk_lock_held(held->l));
    CHILD_CHECK(evzk_lock_lease_ms(held->l) == 0);
    CHILD_CHECK(evzk_session_lease_ms(a->s) == 0);
    CHILD_CHECK(evzk_session_close(a->s) == EVZK_ERR_FORKED);
    CHILD_CHECK(evzk_session_add_auth(a->s, "digest", "a:b", 3) ==
                EVZK_ERR_FORKED);
    CHILD_CHECK(evzk_lock_acquire(a->s, "/x", NULL, recorder_on_lock, a, &l) ==
                EVZK_ERR_FORKED);
    CHILD_CHECK(evzk_lock_query_start(a->s, "/x", never, NULL, &q) ==
                EVZK_ERR_FORKED);
    CHILD_CHECK(evzk_lock_release(held->l) == EVZK_ERR_FORKED);
    CHILD_CHECK(evzk_lock_cancel(waiter->l) == EVZK_ERR_FORKED);
    evzk_lock_free(waiter->l);
    evzk_session_free(a->s);
    evzk_lock_free(held->l);
    if (run) { /* A child that goes on with a loop of its own. */
        struct app own;
        struct one o;

        harness_free();
        app_up(&own, server(), NULL);
        one_hold(&o, &own, "/forked/own");
        one_free(&o);
        app_close(&own);
    }
    CHILD_CHECK(!connected);
    _exit(0);
}

START_TEST(fork_leaves_the_parents_session_alone)
{
    static struct proxy *p; /* Static: the child still knows of them. */
    static struct raw *r;
    static struct event_base *base;
    struct app a;
    struct one held, waiter;
    int64_t frames, start;
    char before[64];
    pid_t pid;

    p = proxied();
    r = operator_for("/forked");
    base = harness_base();
    app_up(&a, proxy_address(p), NULL);
    one_hold(&held, &a, "/forked");
    one_start(&waiter, &a, "/forked");
    WAIT(strcmp(evzk_lock_state(waiter.l), "WATCHING") == 0 &&
         stats_of(&a).in_flight == 0);
    snprintf(before, sizeof before, "%s", evzk_lock_node(held.l));
    frames = proxy_frames(p, PROXY_C2S);
    start = now_ms();
    pid = harness_fork();
    if (pid == 0)
        be_forked(&a, &held, &waiter, _i == 1);
    ck_assert_int_eq(harness_join(pid), 0);
    /* The parent's loop did not run meanwhile: nobody sent anything. */
    ck_assert_int_eq(proxy_frames(p, PROXY_C2S), frames);
    ck_assert_int_eq(proxy_open(p), 1);
    if (now_ms() - start < KIT_SESSION_MS / 2)
        ck_assert(evzk_lock_held(held.l));
    WAIT(proxy_frames_of(p, PROXY_S2C, OP_SYNC) > 2); /* Goes on. */
    run_for(base, 1000);
    ck_assert(evzk_lock_held(held.l));
    ck_assert(!recorder_has(&held.rec, "LOST"));
    ck_assert_uint_eq(stats_of(&a).losses, 0);
    ck_assert_str_eq(evzk_lock_node(held.l), before);
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
    WAIT(evzk_lock_held(waiter.l)); /* Its watch is there, too. */
    one_free(&held);
    one_free(&waiter);
    app_close(&a);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

/* Blocks that the library has not given back. */
static long blocks;

static void *count_malloc(size_t size)
{
    void *p = malloc(size);

    blocks += p != NULL;
    return p;
}

static void *count_realloc(void *p, size_t size)
{
    void *q = realloc(p, size);

    blocks += !p && q;
    return q;
}

static void count_free(void *p)
{
    blocks -= p != NULL;
    free(p);
}

/* A child of the `left`-th callback frees all at once, inside of it. */
static struct {
    struct app a;
    struct one o[2];
    int left;
    pid_t pid;
} forked;

static void free_all_in_child(void)
{
    evzk_session_free(forked.a.s);
    one_free(&forked.o[0]);
    one_free(&forked.o[1]);
}

static void fork_in_turn(void)
{
    if (forked.left == 0 || --forked.left > 0)
        return;
    forked.pid = harness_fork();
    if (forked.pid == 0)
        free_all_in_child();
}

static void fork_on_session(evzk_session *s, evzk_session_event ev, int rc,
                            void *arg)
{
    recorder_on_session(s, ev, rc, arg);
    fork_in_turn();
}

static void fork_on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    recorder_on_lock(l, ev, rc, arg);
    fork_in_turn();
}

/* The turn that the child was made in has come to its end. */
static bool in_parent(void)
{
    if (forked.pid != 0)
        return true;
    CHILD_CHECK(blocks == 0);
    _exit(0);
}

#define FORKED_WAIT(cond) WAIT(in_parent() && (cond))

static void forked_start(struct one *o)
{
    ck_assert_int_eq(evzk_lock_acquire(forked.a.s, "/forked/inside", NULL,
                                       fork_on_lock, &o->rec, &o->l),
                     EVZK_OK);
}

/* The child calls nothing, and runs the loop: as its own, or as its parent's.
 * It hears nothing, and its parent does not hear of it. */
START_TEST(fork_that_only_runs_the_loop)
{
    static struct proxy *p; /* Static: the child still knows of it. */
    static struct event_base *base;
    struct app a;
    struct one held;
    int64_t frames;
    char told[sizeof a.rec.text], heard[sizeof held.rec.text];
    pid_t pid;

    p = proxied();
    base = harness_base();
    app_up(&a, proxy_address(p), NULL);
    one_hold(&held, &a, "/forked");
    memcpy(told, a.rec.text, sizeof told);
    memcpy(heard, held.rec.text, sizeof heard);
    frames = proxy_frames(p, PROXY_C2S);
    pid = harness_fork();
    if (pid == 0) {
        if (_i == 1)
            event_reinit(base);
        run_for(base, KIT_SESSION_MS / 4);
        _exit(strcmp(a.rec.text, told) != 0 ||
              strcmp(held.rec.text, heard) != 0);
    }
    ck_assert_int_eq(harness_join(pid), 0);
    ck_assert_int_eq(proxy_frames(p, PROXY_C2S), frames);
    ck_assert_int_eq(proxy_open(p), 1);
    WAIT(proxy_frames_of(p, PROXY_S2C, OP_SYNC) > 2); /* Goes on. */
    run_for(base, 1000);
    ck_assert_uint_eq(stats_of(&a).losses, 0);
    one_free(&held);
    app_close(&a);
    proxy_stop(p);
    kit_done();
}
END_TEST

START_TEST(fork_inside_every_callback)
{
    static struct proxy *p; /* Static: the child still knows of it. */
    struct recorder *rec = &forked.a.rec;

    p = proxied();
    evzk_set_allocator(count_malloc, count_realloc, count_free);
    forked.left = _i;
    forked.pid = -1;
    ck_assert_int_eq(evzk_session_open(harness_base(), proxy_address(p),
                                       &(evzk_session_options){
                                           .timeout_ms = KIT_SESSION_MS,
                                           .close_timeout_ms = KIT_CLOSE_MS},
                                       fork_on_session, rec, &forked.a.s),
                     EVZK_OK);
    FORKED_WAIT(recorder_has(rec, "CONNECTED"));
    forked_start(&forked.o[0]);
    FORKED_WAIT(evzk_lock_held(forked.o[0].l));
    forked_start(&forked.o[1]);
    FORKED_WAIT(strcmp(evzk_lock_state(forked.o[1].l), "WATCHING") == 0);
    proxy_cut(p);
    FORKED_WAIT(one_heard(&forked.o[0], "RESUMED"));
    ck_assert_int_eq(evzk_session_close(forked.a.s), EVZK_OK);
    FORKED_WAIT(rec->finals == 1);
    ck_assert_int_eq(forked.left, 0); /* There were so many. */
    ck_assert_int_eq(harness_join(forked.pid), 0);
    free_all_in_child(); /* In the parent as well. */
    ck_assert_int_eq(blocks, 0);
    proxy_stop(p);
    kit_done();
}
END_TEST

static void free_when_requeued(evzk_lock *l, evzk_lock_event ev, int rc,
                               void *arg)
{
    (void)rc;
    (void)arg;
    ck_assert_int_eq(ev, EVZK_LOCK_REQUEUED);
    evzk_lock_free(l);
}

/* A lock that has ended, and waits for its watch to be taken off. */
START_TEST(fork_with_an_answer_outstanding)
{
    enum { OP_REMOVE_WATCHES = 18 };
    const evzk_lock_options unwatched = {.no_own_watch = true};
    static struct proxy *p; /* Static: the child still knows of them. */
    static struct raw *r;
    char path[128];
    pid_t pid;

    p = proxied();
    r = operator_for("/forked");
    raw_mkdirs(r, "/forked/queue");
    ck_assert_int_eq(raw_create(r, "/forked/queue/another-lock-", "", 0,
                                ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL, 0),
                     ZOK);
    evzk_set_allocator(count_malloc, count_realloc, count_free);
    app_up(&forked.a, proxy_address(p),
           &(evzk_session_options){.timeout_ms = KIT_SHORT_MS});
    ck_assert_int_eq(evzk_lock_acquire(forked.a.s, "/forked", &unwatched,
                                       recorder_on_lock, &forked.o[0].rec,
                                       &forked.o[0].l),
                     EVZK_OK);
    WAIT(evzk_lock_held(forked.o[0].l));
    ck_assert_int_eq(evzk_lock_acquire(forked.a.s, "/forked/queue", NULL,
                                       free_when_requeued, NULL,
                                       &forked.o[1].l),
                     EVZK_OK);
    WAIT(strcmp(evzk_lock_state(forked.o[1].l), "WATCHING") == 0 &&
         stats_of(&forked.a).watches == 2 &&
         stats_of(&forked.a).in_flight == 0);
    proxy_trap(p, PROXY_S2C, OP_REMOVE_WATCHES, 1, PROXY_FREEZE);
    snprintf(path, sizeof path, "/forked/queue/%s",
             evzk_lock_node(forked.o[1].l));
    forked.o[1].l = NULL; /* Frees itself. */
    ck_assert_int_eq(raw_delete(r, path), ZOK);
    WAIT(proxy_fired(p) == 1);
    ck_assert_uint_eq(stats_of(&forked.a).machines, 2);
    pid = harness_fork();
    if (pid == 0) {
        free_all_in_child();
        CHILD_CHECK(blocks == 0);
        _exit(0);
    }
    ck_assert_int_eq(harness_join(pid), 0);
    proxy_thaw(p);
    WAIT(stats_of(&forked.a).machines == 1);
    one_free(&forked.o[0]);
    app_close(&forked.a);
    ck_assert_int_eq(blocks, 0);
    raw_close(r);
    proxy_stop(p);
    kit_done();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("session: net");
    TCase *tc = kit_shared_tcase(suite, "net", 120);

    tcase_add_test(tc, net_resolves_names_without_blocking);
    tcase_add_test(tc, net_resolves_localhost_by_itself);
    tcase_add_loop_test(tc, net_lives_with_a_silent_dns, 0, 2);
    tcase_add_test(tc, net_follows_a_name_that_moves);
    tcase_add_test(tc, net_uses_what_it_has);
    tcase_add_test(tc, net_goes_on_after_a_connect_that_failed_late);
    tcase_add_test(tc, net_leaves_a_server_that_is_silent);
    tcase_add_test(tc, net_does_not_spin_on_a_server_that_hangs_up);
    tcase_add_test(tc, net_does_not_spin_on_what_a_child_keeps);
    tcase_add_test(tc, net_sees_a_connection_of_one_turn);
    tcase_add_loop_test(tc, fork_leaves_the_parents_session_alone, 0, 2);
    tcase_add_loop_test(tc, fork_that_only_runs_the_loop, 0, 2);
    tcase_add_loop_test(tc, fork_inside_every_callback, 1, 10);
    tcase_add_test(tc, fork_with_an_answer_outstanding);
    return suite;
}

int main(void) { return kit_main(make_suite()); }
