/* A multi-lock, as its calls (multi_lock/calls.c), its parts
 * (multi_lock/parts.c) and its states (multi_lock/table.c) know it. */
#ifndef EVZK_MULTI_LOCK_INTERNAL_H
#define EVZK_MULTI_LOCK_INTERNAL_H

#include "evzk/multi_lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

/* The state of a part's lock. */
enum part_state {
    PART_NONE,  /* There is no lock, or nothing is left of it. */
    PART_WAITS, /* In the queue, or on its way there. */
    PART_HELD,
    PART_LEAVES /* Was lost, or asked to go: its end is awaited. */
};

struct multi_part {
    struct evzk_multi_lock *all;
    evzk_lock *lock; /* Owned; NULL: NONE. */
    char *path;      /* Owned. */
    uint64_t token;  /* Of the last grant. */
    uint16_t index;  /* In the caller's list. */
    uint8_t mode;    /* evzk_lock_mode */
    uint8_t state;   /* PART_* */
};

/* The report to the user; a later value is never followed by an earlier one. */
enum multi_report {
    MULTI_NOTHING,
    MULTI_FAILED, /* FAILED was told. */
    MULTI_GRANTED,
    MULTI_RELEASE, /* The user has released it: RELEASED is to be told. */
    MULTI_LOST     /* LOST or RELEASED was told. */
};

struct evzk_multi_lock {
    struct evzk__machine m; /* Its directory is that of its first part. */
    evzk_multi_lock_cb *cb; /* NULL once the caller freed it. */
    void *arg;
    uint8_t reported; /* enum multi_report */
    bool try_once;
    bool leaves; /* Ends, with `rc`, when nothing is left of any part. */
    int rc;
    int failed;           /* By which a part failed, or stands; or EVZK_OK. */
    int lost;             /* By which a part was lost before GRANTED; .. */
    int requeued;         /* .. with which REQUEUED is to be told. */
    uint16_t blame;       /* Index of the part that .. ; or n_parts. */
    struct evzk__acl acl; /* Owned; empty: the session's. */
    void *data;           /* Owned; NULL: the session's. */
    uint32_t len;
    struct evzk__timer *again; /* Owned: begins a part's lock again. */
    uint16_t n_parts;
    struct multi_part part[]; /* In the order of their paths. */
};

static inline struct evzk_multi_lock *
evzk__multi_lock_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_multi_lock, m);
}

/* GRANTED was told, whatever came after. */
static inline bool evzk__multi_lock_granted(const struct evzk_multi_lock *p)
{
    return p->reported >= MULTI_GRANTED;
}

/* multi_lock/common.c */

/* The first part that is not held; NULL: all are. */
struct multi_part *evzk__multi_lock_next(struct evzk_multi_lock *p);
/* Tells an event, unless the end was told; may free the multi-lock. */
void evzk__multi_lock_tell(struct evzk_multi_lock *p, evzk_multi_lock_event ev,
                           int rc);
/* Tells the end; the work on the server may go on. */
void evzk__multi_lock_tell_end(struct evzk_multi_lock *p, int rc);
void evzk__multi_lock_on_deadline(struct evzk__machine *m);
void evzk__multi_lock_detach(struct evzk__machine *m);
void evzk__multi_lock_destroy(struct evzk__machine *m);

/* multi_lock/parts.c */
/* Begins its lock, or has the timer do so. */
void evzk__multi_lock_begin(struct multi_part *t);
/* Asks all parts that wait or are held to go. */
void evzk__multi_lock_give_up(struct evzk_multi_lock *p);
/* Is nothing left of any part? */
bool evzk__multi_lock_is_bare(const struct evzk_multi_lock *p);
/* Are all parts held, and none is in doubt?  A part that has not seen the last
 * change of the session is asked about in a later turn of the loop. */
bool evzk__multi_lock_stands(struct evzk_multi_lock *p);

/* multi_lock/table.c: the timer. */
void evzk__multi_lock_again(void *lock);

#endif
