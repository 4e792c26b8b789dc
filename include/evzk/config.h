/**
 * @file evzk/config.h
 * A configuration: a set of keys below one directory, which is replaced as a
 * whole and read as a whole.
 *
 * Each configuration has a number, which grows.  A reader sees the keys of one
 * number, never some of one and some of another, and never an older number
 * after a newer one.
 *
 * Protocol: "Configuration" of the lecture notes on the ZooKeeper paper.  The
 * keys are znodes <path>/<key>.  A znode <path>/ready says that the set is
 * whole; its czxid is the configuration's number.  A set that fits into one
 * transaction is replaced by one, with a new ready.  A larger set is replaced
 * under a lock: ready is deleted, the keys are written, ready is made again;
 * each of these transactions is done only while the lock's znode stands.  A
 * reader watches ready, lists and reads the keys, and begins again if an event
 * of ready comes before the last answer: the answers and the events of one
 * connection come in the order in which things happened.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_CONFIG_H
#define EVZK_CONFIG_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A query, a follower, a replacement.  Opaque. */
typedef struct evzk_config_query evzk_config_query;
typedef struct evzk_config_follower evzk_config_follower;
typedef struct evzk_config_update evzk_config_update;

/** A key of a configuration. */
typedef struct evzk_config_key {
    /** A name without slashes, not "ready" or "ready-token", at most 255 bytes
     * long. */
    const char *name;
    const void *data;
    size_t len; /**< At most EVZK_CONFIG_DATA_MAX; less where path and ACL are
                     long. */
} evzk_config_key;

/** A configuration, as it was read.  Borrowed for the callback. */
typedef struct evzk_config {
    int64_t number;             /**< Greater than that of every earlier one. */
    const evzk_config_key *key; /**< In the order of their names. */
    size_t n;
} evzk_config;

#define EVZK_CONFIG_DATA_MAX 1024000

/** For evzk_config_options: no configuration is whole. */
#define EVZK_CONFIG_NONE (-1)

/** The key of that name; NULL: there is none. */
EVZK_API const evzk_config_key *evzk_config_find(const evzk_config *config,
                                                 const char *name);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_config_options {
    /** Of a query and of a replacement: it ends with EVZK_ERR_TIMEOUT after
     * this many milliseconds; 0 is never.  The time runs also while there is no
     * connection.  The keys may be replaced all the same. */
    uint32_t timeout_ms;
    /** Of a replacement: ACL of all that is made; NULL takes the session's.
     * Readers need READ on the directory and on the keys. */
    const evzk_acl *acl;
    size_t acl_count;
    /** Of a replacement: it is done only if it replaces the configuration of
     * this number, as it was read, and no other one; else it ends with
     * EVZK_ERR_BADVERSION.  EVZK_CONFIG_NONE: only while none is whole.  0: it
     * replaces whatever is there. */
    int64_t if_number;
    void *reserved[4]; /**< NULL. */
} evzk_config_options;

/**
 * Reports the end of a query, once.  @p config is NULL unless @p rc is EVZK_OK.
 * Always called from the loop, never inside a call to this library.  Every
 * function of the library may be called from it, evzk_config_query_free()
 * included.
 */
typedef void evzk_config_query_cb(evzk_config_query *query, int rc,
                                  const evzk_config *config, void *arg);

/**
 * Reads the latest configuration, behind a sync.  Where none is whole, since
 * there is none or since one is being written, the query waits until one is.
 *
 * @param s    Borrowed; closing it ends the query with EVZK_ERR_CLOSED.
 * @param path Absolute path of the directory, not "/". Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears the end.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_config_query_free().
 *
 * @retval EVZK_OK         @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL  Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, through @p cb: EVZK_ERR_TIMEOUT, _CANCELED, _CLOSED, _NOAUTH (a key,
 * or the directory, may not be read), _NOCHROOT, _SERVER, _AUTH, _TOOLARGE (the
 * servers hang up at a read, each time).
 */
EVZK_API int evzk_config_get(evzk_session *s, const char *path,
                             const evzk_config_options *opt,
                             evzk_config_query_cb *cb, void *arg,
                             evzk_config_query **out);

/**
 * Ends the query: EVZK_ERR_CANCELED is told in a later turn of the loop.
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_config_query_cancel(evzk_config_query *query);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_config_query_free(evzk_config_query *query);

/** The state, as the diagrams in evzk_config(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *evzk_config_query_state(const evzk_config_query *query);

/** What a follower reports. */
typedef enum evzk_config_follower_event {
    /** A configuration: first, and whenever a newer one is whole. */
    EVZK_CONFIG_FOLLOWER_CONFIG = 1,
    /** The follower has ended; @p rc says why.  Nothing follows. */
    EVZK_CONFIG_FOLLOWER_ENDED
} evzk_config_follower_event;

/** The event's name, as "CONFIG"; "?" for any other number. */
EVZK_API const char *
evzk_config_follower_event_name(evzk_config_follower_event event);

/** Is this event the last one of the object? */
EVZK_API bool
evzk_config_follower_event_is_final(evzk_config_follower_event event);

