/* evzk's observers, used as the manual says. */
#include <stdlib.h>

#include "library.h"

struct seen {
    evzk_observer *observer;
    uint64_t epoch; /* Told last. */
};

static struct {
    struct run *run;
    struct seen *seen;
} self;

/* That nobody leads is heard, too, and not counted. */
static void on_leader(evzk_observer *observer, int rc,
                      const evzk_leader *leader, void *arg)
{
    struct seen *seen = arg;

    (void)observer;
    if (rc != EVZK_OK)
        self.run->n_other += !self.run->ending;
    if (rc != EVZK_OK || !leader || leader->epoch == seen->epoch)
        return;
    seen->epoch = leader->epoch;
    run_granted(self.run, (int)(seen - self.seen));
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    library_open(r, servers);
}

static void acquire(int i)
{
    char path[PATH_SIZE];

    if (!self.seen)
        self.seen = library_room(self.run->w->n, sizeof self.seen[0]);
    run_path(self.run, i, path);
    library_check(evzk_election_observe(library, path, on_leader, &self.seen[i],
                                        &self.seen[i].observer),
                  "observe");
}

static void end(void)
{
    library_close();
    for (int i = 0; self.seen && i < self.run->w->n; i++)
        evzk_observer_free(self.seen[i].observer);
    free(self.seen);
}

const struct way way_evzk_observe = {.name = "evzk",
                                     .makes_dirs = true,
                                     .open = open_session,
                                     .acquire = acquire,
                                     .busy = library_busy,
                                     .connected = library_connected,
                                     .close = end,
                                     .watches = library_watches};
