/* The session's contenders in a directory, and their watches.
 *
 * A red-black tree by sequence number: a znode is found by the number in its
 * name.  Who watches a znode that is not ours stands right behind it, so that
 * one is found the same way.
 */
#include "lib/request/own_queue.h"

#include <string.h>

#include "lib/base/order.h"
#include "lib/machine/machine.h"

static int compare_places(const struct evzk__machine *a,
                          const struct evzk__machine *b)
{
    const char *na = a->own_watch.name, *nb = b->own_watch.name;

    if (evzk__seq_before(na, a->seq, nb, b->seq))
        return -1;
    return evzk__seq_before(nb, b->seq, na, a->seq);
}

RB_GENERATE_INTERNAL(evzk__queue, evzk__machine, place, compare_places,
                     __attribute__((unused)) static)

/* The first contender at or behind a place. */
static struct evzk__machine *at_or_behind(struct evzk__dir *d, const char *name,
                                          int32_t seq)
{
    struct evzk__machine *m = RB_ROOT(&d->queue), *best = NULL;

    while (m) {
        if (evzk__seq_before(m->own_watch.name, m->seq, name, seq))
            m = RB_RIGHT(m, place);
        else {
            best = m;
            m = RB_LEFT(m, place);
        }
    }
    return best;
}

/* Where a znode stands, or would stand; NULL: behind all, or it is none. */
struct evzk__machine *evzk__queue_seek(struct evzk__dir *d, const char *name)
{
    const struct evzk__machine *any = RB_ROOT(&d->queue);
    struct evzk__contender c;

    if (!any || !evzk__contender_parse(name, any->kind->marks, &c))
        return NULL;
    return at_or_behind(d, name, c.seq);
}

bool evzk__queue_is_named(const struct evzk__machine *m, const char *name)
{
    return m && strcmp(m->own_watch.name, name) == 0;
}

/* Whom a znode's next one of ours would be. */
struct evzk__machine *evzk__queue_behind(const char *name,
                                         struct evzk__machine *at)
{
    return evzk__queue_is_named(at, name) ? RB_NEXT(evzk__queue, NULL, at) : at;
}

/* Another may have come between, or it may watch what is not right before it.
 */
void evzk__queue_note_watcher(const struct evzk__machine *m)
{
    struct evzk__dir *d = m->dir;
    const char *name = m->pred_watch.name;

    if (m->pred_watch.listed &&
        evzk__queue_behind(name, evzk__queue_seek(d, name)) != m)
        d->astray = true;
}

void evzk__queue_enter(struct evzk__machine *m, const char *name, int32_t seq)
{
    const struct evzk__machine *next;

    m->own_watch.name = name;
    m->seq = seq;
    m->placed = true;
    RB_INSERT(evzk__queue, &m->dir->queue, m);
    evzk__queue_note_watcher(m);
    next = RB_NEXT(evzk__queue, &m->dir->queue, m);
    if (next)
        evzk__queue_note_watcher(next);
}

void evzk__queue_rename(struct evzk__machine *m, char *own, const char *name,
                        int32_t seq)
{
    RB_REMOVE(evzk__queue, &m->dir->queue, m);
    strcpy(own, name);
    m->seq = seq;
    RB_INSERT(evzk__queue, &m->dir->queue, m);
    m->dir->astray = true; /* Who watches the old one is found no more. */
}

static struct evzk__machine *behind(struct evzk__machine *m)
{
    return RB_NEXT(evzk__queue, &m->dir->queue, m);
}

/* A directory may have been deleted and made again, with numbers from the
 * beginning: who stands behind is not always who waits. */
static struct evzk__machine *unfollow(struct evzk__machine *m)
{
    struct evzk__machine *next = m;

    if (!m->followed)
        return NULL;
    m->followed = false;
    do
        next = behind(next);
    while (next && next->before != m);
    if (next)
        next->before = NULL;
    return next;
}

static void be_told(struct evzk__machine *m)
{
    m->pending |= EVZK__P_BEFORE;
    m->s->wake->post(m);
}

void evzk__queue_stray(struct evzk__machine *m)
{
    if (m->before)
        m->before->followed = false;
    m->before = NULL;
}

void evzk__queue_follow(struct evzk__machine *m, struct evzk__machine *before)
{
    evzk__queue_stray(m);
    if (before) {
        unfollow(before);
        before->followed = true;
    }
    m->before = before;
    m->before_seen = false;
}

void evzk__queue_leave(struct evzk__machine *m)
{
    struct evzk__machine *next;

    if (!m->placed)
        return;
    next = unfollow(m);
    if (next) {
        next->leads = false; /* For all that it knows. */
        be_told(next);
    }
    RB_REMOVE(evzk__queue, &m->dir->queue, m);
    evzk__queue_stray(m);
    m->placed = m->leads = m->passed = false;
    evzk__queue_emptied(m->dir);
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
static void hand_on(struct evzk__machine *m)
{
    struct evzk__machine *next = m->followed ? behind(m) : NULL;

    if (!next || next->before != m || !next->before_seen)
        return;
    unfollow(m);
    next->leads = true;
    be_told(next);
}

void evzk__queue_pass(struct evzk__machine *m)
{
    if (m->pending & EVZK__P_BEFORE)
        m->leads = false; /* So it was told, and has not seen. */
    if (!m->placed || !m->leads)
        return;
    m->passed = true;
    hand_on(m);
}

void evzk__queue_seen(struct evzk__machine *m)
{
    m->before_seen = true;
    if (m->before && m->before->passed)
        hand_on(m->before);
}

/* What is sent behind its delete comes behind it. */
static bool leaves(const struct evzk__machine *m)
{
    return m->req.op == EVZK__DELETE && m->req.state == EVZK__SENT;
}

bool evzk__queue_lone(struct evzk__dir *d, const char *name)
{
    struct evzk__machine *m = RB_MAX(evzk__queue, &d->queue);
    bool found = false;

    for (; m; m = RB_PREV(evzk__queue, &d->queue, m)) {
        if (evzk__queue_is_named(m, name))
            found = true;
        else if (!leaves(m))
            return false;
    }
    return found;
}

/* The last one is looked at alone: those before it leave sooner, mostly. */
bool evzk__queue_keeps_dir(const struct evzk__dir *d)
{
    struct evzk__queue all = d->queue; /* Its root alone. */
    const struct evzk__machine *last = RB_MAX(evzk__queue, &all);

    return last && !(last->pending & EVZK__P_DELETED) &&
           (last->req.op != EVZK__DELETE || last->req.state == EVZK__IDLE);
}

/* Who waits for it watches it. */
bool evzk__queue_guarded(struct evzk__machine *m)
{
    const struct evzk__machine *next = RB_NEXT(evzk__queue, NULL, m);

    return m->own_watch.armed ||
           (next && next->before == m && next->pred_watch.armed);
}

struct evzk__machine *evzk__queue_before(struct evzk__machine *m)
{
    return m->placed ? RB_PREV(evzk__queue, &m->dir->queue, m) : NULL;
}

struct evzk__machine *evzk__queue_find(struct evzk__dir *d, const char *name)
{
    struct evzk__machine *m = evzk__queue_seek(d, name);

    return evzk__queue_is_named(m, name) ? m : NULL;
}

struct evzk__machine *evzk__queue_first(struct evzk__dir *d)
{
    return RB_MIN(evzk__queue, &d->queue);
}

struct evzk__machine *evzk__queue_next(struct evzk__machine *m)
{
    return RB_NEXT(evzk__queue, NULL, m);
}
