/* The session's contenders in a directory, and their watches.
 *
 * A red-black tree by sequence number: a znode is found by the number in its
 * name.  A contender that watches a znode of another session stands right
 * behind that znode, and is found the same way.
 */
#include "lib/request/own_queue.h"

#include <string.h>

#include "lib/base/order.h"
#include "lib/request/core.h"

static int compare_places(const struct evzk__place *a,
                          const struct evzk__place *b)
{
    const char *na = a->own_watch.name, *nb = b->own_watch.name;

    if (evzk__seq_before(na, a->seq, nb, b->seq))
        return -1;
    return evzk__seq_before(nb, b->seq, na, a->seq);
}

RB_GENERATE_INTERNAL(evzk__queue, evzk__place, node, compare_places,
                     __attribute__((unused)) static)

/* The first contender at or behind a place. */
static struct evzk__place *at_or_behind(struct evzk__dir *d, const char *name,
                                        int32_t seq)
{
    struct evzk__place *p = RB_ROOT(&d->queue), *best = NULL;

    while (p) {
        if (evzk__seq_before(p->own_watch.name, p->seq, name, seq))
            p = RB_RIGHT(p, node);
        else {
            best = p;
            p = RB_LEFT(p, node);
        }
    }
    return best;
}

static bool read_name(struct evzk__dir *d, const char *name,
                      struct evzk__contender *c)
{
    const struct evzk__place *any = RB_ROOT(&d->queue);

    return any && evzk__contender_parse(name, any->s->wake->marks(any), c);
}

/* The first of our contenders at or behind a znode's number. */
struct evzk__place *evzk__queue_seek(struct evzk__dir *d, const char *name)
{
    struct evzk__contender c;

    return read_name(d, name, &c) ? at_or_behind(d, name, c.seq) : NULL;
}

bool evzk__queue_is_named(const struct evzk__place *p, const char *name)
{
    return p && strcmp(p->own_watch.name, name) == 0;
}

/* The contender at `at` may have the znode itself: then the next one is behind.
 */
struct evzk__place *evzk__queue_behind(const char *name, struct evzk__place *at)
{
    return evzk__queue_is_named(at, name) ? RB_NEXT(evzk__queue, NULL, at) : at;
}

/* Numbers go round.  A znode by hand may be so far before its watcher that it
 * is behind those that come after the watcher. */
static bool is_far(const struct evzk__place *p, const struct evzk__contender *c)
{
    return (uint32_t)p->seq - (uint32_t)c->seq > UINT32_C(1) << 30;
}

/* A contender may have come between the watcher and the znode that it watches;
 * or the watcher may watch a znode that is not right before it.
 */
void evzk__queue_note_watcher(const struct evzk__place *p)
{
    struct evzk__dir *d = p->dir;
    const char *name = p->pred_watch.name;
    struct evzk__contender c;

    if (evzk__watch_listed(&p->pred_watch) &&
        (!read_name(d, name, &c) || is_far(p, &c) ||
         evzk__queue_behind(name, at_or_behind(d, name, c.seq)) != p))
        d->watchers_unordered = true;
}

void evzk__queue_enter(struct evzk__place *p, const char *name, int32_t seq)
{
    const struct evzk__place *next;

    p->own_watch.name = name;
    p->seq = seq;
    p->where = EVZK__IN_QUEUE;
    RB_INSERT(evzk__queue, &p->dir->queue, p);
    evzk__queue_note_watcher(p);
    next = RB_NEXT(evzk__queue, &p->dir->queue, p);
    if (next)
        evzk__queue_note_watcher(next);
}

void evzk__queue_rename(struct evzk__place *p, char *own, const char *name,
                        int32_t seq)
{
    RB_REMOVE(evzk__queue, &p->dir->queue, p);
    strcpy(own, name);
    p->seq = seq;
    RB_INSERT(evzk__queue, &p->dir->queue, p);
    p->dir->watchers_unordered = true; /* A watcher of the old znode cannot be
                              found by number any more. */
}

static struct evzk__place *behind(struct evzk__place *p)
{
    return RB_NEXT(evzk__queue, &p->dir->queue, p);
}

/* A directory may have been deleted and made again, with numbers from the
 * beginning: the contender right behind is not always the follower. */
static struct evzk__place *unfollow(struct evzk__place *p)
{
    struct evzk__place *next = p;

    if (!p->followed)
        return NULL;
    p->followed = false;
    do
        next = behind(next);
    while (next && next->before != p);
    if (next)
        next->before = NULL;
    return next;
}

