/* evzk's counter, used as the manual says: one writer, and all additions at
 * once. */
#include <inttypes.h>

#include "library.h"

static struct {
    struct run *run;
    evzk_value_writer *writer;
    int64_t last;
    bool closed;
} self;

static void on_writer(evzk_value_writer *writer, evzk_value_writer_event event,
                      int rc, void *arg)
{
    (void)writer, (void)arg;
    if (event == EVZK_VALUE_WRITER_FAILED)
        fail("evzk: the writer: %s", evzk_strerror(rc));
    self.closed = true;
}

static void on_added(evzk_value_writer *writer, int rc, int64_t number,
                     void *arg)
{
    int i = (int)(intptr_t)arg;

    (void)writer;
    library_check(rc, "add");
    if (number != ++self.last)
        fail("evzk: the counter is %" PRId64 ", not %" PRId64, number,
             self.last);
    run_granted(self.run, i);
    run_released(self.run, i);
}

static void open_session(struct run *r, const char *servers)
{
    char path[PATH_SIZE];

    self.run = r;
    run_path(r, 0, path);
    library_open(r, servers);
    library_check(evzk_value_writer_start(library, path, NULL, on_writer, NULL,
                                          &self.writer),
                  "writer");
}

static void add(int i)
{
    library_check(
        evzk_counter_add(self.writer, 1, on_added, (void *)(intptr_t)i), "add");
}

static void end(void)
{
    library_check(evzk_value_writer_close(self.writer), "close");
    while (!self.closed)
        library_turn();
    evzk_value_writer_free(self.writer);
    library_close();
}

const struct way way_evzk_counter = {.name = "evzk",
                                     .makes_dirs = true,
                                     .open = open_session,
                                     .acquire = add,
                                     .busy = library_busy,
                                     .connected = library_connected,
                                     .close = end,
                                     .watches = library_watches};
