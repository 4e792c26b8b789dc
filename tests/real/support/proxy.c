/*
 * The proxy of proxy.h.  The test's side sends one command at a time to a
 * forked process; there a libevent loop moves bytes:
 *
 *   socket --read--> in[dir] --whole frames, counted--> out[dir] --> socket
 *
 * Freezing stops reading and writing of a direction.  A trap is looked at
 * between in and out, where a frame is whole and not yet on its way.
 */
#define _GNU_SOURCE 1
#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

enum { MAX_FRAME = 64 << 20, HOLD_MAX = 8 << 20, OPS = 128, OP_BASE = 16 };
enum { RETRY_MS = 10, RETRIES_MS = 1000 };

/* ---- Between the two processes ---- */

enum command {
    CMD_CUT,
    CMD_REFUSE,
    CMD_FREEZE,
    CMD_THAW,
    CMD_TRAP,
    CMD_TRAP_BYTES,
    CMD_UNTRAP,
    CMD_FIRED,
    CMD_ACCEPTS,
    CMD_OPEN,
    CMD_FRAMES,
    CMD_FRAMES_OF,
    CMD_BYTES,
    CMD_SESSION
};

struct order {
    enum command command;
    size_t route;
    int dir;
    int op;
    enum proxy_act act;
    int64_t n;
};

struct answer {
    int64_t value;
};

/* ---- In the proxy's process ---- */

struct trap {
    bool armed;
    bool by_bytes;
    enum proxy_act act;
    int op;
    int64_t n;
    unsigned generation; /* Connections count anew for every trap. */
};

struct conn {
    LIST_ENTRY(conn) link;
    struct route *route;
    int fd[2]; /* By the direction it is the source of. */
    struct event *readable[2];
    struct event *writable[2]; /* Of the same sockets. */
    struct evbuffer *in[2];    /* Read, not yet passed on. */
    struct evbuffer *out[2];   /* Passed on, not yet written. */
    struct event *retry;       /* Of connecting, on plain links. */
    int64_t born;
    struct evbuffer *asked; /* Requests that await their reply. */
    bool connected;
    bool plain[2]; /* Not frames. */
    bool greeted[2];
    bool eof[2];
    bool ending; /* Cut by a trap: flush, then close. */
    unsigned generation[2];
    int64_t frames[2];
    int64_t bytes[2];
};

struct route {
    struct sockaddr_in target;
    int port;
    int fd;
    struct event *acceptable;
    bool framed;
    bool frozen[2];
    struct trap trap[2];
    int64_t accepts, open, fired, session;
    int64_t ending;     /* Connections that are. */
    struct event *wake; /* The last of them has ended. */
    int64_t frames[2], bytes[2];
    int64_t by_op[2][OPS];
    LIST_HEAD(, conn) conns;
};

struct plan {
    struct route *route;
    size_t n;
};

struct asked {
    int32_t xid;
    int32_t op;
};

static void on_retry(int fd, short what, void *arg);

static struct event_base *loop;
static struct route *routes;

static enum proxy_dir opposite(enum proxy_dir dir)
{
    return dir == PROXY_C2S ? PROXY_S2C : PROXY_C2S;
}

static void close_side(struct conn *c, enum proxy_dir dir, bool reset)
{
    struct linger now = {1, 0};

    if (c->fd[dir] < 0)
        return;
    if (reset)
        setsockopt(c->fd[dir], SOL_SOCKET, SO_LINGER, &now, sizeof now);
    event_free(c->readable[dir]);
    event_free(c->writable[dir]);
    close(c->fd[dir]);
    c->fd[dir] = -1;
}

static void drop_conn(struct conn *c, bool reset)
{
    struct route *r = c->route;

    LIST_REMOVE(c, link);
    r->open--;
    if (c->ending && --r->ending == 0)
        event_active(r->wake, EV_TIMEOUT, 1);
    for (int i = 0; i < 2; i++) {
        close_side(c, (enum proxy_dir)i, reset);
        evbuffer_free(c->in[i]);
        evbuffer_free(c->out[i]);
    }
    if (c->retry)
        event_free(c->retry);
    evbuffer_free(c->asked);
    free(c);
}

