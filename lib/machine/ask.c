/* What a machine asks of the server, and its watches.
 *
 * A machine has one request under way at most, embedded in it, so that asking
 * takes no memory.  A watch that is not needed any more is removed on the
 * server together with the next request.  A machine that has ended makes one
 * more request for that.  Otherwise the watch would stay on the server as long
 * as the session lives.
 */
#include "lib/machine/machine.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"
#include "lib/request/path_watch.h"
#include "lib/request/suspect.h"
#include "lib/request/watch.h"

static void ask(struct evzk__machine *m, enum evzk__op op, const char *name)
{
    m->place.req.op = (unsigned)op & EVZK__OP_MASK;
    m->place.req.dir = m->place.dir;
    m->place.req.name = name;
    evzk__request_submit(m->place.s, &m->place.req);
}

static void ask_steps(struct evzk__machine *m, const struct evzk__step *steps,
                      uint32_t n, unsigned how)
{
    struct evzk__request *r = &m->place.req;

    r->steps = steps;
    r->n = n;
    r->each = (how & EVZK__EACH) != 0;
    r->commit = (how & EVZK__COMMIT) != 0;
    r->stamp = (how & EVZK__STAMP) != 0;
    r->join = (how & EVZK__JOIN) != 0;
    r->proved = (how & EVZK__PROVED) != 0;
    r->for_each_name = r->absent = false;
    LIST_INIT(&r->followers);
    if (how & EVZK__ANEW)
        evzk__suspect_forget(r);
}

static enum evzk__op op_of(const struct evzk__step *steps, unsigned how)
{
    bool writes = steps[0].verb >= EVZK__STEP_CREATE;

    if (how & EVZK__LEFT)
        return EVZK__LEFT_WRITES;
    if (how & EVZK__SOON)
        return writes ? EVZK__SOON_WRITES : EVZK__SOON_READS;
    if (how & EVZK__EACH && !writes)
        return EVZK__EACH_READS;
    return writes ? EVZK__WRITES : EVZK__READS;
}

void evzk__ask_about(struct evzk__machine *m, const char *name,
                     const struct evzk__step *steps, uint32_t n, unsigned how)
{
    ask_steps(m, steps, n, how);
    ask(m, op_of(steps, how), name);
}

void evzk__ask(struct evzk__machine *m, const struct evzk__step *steps,
               uint32_t n, unsigned how)
{
    evzk__ask_about(m, NULL, steps, n, how);
}

void evzk__ask_each(struct evzk__machine *m, const struct evzk__step *step,
                    char *const *names, uint32_t n)
{
    ask_steps(m, step, n, EVZK__EACH);
    m->place.req.for_each_name = true;
    m->place.req.names = names;
    ask(m, op_of(step, EVZK__EACH), NULL);
}

static void take_args(struct evzk__request *r,
                      const struct evzk__create_args *a)
{
    r->data = a->data;
    r->len = a->len;
    r->acl = a->acl;
    r->acl_count = a->acl_count;
    r->keeps_dir = a->dir != EVZK__DIR_OURS;
    r->plain = a->dir == EVZK__DIR_STAYS;
}

struct evzk__create_args evzk__default_args(const struct evzk__machine *m,
                                            char *name)
{
    const struct evzk__core *s = m->place.s;

    return (struct evzk__create_args){.name = name,
                                      .data = s->data,
                                      .len = (uint32_t)s->data_len,
                                      .acl = s->acl.v,
                                      .acl_count = s->acl.n};
}

struct evzk__create_args evzk__args_with_acl(const struct evzk__machine *m,
                                             char *name,
                                             const struct evzk__acl *own)
{
    struct evzk__create_args a = evzk__default_args(m, name);

    if (own->v) {
        a.acl = own->v;
        a.acl_count = own->n;
    }
    return a;
}

void evzk__create_list(struct evzk__machine *m,
                       const struct evzk__create_args *args)
{
    take_args(&m->place.req, args);
    ask(m, EVZK__CREATE_LIST, args->name); /* The answer writes to it. */
}

void evzk__swap(struct evzk__machine *m, struct evzk__swap *swap)
{
    m->place.req.swap = swap;
    ask(m, EVZK__SWAP, swap->guard ? swap->guard : swap->old);
}

void evzk__own_dir(struct evzk__machine *m, const evzk_acl *acl,
                   uint32_t acl_count)
{
    evzk__own_dir_for(
        m, &(struct evzk__create_args){.acl = acl, .acl_count = acl_count});
}

