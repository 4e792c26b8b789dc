/**
 * @file evzk/cache.h
 * A cache: a copy of a znode, of a znode and its children, or of a whole
 * subtree, which follows all changes.
 *
 * The copy is called the view.  Each change of the view is told as a delta: a
 * znode was added, changed or removed.  Between the calls the view can be read
 * at any time; reading asks no server.  The view is always what the deltas that
 * were told add up to.
 *
 * The promises:
 *
 *   At rest, the view is the tree: when the tree does not change any more, and
 *   the session is connected, then the view is soon the tree, whatever happened
 *   before.  Lost connections and the end of the session are no exception: all
 *   is read again then, and only real differences are told.
 *
 *   No znode goes back in time: of each path, an older state is never told
 *   after a newer one, even if the session moves to a server that knows less.
 *   Nothing is told twice.  This has limits where a server knows less than the
 *   leader and answers for the leader.  An older state of a znode in the view
 *   is refused for about a second, and believed then: the servers may have been
 *   set up anew.  That a znode is gone is believed at once, and of a znode that
 *   was removed nothing is remembered.
 *
 *   A znode is told after the znode above it was added, and removed before the
 *   znode above it is removed.
 *
 * No promise is made of each step: several changes of one znode between two
 * looks are one delta, or none if the znode came and went.  A znode that was
 * deleted and made anew between two looks is CHANGED: the czxid tells that it
 * is another znode. Different znodes are read at different moments: the view as
 * a whole may never have been the tree as a whole while the tree changes.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_CACHE_H
#define EVZK_CACHE_H

#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A cache.  Opaque. */
typedef struct evzk_cache evzk_cache;

/** How much is kept. */
typedef enum evzk_cache_depth {
    EVZK_CACHE_CHILDREN, /**< The znode, its root, and its children. */
    EVZK_CACHE_SUBTREE,  /**< The root, and all that is below it. */
    EVZK_CACHE_NODE      /**< The root alone. */
} evzk_cache_depth;

typedef enum evzk_cache_event {
    /** A znode is in the view that was not. */
    EVZK_CACHE_ADDED = 1,
    /** A znode of the view has other data, or another version, or is another
     * znode of the same path (another czxid), or became hidden or readable. */
    EVZK_CACHE_CHANGED,
    /** A znode of the view is gone. */
    EVZK_CACHE_REMOVED,
    /** The view is whole: each znode of the tree was read since the cache has
     * begun, and all is told.  If there is no root, that is told so, with an
     * empty view.  After a lost connection, and after the end of the session,
     * all is read again; READY comes again when that is done, behind the deltas
     * that it brought.  Changes that come later are told without another
     * READY. */
    EVZK_CACHE_READY,
    /** The last event; @p rc says why. */
    EVZK_CACHE_ENDED
} evzk_cache_event;

/** The event's name, as "ADDED"; "?" for any other number. */
EVZK_API const char *evzk_cache_event_name(evzk_cache_event event);

/** Is this event the last one of the object? */
EVZK_API bool evzk_cache_event_is_final(evzk_cache_event event);

/** A znode of the view.  What the pointers point to belongs to the cache, and
 * is valid until the loop goes on: for a callback, until the callback returns;
 * elsewhere, until the program returns to the event_base, or frees the cache.
 */
typedef struct evzk_cache_entry {
    /** Relative to the root: "" is the root, "a" a child, "a/b" a grandchild.
     */
    const char *path;
    const char *name; /**< The last part of @p path. */
    /** The data; not NULL, but for an entry that is hidden or has only a name.
     */
    const void *data;
    size_t len;
    int64_t czxid; /**< Of the transaction that made the znode. */
    int64_t mzxid; /**< Of the transaction that last wrote its data. */
    int64_t ephemeral_owner; /**< The session that owns it; 0: persistent. */
    int32_t version;         /**< How often the data was written. */
    /** The ACL of the znode denies reading.  Nothing is known but the name: no
     * data, no czxid, none of the children.  It is
     * looked at again in every three session time-outs, half a minute at most.
     * Children that were in the view before it was hidden stay, and are
     * followed by themselves. */
    bool hidden;
} evzk_cache_entry;

/**
 * Reports a delta, or what became of the cache.
 *
 * ADDED, CHANGED: @p entry is the znode as it is in the view now; @p before is
 * what it was, of a CHANGED, and else NULL.  REMOVED: @p entry is the znode as
 * it was; the view does not have it any more.  READY, ENDED: both are NULL.
 * @p rc is EVZK_OK, but for ENDED.
 *
 * Always called from the loop, never inside a call to this library.  Every
 * function of the library may be called from it, evzk_cache_free() included.
 */