static int32_t peek32(struct evbuffer *buf, size_t at)
{
    struct evbuffer_ptr pos;
    uint32_t v = 0;

    if (evbuffer_ptr_set(buf, &pos, at, EVBUFFER_PTR_SET) < 0 ||
        evbuffer_copyout_from(buf, &pos, &v, sizeof v) != sizeof v)
        return 0;
    return (int32_t)ntohl(v);
}

/* The opcode of the request that the reply @xid answers. */
static int answered(struct conn *c, int32_t xid)
{
    struct asked a;

    switch (xid) {
    case -1:
        return PROXY_OP_WATCH;
    case -2:
        return PROXY_OP_PING;
    case -4:
        return 100;
    case -8:
        return 101;
    }
    while (evbuffer_remove(c->asked, &a, sizeof a) == sizeof a)
        if (a.xid == xid)
            return a.op;
    return PROXY_OP_ANY;
}

/* Learns what the connect request or response says. */
static int greet(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *in = c->in[dir];

    c->greeted[dir] = true;
    if (dir == PROXY_S2C)
        c->route->session = (int64_t)((uint64_t)(uint32_t)peek32(in, 12) << 32 |
                                      (uint32_t)peek32(in, 16));
    return PROXY_OP_CONNECT;
}

static int classify(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *in = c->in[dir];
    struct asked a;

    if (c->plain[dir])
        return PROXY_OP_ANY;
    if (!c->greeted[dir])
        return greet(c, dir);
    a.xid = peek32(in, 4);
    if (dir == PROXY_S2C)
        return answered(c, a.xid);
    a.op = peek32(in, 8);
    if (a.xid >= 0)
        evbuffer_add(c->asked, &a, sizeof a);
    return a.op;
}

/* Length of what can be passed on next: a whole frame, or bytes; 0: nothing. */
static size_t next_unit(struct conn *c, enum proxy_dir dir)
{
    size_t have = evbuffer_get_length(c->in[dir]);
    int32_t len;

    if (c->plain[dir])
        return have;
    if (have < 4)
        return c->eof[dir] ? have : 0;
    len = peek32(c->in[dir], 0);
    if (len < 0 || len > MAX_FRAME) { /* As "srvr" and "mntr" are. */
        c->plain[dir] = true;
        return have;
    }
    if (have < 4 + (size_t)len)
        return c->eof[dir] ? have : 0;
    return 4 + (size_t)len;
}

static void pass(struct conn *c, enum proxy_dir dir, size_t len)
{
    evbuffer_remove_buffer(c->in[dir], c->out[dir], len);
    c->bytes[dir] += (int64_t)len;
    c->route->bytes[dir] += (int64_t)len;
}

static void count(struct route *r, enum proxy_dir dir, int op)
{
    r->frames[dir]++;
    if (op + OP_BASE >= 0 && op + OP_BASE < OPS)
        r->by_op[dir][op + OP_BASE]++;
}

static void fire(struct conn *c, struct trap *t)
{
    t->armed = false;
    c->route->fired++;
    c->route->ending++;
    c->ending = true;
}

/* Writes what it can; false when the connection broke. */
static bool flush_out(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *out = c->out[dir];
    int fd = c->fd[opposite(dir)];

    if (fd < 0 || (dir == PROXY_C2S && !c->connected))
        return true;
    while (!c->route->frozen[dir] && evbuffer_get_length(out) > 0) {
        if (evbuffer_write(out, fd) >= 0)
            continue;
        if (errno == EAGAIN || errno == EINTR)
            return true;
        if (!c->ending || dir == PROXY_C2S)
            return false;
        evbuffer_drain(out, evbuffer_get_length(out)); /* Left in time. */
    }
    return true;
}

/* True when a trap for bytes took the unit. */
static bool caught_by_bytes(struct conn *c, enum proxy_dir dir, size_t len)
{
    struct trap *t = &c->route->trap[dir];

    if (!t->armed || !t->by_bytes || c->bytes[dir] + (int64_t)len < t->n)
        return false;
    pass(c, dir, (size_t)(t->n - c->bytes[dir]));
    fire(c, t);
    return true;
}

