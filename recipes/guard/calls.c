/* The calls of evzk/guard.h. */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "recipes/guard/guard_internal.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"

const char *evzk_guard_outcome_name(evzk_guard_outcome outcome)
{
    switch (outcome) {
    case EVZK_GUARD_DONE:
        return "DONE";
    case EVZK_GUARD_REFUSED:
        return "REFUSED";
    case EVZK_GUARD_FAILED:
        return "FAILED";
    case EVZK_GUARD_UNKNOWN:
        return "UNKNOWN";
    }
    return "?";
}

/* What the write rests on: the lock, or that of the candidate; or NULL. */
static const struct evzk_lock *lock_by(const evzk_guard_by *by)
{
    return by->candidate ? evzk__election_lock(by->candidate) : by->lock;
}

static bool is_bad_by(const struct evzk__call *call, const evzk_session *s,
                      const evzk_guard_by *by)
{
    const struct evzk_lock *l;

    if (evzk__broken(call, by, "by", EVZK__NOT_NULL) ||
        evzk__broken(call, !by->lock + !by->candidate + !by->path == 2, "by",
                     "must have a lock, a candidate or a path, and one only") ||
        evzk__broken_reserved(call, by->reserved))
        return true;
    l = lock_by(by);
    if (l)
        return evzk__broken(
            call, l->m.place.ended || evzk__machine_session(&l->m) == s, "by",
            "must be of this session");
    return evzk__broken_path(call, "path", by->path);
}

static bool is_write(const evzk_guard_op *op)
{
    return op->verb == EVZK_GUARD_CREATE || op->verb == EVZK_GUARD_SET;
}

static bool is_bad_op(const struct evzk__call *call, const evzk_guard_op *op)
{
    bool creates = op->verb == EVZK_GUARD_CREATE;

    return evzk__broken(call,
                        op->verb >= EVZK_GUARD_CREATE &&
                            op->verb <= EVZK_GUARD_CHECK,
                        "verb", "must be one of EVZK_GUARD_*") ||
           evzk__broken_path(call, "ops", op->path) ||
           evzk__broken(call, !creates || op->version == 0, "version",
                        "must be 0 for a create") ||
           evzk__broken(call, creates || !op->ephemeral, "ephemeral",
                        "is for a create only") ||
           evzk__broken(call, is_write(op) || !op->data, "data",
                        "is for a create or a set only") ||
           evzk__broken_data(call, op->data, op->data_len,
                             EVZK_GUARD_DATA_MAX) ||
           evzk__broken(call, creates || !op->acl_count, "acl",
                        "is for a create only") ||
           evzk__broken_acl(call, op->acl, op->acl_count);
}

/* How long an operation is in the request. */
static size_t bytes_of(const evzk_session *s, const evzk_guard_op *op)
{
    size_t n = op->data_len + evzk__path_bytes(s, op->path);

    return op->verb == EVZK_GUARD_CREATE
               ? n + evzk__acl_bytes(s, op->acl, op->acl_count)
               : n;
}

static bool are_bad_ops(const struct evzk__call *call, const evzk_session *s,
                        const evzk_guard_op *ops, size_t n)
{
    size_t bytes = 0;

    if (evzk__broken(call, ops, "ops", EVZK__NOT_NULL) ||
        evzk__broken(call, n >= 1 && n <= EVZK_GUARD_OPS_MAX, "n",
                     "must be 1 to EVZK_GUARD_OPS_MAX"))
        return true;
    for (size_t i = 0; i < n; i++) {
        if (is_bad_op(call, &ops[i]))
            return true;
        bytes += bytes_of(s, &ops[i]);
    }
    return evzk__broken(call, bytes <= EVZK_GUARD_DATA_MAX, "ops",
                        "must have EVZK_GUARD_DATA_MAX bytes at most");
}

