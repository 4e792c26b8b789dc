/* Medians and spreads: a table for people, a file of figures for tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

void result_clear(struct result *res)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        res->v[m] = NAN;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct spread spread(double *v, int n)
{
    struct spread s = {NAN, NAN, NAN, n};

    if (n == 0)
        return s;
    qsort(v, (size_t)n, sizeof *v, compare);
    s.median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    s.min = v[0];
    s.max = v[n - 1];
    return s;
}

struct spread spread_of(const struct series *s, int way, enum metric m)
{
    double v[ROUNDS_MAX];
    int n = 0;

    for (int k = 0; way >= 0 && k < s->rounds; k++)
        if (!isnan(s->v[way][k].v[m]))
            v[n++] = s->v[way][k].v[m];
    return spread(v, n);
}

struct spread ratio_to(const struct series *s, int way, int other,
                       enum metric m)
{
    double v[ROUNDS_MAX];
    int n = 0;

    for (int k = 0; way >= 0 && other >= 0 && way != other && k < s->rounds;
         k++) {
        double ratio = s->v[way][k].v[m] / s->v[other][k].v[m];

        if (isfinite(ratio))
            v[n++] = ratio;
    }
    return spread(v, n);
}

struct spread ratio_of(const struct series *s, int way, enum metric m)
{
    return ratio_to(s, way, 0, m);
}

int way_index(const struct workload *w, const char *name)
{
    for (int k = 0; k < WAYS_MAX && w->ways[k]; k++)
        if (strcmp(w->ways[k]->name, name) == 0)
            return k;
    return -1;
}

/* ---- For people ---- */

static const char *number(double v, int decimals)
{
    static char text[16][32];
    static unsigned at;
    char *t = text[at++ % 16];

    if (isnan(v))
        strcpy(t, "-");
    else
        snprintf(t, sizeof text[0], "%.*f", decimals, v);
    return t;
}

static void cell(FILE *out, int width, struct spread s, int decimals)
{
    char text[80];

    if (s.n > 1)
        snprintf(text, sizeof text, "%s (%s..%s)", number(s.median, decimals),
                 number(s.min, decimals), number(s.max, decimals));
    else
        snprintf(text, sizeof text, "%s", number(s.median, decimals));
    fprintf(out, " %*s", width, text);
}

void report_header(FILE *out)
{
    fprintf(out,
            "%-36s %-13s %2s %23s %23s %18s %12s %13s %7s | %18s %8s %8s\n"
            "%-36s %-13s %2s %23s %23s %18s %12s %13s %7s | %18s %8s %8s\n",
            "", "", "", "acquired or", "", "CPU of a lock", "memory",
            "longest stall", "server", "paired with first:", "", "", "workload",
            "way", "N", "handed over /s", "released /s", "us, user+sys",
            "B/lock", "ms (own)", "req/lock", "rate", "release", "CPU");
}

static void print_stall(FILE *out, const struct series *s, int way)
{
    char text[64];

    snprintf(text, sizeof text, "%s (%s)",
             number(spread_of(s, way, STALL).max, 1),
             number(spread_of(s, way, OWN).max, 1));
    fprintf(out, " %13s", text);
}

static void print_ratio(FILE *out, struct spread r, const char *first)
{
    if (r.n > 0)
        fprintf(out, "; %s (%s..%s) of %s's", number(r.median, 2),
                number(r.min, 2), number(r.max, 2), first);
    fputs("\n", out);
}

/* Bytes in use, and resident. */
static void print_memory(FILE *out, const struct series *s, int way)
{
    char text[64];

    snprintf(text, sizeof text, "%s (%s)",
             number(spread_of(s, way, HEAP).median, 0),
             number(spread_of(s, way, RSS).median, 0));
    fprintf(out, " %12s", text);
}

/* What only some workloads have. */
static void print_more(FILE *out, const struct series *s, int way)
{
    static const struct {
        enum metric m;
        int decimals;
        const char *text;
    } more[] = {{TRIPS, 2, "round trips to acquire"},
                {ALL_LED, 2, "s until all are led"},
                {AFTER_END, 2, "s from a session's end until all are led"},
                {AFTER_KILL, 2, "s from its process's end, by a kill"},
                {LATENCY, 0, "us from release, or end, to grant, median"},
                {LATENCY99, 0, "us, 99 of 100"},
                {LATENCY_MAX, 0, "us, the worst"},
                {TRANSACTIONS, 0, "transactions on the server, all told"},
                {UNEVEN, 2, "% from even, the worst of all"},
                {MOVED, 3, "moves, of the least that there can be"},
                {WIRE, 0, "bytes on the wire a lock"},
                {REARM, 2, "s from the cut until each can be woken again"},
                {REARM_OWN, 2, "s from the cut until all is as it was"},
                {BUSY, 1, "ms of CPU in the longest turn"},
                {OTHER, 0, "callbacks that should not be"},
                {IDLE_CPU, 2, "% CPU idle"},
                {FRAMES, 1, "requests/s idle"}};

    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++) {
        struct spread v = spread_of(s, way, more[k].m);

        if (v.n == 0 || (more[k].m == OTHER && v.max == 0))
            continue;
        fprintf(out, "%-36s %-13s %2s", "", s->w->ways[way]->name, "");
        cell(out, 23, v, more[k].decimals);
        fprintf(out, " %s", more[k].text);
        print_ratio(out, ratio_of(s, way, more[k].m), s->w->ways[0]->name);
    }
}

