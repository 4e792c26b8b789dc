/*
 * Configurations on a real server: replaced again and again while readers read
 * and their connections are cut, all at once and bit by bit; large sets; what
 * is left behind.
 *
 * EVZK_CONFIG_REPLACEMENTS says how often the set is replaced; `make check`
 * does it 40 times, and 1,000 take some minutes.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

#include "recipes/config/config_internal.h"

enum { KEYS = 50, READERS = 3, FEW_STEPS = 20, REPLACEMENTS = 40, TEXT = 24 };

static int replacements(void)
{
    return number_set("EVZK_CONFIG_REPLACEMENTS", REPLACEMENTS);
}

/* ---- Replacements ---- */

struct change {
    evzk_config_update *u;
    int told, rc;
    int64_t number;
};

static void on_update(evzk_config_update *u, int rc, int64_t number, void *arg)
{
    struct change *c = arg;

    ck_assert_ptr_eq(u, c->u);
    c->told++;
    c->rc = rc;
    c->number = number;
}

/* Replaces the set by `n` keys whose data is `round`. */
static void replace(struct change *c, evzk_session *s, const char *path,
                    size_t n, int round)
{
    static char name[KEYS][TEXT], data[TEXT];
    static evzk_config_key key[KEYS];

    snprintf(data, sizeof data, "%d", round);
    for (size_t i = 0; i < n; i++) {
        snprintf(name[i], TEXT, "key-%02d", (int)i);
        key[i] = (evzk_config_key){name[i], data, strlen(data)};
    }
    c->told = 0;
    ck_assert_int_eq(
        evzk_config_set(s, path, key, n, NULL, on_update, c, &c->u), EVZK_OK);
}

/* The number; 0 if nobody knows whether the set was whole. */
static int64_t replaced(struct change *c)
{
    WAIT(c->told > 0);
    ck_assert_int_eq(c->told, 1);
    ck_assert_msg(c->rc == EVZK_OK || c->rc == EVZK_ERR_CONNLOSS, "%s",
                  evzk_errname(c->rc));
    evzk_config_update_free(c->u);
    c->u = NULL;
    return c->number;
}

/* ---- Readers ---- */

/* A reader that follows, and asks besides, again and again. */
struct reader {
    struct peer peer;
    struct proxy *proxy;
    const char *path;
    evzk_config_follower *f;
    evzk_config_query *q;
    int64_t followed; /* The number told last. */
    int round;        /* Of that set. */
    size_t followings, queries;
    bool any_order; /* Rounds are all the same. */
    bool done;
};

/* All keys are of one round; that tells how many there are. */
static int round_of(const evzk_config *c)
{
    int round = c->n > 0 ? atoi(c->key[0].data) : -1;

    ck_assert_uint_gt(c->n, 0);
    ck_assert_uint_eq(c->n, (size_t)(KEYS - round % 3));
    for (size_t i = 0; i < c->n; i++) {
        ck_assert_msg(atoi(c->key[i].data) == round,
                      "number %lld is mixed: %s has %s, and the first key %d",
                      (long long)c->number, c->key[i].name,
                      (const char *)c->key[i].data, round);
        ck_assert_ptr_eq(evzk_config_find(c, c->key[i].name), &c->key[i]);
    }
    return round;
}

static void on_follower(evzk_config_follower *f,
                        evzk_config_follower_event event, int rc,
                        const evzk_config *c, void *arg)
{
    struct reader *r = arg;

    ck_assert_ptr_eq(f, r->f);
    ck_assert_int_eq(event, EVZK_CONFIG_FOLLOWER_CONFIG);
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert_int_gt(c->number, r->followed);
    ck_assert(r->any_order || round_of(c) > r->round);
    r->followed = c->number;
    r->round = round_of(c);
    r->followings++;
}

static void ask(struct reader *r);

static void on_query(evzk_config_query *q, int rc, const evzk_config *c,
                     void *arg)
{
    struct reader *r = arg;

    ck_assert_ptr_eq(q, r->q);
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert_int_ge(c->number, r->followed > 0 ? 1 : 0);
    round_of(c);
    r->queries++;
    evzk_config_query_free(q);
    r->q = NULL;
    if (!r->done)
        ask(r);
}

