/* A cache, as its files know it.
 *
 *   node.c      the view: the tree of znodes
 *   view.c      the public calls that read the view
 *   tell.c      what the user is told
 *   follower.c  the machines that follow a znode each: which may read now
 *   merge.c     what a listing changes
 *   gone.c      a znode that is gone
 *   found.c     what a read has found
 *   follow.c    the table of a follower, and its reads
 *   cache.c     the cache itself: its table, and its public calls
 *
 * The files from the ground up; no file calls one above it. */
#ifndef EVZK_CACHE_INTERNAL_H
#define EVZK_CACHE_INTERNAL_H

#include <bsd/sys/tree.h>
#include <sys/queue.h>

#include "evzk/cache.h"
#include "lib/machine/machine.h"
#include "recipes/parts/history.h"
#include "recipes/parts/read_all.h"

struct evzk__follower;

RB_HEAD(evzk__cache_nodes, evzk__cache_node);

/* A znode.  The view is made of those that were told. */
struct evzk__cache_node {
    RB_ENTRY(evzk__cache_node) link;
    struct evzk__cache_nodes children;
    struct evzk__cache_node *above; /* NULL: the root. */
    struct evzk__follower *f;       /* NULL: the listings of `above` tell. */
    void *data;                     /* Owned. */
    int64_t czxid, mzxid, owner;
    uint32_t len;
    int32_t version;
    uint32_t listing; /* The last listing of `above` that had it. */
    uint16_t name_at; /* Where in `path` the name begins. */
    bool told, hidden;
    char path[]; /* Relative to the root. */
};

/* A listing that is being taken over. */
struct evzk__merge {
    struct evzk__read_all all;
    uint32_t at;                   /* MERGING: the next name. */
    struct evzk__cache_node *next; /* SWEEPING: the next child. */
};

/* Follows one znode: its directory is the znode itself.  The own watch is on
 * the data, the other watch on the children. */
struct evzk__follower {
    struct evzk__machine m;
    struct evzk_cache *c; /* NULL once the cache does not need it. */
    struct evzk__cache_node *n;
    TAILQ_ENTRY(evzk__follower) link;
    struct evzk__merge *merge; /* Owned; or NULL. */
    uint32_t listing;          /* Counts listings. */
    uint16_t connection_no;    /* Of its last look. */
    struct evzk__history history;
    bool in_line; /* Waits for its turn to read. */
    bool has_turn;
    bool counted; /* In `behind` of the cache. */
};
TAILQ_HEAD(evzk__followers_list, evzk__follower);

/* The states of a follower. */
enum {
    WAITING,
    READING,
    ROOTING,
    LISTING,
    MERGING,
    SWEEPING,
    FOLLOWING,
    EMPTYING,
    LEFT,
    STATES
};

/* Names, or followers, in one look of the loop. */
enum { EVZK__CACHE_SLICE = 4 };

struct evzk_cache {
    struct evzk__machine m;
    evzk_cache_depth depth;
    bool names_only;
    evzk_cache_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    struct evzk__cache_node *root;
    size_t count;                     /* Znodes that were told. */
    struct evzk__followers_list line; /* Followers that wait to read. */
    struct evzk__followers_list others;
    uint32_t reading; /* Followers that have a turn. */
    uint32_t behind;  /* Followers that have yet to read on this connection. */
    /* For another recipe: a change of the root's children was taken over whole,
     * behind what it told; or NULL.  Must not free the cache. */
    void (*settled)(void *arg);
    bool was_whole;    /* READY was told, once at least. */
    uint16_t whole_no; /* The connection on which READY was told last. */
};

/* Is the view in the midst of a change of the root's children?  Then more
 * deltas come in later turns of the loop; or, where a lost connection or want
 * of memory has cut it short, after the next listing.  `settled` tells when. */
static inline bool evzk__cache_is_merging(const struct evzk_cache *c)
{
    const struct evzk__follower *f = c->root ? c->root->f : NULL;

    return f && f->m.started && (f->merge || f->m.state == EMPTYING);
}

static inline void evzk__cache_settled(struct evzk_cache *c)
{
    if (c->settled && !evzk__cache_is_merging(c))
        c->settled(c->arg);
}

static inline struct evzk__follower *evzk__follower_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__follower, m);
}

/* ---- cache/node.c ---- */

int evzk__cache_node_compare(const struct evzk__cache_node *a,
                             const struct evzk__cache_node *b);
RB_PROTOTYPE(evzk__cache_nodes, evzk__cache_node, link,
             evzk__cache_node_compare)

/* Makes a node of this name, and links it; NULL: no memory.  `above` is NULL
 * for the root. */
