/* The handle's copy of its file, and of its lock's queue: caches
 * (recipes/cache), whose deltas become the handle's events. */
#include <string.h>

#include "recipes/cache/cache_internal.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/lock/lock_internal.h"

/* ---- The file. ---- */

static void take_root(struct evzk_chubby *h, evzk_cache_event ev,
                      const evzk_cache_entry *e)
{
    if (ev == EVZK_CACHE_REMOVED || e->hidden || e->czxid != h->instance)
        evzk__chubby_spoil(h, ev != EVZK_CACHE_REMOVED && e->hidden
                                  ? EVZK_ERR_NOAUTH
                                  : EVZK_ERR_NODEGONE);
    else if (h->invalid == EVZK_OK)
        evzk__chubby_tell(h, EVZK_CHUBBY_CONTENTS_CHANGED, EVZK_OK, NULL);
}

static void take_child(struct evzk_chubby *h, evzk_cache_event ev,
                       const evzk_cache_entry *e)
{
    static const evzk_chubby_event as[] = {
        [EVZK_CACHE_ADDED] = EVZK_CHUBBY_CHILD_ADDED,
        [EVZK_CACHE_CHANGED] = EVZK_CHUBBY_CHILD_CHANGED,
        [EVZK_CACHE_REMOVED] = EVZK_CHUBBY_CHILD_REMOVED};

    if (h->invalid == EVZK_OK && !evzk__chubby_reserved(e->name))
        evzk__chubby_tell(h, as[ev], EVZK_OK, e->name);
}

static void take_delta(struct evzk_chubby *h, evzk_cache_event ev,
                       const evzk_cache_entry *e)
{
    if (!h->opened)
        return;
    if (e->path[0] == '\0')
        take_root(h, ev, e);
    else
        take_child(h, ev, e);
}

static void take_event(struct evzk_chubby *h, evzk_cache_event ev, int rc,
                       const evzk_cache_entry *e)
{
    switch (ev) {
    case EVZK_CACHE_ADDED:
    case EVZK_CACHE_CHANGED:
    case EVZK_CACHE_REMOVED:
        take_delta(h, ev, e);
        return;
    case EVZK_CACHE_READY:
        h->copy_ready = true;
        break;
    case EVZK_CACHE_ENDED:
        h->copy_rc = rc;
        if (h->opened)
            evzk__chubby_spoil(h, rc);
        break;
    }
    evzk__machine_ask(&h->m);
}

static void on_copy(evzk_cache *cache, evzk_cache_event ev, int rc,
                    const evzk_cache_entry *entry,
                    const evzk_cache_entry *before, void *arg)
{
    struct evzk_chubby *h = arg;
    struct evzk__inside in = evzk__chubby_in(h);

    (void)cache, (void)before;
    take_event(h, ev, rc, entry);
    evzk__chubby_out(h, in);
}

int evzk__chubby_follow(struct evzk_chubby *h)
{
    const evzk_cache_options opt = {.depth = h->children ? EVZK_CACHE_CHILDREN
                                                         : EVZK_CACHE_NODE};

    return h->copy ? EVZK_OK
                   : evzk_cache_start(evzk__machine_session(&h->m), h->path,
                                      &opt, on_copy, h, &h->copy);
}

/* ---- The queue of its lock. ---- */

/* The contenders in the queue, one after another, in the order of the copy. */
static bool next_contender(const struct evzk_chubby *h, bool first,
                           evzk_cache_entry *e, struct evzk__contender *c)
{
    bool ok = first ? evzk_cache_first_child(h->queue, "", e)
                    : evzk_cache_next_child(h->queue, e);

    while (ok && !evzk__contender_parse(e->name, evzk__lock_marks, c))
        ok = evzk_cache_next_child(h->queue, e);
    return ok;
}

