/**
 * @file evzk/semaphore.h
 * A semaphore: at most n leases of a path are held at a time.  Fair: leases are
 * given in order of arrival.  No herd: a lease that is freed wakes one process.
 *
 * Protocol: "Semaphore" in the style of the ZooKeeper recipes page.  A lease is
 * an ephemeral znode in <path>/leases.  In front of them there is a lock,
 * <path>/locks: only its holder looks at the leases, and waits until there are
 * fewer than n.  Then it makes its own lease, in one transaction with a check
 * that it still has the lock, and that no lease was made since it looked; and
 * gives the lock to the next one.
 *
 * An operator who deletes both directories while leases are held, and makes
 * them anew with a copy of a lock's znode, may bring a lease too many.
 *
 * What no semaphore can promise: a process that is paused may go on working
 * long after its lease went to another.  Send the fencing token
 * (evzk_semaphore_token()) with every write.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.  For other threads
 * there is evzk/lease.h.
 */
#ifndef EVZK_SEMAPHORE_H
#define EVZK_SEMAPHORE_H

#include <evzk/lease.h>
#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An attempt to hold a lease.  Opaque. */
typedef struct evzk_semaphore evzk_semaphore;

/** What the callback reports.  RELEASED, LOST and FAILED are final. */
typedef enum evzk_semaphore_event {
    /** The lease is held from now on, until SUSPENDED or a final event. */
    EVZK_SEMAPHORE_ACQUIRED = 1,
    /** In doubt, still held until evzk_semaphore_lease_ms() is 0: finish what
     * is begun, begin nothing new. */
    EVZK_SEMAPHORE_SUSPENDED,
    /** Out of doubt: the znode was seen again, the lease was never lost. */
    EVZK_SEMAPHORE_RESUMED,
    /** Not held yet; the session or its lease ended, or somebody deleted the
     * znode.  So the wait goes on at the end of the queue.  rc says why:
     * EVZK_ERR_EXPIRED, _LEASE or _NODEGONE; or _SERVER or _NOAUTH, where the
     * server refuses to show the znode. */
    EVZK_SEMAPHORE_REQUEUED,
    /** Final.  Was held; released as asked, and proved gone from the server. rc
     * is not 0 when the server refused to delete the znode: then the lease
     * counts until the server lets the session delete it, or the session ends.
     */
    EVZK_SEMAPHORE_RELEASED,
    /** Final.  Was held, and is no longer: stop work now.  rc says why. */
    EVZK_SEMAPHORE_LOST,
    /** Final.  Never held.  rc says why. */
    EVZK_SEMAPHORE_FAILED
} evzk_semaphore_event;

/** The name of an event, as in "ACQUIRED"; "?" for an unknown number.  Static,
 * never NULL. */
EVZK_API const char *evzk_semaphore_event_name(evzk_semaphore_event event);

/** Is this event the last one of an attempt? */
EVZK_API bool evzk_semaphore_event_is_final(evzk_semaphore_event event);

/**
 * Reports progress: at most one ACQUIRED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_semaphore_free()
 * included.
 */
