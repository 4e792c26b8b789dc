/*
 * Listening within the descriptors that there are.  A server that uses all of
 * them for its clients has none to connect to ZooKeeper with: it loses its
 * session, and all that it leads.
 *
 *   raise   the soft limit becomes the hard one
 *   cap     connections take numbers below the limit less RESERVE.  One more
 *           is told 503 and hung up on at once, so it can go elsewhere
 *   pause   when accept() itself fails, it is tried again after a second.  The
 *           listener would go on being ready, and libevent would try, and log,
 *           without end
 *   idle    connections that say nothing for IDLE_S are closed
 *
 * The cap needs no counting.  The kernel gives each new descriptor the lowest
 * free number: when that is CAP or higher, all below it are taken.
 *
 * How it can fail.  Someone who has as many connections as the cap, and sends a
 * byte now and then, keeps others out.  ZooKeeper's connection is safe, and the
 * shards stay; to keep such clients away is for a proxy in front.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/listener.h>

#include "server.h"

enum {
    RESERVE = 64, /* Descriptors: for ZooKeeper, DNS, logs, and what answers. */
    MOST = 10000, /* Connections, where the limit is far above. */
    IDLE_S = 20,
    PAUSE_S = 1,
    TELL_S = 10 /* The log: at most once in so long. */
};

/* There is one.  libevent calls on_error() with what evhttp gave it, so this
 * cannot come as an argument. */
static struct gate *gate;

/* The descriptors that this process may have. */
static int raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 1024;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur < MOST + RESERVE ? (int)limit.rlim_cur
                                           : MOST + RESERVE;
}

/* The cap: below it are the numbers for connections, and others'. */
static int cap_of(int limit)
{
    return limit > 2 * RESERVE ? limit - RESERVE : limit / 2;
}

static int listening(void) { return evconnlistener_get_fd(gate->listener); }

static bool is_full(void)
{
    int next = dup(listening());

    if (next >= 0)
        close(next);
    return next < 0 || next >= gate->cap;
}

static void tell(const char *what)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (gate->told && now.tv_sec - gate->told < TELL_S)
        return;
    gate->told = now.tv_sec;
    fprintf(stderr, "shard-server: %s\n", what);
}

/* Nothing is accepted until the timer says so. */
static void pause_accepting(const char *why)
{
    static const struct timeval pause = {PAUSE_S, 0};

    gate->failed++;
    tell(why);
    evconnlistener_disable(gate->listener);
    event_del(gate->excess);
    event_add(gate->resume, &pause);
}

static void on_error(struct evconnlistener *listener, void *evhttps)
{
    (void)listener, (void)evhttps;
    pause_accepting(strerror(errno));
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    evconnlistener_enable(gate->listener);
}

static void refuse(int fd)
{
    static const char no[] = "HTTP/1.1 503 Service Unavailable\r\n"
                             "Retry-After: 1\r\nConnection: close\r\n"
                             "Content-Length: 0\r\n\r\n";
    char request[4096];

    (void)send(fd, no, sizeof no - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
    /* Unread, it would turn the answer into a reset. */
    (void)recv(fd, request, sizeof request, MSG_DONTWAIT);
    close(fd);
    gate->refused++;
}

/* While it is full, here is who accepts. */
static void on_excess(evutil_socket_t fd, short what, void *arg)
{
    int client;

    (void)what, (void)arg;
    if (!is_full()) {
        event_del(gate->excess);
        evconnlistener_enable(gate->listener);
        return;
    }
    client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0)
        refuse(client);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
             errno == ENOMEM)
        pause_accepting(strerror(errno));
}

/* evhttp has accepted one, and asks for its bufferevent; NULL: it makes it. */
static struct bufferevent *on_accepted(struct event_base *base, void *arg)
{
    (void)base, (void)arg;
    if (is_full()) {
        tell("too many connections: more are refused");
        evconnlistener_disable(gate->listener);
        event_add(gate->excess, NULL);
    }
    return NULL;
}

int gate_begin(struct server *s, struct evhttp_bound_socket *bound)
{
    gate = &s->gate;
    gate->listener = evhttp_bound_socket_get_listener(bound);
    gate->cap = cap_of(raise_limit());
    gate->excess =
        event_new(s->base, listening(), EV_READ | EV_PERSIST, on_excess, NULL);
    gate->resume = evtimer_new(s->base, on_resume, NULL);
    if (!gate->excess || !gate->resume)
        return EVZK_ERR_NOMEM;
    evconnlistener_set_error_cb(gate->listener, on_error);
    evhttp_set_bevcb(s->http, on_accepted, NULL);
    evhttp_set_timeout(s->http, IDLE_S);
    return EVZK_OK;
}

void gate_end(struct server *s)
{
    if (s->gate.excess)
        event_free(s->gate.excess);
    if (s->gate.resume)
        event_free(s->gate.resume);
}
