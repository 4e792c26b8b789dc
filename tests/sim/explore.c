/* The explorer: tries every fault at every step of a recipe's scenes, alone and
 * in pairs, and prints what it found in one line per recipe. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "costs.h"
#include "coverage.h"
#include "search.h"
#include "world.h"

/* Runs by chance that follow a whole search. */
#define CHANCE UINT64_C(200000)

struct wish {
    struct search_plan plan;
    const char *recipe, *replay;
    uint64_t most; /* First faults of a recipe; 0: no limit. */
    bool trace, coverage, costs, shorten;
};

static const char usage[] =
    "explore: tries every fault at every step of a recipe's scenes\n"
    "  --recipe NAME      only this one\n"
    "  --scene NAME       only this one\n"
    "  --faults 0|1|2     at most so many faults in a run (2)\n"
    "  --fault NAME       only this one, as the first of a run\n"
    "  --share N          every Nth first fault only\n"
    "  --most N           about N first faults of a recipe at most, evenly\n"
    "  --runs N           stop after so many runs\n"
    "  --time SECONDS     stop after so long\n"
    "  --seed N           of all that is random (1)\n"
    "  --jobs N           processes (as many as CPUs)\n"
    "  --chance N         instead: N runs of many faults, by chance\n"
    "  --replay SCHEDULE  play one run, as scene:17=cut,43=oom@3, and tell "
    "all\n"
    "  --shorten          with --replay: leave faults out as long as it shows\n"
    "  --trace            play a scene without a fault, and tell all\n"
    "  --costs            list the requests of each scene, without a fault\n"
    "  --coverage         list what was not taken of the tables\n"
    "  --list             list recipes, scenes, calls and faults\n";

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void print_line(const char *line, void *arg)
{
    (void)arg;
    puts(line);
}

static void print_fault(const char *name, const char *about)
{
    printf("  fault %-15s %s\n", name, about);
}

static void list_all(void)
{
    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        printf("recipe %s\n", (*r)->name);
        for (unsigned i = 0; i < sim_scene_count(*r); i++)
            printf("  scene %-15s %s%s\n", sim_scene_at(*r, i)->name,
                   sim_scene_at(*r, i)->about,
                   sim_scene_at(*r, i)->pairs ? " (pairs)" : "");
        for (unsigned i = 0; (*r)->calls[i]; i++)
            printf("  call %s\n", (*r)->calls[i]);
    }
    faults_list(print_fault);
}

/* 0: it went well. */
static int replay(const struct sim_recipe *recipe, const char *schedule,
                  uint64_t seed)
{
    struct run r;
    const char *wrong;

    sim_talk(print_line, NULL);
    alarm(SEARCH_SILENT_S);
    wrong = search_replay(recipe, schedule, seed, &r);
    printf("replay recipe=%s schedule=%s seed=%" PRIu64 ": %s\n", recipe->name,
           schedule, seed, wrong ? wrong : "all is right");
    return wrong ? 1 : 0;
}

static void tell_wrong(const struct sim_recipe *recipe, const char *text,
                       uint64_t seed, const char *schedule)
{
    printf("violation recipe=%s: %s\n"
           "  explore --recipe %s --seed %" PRIu64 " --replay '%s'\n",
           recipe->name, text, recipe->name, seed, schedule);
}

/* 1: it shows, and the shortest command that shows it was printed. */
static int shorten(const struct sim_recipe *recipe, const char *schedule,
                   uint64_t seed)
{
    struct run r = {.seed = seed};
    char text[SEARCH_TEXT], shortest[RUN_TEXT];
    unsigned tries, had;

    if (!run_parse(recipe, schedule, &r)) {
        fprintf(stderr, "explore: no such schedule: %s\n", schedule);
        return 2;
    }
    had = r.n_strikes;
    tries = search_shorten(&r, text);
    run_text(&r, shortest);
    if (text[0])
        tell_wrong(recipe, text, r.seed, shortest);
    printf("shorten recipe=%s faults=%u of=%u runs=%u: %s\n", recipe->name,
           r.n_strikes, had, tries, text[0] ? text : "all is right");
    return text[0] != '\0';
}

static void progress(const struct search_result *r)
{
    fprintf(stderr,
            "\r%" PRIu64 " first faults, %" PRIu64 " runs, %" PRIu64
            " states, %" PRIu64 " wrong ",
            r->tried, r->runs, r->states, r->violations + r->stuck + r->leaks);
}

static void tell_found(const struct sim_recipe *recipe,
                       const struct search_result *r)
{
    for (unsigned i = 0; i < r->n_found; i++) {
        const struct search_found *f = &r->found[i];

        tell_wrong(recipe, f->text, f->seed, f->schedule);
    }
}

static unsigned most_processes(const struct sim_recipe *recipe)
{
    unsigned n = 0;

    for (unsigned i = 0; i < sim_scene_count(recipe); i++) {
        if ((unsigned)sim_scene_at(recipe, i)->processes > n)
            n = (unsigned)sim_scene_at(recipe, i)->processes;
    }
    return n;
}

