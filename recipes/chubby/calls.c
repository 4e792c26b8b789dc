/* The calls of evzk/chubby.h, but for those on locks and sequencers. */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"

/* The longest name in the directory of the lock is that of a mark. */
static bool has_room(const char *path)
{
    return strlen(path) + strlen(EVZK__CHUBBY_SIDE "/") +
               EVZK__CHUBBY_MARK_MAX <=
           EVZK__PATH_MAX;
}

static bool is_bad_path(const struct evzk__call *call, const char *path)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, has_room(path), "path",
                        "must leave room for the znodes of the lock") ||
           evzk__broken(call, !strstr(path, EVZK__CHUBBY_SIDE "/"), "path",
                        "must not be in the directory of a lock") ||
           evzk__broken(call, !evzk__chubby_reserved(strrchr(path, '/') + 1),
                        "path", "must not end in .evzk, nor be a receipt's");
}

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_chubby_options *opt)
{
    return evzk__broken(call, (unsigned)opt->create <= EVZK_CHUBBY_MUST_CREATE,
                        "create", "must be one of evzk_chubby_create") ||
           evzk__broken(call, opt->create || !opt->ephemeral, "ephemeral",
                        "is for a file that is made") ||
           evzk__broken(call, opt->create || !opt->data, "data",
                        "is for a file that is made") ||
           evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_CHUBBY_DATA_MAX) ||
           evzk__broken(call, opt->lock_delay_ms <= EVZK_CHUBBY_DELAY_MAX_MS,
                        "lock_delay_ms",
                        "must be EVZK_CHUBBY_DELAY_MAX_MS at most") ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_chubby *h, const evzk_chubby_options *opt)
{
    h->create = opt->create;
    h->ephemeral = opt->ephemeral;
    h->read_only = opt->read_only;
    h->children = opt->children;
    h->lock_events = opt->lock_events;
    h->delay_ms = opt->lock_delay_ms;
    h->data_len = (uint32_t)opt->data_len;
    if (opt->data) {
        h->data = evzk__memdup(opt->data, opt->data_len);
        if (!h->data)
            return EVZK_ERR_NOMEM;
    }
    return evzk__acl_copy(&h->acl, opt->acl, opt->acl_count);
}

static int start(evzk_session *s, const char *path,
                 const evzk_chubby_options *opt, struct evzk_chubby *h)
{
    char *side = evzk__concat(path, EVZK__CHUBBY_SIDE);
    int rc = EVZK_ERR_NOMEM;

    TAILQ_INIT(&h->ops);
    h->path = evzk__strdup(path);
    if (side && h->path)
        rc = take_options(h, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&h->m, s, &evzk__chubby_kind, side,
                                opt->timeout_ms);
    if (rc != EVZK_OK)
        evzk__chubby_destroy(&h->m);
    evzk__free(side);
    return rc;
}

int evzk_chubby_open(evzk_session *s, const char *path,
                     const evzk_chubby_options *opt, evzk_chubby_cb *cb,
                     void *arg, evzk_chubby **out)
{
    static const evzk_chubby_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_chubby *h;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_path(&call, path) || is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    h = evzk__zalloc(sizeof *h);
    if (!h)
        return EVZK_ERR_NOMEM;
    h->cb = cb;
    h->arg = arg;
    rc = start(s, path, opt, h);
    if (rc == EVZK_OK)
        *out = h;
    return rc;
}

/* A handle that is not open yet has nothing to give back. */
int evzk_chubby_close(evzk_chubby *h)
{
    int rc = h ? evzk__chubby_gone(h) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    h->closes = true;
    h->lock_rc = EVZK_OK; /* Of a lock that ended before. */
    if (h->opened)
        evzk__machine_ask(&h->m);
    else
        evzk__machine_stop(&h->m, EVZK_OK);
    return EVZK_OK;
}

int evzk_chubby_poison(evzk_chubby *h)
{
    int rc = h ? evzk__chubby_gone(h) : EVZK_ERR_INVAL;

    if (rc == EVZK_OK && h->poisoned)
        rc = EVZK_ERR_STATE;
    if (rc != EVZK_OK)
        return rc;
    h->poisoned = true;
    evzk__machine_ask(&h->m);
    return EVZK_OK;
}

void evzk_chubby_free(evzk_chubby *h)
{
    if (h) {
        h->cb = NULL;
        evzk__machine_let_go(&h->m);
    }
}

/* ---- Operations. ---- */

static bool is_bad_op(struct evzk_chubby *h, const char *function,
                      evzk_chubby_done_cb *done)
{
    struct evzk__call call = evzk__chubby_call(h, function);

    return evzk__broken(&call, h, "handle", EVZK__NOT_NULL) ||
           evzk__broken(&call, done, "done", EVZK__NOT_NULL);
}

static int refused(const struct evzk_chubby *h, bool writes)
{
    int rc = evzk__chubby_gone(h);

    if (rc == EVZK_OK && (!h->opened || h->poisoned || h->invalid != EVZK_OK ||
                          (writes && h->read_only)))
        rc = EVZK_ERR_STATE;
    return rc;
}

