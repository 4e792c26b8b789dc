/* Reads the view of a cache.  Between two calls the view may change: so the
 * next znode is always looked for by its path.
 */
#include <string.h>

#include "lib/machine/refuse.h"
#include "recipes/cache/cache_internal.h"

/* The node of a path, or of its first `len` bytes; NULL: there is none. */
static struct evzk__cache_node *find(const struct evzk_cache *c,
                                     const char *path, size_t len)
{
    struct evzk__cache_node *n = c->root;
    const char *at = path, *end = path + len;

    while (n && at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t part = (size_t)((slash ? slash : end) - at);

        n = part > 0 ? evzk__cache_node_child(n, at, part) : NULL;
        at += slash ? part + 1 : part;
        if (slash && at == end)
            return NULL; /* A slash at the end. */
    }
    return n;
}

static struct evzk__cache_node *find_told(const struct evzk_cache *c,
                                          const char *path)
{
    struct evzk__cache_node *n = c ? find(c, path, strlen(path)) : NULL;

    return n && n->told ? n : NULL;
}

/* The first of these siblings that was told. */
static struct evzk__cache_node *first_told(struct evzk__cache_node *n)
{
    while (n && !n->told)
        n = RB_NEXT(evzk__cache_nodes, NULL, n);
    return n;
}

/* The first child behind this name. */
static struct evzk__cache_node *child_behind(struct evzk__cache_node *above,
                                             const char *name)
{
    struct evzk__cache_node *n = RB_ROOT(&above->children), *found = NULL;

    while (n) {
        bool behind = strcmp(evzk__cache_node_name(n), name) > 0;

        if (behind)
            found = n;
        n = behind ? RB_LEFT(n, link) : RB_RIGHT(n, link);
    }
    return first_told(found);
}

/* The next sibling behind this path. */
static struct evzk__cache_node *sibling_behind(const struct evzk_cache *c,
                                               const char *path)
{
    const char *slash = strrchr(path, '/');
    struct evzk__cache_node *above =
        find(c, path, slash ? (size_t)(slash - path) : 0);

    if (path[0] == '\0' || !above)
        return NULL;
    return child_behind(above, slash ? slash + 1 : path);
}

static bool give(const struct evzk__cache_node *n, evzk_cache_entry *entry)
{
    if (n)
        *entry = evzk__cache_entry_of(n);
    return n != NULL;
}

int evzk_cache_get(const evzk_cache *c, const char *path,
                   evzk_cache_entry *entry)
{
    struct evzk__call call =
        evzk__call_of(c ? evzk__machine_session(&c->m) : NULL, __func__);

    if (!c || evzk__broken(&call, path, "path", EVZK__NOT_NULL) ||
        evzk__broken(&call, entry, "entry", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    return give(find_told(c, path), entry) ? EVZK_OK : EVZK_ERR_NONODE;
}

bool evzk_cache_first_child(const evzk_cache *c, const char *path,
                            evzk_cache_entry *entry)
{
    struct evzk__cache_node *n = path ? find_told(c, path) : NULL;

    return n && entry &&
           give(first_told(RB_MIN(evzk__cache_nodes, &n->children)), entry);
}

bool evzk_cache_next_child(const evzk_cache *c, evzk_cache_entry *entry)
{
    return c && entry && entry->path &&
           give(sibling_behind(c, entry->path), entry);
}

bool evzk_cache_first(const evzk_cache *c, evzk_cache_entry *entry)
{
    return entry && give(find_told(c, ""), entry);
}

/* Down, or on, or up and on: by the path alone, since the znode of the entry,
 * and those above it, may be gone. */
bool evzk_cache_next(const evzk_cache *c, evzk_cache_entry *entry)
{
    struct evzk__cache_node *next;
    char path[EVZK__PATH_MAX + 1];
    char *end;

    if (!c || !entry || !entry->path || strlen(entry->path) >= sizeof path)
        return false;
    if (evzk_cache_first_child(c, entry->path, entry))
        return true;
    strcpy(path, entry->path);
    next = sibling_behind(c, path);
    while (!next && path[0] != '\0') {
        end = strrchr(path, '/');
        *(end ? end : path) = '\0';
        next = sibling_behind(c, path);
    }
    return give(next, entry);
}

size_t evzk_cache_count(const evzk_cache *c) { return c ? c->count : 0; }
