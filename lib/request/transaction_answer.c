/* What becomes of a transaction: all of its requests are answered, or those
 * that were not done go again.
 *
 * All or nothing: the first operation that fails names the culprit.  The
 * requests before it would have passed, and are sent again by themselves; those
 * behind it are sent again, too.  Only the culprit is told of the error, or is
 * tried in another way.
 *
 * A commit may fail because of what another commit of the same transaction
 * would have written before it.  That is not done, so the error is not true
 * yet: the culprit is sent again, too, behind the other.
 */
#include "lib/request/transaction.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"
#include "lib/request/transaction_internal.h"

static void destroy(struct evzk__batch *b)
{
    LIST_REMOVE(b, link);
    b->s->requests.n_batches--;
    evzk__multi_free(b->multi);
    evzk__free(b);
}

void evzk__batches_clear(struct evzk__core *s)
{
    while (!LIST_EMPTY(&s->requests.batches))
        destroy(LIST_FIRST(&s->requests.batches));
}

/* The request was not done, and is sent again.  If the owner of a create, or of
 * a commit, has given it up since, the request ends here: nothing of it is on
 * the server. */
static void again(struct evzk__batch *b, struct evzk__request *r)
{
    if (r->given_up &&
        (r->op == EVZK__CREATE_LIST || evzk__request_is_steps(r)))
        evzk__request_answer_rc(b->s, r, EVZK_ERR_CANCELED);
    else
        evzk__request_again(b->s, r);
}

/* In the child of a fork no request is left to be answered. */
static bool in_child(const struct evzk__batch *b)
{
    return b->s->phase == EVZK__CLOSED;
}

static void answer_items(struct evzk__batch *b, int rc)
{
    for (unsigned i = 0; i < b->n && !in_child(b); i++) {
        struct evzk__dir *d = b->item[i]->dir;

        if (!evzk__request_is_steps(b->item[i]))
            d->check_empty = d->check_empty || rc == EVZK_ERR_CONNLOSS;
        evzk__request_answer_rc(b->s, b->item[i], rc);
    }
}

static void again_all(struct evzk__batch *b)
{
    evzk__requests_pause(b->s);
    for (unsigned i = b->n; i-- > 0 && !in_child(b);)
        again(b, b->item[i]);
}

/* The name at the end of a path.  NULL: the path is not known. */
static char *name_in(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? (char *)(uintptr_t)slash + 1 : NULL;
}

static void made(struct evzk__batch *b, struct evzk__request *r, unsigned op)
{
    const char *path = evzk__multi_path(b->multi, op);
    char *name = name_in(path);
    struct evzk__result res = {.path = path,
                               .names = {.n = 1, .v = &name, .ordered = NULL},
                               .stat = {.czxid = evzk__multi_zxid(b->multi),
                                        .pzxid = evzk__multi_zxid(b->multi),
                                        .owner = b->s->id,
                                        .cversion = 1,
                                        .children = 1}};

    evzk__dirs_found(b->s, r->with_dir);
    if (!name) {
        evzk__request_answer_rc(b->s, r,
                                EVZK_ERR_CONNLOSS); /* Made, but as what? */
        return;
    }
    r->dir->exists = true;
    if (r->with_dir) {
        r->dir->made_by_us = true;
        r->dir->czxid = evzk__multi_zxid(b->multi);
    }
    r->dir->missing = false;
    evzk__request_answer(b->s, r, &res);
}

static void swapped(struct evzk__batch *b, struct evzk__request *r, unsigned op)
{
    const char *path = evzk__multi_path(b->multi, op);
    const char *name = name_in(path);
    struct evzk__result res = {
        .path = path,
        .stat = {.czxid = evzk__multi_zxid(b->multi), .owner = b->s->id}};

    if (name && r->swap->numbered)
        evzk__name_complete(r->swap->created, path);
    else if (!name)
        res.rc = EVZK_ERR_CONNLOSS; /* Done, but what is its name? */
    evzk__request_answer(b->s, r, &res);
}

/* Its step `at` has failed; or a check that stood in its place, since that step
 * could not go in a transaction at all. */
static int blamed(struct evzk__batch *b, const struct evzk__request *r,
                  unsigned at, int rc)
{
    int fault = at < r->n ? evzk__steps_fault(b->s, r, at) : EVZK_OK;

    return fault != EVZK_OK ? fault : rc;
}

/* A commit, which was done or is to blame. */
static void committed(struct evzk__batch *b, struct evzk__request *r,
                      unsigned op, int rc)
{
    struct evzk__result res = {.rc = rc,
                               .stat = {.czxid = evzk__multi_zxid(b->multi)},
                               .multi = b->multi,
                               .first_op = op};

    evzk__steps_answered(b->s, r, 0, &res);
    evzk__request_answer(b->s, r, &res);
}

static void removed(struct evzk__batch *b, struct evzk__request *r)
{
    if (r->with_dir) {
        evzk__learn(&b->s->requests.emptied, true);
        r->dir->exists = r->dir->made_by_us = false;
        r->dir->missing = true;
    }
    evzk__request_answer_rc(b->s, r, EVZK_OK);
}

static void succeeded(struct evzk__batch *b)
{
    unsigned op = 0;

    for (unsigned i = 0; i < b->n && !in_child(b); op += b->ops[i++]) {
        if (evzk__request_is_steps(b->item[i]))
            committed(b, b->item[i], op, EVZK_OK);
        else if (b->item[i]->op == EVZK__CREATE_LIST)
            made(b, b->item[i], op + b->ops[i] - 1);
        else if (b->item[i]->op == EVZK__SWAP)
            swapped(b, b->item[i], op + b->ops[i] - 1);
        else
            removed(b, b->item[i]);
    }
}

