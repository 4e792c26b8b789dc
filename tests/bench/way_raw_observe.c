/*
 * Observing leaders with the C client alone: the znode `leader` is read with a
 * watch, and, while there is none, waited for with another.  The data is taken
 * for the truth; that its candidate has gone is not looked at.
 */
#include <event2/event.h>
#include <stdlib.h>

#include "bench.h"
#include "plain.h"

struct seen {
    long long epoch; /* Told last. */
};

static struct {
    struct plain p;
    struct run *run;
    struct seen *seen;
    int flying;
} self;

static void look(int i);

static int index_of(const void *data)
{
    return (int)((const struct seen *)data - self.seen);
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    (void)zh, (void)state, (void)path;
    if (type != ZOO_SESSION_EVENT)
        look(index_of(arg));
}

static void leader_path(int i, char path[2 * PATH_SIZE])
{
    char dir[PATH_SIZE];

    run_path(self.run, i, dir);
    snprintf(path, (size_t)2 * PATH_SIZE, "%s/leader", dir);
}

/* The znode has come meanwhile, or the watch will tell. */
static void on_exists(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    self.flying--;
    if (rc == ZOK)
        look(index_of(data));
    else if (rc != ZNONODE)
        plain_check(rc, "exists");
}

static void await(int i)
{
    char path[2 * PATH_SIZE];

    leader_path(i, path);
    self.flying++;
    plain_check(zoo_awexists(self.p.zh, path, on_watch, &self.seen[i],
                             on_exists, &self.seen[i]),
                "exists");
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    char text[32];
    int i = index_of(data);
    long long epoch;

    (void)stat;
    self.flying--;
    if (rc == ZNONODE) {
        await(i);
        return;
    }
    plain_check(rc, "get");
    snprintf(text, sizeof text, "%.*s", len, value);
    epoch = strtoll(text, NULL, 10);
    if (epoch == self.seen[i].epoch)
        return;
    self.seen[i].epoch = epoch;
    run_granted(self.run, i);
}

static void look(int i)
{
    char path[2 * PATH_SIZE];

    leader_path(i, path);
    self.flying++;
    plain_check(zoo_awget(self.p.zh, path, on_watch, &self.seen[i], on_read,
                          &self.seen[i]),
                "get");
}

static void acquire(int i)
{
    if (!self.seen)
        self.seen = calloc((size_t)self.run->w->n, sizeof self.seen[0]);
    if (!self.seen)
        fail("raw: out of memory");
    look(i);
    plain_kick(&self.p);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    plain_open(&self.p, r->base, servers, run_session_ms(r), NULL);
}

static bool busy(void) { return self.flying > 0; }

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    plain_close(&self.p);
    free(self.seen);
}

const struct way way_raw_observe = {.name = "raw",
                                    .open = open_session,
                                    .acquire = acquire,
                                    .busy = busy,
                                    .connected = connected,
                                    .close = end};
