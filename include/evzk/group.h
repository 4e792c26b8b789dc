/**
 * @file evzk/group.h
 * Group membership.  A member is an identity, a fixed name, that at most one
 * live session has in a group at a time.  Its znode is <group>/<name>, is
 * ephemeral, and holds the member's data, as other programs expect.
 *
 * A member heals itself: when its session expires, or somebody deletes its
 * znode, it joins again, with its last data.  Where the servers refuse that for
 * a while, it waits, and tries again.  An identity that another process has is
 * never taken away: the member is told so, and joins when that process has
 * gone.
 *
 * A view (evzk_group_watch()) tells who is a member, and who comes and goes.
 *
 * Protocol: "Group Membership" of the ZooKeeper recipes page.  Beside the
 * members, in <group>/.evzk, are znodes by which no member ever deletes
 * another's: evzk_group(3), "Identities".
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_GROUP_H
#define EVZK_GROUP_H

#include <evzk/lease.h>
#include <evzk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_member evzk_member; /**< A member of a group. Opaque. */

/** What a member reports. LEFT and FAILED are final. */
typedef enum evzk_member_event {
    /** A member from now on, until SUSPENDED, REJOINING or a final event.
     * Comes again after each REJOINING; evzk_member_token() tells whether the
     * znode is another one. */
    EVZK_MEMBER_JOINED = 1,
    /** The znode holds the data of the latest evzk_member_update(), and so
     * answers all updates before it.  With EVZK_ERR_TOOLARGE: the servers take
     * no data so large; the member goes on with those before. */
    EVZK_MEMBER_UPDATED,
    /** In doubt, still a member until the lease ends
     * (evzk_member_lease_ms()). */
    EVZK_MEMBER_SUSPENDED,
    /** Out of doubt: the znode was seen again. */
    EVZK_MEMBER_RESUMED,
    /** No member at the moment: rc is EVZK_ERR_EXPIRED, EVZK_ERR_NODEGONE
     * (somebody deleted the znode) or EVZK_ERR_LEASE (no word from the leader;
     * the znode may still stand).  Or the servers refuse: EVZK_ERR_NOAUTH,
     * _QUOTA, _SERVER, _NONODE, _EPHEMERAL or _NOCHROOT; this may come behind
     * another REJOINING.  JOINED follows when that is healed. */
    EVZK_MEMBER_REJOINING,
    /** No member yet: another process has this identity, or a znode of that
     * name was made by hand.  The member waits until it has gone. */
    EVZK_MEMBER_CONFLICT,
    /** Final. Left as asked, and proved gone from the server.  rc is not 0
     * when no server has confirmed that, or when it refused: then the znode
     * stands until the session ends. */
    EVZK_MEMBER_LEFT,
    /** Final. No member, and does not join again. rc says why. */
    EVZK_MEMBER_FAILED
} evzk_member_event;

/** The event's name, as "JOINED"; "?" for any other number.  Static. */
EVZK_API const char *evzk_member_event_name(evzk_member_event event);

/** Is this event the last one of the member? */
EVZK_API bool evzk_member_event_is_final(evzk_member_event event);

/**
 * Reports what becomes of a member; in the end exactly one final event.  Always
 * called from the loop, never inside a call to this library.  Every function of
 * the library may be called from it, evzk_member_free() included.
 */
