/* Our own side of the comparison: additions to one counter. */
#include "peer_evzk.h"

static evzk_value_writer *writer;

static void on_writer(evzk_value_writer *w, evzk_value_writer_event event,
                      int rc, void *arg)
{
    if (event == EVZK_VALUE_WRITER_FAILED)
        peer_fail("the writer", rc);
    evzk_value_writer_free(w);
    peer_say_all(arg);
}

static void on_added(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    struct peer *p = arg;

    (void)number;
    peer_must(rc, "add");
    if (peer_granted(p))
        peer_must(evzk_value_writer_close(w), "close");
}

static void add(struct peer *p, size_t i)
{
    (void)i;
    peer_must(evzk_counter_add(writer, 1, on_added, p), "add");
}

void peer_counter(struct peer *p, const char *dir, size_t count)
{
    peer_begin(p, dir, count);
    peer_must(evzk_value_writer_start(p->zk, dir, NULL, on_writer, p, &writer),
              dir);
    peer_feed(p, add);
}
