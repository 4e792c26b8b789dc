/*
 * A cache by the C client alone: the root is listed with a watch, each child is
 * read with a watch, and read again when that fires.  Of a subtree each child
 * is listed, too.  The copies are kept in an array: the names are numbers.  The
 * root stays as it is; a connection that is lost ends the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "raw_way.h"

struct copy {
    char *data; /* Owned. */
    int len;
    int64_t mzxid; /* 0: not read yet. */
};

static struct copy *copies;
static bool deep;

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    (void)zh, (void)state, (void)path;
    if (type == ZOO_CHANGED_EVENT)
        raw_stop(raw_number(arg)); /* Reads it again. */
    else if (type != ZOO_SESSION_EVENT)
        raw.run->n_other += !raw.run->ending;
}

static void keep(struct copy *c, const char *value, int len, int64_t mzxid)
{
    free(c->data);
    c->len = len > 0 ? len : 0;
    c->mzxid = mzxid;
    c->data = malloc((size_t)c->len + 1);
    if (!c->data)
        fail("raw: out of memory");
    memcpy(c->data, value, (size_t)c->len);
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    int i = raw_number(data);
    int64_t before = copies[i].mzxid;

    raw_answered(rc, "get");
    if (stat->mzxid == before)
        return;
    keep(&copies[i], value, len, stat->mzxid);
    if (before == 0)
        run_granted(raw.run, i);
    else
        run_released(raw.run, i);
}

static void on_leaf(int rc, const struct String_vector *names, const void *data)
{
    (void)data;
    raw_answered(rc, "getChildren");
    if (names->count > 0)
        fail("raw: a value has a child");
}

static void read_again(int i)
{
    char path[PATH_SIZE];

    run_path(raw.run, i, path);
    raw_sent(zoo_awget(raw.p.zh, path, on_watch, (void *)(intptr_t)i, on_read,
                       raw_data(i)),
             "get");
}

static void read_first(int i)
{
    char path[PATH_SIZE];

    read_again(i);
    if (!deep)
        return;
    run_path(raw.run, i, path);
    raw_sent(zoo_awget_children(raw.p.zh, path, on_watch, (void *)(intptr_t)i,
                                on_leaf, raw_data(i)),
             "getChildren");
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    (void)data;
    raw_answered(rc, "getChildren");
    if (names->count != raw.run->w->n)
        fail("raw: %d children", (int)names->count);
    for (int32_t k = 0; k < names->count; k++)
        raw_start(atoi(names->data[k]));
}

static void begin(int i)
{
    (void)i;
    raw_sent(zoo_awget_children(raw.p.zh, raw.run->dir, on_watch, NULL,
                                on_listed, NULL),
             "getChildren");
    plain_kick(&raw.p);
}

static void open_cache(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = read_first, .stop = read_again, .requests = 2};

    copies = calloc((size_t)r->w->n, sizeof copies[0]);
    if (!copies)
        fail("raw: out of memory");
    raw_begin(r, servers, &work);
}

static void open_deep(struct run *r, const char *servers)
{
    deep = true;
    open_cache(r, servers);
}

static void end(void)
{
    raw_end();
    for (int i = 0; i < raw.run->w->n; i++)
        free(copies[i].data);
    free(copies);
}

#define CACHE(opens)                                                           \
    {                                                                          \
        .name = "raw", .note = "no recovery, and one connection",              \
        .open = (opens), .acquire = begin, .busy = raw_busy,                   \
        .connected = raw_connected, .close = end                               \
    }

const struct way way_raw_cache = CACHE(open_cache);
const struct way way_raw_cache_deep = CACHE(open_deep);
