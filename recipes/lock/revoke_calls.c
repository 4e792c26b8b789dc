/* The calls that ask the holders of a lock to let go: those of the application,
 * and those of other recipes. */
#include "recipes/lock/revoke_internal.h"

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/parts/dialect.h"

static bool broken_options(const struct evzk__call *call,
                           const evzk_lock_revoke_options *o)
{
    struct evzk__contender c;

    return evzk__broken_reserved(call, o->reserved) ||
           evzk__broken_dialect(call, o->dialect) ||
           evzk__broken(call, (unsigned)o->mode <= EVZK_LOCK_READ, "mode",
                        "must be one of EVZK_LOCK_*") ||
           evzk__broken(call,
                        !o->before || evzk__contender_parse(
                                          o->before, evzk__lock_all_marks, &c),
                        "before", "must be the name of a contender's znode");
}

static void grace_over(void *arg)
{
    struct evzk_lock_revoke *r = arg;

    evzk__machine_ask(&r->m);
}

static int take_options(struct evzk_lock_revoke *r, evzk_session *s,
                        const evzk_lock_revoke_options *o)
{
    r->opt = *o;
    if (o->before) {
        r->before = evzk__strdup(o->before);
        if (!r->before)
            return EVZK_ERR_NOMEM;
    }
    if (o->remove) {
        r->grace = evzk__session_timer(s, grace_over, r);
        if (!r->grace)
            return EVZK_ERR_NOMEM;
    }
    return EVZK_OK;
}

static int begin(evzk_session *s, const char *path,
                 const evzk_lock_revoke_options *opt, evzk_lock_revoke_cb *cb,
                 void *arg, evzk_lock_revoke **out)
{
    struct evzk_lock_revoke *r = evzk__zalloc(sizeof *r);
    int rc;

    if (!r)
        return EVZK_ERR_NOMEM;
    r->cb = cb;
    r->arg = arg;
    rc = take_options(r, s, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&r->m, s, &evzk__lock_revoke_kind, path,
                                opt->timeout_ms);
    if (rc != EVZK_OK) {
        evzk__lock_revoke_kind.destroy(&r->m);
        return rc;
    }
    *out = r;
    return EVZK_OK;
}

int evzk_lock_revoke_start(evzk_session *s, const char *path,
                           const evzk_lock_revoke_options *opt,
                           evzk_lock_revoke_cb *cb, void *arg,
                           evzk_lock_revoke **out)
{
    static const evzk_lock_revoke_options defaults;
    struct evzk__call call = evzk__call_of(s, __func__);
    int rc;

    if (!opt)
        opt = &defaults;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    return rc != EVZK_OK ? rc : begin(s, path, opt, cb, arg, out);
}

int evzk__lock_revoke_lower(evzk_session *s, const char *path,
                            const evzk_lock_revoke_options *opt,
                            evzk_lock_revoke_cb *cb, void *arg,
                            evzk_lock_revoke **out)
{
    return begin(s, path, opt, cb, arg, out);
}

bool evzk__lock_revoked(const evzk_lock_revoke *r)
{
    return !r || r->m.place.ended;
}

int evzk__lock_notify(evzk_session *s, const char *path, char *const *names,
                      uint32_t n)
{
    static const evzk_lock_revoke_options defaults;
    struct evzk_lock_revoke *r;
    int rc = begin(s, path, &defaults, NULL, NULL, &r);

    if (rc != EVZK_OK)
        return rc;
    r->notify = true;
    rc = evzk__revoke_room(r, n);
    for (uint32_t i = 0; i < n && rc == EVZK_OK; i++)
        rc = evzk__revoke_add(r, names[i]);
    if (rc != EVZK_OK)
        evzk__machine_stop(&r->m, rc);
    evzk__machine_unref(&r->m); /* No caller waits for its end. */
    return rc;
}

int evzk_lock_revoke_cancel(evzk_lock_revoke *r)
{
    return r ? evzk__machine_cancel(&r->m) : EVZK_ERR_INVAL;
}

void evzk_lock_revoke_free(evzk_lock_revoke *r)
{
    if (r) {
        r->cb = NULL;
        evzk__machine_let_go(&r->m);
    }
}
