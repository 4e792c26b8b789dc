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
 * creates have the same token; commits mind that themselves.  What becomes of a
 * transaction is in transaction_answer.c.
 */
#include "lib/request/transaction.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"
#include "lib/request/transaction_internal.h"

enum {
    SCANNED = 4 * EVZK__BATCH_ITEMS,
    BYTES = 128 * 1024, /* Far below what a server takes. */
    IN_FLIGHT = 16,
    OPS_EACH = 3, /* At most; but for commits. */
    OPS = 768,    /* Of commits that go together. */
    STAMP_OPS = 3,
    SUFFIX = 12 /* Of a sequential znode's name: at most eleven characters. */
};

static const char stamp[] = "-token";

bool evzk__batch_room(const struct evzk__core *s)
{
    return s->requests.n_batches < IN_FLIGHT;
}

/* May a create go in a transaction?  Not while other creates of ours in the
 * same directory are under way, or are to go first; nor if the create has no
 * right to make its directory. */
static bool may_go(const struct evzk__request *r)
{
    const struct evzk__dir *d = r->dir;

    return !r->denied && !d->chosen && !d->creating &&
           evzk__create_order_is_first(r);
}

/* Is the create's directory to be made in the same transaction? */
static bool is_fresh(const struct evzk__core *s, const struct evzk__request *r)
{
    const struct evzk__dir *d = r->dir;

    if (d->exists || r->keeps_dir || !may_go(r))
        return false;
    return d->missing ||
           (s->requests.fresh > 32767 && !evzk__queue_keeps_dir(d));
}

/* May the create go with many others, without its directory? */
static bool is_bulk(const struct evzk__request *r)
{
    return r->bulk && r->tries < EVZK__BATCH_TRIES && may_go(r);
}

/* Is the directory deleted with this contender?  Not if another of ours is to
 * come. */
bool evzk__batch_takes_dir(const struct evzk__request *r)
{
    struct evzk__dir *d = r->dir;

    return d->made_by_us && !r->keeps_dir && d->coming == 0 &&
           evzk__queue_lone(d, r->name);
}

/* Is it a commit that may go with those of other machines? */
static bool is_commit(const struct evzk__request *r)
{
    return evzk__request_is_steps(r) && r->commit && r->join && r->n > 0 &&
           r->n <= OPS && !r->for_each_name;
}

bool evzk__batch_takes(const struct evzk__core *s,
                       const struct evzk__request *r)
{
    if (is_commit(r))
        return true;
    if (r->unwatch)
        return false; /* A waiter deletes its own znode alone. */
    return r->op == EVZK__DELETE || r->op == EVZK__SWAP ||
           (r->op == EVZK__CREATE_LIST && (is_fresh(s, r) || is_bulk(r)));
}

static size_t acl_bytes(const evzk_acl *acl, uint32_t count)
{
    size_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += strlen(acl[i].scheme) + strlen(acl[i].id) + 12;
    return n;
}

static size_t path_bytes(const struct evzk__request *r, const char *name)
{
    return strlen(r->dir->path) + 1 + (name ? strlen(name) : 0) + 1;
}

/* With the paths as they are here; the servers have the same. */
static size_t commit_bytes(const struct evzk__request *r)
{
    size_t n = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct evzk__step *step = &r->steps[i];

        n += path_bytes(r, step->name) + SUFFIX + step->len +
             acl_bytes(step->acl, step->acl_count);
    }
    return n;
}

static size_t bytes_of(const struct evzk__request *r)
{
    const struct evzk__swap *swap = r->op == EVZK__SWAP ? r->swap : NULL;
    size_t n;

    if (is_commit(r))
        return commit_bytes(r);
    n = path_bytes(r, r->name) + SUFFIX;
    if (swap)
        return n + path_bytes(r, swap->old) + path_bytes(r, swap->created) +
               swap->len + acl_bytes(swap->acl, swap->acl_count);
    n += path_bytes(r, NULL);
    if (r->op == EVZK__DELETE)
        return r->also ? n + path_bytes(r, r->also) : n;
    return n + 2 * acl_bytes(r->acl, r->acl_count) + r->len; /* Two are made. */
}

/* A proposal finds one culprit: commits that were often sent in vain go alone,
 * and so all at once. */
static bool may_join(const struct evzk__request *r)
{
    return is_commit(r) && r->tries < EVZK__BATCH_TRIES;
}

