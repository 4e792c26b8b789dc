/* evzk's queues, used as the manual says: one producer and one consumer. */
#include "library.h"

enum { TAKE_MAX = 1000 };

static struct {
    struct run *run;
    evzk_producer *producer;
    evzk_consumer *consumer;
    bool claimed, taking;
    uint32_t wanted; /* Items that are to be taken, and were not asked for. */
    int n_taken;
} self;

static void on_producer(evzk_producer *producer, evzk_producer_event event,
                        int rc, void *arg)
{
    (void)producer, (void)arg;
    if (event == EVZK_PRODUCER_FAILED && !self.run->ending)
        fail("evzk: the producer: %s", evzk_strerror(rc));
}

static void on_put(evzk_producer *producer, int rc, size_t done, void *arg)
{
    (void)producer, (void)done;
    if (self.run->ending)
        return;
    library_check(rc, "put");
    run_granted(self.run, (int)(intptr_t)arg);
}

static void ask(void)
{
    uint32_t n = self.wanted < TAKE_MAX ? self.wanted : TAKE_MAX;

    if (self.taking || n == 0)
        return;
    self.taking = true;
    self.wanted -= n;
    library_check(evzk_consumer_take(self.consumer, n, 0), "take");
    self.n_taken = (int)n;
}

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    (void)arg;
    switch (event) {
    case EVZK_CONSUMER_ITEM:
        self.n_taken--;
        if (self.claimed)
            library_check(evzk_consumer_finish(consumer, item), "finish");
        else
            run_released(self.run, 0);
        break;
    case EVZK_CONSUMER_FINISHED:
        library_check(rc, "finished");
        run_released(self.run, 0);
        break;
    case EVZK_CONSUMER_TAKEN: /* Perhaps fewer than were asked for. */
        self.taking = false;
        self.wanted += (uint32_t)self.n_taken;
        ask();
        break;
    case EVZK_CONSUMER_FAILED:
        if (!self.run->ending)
            fail("evzk: the consumer: %s", evzk_strerror(rc));
        break;
    case EVZK_CONSUMER_GIVEN_BACK:
    case EVZK_CONSUMER_LOST:
    case EVZK_CONSUMER_DEAD_LETTER:
    case EVZK_CONSUMER_SET_ASIDE:
    case EVZK_CONSUMER_CLOSED:
        self.run->n_other += !self.run->ending;
    }
}

static void open_as(struct run *r, const char *servers, bool claimed)
{
    const evzk_consumer_options opt = {
        .mode = claimed ? EVZK_CONSUMER_CLAIMED : EVZK_CONSUMER_AT_MOST_ONCE};
    char path[PATH_SIZE];

    self.run = r;
    self.claimed = claimed;
    library_open(r, servers);
    run_path(r, 0, path);
    library_check(evzk_producer_start(library, path, NULL, on_producer, NULL,
                                      &self.producer),
                  "producer");
    library_check(evzk_consumer_start(library, path, &opt, on_consumer, NULL,
                                      &self.consumer),
                  "consumer");
}

static void open_claimed(struct run *r, const char *servers)
{
    open_as(r, servers, true);
}

static void open_plain(struct run *r, const char *servers)
{
    open_as(r, servers, false);
}

static void put(int i)
{
    static const char text[QUEUE_ITEM_SIZE];
    const evzk_put_item item = {.data = text, .len = sizeof text};

    library_check(
        evzk_producer_put(self.producer, &item, 1, on_put, (void *)(intptr_t)i),
        "put");
}

static void take(int i)
{
    (void)i;
    self.wanted++;
    ask();
}

static void end(void)
{
    evzk_producer_free(self.producer);
    evzk_consumer_free(self.consumer);
    library_close();
}

#define EVZK(opens)                                                            \
    {                                                                          \
        .name = "evzk", .makes_dirs = true, .open = (opens), .acquire = put,   \
        .release = take, .busy = library_busy, .connected = library_connected, \
        .close = end, .watches = library_watches                               \
    }

const struct way way_evzk_queue = EVZK(open_plain);
const struct way way_evzk_claims = EVZK(open_claimed);
