/**
 * @file evzk/consumer.h
 * Takes items out of a queue (evzk/queue.h).
 *
 * Each item goes to one consumer.  The consumers of a queue take turns, in the
 * order in which they asked: the consumer whose turn it is takes as many items
 * as it wants, from the head of the queue, and then the next one has its turn.
 * If the queue is empty, the consumer whose turn it is waits for items, and the
 * others wait for their turn; so one put wakes one consumer.
 *
 * Two modes:
 *
 *   At most once.  An item is removed, and then delivered.  If the process dies
 *   in between, that item is lost.
 *
 *   Claimed.  An item is claimed, delivered, and removed when it is finished.
 *   If the process dies, or its session ends, its claims end with the session,
 *   and the items are delivered to other consumers, from their old places in
 *   the queue.  An item may also be given back.
 *
 * Every item has a fencing token.  Send it with each write that the item
 * causes: a consumer whose claim was lost while its process stood still has a
 * lower claim token than the consumer that has the item after it.
 *
 * Order: items are delivered in the order of the
 * queue, but an item that was given back, or whose consumer died, comes after
 * the items that were delivered in the meantime.  A consumer that is cut off
 * from the servers during its turn keeps the others waiting until its session
 * has expired.
 *
 * Bound: where an item becomes free and nobody says so, since somebody has
 * deleted a claim by hand, a consumer that waits sees it within three session
 * time-outs, half a minute at most.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_CONSUMER_H
#define EVZK_CONSUMER_H

#include <evzk/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A consumer.  Opaque. */
typedef struct evzk_consumer evzk_consumer;

typedef enum evzk_consumer_mode {
    EVZK_CONSUMER_AT_MOST_ONCE,
    /** Not with the plain layouts, where other programs know no claims. */
    EVZK_CONSUMER_CLAIMED
} evzk_consumer_mode;

/** An item that was delivered.  Claimed: it belongs to the library, and is
 * valid until the callback of its FINISHED, GIVEN_BACK or LOST returns.  At
 * most once: until the callback of its ITEM returns. */
typedef struct evzk_item {
    const void *data;
    size_t len;
    uint32_t priority;
    /** Of the transaction that has put the item: greater than that of every
     * item that was put in an earlier one.  Items that were put together have
     * the same. */
    uint64_t token;
    /** Of the claim: greater than that of every earlier claim of this item.  At
     * most once: 0. */
    uint64_t claim_token;
    /** How often the item was delivered, this time included; 0: not counted,
     * since max_deliveries is 0.  A session that ended just before it told the
     * item may be counted, too; of an item of an ephemeral producer, a consumer
     * that did; and each znode that another program has made below the item,
     * and deleted. */
    uint32_t deliveries;
    void *app; /**< Yours; NULL at first. */
    /** Which item of the queue it is: no other item of its priority has this
     * number, and an item that was put later has a greater one.  As long as the
     * queue is not deleted: then numbers begin anew, and tokens do not. */
    uint64_t number;
} evzk_item;

