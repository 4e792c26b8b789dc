/* The demonstration of queues: what its processes share. */
#ifndef QUEUE_DEMO_H
#define QUEUE_DEMO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <evzk/evzk.h>

enum { ITEM_SIZE = 100, PREFETCH = 256, PROCESSES_MAX = 64, LIVES_MAX = 65536 };

struct options {
    const char *servers, *path;
    const char *kill;  /* A command; NULL: no server is killed. */
    const char *pause; /* A command; NULL: no server stands still. */
    uint32_t items, producers, consumers;
    uint32_t kill_ms, server_ms, pause_ms;
    uint32_t session_ms, idle_ms, deadline_s;
};

/* What became of an item, in memory that all processes share: what a process
 * wrote stays when the process is killed. */
struct fate {
    atomic_uint holder;      /* The life of the consumer that has it; or 0. */
    atomic_uchar put;        /* The put was answered. */
    atomic_uchar asked;      /* A consumer asked to finish it, so often. */
    atomic_uchar finished;   /* A consumer was told that it is finished. */
    atomic_uchar deliveries; /* So often. */
};

struct history {
    atomic_uint put, asked, finished;
    atomic_uint redelivered_dead; /* Its holder was dead. */
    atomic_uint redelivered_lost; /* Its holder was told LOST before. */
    atomic_uint doubled;          /* Its holder was alive, and held it. */
    atomic_uint foreign;          /* Items that are none of this run. */
    atomic_uint lost_told, failures;
    atomic_int left;               /* In the queue at the end; -1: unknown. */
    atomic_uchar alive[LIVES_MAX]; /* Lives of consumers; they begin at 1. */
    atomic_uint told[LIVES_MAX];   /* Items that each was told of. */
    struct fate item[];
};

/* The processes; each returns its exit status. */
int produce(const struct options *opt, struct history *h, uint32_t who);
int consume(const struct options *opt, struct history *h, uint32_t life);
int audit(const struct options *opt, struct history *h);

#endif
