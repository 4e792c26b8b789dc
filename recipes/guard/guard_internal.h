/* A guarded write.  The files from the ground up; no file calls one above it:
 *
 *   guard/versions.c  the versions of a write that is done
 *   guard/outcome.c   the outcome, told once
 *   guard/receipt.c   the receipt
 *   guard/write.c     the transaction
 *   guard/settle.c    what became of it, when its answer was lost
 *   guard/table.c     the table
 *   guard/calls.c     the calls
 */
#ifndef EVZK_GUARD_INTERNAL_H
#define EVZK_GUARD_INTERNAL_H

#include "evzk/guard.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

#define EVZK__GUARD_RECEIPT "-receipt"

/* As in the table (guard/table.c). */
enum {
    MARKING,
    MARKING_AGAIN,
    WRITING,
    SETTLING,
    CLEANING,
    CHECKING,
    ENDED,
    STATES
};

/* How often a receipt is made anew, or a write that was not done is sent
 * again. */
enum { EVZK__GUARD_TRIES = 8 };

/* The steps of the transaction: the receipt, the guard, the operations. */
enum { EVZK__GUARD_MARK, EVZK__GUARD_CHECK_IT, EVZK__GUARD_OPS };

struct evzk_guard {
    struct evzk__machine m; /* Its directory is that of the guard's znode. */
    evzk_guard_cb *cb;      /* NULL once the caller freed the write. */
    void *arg;

    /* The outcome as far as it is known, and whether it was told. */
    evzk_guard_outcome outcome;
    bool told;
    bool asked; /* The transaction is asked for; it was sent if the machine
                   awaits an answer. */
    int rc;     /* Of the outcome; EVZK_OK, and not DONE: the machine's. */
    int lost;   /* The last answer that left the outcome open; EVZK_OK: none. */
    int64_t zxid;
    size_t failed;

    /* The receipt: a fresh GUID, and what is behind it.  The transaction writes
     * this name to it. */
    char receipt[EVZK__NAME_MAX];
    bool may_stand; /* The receipt was asked for, and is not proved gone. */
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

/* ---- guard/versions.c ---- */

/* Notes the versions that the steps leave. */
void evzk__guard_foretell(struct evzk_guard *g);

/* ---- guard/outcome.c ---- */

/* Tells the outcome, unless it was told.  The machine stops, or has ended, if
 * it was not found out.  May free the write: touches nothing after. */
void evzk__guard_tell(struct evzk_guard *g);

void evzk__guard_note(struct evzk_guard *g, evzk_guard_outcome outcome, int rc);

void evzk__guard_note_done(struct evzk_guard *g, int64_t zxid);
/* Is the outcome that was noted the one to be told? */
bool evzk__guard_knows(const struct evzk_guard *g);

/* Notes it and goes on to CLEANING, which tells it. */
int evzk__guard_found_out(struct evzk_guard *g, evzk_guard_outcome outcome,
                          int rc);

/* ---- guard/receipt.c ---- */

void evzk__guard_mark(struct evzk__machine *m);
int evzk__guard_marked(struct evzk__machine *m, const struct evzk__event *e);

/* Somebody has deleted the receipt, or written to it, before the transaction:
 * nothing was done. */
int evzk__guard_mark_anew(struct evzk_guard *g, int rc);

/* Reads the receipt, behind all that the session ever wrote.  Is it the one
 * that this write has made? */
void evzk__guard_look(struct evzk__machine *m);
bool evzk__guard_owns(struct evzk_guard *g, const struct evzk__reply *reply);

void evzk__guard_clean(struct evzk__machine *m);
int evzk__guard_cleaned(struct evzk__machine *m, const struct evzk__event *e);
void evzk__guard_check(struct evzk__machine *m);
int evzk__guard_checked(struct evzk__machine *m, const struct evzk__event *e);

/* ---- guard/write.c ---- */

void evzk__guard_write(struct evzk__machine *m);
int evzk__guard_written(struct evzk__machine *m, const struct evzk__event *e);
/* Notes what the answer to the transaction says of the outcome. */
void evzk__guard_learn(struct evzk_guard *g, const struct evzk__reply *reply);

/* ---- guard/settle.c ---- */

/* Notes what the receipt says of the outcome. */
void evzk__guard_learn_late(struct evzk_guard *g,
                            const struct evzk__reply *reply);

int evzk__guard_settled(struct evzk__machine *m, const struct evzk__event *e);

/* ---- guard/table.c ---- */

void evzk__guard_destroy(struct evzk__machine *m);

/* The receipt, if it may be left when the write has ended. */
bool evzk__guard_left(struct evzk__machine *m, unsigned i,
                      struct evzk__left *out);

#endif
