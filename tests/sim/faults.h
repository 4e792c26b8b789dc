/* The faults: all that may befall a scene, each with a name.
 *
 * A fault strikes just before a step, and strikes the process of that step, or
 * the tree.  Some faults only prepare the step: the connection is cut after the
 * request arrived, the third allocation of the step fails.  Every fault ends by
 * itself: what is held is let go, a frozen process thaws, memory comes back. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scene.h"
#include "steps.h"

enum { FAULTS_MAX = 512, FAULT_TEXT = 48 };

struct fault {
    uint8_t code;
    uint8_t which; /* Of several alike: a server, a process, a call. */
    uint16_t nth;  /* The allocation or the callback, from 1. */
};

/* In a world just begun, before the recipe's own begin. */
void faults_begin(const struct sim_recipe *r);

/* Those to be tried before this happens; at most FAULTS_MAX, returns how many.
 * Not each of them finds something to strike. */
size_t faults_before(const struct sim_step *step, struct fault *out);

/* What a fault can strike inside a step; counted by taking the step once,
 * between faults_watch() and faults_watched(). */
struct faults_inside {
    unsigned allocs, callbacks;
};
void faults_watch(const struct sim_step *step, struct faults_inside *in);
void faults_watched(const struct sim_step *step, struct faults_inside *in);

/* Adds the faults that strike inside to the n that are in `out`. */
size_t faults_within(const struct sim_step *step,
                     const struct faults_inside *in, struct fault *out,
                     size_t n);

/* False: there is nothing to strike, and nothing was changed. */
bool fault_strike(const struct fault *f, const struct sim_step *step);

/* After every step. */
void faults_after(const struct sim_step *step);

int64_t faults_healed_at(void); /* 0: all is. */
int64_t faults_healed_by(void); /* All was, at the latest; a round figure. */

/* "oom@3": the name, and what it is about.  Needs faults_begin(). */
void fault_text(const struct fault *f, char out[FAULT_TEXT]);
bool fault_parse(const char *text, struct fault *f);

/* Is this a fault that the search counts by itself? */
bool fault_is_oom(const struct fault *f);
/* Is it of this name? */
bool fault_is_kind(const struct fault *f, const char *name);

/* Is this a plan that was forged?  Has a copy, which no session owns,
 * taken the place of a member's znode, or a place beside that? */
bool fault_forged(const void *data, size_t len);
bool fault_copied(void);
/* Puts such a copy in the place of a member's znode.  False: there is none. */
bool fault_copy(const char *path);
/* The plan may not be read for a while, nor the members be listed or made. */
void fault_seal_members(void);
bool fault_hid(void);         /* Something might not be read. */
bool fault_hid_members(void); /* The list of them. */
bool fault_hid_votes(void);   /* Those of a ballot. */
/* Is this znode a vote that a fault has made, in the place of no site? */
bool fault_forged_vote(const void *data, int32_t len);
bool fault_forged_votes(void); /* Is any? */
/* Has a fault made a double barrier's `ready` at this mzxid?  0: ever? */
bool fault_made_ready(int64_t mzxid);
bool fault_made_older_ready(void); /* Of that directory, for those to come? */
bool fault_malformed(void); /* Has a fault written to what a process reads? */
/* .. these bytes there? */
bool fault_said(const char *path, const void *data, size_t len);
bool fault_wrote(int64_t mzxid); /* .. in this transaction? */
bool fault_hid_watched(void);    /* What a process watches. */
bool fault_began_anew(void);     /* History: all has other numbers since. */
/* A bit for each process whose watches may be hidden from; and, if any is set,
 * may history begin anew?  Set by a scene. */
extern unsigned fault_hides;

/* The names of all, with a word on each. */
void faults_list(void (*line)(const char *name, const char *about));

#endif
