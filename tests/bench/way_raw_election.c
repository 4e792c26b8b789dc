/*
 * Elections with the C client alone, as one writes them who knows the recipe
 * and the client well, and trusts the network.  Create and listing of the
 * candidates go out back to back; the first one creates `leader`, another
 * watches the one before it.  If that one was the first when it was listed,
 * nobody else can be before us when it is gone: then `leader` is created
 * without a look.  The leader deletes `leader`, then its own znode.
 *
 * Of shards there is no plan: the first process stands for those that are to be
 * handed over, the second one behind it, and for as many of its own.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain.h"

enum {
    LEAVING = 32 /* Shards handed over at a time: each is led by nobody for a
                    few trips, and not while it waits for the others. */
};

static const char own_prefix[] = "n_", said[] = "host:12345";

struct candidate {
    int32_t seq; /* Of the own znode. */
    bool waiting;
    bool second; /* The one that it waits for was the first. */
    bool leads;
};

static struct {
    struct plain p;
    struct run *run;
    struct candidate *candidate;
    int elections;
    struct plain_todo todo; /* To stand for, or ~to resign. */
    int flying;             /* Requests. */
    int leaving, most_leaving;
} self;

static void list(int i);

static int index_of(const void *data)
{
    return (int)((const struct candidate *)data - self.candidate);
}

static void child_path(int i, const char *name, char path[2 * PATH_SIZE])
{
    char dir[PATH_SIZE];

    run_path(self.run, i, dir);
    snprintf(path, (size_t)2 * PATH_SIZE, "%.150s/%.150s", dir, name);
}

/* ---- To stand ---- */

static void on_led(int rc, const char *path, const void *data)
{
    int i = index_of(data);

    (void)path;
    self.flying--;
    plain_check(rc, "create leader");
    self.candidate[i].leads = true;
    run_granted(self.run, i);
}

static void lead(int i)
{
    char path[2 * PATH_SIZE];

    child_path(i, "leader", path);
    self.flying++;
    plain_check(zoo_acreate(self.p.zh, path, said, sizeof said - 1,
                            &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_led,
                            &self.candidate[i]),
                "create leader");
}

static void is_gone(struct candidate *c)
{
    if (c->second)
        lead(index_of(c));
    else
        list(index_of(c));
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    struct candidate *c = arg;

    (void)zh, (void)state, (void)path;
    if (type != ZOO_DELETED_EVENT || !c->waiting)
        return;
    c->waiting = false;
    is_gone(c);
}

static void on_watched(int rc, const char *value, int len,
                       const struct Stat *stat, const void *data)
{
    struct candidate *c = &self.candidate[index_of(data)];

    (void)value, (void)len, (void)stat;
    self.flying--;
    if (rc != ZNONODE)
        plain_check(rc, "get");
    else
        is_gone(c);
}

static void watch(int i, const char *name)
{
    struct candidate *c = &self.candidate[i];
    char path[2 * PATH_SIZE];

    child_path(i, name, path);
    c->waiting = true;
    self.flying++;
    plain_check(zoo_awget(self.p.zh, path, on_watch, c, on_watched, c), "get");
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    int i = index_of(data), before = 0;
    int32_t own = self.candidate[i].seq, best = -1;
    const char *next = NULL;

    self.flying--;
    plain_check(rc, "getChildren");
    for (int32_t k = 0; k < names->count; k++) {
        const char *name = names->data[k];
        int32_t seq = plain_seq(name);

        if (strncmp(name, own_prefix, strlen(own_prefix)) != 0 || seq >= own)
            continue;
        before++;
        if (seq > best)
            next = name;
        best = seq > best ? seq : best;
    }
    self.candidate[i].second = before == 1;
    if (next)
        watch(i, next);
    else
        lead(i);
}

static void list(int i)
{
    char dir[PATH_SIZE];

    run_path(self.run, i, dir);
    self.candidate[i].waiting = false;
    self.flying++;
    plain_check(
        zoo_aget_children(self.p.zh, dir, 0, on_listed, &self.candidate[i]),
        "getChildren");
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *data)
{
    (void)stat;
    self.flying--;
    plain_check(rc, "create");
    self.candidate[index_of(data)].seq = plain_seq(path);
}

static void stand(int i)
{
    char path[2 * PATH_SIZE];

    child_path(i, own_prefix, path);
    self.flying++;
    plain_check(zoo_acreate2(self.p.zh, path, said, sizeof said - 1,
                             &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE,
                             on_created, &self.candidate[i]),
                "create");
    list(i);
}

/* ---- To resign ---- */

static void on_deleted(int rc, const void *data)
{
    (void)data;
    self.flying--;
    plain_check(rc, "delete leader");
}

static void on_resigned(int rc, const void *data)
{
    self.flying--;
    self.leaving--;
    plain_check(rc, "delete");
    run_released(self.run, index_of(data));
}

static void resign(int i)
{
    struct candidate *c = &self.candidate[i];
    char name[32], path[2 * PATH_SIZE];

    c->leads = false;
    run_given(self.run, i);
    self.flying += 2;
    self.leaving++;
    child_path(i, "leader", path);
    plain_check(zoo_adelete(self.p.zh, path, -1, on_deleted, c),
                "delete leader");
    snprintf(name, sizeof name, "%s%010d", own_prefix, c->seq);
    child_path(i, name, path);
    plain_check(zoo_adelete(self.p.zh, path, -1, on_resigned, c), "delete");
}

/* ---- What is to be done ---- */

static void on_turn(void)
{
    while (plain_has_todo(&self.todo) && self.flying + 2 <= WINDOW) {
        int i = plain_next(&self.todo);

        if (i < 0 && self.leaving >= self.most_leaving)
            return;
        self.todo.head++;
        if (i >= 0)
            stand(i);
        else
            resign(~i);
    }
}

static void push(int i)
{
    if (!self.candidate) {
        self.candidate =
            calloc((size_t)self.elections, sizeof self.candidate[0]);
        if (!self.candidate)
            fail("raw: out of memory");
    }
    plain_push(&self.p, &self.todo, i);
}

static void acquire(int i) { push(i); }

static void release(int i) { push(~i); }

static void join(int k)
{
    int n = k == 0 ? self.run->w->n : self.run->w->shards;

    for (int i = 0; i < n; i++)
        push(i);
}

static void drain(void)
{
    if (self.run->w->processes > 1) /* Else there is nobody to take it. */
        self.most_leaving = LEAVING;
    for (int i = 0; i < self.elections; i++)
        if (self.candidate[i].leads)
            push(~i);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    self.elections = r->w->shards ? r->w->shards : r->w->n;
    self.todo.room = 2 * self.elections;
    self.most_leaving = WINDOW;
    plain_open(&self.p, r->base, servers, run_session_ms(r), on_turn);
}

static bool busy(void) { return self.flying > 0 || plain_has_todo(&self.todo); }

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    plain_close(&self.p);
    free(self.candidate);
    free(self.todo.v);
}

const struct way way_raw_election = {.name = "raw",
                                     .open = open_session,
                                     .acquire = acquire,
                                     .release = release,
                                     .busy = busy,
                                     .connected = connected,
                                     .close = end,
                                     .join = join,
                                     .drain = drain};
