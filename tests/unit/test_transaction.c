/* Transactions, put together and sent into a connection that is not there: all
 * that they need is in one block of memory, whose bounds are guarded here. */
#include "unit_dir.h"

#include "evzk/session.h"
#include "lib/base/mem.h"
#include "lib/request/create_order.h"
#include "lib/request/transaction.h"

/* Memory with something behind it.  Where a sanitizer or Valgrind looks, the
 * tests run without, and it sees the bounds itself. */

enum { GUARD = 512, FILL = 0xa5 };

struct block {
    LIST_ENTRY(block) link;
    size_t size;
    _Alignas(max_align_t) unsigned char data[];
};

static LIST_HEAD(, block) blocks;
static unsigned refuse; /* The so-many-th block is not given; 0: all are. */

static void *guarded(size_t size)
{
    struct block *b;

    if (refuse && --refuse == 0)
        return NULL;
    b = malloc(sizeof *b + size + GUARD);
    UNIT_HOT(b);
    b->size = size;
    memset(b->data, 0, size);
    memset(b->data + size, FILL, GUARD);
    LIST_INSERT_HEAD(&blocks, b, link);
    return b->data;
}

static void check_guard(const struct block *b)
{
    for (size_t i = 0; i < GUARD; i++)
        UNIT_HOT(b->data[b->size + i] == FILL);
}

static void check_guards(void)
{
    const struct block *b;

    LIST_FOREACH(b, &blocks, link) check_guard(b);
}

static void unguarded(void *p)
{
    struct block *b =
        (void *)((unsigned char *)p - offsetof(struct block, data));

    check_guard(b);
    LIST_REMOVE(b, link);
    free(b);
}

static void guard_memory(bool on)
{
    evzk_set_allocator(on ? guarded : NULL, NULL, on ? unguarded : NULL);
}

/* The multi alone, in just so much room as it asks for. */

static const evzk_acl acl = {EVZK_PERM_ALL, "world", "anyone"};

static struct evzk__multi *fill(const char *dir, const char *name)
{
    size_t d = strlen(dir), n = strlen(name);
    size_t room = 3 * (d + 1) + 3 * (d + n + 2) + 12 + 4;
    struct evzk__multi *m = evzk__multi_new(7, room, &acl, 1);

    UNIT_HOT(m);
    evzk__multi_mkdir(m, dir, "data", 4);
    evzk__multi_create_seq(m, dir, name, "data", 4);
    evzk__multi_delete(m, dir, name, -1);
    evzk__multi_delete(m, dir, NULL, -1);
    evzk__multi_stamp(m, dir, name, "-tag");
    evzk__multi_delete(m, dir, NULL, -1);
    return m;
}

START_TEST(test_multi_bounds)
{
    static const size_t lengths[] = {2, 3, 7, 8, 9, 4096, 8192};
    static char dir[8193], name[97];

    for (size_t i = 0; i < 2 * UNIT_COUNT(lengths); i++) {
        size_t length = lengths[i / 2];

        guard_memory(i % 2);
        memset(dir, 'd', length);
        dir[0] = '/';
        dir[length] = '\0';
        for (size_t n = 1; n < sizeof name; n++) {
            struct evzk__multi *m;

            memset(name, 'n', n);
            name[n] = '\0';
            m = fill(dir, name);
            check_guards();
            evzk__multi_free(m);
        }
    }
    guard_memory(false);
}
END_TEST

/* Batches as the request layer makes them. */

enum { MOST = 150, TEXT = 8193 };

struct item {
    struct evzk__machine m; /* The contender, with its request. */
    char dir[TEXT], name[2 * EVZK__NAME_MAX];
    unsigned answers;
    int rc;
};

struct world {
    struct evzk__core s;
    struct item item[MOST];
    size_t n;
    bool dropped; /* Nobody is there to answer. */
};

static char data[1 << 20];

static void answered(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct item *i = evzk__container_of(r, struct item, m.place.req);

    i->answers++;
    i->rc = reply->rc;
}

static void completed(void *arg, struct evzk__slot *slot,
                      const struct evzk__result *res)
{
    evzk__request_completed(arg, slot, res);
}

static void ignored(void *arg, const char *path, enum evzk__watch_event ev)
{
    (void)arg;
    (void)path;
    (void)ev;
}

