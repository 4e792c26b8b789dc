/**
 * @file evzk/lock.h
 * Exclusive lock on a path, held by at most one live session.  Fair: granted in
 * order of arrival.  No herd: each waiter watches only the one before it.
 *
 * Protocol: "Locks" of the ZooKeeper recipes page, with an own GUID in every
 * contender's name, so that a create of unknown outcome is found again.
 *
 * What no lock can promise: a process that is paused may write long after its
 * lock went to another.  Send the fencing token (evzk_lock_token()) with every
 * write, and let the resource refuse a token lower than one it has seen.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_LOCK_H
#define EVZK_LOCK_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_lock evzk_lock; /**< One attempt to hold a lock. Opaque. */

/** What the callback reports. RELEASED, LOST and FAILED are final. */
typedef enum evzk_lock_event {
    /** Held from now on, until SUSPENDED or a final event. */
    EVZK_LOCK_GRANTED = 1,
    /** In doubt, still held until the lease ends (evzk_lock_lease_ms()):
     * finish what is begun, begin nothing new. */
    EVZK_LOCK_SUSPENDED,
    /** Out of doubt: the znode was seen again, the lock was never lost. */
    EVZK_LOCK_RESUMED,
    /** Not held yet; the session expired or the znode was deleted by another,
     * so the wait goes on at the end of the queue. rc says why. */
    EVZK_LOCK_REQUEUED,
    /** Final. Was held; released as asked, and proved gone from the server. rc
     * is not 0 when the server refused to delete the znode: then it stands
     * until the session ends. */
    EVZK_LOCK_RELEASED,
    /** Final. Was held, no longer is: stop work now. rc says why. */
    EVZK_LOCK_LOST,
    /** Final. Never held. rc says why. */
    EVZK_LOCK_FAILED
} evzk_lock_event;

/**
 * Reports progress: at most one GRANTED, then exactly one final event.  Always
 * called from the loop, never inside a call to this library.  Every function
 * of the library may be called from it, evzk_lock_free() included.
 */
