/* Operations that read: from the handle's copy while that is surely followed,
 * else from the servers. */
#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"

static evzk_chubby_stat stat_of(const evzk_cache_entry *e)
{
    return (evzk_chubby_stat){.instance = e->czxid,
                              .content_gen = e->version,
                              .modified = e->mzxid,
                              .owner = e->ephemeral_owner,
                              .len = e->len};
}

static void answer_read(struct evzk__chubby_op *op,
                        const evzk_chubby_stat *stat, const void *data)
{
    evzk_chubby_answer a = {.stat = *stat};

    if (op->kind == OP_GET)
        a.data = data;
    evzk__chubby_op_answer(op, EVZK_OK, &a);
}

/* ---- The leader is asked. ---- */

static void answer_value(struct evzk__chubby_op *op, int rc,
                         const evzk_value *v)
{
    struct evzk_chubby *h = op->h;
    evzk_chubby_stat stat;

    if (rc == EVZK_OK && (!v->exists || v->stamp.czxid != h->instance))
        rc = EVZK_ERR_NODEGONE;
    if (rc != EVZK_OK) {
        evzk__chubby_op_answer(op, rc, NULL);
        return;
    }
    stat = (evzk_chubby_stat){.instance = v->stamp.czxid,
                              .content_gen = v->stamp.version,
                              .modified = v->mzxid,
                              .owner = h->owner,
                              .len = v->len};
    h->read_at = v->mzxid;
    answer_read(op, &stat, v->data);
}

static void on_value(evzk_value_query *query, int rc, const evzk_value *v,
                     void *arg)
{
    struct evzk__chubby_op *op = arg;
    struct evzk_chubby *h = op->h;
    struct evzk__inside in = evzk__chubby_in(h);

    (void)query;
    answer_value(op, rc, v);
    evzk__chubby_out(h, in);
}

/* The copy hears of a change a little later than a read by the servers: what
 * the handle has read so is not taken back. */
static bool copy_is_good(const struct evzk_chubby *h, evzk_cache_entry *e)
{
    return evzk_cache_ready(h->copy) &&
           evzk_cache_get(h->copy, "", e) == EVZK_OK && e->mzxid >= h->read_at;
}

void evzk__chubby_op_read(struct evzk__chubby_op *op)
{
    struct evzk_chubby *h = op->h;
    evzk_cache_entry e;
    evzk_chubby_stat stat;
    int rc;

    if (!op->latest && copy_is_good(h, &e)) {
        stat = stat_of(&e);
        answer_read(op, &stat, e.data);
        return;
    }
    op->begun = true;
    rc = evzk_value_get(evzk__machine_session(&h->m), h->path, NULL, on_value,
                        op, &op->query);
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
}

/* ---- Children. ---- */

static size_t take_children(const evzk_cache *cache, evzk_chubby_child *to)
{
    evzk_cache_entry e;
    size_t n = 0;

    for (bool ok = evzk_cache_first_child(cache, "", &e); ok;
         ok = evzk_cache_next_child(cache, &e)) {
        if (!evzk__chubby_reserved(e.name))
            to[n++] = (evzk_chubby_child){e.name, stat_of(&e), e.hidden};
    }
    return n;
}

static void answer_dir(struct evzk__chubby_op *op, const evzk_cache *cache)
{
    evzk_chubby_child *v = evzk__zalloc(evzk_cache_count(cache) * sizeof *v);
    evzk_chubby_answer a = {.children = v};

    if (v)
        a.n = take_children(cache, v);
    evzk__chubby_op_answer(op, v ? EVZK_OK : EVZK_ERR_NOMEM, v ? &a : NULL);
    evzk__free(v);
}

/* Is the root of this view the handle's file? */
static bool is_same(const struct evzk_chubby *h, const evzk_cache *cache)
{
    evzk_cache_entry e;

    return evzk_cache_get(cache, "", &e) == EVZK_OK && e.czxid == h->instance;
}

static void take_event(struct evzk__chubby_op *op, evzk_cache *cache,
                       evzk_cache_event ev, int rc)
{
    if (ev == EVZK_CACHE_ENDED)
        evzk__chubby_op_answer(op, rc, NULL);
    else if (ev == EVZK_CACHE_READY && !is_same(op->h, cache))
        evzk__chubby_op_answer(op, EVZK_ERR_NODEGONE, NULL);
    else if (ev == EVZK_CACHE_READY)
        answer_dir(op, cache);
}

static void on_list(evzk_cache *cache, evzk_cache_event ev, int rc,
                    const evzk_cache_entry *entry,
                    const evzk_cache_entry *before, void *arg)
{
    struct evzk__chubby_op *op = arg;
    struct evzk_chubby *h = op->h;
    struct evzk__inside in = evzk__chubby_in(h);

    (void)entry, (void)before;
    take_event(op, cache, ev, rc);
    evzk__chubby_out(h, in);
}

void evzk__chubby_op_read_dir(struct evzk__chubby_op *op)
{
    static const evzk_cache_options opt = {.depth = EVZK_CACHE_CHILDREN};
    struct evzk_chubby *h = op->h;
    int rc;

    if (h->children && evzk_cache_ready(h->copy)) {
        answer_dir(op, h->copy);
        return;
    }
    op->begun = true;
    rc = evzk_cache_start(evzk__machine_session(&h->m), h->path, &opt, on_list,
                          op, &op->list);
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
}
