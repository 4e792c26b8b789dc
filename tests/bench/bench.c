/*
 * The benchmark: evzk and the raw C client by turns, on one private server.
 * See doc/performance.md, and --help.
 */
#include <evzk/version.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"
#include "support.h"
#include "zk.h"

enum { RUN_LIMIT_S = 180, WORKLOAD_LIMIT_S = 600, WARM_ROUNDS = 3 };

/* As for a server in earnest, but for what zk-private sets to spare the disk.
 * A snapshot, or the search for empty containers, in the middle of a run would
 * be somebody's bad luck. */
#define JAVA_FLAGS                                                             \
    "-Xms1g -Xmx3g -XX:TieredStopAtLevel=4 -XX:-UseSerialGC -XX:+UseG1GC "     \
    "-Dzookeeper.snapCount=100000000 "                                         \
    "-Dznode.container.checkIntervalMs=3600000"

static struct {
    int rounds;
    int seconds;
    const char *server; /* NULL: a private one. */
    const char *way;    /* NULL: all. */
    FILE *tsv;
    bool cold;
    bool chosen[64];
} options = {.rounds = 5, .seconds = WORKLOAD_LIMIT_S};

static struct series all[64];

static void usage(FILE *out)
{
    fputs("usage: bench [OPTION...] [WORKLOAD...]\n"
          "Measures evzk beside the raw C client, by turns, on one private\n"
          "server.  A workload is a name, for all of that name, or a title in\n"
          "quotes, as in 'uncontended n=10000'; none means all.\n\n"
          "  --list             the workloads\n"
          "  --rounds N         rounds of each (5, or BENCH_ROUNDS)\n"
          "  --seconds-limit S  no new round of a workload after that (600)\n"
          "  --tsv FILE         every figure of every run, and the medians\n"
          "  --server ADDR      on that server, not on a private one; it is\n"
          "                     HOST:PORT, an IPv4 address; works "
          "below " BENCH_ROOT "\n"
          "  --way NAME         only that way, as raw or evzk: no ratios\n"
          "  --cold             do not warm the server up first\n\n"
          "Exit status: 0; 1 when a run failed; 2 for a wrong command line.\n"
          "Whether a goal was reached changes nothing.\n",
          out);
}

static void list(void)
{
    for (size_t k = 0; k < workload_count; k++)
        printf("%-36s %s\n", workload_title(&workloads[k]), workloads[k].help);
}

_Noreturn static void misuse(const char *what, const char *value)
{
    fprintf(stderr, "bench: %s: %s; see bench --help\n", value, what);
    exit(2);
}

static int to_number(const char *text, int max)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || n < 1 || n > max)
        misuse("not a number that can be", text);
    return (int)n;
}

static void choose(const char *what)
{
    bool found = false;

    for (size_t k = 0; k < workload_count; k++) {
        const struct workload *w = &workloads[k];

        if (strcmp(w->name, what) == 0 || strcmp(workload_title(w), what) == 0)
            found = options.chosen[k] = true;
    }
    if (!found)
        misuse("no such workload", what);
}

static const char *known_way(const char *name)
{
    for (size_t k = 0; k < workload_count; k++)
        if (way_index(&workloads[k], name) >= 0)
            return name;
    misuse("no such way", name);
}

static FILE *open_tsv(const char *path)
{
    FILE *f = fopen(path, "we");

    if (!f)
        misuse("cannot be written", path);
    report_tsv_header(f);
    return f;
}

static void set_option(int c)
{
    switch (c) {
    case 'l':
        list();
        exit(0);
    case 'h':
        usage(stdout);
        exit(0);
    case 'r':
        options.rounds = to_number(optarg, ROUNDS_MAX);
        break;
    case 's':
        options.seconds = to_number(optarg, 86400);
        break;
    case 't':
        options.tsv = open_tsv(optarg);
        break;
    case 'a':
        options.server = optarg;
        break;
    case 'w':
        options.way = known_way(optarg);
        break;
    case 'c':
        options.cold = true;
        break;
    default:
        usage(stderr);
        exit(2);
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {"rounds", required_argument, NULL, 'r'},
        {"seconds-limit", required_argument, NULL, 's'},
        {"tsv", required_argument, NULL, 't'},
        {"server", required_argument, NULL, 'a'},
        {"way", required_argument, NULL, 'w'},
        {"cold", no_argument, NULL, 'c'},
        {NULL, 0, NULL, 0}};
    const char *rounds = getenv("BENCH_ROUNDS");
    int c;

    if (rounds && *rounds)
        options.rounds = to_number(rounds, ROUNDS_MAX);
    while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1)
        set_option(c);
    for (int k = optind; k < argc; k++)
        choose(argv[k]);
    for (size_t k = 0; optind == argc && k < workload_count; k++)
        options.chosen[k] = true;
}

