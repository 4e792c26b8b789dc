/* What the request layer asks of the machine that a place belongs to. */
#include "lib/machine/machine_internal.h"

#include "lib/request/path_watch.h"

static void post(struct evzk__place *p)
{
    evzk__machine_post(evzk__machine_of(p));
}

static const struct evzk__mark *marks_of(const struct evzk__place *p)
{
    return evzk__machine_of((struct evzk__place *)(uintptr_t)p)->kind->marks;
}

static struct evzk__path_watch *path_watch_of(struct evzk__place *p, unsigned i)
{
    struct evzk__machine *m = evzk__machine_of(p);
    struct evzk__path_watch *first = (void *)((char *)m + m->kind->watches_at);

    return i < m->kind->n_watches ? first + i : NULL;
}

/* Without a watch nothing tells of a znode that replaces the own one. */
static bool relies_on_look(const struct evzk__place *p)
{
    bool verified = p->own_verified && !evzk__watch_armed(&p->own_watch);

    return p->req.state == EVZK__QUEUED &&
           (p->req.op == EVZK__WRITES ? p->req.proved : verified);
}

/* The machine had seen that the znode to delete is its own.  A znode of another
 * session may have this name by now: so the machine looks again. */
static void put_off(struct evzk__place *p)
{
    struct evzk__machine *m = evzk__machine_of(p);

    m->refs++;
    evzk__machine_catch_up(m);
    if (!m->place.ended && relies_on_look(p) &&
        evzk__machine_row(m)->flags & (EVZK__RETRY | EVZK__UNSENT)) {
        p->own_verified = false;
        evzk__machine_set_event(m, EVZK__ON_RECONNECTED, EVZK_OK);
        evzk__machine_repeat(m);
    }
    evzk__machine_unref(m);
}

static bool take_back(struct evzk__place *p)
{
    struct evzk__machine *m = evzk__machine_of(p);
    uint16_t epoch = m->epoch;
    bool taken;

    m->refs++;
    evzk__machine_catch_up(m);
    if (!m->place.ended && p->req.state == EVZK__QUEUED && m->epoch == epoch)
        evzk__machine_take_back(m);
    taken = m->place.ended || m->epoch != epoch;
    evzk__machine_unref(m);
    return taken;
}

const struct evzk__wake evzk__machine_wake = {post, marks_of, path_watch_of,
                                              put_off, take_back};
