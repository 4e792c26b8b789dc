/**
 * @file evzk/chubby.h
 * Chubby's interface: handles on small files, each with a lock.
 *
 * A handle is opened on a file, which is a znode with contents.  Through the
 * handle the contents are read, from a copy that the servers keep up to date;
 * they are written, also only if they are still of a known generation; the file
 * is deleted; its children are listed; and its lock is acquired, shared or
 * exclusive.  A handle belongs to one instance of the file: when the file is
 * deleted, the handle becomes invalid, and stays so if a file of the same name
 * is made.
 *
 * A sequencer is a text that says which lock its sender holds.  Another process
 * checks it before it does what it is asked for, so that a primary which was
 * stopped past its session cannot write late.
 *
 * What ZooKeeper cannot give: a write does not wait until the copies of others
 * are invalid.  A copy may be read for a moment after another process has
 * written; see evzk_chubby(3), which compares the two point by point.
 *
 * Protocol: "The Chubby lock service for loosely-coupled distributed systems"
 * (Burrows, 2006), section 2; on ZooKeeper, see evzk_chubby(3), "Znodes".
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_CHUBBY_H
#define EVZK_CHUBBY_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_chubby evzk_chubby; /**< A handle.  Opaque. */

/** What a handle reports.  CLOSED and ENDED are final. */
typedef enum evzk_chubby_event {
    /** The file exists, and its contents are known: every operation may be
     * called from now on. */
    EVZK_CHUBBY_OPENED = 1,
    /** The contents have changed. */
    EVZK_CHUBBY_CONTENTS_CHANGED,
    /** A child has come, has gone, or has other contents: see the callback's
     * `name`.  With `children` only. */
    EVZK_CHUBBY_CHILD_ADDED,
    EVZK_CHUBBY_CHILD_REMOVED,
    EVZK_CHUBBY_CHILD_CHANGED,
    /** Somebody has come to the front of the lock's queue: this handle, or that
     * of another process.  With `lock_events` only. */
    EVZK_CHUBBY_LOCK_ACQUIRED,
    /** This handle holds the lock, and another handle, of whatever process,
     * waits for it.  With `lock_events` only.  Comes once for each that waits.
     */
    EVZK_CHUBBY_CONFLICT,
    /** This handle has held the lock, and does not hold it any more: stop work
     * now.  rc says why.  The handle stays open. */
    EVZK_CHUBBY_LOCK_LOST,
    /** The session is in doubt: no word from the servers.  A lock that is held
     * is held until evzk_chubby_lease_ms() is 0. */
    EVZK_CHUBBY_JEOPARDY,
    /** The session has come out of the doubt. */
    EVZK_CHUBBY_SAFE,
    /** The file was deleted (rc is EVZK_ERR_NODEGONE), or cannot be read any
     * more; or the sequencer of the handle is not valid any more
     * (EVZK_ERR_STATE).  Operations that are outstanding fail.  Later ones are
     * refused, but for a release, and for those that end the handle.  Behind it
     * come LOCK_LOST, JEOPARDY, SAFE and the end, and no other event. */
    EVZK_CHUBBY_INVALID,
    /** Final.  Closed as asked; a lock was given back, and is proved gone.  rc
     * is not 0 when the servers refused to take the lock's znodes away. */
    EVZK_CHUBBY_CLOSED,
    /** Final.  The handle was not opened, or its session has ended.  rc says
     * why. */
    EVZK_CHUBBY_ENDED
} evzk_chubby_event;

/** The name of an event, as in "OPENED"; "?" for an unknown number.  Static,
 * never NULL. */
EVZK_API const char *evzk_chubby_event_name(evzk_chubby_event event);

/** Is this event the last one of a handle? */
EVZK_API bool evzk_chubby_event_is_final(evzk_chubby_event event);

/**
 * Reports an event.  @p name is the child's, of the three events that are about
 * a child, and borrowed for the call; else NULL.  Always called from the loop,
 * never inside a call to this library.  Every function of the library may be
 * called from it, evzk_chubby_free() included.
 */
