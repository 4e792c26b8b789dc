/* The lock's calls.  They check, note, and post an event: what follows is for
 * the states, in lock.c. */
#include "evzk/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/base/view.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"
#include "recipes/parts/dialect.h"

static bool broken_options(const struct evzk__call *c,
                           const evzk_lock_options *o)
{
    return evzk__broken_reserved(c, o->reserved) ||
           evzk__broken(c, (unsigned)o->mode <= EVZK_LOCK_READ, "mode",
                        "must be one of EVZK_LOCK_*") ||
           evzk__broken(c, !o->priority || o->mode != EVZK_LOCK_EXCLUSIVE,
                        "priority", "needs the mode WRITE or READ") ||
           evzk__broken_dialect(c, o->dialect) ||
           evzk__broken(c, !o->priority || o->dialect == EVZK_DIALECT_EVZK,
                        "priority", "needs the dialect EVZK") ||
           evzk__broken(c, !o->priority || !o->no_own_watch, "no_own_watch",
                        "must not be set with priority") ||
           evzk__broken(c, !o->revocable || !o->no_own_watch, "no_own_watch",
                        "must not be set with revocable") ||
           evzk__broken_data(c, o->data, o->data_len, EVZK_LOCK_DATA_MAX) ||
           evzk__broken_acl(c, o->acl, o->acl_count);
}

static int take_given(struct evzk_lock *l, const evzk_lock_options *o)
{
    int rc;

    if (!o->data && !o->acl && !o->acl_count && !o->priority)
        return EVZK_OK;
    l->given = evzk__zalloc(sizeof *l->given);
    if (!l->given)
        return EVZK_ERR_NOMEM;
    l->given->has_priority = o->priority != NULL;
    if (o->priority)
        l->given->priority = *o->priority;
    rc = evzk__acl_copy(&l->given->acl, o->acl, o->acl_count);
    if (rc != EVZK_OK || !o->data)
        return rc;
    l->given->data = evzk__memdup(o->data, o->data_len);
    l->given->len = (uint32_t)o->data_len;
    return l->given->data ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int take_options(struct evzk_lock *l, const evzk_lock_options *o)
{
    int rc = take_given(l, o);

    if (rc != EVZK_OK)
        return rc;
    l->options = (o->try_once ? LOCK_TRY_ONCE : 0) |
                 (o->no_own_watch ? 0 : LOCK_WATCHES_OWN) |
                 (o->revocable || o->priority ? LOCK_WATCHES_EARLY : 0);
    l->m.no_requeue = o->no_requeue;
    l->dialect = o->dialect & 3;
    return EVZK_OK;
}

/* The names of other kinds are longer. */
static size_t room_for_name(const evzk_lock_options *o)
{
    return o->priority || o->dialect != EVZK_DIALECT_EVZK
               ? (size_t)EVZK__NAME_MAX
               : (size_t)OWN_MAX;
}

int evzk__lock_begin(evzk_session *s, const struct evzk__kind *kind,
                     const char *path, const evzk_lock_options *opt,
                     evzk_lock_cb *cb, void *arg, evzk_lock **out)
{
    static const evzk_lock_options defaults;
    struct evzk__call call =
        evzk__call_of(s, kind == &evzk__lock_kind ? "evzk_lock_acquire"
                                                  : "evzk_election_volunteer");
    struct evzk_lock *l;
    int rc;

    if (!opt)
        opt = &defaults;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    l = evzk__zalloc(sizeof *l + room_for_name(opt));
    if (!l)
        return EVZK_ERR_NOMEM;
    l->cb = cb;
    l->arg = arg;
    l->mode = kind == &evzk__lock_kind ? (unsigned)opt->mode & 3 : LOCK_STANDS;
    rc = take_options(l, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&l->m, s, kind, path, opt->timeout_ms);
    if (rc != EVZK_OK) {
        evzk__lock_destroy(&l->m);
        return rc;
    }
    *out = l;
    return EVZK_OK;
}

int evzk_lock_acquire(evzk_session *s, const char *path,
                      const evzk_lock_options *opt, evzk_lock_cb *cb, void *arg,
                      evzk_lock **out)
{
    return evzk__lock_begin(s, &evzk__lock_kind, path, opt, cb, arg, out);
}

static int stop(struct evzk_lock *l, bool want_granted, int rc)
{
    if (!l)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&l->m))
        return EVZK_ERR_FORKED;
    if (l->m.place.ended || l->m.stopping ||
        evzk__lock_granted(l) != want_granted)
        return EVZK_ERR_STATE;
    if (want_granted)
        l->reported = REPORTED_RELEASE;
    evzk__machine_stop(&l->m, rc);
    return EVZK_OK;
}

