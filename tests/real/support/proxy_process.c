/*
 * The proxy's process: takes the test's orders, one at a time, and the clients'
 * connections.  It ends when the test hangs up.
 */
#define _GNU_SOURCE 1
#include "proxy_route.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

static struct event_base *loop;
static struct route *routes;

static void on_accept(int fd, short what, void *arg)
{
    int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

    (void)what;
    if (client >= 0)
        conn_open(loop, arg, client);
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
        conn_reach(c);
        conn_step(c);
    }
}

static void cut_all(struct route *r)
{
    struct conn *c;

    while ((c = LIST_FIRST(&r->conns)))
        conn_drop(c, true);
}

static void freeze(struct route *r, int dir)
{
    if (dir != PROXY_S2C)
        r->frozen[PROXY_C2S] = true;
    if (dir != PROXY_C2S)
        r->frozen[PROXY_S2C] = true;
    step_all(r);
}

static void thaw(struct route *r)
{
    event_del(r->thaw);
    r->frozen[PROXY_C2S] = r->frozen[PROXY_S2C] = false;
    step_all(r);
}

static void untrap(struct route *r)
{
    r->trap[PROXY_C2S].armed = r->trap[PROXY_S2C].armed = false;
    r->then.armed = false;
}

static void reset(struct route *r)
{
    untrap(r);
    cut_all(r);
    thaw(r);
    r->slow = false;
}

static struct trap trap_of(const struct order *o)
{
    return (struct trap){.armed = true,
                         .by_bytes = o->command == CMD_TRAP_BYTES,
                         .act = o->act,
                         .op = o->op,
                         .n = o->n,
                         .ms = o->ms};
}

static void set_trap(struct route *r, const struct order *o)
{
    unsigned generation = r->trap[o->dir].generation;

    r->trap[o->dir] = trap_of(o);
    r->trap[o->dir].generation = generation + 1;
    r->then.armed = false;
}

static void set_then(struct route *r, const struct order *o)
{
    r->then = trap_of(o);
    r->then_dir = o->dir;
}

static int64_t obey(struct route *r, const struct order *o)
{
    switch (o->command) {
    case CMD_CUT:
        cut_all(r);
        return 0;
    case CMD_RESET:
        reset(r);
        return 0;
    case CMD_REFUSE:
        refuse(r, o->n != 0);
        return 0;
    case CMD_FREEZE:
        freeze(r, o->dir);
        return 0;
    case CMD_THAW:
        thaw(r);
        return 0;
    case CMD_PACE:
        r->slow = o->n != 0;
        step_all(r);
        return 0;
    case CMD_TRAP:
    case CMD_TRAP_BYTES:
        set_trap(r, o);
        return 0;
    case CMD_THEN:
        set_then(r, o);
        return 0;
    case CMD_UNTRAP:
        untrap(r);
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
        return r->by_op[o->dir][o->op + PROXY_OP_BASE];
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

static void on_thaw(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    thaw(arg);
}

void proxy_process(int fd, void *arg)
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
        routes[i].thaw = evtimer_new(loop, on_thaw, &routes[i]);
        port.value = routes[i].port;
        if (send(fd, &port, sizeof port, MSG_NOSIGNAL) != sizeof port)
            _exit(0);
    }
    event_base_dispatch(loop);
    _exit(1);
}
