/* Our own side of the comparison: a queue, whose items are put, and then taken
 * or claimed. */
#include "peer_evzk.h"

static evzk_producer *producer;
static evzk_consumer *consumer;
static bool claimed;
static size_t asked; /* Items that were taken, or are to be. */

enum { ITEM_SIZE = 100, TAKE_MAX = 1000 };

static void end_items(struct peer *p)
{
    peer_say_both(p);
    evzk_producer_free(producer);
    evzk_consumer_free(consumer);
    producer = NULL;
    consumer = NULL;
}

static void take_more(struct peer *p)
{
    size_t left = p->count - asked;
    uint32_t n = (uint32_t)(left < TAKE_MAX ? left : TAKE_MAX);

    if (n > 0)
        peer_must(evzk_consumer_take(consumer, n, 0), "take");
}

static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    struct peer *p = arg;

    switch (event) {
    case EVZK_CONSUMER_ITEM:
        asked++;
        if (claimed)
            peer_must(evzk_consumer_finish(c, item), "finish");
        else if (peer_ended(p))
            end_items(p);
        break;
    case EVZK_CONSUMER_FINISHED:
        peer_must(rc, "finish");
        if (peer_ended(p))
            end_items(p);
        break;
    case EVZK_CONSUMER_TAKEN:
        peer_must(rc, "take");
        take_more(p);
        break;
    case EVZK_CONSUMER_GIVEN_BACK:
    case EVZK_CONSUMER_LOST:
    case EVZK_CONSUMER_DEAD_LETTER:
    case EVZK_CONSUMER_SET_ASIDE:
    case EVZK_CONSUMER_CLOSED:
    case EVZK_CONSUMER_FAILED:
        peer_fail("the consumer", rc);
    }
}

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    (void)p, (void)event, (void)arg;
    peer_fail("the producer", rc);
}

static void on_put(evzk_producer *from, int rc, size_t done, void *arg)
{
    struct peer *p = arg;

    (void)from;
    peer_must(rc, "put");
    p->granted += done;
    if (p->granted < p->count)
        return;
    p->all_granted = peer_now();
    take_more(p);
}

static void put(struct peer *p, size_t i)
{
    static const char text[ITEM_SIZE];
    const evzk_put_item item = {.data = text, .len = sizeof text};

    (void)i;
    peer_must(evzk_producer_put(producer, &item, 1, on_put, p), "put");
}

static void put_and_take(struct peer *p, const char *dir, size_t count)
{
    evzk_consumer_options opt = {.mode = claimed ? EVZK_CONSUMER_CLAIMED
                                                 : EVZK_CONSUMER_AT_MOST_ONCE};

    asked = 0;
    peer_must(evzk_producer_start(p->zk, dir, NULL, on_producer, p, &producer),
              dir);
    peer_must(evzk_consumer_start(p->zk, dir, &opt, on_consumer, p, &consumer),
              dir);
    peer_begin(p, dir, count);
    peer_feed(p, put);
}

void peer_items(struct peer *p, const char *dir, size_t count)
{
    claimed = false;
    put_and_take(p, dir, count);
}

void peer_claims(struct peer *p, const char *dir, size_t count)
{
    claimed = true;
    put_and_take(p, dir, count);
}
