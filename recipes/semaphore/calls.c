/* The calls of evzk/semaphore.h: they check, note, and post an event. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/parts/dialect.h"
#include "recipes/parts/lease_of.h"
#include "recipes/semaphore/semaphore_internal.h"

/* Where the znodes are: behind the semaphore's path. */
struct places {
    const char *locks, *leases;
};

/* Kazoo's leases are in the path itself, and its locks beside it. */
static struct places places_of(evzk_dialect dialect)
{
    return dialect == EVZK_DIALECT_KAZOO
               ? (struct places){EVZK__SEMAPHORE_KAZOO_LOCKS, ""}
               : (struct places){EVZK__SEMAPHORE_LOCKS, EVZK__SEMAPHORE_LEASES};
}

static bool is_bad_path(const struct evzk__call *call, const char *path,
                        evzk_dialect dialect)
{
    struct places at = places_of(dialect);
    size_t locks = strlen(at.locks), leases = strlen(at.leases);
    size_t room = locks > leases ? locks : leases;

    return evzk__broken(call, strlen(path) + room <= EVZK__PATH_MAX, "path",
                        "must leave room for the names behind it");
}

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_semaphore_options *opt)
{
    return evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_SEMAPHORE_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_dialect(call, opt->dialect) ||
           evzk__broken_reserved(call, opt->reserved);
}

static int take_options(struct evzk_semaphore *p,
                        const evzk_semaphore_options *opt)
{
    p->leases = opt->leases ? opt->leases : 1;
    snprintf(p->number, sizeof p->number, "%" PRIu32, p->leases);
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
    p->turn_path = evzk__concat(path, places_of(p->dialect).locks);
    if (p->turn_path)
        p->turn_node = evzk__zalloc(strlen(p->turn_path) + 1 + EVZK__NAME_MAX);
    p->again = evzk__session_timer(s, evzk__semaphore_again, p);
    return p->turn_path && p->turn_node && p->again ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int start(evzk_session *s, const char *path,
                 const evzk_semaphore_options *opt, struct evzk_semaphore *p)
{
    char *leases = evzk__concat(path, places_of(opt->dialect).leases);
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
        is_bad_path(&call, path, opt->dialect) || is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    p = evzk__zalloc(sizeof *p);
    if (!p)
        return EVZK_ERR_NOMEM;
    p->cb = cb;
    p->arg = arg;
    p->dialect = opt->dialect;
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