static const char *how_much(const struct wish *w, const struct search_result *r,
                            unsigned faults)
{
    if (w->plan.faults < faults || w->plan.chance)
        return "none";
    return r->complete && w->plan.share == 1 ? "all" : "some";
}

/* Arrows that were not taken count only when everything was tried. */
static bool whole(const struct wish *w, const struct search_result *r)
{
    return r->complete && w->plan.faults == 2 && w->plan.share == 1 &&
           !w->plan.scene && !w->plan.fault && !w->plan.chance;
}

static void tell(const struct wish *w, const struct sim_recipe *recipe,
                 const struct search_result *r, double seconds)
{
    struct coverage c = coverage_of(recipe->kind);

    printf("explore recipe=%s processes=%u scenes=%u singles=%s doubled=%u "
           "doubles=%s",
           recipe->name, most_processes(recipe), r->scenes, how_much(w, r, 1),
           r->doubled, how_much(w, r, 2));
    if (w->plan.chance || whole(w, r))
        printf(" chance=%" PRIu64, w->plan.chance ? w->plan.chance : CHANCE);
    printf(" runs=%" PRIu64 " states=%" PRIu64, r->runs, r->states);
    if (r->steps)
        printf(" steps=%" PRIu64, r->steps);
    printf(" violations=%" PRIu64 " stuck=%" PRIu64 " leaks=%" PRIu64
           " moves=%u/%u pairs=%u/%u arrows=%u/%u",
           r->violations, r->stuck, r->leaks, c.moves, c.all_moves, c.pairs,
           c.all_pairs, c.arrows, c.all_arrows);
    if (r->allocs) /* Known when all scenes were gone through. */
        printf(" oom=%" PRIu64 "/%" PRIu64, r->starved / 2, r->allocs / 2);
    printf(" seed=%" PRIu64 " time=%.1fs%s\n", w->plan.seed, seconds,
           r->full ? " (more states than could be noted)" : "");
    fflush(stdout);
}

/* Beyond pairs: many faults in a run, by chance. */
static void add_chance(const struct search_plan *p, struct search_result *r,
                       void (*meter)(const struct search_result *))
{
    struct search_plan plan = *p;
    struct search_result more;

    plan.chance = CHANCE;
    search_run(&plan, &more, meter);
    r->runs += more.runs;
    r->violations += more.violations;
    r->stuck += more.stuck;
    r->leaks += more.leaks;
    r->complete = r->complete && more.complete;
    for (unsigned i = 0; i < more.n_found && r->n_found < SEARCH_FOUND; i++)
        r->found[r->n_found++] = more.found[i];
}

/* plan.share, so large that at most about `most` first faults are tried.  To
 * count all of them a search is made that tries one at most. */
static uint32_t share_of(const struct search_plan *p, uint64_t most)
{
    struct search_plan plan = *p;
    struct search_result r;
    uint64_t share;

    if (!most || p->chance || !p->faults)
        return p->share;
    plan.faults = 1;
    plan.share = UINT32_MAX;
    plan.max_runs = 0;
    plan.seconds = 0;
    search_run(&plan, &r, NULL);
    share = (r.units + most - 1) / most;
    return share > p->share ? (uint32_t)share : p->share;
}

static int explore(const struct wish *wanted, const struct sim_recipe *recipe)
{
    struct wish w = *wanted;
    struct search_result r;
    bool tty = isatty(STDERR_FILENO);
    double began = now();
    unsigned missing = 0;

    w.plan.recipe = recipe;
    w.plan.share = share_of(&w.plan, w.most);
    coverage_clear();
    search_run(&w.plan, &r, tty ? progress : NULL);
    if (whole(&w, &r))
        add_chance(&w.plan, &r, tty ? progress : NULL);
    if (tty)
        fputs("\r\033[K", stderr);
    tell_found(recipe, &r);
    if (w.coverage || whole(&w, &r))
        missing = coverage_missing(recipe->kind, stdout);
    tell(&w, recipe, &r, now() - began);
    return r.violations + r.stuck + r.leaks > 0 ||
           (whole(&w, &r) && missing > 0);
}

/* Built so that no world can be saved: single faults, from the beginning. */
static int explore_plain(const struct wish *w, const struct sim_recipe *recipe)
{
    unsigned runs = 0, wrong = 0, n;
    char schedule[RUN_TEXT];
    struct run r;

    for (unsigned i = 0; i < sim_scene_count(recipe); i++) {
        const struct sim_scene *s = sim_scene_at(recipe, i);
        unsigned first = (unsigned)(w->plan.seed % w->plan.share);
        const char *why;

        if (!search_wanted(&w->plan, s))
            continue;
        why = search_singles(recipe, s, w->plan.seed, first, w->plan.share, &r,
                             &n);
        runs += n;
        if (!why)
            continue;
        wrong++;
        run_text(&r, schedule);
        tell_wrong(recipe, why, r.seed, schedule);
    }
    printf("explore recipe=%s plain singles=%s runs=%u violations=%u "
           "seed=%" PRIu64 "\n",
           recipe->name, w->plan.share == 1 ? "all" : "some", runs, wrong,
           w->plan.seed);
    return wrong > 0;
}

