/* What each part of a request asks of the C client, and its watches. */
#include "lib/request/part.h"
#include "lib/request/watch.h"

#include <string.h>

#include "lib/machine/machine.h"
#include "lib/session/session.h"

uint32_t evzk__part_lead(const struct evzk__request *r)
{
    return r->unwatch ? 1 : 0;
}

uint32_t evzk__parts_of(const struct evzk__request *r)
{
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
    case EVZK__DELETE:
    case EVZK__REMOVE:
    case EVZK__UNWATCH:
    case EVZK__PARENTS:
    case EVZK__MKDIR:
    case EVZK__RMDIR:
    case EVZK__SWAP:
    case EVZK__LOOK:
    case EVZK__CHROOT:
    case EVZK__LIST:
    case EVZK__PUT:
    case EVZK__READ_DIR:
    case EVZK__BATCH:
        return 1;
    case EVZK__ROSTER:
    case EVZK__SYNC_LIST:
    case EVZK__SETTLE_LIST:
    case EVZK__CREATE_LIST:
        return 2;
    case EVZK__OBSERVE:
        return r->behind || r->absent ? 1 : 2;
    case EVZK__WATCH:
        return (r->name ? 1u : 0u) + (r->pred ? 1u : 0u);
    case EVZK__GETS:
    case EVZK__SETS:
        return r->n;
    case EVZK__OPS:
        break;
    }
    return 1;
}

static const char *join(char *buf, const char *dir, const char *name)
{
    size_t n = strlen(dir);

    memcpy(buf, dir, n);
    buf[n] = '/';
    strcpy(buf + n + 1, name); /* Lengths are limited where paths come in. */
    return buf;
}

static const char *path_of(evzk_session *s, struct evzk__request *r,
                           const char *name)
{
    return join(s->requests.path[0], r->dir->path, name);
}

/* One that could not be sent leaves the table, and the old watch, as they are.
 */
static int list_watch(struct evzk__request *r, struct evzk__watch *w,
                      const char *name, int rc)
{
    struct evzk__machine *m = evzk__machine_of(r);

    if (w && rc == EVZK_OK) {
        evzk__watch_remove(m, w);
        evzk__watch_add(m, w, name);
    }
    return rc;
}

static int send_watch(evzk_session *s, struct evzk__request *r, bool own,
                      struct evzk__slot *slot)
{
    struct evzk__watch *w = own ? r->own : r->pred;
    const char *name = own ? r->name : r->pred_name;
    const char *path = path_of(s, r, name);

    return list_watch(r, w, name,
                      own ? evzk__client_get(slot, path, w != NULL)
                          : evzk__client_guard(slot, path));
}

/* Is this part an OBSERVE's sync? */
static bool is_sync(const struct evzk__request *r, unsigned part)
{
    return r->op == EVZK__OBSERVE && part + 1 < r->parts;
}

static int send_observe(evzk_session *s, struct evzk__request *r,
                        struct evzk__slot *slot)
{
    const char *path = path_of(s, r, r->name);
    int rc;

    if (is_sync(r, slot->part)) {
        rc = evzk__client_sync(slot, r->dir->path);
        s->requests.synced = rc == EVZK_OK;
        return rc;
    }
    return list_watch(r, r->own, r->name,
                      r->absent ? evzk__client_exists(slot, path, true)
                                : evzk__client_get(slot, path, true));
}

static int send_roster(evzk_session *s, struct evzk__request *r, bool first,
                       struct evzk__slot *slot)
{
    if (first)
        return evzk__client_sync(slot, r->dir->path);
    return list_watch(r, r->pred, r->pred_name,
                      evzk__client_roster(slot, path_of(s, r, r->pred_name)));
}

static int send_unwatch(evzk_session *s, struct evzk__request *r,
                        const char *name, bool own, struct evzk__slot *slot)
{
    /* Somebody may have come to use the watch again: then only ask. */
    if (evzk__watch_any(s, r->dir, name, own ? EVZK__OWN : EVZK__PRED))
        return evzk__client_sync(slot, r->dir->path);
    return evzk__client_unwatch(slot, path_of(s, r, name), own);
}

static int send_set(evzk_session *s, struct evzk__request *r,
                    const struct evzk__set *set, struct evzk__slot *slot)
{
    return evzk__client_set(slot, path_of(s, r, set->name), set->data, set->len,
                            set->version);
}

