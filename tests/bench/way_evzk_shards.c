/* evzk's shards, with default options, used as the manual says. */
#include "library.h"

static struct {
    struct run *run;
    evzk_shards *shards;
} self;

static void on_shard(evzk_shards *shards, uint32_t shard,
                     evzk_election_event event, int rc, void *arg)
{
    struct run *r = arg;

    (void)shards;
    r->n_suspended += event == EVZK_ELECTION_SUSPENDED;
    r->n_resumed += event == EVZK_ELECTION_RESUMED;
    if (event == EVZK_ELECTION_LEADING && rc == EVZK_OK)
        run_granted(r, (int)shard);
    else if (event == EVZK_ELECTION_RESIGNED)
        run_given(r, (int)shard);
    else if (event != EVZK_ELECTION_ELECTED &&
             event != EVZK_ELECTION_SUSPENDED && event != EVZK_ELECTION_RESUMED)
        r->n_other += !r->ending;
}

static void on_shards(evzk_shards *shards, evzk_shards_event event, int rc,
                      void *arg)
{
    struct run *r = arg;

    if (event == EVZK_SHARDS_FAILED && !r->ending)
        fail("evzk: the shards: %s", evzk_strerror(rc));
    if (event < EVZK_SHARDS_DRAINED)
        return;
    evzk_shards_free(shards);
    self.shards = NULL;
    run_all_released(r);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    library_open(r, servers);
}

static void join(int k)
{
    const evzk_shards_options opt = {.count = (uint32_t)self.run->w->shards,
                                     .data = "host:12345",
                                     .data_len = 10};
    char path[PATH_SIZE];

    (void)k;
    snprintf(path, sizeof path, "%.100s/" SHARDS_NAME, self.run->dir);
    library_check(evzk_shards_join(library, path, &opt, on_shard, on_shards,
                                   self.run, &self.shards),
                  "join");
}

static void drain(void)
{
    library_check(evzk_shards_drain(self.shards, 0), "drain");
}

static void end(void)
{
    evzk_shards_free(self.shards);
    library_close();
}

const struct way way_evzk_shards = {.name = "evzk",
                                    .makes_dirs = true,
                                    .open = open_session,
                                    .busy = library_busy,
                                    .connected = library_connected,
                                    .close = end,
                                    .watches = library_watches,
                                    .join = join,
                                    .drain = drain};
