/* What of a recipe's table was taken, out of all: its states, its moves (from a
 * state to a state), its pairs (an event in a state), and its arrows (an event
 * in a state, and where that led).  In memory shared by the explorer's jobs,
 * not part of the world. */
#ifndef SIM_COVERAGE_H
#define SIM_COVERAGE_H

#include <stdio.h>

#include "recipes/kinds.h"

/* Before the jobs fork. */
void coverage_open(void);
/* From the library's trace hook: every event that a machine was given.  False:
 * the table has no such arrow. */
bool coverage_note(const evzk_trace *t);
struct coverage {
    unsigned states, all_states, moves, all_moves, pairs, all_pairs, arrows,
        all_arrows;
};
struct coverage coverage_of(const struct evzk__kind *kind);
/* Lists what was never taken, a line each; returns how many. */
unsigned coverage_missing(const struct evzk__kind *kind, FILE *out);
void coverage_clear(void);

#endif
