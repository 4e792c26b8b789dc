/**
 * @file evzk/session.h
 * A ZooKeeper session driven by a libevent loop.  It outlives connections, and
 * comes back as a new session when the old one expires.
 *
 * Threading: one session belongs to one event_base and to the thread that runs
 * it.  Call everything here, and expect every callback, on that thread; only
 * evzk_set_allocator() is global.  Several sessions, on one base or on several,
 * are fine.  Nothing here blocks: name resolution, connecting and closing
 * included.
 *
 * fork(): the child must not use the parent's session.  Every call on it there
 * gives EVZK_ERR_FORKED, but for evzk_session_free(), which gives the child's
 * copy of the memory back and sends nothing.
 */
#ifndef EVZK_SESSION_H
#define EVZK_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
struct evdns_base;

typedef struct evzk_session evzk_session; /**< Opaque. */

/** What the session's callback reports. Only CLOSED is final. */
typedef enum evzk_session_event {
    /** A session is there: the first, or a new one after EXPIRED. */
    EVZK_SESSION_CONNECTED = 1,
    /** In doubt: the connection is lost, or the leader has been silent, or the
     * process stood still.  Locks stay held and leaders stay elected until the
     * lease ends (evzk_session_lease_ms()).  Told before the events of locks
     * and other operations that follow from it. */
    EVZK_SESSION_SUSPENDED,
    /** The same session goes on: connected, and confirmed by the leader. */
    EVZK_SESSION_RESUMED,
    /** The server ended the session: all it owned is gone.  A new session is
     * being made; CONNECTED will tell. rc is EVZK_ERR_EXPIRED. */
    EVZK_SESSION_EXPIRED,
    /**
     * Final.  rc is EVZK_OK when the server confirmed that the session is
     * over, or had not yet granted one; EVZK_ERR_TIMEOUT when it did not answer
     * in time, so that the session ends by expiry; EVZK_ERR_AUTH when it
     * refused the credentials.
     */
    EVZK_SESSION_CLOSED
} evzk_session_event;

/** The name of an event, as in "CONNECTED"; "?" for an unknown number.
 * Static, never NULL. */
EVZK_API const char *evzk_session_event_name(evzk_session_event event);

/** Is this event the last one of a session? */
EVZK_API bool evzk_session_event_is_final(evzk_session_event event);

/**
 * Reports what becomes of the session.  Always called from the loop, never
 * inside a call to this library.  Every function of the library may be called
 * from it, evzk_session_free() included.
 */
typedef void evzk_session_cb(evzk_session *session, evzk_session_event event,
                             int rc, void *arg);

/** The importance of a line of the log. */
typedef enum evzk_log_level {
    EVZK_LOG_ERROR = 1,
    EVZK_LOG_WARN,
    EVZK_LOG_INFO,
    EVZK_LOG_DEBUG
} evzk_log_level;

/**
 * Takes one line of the log, without a newline; the ZooKeeper C client's own
 * lines come through it too.  The line is borrowed for the call.  May run
 * inside a call to this library, and must not call it.
 */
typedef void evzk_log_cb(evzk_log_level level, const char *line, void *arg);

/**
 * A ready-made log: writes the local time, the level and the line to stderr.
 * For evzk_session_options.log; @p arg is not used.  May be called
 * by several threads at once.  Nothing else in the library writes there.
 */
EVZK_API void evzk_log_stderr(evzk_log_level level, const char *line,
                              void *arg);

/** One event that a state machine was given, for logs, metrics and tests. */
typedef struct evzk_trace {
    const char *kind;   /**< "lock", ... Static. */
    const void *object; /**< Tells machines apart; do not dereference it. */
    const char *path;   /**< Its directory. Borrowed for the call. */
    const char *from;   /**< The state that it leaves; NULL at birth. Static. */
    const char *event;  /**< What happened. Static. */
    const char *to;     /**< The state it is in now. Static. */
    bool entered;       /**< `to` was entered, perhaps once more; false: the
                             machine stays where it was. */
    int rc;             /**< The result that the event carried, or 0. */
    uint64_t time_us;   /**< When, in microseconds of CLOCK_BOOTTIME. */
} evzk_trace;

/**
 * Sees every event that a machine of a session is given, once, with the move
 * that it led to.  An event that led to no move has `entered` false, and is
 * told after what the machine's callback did.  Must not call this library.
 */
