/* The calls of evzk/double_barrier.h on a participant. */
#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/double_barrier/double_barrier_internal.h"
#include "recipes/kinds.h"

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_double_barrier_options *opt)
{
    return evzk__broken(call, opt, "opt", EVZK__NOT_NULL) ||
           evzk__broken(call, opt->count > 0, "count", "must not be 0") ||
           evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_DOUBLE_BARRIER_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_double_barrier *d,
                        const evzk_double_barrier_options *opt)
{
    d->count = opt->count;
    d->leave_timeout_ms = opt->leave_timeout_ms;
    if (opt->data) {
        d->data = evzk__memdup(opt->data, opt->data_len);
        if (!d->data)
            return EVZK_ERR_NOMEM;
    }
    return evzk__acl_copy(&d->acl, opt->acl, opt->acl_count);
}

/* The machine's session is known: what the options leave open is the session's.
 */
static void fill_create(struct evzk_double_barrier *d, size_t data_len)
{
    struct evzk__create_args args = evzk__args_with_acl(&d->m, NULL, &d->acl);
    struct evzk__step *create = &d->make.step;

    create->data = d->data ? d->data : args.data;
    create->len = d->data ? (uint32_t)data_len : args.len;
    create->acl = args.acl;
    create->acl_count = args.acl_count;
}

int evzk_double_barrier_enter(evzk_session *s, const char *path,
                              const evzk_double_barrier_options *opt,
                              evzk_double_barrier_cb *cb, void *arg,
                              evzk_double_barrier **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_double_barrier *d;
    int rc;

    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    d = evzk__zalloc(sizeof *d);
    if (!d)
        return EVZK_ERR_NOMEM;
    d->cb = cb;
    d->arg = arg;
    evzk__double_barrier_make_init(d);
    rc = take_options(d, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&d->m, s, &evzk__double_barrier_kind, path,
                                opt->timeout_ms);
    if (rc != EVZK_OK) {
        evzk__double_barrier_destroy(&d->m);
        return rc;
    }
    fill_create(d, opt->data_len);
    *out = d;
    return EVZK_OK;
}

int evzk_double_barrier_leave(evzk_double_barrier *d)
{
    if (!d)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&d->m))
        return EVZK_ERR_FORKED;
    if (d->m.place.ended || d->m.stopping || d->reported != REPORTED_ENTERED)
        return EVZK_ERR_STATE;
    d->reported = REPORTED_LEAVE;
    evzk__machine_set_deadline(&d->m, d->leave_timeout_ms);
    evzk__machine_ask(&d->m);
    return EVZK_OK;
}

int evzk_double_barrier_cancel(evzk_double_barrier *d)
{
    return d ? evzk__machine_cancel(&d->m) : EVZK_ERR_INVAL;
}

void evzk_double_barrier_free(evzk_double_barrier *d)
{
    if (d) {
        d->cb = NULL;
        evzk__machine_let_go(&d->m);
    }
}

bool evzk_double_barrier_inside(const evzk_double_barrier *d)
{
    return d && d->reported == REPORTED_ENTERED && evzk__machine_sure(&d->m);
}

uint32_t evzk_double_barrier_lease_ms(const evzk_double_barrier *d)
{
    return evzk_double_barrier_inside(d)
               ? evzk_session_lease_ms(evzk__machine_session(&d->m))
               : 0;
}

const char *evzk_double_barrier_node(const evzk_double_barrier *d)
{
    return d && d->make.czxid != 0 ? d->make.name : "";
}

const char *evzk_double_barrier_state(const evzk_double_barrier *d)
{
    return d ? evzk__machine_state(&d->m) : "";
}
