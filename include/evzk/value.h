/**
 * @file evzk/value.h
 * The value of one znode: read it, follow it, write it, and count with it.
 *
 * A query tells the latest value, once.  A follower tells the value first and
 * after every change; it ends on the last value and never goes back to an
 * older one.  A writer sets the value, sets it only if it is still the one that
 * was read, makes it only if there is none, or adds to it: a shared counter.
 *
 * Each write is done once, or not at all, and the caller hears which.  A writer
 * has a znode of its own, its receipt, below the value.  Each write is one
 * transaction with a write to the receipt.  So a transaction whose answer was
 * lost is simply sent again: the receipt tells whether the first one was done.
 * The receipt outlives the session, so this holds when the session expires,
 * too.  And while the receipt stands nobody can delete the value and make it
 * anew: a version is never that of another znode at the same path.  Receipts
 * that nobody has written to for a day, by the servers' clock, are deleted by
 * other writers: a writer that still lives then makes another one.
 *
 * Protocol: "Configuration" of the lecture notes on the ZooKeeper paper, with
 * compare-and-set by the version.  Programs with other
 * libraries may read and write the same znode: a counter is a plain number, as
 * Kazoo's.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_VALUE_H
#define EVZK_VALUE_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A query, a follower, a writer.  Opaque. */
typedef struct evzk_value_query evzk_value_query;
typedef struct evzk_value_follower evzk_value_follower;
typedef struct evzk_value_writer evzk_value_writer;

/** Which value was read: for evzk_value_compare_set(). */
typedef struct evzk_value_stamp {
    int64_t czxid;   /**< Of the znode: another one has another. */
    int32_t version; /**< Of its data: each write counts it up. */
} evzk_value_stamp;

