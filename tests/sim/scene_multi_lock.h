/* Scenes of multi-locks: what their processes do, and what is kept of it.
 *
 *   scene_multi_lock.c        the processes
 *   scene_multi_lock_rules.c  the rules
 *   scene_multi_lock_list.c   the scenes */
#ifndef SIM_SCENE_MULTI_LOCK_H
#define SIM_SCENE_MULTI_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/multi_lock.h"
#include "scene.h"
#include "world.h"

enum { MULTIS = 5, MULTI_DIRS = 3, MULTI_SEEN = 48 };

/* An attempt: takes its parts, holds them for a while, gives them back. */
struct multi_plan {
    int proc, start_ms, hold_ms;
    /* In the order of the call; a letter is a part, "a" for the path /m/a.  A
     * capital letter reads. */
    const char *parts;
    bool single; /* A lock of its own, of the first part. */
    uint32_t timeout_ms;
    bool try_once, no_requeue;
    bool frees;    /* Frees it, instead of a release. */
    bool keeps;    /* Holds it until its session is closed. */
    int cancel_ms; /* Cancels then, unless it was granted. */
};

struct multi_scene {
    struct multi_plan plan[MULTIS];
    bool denied; /* The path /m/b exists, and nothing may be made in it. */
    const char *chroot;
    int expire_ms; /* The servers end the first process's session then. */
    int cut_ms;    /* The first process loses its connection then. */
    int out_ms;    /* .. and for so long no server is there. */
    int freeze_ms, frozen_ms; /* The first process is stopped, so long. */
    int seal_ms;  /* An operator lets nobody delete in /m/a any more. */
    int steal_ms; /* An operator deletes the first znode in /m/a then. */
    int leave_ms; /* Sessions are closed so long after the last end; 0: 900. */
};

/* A znode that was seen in the tree. */
struct multi_seen {
    int64_t czxid, owner;
    int32_t attempt; /* The attempt that made it; -1: none. */
    int32_t dir;
    bool stands;
};

struct multi_world {
    const struct multi_scene *own;
    int64_t looked;
    int64_t n_seen;
    struct multi_seen seen[MULTI_SEEN];
    uint64_t last_alone[MULTI_DIRS]; /* Token of the last grant that wrote. */
    bool foreign; /* Another library's contender was there. */
    struct multi_try {
        evzk_multi_lock *p;
        evzk_lock *single;
        bool begun, over, granted, released, canceled, suspended;
        int64_t doubts;
        int64_t due; /* When its end is to be told; 0: nobody knows. */
        uint64_t token[MULTI_DIRS]; /* By the index of the part. */
        int rc;
        evzk_multi_lock_event end; /* 0: not told. */
    } of[MULTIS];
};
extern struct multi_world multis;

static inline const struct multi_plan *multi_plan(int i)
{
    return &multis.own->plan[i];
}

static inline bool multi_lives(int i)
{
    return multis.of[i].p || multis.of[i].single;
}

/* ---- scene_multi_lock.c ---- */

void multi_lock_begin(const struct sim_scene *sc);
bool multi_lock_done(void);
extern const char *const multi_lock_calls[];
bool multi_lock_call(int proc, unsigned which);

/* ---- scene_multi_lock_rules.c ---- */

const char *multi_dir(int dir); /* Below the chroot. */
int multi_dir_of(char letter);
size_t multi_n(int i);  /* Of its parts. */
bool multi_held(int i); /* Its process is entered. */
void multi_told(int i, evzk_multi_lock_event event, int rc);
/* What a process leaves, that has let go of all. */
void multi_check_left(int proc);
void multi_lock_check(void);
void multi_lock_owes(int proc, struct sim_debt *debt);
void multi_lock_check_end(void);

#endif
