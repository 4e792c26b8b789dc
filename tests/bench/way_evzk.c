/* evzk with its default options, used as its manual says; and with a
 * priority. */
#include <event2/event.h>
#include <evzk/evzk.h>
#include <stdlib.h>

#include "bench.h"

static struct {
    evzk_session *s;
    struct run *run;
    evzk_lock **lock;
    int locks;
    bool urgent; /* With a priority. */
    bool up, closed;
} self;

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s;
    (void)arg;
    if (event == EVZK_SESSION_EXPIRED)
        fail("evzk: the session expired");
    self.up |= event == EVZK_SESSION_CONNECTED;
    self.closed |= event == EVZK_SESSION_CLOSED;
    /* A server with 100,000 znodes to delete takes longer than we wait. */
    if (self.closed && rc != EVZK_OK && rc != EVZK_ERR_TIMEOUT)
        fail("evzk: the session was closed: %s", evzk_strerror(rc));
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct run *r = self.run;
    int i = (int)(intptr_t)arg;

    r->n_suspended += event == EVZK_LOCK_SUSPENDED;
    r->n_resumed += event == EVZK_LOCK_RESUMED;
    if (event == EVZK_LOCK_GRANTED) {
        run_granted(r, i);
        return;
    }
    if (event == EVZK_LOCK_SUSPENDED || event == EVZK_LOCK_RESUMED)
        return;
    if (event != EVZK_LOCK_RELEASED || rc != EVZK_OK)
        r->n_other += !r->ending;
    if (event < EVZK_LOCK_RELEASED)
        return;
    evzk_lock_free(lock);
    self.lock[i] = NULL;
    if (event == EVZK_LOCK_RELEASED)
        run_released(r, i);
}

static void wait_for(struct event_base *base, const bool *what)
{
    while (!*what)
        event_base_loop(base, EVLOOP_ONCE);
}

static void open_session(struct run *r, const char *servers)
{
    int rc =
        evzk_session_open(r->base, servers, NULL, on_session, NULL, &self.s);

    if (rc != EVZK_OK)
        fail("evzk: %s", evzk_strerror(rc));
    self.run = r;
    self.locks = r->w->n < 1000 ? 1000 : r->w->n;
    wait_for(r->base, &self.up);
}

static void open_urgent(struct run *r, const char *servers)
{
    self.urgent = true;
    open_session(r, servers);
}

static evzk_lock_options options_of(int i)
{
    static const evzk_lock_mode modes[] = {[ALONE] = EVZK_LOCK_EXCLUSIVE,
                                           [WRITES] = EVZK_LOCK_WRITE,
                                           [READS] = EVZK_LOCK_READ};
    static evzk_lock_priority priority;
    evzk_lock_options opt = {.mode = modes[run_mode(self.run, i)]};
    int different = self.run->w->priorities;

    if (self.urgent) {
        priority.priority = (uint8_t)(different ? i % different : 0);
        opt.mode = EVZK_LOCK_WRITE;
        opt.priority = &priority;
    }
    return opt;
}

static void acquire(int i)
{
    evzk_lock_options opt = options_of(i);
    char path[PATH_SIZE];
    int rc;

    if (!self.lock)
        self.lock = calloc((size_t)self.locks, sizeof(evzk_lock *));
    if (!self.lock)
        fail("evzk: out of memory");
    run_path(self.run, i, path);
    rc = evzk_lock_acquire(self.s, path, &opt, on_lock, (void *)(intptr_t)i,
                           &self.lock[i]);
    if (rc != EVZK_OK)
        fail("evzk: acquire: %s", evzk_strerror(rc));
}

static void release(int i)
{
    int rc = evzk_lock_release(self.lock[i]);

    if (rc != EVZK_OK)
        fail("evzk: release: %s", evzk_strerror(rc));
}

static bool busy(void)
{
    evzk_session_stats st;

    evzk_session_get_stats(self.s, &st);
    return st.in_flight > 0 || st.queued > 0;
}

static bool connected(void) { return evzk_session_connected(self.s); }

static int64_t watches(void)
{
    evzk_session_stats st;

    evzk_session_get_stats(self.s, &st);
    return st.watches;
}

static void end(void)
{
    evzk_session_close(self.s);
    wait_for(self.run->base, &self.closed);
    evzk_session_free(self.s);
    free(self.lock);
}

const struct way way_evzk = {"evzk", true,      open_session, acquire, release,
                             busy,   connected, end,          watches};

const struct way way_evzk_priority = {"evzk-priority", true,    open_urgent,
                                      acquire,         release, busy,
                                      connected,       end,     watches};
