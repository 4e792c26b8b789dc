/* The C client, driven raw; see plain.h. */
#include "plain.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "config.h"

enum { BUDGET_NS = 2000000, CONNECT_S = 60, DIGITS = 10 };

static void on_log(const char *line) { (void)line; }

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

static void on_io(evutil_socket_t fd, short what, void *arg);

static void want(struct plain *p, int fd, int what)
{
    short flags = EV_PERSIST;

    if (p->fd == fd && p->what == what)
        return;
    if (p->fd >= 0)
        event_del(p->io);
    p->fd = what ? fd : -1;
    p->what = what;
    if (p->fd < 0)
        return;
    flags = (short)(flags | (what & ZOOKEEPER_READ ? EV_READ : 0) |
                    (what & ZOOKEEPER_WRITE ? EV_WRITE : 0));
    event_assign(p->io, p->base, fd, flags, on_io, p);
    event_add(p->io, NULL);
}

/* Bytes left in the socket when the budget ends make it readable again. */
static void drain(struct plain *p, int ready)
{
    int64_t end = now_ns() + BUDGET_NS;
    int rc = zookeeper_process(p->zh, ready);

    for (int n = 0; rc == ZOK; n++) {
        if (n % 16 == 15 && now_ns() > end)
            return;
        rc = zookeeper_process(p->zh, ZOOKEEPER_READ);
    }
}

static void take_turn(struct plain *p, int ready)
{
    struct timeval wait = {0, 0};
    int fd = -1, what = 0;

    if (ready)
        drain(p, ready);
    if (p->turn)
        p->turn();
    zookeeper_interest(p->zh, &fd, &what, &wait);
    want(p, fd, what);
    event_add(p->timer, &wait);
}

static void on_io(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    take_turn(arg, (what & EV_READ ? ZOOKEEPER_READ : 0) |
                       (what & EV_WRITE ? ZOOKEEPER_WRITE : 0));
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    take_turn(arg, 0);
}

void plain_kick(struct plain *p) { event_active(p->timer, EV_TIMEOUT, 0); }

void plain_open(struct plain *p, struct event_base *base, const char *servers,
                int timeout_ms, void (*turn)(void))
{
    int64_t end = now_ns() + CONNECT_S * (int64_t)1000000000;

    *p = (struct plain){.base = base, .fd = -1};
    p->zh = zookeeper_init2(servers, on_watch, timeout_ms, NULL, NULL,
                            ZOO_NO_LOG_CLIENTENV, on_log);
    p->io = event_new(base, -1, 0, on_io, p);
    p->timer = event_new(base, -1, 0, on_timer, p);
    if (!p->zh || !p->io || !p->timer)
        fail("no client: out of memory");
#ifdef HAVE_ZOO_SET_SERVERS_RESOLUTION_DELAY
    /* Else the client looks the names up in each turn. */
    zoo_set_servers_resolution_delay(p->zh, -1);
#endif
    take_turn(p, 0);
    while (zoo_state(p->zh) != ZOO_CONNECTED_STATE) {
        if (now_ns() > end)
            fail("no connection to %s", servers);
        event_base_loop(base, EVLOOP_ONCE);
    }
    p->turn = turn;
}

void plain_close(struct plain *p)
{
    want(p, -1, 0);
    event_free(p->io);
    event_free(p->timer);
    zookeeper_close(p->zh);
}

void plain_check(int rc, const char *what)
{
    if (rc != ZOK)
        fail("raw: %s: %s", what, zerror(rc));
}

int32_t plain_seq(const char *name)
{
    size_t len = strlen(name);

    return len < DIGITS ? 0 : (int32_t)strtol(name + len - DIGITS, NULL, 10);
}

void plain_push(struct plain *p, struct plain_todo *todo, int what)
{
    if (!todo->v)
        todo->v = calloc((size_t)todo->room, sizeof todo->v[0]);
    if (!todo->v)
        fail("raw: out of memory");
    todo->v[todo->tail++ % todo->room] = what;
    plain_kick(p);
}
