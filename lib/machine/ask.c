/* What a machine asks of the server, and its watches.
 *
 * A machine has one request under way at most, embedded in it, so that asking
 * takes no memory.  A watch that nobody needs any more is taken off with the
 * request that comes next, or, of a machine that has ended, with one of its
 * own; else it would stay on the server for as long as the session lives.
 */
#include "lib/machine/machine.h"
#include "lib/request/create_order.h"
#include "lib/request/watch.h"
#include "lib/session/connection.h"

static void ask(struct evzk__machine *m, enum evzk__op op, const char *name)
{
    m->req.op = (uint8_t)op;
    m->req.dir = m->dir;
    m->req.name = name;
    evzk__request_submit(m->s, &m->req);
}

static void take_args(struct evzk__request *r,
                      const struct evzk__create_args *a)
{
    r->data = a->data;
    r->len = a->len;
    r->acl = a->acl;
    r->acl_count = a->acl_count;
}

void evzk__create_list(struct evzk__machine *m,
                       const struct evzk__create_args *args)
{
    take_args(&m->req, args);
    ask(m, EVZK__CREATE_LIST, args->name); /* Written to by the answer. */
}

void evzk__swap(struct evzk__machine *m, struct evzk__swap *swap)
{
    m->req.swap = swap;
    ask(m, EVZK__SWAP, swap->own ? swap->own : swap->old);
}

void evzk__parents(struct evzk__machine *m,
                   const struct evzk__create_args *args)
{
    take_args(&m->req, args);
    ask(m, EVZK__PARENTS, NULL);
}

void evzk__look(struct evzk__machine *m, const char *name)
{
    ask(m, EVZK__LOOK, name);
}

/* A directory that is missing may be below a chroot that is missing, unless the
 * session makes its chroot. */
bool evzk__chroot_unsure(const struct evzk__machine *m)
{
    return m->s->chroot[0] && !m->s->make_chroot;
}

void evzk__look_chroot(struct evzk__machine *m) { ask(m, EVZK__CHROOT, NULL); }

int evzk__chroot_looked(const struct evzk__event *e)
{
    return e->reply->rc == EVZK_ERR_NONODE ? EVZK_ERR_NOCHROOT : e->reply->rc;
}

void evzk__list(struct evzk__machine *m) { ask(m, EVZK__LIST, NULL); }

void evzk__sync_list(struct evzk__machine *m) { ask(m, EVZK__SYNC_LIST, NULL); }

void evzk__settle_list(struct evzk__machine *m, const char *name)
{
    ask(m, EVZK__SETTLE_LIST, name);
}

void evzk__gets(struct evzk__machine *m, char *const *names, uint32_t n)
{
    m->req.names = names;
    m->req.n = n;
    ask(m, EVZK__GETS, NULL);
}

void evzk__sets(struct evzk__machine *m, const struct evzk__set *sets,
                uint32_t n)
{
    m->req.sets = sets;
    m->req.n = n;
    ask(m, EVZK__SETS, NULL);
}

void evzk__watch(struct evzk__machine *m, const char *own, bool watch_own,
                 const char *pred)
{
    m->req.own = own && watch_own ? &m->own_watch : NULL;
    m->req.pred = pred ? &m->pred_watch : NULL;
    m->req.pred_name = pred;
    ask(m, EVZK__WATCH, own);
}

void evzk__delete(struct evzk__machine *m, const char *name, const char *also)
{
    if (!also)
        evzk__queue_pass(m);
    evzk__unwatch_pred(m); /* The own one goes when the znode has gone. */
    m->req.also = also;
    ask(m, EVZK__DELETE, name);
}

void evzk__observe(struct evzk__machine *m, const char *name)
{
    m->req.own = &m->own_watch;
    m->req.pred = NULL;
    ask(m, EVZK__OBSERVE, name);
}

void evzk__roster(struct evzk__machine *m, const char *name)
{
    m->req.own = NULL;
    m->req.pred = &m->pred_watch;
    m->req.pred_name = name;
    ask(m, EVZK__ROSTER, NULL);
}