static bool is_bad(const struct evzk__call *call, const evzk_session *s,
                   const evzk_guard_by *by, const evzk_guard_op *ops, size_t n,
                   const evzk_guard_options *opt)
{
    return is_bad_by(call, s, by) || are_bad_ops(call, s, ops, n) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static const uint8_t verbs[] = {[EVZK_GUARD_CREATE] = EVZK__STEP_CREATE,
                                [EVZK_GUARD_SET] = EVZK__STEP_SET,
                                [EVZK_GUARD_DELETE] = EVZK__STEP_DELETE,
                                [EVZK_GUARD_CHECK] = EVZK__STEP_CHECK};

static int take_op(struct evzk_guard *g, size_t i, const evzk_guard_op *op)
{
    struct evzk__step *step = &g->step[EVZK__GUARD_OPS + i];
    int rc = evzk__acl_copy(&g->acls[i], op->acl, op->acl_count);

    if (rc != EVZK_OK)
        return rc;
    *step = (struct evzk__step){
        .verb = verbs[op->verb],
        .mode = op->ephemeral ? EVZK__EPHEMERAL : EVZK__PERSISTENT,
        .versioned = op->verb != EVZK_GUARD_CREATE && op->version != -1,
        .version = op->version,
        .name = evzk__strdup(op->path),
        .data = op->data ? evzk__memdup(op->data, op->data_len) : NULL,
        .len = (uint32_t)op->data_len,
        .acl = g->acls[i].v,
        .acl_count = g->acls[i].n};
    return step->name && (step->data || !op->data) ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int take_names(struct evzk_guard *g, const char *guard)
{
    if (evzk__guid(g->receipt) != EVZK_OK || evzk__guid(g->nobody) != EVZK_OK)
        return EVZK_ERR_INTERNAL;
    strcat(g->receipt, EVZK__GUARD_RECEIPT);
    g->guard = evzk__strdup(guard);
    g->step[EVZK__GUARD_CHECK_IT] =
        (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = g->guard};
    return g->guard ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int take(struct evzk_guard *g, const char *guard,
                const evzk_guard_op *ops, size_t n,
                const evzk_guard_options *opt)
{
    int rc = take_names(g, guard);

    g->n = n;
    g->failed = n;
    g->outcome = EVZK_GUARD_FAILED;
    g->acls = evzk__zalloc(n * sizeof g->acls[0]);
    g->versions = evzk__zalloc(n * sizeof g->versions[0]);
    if (rc == EVZK_OK && (!g->acls || !g->versions))
        rc = EVZK_ERR_NOMEM;
    if (rc == EVZK_OK)
        rc = evzk__acl_copy(&g->acl, opt->acl, opt->acl_count);
    for (size_t i = 0; rc == EVZK_OK && i < n; i++)
        rc = take_op(g, i, &ops[i]);
    if (rc == EVZK_OK)
        evzk__guard_foretell(g);
    return rc;
}

struct asked {
    evzk_session *s;
    const evzk_guard_op *ops;
    size_t n;
    const evzk_guard_options *opt;
};

static int start_in(const struct asked *a, const char *dir, const char *name,
                    struct evzk_guard *g)
{
    int rc = take(g, name, a->ops, a->n, a->opt);

    if (rc == EVZK_OK)
        rc = evzk__machine_init(&g->m, a->s, &evzk__guard_kind, dir,
                                a->opt->timeout_ms);
    if (rc != EVZK_OK)
        evzk__guard_destroy(&g->m);
    return rc;
}

/* The directory of a path is all before the last slash: "" is the root. */
static int start(const struct asked *a, const char *path, struct evzk_guard *g)
{
    const char *last = path ? strrchr(path, '/') : NULL;
    char *dir = last ? evzk__memdup(path, (size_t)(last - path)) : NULL;
    int rc = EVZK_ERR_NOMEM;

    if (dir)
        rc = start_in(a, dir, last + 1, g);
    else
        evzk__guard_destroy(&g->m);
    evzk__free(dir);
    return rc;
}

static bool is_over(const struct evzk_lock *l)
{
    return l->m.place.ended || l->m.stopping || !evzk__lock_granted(l) ||
           l->reported == REPORTED_LOST;
}

int evzk_guard_write(evzk_session *s, const evzk_guard_by *by,
                     const evzk_guard_op *ops, size_t n,
                     const evzk_guard_options *opt, evzk_guard_cb *cb,
                     void *arg, evzk_guard **out)
{
    static const evzk_guard_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct asked asked = {s, ops, n, opt ? opt : &none};
    const struct evzk_lock *l;
    struct evzk_guard *g;
    char *path;
    int rc;

    if (evzk__broken_start(&call, s, "/any", cb != NULL, out != NULL) ||
        is_bad(&call, s, by, ops, n, asked.opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    l = lock_by(by);
    if (l && is_over(l))
        return EVZK_ERR_STATE;
    g = evzk__zalloc(sizeof *g + (n + EVZK__GUARD_OPS) * sizeof g->step[0]);
    if (!g)
        return EVZK_ERR_NOMEM;
    g->cb = cb;
    g->arg = arg;
    path = l ? evzk__join(evzk__machine_path(&l->m), l->own)
             : evzk__strdup(by->path);
    rc = start(&asked, path, g);
    evzk__free(path);
    if (rc == EVZK_OK)
        *out = g;
    return rc;
}

int evzk_guard_cancel(evzk_guard *g)
{
    if (g && g->told && !evzk__machine_in_child(&g->m))
        return EVZK_ERR_STATE;
    return g ? evzk__machine_cancel(&g->m) : EVZK_ERR_INVAL;
}

void evzk_guard_free(evzk_guard *g)
{
    if (g) {
        g->cb = NULL;
        evzk__machine_let_go(&g->m);
    }
}

const char *evzk_guard_state(const evzk_guard *g)
{
    return g ? evzk__machine_state(&g->m) : "";
}