static bool has_scene(const struct sim_recipe *r, const char *name)
{
    for (unsigned i = 0; name && i < sim_scene_count(r); i++) {
        if (strcmp(sim_scene_at(r, i)->name, name) == 0)
            return true;
    }
    return !name;
}

/* Whether `schedule`, or a scene's name, is of this recipe. */
static bool is_of(const struct sim_recipe *r, const char *schedule)
{
    char name[64] = "";

    if (!schedule)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(schedule, ":"), schedule);
    return has_scene(r, name);
}

static int run_recipe(const struct wish *w, const struct sim_recipe *r)
{
    int rc = 0;

    if (w->costs)
        return costs_print(r, w->plan.seed);
    if (w->replay && w->shorten)
        return shorten(r, w->replay, w->plan.seed);
    if (w->replay)
        return replay(r, w->replay, w->plan.seed);
    if (!w->trace && !w->plan.chance && !sim_can_save())
        return explore_plain(w, r);
    if (!w->trace)
        return explore(w, r);
    for (unsigned i = 0; i < sim_scene_count(r); i++) {
        if (!w->plan.scene ||
            strcmp(w->plan.scene, sim_scene_at(r, i)->name) == 0)
            rc |= replay(r, sim_scene_at(r, i)->name, w->plan.seed);
    }
    return rc;
}

static int run_all(const struct wish *w)
{
    unsigned n = 0;
    int rc = 0;

    coverage_open();
    seams_open();
    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        if (w->recipe && strcmp(w->recipe, (*r)->name) != 0)
            continue;
        if (!has_scene(*r, w->plan.scene) || !is_of(*r, w->replay))
            continue;
        n++;
        rc |= run_recipe(w, *r);
    }
    if (n > 0)
        return rc;
    fputs("explore: there is no such recipe or scene; see --list\n", stderr);
    return 2;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 0);

    if (end == text || *end) {
        fprintf(stderr, "explore: not a number: %s\n", text);
        exit(2);
    }
    return n;
}

static void default_wish(struct wish *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    memset(w, 0, sizeof *w);
    w->plan.faults = 2;
    w->plan.share = 1;
    w->plan.seed = 1;
    w->plan.jobs = cpus > 0 ? (unsigned)cpus : 1;
}

static const struct option options[] = {
    {"recipe", required_argument, NULL, 'r'},
    {"scene", required_argument, NULL, 's'},
    {"faults", required_argument, NULL, 'f'},
    {"fault", required_argument, NULL, 'F'},
    {"share", required_argument, NULL, 'n'},
    {"most", required_argument, NULL, 'M'},
    {"runs", required_argument, NULL, 'm'},
    {"time", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 'S'},
    {"jobs", required_argument, NULL, 'j'},
    {"chance", required_argument, NULL, 'c'},
    {"replay", required_argument, NULL, 'R'},
    {"shorten", no_argument, NULL, 'x'},
    {"trace", no_argument, NULL, 'T'},
    {"coverage", no_argument, NULL, 'C'},
    {"costs", no_argument, NULL, 'k'},
    {"list", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

/* False: it was no number that is to be. */
static bool take_number(struct wish *w, int opt)
{
    uint64_t n = strchr("fnMmtSjc", opt) ? number(optarg) : 0;

    if (opt == 'f')
        w->plan.faults = (unsigned)n;
    else if (opt == 'n')
        w->plan.share = (uint32_t)n;
    else if (opt == 'M')
        w->most = n;
    else if (opt == 'm')
        w->plan.max_runs = n;
    else if (opt == 't')
        w->plan.seconds = (unsigned)n;
    else if (opt == 'S')
        w->plan.seed = n;
    else if (opt == 'j')
        w->plan.jobs = (unsigned)n;
    else if (opt == 'c')
        w->plan.chance = n;
    return w->plan.faults <= 2 && w->plan.share > 0 && w->plan.jobs > 0;
}

static void take_option(struct wish *w, int opt)
{
    if (opt == 'r')
        w->recipe = optarg;
    else if (opt == 's')
        w->plan.scene = optarg;
    else if (opt == 'F')
        w->plan.fault = optarg;
    else if (opt == 'R')
        w->replay = optarg;
    else if (opt == 'x')
        w->shorten = true;
    else if (opt == 'T')
        w->trace = true;
    else if (opt == 'C')
        w->coverage = true;
    else if (opt == 'k')
        w->costs = true;
    else if (opt == '?' || !take_number(w, opt)) {
        fputs(usage, stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct wish w;
    int opt;

    default_wish(&w);
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (opt == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (opt == 'l') {
            list_all();
            return 0;
        }
        take_option(&w, opt);
    }
    if (optind < argc || (w.shorten && !w.replay)) {
        fputs(usage, stderr);
        return 2;
    }
    return run_all(&w);
}
