/**
 * @file evzk/lock.h
 * Locks on a path: exclusive locks, held by at most one live session, and
 * shared locks, held by one writer or by many readers.  Fair: granted in order
 * of arrival, and within one session in the order of the calls (evzk_lock(3),
 * "Order of arrival").  No herd: each waiter watches only the znode that it
 * waits for.
 *
 * Protocol: "Locks" and "Shared locks" of the ZooKeeper recipes page, with a
 * GUID in every contender's name, so that a create of unknown outcome is found
 * again.
 *
 * What no lock can promise: a process that is paused may write long after its
 * lock went to another.  Send the fencing token (evzk_lock_token()) with every
 * write, and let the resource refuse a token lower than the highest that it has
 * seen.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.  For other threads
 * there is evzk/lease.h.
 */
#ifndef EVZK_LOCK_H
#define EVZK_LOCK_H

#include <evzk/lease.h>
#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_lock evzk_lock; /**< One attempt to hold a lock. Opaque. */

/** What other processes may do while a lock is held.  Locks of all modes on one
 * path are in one queue, and keep each other out. */
typedef enum evzk_lock_mode {
    EVZK_LOCK_EXCLUSIVE, /**< No other lock is held with it. */
    EVZK_LOCK_WRITE,     /**< The same; can be downgraded to READ. */
    /** Other READ locks may be held with it.  It waits for the nearest lock
     * before it that is not READ: a reader never passes a writer that waits. */
    EVZK_LOCK_READ
} evzk_lock_mode;

/** What the callback reports. RELEASED, LOST and FAILED are final. */
typedef enum evzk_lock_event {
    /** Held from now on, until SUSPENDED or a final event. */
    EVZK_LOCK_GRANTED = 1,
    /** In doubt, still held until the lease ends (evzk_lock_lease_ms()):
     * finish what is begun, begin nothing new. */
    EVZK_LOCK_SUSPENDED,
    /** Out of doubt: the znode was seen again, the lock was never lost. */
    EVZK_LOCK_RESUMED,
    /** Not held yet; the session expired, or somebody deleted the znode.  So
     * the wait goes on at the end of the queue.  rc says why. */
    EVZK_LOCK_REQUEUED,
    /** Held as before, and in mode READ from now on: other READ locks may be
     * held with it.  With an rc that is not 0 the server has refused, and the
     * lock is what it was.  See evzk_lock_downgrade(). */
    EVZK_LOCK_DOWNGRADED,
    /** Held, or waiting, as before.  Another process asks this one to let go,
     * and may take the lock away in a while: see evzk_lock_revoke_start().
     * Comes once for each request. */
    EVZK_LOCK_REVOKE_REQUESTED,
    /** Final. Was held; released as asked, and proved gone from the server. rc
     * is not 0 when the server refused to delete the znode: then the znode
     * stands until the server lets the session delete it, or the session ends.
     */
    EVZK_LOCK_RELEASED,
    /** Final. Was held, and is no longer: stop work now. rc says why. */
    EVZK_LOCK_LOST,
    /** Final. Never held. rc says why. */
    EVZK_LOCK_FAILED
} evzk_lock_event;

/** The name of an event, as in "GRANTED"; "?" for an unknown number.
 * Static, never NULL. */
EVZK_API const char *evzk_lock_event_name(evzk_lock_event event);

/** Is this event the last one of a lock? */
EVZK_API bool evzk_lock_event_is_final(evzk_lock_event event);

/**
 * Reports progress: at most one GRANTED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_lock_free()
 * included.
 */
typedef void evzk_lock_cb(evzk_lock *lock, evzk_lock_event event, int rc,
                          void *arg);

/**
 * For locks of mode WRITE or READ that are not equally urgent.  Among those
 * that wait, the lower number goes first, and equal numbers in order of
 * arrival; a reader goes as soon as no more urgent writer waits before it.  A
 * holder is never passed, only asked to let go.
 *
 * Locks without a priority, on the same path, do not wait with the others: they
 * are the most urgent.
 */