struct evzk__cache_node *evzk__cache_node_new(struct evzk__cache_node *above,
                                              const char *name);
/* The child of this name, which has `len` bytes; NULL: there is none. */
struct evzk__cache_node *
evzk__cache_node_child(const struct evzk__cache_node *above, const char *name,
                       size_t len);
/* Takes a node that has no children out of its tree.  A sweep that would come
 * to it next goes on behind it. */
void evzk__cache_node_unlink(struct evzk__cache_node *n);
void evzk__cache_node_free(struct evzk__cache_node *n);
static inline const char *
evzk__cache_node_name(const struct evzk__cache_node *n)
{
    return n->path + n->name_at;
}
/* The same as the user sees it. */
evzk_cache_entry evzk__cache_entry_of(const struct evzk__cache_node *n);

/* Frees up to `most` nodes of the tree, those without children first. */
void evzk__cache_free_nodes(struct evzk_cache *c, size_t most);

/* ---- cache/tell.c ---- */

/* May the view be changed, and the change be told? */
bool evzk__cache_tells(const struct evzk_cache *c);

/* Calls back, unless the user has freed the cache.  The callback may free the
 * cache: touch nothing of it after. */
void evzk__cache_call(struct evzk_cache *c, evzk_cache_event event, int rc,
                      const evzk_cache_entry *entry,
                      const evzk_cache_entry *before);

/* The same: a delta. */
void evzk__cache_tell(struct evzk_cache *c, evzk_cache_event event,
                      const struct evzk__cache_node *n,
                      const evzk_cache_entry *before);

/* Tells that a node is gone which is in the tree no more, and frees it. */
void evzk__cache_tell_gone(struct evzk_cache *c, struct evzk__cache_node *n);

/* ---- cache/follower.c ---- */

/* Has a machine follow the node: 0 or EVZK_ERR_NOMEM.  `counted`: the view is
 * not whole before it was read. */
int evzk__follower_new(struct evzk_cache *c, struct evzk__cache_node *n,
                       const struct evzk__kind *kind, bool counted);

/* The cache does not need the follower any more. */
void evzk__follower_leave(struct evzk__follower *f);
void evzk__follower_let_go(struct evzk__follower *f);

/* Does the cache need it no more?  A callback may have freed the cache. */
bool evzk__follower_is_over(const struct evzk__follower *f);
/* Is it the root's? */
bool evzk__follower_is_first(const struct evzk__follower *f);
/* Does it read the znode itself?  Else a listing tells all. */
bool evzk__follower_reads(const struct evzk__follower *f);
/* Are its children in the view, as far as is known? */
bool evzk__follower_lists(const struct evzk__follower *f);
/* Is this watch missing? */
bool evzk__follower_misses(const struct evzk__follower *f,
                           enum evzk__which which);
/* Is its znode gone, and does it wait for the children? */
static inline bool evzk__follower_empties(const struct evzk__follower *f)
{
    return f->m.started && f->m.state == EMPTYING;
}

/* May the follower read now?  Else it waits in the line, and is asked. */
bool evzk__follower_take_turn(struct evzk__follower *f);
/* Gives the turn to the next follower in the line, if the line is not empty. */
void evzk__follower_rest(struct evzk__follower *f);

/* The connection is another one: the znode must be read before the view is
 * whole, and doubts begin anew; and it was read. */
void evzk__follower_count(struct evzk__follower *f);
void evzk__follower_settle(struct evzk__follower *f);

/* Has the follower look at its znode again, if it does not do so anyway. */
void evzk__follower_poke(struct evzk__follower *f);

/* ---- cache/merge.c ---- */

/* Takes the names over: 0 or EVZK_ERR_NOMEM. */
int evzk__merge_take(struct evzk__follower *f, const struct evzk__names *names);
void evzk__merge_drop(struct evzk__follower *f);

void evzk__follower_merge(struct evzk__machine *m);
void evzk__follower_sweep(struct evzk__machine *m);
int evzk__follower_go_on(struct evzk__machine *m, const struct evzk__event *e);

/* ---- cache/found.c ---- */

/* The znode was read, or, where only names are kept, listed.  Both return what
 * a reaction returns.  The user may free the cache: touch nothing after. */
int evzk__follower_take(struct evzk__follower *f,
                        const struct evzk__result *res);
/* The session may not read the znode. */
int evzk__follower_hide(struct evzk__follower *f);

/* ---- cache/gone.c ---- */

void evzk__follower_empty(struct evzk__machine *m);
int evzk__follower_emptied(struct evzk__machine *m,
                           const struct evzk__event *e);

#endif
