/* The processes of the demonstration: producers, consumers, and the auditor
 * that looks what is left.  Each has one session and one thread. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <event2/event.h>

#include "demo.h"

enum { BATCH = 100, BATCHES = 10 };

struct process {
    const struct options *opt;
    struct history *h;
    struct event_base *base;
    evzk_session *s;
    evzk_producer *producer;
    evzk_consumer *consumer;
    uint32_t life;
    uint32_t next, end, puts; /* Of a producer. */
    bool ending;
};

static struct process self;

static void fail(const char *what, int rc)
{
    fprintf(stderr, "queue-demo: %s: %s\n", what, evzk_strerror(rc));
    atomic_fetch_add(&self.h->failures, 1);
    exit(EXIT_FAILURE);
}

static void check(const char *what, int rc)
{
    if (rc)
        fail(what, rc);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(self.base);
}

static void begin(const struct options *opt, struct history *h)
{
    evzk_session_options session = {.timeout_ms = opt->session_ms};

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* No process outlives the parent. */
    signal(SIGINT, SIG_IGN);
    self = (struct process){.opt = opt, .h = h, .base = event_base_new()};
    if (!self.base)
        exit(EXIT_FAILURE);
    check("session", evzk_session_open(self.base, opt->servers, &session,
                                       on_session, NULL, &self.s));
}

static int end(void)
{
    event_base_dispatch(self.base);
    evzk_session_free(self.s);
    event_base_free(self.base);
    return EXIT_SUCCESS;
}

/* Producers. */

static void put_more(void);

static void on_put(evzk_producer *producer, int rc, size_t done, void *arg)
{
    uint32_t first = (uint32_t)(uintptr_t)arg;

    (void)producer;
    check("put", rc);
    for (uint32_t i = first; i < first + done; i++)
        atomic_store(&self.h->item[i].put, 1);
    atomic_fetch_add(&self.h->put, (unsigned)done);
    self.puts--;
    put_more();
}

static void put_batch(void)
{
    static char text[BATCH][ITEM_SIZE];
    evzk_put_item items[BATCH];
    uint32_t n = 0, first = self.next;

    for (; n < BATCH && self.next < self.end; n++, self.next++) {
        memcpy(text[n], &self.next, sizeof self.next);
        items[n] = (evzk_put_item){.data = text[n], .len = ITEM_SIZE};
    }
    check("put", evzk_producer_put(self.producer, items, n, on_put,
                                   (void *)(uintptr_t)first));
    self.puts++;
}

static void put_more(void)
{
    while (self.puts < BATCHES && self.next < self.end)
        put_batch();
    if (self.puts == 0 && !self.ending) {
        self.ending = true;
        check("close", evzk_producer_close(self.producer));
    }
}

static void on_producer(evzk_producer *producer, evzk_producer_event event,
                        int rc, void *arg)
{
    (void)arg;
    if (event == EVZK_PRODUCER_FAILED)
        fail("producer", rc);
    evzk_producer_free(producer);
    evzk_session_close(self.s);
}

int produce(const struct options *opt, struct history *h, uint32_t who)
{
    uint32_t share = opt->items / opt->producers;

    begin(opt, h);
    self.next = who * share;
    self.end = who + 1 == opt->producers ? opt->items : self.next + share;
    check("producer", evzk_producer_start(self.s, opt->path, NULL, on_producer,
                                          NULL, &self.producer));
    put_more();
    return end();
}

/* Consumers. */

static uint32_t number_of(const evzk_item *item)
{
    uint32_t i = UINT32_MAX;

    if (item->len == ITEM_SIZE)
        memcpy(&i, item->data, sizeof i);
    if (i < self.opt->items)
        return i;
    atomic_fetch_add(&self.h->foreign, 1);
    exit(EXIT_FAILURE);
}

/* The item was delivered before: is it right that it is delivered again? */
static void judge(unsigned before)
{
    if (before == 0)
        atomic_fetch_add(&self.h->redelivered_lost, 1);
    else if (!atomic_load(&self.h->alive[before]))
        atomic_fetch_add(&self.h->redelivered_dead, 1);
    else
        atomic_fetch_add(&self.h->doubled, 1);
}

static void on_item(evzk_consumer *consumer, evzk_item *item)
{
    uint32_t i = number_of(item);
    struct fate *fate = &self.h->item[i];
    unsigned before = atomic_exchange(&fate->holder, self.life);

    atomic_fetch_add(&self.h->told[self.life], 1);
    if (atomic_fetch_add(&fate->deliveries, 1) > 0)
        judge(before);
    if (atomic_fetch_add(&fate->asked, 1) == 0)
        atomic_fetch_add(&self.h->asked, 1);
    check("finish", evzk_consumer_finish(consumer, item));
}

static void on_finished(const evzk_item *item)
{
    if (atomic_fetch_add(&self.h->item[number_of(item)].finished, 1) > 0)
        atomic_fetch_add(&self.h->doubled, 1);
    atomic_fetch_add(&self.h->finished, 1);
}

static void on_lost(const evzk_item *item)
{
    unsigned life = self.life;

    atomic_compare_exchange_strong(&self.h->item[number_of(item)].holder, &life,
                                   0);
    atomic_fetch_add(&self.h->lost_told, 1);
}

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    (void)arg;
    switch (event) {
    case EVZK_CONSUMER_ITEM:
        on_item(consumer, item);
        break;
    case EVZK_CONSUMER_FINISHED:
        if (rc == EVZK_OK)
            on_finished(item);
        else
            on_lost(item);
        break;
    case EVZK_CONSUMER_LOST:
    case EVZK_CONSUMER_GIVEN_BACK:
        on_lost(item);
        break;
    case EVZK_CONSUMER_TAKEN:
    case EVZK_CONSUMER_DEAD_LETTER:
    case EVZK_CONSUMER_SET_ASIDE:
        break;
    case EVZK_CONSUMER_FAILED:
        fail("consumer", rc);
        break;
    case EVZK_CONSUMER_CLOSED:
        evzk_consumer_free(consumer);
        evzk_session_close(self.s);
    }
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    if (evzk_consumer_close(self.consumer) != EVZK_OK)
        exit(EXIT_FAILURE);
}

int consume(const struct options *opt, struct history *h, uint32_t life)
{
    const evzk_consumer_options options = {.mode = EVZK_CONSUMER_CLAIMED,
                                           .prefetch = PREFETCH};
    struct event *term;
    int status;

    begin(opt, h);
    self.life = life;
    term = evsignal_new(self.base, SIGTERM, on_term, NULL);
    if (!term || evsignal_add(term, NULL))
        exit(EXIT_FAILURE);
    check("consumer", evzk_consumer_start(self.s, opt->path, &options,
                                          on_consumer, NULL, &self.consumer));
    status = end();
    event_free(term);
    return status;
}

/* The auditor. */

static void on_report(evzk_queue_query *query, int rc,
                      const evzk_queue_report *report, void *arg)
{
    (void)arg;
    check("look", rc);
    atomic_store(&self.h->left, (int)report->size);
    evzk_queue_query_free(query);
    evzk_session_close(self.s);
}

int audit(const struct options *opt, struct history *h)
{
    evzk_queue_query *query;

    begin(opt, h);
    check("look", evzk_queue_query_start(self.s, opt->path, NULL, on_report,
                                         NULL, &query));
    return end();
}
