/* The steps of a run: the one order in which things happen in the world. */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include <stdbool.h>
#include <stdint.h>

enum sim_kind {
    SIM_ARRIVAL,     /* A request, a connection or its end reaches a server. */
    SIM_TREE,        /* A proposal, a commit or a tick among the servers. */
    SIM_SCENE_TIMER, /* A timer of the scene: application or operator acts. */
    SIM_LOOP         /* A process's loop hands out one event: timer or I/O. */
};

struct sim_step {
    enum sim_kind kind;
    int64_t at;
    int proc; /* ARRIVAL: the sender; LOOP, SCENE_TIMER: the owner; -1: none. */
    int id;   /* For the source alone. */
};

/* The next step: the earliest of all sources; at the same time, in the order of
 * sim_kind.  False: no step will ever come. */
bool sim_next(struct sim_step *step);

/* Sets the clock, and takes the step. */
void sim_do(const struct sim_step *step);

/* The sources.  *_next() tells the source's next step, *_do() takes it; a step
 * that is no longer due does nothing. */
bool wire_next(struct sim_step *step); /* wire.c: SIM_ARRIVAL */
void wire_do(const struct sim_step *step);
bool ens_next(struct sim_step *step); /* ens.c: SIM_TREE */
void ens_do(const struct sim_step *step);
bool scene_timer_next(struct sim_step *step); /* scene_timers.c */
void scene_timer_do(const struct sim_step *step);
bool loop_next(struct sim_step *step); /* loops.c: SIM_LOOP */
void loop_do(const struct sim_step *step);

/* A frozen process takes no step of its loop, and its scene timers do not fire,
 * before `until`. */
void process_freeze(int proc, int64_t until);
int64_t process_frozen_until(int proc);

/* Timers of the scene: `fn` is called once, with the process entered (-1: with
 * none).  At most SCENE_TIMERS at a time. */
enum { SCENE_TIMERS = 64 };
void scene_timer_set(int64_t delay_us, int proc, void (*fn)(intptr_t arg),
                     intptr_t arg);
void scene_timer_cancel(void (*fn)(intptr_t arg), intptr_t arg);

/* Once, before the first world: the library then allocates from the area of the
 * process that runs. */
void seams_open(void);

/* Whether the process has no free descriptor; how it was before. */
bool seams_starve(int proc, bool on);

#endif
