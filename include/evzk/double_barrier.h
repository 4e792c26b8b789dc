/**
 * @file evzk/double_barrier.h
 * A double barrier: a number of participants enter a computation together, and
 * leave it together.  Nobody is let in before so many have come; nobody is told
 * that it has left before all of its round have gone.  Then the next round may
 * begin on the same path.
 *
 * Protocol: "Double Barriers" of the ZooKeeper recipes page, with a GUID in
 * every participant's name, and with a `ready` znode that says for which
 * participants of which directory it is.  So a `ready` that was left over or
 * copied, a participant of the next round, one that gives up at the last
 * moment, copies of participants, and foreign znodes do no harm.
 *
 * What no double barrier can promise: a participant may crash, or lose its
 * session, at any moment.  A participant that crashes inside counts as gone:
 * the others leave without it.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_DOUBLE_BARRIER_H
#define EVZK_DOUBLE_BARRIER_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One participant in one round.  Opaque. */
typedef struct evzk_double_barrier evzk_double_barrier;

/** What the callback reports. LEFT, LOST and FAILED are final. */
typedef enum evzk_double_barrier_event {
    /** Inside, with the others of its round: there was a moment at which all of
     * them stood at the barrier. */
    EVZK_DOUBLE_BARRIER_ENTERED = 1,
    /** The session is in doubt.  Still inside, until the lease ends
     * (evzk_double_barrier_lease_ms()). */
    EVZK_DOUBLE_BARRIER_SUSPENDED,
    /** Out of doubt: the place inside was never lost. */
    EVZK_DOUBLE_BARRIER_RESUMED,
    /** Final. Was inside, and has left.  With EVZK_OK all of its round have
     * gone.  With another rc others may still be inside; rc says why the wait
     * for them ended. */
    EVZK_DOUBLE_BARRIER_LEFT,
    /** Final. Was inside, and its place is lost: to the others it has gone.  rc
     * says why. */
    EVZK_DOUBLE_BARRIER_LOST,
    /** Final. Was never inside. rc says why. */
    EVZK_DOUBLE_BARRIER_FAILED
} evzk_double_barrier_event;

/** The name of an event, as in "ENTERED"; "?" for an unknown number.
 * Static, never NULL. */
EVZK_API const char *
evzk_double_barrier_event_name(evzk_double_barrier_event event);

/** Is this event the last one of a participant? */
EVZK_API bool
evzk_double_barrier_event_is_final(evzk_double_barrier_event event);

/**
 * Reports progress: at most one ENTERED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it,
 * evzk_double_barrier_free() included.
 */
typedef void evzk_double_barrier_cb(evzk_double_barrier *d,
                                    evzk_double_barrier_event event, int rc,
                                    void *arg);

/** Zero-initialize, then set what you need; `count` must be set. Everything is
 * copied. */
