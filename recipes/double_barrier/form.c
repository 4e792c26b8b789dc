/* How a participant forms a round: one transaction checks that the first
 * `count` participants are there, and writes to `ready` who they are.
 *
 * How it can fail.  A server refuses a transaction that is too long, so not all
 * are checked where `count` is great.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/double_barrier/double_barrier_internal.h"

/* All checks of a transaction together take at most so many bytes: a server
 * refuses a packet of more than 1 MiB, and breaks the connection. */
enum { CHECKS_BYTES = 256 * 1024, CHECK_BYTES = EVZK__NAME_MAX + 32 };

/* How many of the first `count` are checked: all of them, unless that makes the
 * transaction too long. */
static uint32_t checks_of(const struct evzk_double_barrier *d)
{
    size_t each = strlen(d->m.place.dir->path) + CHECK_BYTES;
    uint32_t most = (uint32_t)(CHECKS_BYTES / each);

    return d->count < most ? d->count : most;
}

static struct evzk__step ready_step(const struct evzk_double_barrier *d,
                                    const char *text, size_t len)
{
    struct evzk__create_args args = evzk__args_with_acl(&d->m, NULL, &d->acl);

    return (struct evzk__step){.verb = d->ready_stands ? EVZK__STEP_SET
                                                       : EVZK__STEP_CREATE,
                               .name = EVZK__READY,
                               .data = text,
                               .len = (uint32_t)len,
                               .versioned = d->ready_stands,
                               .version = d->ready_version,
                               .acl = args.acl,
                               .acl_count = args.acl_count};
}

/* With room for the names, and for `n` checks. */
static struct forming *new_forming(const struct evzk_double_barrier *d,
                                   uint32_t n)
{
    size_t steps = (n + (size_t)1) * sizeof(struct evzk__step);
    struct forming *f = evzk__zalloc(
        sizeof *f + steps + d->count * (sizeof *f->names + EVZK__NAME_MAX));
    char *text;

    if (!f)
        return NULL;
    f->names = (char **)&f->step[n + 1];
    text = (char *)&f->names[d->count];
    for (uint32_t i = 0; i < d->count; i++)
        f->names[i] = text + (size_t)i * EVZK__NAME_MAX;
    return f;
}

int evzk__double_barrier_prepare(struct evzk_double_barrier *d,
                                 const struct evzk__contender *v)
{
    struct evzk__round round = {.last = v[d->count - 1].seq,
                                .dir = d->dir_czxid};
    uint32_t n = checks_of(d);
    struct forming *f = new_forming(d, n);

    if (!f)
        return EVZK_ERR_NOMEM;
    for (uint32_t i = 0; i < d->count; i++)
        strcpy(f->names[i], v[i].name);
    for (uint32_t i = 0; i < n; i++)
        f->step[i] =
            (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = f->names[i]};
    strcpy(round.first, v[0].name);
    f->step[n] = ready_step(d, f->text, evzk__round_print(f->text, &round));
    f->n = n + 1;
    evzk__double_barrier_drop_forming(d);
    d->forming = f;
    return EVZK_OK;
}

/* After a loss its outcome is unknown, and does not matter: it is done only
 * while the participants that were counted stand, and no other round was said.
 */
void evzk__double_barrier_form(struct evzk__machine *m)
{
    struct forming *f = evzk__double_barrier_of(m)->forming;

    if (evzk__watch_missing(m, (enum evzk__which)ON_OWN))
        evzk__machine_move(m, LOOKING);
    else
        evzk__ask(m, f->step, f->n, EVZK__COMMIT);
}

int evzk__double_barrier_formed(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    evzk__double_barrier_drop_forming(evzk__double_barrier_of(m));
    switch (e->reply->rc) {
    case EVZK_OK:
    case EVZK_ERR_NODEEXISTS:
    case EVZK_ERR_BADVERSION:
        return evzk__machine_move(m, READING);
    case EVZK_ERR_NONODE: /* A participant has gone, or `ready` has. */
        return evzk__machine_move(m, LISTING);
    default:
        return e->reply->rc;
    }
}
