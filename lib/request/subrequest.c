/* What each part of a request asks of the C client, and its watches. */
#include "lib/request/subrequest.h"
#include "lib/request/look.h"
#include "lib/request/watch.h"

#include <string.h>

#include "lib/request/core.h"

/* Where each part has a reply, the watch is taken off by a request of its own:
 * evzk__part_unwatch(). */
uint32_t evzk__subrequest_lead(const struct evzk__request *r)
{
    bool each = evzk__request_is_steps(r) && r->each;

    return r->unwatch && !each ? 1 : 0;
}

uint32_t evzk__subrequests_of(const struct evzk__request *r)
{
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
    case EVZK__DELETE:
    case EVZK__UNWATCH:
    case EVZK__PARENTS:
    case EVZK__MKDIR:
    case EVZK__RMDIR:
    case EVZK__SWAP:
    case EVZK__LIST:
    case EVZK__BATCH:
    case EVZK__LOOK:
        return 1;
    case EVZK__SYNC_LIST:
    case EVZK__SETTLE_LIST:
    case EVZK__CREATE_LIST:
        return 2;
    case EVZK__WATCH:
        return (r->name ? 1u : 0u) + (r->pred ? 1u : 0u);
    case EVZK__SOON_WRITES:
    case EVZK__LEFT_WRITES:
    case EVZK__SOON_READS:
    case EVZK__EACH_READS:
    case EVZK__WRITES:
    case EVZK__READS:
        return evzk__steps_parts(r);
    case EVZK__OPS:
        break;
    }
    return 1;
}

static const char *path_of(struct evzk__core *s, const struct evzk__request *r,
                           const char *name)
{
    return evzk__path_in(s->requests.path[0], r->dir->path, name);
}

/* A part that could not be sent leaves the old watch as it was.
 */
static int list_watch(struct evzk__request *r, struct evzk__watch *w,
                      const char *name, int rc)
{
    if (w && rc == EVZK_OK)
        evzk__watch_asked(evzk__place_of(r), w, name, w == r->pred);
    return rc;
}

static int send_watch(struct evzk__core *s, struct evzk__request *r, bool own,
                      struct evzk__slot *slot)
{
    struct evzk__watch *w = own ? r->own : r->pred;
    const char *name = own ? r->name : r->pred_name;
    const char *path = path_of(s, r, name);

    return list_watch(r, w, name,
                      own ? evzk__client_get(slot, path, w != NULL)
                          : evzk__client_guard(slot, path));
}

/* Of a watch; or of what the one before had, by its name. */
static const char *unwatched_path(struct evzk__core *s, struct evzk__request *r)
{
    return r->own ? evzk__watch_path(evzk__place_of(r), r->own,
                                     s->requests.path[0])
                  : path_of(s, r, r->name);
}

int evzk__part_unwatch(struct evzk__core *s, struct evzk__request *r,
                       struct evzk__slot *slot)
{
    return evzk__watch_take_off(s, slot, r->dir->path,
                                path_of(s, r, r->unwatch), false);
}

int evzk__subrequest_send(struct evzk__core *s, struct evzk__request *r,
                          struct evzk__slot *slot)
{
    enum evzk__mode dir = r->plain ? EVZK__PERSISTENT : EVZK__CONTAINER;
    uint32_t lead = evzk__subrequest_lead(r);
    bool first = slot->part == lead;

    if (slot->part < lead)
        return evzk__part_unwatch(s, r, slot);
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
        return evzk__client_sync(slot, r->dir->path);
    case EVZK__DELETE:
        return evzk__client_delete(slot, path_of(s, r, r->name),
                                   EVZK__ANY_VERSION);
    case EVZK__UNWATCH:
        return evzk__watch_take_off(s, slot, r->dir->path, unwatched_path(s, r),
                                    r->own && evzk__watch_of_data(r->own));
    case EVZK__MKDIR:
        return evzk__client_create(slot, r->dir->path, NULL, 0, r->acl,
                                   r->acl_count, dir);
    case EVZK__RMDIR: /* Not if it was written to. */
        return evzk__client_delete(slot, r->dir->path, 0);
    case EVZK__LIST:
        return evzk__client_children(slot, r->dir->path);
    case EVZK__SYNC_LIST:
        return first ? evzk__client_sync(slot, r->dir->path)
                     : evzk__client_children(slot, r->dir->path);
    case EVZK__SETTLE_LIST:
        return first ? evzk__client_delete(slot, path_of(s, r, r->name),
                                           EVZK__NO_VERSION)
                     : evzk__client_children(slot, r->dir->path);
    case EVZK__WATCH:
        return send_watch(s, r, first && r->name, slot);
    case EVZK__LOOK:
        return evzk__look_send(s, r, slot);
    case EVZK__SOON_WRITES:
    case EVZK__LEFT_WRITES:
    case EVZK__SOON_READS:
    case EVZK__EACH_READS:
    case EVZK__WRITES:
    case EVZK__READS:
        return evzk__steps_send(s, r, slot, slot->part - lead);
    case EVZK__CREATE_LIST:
        if (!first)
            return evzk__client_children(slot, r->dir->path);
        return evzk__client_create(slot, path_of(s, r, r->name), r->data,
                                   r->len, r->acl, r->acl_count,
                                   EVZK__EPHEMERAL_SEQUENTIAL);
    case EVZK__SWAP:
    case EVZK__PARENTS:
    case EVZK__BATCH:
    case EVZK__OPS:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

void evzk__subrequest_answered(struct evzk__core *s, struct evzk__request *r,
                               unsigned part, const struct evzk__result *res)
{
    uint32_t lead = evzk__subrequest_lead(r);
    bool own = part == lead && r->name;
    struct evzk__watch *w = NULL;

    if (part < lead)
        return;
    if (evzk__request_is_steps(r))
        evzk__steps_answered(s, r, part - lead, res);
    else if (r->op == EVZK__LOOK)
        evzk__look_answered(s, r, res);
    else if (r->op == EVZK__WATCH)
        w = own ? r->own : r->pred;
    if (w)
        evzk__watch_answered(evzk__place_of(r), w, own ? r->name : r->pred_name,
                             res->rc == EVZK_OK, res);
}
