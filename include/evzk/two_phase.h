/**
 * @file evzk/two_phase.h
 * Two-phase commit: a coordinator puts a question to several sites; each site
 * votes to commit or to abort; all hear the same decision.
 *
 * The transaction itself travels through ZooKeeper.  The question, each vote
 * and the decision are written once, and nobody changes them.  Anybody may
 * decide: to abort at any time; to commit only when every site has voted so.
 * The first decision counts, and all others follow it.  So a coordinator that
 * has died, or sleeps, holds up nobody, and one that wakes up too late
 * overturns nothing.  doc/two-phase.md says what this promises, and what not.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_TWO_PHASE_H
#define EVZK_TWO_PHASE_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A transaction, at its coordinator.  Opaque. */
typedef struct evzk_tx evzk_tx;

/** A site, which takes part in transactions.  Opaque. */
typedef struct evzk_site evzk_site;

/** A transaction, at a site.  Opaque; belongs to the site. */
typedef struct evzk_site_tx evzk_site_tx;

/** Which processes watch the votes.  The decision is the same in all of them.
 */
typedef enum evzk_tx_variant {
    /** The coordinator alone watches the votes; the sites wait for its
     * decision.  If the coordinator's session ends before that, they decide. */
    EVZK_TX_MEDIATED,
    /** Every site watches all votes, and decides by itself.  The coordinator
     * may go. */
    EVZK_TX_PLAIN,
    /** As mediated; and a site whose session ends between the question and its
     * vote has voted to abort. */
    EVZK_TX_PRESENCE
} evzk_tx_variant;

/** A vote, or a decision. */
typedef enum evzk_tx_verdict {
    EVZK_TX_NONE, /**< None yet, or it is not known yet. */
    EVZK_TX_COMMIT,
    EVZK_TX_ABORT
} evzk_tx_verdict;

/** "COMMIT", "ABORT" or "NONE"; "?" for any other number. */
EVZK_API const char *evzk_tx_verdict_name(evzk_tx_verdict verdict);

#define EVZK_TX_ID_LEN 36        /**< As in the name of its znode. */
#define EVZK_TX_SITES_MAX 512    /**< Of one transaction. */
#define EVZK_TX_SITE_NAME_MAX 64 /**< Bytes of a site's name. */
#define EVZK_TX_DATA_MAX 65536   /**< Of a question, and of a vote. */

/* ---- The coordinator's side. ---- */

/** What the coordinator hears.  FINISHED and FAILED are final. */
typedef enum evzk_tx_event {
    /** The question stands, and every site will find it. */
    EVZK_TX_BEGUN = 1,
    /** A site has voted: see evzk_tx_vote. */
    EVZK_TX_VOTE,
    /** Decided: evzk_tx_decision() and evzk_tx_token() say what.  rc says why
     * the coordinator wanted to abort: EVZK_ERR_TIMEOUT, EVZK_ERR_CANCELED
     * (evzk_tx_abort()), or an error; else EVZK_OK. */
    EVZK_TX_DECIDED,
    /** Final.  Every site has said that it is done.  Nothing of the transaction
     * is left; or only its own znode, for the coordinator that began it, if
     * that lives, and this one is a successor. */
    EVZK_TX_FINISHED,
    /** Final; rc says why.  Without BEGUN before: nothing was begun; but with
     * EVZK_ERR_CONNLOSS, _TOOLARGE or _CLOSED nobody knows.  After BEGUN: what
     * is or will be decided is not known here.  After DECIDED: the decision
     * stands, but not all sites were seen done.  evzk_tx_recover() goes on with
     * it, once the cause is gone. */
    EVZK_TX_FAILED,
    /** The servers refuse the decision, and rc says why: EVZK_ERR_NOAUTH,
     * _QUOTA, _SERVER, _TOOLARGE or another.  The sites that have voted wait.
     * So the coordinator asks again: after two seconds, then every half minute,
     * or, with _SERVER, every two seconds; also to abort, when its time is
     * over, and also when it was freed.  Told once.  Before BEGUN: the answer
     * to the begin was lost, and the servers refuse to say what became of it.
     * Sites may have found the question.  So the coordinator asks again in the
     * same way, until BEGUN, or FAILED, can be told; also when its time is
     * over, or it was canceled.  Told once, too. */
    EVZK_TX_REFUSED
} evzk_tx_event;

/** The event's name, as "BEGUN"; "?" for any other number. */
EVZK_API const char *evzk_tx_event_name(evzk_tx_event event);

/** Is this event the last one of a transaction? */
EVZK_API bool evzk_tx_event_is_final(evzk_tx_event event);

