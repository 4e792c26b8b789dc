/**
 * @file evzk/multi_lock.h
 * A multi-lock: the locks of several paths, all of them or none.
 *
 * The paths are sorted by their bytes, and the locks are taken one after
 * another in this order.  So no two multi-locks wait for each other, nor does a
 * multi-lock and a program that takes single locks in the same order: Curator's
 * InterProcessMultiLock of mutexes, say, if its paths are sorted.  Each part is
 * a lock as evzk/lock.h has it, and keeps single locks on its path out.
 *
 * What no multi-lock can promise: a process that is paused may write long after
 * its locks went to others.  Send the fencing token of each part
 * (evzk_multi_lock_token()) with every write to what that part protects.
 *
 * Protocol: "Locks" and "Shared locks" of the ZooKeeper recipes page, for each
 * path.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_MULTI_LOCK_H
#define EVZK_MULTI_LOCK_H

#include <evzk/lock.h>
#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One attempt to hold several locks.  Opaque. */
typedef struct evzk_multi_lock evzk_multi_lock;

/** A lock of a multi-lock. */
typedef struct evzk_multi_lock_part {
    const char *path;    /**< Absolute path of the lock's directory. */
    evzk_lock_mode mode; /**< 0: EVZK_LOCK_EXCLUSIVE. */
} evzk_multi_lock_part;

#define EVZK_MULTI_LOCK_MAX 256 /**< Parts of one multi-lock. */

/** What the callback reports.  RELEASED, LOST and FAILED are final. */
typedef enum evzk_multi_lock_event {
    /** All parts are held from now on, until SUSPENDED or a final event. */
    EVZK_MULTI_LOCK_GRANTED = 1,
    /** In doubt, all still held until evzk_multi_lock_lease_ms() is 0: finish
     * what is begun, begin nothing new. */
    EVZK_MULTI_LOCK_SUSPENDED,
    /** Out of doubt: the znodes of all parts were seen again, none was lost. */
    EVZK_MULTI_LOCK_RESUMED,
    /** Not held yet; the session expired, its lease ended, or somebody deleted
     * a znode.  So the wait goes on at the end of a queue.  If a part was lost
     * that had been taken, all parts are given back, and the first one is the
     * next to be taken.  rc says why. */
    EVZK_MULTI_LOCK_REQUEUED,
    /** Final.  All were held; released as asked, and all proved gone from the
     * server.  rc is not 0 when the server refused to delete a znode: then that
     * znode stands until the server lets the session delete it, or the session
     * ends. */
    EVZK_MULTI_LOCK_RELEASED,
    /** Final.  All were held, and one is no longer: stop work now.  The others
     * are given back in the background.  rc says why. */
    EVZK_MULTI_LOCK_LOST,
    /** Final.  Never held.  rc says why.  The parts that were taken before are
     * proved gone; but when the time is over, or the session ends, they are
     * given back in the background.  Where the server refused to delete the
     * znode of a part, rc says that: the znode stands until the server lets the
     * session delete it, or the session ends. */
    EVZK_MULTI_LOCK_FAILED
} evzk_multi_lock_event;

/** The name of an event, as in "GRANTED"; "?" for an unknown number.  Static,
 * never NULL. */
EVZK_API const char *evzk_multi_lock_event_name(evzk_multi_lock_event event);

/** Is this event the last one of a multi-lock? */
EVZK_API bool evzk_multi_lock_event_is_final(evzk_multi_lock_event event);

/**
 * Reports progress: at most one GRANTED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_multi_lock_free()
 * included.
 */
typedef void evzk_multi_lock_cb(evzk_multi_lock *lock,
                                evzk_multi_lock_event event, int rc, void *arg);

