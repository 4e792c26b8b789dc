/* The rules for caches.
 *
 * What each znode has been is noted, state by state.  A delta is about a state
 * that the znode has been in, and that comes behind the state told last: so
 * nothing is told twice, and no znode goes back in time.  The view is what the
 * deltas add up to.  A znode that has not changed since all began to be read is
 * in the view when READY is told.  Nobody calls the view whole on a connection
 * on which nothing was read.
 *
 * How it can fail: a znode changes more often than there is room for. */
#include <string.h>
#include <zookeeper/proto.h>

#include "ens.h"
#include "processes.h"
#include "scene_cache.h"

struct state {
    int64_t czxid, mzxid; /* 0: it is not there. */
    int64_t since;
    int32_t version;
    bool hidden;
    int32_t len;
    uint64_t hash;
};

static struct {
    const struct cache_scene *own;
    struct state been[CACHE_NODES][CACHE_STATES];
    unsigned n[CACHE_NODES];
    int64_t looked, changed_at;
    struct {
        bool in[CACHE_NODES];
        unsigned told[CACHE_NODES]; /* The number of the state. */
        int64_t filling;            /* Since when all is read. */
        bool whole, ever;           /* READY was told since; or once. */
        bool rooted;                /* The root was told, as it said. */
        uint64_t reads;             /* When the connection was made. */
    } cache[CACHES];
} all;
SIM_KEEP(all)

static const char *path_of(int k) { return all.own->node[k]; }

static const struct state *now_of(int k) { return &all.been[k][all.n[k] - 1]; }

void cache_rules_begin(const struct cache_scene *own)
{
    memset(&all, 0, sizeof all);
    all.own = own;
    all.looked = -1;
    for (int k = 0; k < CACHE_NODES; k++)
        all.n[k] = 1;
}

static void note(int k, const struct state *s)
{
    const struct state *was = now_of(k);

    if (s->czxid == was->czxid && s->mzxid == was->mzxid &&
        s->hidden == was->hidden)
        return;
    all.changed_at = sim_now();
    if (all.n[k] == CACHE_STATES)
        sim_violation("%s changes too often for the rules", path_of(k));
    else
        all.been[k][all.n[k]++] = *s;
}

/* The operator hides and shows a znode by its ACL, in turns. */
void cache_rules_look(void)
{
    if (!ens_has_changed(&all.looked))
        return;
    for (int k = 0; k < CACHE_NODES; k++) {
        struct state s = {.since = sim_now()};
        struct ens_seen seen;

        if (!path_of(k))
            continue;
        if (ens_look(path_of(k), &seen)) {
            s.czxid = seen.czxid;
            s.mzxid = seen.mzxid;
            s.version = seen.version;
            s.hidden = seen.aversion % 2 == 1;
            s.len = seen.len > 0 ? seen.len : 0;
            s.hash = sim_hash(seen.data, (size_t)s.len);
        }
        note(k, &s);
    }
}

int64_t cache_rules_changed_at(void) { return all.changed_at; }

void cache_rules_started(int i, evzk_cache *c)
{
    all.cache[i].filling = sim_now();
    if (evzk_cache_count(c) != 0 || evzk_cache_ready(c))
        sim_violation("cache %d: begins with a view", i);
}

void cache_rules_filling(int i)
{
    all.cache[i].filling = sim_now();
    all.cache[i].whole = false;
}

static uint64_t count_reads(void)
{
    return ens_requests(ZOO_GETDATA_OP) + ens_requests(ZOO_EXISTS_OP) +
           ens_requests(ZOO_GETCHILDREN_OP) + ens_requests(ZOO_GETCHILDREN2_OP);
}

void cache_rules_connected(int i)
{
    all.cache[i].whole = false;
    all.cache[i].reads = count_reads();
}

/* The path in the tree, relative to the root of a cache; NULL: not below it. */
static const char *relative(int i, int k)
{
    size_t n = strlen(all.own->root[i]);
    const char *path = path_of(k);

    if (!path || strncmp(path, all.own->root[i], n) != 0)
        return NULL;
    return path[n] == '/' ? path + n + 1 : path[n] == '\0' ? path + n : NULL;
}

static bool is_kept(int i, int k)
{
    const char *path = relative(i, k);

    if (!path)
        return false;
    switch (all.own->opt[i].depth) {
    case EVZK_CACHE_NODE:
        return path[0] == '\0';
    case EVZK_CACHE_CHILDREN:
        return !strchr(path, '/');
    case EVZK_CACHE_SUBTREE:
        break;
    }
    return true;
}

static int node_of(int i, const char *path)
{
    for (int k = 0; k < CACHE_NODES; k++) {
        if (is_kept(i, k) && strcmp(relative(i, k), path) == 0)
            return k;
    }
    return -1;
}

/* Is only the name of this znode known? */
static bool is_mere_name(int i, int k)
{
    return all.own->opt[i].names_only && relative(i, k)[0] &&
           all.own->opt[i].depth == EVZK_CACHE_CHILDREN;
}

