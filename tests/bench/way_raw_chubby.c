/*
 * Files with locks by the C client alone: a file and the directory of its lock
 * are made, the file is read with a watch, and a contender comes into the
 * directory, which is listed; then contender, directory and file are deleted.
 */
#include <stdlib.h>

#include "raw_way.h"

static char (*contender)[PATH_SIZE + 64];

static void path_of(int i, const char *end, char to[PATH_SIZE + 32])
{
    snprintf(to, PATH_SIZE + 32, "%s/%d%s", raw.run->dir, i, end);
}

static void on_made(int rc, const char *path, const void *data)
{
    (void)path, (void)data;
    raw_answered(rc, "create");
}

static void on_event(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

static void on_got(int rc, const char *value, int len, const struct Stat *stat,
                   const void *data)
{
    (void)value, (void)len, (void)stat, (void)data;
    raw_answered(rc, "get");
}

static void on_came(int rc, const char *path, const void *data)
{
    raw_answered(rc, "create");
    snprintf(contender[raw_number(data)], sizeof contender[0], "%s", path);
}

static void on_left(int rc, const void *data)
{
    (void)data;
    raw_answered(rc, "delete");
}

static void on_gone(int rc, const void *data)
{
    raw_answered(rc, "delete");
    run_released(raw.run, raw_number(data));
}

/* Nobody else comes: the contender is first. */
static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    int i = raw_number(data);
    char path[PATH_SIZE + 32];

    (void)names;
    raw_answered(rc, "list");
    run_granted(raw.run, i);
    raw_sent(zoo_adelete(raw.p.zh, contender[i], -1, on_left, data), "delete");
    path_of(i, ".lock", path);
    raw_sent(zoo_adelete(raw.p.zh, path, -1, on_left, data), "delete");
    path_of(i, "", path);
    raw_sent(zoo_adelete(raw.p.zh, path, -1, on_gone, data), "delete");
}

static void make(const char *path, const char *text, int len)
{
    raw_sent(zoo_acreate(raw.p.zh, path, text, len, &ZOO_OPEN_ACL_UNSAFE, 0,
                         on_made, NULL),
             "create");
}

static void start(int i)
{
    static const char text[VALUE_SIZE];
    char path[PATH_SIZE + 32], below[PATH_SIZE + 32];

    path_of(i, "", path);
    make(path, text, sizeof text);
    raw_sent(zoo_awget(raw.p.zh, path, on_event, NULL, on_got, raw_data(i)),
             "get");
    path_of(i, ".lock", path);
    make(path, NULL, -1);
    path_of(i, ".lock/write-", below);
    raw_sent(zoo_acreate(raw.p.zh, below, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL | ZOO_SEQUENCE, on_came, raw_data(i)),
             "create");
    raw_sent(zoo_aget_children(raw.p.zh, path, 0, on_listed, raw_data(i)),
             "list");
}

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {.start = start, .requests = 5};

    contender = calloc((size_t)r->w->n, sizeof contender[0]);
    if (!contender)
        fail("raw: out of memory");
    raw_begin(r, servers, &work);
}

static void end(void)
{
    raw_end();
    free(contender);
}

const struct way way_raw_chubby = RAW_WAY(
    "raw", "no guard: a late write may reach another file", open_client, end);
