/* The measured workloads. */
#include "bench.h"

#define BOTH                                                                   \
    {                                                                          \
        &way_raw, &way_evzk                                                    \
    }
#define URGENT                                                                 \
    {                                                                          \
        &way_evzk, &way_evzk_priority                                          \
    }
#define ELECTION                                                               \
    {                                                                          \
        &way_raw_election, &way_evzk_election                                  \
    }
#define SHARDS                                                                 \
    {                                                                          \
        &way_raw_election, &way_evzk_shards                                    \
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
    {.name = "election",
     .n = 10000,
     .play = play_uncontended,
     .ways = ELECTION,
     .help = "distinct elections, all at once, each led; then resigned"},
    {.name = "observe",
     .n = 1000,
     .play = play_observe,
     .ways = {&way_raw_observe, &way_evzk_observe},
     .help = "an observer on each election; then each leader changes"},
    {.name = "shards-join",
     .n = 10000,
     .shards = 10000,
     .play = play_join,
     .ways = SHARDS,
     .help = "one process joins, and leads all; then gives all up"},
    {.name = "shards-hand-over",
     .n = 3333,
     .shards = 6666,
     .session_ms = 4000,
     .processes = 2,
     .play = play_hand_over,
     .ways = SHARDS,
     .help = "of two that lead as many each, one drains"},
    {.name = "shards-kill",
     .n = 3333,
     .shards = 6666,
     .session_ms = 4000,
     .processes = 2,
     .play = play_kill,
     .ways = SHARDS,
     .rounds = 3,
     .help = "the same, but it is killed; session time-out 4 s"},
    {.name = "shards-share",
     .n = 10000,
     .shards = 10000,
     .session_ms = 4000,
     .processes = 3,
     .play = play_share,
     .ways = {&way_evzk_shards},
     .rounds = 2,
     .help = "of three, one hands over, another comes, one is killed (4 s)"},
    {.name = "queue",
     .n = 10000,
     .play = play_queue,
     .ways = {&way_raw_queue, &way_raw_queue_calls, &way_evzk_queue},
     .one = true,
     .queue = true,
     .help = "items put, and then taken at most once"},
    {.name = "queue-claimed",
     .n = 10000,
     .play = play_queue,
     .ways = {&way_raw_claims, &way_raw_claims_calls, &way_evzk_claims},
     .one = true,
     .queue = true,
     .help = "items put, and then claimed, delivered and finished"},
    {.name = "double-barrier",
     .n = 1000,
     .play = play_uncontended,
     .ways = {&way_raw_double_barrier, &way_evzk_double_barrier},
     .one = true,
     .help = "participants of one session enter together, and leave"},
    {.name = "two-phase",
     .n = 10000,
     .play = play_transact,
     .ways = {&way_raw_two_phase, &way_evzk_two_phase},
     .one = true,
     .queue = true,
     .help = "transactions of three sites, all committed"},
};

const size_t workload_count = sizeof workloads / sizeof workloads[0];

const char *workload_title(const struct workload *w)
{
    static char title[4][80];
    static unsigned at;
    char *t = title[at++ % 4];
    bool waiters = w->play == play_one || w->play == play_spread;
    int len = snprintf(t, sizeof title[0], "%s %s=%d", w->name,
                       waiters ? "waiters" : "n", w->n);

    if (w->processes)
        snprintf(t + len, sizeof title[0] - (size_t)len, " processes=%d",
                 w->processes);
    return t;
}
