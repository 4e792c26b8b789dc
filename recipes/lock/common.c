/* Used by all blocks of rows of a lock: the events to the application, the data
 * of znodes, and how a held lock comes into doubt and ends. */
#include "recipes/lock/states.h"

#include <string.h>

#include "lib/base/view.h"
#include "recipes/parts/dialect.h"

static bool is_final(evzk_lock_event ev)
{
    return ev >= EVZK_LOCK_RELEASED && ev <= EVZK_LOCK_FAILED;
}

static bool told_end(const struct evzk_lock *l)
{
    return l->reported == REPORTED_FAILED || l->reported == REPORTED_LOST;
}

static bool may_tell(const struct evzk_lock *l, evzk_lock_event ev)
{
    if (told_end(l))
        return (int)ev == LOCK_GONE;
    return is_final(ev) || evzk__may_tell(evzk__machine_session(&l->m));
}

/* May free the lock: touch nothing after. */
void evzk__lock_tell(struct evzk_lock *l, evzk_lock_event ev, int rc)
{
    evzk_session *s = evzk__machine_session(&l->m);
    int64_t begun = evzk__machine_call_out(s);

    if (l->cb && may_tell(l, ev))
        l->cb(l, ev, rc, l->arg);
    evzk__machine_called(s, begun);
}

void evzk__lock_tell_end(struct evzk_lock *l, int rc)
{
    evzk_lock_event ev = EVZK_LOCK_FAILED;

    if (l->reported == REPORTED_RELEASE)
        ev = EVZK_LOCK_RELEASED;
    else if (evzk__lock_granted(l))
        ev = EVZK_LOCK_LOST;
    if (told_end(l) && l->tells_gone && l->m.place.ended)
        ev = (evzk_lock_event)LOCK_GONE;
    evzk__lock_tell(l, ev, rc);
}

/* Reports the end now; the work on the server goes on. */
void evzk__lock_end_early(struct evzk_lock *l, int rc)
{
    evzk__lock_tell_end(l, rc);
    l->reported = evzk__lock_granted(l) ? REPORTED_LOST : REPORTED_FAILED;
}

int evzk__lock_lose(struct evzk_lock *l, int rc)
{
    evzk__machine_stop(&l->m, rc);
    evzk__lock_end_early(l, rc);
    return EVZK_OK;
}

int evzk__lock_break(struct evzk_lock *l)
{
    l->may_stand = false;
    evzk__own_gone(&l->m);
    return evzk__machine_finish(&l->m, EVZK_ERR_NODEGONE);
}

void evzk__lock_suspend(struct evzk_lock *l, bool first)
{
    l->own_hidden = false; /* May be readable again. */
    if (first)
        evzk__lock_tell(l, EVZK_LOCK_SUSPENDED, EVZK_OK);
}

void evzk__lock_over(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (l->given)
        evzk__view_end(l->given->lease);
}

struct evzk__create_args evzk__lock_args(struct evzk_lock *l)
{
    struct evzk__create_args a = evzk__default_args(&l->m, l->own);

    if (l->given && l->given->data) {
        a.data = l->given->data;
        a.len = l->given->len;
    }
    if (l->given && l->given->acl.v) {
        a.acl = l->given->acl.v;
        a.acl_count = l->given->acl.n;
    }
    a.dir = evzk__dialect_dir((evzk_dialect)l->dialect);
    return a;
}

evzk_lock_mode evzk__lock_mode_named(const struct evzk__contender *c)
{
    if (c->flags & EVZK__SHARES)
        return EVZK_LOCK_READ;
    return c->flags & (EVZK__MOVES | EVZK__WAITS) ? EVZK_LOCK_WRITE
                                                  : EVZK_LOCK_EXCLUSIVE;
}

void evzk__lock_swap(struct evzk_lock *l, bool numbered)
{
    struct evzk__create_args args = evzk__lock_args(l);
    struct evzk__swap *swap = &l->given->swap;

    swap->old = l->own;
    swap->created = l->given->name;
    swap->numbered = numbered;
    swap->version = l->own_hidden ? EVZK__ANY_VERSION : l->seen;
    swap->data = args.data;
    swap->len = args.len;
    swap->acl = args.acl;
    swap->acl_count = args.acl_count;
    evzk__swap(&l->m, swap);
}