static bool is_state(int i, int k, const evzk_cache_entry *e,
                     const struct state *s)
{
    if (e->hidden)
        return s->hidden && !e->czxid && !e->data;
    if (!s->czxid || (!is_mere_name(i, k) && s->czxid != e->czxid))
        return false;
    if (all.own->opt[i].names_only)
        return !e->data;
    return s->mzxid == e->mzxid && s->version == e->version &&
           (size_t)s->len == e->len && s->hash == sim_hash(e->data, e->len);
}

/* The znode has been in this state, behind the one told last.  Of names only,
 * a znode is told when it is seen, and again when its names may not be read. */
static void take(int i, int k, const evzk_cache_entry *e,
                 const evzk_cache_entry *before)
{
    bool twice =
        all.own->opt[i].names_only && e->hidden && before && !before->hidden;
    unsigned n = all.cache[i].told[k] + !twice;

    while (n < all.n[k] && !is_state(i, k, e, &all.been[k][n]))
        n++;
    if (n == all.n[k])
        sim_violation("cache %d: %s was not so after what was told before", i,
                      path_of(k));
    else
        all.cache[i].told[k] = n;
}

static void take_gone(int i, int k)
{
    unsigned n = all.cache[i].told[k] + 1;

    while (n < all.n[k] && all.been[k][n].czxid)
        n++;
    if (n == all.n[k])
        sim_violation("cache %d: %s is not gone", i, path_of(k));
    else
        all.cache[i].told[k] = n;
}

/* Is the znode above, or is any below, in the view? */
static bool has_above(int i, int k)
{
    char path[32];
    char *slash;

    strcpy(path, relative(i, k));
    if (!path[0])
        return true;
    slash = strrchr(path, '/');
    *(slash ? slash : path) = '\0';
    return all.cache[i].in[node_of(i, path)];
}

static bool has_below(int i, int k)
{
    size_t n = strlen(path_of(k));

    for (int j = 0; j < CACHE_NODES; j++) {
        if (j != k && is_kept(i, j) && all.cache[i].in[j] &&
            strncmp(path_of(j), path_of(k), n) == 0 && path_of(j)[n] == '/')
            return true;
    }
    return false;
}

static bool is_same(const evzk_cache_entry *a, const evzk_cache_entry *b)
{
    return strcmp(a->path, b->path) == 0 && a->czxid == b->czxid &&
           a->mzxid == b->mzxid && a->hidden == b->hidden &&
           a->version == b->version;
}

static void check_before(int i, int k, const evzk_cache_entry *e,
                         const evzk_cache_entry *before)
{
    const struct state *told = &all.been[k][all.cache[i].told[k]];

    if (!before || strcmp(before->path, e->path) != 0 || is_same(before, e))
        sim_violation("cache %d: %s: a change of nothing", i, path_of(k));
    else if (!is_state(i, k, before, told) && !all.own->opt[i].names_only)
        sim_violation("cache %d: %s was told as another", i, path_of(k));
}

/* By parts: a slash comes before all that a name may have. */
static int compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (*a == '/' ? 1 : *a) - (*b == '/' ? 1 : *b);
}

/* The view can be gone through from a znode that was just removed. */
static void check_next(int i, const evzk_cache *c, const evzk_cache_entry *gone)
{
    evzk_cache_entry next = *gone;
    const char *want = NULL;

    for (int k = 0; k < CACHE_NODES; k++) {
        if (is_kept(i, k) && all.cache[i].in[k] &&
            compare(relative(i, k), gone->path) > 0 &&
            (!want || compare(relative(i, k), want) < 0))
            want = relative(i, k);
    }
    if (evzk_cache_next(c, &next) != (want != NULL) ||
        (want && strcmp(next.path, want) != 0))
        sim_violation("cache %d: another znode comes behind %s", i, gone->path);
}

static void told_znode(int i, evzk_cache_event event, const evzk_cache_entry *e,
                       const evzk_cache_entry *before)
{
    int k = node_of(i, e->path);
    const char *slash = strrchr(e->path, '/');

    if (k < 0 || e->name != (slash ? slash + 1 : e->path)) {
        sim_violation("cache %d: %s has another name", i, e->path);
        return;
    }
    if (all.cache[i].in[k] != (event != EVZK_CACHE_ADDED))
        sim_violation("cache %d: %s: %s", i, e->path,
                      evzk_cache_event_name(event));
    if (event == EVZK_CACHE_CHANGED)
        check_before(i, k, e, before);
    else if (before)
        sim_violation("cache %d: %s was nothing before", i, e->path);
    if (event == EVZK_CACHE_ADDED && !has_above(i, k))
        sim_violation("cache %d: %s comes before the znode above", i, e->path);
    if (event == EVZK_CACHE_REMOVED && has_below(i, k))
        sim_violation("cache %d: %s goes before those below", i, e->path);
    if (event == EVZK_CACHE_REMOVED)
        take_gone(i, k);
    else
        take(i, k, e, before);
    all.cache[i].in[k] = event != EVZK_CACHE_REMOVED;
    if (all.cache[i].in[k] && !relative(i, k)[0] && !e->hidden)
        all.cache[i].rooted = true;
}