typedef struct evzk_lock_priority {
    uint8_t priority; /**< 0 is the most urgent. */
    /** Against starvation: a lock that is less urgent by 1 counts as come so
     * many contenders later, and no more.  So at most ageing * (difference of
     * priorities) later locks pass it.  0: any number.  All locks on one path
     * should have the same. */
    uint32_t ageing;
    /** Ask holders that are less urgent to let go, as evzk_lock_revoke_start()
     * does. */
    bool revoke;
    /** With `revoke`: the time after which their znodes are deleted; 0:
     * never. */
    uint32_t grace_ms;
} evzk_lock_priority;

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_lock_options {
    evzk_lock_mode mode; /**< 0: EVZK_LOCK_EXCLUSIVE. */
    /** NULL: in order of arrival.  Not for EVZK_LOCK_EXCLUSIVE, and not with
     * `no_own_watch`. */
    const evzk_lock_priority *priority;
    /** Longest wait for GRANTED, from the call on, connecting included; 0 waits
     * forever.  At its end FAILED with EVZK_ERR_TIMEOUT comes on time, whatever
     * the server does; the znode is deleted in the background.  A time-out
     * shorter than a round trip always ends so.  A cancel that is under way
     * still ends when the znode is proved gone. */
    uint32_t timeout_ms;
    /** Look once and do not wait: FAILED with EVZK_ERR_BUSY when held.  Set a
     * `timeout_ms` too, for the case that no server answers. */
    bool try_once;
    /** Fail with EVZK_ERR_EXPIRED or EVZK_ERR_NODEGONE instead of joining the
     * queue again. */
    bool no_requeue;
    /** Do not watch the lock's own znode: one request less for a lock that is
     * held, or waits, for long.  But when an operator deletes the znode, a
     * holder notices it only after the next loss of connection, instead of
     * within two probe intervals of the grant, and later at once. */
    bool no_own_watch;
    /** Watch the lock's own znode at once: one request more for each lock. Then
     * REVOKE_REQUESTED, and LOST when an operator deletes the znode, come
     * without delay.  Without it they come within two probe intervals (of a
     * sixth of the session's time-out) of the grant, or of the beginning of the
     * wait, and later at once.  A lock with a priority always does so.  Not
     * with `no_own_watch`. */
    bool revocable;
    /** The names of the znode.  With EVZK_DIALECT_CURATOR the mode EXCLUSIVE
     * is an InterProcessMutex, WRITE and READ are an InterProcessReadWriteLock;
     * with EVZK_DIALECT_KAZOO they are Lock, WriteLock and ReadLock.  No
     * `priority` then.  The directory is made for the other library, too, and
     * does not go with the last lock: Curator's is a container, Kazoo's stays.
     */
    evzk_dialect dialect;
    /** Data of the znode, for people to see; NULL takes the session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_LOCK_DATA_MAX. */
    /** ACL of the znode and of directories made; NULL takes the session's.  It
     * must give this process CREATE, DELETE and READ. */
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
 * lock in it; that takes CREATE and DELETE on the directory above.  Where these
 * are denied, a directory that exists is used, and stays.  Missing parents of
 * the directory are made as containers.
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
 * Later, through @p cb, FAILED: EVZK_ERR_CANCELED, _TIMEOUT, _BUSY, _FOREIGN
 * (another library's contender is in the directory: see "Other libraries" in
 * evzk_lock(3)), _NOAUTH (to wait takes READ on the directory and on the znode
 * before the own one), _BADACL, _NOCHROOT, _QUOTA, _NONODE (what is above its
 * directory goes away as fast as it is made), _SEQUENCE, _EPHEMERAL,
 * _UNSUPPORTED, _SERVER, _NOMEM, _CLOSED, _AUTH, _INTERNAL, and with
 * `no_requeue` _EXPIRED and _NODEGONE; the server's error instead of these,
 * when it refuses to delete the znode.  LOST: EVZK_ERR_LEASE (no word from the
 * leader), _EXPIRED, _NODEGONE (someone deleted the znode), _CLOSED, _AUTH. The
 * loss of a connection alone ends no lock.
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
 * Turns a held lock of mode WRITE into one of mode READ.  No other writer can
 * hold the lock in between: the data written under it cannot change while it is
 * read.  From this call on other READ locks may be held, so write no more;
 * DOWNGRADED tells that they may.  The token stays the same; the znode becomes
 * another.
 *
 * @retval EVZK_OK        DOWNGRADED will come, unless the lock ends before.
 * @retval EVZK_ERR_STATE Not granted, not of mode WRITE, asked already, given
 *                        back, or ended.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; nothing has changed.
 */
EVZK_API int evzk_lock_downgrade(evzk_lock *lock);

/**
 * Always fails, and says why: two readers that both want to write would wait
 * for each other for ever.  Release the lock, acquire one of mode WRITE, and
 * look again at what was read.
 *
 * @retval EVZK_ERR_UPGRADE The lock is of mode READ.
 * @retval EVZK_ERR_STATE   The lock is of another mode: nothing to upgrade.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_lock_upgrade(evzk_lock *lock);

/** The mode it was acquired in; READ from evzk_lock_downgrade() on.  NULL:
 * EVZK_LOCK_EXCLUSIVE. */
EVZK_API evzk_lock_mode evzk_lock_mode_of(const evzk_lock *lock);

/**
 * Ends ownership, in any state; NULL is a no-op.  No callback follows.  A znode
 * that may exist is still deleted, in the background.
 */
EVZK_API void evzk_lock_free(evzk_lock *lock);

/** True while the lock is surely held: computed now, against the lease. */
EVZK_API bool evzk_lock_held(const evzk_lock *lock);

/**
 * The lease of the grant, for other threads: evzk/lease.h.  On this thread the
 * lease says at every moment what evzk_lock_held() says.  When the lock has
 * ended, the lease says no for ever; it may outlive lock and session.  A
 * downgrade does not end it: tell the threads that write, before
 * evzk_lock_downgrade().
 *
 * @param out Set on success: a reference, owned by the caller,
 *            evzk_lease_unref().  A second call gives the same lease.
 *
 * @retval EVZK_OK
 * @retval EVZK_ERR_STATE The lock is not held now.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; @p out is unset.
 */
EVZK_API int evzk_lock_lease(evzk_lock *lock, evzk_lease **out);

/** Milliseconds for which the lock is surely still held; 0: it is not. */
EVZK_API uint32_t evzk_lock_lease_ms(const evzk_lock *lock);

/**
 * The fencing token: greater than that of every earlier grant of this lock,
 * over re-creations of its directory too; but not after the servers were set up
 * anew, or restored from an older state: then they count from a lower number
 * (doc/promises.md).  0 before GRANTED; after RELEASED and
 * LOST it stays what it was, until the lock is freed.  At most INT64_MAX.
 * Locks on different paths may have the same token.  The token of a READ lock
 * is greater than that of every earlier grant of another mode; readers that
 * hold together have different tokens, in no order.
 */
EVZK_API uint64_t evzk_lock_token(const evzk_lock *lock);

/** The name of the lock's znode in the directory; "" while it is unknown.
 * Valid until the next callback of the lock. */
EVZK_API const char *evzk_lock_node(const evzk_lock *lock);

/** What the lock waits for, as the diagram in evzk_lock(3) names it. */
EVZK_API const char *evzk_lock_state(const evzk_lock *lock);

/** A holder of a lock, or a waiter. */
typedef struct evzk_contender {
    const char *node; /**< Name of the znode in the lock's directory. */
    /** The library that made the znode, if its name tells: "Curator" or
     * "Kazoo"; NULL: evzk, or unknown. Static. */
    const char *library;
    /** The contender follows the rules of that library, and another one in the
     * directory follows evzk's: neither waits for the other, and whether this
     * one holds or waits is unknown.  While it stands, evzk's locks are refused
     * with EVZK_ERR_FOREIGN.  It comes behind all others here.  Where all
     * follow the rules of one library, none is foreign. */
    bool foreign;
    /** The first contender; if that is a reader, those behind it too, up to the
     * next that is not.  The others wait, in this order. */
    bool holder;
    evzk_lock_mode mode; /**< By its name. */
    uint8_t priority;    /**< By its name; 0: no priority, or the highest. */
    bool hidden;         /**< Its ACL denies reading: nothing below is known. */
    int64_t session;     /**< Session that owns it; 0: a persistent znode. */
    /** The fencing token that it has, or would have.  0: not known yet, since
     * it waits with a priority; or none, since it is foreign. */
    uint64_t token;
    int64_t created_ms; /**< When, by the server's clock, since 1970. */
    int64_t age_ms;     /**< How long ago, if the clocks agree; never < 0. */
    const void *data;   /**< The data of its znode. */
    size_t data_len;
} evzk_contender;

typedef struct evzk_lock_query evzk_lock_query; /**< A look-up. Opaque. */

/**
 * Hears the result, once: @p v has the @p n contenders in order, borrowed for
 * the call.  rc is EVZK_OK (with n 0 when there is no contender, or no
 * directory) or as evzk_lock_query_start() says.
 */
typedef void evzk_lock_query_cb(evzk_lock_query *query, int rc,
                                const evzk_contender *v, size_t n, void *arg);

/**
 * Looks up the holders of the lock at @p path and its waiters, as the leader of
 * the servers knows them now.  Creates nothing.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later: EVZK_ERR_NOCHROOT, _NOAUTH, _NOMEM, _CLOSED, _AUTH.
 */
EVZK_API int evzk_lock_query_start(evzk_session *s, const char *path,
                                   evzk_lock_query_cb *cb, void *arg,
                                   evzk_lock_query **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_lock_query_free(evzk_lock_query *query);

/** Which contenders are asked to let go, and what happens if they do not.
 * Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_lock_revoke_options {
    /** The mode of the lock that they are in the way of: with READ, readers are
     * not asked. */
    evzk_lock_mode mode;
    /** The znode of a contender, from evzk_lock_node() ("" is EVZK_ERR_INVAL):
     * only contenders before it are asked.  NULL: all that hold the lock, or
     * wait in its queue. */
    const char *before;
    uint8_t priority; /**< Only contenders of this priority, or less urgent. */
    /** Only contenders with these names: with EVZK_DIALECT_EVZK evzk's own, and
     * Curator's mutexes; with another dialect all of that library.  Programs of
     * the library itself do not hear that they are asked. */
    evzk_dialect dialect;
    /** Delete the znodes that are still there `grace_ms` after their contenders
     * were asked: these hear LOST, or queue again. */
    bool remove;
    uint32_t grace_ms;
    /** Longest wait for all to have gone; 0 waits for ever.  A delete that is
     * under way is awaited first. */
    uint32_t timeout_ms;
    void *reserved[4]; /**< NULL. */
} evzk_lock_revoke_options;

/** What became of a contender that was asked. */
typedef enum evzk_revoked_how {
    EVZK_REVOKED_STAYS, /**< Not known to have gone when this ended. */
    /** The contender let go, or its session ended, or it was downgraded and
     * goes on reading. */
    EVZK_REVOKED_YIELDED,
    EVZK_REVOKED_REMOVED /**< Its znode was deleted by this operation. */
} evzk_revoked_how;

/** The name, as in "YIELDED"; "?" for an unknown number.  Static, never NULL.
 */
EVZK_API const char *evzk_revoked_how_name(evzk_revoked_how how);

typedef struct evzk_revoked {
    const char *node; /**< Name of the znode in the lock's directory. */
    evzk_revoked_how how;
} evzk_revoked;

typedef struct evzk_lock_revoke evzk_lock_revoke; /**< A request. Opaque. */

/**
 * Hears the end, once: @p v has the @p n contenders that were asked, in order,
 * borrowed for the call.  rc is EVZK_OK when all of them have gone (with n 0
 * when none was in the way), EVZK_ERR_TIMEOUT, EVZK_ERR_CANCELED, or as
 * evzk_lock_revoke_start() says.
 */
typedef void evzk_lock_revoke_cb(evzk_lock_revoke *revoke, int rc,
                                 const evzk_revoked *v, size_t n, void *arg);

/**
 * Asks contenders that are in the way at @p path to let go, waits until they
 * have gone, and with `remove` deletes the znodes of those that do not go.
 *
 * A contender is asked by writing exactly "unlock" to its znode, which takes
 * WRITE on it; it hears REVOKE_REQUESTED once, also if it was disconnected.
 * Contenders that come later are not asked.  The grace time begins when the
 * last one has been asked, and no znode is deleted before its end.
 *
 * @param opt  Copied, with all it points to; NULL: all contenders, no force.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later: EVZK_ERR_NOCHROOT, _NOAUTH (a znode may not be read, written to, or
 * deleted), _NOTEMPTY (one made by hand has children), _NOMEM, _SERVER,
 * _CLOSED, _AUTH.  The data that was written stays.
 */
EVZK_API int evzk_lock_revoke_start(evzk_session *s, const char *path,
                                    const evzk_lock_revoke_options *opt,
                                    evzk_lock_revoke_cb *cb, void *arg,
                                    evzk_lock_revoke **out);

/**
 * Waits no more, and deletes no further znode.  The callback comes with
 * EVZK_ERR_CANCELED, and what has become of each contender so far, in a later
 * turn of the loop; if a delete is under way, behind its answer.
 *
 * @retval EVZK_OK        The callback will come.
 * @retval EVZK_ERR_STATE Ended, or canceled already.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_lock_revoke_cancel(evzk_lock_revoke *revoke);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  From
 * now on no contender is asked, and no znode deleted. */
EVZK_API void evzk_lock_revoke_free(evzk_lock_revoke *revoke);

#ifdef __cplusplus
}
#endif

#endif
