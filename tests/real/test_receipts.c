/*
 * Receipts of writers whose process was killed, on a real server: consumers and
 * writers of a value delete them when they are old, and no others; and a writer
 * whose receipt is gone goes on.
 */
#define _GNU_SOURCE 1
#include <signal.h>

#include "recipes/parts/tidy.h"
#include "test_lock.h"

/* Old enough that a living writer does not wait so long for its own answer. */
enum { OLD_MS = 300 };

static void tidies_soon(void)
{
    evzk__tidy_limits.old_ms = OLD_MS;
    evzk__tidy_limits.again_us = 0;
}

/* ---- Producers and consumers ---- */

static int put_told, put_rc, items, over;
static bool keeps; /* Finishes nothing. */

static void on_producer(evzk_producer *p, evzk_producer_event event, int rc,
                        void *arg)
{
    (void)p, (void)event, (void)arg;
    ck_assert_int_eq(rc, EVZK_OK);
    over++;
}

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    (void)p, (void)arg;
    put_rc = rc;
    put_told += (int)done;
}

static void on_consumer(evzk_consumer *c, evzk_consumer_event event, int rc,
                        evzk_item *item, void *arg)
{
    (void)arg;
    if (event == EVZK_CONSUMER_ITEM) {
        items++;
        if (!keeps)
            ck_assert_int_eq(evzk_consumer_finish(c, item), EVZK_OK);
    }
    if (evzk_consumer_event_is_final(event)) {
        ck_assert_int_eq(rc, EVZK_OK);
        over++;
    }
}

static void put(evzk_producer *p)
{
    static const evzk_put_item item = {.data = "x", .len = 1};
    int before = put_told;

    ck_assert_int_eq(evzk_producer_put(p, &item, 1, on_put, NULL), EVZK_OK);
    WAIT(put_told > before);
    ck_assert_int_eq(put_rc, EVZK_OK);
}

_Noreturn static void put_and_die(const char *server, const char *path)
{
    evzk_producer *producer;
    struct peer p;

    harness_set_base(event_base_new());
    peer_open(&p, server);
    ck_assert_int_eq(
        evzk_producer_start(p.s, path, NULL, on_producer, NULL, &producer),
        EVZK_OK);
    put(producer);
    raise(SIGKILL);
    _exit(1);
}

_Noreturn static void consume_and_die(const char *server, const char *path)
{
    evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED, .prefetch = 1};
    evzk_consumer *c;
    struct peer p;

    keeps = true;
    harness_set_base(event_base_new());
    peer_short(&p, server); /* Its claim, and its turn, go soon. */
    ck_assert_int_eq(
        evzk_consumer_start(p.s, path, &opt, on_consumer, NULL, &c), EVZK_OK);
    WAIT(items > 0);
    raise(SIGKILL);
    _exit(1);
}

static void killed(void (*process)(const char *, const char *),
                   const char *path)
{
    const char *server = the_server();
    pid_t pid = harness_fork();

    if (pid == 0)
        process(server, path);
    ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
}

static int count(const char *path, const char *name)
{
    char at[128];

    snprintf(at, sizeof at, "%s/%s", path, name);
    return raw_count(op(), at);
}

