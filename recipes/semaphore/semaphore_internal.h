/* An attempt to hold a lease of a semaphore, as its calls (semaphore/calls.c)
 * and its states know it.  The table is in semaphore/table.c. */
#ifndef EVZK_SEMAPHORE_INTERNAL_H
#define EVZK_SEMAPHORE_INTERNAL_H

#include "evzk/lock.h"
#include "evzk/semaphore.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

enum {
    QUEUEING,
    COUNTING,
    MAKING_DIR,
    WAITING,
    TAKING,
    ADOPTING,
    CONFIRMING,
    HELD,
    VERIFYING,
    CHECKING,
    DELETING,
    WITHDRAWING,
    ENDED,
    STATES
};

/* The path watches: on its own lease, and on the children of `leases`. */
enum { ON_OWN = EVZK__PATH, ON_LEASES, WATCHES = 2 };

/* The report to the user; a later value is never followed by an earlier one. */
enum evzk__semaphore_report {
    SEMAPHORE_NOTHING,
    SEMAPHORE_FAILED, /* FAILED was told, ahead of the end. */
    SEMAPHORE_ACQUIRED,
    SEMAPHORE_RELEASE, /* The user has released it: RELEASED is to be told. */
    SEMAPHORE_LOST     /* LOST was told, ahead of the end. */
};

/* The names below the semaphore's path.  Kazoo's leases have that path itself
 * for their directory, and its lock's directory is beside it. */
#define EVZK__SEMAPHORE_LOCKS "/locks"
#define EVZK__SEMAPHORE_LEASES "/leases"
#define EVZK__SEMAPHORE_LEASE "-lease-"
#define EVZK__SEMAPHORE_KAZOO_LOCKS "-__lock__"

struct evzk_semaphore {
    struct evzk__machine m; /* Its directory is that of the leases. */
    struct evzk__path_watch watch[WATCHES];
    evzk_semaphore_cb *cb; /* NULL once the caller freed it. */
    void *arg;
    uint8_t reported; /* enum evzk__semaphore_report */
    bool try_once;
    bool canceled; /* By its user, before it was acquired. */
    evzk_dialect dialect;
    uint32_t leases;      /* n */
    char number[12];      /* n, as the data of Kazoo's directory. */
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned; NULL: the session's. */
    uint32_t len;

    /* Its turn: a lock, acquired as any program would. */
    evzk_lock *turn;     /* Owned; NULL: none. */
    bool has_turn;       /* The lock was granted. */
    bool turn_lost;      /* The lock ended after it was granted, .. */
    int turn_rc;         /* .. or before; and why. */
    evzk_lock *old_turn; /* Owned: was lost, and is about to delete its znode;
                            or NULL. */
    int left_rc;     /* Its last lock has ended so, and its znode may stand: the
                        session deletes that; or EVZK_OK. */
    int requeued_rc; /* REQUEUED is to be told, with this; or EVZK_OK. */
    char *turn_path; /* Owned: of the lock's directory. */
    char *turn_node; /* Owned: room for the path of the lock's znode. */
    struct evzk__timer *again; /* Owned: asks for the turn again. */

    /* Its lease. */
    char name[EVZK__NAME_MAX]; /* "": none was ever asked for. */
    bool may_stand;    /* The lease was asked for, and no server has said
                          that it is gone. */
    uint64_t token;    /* The znode's czxid; 0: not known. */
    evzk_lease *lease; /* For other threads, with a reference; or NULL:
                          never asked for. */
    int32_t version;   /* Of the directory, when they were counted. */
    bool other_number; /* Kazoo's directory says another number than n. */
    struct evzk__step step[3]; /* The request's, until the last answer. */
};

static inline struct evzk_semaphore *evzk__semaphore_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_semaphore, m);
}

/* ACQUIRED was told, whatever came after. */
static inline bool evzk__semaphore_acquired(const struct evzk_semaphore *p)
{
    return p->reported >= SEMAPHORE_ACQUIRED;
}

/* semaphore/common.c */

/* Tells an event, unless the end was told; may free the attempt. */
void evzk__semaphore_tell(struct evzk_semaphore *p, evzk_semaphore_event ev,
                          int rc);
/* Tells the end now; the work on the server goes on. */
void evzk__semaphore_end_early(struct evzk_semaphore *p, int rc);
void evzk__semaphore_end(struct evzk__machine *m);
void evzk__semaphore_on_deadline(struct evzk__machine *m);
void evzk__semaphore_detach(struct evzk__machine *m);
void evzk__semaphore_over(struct evzk__machine *m);
void evzk__semaphore_destroy(struct evzk__machine *m);
/* What an attempt may have left when it has ended. */
bool evzk__semaphore_left(struct evzk__machine *m, unsigned i,
                          struct evzk__left *out);

/* What znodes and directories are made with. */
struct evzk__create_args evzk__semaphore_args(struct evzk_semaphore *p);

/* Does this stat belong to its own lease? */
bool evzk__semaphore_owns(struct evzk_semaphore *p,
                          const struct evzk__stat *stat);

/* semaphore/turn.c: the lock; QUEUEING and WITHDRAWING */
void evzk__semaphore_queue(struct evzk__machine *m);
int evzk__semaphore_queued(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__semaphore_withdraw(struct evzk__machine *m);
int evzk__semaphore_withdrew(struct evzk__machine *m,
                             const struct evzk__event *e);
/* Gives the turn to the next one. */
void evzk__semaphore_pass_on(struct evzk_semaphore *p);
/* The servers say that its turn is lost, ahead of the lock. */
void evzk__semaphore_turn_gone(struct evzk_semaphore *p);
/* Its turn is lost, or its lease is gone before it was told: counts again if it
 * still has the turn, or queues again. */
int evzk__semaphore_requeue(struct evzk_semaphore *p, int rc);
/* Nothing of the lease is left: ends, when the turn has ended, too. */
int evzk__semaphore_finish(struct evzk_semaphore *p, int rc);
/* The timer: asks for the turn again. */
void evzk__semaphore_again(void *semaphore);

/* semaphore/enter.c: from COUNTING to ADOPTING */
void evzk__semaphore_count(struct evzk__machine *m);
int evzk__semaphore_counted(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__semaphore_make_dir(struct evzk__machine *m);
int evzk__semaphore_dir_made(struct evzk__machine *m,
                             const struct evzk__event *e);
void evzk__semaphore_wait(struct evzk__machine *m);
int evzk__semaphore_waited(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__semaphore_take(struct evzk__machine *m);
int evzk__semaphore_taken(struct evzk__machine *m, const struct evzk__event *e);
void evzk__semaphore_look(struct evzk__machine *m);
int evzk__semaphore_adopted(struct evzk__machine *m,
                            const struct evzk__event *e);

/* semaphore/held.c: from CONFIRMING to DELETING */
void evzk__semaphore_confirm(struct evzk__machine *m);
int evzk__semaphore_confirmed(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__semaphore_hold(struct evzk__machine *m);
int evzk__semaphore_still_held(struct evzk__machine *m,
                               const struct evzk__event *e);
void evzk__semaphore_verify(struct evzk__machine *m);
int evzk__semaphore_verified(struct evzk__machine *m,
                             const struct evzk__event *e);
void evzk__semaphore_check(struct evzk__machine *m);
int evzk__semaphore_checked(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__semaphore_drop(struct evzk__machine *m);
int evzk__semaphore_dropped(struct evzk__machine *m,
                            const struct evzk__event *e);

#endif
