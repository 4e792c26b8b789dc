/* evzk's elections, with default options, used as the manual says. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    evzk_election **election;
} self;

/* Whatever comes in an election that nobody else stands in, and that nobody
 * disturbs, is counted. */
static void other(evzk_election_event event)
{
    self.run->n_suspended += event == EVZK_ELECTION_SUSPENDED;
    self.run->n_resumed += event == EVZK_ELECTION_RESUMED;
    if (event != EVZK_ELECTION_SUSPENDED && event != EVZK_ELECTION_RESUMED)
        self.run->n_other += !self.run->ending;
}

static void on_election(evzk_election *election, evzk_election_event event,
                        int rc, void *arg)
{
    static const char said[] = "host:12345";
    struct run *r = self.run;
    int i = (int)(intptr_t)arg;

    if (event == EVZK_ELECTION_ELECTED)
        library_check(
            evzk_election_acknowledge(election, said, sizeof said - 1),
            "acknowledge");
    else if (event == EVZK_ELECTION_LEADING && rc == EVZK_OK)
        run_granted(r, i);
    else if (event != EVZK_ELECTION_RESIGNED || rc != EVZK_OK)
        other(event);
    if (event < EVZK_ELECTION_RESIGNED)
        return;
    evzk_election_free(election);
    self.election[i] = NULL;
    if (event == EVZK_ELECTION_RESIGNED)
        run_released(r, i);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    library_open(r, servers);
}

static void acquire(int i)
{
    char path[PATH_SIZE];

    if (!self.election)
        self.election = library_room(self.run->w->n, sizeof(evzk_election *));
    run_path(self.run, i, path);
    library_check(evzk_election_volunteer(library, path, NULL, on_election,
                                          (void *)(intptr_t)i,
                                          &self.election[i]),
                  "volunteer");
}

static void release(int i)
{
    library_check(evzk_election_resign(self.election[i]), "resign");
}

static void end(void)
{
    library_close();
    free(self.election);
}

const struct way way_evzk_election = {.name = "evzk",
                                      .makes_dirs = true,
                                      .open = open_session,
                                      .acquire = acquire,
                                      .release = release,
                                      .busy = library_busy,
                                      .connected = library_connected,
                                      .close = end,
                                      .watches = library_watches};
