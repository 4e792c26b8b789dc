/* Begins the operations of a handle, in the order of their calls.
 *
 * How it can fail.  An operation may be answered as it is begun, and its
 * callback may close the handle, poison it, or free it.  A write may have to
 * wait until the file's anchor is found: then the operations behind it wait,
 * too.
 */
#include <string.h>

#include "recipes/chubby/chubby_internal.h"

static void begin(struct evzk__chubby_op *op)
{
    switch (op->kind) {
    case OP_GET:
    case OP_STAT:
        evzk__chubby_op_read(op);
        break;
    case OP_READ_DIR:
        evzk__chubby_op_read_dir(op);
        break;
    case OP_SET:
    case OP_DELETE:
        evzk__chubby_op_write(op);
        break;
    case OP_SET_SEQUENCER:
        evzk__chubby_op_set_sequencer(op);
        break;
    case OP_CHECK_SEQUENCER:
        evzk__chubby_op_check_sequencer(op);
        break;
    case OP_ACQUIRE:
        evzk__chubby_op_acquire(op);
        break;
    case OP_RELEASE: /* Begun by its call. */
        break;
    }
}

/* An operation that is called behind a SetSequencer waits for its end. */
static struct evzk__chubby_op *next_to_begin(struct evzk_chubby *h)
{
    struct evzk__chubby_op *op;

    TAILQ_FOREACH(op, &h->ops, link)
    {
        if (!op->begun)
            return op;
        if (op->kind == OP_SET_SEQUENCER)
            return NULL;
    }
    return NULL;
}

/* ---- The file's anchor, before the first write. ---- */

static bool wants_anchor(const struct evzk_chubby *h,
                         const struct evzk__chubby_op *op)
{
    return h->anchored == ANCHOR_UNKNOWN &&
           (op->kind == OP_SET || op->kind == OP_DELETE);
}

static void on_found(void *arg, int rc, const char *anchor)
{
    struct evzk_chubby *h = arg;

    evzk__finder_free(h->finder);
    h->finder = NULL;
    evzk__machine_ask(&h->m);
    h->found_rc = rc;
    if (rc == EVZK_ERR_NODEGONE)
        evzk__chubby_spoil(h, rc);
    if (rc != EVZK_OK)
        return;
    h->anchored = anchor[0] ? ANCHOR_KNOWN : ANCHOR_NONE;
    strcpy(h->anchor, anchor);
}

/* The write waits for it. */
static int find_anchor(struct evzk_chubby *h)
{
    int rc = h->found_rc;

    h->found_rc = EVZK_OK;
    if (rc != EVZK_OK || h->finder)
        return rc;
    return evzk__finder_start(evzk__machine_session(&h->m),
                              evzk__machine_path(&h->m), h->path, h->instance,
                              on_found, h, &h->finder);
}

/* ---- In order. ---- */

bool evzk__chubby_goes_on(const struct evzk_chubby *h)
{
    return !h->m.place.ended && !h->m.stopping && !h->closes &&
           h->invalid == EVZK_OK;
}

/* False: the write waits for the anchor. */
static bool begin_one(struct evzk_chubby *h, struct evzk__chubby_op *op)
{
    int rc = op->refused ? EVZK_ERR_STATE : EVZK_OK;

    if (rc == EVZK_OK && wants_anchor(h, op)) {
        rc = find_anchor(h);
        if (rc == EVZK_OK)
            return false;
    }
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
    else
        begin(op);
    return true;
}

/* Begins operations in the order of their calls.  A callback may close the
 * handle, poison it, or free it; and what it asks for comes in a later turn. */
void evzk__chubby_begin_all(struct evzk_chubby *h)
{
    int64_t until_us = evzk__machine_until_us();
    size_t most = h->n_ops;
    struct evzk__chubby_op *op;

    for (unsigned n = 0; evzk__chubby_goes_on(h) && !h->poisoned &&
                         (op = next_to_begin(h)) != NULL;
         n++) {
        if (n == most || evzk__machine_time_spent(n, until_us)) {
            evzk__machine_ask(&h->m);
            return;
        }
        if (!begin_one(h, op))
            return;
    }
}
