/* Chubby's interface.  The files from the ground up; no file calls one above
 * it, but through the functions that a handle gives to its lock:
 *
 *   chubby/names.c      names of znodes, and sequencers as texts
 *   chubby/event.c      names of events
 *   chubby/lock.c       the lock in its queue
 *   chubby/marks.c      the marks of the lock-delay
 *   chubby/lock_table.c the table of a lock with its lock-delay
 *   chubby/check.c      the table of a question about a sequencer
 *   chubby/find.c       the table of a search for the file's anchor
 *   chubby/ops.c        the operations that are outstanding
 *   chubby/tell.c       what a handle tells
 *   chubby/read.c       operations that read
 *   chubby/write.c      operations that write
 *   chubby/hold.c       operations on the lock
 *   chubby/sequencer.c  operations about sequencers
 *   chubby/follow.c     the copy of the file, and of the lock's queue
 *   chubby/begin.c      begins operations, in order
 *   chubby/create.c     the rows that make the file
 *   chubby/table.c      the table of a handle
 *   chubby/calls.c      the calls
 */
#ifndef EVZK_CHUBBY_INTERNAL_H
#define EVZK_CHUBBY_INTERNAL_H

#include <sys/queue.h>

#include "evzk/cache.h"
#include "evzk/chubby.h"
#include "evzk/guard.h"
#include "evzk/lock.h"
#include "evzk/value.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "lib/machine/refuse.h"
#include "recipes/chubby/chubby_lock.h"
#include "recipes/chubby/names.h"
#include "recipes/parts/watch_node.h"

/* ---- chubby/check.c ---- */

struct evzk__check;
typedef void evzk__check_cb(void *arg, int rc, const struct evzk__sequencer *q);

/* Asks the leader whether the sequencer, which is taken over in any case, is
 * valid: EVZK_OK, EVZK_ERR_NODEGONE, or an error.  The callback may free the
 * check. */
int evzk__check_start(evzk_session *s, struct evzk__sequencer *q,
                      evzk__check_cb *cb, void *arg, struct evzk__check **out);
void evzk__check_free(struct evzk__check *c);

/* ---- chubby/find.c ---- */

struct evzk__finder;
/* `anchor` is "" if there is none; it is borrowed for the call.
 * EVZK_ERR_NODEGONE: the file is not this instance any more. */
typedef void evzk__found_cb(void *arg, int rc, const char *anchor);

/* Looks in the directory for the anchor of a file with this czxid. */
int evzk__finder_start(evzk_session *s, const char *dir, const char *path,
                       int64_t instance, evzk__found_cb *cb, void *arg,
                       struct evzk__finder **out);
void evzk__finder_free(struct evzk__finder *f);

/* ---- chubby/ops.c ---- */

enum evzk__chubby_op_kind {
    OP_GET,
    OP_STAT,
    OP_READ_DIR,
    OP_SET,
    OP_DELETE,
    OP_ACQUIRE,
    OP_RELEASE,
    OP_SET_SEQUENCER,
    OP_CHECK_SEQUENCER
};

struct evzk__chubby_op {
    TAILQ_ENTRY(evzk__chubby_op) link;
    struct evzk_chubby *h;
    enum evzk__chubby_op_kind kind;
    evzk_chubby_done_cb *done;
    void *arg;
    bool begun;            /* Its question is under way. */
    bool refused;          /* A SetSequencer before it has failed. */
    bool latest;           /* GET, STAT */
    bool shared, try_once; /* ACQUIRE */
    int32_t gen;           /* SET */
    size_t blame; /* SET, DELETE: checks before the operation itself. */
    /* SET, DELETE: the znode of the lock that was held at the call; or "". */
    char lock_node[EVZK__NAME_MAX];
    evzk_value_query *query; /* Owned, as the rest. */
    evzk_cache *list;
    evzk_guard *guard;
    struct evzk__check *check;
    struct evzk__sequencer sequencer;
    uint32_t len;
    char data[];
};

/* Adds an operation.  EVZK_OK, EVZK_ERR_NOMEM. */
int evzk__chubby_op_add(struct evzk_chubby *h, enum evzk__chubby_op_kind kind,
                        const void *data, size_t len, evzk_chubby_done_cb *done,
                        void *arg, struct evzk__chubby_op **out);
