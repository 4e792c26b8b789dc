/* Where the znodes of a queue are, for producers, consumers and look-ups.
 *
 * In segments, below the queue's path:
 *
 *   seg-<priority>-<number>/             a segment: two digits, ten digits
 *   seg-<priority>-<number>/open         exists while items may be put there
 *   seg-<priority>-<number>/queue-<seq>  an item, persistent or ephemeral
 *   seg-<priority>-<number>/claim-<seq>-<guid>
 *                                        ephemeral: the consumer with this GUID
 *                                        has claimed the item of that number
 *   receipts/<guid>-receipt              persistent: its version counts the
 *                                        transactions of a producer
 *   clients/<guid>-<n>-receipt           the same of a consumer
 *   clients/<guid>-<n>-alive             ephemeral: a consumer whose session
 *                                        lives; its claims end with it
 *   signal                               written with each put, and when claims
 *                                        are given back
 *   turn/                                a lock: the consumer that holds it may
 *                                        list, claim and remove items
 *   dead/queue-<seq>                     a dead letter; or with a GUID and a
 *                                        dash before <seq>, if that name was
 *                                        taken, as in a copied queue
 *
 * A put is one transaction: the receipt is written, `open` of the segment is
 * checked, the items are made, `signal` is written.  When a segment has
 * SEGMENT_ITEMS items, a producer seals it: in one transaction it deletes
 * `open` and makes the next segment with its own.  So of each priority one
 * segment is open, the one with the greatest number, and the order of items is
 * (priority, segment, sequence).  A sealed segment without items is deleted by
 * the consumer that has the turn; an open one stays.
 *
 * Only the consumer with the turn takes or claims items.  So nobody claims an
 * item that is claimed, though the claims' names differ.  And while it has the
 * turn, no free item goes away, and an empty segment that it has seen has been
 * empty since its turn began.  A consumer that lists the segments from the
 * least urgent priority to the most urgent, and takes from the first item on in
 * the order of the queue, takes what was first at one moment of its turn.
 *
 * Consumers that wait list `clients` again and again.  So producers, which may
 * come and go with each item, are not in it.
 *
 * The plain layout of the recipes page: all items are in the queue's directory,
 * as queue-<seq> or queue-<priority><seq>.  Receipts, clients, signal and
 * turn are below <path>.evzk.  There are no claims. */
#ifndef EVZK_QUEUE_LAYOUT_H
#define EVZK_QUEUE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evzk/queue.h"
#include "lib/base/name.h"

enum {
    EVZK__SEGMENT_ITEMS = 1024, /* From so many on it is sealed. */
    EVZK__SEGMENT_NAME = 18,    /* As seg-07-0000000012, with its zero byte. */
    EVZK__QUEUE_NAME = 48,      /* More than the rest of a path needs, ... */
    EVZK__CLAIM_NAME =          /* .. and of the path of a claim. */
    EVZK__QUEUE_NAME + EVZK__GUID_LEN
};

/* The znodes' names. */
#define EVZK__QUEUE_BESIDE ".evzk" /* Behind a plain queue's path. */
#define EVZK__QUEUE_OPEN "open"
#define EVZK__QUEUE_ITEM "queue-"
#define EVZK__QUEUE_CLAIM "claim-"
#define EVZK__QUEUE_SIGNAL "signal"
#define EVZK__QUEUE_CLIENTS "clients"
#define EVZK__QUEUE_RECEIPTS "receipts"
#define EVZK__QUEUE_TURN "turn"
#define EVZK__QUEUE_DEAD "dead"
#define EVZK__QUEUE_RECEIPT_TAG "-receipt"
#define EVZK__QUEUE_ALIVE_TAG "-alive"

struct evzk__segment {
    uint32_t priority, number;
};

static inline bool evzk__queue_is_plain(evzk_queue_layout layout)
{
    return layout != EVZK_QUEUE_SEGMENTS;
}

/* Is this the name of a segment?  Then writes which. */
bool evzk__segment_parse(const char *name, struct evzk__segment *seg);
void evzk__segment_print(char out[EVZK__SEGMENT_NAME],
                         const struct evzk__segment *seg);

/* By priority, then by number: below zero, zero, above zero. */
int evzk__segment_compare(const struct evzk__segment *a,
                          const struct evzk__segment *b);

/* Is this the name of an item in a segment, of a claim, or of an item in a
 * plain queue?  Then writes the item's number, and its priority, which is 0
 * where the name has none.  A claim is one whoever has made it. */
bool evzk__item_parse(const char *name, int32_t *seq);
bool evzk__claim_parse(const char *name, int32_t *seq);
bool evzk__plain_item_parse(const char *name, uint32_t *priority, int32_t *seq);

/* The path of `name` beside the items: below the queue's path, or, of a plain
 * queue, below <path>.evzk.  `to` has room for `path` and EVZK__QUEUE_NAME. */
char *evzk__queue_side(char *to, const char *path, evzk_queue_layout layout,
                       const char *name);

#endif