static void unread(void *arg, evzk_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    (void)line;
}

/* No connection is made: nothing asks the client for what it wants. */
static void set_up(struct world *t, bool guard)
{
    struct evzk__client_config cfg = {
        .servers = "127.0.0.1:1",
        .timeout_ms = 10000,
        .slots = 4,
        .hooks = {completed, ignored, unread, NULL, NULL},
        .arg = &t->s};
    int rc;

    guard_memory(guard);
    refuse = 0;
    memset(t, 0, sizeof *t);
    unit_open(&t->s);
    evzk__requests_init(&t->s.requests);
    t->s.client = evzk__client_new(&cfg, &rc);
    ck_assert_int_eq(rc, EVZK_OK);
}

static struct item *ask(struct world *t, enum evzk__op op, const char *name)
{
    struct item *i = &t->item[t->n++];

    strcpy(i->name, name);
    i->m.place.req.done = answered;
    i->m.place.req.op = (uint8_t)op;
    i->m.place.req.name = i->name;
    i->m.place.req.dir = evzk__dir_get(&t->s, i->dir, "");
    UNIT_HOT(i->m.place.req.dir);
    unit_machine(&i->m, &t->s, i->m.place.req.dir);
    return i;
}

static struct item *ask_create(struct world *t, const char *name, size_t len)
{
    struct item *i = ask(t, EVZK__CREATE_LIST, name);

    i->m.place.req.data = data;
    i->m.place.req.len = (uint32_t)len;
    i->m.place.req.acl = &acl;
    i->m.place.req.acl_count = 1;
    evzk__request_submit(&t->s, &i->m.place.req);
    return i;
}

static struct item *ask_delete(struct world *t, const char *name, bool ours)
{
    struct item *i = ask(t, EVZK__DELETE, name);

    evzk__queue_enter(&i->m.place, i->name, 0);
    i->m.place.req.dir->made_by_us = ours;
    evzk__request_submit(&t->s, &i->m.place.req);
    return i;
}

static void send_first(struct world *t, enum evzk__op op)
{
    struct evzk__request *r = TAILQ_FIRST(&t->s.requests.queue[op]);

    UNIT_HOT(r && evzk__batch_takes(&t->s, r));
    evzk__batch_send(&t->s, r);
    check_guards();
}

static size_t count(const struct world *t, enum evzk__request_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += t->item[i].m.place.req.state == (uint8_t)state;
    return n;
}

/* The connection is lost, or its end is the end of all. */
static void drop(struct world *t, bool answer)
{
    size_t sent = count(t, EVZK__SENT);

    if (answer) {
        evzk__requests_lost(&t->s, t->s.client);
        ck_assert_uint_eq(count(t, EVZK__SENT), 0);
        ck_assert_uint_eq(t->s.requests.n_batches, 0);
    } else
        evzk__batches_clear(&t->s);
    for (size_t i = 0; i < t->n; i++) {
        sent -= t->item[i].answers;
        UNIT_HOT(t->item[i].answers <= 1);
        UNIT_HOT(!t->item[i].answers || t->item[i].rc == EVZK_ERR_CONNLOSS);
    }
    ck_assert(!answer || sent == 0);
    check_guards();
    evzk__client_free(t->s.client);
}

static void tear_down(struct world *t, bool answer)
{
    drop(t, answer);
    for (size_t i = 0; i < t->n; i++) {
        struct item *it = &t->item[i];

        evzk__request_cancel(&t->s, &it->m.place.req);
        evzk__create_order_left(&it->m.place);
        evzk__queue_remove(&it->m.place);
        evzk__dir_put(&t->s, it->m.place.req.dir);
    }
    evzk__idle_dirs_clear(&t->s);
    ck_assert(RB_EMPTY(&t->s.dirs) && LIST_EMPTY(&blocks));
    guard_memory(false);
}

/* A path of this length that is no other's. */
static void pick_dir(struct world *t, size_t length)
{
    char *dir = t->item[t->n].dir;
    int n = snprintf(dir, TEXT, "/%zu", t->n);

    if ((size_t)n >= length)
        return;
    memset(dir + n, 'd', length - (size_t)n);
    dir[length] = '\0';
}

static const char *name_of(size_t length, bool whole)
{
    static char name[2 * EVZK__NAME_MAX];

    memset(name, 'n', length);
    strcpy(name + length, whole ? "-lock-0000000000" : "-lock-");
    return name;
}

