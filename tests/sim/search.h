/* The search: every fault at every step of a recipe's scenes, alone and in
 * pairs; or many faults by chance.  Several jobs, each a process of its own,
 * share the work, and know together which worlds were seen. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

struct search_plan {
    const struct sim_recipe *recipe;
    const char *scene; /* NULL: all. */
    unsigned faults;   /* At most so many in a run: 0, 1 or 2. */
    uint32_t share;    /* Every so-manieth first fault; 1: all. */
    uint64_t max_runs; /* 0: no end. */
    uint64_t chance;   /* Not the search, but so many runs by chance. */
    uint64_t seed;
    unsigned jobs, seconds; /* 0 seconds: no end. */
};

enum { SEARCH_FOUND = 20, SEARCH_TEXT = 400 };

struct search_found {
    uint64_t seed;
    char text[SEARCH_TEXT], schedule[RUN_TEXT];
};

struct search_result {
    uint64_t runs, states, steps;
    uint64_t violations, stuck, leaks; /* Runs that ended so: each is one. */
    uint64_t units, tried;             /* First faults: there are; were. */
    uint64_t allocs, starved;          /* Those that are allocations. */
    unsigned scenes, doubled, doubles; /* Doubled: searched in pairs, of... */
    bool complete;                     /* All that was planned was done. */
    bool full;                         /* No more worlds could be noted. */
    unsigned n_found;
    struct search_found found[SEARCH_FOUND]; /* Of different texts. */
};

/* `progress` is called now and then; it may be NULL. */
void search_run(const struct search_plan *p, struct search_result *out,
                void (*progress)(const struct search_result *so_far));

/* Whether the plan has this scene in it. */
bool search_wanted(const struct search_plan *p, const struct sim_scene *s);

/* What needs no jobs, and no snapshots: for tests, also under Valgrind.  Each
 * returns NULL, or what is wrong; `r` tells where. */

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

/* The same, to tell the ways it can end apart. */
enum run_end search_chance_end(struct run *r, uint64_t n);

#endif