void evzk__own_dir_for(struct evzk__machine *m,
                       const struct evzk__create_args *args)
{
    take_args(&m->place.req, args);
    ask(m, EVZK__PARENTS, "");
}

void evzk__parents(struct evzk__machine *m,
                   const struct evzk__create_args *args)
{
    take_args(&m->place.req, args);
    ask(m, EVZK__PARENTS, NULL);
}

static const struct evzk__step exists[] = {{.verb = EVZK__STEP_EXISTS}};

void evzk__exists(struct evzk__machine *m, const char *name)
{
    evzk__ask_about(m, name, exists, 1, EVZK__SOON);
}

bool evzk__looked(const struct evzk__machine *m)
{
    return m->place.req.op == EVZK__SOON_READS && m->place.req.steps == exists;
}

/* A directory that is missing may be below a chroot that is missing, unless the
 * session makes its chroot. */
bool evzk__chroot_unsure(const struct evzk__machine *m)
{
    return m->place.s->chroot[0] && !m->place.s->make_chroot;
}

void evzk__look_chroot(struct evzk__machine *m)
{
    evzk__ask_about(m, "/", exists, 1, EVZK__SOON);
}

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

void evzk__read_many(struct evzk__machine *m, char *const *names, uint32_t n)
{
    static const struct evzk__step get = {.verb = EVZK__STEP_GET};

    evzk__ask_each(m, &get, names, n);
}

void evzk__watch(struct evzk__machine *m, const char *own, bool watch_own,
                 const char *pred)
{
    m->place.req.own = own && watch_own ? &m->place.own_watch : NULL;
    m->place.req.pred = pred ? &m->place.pred_watch : NULL;
    m->place.req.pred_name = pred;
    ask(m, EVZK__WATCH, own);
}

void evzk__delete(struct evzk__machine *m, const char *name, const char *also)
{
    if (!also)
        evzk__queue_hand_over(&m->place);
    evzk__unwatch_pred(m); /* The own one goes when the znode has gone. */
    m->place.req.also = also;
    ask(m, EVZK__DELETE, name);
}