enum { SHORT = 1, LONGEST = EVZK__NAME_MAX - 1 - 16 }; /* And the number. */

/* A path that is none, at any place of a transaction: the C client is not
 * asked, which would free what it has not set. */
START_TEST(test_multi_bad_path)
{
    static const char *const bad[] = {"a/b/",   "x//y",    "..",
                                      "a/../b", "a\x01/b", "a/"};
    struct world t;

    set_up(&t, false);
    for (size_t i = 0; i < 4 * UNIT_COUNT(bad); i++) {
        struct evzk__multi *m = evzk__multi_new(5, 500, &acl, 1);
        struct evzk__slot *slot = evzk__client_slot(t.s.client);
        const char *name = bad[i / 4];

        UNIT_HOT(m && slot);
        evzk__multi_create_name(m, "/d", i % 4 == 0 ? name : "x", "", 0);
        evzk__multi_check(m, "/d", i % 4 == 1 ? name : "x", 0);
        evzk__multi_delete(m, "/d", i % 4 == 2 ? name : "x", 0);
        evzk__multi_create_seq(m, "/d", i % 4 == 3 ? "/x" : "x-", "", 0);
        ck_assert_int_eq(evzk__client_multi(slot, m), EVZK_ERR_INVAL);
        evzk__client_slot_free(slot);
        evzk__multi_free(m);
    }
    tear_down(&t, true);
}
END_TEST

START_TEST(test_creates)
{
    static const size_t lengths[] = {1, 8, 100, 1023, 4096, TEXT - 1};
    static struct world t;

    for (size_t k = 0; k < 8 * UNIT_COUNT(lengths); k++) {
        size_t name = k & 2 ? LONGEST : SHORT, sent;

        set_up(&t, k & 1);
        for (size_t i = 0; i < 70; i++) {
            pick_dir(&t, lengths[k / 8]);
            ask_create(&t, name_of(name, false), i % 3);
        }
        send_first(&t, EVZK__CREATE_LIST);
        sent = count(&t, EVZK__SENT);
        ck_assert_uint_ge(sent, lengths[k / 8] <= 100 ? 64 : 7);
        ck_assert_uint_le(sent, 64);
        ck_assert_uint_eq(count(&t, EVZK__QUEUED), 70 - sent);
        ck_assert_uint_eq(t.s.requests.n_batches, 1);
        send_first(&t, EVZK__CREATE_LIST); /* The rest, or some of it. */
        tear_down(&t, k & 4);
    }
}
END_TEST

START_TEST(test_deletes)
{
    static const size_t lengths[] = {1, 8, 100, 1023, 4096, TEXT - 1};
    static struct world t;

    for (size_t k = 0; k < 8 * UNIT_COUNT(lengths); k++) {
        size_t name = k & 2 ? LONGEST : SHORT;

        set_up(&t, k & 1);
        for (size_t i = 0; i < 70; i++) {
            pick_dir(&t, lengths[k / 8]);
            ask_delete(&t, name_of(name, true), i % 4 != 3);
        }
        send_first(&t, EVZK__DELETE);
        ck_assert_uint_ge(count(&t, EVZK__SENT), 7);
        tear_down(&t, k & 4);
    }
}
END_TEST

/* A request that is too large goes alone. */
START_TEST(test_large)
{
    static struct world t;

    for (int k = 0; k < 4; k++) {
        set_up(&t, k & 1);
        for (int i = 0; i < 3; i++) {
            pick_dir(&t, 100);
            ask_create(&t, name_of(SHORT, false), sizeof data);
        }
        send_first(&t, EVZK__CREATE_LIST);
        ck_assert_uint_eq(count(&t, EVZK__SENT), 1);
        tear_down(&t, k & 2);
    }
}
END_TEST

