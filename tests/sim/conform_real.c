/* Conformance against a real server: the handles are driven by poll(). */
#include "conform.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEADLINE_S = 120 };

const char *platform_begin(uint64_t seed, const char *servers)
{
    (void)seed;
    if (!servers) {
        fprintf(stderr, "conform-real: --servers HOST:PORT is needed\n");
        exit(2);
    }
    zoo_set_debug_level((ZooLogLevel)0);
    return servers;
}

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int look(zhandle_t *zh, struct pollfd *p, int wait_ms)
{
    struct timeval tv = {0, 0};
    int interest = 0, ms;

    zookeeper_interest(zh, &p->fd, &interest, &tv);
    p->events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                        (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    p->revents = 0;
    ms = (int)(tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000);
    return ms < wait_ms ? ms : wait_ms;
}

static void work(zhandle_t *zh, const struct pollfd *p)
{
    int what = (p->revents & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0);
    int budget = 64;

    if (p->revents & POLLOUT)
        what |= ZOOKEEPER_WRITE;
    while (zookeeper_process(zh, what) == ZOK && what && budget-- > 0)
        what = ZOOKEEPER_READ; /* One packet each. */
}

/* Only those that are asked for take their turn: another might take back what
 * was taken from it.  Their time-out is long enough for the rest. */
void platform_wait(zhandle_t *const *zh, unsigned n, bool (*done)(void))
{
    long end = now_ms() + DEADLINE_S * 1000L;

    while (!done()) {
        struct pollfd p[CONFORM_SLOTS + 1];
        int wait_ms = n ? 1000 : 1;

        for (unsigned i = 0; i < n; i++)
            wait_ms = look(zh[i], &p[i], wait_ms);
        poll(p, n, wait_ms);
        for (unsigned i = 0; i < n; i++)
            work(zh[i], &p[i]);
        if (now_ms() > end) {
            fprintf(stderr, "conform-real: no answer\n");
            exit(3);
        }
    }
}
