/* evzk's double barrier, used as the manual says. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    char path[PATH_SIZE];
    evzk_double_barrier **v;
} self;

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event event,
                     int rc, void *arg)
{
    int i = (int)(intptr_t)arg;

    switch (event) {
    case EVZK_DOUBLE_BARRIER_ENTERED:
        run_granted(self.run, i);
        break;
    case EVZK_DOUBLE_BARRIER_LEFT:
        library_check(rc, "leave");
        evzk_double_barrier_free(d);
        self.v[i] = NULL;
        run_released(self.run, i);
        break;
    case EVZK_DOUBLE_BARRIER_LOST:
    case EVZK_DOUBLE_BARRIER_FAILED:
        fail("evzk: the double barrier: %s", evzk_strerror(rc));
    case EVZK_DOUBLE_BARRIER_SUSPENDED:
    case EVZK_DOUBLE_BARRIER_RESUMED:
        self.run->n_other++;
    }
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    self.v = library_room(r->w->n, sizeof self.v[0]);
    run_path(r, 0, self.path);
    library_open(r, servers);
}

static void enter(int i)
{
    const evzk_double_barrier_options opt = {.count = (uint32_t)self.run->w->n};

    library_check(evzk_double_barrier_enter(library, self.path, &opt, on_event,
                                            (void *)(intptr_t)i, &self.v[i]),
                  "enter");
}

static void leave(int i)
{
    library_check(evzk_double_barrier_leave(self.v[i]), "leave");
}

static void end(void)
{
    library_close();
    free(self.v);
}

const struct way way_evzk_double_barrier = {.name = "evzk",
                                            .makes_dirs = true,
                                            .open = open_session,
                                            .acquire = enter,
                                            .release = leave,
                                            .busy = library_busy,
                                            .connected = library_connected,
                                            .close = end,
                                            .watches = library_watches};