/* The create's directory could not be made. */
static void no_dir(struct evzk__batch *b, struct evzk__request *r, int rc)
{
    evzk__dirs_found(b->s, rc != EVZK_ERR_NODEEXISTS && rc != EVZK_ERR_NOAUTH);
    if (rc != EVZK_ERR_NODEEXISTS && rc != EVZK_ERR_NOAUTH) {
        evzk__request_answer_rc(b->s, r, rc);
        return;
    }
    r->denied =
        rc == EVZK_ERR_NOAUTH; /* The directory may exist all the same. */
    r->dir->exists = true;
    r->dir->missing = false;
    again(b, r);
}

/* The directory did not exist. */
static void missed_dir(struct evzk__batch *b, struct evzk__request *r)
{
    evzk__dirs_found(b->s, true);
    r->dir->exists = false;
    r->dir->missing = true;
    again(b, r);
}

static void kept_dir(struct evzk__batch *b, struct evzk__request *r)
{
    evzk__learn(&b->s->requests.emptied, false);
    r->dir->made_by_us = false;
    r->dir->check_empty = true;
    again(b, r);
}

/* The znode beside the contender's does not exist, or may not be deleted: then
 * it is left alone. */
static void leave_other(struct evzk__batch *b, struct evzk__request *r)
{
    r->also = NULL;
    again(b, r);
}

static void blame(struct evzk__batch *b, struct evzk__request *r, unsigned part,
                  int rc)
{
    if (r->op == EVZK__CREATE_LIST && r->with_dir && part == 0)
        no_dir(b, r, rc);
    else if (r->op == EVZK__CREATE_LIST && !r->with_dir &&
             rc == EVZK_ERR_NONODE)
        missed_dir(b, r);
    else if (r->op == EVZK__DELETE && r->also && part == 0)
        leave_other(b, r);
    else if (r->op == EVZK__DELETE && part == 1 + (r->also != NULL))
        kept_dir(b, r);
    else {
        r->dir->check_empty = r->dir->check_empty || r->dir->made_by_us;
        if (r->op == EVZK__CREATE_LIST)
            evzk__dirs_found(b->s, false); /* Together they fare no better. */
        if (rc == EVZK_ERR_SERVER)
            evzk__requests_pause(b->s);
        if (rc == EVZK_ERR_NONODE)
            r->dir->exists = false; /* May be gone, too. */
        evzk__request_answer_rc(b->s, r, rc);
    }
}

/* Have both directories the same parent, so that the same znode is missing? */
static bool same_parent(const struct evzk__request *a,
                        const struct evzk__request *b)
{
    const char *pa = a->dir->path, *pb = b->dir->path;
    size_t n = (size_t)(strrchr(pa, '/') - pa);

    return strncmp(pa, pb, n + 1) == 0 && !strchr(pb + n + 1, '/');
}

/* Would item k not have failed without those before it? */
static bool failed_by_others(struct evzk__batch *b, unsigned k, unsigned step)
{
    const struct evzk__request *r = b->item[k];
    const char *path;

    if (!evzk__request_is_steps(r) || step >= r->n)
        return false;
    path = evzk__steps_path(b->s, r, step, b->s->requests.path[0],
                            sizeof b->s->requests.path[0]);
    for (unsigned i = 0; path && i < k; i++) {
        if (evzk__steps_write_near(b->s, b->item[i], path))
            return true;
    }
    return false;
}

/* The culprit is told last: its callback may do anything. */
static void failed(struct evzk__batch *b, unsigned op, int rc)
{
    unsigned k = 0, before = 0;
    bool parent_missing, told;

    while (k < b->n && op >= before + b->ops[k])
        before += b->ops[k++];
    if (k == b->n ||
        (rc == EVZK_ERR_BADACL && !evzk__request_is_steps(b->item[0]))) {
        answer_items(b, rc); /* All have the same ACL. */
        return;
    }
    parent_missing = b->item[k]->op == EVZK__CREATE_LIST &&
                     b->item[k]->with_dir && op == before &&
                     rc == EVZK_ERR_NONODE;
    told = !failed_by_others(b, k, op - before);
    if (k > 0)
        b->item[k - 1]->cut = true;
    for (unsigned i = b->n; i-- > 0 && !in_child(b);) {
        struct evzk__request *r = b->item[i];

        if (i == k && told)
            continue;
        if (parent_missing && same_parent(b->item[k], r))
            evzk__request_answer_rc(b->s, r, rc);
        else
            again(b, r);
    }
    if (in_child(b) || !told)
        return;
    if (evzk__request_is_steps(b->item[k]))
        committed(b, b->item[k], before,
                  blamed(b, b->item[k], op - before, rc));
    else
        blame(b, b->item[k], op - before, rc);
}

void evzk__batch_answered(struct evzk__request *r,
                          const struct evzk__reply *reply)
{
    struct evzk__batch *b = evzk__container_of(r, struct evzk__batch, r);
    unsigned op;
    int rc;

    if (reply->rc == EVZK_OK)
        succeeded(b);
    else if (evzk__multi_failed(b->multi, &op, &rc))
        failed(b, op, rc);
    else if (reply->rc == EVZK_ERR_NOMEM ||
             (reply->rc == EVZK_ERR_SERVER &&
              b->item[0]->tries < EVZK__BATCH_TRIES))
        again_all(b); /* Not sent, or not taken. */
    else
        answer_items(b, reply->rc);
    destroy(b);
}