typedef struct evzk_double_barrier_options {
    /** So many participants make a round; exactly so many enter together.  All
     * processes that use the path must give the same number. */
    uint32_t count;
    /** Longest wait for ENTERED, from the call on, connecting included; 0 waits
     * for ever.  At its end FAILED with EVZK_ERR_TIMEOUT comes on time, and the
     * participant is withdrawn in the background. */
    uint32_t timeout_ms;
    /** Longest wait for LEFT, from evzk_double_barrier_leave() on; 0 waits for
     * ever.  At its end LEFT with EVZK_ERR_TIMEOUT comes on time. */
    uint32_t leave_timeout_ms;
    /** Data of the participant's znode, for the other participants to read
     * (evzk_double_barrier_query_start()); NULL takes the session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_DOUBLE_BARRIER_DATA_MAX. */
    /** ACL of the znodes and of directories made; NULL takes the session's. The
     * participants of a barrier need CREATE, DELETE and READ on its directory,
     * and READ and WRITE on `ready`. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_double_barrier_options;

#define EVZK_DOUBLE_BARRIER_DATA_MAX 65536

/**
 * Comes to the double barrier at @p path, and enters as soon as `count`
 * participants have come.  Several participants of one session are separate.
 * When the session expires before ENTERED, or somebody deletes the
 * participant's znode, the participant comes anew by itself.
 *
 * A directory that is missing is made as a container, and goes by itself some
 * time after the last participant.
 *
 * @param s    Borrowed; closing it ends the participant with EVZK_ERR_CLOSED.
 * @param path Absolute path of the barrier's directory. Copied.
 * @param opt  Copied, with all it points to; not NULL.
 * @param cb   Hears what becomes of the participant.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_double_barrier_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb, FAILED: EVZK_ERR_CANCELED, _TIMEOUT, _FOREIGN (`ready`
 * is another program's, or was made by hand), _NOAUTH, _BADACL, _NOCHROOT,
 * _QUOTA, _NONODE (parents go away as fast as they are made), _SEQUENCE,
 * _EPHEMERAL, _SERVER, _NOMEM, _CLOSED, _AUTH, _INTERNAL.  LOST: EVZK_ERR_LEASE
 * (no word from the leader), _EXPIRED, _NODEGONE (someone deleted the znode),
 * _CLOSED, _NOAUTH, _SERVER, _AUTH.  The loss of a connection alone ends no
 * participant.
 */
EVZK_API int evzk_double_barrier_enter(evzk_session *s, const char *path,
                                       const evzk_double_barrier_options *opt,
                                       evzk_double_barrier_cb *cb, void *arg,
                                       evzk_double_barrier **out);

/**
 * Leaves: from now on evzk_double_barrier_inside() is false.  Ends in LEFT,
 * with EVZK_OK when all participants of the round have gone.  That wait goes on
 * over a lost connection, and over the session's expiry.
 *
 * @retval EVZK_OK        LEFT will come.
 * @retval EVZK_ERR_STATE Not inside: ENTERED was not told yet, or the
 *                        participant has left, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_double_barrier_leave(evzk_double_barrier *d);

/**
 * Waits for nobody any more: the participant is withdrawn.  Ends in FAILED if
 * it was not inside, else in LEFT, both with EVZK_ERR_CANCELED, when its znode
 * is proved gone from the server.  To those inside it has gone.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_double_barrier_cancel(evzk_double_barrier *d);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A
 * znode that may exist is still deleted, in the background. */
EVZK_API void evzk_double_barrier_free(evzk_double_barrier *d);

/** True while the participant is surely inside: computed now, against the
 * lease. */
EVZK_API bool evzk_double_barrier_inside(const evzk_double_barrier *d);

/** Milliseconds for which it is surely still inside; 0: it is not. */
EVZK_API uint32_t evzk_double_barrier_lease_ms(const evzk_double_barrier *d);

/** The name of the participant's znode in the directory; "" while it is
 * unknown.  Valid until the next callback of the participant. */
EVZK_API const char *evzk_double_barrier_node(const evzk_double_barrier *d);

/** The participant's state, as the diagram in evzk_double_barrier(3) names it.
 * Static; "" for NULL. */
EVZK_API const char *evzk_double_barrier_state(const evzk_double_barrier *d);

/** A participant, as a look-up shows it. */
typedef struct evzk_participant {
    const char *node; /**< Name of the znode in the barrier's directory. */
    bool inside;     /**< It is in the round that has entered; else it waits. */
    bool hidden;     /**< Its ACL denies reading: nothing below is known. */
    int64_t session; /**< Session that owns it; 0: a persistent znode. */
    int64_t created_ms; /**< When, by the server's clock, since 1970. */
    const void *data;   /**< The data of its znode. */
    size_t data_len;
} evzk_participant;

/** A look-up. Opaque. */
typedef struct evzk_double_barrier_query evzk_double_barrier_query;

/**
 * Hears the result, once: @p v has the @p n participants in the order in which
 * they came, borrowed for the call.  rc is EVZK_OK (with n 0 when there is no
 * participant, or no directory) or as evzk_double_barrier_query_start() says.
 */
typedef void evzk_double_barrier_query_cb(evzk_double_barrier_query *query,
                                          int rc, const evzk_participant *v,
                                          size_t n, void *arg);

/**
 * Looks up who is at the double barrier at @p path, as the leader of the
 * servers knows it now, with their data.  Creates nothing.  Participants that
 * come, enter or leave during the look-up may be shown or not.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later: EVZK_ERR_NOCHROOT, _NOAUTH, _NOMEM, _SERVER, _CLOSED, _AUTH.
 */
EVZK_API int evzk_double_barrier_query_start(evzk_session *s, const char *path,
                                             evzk_double_barrier_query_cb *cb,
                                             void *arg,
                                             evzk_double_barrier_query **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_double_barrier_query_free(evzk_double_barrier_query *query);

#ifdef __cplusplus
}
#endif

#endif
