/*
 * The scenario of a cache: the process behind the proxy keeps a copy of a
 * subtree, which the other process makes, and takes away again in part.  Must
 * hold whatever the network does: the deltas fit to each other, and the view
 * comes to be the tree.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#include "evzk/barrier.h"
#include "evzk/cache.h"

static const char *const parts[] = {"far", NULL};

/* Barriers are plain znodes. */
enum { CACHE, MAKE, LIFT = 4, LOOK, REMOVE, OPS = 8 };

static const char *const made[] = {"", "/a", "/b"};
static const char *const removed[] = {"/b", ""};

struct caching {
    struct sweep_run *run;
    evzk_cache *cache;
    evzk_barrier *barrier;
    int begun;
    bool busy;
    size_t added, removed;
    char path[256];
};

static bool is_made(const evzk_cache_entry *e)
{
    return e->len == 4 && memcmp(e->data, "work", 4) == 0;
}

static void on_cache(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    struct caching *d = arg;

    d->added += event == EVZK_CACHE_ADDED;
    d->removed += event == EVZK_CACHE_REMOVED;
    if (event == EVZK_CACHE_ENDED)
        sweep_complain(d->run, SWEEP_WRONG, "it ends: %s", evzk_errname(rc));
    if ((entry && !is_made(entry)) || before ||
        evzk_cache_count(c) != d->added - d->removed)
        sweep_complain(d->run, SWEEP_WRONG, "a delta that does not fit");
}

static void on_made(evzk_barrier *b, int rc, void *arg)
{
    struct caching *d = arg;

    if (rc != EVZK_OK)
        support_fail("sweep: cache: %d", rc);
    evzk_barrier_free(b);
    d->barrier = NULL;
    d->busy = false;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct caching *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/c", run->dir);
}

static void end(void *scene)
{
    struct caching *d = scene;

    evzk_cache_free(d->cache);
    evzk_barrier_free(d->barrier);
    d->cache = NULL;
    d->barrier = NULL;
}

static int make(struct caching *d, const char *name, bool set)
{
    evzk_barrier_options opt = {.data = "work", .data_len = 4};
    char path[512];

    snprintf(path, sizeof path, "%s%s", d->path, name);
    d->busy = true;
    return (set ? evzk_barrier_set : evzk_barrier_lift)(
        d->run->near, path, &opt, on_made, d, &d->barrier);
}

/* The root and b, and nothing else. */
static bool is_whole(const struct caching *d)
{
    evzk_cache_entry e;

    return evzk_cache_ready(d->cache) && evzk_cache_count(d->cache) == 2 &&
           evzk_cache_get(d->cache, "b", &e) == EVZK_OK && is_made(&e);
}

static int start(struct caching *d, int op)
{
    evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE};

    if (op == CACHE)
        return evzk_cache_start(d->run->far, d->path, &opt, on_cache, d,
                                &d->cache);
    if (op == LOOK) {
        evzk_cache_free(d->cache);
        d->cache = NULL;
        return EVZK_OK;
    }
    return op < LIFT    ? make(d, made[op - MAKE], true)
           : op == LIFT ? make(d, "/a", false)
                        : make(d, removed[op - REMOVE], false);
}

static bool turn(void *scene)
{
    struct caching *d = scene;
    int rc;

    if (d->busy || (d->begun == LIFT && evzk_cache_count(d->cache) != 3) ||
        (d->begun == LOOK && !is_whole(d)))
        return false;
    if (d->begun == OPS) {
        end(d);
        return true;
    }
    rc = start(d, d->begun++);
    if (rc)
        support_fail("sweep: cache: %d", rc);
    return false;
}

static void judge(void *scene)
{
    struct caching *d = scene;

    if (d->added != 3 || d->removed != 1)
        sweep_complain(d->run, SWEEP_WRONG, "%zu added, %zu removed", d->added,
                       d->removed);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct caching *d = scene;

    snprintf(text, size, "%d begun, %zu added, %zu removed", d->begun, d->added,
             d->removed);
}

const struct sweep_recipe sweep_cache = {.name = "cache",
                                         .parts = parts,
                                         .size = sizeof(struct caching),
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
