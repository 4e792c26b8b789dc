/* A guarded write, as its calls (guard/calls.c) and its table (guard/write.c)
 * know it. */
#ifndef EVZK_GUARD_INTERNAL_H
#define EVZK_GUARD_INTERNAL_H

#include "evzk/guard.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

#define EVZK__GUARD_RECEIPT "-receipt"

/* The steps of the transaction: the receipt, the guard, the operations. */
enum { EVZK__GUARD_MARK, EVZK__GUARD_CHECK_IT, EVZK__GUARD_OPS };

struct evzk_guard {
    struct evzk__machine m; /* Its directory is that of the guard's znode. */
    evzk_guard_cb *cb;      /* NULL once the caller freed the write. */
    void *arg;

    /* The outcome as far as it is known, and whether it was told. */
    evzk_guard_outcome outcome;
    bool told;
    int rc; /* Of the outcome; EVZK_OK, and not DONE: the machine's. */
    int64_t zxid;
    size_t failed;

    /* The receipt: a fresh GUID, and what is behind it.  The transaction writes
     * this name to it. */
    char receipt[EVZK__NAME_MAX];
    struct evzk__acl acl; /* Owned; empty: the session's. */

    struct evzk__step look[2];   /* Of SETTLING and CHECKING. */
    char nobody[EVZK__NAME_MAX]; /* The name of a znode that never is. */
    char *guard;                 /* Owned: the name of the guard's znode. */
    struct evzk__acl *acls;      /* Owned: of each operation. */
    int32_t *versions;           /* Owned: for the result. */
    size_t n;                    /* Operations. */
    struct evzk__step step[];    /* EVZK__GUARD_OPS more than operations. */
};

static inline struct evzk_guard *evzk__guard_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_guard, m);
}

/* guard/write.c */
void evzk__guard_destroy(struct evzk__machine *m);

#endif
