/* The looks under way: see look.h.
 *
 * A look whose answer was lost goes again, as the same request: so the session
 * finds out if the servers hang up at it, each time (suspect.h).  Then the look
 * is barred: its path is not looked at for some minutes. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/look.h"

enum { AT_ONCE = 64, BARRED_US = 600 * 1000 * 1000 };

struct evzk__look {
    LIST_ENTRY(evzk__look) link;
    struct evzk__core *s;
    struct evzk__request req;
    int64_t barred_until;
    char path[];
};

void evzk__look_new_round(struct evzk__core *s) { s->rounds.number++; }

static void forget(struct evzk__look *l)
{
    LIST_REMOVE(l, link);
    evzk__free(l);
}

static void finish(struct evzk__look *l)
{
    l->s->rounds.looks--;
    forget(l);
}

static void bar(struct evzk__look *l)
{
    l->s->rounds.looks--;
    LIST_REMOVE(l, link);
    LIST_INSERT_HEAD(&l->s->barred_looks, l, link);
    l->barred_until = evzk__now_us() + BARRED_US;
}

static void unbar(struct evzk__core *s)
{
    struct evzk__look *l = LIST_FIRST(&s->barred_looks), *next;
    int64_t now = evzk__now_us();

    for (; l; l = next) {
        next = LIST_NEXT(l, link);
        if (now >= l->barred_until)
            forget(l);
    }
}

static bool is_barred(const struct evzk__core *s, const char *path)
{
    const struct evzk__look *l = LIST_FIRST(&s->barred_looks);

    while (l && strcmp(l->path, path) != 0)
        l = LIST_NEXT(l, link);
    return l != NULL;
}

/* A watch that no machine has any more is taken off. */
static void done(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__look *l = evzk__container_of(r, struct evzk__look, req);

    if (r->leaves_watch && r->sets_watch && reply->rc != EVZK_ERR_CONNLOSS) {
        r->sets_watch = false;
        evzk__request_submit(l->s, r);
    } else if (reply->rc == EVZK_ERR_TOOLARGE)
        bar(l);
    else if (reply->rc == EVZK_ERR_CONNLOSS && !r->leaves_watch &&
             l->s->phase == EVZK__RUNNING)
        evzk__request_submit(l->s, r);
    else
        finish(l);
}

static void mark_looked(struct evzk__place *p, struct evzk__watch *w, void *arg)
{
    (void)arg;
    w->round = p->s->rounds.number;
}

/* False: no memory. */
static bool begin(struct evzk__core *s, const char *path)
{
    size_t len = strlen(path);
    bool barred = is_barred(s, path);
    struct evzk__look *l = barred ? NULL : evzk__zalloc(sizeof *l + len + 1);

    if (!l && !barred)
        return false;
    evzk__watch_visit(s, path, mark_looked, NULL);
    if (barred)
        return true;
    memcpy(l->path, path, len);
    l->s = s;
    l->req.op = EVZK__LOOK;
    l->req.name = l->path;
    l->req.done = done;
    LIST_INSERT_HEAD(&s->looks, l, link);
    s->rounds.looks++;
    evzk__request_submit(s, &l->req);
    return true;
}

/* A contender trusts the watch on its own znode, and on one that is of another
 * of ours, unless they are hidden: there are thousands, and who holds or waits
 * idly costs the servers nothing. */
static bool is_due(const struct evzk__place *p, const struct evzk__watch *w)
{
    bool trusts = p->where == EVZK__IN_QUEUE && !p->looks &&
                  (w == &p->own_watch || (w == &p->pred_watch && p->before));

    return (w->is == EVZK__HIDDEN || (evzk__watch_armed(w) && !trusts)) &&
           w->round != p->s->rounds.number;
}

bool evzk__look_at(struct evzk__place *p)
{
    struct evzk__core *s = p->s;
    struct evzk__watch *w;

    unbar(s);
    for (unsigned i = 0; (w = evzk__watch_of(p, (enum evzk__which)i)); i++) {
        if (!is_due(p, w))
            continue;
        if (s->rounds.looks >= AT_ONCE ||
            !begin(s, evzk__watch_path(p, w, s->requests.path[0])))
            return false;
    }
    return true;
}

void evzk__looks_clear(struct evzk__core *s)
{
    struct evzk__look *l;

    while ((l = LIST_FIRST(&s->looks)) != NULL) {
        evzk__request_cancel(s, &l->req);
        finish(l);
    }
    while ((l = LIST_FIRST(&s->barred_looks)) != NULL)
        forget(l);
}
