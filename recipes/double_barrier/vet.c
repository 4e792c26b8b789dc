/* A participant that wants to form a round looks at each of those that it
 * counts: does a session own the znode?
 *
 *   LISTING --> VETTING --> FORMING, or REREADING
 *      ^-----------'
 *
 * A participant's znode is ephemeral.  A znode of that name that no session
 * owns is a copy, as of a tree that was copied znode by znode, or made by hand:
 * nobody comes in with it, and it never goes by itself.  So it is not counted,
 * and the round is another one.  What a transaction checks is that a znode
 * exists; so the participant looks before.
 *
 * How it can fail.  Between this look and the transaction somebody may put a
 * copy in the place of a participant's znode: the copy is counted then.
 */
#include "recipes/double_barrier/double_barrier_internal.h"

#include <string.h>

#include "lib/base/mem.h"

static bool is_copy(const struct evzk_double_barrier *d, const char *name)
{
    for (uint32_t i = 0; d->copies && i < d->copies->n; i++) {
        if (strcmp(d->copies->name[i], name) == 0)
            return true;
    }
    return false;
}

struct evzk__contender *
evzk__double_barrier_sort(const struct evzk_double_barrier *d,
                          const struct evzk__names *names, size_t *n)
{
    size_t all, kept = 0;
    struct evzk__contender *v = evzk__round_sort(names, &all);

    for (size_t i = 0; v && i < all; i++) {
        if (!is_copy(d, v[i].name))
            v[kept++] = v[i];
    }
    *n = kept;
    return v;
}

void evzk__double_barrier_vet(struct evzk__machine *m)
{
    static const struct evzk__step exists = {.verb = EVZK__STEP_EXISTS};
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    d->forming->is_void = false;
    d->forming->rc = EVZK_OK;
    evzk__ask_each(m, &exists, d->forming->names, d->count);
}

bool evzk__double_barrier_is_copy(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_OK && reply->res->stat.owner == 0;
}

int evzk__double_barrier_note_copy(struct evzk_double_barrier *d,
                                   const char *name)
{
    uint32_t n = d->copies ? d->copies->n : 0;
    struct copies *more =
        evzk__zalloc(sizeof *more + (n + (size_t)1) * sizeof more->name[0]);

    if (!more)
        return EVZK_ERR_NOMEM;
    if (n > 0)
        memcpy(more->name, d->copies->name, n * sizeof more->name[0]);
    strcpy(more->name[n], name);
    more->n = n + 1;
    evzk__free(d->copies);
    d->copies = more;
    return EVZK_OK;
}

/* The look is void if one of them is a copy or has gone, or the connection is
 * lost. */
static int note(struct evzk_double_barrier *d, const struct evzk__reply *reply)
{
    struct forming *f = d->forming;
    bool copy = evzk__double_barrier_is_copy(reply);

    if (reply->rc == EVZK_OK && !copy)
        return EVZK_OK;
    f->is_void = true;
    if (copy)
        return evzk__double_barrier_note_copy(d, f->names[reply->part]);
    if (reply->rc == EVZK_ERR_NONODE || reply->rc == EVZK_ERR_CONNLOSS)
        return EVZK_OK;
    return reply->rc;
}

/* All are looked at. */
static int judge(struct evzk_double_barrier *d)
{
    if (d->forming->rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(&d->m);
    if (d->forming->rc != EVZK_OK)
        return d->forming->rc;
    if (d->forming->is_void)
        return evzk__machine_move(&d->m, LISTING);
    return evzk__machine_move(&d->m, d->ready_stands ? REREADING : FORMING);
}

int evzk__double_barrier_vetted(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    int rc = note(d, e->reply);

    if (d->forming->rc == EVZK_OK)
        d->forming->rc = rc;
    return e->reply->last ? judge(d) : EVZK_OK;
}
