/* A producer, as its files know it.  From the ground up; no file calls one
 * above it:
 *
 *   producer/puts.c    the puts that wait, and their callbacks
 *   producer/tails.c   the last segment of each priority
 *   producer/batch.c   which items go into the next transaction
 *   producer/steps.c   the transactions, as steps
 *   producer/table.c   the table
 *   producer/calls.c   the calls
 */
#ifndef EVZK_PRODUCER_INTERNAL_H
#define EVZK_PRODUCER_INTERNAL_H

#include <sys/queue.h>

#include "evzk/producer.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/parts/make.h"
#include "recipes/parts/queue_layout.h"
#include "recipes/parts/receipt.h"

/* How much goes together.  Tests set smaller numbers, before they start any
 * producer. */
struct evzk__producer_limits {
    uint32_t segment_items; /* From so many on a segment is sealed. */
    uint32_t batch_items;   /* The most items of a transaction. */
    uint32_t first_items;   /* The same, for a segment of which it is not known
                               how full it is. */
    size_t batch_bytes;     /* Of a transaction of several items. */
    uint32_t plain_items;   /* The most items of a plain queue. */
};
extern struct evzk__producer_limits evzk__producer_limits;

enum {
    EVZK__ITEM_COST = 64,  /* Of each item that waits, besides its data. */
    EVZK__TARGETS = 8,     /* Priorities in one transaction. */
    EVZK__TARGET_PATHS = 3 /* A transaction names so many znodes of each. */
};

/* ---- producer/puts.c ---- */

struct evzk__put {
    TAILQ_ENTRY(evzk__put) link;
    evzk_put_cb *cb; /* Or NULL. */
    void *arg;
    size_t n, done; /* Items; of these the first `done` are in the queue. */
    size_t bytes;   /* As they count against pending_max. */
    evzk_put_item item[]; /* Behind them, in the same block, their data. */
};

/* ---- producer/tails.c ---- */

enum evzk__tail_state {
    EVZK__TAIL_ABSENT, /* The priority has no segment. */
    EVZK__TAIL_FOUND,  /* Was only listed so far: may be full. */
    EVZK__TAIL_OPEN,
    EVZK__TAIL_FULL,  /* Is to be sealed. */
    EVZK__TAIL_SEALED /* Its `open` is gone. */
};

/* The segment with the greatest number. */
struct evzk__tail {
    enum evzk__tail_state state;
    uint32_t number;
    uint32_t items; /* So many numbers were given there, at least. */
    /* Between two answers to the producer, so many items were its own, and so
     * many others'.  Also in the segment before. */
    uint32_t own, others;
};

/* ---- producer/batch.c ---- */

/* A segment, or a priority of a plain queue, that a transaction puts into. */
struct evzk__target {
    uint32_t priority;
    uint32_t items;                 /* Of this transaction. */
    char *path[EVZK__TARGET_PATHS]; /* In the producer's `names`. */
    char made[EVZK__SEGMENT_NAME];  /* The name of its last item. */
};

/* The first items that wait. */
struct evzk__batch {
    uint32_t items, n_targets;
    size_t bytes;
    bool asked; /* Its items may be on their way. */
};

struct evzk_producer {
    struct evzk__machine m; /* Its directory is that of the receipts. */
    struct evzk__make make; /* Makes the receipt. */
    struct evzk__receipt receipt;
    evzk_producer_cb *cb; /* NULL once the caller has freed the producer. */
    void *arg;
    evzk_queue_layout layout;
    bool ephemeral;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
    char *path; /* Owned: of the queue. */

    /* What the user wants.  A producer that is canceled is `stopping`. */
    bool closing, canceled;

    TAILQ_HEAD(, evzk__put) puts; /* In order; owned. */
    size_t pending_items, pending_bytes, pending_max;

    /* The queue, as far as it is known. */
    bool tails_known; /* By a listing; and nothing has spoken against it. */
    bool has_signal;
    bool dir_missing; /* Of a plain queue: its directory. */
    bool known_ours; /* Of a plain queue: no other library's items are there. */
    uint32_t room;   /* Of a plain queue: so many items may be put, before it is
                        looked at again. */
    char first[EVZK__QUEUE_NAME]; /* Of a plain queue: the name of an item. */
    struct evzk__tail tail[EVZK_QUEUE_PRIORITIES];