typedef void evzk_chubby_cb(evzk_chubby *handle, evzk_chubby_event event,
                            int rc, const char *name, void *arg);

/** Is the file made when a handle is opened? */
typedef enum evzk_chubby_create {
    EVZK_CHUBBY_EXISTING,   /**< No: it must exist. */
    EVZK_CHUBBY_MAY_CREATE, /**< If it does not exist. */
    EVZK_CHUBBY_MUST_CREATE /**< Yes: it must not exist. */
} evzk_chubby_create;

/** Zero-initialize, then set what you need.  Everything is copied. */
typedef struct evzk_chubby_options {
    evzk_chubby_create create;
    /** The file that is made goes with the session, and has no children.  Else
     * it is permanent. */
    bool ephemeral;
    /** Contents of the file that is made; NULL: none. */
    const void *data;
    size_t data_len; /**< At most EVZK_CHUBBY_DATA_MAX. */
    /** ACL of all znodes that are made; NULL takes the session's.  It must give
     * this process all permissions but ADMIN. */
    const evzk_acl *acl;
    size_t acl_count;
    /** The handle only reads: what writes, deletes or acquires is refused. */
    bool read_only;
    /** Follow the children: tell their events, and list them without a question
     * to the servers.  It takes a watch for each child. */
    bool children;
    /** Follow the queue of the lock: LOCK_ACQUIRED, CONFLICT, and
     * evzk_chubby_check_seen().  Each handle that does so lists the queue again
     * whenever it changes. */
    bool lock_events;
    /** Lock-delay: if this handle loses the lock in an unclean way (its process
     * ends, its session expires, its znode is deleted), no other handle gets
     * the lock for so many milliseconds; at most EVZK_CHUBBY_DELAY_MAX_MS; 0:
     * at once. */
    uint32_t lock_delay_ms;
    /** The open ends with EVZK_ERR_TIMEOUT after this many milliseconds; 0 is
     * never.  The time runs also while there is no connection. */
    uint32_t timeout_ms;
    void *reserved[4]; /**< NULL. */
} evzk_chubby_options;

#define EVZK_CHUBBY_DATA_MAX 262144
#define EVZK_CHUBBY_DELAY_MAX_MS 60000

/** A file as it is known without its contents. */
typedef struct evzk_chubby_stat {
    int64_t instance;    /**< Of this file alone, also among files of the same
                            name that come later: its czxid. */
    int32_t content_gen; /**< How often the contents were written. */
    int64_t modified;    /**< Grows with each write: the mzxid. */
    int64_t owner; /**< The session that an ephemeral file goes with; 0: the
                      file is permanent. */
    size_t len;    /**< Of the contents. */
} evzk_chubby_stat;

/** A child of a file. */
typedef struct evzk_chubby_child {
    const char *name;
    evzk_chubby_stat stat;
    bool hidden; /**< It may not be read: nothing but its name is known. */
} evzk_chubby_child;

/** What an operation has found.  Borrowed for the call. */
typedef struct evzk_chubby_answer {
    /** Of a get and a get_stat.  Of a set that was done, only `content_gen` and
     * `modified` are set; the former is -1, not known, if any generation was
     * good; and `modified` is 0 if the answer was lost.  Else all zero. */
    evzk_chubby_stat stat;
    const void *data; /**< Of a get: `stat.len` bytes. */
    /** Of a read_dir: the children, in the order of their names. */
    const evzk_chubby_child *children;
    size_t n;
    /** Of a set or a delete that has failed: it may be done all the same. */
    bool unknown;
} evzk_chubby_answer;

