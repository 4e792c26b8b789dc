/* What the workloads share: the cost of a span of time, for each lock; and
 * several processes that work at the same time. */
#ifndef TESTS_BENCH_PLAY_H
#define TESTS_BENCH_PLAY_H

#include <stdatomic.h>
#include <sys/types.h>

#include "bench.h"

enum {
    /* Watches that are placed late are there by then. */
    LATE_MS = 4000
};

struct span {
    int64_t cpu, wire, packets;
    double heap, rss;
};

/* The stalls, too, are counted from here. */
void span_begin(struct span *s, struct run *r);

/* Memory now, for each of @n. */
void span_memory(const struct span *s, struct run *r, int n);

/* CPU, requests, bytes, stalls up to now, for each of @n. */
void span_end(const struct span *s, struct run *r, int n);

/* Of the server, since there were @before; the loop waits for the answer. */
void note_transactions(struct run *r, int64_t before);

/* @n things in @ns, as so many a second. */
double per_second(double n, int64_t ns);

/* ---- crew.c: several processes of one run, each with its own session ---- */

enum { GRANTS_MAX = 20000 };

/* All of them see it; they have one clock, too. */
struct crew {
    atomic_int open, queued, grants, asked, done;
    atomic_bool go;
    _Atomic int64_t cpu, wire, heap, rss; /* Sums. */
    _Atomic int64_t last_ns;              /* The last grant of all. */
    /* team.c: what each process is to do, how many shards it leads; and how
     * many have done what they were told last. */
    atomic_int order[PROCESSES_MAX], leading[PROCESSES_MAX], obeyed;
    atomic_int others; /* Callbacks that should not be. */
    _Atomic int64_t begun_ns;
    int64_t granted_ns[GRANTS_MAX], released_ns[GRANTS_MAX];
};

extern struct crew *crew;

/* Starts @n processes, and waits until all have a session; they run @main when
 * crew->go is set. */
void crew_start(struct run *r, int n, void (*main)(struct run *r, int k),
                pid_t *pid);
void crew_await(atomic_int *count, int n);
void crew_join(int n, const pid_t *pid);

/* In each of them: from here on; what it has spent since, added to the sums. */
struct span crew_span(void);
void crew_add_memory(const struct span *s);
void crew_add_cost(const struct span *s);

/* What all have spent, for each of @n. */
void crew_note_cost(struct run *r, int64_t packets, int n);

/* The last grant is no earlier. */
void crew_note_last(int64_t granted_ns);

/* Sorts the @n times, which took so many ns each, and notes median, 99 of 100
 * and the worst. */
void note_times(struct run *r, int64_t *took, int n);

#endif