void evzk__put(struct evzk__machine *m, const struct evzk__create_args *args)
{
    take_args(&m->req, args);
    ask(m, EVZK__PUT, args->name);
}

void evzk__remove(struct evzk__machine *m, const char *name)
{
    evzk__unwatch_pred(m);
    ask(m, EVZK__REMOVE, name);
}

static unsigned changes_of(enum evzk__which which)
{
    return (unsigned)(EVZK__P_DELETED | EVZK__P_CHANGED) << which;
}

static void forget_events(struct evzk__machine *m, enum evzk__which which)
{
    m->pending &= (uint16_t)~changes_of(which);
}

bool evzk__watch_missing(const struct evzk__machine *m, enum evzk__which which)
{
    const struct evzk__watch *w =
        which == EVZK__OWN ? &m->own_watch : &m->pred_watch;

    return !w->listed && !evzk__watch_fires(m, which);
}

bool evzk__watch_fires(const struct evzk__machine *m, enum evzk__which which)
{
    return m->pending & changes_of(which);
}

void evzk__own_gone(struct evzk__machine *m)
{
    m->dir->untidy = m->dir->untidy || m->dir->ours;
    m->dir->ours = false;
}

void evzk__forget_own(struct evzk__machine *m)
{
    evzk__watch_remove(m, &m->own_watch);
    forget_events(m, EVZK__OWN);
    m->stayed = m->own_verified = false;
    evzk__queue_leave(m);
}

/* One that was watched is to be watched again, at once. */
void evzk__rename_own(struct evzk__machine *m, char *own, const char *name,
                      int32_t seq)
{
    evzk__watch_remove(m, &m->own_watch); /* It went with the old one. */
    forget_events(m, EVZK__OWN);
    m->own_verified = false;
    evzk__queue_rename(m, own, name, seq);
}

static void forget_pred(struct evzk__machine *m)
{
    forget_events(m, EVZK__PRED);
    m->pending &= (uint16_t)~EVZK__P_BEFORE;
    evzk__queue_stray(m);
}

void evzk__unwatch_pred(struct evzk__machine *m)
{
    if (evzk__watch_remove(m, &m->pred_watch))
        m->req.unwatch = m->pred_watch.name; /* With the next request. */
    forget_pred(m);
}

void evzk__unwatch_own(struct evzk__machine *m)
{
    evzk__watch_remove(m, &m->own_watch);
    m->req.own = &m->own_watch;
    ask(m, EVZK__UNWATCH, m->own_watch.name);
}

void evzk__pred_gone(struct evzk__machine *m)
{
    evzk__watch_fired(m->s, m->dir, m->req.pred_name, EVZK__DELETED);
}

/* A watch on one that leaves fires by itself. */
void evzk__lead(struct evzk__machine *m)
{
    m->leads = true;
    evzk__watch_remove(m, &m->pred_watch);
    forget_pred(m);
}

/* What a contender of our own did is true all the same. */
static void lost(struct evzk__machine *m, struct evzk__watch *w)
{
    if (evzk__watch_remove(m, w))
        evzk__watch_forget(m->s, m->dir->path, w->name, w->which == EVZK__OWN);
    forget_events(m, (enum evzk__which)w->which);
}

void evzk__watches_lost(struct evzk__machine *m)
{
    lost(m, &m->own_watch);
    lost(m, &m->pred_watch);
    m->own_verified = m->before_seen = false;
    evzk__request_no_unwatch(&m->req);
}

bool evzk__unwatch_rest(struct evzk__machine *m)
{
    const char *name = m->req.unwatch; /* Of a request that was not sent. */

    m->req.unwatch = NULL;
    m->req.own = NULL;
    if (!name && evzk__watch_remove(m, &m->pred_watch))
        name = m->pred_watch.name;
    if (!name && evzk__watch_remove(m, &m->own_watch)) {
        m->req.own = &m->own_watch;
        name = m->own_watch.name;
    }
    if (name)
        ask(m, EVZK__UNWATCH, name);
    return name != NULL;
}

void evzk__enter_queue(struct evzk__machine *m, const char *name, int32_t seq)
{
    evzk__arrival_left(m);
    evzk__queue_enter(m, name, seq);
}
