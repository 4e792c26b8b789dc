/* The calls of evzk/multi_lock.h: they check, sort, note, and post an event.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/multi_lock/multi_lock_internal.h"

static bool is_bad_options(const struct evzk__call *call,
                           const evzk_multi_lock_options *opt)
{
    return evzk__broken_data(call, opt->data, opt->data_len,
                             EVZK_LOCK_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

/* Among few: each with all others. */
static bool is_twice(const evzk_multi_lock_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(parts[i].path, parts[k].path) == 0)
                return true;
        }
    }
    return false;
}

static bool is_bad_parts(const struct evzk__call *call,
                         const evzk_multi_lock_part *parts, size_t n)
{
    if (evzk__broken(call, parts, "parts", EVZK__NOT_NULL) ||
        evzk__broken(call, n >= 1 && n <= EVZK_MULTI_LOCK_MAX, "n",
                     "must be 1 to EVZK_MULTI_LOCK_MAX"))
        return true;
    for (size_t i = 0; i < n; i++) {
        if (evzk__broken_path(call, "path", parts[i].path) ||
            evzk__broken(call, (unsigned)parts[i].mode <= EVZK_LOCK_READ,
                         "mode", "must be one of EVZK_LOCK_*"))
            return true;
    }
    return evzk__broken(call, !is_twice(parts, n), "path",
                        "must not be there twice");
}

static int compare(const void *a, const void *b)
{
    const struct multi_part *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* In the order in which all multi-locks take them. */
static int take_parts(struct evzk_multi_lock *p,
                      const evzk_multi_lock_part *parts, size_t n)
{
    p->n_parts = (uint16_t)n;
    p->blame = p->n_parts;
    for (uint16_t i = 0; i < p->n_parts; i++) {
        p->part[i].all = p;
        p->part[i].index = i;
        p->part[i].mode = (uint8_t)parts[i].mode;
        p->part[i].path = evzk__strdup(parts[i].path);
        if (!p->part[i].path)
            return EVZK_ERR_NOMEM;
    }
    qsort(p->part, n, sizeof p->part[0], compare);
    return EVZK_OK;
}

static int take_options(struct evzk_multi_lock *p,
                        const evzk_multi_lock_options *opt)
{
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

static int start(evzk_session *s, const evzk_multi_lock_part *parts, size_t n,
                 const evzk_multi_lock_options *opt, struct evzk_multi_lock *p)
{
    int rc = take_parts(p, parts, n);

    if (rc == EVZK_OK)
        rc = take_options(p, opt);
    if (rc == EVZK_OK) {
        p->again = evzk__session_timer(s, evzk__multi_lock_again, p);
        rc = p->again ? EVZK_OK : EVZK_ERR_NOMEM;
    }
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&p->m, s, &evzk__multi_lock_kind,
                                p->part[0].path, opt->timeout_ms);
    if (rc != EVZK_OK)
        evzk__multi_lock_destroy(&p->m);
    return rc;
}

int evzk_multi_lock_acquire(evzk_session *s, const evzk_multi_lock_part *parts,
                            size_t n, const evzk_multi_lock_options *opt,
                            evzk_multi_lock_cb *cb, void *arg,
                            evzk_multi_lock **out)
{
    static const evzk_multi_lock_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_multi_lock *p;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken(&call, s, "session", EVZK__NOT_NULL) ||
        is_bad_parts(&call, parts, n) ||
        evzk__broken(&call, cb, "cb", EVZK__NOT_NULL) ||
        evzk__broken(&call, out, "out", EVZK__NOT_NULL) ||
        is_bad_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    p = evzk__zalloc(sizeof *p + n * sizeof p->part[0]);
    if (!p)
        return EVZK_ERR_NOMEM;
    p->cb = cb;
    p->arg = arg;
    rc = start(s, parts, n, opt, p);
    if (rc == EVZK_OK)
        *out = p;
    return rc;
}

/* A release, or a cancel: the multi-lock ends, with `rc`. */
static int leave(struct evzk_multi_lock *p, bool want_granted, int rc)
{
    if (!p)
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&p->m))
        return EVZK_ERR_FORKED;
    if (p->m.place.ended || p->m.stopping || p->leaves ||
        evzk__multi_lock_granted(p) != want_granted)
        return EVZK_ERR_STATE;
    if (want_granted)
        p->reported = MULTI_RELEASE;
    p->leaves = true;
    p->rc = rc;
    evzk__machine_ask(&p->m);
    return EVZK_OK;
}

int evzk_multi_lock_cancel(evzk_multi_lock *p)
{
    return leave(p, false, EVZK_ERR_CANCELED);
}

int evzk_multi_lock_release(evzk_multi_lock *p)
{
    return leave(p, true, EVZK_OK);
}

void evzk_multi_lock_free(evzk_multi_lock *p)
{
    if (p) {
        p->cb = NULL;
        evzk__machine_let_go(&p->m);
    }
}

bool evzk_multi_lock_held(const evzk_multi_lock *p)
{
    if (!p || p->reported != MULTI_GRANTED || p->m.stopping)
        return false;
    for (uint16_t i = 0; i < p->n_parts; i++) {
        if (!evzk_lock_held(p->part[i].lock))
            return false;
    }
    return true;
}

uint32_t evzk_multi_lock_lease_ms(const evzk_multi_lock *p)
{
    return evzk_multi_lock_held(p)
               ? evzk_session_lease_ms(evzk__machine_session(&p->m))
               : 0;
}

/* The part of this index in the caller's list, once all were granted. */
static const struct multi_part *part_of(const struct evzk_multi_lock *p,
                                        size_t index)
{
    for (uint16_t i = 0; p && evzk__multi_lock_granted(p) && i < p->n_parts;
         i++) {
        if (p->part[i].index == index)
            return &p->part[i];
    }
    return NULL;
}

uint64_t evzk_multi_lock_token(const evzk_multi_lock *p, size_t part)
{
    const struct multi_part *t = part_of(p, part);

    return t ? t->token : 0;
}

const char *evzk_multi_lock_node(const evzk_multi_lock *p, size_t part)
{
    const struct multi_part *t = part_of(p, part);

    return t && p->reported == MULTI_GRANTED ? evzk_lock_node(t->lock) : "";
}

size_t evzk_multi_lock_failed_part(const evzk_multi_lock *p)
{
    return p ? p->blame : 0;
}

const char *evzk_multi_lock_state(const evzk_multi_lock *p)
{
    return p ? evzk__machine_state(&p->m) : "";
}
