/* The view of a cache: a tree of znodes.  The children of each znode are a
 * red-black tree by name.
 *
 * How it can fail: a znode may have a path that is too long for a machine. Such
 * a znode is left out; servers refuse most of them, too.
 */
#include "recipes/cache/cache_internal.h"

#include <string.h>

#include "lib/base/mem.h"

int evzk__cache_node_compare(const struct evzk__cache_node *a,
                             const struct evzk__cache_node *b)
{
    return strcmp(evzk__cache_node_name(a), evzk__cache_node_name(b));
}

RB_GENERATE(evzk__cache_nodes, evzk__cache_node, link, evzk__cache_node_compare)

struct evzk__cache_node *evzk__cache_node_new(struct evzk__cache_node *above,
                                              const char *name)
{
    size_t head = above && above->path[0] ? strlen(above->path) + 1 : 0;
    struct evzk__cache_node *n =
        evzk__zalloc(sizeof *n + head + strlen(name) + 1);

    if (!n)
        return NULL;
    RB_INIT(&n->children);
    n->above = above;
    n->name_at = (uint16_t)head;
    if (head)
        strcpy(stpcpy(n->path, above->path), "/");
    strcpy(n->path + head, name);
    if (above)
        RB_INSERT(evzk__cache_nodes, &above->children, n);
    return n;
}

/* Compares a name, which has `len` bytes, with a node's. */
static int compare_name(const char *name, size_t len,
                        const struct evzk__cache_node *n)
{
    const char *other = evzk__cache_node_name(n);
    int c = strncmp(name, other, len);

    return c == 0 && other[len] ? -1 : c;
}

struct evzk__cache_node *
evzk__cache_node_child(const struct evzk__cache_node *above, const char *name,
                       size_t len)
{
    struct evzk__cache_node *n = RB_ROOT(&above->children);

    while (n) {
        int c = compare_name(name, len, n);

        if (c == 0)
            break;
        n = c < 0 ? RB_LEFT(n, link) : RB_RIGHT(n, link);
    }
    return n;
}

void evzk__cache_node_unlink(struct evzk__cache_node *n)
{
    struct evzk__follower *f = n->above->f;

    if (f && f->merge && f->merge->next == n)
        f->merge->next = RB_NEXT(evzk__cache_nodes, NULL, n);
    RB_REMOVE(evzk__cache_nodes, &n->above->children, n);
    n->above = NULL;
}

void evzk__cache_node_free(struct evzk__cache_node *n)
{
    evzk__free(n->data);
    evzk__free(n);
}

evzk_cache_entry evzk__cache_entry_of(const struct evzk__cache_node *n)
{
    return (evzk_cache_entry){.path = n->path,
                              .name = evzk__cache_node_name(n),
                              .data = n->data,
                              .len = n->len,
                              .czxid = n->czxid,
                              .mzxid = n->mzxid,
                              .ephemeral_owner = n->owner,
                              .version = n->version,
                              .hidden = n->hidden};
}

static struct evzk__cache_node *deepest(struct evzk__cache_node *n)
{
    while (!RB_EMPTY(&n->children))
        n = RB_ROOT(&n->children);
    return n;
}

void evzk__cache_free_nodes(struct evzk_cache *c, size_t most)
{
    struct evzk__cache_node *n = c->root, *above;

    for (; n && most > 0; most--, n = above) {
        n = deepest(n);
        above = n->above;
        if (above)
            RB_REMOVE(evzk__cache_nodes, &above->children, n);
        else
            c->root = NULL;
        evzk__cache_node_free(n);
    }
}
