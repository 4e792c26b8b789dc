/*
 * What a run measures of its own process.  A stall is what a 1 ms timer shows:
 * how much later than due it ran.  It includes what the machine did meanwhile
 * with other processes, the server for one; so the time that this thread was
 * ready and waited for a CPU, as the kernel counts it, is taken away beside it.
 * A machine that is itself a guest may stand still unseen: so beside these
 * there is the CPU that this thread used from one tick to the next.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { TICK_NS = 1000000 };

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t cpu_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

double heap_used(void)
{
    struct mallinfo2 m = mallinfo2();

    return (double)m.uordblks + (double)m.hblkhd;
}

double rss_used(void)
{
    long resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%*s %ld", &resident) != 1)
        resident = 0;
    if (f)
        fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static int64_t waited_ns(const struct meter *m)
{
    char text[96] = "";
    long long waited = 0;

    if (pread(m->schedstat, text, sizeof text - 1, 0) > 0 &&
        sscanf(text, "%*s %lld", &waited) != 1)
        waited = 0;
    return waited;
}

static int64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct meter *m = arg;
    int64_t now = now_ns(), waited = waited_ns(m);
    int64_t late = now - m->tick_ns - TICK_NS;
    int64_t own = late - (waited - m->waited_ns);
    int64_t cpu = thread_ns(), busy = cpu - m->cpu_ns;

    (void)fd;
    (void)what;
    if (late > m->stall_ns)
        m->stall_ns = late;
    if (own > m->own_ns)
        m->own_ns = own;
    if (busy > m->busy_ns)
        m->busy_ns = busy;
    m->tick_ns = now;
    m->cpu_ns = cpu;
    m->waited_ns = waited;
}

void meter_skip(struct meter *m)
{
    m->tick_ns = now_ns();
    m->waited_ns = waited_ns(m);
    m->cpu_ns = thread_ns();
}

void meter_reset(struct meter *m)
{
    meter_skip(m);
    m->stall_ns = m->own_ns = m->busy_ns = 0;
}

void meter_put(const struct meter *m, struct result *res)
{
    res->v[STALL] = (double)m->stall_ns / 1e6;
    res->v[OWN] = (double)m->own_ns / 1e6;
    res->v[BUSY] = (double)m->busy_ns / 1e6;
}

void meter_start(struct meter *m, struct event_base *base)
{
    m->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    m->timer = event_new(base, -1, EV_PERSIST, on_tick, m);
    if (!m->timer)
        fail("no memory for a timer");
    meter_reset(m);
    event_add(m->timer, &(struct timeval){0, 1000});
}

void meter_stop(struct meter *m)
{
    event_free(m->timer);
    m->timer = NULL;
    if (m->schedstat >= 0)
        close(m->schedstat);
}
