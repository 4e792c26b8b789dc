/*
 * How long a queue may be, on a real server: the memory of a consumer does not
 * grow with the number of items, and a plain queue that is too long to be
 * listed is refused.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

#include <stddef.h>

/* ---- Bytes that the library has allocated ---- */

/* Before each block, with its alignment. */
union head {
    size_t size;
    max_align_t align;
};

static struct {
    size_t live, most;
} bytes;

static void note(size_t more, size_t less)
{
    bytes.live += more;
    bytes.live -= less;
    if (bytes.live > bytes.most)
        bytes.most = bytes.live;
}

static void *grow(void *p, size_t size)
{
    union head *old = p ? (union head *)p - 1 : NULL, *new;
    size_t before = old ? old->size : 0;

    new = realloc(old, sizeof *new + size);
    if (!new)
        return NULL;
    new->size = size;
    note(size, before);
    return new + 1;
}

static void *get(size_t size) { return grow(NULL, size); }

static void give(void *p)
{
    union head *old = p ? (union head *)p - 1 : NULL;

    if (!old)
        return;
    note(0, old->size);
    free(old);
}

/* ---- Items are put ---- */

enum { BATCH = 500, ITEM_SIZE = 100 };

static struct {
    int under_way, over;
} source;

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    (void)p, (void)done, (void)arg;
    ck_assert_int_eq(rc, EVZK_OK);
    source.under_way--;
}

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    (void)p, (void)arg;
    ck_assert_int_eq(event, EVZK_PRODUCER_CLOSED);
    ck_assert_int_eq(rc, EVZK_OK);
    source.over++;
}

static void put(const char *path, evzk_queue_layout layout, int n)
{
    static const char data[ITEM_SIZE];
    const evzk_producer_options opt = {.layout = layout};
    evzk_put_item items[BATCH];
    evzk_producer *producer;
    struct peer p;

    for (int i = 0; i < BATCH; i++)
        items[i] = (evzk_put_item){.data = data, .len = sizeof data};
    peer_open(&p, the_server());
    ck_assert_int_eq(
        evzk_producer_start(p.s, path, &opt, on_producer, NULL, &producer),
        EVZK_OK);
    for (int some; n > 0; n -= some) {
        some = n < BATCH ? n : BATCH;
        source.under_way++;
        ck_assert_int_eq(
            evzk_producer_put(producer, items, (size_t)some, on_put, NULL),
            EVZK_OK);
        WAIT(source.under_way < 8);
    }
    source.over = 0;
    ck_assert_int_eq(evzk_producer_close(producer), EVZK_OK);
    WAIT(source.over == 1);
    ck_assert_int_eq(source.under_way, 0);
    evzk_producer_free(producer);
    peer_close(&p);
}

/* ---- Items are taken ---- */

static struct {
    int items, finished, taken, ended;
    int rc; /* Of the last event. */
} heard;

static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    (void)arg;
    if (event == EVZK_CONSUMER_ITEM) {
        heard.items++;
        if (item->claim_token > 0)
            ck_assert_int_eq(evzk_consumer_finish(c, item), EVZK_OK);
    }
    heard.finished += event == EVZK_CONSUMER_FINISHED;
    heard.taken += event == EVZK_CONSUMER_TAKEN;
    if (evzk_consumer_event_is_final(event)) {
        heard.ended++;
        heard.rc = rc;
    }
}

static evzk_consumer *begin(evzk_session *s, const char *path,
                            const evzk_consumer_options *opt)
{
    evzk_consumer *c;

    memset(&heard, 0, sizeof heard);
    ck_assert_int_eq(evzk_consumer_start(s, path, opt, on_consumer, NULL, &c),
                     EVZK_OK);
    return c;
}

static void end(evzk_consumer *c)
{
    ck_assert_int_eq(evzk_consumer_close(c), EVZK_OK);
    WAIT(heard.ended == 1);
    ck_assert_int_eq(heard.rc, EVZK_OK);
    evzk_consumer_free(c);
}

/* ---- Memory ---- */

/* Of a consumer. */
struct memory {
    size_t most; /* From its start until the queue is empty. */
    size_t at_end;
};

/* The consumer of a queue of @n items takes and finishes all of them. */
static struct memory memory_for(int n)
{
    static const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                              .prefetch = BATCH};
    const char *path = "/long";
    struct memory m;
    evzk_consumer *c;
    struct peer p;
    size_t before;

    put(path, EVZK_QUEUE_SEGMENTS, n);
    ck_assert_uint_eq(bytes.live, 0);
    peer_open(&p, the_server());
    all_answered(p.s);
    before = bytes.most = bytes.live;
    c = begin(p.s, path, &opt);
    for (int finished = 0; finished < n; finished = heard.finished)
        WAIT(heard.finished > finished);
    WAIT(strcmp(evzk_consumer_state(c), "WAITING") == 0);
    m = (struct memory){bytes.most - before, bytes.live - before};
    ck_assert_int_eq(heard.items, n);
    end(c);
    printf("queue items=%d consumer_bytes_most=%zu consumer_bytes_at_end=%zu\n",
           n, m.most, m.at_end);
    peer_close(&p);
    ck_assert_uint_eq(bytes.live, 0);
    return m;
}

