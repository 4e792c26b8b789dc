/* A znode of a cache that is gone.
 *
 * A znode without children can be told at once.  Otherwise its children are
 * gone, too, and each tells so by its own follower, and wakes the one above it.
 * So a znode is removed from the view before the znode above it.  A child that
 * may not be read, perhaps since a moment ago, hears nothing: so the follower
 * above has it look.
 *
 * How it can fail.  The znode may come again while its children are awaited:
 * the listing above it shows the new znode, and its follower looks again; the
 * root has a watch for that.  Or a child is found to be hidden: then the znode
 * is there, too, and its follower looks again (found.c).
 */
#include "recipes/cache/cache_internal.h"

/* The znode above may have waited for this one to go. */
static void wake_above(const struct evzk__cache_node *above)
{
    if (above->f && evzk__follower_empties(above->f))
        evzk__machine_ask(&above->f->m);
}

/* The root's follower goes on: the root may come again. */
static void empty_root(struct evzk__follower *f)
{
    struct evzk__cache_node *n = f->n;
    struct evzk_cache *c = f->c;
    bool was_told = n->told;

    n->told = false;
    c->count -= was_told;
    evzk__machine_move(&f->m, FOLLOWING);
    evzk__cache_settled(c);
    if (was_told)
        evzk__cache_tell(c, EVZK_CACHE_REMOVED, n, NULL);
}

static void vanish(struct evzk__follower *f)
{
    struct evzk__cache_node *n = f->n, *above = n->above;
    struct evzk_cache *c = f->c;

    if (!above) {
        empty_root(f);
        return;
    }
    evzk__machine_finish(&f->m, EVZK_OK);
    evzk__cache_node_unlink(n);
    wake_above(above);
    evzk__cache_tell_gone(c, n);
}

/* A child that is only a name, in a view of names. */
static void drop_name(struct evzk__follower *f, struct evzk__cache_node *n)
{
    struct evzk_cache *c = f->c;

    evzk__cache_node_unlink(n);
    evzk__machine_ask(&f->m);
    evzk__cache_tell_gone(c, n);
}

void evzk__follower_empty(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);
    struct evzk__cache_node *n;

    if (!f->c || !evzk__cache_tells(f->c))
        return;
    if (evzk__follower_is_first(f) && evzk__watch_missing(m, EVZK__OWN)) {
        evzk__machine_move(m, WAITING);
        return;
    }
    evzk__follower_count(f);
    evzk__follower_rest(f);
    evzk__merge_drop(f);
    n = RB_MIN(evzk__cache_nodes, &f->n->children);
    if (!n)
        vanish(f);
    else if (!n->f)
        drop_name(f, n);
    else if (!evzk__follower_empties(n->f))
        evzk__follower_poke(n->f);
}

int evzk__follower_emptied(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type != EVZK__EV_USER)
        return e->which == EVZK__OWN ? evzk__machine_move(m, WAITING) : EVZK_OK;
    return evzk__machine_again(m);
}
