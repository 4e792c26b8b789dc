/* A cache: a copy of a znode, its children or its subtree.
 *
 *   FILLING <--> WHOLE --> ENDING --> ENDED
 *
 * Each znode that is not merely a name is followed by a machine of its own
 * (follow.c), which tells what it finds.  The machine of the cache itself sends
 * nothing: it waits until all followers have read, and tells READY; and it ends
 * the followers, some in each turn of the loop.
 *
 * How it can fail.  A follower that must give up (the root may not be read, or
 * a server refuses for an unknown reason again and again) ends the cache with
 * its error.  When the connection is lost, or the session ends, the followers
 * count themselves as behind; each takes part before any of them has read on
 * the new connection, since nothing is sent before all machines have heard.
 */
#include "evzk/cache.h"

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/cache/cache_internal.h"
#include "recipes/kinds.h"

enum { FILLING, WHOLE, ENDING, ENDED, CACHE_STATES };

static struct evzk_cache *cache_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_cache, m);
}

/* All that was to be read has been read; on this connection, if the root was:
 * a znode that is gone needs no other look. */
static bool is_filled(const struct evzk_cache *c)
{
    return c->behind == 0 && c->root->f &&
           c->root->f->connection_no == c->m.seen.connection_no;
}

static int filled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_cache *c = cache_of(m);

    (void)e;
    if (!is_filled(c) || !evzk__cache_tells(c))
        return EVZK_OK;
    c->was_whole = true;
    c->whole_no = m->seen.connection_no;
    evzk__machine_move(m, WHOLE);
    evzk__cache_call(c, EVZK_CACHE_READY, EVZK_OK, NULL, NULL);
    return EVZK_OK;
}

/* Entered again on another connection, where all is read again. */
static void rest(struct evzk__machine *m)
{
    if (cache_of(m)->whole_no != m->seen.connection_no)
        evzk__machine_move(m, FILLING);
}

static void let_go_of_some(struct evzk_cache *c)
{
    struct evzk__follower *f;

    for (unsigned i = 0; i < EVZK__CACHE_SLICE; i++) {
        f = TAILQ_FIRST(&c->others);
        if (!f)
            f = TAILQ_FIRST(&c->line);
        if (f)
            evzk__follower_let_go(f);
    }
    if (TAILQ_EMPTY(&c->others) && TAILQ_EMPTY(&c->line) && !c->cb)
        evzk__cache_free_nodes(c, EVZK__CACHE_SLICE);
}

static bool is_empty(const struct evzk_cache *c)
{
    return TAILQ_EMPTY(&c->others) && TAILQ_EMPTY(&c->line) &&
           (c->cb || !c->root);
}

/* Goes on in a later look: a machine that is to stop still hears of watches.
 * A watch that has fired is forgotten with a lost connection: then the row is
 * entered again. */
static void end_followers(struct evzk__machine *m)
{
    struct evzk_cache *c = cache_of(m);

    let_go_of_some(c);
    if (is_empty(c))
        evzk__machine_finish(m, m->rc);
    else
        evzk__machine_fired(m, EVZK__OWN, EVZK__CHANGED);
}

static int go_on(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_again(m);
}

static void end(struct evzk__machine *m)
{
    evzk__cache_call(cache_of(m), EVZK_CACHE_ENDED, m->rc, NULL, NULL);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk_cache *c = cache_of(m);
    struct evzk__follower *f;

    while ((f = TAILQ_FIRST(&c->others)) != NULL ||
           (f = TAILQ_FIRST(&c->line)) != NULL)
        evzk__follower_let_go(f);
    evzk__cache_free_nodes(c, SIZE_MAX);
    evzk__free(c);
}

