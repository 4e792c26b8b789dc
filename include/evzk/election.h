/**
 * @file evzk/election.h
 * Leader election on a path: of the candidates at most one leads, and every
 * process can see which one.  In order of arrival.  No herd: each candidate
 * watches only the one before it.
 *
 * Protocol: "Leader Election" of the ZooKeeper recipes page, with a GUID in
 * every candidate's name.  The first candidate is elected, and does not lead
 * yet: it gets ready, and then acknowledges by a znode `leader`, which other
 * processes observe.
 *
 * What no election can promise: a process that is paused may act long after
 * another was elected.  Send the epoch (evzk_election_epoch()) with everything
 * that the leader writes, and let the resource refuse an epoch lower than the
 * highest that it has seen.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.  For other threads
 * there is evzk/lease.h.
 */
#ifndef EVZK_ELECTION_H
#define EVZK_ELECTION_H

#include <evzk/lease.h>
#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One candidate, from evzk_election_volunteer() to its end.  Opaque. */
typedef struct evzk_election evzk_election;

/** What the callback reports. RESIGNED, LOST and FAILED are final. */
typedef enum evzk_election_event {
    /** The first candidate now: get ready to lead, then call
     * evzk_election_acknowledge(). */
    EVZK_ELECTION_ELECTED = 1,
    /** The znode `leader` is there: other processes can see who leads.  With an
     * rc that is not 0 the server has refused it; elected as before. */
    EVZK_ELECTION_LEADING,
    /** In doubt, still elected until the lease ends (evzk_election_lease_ms()):
     * finish what is begun, begin nothing new. */
    EVZK_ELECTION_SUSPENDED,
    /** Out of doubt: the znode was seen again, no other candidate was elected.
     */
    EVZK_ELECTION_RESUMED,
    /** Not elected yet; the session expired, or somebody deleted the znode.  So
     * the candidate stands again, behind the others.  rc says why. */
    EVZK_ELECTION_REQUEUED,
    /** Another process asks the candidate to resign, with
     * evzk_lock_revoke_start(). */
    EVZK_ELECTION_RESIGN_REQUESTED,
    /** Final. Was elected; resigned as asked, and proved gone from the server.
     * rc is not 0 when the server refused to delete the znode: then the znode
     * stands until the server lets the session delete it, or the session ends.
     * When somebody else had deleted the znode,
     * `leader` stays until the session ends or the next leader replaces it.
     * Observers see that `leader` names no candidate, and report that no
     * process leads. */
    EVZK_ELECTION_RESIGNED,
    /** Final. Was elected, and is no longer: stop work now. rc says why. */
    EVZK_ELECTION_LOST,
    /** Final. Never elected. rc says why. */
    EVZK_ELECTION_FAILED
} evzk_election_event;

/** The name of an event, as in "ELECTED"; "?" for an unknown number.
 * Static, never NULL. */
EVZK_API const char *evzk_election_event_name(evzk_election_event event);

/** Is this event the last one of a candidate?  (A shard may come again.) */
EVZK_API bool evzk_election_event_is_final(evzk_election_event event);

/**
 * Reports progress: at most one ELECTED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_election_free()
 * included.  To stand again after a final event, volunteer again, inside the
 * callback or later: that is a new candidate, behind the others.
 */
