/* One run: a scene with a seed, and the faults that strike in it. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults.h"
#include "scene.h"
#include "steps.h"

enum { RUN_STRIKES = 16, RUN_TEXT = 1024 };

struct strike {
    uint32_t n; /* Before that step, counted from 0. */
    struct fault fault;
};

/* Without pointers to what a job allocates: it stands in shared memory, so that
 * what a job was at when it died is known. */
struct run {
    const struct sim_recipe *recipe;
    const struct sim_scene *scene;
    uint64_t seed;
    uint32_t n_strikes;
    struct strike strikes[RUN_STRIKES]; /* In the order of n. */
};

/* A world just begun, with the scene in it. */
void run_begin(const struct run *r);

enum run_end {
    RUN_GOES_ON, /* `step` is the next, the nth. */
    RUN_DONE,    /* All has come to its end; or a rule was broken. */
    RUN_LEFT,    /* Something is left at its end: a violation. */
    RUN_STUCK    /* The run never comes to its end: a violation. */
};
enum run_end run_next(const struct run *r, uint32_t n, struct sim_step *step);

/* Faults are tried no more: all that is left is for the servers to do. */
bool run_settling(void);

/* Takes the step, and checks all rules. */
void run_step(const struct run *r, const struct sim_step *step);

/* From its beginning to its end; false: a violation. */
bool run_play(const struct run *r);

/* "scene:17=cut,43=oom@3".  Reading it needs the recipe. */
void run_text(const struct run *r, char out[RUN_TEXT]);
bool run_parse(const struct sim_recipe *recipe, const char *text,
               struct run *r);

#endif
