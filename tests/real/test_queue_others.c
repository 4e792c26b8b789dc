/*
 * Plain queues beside programs that know nothing of evzk: the real Curator and
 * Kazoo, and a program of a few lines that follows the recipes page.  Programs
 * that can share a queue do; the others are refused before an item is lost.
 */
#define _GNU_SOURCE 1
#include "test_installed.h"

static const evzk_consumer_options plain = {.layout = EVZK_QUEUE_PLAIN};

/* ---- The others ---- */

static void compile(void) { curator_compile("PeerQueues"); }

static void other_puts(struct library *b, const char *kind, const char *path,
                       const char *text)
{
    ck_assert_str_eq(library_tell(b, "put %s %s %s", kind, path, text), "OK");
}

static void other_takes(struct library *b, const char *kind, const char *path,
                        const char *text)
{
    ck_assert_str_eq(library_tell(b, "take %s %s 30000", kind, path), text);
}

/* ---- evzk ---- */

/* What a producer or a consumer has told: its result, and one item. */
struct told {
    bool over;
    int rc; /* Of its end; or of the put. */
    char text[64];
};

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    struct told *t = arg;

    (void)done;
    t->rc = rc;
    if (rc == EVZK_OK)
        evzk_producer_close(p);
}

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    struct told *t = arg;

    (void)p, (void)event;
    t->rc = rc;
    t->over = true;
}

static int put(evzk_session *s, const char *path, const char *text)
{
    const evzk_producer_options opt = {.layout = EVZK_QUEUE_PLAIN};
    const evzk_put_item item = {.data = text, .len = strlen(text)};
    struct told t = {0};
    evzk_producer *p;

    ck_assert_int_eq(evzk_producer_start(s, path, &opt, on_producer, &t, &p),
                     EVZK_OK);
    ck_assert_int_eq(evzk_producer_put(p, &item, 1, on_put, &t), EVZK_OK);
    WAIT(t.over);
    evzk_producer_free(p);
    return t.rc;
}

static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    struct told *t = arg;

    if (event == EVZK_CONSUMER_ITEM)
        snprintf(t->text, sizeof t->text, "%.*s", (int)item->len,
                 (const char *)item->data);
    else if (event == EVZK_CONSUMER_TAKEN && rc == EVZK_OK)
        evzk_consumer_close(c);
    else if (evzk_consumer_event_is_final(event)) {
        t->rc = rc;
        t->over = true;
    }
}

static void take(evzk_session *s, const char *path, struct told *t)
{
    evzk_consumer *c;

    *t = (struct told){0};
    ck_assert_int_eq(evzk_consumer_start(s, path, &plain, on_consumer, t, &c),
                     EVZK_OK);
    ck_assert_int_eq(evzk_consumer_take(c, 1, 0), EVZK_OK);
    WAIT(t->over);
    evzk_consumer_free(c);
}

/* Neither side takes or puts anything: what is there stays. */
static void is_refused(const char *path)
{
    int there = raw_count(op(), path);
    struct told t;
    struct peer p;

    peer_open(&p, the_server());
    take(p.s, path, &t);
    ck_assert_int_eq(t.rc, EVZK_ERR_FOREIGN);
    ck_assert_str_eq(t.text, "");
    ck_assert_int_eq(put(p.s, path, "ours"), EVZK_ERR_FOREIGN);
    ck_assert_int_eq(raw_count(op(), path), there);
    peer_close(&p);
}

START_TEST(curator_queues_are_refused)
{
    static const char *const kinds[] = {"queue", "priority", "simple"};
    struct library curator;
    char path[64];

    curator_start(&curator, "PeerQueues");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        snprintf(path, sizeof path, "/others/%s", kinds[i]);
        other_puts(&curator, kinds[i], path, "theirs");
        is_refused(path);
    }
    other_takes(&curator, "queue", "/others/queue", "theirs");
    library_end(&curator);
}
END_TEST

START_TEST(kazoo_queue_is_refused)
{
    const char *path = "/others/kazoo";
    struct library kazoo;

    kazoo_start(&kazoo, "peer_queues.py");
    other_puts(&kazoo, "queue", path, "theirs");
    is_refused(path);
    other_takes(&kazoo, "queue", path, "theirs");
    library_end(&kazoo);
}
END_TEST

/* Both directions; Kazoo's Queue takes what we put, too. */
START_TEST(page_is_shared)
{
    const char *path = "/others/page";
    struct library page;
    struct told t;
    struct peer p;

    kazoo_start(&page, "peer_queues.py");
    peer_open(&p, the_server());
    other_puts(&page, "page", path, "theirs");
    ck_assert_int_eq(put(p.s, path, "ours"), EVZK_OK);
    take(p.s, path, &t);
    ck_assert_str_eq(t.text, "theirs");
    other_takes(&page, "page", path, "ours");
    ck_assert_int_eq(put(p.s, path, "again"), EVZK_OK);
    other_takes(&page, "queue", path, "again");
    ck_assert_int_eq(raw_count(op(), path), 0);
    peer_close(&p);
    library_end(&page);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue-others");
    bool curator = curator_is_there(), kazoo = kazoo_is_there();
    TCase *tests;

    if (!curator && !kazoo)
        return PEERS_SKIPPED;
    if (curator) {
        tests = lock_tests(suite, "curator", 60000);
        tcase_add_unchecked_fixture(tests, compile, NULL);
        tcase_add_test(tests, curator_queues_are_refused);
    }
    if (kazoo) {
        tests = lock_tests(suite, "kazoo", 60000);
        tcase_add_test(tests, kazoo_queue_is_refused);
        tcase_add_test(tests, page_is_shared);
    }
    return lock_suite_run(suite);
}