static bool goes_with(const struct evzk__core *s,
                      const struct evzk__request *first,
                      const struct evzk__request *r)
{
    if (!evzk__batch_takes(s, r))
        return false;
    if (is_commit(r) || is_commit(first))
        return may_join(r) && may_join(first);
    if (r->op == EVZK__SWAP)
        return !r->dir->chosen &&
               evzk__acl_equal(r->swap->acl, r->swap->acl_count,
                               first->swap->acl, first->swap->acl_count);
    return r->op == EVZK__DELETE ||
           evzk__acl_equal(r->acl, r->acl_count, first->acl, first->acl_count);
}

/* How many directories may go together.  The more often directories exist
 * already, or are not empty, the fewer: one failing operation wastes its whole
 * transaction. */
static unsigned most_dirs(const struct evzk__core *s,
                          const struct evzk__request *first)
{
    bool creates = first->op == EVZK__CREATE_LIST;
    unsigned most,
        there = 65535u - (creates ? s->requests.fresh : s->requests.emptied);

    most = 2 * 65536u / (there + 1);
    return most < EVZK__BATCH_ITEMS ? most : EVZK__BATCH_ITEMS;
}

/* Does the request make, or delete, its directory? */
static bool has_dir(const struct evzk__core *s, const struct evzk__request *r)
{
    return (r->op == EVZK__CREATE_LIST && is_fresh(s, r)) ||
           (r->op == EVZK__DELETE && evzk__batch_takes_dir(r));
}

/* A request that is left out bars its directory: a later request in that
 * directory must not overtake it. */
static void bar(const struct evzk__request *r)
{
    if (r->op != EVZK__DELETE && !evzk__request_is_steps(r))
        r->dir->chosen = true;
}

/* `chosen` is valid only while a transaction is put together. */
static void choose_none(struct evzk__request *first, unsigned n)
{
    for (struct evzk__request *r = first; r && n > 0; n--) {
        r->dir->chosen = false;
        r = TAILQ_NEXT(r, link);
    }
}

/* Gathers the requests that go together with the first of a queue. */
static unsigned gather(struct evzk__core *s, struct evzk__request *first,
                       struct evzk__request *v[EVZK__BATCH_ITEMS],
                       size_t *bytes)
{
    struct evzk__request *r = first;
    unsigned n = 0, dirs = 0, most = most_dirs(s, first), seen = 0, ops = 0;

    *bytes = 0;
    for (; r && n < EVZK__BATCH_ITEMS && seen < SCANNED; seen++) {
        if (r == first ||
            (goes_with(s, first, r) && (dirs < most || !has_dir(s, r)))) {
            uint32_t own = is_commit(r) ? r->n : 0;

            if (n > 0 && (*bytes + bytes_of(r) > BYTES || ops + own > OPS))
                break;
            ops += own;
            *bytes += bytes_of(r);
            v[n++] = r;
            r->with_dir = has_dir(s, r);
            dirs += r->with_dir;
            r->state = EVZK__SENT; /* For those that come behind it. */
            if (r->cut)
                break;
        }
        bar(r);
        r = TAILQ_NEXT(r, link);
    }
    choose_none(first, seen);
    return n;
}

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
        evzk__multi_delete(b->multi, r->dir->path, r->also, -1);
    evzk__multi_delete(b->multi, r->dir->path, r->name, -1);
    if (r->with_dir)
        evzk__multi_rmdir(b->multi, r->dir->path);
    b->ops[b->n] = (uint16_t)(1 + (r->also != NULL) + r->with_dir);
}

static void add_swap(struct evzk__batch *b, const struct evzk__request *r)
{
    const struct evzk__swap *swap = r->swap;

    if (swap->guard)
        evzk__multi_check(b->multi, r->dir->path, swap->guard, -1);
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
    if (is_commit(r))
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
    b->multi = is_commit(first) ? join(s, v, n)
                                : new_multi(first, OPS_EACH * n + STAMP_OPS,
                                            bytes + bytes_of(first));
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
    if (first->op != EVZK__DELETE && !is_commit(first))
        evzk__multi_stamp(b->multi, first->dir->path, first->name, stamp);
    return b;
}

struct evzk__request *evzk__batch_prepare(struct evzk__core *s,
                                          struct evzk__request *first,
                                          struct evzk__multi **multi)
{
    struct evzk__request *v[EVZK__BATCH_ITEMS] = {first};
    size_t bytes;
    unsigned n = gather(s, first, v, &bytes);
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