static int read_op(struct evzk_chubby *h, const char *function,
                   enum evzk__chubby_op_kind kind, bool latest,
                   evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__chubby_op *op;
    int rc;

    if (is_bad_op(h, function, done))
        return EVZK_ERR_INVAL;
    rc = refused(h, false);
    if (rc == EVZK_OK)
        rc = evzk__chubby_op_add(h, kind, NULL, 0, done, arg, &op);
    if (rc == EVZK_OK)
        op->latest = latest;
    return rc;
}

int evzk_chubby_get(evzk_chubby *h, bool latest, evzk_chubby_done_cb *done,
                    void *arg)
{
    return read_op(h, __func__, OP_GET, latest, done, arg);
}

int evzk_chubby_get_stat(evzk_chubby *h, bool latest, evzk_chubby_done_cb *done,
                         void *arg)
{
    return read_op(h, __func__, OP_STAT, latest, done, arg);
}

int evzk_chubby_read_dir(evzk_chubby *h, evzk_chubby_done_cb *done, void *arg)
{
    return read_op(h, __func__, OP_READ_DIR, false, done, arg);
}

/* A write that is called under the lock rests on that very lock, whatever
 * becomes of it before the write is sent. */
static int write_op(struct evzk_chubby *h, enum evzk__chubby_op_kind kind,
                    const void *data, size_t len, evzk_chubby_done_cb *done,
                    void *arg, struct evzk__chubby_op **op)
{
    bool by_lock = h->lock && h->lock->held && !h->lock->leaves;
    int rc;

    if (by_lock && !evzk__chubby_lock_held(h->lock))
        return EVZK_ERR_STATE; /* LOCK_LOST is about to be told. */
    rc = evzk__chubby_op_add(h, kind, data, len, done, arg, op);
    if (rc == EVZK_OK && by_lock)
        strcpy((*op)->lock_node, evzk_lock_node(h->lock->lock));
    return rc;
}

int evzk_chubby_set(evzk_chubby *h, int32_t content_gen, const void *data,
                    size_t len, evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__call call = evzk__chubby_call(h, __func__);
    struct evzk__chubby_op *op;
    int rc;

    if (is_bad_op(h, __func__, done) ||
        evzk__broken(&call, content_gen >= -1, "content_gen",
                     "must not be less than -1") ||
        evzk__broken_data(&call, data, len, EVZK_CHUBBY_DATA_MAX))
        return EVZK_ERR_INVAL;
    rc = refused(h, true);
    if (rc == EVZK_OK)
        rc = write_op(h, OP_SET, data, len, done, arg, &op);
    if (rc == EVZK_OK)
        op->gen = content_gen;
    return rc;
}

int evzk_chubby_delete(evzk_chubby *h, evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__chubby_op *op;
    int rc;

    if (is_bad_op(h, __func__, done))
        return EVZK_ERR_INVAL;
    rc = refused(h, true);
    return rc == EVZK_OK ? write_op(h, OP_DELETE, NULL, 0, done, arg, &op) : rc;
}

/* The operation takes the sequencer over. */
static int sequencer_op(struct evzk_chubby *h, const char *function,
                        enum evzk__chubby_op_kind kind, const char *text,
                        evzk_chubby_done_cb *done, void *arg)
{
    struct evzk__call call = evzk__chubby_call(h, function);
    struct evzk__sequencer q;
    struct evzk__chubby_op *op;
    int rc;

    if (is_bad_op(h, function, done) ||
        evzk__broken(&call, text, "sequencer", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__sequencer_parse(&q, text);
    if (evzk__broken(&call, rc != EVZK_ERR_INVAL, "sequencer",
                     "must be what evzk_chubby_get_sequencer() writes"))
        return EVZK_ERR_INVAL;
    if (rc == EVZK_OK)
        rc = refused(h, false);
    if (rc == EVZK_OK && kind == OP_SET_SEQUENCER &&
        (h->sequenced != SEQ_NONE || evzk__chubby_op_find(h, OP_SET_SEQUENCER)))
        rc = EVZK_ERR_STATE;
    if (rc == EVZK_OK)
        rc = evzk__chubby_op_add(h, kind, NULL, 0, done, arg, &op);
    if (rc == EVZK_OK)
        op->sequencer = q;
    else
        evzk__sequencer_clear(&q);
    return rc;
}

int evzk_chubby_set_sequencer(evzk_chubby *h, const char *sequencer,
                              evzk_chubby_done_cb *done, void *arg)
{
    return sequencer_op(h, __func__, OP_SET_SEQUENCER, sequencer, done, arg);
}

int evzk_chubby_check_sequencer(evzk_chubby *h, const char *sequencer,
                                evzk_chubby_done_cb *done, void *arg)
{
    return sequencer_op(h, __func__, OP_CHECK_SEQUENCER, sequencer, done, arg);
}

int64_t evzk_chubby_instance(const evzk_chubby *h)
{
    return h && h->opened ? h->instance : 0;
}

bool evzk_chubby_created(const evzk_chubby *h) { return h && h->created; }

size_t evzk_chubby_outstanding(const evzk_chubby *h)
{
    return h ? h->n_ops : 0;
}

const char *evzk_chubby_state(const evzk_chubby *h)
{
    return h ? evzk__machine_state(&h->m) : "";
}