/**
 * Reports a configuration, or the end.  Configurations that follow each other
 * fast may be left out; the last one is always told.  @p config is NULL at the
 * end.  Always called from the loop, never inside a call to this library.
 * Every function of the library may be called from it,
 * evzk_config_follower_free() included.
 */
typedef void evzk_config_follower_cb(evzk_config_follower *follower,
                                     evzk_config_follower_event event, int rc,
                                     const evzk_config *config, void *arg);

/**
 * Follows a configuration.  While a new one is being written, the last one
 * told stays.  The follower goes on over a lost connection, over a move to a
 * server that is behind, and over the session's expiry; and also when the
 * servers were set up anew, or restored from an older state.  When it may not
 * read any more, it waits until it may, and tells the configuration within
 * three session time-outs, half a minute at most.
 *
 * Arguments and errors at once as in evzk_config_get(); no option counts.
 *
 * Later, through @p cb: EVZK_ERR_CANCELED, _CLOSED, _SERVER, _AUTH, _TOOLARGE
 * (the servers hang up at a read, each time); and EVZK_ERR_NOAUTH, _NOCHROOT,
 * if no configuration was told before.
 */
EVZK_API int evzk_config_follow(evzk_session *s, const char *path,
                                const evzk_config_options *opt,
                                evzk_config_follower_cb *cb, void *arg,
                                evzk_config_follower **out);

/**
 * Ends the follower: ENDED, with EVZK_ERR_CANCELED, is told in a later turn of
 * the loop.
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as in
 *         evzk_config_query_cancel().
 */
EVZK_API int evzk_config_follower_cancel(evzk_config_follower *follower);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_config_follower_free(evzk_config_follower *follower);

/** The state, as the diagrams in evzk_config(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *
evzk_config_follower_state(const evzk_config_follower *follower);

/**
 * Reports the end of a replacement, once.  EVZK_OK: the configuration was
 * whole, once, and @p number is its number.  EVZK_ERR_CONNLOSS: the connection
 * was lost at the last step, another configuration stands or is being written
 * now, and nobody can tell whether this one stood before it.
 * EVZK_ERR_TOOLARGE: the servers hang up at one of its transactions, each time.
 * It is not whole, unless connections ended for another reason, five times in a
 * row: then nobody can tell.
 */
typedef void evzk_config_update_cb(evzk_config_update *update, int rc,
                                   int64_t number, void *arg);

/**
 * Replaces the configuration: these keys, and no others.  Makes the directory
 * if there is none.
 *
 * A set that fits into one transaction (up to 500 keys that come, change or go,
 * and 900,000 bytes) is replaced at once, and readers see the old one or the
 * new one.  While a larger one is being written, none is whole: those who ask
 * wait, and followers keep the last one.  A large replacement that ends with an
 * error, or whose process ends, leaves it so, until the next one.
 *
 * @param key Copied, with names and data; each name once.
 * @param n   How many; may be 0.
 *
 * All else, and errors at once, as in evzk_config_get().
 *
 * Later, through @p cb: EVZK_ERR_TIMEOUT, _CANCELED, _CLOSED, _SERVER: the set
 * may be replaced or not.  EVZK_ERR_NOAUTH, _BADACL, _EPHEMERAL, _QUOTA,
 * _NOCHROOT, _NOTEMPTY (a key that is to go has children, or somebody has
 * written to `ready`), _FOREIGN (another library's contender is in the
 * directory of the lock), _NODEEXISTS, _NONODE (time after time somebody else
 * made or deleted a key, or the directory, just before the keys were written),
 * _NODEGONE (time after time somebody deleted the lock), _SEQUENCE (the lock's
 * directory is at the end of its numbers), _UNSUPPORTED, _NOMEM, _AUTH: not
 * replaced; but a large set may be written in part, and none is whole then.
 * EVZK_ERR_BADVERSION: the same, since `if_number` is not, or is no longer, the
 * number of the configuration; also if a large set was begun, and its lock was
 * lost.
 *
 * A replacement that finds another one done before its own begins anew, as
 * often as that happens.  After eight changes in a row that are no replacement
 * it is given up.
 */
EVZK_API int evzk_config_set(evzk_session *s, const char *path,
                             const evzk_config_key *key, size_t n,
                             const evzk_config_options *opt,
                             evzk_config_update_cb *cb, void *arg,
                             evzk_config_update **out);

/**
 * Ends the replacement: EVZK_ERR_CANCELED is told in a later turn of the loop.
 * The keys may be replaced all the same.
 *
 * @retval EVZK_OK, EVZK_ERR_STATE, EVZK_ERR_INVAL, EVZK_ERR_FORKED: as in
 *         evzk_config_query_cancel().
 */
EVZK_API int evzk_config_update_cancel(evzk_config_update *update);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  The
 * replacement may be done or not. */
EVZK_API void evzk_config_update_free(evzk_config_update *update);

/** The state, as the diagrams in evzk_config(3) name it.  Static; "" for NULL.
 */
EVZK_API const char *evzk_config_update_state(const evzk_config_update *update);

#ifdef __cplusplus
}
#endif

#endif
