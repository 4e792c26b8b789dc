/*
 * A quota on a queue that real servers enforce: when it is used up no consumer
 * ends, what is in the queue can be taken and finished, and then there is room
 * again.
 */
#include "test_lock.h"

#define QUEUE "/quota-queue"
#define QUOTA "/zookeeper/quota" QUEUE

static struct zk *zk;
static struct raw *admin;

static void set_up(void)
{
    zk = zk_start(
        &(struct zk_config){.java_flags = "-Dzookeeper.enforceQuota=true"});
    admin = raw_open(zk_server(zk, 0), 60000, NULL);
}

static void tear_down(void)
{
    raw_close(admin);
    zk_stop(zk);
}

/* As many znodes as the queue has, with itself, and so many more. */
static void set_quota(int more)
{
    static const char none[] = "count=0,bytes=0",
                      any[] = "count=-1,bytes=-1=;byteHardLimit=-1;"
                              "countHardLimit=1000000";
    char text[128] = "";
    int len = sizeof text - 1, n = -1;

    raw_mkdirs(admin, QUOTA);
    raw_create(admin, QUOTA "/zookeeper_limits", any, sizeof any - 1, 0, NULL,
               0);
    raw_create(admin, QUOTA "/zookeeper_stats", none, sizeof none - 1, 0, NULL,
               0);
    ck_assert_int_eq(raw_get(admin, QUOTA "/zookeeper_stats", text, &len, NULL),
                     ZOK);
    ck_assert_int_eq(sscanf(text, "count=%d", &n), 1);
    len = snprintf(text, sizeof text,
                   "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=%d",
                   n + more);
    ck_assert_int_eq(raw_set(admin, QUOTA "/zookeeper_limits", text, len), ZOK);
}

/* ---- A producer ---- */

static struct {
    evzk_producer *p;
    int put, told, rc, over;
} source;

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    (void)p, (void)event, (void)arg;
    ck_assert_int_eq(rc, EVZK_OK);
    source.over++;
}

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    (void)p, (void)arg;
    source.told++;
    source.rc = rc;
    source.put += (int)done;
}

static int put(void)
{
    static const evzk_put_item item = {.data = "x", .len = 1};
    int before = source.told;

    ck_assert_int_eq(evzk_producer_put(source.p, &item, 1, on_put, NULL),
                     EVZK_OK);
    WAIT(source.told > before);
    return source.rc;
}

/* ---- A consumer ---- */

enum { PREFETCH = 2, HELD = 64 };

static struct {
    evzk_consumer *c;
    evzk_item *held[HELD]; /* Of those that are not finished at once. */
    int items, finished, over, rc;
    bool finishes;
} eater;

static void finish(evzk_item *item)
{
    ck_assert_int_eq(evzk_consumer_finish(eater.c, item), EVZK_OK);
}

static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    (void)c, (void)arg;
    if (event == EVZK_CONSUMER_ITEM) {
        ck_assert_int_lt(eater.items, HELD);
        eater.held[eater.items++] = item;
        if (eater.finishes)
            finish(item);
    }
    eater.finished += event == EVZK_CONSUMER_FINISHED;
    ck_assert_int_ne(event, EVZK_CONSUMER_LOST);
    if (evzk_consumer_event_is_final(event)) {
        eater.over++;
        eater.rc = rc;
    }
}

static void produce(struct peer *p)
{
    peer_open(p, zk_server(zk, 0));
    ck_assert_int_eq(
        evzk_producer_start(p->s, QUEUE, NULL, on_producer, NULL, &source.p),
        EVZK_OK);
}

static void consume(struct peer *p)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .prefetch = PREFETCH};

    ck_assert_int_eq(
        evzk_consumer_start(p->s, QUEUE, &opt, on_consumer, NULL, &eater.c),
        EVZK_OK);
}

static void await_finished(int n)
{
    WAIT(eater.finished == n || eater.over);
    ck_assert_int_eq(eater.over, 0);
}

static void end_both(struct peer *p)
{
    ck_assert_int_eq(evzk_consumer_close(eater.c), EVZK_OK);
    ck_assert_int_eq(evzk_producer_close(source.p), EVZK_OK);
    WAIT(eater.over && source.over);
    ck_assert_int_eq(eater.rc, EVZK_OK);
    evzk_consumer_free(eater.c);
    evzk_producer_free(source.p);
    peer_close(p);
}

/* Nothing can be made any more, but what is there is finished, and goes. */
START_TEST(is_emptied)
{
    struct peer p;
    int held;

    produce(&p);
    consume(&p);
    for (int i = 0; i < PREFETCH; i++)
        ck_assert_int_eq(put(), EVZK_OK);
    WAIT(eater.items == PREFETCH);
    set_quota(8);
    while (put() == EVZK_OK)
        ck_assert_int_lt(source.put, HELD);
    ck_assert_int_eq(source.rc, EVZK_ERR_QUOTA);
    ck_assert_int_gt(source.put, PREFETCH);
    ck_assert_int_eq(eater.over, 0);
    held = eater.items;
    eater.finishes = true;
    for (int i = 0; i < held; i++)
        finish(eater.held[i]);
    await_finished(source.put);
    ck_assert_int_eq(put(), EVZK_OK); /* There is room again. */
    await_finished(source.put);
    end_both(&p);
}
END_TEST

/* A consumer that comes when there is no room waits for it. */
START_TEST(waits_for_room)
{
    struct peer p;

    eater.finishes = true;
    produce(&p);
    ck_assert_int_eq(put(), EVZK_OK);
    set_quota(0);
    ck_assert_int_eq(put(), EVZK_ERR_QUOTA);
    consume(&p);
    WAIT(strcmp(evzk_consumer_state(eater.c), "FULL") == 0 || eater.over);
    ck_assert_int_eq(eater.over, 0);
    set_quota(20);
    await_finished(1);
    end_both(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue-quota");
    TCase *all = lock_tests(suite, "all", 60000);

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, is_emptied);
    tcase_add_test(all, waits_for_room);
    return lock_suite_run(suite);
}