/* Room for one; evzk__chubby_op_put() makes it outstanding. */
struct evzk__chubby_op *evzk__chubby_op_new(enum evzk__chubby_op_kind kind,
                                            const void *data, size_t len);
void evzk__chubby_op_put(struct evzk_chubby *h, struct evzk__chubby_op *op,
                         evzk_chubby_done_cb *done, void *arg);
/* Tells its end, and frees it.  `a` may be NULL.  The user may free the handle.
 */
void evzk__chubby_op_answer(struct evzk__chubby_op *op, int rc,
                            const evzk_chubby_answer *a);
/* The first one of a kind; NULL: none. */
struct evzk__chubby_op *evzk__chubby_op_find(struct evzk_chubby *h,
                                             enum evzk__chubby_op_kind kind);
/* Ends all of them.  Writes under way end soon; or, with `at_once`, now, and
 * their outcome is not known. */
void evzk__chubby_ops_end(struct evzk_chubby *h, int rc, bool at_once);
void evzk__chubby_ops_free(struct evzk_chubby *h);

/* ---- The handle. ---- */

/* As in the table (chubby/table.c). */
enum evzk__chubby_state {
    EVZK__CHUBBY_CREATING,
    EVZK__CHUBBY_MAKING_DIR,
    EVZK__CHUBBY_RESOLVING,
    EVZK__CHUBBY_FOLLOWING,
    EVZK__CHUBBY_OPEN,
    EVZK__CHUBBY_CLOSING,
    EVZK__CHUBBY_ENDED,
    EVZK__CHUBBY_STATES
};

/* How often a file, or its directory, is made that goes away again at once. */
enum { EVZK__CHUBBY_TRIES = 8 };

/* Is the file's anchor known? */
enum evzk__anchored { ANCHOR_UNKNOWN, ANCHOR_KNOWN, ANCHOR_NONE };

/* Sequencers of the handle's own file that the leader has found valid: the last
 * few. */
enum { EVZK__CHUBBY_KNOWN = 8 };
struct evzk__known {
    unsigned n; /* How many there were. */
    struct evzk__known_one {
        char node[EVZK__NAME_MAX];
        int64_t czxid;
        bool seen; /* In the copy of the queue, since it is known. */
    } v[EVZK__CHUBBY_KNOWN];
};

enum evzk__sequenced { SEQ_NONE, SEQ_ASKED, SEQ_SET };

struct evzk_chubby {
    struct evzk__machine m; /* Its directory is that of the lock. */
    evzk_chubby_cb *cb;     /* NULL once the caller freed the handle. */
    void *arg;
    char *path; /* Owned: of the file. */

    /* Options. */
    evzk_chubby_create create;
    bool ephemeral, read_only, children, lock_events;
    uint32_t delay_ms;
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned: of the file that is made. */
    uint32_t data_len;

    /* The events told so far, and the wishes of the user. */
    bool opened, created, jeopardy, invalid_told, poisoned, closes;
    int invalid; /* Why the handle is invalid; or EVZK_OK. */
    int tries;   /* How often the file, or its directory, went away again. */

    /* The file. */
    evzk_cache *copy; /* Owned. */
    bool copy_ready;
    int copy_rc; /* The copy has ended. */
    int64_t instance, owner;
    int64_t read_at; /* The newest change that was read by the servers. */
    enum evzk__anchored anchored;
    char anchor[EVZK__NAME_MAX];
    char nobody[EVZK__GUID_LEN + 1];
    struct evzk__step step[2];
    struct evzk__finder *finder; /* Owned; NULL: none is under way. */
    int found_rc;                /* With which it has failed. */

    TAILQ_HEAD(, evzk__chubby_op) ops; /* Owned. */
    size_t n_ops;