/** A vote; borrowed for the call. */
typedef struct evzk_tx_vote {
    const char *site;
    evzk_tx_verdict verdict;
    const void *data; /**< NULL without `vote_data` in the options. */
    size_t len;
} evzk_tx_vote;

/**
 * Reports progress: at most one BEGUN, one VOTE for each site, one REFUSED
 * before BEGUN and one behind it, one DECIDED, and in the end exactly one final
 * event.  @p vote is not NULL for
 * VOTE alone.  Always called from the loop, never inside a call to this
 * library. Every function of the library may be called from it, evzk_tx_free()
 * included.
 */
typedef void evzk_tx_cb(evzk_tx *tx, evzk_tx_event event,
                        const evzk_tx_vote *vote, int rc, void *arg);

/** Zero-initialize, then set what you need; `sites` must be set, but for
 * evzk_tx_recover().  Everything is copied. */
typedef struct evzk_tx_options {
    evzk_tx_variant variant;
    /** The names of the sites, each once: 1 to EVZK_TX_SITE_NAME_MAX bytes,
     * without a slash or control characters, not "." or "..". */
    const char *const *sites;
    size_t n_sites;
    const void *question;
    size_t question_len; /**< At most EVZK_TX_DATA_MAX. */
    /** Without a decision after so many milliseconds, from the call on, the
     * coordinator decides to abort; 0: never.  A decision is a write: it is
     * told when the servers have answered; so is FAILED, if the begin was sent.
     */
    uint32_t timeout_ms;
    /** VOTE has the data of the vote.  This costs a read for each vote. */
    bool vote_data;
    /** ACL of all that is made for the transaction; NULL takes the session's.
     * The begin is one transaction of two znodes a site, each with this ACL: it
     * may have 1,047,000 bytes at most, or is refused with EVZK_ERR_INVAL.
     * All who take part need all permissions but ADMIN. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_tx_options;

/**
 * Begins a transaction: one write makes the question and tells every site of
 * it, or does nothing.  Transactions that begin at the same time, and whatever
 * else several of them write, go to the servers together.
 *
 * @param s    Borrowed; closing it ends the object with EVZK_ERR_CLOSED.
 * @param root Absolute path below which all transactions of these sites are,
 *             not "/".  Copied.
 * @param opt  Copied, with all it points to; not NULL.
 * @param cb   Hears what becomes of the transaction.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_tx_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_ERR_NONODE (a site of that name never started),
 * _CANCELED, _TIMEOUT (nothing was begun), _CONNLOSS (the session has expired
 * while it began, and nothing is there: it was never begun, or is over),
 * _TOOLARGE (the servers hang up at the transaction, each time, and nothing is
 * there: give less data, or raise their jute.maxbuffer),
 * _NODEGONE (somebody deleted it), _FOREIGN (somebody wrote to it), _NOAUTH,
 * _BADACL, _NOCHROOT, _QUOTA, _NOTEMPTY, _SERVER, _NOMEM, _CLOSED, _AUTH,
 * _INTERNAL.
 */
EVZK_API int evzk_tx_begin(evzk_session *s, const char *root,
                           const evzk_tx_options *opt, evzk_tx_cb *cb,
                           void *arg, evzk_tx **out);

/**
 * Takes a transaction over that another coordinator has begun: collects what
 * votes there are, decides, and cleans up.  Safe while the other coordinator
 * lives, too: both follow the first decision.  BEGUN is told when the
 * transaction was found.
 *
 * @param id  As evzk_tx_id() or a look-up shows it.  Copied.
 * @param opt As above, without variant, sites and question; or NULL.
 *
 * Returns and tells as evzk_tx_begin(); EVZK_ERR_NODEGONE: no such transaction;
 * EVZK_ERR_FOREIGN: the znode of that name says what no coordinator has
 * written, or is of a newer format, or a copy of a decided transaction.
 */
EVZK_API int evzk_tx_recover(evzk_session *s, const char *root, const char *id,
                             const evzk_tx_options *opt, evzk_tx_cb *cb,
                             void *arg, evzk_tx **out);

/**
 * Decides to abort, unless somebody has decided.  If nothing was begun yet,
 * FAILED comes with EVZK_ERR_CANCELED.
 *
 * @retval EVZK_OK        The decision, or FAILED, will be told.
 * @retval EVZK_ERR_STATE Asked for before, or by a time-out; evzk_tx_decision()
 *                        is known; or the transaction has ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_tx_abort(evzk_tx *tx);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A
 * transaction that is not decided is aborted, and cleaned up, in the
 * background. */
EVZK_API void evzk_tx_free(evzk_tx *tx);

/** The transaction's id; valid until it is freed.  "" for NULL. */
EVZK_API const char *evzk_tx_id(const evzk_tx *tx);

/** The decision; EVZK_TX_NONE until DECIDED is told.  While the session is
 * being closed DECIDED is not told, and the decision is known all the same. */
EVZK_API evzk_tx_verdict evzk_tx_decision(const evzk_tx *tx);

/** The number of the decision: the same for all who hear of it, and not smaller
 * than that of any earlier decision.  Transactions that are decided at the same
 * moment share one: evzk_tx_id() is what identifies a decision.  0 until
 * evzk_tx_decision() is known. */
EVZK_API int64_t evzk_tx_token(const evzk_tx *tx);

/** The state, as its diagram names it: doc/tx.svg.  Static; "" for
 * NULL. */
EVZK_API const char *evzk_tx_state(const evzk_tx *tx);

/* ---- A site. ---- */

/** What a site hears.  FINISHED and FAILED end a transaction at this site, and
 * ENDED ends the site: these three come also while the session is being
 * closed. */
typedef enum evzk_site_event {
    /** A question: evzk_site_tx_vote() answers it. */
    EVZK_SITE_QUESTION = 1,
    /** The site's vote stands: evzk_site_tx_own_vote().  A site that starts
     * again hears so of votes that it cast before. */
    EVZK_SITE_VOTED,
    /** Decided: evzk_site_tx_decision().  Make it durable, together with
     * evzk_site_tx_id(), by which a site knows it when it is told again; then
     * call evzk_site_tx_done().  COMMIT comes only where the site's own vote to
     * commit stands. */
    EVZK_SITE_DECIDED,
    /** Ends the transaction here: what evzk_site_tx_done() said stands. */
    EVZK_SITE_FINISHED,
    /** Ends the transaction here, with an error: EVZK_ERR_NODEGONE (somebody
     * deleted it, or the site's vote), _FOREIGN (somebody wrote to it, or
     * decided to commit without the site's vote), _CLOSED, or another.  Where
     * the servers have only refused to answer, as with _SERVER, the site looks
     * again after two seconds, and tells what it then finds as if it was new.
     * With _NOAUTH (the site may not read it) nothing need have been told of it
     * before; then, and with _TOOLARGE (the servers hang up at what the site
     * writes or reads, each time), it looks again every half minute, and tells
     * what it then finds as if it was new.  So it does with _FOREIGN where it
     * has voted to commit and somebody wrote to the transaction, or where it
     * cannot read that, which may be of a newer version: what it has there
     * stands, until somebody deletes the transaction.  A site that starts again
     * is told _FOREIGN and _NODEGONE also where this start was told nothing
     * before: an earlier one may have voted. */
    EVZK_SITE_FAILED,
    /** Final.  The site has ended, and all its transactions with it; rc says
     * why. */
    EVZK_SITE_ENDED
} evzk_site_event;

/** The event's name, as "QUESTION"; "?" for any other number. */
EVZK_API const char *evzk_site_event_name(evzk_site_event event);

/** Is this event the last one of a site? */
EVZK_API bool evzk_site_event_is_final(evzk_site_event event);

/**
 * Reports what becomes of a site and its transactions.  @p tx is NULL for ENDED
 * alone; it is valid until FINISHED or FAILED was told of it, or the site has
 * ended.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it, evzk_site_free()
 * included.
 */
typedef void evzk_site_cb(evzk_site *site, evzk_site_event event,
                          evzk_site_tx *tx, int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_site_options {
    /** ACL of all that the site makes; NULL takes the session's.  Coordinators
     * need CREATE on the site's inbox. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_site_options;

/**
 * Starts a site.  Each transaction that it has not finished is told, also those
 * of an earlier start: a question that it has not answered with QUESTION, a
 * vote that it has cast with VOTED, a decision with DECIDED.  Only one process
 * at a time may be the site of a name.
 *
 * @param s    Borrowed; closing it ends the site with EVZK_ERR_CLOSED.
 * @param root As in evzk_tx_begin().  Copied.
 * @param name The site's name, as transactions have it.  Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the site.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_site_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, with ENDED: EVZK_ERR_CANCELED, _NOCHROOT, _NOAUTH, _BADACL, _QUOTA,
 * _NONODE, _SERVER, _NOMEM, _CLOSED, _AUTH, _INTERNAL.  Once the site has
 * listed its inbox, no refusal that may pass ends it (_NOAUTH, _QUOTA, _SERVER,
 * _NONODE, _NOCHROOT): it says so in the log, once, and tries again within
 * three session time-outs, half a minute at most.
 */
EVZK_API int evzk_site_start(evzk_session *s, const char *root,
                             const char *name, const evzk_site_options *opt,
                             evzk_site_cb *cb, void *arg, evzk_site **out);

/**
 * Ends the site: ENDED with EVZK_ERR_CANCELED.  Transactions
 * that it has not finished stay for its next start.  With EVZK_TX_PRESENCE a
 * question without a vote is thereby answered with abort.
 *
 * @retval EVZK_OK        ENDED will come.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_site_cancel(evzk_site *site);

/** The same, and ends ownership; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_site_free(evzk_site *site);

/** The state, as its diagram names it: doc/site.svg.  Static; "" for
 * NULL. */
EVZK_API const char *evzk_site_state(const evzk_site *site);

/**
 * Votes.  VOTED comes when the vote stands; DECIDED comes without it if the
 * decision was there before.
 *
 * @param verdict EVZK_TX_COMMIT or EVZK_TX_ABORT.
 * @param data    Copied; for the coordinator.
 * @param len     At most EVZK_TX_DATA_MAX.
 *
 * @retval EVZK_OK        The vote will be cast.
 * @retval EVZK_ERR_STATE Not asked, or voted before, or decided.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_site_tx_vote(evzk_site_tx *tx, evzk_tx_verdict verdict,
                               const void *data, size_t len);

/**
 * Decides to abort, unless it is decided: a site may do so at any time, also
 * when it has voted to commit and has waited for too long.
 *
 * @retval EVZK_OK        DECIDED will come.
 * @retval EVZK_ERR_STATE Decided, as far as was told; or asked for before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_site_tx_abort(evzk_site_tx *tx);

/**
 * The decision is durable here: FINISHED comes when the servers know so.
 *
 * @retval EVZK_OK        FINISHED will come.
 * @retval EVZK_ERR_STATE DECIDED was not told, or done before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_site_tx_done(evzk_site_tx *tx);

/** The transaction's id, which no other transaction ever has.  "" for NULL. */
EVZK_API const char *evzk_site_tx_id(const evzk_site_tx *tx);

/** The question; borrowed, as long as the transaction is valid. */
EVZK_API const void *evzk_site_tx_question(const evzk_site_tx *tx, size_t *len);

/** The site's own vote, as it stands; EVZK_TX_NONE before VOTED. */
EVZK_API evzk_tx_verdict evzk_site_tx_own_vote(const evzk_site_tx *tx);

/** The decision; EVZK_TX_NONE before DECIDED. */
EVZK_API evzk_tx_verdict evzk_site_tx_decision(const evzk_site_tx *tx);

/** The number of the decision, which other transactions may have too: see
 * evzk_tx_token(). */
EVZK_API int64_t evzk_site_tx_token(const evzk_site_tx *tx);

/** Keeps a pointer of the program's with the transaction. */
EVZK_API void evzk_site_tx_set_arg(evzk_site_tx *tx, void *arg);
EVZK_API void *evzk_site_tx_arg(const evzk_site_tx *tx);

/** The state, as its diagram names it: doc/site-tx.svg.  Static; "" for
 * NULL. */
EVZK_API const char *evzk_site_tx_state(const evzk_site_tx *tx);

/* ---- Look-ups. ---- */

/** A transaction, as a look-up shows it. */
typedef struct evzk_tx_info {
    const char *id;
    bool orphan; /**< The session that began it has ended. */
    bool hidden; /**< Its ACL denies reading, or this version of the library
                    cannot read what it says: nothing below is known. */
    evzk_tx_variant variant;
    evzk_tx_verdict decision; /**< EVZK_TX_NONE: not decided. */
    int64_t token;            /**< Of the decision; or 0. */
    int64_t created_ms;       /**< By the server's clock, since 1970. */
} evzk_tx_info;

/** A look-up.  Opaque. */
typedef struct evzk_tx_query evzk_tx_query;

/**
 * Hears the result, once: @p v has the @p n transactions, borrowed for the
 * call.  rc is EVZK_OK or as evzk_tx_query_start() says.
 */
typedef void evzk_tx_query_cb(evzk_tx_query *query, int rc,
                              const evzk_tx_info *v, size_t n, void *arg);

/**
 * Looks up the transactions below @p root: a successor takes the orphans over
 * with evzk_tx_recover().  Creates nothing.
 *
 * @retval EVZK_OK  @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 *
 * Later: EVZK_ERR_NOCHROOT, _NOAUTH, _NOMEM, _SERVER, _CLOSED, _AUTH.
 */
EVZK_API int evzk_tx_query_start(evzk_session *s, const char *root,
                                 evzk_tx_query_cb *cb, void *arg,
                                 evzk_tx_query **out);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_tx_query_free(evzk_tx_query *query);

#ifdef __cplusplus
}
#endif

#endif
