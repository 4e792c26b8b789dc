/**
 * @file evzk/names.h
 * The name service: the endpoints of a service, under a path.  A process
 * registers where it can be reached; others resolve the service, follow its
 * endpoints, and pick one of them for each request.
 *
 * A service is a group (evzk/group.h), and an endpoint is a member of it: an
 * ephemeral znode <service>/<name>, whose data are a text that any program can
 * read and write (evzk_endpoint_print()).  A persistent znode with such a text
 * is an endpoint, too.
 *
 * Protocol: "Name Service" and "Group Membership" of the ZooKeeper recipes
 * page.  evzk_names(3) has the text of an endpoint.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.
 */
#ifndef EVZK_NAMES_H
#define EVZK_NAMES_H

#include <evzk/group.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVZK_ENDPOINT_HOST_MAX 253
#define EVZK_ENDPOINT_WEIGHT_MAX 1000000
#define EVZK_ENDPOINT_DATA_MAX 65000

/** Where a service can be reached. */
typedef struct evzk_endpoint {
    /** A name, or an address: letters, digits, '.', '-' and '_', of which the
     * first is a letter or a digit; or an IPv6 address, without brackets. */
    char host[EVZK_ENDPOINT_HOST_MAX + 1];
    uint16_t port; /**< Not 0. */
    /** Its share of the picks (EVZK_PICK_WEIGHTED); 0: it is never picked. At
     * most EVZK_ENDPOINT_WEIGHT_MAX. */
    uint32_t weight;
    const void *data; /**< Of the service's own; NULL: none. */
    size_t data_len;  /**< At most EVZK_ENDPOINT_DATA_MAX. */
} evzk_endpoint;

/**
 * Writes an endpoint as a text, "host:port weight", and behind a line feed the
 * data, if there are any.  A zero byte follows, if @p size has room for it.
 *
 * @param e    Borrowed.
 * @param text May be NULL when @p size is 0.
 * @return     The length of the text, at most EVZK_MEMBER_DATA_MAX; if that is
 *             above @p size, nothing was written.  0: @p e is NULL or breaks a
 *             rule of evzk_endpoint.
 */
EVZK_API size_t evzk_endpoint_print(const evzk_endpoint *e, void *text,
                                    size_t size);

/**
 * Reads such a text.  Takes exactly what evzk_endpoint_print() writes, and a
 * line feed without data behind it.  Reads no byte behind @p len.
 *
 * @param text Borrowed; @p out->data points into it.
 * @param out  Set on success.
 * @return     False: the text is no endpoint, or an argument is NULL.
 */
EVZK_API bool evzk_endpoint_parse(const void *text, size_t len,
                                  evzk_endpoint *out);

/* ---- To register ---- */

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_names_options {
    /** Fail with EVZK_ERR_BUSY, instead of waiting, when another process has
     * registered the name. */
    bool no_wait;
    /** As of evzk_member_options. */
    const evzk_acl *acl;
    size_t acl_count;
    void *reserved[4]; /**< NULL. */
} evzk_names_options;

/**
 * Registers an endpoint, and returns at once.  The endpoint is a member of the
 * service: the callback, what can be asked, evzk_member_leave() to unregister,
 * and evzk_member_free() are those of evzk/group.h.  When the session expires,
 * or somebody deletes the znode, the member registers itself again.
 *
 * @param s       Borrowed; closing it ends the member with EVZK_ERR_CLOSED.
 * @param service Absolute path of the service, not "/". Copied.
 * @param name    The znode's name, as of evzk_group_join(); NULL: "host:port".
 *                Copied.
 * @param e       Copied, with its data.
 * @param opt     Copied, with all it points to; NULL for the defaults.
 * @param cb      Hears what becomes of the member.
 * @param arg     Borrowed; handed back to @p cb untouched.
 * @param out     Set on success: owned by the caller, evzk_member_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument, or "host:port" is too long for a name;
 *                        @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later: as of evzk_group_join().
 */
EVZK_API int evzk_names_register(evzk_session *s, const char *service,
                                 const char *name, const evzk_endpoint *e,
                                 const evzk_names_options *opt,
                                 evzk_member_cb *cb, void *arg,
                                 evzk_member **out);

