/**
 * @file evzk/producer.h
 * Puts items into a queue (evzk/queue.h).
 *
 * A producer puts its items in the order of the calls.  One transaction at a
 * time is under way.  All puts that wait then go into the next one together, up
 * to 512 items; a put that has more goes in several.  So do items that together
 * are larger than the servers take: the producer finds out how much that is, at
 * the price of some lost connections, and remembers it.
 *
 * No item is lost, and none is put twice.  Each transaction also writes to a
 * znode of the producer, its receipt, and only if the receipt has the version
 * of the transaction before.  So a transaction whose answer was lost is simply
 * sent again: the receipt tells whether the first one was done.  The receipt
 * outlives the session, so this holds when the session expires, too.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_PRODUCER_H
#define EVZK_PRODUCER_H

#include <evzk/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A producer.  Opaque. */
typedef struct evzk_producer evzk_producer;

/** What a producer reports as a whole; both end it. */
typedef enum evzk_producer_event {
    /** After evzk_producer_close() or _cancel(): every put was answered. */
    EVZK_PRODUCER_CLOSED = 1,
    /** The producer cannot go on; @p rc says why.  Every put was answered. */
    EVZK_PRODUCER_FAILED
} evzk_producer_event;

/** The event's name, as "CLOSED"; "?" for any other number. */
EVZK_API const char *evzk_producer_event_name(evzk_producer_event event);

/** Is this event the last one of the object? */
EVZK_API bool evzk_producer_event_is_final(evzk_producer_event event);

/**
 * Reports the end of the producer.  Always called from the loop, never inside a
 * call to this library.  Every function of the library may be called from it,
 * evzk_producer_free() included.
 */
typedef void evzk_producer_cb(evzk_producer *producer,
                              evzk_producer_event event, int rc, void *arg);

/**
 * Reports the end of one put, once; the calls come in the order of the puts.
 * The first @p done items of the put are in the queue.  @p rc is EVZK_OK when
 * all are; else it says why the others are not.  EVZK_ERR_CONNLOSS: the items
 * behind the first @p done may be in the queue or not; this comes only if
 * somebody has deleted the producer's receipt, as consumers do when it was not
 * written to for a day, or if the servers refuse for long to say what they have
 * done.  EVZK_ERR_TOOLARGE: the servers hang up at the first of the other
 * items, each time, though it goes alone; none of these is in the queue.
 */
typedef void evzk_put_cb(evzk_producer *producer, int rc, size_t done,
                         void *arg);

/** One item to put. */
typedef struct evzk_put_item {
    const void *data;
    size_t len;        /**< At most EVZK_QUEUE_DATA_MAX; less if the path of
                            the queue, with the chroot, is longer than 5,000
                            bytes. */
    uint32_t priority; /**< Below EVZK_QUEUE_PRIORITIES; 0 if the layout is
                            EVZK_QUEUE_PLAIN. */
} evzk_put_item;

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_producer_options {
    evzk_queue_layout layout;
    /** The items are ephemeral: each is gone when the session of its producer
     * has ended, taken or not.  The recipes page has it so. */
    bool ephemeral;
    /** The most bytes of items that may wait, and be under way, with 64 bytes
     * more for each item; 0 is EVZK_PRODUCER_PENDING_DEFAULT.  A put that would
     * pass it is refused. */
    size_t pending_max;
    /** ACL of the items, and of all that is made for them; NULL takes the
     * session's.  Consumers need READ, and DELETE on the directories; other
     * producers need READ, CREATE, WRITE and DELETE there. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_producer_options;

#define EVZK_PRODUCER_PENDING_DEFAULT (64u << 20)

/**
 * Starts a producer, which makes the queue if need be, and returns at once.
 * Items may be put right away.
 *
 * @param s    Borrowed; closing it ends the producer with EVZK_ERR_CLOSED.
 * @param path Absolute path of the queue, not "/". Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears the end of the producer.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_producer_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_ERR_NOCHROOT, _NOAUTH, _BADACL, _EPHEMERAL,
 * _QUOTA, _SERVER, _AUTH, _CLOSED; EVZK_ERR_FOREIGN: items of another library's
 * queue are in a plain queue.
 */
EVZK_API int evzk_producer_start(evzk_session *s, const char *path,
                                 const evzk_producer_options *opt,
                                 evzk_producer_cb *cb, void *arg,
                                 evzk_producer **out);

/**
 * Puts @p n items, in this order, behind all items of earlier puts.
 *
 * @param items Copied, with their data.
 * @param n     At least 1.
 * @param cb    Hears the end; or NULL.
 * @param arg   Borrowed; handed back to @p cb untouched.
 *
 * @retval EVZK_OK        @p cb will be called, unless the producer is freed
 *                        before.
 * @retval EVZK_ERR_INVAL An item is too long, or has a bad priority, or all
 *                        items together pass pending_max: nothing is put.
 * @retval EVZK_ERR_BUSY  Too much waits: see pending_max.  Put it again after
 *                        the next answer.
 * @retval EVZK_ERR_STATE The producer has ended, or is about to.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_FORKED: nothing is put.
 *
 * Later, through @p cb: EVZK_ERR_NOAUTH, _BADACL, _QUOTA, _SEQUENCE, _SERVER:
 * these items were refused, with all that is behind them in their put, and the
 * producer goes on.  EVZK_ERR_CANCELED: not
 * sent.  EVZK_ERR_CLOSED: the session was closed; the items that were under way
 * may be in the queue or not.
 */
EVZK_API int evzk_producer_put(evzk_producer *producer,
                               const evzk_put_item *items, size_t n,
                               evzk_put_cb *cb, void *arg);

/**
 * Puts all that waits, and then ends the producer with CLOSED.
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_producer_close(evzk_producer *producer);

/**
 * Ends the producer with CLOSED, soon: puts that wait end with
 * EVZK_ERR_CANCELED; those under way end as the servers say.  May follow
 * evzk_producer_close().
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as above.
 */
EVZK_API int evzk_producer_cancel(evzk_producer *producer);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.
 * Items that wait are dropped; items that are under way may be put or not. */
EVZK_API void evzk_producer_free(evzk_producer *producer);

/** Items that were accepted and not answered; 0 for NULL. */
EVZK_API size_t evzk_producer_pending(const evzk_producer *producer);

/** The producer's state, as the diagram in evzk_producer(3) names it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_producer_state(const evzk_producer *producer);

#ifdef __cplusplus
}
#endif

#endif