int evzk_lock_cancel(evzk_lock *l) { return stop(l, false, EVZK_ERR_CANCELED); }

int evzk_lock_release(evzk_lock *l) { return stop(l, true, EVZK_OK); }

/* Prepares the name of the read lock's znode. */
static int prepare_swap(struct evzk_lock *l)
{
    if (!l->given)
        l->given = evzk__zalloc(sizeof *l->given);
    if (!l->given)
        return EVZK_ERR_NOMEM;
    if (evzk__lock_name(l, l->given->name, EVZK_LOCK_READ) != EVZK_OK)
        return EVZK_ERR_INTERNAL;
    sprintf(l->given->name + strlen(l->given->name), "%010" PRId32,
            l->m.place.seq);
    return EVZK_OK;
}

int evzk_lock_downgrade(evzk_lock *l)
{
    int rc;

    if (!l)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&l->m))
        return EVZK_ERR_FORKED;
    if (l->m.place.ended || l->m.stopping || !evzk__lock_granted(l) ||
        evzk_lock_mode_of(l) != EVZK_LOCK_WRITE)
        return EVZK_ERR_STATE;
    rc = prepare_swap(l);
    if (rc != EVZK_OK)
        return rc;
    l->user_asked = true;
    evzk__machine_ask(&l->m);
    return EVZK_OK;
}

int evzk_lock_upgrade(evzk_lock *l)
{
    if (!l)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&l->m))
        return EVZK_ERR_FORKED;
    return evzk_lock_mode_of(l) == EVZK_LOCK_READ ? EVZK_ERR_UPGRADE
                                                  : EVZK_ERR_STATE;
}

evzk_lock_mode evzk_lock_mode_of(const evzk_lock *l)
{
    if (!l)
        return EVZK_LOCK_EXCLUSIVE;
    return l->user_asked ? EVZK_LOCK_READ : (evzk_lock_mode)l->mode;
}

void evzk_lock_free(evzk_lock *l)
{
    if (l) {
        l->cb = NULL;
        evzk__machine_let_go(&l->m);
    }
}

bool evzk_lock_held(const evzk_lock *l)
{
    return l && evzk__lock_granted(l) && evzk__machine_sure(&l->m);
}

/* One for each grant, made when it is asked for first. */
static int make_lease(struct evzk_lock *l)
{
    struct evzk__term *term = evzk__machine_term(&l->m);

    if (!l->given)
        l->given = evzk__zalloc(sizeof *l->given);
    if (term && l->given && !l->given->lease)
        l->given->lease = evzk__view_new(term, l->token);
    return term && l->given && l->given->lease ? EVZK_OK : EVZK_ERR_NOMEM;
}

int evzk__lock_lease(struct evzk_lock *l, const char *function,
                     evzk_lease **out)
{
    struct evzk__call call =
        evzk__call_of(l ? evzk__machine_session(&l->m) : NULL, function);
    int rc;

    if (!l || evzk__broken(&call, out, "out", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&l->m))
        return EVZK_ERR_FORKED;
    if (!evzk_lock_held(l))
        return EVZK_ERR_STATE;
    rc = make_lease(l);
    if (rc == EVZK_OK)
        *out = evzk_lease_ref(l->given->lease);
    return rc;
}

int evzk_lock_lease(evzk_lock *l, evzk_lease **out)
{
    return evzk__lock_lease(l, __func__, out);
}

uint32_t evzk_lock_lease_ms(const evzk_lock *l)
{
    return evzk_lock_held(l)
               ? evzk_session_lease_ms(evzk__machine_session(&l->m))
               : 0;
}

uint64_t evzk_lock_token(const evzk_lock *l)
{
    return l && evzk__lock_granted(l) ? l->token : 0;
}

const char *evzk_lock_node(const evzk_lock *l)
{
    bool in_order =
        l && (l->m.place.where == EVZK__IN_QUEUE || l->m.place.ended);

    return in_order && l->position != POSITION_NONE ? l->own : "";
}

const char *evzk_lock_state(const evzk_lock *l)
{
    return l ? evzk__machine_state(&l->m) : "";
}
