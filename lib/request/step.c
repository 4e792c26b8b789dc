/* The steps of a request: what each asks of the C client, and what its answer
 * changes here.  See step.h.  Which znode a step is about is in step_path.c;
 * steps that go as one transaction are in step_commit.c.
 *
 * How it can fail.  A step whose path is too long, or whose watch the machine
 * does not have, is refused here and never sent.
 */
#include "lib/request/step.h"

#include <string.h>

#include "lib/request/core.h"
#include "lib/request/step_internal.h"
#include "lib/request/watch.h"

bool evzk__request_is_steps(const struct evzk__request *r)
{
    switch ((enum evzk__op)r->op) {
    case EVZK__SOON_WRITES:
    case EVZK__LEFT_WRITES:
    case EVZK__SOON_READS:
    case EVZK__EACH_READS:
    case EVZK__WRITES:
    case EVZK__READS:
        return true;
    case EVZK__SYNC:
    case EVZK__DELETE:
    case EVZK__UNWATCH:
    case EVZK__PARENTS:
    case EVZK__MKDIR:
    case EVZK__RMDIR:
    case EVZK__SWAP:
    case EVZK__LIST:
    case EVZK__SYNC_LIST:
    case EVZK__SETTLE_LIST:
    case EVZK__WATCH:
    case EVZK__LOOK:
    case EVZK__CREATE_LIST:
    case EVZK__BATCH:
    case EVZK__OPS:
        break;
    }
    return false;
}

bool evzk__request_only_reads(const struct evzk__request *r)
{
    return r->op == EVZK__READS || r->op == EVZK__SOON_READS ||
           r->op == EVZK__EACH_READS;
}

static uint32_t skipped(const struct evzk__request *r)
{
    if (r->absent)
        return r->n - 1;
    return r->behind ? 1 : 0;
}

uint32_t evzk__steps_parts(const struct evzk__request *r)
{
    return r->commit || r->n == 0 ? 1 : r->n - skipped(r);
}

uint32_t evzk__steps_index(const struct evzk__request *r, uint32_t part)
{
    return part + skipped(r);
}

static enum evzk__which which_of(const struct evzk__step *step)
{
    return (enum evzk__which)(step->watch - 1);
}

static struct evzk__watch *watch_at(struct evzk__place *m,
                                    const struct evzk__step *step)
{
    return evzk__watch_of(m, which_of(step));
}

static bool sets_watch(const struct evzk__step *step)
{
    return step->watch && step->verb != EVZK__STEP_UNWATCH;
}

/* See step.h. */
static bool may_watch(struct evzk__request *r, const struct evzk__step *step,
                      const char *name)
{
    struct evzk__watch *w = watch_at(evzk__place_of(r), step);
    bool children = step->verb == EVZK__STEP_CHILDREN;

    if (!w || step->verb == EVZK__STEP_SYNC || step->verb >= EVZK__STEP_CREATE)
        return false;
    if (sets_watch(step) && evzk__watch_listed(w) && w->is != EVZK__HIDDEN &&
        !evzk__watch_is_on(w, name, children))
        return false; /* The server would keep the other one. */
    return w->which >= EVZK__PATH || step->verb == EVZK__STEP_UNWATCH ||
           (children == (w->which == EVZK__PRED) && !strchr(name, '/'));
}

bool evzk__steps_may_watch(struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = evzk__step_at(r, i);

    return !step->watch || may_watch(r, step, evzk__steps_name_at(r, i));
}

void evzk__steps_sent(struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = evzk__step_at(r, i);
    struct evzk__place *m = evzk__place_of(r);

    if (sets_watch(step))
        evzk__watch_asked(m, watch_at(m, step), evzk__steps_name_at(r, i),
                          step->verb == EVZK__STEP_CHILDREN);
}

static int send_read(struct evzk__request *r, const struct evzk__step *step,
                     struct evzk__slot *slot, const char *path)
{
    bool watch = step->watch != 0;

    if (step->verb == EVZK__STEP_CHILDREN)
        return watch ? evzk__client_watch_children(slot, path)
                     : evzk__client_children(slot, path);
    if (step->verb == EVZK__STEP_EXISTS || r->absent)
        return evzk__client_exists(slot, path, watch);
    return evzk__client_get(slot, path, watch);
}

static int take_off(struct evzk__core *s, struct evzk__request *r,
                    const struct evzk__step *step, struct evzk__slot *slot)
{
    struct evzk__place *m = evzk__place_of(r);
    struct evzk__watch *w = watch_at(m, step);

    evzk__watch_drop_events(m, (enum evzk__which)w->which);
    if (!w->name) /* The watch was never set. */
        return evzk__client_sync(slot, r->dir->path);
    evzk__watch_remove(m, w);
    return evzk__watch_take_off(s, slot, r->dir->path,
                                evzk__watch_path(m, w, s->requests.path[0]),
                                evzk__watch_of_data(w));
}

