/* The watches of a handle.  As in the real client: one answer or event moves
 * what it concerns; of equal ones (function, context, path, table) there is
 * one; who is told of an event is told once, and the newest table first. */
#include <string.h>

#include "world.h"
#include "zoo.h"

struct zoo__watch *zoo__watch_new(const char *path, enum zoo__table table,
                                  watcher_fn fn, void *ctx)
{
    size_t n = strlen(path) + 1;
    struct zoo__watch *w = sim_malloc(sizeof *w + n);

    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->table = table;
    w->fn = fn;
    w->ctx = ctx;
    memcpy(w->path, path, n);
    return w;
}

void zoo__watch_free(struct zoo__watch *list)
{
    struct zoo__watch *w;

    while ((w = list) != NULL) {
        list = w->next;
        sim_mfree(w);
    }
}

static bool same(const struct zoo__watch *a, const struct zoo__watch *b)
{
    return a->fn == b->fn && a->ctx == b->ctx;
}

static void activate(zhandle_t *zh, struct zoo__watch *w)
{
    const struct zoo__watch *o;

    for (o = zh->watches; o; o = o->next) {
        if (o->table == w->table && same(o, w) && strcmp(o->path, w->path) == 0)
            break;
    }
    if (o) {
        zoo__watch_free(w);
        return;
    }
    w->next = zh->watches;
    zh->watches = w;
}

void zoo__watch_answered(zhandle_t *zh, struct zoo__entry *e, int rc)
{
    struct zoo__watch *w = e->watch;

    if (w && (rc == ZOK || (rc == ZNONODE && w->table == ZOO__MISSING))) {
        if (rc == ZOK && w->table == ZOO__MISSING)
            w->table = ZOO__NODES; /* Of zoo_awexists(): it is there. */
        e->watch = NULL;
        activate(zh, w);
    }
    if (e->unwatch && rc == ZOK)
        zoo__watch_remove(zh, e->tail, e->unwatch, e->unwatch_fn,
                          e->unwatch_ctx);
}

static bool is_of(const struct zoo__watch *w, const char *path,
                  ZooWatcherType type)
{
    ZooWatcherType own =
        w->table == ZOO__CHILDREN ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA;

    return ((unsigned)type & (unsigned)own) && strcmp(w->path, path) == 0;
}

bool zoo__watch_has(const zhandle_t *zh, const char *path, ZooWatcherType type,
                    watcher_fn fn, const void *ctx)
{
    if (!fn)
        return true; /* Does not look, and leaves it to the server. */
    for (const struct zoo__watch *w = zh->watches; w; w = w->next) {
        if (is_of(w, path, type) && w->fn == fn && w->ctx == ctx)
            return true;
    }
    return false;
}

void zoo__watch_remove(zhandle_t *zh, const char *path, ZooWatcherType type,
                       watcher_fn fn, const void *ctx)
{
    struct zoo__watch **p = &zh->watches, *w;

    while ((w = *p) != NULL) {
        if (is_of(w, path, type) && (!fn || (w->fn == fn && w->ctx == ctx))) {
            *p = w->next;
            sim_mfree(w);
        } else
            p = &w->next;
    }
}

static bool listed(const struct zoo__watch *list, const struct zoo__watch *w)
{
    while (list && !same(list, w))
        list = list->next;
    return list != NULL;
}

/* The real client moves a path's watches of one table to the list. */
static void move(zhandle_t *zh, enum zoo__table table, const char *path,
                 struct zoo__watch **list)
{
    struct zoo__watch **p = &zh->watches, *w;

    while ((w = *p) != NULL) {
        if (w->table != table || strcmp(w->path, path) != 0) {
            p = &w->next;
            continue;
        }
        *p = w->next;
        if (listed(*list, w)) {
            sim_mfree(w);
        } else {
            w->next = *list;
            *list = w;
        }
    }
}

static void copy(zhandle_t *zh, watcher_fn fn, void *ctx,
                 struct zoo__watch **list)
{
    struct zoo__watch like = {.fn = fn, .ctx = ctx}, *w;

    if (listed(*list, &like))
        return;
    w = sim_alloc(zh->proc, sizeof *w);
    w->fn = fn;
    w->ctx = ctx;
    w->next = *list;
    *list = w;
}

struct zoo__watch *zoo__watch_collect(zhandle_t *zh, int type, const char *path)
{
    struct zoo__watch *list = NULL;

    if (type == ZOO_SESSION_EVENT) {
        copy(zh, zh->watcher, zh->context, &list);
        for (int t = ZOO__NODES; t <= ZOO__CHILDREN; t++) {
            for (struct zoo__watch *w = zh->watches; w; w = w->next) {
                if ((int)w->table == t)
                    copy(zh, w->fn, w->ctx, &list);
            }
        }
        return list;
    }
    if (type == ZOO_CREATED_EVENT || type == ZOO_CHANGED_EVENT ||
        type == ZOO_DELETED_EVENT) {
        move(zh, ZOO__NODES, path, &list);
        move(zh, ZOO__MISSING, path, &list);
    }
    if (type == ZOO_CHILD_EVENT || type == ZOO_DELETED_EVENT)
        move(zh, ZOO__CHILDREN, path, &list);
    return list;
}
