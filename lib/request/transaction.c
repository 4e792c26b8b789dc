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
 * All or nothing: the first operation that fails names the culprit.  The
 * requests before it would have passed, and are sent again by themselves; those
 * behind it are sent again, too.  Only the culprit is told of the error, or is
 * tried in another way.  A transaction has at most one create in each
 * directory, because all its creates have the same token.
 */
#include "lib/request/transaction.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"

enum {
    ITEMS = 64, /* In one transaction. */
    SCANNED = 4 * ITEMS,
    TRIES = 8,          /* Of a transaction refused as a whole. */
    BYTES = 128 * 1024, /* Far below what a server takes. */
    IN_FLIGHT = 16,
    OPS_EACH = 3, /* At most. */
    STAMP_OPS = 3,
    SUFFIX = 12 /* Of a sequential znode's name: at most eleven characters. */
};

struct evzk__batch {
    struct evzk__request r;
    LIST_ENTRY(evzk__batch) link;
    struct evzk__core *s;
    struct evzk__multi *multi;
    unsigned n;
    struct evzk__request *item[ITEMS];
    uint8_t ops[ITEMS]; /* How many each has. */
};

static const char stamp[] = "-token";

bool evzk__batch_room(const struct evzk__core *s)
{
    return s->requests.n_batches < IN_FLIGHT;
}

/* May a create go in a transaction?  Not while other creates of ours in its
 * directory are under way, or are to go first; nor if it has no right to make
 * its directory. */
static bool may_go(const struct evzk__request *r)
{
    const struct evzk__dir *d = r->dir;

    return !r->denied && !d->chosen && !d->creating &&
           evzk__create_order_is_first(r);
}

/* Is its directory to be made with it? */
static bool is_fresh(const struct evzk__core *s, const struct evzk__request *r)
{
    const struct evzk__dir *d = r->dir;

    if (d->exists || !may_go(r))
        return false;
    return d->missing ||
           (s->requests.fresh > 32767 && !evzk__queue_keeps_dir(d));
}

/* Is it created in an existing directory, together with many others? */
static bool is_bulk(const struct evzk__request *r)
{
    return r->bulk && r->tries < TRIES && may_go(r);
}

/* Is the directory deleted with this contender?  Not if another of ours is to
 * come. */
bool evzk__batch_takes_dir(const struct evzk__request *r)
{
    struct evzk__dir *d = r->dir;

    return d->made_by_us && !r->keeps_dir && d->coming == 0 &&
           evzk__queue_lone(d, r->name);
}