/**
 * Reports the end of an operation, once.  Always called from the loop, never
 * inside a call to this library.  Every function of the library may be called
 * from it, evzk_chubby_free() included.
 *
 * Errors that every operation may end with: EVZK_ERR_CANCELED: the handle was
 * poisoned, or is being closed.  EVZK_ERR_NODEGONE: the file was deleted.
 * EVZK_ERR_STATE: the sequencer of the handle is not valid any more.
 * EVZK_ERR_NOAUTH, _SERVER, _NOMEM.  EVZK_ERR_EXPIRED, _CLOSED, _AUTH: the
 * session has ended, and the handle with it.
 */
typedef void evzk_chubby_done_cb(evzk_chubby *handle, int rc,
                                 const evzk_chubby_answer *answer, void *arg);

/**
 * Open: opens a handle on the file at @p path, and returns at once.
 *
 * Directories above the file that do not exist are made with it, as containers.
 * Beside the file is a directory for its lock, which has the name of the file
 * with ".evzk" behind it; so no file may have a name that ends in ".evzk".
 *
 * @param s    Borrowed; closing it ends the handle with EVZK_ERR_CLOSED.
 * @param path Absolute path of the file, not "/".  Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the handle.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_chubby_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, with ENDED: EVZK_ERR_NONODE: no such file.  EVZK_ERR_NODEEXISTS: it
 * exists, and was to be made.  EVZK_ERR_TIMEOUT, _NOAUTH, _BADACL, _EPHEMERAL
 * (the file above is ephemeral), _QUOTA, _NOCHROOT, _SERVER, _NOMEM, _CLOSED,
 * _AUTH.  EVZK_ERR_EXPIRED: the session has ended.  A file may be made all the
 * same when an open ends in its midst: by a time-out, a close, a free, the end
 * of the session, or servers that refuse to say what became of it
 * (EVZK_ERR_SERVER, _TOOLARGE).  Then its anchor stands with it: others may
 * have opened the file, so it is not deleted in the background.
 */
EVZK_API int evzk_chubby_open(evzk_session *s, const char *path,
                              const evzk_chubby_options *opt,
                              evzk_chubby_cb *cb, void *arg, evzk_chubby **out);

/**
 * Close: legal at any time.  Operations that are outstanding end with
 * EVZK_ERR_CANCELED; a lock is given back; then CLOSED is told.
 *
 * @retval EVZK_OK        CLOSED, or ENDED, will be told.
 * @retval EVZK_ERR_STATE It has ended, or is being closed.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_chubby_close(evzk_chubby *handle);

/**
 * Poison: operations that are outstanding end with EVZK_ERR_CANCELED, and later
 * ones are refused with EVZK_ERR_STATE.  The handle stays open, its events are
 * told, and a lock that is held stays held, until evzk_chubby_close().
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as in
 *         evzk_chubby_close().
 */
EVZK_API int evzk_chubby_poison(evzk_chubby *handle);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows, of the
 * handle or of its operations.  A lock is given back in the background; if the
 * session is closed before that is done, the end is an unclean one: see
 * `lock_delay_ms`. */
EVZK_API void evzk_chubby_free(evzk_chubby *handle);

/**
 * GetContentsAndStat, GetStat: the contents and what is known of them, or only
 * the latter.
 *
 * Answered from the handle's copy, without a question to the servers, while the
 * copy is surely followed.
 *
 * @param latest Ask the leader, behind all that was written before the call.
 * @param done   Hears the answer.
 * @param arg    Borrowed; handed back to @p done untouched.
 *
 * @retval EVZK_OK        @p done will be called, unless the handle is freed
 *                        before.
 * @retval EVZK_ERR_STATE Not opened yet, poisoned, invalid, being closed, or
 *                        ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_chubby_get(evzk_chubby *handle, bool latest,
                             evzk_chubby_done_cb *done, void *arg);
EVZK_API int evzk_chubby_get_stat(evzk_chubby *handle, bool latest,
                                  evzk_chubby_done_cb *done, void *arg);

/** ReadDir: lists the children.  Of a handle with `children` from its copy;
 * else the servers are asked.  All else as in evzk_chubby_get(). */