/* How many wait for the lock of this handle, of which CONFLICT was not told. */
static unsigned count_conflicts(struct evzk_chubby *h,
                                const struct evzk__contender *own)
{
    struct evzk__contender c;
    evzk_cache_entry e;
    int32_t last = h->conflict;
    unsigned n = 0;

    for (bool ok = next_contender(h, true, &e, &c); ok;
         ok = next_contender(h, false, &e, &c)) {
        if (!evzk__seq_before("", h->conflict, "", c.seq) ||
            h->conflict == c.seq)
            continue;
        if (evzk__seq_before("", last, "", c.seq))
            last = c.seq;
        n += evzk__contender_bars(own, &c);
    }
    h->conflict = last;
    return n;
}

/* The contender that this handle is; false: the handle does not hold the lock.
 */
static bool find_own(const struct evzk_chubby *h, struct evzk__contender *own)
{
    return evzk__chubby_lock_held(h->lock) &&
           evzk__contender_parse(evzk_lock_node(h->lock->lock),
                                 evzk__lock_marks, own);
}

/* Whether the copy of the queue can be looked at now, or later. */
static void begin_conflicts(struct evzk_chubby *h)
{
    struct evzk__contender own;

    if (find_own(h, &own))
        h->conflict = own.seq;
}

static void tell_conflicts(struct evzk_chubby *h)
{
    struct evzk__contender own;

    if (!find_own(h, &own))
        return;
    for (unsigned n = count_conflicts(h, &own);
         n > 0 && evzk__chubby_lock_held(h->lock); n--)
        evzk__chubby_tell(h, EVZK_CHUBBY_CONFLICT, EVZK_OK, NULL);
}

/* The name in front of the queue; "": nobody is in it. */
static void find_first(const struct evzk_chubby *h, char out[EVZK__NAME_MAX])
{
    struct evzk__contender best = {.name = NULL}, c;
    evzk_cache_entry e;

    for (bool ok = next_contender(h, true, &e, &c); ok;
         ok = next_contender(h, false, &e, &c)) {
        if (!best.name || evzk__contender_before(&c, &best))
            best = c;
    }
    strcpy(out,
           best.name && strlen(best.name) < EVZK__NAME_MAX ? best.name : "");
}

static void look_in_front(struct evzk_chubby *h)
{
    char first[EVZK__NAME_MAX];

    find_first(h, first);
    if (strcmp(first, h->first) == 0)
        return;
    strcpy(h->first, first);
    if (first[0])
        evzk__chubby_tell(h, EVZK_CHUBBY_LOCK_ACQUIRED, EVZK_OK, NULL);
}

void evzk__chubby_look_at_queue(struct evzk_chubby *h, bool acquired)
{
    if (acquired)
        begin_conflicts(h);
    if (!h->queue || !evzk_cache_ready(h->queue) ||
        !(h->queue_changed || acquired))
        return;
    if (evzk__cache_is_merging(h->queue)) {
        h->queue_changed = true; /* Until settled(). */
        return;
    }
    h->queue_changed = false;
    look_in_front(h);
    tell_conflicts(h);
}

/* Deltas that come together are looked at together, in a later turn. */
static void on_queue(evzk_cache *cache, evzk_cache_event ev, int rc,
                     const evzk_cache_entry *e, const evzk_cache_entry *before,
                     void *arg)
{
    struct evzk_chubby *h = arg;
    struct evzk__inside in = evzk__chubby_in(h);

    (void)cache, (void)e, (void)before;
    if (ev == EVZK_CACHE_ENDED)
        evzk__chubby_spoil(h, rc);
    h->queue_changed = true;
    evzk__machine_ask(&h->m);
    evzk__chubby_out(h, in);
}

/* A change of the queue was taken over whole. */
static void settled(void *arg)
{
    struct evzk_chubby *h = arg;

    if (h->queue_changed)
        evzk__machine_ask(&h->m);
}

int evzk__chubby_follow_queue(struct evzk_chubby *h)
{
    static const evzk_cache_options opt = {.depth = EVZK_CACHE_CHILDREN,
                                           .names_only = true};

    int rc;

    if (h->queue || !h->lock_events)
        return EVZK_OK;
    rc = evzk_cache_start(evzk__machine_session(&h->m),
                          evzk__machine_path(&h->m), &opt, on_queue, h,
                          &h->queue);
    if (rc == EVZK_OK)
        h->queue->settled = settled;
    return rc;
}
