/* The loops of the processes: lib/base/loop.h, on the world's clock and wire.
 *
 * A loop hands out one event at a time, the earliest that is due; at the same
 * time readiness before timers, and of two timers the one that was set first.
 * A process that is frozen has its events late, but has them all.
 *
 * As with the kernel's: a descriptor that is closed is forgotten without a
 * word, and the next connection of the same number must be asked for anew.
 */
#include <sys/queue.h>

#include "lib/base/loop.h"
#include "lib/base/mem.h"
#include "steps.h"
#include "wire.h"
#include "world.h"

struct evzk__timer {
    TAILQ_ENTRY(evzk__timer) link;
    void (*fire)(void *);
    void *arg;
    int64_t due; /* 0: off. */
    int64_t proc;
};

struct evzk__io {
    TAILQ_ENTRY(evzk__io) link;
    void (*ready)(int, void *);
    void *arg;
    int64_t proc;
    int fd, what;
    uint64_t born; /* Which of the connections that had this number. */
};

static struct {
    struct loop {
        TAILQ_HEAD(, evzk__timer) timers; /* As set; only those that are on. */
        TAILQ_HEAD(, evzk__io) ios;
        int64_t frozen; /* Until then. */
    } of[SIM_PROCS];
} loops;
SIM_KEEP(loops)

static struct loop *loop_of(int proc)
{
    struct loop *p = &loops.of[proc];

    if (!p->ios.tqh_last) { /* A world has begun since. */
        TAILQ_INIT(&p->timers);
        TAILQ_INIT(&p->ios);
    }
    return p;
}

struct evzk__timer *evzk__timer_new(struct event_base *base,
                                    void (*fire)(void *), void *arg)
{
    struct evzk__timer *t = evzk__zalloc(sizeof *t);

    (void)base;
    if (t) {
        t->fire = fire;
        t->arg = arg;
        t->proc = sim_running();
    }
    return t;
}

void evzk__timer_stop(struct evzk__timer *t)
{
    if (t->proc != sim_running())
        sim_violation("p%d uses a timer of p%d", sim_running(), (int)t->proc);
    if (t->due)
        TAILQ_REMOVE(&loop_of((int)t->proc)->timers, t, link);
    t->due = 0;
}

/* A turn of a slow process takes time: the next one is not at once. */
enum { SLOW_TURN_US = 1500 };

void evzk__timer_set(struct evzk__timer *t, int64_t delay_us)
{
    int64_t least = sim_is_slow((int)t->proc) ? SLOW_TURN_US : 0;

    evzk__timer_stop(t);
    t->due = sim_now() + (delay_us > least ? delay_us : least);
    TAILQ_INSERT_TAIL(&loop_of((int)t->proc)->timers, t, link);
}

void evzk__timer_free(struct evzk__timer *t)
{
    if (t) {
        evzk__timer_stop(t);
        evzk__free(t);
    }
}

struct evzk__io *evzk__io_new(struct event_base *base,
                              void (*ready)(int what, void *), void *arg)
{
    struct evzk__io *io = evzk__zalloc(sizeof *io);

    (void)base;
    if (io) {
        io->ready = ready;
        io->arg = arg;
        io->proc = sim_running();
        io->fd = -1;
        TAILQ_INSERT_TAIL(&loop_of((int)io->proc)->ios, io, link);
    }
    return io;
}

void evzk__io_want(struct evzk__io *io, int fd, int what)
{
    if (io->proc != sim_running())
        sim_violation("p%d uses readiness of p%d", sim_running(),
                      (int)io->proc);
    if (io->fd == fd && io->what == what)
        return;
    io->fd = what ? fd : -1;
    io->what = what;
    io->born = io->fd < 0 ? 0 : wire_born(io->fd - WIRE_FD);
    if (io->fd >= 0 && !io->born)
        sim_violation("p%d waits for descriptor %d, which is closed",
                      (int)io->proc, fd);
}

void evzk__io_free(struct evzk__io *io)
{
    if (io) {
        evzk__io_want(io, -1, 0);
        TAILQ_REMOVE(&loop_of((int)io->proc)->ios, io, link);
        evzk__free(io);
    }
}

static bool writable(int conn) { return wire_state(conn) != WIRE_CONNECTING; }

/* When there will be something to hand out; INT64_MAX: not as things are. */
static int64_t ready_at(const struct evzk__io *io)
{
    int conn = io->fd - WIRE_FD;

    if (io->fd < 0 || wire_born(conn) != io->born)
        return INT64_MAX;
    if ((io->what & EVZK__WRITE) && writable(conn))
        return sim_now();
    return io->what ? wire_readable_at(conn) : INT64_MAX;
}

/* The next of a process; `io` or `t` is set to it. */
static int64_t next_of(struct loop *p, struct evzk__io **io,
                       struct evzk__timer **t)
{
    int64_t at = INT64_MAX, when;
    struct evzk__timer *timer;
    struct evzk__io *one;

    *io = NULL;
    *t = NULL;
    TAILQ_FOREACH(one, &p->ios, link)
    {
        when = ready_at(one);
        if (when < at) {
            at = when;
            *io = one;
        }
    }
    TAILQ_FOREACH(timer, &p->timers, link)
    {
        when = timer->due > sim_now() ? timer->due : sim_now();
        if (when < at) {
            at = when;
            *t = timer;
        }
    }
    if (*t)
        *io = NULL;
    return at == INT64_MAX || at > p->frozen ? at : p->frozen;
}

bool loop_next(struct sim_step *step)
{
    struct evzk__timer *t;
    struct evzk__io *io;
    int64_t at;

    step->at = INT64_MAX;
    for (int i = 0; i < SIM_PROCS; i++) {
        at = next_of(loop_of(i), &io, &t);
        if (at < step->at)
            *step = (struct sim_step){SIM_LOOP, at, i, 0};
    }
    return step->at != INT64_MAX;
}

static int readiness(const struct evzk__io *io)
{
    int conn = io->fd - WIRE_FD;

    return ((io->what & EVZK__READ) && wire_readable(conn) ? EVZK__READ : 0) |
           ((io->what & EVZK__WRITE) && writable(conn) ? EVZK__WRITE : 0);
}

void loop_do(const struct sim_step *step)
{
    int before = sim_enter(step->proc);
    struct evzk__timer *t;
    struct evzk__io *io;

    if (next_of(loop_of(step->proc), &io, &t) > sim_now()) {
        ; /* The timer was stopped, or put off, since it was the next. */
    } else if (t) {
        sim_say("p%d timer", step->proc);
        evzk__timer_stop(t);
        t->fire(t->arg); /* May free it. */
    } else if (readiness(io)) {
        sim_say("p%d ready %d", step->proc, readiness(io));
        io->ready(readiness(io), io->arg);
    }
    sim_leave(before);
}

void process_freeze(int proc, int64_t until)
{
    loops.of[proc].frozen = until;
    sim_say("p%d frozen for %lld ms", proc,
            (long long)(until - sim_now()) / 1000);
}

int64_t process_frozen_until(int proc) { return loops.of[proc].frozen; }
