/*
 * The naive lock: one ephemeral znode.  The process that creates it holds the
 * lock.  The others find it there, watch it, and try again when it is gone.
 *
 * That is correct.  But all waiters watch the same znode: so one release wakes
 * all of them, all of them ask, one gets the lock, and all others ask once
 * more, to watch.  Nor is it fair: luck decides which waiter is served.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "herd.h"

struct waiter {
    struct client *client;
    bool waiting; /* Its watch is set. */
};

static struct {
    struct herd *herd;
    struct event_base *base;
    struct client client[HERD_SESSIONS];
    struct waiter *waiter;
    struct waiter *holder; /* NULL: unknown. */
    char path[64];
    int waiting; /* For the znode that is there now. */
    bool deleting, over;
} self;

static void try(struct waiter *w);

static void sent(struct waiter *w, int rc)
{
    if (rc != ZOK)
        herd_fail("the naive lock", zerror(rc));
    self.herd->requests++;
    client_kick(w->client);
}

static void pass_on_when_all_wait(void);

static void on_deleted(int rc, const void *data)
{
    (void)data;
    if (rc != ZOK)
        herd_fail("the naive lock: delete", zerror(rc));
    self.deleting = false;
    pass_on_when_all_wait();
}

/* The holder lets go when all others wait, as if it had worked for a while. The
 * last release is not counted: no waiter is left. */
static void pass_on_when_all_wait(void)
{
    struct herd *h = self.herd;
    struct waiter *w = self.holder;

    if (!w || self.deleting || self.waiting < h->waiters - h->releases)
        return;
    if (h->releases == 0)
        h->requests = h->wakes = 0; /* Queueing is not measured. */
    self.over = h->releases == h->wanted;
    if (self.over)
        return;
    h->releases++;
    self.holder = NULL;
    self.deleting = true; /* The others may hear of it first. */
    self.waiting = 0;     /* The waiters wake, and queue again. */
    sent(w, zoo_adelete(w->client->zh, self.path, -1, on_deleted, NULL));
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    struct waiter *w = arg;

    (void)zh, (void)state, (void)path;
    if (type == ZOO_SESSION_EVENT)
        return;
    self.herd->wakes++;
    if (!w->waiting)
        return;
    w->waiting = false;
    try(w);
}

static void on_exists(int rc, const struct Stat *stat, const void *data)
{
    struct waiter *w = (struct waiter *)data;

    (void)stat;
    if (rc == ZNONODE) {
        try(w); /* Gone in between. */
        return;
    }
    if (rc != ZOK)
        herd_fail("the naive lock: exists", zerror(rc));
    w->waiting = true;
    self.waiting++;
    pass_on_when_all_wait();
}

static void on_created(int rc, const char *path, const void *data)
{
    struct waiter *w = (struct waiter *)data;

    (void)path;
    if (rc == ZNODEEXISTS) {
        sent(w,
             zoo_awexists(w->client->zh, self.path, on_watch, w, on_exists, w));
        return;
    }
    if (rc != ZOK)
        herd_fail("the naive lock: create", zerror(rc));
    self.holder = w;
    pass_on_when_all_wait();
}

static void try(struct waiter *w)
{
    sent(w, zoo_acreate(w->client->zh, self.path, NULL, -1,
                        &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_created, w));
}

static void connect_all(const char *servers)
{
    for (int i = 0; i < HERD_SESSIONS; i++)
        client_open(&self.client[i], self.base, servers);
    for (int i = 0; i < HERD_SESSIONS; i++)
        while (!client_connected(&self.client[i]))
            event_base_loop(self.base, EVLOOP_ONCE);
}

void herd_naive(const char *servers, struct herd *h)
{
    size_t n = (size_t)h->waiters + 1; /* And one that has it first. */

    self.herd = h;
    self.base = event_base_new();
    self.waiter = calloc(n, sizeof *self.waiter);
    if (!self.base || !self.waiter)
        herd_fail("the naive lock", "no memory");
    snprintf(self.path, sizeof self.path, "/herd-%d-naive", (int)getpid());
    self.holder = NULL;
    self.waiting = 0;
    self.deleting = self.over = false;
    connect_all(servers);
    for (size_t i = 0; i < n; i++) {
        self.waiter[i].client = &self.client[i % HERD_SESSIONS];
        try(&self.waiter[i]);
    }
    while (!self.over)
        event_base_loop(self.base, EVLOOP_ONCE);
    for (int i = 0; i < HERD_SESSIONS; i++)
        client_close(&self.client[i]);
    event_base_free(self.base);
    free(self.waiter);
}
