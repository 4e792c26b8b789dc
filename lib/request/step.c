/* The steps of a request: what each asks of the C client, and what its answer
 * changes here.  See step.h.
 *
 * How it can fail.  A transaction needs memory when it is sent: without it the
 * request waits, and goes again in a while.  If a transaction made a znode with
 * a number, and the answer came without the name for want of memory, the
 * outcome counts as unknown.
 */
#include "lib/request/step.h"

#include <string.h>

#include "lib/request/core.h"
#include "lib/request/watch.h"

enum {
    STAMP_OPS = 3,
    SUFFIX = 12 /* Of a sequential znode's name: at most eleven characters. */
};

bool evzk__request_is_steps(const struct evzk__request *r)
{
    switch ((enum evzk__op)r->op) {
    case EVZK__SOON_WRITES:
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
    case EVZK__CREATE_LIST:
    case EVZK__BATCH:
    case EVZK__OPS:
        break;
    }
    return false;
}

static const char stamp[] = "-token";

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

/* One step may be asked for each of many names. */
static const struct evzk__step *step_at(const struct evzk__request *r,
                                        uint32_t i)
{
    return r->for_each_name ? &r->steps[0] : &r->steps[i];
}

static const char *name_at(const struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = step_at(r, i);
    const char *beside = r->for_each_name ? r->names[i] : r->name;

    if (step->name)
        return step->name;
    return beside ? beside : "";
}

static char *join(char *to, size_t size, const char *a, const char *b,
                  const char *c)
{
    if (strlen(a) + strlen(b) + strlen(c) >= size)
        return NULL;
    return strcpy(stpcpy(stpcpy(to, a), b), c) ? to : NULL;
}

const char *evzk__steps_path(const struct evzk__core *s,
                             const struct evzk__request *r, uint32_t i,
                             char *to, size_t size)
{
    const char *name = name_at(r, i);

    if (name[0] == '\0')
        return r->dir->path;
    if (name[0] != '/')
        return join(to, size, r->dir->path, "/", name);
    if (name[1] == '\0' && s->chroot[0])
        return s->chroot;
    return join(to, size, s->chroot, name, "");
}

/* NULL: it is too long to be one. */
static const char *path_at(struct evzk__core *s, const struct evzk__request *r,
                           uint32_t i)
{
    return evzk__steps_path(s, r, i, s->requests.path[0],
                            sizeof s->requests.path[0]);
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
    if (sets_watch(step) && evzk__watch_listed(w) &&
        !evzk__watch_is_on(w, name, children))
        return false; /* The server would keep the other one. */
    return w->which >= EVZK__PATH || step->verb == EVZK__STEP_UNWATCH ||
           (children == (w->which == EVZK__PRED) && !strchr(name, '/'));
}

bool evzk__steps_may_watch(struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = step_at(r, i);

    return !step->watch || may_watch(r, step, name_at(r, i));
}

void evzk__steps_sent(struct evzk__request *r, uint32_t i)
{
    const struct evzk__step *step = step_at(r, i);
    struct evzk__place *m = evzk__place_of(r);

    if (sets_watch(step))
        evzk__watch_asked(m, watch_at(m, step), name_at(r, i),
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
    return evzk__watch_take_off(s, slot, r->dir,
                                evzk__watch_path(m, w, s->requests.path[0]),
                                evzk__watch_of_data(w));
}

static int32_t version_of(const struct evzk__step *step)
{
    return step->versioned ? step->version : -1;
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
                                version_of(step));
    case EVZK__STEP_DELETE:
        return evzk__client_delete(slot, path, version_of(step));
    case EVZK__STEP_CHECK:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

/* Transactions. */

/* Measures each step once, and the first step once more: for the stamp. */
void evzk__steps_measure_commit(struct evzk__core *s,
                                const struct evzk__request *r, size_t *bytes,
                                size_t *entries)
{
    for (uint32_t i = 0; i <= r->n; i++) {
        uint32_t at = i < r->n ? i : 0;
        const char *path = path_at(s, r, at);

        *bytes += strlen(path ? path : r->dir->path) + SUFFIX + sizeof stamp;
        *entries += step_at(r, at)->acl_count;
    }
}

/* NULL: out of memory. */
static struct evzk__multi *new_multi(struct evzk__core *s,
                                     const struct evzk__request *r)
{
    size_t bytes = 0, entries = 0;

    evzk__steps_measure_commit(s, r, &bytes, &entries);
    return evzk__multi_mixed(r->n + STAMP_OPS, bytes, entries);
}

static int add_step(struct evzk__multi *multi, const struct evzk__step *step,
                    const char *path)
{
    switch ((enum evzk__verb)step->verb) {
    case EVZK__STEP_CREATE:
        if (step->mode == EVZK__CONTAINER)
            return EVZK_ERR_INTERNAL;
        evzk__multi_create(multi, path, step->data, step->len, step->acl,
                           step->acl_count, (enum evzk__mode)step->mode);
        return EVZK_OK;
    case EVZK__STEP_SET:
        evzk__multi_set(multi, path, step->data, step->len, version_of(step));
        return EVZK_OK;
    case EVZK__STEP_DELETE:
        evzk__multi_delete(multi, path, NULL, version_of(step));
        return EVZK_OK;
    case EVZK__STEP_CHECK:
        evzk__multi_check(multi, path, NULL, version_of(step));
        return EVZK_OK;
    case EVZK__STEP_SYNC:
    case EVZK__STEP_EXISTS:
    case EVZK__STEP_GET:
    case EVZK__STEP_CHILDREN:
    case EVZK__STEP_UNWATCH:
        break;
    }
    return EVZK_ERR_INTERNAL;
}

/* In the place of a step that cannot go in a transaction there is one that
 * fails, so that each step has its operation. */
int evzk__steps_add_commit(struct evzk__core *s, const struct evzk__request *r,
                           struct evzk__multi *multi)
{
    int first = EVZK_OK;

    for (uint32_t i = 0; i < r->n; i++) {
        const char *path = path_at(s, r, i);
        int rc = path ? add_step(multi, step_at(r, i), path) : EVZK_ERR_INVAL;

        if (rc != EVZK_OK)
            evzk__multi_check(multi, r->dir->path, NULL, EVZK__NO_VERSION);
        if (first == EVZK_OK)
            first = rc;
    }
    return first;
}

static int send_commit(struct evzk__core *s, struct evzk__request *r,
                       struct evzk__slot *slot)
{
    struct evzk__multi *multi = new_multi(s, r);
    int rc;

    if (!multi)
        return EVZK_ERR_NOMEM;
    rc = evzk__steps_add_commit(s, r, multi);
    if (rc == EVZK_OK && r->stamp)
        evzk__multi_stamp(multi, path_at(s, r, 0), NULL, stamp);
    if (rc == EVZK_OK)
        rc = evzk__client_multi(slot, multi);
    evzk__multi_free(multi); /* Or the client does, when it is answered. */
    return rc;
}

int evzk__steps_send(struct evzk__core *s, struct evzk__request *r,
                     struct evzk__slot *slot, uint32_t part)
{
    uint32_t i = evzk__steps_index(r, part);
    const struct evzk__step *step = step_at(r, i);
    const char *path;
    int rc;

    if (r->n == 0) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: no steps", r->dir->path);
        return EVZK_ERR_INTERNAL;
    }
    if (r->commit)
        return send_commit(s, r, slot);
    if (!evzk__steps_may_watch(r, i)) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: step %u has no such watch",
                          r->dir->path, (unsigned)i);
        return EVZK_ERR_INTERNAL;
    }
    path = path_at(s, r, i);
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
                       uint32_t i, int rc)
{
    struct evzk__place *m = evzk__place_of(r);

    evzk__watch_answered(m, watch_at(m, step), name_at(r, i),
                         is_set(r, step, rc), rc);
}

