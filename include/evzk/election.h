/**
 * @file evzk/election.h
 * Leader election on a path: of those that stand, at most one leads, and
 * everybody can see which one.  In order of arrival; no herd: each waits for
 * the one before it.
 *
 * Protocol: "Leader Election" of the ZooKeeper recipes page, with an own GUID
 * in every candidate's name.  Being first is not yet to lead: who is elected
 * does what it has to do first, and then acknowledges by a znode `leader`,
 * which others observe.
 *
 * What no election can promise: a process that is paused may act long after
 * another was elected.  Send the epoch (evzk_election_epoch()) with everything
 * that the leader writes, and let the resource refuse one lower than it has
 * seen.
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

/** One candidate, from the time it stands until its end.  Opaque. */
typedef struct evzk_election evzk_election;

/** What the callback reports. RESIGNED, LOST and FAILED are final. */
typedef enum evzk_election_event {
    /** First of all: get ready to lead, then evzk_election_acknowledge(). */
    EVZK_ELECTION_ELECTED = 1,
    /** The leader znode stands: others can see who leads.  With an rc that is
     * not 0 the server has refused it; elected as before. */
    EVZK_ELECTION_LEADING,
    /** In doubt, still elected until the lease ends (evzk_election_lease_ms()):
     * finish what is begun, begin nothing new. */
    EVZK_ELECTION_SUSPENDED,
    /** Out of doubt: the znode was seen again, nobody else was elected. */
    EVZK_ELECTION_RESUMED,
    /** Not elected yet; the session expired or the znode was deleted by
     * another, so it stands again behind the others. rc says why. */
    EVZK_ELECTION_REQUEUED,
    /** Somebody asks it to resign, as evzk_lock_revoke_start() does. */
    EVZK_ELECTION_RESIGN_REQUESTED,
    /** Final. Was elected; resigned as asked, and proved gone from the server.
     * rc is not 0 when the server refused to delete the znode: then it stands
     * until the session ends.  When another has deleted the znode, its leader
     * znode stays as long, or until the next leader replaces it; it names
     * nobody then, and observers say so. */
    EVZK_ELECTION_RESIGNED,
    /** Final. Was elected, no longer is: stop work now. rc says why. */
    EVZK_ELECTION_LOST,
    /** Final. Never elected. rc says why. */
    EVZK_ELECTION_FAILED
} evzk_election_event;

/** The name of an event, as in "ELECTED"; "?" for a number that is none.
 * Static, never NULL. */
EVZK_API const char *evzk_election_event_name(evzk_election_event event);

/** Is it the last that is told of this candidate (of a shard: until it comes
 * again)? */
EVZK_API bool evzk_election_event_is_final(evzk_election_event event);

/**
 * Reports progress: at most one ELECTED, and in the end exactly one final
 * event.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_election_free()
 * included.  Who wants to stand again after a final event volunteers again,
 * inside it or later, and is a candidate like any that comes.
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
    /** ACL of the znodes and of directories made; NULL takes the session's.  It
     * has to give us CREATE, DELETE and READ, and READ to those that observe.
     */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_election_options;

#define EVZK_ELECTION_DATA_MAX 65536

/**
 * Stands in the election at @p path, and returns at once.  Several candidates
 * of one session stand each for itself.  What is said of the directory in
 * evzk_lock_acquire() holds here; a path is one election's, and no lock's.
 *
 * @param s    Borrowed; closing it ends the candidacy with EVZK_ERR_CLOSED.
 * @param path Absolute path of the election's directory. Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of it.
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
 * Says that it is ready to lead: makes the znode `leader`, with the epoch and
 * @p data, for those that observe.  Once more, later, to say something else.
 *
 * @param data Copied; at most EVZK_ELECTION_DATA_MAX bytes.
 *
 * @retval EVZK_OK        LEADING will come, unless it ends before.
 * @retval EVZK_ERR_STATE Not elected, said already and not yet heard of,
 *                        resigned, or ended.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; nothing has changed.
 */
EVZK_API int evzk_election_acknowledge(evzk_election *election,
                                       const void *data, size_t len);

/**
 * Gives up what it is, or wants to be.  Of one that is elected: it is no longer
 * from now on, and ends in RESIGNED when its znodes are proved gone; the next
 * one may be elected before that is told.  Of one that waits: it ends in
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

/** True while it is surely first: computed now, against the lease. */
EVZK_API bool evzk_election_elected(const evzk_election *election);

/** The same, and it has said so, and LEADING was told. */
EVZK_API bool evzk_election_leading(const evzk_election *election);

/** As evzk_lock_lease(): its lease says what evzk_election_elected() says, and
 * its token is the epoch.  Whether it has said that it leads, it does not tell.
 */
EVZK_API int evzk_election_lease(evzk_election *election, evzk_lease **out);

/** Milliseconds that it is surely still first; 0 when it is not. */
EVZK_API uint32_t evzk_election_lease_ms(const evzk_election *election);

/** The epoch: greater than that of everyone elected here before, over
 * re-creations of the directory too.  0 before ELECTED; after RESIGNED and LOST
 * it stays what it was.  At most INT64_MAX.  Elections on different paths may
 * have the same one. */
EVZK_API uint64_t evzk_election_epoch(const evzk_election *election);

/** The name of the own znode in the directory; "" while there is none known.
 * Valid until the next callback of the election. */
EVZK_API const char *evzk_election_node(const evzk_election *election);

/** What it is waiting for, as the diagram in evzk_election(3) names it. */
EVZK_API const char *evzk_election_state(const evzk_election *election);

/** Who leads. */
typedef struct evzk_leader {
    uint64_t epoch;
    const char *node; /**< The name of its znode in the directory. */
    int64_t session;  /**< That owns it. */
    const void *data; /**< What it said. */
    size_t data_len;
} evzk_leader;

typedef struct evzk_observer evzk_observer; /**< One who looks. Opaque. */

/**
 * Hears who leads: at first, and of every change; @p leader, borrowed for the
 * call, is NULL when nobody does.  rc is not 0 only once, in the end: then
 * nothing more is heard.  Always called from the loop; every function of the
 * library may be called from it, evzk_observer_free() included.
 */
typedef void evzk_observer_cb(evzk_observer *observer, int rc,
                              const evzk_leader *leader, void *arg);

/**
 * Observes who leads at @p path, without standing.  Changes that follow each
 * other fast may be told as one.  A leader whose end was seen is not told
 * again.  While the session is in doubt nothing is heard: what was told last
 * may be over.  Creates nothing.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later, in the end: EVZK_ERR_NOCHROOT (nothing can be made below it), _NOAUTH
 * (the leader's znode may not be read; one that comes while it is observed is
 * not seen at all, nor who comes after it, before the next connection),
 * _SERVER, _CLOSED, _AUTH.
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