typedef enum evzk_consumer_event {
    /** An item is delivered. */
    EVZK_CONSUMER_ITEM = 1,
    /** The take has ended.  EVZK_OK: at least one item was delivered.
     * EVZK_ERR_TIMEOUT, EVZK_ERR_CANCELED: none was.  Any other: none was, and
     * the consumer ends; its last event is next. */
    EVZK_CONSUMER_TAKEN,
    /** The item was finished: it is removed, and nobody gets it any more. */
    EVZK_CONSUMER_FINISHED,
    /** The item was given back: other consumers can take it. */
    EVZK_CONSUMER_GIVEN_BACK,
    /** The claim of the item is lost.  Stop to work on the item: it may be
     * delivered again.  The session has expired (EVZK_ERR_EXPIRED) or was
     * closed (EVZK_ERR_CLOSED); its lease has ended (EVZK_ERR_LEASE); somebody
     * deleted the claim or the item (EVZK_ERR_NODEGONE); or the item was to be
     * finished, and nobody knows whether it was, since somebody deleted the
     * consumer's receipt or the servers refused to say (EVZK_ERR_CONNLOSS); or
     * as the servers say that have refused. */
    EVZK_CONSUMER_LOST,
    /** An item was delivered max_deliveries times: now it is a dead letter.
     * The item is not delivered, and is valid for this call.  Not told if the
     * consumer's receipt was deleted: then look into `<path>/dead`. */
    EVZK_CONSUMER_DEAD_LETTER,
    /** After evzk_consumer_close(): the last event. */
    EVZK_CONSUMER_CLOSED,
    /** The consumer cannot go on; @p rc says why.  The last event. */
    EVZK_CONSUMER_FAILED,
    /** Not a last event.  Nobody can take this item, and @p rc says why: it may
     * not be read (EVZK_ERR_NOAUTH); somebody has made a znode below it
     * (EVZK_ERR_NOTEMPTY); its deliveries cannot be counted (EVZK_ERR_NOAUTH
     * and others); or it was delivered max_deliveries times, and `<path>/dead`
     * takes no letter: it may not be written to, is ephemeral, or a quota is
     * used up (EVZK_ERR_NOAUTH, _EPHEMERAL, _QUOTA).  The consumer leaves it
     * where it is, goes on with the items behind it, and tries it again after
     * half a minute, and then ever more rarely.  Told once for each such item;
     * once more if it could be taken meanwhile.  The item is valid for this
     * call; without the right to read it has no data, and a token of 0. */
    EVZK_CONSUMER_SET_ASIDE
} evzk_consumer_event;

/** The event's name, as "ITEM"; "?" for any other number. */
EVZK_API const char *evzk_consumer_event_name(evzk_consumer_event event);

/** Is this event the last one of the object? */
EVZK_API bool evzk_consumer_event_is_final(evzk_consumer_event event);

/**
 * Reports what happens.  @p item is NULL for TAKEN, CLOSED and FAILED.  Always
 * called from the loop, never inside a call to this library.  Every function of
 * the library may be called from it, evzk_consumer_free() included.
 */
