/*
 * Producers on a real server: many items from two of them, the longest item
 * below the longest path, queues that other programs read, a session that ends
 * in the middle, refusals, and what is left behind.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

enum { LIST_MAX = 2000 }; /* Names in a segment, at most. */

/* A producer, and what it said. */
struct source {
    evzk_producer *p;
    int number;  /* Of the source: its items' data begins with it. */
    size_t put;  /* Items so far. */
    size_t told; /* Of these, in the queue. */
    int refused; /* The last error of a put, or 0. */
    int ended, rc;
};

static void on_end(evzk_producer *p, evzk_producer_event event, int rc,
                   void *arg)
{
    struct source *s = arg;

    ck_assert_ptr_eq(p, s->p);
    ck_assert((event == EVZK_PRODUCER_CLOSED) == (rc == EVZK_OK));
    s->ended++;
    s->rc = rc;
}

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    struct source *s = arg;

    ck_assert_ptr_eq(p, s->p);
    s->told += done;
    if (rc != EVZK_OK)
        s->refused = rc;
}

static void source_start(struct source *s, evzk_session *session,
                         const char *path, const evzk_producer_options *opt)
{
    ck_assert_int_eq(evzk_producer_start(session, path, opt, on_end, s, &s->p),
                     EVZK_OK);
}

static void source_close(struct source *s)
{
    ck_assert_int_eq(evzk_producer_close(s->p), EVZK_OK);
    WAIT(s->ended > 0);
    ck_assert_int_eq(s->ended, 1);
    ck_assert_int_eq(s->rc, EVZK_OK);
    evzk_producer_free(s->p);
    s->p = NULL;
}

enum { AT_ONCE = 100, TEXT = 16 };

/* Puts so many items, "<number> <item>", in one put. */
static void put(struct source *s, size_t n, uint32_t priority)
{
    static evzk_put_item items[AT_ONCE];
    static char text[AT_ONCE][TEXT];

    ck_assert_uint_le(n, AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        items[i].data = text[i];
        items[i].len =
            (size_t)snprintf(text[i], TEXT, "%d %zu", s->number, s->put + i);
        items[i].priority = priority;
    }
    ck_assert_int_eq(evzk_producer_put(s->p, items, n, on_put, s), EVZK_OK);
    s->put += n;
}

/* The queue, as an operator reads it: one item of so many. */
struct content {
    size_t every;
    size_t items, segments, longest;
    size_t next[3]; /* Of each source: its next item. */
};

static void read_item(struct content *c, const char *path)
{
    char text[TEXT + 1] = "";
    int len = TEXT, source;
    size_t item;

    ck_assert_int_eq(raw_get(op(), path, text, &len, NULL), ZOK);
    ck_assert_int_eq(sscanf(text, "%d %zu", &source, &item), 2);
    ck_assert(source >= 0 && source < 3);
    ck_assert_uint_ge(item, c->next[source]); /* In order. */
    c->next[source] = item + 1;
}

static void read_dir(struct content *c, const char *dir)
{
    struct raw_names names;
    char path[512];

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    if (names.n > c->longest)
        c->longest = names.n;
    for (size_t i = 0; i < names.n; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names.name[i]);
        if (strncmp(names.name[i], "queue-", 6) == 0 &&
            c->items++ % c->every == 0)
            read_item(c, path);
    }
    raw_names_free(&names);
}

/* In the order of the queue. */
static struct content read_queue(const char *path, size_t every)
{
    struct content c = {.every = every};
    struct raw_names names;
    char dir[256];