static void ask(struct reader *r)
{
    ck_assert_int_eq(
        evzk_config_get(r->peer.s, r->path, NULL, on_query, r, &r->q), EVZK_OK);
}

static void begin_reading(struct reader *r, const char *path)
{
    memset(r, 0, sizeof *r);
    r->path = path;
    r->round = -1;
    r->proxy = proxy_start(the_server());
    peer_open(&r->peer, proxy_address(r->proxy));
    ck_assert_int_eq(
        evzk_config_follow(r->peer.s, path, NULL, on_follower, r, &r->f),
        EVZK_OK);
    ask(r);
}

static void end_reading(struct reader *r)
{
    r->done = true;
    WAIT(!r->q);
    evzk_config_follower_free(r->f);
    peer_close(&r->peer);
    proxy_stop(r->proxy);
}

/* Fifty keys are replaced again and again; in every round the connection of one
 * reader, or of the writer, is cut.  The first time each set goes in one
 * transaction, the second time bit by bit. */
START_TEST(never_mixed)
{
    static struct reader readers[READERS];
    const char *path = _i ? "/config-bits" : "/config-whole";
    struct evzk__config_limits limits = evzk__config_limits;
    struct proxy *proxy = proxy_start(the_server());
    struct change c = {0};
    struct peer writer;
    int64_t last = 0;
    int n = replacements();

    if (_i)
        evzk__config_limits.steps = FEW_STEPS;
    peer_open(&writer, proxy_address(proxy));
    for (int i = 0; i < READERS; i++)
        begin_reading(&readers[i], path);
    for (int round = 0; round < n; round++) {
        int64_t number;

        replace(&c, writer.s, path, (size_t)(KEYS - round % 3), round);
        proxy_cut(round % (READERS + 2) < READERS
                      ? readers[round % (READERS + 2)].proxy
                      : proxy);
        number = replaced(&c);
        ck_assert(number == 0 || number > last);
        if (number)
            last = number;
    }
    for (int i = 0; i < READERS; i++)
        WAIT(readers[i].round == n - 1 && readers[i].followed == last);
    for (int i = 0; i < READERS; i++) {
        printf("config: reader %d: followed %zu, asked %zu, mixed 0\n", i,
               readers[i].followings, readers[i].queries);
        end_reading(&readers[i]);
    }
    evzk__config_limits = limits;
    peer_close(&writer);
    proxy_stop(proxy);
    raw_delete_tree(op(), path);
}
END_TEST

/* Four processes replace at once, two of them bit by bit: each is whole once.
 */
START_TEST(many_writers)
{
    enum { WRITERS = 4, ROUNDS = 5 };
    const char *path = "/config-writers";
    struct evzk__config_limits limits = evzk__config_limits;
    struct change c[WRITERS] = {{0}};
    struct peer p[WRITERS];
    struct reader r;

    for (int i = 0; i < WRITERS; i++)
        peer_open(&p[i], the_server());
    replace(&c[0], p[0].s, path, KEYS, 0);
    ck_assert_int_gt(replaced(&c[0]), 0);
    begin_reading(&r, path);
    r.any_order = true;
    WAIT(r.followed > 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WRITERS; i++) {
            evzk__config_limits.steps = i < 2 ? FEW_STEPS : limits.steps;
            replace(&c[i], p[i].s, path, KEYS, 0);
        }
        for (int i = 0; i < WRITERS; i++) {
            ck_assert_int_gt(replaced(&c[i]), 0);
            for (int k = 0; k < i; k++)
                ck_assert_int_ne(c[i].number, c[k].number);
        }
    }
    evzk__config_limits = limits;
    end_reading(&r);
    for (int i = 0; i < WRITERS; i++)
        peer_close(&p[i]);
    raw_delete_tree(op(), path);
}
END_TEST

/* ---- Sets of any size ---- */

struct answer {
    int told, rc;
    size_t n, bytes;
};

