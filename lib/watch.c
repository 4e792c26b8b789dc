/* The table of watches: a red-black tree, ordered by a hash of the path.  A
 * tree, since it never needs memory, and never stops to grow. */
#include "watch.h"

#include <stddef.h>
#include <string.h>

static uint64_t hash_more(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3); /* FNV-1a. */
    return h;
}

static uint64_t hash_of(const char *dir, const char *name)
{
    uint64_t h = hash_more(UINT64_C(0xcbf29ce484222325), dir);

    return hash_more(hash_more(h, "/"), name);
}

static int compare_path(const struct evzk__watch *a,
                        const struct evzk__watch *b)
{
    int c;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    c = strcmp(a->name, b->name);
    return c ? c : strcmp(a->dir, b->dir);
}

/* Watches on one path stand side by side, oldest owner first. */
static int compare(const struct evzk__watch *a, const struct evzk__watch *b)
{
    int c = compare_path(a, b);

    if (c == 0)
        c = (a->serial > b->serial) - (a->serial < b->serial);
    return c ? c : a->which - b->which;
}

RB_GENERATE_INTERNAL(evzk__watch_tree, evzk__watch, node, compare,
                     __attribute__((unused)) static)

void evzk__watches_init(struct evzk__watches *t)
{
    RB_INIT(&t->tree);
    t->paths = 0;
}

static bool same_path(const struct evzk__watch *a, const struct evzk__watch *b)
{
    return a && compare_path(a, b) == 0;
}

static bool alone(struct evzk__watch *w)
{
    return !same_path(RB_NEXT(evzk__watch_tree, NULL, w), w) &&
           !same_path(RB_PREV(evzk__watch_tree, NULL, w), w);
}

void evzk__watch_add(struct evzk__watches *t, struct evzk__watch *w,
                     const char *dir, const char *name)
{
    w->dir = dir;
    w->name = name;
    w->hash = hash_of(dir, name);
    w->armed = false;
    w->listed = true;
    RB_INSERT(evzk__watch_tree, &t->tree, w);
    t->paths += alone(w);
}

bool evzk__watch_remove(struct evzk__watches *t, struct evzk__watch *w)
{
    bool last, armed = w->armed;

    if (!w->listed)
        return false;
    last = alone(w);
    RB_REMOVE(evzk__watch_tree, &t->tree, w);
    w->listed = w->armed = false;
    t->paths -= last;
    return last && armed;
}

struct evzk__watch *evzk__watch_find(struct evzk__watches *t, const char *dir,
                                     const char *name)
{
    struct evzk__watch key = {
        .hash = hash_of(dir, name), .dir = dir, .name = name};
    struct evzk__watch *w = RB_NFIND(evzk__watch_tree, &t->tree, &key);

    return same_path(w, &key) ? w : NULL; /* Serial 0 is before all. */
}
