/* Our own side of the comparison: a subtree is copied, and the copy given up.
 */
#include "peer_evzk.h"

static evzk_cache *cache;

static void on_cache(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    struct peer *p = arg;

    (void)entry, (void)before;
    if (event == EVZK_CACHE_ENDED)
        peer_fail("the cache", rc);
    if (event != EVZK_CACHE_READY)
        return;
    if (evzk_cache_count(c) != p->count + 1)
        peer_fail("the cache is not whole", EVZK_ERR_INTERNAL);
    peer_say_all(p);
    evzk_cache_free(c);
}

void peer_cache(struct peer *p, const char *dir, size_t count)
{
    const evzk_cache_options opt = {.depth = EVZK_CACHE_SUBTREE};

    peer_begin(p, dir, count);
    peer_must(evzk_cache_start(p->zk, dir, &opt, on_cache, p, &cache), dir);
}