/**
 * Gives a registered endpoint another host, port, weight or other data; the
 * name stays.  With weight 0 no more requests come: so a process drains.
 * Else as evzk_member_update(), which says what follows.
 *
 * @param e Copied, with its data.
 *
 * @retval EVZK_OK        UPDATED will come, unless the member ends before.
 * @retval EVZK_ERR_STATE The member has ended, or is about to.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_INVAL, EVZK_ERR_FORKED; nothing has changed.
 */
EVZK_API int evzk_names_update(evzk_member *member, const evzk_endpoint *e);

/* ---- To resolve ---- */

/** Follows the endpoints of a service.  Opaque. */
typedef struct evzk_resolver evzk_resolver;

/** What a resolver reports.  ENDED is final. */
typedef enum evzk_resolver_event {
    EVZK_RESOLVER_ADDED = 1, /**< A znode of the service is there. */
    /** Its data have changed, or became hidden or readable.  If the znode is
     * another one, REMOVED and ADDED are told instead. */
    EVZK_RESOLVER_CHANGED,
    EVZK_RESOLVER_REMOVED, /**< It is gone, also if its session has ended. */
    /** The list is whole: the service is resolved.  Comes again after a lost
     * connection, and after the end of the session, when all was read again. */
    EVZK_RESOLVER_READY,
    EVZK_RESOLVER_ENDED /**< The last event; rc says why. */
} evzk_resolver_event;

/** The event's name, as "ADDED"; "?" for any other number.  Static. */
EVZK_API const char *evzk_resolver_event_name(evzk_resolver_event event);

/** Is this event the last one of the resolver? */
EVZK_API bool evzk_resolver_event_is_final(evzk_resolver_event event);

/** How an endpoint is picked; always one whose weight is not 0. */
typedef enum evzk_pick {
    /** Each in turn: between two picks of one, every other that was there all
     * the time is picked exactly once. */
    EVZK_PICK_IN_TURN,
    /** By chance, each as often as its weight says. */
    EVZK_PICK_WEIGHTED,
    /** In turn, without those that were reported as failed; if all were, the
     * one whose failure is the longest ago. */
    EVZK_PICK_LEAST_RECENTLY_FAILED
} evzk_pick;

/** An endpoint, as a resolver has it.  What the pointers point to belongs to
 * the resolver, and is valid until the loop goes on. */
typedef struct evzk_resolved {
    const char *name;
    /** All zero, if it is malformed or hidden. */
    evzk_endpoint endpoint;
    uint64_t token;   /**< The czxid of the znode: another znode, another token.
                       */
    int64_t session;  /**< Session that owns it; 0: persistent. */
    const void *text; /**< The znode's data as they are. */
    size_t text_len;
    /** The text is no endpoint: another program's, or a mistake.  It is listed
     * so that somebody sees it, and never picked. */
    bool malformed;
    bool hidden; /**< Its ACL denies reading.  Never picked. */
} evzk_resolved;

/**
 * Reports a change of the list.  ADDED, CHANGED: @p endpoint as it is now;
 * REMOVED: as it was; READY, ENDED: NULL.  @p rc is EVZK_OK, but for ENDED. The
 * list has the change already.
 *
 * Always called from the loop, never inside a call to this library.  Every
 * function of the library may be called from it, evzk_resolver_free() included.
 */
typedef void evzk_resolver_cb(evzk_resolver *resolver,
                              evzk_resolver_event event, int rc,
                              const evzk_resolved *endpoint, void *arg);

#define EVZK_RESOLVER_FORGIVE_MS 10000

/** Zero-initialize, then set what you need. */
typedef struct evzk_resolver_options {
    evzk_pick pick;
    /** So long a failure counts, if nobody says that the endpoint works again;
     * 0: EVZK_RESOLVER_FORGIVE_MS; UINT32_MAX: for ever. */
    uint32_t forgive_ms;
    void *reserved[4]; /**< NULL. */
} evzk_resolver_options;