static int most_items(void)
{
    if (getenv("EVZK_TEST_MILLION"))
        return 1000000;
    return fewer_if_slow(100000);
}

/* A queue of a thousand items has one segment, whose names the consumer lists:
 * the others are compared with it.  Each further segment is a name in one
 * listing, and a number.  How many items are on their way to be finished at the
 * same moment is another number in each run: some 32 kB between two runs say
 * nothing, and the names of 10,000 items are ten times as many. */
START_TEST(memory_does_not_grow)
{
    enum { FEW = 1000, EACH_SEGMENT = 128, SOME = 32 * 1024 };
    struct memory first, m;

    evzk_set_allocator(get, grow, give);
    first = memory_for(FEW);
    for (int n = 10 * FEW; n <= most_items(); n *= 10) {
        m = memory_for(n);
        ck_assert_uint_le(m.most,
                          first.most + SOME + (size_t)n / FEW * EACH_SEGMENT);
        ck_assert_uint_le(m.at_end, first.at_end + SOME);
    }
}
END_TEST

/* ---- A plain queue that is too long ---- */

static struct {
    int calls, rc;
    uint64_t size;
} seen;

static void on_look(evzk_queue_query *q, int rc,
                    const evzk_queue_report *report, void *arg)
{
    (void)q, (void)arg;
    seen.calls++;
    seen.rc = rc;
    ck_assert((report != NULL) == (rc == EVZK_OK));
    seen.size = report ? report->size : 0;
}

static evzk_queue_query *look(evzk_session *s, const char *path, bool follow)
{
    const evzk_queue_query_options opt = {.layout = EVZK_QUEUE_PLAIN,
                                          .follow = follow};
    evzk_queue_query *q;

    memset(&seen, 0, sizeof seen);
    ck_assert_int_eq(evzk_queue_query_start(s, path, &opt, on_look, NULL, &q),
                     EVZK_OK);
    WAIT(seen.calls == 1);
    return q;
}

static void take_one(evzk_consumer *c)
{
    ck_assert_int_eq(evzk_consumer_take(c, 1, 0), EVZK_OK);
    WAIT(heard.taken == 1 || heard.ended == 1);
}

/* The consumer and both looks end with this error. */
static void refused(evzk_session *s, const char *path,
                    const evzk_consumer_options *opt)
{
    evzk_consumer *c = begin(s, path, opt);

    ck_assert_int_eq(evzk_consumer_take(c, 1, 0), EVZK_OK);
    WAIT(heard.ended == 1);
    ck_assert_int_eq(heard.rc, EVZK_ERR_FOREIGN);
    ck_assert_int_eq(heard.items, 0);
    ck_assert_int_eq(heard.taken, 1);
    evzk_consumer_free(c);
    for (int follow = 0; follow < 2; follow++) {
        evzk_queue_query *q = look(s, path, follow != 0);

        ck_assert_int_eq(seen.rc, EVZK_ERR_FOREIGN);
        evzk_queue_query_free(q);
    }
}

/* The queue is as long as it may be, then longer, then no longer. */
START_TEST(plain_queue_is_too_long)
{
    static const evzk_consumer_options opt = {.layout = EVZK_QUEUE_PLAIN};
    const char *path = "/flat";
    evzk_queue_query *q;
    evzk_consumer *c;
    struct peer p;

    put(path, EVZK_QUEUE_PLAIN, EVZK_QUEUE_PLAIN_MAX);
    peer_open(&p, the_server());
    q = look(p.s, path, true);
    ck_assert_int_eq(seen.rc, EVZK_OK);
    ck_assert_uint_eq(seen.size, EVZK_QUEUE_PLAIN_MAX);
    /* Another program's item: our producers refuse one more. */
    ck_assert_int_eq(raw_create(op(), "/flat/queue-", "", 0,
                                ZOO_PERSISTENT_SEQUENTIAL, NULL, 0),
                     ZOK);
    WAIT(seen.rc != EVZK_OK);
    ck_assert_int_eq(seen.rc, EVZK_ERR_FOREIGN);
    evzk_queue_query_free(q);
    refused(p.s, path, &opt);
    ck_assert_int_eq(raw_delete(op(), "/flat/queue-0000000000"), ZOK);
    c = begin(p.s, path, &opt);
    take_one(c);
    ck_assert_int_eq(heard.items, 1);
    end(c);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue-size");
    const int64_t limit =
        getenv("EVZK_TEST_MILLION") ? 1200 * 1000 : 180 * 1000;
    TCase *tests = lock_tests(suite, "queue-size", limit);

    tcase_add_test(tests, memory_does_not_grow);
    tcase_add_test(tests, plain_queue_is_too_long);
    return lock_suite_run(suite);
}
