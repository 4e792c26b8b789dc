/* Watches by path: a red-black tree of all that are listed.
 *
 * A path is not put together to be compared: it is read piece by piece.  So a
 * watch takes no memory but its own, whatever its path.
 */
#include "lib/request/path_watch.h"

#include <string.h>

#include "lib/request/core.h"

/* A path in pieces, and how far it has been read. */
struct pieces {
    const char *v[3];
    unsigned at;
};

static struct pieces pieces_under(const struct evzk__path_watch *p,
                                  const char *name)
{
    const char *dir = p->place->dir->path, *chroot = p->place->s->chroot;

    if (name[0] == '\0')
        return (struct pieces){{dir, "", ""}, 0};
    if (name[0] != '/')
        return (struct pieces){{dir, "/", name}, 0};
    return (struct pieces){{chroot, name[1] || !chroot[0] ? name : "", ""}, 0};
}

static struct pieces pieces_of(const struct evzk__path_watch *p)
{
    return pieces_under(p, p->w.name);
}

static unsigned char next_char(struct pieces *p)
{
    while (*p->v[p->at] == '\0' && p->at < 2)
        p->at++;
    return *p->v[p->at] ? (unsigned char)*p->v[p->at]++ : '\0';
}

static int compare_pieces(struct pieces a, struct pieces b)
{
    unsigned char ca, cb;

    do {
        ca = next_char(&a);
        cb = next_char(&b);
    } while (ca && ca == cb);
    return (ca > cb) - (ca < cb);
}

static int compare(const struct evzk__path_watch *a,
                   const struct evzk__path_watch *b)
{
    int c = compare_pieces(pieces_of(a), pieces_of(b));

    return c ? c : (a->seq > b->seq) - (a->seq < b->seq);
}

RB_GENERATE_INTERNAL(evzk__path_watches, evzk__path_watch, node, compare,
                     __attribute__((unused)) static)

struct evzk__path_watch *evzk__path_watch_at(struct evzk__place *place,
                                             unsigned i)
{
    return place->s->wake->path_watch(place, i);
}

struct evzk__path_watch *evzk__path_watch_of(struct evzk__watch *w)
{
    return evzk__container_of(w, struct evzk__path_watch, w);
}

void evzk__path_watches_init(struct evzk__place *place)
{
    struct evzk__path_watch *p;

    for (unsigned i = 0; (p = evzk__path_watch_at(place, i)) != NULL; i++) {
        p->place = place;
        p->w.which = (uint8_t)(EVZK__PATH + i);
    }
}

void evzk__path_watch_forget(struct evzk__path_watch *p)
{
    p->deleted = p->changed = false;
}

/* The count begins anew after 2^32 watches: one of then may still be there. */
void evzk__path_watch_add(struct evzk__path_watch *p)
{
    struct evzk__core *s = p->place->s;

    do
        p->seq = s->onlooked++;
    while (RB_INSERT(evzk__path_watches, &s->path_watches, p));
}

void evzk__path_watch_remove(struct evzk__path_watch *p)
{
    RB_REMOVE(evzk__path_watches, &p->place->s->path_watches, p);
}

const char *evzk__path_watch_path(const struct evzk__path_watch *p, char *to)
{
    struct pieces all = pieces_of(p);

    strcpy(stpcpy(stpcpy(to, all.v[0]), all.v[1]), all.v[2]);
    return to;
}

struct evzk__path_watch *evzk__path_watch_first(const struct evzk__core *s,
                                                const char *path)
{
    struct pieces wanted = {{path, "", ""}, 0};
    struct evzk__path_watch *p = RB_ROOT(&s->path_watches), *found = NULL;

    while (p) {
        int c = compare_pieces(wanted, pieces_of(p));

        if (c == 0)
            found = p;
        p = c <= 0 ? RB_LEFT(p, node) : RB_RIGHT(p, node);
    }
    return found;
}

struct evzk__path_watch *evzk__path_watch_next(const char *path,
                                               struct evzk__path_watch *p)
{
    struct pieces wanted = {{path, "", ""}, 0};

    p = RB_NEXT(evzk__path_watches, NULL, p);
    return p && compare_pieces(wanted, pieces_of(p)) == 0 ? p : NULL;
}

bool evzk__path_watch_is_on(const struct evzk__path_watch *p, const char *name)
{
    return compare_pieces(pieces_of(p), pieces_under(p, name)) == 0;
}

struct evzk__path_watch *evzk__path_watch_find(const struct evzk__core *s,
                                               const char *path, bool children)
{
    struct evzk__path_watch *p = evzk__path_watch_first(s, path);

    while (p && p->children != children)
        p = evzk__path_watch_next(path, p);
    return p;
}