typedef void evzk_trace_cb(const evzk_trace *move, void *arg);

#define EVZK_PERM_READ 1u
#define EVZK_PERM_WRITE 2u
#define EVZK_PERM_CREATE 4u
#define EVZK_PERM_DELETE 8u
#define EVZK_PERM_ADMIN 16u
#define EVZK_PERM_ALL 31u

/** One entry of an access control list, as in {ALL, "auth", ""}. */
typedef struct evzk_acl {
    uint32_t perms;     /**< EVZK_PERM_* ored together. */
    const char *scheme; /**< "world", "auth", "digest", "ip", ... */
    const char *id;     /**< "anyone" for world, "" for auth. */
} evzk_acl;

#define EVZK_ACL_MAX 16 /**< Most entries in one list. */

#define EVZK_SERVERS_MAX 64 /**< Most servers of one session. */

/**
 * The names of the znodes of a lock, a candidate or a semaphore.  Programs of
 * another library can use the same path: doc/dialects.md says with which of its
 * recipes, and what to beware of.  All programs on one path use the same
 * dialect.
 */
typedef enum evzk_dialect {
    EVZK_DIALECT_EVZK,    /**< evzk's own. */
    EVZK_DIALECT_CURATOR, /**< Apache Curator's. */
    EVZK_DIALECT_KAZOO    /**< Kazoo's. */
} evzk_dialect;

/** The name, as in "curator"; "?" for an unknown number.  Static, never NULL.
 */
EVZK_API const char *evzk_dialect_name(evzk_dialect dialect);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_session_options {
    /** Session time-out to ask for, 100 to one day; 0 asks for 10,000.  The
     * server decides: evzk_session_timeout_ms(). */
    uint32_t timeout_ms;
    /** How long evzk_session_close() waits for a silent server; 0 is 1,000. */
    uint32_t close_timeout_ms;
    /** Every path is below this one, as in "/app"; NULL for none. */
    const char *chroot;
    /** Make the chroot when it is missing, instead of EVZK_ERR_NOCHROOT. */
    bool make_chroot;
    /** ACL of all znodes that the session's recipes make, unless the recipe was
     * given another; NULL is open to the world. */
    const evzk_acl *acl;
    size_t acl_count;
    /** Data of contender znodes where none is given; NULL is "host:pid". */
    const void *data;
    size_t data_len;
    /** Requests in flight at a time; 0 is 1,000. The others wait. */
    uint32_t window;
    /** Resolves the servers' names. Borrowed, and must outlive the session;
     * NULL makes one from /etc/resolv.conf when a name is to be resolved, and
     * silences evdns, which would warn on stderr (evdns_set_log_fn()). */
    struct evdns_base *dns;
    /** Takes the log, as evzk_log_stderr() does; NULL: there is no log, and
     * nothing goes to stderr. */
    evzk_log_cb *log;
    void *log_arg;            /**< Borrowed. */
    evzk_log_level log_level; /**< The most detailed wanted; 0 is WARN. */
    evzk_trace_cb *trace;     /**< NULL for none. */
    void *trace_arg;          /**< Borrowed. */
    void *reserved[4];        /**< NULL. */
} evzk_session_options;

/**
 * Starts a session and returns at once.  The session connects from the loop,
 * and goes on trying when no server is up yet.  Recipes may be started right
 * away. Each of n servers has two thirds of the time-out, divided by n, to
 * answer, and at least 500 ms; then the next one is tried.
 *
 * @param base    Borrowed; must outlive the session (evzk_session_free()).
 * @param servers "host:port,host:port,..."; names, IPv4 or [IPv6]; at most
 *                EVZK_SERVERS_MAX, a name of at most 255 bytes. Copied.
 * @param opt     Copied, with all it points to but `dns`; NULL for defaults.
 * @param cb      Hears what becomes of the session; may be NULL.
 * @param arg     Borrowed; handed back to @p cb untouched.
 * @param out     Set on success: owned by the caller, evzk_session_free().
 *
 * @retval EVZK_OK        The session is on its way.
 * @retval EVZK_ERR_INVAL A bad argument; nothing was done, @p out is unset.  A
 *         line in the log names function, argument and rule.
 * @retval EVZK_ERR_NOMEM As above.
 */
EVZK_API int evzk_session_open(struct event_base *base, const char *servers,
                               const evzk_session_options *opt,
                               evzk_session_cb *cb, void *arg,
                               evzk_session **out);