bool evzk__batch_takes(const struct evzk__core *s,
                       const struct evzk__request *r)
{
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

static size_t bytes_of(const struct evzk__request *r)
{
    const struct evzk__swap *swap = r->op == EVZK__SWAP ? r->swap : NULL;
    size_t n = path_bytes(r, r->name) + SUFFIX;

    if (swap)
        return n + path_bytes(r, swap->old) + path_bytes(r, swap->created) +
               swap->len + acl_bytes(swap->acl, swap->acl_count);
    n += path_bytes(r, NULL);
    if (r->op == EVZK__DELETE)
        return r->also ? n + path_bytes(r, r->also) : n;
    return n + 2 * acl_bytes(r->acl, r->acl_count) + r->len; /* Two are made. */
}

static bool goes_with(const struct evzk__core *s,
                      const struct evzk__request *first,
                      const struct evzk__request *r)
{
    if (!evzk__batch_takes(s, r))
        return false;
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
    return most < ITEMS ? most : ITEMS;
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
    if (r->op != EVZK__DELETE)
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
                       struct evzk__request *v[ITEMS], size_t *bytes)
{
    struct evzk__request *r = first;
    unsigned n = 0, dirs = 0, most = most_dirs(s, first), seen = 0;

    *bytes = 0;
    for (; r && n < ITEMS && seen < SCANNED; seen++) {
        if (r == first ||
            (goes_with(s, first, r) && (dirs < most || !has_dir(s, r)))) {
            if (n > 0 && *bytes + bytes_of(r) > BYTES)
                break;
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
    b->ops[b->n] = (uint8_t)(1 + r->with_dir);
}

static void add_delete(struct evzk__batch *b, const struct evzk__request *r)
{
    if (r->also)
        evzk__multi_delete(b->multi, r->dir->path, r->also, -1);
    evzk__multi_delete(b->multi, r->dir->path, r->name, -1);
    if (r->with_dir)
        evzk__multi_rmdir(b->multi, r->dir->path);
    b->ops[b->n] = (uint8_t)(1 + (r->also != NULL) + r->with_dir);
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
    b->ops[b->n] = (uint8_t)(1 + (swap->guard != NULL) + (swap->old != NULL));
}

static void add(struct evzk__batch *b, const struct evzk__request *r)
{
    if (r->op == EVZK__CREATE_LIST)
        add_create(b, r);
    else if (r->op == EVZK__SWAP)
        add_swap(b, r);
    else
        add_delete(b, r);
}

/* All of a transaction have the same. */
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

static void done(struct evzk__request *r, const struct evzk__reply *reply);

/* NULL: out of memory. */
static struct evzk__batch *
build(struct evzk__core *s, struct evzk__request *v[], unsigned n, size_t bytes)
{
    const struct evzk__request *first = v[0];
    struct evzk__batch *b = evzk__zalloc(sizeof *b);

    if (!b)
        return NULL;
    b->multi =
        new_multi(first, OPS_EACH * n + STAMP_OPS, bytes + bytes_of(first));
    if (!b->multi) {
        evzk__free(b);
        return NULL;
    }
    b->s = s;
    b->r.op = EVZK__BATCH;
    b->r.done = done;
    b->r.dir = first->dir;
    while (b->n < n) {
        b->item[b->n] = v[b->n];
        add(b, v[b->n]);
        b->n++;
    }
    if (first->op != EVZK__DELETE)
        evzk__multi_stamp(b->multi, first->dir->path, first->name, stamp);
    return b;
}

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

/* The request was not done, and is sent again.  If the owner of a create has
 * given it up since, the request ends here: nothing of it is on the server. */
static void again(struct evzk__batch *b, struct evzk__request *r)
{
    if (r->given_up && r->op == EVZK__CREATE_LIST)
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

static void made(struct evzk__batch *b, struct evzk__request *r, unsigned op)
{
    const char *path = evzk__multi_path(b->multi, op);
    const char *name = path ? strrchr(path, '/') : NULL;
    char *own = name ? (char *)(uintptr_t)name + 1 : NULL;
    struct evzk__result res = {.path = path,
                               .names = {.n = 1, .v = &own, .ordered = NULL},
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
    r->dir->made_by_us = r->dir->made_by_us || r->with_dir;
    r->dir->missing = false;
    evzk__request_answer(b->s, r, &res);
}

static void swapped(struct evzk__batch *b, struct evzk__request *r, unsigned op)
{
    const char *path = evzk__multi_path(b->multi, op);
    const char *name = path ? strrchr(path, '/') : NULL;
    struct evzk__result res = {
        .path = path,
        .stat = {.czxid = evzk__multi_zxid(b->multi), .owner = b->s->id}};

    if (name && r->swap->numbered)
        evzk__name_complete(r->swap->created, path);
    else if (!name)
        res.rc = EVZK_ERR_CONNLOSS; /* Done, but what is its name? */
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
        if (b->item[i]->op == EVZK__CREATE_LIST)
            made(b, b->item[i], op + b->ops[i] - 1);
        else if (b->item[i]->op == EVZK__SWAP)
            swapped(b, b->item[i], op + b->ops[i] - 1);
        else
            removed(b, b->item[i]);
    }
}

/* Its directory could not be made. */
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

/* The culprit is told last: its callback may do anything. */
static void failed(struct evzk__batch *b, unsigned op, int rc)
{
    unsigned k = 0, before = 0;
    bool orphan;

    while (k < b->n && op >= before + b->ops[k])
        before += b->ops[k++];
    if (k == b->n || rc == EVZK_ERR_BADACL) { /* All have the same. */
        answer_items(b, rc);
        return;
    }
    orphan = b->item[k]->op == EVZK__CREATE_LIST && b->item[k]->with_dir &&
             op == before && rc == EVZK_ERR_NONODE;
    if (k > 0)
        b->item[k - 1]->cut = true;
    for (unsigned i = b->n; i-- > 0 && !in_child(b);) {
        struct evzk__request *r = b->item[i];

        if (i == k)
            continue;
        if (orphan && same_parent(b->item[k], r))
            evzk__request_answer_rc(b->s, r, rc);
        else
            again(b, r);
    }
    if (!in_child(b))
        blame(b, b->item[k], op - before, rc);
}

static void done(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__batch *b =
        (void *)((char *)r - offsetof(struct evzk__batch, r));
    unsigned op;
    int rc;

    if (reply->rc == EVZK_OK)
        succeeded(b);
    else if (evzk__multi_failed(b->multi, &op, &rc))
        failed(b, op, rc);
    else if (reply->rc == EVZK_ERR_NOMEM ||
             (reply->rc == EVZK_ERR_SERVER && b->item[0]->tries < TRIES))
        again_all(b); /* Not sent, or not taken. */
    else
        answer_items(b, reply->rc);
    destroy(b);
}

struct evzk__request *evzk__batch_prepare(struct evzk__core *s,
                                          struct evzk__request *first,
                                          struct evzk__multi **multi)
{
    struct evzk__request *v[ITEMS] = {first};
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
