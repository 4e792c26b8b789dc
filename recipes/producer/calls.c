/* The calls of evzk/producer.h. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/producer/producer_internal.h"

const char *evzk_producer_event_name(evzk_producer_event event)
{
    switch (event) {
    case EVZK_PRODUCER_CLOSED:
        return "CLOSED";
    case EVZK_PRODUCER_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_producer_event_is_final(evzk_producer_event event)
{
    return event == EVZK_PRODUCER_CLOSED || event == EVZK_PRODUCER_FAILED;
}

/* To start. */

static bool is_bad_start(const struct evzk__call *call, const char *path,
                         const evzk_producer_options *opt)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, strlen(path) + EVZK__QUEUE_NAME <= EVZK__PATH_MAX,
                        "path", "must leave room for the queue's own names") ||
           evzk__broken(call,
                        (unsigned)opt->layout <= EVZK_QUEUE_PLAIN_PRIORITY,
                        "layout", "must be an evzk_queue_layout") ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_producer *p, const char *path,
                        const evzk_producer_options *opt)
{
    p->layout = opt->layout;
    p->ephemeral = opt->ephemeral;
    p->pending_max =
        opt->pending_max ? opt->pending_max : EVZK_PRODUCER_PENDING_DEFAULT;
    p->most_bytes = evzk__producer_limits.batch_bytes;
    TAILQ_INIT(&p->puts);
    p->path = evzk__strdup(path);
    if (!p->path)
        return EVZK_ERR_NOMEM;
    return evzk__acl_copy(&p->own_acl, opt->acl, opt->acl_count);
}

/* All znodes have the ACL of the options, or that of the session. */
static void choose_acl(struct evzk_producer *p)
{
    struct evzk__create_args a = evzk__args_with_acl(&p->m, NULL, &p->own_acl);

    p->acl = a.acl;
    p->acl_count = a.acl_count;
    p->make.step.acl = p->acl;
    p->make.step.acl_count = p->acl_count;
}

static int init(struct evzk_producer *p, evzk_session *s)
{
    char dir[EVZK__PATH_MAX + 1];
    int rc;

    evzk__make_init(&p->make, &evzk__producer_make_rows,
                    EVZK__QUEUE_RECEIPT_TAG, EVZK__PERSISTENT);
    evzk__queue_side(dir, p->path, p->layout, EVZK__QUEUE_RECEIPTS);
    rc = evzk__steps_allocate(p);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&p->m, s, &evzk__producer_kind, dir, 0);
    if (rc != EVZK_OK)
        return rc;
    choose_acl(p);
    evzk__steps_measure(p, s);
    return EVZK_OK;
}

int evzk_producer_start(evzk_session *s, const char *path,
                        const evzk_producer_options *opt, evzk_producer_cb *cb,
                        void *arg, evzk_producer **out)
{
    static const evzk_producer_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_producer *p;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    p = evzk__zalloc(sizeof *p);
    if (!p)
        return EVZK_ERR_NOMEM;
    p->cb = cb;
    p->arg = arg;
    rc = take_options(p, path, opt);
    if (rc == EVZK_OK)
        rc = init(p, s);
    if (rc == EVZK_OK)
        *out = p;
    else
        evzk__producer_destroy(p);
    return rc;
}

/* To put. */

static bool is_bad_item(const struct evzk__call *call,
                        const struct evzk_producer *p,
                        const evzk_put_item *item)
{
    uint32_t priorities =
        p->layout == EVZK_QUEUE_PLAIN ? 1 : EVZK_QUEUE_PRIORITIES;

    return evzk__broken_data(call, item->data, item->len,
                             EVZK_QUEUE_DATA_MAX) ||
           evzk__broken(call, item->priority < priorities, "priority",
                        "must be less than EVZK_QUEUE_PRIORITIES, and 0 if the "
                        "layout has none") ||
           evzk__broken(call, p->one_bytes + item->len <= EVZK__REQUEST_BYTES,
                        "data_len", "must leave room for a path so long");
}

static bool is_bad_put(const struct evzk__call *call,
                       const struct evzk_producer *p,
                       const evzk_put_item *items, size_t n)
{
    size_t left = p->pending_max;

    if (evzk__broken(call, items, "items", EVZK__NOT_NULL) ||
        evzk__broken(call, n > 0, "n", "must be at least 1"))
        return true;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = items[i].len + EVZK__ITEM_COST;

        if (is_bad_item(call, p, &items[i]) ||
            evzk__broken(call, bytes <= left, "items",
                         "must be fewer than pending_max allows"))
            return true;
        left -= bytes;
    }
    return false;
}

/* EVZK_OK, or why the producer takes no more. */
static int may_put(const struct evzk_producer *p)
{
    if (evzk__machine_in_child(&p->m))
        return EVZK_ERR_FORKED;
    return p->m.place.ended || p->m.stopping || p->closing ? EVZK_ERR_STATE
                                                           : EVZK_OK;
}

int evzk_producer_put(evzk_producer *p, const evzk_put_item *items, size_t n,
                      evzk_put_cb *cb, void *arg)
{
    struct evzk__call call =
        evzk__call_of(p ? evzk__machine_session(&p->m) : NULL, __func__);
    struct evzk__put *put;
    int rc;

    if (evzk__broken(&call, p, "producer", EVZK__NOT_NULL) ||
        is_bad_put(&call, p, items, n))
        return EVZK_ERR_INVAL;
    rc = may_put(p);
    if (rc != EVZK_OK)
        return rc;
    put = evzk__put_new(items, n);
    if (!put)
        return EVZK_ERR_NOMEM;
    if (put->bytes > p->pending_max - p->pending_bytes) {
        evzk__free(put);
        return EVZK_ERR_BUSY;
    }
    put->cb = cb;
    put->arg = arg;
    evzk__put_add(p, put);
    evzk__machine_ask(&p->m);
    return EVZK_OK;
}

/* To end. */

int evzk_producer_close(evzk_producer *p)
{
    int rc = p ? may_put(p) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    p->closing = true;
    if (TAILQ_EMPTY(&p->puts))
        evzk__machine_stop(&p->m, EVZK_OK);
    return EVZK_OK;
}

int evzk_producer_cancel(evzk_producer *p)
{
    if (!p)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&p->m))
        return EVZK_ERR_FORKED;
    if (p->m.place.ended || p->canceled || (p->m.stopping && !p->closing))
        return EVZK_ERR_STATE;
    p->canceled = true;
    evzk__machine_stop(&p->m, EVZK_ERR_CANCELED);
    return EVZK_OK;
}

void evzk_producer_free(evzk_producer *p)
{
    if (p) {
        p->cb = NULL;
        evzk__machine_let_go(&p->m);
    }
}

size_t evzk_producer_pending(const evzk_producer *p)
{
    return p ? p->pending_items : 0;
}

const char *evzk_producer_state(const evzk_producer *p)
{
    return p ? evzk__machine_state(&p->m) : "";
}
