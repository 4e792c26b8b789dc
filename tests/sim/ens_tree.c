/* The tree, kept once, with versions.
 *
 * A node has revisions, each from a zxid on, newest first; one that is gone
 * ends it.  A server sees the tree as of the newest zxid that it has applied.
 * Revisions that no server can see any more are dropped when the last server
 * has applied what made them so. */
#include "ens_internal.h"

#include <string.h>

void ens_rev_copy(struct ens_rev *to, const struct ens_rev *from)
{
    *to = *from;
    to->older = NULL;
    ens_blob_ref(to->data);
    ens_acl_ref(to->acl);
}

void ens_rev_clear(struct ens_rev *r)
{
    ens_blob_unref(r->data);
    ens_acl_unref(r->acl);
    r->data = NULL;
    r->acl = NULL;
}

static uint32_t hash_of(const char *path, size_t len)
{
    uint32_t h = 2166136261U;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)path[i]) * 16777619U;
    return h;
}

static struct ens_node *find(const char *path, size_t len)
{
    uint32_t hash = hash_of(path, len);
    struct ens_node *n = ens.bucket[hash % ENS_BUCKETS];

    while (n != NULL && (n->hash != hash || strncmp(n->path, path, len) != 0 ||
                         n->path[len] != '\0'))
        n = n->chain;
    return n;
}

struct ens_node *ens_tree_find(const char *path)
{
    return find(path, strlen(path));
}

size_t ens_path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash == path ? 1 : (size_t)(slash - path);
}

struct ens_node *ens_tree_parent(const char *path)
{
    return find(path, ens_path_dir(path));
}

const struct ens_rev *ens_tree_at(const struct ens_node *n, int64_t view)
{
    const struct ens_rev *r = n->newest;

    while (r != NULL && r->zxid > view)
        r = r->older;
    return r != NULL && r->gone == 0 ? r : NULL;
}

const struct ens_rev *ens_tree_look(const char *path, int64_t view)
{
    const struct ens_node *n = ens_tree_find(path);

    return n != NULL ? ens_tree_at(n, view) : NULL;
}

static void adopt(struct ens_node *dir, struct ens_node *n)
{
    n->parent = dir;
    n->before = dir->last;
    if (dir->last != NULL)
        dir->last->next = n;
    else
        dir->first = n;
    dir->last = n;
}

static void disown(struct ens_node *n)
{
    struct ens_node *dir = n->parent;

    if (n->before != NULL)
        n->before->next = n->next;
    else
        dir->first = n->next;
    if (n->next != NULL)
        n->next->before = n->before;
    else
        dir->last = n->before;
    n->before = n->next = NULL;
}

/* A znode that was there before goes to the end: children are in the order of
 * their creation. */
struct ens_node *ens_tree_add(const char *path)
{
    size_t len = strlen(path);
    struct ens_node *n = find(path, len);

    if (n != NULL) {
        struct ens_node *dir = n->parent;

        disown(n);
        adopt(dir, n);
        return n;
    }
    n = sim_alloc(SIM_OUTSIDE, sizeof *n + len + 1);
    memcpy(n->path, path, len + 1);
    n->hash = hash_of(path, len);
    n->chain = ens.bucket[n->hash % ENS_BUCKETS];
    ens.bucket[n->hash % ENS_BUCKETS] = n;
    if (len > 1)
        adopt(ens_tree_parent(path), n);
    return n;
}

struct ens_rev *ens_tree_change(struct ens_node *n, int64_t zxid)
{
    struct ens_rev *r = n->newest;

    if (r != NULL && r->zxid == zxid)
        return r;
    r = sim_alloc(SIM_OUTSIDE, sizeof *r);
    if (n->newest != NULL)
        ens_rev_copy(r, n->newest);
    r->zxid = zxid;
    r->older = n->newest;
    n->newest = r;
    return r;
}

static void free_revs(struct ens_rev *r)
{
    while (r != NULL) {
        struct ens_rev *older = r->older;

        ens_rev_clear(r);
        sim_free(SIM_OUTSIDE, r);
        r = older;
    }
}

static void remove_node(struct ens_node *n)
{
    struct ens_node **at = &ens.bucket[n->hash % ENS_BUCKETS];

    while (*at != n)
        at = &(*at)->chain;
    *at = n->chain;
    disown(n);
    free_revs(n->newest);
    sim_free(SIM_OUTSIDE, n);
}

void ens_tree_prune(const char *path, int64_t view)
{
    struct ens_node *n = ens_tree_find(path);
    struct ens_rev *r;

    if (n == NULL)
        return;
    r = n->newest;
    while (r != NULL && r->zxid > view)
        r = r->older;
    if (r == NULL)
        return;
    free_revs(r->older);
    r->older = NULL;
    if (r->gone != 0 && r == n->newest && n->first == NULL)
        remove_node(n);
}

/* The tree counts creations of children; clients are told of changes. */
void ens_tree_stat(const struct ens_rev *r, struct Stat *out)
{
    memset(out, 0, sizeof *out);
    out->czxid = r->czxid;
    out->mzxid = r->mzxid;
    out->mtime = 1 + r->day * 25 * 3600 * 1000;
    out->pzxid = r->pzxid;
    out->version = r->version;
    out->cversion = (int32_t)((uint32_t)r->creates * 2 - (uint32_t)r->children);
    out->aversion = r->aversion;
    out->ephemeralOwner = r->owner == ENS_CONTAINER_OWNER ? 0 : r->owner;
    out->dataLength = r->data != NULL ? r->data->len : 0;
    out->numChildren = r->children;
}

static struct ens_rev *plant(const char *path, int32_t children)
{
    struct ens_rev *r = ens_tree_change(ens_tree_add(path), 0);

    r->data = ens_blob_new("", 0);
    r->children = children;
    return r;
}

/* As a server begins. */
void ens_tree_begin(void)
{
    static char world[] = "world", anyone[] = "anyone";
    struct ACL read = {ENS_READ, {world, anyone}};
    struct ACL_vector v = {1, &read};
    struct ens_rev *config;

    plant("/", 1);
    plant("/zookeeper", 2);
    plant("/zookeeper/config", 0);
    plant("/zookeeper/quota", 0);
    config = ens_tree_change(ens_tree_find("/zookeeper/config"), 0);
    config->aversion = -1;
    ens_acl_fix(&v, NULL, &config->acl);
}

static bool segment_valid(const char *s, size_t len)
{
    return len > 0 && !(len == 1 && s[0] == '.') &&
           !(len == 2 && s[0] == '.' && s[1] == '.');
}

/* Bytes, not characters: of the characters that Java refuses, those that are
 * one byte, and DEL and the C1 controls in UTF-8. */
static bool chars_valid(const char *s)
{
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;

        if (c < 0x20 || c == 0x7f)
            return false;
        if (c == 0xc2 && (unsigned char)s[1] < 0xa0)
            return false;
    }
    return true;
}

bool ens_path_valid(const char *path)
{
    if (path[0] != '/' || !chars_valid(path))
        return false;
    if (path[1] == '\0')
        return true;
    for (const char *s = path; *s == '/';) {
        size_t len = strcspn(s + 1, "/");

        if (!segment_valid(s + 1, len))
            return false;
        s += 1 + len;
    }
    return true;
}
