/* The directories of a session: a red-black tree by path, since it never needs
 * memory, and never stops to grow.
 */
#include "lib/request/dir.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"
#include "lib/request/idle_dirs.h"

const char evzk__dir_mark[] = "evzk: goes with the last contender";

static int compare_dirs(const struct evzk__dir *a, const struct evzk__dir *b)
{
    return strcmp(a->path, b->path);
}

RB_GENERATE_INTERNAL(evzk__dir_tree, evzk__dir, node, compare_dirs,
                     __attribute__((unused)) static)

struct evzk__dir *evzk__dir_find(struct evzk__core *s, const char *path)
{
    struct evzk__dir *d = RB_ROOT(&s->dirs);

    while (d) {
        int c = strcmp(path, d->path);

        if (c == 0)
            break;
        d = c < 0 ? RB_LEFT(d, node) : RB_RIGHT(d, node);
    }
    return d;
}

const char *evzk__path_in(char *to, const char *dir, const char *name)
{
    char *end = stpcpy(to, dir);

    if (name[0])
        strcpy(stpcpy(end, "/"), name);
    return to;
}

struct evzk__dir *evzk__dir_get(struct evzk__core *s, const char *a,
                                const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    char *path = s->requests.path[0];
    struct evzk__dir *d;

    memcpy(path, a, na); /* Lengths are limited where paths come in. */
    memcpy(path + na, b, nb + 1);
    d = evzk__dir_find(s, path);
    if (!d) {
        d = evzk__zalloc(offsetof(struct evzk__dir, path) + na + nb + 1);
        if (!d)
            return NULL;
        memcpy(d->path, path, na + nb + 1);
        RB_INIT(&d->queue);
        RB_INIT(&d->line);
        RB_INSERT(evzk__dir_tree, &s->dirs, d);
    }
    if (d->refs == 0 && d->idling)
        evzk__dir_wakes(s, d);
    d->refs++;
    return d;
}

void evzk__dir_put(struct evzk__core *s, struct evzk__dir *d)
{
    if (--d->refs > 0 || evzk__dir_rests(s, d))
        return;
    RB_REMOVE(evzk__dir_tree, &s->dirs, d);
    evzk__free(d);
}

void evzk__dirs_disown(struct evzk__core *s)
{
    struct evzk__dir *d;

    RB_FOREACH(d, evzk__dir_tree, &s->dirs)
    {
        d->check_empty = d->check_empty || d->made_by_us;
        d->made_by_us = false;
        d->noted = false;
    }
}

bool evzk__dir_busy(const struct evzk__dir *d)
{
    return d->creating > 0 || !RB_EMPTY(&d->queue);
}

/* Of 65535; a thirty-second part of each time counts. */
void evzk__learn(uint16_t *rate, bool yes)
{
    int was = *rate, is = yes ? 65535 : 0;

    *rate = (uint16_t)(was + (is - was) / 32);
}

void evzk__dirs_found(struct evzk__core *s, bool missing)
{
    evzk__learn(&s->requests.fresh, missing);
}

bool evzk__dir_looks_made_by_us(const struct evzk__stat *stat)
{
    return stat->owner == 0 && stat->data_len == sizeof evzk__dir_mark - 1;
}

void evzk__dir_listed(struct evzk__dir *d, const struct evzk__stat *stat)
{
    d->made_by_us = d->made_by_us && stat->czxid == d->czxid;
    if (!d->made_by_us)
        d->check_empty = evzk__dir_looks_made_by_us(stat);
}

bool evzk__dir_rests(struct evzk__core *s, struct evzk__dir *d)
{
    if (!(d->check_empty || d->exists) || s->phase != EVZK__RUNNING)
        return false;
    d->tick = s->tick;
    d->idling = true;
    TAILQ_INSERT_TAIL(&s->idle, d, idle);
    return true;
}

void evzk__dir_wakes(struct evzk__core *s, struct evzk__dir *d)
{
    TAILQ_REMOVE(&s->idle, d, idle);
    d->idling = false;
    RB_INIT(&d->queue);
    d->listing = NULL;
}
