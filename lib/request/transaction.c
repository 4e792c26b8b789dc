/* Creates and deletes that fall due together, as one transaction.
 *
 * A contender in a directory that is not there yet goes with its directory:
 *
 *     create <dir>
 *     create <dir>/<guid>-lock-   (ephemeral, sequential)
 *
 * If this succeeds, no other contender is in the directory, so there is nothing
 * to list.  One more znode is made, written to and deleted within the
 * transaction.  It tells the transaction's zxid, which is the czxid of every
 * contender made in it: the fencing token, without a read.  No client ever sees
 * that znode.
 *
 * Many creates in directories that exist (`bulk`) go together in the same way,
 * without the directory; each contender then lists by itself.
 *
 * A contender that leaves a directory which we made, and in which we saw no
 * other contender, deletes the directory, too.  A directory that another client
 * made, or uses, stays; see request/idle_dirs.c.
 *
 * A contender replaces its znode by another:
 *
 *     delete <dir>/<old>
 *     create <dir>/<new>    (ephemeral)
 *
 * So it has exactly one znode in the directory all the time.  The same stamp
 * tells the czxid of the new one.
 *
 * The leader of an election makes, and deletes, a znode beside its own:
 *
 *     check <dir>/<own>            delete <dir>/leader
 *     delete <dir>/leader          delete <dir>/<own>
 *     create <dir>/leader
 *
 * So it never deletes the `leader` znode of its successor.
 *
 * Steps that machines ask for as commits (request/step.h) go together as they
 * are, if each of the machines has asked so.  A commit that was sent eight
 * times in vain, since others of its transaction failed, goes alone.
 *
 * A transaction has at most one create in each directory, because all its
 * creates have the same token; commits mind that themselves.  Which requests go
 * together is in transaction_choice.c, what becomes of a transaction in
 * transaction_answer.c.
 */
#include "lib/request/transaction.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"
#include "lib/request/transaction_internal.h"

enum {
    OPS_EACH = 3, /* At most; but for commits. */
    STAMP_OPS = 3
};

static const char stamp[] = "-token";

static void add_create(struct evzk__batch *b, const struct evzk__request *r)
{
    if (r->with_dir)
        evzk__multi_mkdir(b->multi, r->dir->path, evzk__dir_mark,
                          strlen(evzk__dir_mark));
    evzk__multi_create_seq(b->multi, r->dir->path, r->name, r->data, r->len);
    b->ops[b->n] = (uint16_t)(1 + r->with_dir);
}

static void add_delete(struct evzk__batch *b, const struct evzk__request *r)
{
    if (r->also)
        evzk__multi_delete(b->multi, r->dir->path, r->also, EVZK__ANY_VERSION);
    evzk__multi_delete(b->multi, r->dir->path, r->name, EVZK__ANY_VERSION);
    if (r->with_dir)
        evzk__multi_rmdir(b->multi, r->dir->path);
    b->ops[b->n] = (uint16_t)(1 + (r->also != NULL) + r->with_dir);
}

static void add_swap(struct evzk__batch *b, const struct evzk__request *r)
{
    const struct evzk__swap *swap = r->swap;

    if (swap->guard)
        evzk__multi_check(b->multi, r->dir->path, swap->guard,
                          EVZK__ANY_VERSION);
    if (swap->old)
        evzk__multi_delete(b->multi, r->dir->path, swap->old, swap->version);
    if (swap->numbered)
        evzk__multi_create_seq(b->multi, r->dir->path, swap->created,
                               swap->data, swap->len);
    else
        evzk__multi_create_name(b->multi, r->dir->path, swap->created,
                                swap->data, swap->len);
    b->ops[b->n] = (uint16_t)(1 + (swap->guard != NULL) + (swap->old != NULL));
}

/* NULL: out of memory. */
static struct evzk__multi *join(struct evzk__core *s, struct evzk__request *v[],
                                unsigned n)
{
    size_t bytes = 0, entries = 0;
    unsigned ops = 0;

    for (unsigned i = 0; i < n; i++) {
        evzk__steps_measure_commit(s, v[i], &bytes, &entries);
        ops += v[i]->n;
    }
    return evzk__multi_mixed(ops, bytes, entries);
}

/* A step that cannot go in a transaction is the recipe's fault; it fails. */
static void add_commit(struct evzk__batch *b, struct evzk__request *r)
{
    if (evzk__steps_add_commit(b->s, r, b->multi) != EVZK_OK)
        evzk__session_log(b->s, EVZK_LOG_ERROR, "%s: not for a transaction",
                          r->dir->path);
    b->ops[b->n] = (uint16_t)r->n;
}

static void add(struct evzk__batch *b, struct evzk__request *r)
{
    if (evzk__batch_is_commit(r))
        add_commit(b, r);
    else if (r->op == EVZK__CREATE_LIST)
        add_create(b, r);
    else if (r->op == EVZK__SWAP)
        add_swap(b, r);
    else
        add_delete(b, r);
}

/* All requests of a transaction have the same ACL. */
static struct evzk__multi *new_multi(const struct evzk__request *first,
                                     unsigned ops, size_t bytes)
{
    if (first->op == EVZK__SWAP)
        return evzk__multi_new(ops, bytes, first->swap->acl,
                               first->swap->acl_count);
    if (first->op == EVZK__CREATE_LIST)
        return evzk__multi_new(ops, bytes, first->acl, first->acl_count);
    return evzk__multi_new(ops, bytes, NULL, 0);
}

/* NULL: out of memory. */
static struct evzk__batch *
build(struct evzk__core *s, struct evzk__request *v[], unsigned n, size_t bytes)
{
    const struct evzk__request *first = v[0];
    struct evzk__batch *b = evzk__zalloc(sizeof *b);

    if (!b)
        return NULL;
    b->s = s;
    b->multi = evzk__batch_is_commit(first)
                   ? join(s, v, n)
                   : new_multi(first, OPS_EACH * n + STAMP_OPS,
                               bytes + evzk__batch_bytes(first));
    if (!b->multi) {
        evzk__free(b);
        return NULL;
    }
    b->r.op = EVZK__BATCH;
    b->r.done = evzk__batch_answered;
    b->r.dir = first->dir;
    while (b->n < n) {
        b->item[b->n] = v[b->n];
        add(b, v[b->n]);
        b->n++;
    }
    if (first->op != EVZK__DELETE && !evzk__batch_is_commit(first))
        evzk__multi_stamp(b->multi, first->dir->path, first->name, stamp);
    return b;
}

struct evzk__request *evzk__batch_prepare(struct evzk__core *s,
                                          struct evzk__request *first,
                                          struct evzk__multi **multi)
{
    struct evzk__request *v[EVZK__BATCH_ITEMS] = {first};
    size_t bytes;
    unsigned n = evzk__batch_gather(s, first, v, &bytes);
    struct evzk__batch *b = build(s, v, n, bytes);

    if (!b) {
        for (unsigned i = 0; i < n; i++)
            v[i]->state = EVZK__QUEUED;
        evzk__requests_pause(s);
        return NULL;
    }
    LIST_INSERT_HEAD(&s->requests.batches, b, link);
    s->requests.n_batches++;
    for (unsigned i = 0; i < n; i++)
        evzk__request_take(s, v[i]);
    *multi = b->multi;
    return &b->r;
}
