/* Queries, followers and writers of a value, as their files know them.  From
 * the ground up; no file calls one above it:
 *
 *   value/number.c  a counter's number, as text
 *   value/writes.c  the writes that wait, and their callbacks
 *   value/read.c    the table of queries and followers
 *   value/choose.c  what a writer does next
 *   value/make.c    the rows of a writer that make the value
 *   value/write.c   a writer's table
 *   value/calls.c   the calls of queries and followers
 *   value/writer.c  the calls of writers
 */
#ifndef EVZK_VALUE_INTERNAL_H
#define EVZK_VALUE_INTERNAL_H

#include <sys/queue.h>

#include "evzk/value.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/parts/history.h"
#include "recipes/parts/make.h"
#include "recipes/parts/receipt.h"
#include "recipes/parts/tidy.h"

/* ---- value/number.c ---- */

enum { EVZK__NUMBER_SIZE = 24 };

/* No data is 0.  False: the data is no number of 64 bits. */
bool evzk__number_parse(const void *data, size_t len, int64_t *n);
uint32_t evzk__number_print(char out[EVZK__NUMBER_SIZE], int64_t n);

/* False: the sum has more than 64 bits. */
bool evzk__number_add(int64_t *sum, int64_t n);

/* ---- value/read.c ---- */

/* What a query and a follower have in common. */
struct evzk__value_read {
    struct evzk__machine m; /* Its directory is the znode. */
    bool follows;
    /* Tells the value, or the end; may free the object. */
    void (*tell)(struct evzk__value_read *r, int rc, const evzk_value *v);
    bool told;
    bool over;        /* The end was told. */
    bool told_absent; /* The last thing told was that there is none. */
    int64_t newest;   /* The mzxid of the last value told; 0: none. */
    uint64_t print;   /* Of its data. */
    struct evzk__history history;
    evzk_value value; /* Of a query: the last answer. */
};

struct evzk_value_query {
    struct evzk__value_read r;
    evzk_value_query_cb *cb; /* NULL once the caller has freed the query. */
    void *arg;
};

struct evzk_value_follower {
    struct evzk__value_read r;
    evzk_value_follower_cb *cb;
    void *arg;
};

/* ---- value/writes.c ---- */

enum evzk__write_kind {
    EVZK__WRITE_SET,
    EVZK__WRITE_COMPARE,
    EVZK__WRITE_CREATE,
    EVZK__WRITE_ADD
};

struct evzk__write {
    TAILQ_ENTRY(evzk__write) link;
    enum evzk__write_kind kind;
    evzk_value_write_cb *cb; /* Or NULL. */
    void *arg;
    evzk_value_stamp stamp; /* COMPARE */
    int64_t delta;          /* ADD */
    uint32_t len;
    char data[];
};

enum {
    EVZK__WRITE_COST = 64, /* Of each write that waits, besides its data. */
    EVZK__ADDITIONS = 512, /* The most that go together. */
    EVZK__VALUE_NAME = 64  /* More than the receipt's name needs. */
};
#define EVZK__VALUE_RECEIPT_TAG "-receipt"

/* Steps of a writer's requests. */
enum { EVZK__VALUE_STEPS = 4 };

/* The value, or the znode above it. */
struct evzk__parent {
    bool exists;
    int64_t czxid;
    uint32_t deleted; /* Twice the children that were deleted so far. */
};

/* What SETTLING has read so far. */
struct evzk__settled {
    struct evzk__parent above, own;
    bool receipt; /* The receipt stands. */
    int refused;  /* Why a step was: nothing is proved. */
};

struct evzk_value_writer {
    struct evzk__machine m;       /* Its directory is the value's znode. */
    struct evzk__make make;       /* Makes the receipt. */
    struct evzk__receipt receipt; /* No name: there is none. */
    struct evzk__tidier tidier;
    evzk_value_writer_cb *cb; /* NULL once the caller has freed the writer. */
    void *arg;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
    char *above;                     /* Owned: the path of the znode above. */
    char nobody[EVZK__GUID_LEN + 1]; /* The name of a child that never is. */
    size_t one_bytes;                /* Of a transaction without data. */
    uint32_t lot;                    /* Does it tidy?  See parts/tidy.h. */