/* The last way beside another one. */
static void print_pair(FILE *out, const struct series *s, int way, int other)
{
    static const struct {
        enum metric m;
        const char *text;
    } paired[] = {{RATE, "rate"}, {RELEASE, "release"}, {CPU, "CPU"}};
    const struct workload *w = s->w;

    for (size_t k = 0; k < sizeof paired / sizeof paired[0]; k++) {
        struct spread r = ratio_to(s, way, other, paired[k].m);

        if (r.n == 0)
            continue;
        fprintf(out, "%-36s %-13s %2d", "", w->ways[way]->name, r.n);
        cell(out, 23, r, 2);
        fprintf(out, " of %s's: %s\n", w->ways[other]->name, paired[k].text);
    }
}

/* The table has the ratios to the first way; where there are more than two, the
 * last one is set beside each of the others. */
static void print_pairs(FILE *out, const struct series *s)
{
    int last = 0;

    while (last + 1 < WAYS_MAX && s->w->ways[last + 1])
        last++;
    for (int other = 0; last > 1 && other < last; other++)
        print_pair(out, s, last, other);
}

static void print_note(FILE *out, const struct series *s, int way)
{
    const struct way *w = s->w->ways[way];

    if (!w->note)
        return;
    fprintf(out, "%-36s %-13s has %s", "", w->name, w->note);
    if (w->takes)
        fprintf(out, "; only %d of the items are taken", w->takes);
    fputs("\n", out);
}

static int rounds_of(const struct series *s, int way)
{
    int n = 0;

    for (int m = 0; m < METRIC_COUNT; m++)
        if (spread_of(s, way, (enum metric)m).n > n)
            n = spread_of(s, way, (enum metric)m).n;
    return n;
}

static void print_way(FILE *out, const struct series *s, int way)
{
    fprintf(out, "%-36s %-13s %2d", workload_title(s->w), s->w->ways[way]->name,
            rounds_of(s, way));
    cell(out, 23, spread_of(s, way, RATE), 0);
    cell(out, 23, spread_of(s, way, RELEASE), 0);
    cell(out, 18, spread_of(s, way, CPU), 1);
    print_memory(out, s, way);
    print_stall(out, s, way);
    fprintf(out, " %7s |", number(spread_of(s, way, REQUESTS).median, 2));
    cell(out, 18, ratio_of(s, way, RATE), 2);
    fprintf(out, " %8s", number(ratio_of(s, way, RELEASE).median, 2));
    fprintf(out, " %8s\n", number(ratio_of(s, way, CPU).median, 2));
}

void report_series(FILE *out, const struct series *s)
{
    for (int way = 0; way < WAYS_MAX && s->w->ways[way]; way++)
        if (rounds_of(s, way) > 0)
            print_way(out, s, way);
    for (int way = 0; way < WAYS_MAX && s->w->ways[way]; way++)
        print_more(out, s, way);
    print_pairs(out, s);
    for (int way = 0; way < WAYS_MAX && s->w->ways[way]; way++)
        print_note(out, s, way);
    if (s->failed)
        fprintf(out, "%-36s FAILED\n", workload_title(s->w));
    fflush(out);
}

/* ---- For tools ---- */

void report_tsv_header(FILE *out)
{
    fprintf(out, "workload\tn\tprocesses\tround\tway");
#define COLUMN(name, column) fprintf(out, "\t%s", column);
    METRICS(COLUMN)
#undef COLUMN
    fputs("\n", out);
}

static void tsv_row(FILE *out, const struct series *s, int way,
                    const char *round, const struct result *res)
{
    fprintf(out, "%s\t%d\t%d\t%s\t%s", s->w->name, s->w->n,
            s->w->processes ? s->w->processes : 1, round,
            s->w->ways[way]->name);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (isnan(res->v[m]))
            fputs("\t-", out);
        else
            fprintf(out, "\t%.6g", res->v[m]);
    fputs("\n", out);
}

static void tsv_way(FILE *out, const struct series *s, int way)
{
    struct result median;

    for (int k = 0; k < s->rounds; k++) {
        char round[16];

        snprintf(round, sizeof round, "%d", k + 1);
        tsv_row(out, s, way, round, &s->v[way][k]);
    }
    for (int m = 0; m < METRIC_COUNT; m++)
        median.v[m] = spread_of(s, way, (enum metric)m).median;
    tsv_row(out, s, way, "median", &median);
}

/* Every run, then the medians. */
void report_tsv(FILE *out, const struct series *s)
{
    for (int way = 0; way < WAYS_MAX && s->w->ways[way]; way++)
        if (rounds_of(s, way) > 0)
            tsv_way(out, s, way);
    fflush(out);
}