static void be_told(struct evzk__place *p)
{
    p->news |= EVZK__NEWS_BEFORE;
    p->s->wake->post(p);
}

void evzk__queue_unfollow(struct evzk__place *p)
{
    if (p->before)
        p->before->followed = false;
    p->before = NULL;
}

void evzk__queue_follow(struct evzk__place *p, struct evzk__place *before)
{
    evzk__queue_unfollow(p);
    if (before) {
        unfollow(before);
        before->followed = true;
    }
    p->before = before;
    p->before_seen = false;
}

void evzk__queue_remove(struct evzk__place *p)
{
    struct evzk__place *next;

    if (p->where != EVZK__IN_QUEUE)
        return;
    next = unfollow(p);
    if (next) {
        next->rank = EVZK__BEHIND; /* As far as it knows. */
        be_told(next);
    }
    RB_REMOVE(evzk__queue, &p->dir->queue, p);
    evzk__queue_unfollow(p);
    p->where = EVZK__NOWHERE;
    p->rank = EVZK__BEHIND;
    evzk__queue_emptied(p->dir);
}

void evzk__queue_emptied(struct evzk__dir *d)
{
    if (!d->made_by_us || d->coming > 0 || !RB_EMPTY(&d->queue))
        return;
    d->made_by_us = false; /* The directory may go now, and another client may
                        make it anew. */
    d->check_empty = true;
}

/* The follower waits until it has read this contender's znode, and has seen
 * that our session owns it: another client may have made a znode of that name.
 * If another of our contenders has come between, the follower hears when the
 * znode has gone. */
static void hand_on(struct evzk__place *p)
{
    struct evzk__place *next = p->followed ? behind(p) : NULL;

    if (!next || next->before != p || !next->before_seen)
        return;
    unfollow(p);
    next->rank = EVZK__LEADS;
    be_told(next);
}

void evzk__queue_hand_over(struct evzk__place *p)
{
    if (p->news & EVZK__NEWS_BEFORE)
        p->rank = EVZK__BEHIND; /* Was told so, and has not looked yet. */
    if (p->where != EVZK__IN_QUEUE || p->rank == EVZK__BEHIND)
        return;
    p->rank = EVZK__PASSED;
    hand_on(p);
}

void evzk__queue_seen(struct evzk__place *p)
{
    p->before_seen = true;
    if (p->before && p->before->rank == EVZK__PASSED)
        hand_on(p->before);
}

/* Its delete was sent: all that is sent later reaches the server later. */
static bool leaves(const struct evzk__place *p)
{
    return p->req.op == EVZK__DELETE && p->req.state == EVZK__SENT;
}

bool evzk__queue_lone(struct evzk__dir *d, const char *name)
{
    struct evzk__place *p = RB_MAX(evzk__queue, &d->queue);
    bool found = false;

    for (; p; p = RB_PREV(evzk__queue, &d->queue, p)) {
        if (evzk__queue_is_named(p, name))
            found = true;
        else if (!leaves(p))
            return false;
    }
    return found;
}

/* Looks at the last contender only: the others mostly leave sooner. */
bool evzk__queue_keeps_dir(const struct evzk__dir *d)
{
    struct evzk__queue all = d->queue; /* Copies the root only. */
    const struct evzk__place *last = RB_MAX(evzk__queue, &all);

    return last && !(last->news & EVZK__NEWS_DELETED) &&
           (last->req.op != EVZK__DELETE || last->req.state == EVZK__IDLE);
}

/* The follower watches the znode. */
bool evzk__queue_guarded(struct evzk__place *p)
{
    const struct evzk__place *next = RB_NEXT(evzk__queue, NULL, p);

    return evzk__watch_armed(&p->own_watch) ||
           (next && next->before == p && evzk__watch_armed(&next->pred_watch));
}

struct evzk__place *evzk__queue_before(struct evzk__place *p)
{
    return p->where == EVZK__IN_QUEUE ? RB_PREV(evzk__queue, &p->dir->queue, p)
                                      : NULL;
}

struct evzk__place *evzk__queue_find(struct evzk__dir *d, const char *name)
{
    struct evzk__place *p = evzk__queue_seek(d, name);

    return evzk__queue_is_named(p, name) ? p : NULL;
}

struct evzk__place *evzk__queue_first(struct evzk__dir *d)
{
    return RB_MIN(evzk__queue, &d->queue);
}

struct evzk__place *evzk__queue_next(struct evzk__place *p)
{
    return RB_NEXT(evzk__queue, NULL, p);
}
