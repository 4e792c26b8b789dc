/* Measures locks: contenders that acquire and release, for a while. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"

const struct phase bench_phases[] = {
    {"uncontended", "one lock, nobody else wants it", 1, false, false},
    {"many", "100 locks at a time, over one session", BENCH_MANY, false, false},
    {"contended", "one lock, 8 processes want it", BENCH_RIVALS, true, true},
};
const size_t bench_phase_count = sizeof(bench_phases) / sizeof(bench_phases[0]);

static void acquire(struct contender *c);
static void next_phase(struct bench *b);
static void finish(struct bench *b);

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void add_sample(struct samples *s, int64_t us)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 1024;
        uint32_t *v = realloc(s->v, room * sizeof(*v));

        if (!v)
            return; /* The earlier samples are enough. */
        s->v = v;
        s->room = room;
    }
    s->v[s->n++] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

double bench_percentile(struct bench *b, double share)
{
    struct samples *s = &b->samples;

    if (s->n == 0)
        return 0;
    qsort(s->v, s->n, sizeof(*s->v), compare);
    return s->v[(size_t)(share * (double)(s->n - 1))] / 1000.0;
}

/* Closes the other sessions, and then the first one. */
static void finish(struct bench *b)
{
    event_del(b->timer);
    for (size_t i = 0; i < BENCH_RIVALS && b->rivals[i]; i++)
        evzk_session_close(b->rivals[i]);
    if (b->rivals_left)
        return;
    if (b->rivals[0] && !connection_finished(&b->connection))
        bench_sweep(b);
    else
        connection_finish(&b->connection,
                          b->signo ? 128 + b->signo : b->status);
}

/* The last contender of a phase has ended. */
static void end_phase(struct bench *b)
{
    if (!b->signo && !b->status)
        b->report(b);
    b->phase++;
    next_phase(b);
}

static void leave(struct bench *b)
{
    if (--b->busy == 0)
        end_phase(b);
}

static void fail(struct contender *c, int rc)
{
    struct bench *b = c->bench;

    if (!b->status && !b->signo)
        b->status = complain_error(rc, c->path);
    bench_stop(b);
    leave(b);
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct contender *c = arg;
    struct bench *b = c->bench;

    if (event == EVZK_LOCK_GRANTED) {
        add_sample(&b->samples, now_us() - c->asked_us);
        evzk_lock_release(lock);
    }
    if (!evzk_lock_event_is_final(event))
        return;
    evzk_lock_free(lock);
    c->lock = NULL;
    if (event == EVZK_LOCK_RELEASED && !rc && !b->over) {
        b->rounds++;
        acquire(c);
    } else if ((event == EVZK_LOCK_RELEASED && !rc) ||
               rc == EVZK_ERR_CANCELED) {
        leave(b); /* Its last round ended behind the time. */
    } else {
        fail(c, rc);
    }
}

static void acquire(struct contender *c)
{
    int rc;

    c->asked_us = now_us();
    rc = evzk_lock_acquire(c->session, c->path, NULL, on_lock, c, &c->lock);
    if (rc)
        fail(c, rc);
}

/* Waiters give up; a holder is about to release. */
void bench_stop(struct bench *b)
{
    if (b->over)
        return;
    b->over = true;
    b->ended_us = now_us();
    for (size_t i = 0; i < BENCH_MANY; i++)
        evzk_lock_cancel(b->contenders[i].lock);
}

/* The time of a phase is over, or that of the other sessions to connect. */
static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct bench *b = arg;

    (void)fd, (void)what;
    if (b->busy) {
        bench_stop(b);
        return;
    }
    complain("only %zu of %d sessions more were made: does maxClientCnxns of "
             "the servers allow them?",
             b->rivals_ready, BENCH_RIVALS);
    b->status = STATUS_NO_SERVER;
    finish(b);
}

static void on_progress(evutil_socket_t fd, short what, void *arg)
{
    struct bench *b = arg;

    (void)fd, (void)what;
    if (!b->over)
        fprintf(stderr, "\r%s: %zu ", bench_phases[b->phase].name, b->rounds);
}

/* All locks have names of this process. */
static void place(struct bench *b, size_t i)
{
    const struct phase *phase = &bench_phases[b->phase];
    struct contender *c = &b->contenders[i];

    c->bench = b;
    c->session = phase->sessions ? b->rivals[i] : b->connection.session;
    snprintf(c->path, sizeof(c->path), "%s-%zu", b->path,
             phase->one_path ? 0 : i);
}

static void start(struct bench *b)
{
    const struct phase *phase = &bench_phases[b->phase];
    struct timeval time = {b->phase_ms / 1000, b->phase_ms % 1000 * 1000};

    b->over = false;
    b->rounds = b->samples.n = 0;
    b->busy = phase->contenders;
    b->begun_us = now_us();
    event_add(b->timer, &time);
    for (size_t i = 0; i < phase->contenders; i++) {
        place(b, i);
        acquire(&b->contenders[i]);
    }
}

/* ------------------------------------------ the sessions of the last phase */

static void on_rival(evzk_session *session, evzk_session_event event, int rc,
                     void *arg);

/* Opens the sessions one behind the other: a server does not count connections
 * in time that come together. */
static void open_rival(struct bench *b)
{
    struct timeval patience = {settings.connect_ms / 1000,
                               settings.connect_ms % 1000 * 1000};
    evzk_session **rival = &b->rivals[b->rivals_ready];

    if (settings.connect_ms)
        event_add(b->timer, &patience);
    b->status = connection_more(&b->connection, on_rival, b, rival);
    b->rivals_left += *rival != NULL;
    if (b->status)
        finish(b);
}

/* When the last one is closed, the first session ends, too. */
static void on_rival(evzk_session *session, evzk_session_event event, int rc,
                     void *arg)
{
    struct bench *b = arg;
    size_t ready = b->rivals_ready;

    (void)rc;
    if (event == EVZK_SESSION_CLOSED && --b->rivals_left == 0)
        finish(b);
    if (event != EVZK_SESSION_CONNECTED || ready == BENCH_RIVALS ||
        session != b->rivals[ready] || b->status || b->signo)
        return;
    if (++b->rivals_ready == BENCH_RIVALS)
        next_phase(b);
    else
        open_rival(b);
}

static void next_phase(struct bench *b)
{
    if (b->signo || b->status || b->phase == bench_phase_count)
        finish(b);
    else if (bench_phases[b->phase].sessions && !b->rivals[0])
        open_rival(b);
    else
        start(b);
}

void bench_begin(struct bench *b)
{
    struct timeval tenth = {0, 100000};

    b->timer = evtimer_new(b->connection.base, on_time, b);
    b->progress = event_new(b->connection.base, -1, EV_PERSIST, on_progress, b);
    if (!b->timer || !b->progress) {
        connection_finish(&b->connection, STATUS_FAILED);
        return;
    }
    if (isatty(STDERR_FILENO))
        event_add(b->progress, &tenth);
    next_phase(b);
}
