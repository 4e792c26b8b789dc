/* The calls of writers. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/value/value_internal.h"

const char *evzk_value_writer_event_name(evzk_value_writer_event event)
{
    switch (event) {
    case EVZK_VALUE_WRITER_CLOSED:
        return "CLOSED";
    case EVZK_VALUE_WRITER_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_value_writer_event_is_final(evzk_value_writer_event event)
{
    return event == EVZK_VALUE_WRITER_CLOSED ||
           event == EVZK_VALUE_WRITER_FAILED;
}

/* To start. */

static bool is_bad_start(const struct evzk__call *call, const char *path,
                         const evzk_value_options *opt)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, strlen(path) + EVZK__VALUE_NAME <= EVZK__PATH_MAX,
                        "path", "must leave room for a receipt's name") ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_value_writer *w, const char *path,
                        const evzk_value_options *opt)
{
    const char *last = strrchr(path, '/');

    TAILQ_INIT(&w->writes);
    w->pending_max =
        opt->pending_max ? opt->pending_max : EVZK_VALUE_PENDING_DEFAULT;
    w->above = last == path ? evzk__strdup("/")
                            : evzk__memdup(path, (size_t)(last - path));
    if (!w->above)
        return EVZK_ERR_NOMEM;
    if (evzk__guid(w->nobody) != EVZK_OK)
        return EVZK_ERR_INTERNAL;
    w->lot = (uint32_t)strtoul(w->nobody, NULL, 16); /* Its first digits. */
    return evzk__acl_copy(&w->own_acl, opt->acl, opt->acl_count);
}

/* All znodes have the ACL of the options, or that of the session. */
static void choose_acl(struct evzk_value_writer *w)
{
    struct evzk__create_args a = evzk__args_with_acl(&w->m, NULL, &w->own_acl);

    w->acl = a.acl;
    w->acl_count = a.acl_count;
    w->make.step.acl = w->acl;
    w->make.step.acl_count = w->acl_count;
}

/* Of the transaction that makes the value, which is the longest. */
static size_t measure(const struct evzk_value_writer *w, const evzk_session *s,
                      const char *path)
{
    size_t n = 2 * (evzk__path_bytes(s, path) + 2 * EVZK__VALUE_NAME);

    for (uint32_t i = 0; i < w->acl_count; i++)
        n += 2 * (16 + strlen(w->acl[i].scheme) + strlen(w->acl[i].id));
    return n;
}

static int init(struct evzk_value_writer *w, evzk_session *s, const char *path)
{
    int rc;

    evzk__make_init(&w->make, &evzk__value_make_rows, EVZK__VALUE_RECEIPT_TAG,
                    EVZK__PERSISTENT);
    rc = evzk__machine_init(&w->m, s, &evzk__value_writer_kind, path, 0);
    if (rc != EVZK_OK)
        return rc;
    choose_acl(w);
    w->one_bytes = measure(w, s, path);
    return EVZK_OK;
}

int evzk_value_writer_start(evzk_session *s, const char *path,
                            const evzk_value_options *opt,
                            evzk_value_writer_cb *cb, void *arg,
                            evzk_value_writer **out)
{
    static const evzk_value_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_value_writer *w;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    w = evzk__zalloc(sizeof *w);
    if (!w)
        return EVZK_ERR_NOMEM;
    w->cb = cb;
    w->arg = arg;
    rc = take_options(w, path, opt);
    if (rc == EVZK_OK)
        rc = init(w, s, path);
    if (rc == EVZK_OK)
        *out = w;
    else
        evzk__writer_destroy(w);
    return rc;
}

/* To write. */

static struct evzk__call call_of(const evzk_value_writer *w,
                                 const char *function)
{
    return evzk__call_of(w ? evzk__machine_session(&w->m) : NULL, function);
}

static bool is_bad_write(const struct evzk__call *call,
                         const struct evzk_value_writer *w, const void *data,
                         size_t len)
{
    return evzk__broken(call, w, "writer", EVZK__NOT_NULL) ||
           evzk__broken_data(call, data, len, EVZK_VALUE_DATA_MAX) ||
           evzk__broken(call, w->one_bytes + len <= EVZK__REQUEST_BYTES, "len",
                        "must leave room for a path so long") ||
           evzk__broken(call, len + EVZK__WRITE_COST <= w->pending_max, "len",
                        "must be less than pending_max allows");
}

