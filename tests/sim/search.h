/* The search: every fault at every step of a recipe's scenes, alone and in
 * pairs; or many faults by chance.  Several jobs, each a real process, share
 * the work, and the list of the worlds that were seen. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

struct search_plan {
    const struct sim_recipe *recipe;
    const char *scene; /* NULL: all. */
    unsigned faults;   /* The most in one run: 0, 1 or 2. */
    const char *fault; /* NULL: any; else the first fault is of this kind. */
    uint32_t share;    /* Only each `share`th first fault is tried. */
    uint64_t max_runs; /* 0: no limit. */
    uint64_t chance;   /* This many runs by chance, instead of the search. */
    uint64_t seed;
    unsigned jobs, seconds; /* 0 seconds: no limit. */
};

/* A run that takes longer is caught in a loop. */
enum { SEARCH_SILENT_S = 60 };

enum { SEARCH_FOUND = 20, SEARCH_TEXT = 400 };

struct search_found {
    uint64_t seed;
    char text[SEARCH_TEXT], schedule[RUN_TEXT];
};

struct search_result {
    uint64_t runs, states, steps;
    uint64_t violations, stuck, leaks; /* Runs; stuck ones and leaks, too. */
    uint64_t units, tried;    /* First faults: that there are; tried. */
    uint64_t allocs, starved; /* Failing allocations among them. */
    unsigned scenes;
    unsigned doubles, doubled; /* Scenes for pairs; searched in pairs. */
    bool complete;             /* All that was planned was done. */
    bool full;                 /* Memory for noting worlds ran out. */
    unsigned n_found;
    struct search_found found[SEARCH_FOUND]; /* With different texts. */
};

/* `progress` is called now and then; it may be NULL. */
void search_run(const struct search_plan *p, struct search_result *out,
                void (*progress)(const struct search_result *so_far));

/* Does the plan include this scene? */
bool search_wanted(const struct search_plan *p, const struct sim_scene *s);

/* Functions that need no jobs and no snapshots: for tests, also in Valgrind.
 * Each returns NULL, or the violation; `r` is then the run that shows it. */

/* One schedule; "no such schedule" when it cannot be read. */
const char *search_replay(const struct sim_recipe *recipe, const char *schedule,
                          uint64_t seed, struct run *r);

/* Single faults, each `stride`th from the `first`, played from the beginning;
 * `runs` tells how many. */
const char *search_singles(const struct sim_recipe *recipe,
                           const struct sim_scene *scene, uint64_t seed,
                           unsigned first, unsigned stride, struct run *r,
                           unsigned *runs);

/* The nth run by chance. */
const char *search_chance(const struct sim_recipe *recipe,
                          const struct sim_scene *scene, uint64_t seed,
                          uint64_t n, struct run *r);

/* The same; returns how the run ended. */
enum run_end search_chance_end(struct run *r, uint64_t n);

/* Leaves faults out of the run as long as the same rule is broken, or the same
 * signal ends the program.  `text` is what is wrong; empty: nothing.  Returns
 * how many runs were played, each in a process of its own. */
unsigned search_shorten(struct run *r, char text[SEARCH_TEXT]);

/* Texts that differ by their numbers alone are the same. */
bool search_same(const char *a, const char *b);

#endif
