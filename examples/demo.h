/*
 * What the parts of the demonstration share.
 *
 *   evzk-demo.c    the parent: starts A and B, leads them through the phases
 *   demo-worker.c  A or B: one thread, one loop, one session, many locks
 *   demo-cut.c     cuts A's connection
 *   demo-meter.c   what a worker measures of itself
 *   demo-ui.c      the progress bar and the table
 *
 * The parent sends a worker one byte to begin a phase; the worker sends the
 * byte back when its part of the phase is done.  Figures go through memory that
 * all three processes share.
 */
#ifndef EVZK_DEMO_H
#define EVZK_DEMO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEMO_STALL_GOAL_US 20000u

enum demo_phase {
    PHASE_CONNECT,
    PHASE_TAKE,  /* A takes all locks. */
    PHASE_QUEUE, /* B queues for all of them. */
    PHASE_CUT,   /* A loses its connection, and gets all locks confirmed. */
    PHASE_PASS,  /* A releases all, B is granted all. */
    PHASE_DROP,  /* B releases all. */
    PHASE_CLOSE,
    PHASES
};

enum demo_role { ROLE_A, ROLE_B, ROLES };

struct demo_options {
    const char *servers;
    const char *run; /* Names this run's directory on the server. */
    size_t locks;
    uint32_t session_ms;
    uint32_t deadline_s;
    bool verbose;
};

/* The costs of one phase in one process. */
struct demo_cost {
    uint64_t cpu_us;
    int64_t memory;         /* Bytes by which the process grew. */
    uint64_t stall_us;      /* The longest of its loop, ... */
    uint64_t stall_wait_us; /* ... and how much of it went without a CPU. */
    uint64_t stall_own_us;  /* The longest, not counting such waits. */
};

/* One worker's figures: it writes them, the parent reads them. */
struct demo_worker {
    atomic_uint connected;
    atomic_uint waiting; /* Own znodes that stand in the queue. */
    atomic_uint granted;
    atomic_uint suspended; /* Since the cut; so the next two. */
    atomic_uint resumed;   /* Different locks. */
    atomic_uint kept;      /* Locks that are held() after that. */
    atomic_uint released;
    atomic_uint lost;
    atomic_uint early;    /* Granted while the other still held it. */
    atomic_uint disorder; /* Granted with a token not above the other's. */
    atomic_uint closed;   /* The server confirmed the end of the session. */
    const char *_Atomic trouble; /* NULL, or what went wrong first ... */
    atomic_int trouble_rc;       /* ... and why. */
    struct demo_cost cost[PHASES];
    uint64_t turn_max_us; /* As the library measured it. */
};

/* One lock, as A leaves it for B to check. */
struct demo_slot {
    _Atomic uint64_t token; /* Of A's grant. */
    atomic_bool held;       /* By A, until just before it releases. */
};

struct demo_shared {
    struct demo_worker worker[ROLES];
    struct demo_slot slot[];
};

/* demo-worker.c: is A or B until the parent hangs up; returns exit status. */
int worker_run(const struct demo_options *opt, enum demo_role role,
               struct demo_shared *shared, int channel);

/* demo-cut.c: returns how many connections to these servers were cut. */
int cut_connections(const char *servers);

/* demo-meter.c */
struct demo_meter {
    struct demo_cost *cost; /* Of the phase that is on; NULL before. */
    uint64_t phase_cpu_us;
    int64_t phase_memory;
    uint64_t tick_us; /* When the timer ran last, ... */
    uint64_t wait_us; /* ... and the waits for a CPU until then. */
    int schedstat;    /* File descriptor, or -1. */
};

#define METER_TICK_US 1000u

uint64_t meter_now_us(void);
void meter_open(struct demo_meter *m);
void meter_close(struct demo_meter *m);
void meter_begin(struct demo_meter *m, struct demo_cost *cost);
void meter_end(struct demo_meter *m);
void meter_tick(struct demo_meter *m); /* Call it every METER_TICK_US. */

/* demo-ui.c */
struct demo_result {
    const struct demo_options *opt;
    struct demo_worker worker[ROLES]; /* As they were when all ended. */
    uint64_t phase_us[PHASES];
    enum demo_phase ended; /* Phases before this one were completed. */
};

const char *ui_phase_name(enum demo_phase phase);
void ui_bar(enum demo_phase phase, size_t done, size_t all, uint64_t us);
void ui_phase_end(enum demo_phase phase, size_t done, size_t all, uint64_t us);
void ui_clear(void); /* Ends a line that ui_bar() has begun. */
void ui_table(const struct demo_result *result);

#endif
