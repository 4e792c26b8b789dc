/* evzk's compare-and-set, used as the manual says: each value is read, and has
 * a writer for one write. */
#include <stdlib.h>

#include "library.h"

static struct {
    struct run *run;
    evzk_value_writer **writer;
} self;

static void on_writer(evzk_value_writer *writer, evzk_value_writer_event event,
                      int rc, void *arg)
{
    int i = (int)(intptr_t)arg;

    if (event == EVZK_VALUE_WRITER_FAILED)
        fail("evzk: a writer: %s", evzk_strerror(rc));
    evzk_value_writer_free(writer);
    self.writer[i] = NULL;
    run_released(self.run, i);
}

static void on_set(evzk_value_writer *writer, int rc, int64_t number, void *arg)
{
    (void)number;
    library_check(rc, "compare_set");
    run_granted(self.run, (int)(intptr_t)arg);
    library_check(evzk_value_writer_close(writer), "close");
}

static void on_value(evzk_value_query *query, int rc, const evzk_value *value,
                     void *arg)
{
    static const char text[VALUE_SIZE];
    int i = (int)(intptr_t)arg;
    char path[PATH_SIZE];

    library_check(rc, "get");
    run_path(self.run, i, path);
    library_check(evzk_value_writer_start(library, path, NULL, on_writer, arg,
                                          &self.writer[i]),
                  "writer");
    library_check(evzk_value_compare_set(self.writer[i], &value->stamp, text,
                                         sizeof text, on_set, arg),
                  "compare_set");
    evzk_value_query_free(query);
}

static void open_session(struct run *r, const char *servers)
{
    self.run = r;
    self.writer = library_room(r->w->n, sizeof self.writer[0]);
    library_open(r, servers);
}

static void set(int i)
{
    evzk_value_query *query;
    char path[PATH_SIZE];

    run_path(self.run, i, path);
    library_check(evzk_value_get(library, path, NULL, on_value,
                                 (void *)(intptr_t)i, &query),
                  "get");
}

static void end(void)
{
    library_close();
    free(self.writer);
}

const struct way way_evzk_value = {.name = "evzk",
                                   .open = open_session,
                                   .acquire = set,
                                   .busy = library_busy,
                                   .connected = library_connected,
                                   .close = end,
                                   .watches = library_watches};
