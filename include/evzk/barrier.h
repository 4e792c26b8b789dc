/**
 * @file evzk/barrier.h
 * A barrier: a znode that holds processes back while it exists.  One process
 * sets it, others wait until somebody lifts it; then all of them pass.
 *
 * Protocol: "Barriers" of the ZooKeeper recipes page.  The znode is a plain
 * persistent one at the path itself, so that the barriers of other libraries
 * agree with these.  The lift wakes every process that waits: that is what a
 * barrier is for, and the one herd that no recipe can avoid.
 *
 * What no barrier can promise: a process that has passed does not know whether
 * somebody has set the barrier again since.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_BARRIER_H
#define EVZK_BARRIER_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One operation on a barrier: a set, a lift, or a wait.  Opaque. */
typedef struct evzk_barrier evzk_barrier;

/**
 * Reports the end of the operation, once; @p rc is EVZK_OK when the barrier was
 * set, lifted or passed.  Always called from the loop, never inside a call to
 * this library.  Every function of the library may be called from it,
 * evzk_barrier_free() included.
 */
typedef void evzk_barrier_cb(evzk_barrier *barrier, int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_barrier_options {
    /** Of a set: data of the znode, for people to see; NULL takes the
     * session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_BARRIER_DATA_MAX. */
    /** The operation ends with EVZK_ERR_TIMEOUT after this many milliseconds; 0
     * is never.  The time runs also while there is no connection. */
    uint32_t timeout_ms;
    /** Of a set: ACL of the znode and of directories made; NULL takes the
     * session's.  Other processes need READ on the znode to wait, and DELETE on
     * the directory above to lift the barrier. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_barrier_options;

#define EVZK_BARRIER_DATA_MAX 65536

/**
 * Sets the barrier: makes the znode @p path, and what is missing above it.  A
 * barrier that stands already is left as it is, and that is EVZK_OK.
 *
 * @param s    Borrowed; closing it ends the operation with EVZK_ERR_CLOSED.
 * @param path Absolute path of the barrier's znode, not "/". Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears the end.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_barrier_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_OK: the barrier stood at some time of the call.
 * EVZK_ERR_CONNLOSS: the connection was lost after the request, no barrier
 * stands now, and nobody can tell whether it was set and lifted since or never
 * set; a set is not repeated behind another process's lift.  EVZK_ERR_TIMEOUT,
 * _CANCELED, _CLOSED: the barrier may be set or not.  EVZK_ERR_NOCHROOT,
 * _NOAUTH, _BADACL, _EPHEMERAL (the znode above is ephemeral), _QUOTA, _SERVER,
 * _AUTH: not set by this call, unless the connection was lost during the call;
 * then the barrier may be set or not.
 */
EVZK_API int evzk_barrier_set(evzk_session *s, const char *path,
                              const evzk_barrier_options *opt,
                              evzk_barrier_cb *cb, void *arg,
                              evzk_barrier **out);

/**
 * Lifts the barrier: deletes the znode @p path.  A barrier that does not stand
 * is EVZK_OK.  A lift deletes at most one znode, also when the connection is
 * lost: a barrier that another process sets after that deletion is not touched.
 * When another process lifts the barrier and sets it again before this lift
 * ends, this lift may delete either of the two barriers, or none.
 *
 * Arguments and errors at once as in evzk_barrier_set(); of @p opt only
 * timeout_ms counts.
 *
 * Later, through @p cb: EVZK_OK: the barrier did not stand at some time of the
 * call.  EVZK_ERR_NOTEMPTY (the znode has children: it is no barrier),
 * _NOAUTH, _NOCHROOT, _SERVER, _AUTH: not lifted by this call, unless the
 * connection was lost during the call; then the barrier may be lifted or not.
 * EVZK_ERR_TIMEOUT, _CANCELED, _CLOSED: the barrier may be lifted or not.
 */
EVZK_API int evzk_barrier_lift(evzk_session *s, const char *path,
                               const evzk_barrier_options *opt,
                               evzk_barrier_cb *cb, void *arg,
                               evzk_barrier **out);

/**
 * Waits until the barrier does not stand.  A barrier that was lifted and set
 * again while the connection was lost has been lifted: the wait passes.  The
 * wait goes on over a lost connection, and over the session's expiry: it owns
 * nothing on the server.  The session must be allowed to read the znode:
 * servers do not tell a session of the end of a znode that it may not read.
 *
 * Arguments and errors at once as in evzk_barrier_set(); of @p opt only
 * timeout_ms counts.
 *
 * Later, through @p cb: EVZK_OK: the barrier did not stand at some time of the
 * call.  EVZK_ERR_NOAUTH (the session may not read the barrier, so it would not
 * hear of the lift), _TIMEOUT, _CANCELED, _CLOSED, _NOCHROOT (nobody can set a
 * barrier there), _SERVER, _AUTH.
 */
EVZK_API int evzk_barrier_wait(evzk_session *s, const char *path,
                               const evzk_barrier_options *opt,
                               evzk_barrier_cb *cb, void *arg,
                               evzk_barrier **out);

/**
 * Ends the operation: EVZK_ERR_CANCELED is told in a later turn of the loop.  A
 * set or a lift that was sent may be done all the same.
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_barrier_cancel(evzk_barrier *barrier);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A set
 * or a lift that was sent may be done all the same. */
EVZK_API void evzk_barrier_free(evzk_barrier *barrier);

/** The operation's state, as the diagrams in evzk_barrier(3) name it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_barrier_state(const evzk_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
