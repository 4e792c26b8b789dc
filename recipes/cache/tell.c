/* Tells the user of a cache what happens.
 *
 * How it can fail.  The user may free the cache, or close its session, in each
 * callback: the caller touches nothing of the cache after.
 */
#include "recipes/cache/cache_internal.h"

bool evzk__cache_tells(const struct evzk_cache *c)
{
    return c->cb && !c->m.stopping && !c->m.place.ended &&
           evzk__may_tell(evzk__machine_session(&c->m));
}

void evzk__cache_call(struct evzk_cache *c, evzk_cache_event event, int rc,
                      const evzk_cache_entry *entry,
                      const evzk_cache_entry *before)
{
    evzk_session *s = evzk__machine_session(&c->m);
    int64_t begun = evzk__machine_call_out(s);

    if (c->cb)
        c->cb(c, event, rc, entry, before, c->arg);
    evzk__machine_called(s, begun);
}

void evzk__cache_tell(struct evzk_cache *c, evzk_cache_event event,
                      const struct evzk__cache_node *n,
                      const evzk_cache_entry *before)
{
    evzk_cache_entry entry = evzk__cache_entry_of(n);

    evzk__cache_call(c, event, EVZK_OK, &entry, before);
}

void evzk__cache_tell_gone(struct evzk_cache *c, struct evzk__cache_node *n)
{
    if (n->told) {
        c->count--;
        evzk__cache_tell(c, EVZK_CACHE_REMOVED, n, NULL);
    }
    evzk__cache_node_free(n);
}