    /* The next transaction, which may be under way. */
    struct evzk__batch batch;
    bool alone; /* Only items of the first put: a transaction of several puts
                   was refused. */
    struct evzk__target target[EVZK__TARGETS];
    size_t most_bytes; /* Of a transaction of several items: a larger one was
                          too large for the servers. */
    size_t one_bytes, item_bytes; /* Of a transaction of one empty item; what
                                     each further item adds. */
    char *names;                  /* Owned: the paths of the targets. */
    char *signal;                 /* In `names`. */
    struct evzk__step *steps;     /* Owned. */
    uint32_t n_steps;
};

static inline struct evzk_producer *evzk__producer_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_producer, m);
}

static inline bool evzk__producer_is_plain(const struct evzk_producer *p)
{
    return evzk__queue_is_plain(p->layout);
}

/* ---- producer/puts.c ---- */

/* A copy of the items; NULL: no memory. */
struct evzk__put *evzk__put_new(const evzk_put_item *items, size_t n);
void evzk__put_add(struct evzk_producer *p, struct evzk__put *put);

/* The transaction is over, and its items are in the queue: tells the puts that
 * are complete.  The callbacks may put more, or free the producer. */
void evzk__puts_done(struct evzk_producer *p);

/* No item is in the queue of what is left of the first put; or of the first
 * puts, which have items in the transaction. */
void evzk__puts_refused(struct evzk_producer *p, int rc);
void evzk__puts_unknown(struct evzk_producer *p, int rc);

/* The producer has ended, and `rc` says why: tells all puts. */
void evzk__puts_end(struct evzk_producer *p, int rc);
void evzk__puts_free(struct evzk_producer *p);

/* ---- producer/tails.c ---- */

/* The segments were listed. */
void evzk__tails_found(struct evzk_producer *p,
                       const struct evzk__names *names);

/* Is there no number left for the segment that must be made? */
bool evzk__tail_is_last(const struct evzk__tail *t);
/* Must a segment be made before anything can be put into it? */
bool evzk__tail_is_short(const struct evzk__tail *t);
/* The segment that is to be made next; and it is made. */
uint32_t evzk__tail_next(const struct evzk__tail *t);
void evzk__tail_extended(struct evzk__tail *t);

/* How many items may go there in one transaction. */
uint32_t evzk__tail_room(const struct evzk__tail *t);
/* `n` items were put there; the last of them was given this name, or "": nobody
 * knows. */
void evzk__tail_filled(struct evzk__tail *t, uint32_t n, const char *name);

/* A plain queue has so many children: its room.  False: it is full. */
bool evzk__plain_found(struct evzk_producer *p, uint32_t children);

/* ---- producer/batch.c ---- */

/* Chooses the items of the next transaction.  At least one item waits. */
void evzk__batch_choose(struct evzk_producer *p);
/* Is there no number left for a segment that must be made? */
bool evzk__batch_is_at_end(const struct evzk_producer *p);
/* Must a segment, the signal, or the directory be made first? */
bool evzk__batch_lacks(const struct evzk_producer *p);
/* The servers hang up at it, each time: fewer items go together from now on.
 * False: it has one item. */
bool evzk__batch_halve(struct evzk_producer *p);

/* ---- producer/steps.c ---- */

/* Memory for the steps, which needs the path: EVZK_OK or EVZK_ERR_NOMEM.  The
 * bytes of a transaction, which need the ACL, too. */
int evzk__steps_allocate(struct evzk_producer *p);
void evzk__steps_measure(struct evzk_producer *p, const evzk_session *s);
/* Asks for the transaction that makes what is missing; or puts the items. */
void evzk__steps_extend(struct evzk_producer *p);
void evzk__steps_put(struct evzk_producer *p);
/* The step that has failed was to put an item: the tail of its segment; or
 * NULL.
 */
struct evzk__tail *evzk__steps_item_of(struct evzk_producer *p, uint32_t part);
/* The step that has failed was about `open` of the last segment of a priority:
 * that tail; or NULL.  Was it about `signal`? */
struct evzk__tail *evzk__steps_tail_of(struct evzk_producer *p, uint32_t part);
bool evzk__steps_is_signal(const struct evzk_producer *p, uint32_t part);

/* ---- producer/table.c ---- */

void evzk__producer_destroy(struct evzk_producer *p);

/* For evzk__make_init(). */
extern const struct evzk__make_rows evzk__producer_make_rows;

#endif