/* True when a trap for frames took it. */
static bool caught_by_frame(struct conn *c, enum proxy_dir dir, int op,
                            size_t len)
{
    struct trap *t = &c->route->trap[dir];

    if (!t->armed || t->by_bytes || (t->op != PROXY_OP_ANY && t->op != op))
        return false;
    if (++c->frames[dir] != t->n)
        return false;
    switch (t->act) {
    case PROXY_CUT_BEFORE:
        evbuffer_drain(c->in[dir], len);
        fire(c, t);
        return true;
    case PROXY_CUT_AFTER:
        fire(c, t);
        return false;
    case PROXY_FREEZE:
        flush_out(c, dir);
        t->armed = false;
        c->route->fired++;
        c->route->frozen[dir] = true;
        return false;
    }
    return false;
}

/* Moves from in to out what may go; stops at a trap. */
static void forward(struct conn *c, enum proxy_dir dir)
{
    struct route *r = c->route;
    size_t len;

    if (c->generation[dir] != r->trap[dir].generation) {
        c->generation[dir] = r->trap[dir].generation;
        c->frames[dir] = c->bytes[dir] = 0;
    }
    while (!c->ending && !r->frozen[dir] && (len = next_unit(c, dir)) > 0) {
        int op;

        if (caught_by_bytes(c, dir, len))
            return;
        op = classify(c, dir);
        if (caught_by_frame(c, dir, op, len))
            return;
        pass(c, dir, len);
        if (!c->plain[dir])
            count(r, dir, op);
    }
}

static void want(struct event *ev, bool on)
{
    short what = (short)(event_get_events(ev) & (EV_READ | EV_WRITE));
    bool is = event_pending(ev, what, NULL) != 0;

    if (on && !is)
        event_add(ev, NULL);
    else if (!on && is)
        event_del(ev);
}

/* Tells libevent what each socket is waited for. */
static void rearm(struct conn *c)
{
    struct route *r = c->route;

    for (int i = 0; i < 2; i++) {
        enum proxy_dir dir = (enum proxy_dir)i, back = opposite(dir);
        bool frozen = r->frozen[dir] && !c->ending;
        bool ready = dir == PROXY_C2S || c->connected;
        bool room = evbuffer_get_length(c->out[dir]) < HOLD_MAX || c->ending;
        bool waits = evbuffer_get_length(c->out[back]) > 0 && !r->frozen[back];

        if (c->fd[dir] < 0)
            continue;
        want(c->readable[dir], ready && !frozen && !c->eof[dir] && room);
        want(c->writable[dir], ready ? waits : true);
    }
}

/*
 * After a trap: the client gets what is on its way and then the end; the
 * server gets all requests before, and its replies are thrown away until it
 * hangs up.  True when nothing is left of it.
 */
static bool end_conn(struct conn *c)
{
    bool held = c->route->frozen[PROXY_S2C];

    if (held || evbuffer_get_length(c->out[PROXY_S2C]) == 0)
        close_side(c, PROXY_C2S, false);
    evbuffer_drain(c->in[PROXY_S2C], evbuffer_get_length(c->in[PROXY_S2C]));
    if (c->connected && evbuffer_get_length(c->out[PROXY_C2S]) == 0)
        shutdown(c->fd[PROXY_S2C], SHUT_WR);
    return c->eof[PROXY_S2C] && c->fd[PROXY_C2S] < 0;
}

/* One hung up, and all it had sent is delivered. */
static bool run_dry(const struct conn *c)
{
    for (int i = 0; i < 2; i++)
        if (c->eof[i] && evbuffer_get_length(c->in[i]) == 0 &&
            evbuffer_get_length(c->out[i]) == 0)
            return true;
    return false;
}