int evzk__part_send(evzk_session *s, struct evzk__request *r,
                    struct evzk__slot *slot)
{
    enum evzk__create dir =
        r->plain ? EVZK__CREATE_DIR : EVZK__CREATE_CONTAINER;
    bool first = slot->part == evzk__part_lead(r);

    if (slot->part < evzk__part_lead(r))
        return send_unwatch(s, r, r->unwatch, false, slot);
    switch ((enum evzk__op)r->op) {
    case EVZK__SYNC:
        return evzk__client_sync(slot, r->dir->path);
    case EVZK__DELETE:
    case EVZK__REMOVE:
        return evzk__client_delete(slot, path_of(s, r, r->name));
    case EVZK__UNWATCH:
        return send_unwatch(s, r, r->name, r->own != NULL, slot);
    case EVZK__MKDIR:
        return evzk__client_create(slot, r->dir->path, NULL, 0, r->acl,
                                   r->acl_count, dir);
    case EVZK__RMDIR:
        return evzk__client_rmdir(slot, r->dir->path);
    case EVZK__READ_DIR:
        return evzk__client_get(slot, r->dir->path, false);
    case EVZK__LOOK:
        return evzk__client_exists(slot, path_of(s, r, r->name), false);
    case EVZK__CHROOT:
        return evzk__client_exists(slot, s->chroot, false);
    case EVZK__LIST:
        return evzk__client_children(slot, r->dir->path);
    case EVZK__SYNC_LIST:
        return first ? evzk__client_sync(slot, r->dir->path)
                     : evzk__client_children(slot, r->dir->path);
    case EVZK__SETTLE_LIST:
        return first ? evzk__client_settle(slot, path_of(s, r, r->name))
                     : evzk__client_children(slot, r->dir->path);
    case EVZK__WATCH:
        return send_watch(s, r, first && r->name, slot);
    case EVZK__OBSERVE:
        return send_observe(s, r, slot);
    case EVZK__ROSTER:
        return send_roster(s, r, first, slot);
    case EVZK__PUT:
        return evzk__client_create(slot, path_of(s, r, r->name), r->data,
                                   r->len, r->acl, r->acl_count,
                                   EVZK__CREATE_DIR);
    case EVZK__GETS:
        return evzk__client_get(
            slot, path_of(s, r, r->names[slot->part - evzk__part_lead(r)]),
            false);
    case EVZK__SETS:
        return send_set(s, r, &r->sets[slot->part - evzk__part_lead(r)], slot);
    case EVZK__CREATE_LIST:
        if (!first)
            return evzk__client_children(slot, r->dir->path);
        return evzk__client_create(slot, path_of(s, r, r->name), r->data,
                                   r->len, r->acl, r->acl_count,
                                   EVZK__CREATE_SEQ);
    case EVZK__SWAP:
    case EVZK__PARENTS:
    case EVZK__BATCH:
    case EVZK__OPS:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

static void note_watch(struct evzk__request *r, struct evzk__watch *w,
                       const char *name, bool armed)
{
    struct evzk__machine *m = evzk__machine_of(r);

    if (!w)
        return;
    if (!armed)
        evzk__watch_remove(m, w);
    else if (!w->listed) /* What fired meanwhile was an earlier one. */
        evzk__watch_add(m, w, name);
    w->armed = armed;
}

void evzk__part_answered(evzk_session *s, struct evzk__request *r,
                         unsigned part, int rc)
{
    bool first = part == evzk__part_lead(r);

    if (part < evzk__part_lead(r))
        return;
    if (is_sync(r, part))
        s->requests.sync_rc = (int16_t)rc;
    else if (r->op == EVZK__OBSERVE) /* Whatever the answer: another of ours may
                                        have left its watch to this one. */
        note_watch(r, r->own, r->name, rc != EVZK_ERR_CONNLOSS);
    if (r->op == EVZK__ROSTER && !first)
        note_watch(r, r->pred, r->pred_name, rc == EVZK_OK);
    if (r->op == EVZK__WATCH && first && r->name)
        note_watch(r, r->own, r->name, rc == EVZK_OK);
    else if (r->op == EVZK__WATCH)
        note_watch(r, r->pred, r->pred_name, rc == EVZK_OK);
}
