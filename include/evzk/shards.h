/**
 * @file evzk/shards.h
 * Many elections as one object: each of N shards is led by at most one process,
 * and all shards are spread over the processes that have joined, as evenly as
 * their weights allow, with as few moves as that takes.
 *
 * Each shard is an election of its own (evzk/election.h): the promises there,
 * about the leader, the lease and the epoch, hold for every shard.  The first
 * of the members writes a plan of which member is to lead which shard.  The
 * plan only says which member stands for which shard.
 *
 * Shards are numbered; or they have names, and then they are tasks: N named
 * tasks over M members.  evzk_rebalance() alone shares tasks out for a program
 * that knows its members by itself.
 *
 * Threading: call everything here, and expect every callback, on the thread
 * that runs the session's event_base.  Nothing here blocks.  For other threads
 * there is evzk/lease.h.
 */
#ifndef EVZK_SHARDS_H
#define EVZK_SHARDS_H

#include <evzk/election.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evzk_shards evzk_shards; /**< One member. Opaque. */

#define EVZK_SHARDS_MAX 65536     /**< Most shards of one object. */
#define EVZK_SHARDS_DATA_MAX 1024 /**< Most bytes of a member's data. */
#define EVZK_SHARDS_NAME_MAX 127  /**< Most bytes of a shard's name. */

/**
 * Hears what becomes of one shard: ELECTED, LEADING, SUSPENDED, RESUMED;
 * RESIGNED when the shard goes to another member (from then on this one does
 * not lead it); LOST with an rc; FAILED with an rc when this member cannot
 * stand for the shard now.  After RESIGNED, LOST and FAILED the shard may come
 * again. Always called from the loop; every function of the library may be
 * called from it, evzk_shards_free() included.
 */
typedef void evzk_shard_cb(evzk_shards *shards, uint32_t shard,
                           evzk_election_event event, int rc, void *arg);

/** What the object's callback reports. DRAINED and FAILED are final. */
typedef enum evzk_shards_event {
    /** There is a new plan: members have come or gone. */
    EVZK_SHARDS_PLANNED = 1,
    /** This member leads all that the plan gives it, and nothing else. */
    EVZK_SHARDS_BALANCED,
    /** Final. All was handed over, or given up, and proved gone.  The znode of
     * a shard that was lost meanwhile may stand until the session ends.  rc is
     * EVZK_ERR_NOAUTH, _SERVER or _TOOLARGE where the servers refused to delete
     * a znode: it goes when they do, or with the session. */
    EVZK_SHARDS_DRAINED,
    /** Final. rc says why: EVZK_ERR_INVAL when the others have another number
     * of shards, or other names, EVZK_ERR_CLOSED, or, before the first place
     * was had, an error of evzk_lock_acquire().  Each shard that was led has
     * heard LOST before.
     */
    EVZK_SHARDS_FAILED
} evzk_shards_event;

/** The name of an event, as in "PLANNED"; "?" for an unknown number.
 * Static, never NULL. */
EVZK_API const char *evzk_shards_event_name(evzk_shards_event event);

/** Is this event the last one of the object? */
EVZK_API bool evzk_shards_event_is_final(evzk_shards_event event);

/** Always called from the loop, as evzk_shard_cb is. */
typedef void evzk_shards_cb(evzk_shards *shards, evzk_shards_event event,
                            int rc, void *arg);

/** Zero-initialize, then set what you need. Everything is copied. */
typedef struct evzk_shards_options {
    uint32_t count; /**< Shards, 1 to EVZK_SHARDS_MAX; the same everywhere. */
    /** The share of this process, in proportion to the others' weights; 0 is
     * 1. */
    uint32_t weight;
    uint32_t most; /**< The most shards to lead; 0: any number. */
    /** Lead nothing, only see the plan. */
    bool observer;
    /** Wait for evzk_shards_acknowledge() after each ELECTED.  Without it each
     * election is acknowledged at once, with the member's data. */
    bool acknowledge;
    /** What other members see of this process: an address, say.  At most
     * EVZK_SHARDS_DATA_MAX bytes. */
    const void *data;
    size_t data_len;
    /** NULL: the shards have numbers alone.  Else `count` names, all different,
     * each a znode's name of at most EVZK_SHARDS_NAME_MAX bytes.  All members
     * list the same names, in any order: shard i is the i-th of them in the
     * order of their bytes. */
    const char *const *names;
    void *reserved[4]; /**< NULL. */
} evzk_shards_options;

/**
 * Joins the members that share the shards at @p path, and returns at once.
 *
 * @param s    Borrowed; closing it ends this with EVZK_ERR_CLOSED.
 * @param path Absolute path of the directory of all shards. Copied.
 * @param opt  Copied, with all it points to.
 * @param shard Hears of each shard; may be NULL.
 * @param cb   Hears of the object as a whole.
 * @param arg  Borrowed; handed back to both untouched.
 * @param out  Set on success: owned by the caller, evzk_shards_free().
 *
 * @retval EVZK_OK  @p cb will be called.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_CLOSED, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_shards_join(evzk_session *s, const char *path,
                              const evzk_shards_options *opt,
                              evzk_shard_cb *shard, evzk_shards_cb *cb,
                              void *arg, evzk_shards **out);

/** The name of a shard, until evzk_shards_free().  NULL: there is no such
 * shard, or the shards have numbers alone. */
EVZK_API const char *evzk_shards_name(const evzk_shards *shards,
                                      uint32_t shard);

