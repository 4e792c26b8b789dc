/* A resolver: the endpoints of a service, kept up to date by a view of the
 * group, each with its turn to be picked.
 *
 * How it can fail.  The callback may free the resolver while the view calls:
 * then the rest is done behind that call.  There may be no memory for the turn
 * of an endpoint that comes: the endpoint is told and listed all the same, and
 * the next pick that finds memory gives it a turn (read.c). */
#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/names/names_internal.h"

const char *evzk_resolver_event_name(evzk_resolver_event event)
{
    switch (event) {
    case EVZK_RESOLVER_ADDED:
        return "ADDED";
    case EVZK_RESOLVER_CHANGED:
        return "CHANGED";
    case EVZK_RESOLVER_REMOVED:
        return "REMOVED";
    case EVZK_RESOLVER_READY:
        return "READY";
    case EVZK_RESOLVER_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_resolver_event_is_final(evzk_resolver_event event)
{
    return event == EVZK_RESOLVER_ENDED;
}

evzk_resolved evzk__resolved_of(const evzk_group_member *m)
{
    evzk_resolved e = {.name = m->name,
                       .token = m->token,
                       .session = m->session,
                       .text = m->data,
                       .text_len = m->data_len,
                       .hidden = m->hidden};

    e.malformed =
        !m->hidden && !evzk_endpoint_parse(m->data, m->data_len, &e.endpoint);
    return e;
}

bool evzk__resolver_take_turn(evzk_resolver *r, const evzk_group_member *m)
{
    return evzk__turns_set(&r->turns, m->name, m->token,
                           evzk__resolved_of(m).endpoint.weight);
}

static void tell(evzk_resolver *r, evzk_resolver_event event, int rc,
                 const evzk_group_member *m)
{
    evzk_resolved e;

    if (m)
        e = evzk__resolved_of(m);
    if (r->cb)
        r->cb(r, event, rc, m ? &e : NULL, r->arg);
}

static void came(evzk_resolver *r, evzk_resolver_event event,
                 const evzk_group_member *m)
{
    if (!evzk__resolver_take_turn(r, m))
        r->incomplete = true;
    tell(r, event, EVZK_OK, m);
}

static void tell_delta(evzk_resolver *r, evzk_group_event event, int rc,
                       const evzk_group_member *m)
{
    switch (event) {
    case EVZK_GROUP_JOINED:
        came(r, EVZK_RESOLVER_ADDED, m);
        break;
    case EVZK_GROUP_CHANGED:
        came(r, EVZK_RESOLVER_CHANGED, m);
        break;
    case EVZK_GROUP_LEFT:
        evzk__turns_remove(&r->turns, m->name);
        tell(r, EVZK_RESOLVER_REMOVED, EVZK_OK, m);
        break;
    case EVZK_GROUP_READY:
        tell(r, EVZK_RESOLVER_READY, EVZK_OK, NULL);
        break;
    case EVZK_GROUP_ENDED:
        tell(r, EVZK_RESOLVER_ENDED, rc, NULL);
        break;
    }
}

static void destroy(evzk_resolver *r)
{
    evzk_group_view_free(r->view);
    evzk__turns_clear(&r->turns);
    evzk__free(r);
}

static void on_view(evzk_group_view *view, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    evzk_resolver *r = arg;

    (void)view;
    r->inside = true;
    tell_delta(r, event, rc, m);
    r->inside = false;
    if (!r->cb)
        destroy(r);
}

static bool is_bad_start(const struct evzk__call *call, const char *service,
                         const evzk_resolver_options *opt)
{
    return evzk__broken(call, service[1], "path", "must not be the root") ||
           evzk__broken(call,
                        opt->pick >= EVZK_PICK_IN_TURN &&
                            opt->pick <= EVZK_PICK_LEAST_RECENTLY_FAILED,
                        "pick", "must be one of evzk_pick") ||
           evzk__broken_reserved(call, opt->reserved);
}

static int64_t forgive_us(uint32_t ms)
{
    if (ms == UINT32_MAX)
        return INT64_MAX;
    return (ms ? ms : EVZK_RESOLVER_FORGIVE_MS) * INT64_C(1000);
}

int evzk_resolver_start(evzk_session *s, const char *service,
                        const evzk_resolver_options *opt, evzk_resolver_cb *cb,
                        void *arg, evzk_resolver **out)
{
    static const evzk_resolver_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    evzk_resolver *r;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, service, cb != NULL, out != NULL) ||
        is_bad_start(&call, service, opt))
        return EVZK_ERR_INVAL;
    r = evzk__zalloc(sizeof *r);
    if (!r)
        return EVZK_ERR_NOMEM;
    r->cb = cb;
    r->arg = arg;
    r->pick = opt->pick;
    r->forgive_us = forgive_us(opt->forgive_ms);
    evzk__turns_init(&r->turns);
    rc = evzk_group_watch(s, service, NULL, on_view, r, &r->view);
    if (rc == EVZK_OK)
        *out = r;
    else
        evzk__free(r);
    return rc;
}

int evzk_resolver_cancel(evzk_resolver *r)
{
    return r ? evzk_group_view_cancel(r->view) : EVZK_ERR_INVAL;
}

void evzk_resolver_free(evzk_resolver *r)
{
    if (!r)
        return;
    r->cb = NULL;
    if (!r->inside)
        destroy(r); /* Else on_view() does. */
}
