/* Which requests go together in one transaction (see transaction.c), and how
 * long that becomes.
 *
 * How it can fail.  One failing operation wastes its whole transaction.  So the
 * more often directories exist already, the fewer of them are made together,
 * and a commit that failed often because of others goes alone.
 */
#include <string.h>

#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"
#include "lib/request/transaction.h"
#include "lib/request/transaction_internal.h"

enum {
    SCANNED = 4 * EVZK__BATCH_ITEMS,
    BYTES = 128 * 1024, /* Far below what a server takes. */
    IN_FLIGHT = 16,
    OPS = 768,  /* Of commits that go together. */
    SUFFIX = 12 /* Of a sequential znode's name: at most eleven characters. */
};

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

bool evzk__batch_is_commit(const struct evzk__request *r)
{
    return evzk__request_is_steps(r) && r->commit && r->join && r->n > 0 &&
           r->n <= OPS && !r->for_each_name;
}

bool evzk__batch_takes(const struct evzk__core *s,
                       const struct evzk__request *r)
{
    if (evzk__batch_is_commit(r))
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

size_t evzk__batch_bytes(const struct evzk__request *r)
{
    const struct evzk__swap *swap = r->op == EVZK__SWAP ? r->swap : NULL;
    size_t n;

    if (evzk__batch_is_commit(r))
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
    return evzk__batch_is_commit(r) && r->tries < EVZK__BATCH_TRIES;
}

static bool goes_with(const struct evzk__core *s,
                      const struct evzk__request *first,
                      const struct evzk__request *r)
{
    if (!evzk__batch_takes(s, r) || evzk__own_went(r))
        return false;
    if (evzk__batch_is_commit(r) || evzk__batch_is_commit(first))
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

unsigned evzk__batch_gather(struct evzk__core *s, struct evzk__request *first,
                            struct evzk__request *v[EVZK__BATCH_ITEMS],
                            size_t *bytes)
{
    struct evzk__request *r = first;
    unsigned n = 0, dirs = 0, most = most_dirs(s, first), seen = 0, ops = 0;

    *bytes = 0;
    for (; r && n < EVZK__BATCH_ITEMS && seen < SCANNED; seen++) {
        if (r == first ||
            (goes_with(s, first, r) && (dirs < most || !has_dir(s, r)))) {
            uint32_t own = evzk__batch_is_commit(r) ? r->n : 0;

            if (n > 0 &&
                (*bytes + evzk__batch_bytes(r) > BYTES || ops + own > OPS))
                break;
            ops += own;
            *bytes += evzk__batch_bytes(r);
            v[n++] = r;
            r->with_dir = has_dir(s, r);
            dirs += r->with_dir;
            r->state = EVZK__SENT; /* For those that come behind it. */
            if (r->cut || r->held)
                break; /* A suspect goes alone. */
        }
        bar(r);
        r = TAILQ_NEXT(r, link);
    }
    choose_none(first, seen);
    return n;
}
