/* Scenes of semaphores: what their processes do, and what is kept of it.
 *
 *   scene_semaphore.c        the processes
 *   scene_semaphore_rules.c  the rules, asked after every step
 *   scene_semaphore_told.c   the rules for what is told
 *   scene_semaphore_list.c   the scenes */
#ifndef SIM_SCENE_SEMAPHORE_H
#define SIM_SCENE_SEMAPHORE_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/semaphore.h"
#include "scene.h"
#include "world.h"

enum {
    ATTEMPTS = 5,
    LEASES_SEEN = 32,
    SEM_PATH = 168,
    SEM_ROOM = SEM_PATH + 72
};

/* An attempt: acquires a lease, holds the lease for a while, gives it back. */
struct semaphore_plan {
    int proc, start_ms, hold_ms;
    uint32_t leases, timeout_ms;
    bool used; /* There is such an attempt. */
    bool try_once, no_requeue;
    bool frees;    /* Frees it, instead of a release. */
    bool keeps;    /* Holds it until its session is closed. */
    int cancel_ms; /* Cancels then, unless it has acquired the lease. */
};

struct semaphore_scene {
    struct semaphore_plan plan[ATTEMPTS];
    bool stands;       /* The directories exist. */
    bool denied;       /* .. and nothing may be made in `leases`; */
    bool hidden;       /* .. or leases may not be listed. */
    bool above_denied; /* `locks` exists, and nothing may be made beside it. */
    bool own_acl;      /* All is made with an ACL of its own. */
    evzk_dialect dialect;
    const char *number; /* Kazoo's directory says that it has so many. */
    const char *chroot;
    const char *path; /* NULL: "/s". */
    int expire_ms;    /* The servers end the first process's session then. */
    int cut_ms;       /* The first process loses its connection then. */
    int freeze_ms, frozen_ms; /* The first process is stopped, so long. */
    int steal_ms;  /* An operator deletes the first lock's znode then. */
    int remove_ms; /* An operator deletes the directory of leases then, if
                      that is empty. */
    int seal_ms;   /* An operator lets nobody read or delete a lock then; */
    bool shown;    /* .. or lets all be read, and nothing deleted. */
    int set_ms;    /* An operator writes data to that directory then. */
    int reap_ms;   /* The servers remove empty containers so often. */
};

/* A lease that was seen in the tree. */
struct lease_seen {
    int64_t czxid, owner;
    int attempt; /* The attempt that made it; -1: none. */
    bool stands;
};

struct semaphore_world {
    const struct semaphore_scene *own;
    char path[SEM_PATH], locks[SEM_PATH + 10], leases[SEM_PATH + 10];
    int64_t looked;
    int64_t n_seen, n_begun;
    struct lease_seen seen[LEASES_SEEN];
    bool foreign; /* Another library's contender was among the locks. */
    struct attempt {
        evzk_semaphore *p;
        evzk_lease *lease; /* Of every second one. */
        const void *machine;
        bool begun, over, acquired, released, canceled, waits;
        bool crowded;  /* Somebody was before it, or no lease was free. */
        int64_t since; /* Its begin. */
        int64_t nth;   /* Of all calls that began one. */
        bool requeues; /* Has queued again, and has not told so. */
        bool cut;      /* Its session has been without a connection. */
        int64_t doubts;
        uint64_t token;
        bool held;            /* As it says now. */
        bool doubts_it;       /* SUSPENDED was told, and not RESUMED. */
        int64_t robbed_since; /* Held, and taken away by others. */
        int rc;
        evzk_semaphore_event end; /* 0: not told. */
    } of[ATTEMPTS];
};
extern struct semaphore_world sems;

static inline const struct semaphore_plan *sem_plan(int i)
{
    return &sems.own->plan[i];
}

/* ---- scene_semaphore.c ---- */

void semaphore_begin(const struct sim_scene *sc);
bool semaphore_done(void);
extern const char *const semaphore_calls[];
bool semaphore_call(int proc, unsigned which);

/* ---- scene_semaphore_rules.c ---- */

extern const evzk_acl sem_acl; /* Of scenes with an ACL of their own. */
struct lease_seen *sem_lease_of(int64_t czxid); /* NULL: no such lease. */
/* An operator, or the servers, have taken the lease away before its time. */
bool sem_is_robbed(const struct attempt *a);
/* With one lease: another has acquired a later one already. */
bool sem_is_passed(int i);
/* Does a lock of the attempt stand? */
bool sem_has_lock(int i);
bool sem_is_kazoo(void); /* The names are Kazoo's. */
void semaphore_check(void);
void semaphore_owes(int proc, struct sim_debt *debt);
void semaphore_check_end(void);

/* ---- scene_semaphore_told.c ---- */

void semaphore_told(int i, evzk_semaphore_event event, int rc);
void semaphore_leases(int proc);
void semaphore_traced(int proc, const evzk_trace *t);
/* What a process leaves, that has let go of all. */
void semaphore_check_left(int proc);

#endif
