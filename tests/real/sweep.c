/*
 * The frame proxy sweep: every rule of the proxy at every frame and every byte
 * of a recipe's scenario, on a real server.  Prints one line of figures; fails
 * if anything is left on the server, was doubled, held twice, or ended wrongly.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    JOBS = 24,
    WAITERS = 2, /* Lanes for rules that wait, for each job. */
    MAX_JOBS = 64,
    ALL_MS = 3600000,
    CLOSE_MS = 120000,
    PROGRESS_MS = 200
};

#define ADDRESS(name) &sweep_##name,

static const struct sweep_recipe *const recipes[] = {EVZK__SWEEPS(ADDRESS)};

static void usage(FILE *to)
{
    fputs(
        "usage: sweep --list\n"
        "       sweep [--recipe NAME | --all] [--jobs N] [--share PERCENT]\n"
        "             [--frames ONE-IN] [--only PART/RULE:K[:N]] [--verbose]\n",
        to);
}

static const struct sweep_recipe *find_recipe(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i]->name, name) == 0)
            return recipes[i];
    return NULL;
}

/* Each recipe, and the share of its runs that is enough. */
static void list(void)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        printf("%s %d\n", recipes[i]->name,
               recipes[i]->share ? recipes[i]->share : 100);
}

/* False when the options make no sense.  --all leaves NULL for the recipe; what
 * --only names belongs to a single recipe. */
static bool read_options(struct sweep *sw, int argc, char **argv, int *jobs)
{
    static const struct option options[] = {
        {"recipe", required_argument, NULL, 'r'},
        {"all", no_argument, NULL, 'a'},
        {"jobs", required_argument, NULL, 'j'},
        {"share", required_argument, NULL, 's'},
        {"frames", required_argument, NULL, 'f'},
        {"only", required_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'r') {
            sw->recipe = find_recipe(optarg);
            if (!sw->recipe)
                return false;
        } else if (c == 'a')
            sw->recipe = NULL;
        else if (c == 'j')
            *jobs = (int)strtol(optarg, NULL, 10);
        else if (c == 's')
            sw->share = strtod(optarg, NULL);
        else if (c == 'f')
            sw->frames = (int)strtol(optarg, NULL, 10);
        else if (c == 'o')
            sw->only = optarg;
        else if (c == 'v')
            sw->verbose = true;
        else
            return false;
    }
    return (sw->recipe || !sw->only) && *jobs > 0 && *jobs <= MAX_JOBS &&
           sw->share >= 0.001 && sw->share <= 100 && sw->frames > 0 &&
           optind == argc;
}

static void open_lanes(struct sweep *sw, int jobs)
{
    enum { MOST = MAX_JOBS * (1 + WAITERS) };
    static const char *targets[MOST];
    static struct proxy *proxy[MOST];

    sw->quick = (size_t)jobs;
    sw->lanes = (size_t)jobs * (1 + WAITERS);
    for (size_t i = 0; i < sw->lanes; i++)
        targets[i] = zk_server(sw->zk, 0);
    proxy_start_all(targets, sw->lanes, true, proxy);
    sw->lane = calloc(sw->lanes, sizeof *sw->lane);
    if (!sw->lane)
        support_fail("sweep: out of memory");
    for (size_t i = 0; i < sw->lanes; i++)
        sw->lane[i] = sweep_lane_open(sw, proxy[i], i >= sw->quick);
}

static void show_progress(const struct sweep *sw)
{
    static int64_t next;

    if (!isatty(STDERR_FILENO) || now_ms() < next || !sw->last)
        return;
    next = now_ms() + PROGRESS_MS;
    fprintf(stderr, "\r\033[Ksweep: %s: %d runs, at %s/%s:%d", sw->recipe->name,
            (int)sw->tally.runs, sw->recipe->parts[sw->last->part],
            sw->last->rule->name, (int)sw->last->k);
}

/* Whatever can be done now, in every lane; true when nothing is left to do. */
static bool advance(struct sweep *sw)
{
    for (size_t i = 0; i < sw->lanes; i++)
        sweep_lane_turn(sw->lane[i]);
    sweep_check_lines(sw);
    show_progress(sw);
    return sweep_done(sw);
}

static bool lanes_closed(struct sweep *sw)
{
    bool all = true;

    for (size_t i = 0; i < sw->lanes; i++)
        all = sweep_lane_closed(sw->lane[i]) && all;
    return all;
}

static void close_lanes(struct sweep *sw)
{
    WAIT_MS(CLOSE_MS, lanes_closed(sw));
    for (size_t i = 0; i < sw->lanes; i++)
        sweep_lane_free(sw->lane[i]);
    free(sw->lane);
}

static bool print_figures(const struct sweep *sw, int64_t ms)
{
    const struct sweep_tally *t = &sw->tally;

    printf("%sproxy recipe=%s rules=%d requests=%d replies=%d bytes=%d "
           "runs=%d hits=%d nodes_left=%d watches_left=%d sessions_left=%d "
           "conns_left=%d doubled=%d both_held=%d wrong=%d slowest=%dms "
           "time=%.1fs\n",
           isatty(STDERR_FILENO) ? "\r\033[K" : "", sw->recipe->name,
           sweep_rules(), (int)t->requests, (int)t->replies, (int)t->bytes,
           (int)t->runs, (int)t->hits, (int)t->nodes_left, (int)t->watches_left,
           (int)t->sessions_left, (int)t->conns_left, (int)t->doubled,
           (int)t->both_held, (int)t->wrong, (int)t->slowest_ms,
           (double)ms / 1000);
    return t->nodes_left == 0 && t->watches_left == 0 &&
           t->sessions_left == 0 && t->conns_left == 0 && t->doubled == 0 &&
           t->both_held == 0 && t->wrong == 0;
}

/* Plays @recipe, as @options say; true when nothing was wrong. */
static bool play(struct sweep options, const struct sweep_recipe *recipe,
                 int jobs)
{
    struct sweep sw = options;
    int64_t start = now_ms();
    bool good;

    sw.recipe = recipe;
    if (!sweep_plan(&sw)) {
        fprintf(stderr,
                "sweep: --only %s: no such part or rule, or no such number\n",
                sw.only);
        free(sw.line);
        return false;
    }
    open_lanes(&sw, jobs);
    WAIT_MS(ALL_MS, advance(&sw));
    close_lanes(&sw);
    sweep_check_end(&sw);
    sweep_sum(&sw);
    good = print_figures(&sw, now_ms() - start);
    fflush(stdout);
    free(sw.line);
    free(sw.had);
    return good;
}

/* All recipes share a server: a server for each takes a quarter more time. */
static bool play_all(struct sweep options, int jobs)
{
    bool good = true;

    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        good = play(options, recipes[i], jobs) && good;
    return good;
}

int main(int argc, char **argv)
{
    struct sweep sw = {.recipe = &sweep_lock, .share = 100, .frames = 5};
    struct zk_config config = {.max_session_ms = SWEEP_SESSION_MS};
    int jobs = JOBS;
    bool good;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (!read_options(&sw, argc, argv, &jobs)) {
        usage(stderr);
        return 2;
    }
    sw.zk = zk_start(&config);
    good = sw.recipe ? play(sw, sw.recipe, jobs) : play_all(sw, jobs);
    harness_free();
    zk_stop(sw.zk);
    return good ? 0 : 1;
}
