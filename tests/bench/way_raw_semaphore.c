/*
 * A semaphore by the C client alone: create and listing go out back to back; a
 * contender with fewer than so many before it has a lease.  Any other waits for
 * the contender that stands so many places before it, and lists again when that
 * is gone.  This is right where leases are given back in order; where they are
 * not, a free lease is left unused until the one that is watched goes.
 */
#include <stdlib.h>
#include <string.h>

#include "raw_way.h"

struct contender {
    int32_t seq; /* Of the own znode. */
    bool waiting;
};

static struct contender *contenders;

static void list(int i);

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    struct contender *c = arg;

    (void)zh, (void)state, (void)path;
    if (type != ZOO_DELETED_EVENT || !c->waiting)
        return;
    c->waiting = false;
    list((int)(c - contenders));
}

static void on_watched(int rc, const char *value, int len,
                       const struct Stat *stat, const void *data)
{
    (void)value, (void)len, (void)stat;
    raw_answered(rc == ZNONODE ? ZOK : rc, "get");
    if (rc == ZNONODE)
        list(raw_number(data));
}

static void lease_path(int32_t seq, char path[2 * PATH_SIZE])
{
    snprintf(path, (size_t)2 * PATH_SIZE, "%s/lease-%010d", raw.dir, (int)seq);
}

static void watch(int i, int32_t seq)
{
    char path[2 * PATH_SIZE];

    lease_path(seq, path);
    contenders[i].waiting = true;
    raw_sent(zoo_awget(raw.p.zh, path, on_watch, &contenders[i], on_watched,
                       raw_data(i)),
             "get");
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* The numbers before @own, in order; owned by the caller. */
static int32_t *numbers_before(const struct String_vector *names, int32_t own,
                               int *n)
{
    int32_t *v = malloc(((size_t)names->count + 1) * sizeof *v);

    if (!v)
        fail("raw: out of memory");
    *n = 0;
    for (int32_t k = 0; k < names->count; k++) {
        int32_t seq = plain_seq(names->data[k]);

        if (seq < own && strncmp(names->data[k], "lease-", 6) == 0)
            v[(*n)++] = seq;
    }
    qsort(v, (size_t)*n, sizeof v[0], by_number);
    return v;
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    int i = raw_number(data), n;
    int32_t *before;

    raw_answered(rc, "getChildren");
    before = numbers_before(names, contenders[i].seq, &n);
    if (n < raw.run->w->leases)
        run_granted(raw.run, i);
    else
        watch(i, before[n - raw.run->w->leases]);
    free(before);
}

static void list(int i)
{
    raw_sent(zoo_aget_children(raw.p.zh, raw.dir, 0, on_listed, raw_data(i)),
             "getChildren");
}

static void on_created(int rc, const char *path, const void *data)
{
    raw_answered(rc, "create");
    contenders[raw_number(data)].seq = plain_seq(path);
}

static void start(int i)
{
    char path[2 * PATH_SIZE];

    snprintf(path, sizeof path, "%s/lease-", raw.dir);
    raw_sent(zoo_acreate(raw.p.zh, path, "host:12345", 10, &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL | ZOO_SEQUENCE, on_created, raw_data(i)),
             "create");
    list(i);
}

static void on_deleted(int rc, const void *data)
{
    raw_answered(rc, "delete");
    run_released(raw.run, raw_number(data));
}

static void stop(int i)
{
    char path[2 * PATH_SIZE];

    lease_path(contenders[i].seq, path);
    raw_sent(zoo_adelete(raw.p.zh, path, -1, on_deleted, raw_data(i)),
             "delete");
}

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = start, .stop = stop, .requests = 2};

    contenders = calloc((size_t)r->w->n, sizeof contenders[0]);
    if (!contenders)
        fail("raw: out of memory");
    raw_begin(r, servers, &work);
}

static void end(void)
{
    raw_end();
    free(contenders);
}

const struct way way_raw_semaphore = RAW_WAY(
    "raw", "no token, no lease, and needs releases in order", open_client, end);