/** What a znode holds.  Borrowed for the callback. */
typedef struct evzk_value {
    bool exists; /**< False: there is no znode, and all else is zero. */
    const void *data;
    size_t len;
    evzk_value_stamp stamp;
    int64_t mzxid; /**< Grows with each write, and over a new znode, too. */
} evzk_value;

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_value_options {
    /** Of a query: it ends with EVZK_ERR_TIMEOUT after this many milliseconds;
     * 0 is never.  The time runs also while there is no connection. */
    uint32_t timeout_ms;
    /** Of a writer: the most bytes of data that may wait, and be under way,
     * with 64 bytes more for each write; 0 is EVZK_VALUE_PENDING_DEFAULT.  A
     * write that would pass it is refused. */
    size_t pending_max;
    /** Of a writer: ACL of the value, of the receipt, and of directories made;
     * NULL takes the session's.  Writers need READ, WRITE, CREATE and DELETE
     * on the value. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_value_options;

#define EVZK_VALUE_DATA_MAX 1024000
#define EVZK_VALUE_PENDING_DEFAULT (16u << 20)

/**
 * Reports the end of a query, once.  @p value is what the znode held at some
 * time of the call, behind all that was written before the call; NULL unless
 * @p rc is EVZK_OK.  Always called from the loop, never inside a call to this
 * library.  Every function of the library may be called from it,
 * evzk_value_query_free() included.
 */
typedef void evzk_value_query_cb(evzk_value_query *query, int rc,
                                 const evzk_value *value, void *arg);

/**
 * Reads the latest value, behind a sync.  No znode is a good end, too.
 *
 * @param s    Borrowed; closing it ends the query with EVZK_ERR_CLOSED.
 * @param path Absolute path of the znode, not "/". Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears the end.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_value_query_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_ERR_TIMEOUT, _CANCELED, _CLOSED, _NOAUTH,
 * _NOCHROOT, _SERVER, _AUTH.
 */
EVZK_API int evzk_value_get(evzk_session *s, const char *path,
                            const evzk_value_options *opt,
                            evzk_value_query_cb *cb, void *arg,
                            evzk_value_query **out);

/**
 * Ends the query: EVZK_ERR_CANCELED is told in a later turn of the loop.
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_value_query_cancel(evzk_value_query *query);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_value_query_free(evzk_value_query *query);

/** The state, as the diagrams in evzk_value(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *evzk_value_query_state(const evzk_value_query *query);

/** What a follower reports. */
typedef enum evzk_value_follower_event {
    /** The value, first and after every change; or that there is none. */
    EVZK_VALUE_FOLLOWER_VALUE = 1,
    /** The follower has ended; @p rc says why.  Nothing follows. */
    EVZK_VALUE_FOLLOWER_ENDED
} evzk_value_follower_event;

/** The event's name, as "VALUE"; "?" for any other number. */
EVZK_API const char *
evzk_value_follower_event_name(evzk_value_follower_event event);

/** Is this event the last one of the object? */
EVZK_API bool
evzk_value_follower_event_is_final(evzk_value_follower_event event);

/**
 * Reports a value, or the end.  Changes that follow each other fast are told as
 * one; the last value is always told.  @p value is NULL at the end.  Always
 * called from the loop, never inside a call to this library.  Every function of
 * the library may be called from it, evzk_value_follower_free() included.
 */
typedef void evzk_value_follower_cb(evzk_value_follower *follower,
                                    evzk_value_follower_event event, int rc,
                                    const evzk_value *value, void *arg);

/**
 * Follows a value.  The znode may be absent, come and go.  The follower goes on
 * over a lost connection, over a move to a server that is behind, and over the
 * session's expiry; and also when the servers were set up anew, or restored
 * from an older state.  When the value may not be read any more, it waits until
 * it may, and tells it within three session time-outs, half a minute at most.
 *
 * Arguments and errors at once as in evzk_value_get(); no option counts.
 *
 * Later, through @p cb: EVZK_ERR_CANCELED, _CLOSED, _SERVER, _AUTH; and
 * EVZK_ERR_NOAUTH, _NOCHROOT, if nothing was told before.
 */
EVZK_API int evzk_value_follow(evzk_session *s, const char *path,
                               const evzk_value_options *opt,
                               evzk_value_follower_cb *cb, void *arg,
                               evzk_value_follower **out);

/**
 * Ends the follower: ENDED, with EVZK_ERR_CANCELED, is told in a later turn of
 * the loop.
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as in
 *         evzk_value_query_cancel().
 */
EVZK_API int evzk_value_follower_cancel(evzk_value_follower *follower);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_value_follower_free(evzk_value_follower *follower);

/** The state, as the diagrams in evzk_value(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *
evzk_value_follower_state(const evzk_value_follower *follower);

/** What a writer reports as a whole; both end it. */
typedef enum evzk_value_writer_event {
    /** After evzk_value_writer_close() or _cancel(): every write was told. */
    EVZK_VALUE_WRITER_CLOSED = 1,
    /** The writer cannot go on; @p rc says why.  Every write was told. */
    EVZK_VALUE_WRITER_FAILED
} evzk_value_writer_event;

/** The event's name, as "CLOSED"; "?" for any other number. */
EVZK_API const char *
evzk_value_writer_event_name(evzk_value_writer_event event);

/** Is this event the last one of the object? */
EVZK_API bool evzk_value_writer_event_is_final(evzk_value_writer_event event);

/**
 * Reports the end of the writer.  Always called from the loop, never inside a
 * call to this library.  Every function of the library may be called from it,
 * evzk_value_writer_free() included.
 */
typedef void evzk_value_writer_cb(evzk_value_writer *writer,
                                  evzk_value_writer_event event, int rc,
                                  void *arg);

/**
 * Reports the end of one write, once; the calls come in the order of the
 * writes.  EVZK_OK: the write was done, once.  EVZK_ERR_CONNLOSS: the
 * connection was lost, and nobody can tell whether the write was done.  This
 * comes only if somebody has deleted the writer's receipt, as others do when it
 * was not written to for a day, or the value, in between; or if the servers
 * refuse for long to say what they have done.  Of a write that was to make the
 * value it comes, too, if meanwhile any child of the znode above was deleted;
 * or if another writer has made the value, and a receipt was deleted there, as
 * a writer does that ends, or one that tidies.  EVZK_ERR_TOOLARGE: the servers
 * hang up at this write, each time.  It was not done, unless connections ended
 * for another reason, five times in a row: as with _CONNLOSS, nobody can tell.
 * Any other error but EVZK_ERR_CLOSED and _SERVER: the write was not done, and
 * will not be.  @p number is the counter behind an addition that was done; else
 * 0.
 */
typedef void evzk_value_write_cb(evzk_value_writer *writer, int rc,
                                 int64_t number, void *arg);

/**
 * Starts a writer, and returns at once.  Writes may be asked for right away;
 * they are done in the order of the calls.
 *
 * Arguments and errors at once as in evzk_value_get().
 *
 * Later, through @p cb: EVZK_ERR_NOAUTH, _BADACL, _EPHEMERAL (the value is an
 * ephemeral znode: only its own session writes to it), _QUOTA, _SERVER, _AUTH,
 * _CLOSED.
 *
 * The value must be no container, and no znode with a TTL: when the last writer
 * has ended, and taken its receipt away, the servers delete such a znode, with
 * what was written; a counter begins at 0 again.  No client can see that a
 * znode is a container.  A writer makes the value as a plain znode, but
 * directories that this library makes above znodes are containers.
 */
EVZK_API int evzk_value_writer_start(evzk_session *s, const char *path,
                                     const evzk_value_options *opt,
                                     evzk_value_writer_cb *cb, void *arg,
                                     evzk_value_writer **out);

/**
 * Sets the value, whatever it is, and makes the znode, with what is missing
 * above it, if there is none.
 *
 * @param data Copied; NULL if @p len is 0.
 * @param len  At most EVZK_VALUE_DATA_MAX; less if the path, with the chroot,
 *             is longer than 5,000 bytes.
 * @param cb   Hears the end; or NULL.
 * @param arg  Borrowed; handed back to @p cb untouched.
 *
 * @retval EVZK_OK        @p cb will be called, unless the writer is freed
 *                        before.
 * @retval EVZK_ERR_INVAL Bad argument: nothing is written.
 * @retval EVZK_ERR_BUSY  Too much waits: see pending_max.  Ask again after the
 *                        next answer.
 * @retval EVZK_ERR_STATE The writer has ended, or is about to.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_FORKED: nothing is written.
 *
 * Later, through @p cb: EVZK_ERR_NOAUTH, _BADACL, _EPHEMERAL (the znode above
 * is), _QUOTA, _NOCHROOT, _SERVER: refused, and the writer goes on.
 * EVZK_ERR_NONODE: the directories above go away again as often as they are
 * made.  EVZK_ERR_CONNLOSS, _TOOLARGE: see evzk_value_write_cb.
 * EVZK_ERR_CANCELED: not sent.  EVZK_ERR_CLOSED: the session was closed; what
 * was under way may be done or not.
 */
EVZK_API int evzk_value_set(evzk_value_writer *writer, const void *data,
                            size_t len, evzk_value_write_cb *cb, void *arg);

/**
 * Sets the value if it is still the one that was read: compare-and-set.
 *
 * @param stamp Of that value.  Copied.
 *
 * All else as in evzk_value_set().  Later, besides: EVZK_ERR_BADVERSION: the
 * value was another one, at some time of the call.  EVZK_ERR_NONODE: there was
 * none.
 */
EVZK_API int evzk_value_compare_set(evzk_value_writer *writer,
                                    const evzk_value_stamp *stamp,
                                    const void *data, size_t len,
                                    evzk_value_write_cb *cb, void *arg);

/**
 * Makes the value, if there is none.
 *
 * All as in evzk_value_set().  Later, besides: EVZK_ERR_NODEEXISTS: there was
 * one, at some time of the call.
 */
EVZK_API int evzk_value_create(evzk_value_writer *writer, const void *data,
                               size_t len, evzk_value_write_cb *cb, void *arg);

/**
 * Adds to a shared counter: the value is a decimal number of 64 bits.  No znode
 * and no data count as 0.  Nothing is counted twice, and nothing that was told
 * as done is lost.  Additions that wait go together, up to 512 in a
 * transaction.
 *
 * An addition also takes a block of unique numbers: those above @p number -
 * @p delta, up to @p number, are this addition's alone.  But only while every
 * addition to this counter is of a number above 0, and nobody sets it, deletes
 * it, or makes it anew: else numbers come again.
 *
 * All else as in evzk_value_set().  Later, besides: EVZK_ERR_BADDATA: the data
 * is no number, or the sum has more than 64 bits.
 */
EVZK_API int evzk_counter_add(evzk_value_writer *writer, int64_t delta,
                              evzk_value_write_cb *cb, void *arg);

/**
 * Does all that waits, and then ends the writer with CLOSED.
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_value_writer_close(evzk_value_writer *writer);

/**
 * Ends the writer with CLOSED, soon: writes that wait end with
 * EVZK_ERR_CANCELED; one that is under way ends as the servers say.  May follow
 * evzk_value_writer_close().
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as above.
 */
EVZK_API int evzk_value_writer_cancel(evzk_value_writer *writer);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  Writes
 * that wait are dropped; one that is under way may be done or not. */
EVZK_API void evzk_value_writer_free(evzk_value_writer *writer);

/** Writes that were accepted and not told; 0 for NULL. */
EVZK_API size_t evzk_value_writer_pending(const evzk_value_writer *writer);

/** The state, as the diagrams in evzk_value(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *evzk_value_writer_state(const evzk_value_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