/* ---- Rounds ---- */

static void say_progress(const struct workload *w, const char *way, int round)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K%s: round %d of %d: %s ", workload_title(w),
                round + 1, options.rounds, way);
}

static void clear_progress(void)
{
    if (isatty(2))
        fputs("\r\033[K", stderr);
}

static bool wanted(const struct workload *w, int way, int round)
{
    if (options.way && strcmp(options.way, w->ways[way]->name) != 0)
        return false;
    return way > 0 || !w->raw_rounds || round < w->raw_rounds;
}

static int limit_s(void) { return (int)(slow_ms(RUN_LIMIT_S * 1000) / 1000); }

/* All ways once; the one that was last is first in the next round. */
static bool play_round(const struct series *s, int round, struct result *out[],
                       const char *server)
{
    int ways = 0;

    while (ways < WAYS_MAX && s->w->ways[ways])
        ways++;
    for (int k = 0; k < ways; k++) {
        int way = round % 2 ? ways - 1 - k : k;

        if (!wanted(s->w, way, round))
            continue;
        say_progress(s->w, s->w->ways[way]->name, round);
        if (!run_once(s->w, s->w->ways[way], server, limit_s(), out[way])) {
            clear_progress();
            fprintf(stderr, "bench: %s: %s failed\n", workload_title(s->w),
                    s->w->ways[way]->name);
            return false;
        }
    }
    return true;
}

static void play_series(struct series *s, const struct workload *w,
                        const char *server, int rounds)
{
    int64_t end = now_ns() + options.seconds * (int64_t)1000000000;

    s->w = w;
    if (w->rounds && rounds > w->rounds)
        rounds = w->rounds;
    for (int k = 0; k < rounds && !s->failed; k++) {
        struct result *out[WAYS_MAX];

        if (k > 0 && now_ns() > end)
            break;
        for (int way = 0; way < WAYS_MAX; way++) {
            out[way] = &s->v[way][k];
            result_clear(out[way]);
        }
        s->failed = !play_round(s, k, out, server);
        s->rounds = k + 1;
    }
    clear_progress();
}

/* The server's compiler has seen the work before it is measured. */
static bool warm_up(const char *server)
{
    static struct series unseen;

    for (size_t k = 0; k < workload_count; k++)
        if (strcmp(workload_title(&workloads[k]), "uncontended n=10000") == 0)
            play_series(&unseen, &workloads[k], server, WARM_ROUNDS);
    return !unseen.failed;
}

static void print_place(void)
{
    char line[256] = "";
    FILE *f = fopen("/proc/cpuinfo", "re");

    while (f && fgets(line, sizeof line, f) && strncmp(line, "model name", 10))
        ;
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    printf("evzk %s, %ld processors%s\n", evzk_version(),
           sysconf(_SC_NPROCESSORS_ONLN),
           strchr(line, ':') ? strchr(line, ':') + 1 : "");
#ifdef WITH_SANITIZERS
    printf("Built with the sanitizers: the figures mean nothing.\n");
#endif
}

static bool measure(const char *server)
{
    size_t n = 0;
    bool good = options.cold || warm_up(server);

    print_place();
    report_header(stdout);
    fflush(stdout);
    for (size_t k = 0; k < workload_count; k++) {
        if (!options.chosen[k])
            continue;
        play_series(&all[n], &workloads[k], server, options.rounds);
        good = good && !all[n].failed;
        report_series(stdout, &all[n]);
        if (options.tsv)
            report_tsv(options.tsv, &all[n]);
        n++;
    }
    if (!options.way)
        report_goals(stdout, all, n);
    return good;
}

int main(int argc, char **argv)
{
    int64_t begun = now_ns();
    struct zk *zk = NULL;
    bool good;

    read_options(argc, argv);
    if (!options.server)
        zk = zk_start(
            &(struct zk_config){.tick_ms = 2000, .java_flags = JAVA_FLAGS});
    good = measure(zk ? zk_server(zk, 0) : options.server);
    if (options.server)
        run_clean(options.server);
    zk_stop(zk);
    if (options.tsv)
        good = fclose(options.tsv) == 0 && good;
    printf("%s; took %d s\n", good ? "all runs done" : "some runs FAILED",
           (int)((now_ns() - begun) / 1000000000));
    return good ? 0 : 1;
}
