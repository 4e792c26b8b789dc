/* The calls of queries and followers. */
#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/config/config_internal.h"
#include "recipes/kinds.h"

static bool is_bad_start(const struct evzk__call *call, const char *path,
                         const evzk_config_options *opt)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

/* Queries. */

static void tell_query(struct evzk__config_read *r, int rc,
                       const evzk_config *c)
{
    struct evzk_config_query *q =
        evzk__container_of(r, struct evzk_config_query, r);
    evzk_session *s = evzk__machine_session(&r->m);
    int64_t begun = evzk__machine_call_out(s);

    if (q->cb)
        q->cb(q, rc, c, q->arg);
    evzk__machine_called(s, begun);
}

int evzk_config_get(evzk_session *s, const char *path,
                    const evzk_config_options *opt, evzk_config_query_cb *cb,
                    void *arg, evzk_config_query **out)
{
    static const evzk_config_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_config_query *q;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    q = evzk__zalloc(sizeof *q);
    if (!q)
        return EVZK_ERR_NOMEM;
    q->cb = cb;
    q->arg = arg;
    q->r.tell = tell_query;
    rc = evzk__machine_begin(&q->r.m, s, &evzk__config_read_kind, path,
                             opt->timeout_ms);
    if (rc == EVZK_OK)
        *out = q;
    return rc;
}

int evzk_config_query_cancel(evzk_config_query *q)
{
    return q ? evzk__machine_cancel(&q->r.m) : EVZK_ERR_INVAL;
}

void evzk_config_query_free(evzk_config_query *q)
{
    if (q) {
        q->cb = NULL;
        evzk__machine_let_go(&q->r.m);
    }
}

const char *evzk_config_query_state(const evzk_config_query *q)
{
    return q ? evzk__machine_state(&q->r.m) : "";
}

/* Followers. */

const char *evzk_config_follower_event_name(evzk_config_follower_event event)
{
    switch (event) {
    case EVZK_CONFIG_FOLLOWER_CONFIG:
        return "CONFIG";
    case EVZK_CONFIG_FOLLOWER_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_config_follower_event_is_final(evzk_config_follower_event event)
{
    return event == EVZK_CONFIG_FOLLOWER_ENDED;
}

static void tell_follower(struct evzk__config_read *r, int rc,
                          const evzk_config *c)
{
    struct evzk_config_follower *f =
        evzk__container_of(r, struct evzk_config_follower, r);
    evzk_session *s = evzk__machine_session(&r->m);
    int64_t begun;

    if (c && !evzk__may_tell(s))
        return;
    begun = evzk__machine_call_out(s);
    if (f->cb)
        f->cb(f, c ? EVZK_CONFIG_FOLLOWER_CONFIG : EVZK_CONFIG_FOLLOWER_ENDED,
              rc, c, f->arg);
    evzk__machine_called(s, begun);
}

int evzk_config_follow(evzk_session *s, const char *path,
                       const evzk_config_options *opt,
                       evzk_config_follower_cb *cb, void *arg,
                       evzk_config_follower **out)
{
    static const evzk_config_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_config_follower *f;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_start(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    f = evzk__zalloc(sizeof *f);
    if (!f)
        return EVZK_ERR_NOMEM;
    f->cb = cb;
    f->arg = arg;
    f->r.follows = true;
    f->r.tell = tell_follower;
    rc = evzk__machine_begin(&f->r.m, s, &evzk__config_read_kind, path, 0);
    if (rc == EVZK_OK)
        *out = f;
    return rc;
}

int evzk_config_follower_cancel(evzk_config_follower *f)
{
    return f ? evzk__machine_cancel(&f->r.m) : EVZK_ERR_INVAL;
}

void evzk_config_follower_free(evzk_config_follower *f)
{
    if (f) {
        f->cb = NULL;
        evzk__machine_let_go(&f->r.m);
    }
}

const char *evzk_config_follower_state(const evzk_config_follower *f)
{
    return f ? evzk__machine_state(&f->r.m) : "";
}
