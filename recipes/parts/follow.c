/* One znode, there or not, and every change of it; or of the names in it.
 *
 *   LOOKING <--> WATCHING      (to the end: ENDED)
 *
 * Each look is as new as the ensemble's leader, and its watch is set as it
 * reads: what changes after is heard of.
 *
 * How it can fail.  Changes that follow each other fast are seen as one.  After
 * a lost connection, and after expiry, it looks again, and tells what is there,
 * also when that is the same.
 */
#include "recipes/parts/follow.h"

#include <string.h>

#include "lib/base/mem.h"
#include "recipes/kinds.h"

struct evzk__follow {
    struct evzk__machine m;
    evzk__follow_cb *cb;
    void *arg;
    bool children; /* The names in it; else itself. */
    char name[];
};

enum { LOOKING, WATCHING, ENDED, STATES };

static struct evzk__follow *follow_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__follow, m);
}

/* May free it: touch nothing after. */
static void tell(struct evzk__follow *f, int rc, const struct evzk__result *res)
{
    if (f->cb)
        f->cb(f->arg, rc, res);
}

static bool is_deaf(const struct evzk__machine *m)
{
    const struct evzk__follow *f =
        evzk__container_of(m, const struct evzk__follow, m);

    return evzk__watch_missing(m, f->children ? EVZK__PRED : EVZK__OWN);
}

static void look(struct evzk__machine *m)
{
    struct evzk__follow *f = follow_of(m);

    if (f->children)
        evzk__roster(m, f->name);
    else
        evzk__observe(m, f->name);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc != EVZK_OK && (rc != EVZK_ERR_NONODE || follow_of(m)->children))
        return rc;
    if (is_deaf(m))
        return evzk__machine_again_later(m);
    evzk__machine_move(m, WATCHING);
    tell(follow_of(m), rc, e->reply->res);
    return EVZK_OK;
}

/* Without its watch, which went with the connection, from the beginning. */
static void wait_for(struct evzk__machine *m)
{
    if (is_deaf(m))
        evzk__machine_move(m, LOOKING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}

static void end(struct evzk__machine *m) { tell(follow_of(m), m->rc, NULL); }

static void destroy(struct evzk__machine *m) { evzk__free(follow_of(m)); }

/* clang-format off */
#define S(state, enter, react, on_stop, on_expiry, flags, next) \
    [state] = { #state, enter, react, on_stop, on_expiry, flags, next }
#define TO EVZK__TO
static const struct evzk__row rows[STATES] = {
/* state      enter     react    on stop     on expiry   flags                      may move to */
S(LOOKING,    look,     looked,  ENDED,      LOOKING,    EVZK__RETRY|EVZK__FRESH,   TO(LOOKING)|TO(WATCHING)|TO(ENDED)),
S(WATCHING,   wait_for, watched, ENDED,      LOOKING,    EVZK__RETRY|EVZK__WATCHES, TO(LOOKING)|TO(ENDED)),
S(ENDED,      end,      NULL,    EVZK__STAY, EVZK__STAY, EVZK__FINAL,               0),
};
/* clang-format on */

/* As of the observer. */
static const struct evzk__never never[] = {
    {.state = WATCHING,
     .on = EVZK__ON(EVZK__EV_REPLY) | EVZK__ON(EVZK__EV_EXPIRED)},
    {0}};

const struct evzk__kind evzk__follow_kind = {.name = "follow",
                                             .rows = rows,
                                             .n_rows = STATES,
                                             .destroy = destroy,
                                             .never = never};

static int start(evzk_session *s, const char *path, const char *name,
                 bool children, evzk__follow_cb *cb, void *arg,
                 struct evzk__follow **out)
{
    struct evzk__follow *f = evzk__zalloc(sizeof *f + strlen(name) + 1);
    int rc;

    if (!f)
        return EVZK_ERR_NOMEM;
    strcpy(f->name, name);
    f->children = children;
    f->cb = cb;
    f->arg = arg;
    rc = evzk__machine_init(&f->m, s, &evzk__follow_kind, path, 0);
    if (rc != EVZK_OK) {
        evzk__free(f);
        return rc;
    }
    *out = f;
    return EVZK_OK;
}

int evzk__follow_start(evzk_session *s, const char *path, const char *name,
                       evzk__follow_cb *cb, void *arg,
                       struct evzk__follow **out)
{
    return start(s, path, name, false, cb, arg, out);
}

int evzk__follow_children(evzk_session *s, const char *path, const char *name,
                          evzk__follow_cb *cb, void *arg,
                          struct evzk__follow **out)
{
    return start(s, path, name, true, cb, arg, out);
}

/* As if its watch had fired. */
void evzk__follow_look(struct evzk__follow *f)
{
    evzk__machine_fired(&f->m, f->children ? EVZK__PRED : EVZK__OWN,
                        EVZK__CHANGED);
}

void evzk__follow_free(struct evzk__follow *f)
{
    if (f) {
        f->cb = NULL;
        evzk__machine_let_go(&f->m);
    }
}
