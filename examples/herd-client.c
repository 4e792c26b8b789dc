/* The C client on a libevent loop: once in a loop step it says what to wait
 * for, and all that can be read is read at once. */
#include <event2/event.h>
#include <zookeeper/zookeeper.h>

#include "herd.h"

static void on_io(evutil_socket_t fd, short what, void *arg);

static void wait_for(struct client *c, int fd, int what)
{
    short flags = EV_PERSIST;

    if (c->fd == fd && c->what == what)
        return;
    if (c->fd >= 0)
        event_del(c->io);
    c->fd = what ? fd : -1;
    c->what = what;
    if (c->fd < 0)
        return;
    flags = (short)(flags | (what & ZOOKEEPER_READ ? EV_READ : 0) |
                    (what & ZOOKEEPER_WRITE ? EV_WRITE : 0));
    event_assign(c->io, c->base, fd, flags, on_io, c);
    event_add(c->io, NULL);
}

static void take_turn(struct client *c, int ready)
{
    struct timeval wait = {0, 0};
    int fd = -1, what = 0;
    int rc = ready ? zookeeper_process(c->zh, ready) : ZNOTHING;

    while (rc == ZOK)
        rc = zookeeper_process(c->zh, ZOOKEEPER_READ);
    zookeeper_interest(c->zh, &fd, &what, &wait);
    wait_for(c, fd, what);
    event_add(c->timer, &wait);
}

static void on_io(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    take_turn(arg, (what & EV_READ ? ZOOKEEPER_READ : 0) |
                       (what & EV_WRITE ? ZOOKEEPER_WRITE : 0));
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    take_turn(arg, 0);
}

static void on_log(const char *line) { (void)line; }

static void on_session(zhandle_t *zh, int type, int state, const char *path,
                       void *arg)
{
    (void)zh, (void)type, (void)path, (void)arg;
    if (state == ZOO_EXPIRED_SESSION_STATE)
        herd_fail("the naive lock", "a session expired");
}

void client_open(struct client *c, struct event_base *base, const char *servers)
{
    *c = (struct client){.base = base, .fd = -1};
    c->zh = zookeeper_init2(servers, on_session, HERD_SESSION_MS, NULL, NULL,
                            ZOO_NO_LOG_CLIENTENV, on_log);
    c->io = event_new(base, -1, 0, on_io, c);
    c->timer = event_new(base, -1, 0, on_timer, c);
    if (!c->zh || !c->io || !c->timer)
        herd_fail("the C client", "it does not start");
    take_turn(c, 0);
}

bool client_connected(const struct client *c)
{
    return zoo_state(c->zh) == ZOO_CONNECTED_STATE;
}

void client_kick(struct client *c) { event_active(c->timer, EV_TIMEOUT, 0); }

void client_close(struct client *c)
{
    wait_for(c, -1, 0);
    event_free(c->io);
    event_free(c->timer);
    zookeeper_close(c->zh);
}