    ck_assert_int_eq(raw_children(op(), path, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        if (strncmp(names.name[i], "seg-", 4) != 0)
            continue;
        snprintf(dir, sizeof dir, "%s/%s", path, names.name[i]);
        c.segments++;
        read_dir(&c, dir);
    }
    raw_names_free(&names);
    return c;
}

/* No receipt is left. */
static void no_receipts(const char *dir)
{
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    ck_assert_int_le(raw_count(op(), dir), 0);
}

START_TEST(many_items_of_two)
{
    enum { FEW = 17 };
    const int each = fewer_if_slow(50000);
    struct source s[2] = {{.number = 0}, {.number = 1}};
    struct peer p[2];
    struct content c;

    raw_delete_tree(op(), "/producer-many");
    for (int i = 0; i < 2; i++) {
        peer_open(&p[i], the_server());
        source_start(&s[i], p[i].s, "/producer-many", NULL);
    }
    for (int n = 0; n < each; n += AT_ONCE) {
        put(&s[0], AT_ONCE, 0);
        put(&s[1], AT_ONCE, 0);
    }
    for (int i = 0; i < 2; i++) {
        source_close(&s[i]);
        ck_assert_uint_eq(s[i].told, (unsigned)each);
        peer_close(&p[i]);
    }
    c = read_queue("/producer-many", FEW);
    ck_assert_uint_eq(c.items, 2 * (unsigned)each);
    ck_assert_uint_le(c.longest, LIST_MAX);
    printf("producer items=%zu segments=%zu longest=%zu\n", c.items, c.segments,
           c.longest);
    no_receipts("/producer-many/receipts"); /* The items go with the server. */
}
END_TEST

START_TEST(longest_item)
{
    static char data[EVZK_QUEUE_DATA_MAX], got[EVZK_QUEUE_DATA_MAX + 1];
    static char path[4096 - 48 + 1], item[4096];
    const evzk_put_item items[2] = {{.data = data, .len = sizeof data},
                                    {.data = data, .len = sizeof data}};
    struct source s = {0};
    int len = sizeof got;
    struct peer p;

    memset(data, 'd', sizeof data);
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    peer_open(&p, the_server());
    source_start(&s, p.s, path, NULL);
    ck_assert_int_eq(evzk_producer_put(s.p, items, 2, on_put, &s), EVZK_OK);
    source_close(&s);
    ck_assert_uint_eq(s.told, 2);
    snprintf(item, sizeof item, "%s/seg-00-0000000000/queue-0000000002", path);
    ck_assert_int_eq(raw_get(op(), item, got, &len, NULL), ZOK);
    ck_assert_int_eq(len, (int)sizeof data);
    ck_assert_int_eq(memcmp(got, data, sizeof data), 0);
    raw_delete_tree(op(), path);
    peer_close(&p);
}
END_TEST

/* As another program reads it: plain (0), by priority (1). */
START_TEST(plain_queues)
{
    const evzk_producer_options opt = {.layout = _i ? EVZK_QUEUE_PLAIN_PRIORITY
                                                    : EVZK_QUEUE_PLAIN};
    static const char *const names[2][3] = {
        {"queue-0000000000", "queue-0000000001", "queue-0000000002"},
        {"queue-030000000001", "queue-030000000002", "queue-070000000000"}};
    struct source s = {0};
    struct raw_names got;
    struct content c = {.every = 1};
    struct peer p;

    raw_delete_tree(op(), "/producer-plain");
    peer_open(&p, the_server());
    source_start(&s, p.s, "/producer-plain", &opt);
    put(&s, 1, _i ? 7 : 0);
    put(&s, 2, _i ? 3 : 0);
    source_close(&s);
    ck_assert_int_eq(raw_children(op(), "/producer-plain", &got), ZOK);
    ck_assert_uint_eq(got.n, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(got.name[i], names[_i][i]);
    raw_names_free(&got);
    if (_i == 0)
        read_dir(&c, "/producer-plain");
    no_receipts("/producer-plain.evzk/receipts");
    raw_delete_tree(op(), "/producer-plain");
    peer_close(&p);
}
END_TEST

/* Its transaction is under way, or done, when the session ends. */
START_TEST(session_ends_in_the_middle)
{
    struct source s = {0};
    struct content c;
    struct peer p;

    raw_delete_tree(op(), "/producer-expired");
    peer_open(&p, the_server());
    source_start(&s, p.s, "/producer-expired", NULL);
    for (int i = 0; i < 50; i++)
        put(&s, AT_ONCE, 0);
    WAIT(s.told > 0);
    raw_expire(the_server(), evzk_session_id(p.s));
    source_close(&s);
    ck_assert_uint_eq(s.told, s.put);
    c = read_queue("/producer-expired", 1);
    ck_assert_uint_eq(c.items, s.put);
    ck_assert_uint_eq(c.next[0], s.put);
    no_receipts("/producer-expired/receipts");
    raw_delete_tree(op(), "/producer-expired");
    peer_close(&p);
}
END_TEST

START_TEST(ephemeral_items)
{
    const evzk_producer_options opt = {.ephemeral = true};
    struct source s = {0};
    struct peer p;

    peer_open(&p, the_server());
    source_start(&s, p.s, "/producer-ephemeral", &opt);
    put(&s, 3, 0);
    source_close(&s);
    ck_assert_uint_eq(read_queue("/producer-ephemeral", 1).items, 3);
    peer_close(&p);
    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    ck_assert_uint_eq(read_queue("/producer-ephemeral", 1).items, 0);
    raw_delete_tree(op(), "/producer-ephemeral");
}
END_TEST

/* Nobody may put items of priority 1: the others are put. */
START_TEST(one_priority_is_denied)
{
    struct ACL perms = {ZOO_PERM_ALL & ~ZOO_PERM_CREATE,
                        {(char *)"world", (char *)"anyone"}};
    const struct ACL_vector acl = {1, &perms};
    static const char segment[] = "/producer-denied/seg-01-0000000000";
    struct source s = {0};
    struct peer p;

    raw_delete_tree(op(), "/producer-denied");
    raw_mkdirs(op(), "/producer-denied/seg-01-0000000000/open");
    ck_assert_int_eq(raw_set_acl(op(), segment, &acl), ZOK);
    peer_open(&p, the_server());
    source_start(&s, p.s, "/producer-denied", NULL);
    put(&s, 2, 0);
    put(&s, 2, 1);
    put(&s, 2, 0);
    source_close(&s);
    ck_assert_uint_eq(s.told, 4);
    ck_assert_int_eq(s.refused, EVZK_ERR_NOAUTH);
    raw_delete_tree(op(), "/producer-denied");
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("producer");
    TCase *many = lock_tests(suite, "many", 120000);
    TCase *few = lock_tests(suite, "few", 60000);

    tcase_add_test(many, many_items_of_two);
    tcase_add_test(few, longest_item);
    tcase_add_loop_test(few, plain_queues, 0, 2);
    tcase_add_test(few, session_ends_in_the_middle);
    tcase_add_test(few, ephemeral_items);
    tcase_add_test(few, one_priority_is_denied);
    return lock_suite_run(suite);
}