    /* What the user wants.  A writer that is canceled is `stopping`. */
    bool closing, canceled;

    TAILQ_HEAD(, evzk__write) writes; /* In order; owned. */
    size_t pending, pending_bytes, pending_max;

    /* The znode, as far as it is known. */
    bool fresh;  /* Read after the first write that waits was asked for. */
    bool absent; /* As read last; only while `fresh`. */
    bool known;  /* While the receipt has stood nobody else has written; or it
                    is not yet known that somebody has. */
    bool is_number;
    evzk_value_stamp stamp;
    int64_t number;
    struct evzk__parent above_seen; /* As FINDING read it last. */

    /* The transaction under way: of the first `batch` writes. */
    uint32_t batch;
    struct evzk__settled settled;
    int64_t start, sum; /* The number before it, and behind it. */
    char text[EVZK__NUMBER_SIZE];
    struct evzk__step steps[EVZK__VALUE_STEPS];
};

static inline struct evzk_value_writer *evzk__writer_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_value_writer, m);
}

static inline bool evzk__writer_has_receipt(const struct evzk_value_writer *w)
{
    return w->receipt.name != NULL;
}

/* A copy of the data; NULL: no memory. */
struct evzk__write *evzk__write_new(enum evzk__write_kind kind,
                                    const void *data, size_t len);
void evzk__write_add(struct evzk_value_writer *w, struct evzk__write *op);

/* Tells the first write.  The callback may ask for more, or free the writer. */
void evzk__write_answer(struct evzk_value_writer *w, int rc, int64_t number);

/* The transaction is over: tells all writes that were in it. */
void evzk__writes_done(struct evzk_value_writer *w);
void evzk__writes_failed(struct evzk_value_writer *w, int rc);

/* The writer ends with this result: tells all that wait. */
void evzk__writes_end(struct evzk_value_writer *w, int rc);
void evzk__writes_free(struct evzk_value_writer *w);

/* ---- value/choose.c ---- */

/* The next step of a writer. */
enum evzk__next {
    EVZK__NEXT_WAIT,  /* Nothing is to be done. */
    EVZK__NEXT_CLOSE, /* The writer is to end. */
    EVZK__NEXT_LOOK,  /* Reads the znode. */
    EVZK__NEXT_MAKE,  /* Makes the znode, and the receipt. */
    EVZK__NEXT_MAKE_PARENTS,
    EVZK__NEXT_RECEIPT, /* Makes the receipt. */
    EVZK__NEXT_WRITE
};

/* Tells writes that cannot be done, and chooses the next transaction. */
enum evzk__next evzk__writer_choose(struct evzk_value_writer *w);

/* The first write has made the znode, or was done by the transaction. */
void evzk__writer_note_done(struct evzk_value_writer *w, bool made);

/* ---- value/make.c ---- */

/* Where the table has the rows. */
enum evzk__value_state {
    EVZK__VALUE_IDLE,
    EVZK__VALUE_FINDING,
    EVZK__VALUE_MAKING,
    EVZK__VALUE_SETTLING,
    EVZK__VALUE_MAKING_PARENTS,
    EVZK__VALUE_CREATING,
    EVZK__VALUE_RESOLVING,
    EVZK__VALUE_ADOPTING,
    EVZK__VALUE_WRITING,
    EVZK__VALUE_DISCARDING,
    EVZK__VALUE_CLOSING,
    EVZK__VALUE_ENDED,
    EVZK__VALUE_STATES
};

void evzk__value_find(struct evzk__machine *m);
int evzk__value_found(struct evzk__machine *m, const struct evzk__event *e);
void evzk__value_make(struct evzk__machine *m);
int evzk__value_made(struct evzk__machine *m, const struct evzk__event *e);
void evzk__value_settle(struct evzk__machine *m);
int evzk__value_settled(struct evzk__machine *m, const struct evzk__event *e);
void evzk__value_make_parents(struct evzk__machine *m);
int evzk__value_parents_made(struct evzk__machine *m,
                             const struct evzk__event *e);

/* ---- value/write.c ---- */

extern const struct evzk__make_rows evzk__value_make_rows;
void evzk__writer_destroy(struct evzk_value_writer *w);

#endif