void evzk__read_and_watch(struct evzk__machine *m, const char *name)
{
    static const struct evzk__step observe[] = {
        {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        {.verb = EVZK__STEP_GET,
         .watch = EVZK__WITH(EVZK__OWN),
         .or_absent = true}};

    evzk__ask_about(m, name, observe, 2, 0);
}

void evzk__list_and_watch(struct evzk__machine *m, const char *name)
{
    static const struct evzk__step roster[] = {
        {.verb = EVZK__STEP_SYNC, .name = ""},
        {.verb = EVZK__STEP_CHILDREN, .watch = EVZK__WITH(EVZK__PRED)}};

    evzk__ask_about(m, name, roster, 2, 0);
}

void evzk__remove(struct evzk__machine *m, const char *name)
{
    static const struct evzk__step remove[] = {{.verb = EVZK__STEP_DELETE}};

    evzk__unwatch_pred(m);
    evzk__ask_about(m, name, remove, 1, EVZK__SOON);
}

static unsigned changes_of(enum evzk__which which)
{
    return (unsigned)(EVZK__NEWS_DELETED | EVZK__NEWS_CHANGED) << which;
}

static void forget_events(struct evzk__machine *m, enum evzk__which which)
{
    evzk__watch_drop_events(&m->place, which);
}

/* Also for constant machines: changes nothing. */
static const struct evzk__watch *watch_of(const struct evzk__machine *m,
                                          enum evzk__which which)
{
    return evzk__watch_of((struct evzk__place *)(uintptr_t)&m->place, which);
}

bool evzk__watch_missing(const struct evzk__machine *m, enum evzk__which which)
{
    const struct evzk__watch *w = watch_of(m, which);

    return !(w && evzk__watch_listed(w)) && !evzk__watch_fires(m, which);
}

bool evzk__watch_fires(const struct evzk__machine *m, enum evzk__which which)
{
    const struct evzk__path_watch *p;

    if (which < EVZK__PATH)
        return m->place.news & changes_of(which);
    p = evzk__path_watch_at((struct evzk__place *)(uintptr_t)&m->place,
                            which - EVZK__PATH);
    return p && (p->deleted || p->changed);
}

void evzk__watch_begins(struct evzk__machine *m, enum evzk__which which)
{
    evzk__watch_drop_events(&m->place, which);
}

void evzk__watch_doubt(struct evzk__machine *m, enum evzk__which which)
{
    struct evzk__watch *w = evzk__watch_of(&m->place, which);

    if (w)
        w->seen = EVZK__SEEN_UNKNOWN;
}

void evzk__own_gone(struct evzk__machine *m)
{
    m->place.dir->check_empty =
        m->place.dir->check_empty || m->place.dir->made_by_us;
    m->place.dir->made_by_us = false;
}

void evzk__forget_own(struct evzk__machine *m)
{
    evzk__watch_remove(&m->place, &m->place.own_watch);
    forget_events(m, EVZK__OWN);
    m->stayed = m->place.own_verified = false;
    evzk__queue_remove(&m->place);
}

/* If the old znode was watched, the new one is to be watched at once. */
void evzk__rename_own(struct evzk__machine *m, char *own, const char *name,
                      int32_t seq)
{
    evzk__watch_remove(&m->place,
                       &m->place.own_watch); /* Gone with the old znode. */
    forget_events(m, EVZK__OWN);
    m->place.own_verified = false;
    evzk__queue_rename(&m->place, own, name, seq);
}

static void forget_pred(struct evzk__machine *m)
{
    forget_events(m, EVZK__PRED);
    m->place.news &= (uint8_t)~EVZK__NEWS_BEFORE;
    evzk__queue_unfollow(&m->place);
}

void evzk__unwatch_pred(struct evzk__machine *m)
{
    if (evzk__watch_remove(&m->place, &m->place.pred_watch))
        m->place.req.unwatch =
            m->place.pred_watch.name; /* With the next request. */
    forget_pred(m);
}

void evzk__unwatch_own(struct evzk__machine *m)
{
    evzk__watch_remove(&m->place, &m->place.own_watch);
    m->place.req.own = &m->place.own_watch;
    ask(m, EVZK__UNWATCH, m->place.own_watch.name);
}

void evzk__pred_gone(struct evzk__machine *m)
{
    evzk__watch_fired(m->place.s, m->place.dir, m->place.req.pred_name,
                      EVZK__DELETED);
}

/* The watch needs no removal: it fires when the contender before leaves. */
void evzk__lead(struct evzk__machine *m)
{
    m->place.rank = EVZK__LEADS;
    evzk__watch_remove(&m->place, &m->place.pred_watch);
    forget_pred(m);
}

/* Forgets a watch that was lost with its connection.  News from contenders of
 * our own session stays true. */
static void lost(struct evzk__machine *m, struct evzk__watch *w)
{
    if (evzk__watch_remove(&m->place, w))
        evzk__watch_forget(
            m->place.s,
            evzk__watch_path(&m->place, w, m->place.s->requests.path[1]),
            evzk__watch_of_data(w));
    forget_events(m, (enum evzk__which)w->which);
}

void evzk__watches_lost(struct evzk__machine *m)
{
    struct evzk__watch *w;

    for (unsigned i = 0; (w = evzk__watch_of(&m->place, (enum evzk__which)i));
         i++)
        lost(m, w);
    m->place.own_verified = m->place.before_seen = false;
    evzk__request_no_unwatch(&m->place.req);
}

/* Takes a watch off the machine that the server still has; NULL: none is left.
 * The watch on the znode before goes first. */
static struct evzk__watch *take_any_off(struct evzk__machine *m)
{
    struct evzk__watch *w = &m->place.pred_watch;

    if (evzk__watch_remove(&m->place, w))
        return w;
    for (unsigned i = 0; (w = evzk__watch_of(&m->place, (enum evzk__which)i));
         i++) {
        if (evzk__watch_remove(&m->place, w))
            break;
    }
    return w;
}

bool evzk__unwatch_rest(struct evzk__machine *m)
{
    const char *name =
        m->place.req.unwatch; /* Of a request that was not sent. */

    m->place.req.unwatch = NULL;
    m->place.req.own = name ? NULL : take_any_off(m);
    if (m->place.req.own)
        name = m->place.req.own->name;
    if (name)
        ask(m, EVZK__UNWATCH, name);
    return name != NULL;
}

void evzk__enter_queue(struct evzk__machine *m, const char *name, int32_t seq)
{
    evzk__create_order_left(&m->place);
    evzk__queue_enter(&m->place, name, seq);
}