/**
 * Follows the endpoints of the service at @p service, and returns at once.
 * Creates nothing; a service that does not exist has no endpoints, until it
 * comes.  To resolve only once, free the resolver at its first READY.
 *
 * A resolver is a view of a group (evzk_group_watch()), with its promises: at
 * rest the list is the tree; no endpoint goes back in time; what is told adds
 * up to the list.  It takes READ on the service's znode.
 *
 * @param s       Borrowed; closing it ends the resolver with EVZK_ERR_CLOSED.
 * @param service Absolute path of the service, not "/". Copied.
 * @param opt     Copied; NULL for the defaults.
 * @param cb      Hears all that happens.
 * @param arg     Borrowed; handed back to @p cb untouched.
 * @param out     Set on success: owned by the caller, evzk_resolver_free().
 *
 * @retval EVZK_OK        @p cb will be called, unless freed before.
 * @retval EVZK_ERR_INVAL Bad argument; @p cb is never called, @p out is unset.
 * @retval EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED: as above.
 *
 * Later, with ENDED: EVZK_ERR_CANCELED, _CLOSED, _NOAUTH, _AUTH, _SERVER; and
 * EVZK_ERR_NOCHROOT, if nothing was told before.
 */
EVZK_API int evzk_resolver_start(evzk_session *s, const char *service,
                                 const evzk_resolver_options *opt,
                                 evzk_resolver_cb *cb, void *arg,
                                 evzk_resolver **out);

/**
 * Ends the resolver: ENDED is told in a later turn of the loop, with
 * EVZK_ERR_CANCELED.  It can be read, and picks, until evzk_resolver_free().
 *
 * @retval EVZK_OK        The end will be told.
 * @retval EVZK_ERR_STATE It has ended, or is about to.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_resolver_cancel(evzk_resolver *resolver);

/** Ends ownership, in any state; NULL is a no-op.  No callback follows. */
EVZK_API void evzk_resolver_free(evzk_resolver *resolver);

/**
 * Picks an endpoint, as the options say, and asks no server.  Allocates
 * nothing, unless there was no memory for an endpoint when it came.
 *
 * @param out Set on success; what it points to is borrowed.  To report what
 *            becomes of the request, keep a copy of the name, and the token.
 * @return    False: no endpoint is there that may be picked; or NULL.
 */
EVZK_API bool evzk_resolver_pick(evzk_resolver *resolver, evzk_resolved *out);

/**
 * Reports that a request to an endpoint has failed; that a request was
 * answered.  This counts for EVZK_PICK_LEAST_RECENTLY_FAILED, and is forgotten
 * with the znode: whoever registers the name next has not failed.
 *
 * @param name  As picked. Borrowed.
 * @param token As picked: a report on an earlier znode of this name changes
 *              nothing.  0: whichever znode has the name now.
 * @return      False: this endpoint is not there any more; or NULL.
 */
EVZK_API bool evzk_resolver_failed(evzk_resolver *resolver, const char *name,
                                   uint64_t token);
EVZK_API bool evzk_resolver_worked(evzk_resolver *resolver, const char *name,
                                   uint64_t token);

/** Reads one endpoint of the list, and asks no server.  @p out is set if the
 * list has this name; what it points to is borrowed.  False also for NULL. */
EVZK_API bool evzk_resolver_find(const evzk_resolver *resolver,
                                 const char *name, evzk_resolved *out);

/** Goes through the list, in the order of the names as bytes, malformed and
 * hidden ones included.  @p endpoint is set if there is one; for the next: the
 * endpoint before, as it was set. */
EVZK_API bool evzk_resolver_first(const evzk_resolver *resolver,
                                  evzk_resolved *endpoint);
EVZK_API bool evzk_resolver_next(const evzk_resolver *resolver,
                                 evzk_resolved *endpoint);

/** How many endpoints the list has; 0 for NULL. */
EVZK_API size_t evzk_resolver_count(const evzk_resolver *resolver);

/** Is the list whole, and does the session surely hear of changes?  False for
 * NULL. */
EVZK_API bool evzk_resolver_ready(const evzk_resolver *resolver);

/** The state of the resolver's cache, as the diagram in evzk_cache(3) names it.
 * Static; "" for NULL. */
EVZK_API const char *evzk_resolver_state(const evzk_resolver *resolver);

#ifdef __cplusplus
}
#endif

#endif
