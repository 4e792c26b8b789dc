/* evzk's semaphore, with default options, used as the manual says. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    char path[PATH_SIZE];
    evzk_semaphore **v;
} self;

static void on_lease(evzk_semaphore *semaphore, evzk_semaphore_event event,
                     int rc, void *arg)
{
    int i = (int)(intptr_t)arg;

    switch (event) {
    case EVZK_SEMAPHORE_ACQUIRED:
        run_granted(self.run, i);
        break;
    case EVZK_SEMAPHORE_RELEASED:
        library_check(rc, "release");
        evzk_semaphore_free(semaphore);
        self.v[i] = NULL;
        run_released(self.run, i);
        break;
    case EVZK_SEMAPHORE_LOST:
    case EVZK_SEMAPHORE_FAILED:
        fail("evzk: a semaphore: %s", evzk_strerror(rc));
    case EVZK_SEMAPHORE_SUSPENDED:
    case EVZK_SEMAPHORE_RESUMED:
    case EVZK_SEMAPHORE_REQUEUED:
        self.run->n_other += !self.run->ending;
    }
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    self.v = library_room(r->w->n, sizeof self.v[0]);
    run_path(r, 0, self.path);
    library_open(r, servers);
}

static void acquire(int i)
{
    const evzk_semaphore_options opt = {.leases =
                                            (uint32_t)self.run->w->leases};

    library_check(evzk_semaphore_acquire(library, self.path, &opt, on_lease,
                                         (void *)(intptr_t)i, &self.v[i]),
                  "acquire");
}

static void release(int i)
{
    library_check(evzk_semaphore_release(self.v[i]), "release");
}

static void end(void)
{
    library_close();
    free(self.v);
}

const struct way way_evzk_semaphore = {.name = "evzk",
                                       .makes_dirs = true,
                                       .open = open_session,
                                       .acquire = acquire,
                                       .release = release,
                                       .busy = library_busy,
                                       .connected = library_connected,
                                       .close = end,
                                       .watches = library_watches};
