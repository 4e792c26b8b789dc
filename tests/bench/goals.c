/*
 * The goals of the library, and the figures of this run.  A report, not a test:
 * no figure of time fails anything.
 */
#include <math.h>
#include <string.h>

#include "bench.h"

/* Of all rounds; of evzk to the first way; of evzk to the raw way with a
 * listing for each take. */
enum judged { MEDIAN, WORST, RATIO, RATIO_PER_CALL };

#define SHARE "shards-share n=10000 processes=3"

static const struct goal {
    const char *workload; /* As its title. */
    enum metric metric;
    enum judged judged;
    bool at_least; /* Else at most. */
    double limit;
    const char *text;
} goals[] = {
    {"uncontended n=10000", RATE, RATIO, true, 3, "acquired, of raw"},
    {"uncontended n=10000", RELEASE, RATIO, true, 4, "released, of raw"},
    {"uncontended n=10000", CPU, RATIO, false, 0.25, "CPU, of raw"},
    {"tenth-contended n=10000", RATE, RATIO, true, 1.5, "acquired, of raw"},
    {"sequential n=2000", TRIPS, MEDIAN, false, 1, "round trips to acquire"},
    {"sequential n=2000", RATE, RATIO, true, 1.3, "acquired, of raw"},
    {"one-lock waiters=10000", REQUESTS, MEDIAN, false, 4, "requests a waiter"},
    {"one-lock waiters=10000", RATE, MEDIAN, true, 10000,
     "hand-overs a second"},
    {"waiting n=100000", HEAP, MEDIAN, false, 1023, "bytes a waiting lock"},
    {"waiting n=100000", REARM, WORST, false, 10,
     "s until each can be woken again"},
    {"waiting n=100000", REARM_OWN, WORST, false, 10,
     "s until all is as it was"},
    {"waiting n=100000", OTHER, WORST, false, 0, "callbacks but the two"},
    {"waiting n=100000", STALL, WORST, false, 20, "ms, longest stall"},
    {"waiting n=100000", OWN, WORST, false, 20,
     "ms, less what it waited for a CPU"},
    {"waiting n=100000", BUSY, WORST, false, 20, "ms, the CPU of the longest"},
    {"idle n=10000", HEAP, MEDIAN, false, 767, "bytes a held lock"},
    {"queue n=10000", RATE, RATIO, true, 4, "put, of raw"},
    {"queue n=10000", RELEASE, RATIO_PER_CALL, true, 3,
     "taken, of raw-per-call"},
    {"queue n=10000", RELEASE, RATIO, true, 3, "stricter: of raw-shared"},
    {"queue-claimed n=10000", RELEASE, RATIO_PER_CALL, true, 3,
     "taken, of raw-per-call"},
    {"queue-claimed n=10000", RELEASE, RATIO, true, 3,
     "stricter: of raw-shared"},
    {"two-phase n=10000", RATE, RATIO, true, 3, "transactions, of raw"},
    {"members n=2000", RATE, MEDIAN, true, 1000, "joined a second"},
    {SHARE, ALL_LED, WORST, false, 2, "s, one comes: all are led"},
    {SHARE, UNEVEN, WORST, false, 5, "% off even, the worst share"},
    {SHARE, MOVED, WORST, false, 1, "moves, of the least there can be"},
    {SHARE, AFTER_KILL, WORST, false, 6, "s from a kill; the time-out is 4"},
    {SHARE, AFTER_END, WORST, false, 2, "s from that session's end"},
    {SHARE, LATENCY_MAX, WORST, false, 200000, "us with no leader: drained"},
};

static const struct series *find(const struct series *all, size_t n,
                                 const char *title)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(workload_title(all[k].w), title) == 0)
            return &all[k];
    return NULL;
}

static double figure(const struct goal *g, const struct series *s)
{
    int way = way_index(s->w, "evzk");

    switch (g->judged) {
    case RATIO:
        return ratio_of(s, way, g->metric).median;
    case RATIO_PER_CALL:
        return ratio_to(s, way, way_index(s->w, "raw-per-call"), g->metric)
            .median;
    case WORST:
        return g->at_least ? spread_of(s, way, g->metric).min
                           : spread_of(s, way, g->metric).max;
    case MEDIAN:
        break;
    }
    return spread_of(s, way, g->metric).median;
}

static void print_goal(FILE *out, const struct goal *g, const struct series *s)
{
    double v = figure(g, s);
    bool met = g->at_least ? v >= g->limit : v <= g->limit;

    if (isnan(v))
        fprintf(out, "%-32s %-34s %s %8g %10s  not measured\n", g->workload,
                g->text, g->at_least ? ">=" : "<=", g->limit, "-");
    else
        fprintf(out, "%-32s %-34s %s %8g %10.2f  %s\n", g->workload, g->text,
                g->at_least ? ">=" : "<=", g->limit, v,
                met ? "reached" : "NOT REACHED");
}

void report_goals(FILE *out, const struct series *all, size_t n)
{
    bool any = false;

    for (size_t k = 0; k < sizeof goals / sizeof goals[0]; k++) {
        const struct series *s = find(all, n, goals[k].workload);

        if (!s)
            continue;
        if (!any)
            fprintf(out, "\n%-32s %-34s %11s %10s\n", "goals", "", "asked",
                    "measured");
        any = true;
        print_goal(out, &goals[k], s);
    }
    if (any)
        fprintf(out, "Against Curator and Kazoo: make bench-peers.\n");
}