/* Does all that can be done for a connection; it may be gone afterwards. */
static void step(struct conn *c)
{
    bool whole = true;

    if (c->fd[PROXY_S2C] < 0) { /* Waits for the thaw, or to try again. */
        if (c->eof[PROXY_C2S])
            drop_conn(c, true);
        else
            rearm(c);
        return;
    }
    for (int i = 0; i < 2; i++)
        forward(c, (enum proxy_dir)i);
    for (int i = 0; i < 2; i++)
        whole = flush_out(c, (enum proxy_dir)i) && whole;
    if (c->ending ? end_conn(c) : run_dry(c))
        drop_conn(c, false);
    else if (!whole)
        drop_conn(c, true);
    else
        rearm(c);
}

static void on_read(int fd, short what, void *arg)
{
    struct conn *c = arg;
    enum proxy_dir dir = fd == c->fd[PROXY_C2S] ? PROXY_C2S : PROXY_S2C;
    int n = evbuffer_read(c->in[dir], fd, 1 << 16);

    (void)what;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        c->eof[dir] = true;
    step(c);
}

/* Of connecting to the server, or 0. */
static int connect_error(int fd)
{
    socklen_t len = sizeof(int);
    int error = 0;

    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
    return error;
}

/*
 * The server is not listening.  A ZooKeeper client is to see that; a follower
 * is not: by itself it would be refused and ask again, but here it is connected
 * already, and a reset sends it to a new election.
 */
static void fail_to_connect(struct conn *c)
{
    struct timeval soon = {0, RETRY_MS * 1000};

    if (c->route->framed || now_ms() - c->born > RETRIES_MS) {
        drop_conn(c, true);
        return;
    }
    close_side(c, PROXY_S2C, false);
    if (!c->retry)
        c->retry = evtimer_new(loop, on_retry, c);
    event_add(c->retry, &soon);
}

static void on_write(int fd, short what, void *arg)
{
    struct conn *c = arg;

    (void)what;
    if (fd == c->fd[PROXY_S2C] && !c->connected) {
        if (connect_error(fd)) {
            fail_to_connect(c);
            return;
        }
        c->connected = true;
    }
    step(c);
}

static void watch_side(struct conn *c, enum proxy_dir dir, int fd)
{
    net_unblock(fd);
    c->fd[dir] = fd;
    c->readable[dir] = event_new(loop, fd, EV_READ | EV_PERSIST, on_read, c);
    c->writable[dir] = event_new(loop, fd, EV_WRITE | EV_PERSIST, on_write, c);
}

/*
 * Connects to the server, unless what the client sends is frozen.  It waits for
 * ending connections: a session that comes back makes the server close the old
 * connection, with the requests in it that it has not read.
 */
static void reach_server(struct conn *c)
{
    struct route *r = c->route;
    int fd;

    if (c->fd[PROXY_S2C] >= 0 || r->frozen[PROXY_C2S] || r->ending > 0)
        return;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    watch_side(c, PROXY_S2C, fd);
    if (connect(fd, (struct sockaddr *)&r->target, sizeof r->target) == 0)
        c->connected = true;
}

static void on_retry(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    reach_server(arg);
    step(arg);
}

static void on_accept(int fd, short what, void *arg)
{
    struct route *r = arg;
    struct conn *c;
    int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

    (void)what;
    if (client < 0)
        return;
    c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->route = r;
    c->born = now_ms();
    c->fd[PROXY_S2C] = -1;
    c->asked = evbuffer_new();
    for (int i = 0; i < 2; i++) {
        c->in[i] = evbuffer_new();
        c->out[i] = evbuffer_new();
        c->plain[i] = !r->framed;
    }
    LIST_INSERT_HEAD(&r->conns, c, link);
    r->accepts++;
    r->open++;
    watch_side(c, PROXY_C2S, client);
    reach_server(c);
    step(c);
}

static void listen_with(struct route *r, int fd)
{
    if (fd < 0)
        _exit(1); /* The port was taken; the test hears of it. */
    r->fd = fd;
    net_unblock(fd);
    r->acceptable = event_new(loop, fd, EV_READ | EV_PERSIST, on_accept, r);
    event_add(r->acceptable, NULL);
}

static void refuse(struct route *r, bool on)
{
    if (!on && r->fd < 0)
        listen_with(r, net_listen_on(r->port));
    if (on && r->fd >= 0) {
        event_free(r->acceptable);
        close(r->fd);
        r->fd = -1;
    }
}

