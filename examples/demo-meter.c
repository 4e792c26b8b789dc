/*
 * What a worker measures of itself: CPU, memory, and the longest stall of its
 * loop, by phase.  A stall is what a 1 ms timer shows: how much later than due
 * it ran.  It includes what the machine did meanwhile with other processes, so
 * the time that this one was ready and waited for a CPU is kept beside it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

uint64_t meter_now_us(void) { return clock_us(CLOCK_MONOTONIC); }

/* The bytes in memory that are this process's own, not shared. */
static int64_t memory(void)
{
    long resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%*s %ld %ld", &resident, &shared) != 2)
        resident = shared = 0;
    fclose(f);
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

void meter_open(struct demo_meter *m)
{
    m->schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

void meter_close(struct demo_meter *m)
{
    if (m->schedstat >= 0)
        close(m->schedstat);
}

void meter_begin(struct demo_meter *m, struct demo_cost *cost)
{
    m->cost = cost;
    m->phase_memory = memory();
    m->phase_cpu_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

void meter_end(struct demo_meter *m)
{
    m->cost->cpu_us = clock_us(CLOCK_PROCESS_CPUTIME_ID) - m->phase_cpu_us;
    m->cost->memory = memory() - m->phase_memory;
}

/* How long this thread was ready to run and had no CPU, in all its life. */
static uint64_t waited_us(const struct demo_meter *m)
{
    char text[96] = "";
    unsigned long long ns = 0;

    if (pread(m->schedstat, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%*u %llu", &ns);
    return ns / 1000u;
}

static void keep_longest(struct demo_cost *cost, uint64_t late, uint64_t wait)
{
    uint64_t own = late > wait ? late - wait : 0;

    if (late > cost->stall_us) {
        cost->stall_us = late;
        cost->stall_wait_us = late - own;
    }
    if (own > cost->stall_own_us)
        cost->stall_own_us = own;
}

void meter_tick(struct demo_meter *m)
{
    uint64_t now = meter_now_us();
    uint64_t wait = waited_us(m);
    uint64_t due = m->tick_us + METER_TICK_US;

    if (m->cost && m->tick_us && now > due)
        keep_longest(m->cost, now - due, wait - m->wait_us);
    m->tick_us = now;
    m->wait_us = wait;
}
