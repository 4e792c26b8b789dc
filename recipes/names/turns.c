/* The turns of endpoints.
 *
 * All records are in a tree by name.  Records with a weight are in one of two
 * lists besides: `good`, of which the first is picked and becomes the last; and
 * `failed`, in the order of their failures.
 *
 * Why nobody starves: a record that joins `good` comes last, and a pick moves
 * only the first.  So all that stood before a record are picked once each, then
 * the record itself, however many come and go meanwhile.
 *
 * How it can fail.  An endpoint that goes and comes again, or falls to weight 0
 * and rises, comes last each time: its own turn may never come, and delays no
 * other. */
#include "recipes/names/turns.h"

#include <string.h>

#include "lib/base/mem.h"

static int compare(const struct evzk__turn *a, const struct evzk__turn *b)
{
    return strcmp(a->name, b->name);
}

RB_GENERATE_INTERNAL(evzk__turns_tree, evzk__turn, by_name, compare,
                     __attribute__((unused)) static)

void evzk__turns_init(struct evzk__turns *t)
{
    RB_INIT(&t->all);
    TAILQ_INIT(&t->good);
    TAILQ_INIT(&t->failed);
}

/* The record of this name, without a search key that has to be allocated. */
static struct evzk__turn *named(struct evzk__turns *t, const char *name)
{
    struct evzk__turn *n = RB_ROOT(&t->all);
    int order;

    while (n && (order = strcmp(name, n->name)) != 0)
        n = order < 0 ? RB_LEFT(n, by_name) : RB_RIGHT(n, by_name);
    return n;
}

static void leave_list(struct evzk__turns *t, struct evzk__turn *n)
{
    if (n->weight > 0)
        TAILQ_REMOVE(n->has_failed ? &t->failed : &t->good, n, link);
}

/* Behind all failures that are not later; mostly that is the end. */
static void join_failed(struct evzk__turns *t, struct evzk__turn *n)
{
    struct evzk__turn *before = TAILQ_LAST(&t->failed, evzk__turns_list);

    while (before && before->failed_us > n->failed_us)
        before = TAILQ_PREV(before, evzk__turns_list, link);
    if (before)
        TAILQ_INSERT_AFTER(&t->failed, before, n, link);
    else
        TAILQ_INSERT_HEAD(&t->failed, n, link);
}

static void join_list(struct evzk__turns *t, struct evzk__turn *n)
{
    if (n->weight == 0)
        return;
    if (n->has_failed)
        join_failed(t, n);
    else
        TAILQ_INSERT_TAIL(&t->good, n, link);
}

static struct evzk__turn *make(struct evzk__turns *t, const char *name)
{
    size_t size = strlen(name) + 1;
    struct evzk__turn *n = evzk__zalloc(sizeof *n + size);

    if (n) {
        memcpy(n->name, name, size);
        RB_INSERT(evzk__turns_tree, &t->all, n);
    }
    return n;
}

bool evzk__turns_set(struct evzk__turns *t, const char *name, uint64_t token,
                     uint32_t weight)
{
    struct evzk__turn *n = named(t, name);

    if (!n)
        n = make(t, name);
    if (!n)
        return false;
    if (n->token == token && n->weight > 0 && weight > 0) {
        n->weight = weight; /* Keeps its place. */
        return true;
    }
    leave_list(t, n);
    n->has_failed = n->has_failed && n->token == token;
    n->token = token;
    n->weight = weight;
    join_list(t, n);
    return true;
}

static void take_away(struct evzk__turns *t, struct evzk__turn *n)
{
    leave_list(t, n);
    RB_REMOVE(evzk__turns_tree, &t->all, n);
    evzk__free(n);
}

void evzk__turns_remove(struct evzk__turns *t, const char *name)
{
    struct evzk__turn *n = named(t, name);

    if (n)
        take_away(t, n);
}

void evzk__turns_clear(struct evzk__turns *t)
{
    while (!RB_EMPTY(&t->all))
        take_away(t, RB_ROOT(&t->all));
}

struct evzk__turn *evzk__turns_find(struct evzk__turns *t, const char *name,
                                    uint64_t token)
{
    struct evzk__turn *n = named(t, name);

    return n && (token == 0 || n->token == token) ? n : NULL;
}

const struct evzk__turn *evzk__turns_next(struct evzk__turns *t)
{
    struct evzk__turn *n = TAILQ_FIRST(&t->good);

    if (!n)
        return TAILQ_FIRST(&t->failed);
    TAILQ_REMOVE(&t->good, n, link);
    TAILQ_INSERT_TAIL(&t->good, n, link);
    return n;
}

/* The sum of the weights is far below 2^64: the remainder is as good as even.
 */
const struct evzk__turn *evzk__turns_draw(struct evzk__turns *t, uint64_t lot)
{
    const struct evzk__turn *n;
    uint64_t sum = 0;

    TAILQ_FOREACH(n, &t->good, link)
    sum += n->weight;
    if (sum == 0)
        return NULL;
    lot %= sum;
    n = TAILQ_FIRST(&t->good);
    while (lot >= n->weight) {
        lot -= n->weight;
        n = TAILQ_NEXT(n, link);
    }
    return n;
}

void evzk__turns_fail(struct evzk__turns *t, struct evzk__turn *n,
                      int64_t now_us)
{
    leave_list(t, n);
    n->has_failed = true;
    n->failed_us = now_us;
    join_list(t, n);
}

void evzk__turns_mend(struct evzk__turns *t, struct evzk__turn *n)
{
    if (!n->has_failed)
        return; /* Keeps its place. */
    leave_list(t, n);
    n->has_failed = false;
    join_list(t, n);
}

void evzk__turns_forgive(struct evzk__turns *t, int64_t until_us)
{
    struct evzk__turn *n;

    while ((n = TAILQ_FIRST(&t->failed)) && n->failed_us <= until_us)
        evzk__turns_mend(t, n);
}
