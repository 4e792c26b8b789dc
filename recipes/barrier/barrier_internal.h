/* One operation on a barrier, as its calls (barrier/calls.c) and its tables
 * (set.c, lift.c, wait.c) know it. */
#ifndef EVZK_BARRIER_INTERNAL_H
#define EVZK_BARRIER_INTERNAL_H

#include "evzk/barrier.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

struct evzk_barrier {
    struct evzk__machine m; /* Its directory is the barrier's znode. */
    evzk_barrier_cb *cb;    /* NULL once the caller freed the operation. */
    void *arg;
    /* Of a lift: the czxid of the znode that the lift deletes.  Of a wait: of
     * the first barrier that the wait has seen.  0: no znode was seen yet. */
    int64_t czxid;
    char nobody[EVZK__GUID_LEN + 1]; /* The name of a child that never is. */
    struct evzk__step
        steps[3]; /* The request's steps, until the last answer. */
    /* Of a wait: an event came before the last look was answered. */
    bool fired_early;
    /* Of a set. */
    bool nothing_made;    /* The pzxid of the znode above is still that. */
    int64_t above_pzxid;  /* As read before the create; -1: no such znode. */
    char *above;          /* Owned: the path of the znode above. */
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned; NULL: the session's. */
    uint32_t len;
};

static inline struct evzk_barrier *evzk__barrier_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_barrier, m);
}

/* The same in the tables of all three: tells the end; the deadline has passed;
 * frees the memory. */
void evzk__barrier_end(struct evzk__machine *m);
void evzk__barrier_on_deadline(struct evzk__machine *m);
void evzk__barrier_on_stop(struct evzk__machine *m,
                           const struct evzk__reply *reply);
void evzk__barrier_destroy(struct evzk__machine *m);

#endif
