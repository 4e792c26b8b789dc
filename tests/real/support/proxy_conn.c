/*
 * One connection through the proxy:
 *
 *   socket --read--> in[dir] --whole frames, counted--> out[dir] --> socket
 *
 * Freezing stops reading and writing of a direction; a slow route writes a byte
 * at every tick of a timer.
 */
#define _GNU_SOURCE 1
#include "proxy_route.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

enum { HOLD_MAX = 8 << 20, RETRY_MS = 10, RETRIES_MS = 1000, PACE_US = 1000 };

static void on_retry(int fd, short what, void *arg);

static struct event_base *loop;

enum proxy_dir proxy_opposite(enum proxy_dir dir)
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

void conn_drop(struct conn *c, bool reset)
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
    if (c->pace)
        event_free(c->pace);
    evbuffer_free(c->asked);
    free(c);
}

/* On a slow route the first byte of what waits goes a millisecond after it
 * came, and each other one a millisecond later. */
static bool is_due(struct conn *c, enum proxy_dir dir)
{
    int64_t now = now_ms();

    if (!c->route->slow)
        return true;
    if (!c->paced[dir])
        c->paced[dir] = now;
    if (c->paced[dir] >= now)
        return false;
    c->paced[dir]++;
    return true;
}

bool conn_flush(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *out = c->out[dir];
    int fd = c->fd[proxy_opposite(dir)];

    if (fd < 0 || (dir == PROXY_C2S && !c->connected))
        return true;
    while (!c->route->frozen[dir] && evbuffer_get_length(out) > 0) {
        if (!is_due(c, dir))
            return true;
        if (evbuffer_write_atmost(out, fd, c->route->slow ? 1 : -1) >= 0)
            continue;
        if (errno == EAGAIN || errno == EINTR)
            return true;
        if (!c->ending || dir == PROXY_C2S)
            return false;
        evbuffer_drain(out, evbuffer_get_length(out)); /* Left in time. */
    }
    if (c->route->frozen[dir] || evbuffer_get_length(out) == 0)
        c->paced[dir] = 0;
    return true;
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

/* A byte for every millisecond, each way, and each by a write of its own. */
static void on_pace(int fd, short what, void *arg)
{
    struct conn *c = arg;

    (void)fd;
    (void)what;
    if (!c->route->slow)
        event_del(c->pace);
    conn_step(c);
}

static void keep_pace(struct conn *c)
{
    struct timeval tv = {0, PACE_US};

    if (!c->pace)
        c->pace = event_new(loop, -1, EV_PERSIST, on_pace, c);
    if (!event_pending(c->pace, EV_TIMEOUT, NULL))
        event_add(c->pace, &tv);
}

/* Tells libevent what each socket is waited for. */
static void rearm(struct conn *c)
{
    struct route *r = c->route;

    if (r->slow)
        keep_pace(c);
    for (int i = 0; i < 2; i++) {
        enum proxy_dir dir = (enum proxy_dir)i, back = proxy_opposite(dir);
        bool frozen = r->frozen[dir] && !c->ending;
        bool ready = dir == PROXY_C2S || c->connected;
        bool room = evbuffer_get_length(c->out[dir]) < HOLD_MAX || c->ending;
        bool waits = evbuffer_get_length(c->out[back]) > 0 && !r->frozen[back];

        if (c->fd[dir] < 0)
            continue;
        want(c->readable[dir], ready && !frozen && !c->eof[dir] && room);
        want(c->writable[dir], ready ? waits && !r->slow : true);
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

void conn_step(struct conn *c)
{
    bool whole = true;

    if (c->fd[PROXY_S2C] < 0) { /* Waits for the thaw, or to try again. */
        if (c->eof[PROXY_C2S])
            conn_drop(c, true);
        else
            rearm(c);
        return;
    }
    for (int i = 0; i < 2; i++)
        frame_forward(c, (enum proxy_dir)i);
    for (int i = 0; i < 2; i++)
        whole = conn_flush(c, (enum proxy_dir)i) && whole;
    if (c->ending ? end_conn(c) : run_dry(c))
        conn_drop(c, false);
    else if (!whole)
        conn_drop(c, true);
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
    conn_step(c);
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
        conn_drop(c, true);
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
    conn_step(c);
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
void conn_reach(struct conn *c)
{
    struct route *r = c->route;
    int fd;

    if (c->fd[PROXY_S2C] >= 0 || r->frozen[PROXY_C2S] || r->ending > 0)
        return;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        abort(); /* The test hears that its helper died. */
    watch_side(c, PROXY_S2C, fd);
    if (connect(fd, (struct sockaddr *)&r->target, sizeof r->target) == 0)
        c->connected = true;
}

static void on_retry(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    conn_reach(arg);
    conn_step(arg);
}

void conn_open(struct event_base *base, struct route *r, int client)
{
    struct conn *c = calloc(1, sizeof *c);

    if (!c)
        abort();
    loop = base;
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
    conn_reach(c);
    conn_step(c);
}
