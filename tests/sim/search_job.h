/* What the jobs of a search share. */
#ifndef SIM_SEARCH_JOB_H
#define SIM_SEARCH_JOB_H

#include <stdatomic.h>

#include "search.h"

enum { SEARCH_JOBS = 64 };

/* What a job is at; read by others when it died. */
struct search_slot {
    struct run run;
    _Atomic uint64_t beat; /* Goes on while the job does. */
    bool busy;
};

struct search_shared {
    atomic_flag lock;      /* Of `found`. */
    _Atomic uint64_t next; /* The first fault that nobody has taken yet. */
    _Atomic uint64_t runs, steps, violations, stuck, leaks;
    _Atomic uint64_t units, tried, allocs, starved;
    _Atomic bool stop;
    _Atomic uint32_t n_found;
    struct search_found found[SEARCH_FOUND];
    struct search_slot slots[SEARCH_JOBS];
};

/* Search, as this job. */
void search_job(const struct search_plan *p, struct search_shared *sh,
                struct search_slot *slot);

/* A run has ended so; with what is wrong, if it is. */
void search_ended(const struct search_plan *p, struct search_shared *sh,
                  const struct run *r, enum run_end end);

/* Something is wrong that was not seen before. */
void search_note(struct search_shared *sh, const struct run *r,
                 const char *text);

#endif
