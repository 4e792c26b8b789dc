/* Watches a znode, whether it exists or not: its data, or the names of its
 * children.
 *
 *   LOOKING <--> WATCHING      (to the end: ENDED)
 *
 * Each look is as new as the ensemble's leader, and sets the watch as it reads:
 * no later change is missed.
 *
 * How it can fail.  Changes that follow each other fast are seen as one.  After
 * a lost connection, and after expiry, it reads again, and reports the result
 * even if that is the same.
 */
#include "recipes/parts/watch_node.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

struct evzk__node_watch {
    struct evzk__machine m;
    evzk__node_watch_cb *cb;
    void *arg;
    bool children; /* Watches the children's names, not the data. */
    char name[];
};

enum { LOOKING, WATCHING, ENDED, STATES };

static struct evzk__node_watch *watch_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__node_watch, m);
}

/* The callback may free the watch: touches nothing after. */
static void tell(struct evzk__node_watch *w, int rc,
                 const struct evzk__result *res)
{
    if (w->cb)
        w->cb(w->arg, rc, res);
}

/* Is the watch missing, so that no change would be heard? */
static bool is_deaf(const struct evzk__machine *m)
{
    const struct evzk__node_watch *w =
        evzk__container_of(m, const struct evzk__node_watch, m);

    return evzk__watch_missing(m, w->children ? EVZK__PRED : EVZK__OWN);
}

static void look(struct evzk__machine *m)
{
    struct evzk__node_watch *w = watch_of(m);

    if (w->children)
        evzk__list_and_watch(m, w->name);
    else
        evzk__read_and_watch(m, w->name);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc != EVZK_OK && (rc != EVZK_ERR_NONODE || watch_of(m)->children))
        return rc;
    if (is_deaf(m))
        return evzk__machine_again_later(m);
    evzk__machine_move(m, WATCHING);
    tell(watch_of(m), rc, e->reply->res);
    return EVZK_OK;
}

/* The watch was lost with its connection: the znode is read again. */
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

static void end(struct evzk__machine *m) { tell(watch_of(m), m->rc, NULL); }

static void destroy(struct evzk__machine *m) { evzk__free(watch_of(m)); }

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry     reaction  main      on stop  on expiry  flags */
ROW(LOOKING,  look,     looked,   WATCHING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,        WATCHING, LOOKING, FAIL)),
ROW(WATCHING, wait_for, watched,  ENDED,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,        LOOKING),
    ON(OWN_DELETED,  LOOKING),
    ON(OWN_CHANGED,  LOOKING),
    ON(PRED_DELETED, LOOKING),
    ON(PRED_CHANGED, LOOKING),
    ON(EXPIRED,      NEVER)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__watch_node_kind = {
    .name = "watch-node", .rows = rows, .n_rows = STATES, .destroy = destroy};

static int start(evzk_session *s, const char *path, const char *name,
                 bool children, evzk__node_watch_cb *cb, void *arg,
                 struct evzk__node_watch **out)
{
    struct evzk__node_watch *w = evzk__zalloc(sizeof *w + strlen(name) + 1);
    int rc;

    if (!w)
        return EVZK_ERR_NOMEM;
    strcpy(w->name, name);
    w->children = children;
    w->cb = cb;
    w->arg = arg;
    rc = evzk__machine_begin(&w->m, s, &evzk__watch_node_kind, path, 0);
    if (rc == EVZK_OK)
        *out = w;
    return rc;
}

int evzk__watch_node(evzk_session *s, const char *path, const char *name,
                     evzk__node_watch_cb *cb, void *arg,
                     struct evzk__node_watch **out)
{
    return start(s, path, name, false, cb, arg, out);
}

int evzk__watch_children(evzk_session *s, const char *path, const char *name,
                         evzk__node_watch_cb *cb, void *arg,
                         struct evzk__node_watch **out)
{
    return start(s, path, name, true, cb, arg, out);
}

/* Posts the event that the watch posts when it fires. */
void evzk__node_watch_look(struct evzk__node_watch *w)
{
    evzk__machine_fired(&w->m, w->children ? EVZK__PRED : EVZK__OWN,
                        EVZK__CHANGED);
}

void evzk__node_watch_free(struct evzk__node_watch *w)
{
    if (w) {
        w->cb = NULL;
        evzk__machine_let_go(&w->m);
    }
}