    /* The lock. */
    struct evzk__chubby_lock *lock; /* NULL: none. */
    int lock_rc;                    /* With which the last one ended. */
    struct evzk__old_marks *old;    /* Owned; the last one's; or NULL. */
    evzk_cache *queue;              /* Owned: names; NULL: not followed. */
    bool queue_changed;             /* Since it was looked at last. */
    int32_t conflict; /* The last number of which CONFLICT was told. */
    char first[EVZK__NAME_MAX]; /* In front of the queue. */
    struct evzk__known *known;  /* Owned; NULL: none so far. */
    int64_t newest;             /* The czxid of the newest exclusive one. */

    /* Of this handle. */
    enum evzk__sequenced sequenced;
    struct evzk__sequencer sequencer;
    struct evzk__node_watch *sequencer_watch;
};

static inline struct evzk_chubby *evzk__chubby_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_chubby, m);
}

/* The work that a part's callback brings is the library's time, between these;
 * and the handle stays in memory, whatever its user does. */
struct evzk__inside {
    evzk_session *s;
    int64_t begun;
};
static inline struct evzk__inside evzk__chubby_in(struct evzk_chubby *h)
{
    evzk_session *s = evzk__machine_session(&h->m);

    h->m.refs++;
    return (struct evzk__inside){s, evzk__machine_call_in(s)};
}
static inline void evzk__chubby_out(struct evzk_chubby *h,
                                    struct evzk__inside in)
{
    evzk__machine_called_in(in.s, in.begun);
    evzk__machine_unref(&h->m);
}

/* ---- chubby/tell.c ---- */

/* May free the handle. */
void evzk__chubby_tell(struct evzk_chubby *h, evzk_chubby_event ev, int rc,
                       const char *name);
/* Notes that the handle is invalid: told in a later turn. */
void evzk__chubby_spoil(struct evzk_chubby *h, int rc);

/* ---- chubby/read.c, write.c, hold.c, sequencer.c ---- */

/* Begin an operation, or answer it. */
void evzk__chubby_op_read(struct evzk__chubby_op *op);
void evzk__chubby_op_read_dir(struct evzk__chubby_op *op);
void evzk__chubby_op_write(struct evzk__chubby_op *op);
void evzk__chubby_op_set_sequencer(struct evzk__chubby_op *op);
void evzk__chubby_op_check_sequencer(struct evzk__chubby_op *op);
void evzk__chubby_op_acquire(struct evzk__chubby_op *op);
void evzk__chubby_drop_sequencer(struct evzk_chubby *h);

/* ---- chubby/follow.c ---- */

int evzk__chubby_follow(struct evzk_chubby *h);
int evzk__chubby_follow_queue(struct evzk_chubby *h);
/* Tells what has changed in the queue, once the copy of it is whole;
 * `acquired`: or since this handle has got the lock just now. */
void evzk__chubby_look_at_queue(struct evzk_chubby *h, bool acquired);

/* ---- chubby/begin.c ---- */

/* Is the handle still as it was, when a callback has returned? */
bool evzk__chubby_goes_on(const struct evzk_chubby *h);
void evzk__chubby_begin_all(struct evzk_chubby *h);

/* ---- chubby/create.c ---- */

void evzk__chubby_create(struct evzk__machine *m);
int evzk__chubby_created_it(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__chubby_make_dir(struct evzk__machine *m);
int evzk__chubby_dir_made(struct evzk__machine *m, const struct evzk__event *e);
void evzk__chubby_resolve(struct evzk__machine *m);
int evzk__chubby_resolved(struct evzk__machine *m, const struct evzk__event *e);

/* ---- chubby/calls.c ---- */

/* A public function that was called, for what it refuses; `h` may be NULL. */
static inline struct evzk__call evzk__chubby_call(const struct evzk_chubby *h,
                                                  const char *function)
{
    return evzk__call_of(h ? evzk__machine_session(&h->m) : NULL, function);
}

/* Why the handle takes no call any more; or EVZK_OK. */
static inline int evzk__chubby_gone(const struct evzk_chubby *h)
{
    if (evzk__machine_in_child(&h->m))
        return EVZK_ERR_FORKED;
    return h->m.place.ended || h->m.stopping || h->closes ? EVZK_ERR_STATE
                                                          : EVZK_OK;
}

/* ---- chubby/table.c ---- */

void evzk__chubby_destroy(struct evzk__machine *m);

#endif