static void on_answer(evzk_config_query *q, int rc, const evzk_config *c,
                      void *arg)
{
    struct answer *a = arg;

    (void)q;
    a->told++;
    a->rc = rc;
    a->n = c ? c->n : 0;
    for (size_t i = 0; i < a->n; i++)
        a->bytes += c->key[i].len;
}

static struct answer asked(evzk_session *s, const char *path,
                           const evzk_config_options *opt)
{
    struct answer a = {0};
    evzk_config_query *q;

    ck_assert_int_eq(evzk_config_get(s, path, opt, on_answer, &a, &q), EVZK_OK);
    WAIT(a.told > 0);
    ck_assert_int_eq(a.told, 1);
    evzk_config_query_free(q);
    return a;
}

/* Keys as long as they may be, many keys, and none. */
START_TEST(of_any_size)
{
    enum { MANY = 1200, LONG = 3 };
    static char data[EVZK_CONFIG_DATA_MAX], name[MANY][TEXT];
    static evzk_config_key key[MANY];
    const char *path = "/config-size";
    struct change c = {0};
    struct answer a;
    struct peer p;

    peer_open(&p, the_server());
    memset(data, 'x', sizeof data);
    for (int i = 0; i < MANY; i++) {
        snprintf(name[i], TEXT, "%d", i);
        key[i] = (evzk_config_key){name[i], data, i < LONG ? sizeof data : 1};
    }
    ck_assert_int_eq(
        evzk_config_set(p.s, path, key, LONG, NULL, on_update, &c, &c.u),
        EVZK_OK);
    ck_assert_int_gt(replaced(&c), 0);
    a = asked(p.s, path, NULL);
    ck_assert_uint_eq(a.n, LONG);
    ck_assert_uint_eq(a.bytes, LONG * sizeof data);
    c.told = 0;
    ck_assert_int_eq(evzk_config_set(p.s, path, key + LONG, MANY - LONG, NULL,
                                     on_update, &c, &c.u),
                     EVZK_OK);
    ck_assert_int_gt(replaced(&c), 0);
    a = asked(p.s, path, NULL);
    ck_assert_uint_eq(a.n, MANY - LONG);
    ck_assert_int_eq(raw_count(op(), path), MANY - LONG + 1);
    replace(&c, p.s, path, 0, 0);
    ck_assert_int_gt(replaced(&c), 0);
    a = asked(p.s, path, NULL);
    ck_assert_int_eq(a.rc, EVZK_OK);
    ck_assert_uint_eq(a.n, 0);
    ck_assert_int_eq(raw_count(op(), path), 1);
    peer_close(&p);
    raw_delete_tree(op(), path);
}
END_TEST

/* A set that was written by hand, as the paper has it; and none at all. */
START_TEST(made_by_hand)
{
    const evzk_config_options brief = {.timeout_ms = 200};
    const char *path = "/config-hand";
    struct change c = {0};
    struct answer a;
    struct peer p;

    peer_open(&p, the_server());
    ck_assert_int_eq(asked(p.s, path, &brief).rc, EVZK_ERR_TIMEOUT);
    raw_mkdirs(op(), path);
    ck_assert_int_eq(raw_create(op(), "/config-hand/a", "x", 1, 0, NULL, 0),
                     ZOK);
    ck_assert_int_eq(asked(p.s, path, &brief).rc, EVZK_ERR_TIMEOUT);
    ck_assert_int_eq(raw_create(op(), "/config-hand/ready", "", 0, 0, NULL, 0),
                     ZOK);
    a = asked(p.s, path, NULL);
    ck_assert_uint_eq(a.n, 1);
    replace(&c, p.s, path, 2, 0);
    ck_assert_int_gt(replaced(&c), 0);
    a = asked(p.s, path, NULL);
    ck_assert_uint_eq(a.n, 2);
    ck_assert_int_eq(raw_exists(op(), "/config-hand/a", NULL), ZNONODE);
    peer_close(&p);
    raw_delete_tree(op(), path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *read = lock_tests(suite, "read", 60000 + replacements() * 2000);

    tcase_add_loop_test(read, never_mixed, 0, 2);
    tcase_add_test(read, many_writers);
    tcase_add_test(read, of_any_size);
    tcase_add_test(read, made_by_hand);
    return lock_suite_run(suite);
}
