/* The calls of evzk/barrier.h. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "recipes/barrier/barrier_internal.h"
#include "recipes/kinds.h"

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_barrier_options *opt)
{
    return evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_BARRIER_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_barrier *b, const char *path,
                        const evzk_barrier_options *opt)
{
    const char *last = strrchr(path, '/');

    b->above = last == path ? evzk__strdup("/")
                            : evzk__memdup(path, (size_t)(last - path));
    if (!b->above)
        return EVZK_ERR_NOMEM;
    if (evzk__guid(b->nobody) != EVZK_OK)
        return EVZK_ERR_INTERNAL;
    if (opt->data) {
        b->data = evzk__memdup(opt->data, opt->data_len);
        b->len = (uint32_t)opt->data_len;
        if (!b->data)
            return EVZK_ERR_NOMEM;
    }
    return evzk__acl_copy(&b->acl, opt->acl, opt->acl_count);
}

static int start(evzk_session *s, const struct evzk__kind *kind,
                 const char *path, const evzk_barrier_options *opt,
                 evzk_barrier_cb *cb, void *arg, struct evzk_barrier **out)
{
    struct evzk_barrier *b = evzk__zalloc(sizeof *b);
    int rc;

    if (!b)
        return EVZK_ERR_NOMEM;
    b->cb = cb;
    b->arg = arg;
    rc = take_options(b, path, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&b->m, s, kind, path, opt->timeout_ms);
    if (rc != EVZK_OK)
        evzk__barrier_destroy(&b->m);
    else
        *out = b;
    return rc;
}

static int begin(evzk_session *s, const char *function,
                 const struct evzk__kind *kind, const char *path,
                 const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                 void *arg, struct evzk_barrier **out)
{
    static const evzk_barrier_options none;
    struct evzk__call call = evzk__call_of(s, function);
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        evzk__broken(&call, path[1], "path", "must not be the root") ||
        is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    return rc != EVZK_OK ? rc : start(s, kind, path, opt, cb, arg, out);
}

int evzk_barrier_set(evzk_session *s, const char *path,
                     const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                     void *arg, evzk_barrier **out)
{
    return begin(s, __func__, &evzk__barrier_set_kind, path, opt, cb, arg, out);
}

int evzk_barrier_lift(evzk_session *s, const char *path,
                      const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                      void *arg, evzk_barrier **out)
{
    return begin(s, __func__, &evzk__barrier_lift_kind, path, opt, cb, arg,
                 out);
}

int evzk_barrier_wait(evzk_session *s, const char *path,
                      const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                      void *arg, evzk_barrier **out)
{
    return begin(s, __func__, &evzk__barrier_wait_kind, path, opt, cb, arg,
                 out);
}

int evzk_barrier_cancel(evzk_barrier *b)
{
    return b ? evzk__machine_cancel(&b->m) : EVZK_ERR_INVAL;
}

void evzk_barrier_free(evzk_barrier *b)
{
    if (b) {
        b->cb = NULL;
        evzk__machine_let_go(&b->m);
    }
}

const char *evzk_barrier_state(const evzk_barrier *b)
{
    return b ? evzk__machine_state(&b->m) : "";
}
