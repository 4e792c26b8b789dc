/* evzk with its default options, used as its manual says; and with a
 * priority. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    evzk_lock **lock;
    int locks;
    bool urgent; /* With a priority. */
} self;

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

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    self.locks = r->w->n < 1000 ? 1000 : r->w->n;
    library_open(r, servers);
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

    if (!self.lock)
        self.lock = library_room(self.locks, sizeof(evzk_lock *));
    run_path(self.run, i, path);
    library_check(evzk_lock_acquire(library, path, &opt, on_lock,
                                    (void *)(intptr_t)i, &self.lock[i]),
                  "acquire");
}

static void release(int i)
{
    library_check(evzk_lock_release(self.lock[i]), "release");
}

static void end(void)
{
    library_close();
    free(self.lock);
}

const struct way way_evzk = {.name = "evzk",
                             .makes_dirs = true,
                             .open = open_session,
                             .acquire = acquire,
                             .release = release,
                             .busy = library_busy,
                             .connected = library_connected,
                             .close = end,
                             .watches = library_watches};

const struct way way_evzk_priority = {.name = "evzk-priority",
                                      .makes_dirs = true,
                                      .open = open_urgent,
                                      .acquire = acquire,
                                      .release = release,
                                      .busy = library_busy,
                                      .connected = library_connected,
                                      .close = end,
                                      .watches = library_watches};
