/* The znodes in the way of a lock: which they are, and in which order. */
#include "recipes/lock/revoke_internal.h"

#include <stdlib.h>

#include "lib/base/mem.h"

static bool in_the_way(const struct evzk_lock_revoke *r,
                       const struct evzk__contender *c,
                       const struct evzk__contender *before)
{
    if (c->flags & EVZK__WAITS || c->priority < r->opt.priority)
        return false; /* Waits by priority: in no contender's way. */
    if (r->opt.mode == EVZK_LOCK_READ && (c->flags & EVZK__SHARES))
        return false;
    return !before->name || before->flags & EVZK__WAITS ||
           evzk__contender_before(c, before);
}

int evzk__revoke_room(struct evzk_lock_revoke *r, size_t n)
{
    r->v = evzk__zalloc(n * sizeof *r->v);
    r->target = evzk__zalloc(n * sizeof *r->target);
    r->names = evzk__zalloc(n * sizeof *r->names);
    r->set = evzk__zalloc(n * sizeof *r->set);
    r->index = evzk__zalloc(n * sizeof *r->index);
    return r->v && r->target && r->names && r->set && r->index ? EVZK_OK
                                                               : EVZK_ERR_NOMEM;
}

int evzk__revoke_add(struct evzk_lock_revoke *r, const char *name)
{
    r->v[r->n].node = evzk__strdup(name);
    return r->v[r->n].node ? (r->n++, EVZK_OK) : EVZK_ERR_NOMEM;
}

void evzk__revoke_clear(struct evzk_lock_revoke *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        evzk__free((char *)(uintptr_t)r->v[i].node);
        evzk__free(r->target[i].data);
    }
    r->n = 0;
    evzk__free(r->v);
    evzk__free(r->target);
    evzk__free(r->names);
    evzk__free(r->set);
    evzk__free(r->index);
    r->v = NULL;
    r->target = NULL;
    r->names = NULL;
    r->set = NULL;
    r->index = NULL;
}

static int in_order(const void *pa, const void *pb)
{
    const evzk_revoked *a = pa, *b = pb;
    struct evzk__contender ca = {0}, cb = {0};

    evzk__contender_parse(a->node, evzk__lock_all_marks, &ca);
    evzk__contender_parse(b->node, evzk__lock_all_marks, &cb);
    return evzk__contender_before(&ca, &cb) ? -1 : 1;
}

int evzk__revoke_choose(struct evzk_lock_revoke *r,
                        const struct evzk__names *names)
{
    const struct evzk__mark *marks = evzk__lock_marks_for(r->opt.dialect);
    struct evzk__contender c, before = {0};
    int rc = evzk__revoke_room(r, names->n);

    if (r->before)
        evzk__contender_parse(r->before, evzk__lock_all_marks, &before);
    for (size_t i = 0; i < names->n && rc == EVZK_OK; i++) {
        if (evzk__contender_parse(names->v[i], marks, &c) &&
            in_the_way(r, &c, &before))
            rc = evzk__revoke_add(r, names->v[i]);
    }
    if (r->n > 1)
        qsort(r->v, r->n, sizeof *r->v, in_order);
    return rc;
}
