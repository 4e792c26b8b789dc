/* What a look asks, and what its answer means: see look.h. */
#include "lib/request/look.h"

#include "lib/request/core.h"

/* All that an answer says, and what became of it. */
struct look {
    const struct evzk__result *res;
    bool set;     /* The look has set a watch, on data. */
    bool watched; /* A machine has that watch, or asks for it. */
};

/* A watch on a znode that does not exist may be used up, and the znode still
 * not exist, or again not: so such a watch is set again. */
static void note_absent(struct evzk__place *p, struct evzk__watch *w, void *arg)
{
    bool *absent = arg;

    (void)p;
    *absent = *absent || (evzk__watch_armed(w) && evzk__watch_of_data(w) &&
                          w->seen == EVZK__SEEN_ABSENT);
}

int evzk__look_send(struct evzk__core *s, struct evzk__request *r,
                    struct evzk__slot *slot)
{
    if (r->leaves_watch)
        return evzk__watch_take_off(s, slot, r->name, r->name, true);
    r->sets_watch = false;
    evzk__watch_visit(s, r->name, note_absent, &r->sets_watch);
    return evzk__client_exists(slot, r->name, r->sets_watch);
}

static bool is_news(const struct evzk__watch *w, uint32_t now)
{
    return w->is == EVZK__HIDDEN || (evzk__watch_armed(w) && w->seen != now);
}

static void compare(struct evzk__place *p, struct evzk__watch *w, void *arg)
{
    struct look *l = arg;
    bool exists = l->res->rc == EVZK_OK, data = evzk__watch_of_data(w);
    uint32_t now =
        exists ? evzk__watch_mark(w, &l->res->stat) : EVZK__SEEN_ABSENT;

    if (is_news(w, now) && exists && data && l->set) {
        w->is = EVZK__ARMED; /* The server has it. */
        w->seen = now;
        evzk__watch_heard(p, (enum evzk__which)w->which, EVZK__CHANGED);
    } else if (is_news(w, now))
        evzk__watch_fire(p, w,
                         !exists ? EVZK__DELETED
                         : data  ? EVZK__CHANGED
                                 : EVZK__CHILDREN);
    l->watched = l->watched || (data && evzk__watch_listed(w));
}

void evzk__look_answered(struct evzk__core *s, struct evzk__request *r,
                         const struct evzk__result *res)
{
    struct look l = {.res = res, .set = r->sets_watch};

    if (r->leaves_watch || (res->rc != EVZK_OK && res->rc != EVZK_ERR_NONODE))
        return;
    evzk__watch_visit(s, r->name, compare, &l);
    r->leaves_watch = l.set && !l.watched;
}
