/* Operations on the lock of a handle, and what the lock tells. */
#include "recipes/chubby/chubby_internal.h"

static void acquired(struct evzk_chubby *h)
{
    struct evzk__chubby_op *op = evzk__chubby_op_find(h, OP_ACQUIRE);

    h->m.refs++;
    if (op)
        evzk__chubby_op_answer(op, EVZK_OK, NULL);
    if (!h->m.place.ended)
        evzk__chubby_look_at_queue(h, true);
    evzk__machine_unref(&h->m);
}

static void lost(struct evzk_chubby *h, int rc)
{
    if (!h->closes)
        evzk__chubby_tell(h, EVZK_CHUBBY_LOCK_LOST, rc, NULL);
}

/* Did the servers refuse to take the lock's znodes away? */
static bool is_refused(int rc)
{
    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_NOTEMPTY ||
           rc == EVZK_ERR_SERVER;
}

/* An acquire that has not begun is of the next lock: it was called as this one
 * was lost. */
static void ended(struct evzk_chubby *h, int rc)
{
    struct evzk__chubby_op *op = evzk__chubby_op_find(h, OP_ACQUIRE);

    evzk__machine_unref(&h->lock->m);
    h->lock = NULL;
    h->lock_rc = is_refused(rc) ? rc : EVZK_OK;
    evzk__machine_ask(&h->m);
    if (!op || !op->begun)
        op = evzk__chubby_op_find(h, OP_RELEASE);
    if (op)
        evzk__chubby_op_answer(op, rc, NULL);
}

static const struct evzk__chubby_lock_hooks hooks = {acquired, lost, ended};

/* ---- The calls. ---- */

/* A lock that was lost is on its way out, and in nobody's way here. */
static bool has_lock(struct evzk_chubby *h)
{
    return (h->lock && !h->lock->lost) || evzk__chubby_op_find(h, OP_ACQUIRE) ||
           evzk__chubby_op_find(h, OP_RELEASE);
}

static int acquire(struct evzk_chubby *h, const char *function,
                   evzk_chubby_mode mode, bool try_once,
                   evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__call call = evzk__chubby_call(h, function);
    struct evzk__chubby_op *op;
    int rc;

    if (evzk__broken(&call, h, "handle", EVZK__NOT_NULL) ||
        evzk__broken(&call, (unsigned)mode <= EVZK_CHUBBY_SHARED, "mode",
                     "must be one of EVZK_CHUBBY_*") ||
        evzk__broken(&call, done, "done", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__chubby_gone(h);
    if (rc == EVZK_OK && (!h->opened || h->read_only || h->poisoned ||
                          has_lock(h) || h->invalid != EVZK_OK))
        rc = EVZK_ERR_STATE;
    if (rc == EVZK_OK)
        rc = evzk__chubby_op_add(h, OP_ACQUIRE, NULL, 0, done, arg, &op);
    if (rc != EVZK_OK)
        return rc;
    op->shared = mode == EVZK_CHUBBY_SHARED;
    op->try_once = try_once;
    return EVZK_OK;
}

void evzk__chubby_op_acquire(struct evzk__chubby_op *op)
{
    struct evzk_chubby *h = op->h;
    int rc;

    op->begun = true;
    if (h->lock)
        evzk__chubby_lock_drop(h->lock);
    h->lock = NULL;
    rc = evzk__chubby_lock_begin(h, &hooks, op->shared, op->try_once, &h->lock);
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
}

int evzk_chubby_acquire(evzk_chubby *h, evzk_chubby_mode mode,
                        evzk_chubby_done_cb *done, void *arg)
{
    return acquire(h, __func__, mode, false, done, arg);
}

int evzk_chubby_try_acquire(evzk_chubby *h, evzk_chubby_mode mode,
                            evzk_chubby_done_cb *done, void *arg)
{
    return acquire(h, __func__, mode, true, done, arg);
}

int evzk_chubby_release(evzk_chubby *h, evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__call call = evzk__chubby_call(h, __func__);
    struct evzk__chubby_op *op;
    int rc;

    if (evzk__broken(&call, h, "handle", EVZK__NOT_NULL) ||
        evzk__broken(&call, done, "done", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__chubby_gone(h);
    if (rc == EVZK_OK &&
        (h->poisoned || !h->lock || !h->lock->held || h->lock->leaves))
        rc = EVZK_ERR_STATE;
    if (rc != EVZK_OK)
        return rc;
    op = h->lock->release;
    h->lock->release = NULL;
    op->begun = true;
    evzk__chubby_op_put(h, op, done, arg);
    evzk__chubby_lock_leave(h->lock);
    return EVZK_OK;
}

bool evzk_chubby_held(const evzk_chubby *h)
{
    return h && !h->m.stopping && evzk__chubby_lock_held(h->lock);
}

uint32_t evzk_chubby_lease_ms(const evzk_chubby *h)
{
    return evzk_chubby_held(h) ? evzk_lock_lease_ms(h->lock->lock) : 0;
}

uint64_t evzk_chubby_token(const evzk_chubby *h)
{
    return evzk_chubby_held(h) ? evzk_lock_token(h->lock->lock) : 0;
}
