/* What happens next: the one order of all that happens in the world. */
#ifndef SIM_HAPPEN_H
#define SIM_HAPPEN_H

#include <stdbool.h>
#include <stdint.h>

enum sim_kind {
    SIM_ARRIVAL, /* A request, a connection or its end reaches a server. */
    SIM_TREE,    /* Something goes on among the servers. */
    SIM_STAGE,   /* A timer of the scene: an application's, or the scene's. */
    SIM_TURN     /* A process's loop hands out one event: a timer, or I/O. */
};

/* The next thing to happen. */
struct sim_happening {
    enum sim_kind kind;
    int64_t at;
    int proc; /* ARRIVAL: whose request; TURN, STAGE: whose; -1: nobody's. */
    int id;   /* The source's own. */
};

/* The earliest of all sources; at the same time, in the order of sim_kind.
 * False: nothing will ever happen. */
bool sim_next(struct sim_happening *h);

/* Sets the clock, and has it happen. */
void sim_do(const struct sim_happening *h);

/* The sources: each says what is its next, and does it; what is no longer due
 * when it is to be done does nothing. */
bool wire_next(struct sim_happening *h); /* wire.c: SIM_ARRIVAL */
void wire_do(const struct sim_happening *h);
bool ens_next(struct sim_happening *h); /* ens.c: SIM_TREE */
void ens_do(const struct sim_happening *h);
bool stage_next(struct sim_happening *h); /* stage.c: SIM_STAGE */
void stage_do(const struct sim_happening *h);
bool proc_next(struct sim_happening *h); /* turns.c: SIM_TURN */
void proc_do(const struct sim_happening *h);

/* A process that is frozen takes no turn, and no stage timer of it is handed
 * out, before `until`. */
void proc_freeze(int proc, int64_t until);
int64_t proc_frozen(int proc);

/* Timers of the scene: `fn` is called once, with the process entered (-1: with
 * none).  At most STAGE_TIMERS at a time. */
enum { STAGE_TIMERS = 64 };
void stage_at(int64_t delay_us, int proc, void (*fn)(intptr_t arg),
              intptr_t arg);
void stage_cancel(void (*fn)(intptr_t arg), intptr_t arg);

/* Once, before the first world: the library then allocates from the area of the
 * process that runs. */
void seams_open(void);

/* Whether the process has no free descriptor; how it was before. */
bool seams_starve(int proc, bool on);

#endif
