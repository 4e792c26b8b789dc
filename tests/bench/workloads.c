/* What is measured. */
#include "bench.h"

#define BOTH                                                                   \
    {                                                                          \
        &way_raw, &way_evzk                                                    \
    }
#define URGENT                                                                 \
    {                                                                          \
        &way_evzk, &way_evzk_priority                                          \
    }
#define DISTINCT(many)                                                         \
    {                                                                          \
        .name = "uncontended", .n = (many), .play = play_uncontended,          \
        .ways = BOTH, .help = "distinct locks, all at once: nobody else there" \
    }

const struct workload workloads[] = {
    DISTINCT(10),
    DISTINCT(100),
    DISTINCT(1000),
    DISTINCT(10000),
    DISTINCT(100000),
    {.name = "existing-dirs",
     .n = 10000,
     .play = play_uncontended,
     .ways = BOTH,
     .dirs_there = true,
     .help = "as before; the lock directories are there, made by others"},
    {.name = "tenth-contended",
     .n = 10000,
     .play = play_tenth,
     .ways = BOTH,
     .help = "as before; another session holds every tenth"},
    {.name = "sequential",
     .n = 2000,
     .play = play_sequential,
     .ways = {&way_raw_steps, &way_raw_piped, &way_evzk},
     .help = "one lock after another: acquire, release, the next"},
    {.name = "one-lock",
     .n = 1000,
     .play = play_one,
     .ways = BOTH,
     .one = true,
     .help = "waiters of one process on one lock, all served"},
    {.name = "one-lock",
     .n = 10000,
     .play = play_one,
     .ways = BOTH,
     .raw_rounds = 1,
     .one = true,
     .help = "the same with more; raw takes long, and is run once"},
    {.name = "one-lock",
     .n = 1000,
     .processes = 10,
     .play = play_spread,
     .ways = BOTH,
     .one = true,
     .help = "waiters of ten processes on one lock, all served"},
    {.name = "hand-over",
     .n = 300,
     .processes = 2,
     .play = play_alternate,
     .ways = BOTH,
     .one = true,
     .help = "two processes pass one lock to each other: the latency"},
    {.name = "read-mostly",
     .n = 20000,
     .processes = 4,
     .play = play_shared,
     .ways = BOTH,
     .paths = 100,
     .reads = 95,
     .help = "1,000 clients share 100 locks, given back at once: 95% read"},
    {.name = "write-mostly",
     .n = 20000,
     .processes = 4,
     .play = play_shared,
     .ways = BOTH,
     .paths = 100,
     .reads = 20,
     .help = "the same: 20% read"},
    {.name = "priority",
     .n = 10000,
     .play = play_uncontended,
     .ways = URGENT,
     .help = "distinct locks, all at once: with a priority, and without"},
    {.name = "priority",
     .n = 1000,
     .play = play_one,
     .ways = URGENT,
     .one = true,
     .priorities = 10,
     .help = "waiters of one process on one lock, of ten priorities"},
    {.name = "priority",
     .n = 300,
     .processes = 2,
     .play = play_alternate,
     .ways = URGENT,
     .one = true,
     .help = "two processes pass one lock to each other: the latency"},
    {.name = "waiting",
     .n = 100000,
     .play = play_waiting,
     .ways = BOTH,
     .raw_rounds = 1,
     .help = "all held by another session; then evzk's connection is cut"},
    {.name = "idle",
     .n = 10000,
     .play = play_idle,
     .ways = BOTH,
     .help = "locks held for a while, and nothing done"},
};

const size_t workload_count = sizeof workloads / sizeof workloads[0];

const char *workload_title(const struct workload *w)
{
    static char title[4][80];
    static unsigned at;
    char *t = title[at++ % 4];
    bool waiters = w->one && w->play != play_alternate;
    int len = snprintf(t, sizeof title[0], "%s %s=%d", w->name,
                       waiters ? "waiters" : "n", w->n);

    if (w->processes)
        snprintf(t + len, sizeof title[0] - (size_t)len, " processes=%d",
                 w->processes);
    return t;
}
