/* The wait graph: processes, and who waits for whom.
 *
 * A process is a session.  A waiter waits for all holders of the lock, and for
 * waiters ahead of it: one that does not read waits for what is right before it
 * in the queue, another that does not read or all readers up to the next that
 * does not; a reader waits for the nearest before it that does not read.  Waits
 * for those farther ahead follow from edge to edge.  Where the holders are very
 * many, only the first waiter has edges to them.
 *
 * Where a session has a contender farther ahead in the same queue, it waits for
 * itself: that is an edge from the process to itself.
 *
 * A circle stands still for ever, if each process in it does nothing before it
 * has what it waits for. */
#ifndef EVZK_COMMAND_WAITS_H
#define EVZK_COMMAND_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/evzk.h>

#include "contender.h"

struct process {
    int64_t session;
    struct identity who;
};

struct wait {
    size_t from, to; /* Processes. */
    char *path;      /* Of the lock. */
    int64_t age_ms;  /* Of the waiter. */
    /* The waiter needs any of several, as with the leases of a semaphore: no
     * part of a circle. */
    bool any;
    /* The process in `to` waits, too.  Shown only as a part of a circle. */
    bool ahead;
    bool circle; /* Set by waits_circles(). */
};

/* A semaphore's leases, or the first in its queue. */
struct turn {
    char *path; /* Of the semaphore. */
    size_t process;
    int64_t age_ms;
    bool lease;
};

struct waits {
    struct process *processes;
    struct wait *waits;
    struct turn *turns;
    size_t n_processes, n_waits, n_turns;
    size_t locks; /* Queues that had a holder. */
    void *by_session;
    bool failed; /* No memory. */
};

/* Adds the queue of a lock: all contenders at `path`, in order. */
void waits_add(struct waits *w, const char *path, const evzk_contender *v,
               size_t n);

/* Adds a lease of the semaphore of Kazoo at `path`. */
void waits_add_lease(struct waits *w, const char *path,
                     const evzk_contender *c);

/* Adds what semaphores make wait; when all queues were added. */
void waits_add_semaphores(struct waits *w);

/* Finds circles, and calls back for each: its `n` waits, one behind the other.
 * False: no memory. */
typedef void waits_circle_cb(struct wait *const *circle, size_t n, void *arg);
bool waits_circles(struct waits *w, waits_circle_cb *cb, void *arg);

void waits_free(struct waits *w);

#endif
