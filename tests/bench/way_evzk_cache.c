/* evzk's cache, used as the manual says. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    evzk_cache *cache;
    evzk_cache_depth depth;
} self;

static void on_cache(evzk_cache *cache, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    (void)cache, (void)before, (void)arg;
    switch (event) {
    case EVZK_CACHE_ADDED:
        if (entry->path[0])
            run_granted(self.run, atoi(entry->name));
        break;
    case EVZK_CACHE_CHANGED:
        run_released(self.run, atoi(entry->name));
        break;
    case EVZK_CACHE_ENDED:
        if (!self.run->ending)
            fail("evzk: the cache: %s", evzk_strerror(rc));
        break;
    case EVZK_CACHE_REMOVED:
        self.run->n_other += !self.run->ending;
        break;
    case EVZK_CACHE_READY:
        if (evzk_cache_count(self.cache) != (size_t)self.run->w->n + 1)
            fail("evzk: the cache is not whole");
    }
}

static void open_as(struct run *r, const char *servers, evzk_cache_depth depth)
{
    self.run = r;
    self.depth = depth;
    library_open(r, servers);
}

static void open_children(struct run *r, const char *servers)
{
    open_as(r, servers, EVZK_CACHE_CHILDREN);
}

static void open_subtree(struct run *r, const char *servers)
{
    open_as(r, servers, EVZK_CACHE_SUBTREE);
}

static void begin(int i)
{
    const evzk_cache_options opt = {.depth = self.depth};

    (void)i;
    library_check(evzk_cache_start(library, self.run->dir, &opt, on_cache, NULL,
                                   &self.cache),
                  "cache");
}

static void end(void)
{
    evzk_cache_free(self.cache);
    library_close();
}

#define CACHE(opens)                                                           \
    {                                                                          \
        .name = "evzk", .open = (opens), .acquire = begin,                     \
        .busy = library_busy, .connected = library_connected, .close = end,    \
        .watches = library_watches                                             \
    }

const struct way way_evzk_cache = CACHE(open_children);
const struct way way_evzk_cache_deep = CACHE(open_subtree);
