/* What a read has found: the view becomes so, the user is told, and the
 * follower goes on.
 *
 * How it can fail.  An answer may be older than what was told: then the znode
 * is read again, unless history has begun anew (parts/history.h).  Without
 * memory for the data the znode is read again in a while.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/cache/cache_internal.h"

/* The session that owns the znode.  Containers, and znodes with a time to live,
 * have something else in the place of a session. */
static int64_t owner_of(const struct evzk__stat *stat)
{
    bool is_session =
        stat->owner != INT64_MIN && (uint64_t)stat->owner >> 56 != 0xff;

    return is_session ? stat->owner : 0;
}

/* Is the answer older than what was told? */
static bool is_old(const struct evzk__follower *f,
                   const struct evzk__stat *stat)
{
    const struct evzk__cache_node *n = f->n;

    return n->told && (stat->czxid < n->czxid || stat->mzxid < n->mzxid);
}

/* The same numbers with other data are those of another history. */
static bool is_changed(const struct evzk__cache_node *n,
                       const struct evzk__result *res)
{
    return res->stat.mzxid != n->mzxid || res->len != n->len ||
           (n->len > 0 && memcmp(res->data, n->data, n->len) != 0);
}

static bool is_news(const struct evzk__follower *f,
                    const struct evzk__result *res)
{
    const struct evzk__cache_node *n = f->n;

    return !n->told || n->hidden || res->stat.czxid != n->czxid ||
           (!f->c->names_only && is_changed(n, res));
}

/* Where to go when the znode itself was read. */
static int where_next(const struct evzk__follower *f)
{
    if (!evzk__follower_reads(f))
        return f->n->hidden ? FOLLOWING : MERGING;
    if (!evzk__follower_lists(f))
        return FOLLOWING;
    if (evzk__follower_misses(f, EVZK__PRED))
        return LISTING;
    return f->merge ? MERGING : FOLLOWING; /* Listed before. */
}

/* The node is like this now; `data` becomes its own.  Tells so first: the next
 * state may tell of the children.  The callback may free the cache. */
static int become(struct evzk__follower *f, const struct evzk__cache_node *like)
{
    struct evzk__cache_node *n = f->n;
    struct evzk_cache *c = f->c;
    evzk_cache_entry before = evzk__cache_entry_of(n);
    bool was_told = n->told;
    void *old = n->data;

    n->data = like->data;
    n->len = like->len;
    n->czxid = like->czxid;
    n->mzxid = like->mzxid;
    n->owner = like->owner;
    n->version = like->version;
    n->hidden = like->hidden;
    n->told = true;
    c->count += !was_told;
    evzk__cache_tell(c, was_told ? EVZK_CACHE_CHANGED : EVZK_CACHE_ADDED, n,
                     was_told ? &before : NULL);
    evzk__free(old);
    if (evzk__follower_is_over(f))
        return EVZK_OK;
    return evzk__machine_move(&f->m, where_next(f));
}

int evzk__follower_take(struct evzk__follower *f,
                        const struct evzk__result *res)
{
    const struct evzk__stat *stat = &res->stat;
    struct evzk__cache_node like = {.czxid = stat->czxid,
                                    .owner = owner_of(stat)};

    if (evzk__history_doubts(&f->history, &f->m, is_old(f, stat)))
        return evzk__machine_again_later(&f->m);
    if (!is_news(f, res))
        return evzk__machine_move(&f->m, where_next(f));
    if (!f->c->names_only) {
        like.mzxid = stat->mzxid;
        like.version = stat->version;
        like.len = (uint32_t)res->len;
        like.data = evzk__memdup(res->data, res->len);
        if (!like.data)
            return evzk__machine_again_later(&f->m);
    }
    return become(f, &like);
}

/* The znode above was gone, and is there again. */
static void wake_above(const struct evzk__follower *f)
{
    const struct evzk__cache_node *above = f->n->above;

    if (above && above->f && evzk__follower_empties(above->f))
        evzk__follower_poke(above->f);
}

/* The session may not read the znode. */
int evzk__follower_hide(struct evzk__follower *f)
{
    static const struct evzk__cache_node like = {.hidden = true};

    wake_above(f);
    if (f->n->told && f->n->hidden)
        return evzk__machine_move(&f->m, where_next(f));
    return become(f, &like);
}
