/**
 * @file evzk/queue.h
 * Queues: how their items are laid out, and a look at them.
 *
 * A queue is a directory of items.  Producers put items into it, consumers take
 * them out: the most urgent first, and of these the oldest first.
 *
 * Protocol: "Queues" and "Priority Queues" of the ZooKeeper recipes page.  That
 * page keeps all items in one directory, whose listing grows with the queue
 * until no client can read it.  Here the items of a queue are in segments of
 * about a thousand items, so that no listing grows with the queue.  The plain
 * layout of the page is an option, for queues that other programs use, too.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_QUEUE_H
#define EVZK_QUEUE_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the items of a queue are laid out on the servers.  All producers and
 * consumers of a queue use the same layout. */
typedef enum evzk_queue_layout {
    /** In segments: a queue may have millions of items. */
    EVZK_QUEUE_SEGMENTS,
    /** All items in the directory itself, as `queue-<sequence>`, for programs
     * that follow the recipes page to the letter.  Curator's and Kazoo's queues
     * are others: where their items are, producers and consumers fail with
     * EVZK_ERR_FOREIGN.  What evzk needs besides is in the directory
     * `<path>.evzk`, beside the queue, so that other programs see nothing but
     * items. */
    EVZK_QUEUE_PLAIN,
    /** The same, as `queue-<two digits of priority><sequence>`. */
    EVZK_QUEUE_PLAIN_PRIORITY
} evzk_queue_layout;

/** The most bytes that an item may have. */
#define EVZK_QUEUE_DATA_MAX 1024000

/** A plain queue with more items cannot be listed: a put that would pass this
 * number ends with EVZK_ERR_QUOTA. */
#define EVZK_QUEUE_PLAIN_MAX 50000

/** Priorities are 0, the most urgent, to EVZK_QUEUE_PRIORITIES - 1. */
#define EVZK_QUEUE_PRIORITIES 100

/** A look at a queue.  Opaque. */
typedef struct evzk_queue_query evzk_queue_query;

/** An item, as a look found it. */
typedef struct evzk_queue_item {
    const void *data;
    size_t len;
    uint32_t priority;
    uint64_t token;     /**< Greater than that of every item that was put in an
                             earlier transaction. */
    int64_t created_ms; /**< When, by the server's clock, since 1970. */
    bool claimed;       /**< A consumer works on it. */
    bool hidden;        /**< Its ACL denies reading: its data is not known. */
} evzk_queue_item;

/** What a look found. */
typedef struct evzk_queue_report {
    uint64_t size;    /**< Items, claimed or not. */
    uint64_t claimed; /**< Items that consumers work on. */
    uint64_t dead;    /**< Dead letters. */
    /** The first items of the queue, in their order. */
    const evzk_queue_item *items;
    size_t n_items;
} evzk_queue_report;

/**
 * Hears of the queue; @p report is borrowed for the call, and NULL if @p rc is
 * an error.  Without `follow` this is called once.  With it, once at first and
 * again after changes; an error is the last call.  Always called from the loop,
 * never inside a call to this library.  Every function of the library may be
 * called from it, evzk_queue_query_free() included.
 */
typedef void evzk_queue_query_cb(evzk_queue_query *query, int rc,
                                 const evzk_queue_report *report, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_queue_query_options {
    evzk_queue_layout layout;
    /** So many of the first items are read, at most EVZK_QUEUE_PEEK_MAX. */
    uint32_t peek;
    /** Go on, and report again when items were put or given back.  In segments,
     * items that were taken are no reason to report; the next report leaves
     * them out. */
    bool follow;
    void *reserved[4]; /**< NULL. */
} evzk_queue_query_options;

#define EVZK_QUEUE_PEEK_MAX 64

/**
 * Looks at the queue at @p path: its size, and its first items.  Takes nothing
 * out, and creates nothing.  The look is as new as the leader of the servers
 * when it begins, and then visits the segments one after another.  So each item
 * that was there during the whole look is counted, and no item that was not
 * there at some moment of it.
 *
 * @param s    Borrowed; closing it ends the look with EVZK_ERR_CLOSED.
 * @param path Absolute path of the queue, not "/". Copied.
 * @param opt  Copied; NULL for the defaults.
 * @param cb   Hears the result.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_queue_query_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_OK, also when there is no queue.
 * EVZK_ERR_FOREIGN: the directory has more than EVZK_QUEUE_PLAIN_MAX children,
 * too many to be listed.  EVZK_ERR_NOAUTH, _NOCHROOT, _CLOSED, _SERVER, _AUTH.
 */
EVZK_API int evzk_queue_query_start(evzk_session *s, const char *path,
                                    const evzk_queue_query_options *opt,
                                    evzk_queue_query_cb *cb, void *arg,
                                    evzk_queue_query **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_queue_query_free(evzk_queue_query *query);

#ifdef __cplusplus
}
#endif

#endif
