/**
 * @file evzk/guard.h
 * Guarded writes: a transaction that is done only while the caller's lock, or
 * its place in an election, still stands.
 *
 * The transaction begins with a check of the lock's own znode, and then has the
 * caller's operations.  The servers do all of it, or nothing.  So what lives in
 * ZooKeeper is never written by a process that has lost its lock, however late
 * its request arrives: no token is needed there, and no clock counts.
 *
 * Protocol: "Guard" of the ZooKeeper client's transactions: `check <path>`
 * passes exactly while that znode exists, and the name of a contender has a
 * GUID that is used once.  The outcome of a transaction whose answer was lost
 * is found out by a receipt: an ephemeral znode beside the guard, which the
 * transaction writes to.
 *
 * What no guarded write can promise: an operator who deletes the znode of a
 * lock, and puts a copy of the same name in its place, deceives the check.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_GUARD_H
#define EVZK_GUARD_H

#include <evzk/election.h>
#include <evzk/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_guard evzk_guard; /**< One guarded write. Opaque. */

/** What the write rests on: exactly one of them is set. */
typedef struct evzk_guard_by {
    /** A lock of the same session that was granted and not released.  Borrowed
     * for the call. */
    const evzk_lock *lock;
    /** A candidate of the same session that was elected and has not resigned.
     * Borrowed for the call. */
    const evzk_election *candidate;
    /** The path of a znode, which this process may READ: the write is done only
     * while the znode exists.  Its name must be one that no other znode ever
     * has, as that of a contender: evzk_lock_node(), evzk_election_node().
     * Copied. */
    const char *path;
    void *reserved[4]; /**< NULL. */
} evzk_guard_by;

/** What an operation does. */
typedef enum evzk_guard_verb {
    EVZK_GUARD_CREATE = 1, /**< Makes a znode; fails if it exists. */
    EVZK_GUARD_SET,        /**< Writes the data of a znode. */
    EVZK_GUARD_DELETE,     /**< Deletes a znode. */
    EVZK_GUARD_CHECK       /**< Fails unless the znode has the version; needs
                              READ. */
} evzk_guard_verb;

/** An operation of a guarded write.  Zero-initialize, then set what you need.
 */
typedef struct evzk_guard_op {
    evzk_guard_verb verb;
    /** Absolute path, below the session's chroot. */
    const char *path;
    /** Of a SET, a DELETE or a CHECK: the version that the znode must have; -1:
     * any, as servers have it.  Behind 2147483647 comes -2147483648, so that a
     * znode comes to the version -1 with its 4294967295th write: only then it
     * cannot be compared.  Of a CREATE: 0. */
    int32_t version;
    /** Of a CREATE: the znode goes with the session. */
    bool ephemeral;
    /** Of a CREATE or a SET; NULL: none. */
    const void *data;
    size_t data_len; /**< Data, paths and ACLs of all operations have at most
                        EVZK_GUARD_DATA_MAX bytes. */
    /** Of a CREATE; NULL takes the session's. */
    const evzk_acl *acl;
    size_t acl_count;
} evzk_guard_op;

#define EVZK_GUARD_OPS_MAX 256
#define EVZK_GUARD_DATA_MAX 524288

/** What became of the write. */
typedef enum evzk_guard_outcome {
    /** Done, once. */
    EVZK_GUARD_DONE = 1,
    /** Not done, and never will be: the guard does not exist any more.  rc is
     * EVZK_ERR_NODEGONE. */
    EVZK_GUARD_REFUSED,
    /** Not done, and never will be: an operation failed, or the write ended
     * before it was sent.  rc says why. */
    EVZK_GUARD_FAILED,
    /** Done or not: nobody can tell.  rc says why. */
    EVZK_GUARD_UNKNOWN
} evzk_guard_outcome;

/** The name of an outcome, as in "DONE"; "?" for an unknown number.  Static,
 * never NULL. */
EVZK_API const char *evzk_guard_outcome_name(evzk_guard_outcome outcome);

/** The details of an outcome. */
typedef struct evzk_guard_result {
    /** DONE: the zxid of the transaction: the czxid of each znode that was
     * created, and the mzxid of each that was written to.  Else 0. */
    int64_t zxid;
    /** DONE: for each operation, the version that its znode has when all are
     * done, so that operations on one znode tell the same; -1: not known, or no
     * such znode.  Behind 2147483647 comes -2147483648.  Else NULL.  Borrowed
     * for the call. */
    const int32_t *version;
    /** FAILED: the number of the operation that failed, from 0; the number of
     * operations: none of them is to blame. */
    size_t failed;
} evzk_guard_result;

