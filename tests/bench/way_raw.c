/*
 * The C client without any library: what a program does that knows the recipe
 * and the client well, and trusts the network.  Create and listing go out back
 * to back; one that is not the first watches the one before it, and lists again
 * when that is gone.  Of locks that are shared, one that reads watches the
 * nearest before it that writes.  As many requests are in flight as the
 * library's default.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain.h"

enum { SESSION_MS = 10000 };

struct raw_lock {
    int32_t seq; /* Of the own znode. */
    bool waiting;
};

static struct {
    struct plain p;
    struct run *run;
    struct raw_lock *lock;
    int locks;
    struct plain_todo todo; /* A lock to acquire, or ~lock to release. */
    int flying;             /* Requests. */
    bool piped;
} self;

/* In the order of enum mode. */
static const char *const prefix[] = {"lock-", "write-", "read-"};

static void list(int i);

static int index_of(const void *data)
{
    return (int)((const struct raw_lock *)data - self.lock);
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    struct raw_lock *lock = arg;

    (void)zh, (void)state, (void)path;
    if (type != ZOO_DELETED_EVENT || !lock->waiting)
        return;
    lock->waiting = false;
    list(index_of(lock));
}

static void on_watched(int rc, const char *value, int len,
                       const struct Stat *stat, const void *data)
{
    (void)value, (void)len, (void)stat;
    self.flying--;
    if (rc == ZNONODE)
        list(index_of(data));
    else
        plain_check(rc, "get");
}

static void watch(int i, const char *name)
{
    char dir[PATH_SIZE], path[2 * PATH_SIZE];

    run_path(self.run, i, dir);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    self.lock[i].waiting = true;
    self.flying++;
    plain_check(zoo_awget(self.p.zh, path, on_watch, &self.lock[i], on_watched,
                          &self.lock[i]),
                "get");
}

/* Is it in the way of @i? */
static bool bars(const char *name, int i)
{
    return run_mode(self.run, i) != READS ||
           strncmp(name, prefix[READS], strlen(prefix[READS])) != 0;
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    int i = index_of(data);
    int32_t own = self.lock[i].seq, best = -1;
    const char *before = NULL;

    self.flying--;
    plain_check(rc, "getChildren");
    for (int32_t k = 0; k < names->count; k++) {
        int32_t seq = plain_seq(names->data[k]);

        if (seq < own && seq > best && bars(names->data[k], i)) {
            best = seq;
            before = names->data[k];
        }
    }
    if (before)
        watch(i, before);
    else
        run_granted(self.run, i);
}

static void list(int i)
{
    char dir[PATH_SIZE];

    run_path(self.run, i, dir);
    self.lock[i].waiting = false;
    self.flying++;
    plain_check(zoo_aget_children(self.p.zh, dir, 0, on_listed, &self.lock[i]),
                "getChildren");
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *data)
{
    (void)stat;
    self.flying--;
    plain_check(rc, "create");
    self.lock[index_of(data)].seq = plain_seq(path);
    if (!self.piped)
        list(index_of(data));
}

static void start(int i)
{
    char dir[PATH_SIZE], path[PATH_SIZE + 8];

    run_path(self.run, i, dir);
    snprintf(path, sizeof path, "%s/%s", dir, prefix[run_mode(self.run, i)]);
    self.flying++;
    plain_check(zoo_acreate2(self.p.zh, path, "host:12345", 10,
                             &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE,
                             on_created, &self.lock[i]),
                "create");
    if (self.piped)
        list(i);
}

static void on_deleted(int rc, const void *data)
{
    self.flying--;
    plain_check(rc, "delete");
    run_released(self.run, index_of(data));
}

static void stop(int i)
{
    char dir[PATH_SIZE], path[PATH_SIZE + 24];

    run_path(self.run, i, dir);
    snprintf(path, sizeof path, "%s/%s%010d", dir,
             prefix[run_mode(self.run, i)], self.lock[i].seq);
    self.flying++;
    plain_check(zoo_adelete(self.p.zh, path, -1, on_deleted, &self.lock[i]),
                "delete");
}

static void on_turn(void)
{
    while (plain_has_todo(&self.todo) && self.flying + 2 <= WINDOW) {
        int i = plain_next(&self.todo);

        self.todo.head++;
        if (i >= 0)
            start(i);
        else
            stop(~i);
    }
}

static void push(int i)
{
    if (!self.lock) {
        self.lock = calloc((size_t)self.locks, sizeof self.lock[0]);
        if (!self.lock)
            fail("raw: out of memory");
    }
    plain_push(&self.p, &self.todo, i);
}

static void acquire(int i) { push(i); }

static void release(int i) { push(~i); }

static void open_as(struct run *r, const char *servers, bool piped)
{
    self.run = r;
    self.piped = piped;
    self.locks = r->w->n < 1000 ? 1000 : r->w->n;
    self.todo.room = 2 * self.locks;
    plain_open(&self.p, r->base, servers, SESSION_MS, on_turn);
}

static void open_piped(struct run *r, const char *servers)
{
    open_as(r, servers, true);
}

static void open_plain(struct run *r, const char *servers)
{
    open_as(r, servers, false);
}

static bool busy(void) { return self.flying > 0 || plain_has_todo(&self.todo); }

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    plain_close(&self.p);
    free(self.lock);
    free(self.todo.v);
}

#define RAW(title, opens)                                                      \
    {                                                                          \
        .name = (title), .open = (opens), .acquire = acquire,                  \
        .release = release, .busy = busy, .connected = connected, .close = end \
    }

/* One lock after another: each step waits for the one before. */
const struct way way_raw_steps = RAW("raw", open_plain);
const struct way way_raw = RAW("raw", open_piped);
const struct way way_raw_piped = RAW("raw-piped", open_piped);