/* Every connection looks again at what it may do. */
static void step_all(struct route *r)
{
    struct conn *next;

    for (struct conn *c = LIST_FIRST(&r->conns); c; c = next) {
        next = LIST_NEXT(c, link);
        reach_server(c);
        step(c);
    }
}

static void cut_all(struct route *r)
{
    struct conn *c;

    while ((c = LIST_FIRST(&r->conns)))
        drop_conn(c, true);
}

static void freeze(struct route *r, int dir)
{
    if (dir != PROXY_S2C)
        r->frozen[PROXY_C2S] = true;
    if (dir != PROXY_C2S)
        r->frozen[PROXY_S2C] = true;
    step_all(r);
}

static void set_trap(struct route *r, const struct order *o)
{
    struct trap *t = &r->trap[o->dir];

    t->armed = true;
    t->by_bytes = o->command == CMD_TRAP_BYTES;
    t->act = o->act;
    t->op = o->op;
    t->n = o->n;
    t->generation++;
}

static int64_t obey(struct route *r, const struct order *o)
{
    switch (o->command) {
    case CMD_CUT:
        cut_all(r);
        return 0;
    case CMD_REFUSE:
        refuse(r, o->n != 0);
        return 0;
    case CMD_FREEZE:
        freeze(r, o->dir);
        return 0;
    case CMD_THAW:
        r->frozen[PROXY_C2S] = r->frozen[PROXY_S2C] = false;
        step_all(r);
        return 0;
    case CMD_TRAP:
    case CMD_TRAP_BYTES:
        set_trap(r, o);
        return 0;
    case CMD_UNTRAP:
        r->trap[PROXY_C2S].armed = r->trap[PROXY_S2C].armed = false;
        return 0;
    case CMD_FIRED:
        return r->fired;
    case CMD_ACCEPTS:
        return r->accepts;
    case CMD_OPEN:
        return r->open;
    case CMD_FRAMES:
        return r->frames[o->dir];
    case CMD_FRAMES_OF:
        return r->by_op[o->dir][o->op + OP_BASE];
    case CMD_BYTES:
        return r->bytes[o->dir];
    case CMD_SESSION:
        return r->session;
    }
    return -1;
}