/** Zero-initialize, then set what you need.  Everything is copied. */
typedef struct evzk_multi_lock_options {
    /** Longest wait for GRANTED, for all parts together, from the call on,
     * connecting included; 0 waits for ever.  At its end FAILED with
     * EVZK_ERR_TIMEOUT comes on time, whatever the server does; the parts that
     * were taken are given back in the background.  A cancel that is under way
     * still ends when all is proved gone. */
    uint32_t timeout_ms;
    /** Look once at each part and do not wait: FAILED with EVZK_ERR_BUSY when
     * one is held.  Set a `timeout_ms` too, for the case that no server
     * answers. */
    bool try_once;
    /** Fail with EVZK_ERR_EXPIRED, EVZK_ERR_LEASE or EVZK_ERR_NODEGONE instead
     * of joining a queue again. */
    bool no_requeue;
    /** Data of the znodes, for people to see; NULL takes the session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_LOCK_DATA_MAX. */
    /** ACL of the znodes and of directories made; NULL takes the session's.  It
     * must give this process CREATE, DELETE and READ. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_multi_lock_options;

/**
 * Starts to acquire the locks of all @p parts, and returns at once.  The order
 * of @p parts is of no matter but for the calls that name a part by its index.
 *
 * @param s     Borrowed; closing it ends the multi-lock with EVZK_ERR_CLOSED.
 * @param parts Copied, with the paths.  No path twice.
 * @param n     How many: 1 to EVZK_MULTI_LOCK_MAX.
 * @param opt   Copied, with all it points to; NULL for the defaults.
 * @param cb    Hears what becomes of the multi-lock.
 * @param arg   Borrowed; handed back to @p cb untouched.
 * @param out   Set on success: owned by the caller, evzk_multi_lock_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: what evzk_lock_acquire() says of a lock's FAILED and
 * LOST; the error is that of the part that failed, or was lost first:
 * evzk_multi_lock_failed_part().  The loss of a connection alone ends no
 * multi-lock.
 */
EVZK_API int evzk_multi_lock_acquire(evzk_session *s,
                                     const evzk_multi_lock_part *parts,
                                     size_t n,
                                     const evzk_multi_lock_options *opt,
                                     evzk_multi_lock_cb *cb, void *arg,
                                     evzk_multi_lock **out);

/**
 * Gives up waiting; ends in FAILED/EVZK_ERR_CANCELED when the znodes of all
 * parts are proved gone from the server, by its word or by the end of the
 * session, and in FAILED/EVZK_ERR_CLOSED when the session was closed before
 * that.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Granted already, ended, or about to end by itself.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_multi_lock_cancel(evzk_multi_lock *lock);

/**
 * Gives all parts back; evzk_multi_lock_held() is false from now on.  Ends in
 * RELEASED when the znodes of all parts are proved gone from the server, by its
 * word or by the end of the session; rc is EVZK_ERR_CLOSED when the session was
 * closed before that.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Not granted, given back already, or ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_multi_lock_release(evzk_multi_lock *lock);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  Znodes
 * that may exist are still deleted, in the background. */
EVZK_API void evzk_multi_lock_free(evzk_multi_lock *lock);

/** True while all parts are surely held: computed now, against the lease. */
EVZK_API bool evzk_multi_lock_held(const evzk_multi_lock *lock);

/** Milliseconds for which all parts are surely still held; 0: they are not. */
EVZK_API uint32_t evzk_multi_lock_lease_ms(const evzk_multi_lock *lock);

/**
 * The fencing token of a part, by its index in the list of the acquire, as
 * evzk_lock_token() has it: compare it with tokens of the same path alone.  0
 * before GRANTED, and for an index of no part; after RELEASED and LOST it stays
 * what it was.
 */
EVZK_API uint64_t evzk_multi_lock_token(const evzk_multi_lock *lock,
                                        size_t part);

/** The name of a part's znode in its directory, by the part's index; "" while
 * not all parts are held, and for an index of no part.  With the part's path
 * before it, the name can guard a write (evzk/guard.h).  Valid until the next
 * callback. */
EVZK_API const char *evzk_multi_lock_node(const evzk_multi_lock *lock,
                                          size_t part);

/** The index of the part that is to blame for FAILED or LOST: the server
 * refused it, it was held by another, it was lost first.  The number of parts:
 * no part is to blame, or nothing has failed. */
EVZK_API size_t evzk_multi_lock_failed_part(const evzk_multi_lock *lock);

/** What the multi-lock waits for, as the diagram in evzk_multi_lock(3) names
 * it.  Static; "" for NULL. */
EVZK_API const char *evzk_multi_lock_state(const evzk_multi_lock *lock);

#ifdef __cplusplus
}
#endif

#endif