typedef void evzk_consumer_cb(evzk_consumer *consumer,
                              evzk_consumer_event event, int rc,
                              evzk_item *item, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_consumer_options {
    evzk_queue_layout layout;
    evzk_consumer_mode mode;
    /** Claimed: take without being asked, as long as fewer than so many items
     * are held, 1 to EVZK_CONSUMER_PREFETCH_MAX; in one turn at most so many.
     * 0: evzk_consumer_take() asks for each. */
    uint32_t prefetch;
    /** Claimed: an item that was delivered so often, and was never finished, is
     * moved to `<path>/dead` instead of being delivered again; 0: never.  A
     * delivery is counted before it is told: that costs two more operations
     * for each item and, but for the first one of a turn, a round trip.  An
     * item that is claimed and given back untold is not counted.  That needs
     * CREATE, DELETE and WRITE on the items.  An item of an ephemeral producer
     * needs WRITE, and one operation and a round trip in any case, which sends
     * its data again; that count is not taken back. */
    uint32_t max_deliveries;
    /** ACL of what the consumer makes; NULL takes the session's. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_consumer_options;

#define EVZK_CONSUMER_PREFETCH_MAX 4096

/**
 * Starts a consumer, and returns at once.  The queue may not exist yet.
 *
 * @param s    Borrowed; closing it ends the consumer with EVZK_ERR_CLOSED.  At
 *             most once: items that are removed are delivered before.
 * @param path Absolute path of the queue, not "/". Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears all that happens.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_consumer_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb with FAILED: EVZK_ERR_NOCHROOT, _NOAUTH, _BADACL,
 * _EPHEMERAL, _SERVER, _AUTH, _CLOSED; EVZK_ERR_FOREIGN: a plain queue
 * has more than EVZK_QUEUE_PLAIN_MAX items, too many to be listed; or items of
 * another library's queue are in it; or another library's lock is in the
 * directory of the consumers' turns.
 *
 * Where a quota is used up, the servers let nobody make what a turn and a claim
 * need.  The consumer says so in the log, once, finishes and gives back what it
 * has, and tries again every second, and whenever it has deleted something.
 */
EVZK_API int evzk_consumer_start(evzk_session *s, const char *path,
                                 const evzk_consumer_options *opt,
                                 evzk_consumer_cb *cb, void *arg,
                                 evzk_consumer **out);

/**
 * Takes up to @p max items.  Waits until there is one, and then takes what is
 * there, up to @p max: each is an ITEM, and TAKEN follows the last one.
 *
 * @param max        1 to EVZK_CONSUMER_PREFETCH_MAX.
 * @param timeout_ms How long to wait for the first item; 0: for ever.  The time
 *                   runs also while there is no connection.  When items are on
 *                   their way at its end, TAKEN comes behind the servers' word
 *                   on them, or behind the end of the session.
 *
 * @retval EVZK_OK        TAKEN will come.
 * @retval EVZK_ERR_STATE A take is under way; the consumer has a prefetch, or
 *                        has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_consumer_take(evzk_consumer *consumer, uint32_t max,
                                uint32_t timeout_ms);

/** Ends the take with TAKEN: with EVZK_ERR_CANCELED, or with EVZK_OK if items
 * were on their way; these are delivered first, when the servers have answered.
 *
 * @retval EVZK_OK        TAKEN will come.
 * @retval EVZK_ERR_STATE No take is under way.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED. */
EVZK_API int evzk_consumer_cancel(evzk_consumer *consumer);

/**
 * Claimed: the work on the item is done, and the item is to be removed.
 * FINISHED, or LOST, follows.  Many calls in one turn of the loop cost one
 * transaction.
 *
 * @retval EVZK_OK        FINISHED or LOST will come.
 * @retval EVZK_ERR_STATE The item was finished, given back, or lost before.
 * @retval EVZK_ERR_INVAL Among others: the item is another consumer's.
 * @retval EVZK_ERR_FORKED.
 */
EVZK_API int evzk_consumer_finish(evzk_consumer *consumer, evzk_item *item);

/** Claimed: the item goes back to its old place in the queue.  GIVEN_BACK, or
 * LOST, follows; GIVEN_BACK also when the session has expired.  Returns as
 * evzk_consumer_finish() does. */
EVZK_API int evzk_consumer_give_back(evzk_consumer *consumer, evzk_item *item);

/** Claimed: is the item claimed by this consumer now?  Computed against the
 * lease, never remembered. */
EVZK_API bool evzk_consumer_holds(const evzk_consumer *consumer,
                                  const evzk_item *item);

/** How long the claims are sure, in milliseconds; 0: they are not. */
EVZK_API uint32_t evzk_consumer_lease_ms(const evzk_consumer *consumer);

/** How many items are claimed, and neither finished, given back nor lost. */
EVZK_API size_t evzk_consumer_held(const evzk_consumer *consumer);

/**
 * Ends the consumer: a take that waits ends; finishes that were asked are done;
 * all other claims are given back at once (each is a GIVEN_BACK); then comes
 * CLOSED.
 *
 * @retval EVZK_OK        CLOSED will come.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_consumer_close(evzk_consumer *consumer);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  Claims
 * are given back in the background.  At most once: an item whose removal is
 * under way is lost; use evzk_consumer_close() to get it. */
EVZK_API void evzk_consumer_free(evzk_consumer *consumer);

/** The consumer's state, as the diagram in evzk_consumer(3) names it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_consumer_state(const evzk_consumer *consumer);

#ifdef __cplusplus
}
#endif

#endif
