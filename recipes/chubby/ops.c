/* The operations of a handle that are outstanding: each ends once. */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"

struct evzk__chubby_op *evzk__chubby_op_new(enum evzk__chubby_op_kind kind,
                                            const void *data, size_t len)
{
    struct evzk__chubby_op *op = evzk__zalloc(sizeof *op + len);

    if (!op)
        return NULL;
    op->kind = kind;
    op->len = (uint32_t)len;
    if (len)
        memcpy(op->data, data, len);
    return op;
}

void evzk__chubby_op_put(struct evzk_chubby *h, struct evzk__chubby_op *op,
                         evzk_chubby_done_cb *done, void *arg)
{
    op->h = h;
    op->done = done;
    op->arg = arg;
    TAILQ_INSERT_TAIL(&h->ops, op, link);
    h->n_ops++;
    evzk__machine_ask(&h->m);
}

int evzk__chubby_op_add(struct evzk_chubby *h, enum evzk__chubby_op_kind kind,
                        const void *data, size_t len, evzk_chubby_done_cb *done,
                        void *arg, struct evzk__chubby_op **out)
{
    *out = evzk__chubby_op_new(kind, data, len);
    if (!*out)
        return EVZK_ERR_NOMEM;
    evzk__chubby_op_put(h, *out, done, arg);
    return EVZK_OK;
}

static void free_op(struct evzk__chubby_op *op)
{
    evzk_value_query_free(op->query);
    evzk_cache_free(op->list);
    evzk_guard_free(op->guard);
    evzk__check_free(op->check);
    evzk__sequencer_clear(&op->sequencer);
    evzk__free(op);
}

static void take_out(struct evzk__chubby_op *op)
{
    TAILQ_REMOVE(&op->h->ops, op, link);
    op->h->n_ops--;
}

void evzk__chubby_op_answer(struct evzk__chubby_op *op, int rc,
                            const evzk_chubby_answer *a)
{
    static const evzk_chubby_answer none;
    struct evzk_chubby *h = op->h;
    evzk_session *s = evzk__machine_session(&h->m);
    int64_t begun;

    take_out(op);
    evzk__machine_ask(&h->m); /* The next one may wait for this end. */
    begun = evzk__machine_call_out(s);
    if (h->cb)
        op->done(h, rc, a ? a : &none, op->arg);
    evzk__machine_called(s, begun);
    free_op(op);
}

struct evzk__chubby_op *evzk__chubby_op_find(struct evzk_chubby *h,
                                             enum evzk__chubby_op_kind kind)
{
    struct evzk__chubby_op *op;

    TAILQ_FOREACH(op, &h->ops, link)
    {
        if (op->kind == kind)
            return op;
    }
    return NULL;
}

/* The outcome of a write under way is awaited, unless all end at once. */
static struct evzk__chubby_op *next_to_end(struct evzk_chubby *h, bool at_once)
{
    struct evzk__chubby_op *op;

    TAILQ_FOREACH(op, &h->ops, link)
    {
        if (at_once || !op->guard)
            return op;
    }
    return NULL;
}

void evzk__chubby_ops_end(struct evzk_chubby *h, int rc, bool at_once)
{
    static const evzk_chubby_answer unknown = {.unknown = true};
    struct evzk__chubby_op *op;

    TAILQ_FOREACH(op, &h->ops, link)
    {
        if (op->guard)
            evzk_guard_cancel(op->guard);
    }
    while ((op = next_to_end(h, at_once)) != NULL)
        evzk__chubby_op_answer(op, rc, op->guard ? &unknown : NULL);
}

void evzk__chubby_ops_free(struct evzk_chubby *h)
{
    struct evzk__chubby_op *op;

    while ((op = TAILQ_FIRST(&h->ops)) != NULL) {
        take_out(op);
        free_op(op);
    }
}
