/* The steps of a request as one transaction: all of them are done, or none.
 *
 * How it can fail.  A transaction needs memory when it is sent: without it the
 * request waits, and goes again in a while.  If a transaction made a znode with
 * a number, and the answer came without the name for want of memory, the
 * outcome counts as unknown.
 */
#include <string.h>

#include "lib/request/core.h"
#include "lib/request/step_internal.h"

enum {
    STAMP_OPS = 3,
    SUFFIX = 12 /* Of a sequential znode's name: at most eleven characters. */
};

static const char stamp[] = "-token";

/* Measures each step once, and the first step once more: for the stamp. */
void evzk__steps_measure_commit(struct evzk__core *s,
                                const struct evzk__request *r, size_t *bytes,
                                size_t *entries)
{
    for (uint32_t i = 0; i <= r->n; i++) {
        uint32_t at = i < r->n ? i : 0;
        const char *path = evzk__steps_path_at(s, r, at);

        *bytes += strlen(path ? path : r->dir->path) + SUFFIX + sizeof stamp;
        *entries += evzk__step_at(r, at)->acl_count;
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

/* Why a step cannot go in a transaction, or EVZK_OK. */
static int fault_of(const struct evzk__step *step, const char *path)
{
    bool numbered = step->verb == EVZK__STEP_CREATE &&
                    (step->mode == EVZK__PERSISTENT_SEQUENTIAL ||
                     step->mode == EVZK__EPHEMERAL_SEQUENTIAL);

    if (step->verb < EVZK__STEP_CREATE ||
        (step->verb == EVZK__STEP_CREATE && step->mode == EVZK__CONTAINER))
        return EVZK_ERR_INTERNAL;
    return evzk__path_sendable(path, numbered) ? EVZK_OK : EVZK_ERR_INVAL;
}

int evzk__steps_fault(struct evzk__core *s, const struct evzk__request *r,
                      uint32_t i)
{
    return fault_of(evzk__step_at(r, i), evzk__steps_path_at(s, r, i));
}

static void add_step(struct evzk__multi *multi, const struct evzk__step *step,
                     const char *path)
{
    switch ((enum evzk__verb)step->verb) {
    case EVZK__STEP_CREATE:
        evzk__multi_create(multi, path, step->data, step->len, step->acl,
                           step->acl_count, (enum evzk__mode)step->mode);
        break;
    case EVZK__STEP_SET:
        evzk__multi_set(multi, path, step->data, step->len,
                        evzk__step_version(step));
        break;
    case EVZK__STEP_DELETE:
        evzk__multi_delete(multi, path, NULL, evzk__step_version(step));
        break;
    case EVZK__STEP_CHECK:
        evzk__multi_check(multi, path, NULL, evzk__step_version(step));
        break;
    case EVZK__STEP_SYNC:
    case EVZK__STEP_EXISTS:
    case EVZK__STEP_GET:
    case EVZK__STEP_CHILDREN:
    case EVZK__STEP_UNWATCH:
        break;
    }
}

/* In the place of a step that cannot go in a transaction there is one that
 * fails, so that each step has its operation. */
int evzk__steps_add_commit(struct evzk__core *s, const struct evzk__request *r,
                           struct evzk__multi *multi)
{
    int first = EVZK_OK;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct evzk__step *step = evzk__step_at(r, i);
        const char *path = evzk__steps_path_at(s, r, i);
        int rc = fault_of(step, path);

        if (rc == EVZK_OK)
            add_step(multi, step, path);
        else
            evzk__multi_check(multi, r->dir->path, NULL, EVZK__NO_VERSION);
        if (first == EVZK_OK)
            first = rc;
    }
    return first;
}

int evzk__steps_send_commit(struct evzk__core *s, struct evzk__request *r,
                            struct evzk__slot *slot)
{
    struct evzk__multi *multi = new_multi(s, r);
    int rc;

    if (!multi)
        return EVZK_ERR_NOMEM;
    rc = evzk__steps_add_commit(s, r, multi);
    if (rc == EVZK_OK && r->stamp)
        evzk__multi_stamp(multi, evzk__steps_path_at(s, r, 0), NULL, stamp);
    if (rc == EVZK_OK)
        rc = evzk__client_multi(slot, multi);
    evzk__multi_free(multi); /* Or the client does, when it is answered. */
    return rc;
}

void evzk__steps_note_commit(const struct evzk__request *r,
                             const struct evzk__result *res)
{
    for (uint32_t i = 0; res->multi && i < r->n; i++) {
        if (evzk__step_at(r, i)->verb == EVZK__STEP_CREATE)
            evzk__step_note_made(
                evzk__step_at(r, i),
                evzk__multi_path(res->multi, res->first_op + i));
    }
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