EVZK_API int evzk_chubby_read_dir(evzk_chubby *handle,
                                  evzk_chubby_done_cb *done, void *arg);

/**
 * SetContents: writes the contents, once or not at all.
 *
 * If the handle holds the lock when this is called, or has a sequencer, the
 * write is done only while these stand: the servers check that in the same
 * transaction, also if the lock is given back in between.
 *
 * @param content_gen The generation that the contents must have; -1: any.
 * @param data        Copied; NULL if @p len is 0.
 * @param len         At most EVZK_CHUBBY_DATA_MAX.
 *
 * All else as in evzk_chubby_get(), but also EVZK_ERR_STATE: the handle is
 * `read_only`; or its lock is not surely held any more, and LOCK_LOST is about
 * to be told.  Later, besides: EVZK_ERR_BADVERSION: another generation.
 * EVZK_ERR_LEASE: the lock was lost.  EVZK_ERR_QUOTA, _CONNLOSS.
 */
EVZK_API int evzk_chubby_set(evzk_chubby *handle, int32_t content_gen,
                             const void *data, size_t len,
                             evzk_chubby_done_cb *done, void *arg);

/** Delete: deletes the file, if it has no children; then the handle is invalid.
 * The directory of a child's lock counts as a child: the servers take it away
 * some time after the child was deleted, unless a mark of a lock-delay is in
 * it. All else as in evzk_chubby_set().  Later, besides: EVZK_ERR_NOTEMPTY. */
EVZK_API int evzk_chubby_delete(evzk_chubby *handle, evzk_chubby_done_cb *done,
                                void *arg);

/** How a lock is held. */
typedef enum evzk_chubby_mode {
    EVZK_CHUBBY_EXCLUSIVE, /**< No other handle holds it. */
    EVZK_CHUBBY_SHARED     /**< Other handles may hold it, shared, too. */
} evzk_chubby_mode;

/**
 * Acquire: waits for the lock, in order of arrival, and beyond the lock-delay
 * of a holder that has lost it.  A handle has one lock.
 *
 * @retval EVZK_OK        @p done will be called, unless the handle is freed
 *                        before.
 * @retval EVZK_ERR_STATE As in evzk_chubby_set(); or the handle holds the lock,
 *                        waits for it, or gives it back.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 *
 * Later: EVZK_OK: held from now on, until a release or LOCK_LOST.  Else as
 * evzk_lock_acquire() says.
 */
EVZK_API int evzk_chubby_acquire(evzk_chubby *handle, evzk_chubby_mode mode,
                                 evzk_chubby_done_cb *done, void *arg);

/** TryAcquire: the same without waiting: EVZK_ERR_BUSY later, if the lock is
 * held, or in its lock-delay. */
EVZK_API int evzk_chubby_try_acquire(evzk_chubby *handle, evzk_chubby_mode mode,
                                     evzk_chubby_done_cb *done, void *arg);

/**
 * Release: gives the lock back; evzk_chubby_held() is false from now on.  There
 * is no lock-delay behind it.
 *
 * @retval EVZK_OK        @p done will be called when the lock is proved gone.
 * @retval EVZK_ERR_STATE The lock is not held, or the handle is poisoned.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 *
 * Later, besides: EVZK_ERR_NODEGONE, EVZK_ERR_LEASE: the lock had been lost.
 */
EVZK_API int evzk_chubby_release(evzk_chubby *handle, evzk_chubby_done_cb *done,
                                 void *arg);

/** True while the lock is surely held: computed now, against the lease. */
EVZK_API bool evzk_chubby_held(const evzk_chubby *handle);

/** Milliseconds for which the lock is surely still held; 0: it is not. */
EVZK_API uint32_t evzk_chubby_lease_ms(const evzk_chubby *handle);

/** The fencing token of the lock that is held; else 0.  Each holder of the
 * lock of a file has a greater one than those before. */