/* Is what was told of a znode what the znode is now? */
static bool is_told(int i, int k)
{
    const struct state *now = now_of(k),
                       *told = &all.been[k][all.cache[i].told[k]];

    if (all.cache[i].in[k] != (now->czxid != 0))
        return false;
    if (!now->czxid || is_mere_name(i, k))
        return true;
    if (told->hidden) /* Nobody hears that an ACL has changed. */
        return now->hidden || now->czxid == told->czxid;
    return now->czxid == told->czxid &&
           (all.own->opt[i].names_only || now->mzxid == told->mzxid);
}

/* May the session not list it, for a znode above?  Servers do not tell of an
 * ACL that has changed. */
static bool is_out_of_sight(int i, int k)
{
    for (int j = 0; j < k; j++) {
        size_t n = path_of(j) ? strlen(path_of(j)) : 0;
        bool hidden =
            now_of(j)->hidden || all.been[j][all.cache[i].told[j]].hidden;

        if (n && is_kept(i, j) && hidden &&
            strncmp(path_of(k), path_of(j), n) == 0 && path_of(k)[n] == '/')
            return true;
    }
    return false;
}

/* A cache that has never known its root says that all is read: the root may not
 * be. */
static bool is_barred(int i, int k)
{
    const struct state *s = now_of(k);

    return !all.cache[i].ever && !all.cache[i].rooted && is_kept(i, k) &&
           !relative(i, k)[0] && s->czxid && s->hidden &&
           s->since < all.cache[i].filling;
}

static void told_ready(int i)
{
    if (all.cache[i].whole)
        sim_violation("cache %d: READY twice", i);
    if (count_reads() == all.cache[i].reads)
        sim_violation("cache %d: READY before anything was read", i);
    for (int k = 0; k < CACHE_NODES; k++) {
        if (is_barred(i, k))
            sim_violation("cache %d: READY, and its root may not be read", i);
    }
    all.cache[i].whole = all.cache[i].ever = true;
    for (int k = 0; k < CACHE_NODES; k++) {
        if (!is_kept(i, k) || is_out_of_sight(i, k))
            continue;
        if (now_of(k)->since < all.cache[i].filling && !is_told(i, k))
            sim_violation("cache %d: READY without %s", i, path_of(k));
    }
}

void cache_rules_told(int i, const evzk_cache *c, evzk_cache_event event,
                      const evzk_cache_entry *entry,
                      const evzk_cache_entry *before)
{
    if (event == EVZK_CACHE_READY)
        told_ready(i);
    else if (event != EVZK_CACHE_ENDED) {
        told_znode(i, event, entry, before);
        if (event == EVZK_CACHE_REMOVED)
            check_next(i, c, entry);
        return;
    }
    if (entry || before)
        sim_violation("cache %d: an entry for nothing", i);
}

static size_t check_entries(int i, const evzk_cache *c)
{
    evzk_cache_entry e;
    char last[32] = "";
    size_t n = 0;

    for (bool ok = evzk_cache_first(c, &e); ok; ok = evzk_cache_next(c, &e)) {
        int k = node_of(i, e.path);

        if (k < 0 || !all.cache[i].in[k])
            sim_violation("cache %d: %s is in the view, untold", i, e.path);
        else if (!is_state(i, k, &e, &all.been[k][all.cache[i].told[k]]) &&
                 !all.own->opt[i].names_only)
            sim_violation("cache %d: %s is not as told", i, e.path);
        if (n++ > 0 && compare(last, e.path) >= 0)
            sim_violation("cache %d: %s is out of order", i, e.path);
        strcpy(last, e.path);
    }
    return n;
}

static size_t count_children(const evzk_cache *c, const char *path)
{
    evzk_cache_entry e, same;
    size_t n = 0;

    for (bool ok = evzk_cache_first_child(c, path, &e); ok;
         ok = evzk_cache_next_child(c, &e)) {
        if (evzk_cache_get(c, e.path, &same) != EVZK_OK || !is_same(&e, &same))
            sim_violation("%s is not what it is", e.path);
        n++;
    }
    return n;
}

void cache_rules_check_view(int i, const evzk_cache *c)
{
    size_t n = 0, children = 0;

    for (int k = 0; k < CACHE_NODES; k++)
        n += all.cache[i].in[k];
    if (evzk_cache_ready(c) && !all.cache[i].whole)
        sim_violation("cache %d: whole without READY", i);
    if (evzk_cache_count(c) != n || check_entries(i, c) != n)
        sim_violation("cache %d: the view has not %d znodes", i, (int)n);
    for (int k = 0; k < CACHE_NODES; k++) {
        if (is_kept(i, k))
            children += count_children(c, relative(i, k));
    }
    if (n > 0 && children != n - 1)
        sim_violation("cache %d: the znodes have %d children", i,
                      (int)children);
}

bool cache_rules_is_right(int i, const evzk_cache *c)
{
    for (int k = 0; k < CACHE_NODES; k++) {
        if (is_kept(i, k) && !is_out_of_sight(i, k) && !is_told(i, k))
            return false;
    }
    return evzk_cache_ready(c) && all.cache[i].whole;
}
