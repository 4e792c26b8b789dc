/* Takes a listing of children over into the view, some names in each look of
 * the loop, so that a long listing does not stop the loop.
 *
 * First the names: a child that is not known is added.  Then the children: the
 * follower of a child that the listing does not have looks at its znode again.
 * Where only names are kept, children have no followers: then the listing says
 * all, and each look tells one delta at most.
 *
 * How it can fail.  The listing may be old by the time it is taken over: the
 * watch that it has set has fired then, and the next listing comes.  A child
 * that such a listing names, and that is gone, is read once, and told nowhere.
 * A node that is known to be gone, and that the listing has, is another znode
 * of the same name, or will soon be known not to be: its follower looks again.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/cache/cache_internal.h"

void evzk__merge_drop(struct evzk__follower *f)
{
    if (f->merge)
        evzk__read_all_clear(&f->merge->all);
    evzk__free(f->merge);
    f->merge = NULL;
}

int evzk__merge_take(struct evzk__follower *f, const struct evzk__names *names)
{
    if (!f->merge)
        f->merge = evzk__zalloc(sizeof *f->merge);
    if (!f->merge)
        return EVZK_ERR_NOMEM;
    f->merge->at = 0;
    f->merge->next = NULL;
    f->listing++;
    return evzk__read_all_take(&f->merge->all, "", names);
}

/* Have the children of this znode machines of their own? */
static bool are_followed(const struct evzk__follower *f)
{
    return !f->c->names_only || f->c->depth == EVZK_CACHE_SUBTREE;
}

/* May the listing not be taken over any more?  The watch that it has set was
 * lost with its connection. */
static bool is_lost(const struct evzk__follower *f)
{
    return evzk__watch_missing(&f->m, EVZK__PRED);
}

static bool fits(const struct evzk__follower *f, const char *name)
{
    return strlen(evzk__machine_path(&f->m)) + 1 + strlen(name) <=
           EVZK__PATH_MAX;
}

/* Makes the node of a child; NULL: no memory. */
static struct evzk__cache_node *add(struct evzk__follower *f, const char *name)
{
    struct evzk__cache_node *n = evzk__cache_node_new(f->n, name);

    if (n && are_followed(f) &&
        evzk__follower_new(f->c, n, f->m.kind, f->counted) != EVZK_OK) {
        evzk__cache_node_unlink(n);
        evzk__cache_node_free(n);
        n = NULL;
    }
    return n;
}

/* Takes one name over.  0 or EVZK_ERR_NOMEM; *news: a node that is to be told.
 */
static int merge_name(struct evzk__follower *f, const char *name,
                      struct evzk__cache_node **news)
{
    struct evzk__cache_node *n =
        evzk__cache_node_child(f->n, name, strlen(name));

    if (!n && !fits(f, name))
        return EVZK_OK;
    if (n && n->f && (n->hidden || evzk__follower_empties(n->f)))
        evzk__follower_poke(n->f);
    if (!n && !(n = add(f, name)))
        return EVZK_ERR_NOMEM;
    n->listing = f->listing;
    if (!n->f && !n->told)
        *news = n;
    return EVZK_OK;
}

/* The callback may free the cache: touch nothing after. */
static void tell_name(struct evzk_cache *c, struct evzk__cache_node *n)
{
    n->told = true;
    c->count++;
    evzk__cache_tell(c, EVZK_CACHE_ADDED, n, NULL);
}

static void list_again_later(struct evzk__machine *m)
{
    evzk__machine_pause(m);
    evzk__machine_move(m, LISTING);
}

static void merge_some(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);
    struct evzk__merge *g = f->merge;
    struct evzk__cache_node *news = NULL;
    int rc = EVZK_OK;

    for (unsigned i = 0;
         i < EVZK__CACHE_SLICE && g->at < g->all.n && !news && rc == EVZK_OK;
         i++)
        rc = merge_name(f, g->all.names[g->at++], &news);
    if (rc != EVZK_OK) {
        list_again_later(m);
        return;
    }
    if (g->at < g->all.n || news)
        evzk__machine_ask(m);
    else {
        g->next = RB_MIN(evzk__cache_nodes, &f->n->children);
        evzk__machine_move(m, SWEEPING);
    }
    if (news)
        tell_name(f->c, news);
}

void evzk__follower_merge(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (!f->c || !evzk__cache_tells(f->c))
        return;
    if (is_lost(f))
        evzk__machine_move(m, WAITING);
    else
        merge_some(m);
}

int evzk__follower_go_on(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_again(m);
}

/* Looks at one child.  A node without a follower that is gone is returned, out
 * of the tree. */
static struct evzk__cache_node *sweep_child(struct evzk__follower *f)
{
    struct evzk__cache_node *n = f->merge->next;

    f->merge->next = RB_NEXT(evzk__cache_nodes, NULL, n);
    if (n->listing == f->listing)
        return NULL;
    if (n->f) {
        evzk__follower_poke(n->f);
        return NULL;
    }
    evzk__cache_node_unlink(n);
    return n;
}

static void sweep_some(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);
    struct evzk__cache_node *gone = NULL;
    struct evzk_cache *c = f->c;

    for (unsigned i = 0; i < EVZK__CACHE_SLICE && f->merge->next && !gone; i++)
        gone = sweep_child(f);
    if (f->merge->next || gone)
        evzk__machine_ask(m);
    else {
        evzk__merge_drop(f);
        evzk__machine_move(m, FOLLOWING);
        evzk__cache_settled(c);
    }
    if (gone)
        evzk__cache_tell_gone(c, gone);
}

void evzk__follower_sweep(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (!f->c || !evzk__cache_tells(f->c))
        return;
    if (is_lost(f))
        evzk__machine_move(m, WAITING);
    else
        sweep_some(m);
}