typedef void evzk_election_cb(evzk_election *election,
                              evzk_election_event event, int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_election_options {
    /** Data of the candidate's znode, for people to see; NULL takes the
     * session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_ELECTION_DATA_MAX. */
    /** Longest wait for ELECTED; 0 waits forever.  See evzk_lock_options. */
    uint32_t timeout_ms;
    /** Fail with EVZK_ERR_EXPIRED or EVZK_ERR_NODEGONE instead of standing
     * again behind the others. */
    bool no_requeue;
    /** Do not watch the own znode, or watch it at once: as in
     * evzk_lock_options. */
    bool no_own_watch, revocable;
    /** The names of the candidate's znode: with EVZK_DIALECT_CURATOR a
     * LeaderLatch is shared, with EVZK_DIALECT_KAZOO an Election.  The leader
     * of another library makes no znode `leader`: observers see only evzk's. */
    evzk_dialect dialect;
    /** ACL of the znodes and of directories made; NULL takes the session's.  It
     * must give this process CREATE, DELETE and READ, and observers READ. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_election_options;

#define EVZK_ELECTION_DATA_MAX 65536

/**
 * Makes a candidate in the election at @p path, and returns at once.  Several
 * candidates of one session are independent.  What evzk_lock_acquire() says of
 * the directory holds here.  Use a path for one election, and for no lock.
 *
 * @param s    Borrowed; closing it ends the candidacy with EVZK_ERR_CLOSED.
 * @param path Absolute path of the election's directory. Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the candidate.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_election_free().
 *
 * @retval EVZK_OK         @p cb will be called.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: the errors of evzk_lock_acquire(), FAILED and LOST.
 */
EVZK_API int evzk_election_volunteer(evzk_session *s, const char *path,
                                     const evzk_election_options *opt,
                                     evzk_election_cb *cb, void *arg,
                                     evzk_election **out);

/**
 * Says that the candidate is ready to lead: makes the znode `leader`, with the
 * epoch and @p data, for observers.  Call it again later to say something
 * else.
 *
 * @param data Copied; at most EVZK_ELECTION_DATA_MAX bytes.
 *
 * @retval EVZK_OK        LEADING will come, unless the candidate ends before.
 * @retval EVZK_ERR_STATE Not elected, resigned, or ended; or an earlier
 *                        acknowledgement has not been answered yet.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; nothing has changed.
 */
EVZK_API int evzk_election_acknowledge(evzk_election *election,
                                       const void *data, size_t len);

/**
 * Gives up the candidacy.  An elected candidate is not elected any more from
 * now on, and ends in RESIGNED when its znodes are proved gone; the next
 * candidate may be elected before that is told.  A candidate that waits ends in
 * FAILED/EVZK_ERR_CANCELED in the same way.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE Resigned already, ended, or about to end by itself.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_election_resign(evzk_election *election);

/**
 * Ends ownership, in any state; NULL is a no-op.  No callback follows.  Znodes
 * that may exist are still deleted, in the background.
 */
EVZK_API void evzk_election_free(evzk_election *election);

/** True while the candidate is surely elected: computed now, against the
 * lease. */
EVZK_API bool evzk_election_elected(const evzk_election *election);

/** The same, and it has acknowledged, and LEADING was told. */
EVZK_API bool evzk_election_leading(const evzk_election *election);

/** As evzk_lock_lease().  The lease says what evzk_election_elected() says, and
 * its token is the epoch.  It does not tell whether the candidate has
 * acknowledged. */
EVZK_API int evzk_election_lease(evzk_election *election, evzk_lease **out);

/** Milliseconds for which the candidate surely stays elected; 0: it is not. */
EVZK_API uint32_t evzk_election_lease_ms(const evzk_election *election);

/** The epoch: greater than that of every candidate elected here before, over
 * re-creations of the directory too.  0 before ELECTED; after RESIGNED and LOST
 * it stays what it was.  At most INT64_MAX.  Elections on different paths may
 * have the same one. */
EVZK_API uint64_t evzk_election_epoch(const evzk_election *election);

/** The name of the candidate's znode in the directory; "" while it is unknown.
 * Valid until the next callback of the election. */
EVZK_API const char *evzk_election_node(const evzk_election *election);

/** What the candidate waits for, as the diagram in evzk_election(3) names it.
 */
EVZK_API const char *evzk_election_state(const evzk_election *election);

/** The leader, as observers see it. */
typedef struct evzk_leader {
    uint64_t epoch;
    const char *node; /**< The name of its znode in the directory. */
    int64_t session;  /**< The session that owns the znode. */
    const void *data; /**< What the leader acknowledged with. */
    size_t data_len;
} evzk_leader;

typedef struct evzk_observer evzk_observer; /**< Observes. Opaque. */

/**
 * Hears who leads, at first and at every change; @p leader is borrowed for the
 * call, and NULL when nobody leads.  rc is not 0 only once, in the end: then
 * nothing more is heard.  Always called from the loop; every function of the
 * library may be called from it, evzk_observer_free() included.
 */
typedef void evzk_observer_cb(evzk_observer *observer, int rc,
                              const evzk_leader *leader, void *arg);

/**
 * Observes who leads at @p path, and creates nothing.  Changes that follow each
 * other fast may be told as one.  A leader whose end was seen is not told
 * again.  While the session is in doubt nothing is heard: what was told last
 * may be over.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later, in the end: EVZK_ERR_NOCHROOT (no znode can be below it), _NOAUTH (the
 * leader's znode may not be read; if such a znode comes while the observer
 * waits, the observer sees neither it nor later ones before the next
 * connection), _SERVER, _CLOSED, _AUTH.
 */
EVZK_API int evzk_election_observe(evzk_session *s, const char *path,
                                   evzk_observer_cb *cb, void *arg,
                                   evzk_observer **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_observer_free(evzk_observer *observer);

#ifdef __cplusplus
}
#endif

#endif
