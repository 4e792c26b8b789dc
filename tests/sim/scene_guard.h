/* Scenes of guarded writes: what their processes do, and what is kept of it.
 *
 *   scene_guard_list.c     the scenes
 *   scene_guard.c          plays a scene: its beginning, operators, calls
 *   scene_guard_writers.c  what each writer does
 *   scene_guard_ops.c      the operations, and what is sent of them
 *   scene_guard_excuses.c  which errors a scene explains
 *   scene_guard_rules.c    the rules */
#ifndef SIM_SCENE_GUARD_H
#define SIM_SCENE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/guard.h"
#include "scene.h"
#include "wire.h"
#include "world.h"

enum { WRITERS = 3, WRITES = 4 };

enum guard_by { BY_LOCK, BY_CANDIDATE, BY_PATH };

/* What a writer does: it gets its guard, writes so many times, and lets go. */
struct guard_plan {
    int proc, start_ms, writes, gap_ms;
    enum guard_by by;
    uint32_t timeout_ms;
    bool clashes;    /* Each write creates what exists. */
    bool lets_go;    /* Releases the lock as soon as a write has begun. */
    bool patient;    /* Writes only a while after it was granted. */
    bool frees_late; /* Not in the callback. */
    bool twice;      /* Each write sets what it creates. */
    bool stale;      /* Each write sets a znode of another version. */
    bool ephemeral;  /* The new znode goes with the session. */
    bool big;        /* More data than the servers take. */
    uint32_t perms;  /* Of its receipt; 0: all. */
};

struct guard_scene {
    struct guard_plan plan[WRITERS];
    int gone_ms;     /* An operator deletes the znode of BY_PATH then. */
    bool missing;    /* The directory of BY_PATH does not exist. */
    bool denied;     /* Nothing may be made in it. */
    unsigned window; /* Requests that a session has under way; 0: 8. */
    int expire_ms;   /* The servers end the first process's session then. */
    int cut_ms;      /* The first process loses its connection then. */
};

/* Each write sets a znode of its own, without a version; creates one; deletes
 * one of version 0; and checks one that all have, or sets the new one. */
enum { OP_SET, OP_CREATE, OP_DELETE, OP_CHECK, OPS };
/* A request that is longer costs its connection. */
enum { GUARD_MOST_BYTES = 1000 };

struct guarded {
    char guard[128];    /* The path of the guard's znode, .. */
    int64_t guard_made; /* .. and its czxid. */
    bool begun, told, canceled;
    bool sent;            /* The client has its transaction. */
    int64_t canceled_at;  /* 0: not, or told since. */
    int64_t due;          /* When its time is over; 0: never. */
    char receipt[128];    /* As the transaction that was sent has it; .. */
    int64_t receipt_made; /* .. and its czxid; 0: an operator
                             has deleted, or replaced it before. */
    bool tampered;        /* An operator has written to it. */
    int64_t sessions;     /* That the process had before. */
    int64_t landed;       /* The zxid; 0: not done, so far. */
    evzk_guard_outcome outcome;
    int rc;
};

struct guard_world {
    const struct guard_scene *own;
    int64_t looked; /* The newest zxid when the rules saw the tree. */
    int64_t lingered[SIM_PROCS]; /* So often it was not idle, when all was
                                    over. */
    struct writer {
        evzk_lock *l;
        evzk_election *e;
        evzk_guard *g;
        bool begun, over, leaves;
        int64_t n; /* Writes that have begun. */
        struct guarded of[WRITES];
    } writer[WRITERS];
};
extern struct guard_world guarding;

static inline const struct guard_plan *guard_plan_of(int i)
{
    return &guarding.own->plan[i];
}

/* ---- scene_guard.c ---- */

void guard_begin(const struct sim_scene *sc);
bool guard_done(void);
extern const char *const guard_calls[];
bool guard_call(int proc, unsigned which);

/* ---- scene_guard_writers.c ---- */

/* Begins as planned: a timer's. */
void guard_start(intptr_t writer);
void guard_let_go(int i);
void guard_drop_write(int i);
/* Is all over that it wanted to do? */
void guard_maybe_over(int i);

/* ---- scene_guard_ops.c ---- */

extern const char guard_dir[], guard_znode[]; /* Of BY_PATH. */
void guard_op_path(char out[32], int op, int writer, int64_t write);
int guard_call_write(int i, evzk_guard_cb *cb);
/* The versions that a write tells which is done. */
void guard_versions(int i, int32_t out[OPS]);
/* A process sends a request: as wire_taken. */
void guard_sends(int proc, const struct wire_msg *m);

/* ---- scene_guard_excuses.c ---- */

bool guard_lock_rc_ok(int i, int rc);
bool guard_may_fail(int i, const struct guarded *w,
                    const evzk_guard_result *result);
bool guard_may_be_unknown(int i, const struct guarded *w);
/* An operator has deleted the receipt of the write, or replaced it. */
bool guard_lost_receipt(const struct guarded *w);
/* An operator has written to the receipt at this path. */
bool guard_is_written(const char *path);

/* ---- scene_guard_rules.c ---- */

void guard_check_told(int i, struct guarded *w,
                      const evzk_guard_result *result);
/* Receipts that a process leaves; or a write that does not end. */
void guard_check_left(int proc);
void guard_check(void);
void guard_owes(int proc, struct sim_debt *debt);
void guard_check_end(void);

#endif
