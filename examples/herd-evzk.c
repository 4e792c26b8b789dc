/*
 * The same with this library.  Each contender has a znode of its own, and
 * watches only the one before it.  So a release wakes only the next one.
 *
 * Neighbours in the queue are of different sessions here, which costs most.
 * Within one session the lock is handed on without a question.
 */
#include <event2/event.h>
#include <evzk/evzk.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "herd.h"

static struct {
    struct herd *herd;
    struct event_base *base;
    evzk_session *session[HERD_SESSIONS];
    evzk_lock **lock;
    int connected, closed;
    int granted, released;
} self;

/* The one before it is gone: that is what a waiter wakes for. */
static void on_move(const evzk_trace *move, void *arg)
{
    (void)arg;
    self.herd->wakes += strcmp(move->event, "pred deleted") == 0;
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)arg;
    self.connected += event == EVZK_SESSION_CONNECTED;
    self.closed += event == EVZK_SESSION_CLOSED;
    if (event == EVZK_SESSION_EXPIRED)
        herd_fail("evzk", evzk_strerror(rc));
}

static void give_back(int i)
{
    int rc = evzk_lock_release(self.lock[i]);

    if (rc)
        herd_fail("evzk: release", evzk_strerror(rc));
}

/* All others wait, so each holder lets go at once.  But the first holder has
 * waited for the others, and for the last one no contender waits. */
static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    int i = (int)(intptr_t)arg;

    if (event == EVZK_LOCK_GRANTED) {
        self.granted++;
        if (i > 0 && i < self.herd->waiters)
            give_back(i);
    } else if (event == EVZK_LOCK_RELEASED) {
        self.released++;
        evzk_lock_free(lock);
        self.lock[i] = NULL;
    } else if (event > EVZK_LOCK_RELEASED) {
        herd_fail("evzk", evzk_strerror(rc));
    }
}

static void await(const int *count, int wanted)
{
    while (*count < wanted)
        event_base_loop(self.base, EVLOOP_ONCE);
}

static void open_all(const char *servers)
{
    evzk_session_options opt = {.timeout_ms = HERD_SESSION_MS,
                                .trace = on_move};

    for (int i = 0; i < HERD_SESSIONS; i++) {
        int rc = evzk_session_open(self.base, servers, &opt, on_session, NULL,
                                   &self.session[i]);

        if (rc)
            herd_fail("evzk", evzk_strerror(rc));
    }
    await(&self.connected, HERD_SESSIONS);
}

static void close_all(void)
{
    for (int i = 0; i < HERD_SESSIONS; i++)
        evzk_session_close(self.session[i]);
    await(&self.closed, HERD_SESSIONS);
    for (int i = 0; i < HERD_SESSIONS; i++)
        evzk_session_free(self.session[i]);
}

/* One after another, so that the order in the queue is known. */
static void queue(int i)
{
    char path[64];
    int rc;

    snprintf(path, sizeof path, "/herd-%d-evzk", (int)getpid());
    rc = evzk_lock_acquire(self.session[i % HERD_SESSIONS], path, NULL, on_lock,
                           (void *)(intptr_t)i, &self.lock[i]);
    if (rc)
        herd_fail("evzk: acquire", evzk_strerror(rc));
    while (strcmp(evzk_lock_state(self.lock[i]), i ? "WATCHING" : "HELD") != 0)
        event_base_loop(self.base, EVLOOP_ONCE);
}

/* All requests so far, when all of them are answered.  The lease's probes come
 * by the clock, whatever the locks do: they are left out. */
static long count_requests(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < HERD_SESSIONS; i++) {
        evzk_session_stats st;

        evzk_session_get_stats(self.session[i], &st);
        while (st.in_flight > 0 || st.queued > 0) {
            event_base_loop(self.base, EVLOOP_ONCE);
            evzk_session_get_stats(self.session[i], &st);
        }
        sum += st.requests - st.probes;
    }
    return (long)sum;
}

void herd_evzk(const char *servers, struct herd *h)
{
    int n = h->waiters + 1; /* And one that has it first. */
    long before;

    self.herd = h;
    self.base = event_base_new();
    self.lock = calloc((size_t)n, sizeof(evzk_lock *));
    if (!self.base || !self.lock)
        herd_fail("evzk", "no memory");
    self.connected = self.closed = self.granted = self.released = 0;
    open_all(servers);
    for (int i = 0; i < n; i++)
        queue(i);
    before = count_requests();
    h->wakes = 0;
    give_back(0);
    await(&self.released, h->waiters);
    await(&self.granted, n);
    h->requests = count_requests() - before;
    h->releases = h->waiters;
    give_back(h->waiters);
    await(&self.released, n);
    close_all();
    event_base_free(self.base);
    free(self.lock);
}