/**
 * Reports the outcome, once.  @p result is borrowed for the call.  Always
 * called from the loop, never inside a call to this library.  Every function of
 * the library may be called from it, evzk_guard_free() included.
 */
typedef void evzk_guard_cb(evzk_guard *guard, evzk_guard_outcome outcome,
                           int rc, const evzk_guard_result *result, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_guard_options {
    /** The write ends with EVZK_ERR_TIMEOUT after this many milliseconds; 0 is
     * never.  The time runs also while there is no connection. */
    uint32_t timeout_ms;
    /** ACL of the receipt; NULL takes the session's.  It must give this process
     * READ and WRITE. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_guard_options;

/**
 * Does all of @p ops in one transaction, if the guard still stands then.
 *
 * The receipt is made first, in the directory of the guard, and is deleted in
 * the background when the outcome is known: so a write takes two trips, and
 * CREATE and DELETE on that directory.
 *
 * @param s    Borrowed; closing it ends the write with EVZK_ERR_CLOSED.
 * @param by   The guard.
 * @param ops  The operations, in their order.  Copied, with all they point to.
 * @param n    How many: 1 to EVZK_GUARD_OPS_MAX.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears the outcome.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_guard_free().
 *
 * The servers check the guard only for a process that may READ it; for others
 * the write is FAILED, EVZK_ERR_NOAUTH, and no operation is to blame.
 *
 * A server closes the connection at a request that is longer than its
 * jute.maxbuffer, by default one megabyte.  A write at which the servers hang
 * up, each time, is FAILED, EVZK_ERR_TOOLARGE: its receipt says that it was not
 * done.  A write whose connection is lost nine times, each time before it was
 * done, is FAILED, EVZK_ERR_CONNLOSS.
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_STATE  The lock, or the candidate, was not granted, or has
 *                         ended, or was released.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb.  REFUSED: EVZK_ERR_NODEGONE.  FAILED: the error of an
 * operation: EVZK_ERR_NONODE, _NODEEXISTS, _BADVERSION, _NOTEMPTY, _NOAUTH,
 * _BADACL, _EPHEMERAL, _QUOTA, _INVAL (a znode of ZooKeeper's own, as
 * /zookeeper, cannot be deleted); or, with none to blame, an error of the
 * receipt (_NOAUTH, _BADACL, _QUOTA; _NONODE, _BADVERSION: somebody has deleted
 * it, or written to it, again and again) or of the guard (_NOAUTH), _CANCELED,
 * _TIMEOUT, _CLOSED, _EXPIRED, _CONNLOSS, _TOOLARGE, _SERVER, _NOMEM, _AUTH,
 * _INTERNAL.  UNKNOWN: EVZK_ERR_EXPIRED (the session ended before the answer
 * came), _CONNLOSS (the answer was lost, and somebody has deleted or written to
 * the receipt), _TOOLARGE (the answer was lost, and the servers hang up at each
 * look for the receipt), _CANCELED, _TIMEOUT, _CLOSED, _SERVER, _NOAUTH, _AUTH:
 * the write was sent, and its answer had not come.
 */
EVZK_API int evzk_guard_write(evzk_session *s, const evzk_guard_by *by,
                              const evzk_guard_op *ops, size_t n,
                              const evzk_guard_options *opt, evzk_guard_cb *cb,
                              void *arg, evzk_guard **out);

/**
 * Waits no more: the outcome is told in the next turn of the loop, with
 * EVZK_ERR_CANCELED, unless it was found out by then.  The write is FAILED if
 * it was not sent; if it was, it may be done all the same: UNKNOWN.
 *
 * @retval EVZK_OK        The outcome will be told.
 * @retval EVZK_ERR_STATE It was told, or is about to be.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_guard_cancel(evzk_guard *guard);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A
 * write that was sent may be done all the same. */
EVZK_API void evzk_guard_free(evzk_guard *guard);

/** What the write waits for, as the diagram in evzk_guard(3) names it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_guard_state(const evzk_guard *guard);

#ifdef __cplusplus
}
#endif

#endif