static void on_order(int fd, short what, void *arg)
{
    struct order o;
    struct answer a;

    (void)what;
    (void)arg;
    if (recv(fd, &o, sizeof o, 0) != sizeof o)
        _exit(0);
    a.value = obey(&routes[o.route], &o);
    if (send(fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a)
        _exit(0);
}

static void on_wake(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    step_all(arg);
}

static void proxy_main(int fd, void *arg)
{
    struct plan *plan = arg;
    struct answer port;
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    loop = event_base_new();
    routes = plan->route;
    event_add(event_new(loop, fd, EV_READ | EV_PERSIST, on_order, NULL), NULL);
    for (size_t i = 0; i < plan->n; i++) {
        listen_with(&routes[i], net_listen(&routes[i].port));
        routes[i].wake = event_new(loop, -1, 0, on_wake, &routes[i]);
        port.value = routes[i].port;
        if (send(fd, &port, sizeof port, MSG_NOSIGNAL) != sizeof port)
            _exit(0);
    }
    event_base_dispatch(loop);
    _exit(1);
}

/* ---- In the test's process ---- */

struct host {
    struct child child;
    size_t users;
};

struct proxy {
    struct host *host;
    size_t route;
    int port;
    char address[32];
};

static void aim(struct sockaddr_in *to, const char *target)
{
    const char *colon = strrchr(target, ':');

    if (!colon || strncmp(target, "127.0.0.1:", 10) != 0)
        support_fail("proxy: not \"127.0.0.1:port\": %s", target);
    to->sin_family = AF_INET;
    to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to->sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
}

static struct proxy *handle(struct host *host, size_t route)
{
    struct proxy *p = calloc(1, sizeof *p);
    struct answer port;

    if (!p || recv(host->child.fd, &port, sizeof port, 0) != sizeof port)
        support_fail("proxy: did not start");
    p->host = host;
    p->route = route;
    p->port = (int)port.value;
    snprintf(p->address, sizeof p->address, "127.0.0.1:%d", p->port);
    return p;
}

void proxy_start_all(const char *const *targets, size_t n, bool framed,
                     struct proxy **out)
{
    struct host *host = calloc(1, sizeof *host);
    struct plan plan = {calloc(n, sizeof *plan.route), n};

    if (!host || !plan.route)
        support_fail("proxy: out of memory");
    for (size_t i = 0; i < n; i++) {
        plan.route[i].framed = framed;
        plan.route[i].fd = -1;
        aim(&plan.route[i].target, targets[i]);
    }
    host->users = n;
    child_start(&host->child, SIGKILL, proxy_main, &plan);
    for (size_t i = 0; i < n; i++)
        out[i] = handle(host, i);
    free(plan.route);
}

struct proxy *proxy_start(const char *target)
{
    struct proxy *p;

    proxy_start_all(&target, 1, true, &p);
    return p;
}

void proxy_stop(struct proxy *p)
{
    if (!p)
        return;
    if (--p->host->users == 0) {
        child_end(&p->host->child);
        free(p->host);
    }
    free(p);
}

int proxy_port(const struct proxy *p) { return p->port; }

const char *proxy_address(const struct proxy *p) { return p->address; }

static int64_t order(struct proxy *p, struct order o)
{
    struct answer a;
    struct order sent;

    memset(&sent, 0, sizeof sent); /* What is between the fields is sent too. */
    sent.route = p->route;
    sent.command = o.command;
    sent.dir = o.dir;
    sent.op = o.op;
    sent.act = o.act;
    sent.n = o.n;
    child_call(&p->host->child, &sent, sizeof sent, &a, sizeof a);
    return a.value;
}

void proxy_cut(struct proxy *p)
{
    order(p, (struct order){.command = CMD_CUT});
}

void proxy_refuse(struct proxy *p, bool on)
{
    order(p, (struct order){.command = CMD_REFUSE, .n = on});
}

void proxy_freeze(struct proxy *p, int dir)
{
    order(p, (struct order){.command = CMD_FREEZE, .dir = dir});
}

void proxy_thaw(struct proxy *p)
{
    order(p, (struct order){.command = CMD_THAW});
}

void proxy_trap(struct proxy *p, enum proxy_dir dir, int op, int64_t k,
                enum proxy_act act)
{
    order(p, (struct order){.command = CMD_TRAP,
                            .dir = (int)dir,
                            .op = op,
                            .act = act,
                            .n = k});
}

void proxy_cut_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                        enum proxy_act act)
{
    proxy_trap(p, dir, PROXY_OP_ANY, k, act);
}

void proxy_cut_after_bytes(struct proxy *p, enum proxy_dir dir, int64_t n)
{
    order(p,
          (struct order){.command = CMD_TRAP_BYTES, .dir = (int)dir, .n = n});
}

void proxy_untrap(struct proxy *p)
{
    order(p, (struct order){.command = CMD_UNTRAP});
}

int64_t proxy_fired(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_FIRED});
}

int64_t proxy_accepts(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_ACCEPTS});
}

int64_t proxy_open(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_OPEN});
}

int64_t proxy_frames(struct proxy *p, enum proxy_dir dir)
{
    return order(p, (struct order){.command = CMD_FRAMES, .dir = (int)dir});
}

int64_t proxy_frames_of(struct proxy *p, enum proxy_dir dir, int op)
{
    if (op + OP_BASE < 0 || op + OP_BASE >= OPS)
        support_fail("proxy: no such operation: %d", op);
    return order(
        p, (struct order){.command = CMD_FRAMES_OF, .dir = (int)dir, .op = op});
}

int64_t proxy_bytes(struct proxy *p, enum proxy_dir dir)
{
    return order(p, (struct order){.command = CMD_BYTES, .dir = (int)dir});
}

int64_t proxy_session(struct proxy *p)
{
    return order(p, (struct order){.command = CMD_SESSION});
}
