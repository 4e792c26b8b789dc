/* A view of a group: its members, kept up to date by a cache of the group's
 * znode and its children (evzk/cache.h).
 *
 * How it can fail.  A znode that was deleted and made anew between two looks is
 * a member that left and joined: the view tells both, and has the second one
 * all the while.  In the first of the two callbacks the view may be freed or
 * canceled, or its session closed, and then the second is not told.  Of a znode
 * that is hidden nobody knows which one it is: it has changed, and no more.
 */
#include <string.h>

#include "evzk/group.h"
#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/cache/cache_internal.h"

struct evzk_group_view {
    evzk_cache *cache;
    evzk_group_view_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    size_t count; /* Members that were told. */
    bool inside;  /* The cache calls: what is freed now is freed later. */
};

const char *evzk_group_event_name(evzk_group_event event)
{
    switch (event) {
    case EVZK_GROUP_JOINED:
        return "JOINED";
    case EVZK_GROUP_LEFT:
        return "LEFT";
    case EVZK_GROUP_CHANGED:
        return "CHANGED";
    case EVZK_GROUP_READY:
        return "READY";
    case EVZK_GROUP_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_group_event_is_final(evzk_group_event event)
{
    return event == EVZK_GROUP_ENDED;
}

/* The group itself is no member, nor is a hidden name. */
static bool is_member(const evzk_cache_entry *e)
{
    return e->path[0] && e->path[0] != '.';
}

static evzk_group_member member_of(const evzk_cache_entry *e)
{
    return (evzk_group_member){.name = e->name,
                               .data = e->data,
                               .data_len = e->len,
                               .token = (uint64_t)e->czxid,
                               .session = e->ephemeral_owner,
                               .hidden = e->hidden};
}

static void tell(evzk_group_view *v, evzk_group_event event, int rc,
                 const evzk_cache_entry *e)
{
    evzk_group_member m;

    if (e)
        m = member_of(e);
    if (v->cb)
        v->cb(v, event, rc, e ? &m : NULL, v->arg);
}

static void added(evzk_group_view *v, const evzk_cache_entry *e)
{
    v->count++;
    tell(v, EVZK_GROUP_JOINED, EVZK_OK, e);
}

static void removed(evzk_group_view *v, const evzk_cache_entry *e)
{
    v->count--;
    tell(v, EVZK_GROUP_LEFT, EVZK_OK, e);
}

static void changed(evzk_group_view *v, const evzk_cache_entry *e,
                    const evzk_cache_entry *before)
{
    /* A hidden entry has no czxid. */
    if (e->czxid == before->czxid || e->hidden != before->hidden) {
        tell(v, EVZK_GROUP_CHANGED, EVZK_OK, e);
        return;
    }
    tell(v, EVZK_GROUP_LEFT, EVZK_OK, before);
    if (evzk__cache_tells(v->cache))
        tell(v, EVZK_GROUP_JOINED, EVZK_OK, e);
}

static void tell_delta(evzk_group_view *v, evzk_cache_event event, int rc,
                       const evzk_cache_entry *e,
                       const evzk_cache_entry *before)
{
    switch (event) {
    case EVZK_CACHE_ADDED:
        if (is_member(e))
            added(v, e);
        break;
    case EVZK_CACHE_CHANGED:
        if (is_member(e))
            changed(v, e, before);
        break;
    case EVZK_CACHE_REMOVED:
        if (is_member(e))
            removed(v, e);
        break;
    case EVZK_CACHE_READY:
        tell(v, EVZK_GROUP_READY, EVZK_OK, NULL);
        break;
    case EVZK_CACHE_ENDED:
        tell(v, EVZK_GROUP_ENDED, rc, NULL);
        break;
    }
}

static void on_cache(evzk_cache *cache, evzk_cache_event event, int rc,
                     const evzk_cache_entry *e, const evzk_cache_entry *before,
                     void *arg)
{
    evzk_group_view *v = arg;

    v->inside = true;
    tell_delta(v, event, rc, e, before);
    v->inside = false;
    if (v->cb)
        return;
    evzk_cache_free(cache);
    evzk__free(v);
}

int evzk_group_watch(evzk_session *s, const char *path,
                     const evzk_group_view_options *opt, evzk_group_view_cb *cb,
                     void *arg, evzk_group_view **out)
{
    static const evzk_group_view_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    evzk_group_view *v;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        evzk__broken(&call, path[1], "path", "must not be the root") ||
        evzk__broken_reserved(&call, opt->reserved))
        return EVZK_ERR_INVAL;
    v = evzk__zalloc(sizeof *v);
    if (!v)
        return EVZK_ERR_NOMEM;
    v->cb = cb;
    v->arg = arg;
    rc = evzk_cache_start(s, path, NULL, on_cache, v, &v->cache);
    if (rc == EVZK_OK)
        *out = v;
    else
        evzk__free(v);
    return rc;
}

int evzk_group_view_cancel(evzk_group_view *v)
{
    return v ? evzk_cache_cancel(v->cache) : EVZK_ERR_INVAL;
}

void evzk_group_view_free(evzk_group_view *v)
{
    if (!v)
        return;
    v->cb = NULL;
    if (v->inside)
        return; /* on_cache() does the rest. */
    evzk_cache_free(v->cache);
    evzk__free(v);
}

bool evzk_group_view_find(const evzk_group_view *v, const char *name,
                          evzk_group_member *member)
{
    evzk_cache_entry e;

    if (!v || !name || !member ||
        evzk_cache_get(v->cache, name, &e) != EVZK_OK || !is_member(&e))
        return false;
    *member = member_of(&e);
    return true;
}

/* The first member from this entry on; hidden names are first of all, but for
 * names that begin with a byte below the dot. */
static bool found(const evzk_group_view *v, evzk_cache_entry *e, bool ok,
                  evzk_group_member *member)
{
    while (ok && !is_member(e))
        ok = evzk_cache_next_child(v->cache, e);
    if (ok)
        *member = member_of(e);
    return ok;
}

bool evzk_group_view_first(const evzk_group_view *v, evzk_group_member *member)
{
    evzk_cache_entry e;

    return v && member &&
           found(v, &e, evzk_cache_first_child(v->cache, "", &e), member);
}

bool evzk_group_view_next(const evzk_group_view *v, evzk_group_member *member)
{
    evzk_cache_entry e;

    if (!v || !member || evzk_cache_get(v->cache, member->name, &e) != EVZK_OK)
        return false;
    return found(v, &e, evzk_cache_next_child(v->cache, &e), member);
}

size_t evzk_group_view_count(const evzk_group_view *v)
{
    return v ? v->count : 0;
}

bool evzk_group_view_ready(const evzk_group_view *v)
{
    return v && evzk_cache_ready(v->cache);
}

const char *evzk_group_view_state(const evzk_group_view *v)
{
    return v ? evzk_cache_state(v->cache) : "";
}
