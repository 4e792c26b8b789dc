/* evzk's members, with default options, used as the manual says. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    char path[PATH_SIZE];
    evzk_member **v;
} self;

static void on_member(evzk_member *member, evzk_member_event event, int rc,
                      void *arg)
{
    int i = (int)(intptr_t)arg;

    switch (event) {
    case EVZK_MEMBER_JOINED:
        run_granted(self.run, i);
        break;
    case EVZK_MEMBER_LEFT:
        library_check(rc, "leave");
        evzk_member_free(member);
        self.v[i] = NULL;
        run_released(self.run, i);
        break;
    case EVZK_MEMBER_FAILED:
        fail("evzk: a member: %s", evzk_strerror(rc));
    case EVZK_MEMBER_UPDATED:
    case EVZK_MEMBER_SUSPENDED:
    case EVZK_MEMBER_RESUMED:
    case EVZK_MEMBER_REJOINING:
    case EVZK_MEMBER_CONFLICT:
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

static void join(int i)
{
    const evzk_member_options opt = {.data = MEMBER_DATA,
                                     .data_len = sizeof MEMBER_DATA - 1};
    char name[16];

    snprintf(name, sizeof name, "m-%d", i);
    library_check(evzk_group_join(library, self.path, name, &opt, on_member,
                                  (void *)(intptr_t)i, &self.v[i]),
                  "join");
}

static void leave(int i)
{
    library_check(evzk_member_leave(self.v[i]), "leave");
}

static void end(void)
{
    library_close();
    free(self.v);
}

const struct way way_evzk_group = {.name = "evzk",
                                   .makes_dirs = true,
                                   .open = open_session,
                                   .acquire = join,
                                   .release = leave,
                                   .busy = library_busy,
                                   .connected = library_connected,
                                   .close = end,
                                   .watches = library_watches};
