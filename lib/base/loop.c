/* Timers and readiness, on libevent. */
#include "lib/base/loop.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"

struct evzk__timer {
    struct event ev;
    int64_t due; /* By our clock. */
    void (*fire)(void *);
    void *arg;
};

struct evzk__io {
    struct event ev;
    struct event_base *base;
    int fd, what; /* What the event is set for; fd -1: not set. */
    void (*ready)(int, void *);
    void *arg;
};

static void add(struct evzk__timer *t, int64_t delay_us)
{
    struct timeval tv;

    tv.tv_sec = (time_t)(delay_us / 1000000);
    tv.tv_usec = (suseconds_t)(delay_us % 1000000);
    event_add(&t->ev, &tv);
}

/* libevent counts from the beginning of its loop step, by a coarse clock: its
 * timers may come too early. */
static void timer_cb(evutil_socket_t fd, short what, void *arg)
{
    struct evzk__timer *t = arg;
    int64_t left;

    (void)fd;
    (void)what;
    left = t->due - evzk__now_us();
    if (left > 0)
        add(t, left);
    else
        t->fire(t->arg);
}

struct evzk__timer *evzk__timer_new(struct event_base *base,
                                    void (*fire)(void *), void *arg)
{
    struct evzk__timer *t = evzk__zalloc(sizeof *t);

    if (t) {
        t->fire = fire;
        t->arg = arg;
        event_assign(&t->ev, base, -1, 0, timer_cb, t);
    }
    return t;
}

void evzk__timer_set(struct evzk__timer *t, int64_t delay_us)
{
    if (delay_us < 0)
        delay_us = 0;
    t->due = evzk__now_us() + delay_us;
    add(t, delay_us);
}

void evzk__timer_stop(struct evzk__timer *t) { event_del(&t->ev); }

void evzk__timer_free(struct evzk__timer *t)
{
    if (t) {
        event_del(&t->ev);
        evzk__free(t);
    }
}

static void io_cb(evutil_socket_t fd, short what, void *arg)
{
    struct evzk__io *io = arg;

    (void)fd;
    io->ready((what & EV_READ ? EVZK__READ : 0) |
                  (what & EV_WRITE ? EVZK__WRITE : 0),
              io->arg);
}

struct evzk__io *evzk__io_new(struct event_base *base,
                              void (*ready)(int, void *), void *arg)
{
    struct evzk__io *io = evzk__zalloc(sizeof *io);

    if (io) {
        io->base = base;
        io->fd = -1;
        io->ready = ready;
        io->arg = arg;
    }
    return io;
}

void evzk__io_want(struct evzk__io *io, int fd, int what)
{
    short flags = EV_PERSIST;

    if (io->fd == fd && io->what == what)
        return;
    if (io->fd >= 0)
        event_del(&io->ev);
    io->fd = what ? fd : -1;
    io->what = what;
    if (io->fd < 0)
        return;
    flags = (short)(flags | (what & EVZK__READ ? EV_READ : 0) |
                    (what & EVZK__WRITE ? EV_WRITE : 0));
    event_assign(&io->ev, io->base, fd, flags, io_cb, io);
    event_add(&io->ev, NULL);
}

void evzk__io_free(struct evzk__io *io)
{
    if (io) {
        evzk__io_want(io, -1, 0);
        evzk__free(io);
    }
}
