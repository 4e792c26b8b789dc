/* One operation on a barrier, as its calls (barrier/calls.c) and its tables
 * (set.c, lift.c, wait.c) know it. */
#ifndef EVZK_BARRIER_INTERNAL_H
#define EVZK_BARRIER_INTERNAL_H

#include "evzk/barrier.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

struct evzk_barrier {
    struct evzk__machine m; /* Its directory is the barrier's znode. */
    evzk_barrier_cb *cb;    /* NULL once the caller freed it. */
    void *arg;
    /* Of the znode that a lift deletes, or that a wait has first seen; 0: none
     * was seen yet. */
    int64_t czxid;
    char nobody[EVZK__GUID_LEN + 1]; /* The name of a child that never is. */
    struct evzk__step
        steps[3]; /* The request's steps, until the last answer. */
    /* Of a set. */
    char *above;          /* Owned: the path of the znode above. */
    int64_t above_pzxid;  /* Before the create was sent; -1: it was missing. */
    bool nothing_made;    /* The pzxid has not changed since. */
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned; NULL: the session's. */
    uint32_t len;
};

static inline struct evzk_barrier *evzk__barrier_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_barrier, m);
}

/* What all three do: the end is told, the deadline passes, memory goes. */
void evzk__barrier_end(struct evzk__machine *m);
void evzk__barrier_late(struct evzk__machine *m);
void evzk__barrier_destroy(struct evzk__machine *m);

#endif
