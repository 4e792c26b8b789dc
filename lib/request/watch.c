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
#include "lib/request/core.h"

/* Freed memory is given back after so many watches. */
enum { SETTLE_EVERY = 64 };

void evzk__watch_forget(struct evzk__core *s, const char *path, bool data)
{
    if (!s->old)
        return;
    evzk__client_forget(s->old, path, data);
    if (++s->forgotten % SETTLE_EVERY == 0)
        evzk__mem_settle();
}

static bool contends(const struct evzk__place *p)
{
    return p->s->wake->marks(p) != NULL;
}

/* Those of one directory are together. */
static int compare_onlookers(const struct evzk__place *a,
                             const struct evzk__place *b)
{
    if (a->dir != b->dir)
        return (uintptr_t)a->dir < (uintptr_t)b->dir ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

RB_GENERATE_INTERNAL(evzk__onlookers, evzk__place, node, compare_onlookers,
                     __attribute__((unused)) static)

/* The count begins anew after 2^32 watches: one of then may still be there. */
static void begin_to_look(struct evzk__place *p)
{
    do
        p->seq = (int32_t)p->s->onlooked++;
    while (RB_INSERT(evzk__onlookers, &p->s->onlookers, p));
}

void evzk__watch_add(struct evzk__place *p, struct evzk__watch *w,
                     const char *name)
{
    w->name = name;
    w->is = EVZK__LISTED;
    w->round = (uint8_t)(p->s->rounds.number - 1);
    p->s->watches++;
    if (w->which >= EVZK__PATH) {
        evzk__path_watch_add(evzk__path_watch_of(w));
        return;
    }
    if (!contends(p)) {
        if (p->onlooks++ == 0)
            begin_to_look(p);
        return;
    }
    if (w->which != EVZK__PRED)
        return;
    if (p->dir->remote++ == 0)
        p->dir->watchers_unordered = false;
    evzk__queue_note_watcher(p);
}

bool evzk__watch_remove(struct evzk__place *p, struct evzk__watch *w)
{
    bool armed = evzk__watch_armed(w);

    if (!evzk__watch_listed(w))
        return false;
    w->is = EVZK__UNLISTED;
    p->s->watches--;
    if (w->which >= EVZK__PATH)
        evzk__path_watch_remove(evzk__path_watch_of(w));
    else if (contends(p))
        p->dir->remote -= w->which == EVZK__PRED;
    else if (--p->onlooks == 0)
        RB_REMOVE(evzk__onlookers, &p->s->onlookers, p);
    return armed;
}

static bool is_on(const struct evzk__watch *w, const char *name)
{
    return evzk__watch_listed(w) && strcmp(w->name, name) == 0;
}

/* The contender of ours that watches this znode of another contender. */
static struct evzk__place *watcher_of(struct evzk__dir *d, const char *name,
                                      struct evzk__place *at)
{
    struct evzk__place *p;

    if (d->remote == 0)
        return NULL;
    at = evzk__queue_behind(name, at);
    if (at && is_on(&at->pred_watch, name))
        return at;
    if (!d->watchers_unordered)
        return NULL;
    for (p = evzk__queue_first(d); p; p = evzk__queue_next(p)) {
        if (is_on(&p->pred_watch, name))
            break;
    }
    return p;
}

struct evzk__watch *evzk__watch_of(struct evzk__place *p,
                                   enum evzk__which which)
{
    struct evzk__path_watch *w;

    if (which == EVZK__OWN)
        return &p->own_watch;
    if (which == EVZK__PRED)
        return &p->pred_watch;
    w = evzk__path_watch_at(p, which - EVZK__PATH);
    return w ? &w->w : NULL;
}

const char *evzk__watch_path(struct evzk__place *p, struct evzk__watch *w,
                             char *to)
{
    if (w->which >= EVZK__PATH)
        return evzk__path_watch_path(evzk__path_watch_of(w), to);
    return evzk__path_in(to, p->dir->path, w->name);
}

bool evzk__watch_of_data(struct evzk__watch *w)
{
    if (w->which >= EVZK__PATH)
        return !evzk__path_watch_of(w)->children;
    return w->which == EVZK__OWN;
}

static struct evzk__place *first_onlooker(const struct evzk__core *s,
                                          struct evzk__dir *d)
{
    struct evzk__place key = {.dir = d, .seq = INT32_MIN}, *p;
    struct evzk__onlookers all = s->onlookers; /* Its root alone. */

    p = RB_NFIND(evzk__onlookers, &all, &key);
    return p && p->dir == d ? p : NULL;
}

static struct evzk__place *next_onlooker(struct evzk__place *p)
{
    struct evzk__place *next = RB_NEXT(evzk__onlookers, NULL, p);

    return next && next->dir == p->dir ? next : NULL;
}

struct evzk__watch *evzk__watch_find(const struct evzk__core *s,
                                     struct evzk__dir *d, const char *name,
                                     enum evzk__which which)
{
    struct evzk__place *at = evzk__queue_seek(d, name),
                       *p = first_onlooker(s, d);

    for (; p; p = next_onlooker(p)) {
        if (is_on(evzk__watch_of(p, which), name))
            return evzk__watch_of(p, which);
    }
    if (which == EVZK__OWN)
        return evzk__queue_is_named(at, name) &&
                       evzk__watch_listed(&at->own_watch)
                   ? &at->own_watch
                   : NULL;
    p = watcher_of(d, name, at);
    return p ? &p->pred_watch : NULL;
}

bool evzk__watch_is_on(struct evzk__watch *w, const char *name, bool children)
{
    if (w->which < EVZK__PATH)
        return strcmp(w->name, name) == 0;
    return evzk__path_watch_of(w)->children == children &&
           evzk__path_watch_is_on(evzk__path_watch_of(w), name);
}

void evzk__watch_asked(struct evzk__place *p, struct evzk__watch *w,
                       const char *name, bool children)
{
    bool stands = evzk__watch_armed(w) && evzk__watch_is_on(w, name, children);

    evzk__watch_remove(p, w);
    if (w->which >= EVZK__PATH)
        evzk__path_watch_of(w)->children = children;
    evzk__watch_add(p, w, name);
    if (stands)
        w->is = EVZK__ARMED;
}

uint32_t evzk__watch_mark(struct evzk__watch *w, const struct evzk__stat *stat)
{
    int64_t zxid = evzk__watch_of_data(w) ? stat->mzxid : stat->pzxid;
    uint32_t epoch = (uint32_t)((uint64_t)zxid >> 32);
    uint32_t mark = (uint32_t)zxid ^ epoch * 2654435761u;

    return mark > EVZK__SEEN_UNKNOWN ? mark : mark + EVZK__SEEN_UNKNOWN + 1;
}

static void set_up(struct evzk__watch *w, const struct evzk__result *res)
{
    w->is = EVZK__ARMED;
    w->seen = res->rc == EVZK_ERR_NONODE ? EVZK__SEEN_ABSENT
                                         : evzk__watch_mark(w, &res->stat);
}

/* The server shows nothing of the znode.  A watch that stands since earlier may
 * be used up without a word. */
static void refused(struct evzk__place *p, struct evzk__watch *w,
                    const char *name)
{
    if (!evzk__watch_listed(w))
        evzk__watch_add(p, w, name);
    w->seen = EVZK__SEEN_UNKNOWN;
    if (!evzk__watch_armed(w))
        w->is = EVZK__HIDDEN;
}

void evzk__watch_answered(struct evzk__place *p, struct evzk__watch *w,
                          const char *name, bool set,
                          const struct evzk__result *res)
{
    /* If the watch is not listed, an earlier one has fired meanwhile. */
    if (set && !evzk__watch_listed(w))
        evzk__watch_add(p, w, name);
    if (set)
        set_up(w, res);
    else if (res->rc == EVZK_ERR_NOAUTH)
        refused(p, w, name);
    else if (res->rc == EVZK_ERR_CONNLOSS || !evzk__watch_armed(w))
        evzk__watch_remove(p, w);
}

void evzk__watch_drop_events(struct evzk__place *p, enum evzk__which which)
{
    unsigned both = (unsigned)(EVZK__NEWS_DELETED | EVZK__NEWS_CHANGED);
    struct evzk__path_watch *w;

    if (which < EVZK__PATH)
        p->news &= (uint8_t) ~(both << which);
    else if ((w = evzk__path_watch_at(p, which - EVZK__PATH)) != NULL)
        evzk__path_watch_forget(w);
}

static void path_heard(struct evzk__place *p, struct evzk__path_watch *w,
                       enum evzk__watch_event ev)
{
    p->news |= EVZK__NEWS_PATHS;
    if (ev == EVZK__DELETED)
        w->deleted = true;
    else
        w->changed = true;
}

void evzk__watch_heard(struct evzk__place *p, enum evzk__which which,
                       enum evzk__watch_event ev)
{
    unsigned news =
        ev == EVZK__DELETED ? EVZK__NEWS_DELETED : EVZK__NEWS_CHANGED;

    if (which >= EVZK__PATH)
        path_heard(p, evzk__path_watch_at(p, which - EVZK__PATH), ev);
    else
        p->news |= (uint8_t)(news << which);
    if (which == EVZK__OWN && ev == EVZK__DELETED)
        p->own_verified = false;
    p->s->wake->post(p);
}

void evzk__watch_fire(struct evzk__place *p, struct evzk__watch *w,
                      enum evzk__watch_event ev)
{
    evzk__watch_remove(p, w);
    evzk__watch_heard(p, (enum evzk__which)w->which, ev);
}

/* Does the event concern a watch on a znode itself, or on its children? */
static bool concerns(struct evzk__watch *w, enum evzk__watch_event ev)
{
    return ev == EVZK__DELETED ||
           evzk__watch_of_data(w) == (ev == EVZK__CHANGED);
}

/* When the znode has gone, its own contender hears so without a watch, too. */
static void hear(struct evzk__place *p, struct evzk__watch *w, void *event)
{
    const enum evzk__watch_event *ev = event;

    if (concerns(w, *ev))
        evzk__watch_fire(p, w, *ev);
}

static void visit_onlookers(struct evzk__core *s, struct evzk__dir *d,
                            const char *name, evzk__watch_visitor *visit,
                            void *arg)
{
    struct evzk__place *p, *next;

    for (p = first_onlooker(s, d); p; p = next) {
        bool pred = is_on(&p->pred_watch, name);

        next = next_onlooker(p);
        if (is_on(&p->own_watch, name))
            visit(p, &p->own_watch, arg);
        if (pred)
            visit(p, &p->pred_watch, arg);
    }
}

static void visit_all(struct evzk__dir *d, const char *name,
                      const struct evzk__place *but, evzk__watch_visitor *visit,
                      void *arg)
{
    struct evzk__place *p;

    for (p = evzk__queue_first(d); p; p = evzk__queue_next(p)) {
        if (p != but && is_on(&p->pred_watch, name))
            visit(p, &p->pred_watch, arg);
    }
}

/* A znode's own contender watches its data and its end; a waiter watches its
 * end. */
static void visit_in(struct evzk__core *s, struct evzk__dir *d,
                     const char *name, evzk__watch_visitor *visit, void *arg)
{
    struct evzk__place *at = evzk__queue_seek(d, name), *p;
    bool more;

    visit_onlookers(s, d, name, visit, arg);
    if (evzk__queue_is_named(at, name))
        visit(at, &at->own_watch, arg);
    p = watcher_of(d, name, at);
    more = d->watchers_unordered;
    if (p)
        visit(p, &p->pred_watch, arg);
    if (p && more)
        visit_all(d, name, p, visit, arg);
}

void evzk__watch_fired(struct evzk__core *s, struct evzk__dir *d,
                       const char *name, enum evzk__watch_event ev)
{
    visit_in(s, d, name, hear, &ev);
}

/* A path is a name in the directory above it, and a directory itself. */
static struct evzk__watch *find_in(struct evzk__core *s, const char *dir,
                                   const char *name, bool children)
{
    struct evzk__dir *d = evzk__dir_find(s, dir);

    if (!d || d->refs == 0)
        return NULL;
    return evzk__watch_find(s, d, name, children ? EVZK__PRED : EVZK__OWN);
}

/* The watch of any machine of the session on the znode at this path: on its
 * children, or on the znode itself. */
static struct evzk__watch *find_at(struct evzk__core *s, const char *path,
                                   bool children)
{
    struct evzk__path_watch *p = evzk__path_watch_find(s, path, children);
    struct evzk__watch *w = p ? &p->w : find_in(s, path, "", children);
    char *dir = s->requests.path[1], *name;

    if (w)
        return w;
    strcpy(dir, path);
    name = strrchr(dir, '/');
    *name++ = '\0';
    return find_in(s, dir, name, children);
}

/* The heir may be about to hear that the server refuses its own watch: it has
 * this one then. */
int evzk__watch_take_off(struct evzk__core *s, struct evzk__slot *slot,
                         const char *dir, const char *path, bool data)
{
    struct evzk__watch *heir = find_at(s, path, !data);

    if (!heir)
        return evzk__client_unwatch(slot, path, data);
    if (!evzk__watch_armed(heir))
        heir->seen = EVZK__SEEN_UNKNOWN;
    heir->is = EVZK__ARMED;
    return evzk__client_sync(slot, dir);
}

static void visit_path(const struct evzk__core *s, const char *path,
                       evzk__watch_visitor *visit, void *arg)
{
    struct evzk__path_watch *w, *next;

    for (w = evzk__path_watch_first(s, path); w; w = next) {
        next = evzk__path_watch_next(path, w);
        visit(w->place, &w->w, arg);
    }
}

static void visit_dir(struct evzk__core *s, const char *dir, const char *name,
                      evzk__watch_visitor *visit, void *arg)
{
    struct evzk__dir *d = evzk__dir_find(s, dir);

    if (d && d->refs > 0)
        visit_in(s, d, name, visit, arg);
}

void evzk__watch_visit(struct evzk__core *s, const char *path,
                       evzk__watch_visitor *visit, void *arg)
{
    char *dir = s->requests.path[1], *name;

    if (strlen(path) >= sizeof s->requests.path[1])
        return;
    visit_path(s, path, visit, arg);
    visit_dir(s, path, "", visit, arg);
    strcpy(dir, path);
    name = strrchr(dir, '/');
    if (!name)
        return;
    *name++ = '\0';
    visit_dir(s, dir, name, visit, arg);
}

void evzk__watch_fired_at(struct evzk__core *s, const char *path,
                          enum evzk__watch_event ev)
{
    evzk__watch_visit(s, path, hear, &ev);
}