typedef void evzk_semaphore_cb(evzk_semaphore *semaphore,
                               evzk_semaphore_event event, int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_semaphore_options {
    /** n: the lease is acquired when fewer leases than this are held; 0 is 1.
     * The number counts for this attempt alone.  Where callers give different
     * numbers, each goes by its own: one with a small number may wait while
     * there would be a lease for one with a greater number behind it, which
     * does not pass it. */
    uint32_t leases;
    /** Longest wait for ACQUIRED, from the call on, connecting included; 0
     * waits for ever.  At its end FAILED with EVZK_ERR_TIMEOUT comes on time,
     * whatever the server does; what was made is deleted in the background. */
    uint32_t timeout_ms;
    /** Do not wait: FAILED with EVZK_ERR_BUSY when no lease is free, or when
     * another process is about to take one.  Set a `timeout_ms` too, for the
     * case that no server answers. */
    bool try_once;
    /** Fail with EVZK_ERR_EXPIRED, EVZK_ERR_LEASE or EVZK_ERR_NODEGONE instead
     * of joining the queue again. */
    bool no_requeue;
    /** The names of the znodes: with EVZK_DIALECT_CURATOR an
     * InterProcessSemaphoreV2 is shared, with EVZK_DIALECT_KAZOO a Semaphore.
     * All programs give the same number of leases then. */
    evzk_dialect dialect;
    /** Data of the lease's znode, for people to see; NULL takes the session's.
     */
    const void *data;
    size_t data_len; /**< At most EVZK_SEMAPHORE_DATA_MAX. */
    /** ACL of the znodes and of directories made; NULL takes the session's.  It
     * must give this process CREATE, DELETE, READ and WRITE. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_semaphore_options;

#define EVZK_SEMAPHORE_DATA_MAX 65536

/**
 * Starts to acquire one lease of the semaphore at @p path, and returns at once.
 * Several attempts of one session are separate.
 *
 * @param s    Borrowed; closing it ends the attempt with EVZK_ERR_CLOSED.
 * @param path Absolute path of the semaphore's directory. Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the attempt.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_semaphore_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb, FAILED: EVZK_ERR_CANCELED, _TIMEOUT, _BUSY, _FOREIGN
 * (another library waits in <path>/locks), _BADDATA (in Kazoo's dialect: the
 * semaphore has another number of leases), _NOAUTH, _BADACL, _NOCHROOT, _QUOTA,
 * _NONODE (directories go away as fast as they are made), _SEQUENCE,
 * _EPHEMERAL, _UNSUPPORTED, _SERVER, _NOMEM, _CLOSED, _AUTH, _INTERNAL, and
 * with `no_requeue` _EXPIRED, _LEASE and _NODEGONE.  LOST: EVZK_ERR_LEASE (no
 * word from the leader), _EXPIRED, _NODEGONE (someone deleted the znode),
 * _NOAUTH (the znode may not be read any more), _SERVER, _CLOSED, _AUTH.  The
 * loss of a connection alone ends no attempt.
 */
EVZK_API int evzk_semaphore_acquire(evzk_session *s, const char *path,
                                    const evzk_semaphore_options *opt,
                                    evzk_semaphore_cb *cb, void *arg,
                                    evzk_semaphore **out);

/**
 * Gives up waiting; ends in FAILED/EVZK_ERR_CANCELED when all that was made is
 * proved gone from the server, by its word or by the end of the session.  Where
 * that is not proved rc is another: EVZK_ERR_CLOSED when the session was closed
 * before; _SERVER or _NOAUTH when the server refused to delete what was made,
 * or to show it: then that is left until the server lets the session delete it,
 * or the session ends.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Acquired already, ended, or about to end by itself.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_semaphore_cancel(evzk_semaphore *semaphore);

/**
 * Gives the lease back; evzk_semaphore_held() is false from now on.  Ends in
 * RELEASED when the znode is proved gone from the server, by its word or by the
 * end of the session; rc is EVZK_ERR_CLOSED when the session was closed and the
 * server gave no word.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Not acquired, given back already, or ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_semaphore_release(evzk_semaphore *semaphore);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A
 * lease that may exist is still deleted, in the background. */
EVZK_API void evzk_semaphore_free(evzk_semaphore *semaphore);

/** True while the lease is surely held: computed now, against the session's
 * lease. */
EVZK_API bool evzk_semaphore_held(const evzk_semaphore *semaphore);

/**
 * The lease for other threads: evzk/lease.h.  On this thread it says at every
 * moment what evzk_semaphore_held() says.  When the attempt has ended, it says
 * no for ever; it may outlive attempt and session.
 *
 * @param out Set on success: a reference, owned by the caller,
 *            evzk_lease_unref().  A second call gives the same lease.
 *
 * @retval EVZK_OK
 * @retval EVZK_ERR_STATE The lease is not held now.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; @p out is unset.
 */
EVZK_API int evzk_semaphore_lease(evzk_semaphore *semaphore, evzk_lease **out);

/** Milliseconds for which the lease is surely still held; 0: it is not. */
EVZK_API uint32_t evzk_semaphore_lease_ms(const evzk_semaphore *semaphore);

/**
 * The fencing token: greater than that of every lease of this semaphore that
 * was made earlier.  With n above 1 that is not the order of ACQUIRED: a
 * process that loses its connection may hear late of a lease that was made long
 * ago.  0 before ACQUIRED; afterwards it stays.  At most INT64_MAX.  With n
 * leases a resource must accept the tokens of all n holders: the token tells
 * them apart, and tells which one came later.
 */
EVZK_API uint64_t evzk_semaphore_token(const evzk_semaphore *semaphore);

/** The name of the lease's znode in <path>/leases; "" while there is none.
 * It stays when the lease is given back or lost.  Valid until the next
 * callback. */
EVZK_API const char *evzk_semaphore_node(const evzk_semaphore *semaphore);

/** What the attempt waits for, as the diagram in evzk_semaphore(3) names it.
 * Static; "" for NULL. */
EVZK_API const char *evzk_semaphore_state(const evzk_semaphore *semaphore);

#ifdef __cplusplus
}
#endif

#endif