typedef void evzk_member_cb(evzk_member *member, evzk_member_event event,
                            int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_member_options {
    /** Fail with EVZK_ERR_BUSY, instead of waiting, when another process has
     * the identity. */
    bool no_wait;
    /** Data of the member's znode; NULL takes the session's. */
    const void *data;
    size_t data_len; /**< At most EVZK_MEMBER_DATA_MAX. */
    /** ACL of the znodes and of directories made; NULL takes the session's.  It
     * must give this process CREATE, DELETE, READ and WRITE. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_member_options;

#define EVZK_MEMBER_DATA_MAX 65536
#define EVZK_MEMBER_NAME_MAX 127 /**< Bytes of an identity. */

/**
 * Joins the group at @p path as @p name, and returns at once.  A group that is
 * missing is made, as a container, with what is missing above it.
 *
 * Processes that wait for one identity do not queue: when it is free, any of
 * them gets it.  Where the order counts, take a lock (evzk/lock.h) first.
 *
 * Many members of one session cost what a batch costs: those that begin in one
 * turn of the loop go to the server together.
 *
 * @param s    Borrowed; closing it ends the member with EVZK_ERR_CLOSED.
 * @param path Absolute path of the group, not "/". Copied.
 * @param name The identity: the name of a znode, which does not begin with a
 *             dot. Copied.
 * @param opt  Copied, with all it points to; NULL for the defaults.
 * @param cb   Hears what becomes of the member.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_member_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, FAILED: EVZK_ERR_BUSY (with `no_wait`), _NOAUTH, _BADACL, _NOCHROOT,
 * _QUOTA, _NONODE (directories go away as fast as they are made), _EPHEMERAL,
 * _SERVER, _TOOLARGE, _CLOSED, _AUTH, _INTERNAL.  The loss of a connection, the
 * session's expiry and want of memory end no member.  Nor does a refusal that
 * may pass, once JOINED was told: the member tries again within three session
 * time-outs, half a minute at most; see REJOINING.
 */
EVZK_API int evzk_group_join(evzk_session *s, const char *path,
                             const char *name, const evzk_member_options *opt,
                             evzk_member_cb *cb, void *arg, evzk_member **out);

/**
 * Gives the member other data, whether it has joined yet or not.  UPDATED says
 * that the znode has them.  Of several updates the last one counts: the data
 * before it may never be written, and one UPDATED answers all of them.  After a
 * REJOINING the znode is made with the latest data.
 *
 * Data that another client has written to the znode are replaced, too.  Where
 * the servers refuse to write, the member stays, and tries again as above; only
 * data that are too large for them are given up.
 *
 * @param data Copied; may be NULL when @p len is 0.
 * @param len  At most EVZK_MEMBER_DATA_MAX.
 *
 * @retval EVZK_OK        UPDATED will come, unless the member ends before.
 * @retval EVZK_ERR_STATE The member has ended, or is about to.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; nothing has changed.
 */
EVZK_API int evzk_member_update(evzk_member *member, const void *data,
                                size_t len);

/**
 * Leaves the group; evzk_member_joined() is false from now on.  Ends in LEFT
 * when the znode is proved gone, by the server's word or by the end of the
 * session.  Only the member's own znode is deleted.
 *
 * @retval EVZK_OK        The final event will come.
 * @retval EVZK_ERR_STATE The member has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_member_leave(evzk_member *member);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows.  A
 * znode that may exist is still deleted, in the background. */
EVZK_API void evzk_member_free(evzk_member *member);

/** True while it surely is a member: computed now, against the lease. */
EVZK_API bool evzk_member_joined(const evzk_member *member);

/**
 * The lease of the membership, for other threads: evzk/lease.h.  On this thread
 * it says at every moment what evzk_member_joined() says.  After REJOINING, or
 * the end, it says no for ever: the next JOINED has another lease.
 *
 * @param out Set on success: a reference, owned by the caller,
 *            evzk_lease_unref().  A second call gives the same lease.
 *
 * @retval EVZK_OK
 * @retval EVZK_ERR_STATE It is no member now.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; @p out is unset.
 */
EVZK_API int evzk_member_lease(evzk_member *member, evzk_lease **out);

/** Milliseconds for which it is surely still a member; 0: it is not. */
EVZK_API uint32_t evzk_member_lease_ms(const evzk_member *member);

/** The czxid of the member's znode: greater than that of every earlier znode of
 * this identity.  0 before the first JOINED; later that of the latest one. */
EVZK_API uint64_t evzk_member_token(const evzk_member *member);

/** The identity; "" for NULL.  Valid until evzk_member_free(). */
EVZK_API const char *evzk_member_name(const evzk_member *member);

/** The state of the member, as the diagram in evzk_group(3) names it.  Static;
 * "" for NULL. */
EVZK_API const char *evzk_member_state(const evzk_member *member);

/** A view of a group: who is a member.  Opaque. */
typedef struct evzk_group_view evzk_group_view;

/** What a view reports.  ENDED is final. */
typedef enum evzk_group_event {
    EVZK_GROUP_JOINED = 1, /**< A member is in the view that was not. */
    /** A member is gone, also if its session has ended. */
    EVZK_GROUP_LEFT,
    /** The member's data have changed, or became hidden or readable.  If the
     * znode is another one, LEFT and JOINED are told instead; but nobody can
     * tell what became of a znode while it was hidden. */
    EVZK_GROUP_CHANGED,
    /** The view is whole: all members are told.  Comes again after a lost
     * connection, and after the end of the session, when all was read again. */
    EVZK_GROUP_READY,
    /** The last event; rc says why. */
    EVZK_GROUP_ENDED
} evzk_group_event;

/** The event's name, as "JOINED"; "?" for any other number.  Static. */
EVZK_API const char *evzk_group_event_name(evzk_group_event event);

/** Is this event the last one of the view? */
EVZK_API bool evzk_group_event_is_final(evzk_group_event event);

/** A member, as a view has it.  What the pointers point to belongs to the view,
 * and is valid until the loop goes on. */
typedef struct evzk_group_member {
    const char *name;
    const void *data;
    size_t data_len;
    uint64_t token;  /**< As evzk_member_token(): the czxid of the znode. */
    int64_t session; /**< Session that owns it; 0: made by hand. */
    bool hidden;     /**< Its ACL denies reading: data, token and session are
                        not known, and are 0. */
} evzk_group_member;

/**
 * Reports a change of the view.  JOINED, CHANGED: @p member as it is now; LEFT:
 * as it was; READY, ENDED: NULL.  @p rc is EVZK_OK, but for ENDED.  The view
 * has the change already.
 *
 * Always called from the loop, never inside a call to this library.  Every
 * function of the library may be called from it, evzk_group_view_free()
 * included.
 */
typedef void evzk_group_view_cb(evzk_group_view *view, evzk_group_event event,
                                int rc, const evzk_group_member *member,
                                void *arg);

/** Zero-initialize, then set what you need. */
typedef struct evzk_group_view_options {
    void *reserved[4]; /**< NULL. */
} evzk_group_view_options;

/**
 * Watches the members of the group at @p path: all children of that znode whose
 * names do not begin with a dot, whichever program made them.  Creates nothing.
 * A group that does not exist has no members, until it comes.
 *
 * A view is a cache (evzk/cache.h), with its promises: at rest it is the tree;
 * no member goes back in time; what is told adds up to the view.  It takes READ
 * on the group's znode.
 *
 * @param s    Borrowed; closing it ends the view with EVZK_ERR_CLOSED.
 * @param path Absolute path of the group, not "/". Copied.
 * @param opt  NULL for the defaults.
 * @param cb   Hears all that happens.
 * @param arg  Borrowed; handed back to @p cb untouched.
 * @param out  Set on success: owned by the caller, evzk_group_view_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, with ENDED: EVZK_ERR_CANCELED, _CLOSED, _NOAUTH, _AUTH, _SERVER; and
 * EVZK_ERR_NOCHROOT, if nothing was told before.
 */
EVZK_API int evzk_group_watch(evzk_session *s, const char *path,
                              const evzk_group_view_options *opt,
                              evzk_group_view_cb *cb, void *arg,
                              evzk_group_view **out);

/**
 * Ends the view: ENDED is told in a later turn of the loop, with
 * EVZK_ERR_CANCELED.  It can be read until evzk_group_view_free().
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_group_view_cancel(evzk_group_view *view);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_group_view_free(evzk_group_view *view);

/** Reads one member of the view, and asks no server.  @p member is set if the
 * view has a member of this name; what it points to is borrowed.  False also
 * for NULL. */
EVZK_API bool evzk_group_view_find(const evzk_group_view *view,
                                   const char *name, evzk_group_member *member);

/** Goes through the members, in the order of their names as bytes.  @p member
 * is set if there is one; for the next: the member before, as it was set. */
EVZK_API bool evzk_group_view_first(const evzk_group_view *view,
                                    evzk_group_member *member);
EVZK_API bool evzk_group_view_next(const evzk_group_view *view,
                                   evzk_group_member *member);

/** How many members the view has; 0 for NULL. */
EVZK_API size_t evzk_group_view_count(const evzk_group_view *view);

/** Is the view whole, and does the session surely hear of changes?  False for
 * NULL. */
EVZK_API bool evzk_group_view_ready(const evzk_group_view *view);

/** The state of the view's cache, as the diagram in evzk_cache(3) names it.
 * Static; "" for NULL. */
EVZK_API const char *evzk_group_view_state(const evzk_group_view *view);

#ifdef __cplusplus
}
#endif

#endif
