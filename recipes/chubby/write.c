/* Operations that write: guarded writes (recipes/guard).
 *
 * The guard is the file's anchor: a znode beside it that is made and deleted
 * together with it, and whose name is used once.  So a write never reaches
 * another file of the same name.  A file that another program has made has no
 * anchor: then the file itself is the guard.
 *
 * The transaction also checks the znode of the lock that the handle held when
 * the write was called, and that of its sequencer.
 */
#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"

enum { WRITE_OPS = 4 };

/* The error of an operation of the transaction. */
static int error_of(const struct evzk__chubby_op *op, size_t failed, int rc)
{
    if (rc != EVZK_ERR_NONODE)
        return rc;
    if (failed >= op->blame)
        return EVZK_ERR_NODEGONE;
    return failed == 0 && op->lock_node[0] ? EVZK_ERR_LEASE : EVZK_ERR_STATE;
}

static void written(struct evzk__chubby_op *op, evzk_guard_outcome outcome,
                    int rc, const evzk_guard_result *r)
{
    struct evzk_chubby *h = op->h;
    evzk_chubby_answer a = {.unknown = outcome == EVZK_GUARD_UNKNOWN};

    if (outcome == EVZK_GUARD_DONE) {
        a.stat.modified = r->zxid;
        a.stat.content_gen = r->version[op->blame];
    }
    if (outcome == EVZK_GUARD_FAILED)
        rc = error_of(op, r->failed, rc);
    if (rc == EVZK_ERR_CANCELED && h->invalid != EVZK_OK && !h->poisoned &&
        !h->closes)
        rc = h->invalid; /* The reason for the cancel. */
    if (rc == EVZK_ERR_NODEGONE ||
        (outcome == EVZK_GUARD_DONE && op->kind == OP_DELETE))
        evzk__chubby_spoil(h, EVZK_ERR_NODEGONE);
    evzk__chubby_op_answer(op, rc, &a);
}

static void on_written(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                       const evzk_guard_result *r, void *arg)
{
    struct evzk__chubby_op *op = arg;
    struct evzk_chubby *h = op->h;
    struct evzk__inside in = evzk__chubby_in(h);

    (void)guard;
    written(op, outcome, rc, r);
    evzk__chubby_out(h, in);
}

/* The paths that a write names besides that of the file. */
struct paths {
    char *anchor, *lock, *sequencer; /* Owned. */
};

static bool make_paths(const struct evzk__chubby_op *op, struct paths *p)
{
    const struct evzk_chubby *h = op->h;
    const char *side = evzk__machine_path(&h->m);
    bool ok = true;

    if (h->anchored == ANCHOR_KNOWN)
        ok = (p->anchor = evzk__join(side, h->anchor)) != NULL;
    if (ok && op->lock_node[0])
        ok = (p->lock = evzk__join(side, op->lock_node)) != NULL;
    if (ok && h->sequenced == SEQ_SET)
        ok = (p->sequencer = evzk__join(h->sequencer.dir, h->sequencer.node)) !=
             NULL;
    return ok;
}

static evzk_guard_op check(const char *path)
{
    return (evzk_guard_op){
        .verb = EVZK_GUARD_CHECK, .path = path, .version = -1};
}

static size_t fill(struct evzk__chubby_op *op, const struct paths *p,
                   evzk_guard_op v[WRITE_OPS])
{
    const struct evzk_chubby *h = op->h;
    size_t n = 0;

    if (p->lock)
        v[n++] = check(p->lock);
    if (p->sequencer)
        v[n++] = check(p->sequencer);
    op->blame = n;
    if (op->kind == OP_SET) {
        v[n++] = (evzk_guard_op){.verb = EVZK_GUARD_SET,
                                 .path = h->path,
                                 .version = op->gen,
                                 .data = op->data,
                                 .data_len = op->len};
        return n;
    }
    v[n++] = (evzk_guard_op){
        .verb = EVZK_GUARD_DELETE, .path = h->path, .version = -1};
    if (p->anchor)
        v[n++] = (evzk_guard_op){
            .verb = EVZK_GUARD_DELETE, .path = p->anchor, .version = -1};
    return n;
}

static int start(struct evzk__chubby_op *op, const struct paths *p)
{
    struct evzk_chubby *h = op->h;
    const evzk_guard_options opt = {.acl = h->acl.v, .acl_count = h->acl.n};
    const evzk_guard_by by = {.path = p->anchor ? p->anchor : h->path};
    evzk_guard_op v[WRITE_OPS];
    size_t n = fill(op, p, v);

    return evzk_guard_write(evzk__machine_session(&h->m), &by, v, n, &opt,
                            on_written, op, &op->guard);
}

void evzk__chubby_op_write(struct evzk__chubby_op *op)
{
    struct paths p = {NULL, NULL, NULL};
    int rc = EVZK_ERR_NOMEM;

    op->begun = true;
    if (make_paths(op, &p))
        rc = start(op, &p);
    evzk__free(p.anchor);
    evzk__free(p.lock);
    evzk__free(p.sequencer);
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
}
