/* What the workloads share: the cost of a span of time, for each lock. */
#ifndef TESTS_BENCH_PLAY_H
#define TESTS_BENCH_PLAY_H

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

/* @n things in @ns, as so many a second. */
double per_second(double n, int64_t ns);

#endif