/** The shard of this name.  False: there is none, and @p out is as it was. */
EVZK_API bool evzk_shards_index(const evzk_shards *shards, const char *name,
                                uint32_t *out);

/** As evzk_election_acknowledge(), for one shard. */
EVZK_API int evzk_shards_acknowledge(evzk_shards *shards, uint32_t shard,
                                     const void *data, size_t len);

/**
 * Leaves without a gap: the next plan gives this member nothing.  It hands each
 * shard over as soon as another member is ready to take it, and then ends in
 * DRAINED.  What no member takes within @p timeout_ms (0: for ever) is given
 * up.
 *
 * @retval EVZK_OK        DRAINED will come.
 * @retval EVZK_ERR_STATE Drained already, or ended.
 * @retval EVZK_ERR_INVAL, EVZK_ERR_NOMEM, EVZK_ERR_FORKED.
 */
EVZK_API int evzk_shards_drain(evzk_shards *shards, uint32_t timeout_ms);

/**
 * Ends ownership, in any state; NULL is a no-op.  No callback follows.  All
 * that is led is given up, in the background.
 */
EVZK_API void evzk_shards_free(evzk_shards *shards);

/** As evzk_election_leading(), _elected(), _epoch(), for one shard.  In the
 * callback of RESIGNED and LOST the epoch is the one that has just ended; after
 * it, 0 when the member does not stand for that shard. */
EVZK_API bool evzk_shards_leading(const evzk_shards *shards, uint32_t shard);
EVZK_API bool evzk_shards_elected(const evzk_shards *shards, uint32_t shard);
EVZK_API uint64_t evzk_shards_epoch(const evzk_shards *shards, uint32_t shard);

/** As evzk_election_lease(), for one shard that this member leads now; else
 * EVZK_ERR_STATE.  When the shard goes and comes back, it has a new lease. */
EVZK_API int evzk_shards_lease(evzk_shards *shards, uint32_t shard,
                               evzk_lease **out);

/** A member, as the plan knows it. */
typedef struct evzk_shards_member {
    const char *node; /**< Name of its znode. */
    uint32_t planned; /**< Shards that the plan gives it. */
    bool self;        /**< It is this member. */
    const void *data; /**< What it joined with. */
    size_t data_len;
} evzk_shards_member;

/** The member that is to lead a shard by the plan: send a client there.  What
 * @p out points to is borrowed until the next callback.  False: no member, or
 * no plan yet. */
EVZK_API bool evzk_shards_leader(const evzk_shards *shards, uint32_t shard,
                                 evzk_shards_member *out);

/** The plan's members, one after another; false: there is no member @p i. */
EVZK_API bool evzk_shards_member_at(const evzk_shards *shards, uint32_t i,
                                    evzk_shards_member *out);

/** Figures of one object; counters run from the join. */
typedef struct evzk_shards_stats {
    uint64_t plan;    /**< The plan's number; 0: none yet. */
    uint32_t members; /**< Members in the plan. */
    uint32_t planned; /**< Shards that the plan gives this member. */
    uint32_t elected; /**< Shards for which this member is elected. */
    uint32_t leading; /**< Shards that this member leads. */
    uint32_t nobodys; /**< Shards that the plan gives to no member: all members
                           have their most. */
    uint64_t moves;   /**< Shards that plans gave to another member, in all. */
    bool planner;     /**< This member makes the plans. */
    /** EVZK_OK; or why the plan, or the members, cannot be read or written
     * now, as EVZK_ERR_NOAUTH; EVZK_ERR_FOREIGN: a member's znode says what no
     * member has written.  Shards that are led stay led, and the request
     * is tried again every few seconds; the log says more. */
    int trouble;
} evzk_shards_stats;

EVZK_API void evzk_shards_get_stats(const evzk_shards *shards,
                                    evzk_shards_stats *out);

/* ---- Sharing out, without a server ---- */

#define EVZK_REBALANCE_MEMBERS_MAX 512 /**< Most members. */
#define EVZK_REBALANCE_NOBODY 0xffff   /**< The owner of a task without one. */

/** A member among which evzk_rebalance() shares out tasks. */
typedef struct evzk_rebalance_member {
    uint32_t weight; /**< Its share is in proportion to it; 0: it gets none. */
    uint32_t most;   /**< The most tasks that it gets; 0: any number. */
} evzk_rebalance_member;

/**
 * Shares tasks out among members, as the plans of shards do: each member gets
 * its share by weight, give or take one, and no task moves that could stay.
 * The result follows from the arguments alone, in every process; nothing is
 * allocated, sent or kept.  Callable from any thread.
 *
 * @param members   Borrowed; NULL if there is none.
 * @param n_members At most EVZK_REBALANCE_MEMBERS_MAX.
 * @param before    Borrowed; for each task the index in @p members of its owner
 *                  so far, or EVZK_REBALANCE_NOBODY: the task is new, or its
 *                  owner has gone.  NULL: no task has an owner.
 * @param after     Gets the owner of each task; may be @p before.
 *                  EVZK_REBALANCE_NOBODY: all members have their most.
 * @param n_tasks   The length of @p before and @p after.
 *
 * @retval EVZK_OK
 * @retval EVZK_ERR_INVAL Nothing was written.
 */
EVZK_API int evzk_rebalance(const evzk_rebalance_member *members,
                            uint32_t n_members, const uint16_t *before,
                            uint16_t *after, uint32_t n_tasks);

#ifdef __cplusplus
}
#endif

#endif
