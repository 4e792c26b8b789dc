/* Reads that wait in the queues, in a table by path.
 *
 * The table has a fixed number of slots; requests of one slot are a list.  All
 * that it needs is in the requests, in members that mean something else once a
 * part of them was answered.
 *
 * How it can fail.  The leader's machine may go before it has read: the first
 * follower takes over.  The leader may be cut off between its sync and its
 * read: then nobody has read anything, and all hear EVZK_ERR_CONNLOSS.
 */
#include "lib/request/shared_read.h"

#include <string.h>

#include "lib/base/hash.h"
#include "lib/request/core.h"

/* The number of the step that reads one znode; r->n: the request is of another
 * kind. */
static uint32_t read_of(const struct evzk__request *r)
{
    const struct evzk__step *step;

    if (r->commit || r->for_each_name || r->unwatch || r->n == 0 || r->n > 2)
        return r->n;
    step = &r->steps[r->n - 1];
    if ((step->verb != EVZK__STEP_GET && step->verb != EVZK__STEP_EXISTS) ||
        step->or_absent)
        return r->n;
    if (r->n == 2 &&
        (r->steps[0].verb != EVZK__STEP_SYNC || !r->steps[0].shared))
        return r->n;
    return r->n - 1;
}

/* May others join the request? */
static bool is_read(const struct evzk__request *r)
{
    return evzk__request_is_steps(r) && read_of(r) < r->n;
}

/* Of a request that is steps; NULL: it never has any. */
static struct evzk__followers *followers_of(struct evzk__request *r)
{
    return evzk__request_is_steps(r) && !r->for_each_name ? &r->followers
                                                          : NULL;
}

static const char *path_of(struct evzk__core *s, const struct evzk__request *r,
                           unsigned buffer)
{
    return evzk__steps_path(s, r, read_of(r), s->requests.path[buffer],
                            sizeof s->requests.path[buffer]);
}

static struct evzk__request **slot_of(struct evzk__core *s, uint32_t hash)
{
    return &s->requests.reads[hash % EVZK__READ_SLOTS];
}

/* Do they ask for the same, with the same urgency? */
static bool alike(struct evzk__core *s, const struct evzk__request *r,
                  const char *path, const struct evzk__request *other)
{
    const struct evzk__step *a = &r->steps[read_of(r)],
                            *b = &other->steps[read_of(other)];
    const char *other_path = path_of(s, other, 1);

    return r->op == other->op && r->n == other->n && a->verb == b->verb &&
           !a->watch == !b->watch && r->steps[0].once == other->steps[0].once &&
           other_path && strcmp(path, other_path) == 0;
}

bool evzk__shared_read_join(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request *at;
    const char *path;
    uint32_t hash;

    if (!is_read(r) || !(path = path_of(s, r, 0)) ||
        !evzk__steps_may_watch(r, read_of(r)))
        return false;
    hash = evzk__hash_text(EVZK__HASH_BEGIN, path);
    for (at = *slot_of(s, hash); at; at = at->like) {
        if (at->hash == hash && alike(s, r, path, at))
            break;
    }
    if (!at)
        return false;
    r->state = EVZK__JOINED;
    LIST_INSERT_HEAD(&at->followers, r, follow);
    return true;
}

void evzk__shared_read_waits(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request **slot;
    const char *path;

    if (!is_read(r) || r->sent > 0 || !(path = path_of(s, r, 0)) ||
        !evzk__steps_may_watch(r, read_of(r)))
        return;
    r->hash = evzk__hash_text(EVZK__HASH_BEGIN, path);
    slot = slot_of(s, r->hash);
    r->like = *slot;
    *slot = r;
}

void evzk__shared_read_leaves(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request **at;

    if (!followers_of(r) || r->commit)
        return;
    for (at = slot_of(s, r->hash); *at; at = &(*at)->like) {
        if (*at == r) {
            *at = r->like;
            return;
        }
    }
}

/* As if it had been sent now, behind a shared sync. */
static void go_with(struct evzk__request *f)
{
    f->behind = f->n > 1;
    f->parts = f->sent = 1;
}

void evzk__shared_read_sent(struct evzk__core *s, struct evzk__request *r,
                            unsigned part)
{
    struct evzk__request *f;

    if (!is_read(r))
        return;
    evzk__shared_read_leaves(s, r);
    if (evzk__steps_index(r, part) != read_of(r))
        return;
    LIST_FOREACH(f, &r->followers, follow)
    {
        f->state = EVZK__SENT;
        go_with(f);
        evzk__steps_sent(f, f->n - 1);
    }
}

struct evzk__request *evzk__shared_read_heir(struct evzk__request *r)
{
    struct evzk__followers *all = followers_of(r);
    struct evzk__request *heir = all ? LIST_FIRST(all) : NULL, *f;

    if (!heir)
        return NULL;
    LIST_REMOVE(heir, follow);
    while ((f = LIST_FIRST(all)) != NULL) {
        LIST_REMOVE(f, follow);
        LIST_INSERT_HEAD(&heir->followers, f, follow);
    }
    return heir;
}

struct evzk__request *evzk__shared_read_next(struct evzk__core *s,
                                             struct evzk__request *r,
                                             unsigned part,
                                             const struct evzk__result **res)
{
    static const struct evzk__result lost = {.rc = EVZK_ERR_CONNLOSS};
    struct evzk__followers *all = followers_of(r);
    struct evzk__request *f = all ? LIST_FIRST(all) : NULL;
    bool was_read = f && evzk__steps_index(r, part) == r->n - 1;

    if (!f || (!was_read && r->answered + 1 < r->parts))
        return NULL;
    if (!was_read)
        *res = &lost;
    LIST_REMOVE(f, follow);
    if (f->state == EVZK__SENT)
        evzk__steps_answered(s, f, 0, *res);
    else
        go_with(f); /* The leader's read was not sent, or could not be. */
    return f;
}