/* Each put has the consumer list, and tidy: by the time of the last put. */
START_TEST(of_killed_producers_and_consumers)
{
    enum { KILLED = 3 };
    const char *path = "/receipts-queue";
    evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED, .prefetch = 1};
    evzk_producer *producer, *idle;
    evzk_consumer *c;
    struct peer p;
    int n = 0;

    raw_delete_tree(op(), path);
    for (int i = 0; i < KILLED; i++)
        killed(put_and_die, path);
    killed(consume_and_die, path);
    ck_assert_int_eq(count(path, "receipts"), KILLED);
    ck_assert_int_ge(count(path, "clients"), 1);
    tidies_soon();
    peer_open(&p, the_server());
    ck_assert_int_eq(
        evzk_producer_start(p.s, path, NULL, on_producer, NULL, &idle),
        EVZK_OK);
    put(idle);
    ck_assert_int_eq(
        evzk_producer_start(p.s, path, NULL, on_producer, NULL, &producer),
        EVZK_OK);
    ck_assert_int_eq(
        evzk_consumer_start(p.s, path, &opt, on_consumer, NULL, &c), EVZK_OK);
    for (; count(path, "receipts") > 1 || count(path, "clients") > 2; n++) {
        put(producer);
        WAIT(items > n);
    }
    /* That of the producer which goes on putting stays, .. */
    ck_assert_int_eq(count(path, "receipts"), 1);
    /* .. and what the consumer has: its receipt, and that it is alive. */
    ck_assert_int_eq(count(path, "clients"), 2);
    put(idle); /* With another receipt. */
    put(producer);
    /* Those of the killed, of `idle`, and of `producer`. */
    WAIT(items >= KILLED + 1 + n + 2);
    ck_assert_int_eq(items, KILLED + 1 + n + 2);
    ck_assert_int_eq(evzk_producer_close(idle), EVZK_OK);
    ck_assert_int_eq(evzk_producer_close(producer), EVZK_OK);
    ck_assert_int_eq(evzk_consumer_close(c), EVZK_OK);
    WAIT(over == 3);
    ck_assert_int_eq(items, KILLED + 1 + n + 2);
    ck_assert_int_eq(count(path, "receipts"), 0);
    ck_assert_int_eq(count(path, "clients"), 0);
    evzk_producer_free(idle);
    evzk_producer_free(producer);
    evzk_consumer_free(c);
    peer_close(&p);
    raw_delete_tree(op(), path);
}
END_TEST

/* ---- Values ---- */

static int write_told, write_rc, writers_over;

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    (void)w, (void)number, (void)arg;
    write_told++;
    write_rc = rc;
}

static void on_writer(evzk_value_writer *w, evzk_value_writer_event event,
                      int rc, void *arg)
{
    (void)w, (void)event, (void)arg;
    ck_assert_int_eq(rc, EVZK_OK);
    writers_over++;
}

static evzk_value_writer *writer_of(evzk_session *s, const char *path)
{
    evzk_value_writer *w;

    ck_assert_int_eq(
        evzk_value_writer_start(s, path, NULL, on_writer, NULL, &w), EVZK_OK);
    return w;
}

static void add_one(evzk_value_writer *w)
{
    int before = write_told;

    ck_assert_int_eq(evzk_counter_add(w, 1, on_write, NULL), EVZK_OK);
    WAIT(write_told > before);
    ck_assert_int_eq(write_rc, EVZK_OK);
}

_Noreturn static void add_and_die(const char *server, const char *path)
{
    struct peer p;

    harness_set_base(event_base_new());
    peer_open(&p, server);
    add_one(writer_of(p.s, path));
    raise(SIGKILL);
    _exit(1);
}

START_TEST(of_killed_writers_of_a_value)
{
    enum { KILLED = 3 };
    const char *path = "/receipts-value";
    evzk_value_writer *w, *idle;
    char text[32] = "";
    int len = sizeof text - 1, added = KILLED;
    struct peer p;

    raw_delete_tree(op(), path);
    for (int i = 0; i < KILLED; i++)
        killed(add_and_die, path);
    ck_assert_int_eq(raw_count(op(), path), KILLED);
    tidies_soon();
    peer_open(&p, the_server());
    idle = writer_of(p.s, path);
    add_one(idle);
    w = writer_of(p.s, path);
    for (added++; raw_count(op(), path) != 1; added++)
        add_one(w);
    add_one(idle); /* Its receipt is gone: it makes another one, and adds. */
    added++;
    ck_assert_int_eq(evzk_value_writer_close(w), EVZK_OK);
    ck_assert_int_eq(evzk_value_writer_close(idle), EVZK_OK);
    WAIT(writers_over == 2);
    ck_assert_int_eq(raw_count(op(), path), 0);
    ck_assert_int_eq(raw_get(op(), path, text, &len, NULL), ZOK);
    ck_assert_int_eq(atoi(text), added);
    evzk_value_writer_free(w);
    evzk_value_writer_free(idle);
    peer_close(&p);
    raw_delete_tree(op(), path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("receipts");
    TCase *all = lock_tests(suite, "all", 60000);

    tcase_add_test(all, of_killed_producers_and_consumers);
    tcase_add_test(all, of_killed_writers_of_a_value);
    return lock_suite_run(suite);
}