typedef void evzk_lock_cb(evzk_lock *lock, evzk_lock_event event, int rc,
                          void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_lock_options {
    /** Longest wait for GRANTED; 0 waits forever.  At its end FAILED with
     * EVZK_ERR_TIMEOUT comes on time, whatever the server does; the znode is
     * deleted in the background.  A cancel that is under way still ends when
     * the znode is proved gone. */
    uint32_t timeout_ms;
    /** Look once and do not wait: FAILED with EVZK_ERR_BUSY when held.  With a
     * `timeout_ms`, for the case that there is no server to ask. */
    bool try_once;
    /** Fail with EVZK_ERR_EXPIRED or EVZK_ERR_NODEGONE instead of joining the
     * queue again. */
    bool no_requeue;
    /** Do not watch the own znode: one request less for a lock that is held, or
     * waits, for long; but a lock broken by an operator is noticed only after
     * the next loss of connection, instead of within two probe intervals of the
     * grant, and later at once. */
    bool no_own_watch;
    /** Data of the znode, for people to see; NULL takes the session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_LOCK_DATA_MAX. */
    /** ACL of the znode and of directories made; NULL takes the session's.  It
     * has to give us CREATE, DELETE and READ, or what is made cannot be used.
     */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_lock_options;

#define EVZK_LOCK_DATA_MAX 65536

/**
 * Starts to acquire the lock at @p path and returns at once.  Several locks on
 * one path in one session are separate contenders.
 *
 * A directory that is missing is made with the lock, and goes with the last
 * one; that takes CREATE and DELETE on the one above.  Where these are denied,
 * one that exists is used, and stays.  What is missing above it is made as
 * containers.
 *
 * @param s    Borrowed; closing it ends the lock with EVZK_ERR_CLOSED.
 * @param path Absolute path of the lock's directory. Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the lock.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_lock_free().
 *
 * @retval EVZK_OK         @p cb will be called.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb, FAILED: EVZK_ERR_CANCELED, _TIMEOUT, _BUSY, _NOAUTH (to
 * wait takes READ on the directory and on the znode before the own one),
 * _BADACL, _NOCHROOT, _NONODE (parents go away as fast as they are made),
 * _SEQUENCE, _EPHEMERAL, _UNSUPPORTED, _SERVER, _NOMEM, _CLOSED, _AUTH,
 * _INTERNAL, and with `no_requeue` _EXPIRED and _NODEGONE; the server's error
 * instead of these, when it refuses to delete the znode.  LOST: EVZK_ERR_LEASE
 * (no word from the leader), _EXPIRED, _NODEGONE (someone deleted the znode),
 * _CLOSED, _AUTH. Connection loss is gone through, not reported.
 */
EVZK_API int evzk_lock_acquire(evzk_session *s, const char *path,
                               const evzk_lock_options *opt, evzk_lock_cb *cb,
                               void *arg, evzk_lock **out);

/**
 * Gives up waiting; ends in FAILED/EVZK_ERR_CANCELED when the znode is proved
 * gone from the server, by its word or by the end of the session, and in
 * FAILED/EVZK_ERR_CLOSED when the session was closed and no server confirmed
 * it.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Granted already, ended, or about to end by itself.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_lock_cancel(evzk_lock *lock);

/**
 * Gives the lock back; evzk_lock_held() is false from now on.  Ends in RELEASED
 * when the znode is proved gone from the server, by its word or by the end of
 * the session; rc is EVZK_ERR_CLOSED when the session was closed and the server
 * gave no word.  Another lock of the session may hear GRANTED before that.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Not granted, given back already, or ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_lock_release(evzk_lock *lock);

/**
 * Ends ownership, in any state; NULL is a no-op.  No callback follows.  A znode
 * that may exist is still deleted, in the background.
 */
EVZK_API void evzk_lock_free(evzk_lock *lock);

/** True while the lock is surely held: computed now, against the lease. */
EVZK_API bool evzk_lock_held(const evzk_lock *lock);

/** Milliseconds that the lock is surely still held; 0 when it is not. */
EVZK_API uint32_t evzk_lock_lease_ms(const evzk_lock *lock);

/**
 * The fencing token: greater than that of every earlier grant of this lock,
 * over re-creations of its directory too.  0 before GRANTED.
 */
EVZK_API uint64_t evzk_lock_token(const evzk_lock *lock);

/** The name of the own znode in the directory; "" while there is none known.
 * Valid until the next callback of the lock. */
EVZK_API const char *evzk_lock_node(const evzk_lock *lock);

/** What the lock is waiting for, as the diagram in evzk_lock(3) names it. */
EVZK_API const char *evzk_lock_state(const evzk_lock *lock);

/** One who holds a lock or waits for it. */
typedef struct evzk_contender {
    const char *node;   /**< Name of the znode in the lock's directory. */
    bool holder;        /**< The first; the others wait, in this order. */
    bool hidden;        /**< Its ACL denies reading: nothing below is known. */
    int64_t session;    /**< Session that owns it; 0: a persistent znode. */
    uint64_t token;     /**< The fencing token it has, or would have. */
    int64_t created_ms; /**< When, by the server's clock, since 1970. */
    int64_t age_ms;     /**< How long ago, if the clocks agree; never < 0. */
    const void *data;   /**< What it says of itself. */
    size_t data_len;
} evzk_contender;

typedef struct evzk_lock_query evzk_lock_query; /**< One look-up. Opaque. */

/**
 * Hears the result, once: @p v has the @p n contenders in order, borrowed for
 * the call.  rc is EVZK_OK (with n 0 when nobody is there, or when the
 * directory does not exist) or as evzk_lock_query_start() says.
 */
typedef void evzk_lock_query_cb(evzk_lock_query *query, int rc,
                                const evzk_contender *v, size_t n, void *arg);

/**
 * Looks up who holds the lock at @p path and who waits for it, as the leader
 * knows it now.  Creates nothing.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later: EVZK_ERR_NOAUTH, _NOMEM, _CLOSED, _AUTH.
 */
EVZK_API int evzk_lock_query_start(evzk_session *s, const char *path,
                                   evzk_lock_query_cb *cb, void *arg,
                                   evzk_lock_query **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_lock_query_free(evzk_lock_query *query);

#ifdef __cplusplus
}
#endif

#endif