static void note_made(const struct evzk__step *step, const char *path)
{
    if (step->made)
        evzk__name_complete(step->made, path);
}

static void note_commit(const struct evzk__request *r,
                        const struct evzk__result *res)
{
    for (uint32_t i = 0; res->multi && i < r->n; i++) {
        if (step_at(r, i)->verb == EVZK__STEP_CREATE)
            note_made(step_at(r, i),
                      evzk__multi_path(res->multi, res->first_op + i));
    }
}

void evzk__steps_answered(struct evzk__core *s, struct evzk__request *r,
                          uint32_t part, const struct evzk__result *res)
{
    uint32_t i = evzk__steps_index(r, part);
    const struct evzk__step *step = step_at(r, i);

    if (r->commit) {
        if (res->rc == EVZK_OK)
            note_commit(r, res);
        return;
    }
    if (step->verb == EVZK__STEP_SYNC && step->shared)
        s->requests.sync_rc = (int16_t)res->rc;
    if (step->verb == EVZK__STEP_CREATE && res->rc == EVZK_OK)
        note_made(step, res->path);
    if (sets_watch(step) && evzk__watch_of(evzk__place_of(r), which_of(step)))
        note_watch(r, step, i, res->rc);
}

static bool is_child(const char *path, const char *parent)
{
    size_t n = strlen(parent);

    return strncmp(path, parent, n) == 0 && path[n] == '/' &&
           !strchr(path + n + 1, '/');
}

bool evzk__steps_write_near(const struct evzk__core *s,
                            const struct evzk__request *r, const char *path)
{
    char other[EVZK__PATH_MAX];

    for (uint32_t i = 0; i < r->n; i++) {
        const char *p = step_at(r, i)->verb == EVZK__STEP_CHECK
                            ? NULL
                            : evzk__steps_path(s, r, i, other, sizeof other);

        if (p &&
            (strcmp(p, path) == 0 || is_child(p, path) || is_child(path, p)))
            return true;
    }
    return false;
}

uint32_t evzk__steps_culprit(const struct evzk__request *r,
                             const struct evzk__result *res)
{
    unsigned op = r->n;
    int rc;

    if (res->rc == EVZK_OK || !res->multi ||
        !evzk__multi_failed(res->multi, &op, &rc) || op < res->first_op ||
        op - res->first_op > r->n)
        return r->n;
    return op - res->first_op;
}

bool evzk__steps_are_of_connection(const struct evzk__request *r)
{
    bool reads = step_at(r, 0)->verb < EVZK__STEP_CREATE;

    return r->sent > 0 || (reads && step_at(r, 0)->verb != EVZK__STEP_SYNC);
}

bool evzk__steps_share_sync(struct evzk__request *r)
{
    const struct evzk__step *step = step_at(r, 0);

    if (r->sent > 0 || r->commit || r->absent || r->n < 2 ||
        step->verb != EVZK__STEP_SYNC || !step->shared)
        return false;
    r->behind = 1;
    r->parts--;
    return true;
}

bool evzk__steps_go_on(struct evzk__request *r)
{
    if (r->commit || r->n == 0 || !step_at(r, r->n - 1)->or_absent ||
        r->answered < r->parts || r->given_up ||
        (r->n > 1 && r->first_rc != EVZK_OK) ||
        r->last_rc != (r->absent ? EVZK_OK : EVZK_ERR_NONODE))
        return false;
    r->absent = !r->absent;
    r->unwatch = NULL;
    return true;
}