static int send_step(struct evzk__core *s, struct evzk__request *r,
                     const struct evzk__step *step, struct evzk__slot *slot,
                     const char *path)
{
    int rc;

    switch ((enum evzk__verb)step->verb) {
    case EVZK__STEP_SYNC:
        rc = evzk__client_sync(slot, path);
        s->requests.synced = s->requests.synced || (step->shared && rc == 0);
        return rc;
    case EVZK__STEP_EXISTS:
    case EVZK__STEP_GET:
    case EVZK__STEP_CHILDREN:
        return send_read(r, step, slot, path);
    case EVZK__STEP_UNWATCH:
        return take_off(s, r, step, slot);
    case EVZK__STEP_CREATE:
        return evzk__client_create(slot, path, step->data, step->len, step->acl,
                                   step->acl_count,
                                   (enum evzk__mode)step->mode);
    case EVZK__STEP_SET:
        return evzk__client_set(slot, path, step->data, step->len,
                                evzk__step_version(step));
    case EVZK__STEP_DELETE:
        return evzk__client_delete(slot, path, evzk__step_version(step));
    case EVZK__STEP_CHECK:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

int evzk__steps_send(struct evzk__core *s, struct evzk__request *r,
                     struct evzk__slot *slot, uint32_t part)
{
    uint32_t i = evzk__steps_index(r, part);
    const struct evzk__step *step = evzk__step_at(r, i);
    const char *path;
    int rc;

    if (r->n == 0) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: no steps", r->dir->path);
        return EVZK_ERR_INTERNAL;
    }
    if (r->commit)
        return evzk__steps_send_commit(s, r, slot);
    if (!evzk__steps_may_watch(r, i)) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: step %u has no such watch",
                          r->dir->path, (unsigned)i);
        return EVZK_ERR_INTERNAL;
    }
    path = evzk__steps_path_at(s, r, i);
    rc = path ? send_step(s, r, step, slot, path) : EVZK_ERR_INVAL;
    /* A step that could not be sent leaves the table as it is. */
    if (rc == EVZK_OK)
        evzk__steps_sent(r, i);
    return rc;
}

/* The answers. */

/* Does the answer mean that the watch is set? */
static bool is_set(const struct evzk__request *r, const struct evzk__step *step,
                   int rc)
{
    return rc == EVZK_OK || (rc == EVZK_ERR_NONODE &&
                             (step->verb == EVZK__STEP_EXISTS || r->absent));
}

static void note_watch(struct evzk__request *r, const struct evzk__step *step,
                       uint32_t i, const struct evzk__result *res)
{
    struct evzk__place *m = evzk__place_of(r);

    evzk__watch_answered(m, watch_at(m, step), evzk__steps_name_at(r, i),
                         is_set(r, step, res->rc), res);
}

void evzk__steps_answered(struct evzk__core *s, struct evzk__request *r,
                          uint32_t part, const struct evzk__result *res)
{
    uint32_t i = evzk__steps_index(r, part);
    const struct evzk__step *step = evzk__step_at(r, i);

    if (r->commit) {
        if (res->rc == EVZK_OK)
            evzk__steps_note_commit(r, res);
        return;
    }
    if (step->verb == EVZK__STEP_SYNC && step->shared) {
        s->requests.sync_rc = (int16_t)res->rc;
        if (res->rc == EVZK_OK)
            s->requests.synced_no = s->now.connection_no;
    }
    if (step->verb == EVZK__STEP_CREATE && res->rc == EVZK_OK)
        evzk__step_note_made(step, res->path);
    if (sets_watch(step) && evzk__watch_of(evzk__place_of(r), which_of(step)))
        note_watch(r, step, i, res);
}

bool evzk__steps_are_of_connection(const struct evzk__request *r)
{
    bool reads = evzk__step_at(r, 0)->verb < EVZK__STEP_CREATE;

    return r->sent > 0 ||
           (reads && evzk__step_at(r, 0)->verb != EVZK__STEP_SYNC);
}

/* Was a sync answered on this connection, and is that enough? */
static bool is_spared(const struct evzk__core *s, const struct evzk__step *step)
{
    return step->once && s->requests.synced_no == s->now.connection_no;
}

void evzk__steps_share_sync(struct evzk__core *s, struct evzk__request *r)
{
    const struct evzk__step *step = evzk__step_at(r, 0);

    if (r->sent > 0 || r->commit || r->absent || r->n < 2 ||
        step->verb != EVZK__STEP_SYNC || !step->shared)
        return;
    if (s->requests.synced || is_spared(s, step)) {
        r->behind = 1;
        r->parts--;
    }
}

int evzk__steps_sync_rc(const struct evzk__core *s,
                        const struct evzk__request *r, int rc)
{
    if (rc != EVZK_ERR_CONNLOSS && is_spared(s, evzk__step_at(r, 0)))
        return EVZK_OK;
    return s->requests.sync_rc;
}

bool evzk__steps_go_on(struct evzk__request *r)
{
    if (r->commit || r->n == 0 || !evzk__step_at(r, r->n - 1)->or_absent ||
        r->answered < r->parts || r->given_up ||
        (r->n > 1 && r->first_rc != EVZK_OK) ||
        r->last_rc != (r->absent ? EVZK_OK : EVZK_ERR_NONODE))
        return false;
    r->absent = !r->absent;
    r->unwatch = NULL;
    return true;
}