EVZK_API uint64_t evzk_chubby_token(const evzk_chubby *handle);

/** Room for a sequencer; for one of a file whose path is long, more. */
#define EVZK_CHUBBY_SEQUENCER_MAX 512

/**
 * GetSequencer: writes a text that says which lock this handle holds:
 *
 *     <path of the lock's own znode>:<its czxid, 16 hexadecimal digits>:<mode>
 *
 * The mode is "w" for exclusive, and "r" for shared.  The path begins below the
 * session's chroot.
 *
 * @param buf  Has room for @p size bytes, the zero byte included.
 *
 * @retval EVZK_OK        Written.
 * @retval EVZK_ERR_STATE The lock is not surely held.
 * @retval EVZK_ERR_INVAL NULL, or no room.
 * @retval EVZK_ERR_FORKED.
 */
EVZK_API int evzk_chubby_get_sequencer(const evzk_chubby *handle, char *buf,
                                       size_t size);

/**
 * SetSequencer: from now on the operations of this handle are done only while
 * the sequencer is valid: the servers check it with each write, and all else
 * ends when the handle hears of its end.  Then the handle is invalid.  A handle
 * has one sequencer.  Operations that are called behind this one wait
 * for its end; if it fails, they end with EVZK_ERR_STATE.
 *
 * @param sequencer As evzk_chubby_get_sequencer() writes it, in whatever
 *                  process.  Copied.
 *
 * All else as in evzk_chubby_get(), but also EVZK_ERR_INVAL: this is no
 * sequencer; and EVZK_ERR_STATE: the handle has one.  Later, besides:
 * EVZK_ERR_NODEGONE: the sequencer is not valid; the handle stays as it was.
 */
EVZK_API int evzk_chubby_set_sequencer(evzk_chubby *handle,
                                       const char *sequencer,
                                       evzk_chubby_done_cb *done, void *arg);

/**
 * CheckSequencer: is the sequencer valid?  The leader is asked, in one trip:
 * the lock's znode must exist, be the same, and be in nobody's way but its own.
 *
 * All else as in evzk_chubby_set_sequencer(); the sequencer may be of any file.
 * Later: EVZK_OK: valid, at some time of the call.  EVZK_ERR_NODEGONE: it is
 * not.
 */
EVZK_API int evzk_chubby_check_sequencer(evzk_chubby *handle,
                                         const char *sequencer,
                                         evzk_chubby_done_cb *done, void *arg);

/**
 * The same without a question to the servers, for a sequencer of the handle's
 * own file which evzk_chubby_check_sequencer() has found valid before: does it
 * still stand, as far as this handle has heard of the lock's queue?  Of a
 * handle with `lock_events`.  So a server asks the leader once for each holder,
 * and then only itself.  A sequencer that is older than an exclusive one which
 * was found valid is never valid again.
 *
 * @retval EVZK_OK           Valid, as far as this handle has heard.
 * @retval EVZK_ERR_NODEGONE Not valid.
 * @retval EVZK_ERR_STATE    Not known here, or the queue is not surely followed
 *                           now: ask evzk_chubby_check_sequencer().
 * @retval EVZK_ERR_INVAL    No sequencer, or of another file.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_chubby_check_seen(evzk_chubby *handle, const char *sequencer);

/** The instance of the file that the handle is open on: its czxid.  0 before
 * OPENED, and for NULL. */
EVZK_API int64_t evzk_chubby_instance(const evzk_chubby *handle);

/** Has this handle made the file?  False for NULL. */
EVZK_API bool evzk_chubby_created(const evzk_chubby *handle);

/** Operations that are outstanding; 0 for NULL. */
EVZK_API size_t evzk_chubby_outstanding(const evzk_chubby *handle);

/** The state, as the diagram in evzk_chubby(3) names it.  Static; "" for NULL.
 */
EVZK_API const char *evzk_chubby_state(const evzk_chubby *handle);

#ifdef __cplusplus
}
#endif

#endif