/* EVZK_OK, or why the writer takes no more. */
static int may_write(const struct evzk_value_writer *w)
{
    if (evzk__machine_in_child(&w->m))
        return EVZK_ERR_FORKED;
    return w->m.place.ended || w->m.stopping || w->closing ? EVZK_ERR_STATE
                                                           : EVZK_OK;
}

static int add(evzk_value_writer *w, const struct evzk__write *what,
               const void *data, size_t len)
{
    int rc = may_write(w);
    struct evzk__write *op;

    if (rc != EVZK_OK)
        return rc;
    if (len + EVZK__WRITE_COST > w->pending_max - w->pending_bytes)
        return EVZK_ERR_BUSY;
    op = evzk__write_new(what->kind, data, len);
    if (!op)
        return EVZK_ERR_NOMEM;
    op->cb = what->cb;
    op->arg = what->arg;
    op->stamp = what->stamp;
    op->delta = what->delta;
    evzk__write_add(w, op);
    evzk__machine_ask(&w->m);
    return EVZK_OK;
}

int evzk_value_set(evzk_value_writer *w, const void *data, size_t len,
                   evzk_value_write_cb *cb, void *arg)
{
    const struct evzk__write what = {
        .kind = EVZK__WRITE_SET, .cb = cb, .arg = arg};
    struct evzk__call call = call_of(w, __func__);

    return is_bad_write(&call, w, data, len) ? EVZK_ERR_INVAL
                                             : add(w, &what, data, len);
}

int evzk_value_compare_set(evzk_value_writer *w, const evzk_value_stamp *stamp,
                           const void *data, size_t len,
                           evzk_value_write_cb *cb, void *arg)
{
    struct evzk__write what = {
        .kind = EVZK__WRITE_COMPARE, .cb = cb, .arg = arg};
    struct evzk__call call = call_of(w, __func__);

    if (evzk__broken(&call, stamp, "stamp", EVZK__NOT_NULL) ||
        is_bad_write(&call, w, data, len))
        return EVZK_ERR_INVAL;
    what.stamp = *stamp;
    return add(w, &what, data, len);
}

int evzk_value_create(evzk_value_writer *w, const void *data, size_t len,
                      evzk_value_write_cb *cb, void *arg)
{
    const struct evzk__write what = {
        .kind = EVZK__WRITE_CREATE, .cb = cb, .arg = arg};
    struct evzk__call call = call_of(w, __func__);

    return is_bad_write(&call, w, data, len) ? EVZK_ERR_INVAL
                                             : add(w, &what, data, len);
}

int evzk_counter_add(evzk_value_writer *w, int64_t delta,
                     evzk_value_write_cb *cb, void *arg)
{
    const struct evzk__write what = {
        .kind = EVZK__WRITE_ADD, .cb = cb, .arg = arg, .delta = delta};
    struct evzk__call call = call_of(w, __func__);

    return is_bad_write(&call, w, NULL, 0) ? EVZK_ERR_INVAL
                                           : add(w, &what, NULL, 0);
}

/* To end. */

int evzk_value_writer_close(evzk_value_writer *w)
{
    int rc = w ? may_write(w) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    w->closing = true;
    if (TAILQ_EMPTY(&w->writes))
        evzk__machine_stop(&w->m, EVZK_OK);
    return EVZK_OK;
}

int evzk_value_writer_cancel(evzk_value_writer *w)
{
    if (!w)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&w->m))
        return EVZK_ERR_FORKED;
    if (w->m.place.ended || w->canceled || (w->m.stopping && !w->closing))
        return EVZK_ERR_STATE;
    w->canceled = true;
    evzk__machine_stop(&w->m, EVZK_ERR_CANCELED);
    return EVZK_OK;
}

void evzk_value_writer_free(evzk_value_writer *w)
{
    if (w) {
        w->cb = NULL;
        evzk__machine_let_go(&w->m);
    }
}

size_t evzk_value_writer_pending(const evzk_value_writer *w)
{
    return w ? w->pending : 0;
}

const char *evzk_value_writer_state(const evzk_value_writer *w)
{
    return w ? evzk__machine_state(&w->m) : "";
}
