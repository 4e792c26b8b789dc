/* evzk's guarded writes, used as the manual says: all rest on one lock, which
 * is held all the time. */
#include "library.h"

static struct {
    struct run *run;
    evzk_lock *lock;
    bool held, released;
} self;

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    (void)lock, (void)arg;
    self.held |= event == EVZK_LOCK_GRANTED;
    self.released |= event == EVZK_LOCK_RELEASED;
    if (event != EVZK_LOCK_GRANTED && event != EVZK_LOCK_RELEASED)
        self.run->n_other += !self.run->ending;
    if (event > EVZK_LOCK_RELEASED)
        fail("evzk: the lock: %s", evzk_strerror(rc));
}

static void open_session(struct run *r, const char *servers)
{
    char path[PATH_SIZE + 8];

    self.run = r;
    snprintf(path, sizeof path, "%s-guard", r->dir);
    library_open(r, servers);
    library_check(
        evzk_lock_acquire(library, path, NULL, on_lock, NULL, &self.lock),
        "acquire");
    while (!self.held)
        library_turn();
}

static void on_written(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                       const evzk_guard_result *result, void *arg)
{
    int i = (int)(intptr_t)arg;

    (void)result;
    if (outcome != EVZK_GUARD_DONE)
        fail("evzk: a guarded write: %s", evzk_strerror(rc));
    evzk_guard_free(guard);
    run_granted(self.run, i);
    run_released(self.run, i);
}

static void write_guarded(int i)
{
    static const char text[VALUE_SIZE];
    const evzk_guard_by by = {.lock = self.lock};
    char path[PATH_SIZE];
    const evzk_guard_op op = {.verb = EVZK_GUARD_SET,
                              .path = path,
                              .version = -1,
                              .data = text,
                              .data_len = sizeof text};
    evzk_guard *guard;

    run_path(self.run, i, path);
    library_check(evzk_guard_write(library, &by, &op, 1, NULL, on_written,
                                   (void *)(intptr_t)i, &guard),
                  "write");
}

static void end(void)
{
    library_check(evzk_lock_release(self.lock), "release");
    while (!self.released)
        library_turn();
    evzk_lock_free(self.lock);
    library_close();
}

const struct way way_evzk_guard = {.name = "evzk",
                                   .open = open_session,
                                   .acquire = write_guarded,
                                   .busy = library_busy,
                                   .connected = library_connected,
                                   .close = end,
                                   .watches = library_watches};