/* clang-format off */
static const struct evzk__row rows[CACHE_STATES] = {
/*  state    entry          reaction  main     on stop  on expiry  flags */
ROW(FILLING, NULL,          filled,   WHOLE,   ENDING,  FILLING,   0,
    ON(USER_EVENT,  WHOLE), RARELY(USER_EVENT, HERE)),
ROW(WHOLE,   rest,          NULL,     ENDING,  ENDING,  FILLING,   RETRY,
    ON(ENTRY,       FILLING),
    ON(EXPIRED,     NEVER)),
ROW(ENDING,  end_followers, go_on,    ENDED,   STAY,    ENDED,     RETRY,
    ON(ENTRY,       ENDED),
    ON(OWN_CHANGED, ENDING),
    RARELY(RECONNECTED, ENDING), RARELY(STOP, HERE),
    RARELY(EXPIRED, ENDED), RARELY(CLOSED, ENDED)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__cache_kind = {
    .name = "cache", .rows = rows, .n_rows = CACHE_STATES, .destroy = destroy};

static bool broken_options(const struct evzk__call *call,
                           const evzk_cache_options *o)
{
    if (!o)
        return false;
    return evzk__broken_reserved(call, o->reserved) ||
           evzk__broken(call,
                        o->depth == EVZK_CACHE_CHILDREN ||
                            o->depth == EVZK_CACHE_SUBTREE ||
                            o->depth == EVZK_CACHE_NODE,
                        "depth", "must be one of evzk_cache_depth");
}

static int begin(struct evzk_cache *c, evzk_session *s, const char *path)
{
    int rc;

    c->root = evzk__cache_node_new(NULL, "");
    if (!c->root) {
        evzk__free(c);
        return EVZK_ERR_NOMEM;
    }
    rc = evzk__machine_begin(&c->m, s, &evzk__cache_kind, path, 0);
    if (rc != EVZK_OK)
        return rc;
    rc = evzk__follower_new(c, c->root, &evzk__cache_node_kind, true);
    if (rc != EVZK_OK)
        evzk_cache_free(c);
    return rc;
}

int evzk_cache_start(evzk_session *s, const char *path,
                     const evzk_cache_options *opt, evzk_cache_cb *cb,
                     void *arg, evzk_cache **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_cache *c;
    int rc;

    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    c = evzk__zalloc(sizeof *c);
    if (!c)
        return EVZK_ERR_NOMEM;
    TAILQ_INIT(&c->line);
    TAILQ_INIT(&c->others);
    c->depth = opt ? opt->depth : EVZK_CACHE_CHILDREN;
    c->names_only = opt && opt->names_only;
    c->cb = cb;
    c->arg = arg;
    rc = begin(c, s, path);
    if (rc == EVZK_OK)
        *out = c;
    return rc;
}

int evzk_cache_cancel(evzk_cache *c)
{
    return c ? evzk__machine_cancel(&c->m) : EVZK_ERR_INVAL;
}

void evzk_cache_free(evzk_cache *c)
{
    if (c) {
        c->cb = NULL;
        evzk__machine_let_go(&c->m);
    }
}

/* True as soon as the session is certain, whether the cache's machine has heard
 * of that or not: whoever hears of it before looks once. */
bool evzk_cache_ready(const evzk_cache *c)
{
    return c && !c->m.place.ended && !c->m.stopping && c->m.state == WHOLE &&
           evzk__machine_is_on(&c->m, c->whole_no) &&
           evzk__machine_certain(&c->m);
}

const char *evzk_cache_state(const evzk_cache *c)
{
    return c ? evzk__machine_state(&c->m) : "";
}

const char *evzk_cache_event_name(evzk_cache_event event)
{
    switch (event) {
    case EVZK_CACHE_ADDED:
        return "ADDED";
    case EVZK_CACHE_CHANGED:
        return "CHANGED";
    case EVZK_CACHE_REMOVED:
        return "REMOVED";
    case EVZK_CACHE_READY:
        return "READY";
    case EVZK_CACHE_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_cache_event_is_final(evzk_cache_event event)
{
    return event == EVZK_CACHE_ENDED;
}