/**
 * Adds credentials, for now and for every later connection; with the scheme
 * "digest", "user:password".  Copied.  Add them before starting recipes.
 *
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 * Later: a server that refuses them ends the session, CLOSED/EVZK_ERR_AUTH.
 */
EVZK_API int evzk_session_add_auth(evzk_session *session, const char *scheme,
                                   const void *cert, size_t len);

/**
 * Ends the session: lets requests in flight finish, tells the server, and waits
 * for its answer, at most `close_timeout_ms`.  Nothing is held from this call
 * on, and only final events are told; and items that a consumer has removed (at
 * most once), which nobody else can have.  Every operation of the session ends
 * in its own final callback with EVZK_ERR_CLOSED; then CLOSED is reported. Does
 * not block.
 *
 * @retval EVZK_ERR_INVAL, EVZK_ERR_FORKED; EVZK_ERR_CLOSED when done before.
 */
EVZK_API int evzk_session_close(evzk_session *session);

/**
 * Ends ownership, in any state; NULL is a no-op.  The session's callback is not
 * called again.  A session that was not closed is closed from the loop first:
 * the base must run for that, for `close_timeout_ms` at most, and no callback
 * tells the end.  If the base does not run any more, no server is told, so the
 * session ends by expiry, and its memory is not given back.  To know the end,
 * close the session, and free it after CLOSED.  Recipes of the session still
 * get their final callbacks, and their owner still has to free them.  Free all
 * of them, and the session, before the base.
 */
EVZK_API void evzk_session_free(evzk_session *session);

/** True while connected, and lately confirmed by the leader. */
EVZK_API bool evzk_session_connected(const evzk_session *session);

/**
 * Milliseconds for which the session surely still lives, computed now from what
 * the leader confirmed; 0: nothing is held.  In CONNECTED,
 * before the first request is answered, it is about 0.95 of the time-out: the
 * leader has confirmed the handshake.  Later it is between 0.4 and 0.6.  After
 * the process stood still for a time-out or longer it may be 0 in RESUMED,
 * until a later question is answered.
 */
EVZK_API uint32_t evzk_session_lease_ms(const evzk_session *session);

/** The session time-out the server granted; 0 before the first CONNECTED. */
EVZK_API uint32_t evzk_session_timeout_ms(const evzk_session *session);

/** The id the server gave the session; 0 before the first CONNECTED. */
EVZK_API int64_t evzk_session_id(const evzk_session *session);

/** What a session has done so far, for metrics and tests. */
typedef struct evzk_session_stats {
    uint64_t connects;    /**< Connections that were established. */
    uint64_t losses;      /**< Connections that were lost. */
    uint64_t expirations; /**< Sessions that the server ended. */
    uint64_t requests;    /**< Requests handed to the client, syncs too; a
                               transaction counts once. */
    uint64_t probes;      /**< The syncs among them that renew the lease. */
    uint64_t lease_ends;  /**< Times the lease ran out. */
    uint32_t in_flight;   /**< Requests sent and not answered. */
    uint32_t queued;      /**< Requests waiting for their turn. */
    uint32_t watches;     /**< Watches that operations have set. */
    uint32_t machines;    /**< Operations alive, background ones too. */
    uint32_t probe_ms;    /**< The interval between probes when idle. */
    uint32_t left_overs;  /**< Of the machines: operations that have ended, and
                               may have left a znode, since servers refused to
                               tell or to delete it; it is looked for and
                               deleted in the background. */
    uint64_t turn_max_us; /**< The longest time that the loop was held at once,
                               without the application's own callbacks. */
} evzk_session_stats;

/** Fills @p out with the figures of now. */
EVZK_API void evzk_session_get_stats(const evzk_session *session,
                                     evzk_session_stats *out);

/**
 * Replaces malloc, realloc and free for all of the library; NULLs set the C
 * library's back.  Call it while no session exists, and no lease of one
 * (evzk/lease.h).  Where other threads give leases back, or run sessions, the
 * functions have to be safe to call from several threads at once.  The
 * ZooKeeper C client and libevent go on using their own.
 */
EVZK_API void evzk_set_allocator(void *(*malloc_fn)(size_t),
                                 void *(*realloc_fn)(void *, size_t),
                                 void (*free_fn)(void *));

#ifdef __cplusplus
}
#endif

#endif
