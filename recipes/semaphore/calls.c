/* The calls of evzk/semaphore.h: they check, note, and post an event. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/parts/lease_of.h"
#include "recipes/semaphore/semaphore_internal.h"

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_semaphore_options *opt)
{
    return evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_SEMAPHORE_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_semaphore *p,
                        const evzk_semaphore_options *opt)
{
    p->leases = opt->leases ? opt->leases : 1;
    p->try_once = opt->try_once;
    p->m.no_requeue = opt->no_requeue;
    if (opt->data) {
        p->data = evzk__memdup(opt->data, opt->data_len);
        p->len = (uint32_t)opt->data_len;
        if (!p->data)
            return EVZK_ERR_NOMEM;
    }
    return evzk__acl_copy(&p->acl, opt->acl, opt->acl_count);
}

static int take_paths(struct evzk_semaphore *p, evzk_session *s,
                      const char *path)
{
    p->turn_path = evzk__concat(path, EVZK__SEMAPHORE_LOCKS);
    if (p->turn_path)
        p->turn_node = evzk__zalloc(strlen(p->turn_path) + 1 + EVZK__NAME_MAX);
    p->again = evzk__session_timer(s, evzk__semaphore_again, p);
    return p->turn_path && p->turn_node && p->again ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int start(evzk_session *s, const char *path,
                 const evzk_semaphore_options *opt, struct evzk_semaphore *p)
{
    char *leases = evzk__concat(path, EVZK__SEMAPHORE_LEASES);
    int rc = leases ? take_paths(p, s, path) : EVZK_ERR_NOMEM;

    if (rc == EVZK_OK)
        rc = take_options(p, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&p->m, s, &evzk__semaphore_kind, leases,
                                opt->timeout_ms);
    if (rc != EVZK_OK)
        evzk__semaphore_destroy(&p->m);
    evzk__free(leases);
    return rc;
}

int evzk_semaphore_acquire(evzk_session *s, const char *path,
                           const evzk_semaphore_options *opt,
                           evzk_semaphore_cb *cb, void *arg,
                           evzk_semaphore **out)
{
    static const evzk_semaphore_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_semaphore *p;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        evzk__broken(&call,
                     strlen(path) + strlen(EVZK__SEMAPHORE_LEASES) <=
                         EVZK__PATH_MAX,
                     "path", "must leave room for \"/leases\"") ||
        is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    p = evzk__zalloc(sizeof *p);
    if (!p)
        return EVZK_ERR_NOMEM;
    p->cb = cb;
    p->arg = arg;
    rc = start(s, path, opt, p);
    if (rc == EVZK_OK)
        *out = p;
    return rc;
}

/* Why a call is refused now, or EVZK_OK. */
static int state_of(const struct evzk_semaphore *p, bool want_acquired)
{
    if (evzk__machine_in_child(&p->m))
        return EVZK_ERR_FORKED;
    return p->m.place.ended || p->m.stopping || p->canceled ||
                   evzk__semaphore_acquired(p) != want_acquired
               ? EVZK_ERR_STATE
               : EVZK_OK;
}

int evzk_semaphore_cancel(evzk_semaphore *p)
{
    int rc = p ? state_of(p, false) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    p->canceled = true;
    evzk__machine_ask(&p->m);
    return EVZK_OK;
}

int evzk_semaphore_release(evzk_semaphore *p)
{
    int rc = p ? state_of(p, true) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    p->reported = SEMAPHORE_RELEASE;
    evzk__machine_stop(&p->m, EVZK_OK);
    return EVZK_OK;
}

void evzk_semaphore_free(evzk_semaphore *p)
{
    if (p) {
        p->cb = NULL;
        evzk__machine_let_go(&p->m);
    }
}

bool evzk_semaphore_held(const evzk_semaphore *p)
{
    return p && evzk__semaphore_acquired(p) && evzk__machine_sure(&p->m);
}

int evzk_semaphore_lease(evzk_semaphore *p, evzk_lease **out)
{
    return evzk__lease_of(p ? &p->m : NULL, __func__, evzk_semaphore_held(p),
                          evzk_semaphore_token(p), p ? &p->lease : NULL, out);
}

uint32_t evzk_semaphore_lease_ms(const evzk_semaphore *p)
{
    return evzk_semaphore_held(p)
               ? evzk_session_lease_ms(evzk__machine_session(&p->m))
               : 0;
}

uint64_t evzk_semaphore_token(const evzk_semaphore *p)
{
    return p && evzk__semaphore_acquired(p) ? p->token : 0;
}

const char *evzk_semaphore_node(const evzk_semaphore *p)
{
    return p && evzk__semaphore_acquired(p) ? p->name : "";
}

const char *evzk_semaphore_state(const evzk_semaphore *p)
{
    return p ? evzk__machine_state(&p->m) : "";
}