typedef void evzk_cache_cb(evzk_cache *cache, evzk_cache_event event, int rc,
                           const evzk_cache_entry *entry,
                           const evzk_cache_entry *before, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_cache_options {
    evzk_cache_depth depth;
    /** Keep names only: entries have a path, and no data, mzxid and version; a
     * CHANGED says only that the znode is another one.  The czxid and the owner
     * are known of znodes whose children are followed: of the root, and with
     * EVZK_CACHE_SUBTREE of all; of others they are 0.  With
     * EVZK_CACHE_CHILDREN one listing gives the whole view, a child takes some
     * 130 bytes and no watch, and a child that was deleted and made anew
     * between two looks is no news. */
    bool names_only;
    void *reserved[4]; /**< NULL. */
} evzk_cache_options;

/**
 * Starts a cache, and returns at once.  Creates nothing on the servers.  The
 * root may not exist yet; it may come, go, and come again.
 *
 * Each znode takes about 1,000 bytes and a watch on the servers (two, if its
 * children are followed); see evzk_cache(3).  A znode whose children are
 * followed should have no more than some ten thousand, since each change of
 * them lists all their names.  Znodes whose paths have more than 4,096 bytes
 * are left out.
 *
 * The session must be allowed to read (READ) the root when the cache begins.
 * Znodes that it may not read later, or elsewhere, are in the view as hidden.
 *
 * @param s    Borrowed; closing it ends the cache with EVZK_ERR_CLOSED.
 * @param path Absolute path of the root, not "/". Copied.
 * @param opt  Copied; NULL for the defaults.
 * @param cb   Hears all that happens.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_cache_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, with ENDED: EVZK_ERR_CANCELED, _CLOSED; EVZK_ERR_NOAUTH: the root may
 * not be read, and was never told (with names_only: its children may not be
 * listed, before READY was told); EVZK_ERR_NOCHROOT, if nothing was told
 * before; _AUTH, _SERVER.  Lost connections, the end of the session and want of
 * memory are healed, and are no end.
 */
EVZK_API int evzk_cache_start(evzk_session *s, const char *path,
                              const evzk_cache_options *opt, evzk_cache_cb *cb,
                              void *arg, evzk_cache **out);

/**
 * Ends the cache: ENDED is told in a later turn of the loop, with
 * EVZK_ERR_CANCELED, and no other delta before it.  The view stays as it is,
 * and can be read until evzk_cache_free().
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_cache_cancel(evzk_cache *cache);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_cache_free(evzk_cache *cache);

/**
 * Reads one znode of the view.
 *
 * @param path  As in an entry: relative to the root, "" for the root.
 * @param entry Set on success; what it points to is borrowed.
 *
 * @retval EVZK_OK
 * @retval EVZK_ERR_NONODE The view has no such znode.
 * @retval EVZK_ERR_INVAL  NULL.
 */
EVZK_API int evzk_cache_get(const evzk_cache *cache, const char *path,
                            evzk_cache_entry *entry);

/**
 * Goes through the children of a znode, in the order of their names as bytes:
 *
 *     for (ok = evzk_cache_first_child(cache, "", &e); ok;
 *          ok = evzk_cache_next_child(cache, &e))
 *
 * @param path  Of the znode above: as in an entry.
 * @param entry Set if there is a child.  For the next: the child before, as it
 *              was set.
 * @return      Is there one?  False also for NULL, and for a znode that the
 *              view does not have.
 */
EVZK_API bool evzk_cache_first_child(const evzk_cache *cache, const char *path,
                                     evzk_cache_entry *entry);
EVZK_API bool evzk_cache_next_child(const evzk_cache *cache,
                                    evzk_cache_entry *entry);

/**
 * Goes through the whole view in the same way: the root first, each znode
 * before its children, and children in the order of their names.
 */
EVZK_API bool evzk_cache_first(const evzk_cache *cache,
                               evzk_cache_entry *entry);
EVZK_API bool evzk_cache_next(const evzk_cache *cache, evzk_cache_entry *entry);

/** How many znodes the view has, the root included; 0 for NULL. */
EVZK_API size_t evzk_cache_count(const evzk_cache *cache);

/** Is the view whole, and does the session surely hear of changes?  True from a
 * READY until the connection is lost, or in doubt; false for NULL. */
EVZK_API bool evzk_cache_ready(const evzk_cache *cache);

/** The state of the cache, as the diagram in evzk_cache(3) names it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_cache_state(const evzk_cache *cache);

#ifdef __cplusplus
}
#endif

#endif
