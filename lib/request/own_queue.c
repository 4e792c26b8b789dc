/* The session's contenders in a directory, and their watches.
 *
 * A red-black tree by sequence number: a znode is found by the number in its
 * name.  Who watches a znode that is not ours stands right behind it, so that
 * one is found the same way.
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

/* Where a znode stands, or would stand; NULL: behind all, or it is none. */
struct evzk__place *evzk__queue_seek(struct evzk__dir *d, const char *name)
{
    const struct evzk__place *any = RB_ROOT(&d->queue);
    struct evzk__contender c;

    if (!any || !evzk__contender_parse(name, any->s->wake->marks(any), &c))
        return NULL;
    return at_or_behind(d, name, c.seq);
}

bool evzk__queue_is_named(const struct evzk__place *p, const char *name)
{
    return p && strcmp(p->own_watch.name, name) == 0;
}

/* Whom a znode's next one of ours would be. */
struct evzk__place *evzk__queue_behind(const char *name, struct evzk__place *at)
{
    return evzk__queue_is_named(at, name) ? RB_NEXT(evzk__queue, NULL, at) : at;
}

/* Another may have come between, or it may watch what is not right before it.
 */
void evzk__queue_note_watcher(const struct evzk__place *p)
{
    struct evzk__dir *d = p->dir;
    const char *name = p->pred_watch.name;

    if (p->pred_watch.listed &&
        evzk__queue_behind(name, evzk__queue_seek(d, name)) != p)
        d->astray = true;
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
    p->dir->astray = true; /* Who watches the old one is found no more. */
}

static struct evzk__place *behind(struct evzk__place *p)
{
    return RB_NEXT(evzk__queue, &p->dir->queue, p);
}

/* A directory may have been deleted and made again, with numbers from the
 * beginning: who stands behind is not always who waits. */
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

void evzk__queue_stray(struct evzk__place *p)
{
    if (p->before)
        p->before->followed = false;
    p->before = NULL;
}

void evzk__queue_follow(struct evzk__place *p, struct evzk__place *before)
{
    evzk__queue_stray(p);
    if (before) {
        unfollow(before);
        before->followed = true;
    }
    p->before = before;
    p->before_seen = false;
}

void evzk__queue_leave(struct evzk__place *p)
{
    struct evzk__place *next;

    if (p->where != EVZK__IN_QUEUE)
        return;
    next = unfollow(p);
    if (next) {
        next->leads = false; /* For all that it knows. */
        be_told(next);
    }
    RB_REMOVE(evzk__queue, &p->dir->queue, p);
    evzk__queue_stray(p);
    p->where = EVZK__NOWHERE;
    p->leads = p->passed = false;
    evzk__queue_emptied(p->dir);
}

void evzk__queue_emptied(struct evzk__dir *d)
{
    if (!d->ours || d->coming > 0 || !RB_EMPTY(&d->queue))
        return;
    d->ours = false; /* It may go away now, and another's come. */
    d->untidy = true;
}

/* Until the next one has read this one's znode, and seen that it is its own, it
 * waits: another's may stand there.  Another of ours may have come between:
 * then it hears when the znode has gone. */
static void hand_on(struct evzk__place *p)
{
    struct evzk__place *next = p->followed ? behind(p) : NULL;

    if (!next || next->before != p || !next->before_seen)
        return;
    unfollow(p);
    next->leads = true;
    be_told(next);
}

void evzk__queue_pass(struct evzk__place *p)
{
    if (p->news & EVZK__NEWS_BEFORE)
        p->leads = false; /* So it was told, and has not seen. */
    if (p->where != EVZK__IN_QUEUE || !p->leads)
        return;
    p->passed = true;
    hand_on(p);
}

void evzk__queue_seen(struct evzk__place *p)
{
    p->before_seen = true;
    if (p->before && p->before->passed)
        hand_on(p->before);
}

/* What is sent behind its delete comes behind it. */
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

/* The last one is looked at alone: those before it leave sooner, mostly. */
bool evzk__queue_keeps_dir(const struct evzk__dir *d)
{
    struct evzk__queue all = d->queue; /* Its root alone. */
    const struct evzk__place *last = RB_MAX(evzk__queue, &all);

    return last && !(last->news & EVZK__NEWS_DELETED) &&
           (last->req.op != EVZK__DELETE || last->req.state == EVZK__IDLE);
}

/* Who waits for it watches it. */
bool evzk__queue_guarded(struct evzk__place *p)
{
    const struct evzk__place *next = RB_NEXT(evzk__queue, NULL, p);

    return p->own_watch.armed ||
           (next && next->before == p && next->pred_watch.armed);
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
