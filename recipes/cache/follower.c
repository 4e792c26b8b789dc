/* The followers of a cache: how they begin and leave, which of them may read
 * now, and which of them have yet to read before the view is whole.
 *
 * As many followers read at the same time as the session can have requests
 * under way: other recipes of the session need not wait behind a hundred
 * thousand reads.
 *
 * How it can fail.  A follower may leave while it waits for its turn, or has
 * one: then another has its turn.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/cache/cache_internal.h"

bool evzk__follower_is_over(const struct evzk__follower *f)
{
    return !f->c || !evzk__cache_tells(f->c);
}

bool evzk__follower_is_first(const struct evzk__follower *f)
{
    return !f->n->above;
}

bool evzk__follower_reads(const struct evzk__follower *f)
{
    return evzk__follower_is_first(f) || !f->c->names_only;
}

/* Are its children in the view, as far as is known?  An ephemeral znode has
 * none; but the znode that it replaced may have had some. */
bool evzk__follower_lists(const struct evzk__follower *f)
{
    const struct evzk__cache_node *n = f->n;

    if (n->hidden)
        return false;
    if (!evzk__follower_reads(f))
        return true;
    if (!n->told || (n->owner != 0 && RB_EMPTY(&n->children)))
        return false;
    return f->c->depth == EVZK_CACHE_SUBTREE ||
           (f->c->depth == EVZK_CACHE_CHILDREN && evzk__follower_is_first(f));
}

bool evzk__follower_misses(const struct evzk__follower *f,
                           enum evzk__which which)
{
    return evzk__watch_missing(&f->m, which);
}

static bool has_room(const struct evzk_cache *c)
{
    return c->reading < evzk__machine_window(&c->m);
}

void evzk__follower_rest(struct evzk__follower *f)
{
    struct evzk_cache *c = f->c;
    struct evzk__follower *next = TAILQ_FIRST(&c->line);

    if (!f->has_turn)
        return;
    f->has_turn = false;
    c->reading--;
    if (!next)
        return;
    TAILQ_REMOVE(&c->line, next, link);
    TAILQ_INSERT_TAIL(&c->others, next, link);
    next->in_line = false;
    next->has_turn = true;
    c->reading++;
    evzk__machine_ask(&next->m);
}

bool evzk__follower_take_turn(struct evzk__follower *f)
{
    struct evzk_cache *c = f->c;

    if (f->has_turn || f->in_line)
        return f->has_turn;
    if (has_room(c)) {
        f->has_turn = true;
        c->reading++;
        return true;
    }
    TAILQ_REMOVE(&c->others, f, link);
    TAILQ_INSERT_TAIL(&c->line, f, link);
    f->in_line = true;
    return false;
}

/* Whether the view is whole. */

void evzk__follower_count(struct evzk__follower *f)
{
    if (f->connection_no == f->m.seen.connection_no)
        return;
    f->connection_no = f->m.seen.connection_no;
    f->c->behind += !f->counted;
    f->counted = true;
}

void evzk__follower_settle(struct evzk__follower *f)
{
    struct evzk_cache *c = f->c;

    if (!f->counted)
        return;
    f->counted = false;
    if (--c->behind == 0)
        evzk__machine_ask(&c->m);
}

void evzk__follower_poke(struct evzk__follower *f)
{
    if ((f->m.started && f->m.state == FOLLOWING) || evzk__follower_empties(f))
        evzk__machine_fired(&f->m, EVZK__OWN, EVZK__CHANGED);
}

void evzk__follower_leave(struct evzk__follower *f)
{
    struct evzk_cache *c = f->c;

    evzk__follower_rest(f);
    evzk__follower_settle(f);
    TAILQ_REMOVE(f->in_line ? &c->line : &c->others, f, link);
    f->n->f = NULL;
    f->c = NULL;
}

void evzk__follower_let_go(struct evzk__follower *f)
{
    evzk__follower_leave(f);
    evzk__machine_let_go(&f->m);
}

static int start(struct evzk__follower *f, struct evzk_cache *c,
                 const struct evzk__kind *kind)
{
    const char *root = evzk__machine_path(&c->m);
    char path[EVZK__PATH_MAX + 1];
    char *end = stpcpy(path, root);

    if (f->n->path[0])
        strcpy(stpcpy(end, "/"), f->n->path);
    return evzk__machine_begin(&f->m, evzk__machine_session(&c->m), kind, path,
                               0);
}

int evzk__follower_new(struct evzk_cache *c, struct evzk__cache_node *n,
                       const struct evzk__kind *kind, bool counted)
{
    struct evzk__follower *f = evzk__zalloc(sizeof *f);
    int rc;

    if (!f)
        return EVZK_ERR_NOMEM;
    f->n = n;
    rc = start(f, c, kind);
    if (rc != EVZK_OK)
        return rc;
    f->c = c;
    f->connection_no = f->m.seen.connection_no;
    f->counted = counted;
    c->behind += counted;
    n->f = f;
    TAILQ_INSERT_TAIL(&c->others, f, link);
    return EVZK_OK;
}
