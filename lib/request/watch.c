/* The watches of a session's machines.
 *
 * A contender that watches a znode of another session stands right behind that
 * znode in the queue of its directory, so that an event finds the contender by
 * the number in the znode's name.  Machines that never contend are onlookers,
 * in a tree of their own, the machines of one directory together.
 */
#include "lib/request/watch.h"
#include "lib/request/path_watch.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/machine.h"
#include "lib/session/session.h"

/* Freed memory is given back after so many watches. */
enum { SETTLE_EVERY = 64 };

void evzk__watch_forget(evzk_session *s, const char *path, bool data)
{
    if (!s->old)
        return;
    evzk__client_forget(s->old, path, data);
    if (++s->forgotten % SETTLE_EVERY == 0)
        evzk__mem_settle();
}

/* Those of one directory are together. */
static int compare_onlookers(const struct evzk__machine *a,
                             const struct evzk__machine *b)
{
    if (a->dir != b->dir)
        return (uintptr_t)a->dir < (uintptr_t)b->dir ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

RB_GENERATE_INTERNAL(evzk__onlookers, evzk__machine, place, compare_onlookers,
                     __attribute__((unused)) static)

void evzk__watch_add(struct evzk__machine *m, struct evzk__watch *w,
                     const char *name)
{
    w->name = name;
    w->armed = false;
    w->listed = true;
    m->s->watches++;
    if (w->which >= EVZK__PATH) {
        evzk__path_watch_add(evzk__path_watch_of(w));
        return;
    }
    if (!m->kind->marks) {
        if (m->onlooks++ == 0) {
            m->seq = (int32_t)m->s->onlooked++;
            RB_INSERT(evzk__onlookers, &m->s->onlookers, m);
        }
        return;
    }
    if (w->which != EVZK__PRED)
        return;
    if (m->dir->remote++ == 0)
        m->dir->astray = false;
    evzk__queue_note_watcher(m);
}

bool evzk__watch_remove(struct evzk__machine *m, struct evzk__watch *w)
{
    bool armed = w->armed;

    if (!w->listed)
        return false;
    w->listed = w->armed = false;
    m->s->watches--;
    if (w->which >= EVZK__PATH)
        evzk__path_watch_remove(evzk__path_watch_of(w));
    else if (m->kind->marks)
        m->dir->remote -= w->which == EVZK__PRED;
    else if (--m->onlooks == 0)
        RB_REMOVE(evzk__onlookers, &m->s->onlookers, m);
    return armed;
}

static bool is_on(const struct evzk__watch *w, const char *name)
{
    return w->listed && strcmp(w->name, name) == 0;
}

/* One that watches a znode which is not its own. */
static struct evzk__machine *watcher_of(struct evzk__dir *d, const char *name,
                                        struct evzk__machine *at)
{
    struct evzk__machine *m;

    if (d->remote == 0)
        return NULL;
    at = evzk__queue_behind(name, at);
    if (at && is_on(&at->pred_watch, name))
        return at;
    if (!d->astray)
        return NULL;
    for (m = evzk__queue_first(d); m; m = evzk__queue_next(m)) {
        if (is_on(&m->pred_watch, name))
            break;
    }
    return m;
}

struct evzk__watch *evzk__watch_of(struct evzk__machine *m,
                                   enum evzk__which which)
{
    struct evzk__path_watch *p;

    if (which == EVZK__OWN)
        return &m->own_watch;
    if (which == EVZK__PRED)
        return &m->pred_watch;
    p = evzk__path_watch_at(m, which - EVZK__PATH);
    return p ? &p->w : NULL;
}

const char *evzk__watch_path(struct evzk__machine *m, struct evzk__watch *w,
                             char *to)
{
    if (w->which >= EVZK__PATH)
        return evzk__path_watch_path(evzk__path_watch_of(w), to);
    return evzk__path_in(to, m->dir->path, w->name);
}

bool evzk__watch_of_data(struct evzk__watch *w)
{
    if (w->which >= EVZK__PATH)
        return !evzk__path_watch_of(w)->children;
    return w->which == EVZK__OWN;
}

static struct evzk__machine *first_onlooker(const evzk_session *s,
                                            struct evzk__dir *d)
{
    struct evzk__machine key = {.dir = d, .seq = INT32_MIN}, *m;
    struct evzk__onlookers all = s->onlookers; /* Its root alone. */

    m = RB_NFIND(evzk__onlookers, &all, &key);
    return m && m->dir == d ? m : NULL;
}

static struct evzk__machine *next_onlooker(struct evzk__machine *m)
{
    struct evzk__machine *next = RB_NEXT(evzk__onlookers, NULL, m);

    return next && next->dir == m->dir ? next : NULL;
}

bool evzk__watch_any(const evzk_session *s, struct evzk__dir *d,
                     const char *name, enum evzk__which which)
{
    struct evzk__machine *at = evzk__queue_seek(d, name),
                         *m = first_onlooker(s, d);

    for (; m; m = next_onlooker(m)) {
        if (is_on(evzk__watch_of(m, which), name))
            return true;
    }
    if (which == EVZK__OWN)
        return evzk__queue_is_named(at, name) && at->own_watch.listed;
    return watcher_of(d, name, at) != NULL;
}

static void fire(struct evzk__machine *m, struct evzk__watch *w,
                 enum evzk__watch_event ev)
{
    evzk__watch_remove(m, w);
    m->s->wake->fired(m, (enum evzk__which)w->which, ev);
}

static void fire_all(struct evzk__dir *d, const char *name,
                     enum evzk__watch_event ev)
{
    struct evzk__machine *m;

    for (m = evzk__queue_first(d); m; m = evzk__queue_next(m)) {
        if (is_on(&m->pred_watch, name))
            fire(m, &m->pred_watch, ev);
    }
}

static void tell_onlookers(evzk_session *s, struct evzk__dir *d,
                           const char *name, enum evzk__watch_event ev)
{
    struct evzk__machine *m, *next;

    for (m = first_onlooker(s, d); m; m = next) {
        next = next_onlooker(m);
        if (ev != EVZK__CHILDREN && is_on(&m->own_watch, name))
            fire(m, &m->own_watch, ev);
        if (ev != EVZK__CHANGED && is_on(&m->pred_watch, name))
            fire(m, &m->pred_watch, ev);
    }
}

/* Data is watched by the znode's own, the end of it by who waits for it. */
void evzk__watch_fired(evzk_session *s, struct evzk__dir *d, const char *name,
                       enum evzk__watch_event ev)
{
    struct evzk__machine *at = evzk__queue_seek(d, name), *m;

    tell_onlookers(s, d, name, ev);
    if (evzk__queue_is_named(at, name) && ev != EVZK__CHILDREN)
        fire(at, &at->own_watch, ev);
    if (ev == EVZK__CHANGED)
        return;
    m = watcher_of(d, name, at);
    if (m)
        fire(m, &m->pred_watch, ev);
    if (m && d->astray)
        fire_all(d, name, ev); /* There may be more of them. */
}

/* A path is a name in the directory above it, and a directory itself. */
static bool any_in(evzk_session *s, const char *dir, const char *name,
                   bool children)
{
    struct evzk__dir *d = evzk__dir_find(s, dir);

    return d && d->refs > 0 &&
           evzk__watch_any(s, d, name, children ? EVZK__PRED : EVZK__OWN);
}

bool evzk__watch_any_at(evzk_session *s, const char *path, bool children)
{
    char *dir = s->requests.path[1], *name;

    if (evzk__path_watch_any(s, path, children) ||
        any_in(s, path, "", children))
        return true;
    strcpy(dir, path);
    name = strrchr(dir, '/');
    *name++ = '\0';
    return any_in(s, dir, name, children);
}

int evzk__watch_take_off(evzk_session *s, struct evzk__slot *slot,
                         const struct evzk__dir *d, const char *path, bool data)
{
    /* Somebody may have come to use the watch again: then only ask. */
    if (evzk__watch_any_at(s, path, !data))
        return evzk__client_sync(slot, d->path);
    return evzk__client_unwatch(slot, path, data);
}

static void fired_at(evzk_session *s, const char *dir, const char *name,
                     enum evzk__watch_event ev)
{
    struct evzk__dir *d = evzk__dir_find(s, dir);

    if (d && d->refs > 0)
        evzk__watch_fired(s, d, name, ev);
}

void evzk__watch_fired_at(evzk_session *s, const char *path,
                          enum evzk__watch_event ev)
{
    char *dir = s->requests.path[1], *name;

    if (strlen(path) >= sizeof s->requests.path[1])
        return;
    evzk__path_watches_fired(s, path, ev);
    fired_at(s, path, "", ev);
    strcpy(dir, path);
    name = strrchr(dir, '/');
    if (!name)
        return;
    *name++ = '\0';
    fired_at(s, dir, name, ev);
}