/* At most one create in each directory, for it has its transaction's token. */
START_TEST(test_one_a_directory)
{
    static struct world t;

    set_up(&t, true);
    for (size_t i = 0; i < 12; i++) {
        snprintf(t.item[t.n].dir, TEXT, "/dir/%zu", i / 3);
        ask_create(&t, name_of(i, false), 0);
    }
    for (size_t i = 0; i < 12; i++)
        UNIT_HOT(evzk__batch_takes(&t.s, &t.item[i].m.place.req) ==
                 (i % 3 == 0));
    send_first(&t, EVZK__CREATE_LIST);
    for (size_t i = 0; i < 12; i++) {
        struct item *it = &t.item[i];

        ck_assert_int_eq(it->m.place.req.state,
                         i % 3 ? EVZK__QUEUED : EVZK__SENT);
        ck_assert_uint_eq(it->m.place.req.dir->creating, 1);
        ck_assert_uint_eq(it->m.place.req.dir->coming, 3);
        ck_assert(!it->m.place.req.dir->chosen);
        ck_assert(!evzk__batch_takes(
            &t.s, &it->m.place.req)); /* The directory is busy now. */
    }
    tear_down(&t, true);
}
END_TEST

/* The directory goes with its last contender, if none of ours is to come. */
START_TEST(test_one_to_come_keeps_the_directory)
{
    static struct world t;
    const struct item *last, *to_come;

    set_up(&t, true);
    strcpy(t.item[0].dir, "/dir");
    strcpy(t.item[1].dir, "/dir");
    last = ask_delete(&t, name_of(SHORT, true), true);
    ck_assert(evzk__batch_takes_dir(&last->m.place.req));
    to_come = ask_create(&t, name_of(SHORT, false), 0);
    ck_assert(!evzk__batch_takes_dir(&last->m.place.req));
    evzk__request_cancel(&t.s, &t.item[1].m.place.req);
    evzk__dir_put(&t.s, to_come->m.place.req.dir);
    ck_assert(evzk__batch_takes_dir(&last->m.place.req));
    t.n = 1;
    tear_down(&t, true);
}
END_TEST

static size_t random_length(struct unit_rng *rng)
{
    return (size_t)unit_upto(rng, unit_upto(rng, 9) ? 200 : TEXT - 2) + 1;
}

static void ask_random(struct world *t, struct unit_rng *rng, enum evzk__op op)
{
    size_t name = (size_t)unit_upto(rng, LONGEST - 1) + 1;

    pick_dir(t, random_length(rng));
    if (op == EVZK__DELETE)
        ask_delete(t, name_of(name, true), unit_upto(rng, 1));
    else
        ask_create(t, name_of(name, false), (size_t)unit_upto(rng, 300));
}

START_TEST(test_transactions_random)
{
    struct unit_rng rng = unit_seeded("batches");
    static struct world t;

    for (int round = 0; round < 300; round++) {
        size_t n = (size_t)unit_upto(&rng, MOST - 1) + 1;
        enum evzk__op op = round % 4 < 2 ? EVZK__DELETE : EVZK__CREATE_LIST;

        set_up(&t, round % 2);
        while (n-- > 0)
            ask_random(&t, &rng, op);
        for (int i = 0; i < 3; i++) {
            if (!TAILQ_EMPTY(&t.s.requests.queue[op]))
                send_first(&t, op);
        }
        ck_assert_uint_ge(t.s.requests.n_batches, 1);
        tear_down(&t, unit_upto(&rng, 1));
    }
}
END_TEST

/* Nothing has happened then, and all wait. */
START_TEST(test_transactions_no_memory)
{
    static struct world t;

    for (unsigned k = 1; k <= 2; k++) {
        set_up(&t, true);
        for (size_t i = 0; i < 10; i++) {
            pick_dir(&t, 20);
            ask_create(&t, name_of(SHORT, false), 0);
        }
        refuse = k; /* The batch, or its multi. */
        send_first(&t, EVZK__CREATE_LIST);
        ck_assert_uint_eq(count(&t, EVZK__QUEUED), 10);
        ck_assert_uint_eq(t.s.requests.n_batches, 0);
        ck_assert_uint_eq(t.s.requests.in_flight, 0);
        ck_assert(t.s.send_at > 0);
        for (size_t i = 0; i < t.n; i++)
            ck_assert(!t.item[i].m.place.req.dir->chosen &&
                      !t.item[i].m.place.req.dir->creating);
        tear_down(&t, true);
    }
}
END_TEST

UNIT_MAIN("batch", test_multi_bounds, test_multi_bad_path, test_creates,
          test_deletes, test_large, test_one_a_directory,
          test_one_to_come_keeps_the_directory, test_transactions_random,
          test_transactions_no_memory)
