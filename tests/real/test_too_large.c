/*
 * Requests that are larger than the server takes (jute.maxbuffer): the server
 * hangs up at them, without a word.  Each ends with its own error, and 1,000
 * locks of the same session go on.  Small puts that are too large only together
 * are put.
 */
#include "test_lock.h"

#include "evzk/evzk.h"

enum { LOCKS = 1000, LARGE = 65536, GRANTS = 3 };

#define MOST_TAKEN "-Djute.maxbuffer=50000"

static char large[LARGE];

/* ---- Locks that are taken and given back, again and again ---- */

static struct cycle {
    evzk_lock *l;
    char path[24];
    int grants;
} cycles[LOCKS];

static struct {
    evzk_session *s;
    bool stops;
    int living, rc;
} all;

static void take(struct cycle *c);

static void on_cycle(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct cycle *c = arg;

    if (ev == EVZK_LOCK_GRANTED) {
        c->grants++;
        ck_assert_int_eq(evzk_lock_release(l), EVZK_OK);
    }
    if (!evzk_lock_event_is_final(ev))
        return;
    if (rc != EVZK_OK)
        all.rc = rc;
    evzk_lock_free(l);
    c->l = NULL;
    all.living--;
    if (!all.stops)
        take(c);
}

static void take(struct cycle *c)
{
    all.living++;
    ck_assert_int_eq(
        evzk_lock_acquire(all.s, c->path, NULL, on_cycle, c, &c->l), EVZK_OK);
}

static void cycles_begin(evzk_session *s)
{
    all.s = s;
    all.stops = false;
    all.rc = EVZK_OK;
    for (int i = 0; i < LOCKS; i++) {
        snprintf(cycles[i].path, sizeof cycles[i].path, "/cycle/%04d", i);
        cycles[i].grants = 0;
        take(&cycles[i]);
    }
}

static bool cycled(int times)
{
    for (int i = 0; i < LOCKS; i++) {
        if (cycles[i].grants < times)
            return false;
    }
    return true;
}

/* From now on each lock is granted some times more. */
static void cycles_go_on(void)
{
    for (int i = 0; i < LOCKS; i++)
        cycles[i].grants = 0;
    WAIT(cycled(GRANTS));
    ck_assert_int_eq(all.rc, EVZK_OK);
}

static void cycles_end(void)
{
    all.stops = true;
    WAIT(all.living == 0);
    ck_assert_int_eq(all.rc, EVZK_OK);
}

/* ---- A server that takes little, and a session with locks ---- */

static struct zk *zk;
static struct peer peer;

static void set_up(void)
{
    zk = zk_start(&(struct zk_config){.java_flags = MOST_TAKEN});
    peer_open(&peer, zk_server(zk, 0));
    cycles_begin(peer.s);
    WAIT(cycled(1));
}

static uint64_t losses(void)
{
    evzk_session_stats st;

    evzk_session_get_stats(peer.s, &st);
    return st.losses;
}

static void tear_down(void)
{
    uint64_t before;

    cycles_go_on();
    before = losses();
    cycles_go_on(); /* And no connection is lost any more. */
    ck_assert_uint_eq(losses(), before);
    cycles_end();
    peer_close(&peer);
    zk_stop(zk);
}

/* ---- What is too large ---- */

static struct {
    int n, rc;
} ended;

static void note(int rc)
{
    ended.n++;
    ended.rc = rc;
}

static void ends_too_large(void)
{
    WAIT(ended.n > 0);
    ck_assert_int_eq(ended.n, 1);
    ck_assert_int_eq(ended.rc, EVZK_ERR_TOOLARGE);
    memset(&ended, 0, sizeof ended);
}

static void on_writer(evzk_value_writer *w, evzk_value_writer_event ev, int rc,
                      void *arg)
{
    (void)w, (void)arg, (void)rc;
    if (evzk_value_writer_event_is_final(ev))
        note(EVZK_ERR_TOOLARGE);
}

static void on_written(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    (void)w, (void)number, (void)arg;
    note(rc);
}

START_TEST(value)
{
    evzk_value_writer *w;

    ck_assert_int_eq(
        evzk_value_writer_start(peer.s, "/value", NULL, on_writer, NULL, &w),
        EVZK_OK);
    ck_assert_int_eq(evzk_value_set(w, large, LARGE, on_written, NULL),
                     EVZK_OK);
    ends_too_large();
    evzk_value_writer_free(w);
}
END_TEST

static void on_update(evzk_config_update *u, int rc, int64_t number, void *arg)
{
    (void)u, (void)number, (void)arg;
    note(rc);
}

START_TEST(configuration)
{
    const evzk_config_key keys[] = {{"small", "x", 1}, {"large", large, LARGE}};
    evzk_config_update *u;

    ck_assert_int_eq(
        evzk_config_set(peer.s, "/config", keys, 2, NULL, on_update, NULL, &u),
        EVZK_OK);
    ends_too_large();
    evzk_config_update_free(u);
}
END_TEST

static void on_tx(evzk_tx *tx, evzk_tx_event ev, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)tx, (void)vote, (void)arg;
    ck_assert_int_eq(ev, EVZK_TX_FAILED);
    note(rc);
}

START_TEST(transaction)
{
    static const char *const sites[] = {"a", "b"};
    evzk_tx_options opt = {
        .sites = sites, .n_sites = 2, .question = large, .question_len = LARGE};
    evzk_tx *tx;

    ck_assert_int_eq(evzk_tx_begin(peer.s, "/tx", &opt, on_tx, NULL, &tx),
                     EVZK_OK);
    ends_too_large();
    evzk_tx_free(tx);
}
END_TEST

/* An abort while it is still tried ends it, too. */
START_TEST(transaction_aborted)
{
    static const char *const sites[] = {"a", "b"};
    evzk_tx_options opt = {
        .sites = sites, .n_sites = 2, .question = large, .question_len = LARGE};
    uint64_t before = losses();
    evzk_tx *tx;

    ck_assert_int_eq(evzk_tx_begin(peer.s, "/tx", &opt, on_tx, NULL, &tx),
                     EVZK_OK);
    WAIT(losses() > before);
    (void)evzk_tx_abort(tx);
    WAIT(ended.n > 0);
    ck_assert_int_eq(ended.n, 1);
    ck_assert_int_ne(ended.rc, EVZK_OK);
    memset(&ended, 0, sizeof ended);
    evzk_tx_free(tx);
}
END_TEST

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    (void)p, (void)arg;
    ck_assert_uint_eq(done, 0);
    note(rc);
}

static void on_producer(evzk_producer *p, evzk_producer_event ev, int rc,
                        void *arg)
{
    (void)p, (void)ev, (void)rc, (void)arg;
}

START_TEST(put)
{
    const evzk_put_item item = {.data = large, .len = LARGE};
    evzk_producer *p;

    ck_assert_int_eq(
        evzk_producer_start(peer.s, "/queue", NULL, on_producer, NULL, &p),
        EVZK_OK);
    ck_assert_int_eq(evzk_producer_put(p, &item, 1, on_put, NULL), EVZK_OK);
    ends_too_large();
    evzk_producer_free(p);
}
END_TEST

/* ---- Small items, of which more go together than the server takes ---- */

enum { PUTS = 2000, SMALL = 100 };

static struct {
    int told, refused;
} small;

static void on_small(evzk_producer *p, int rc, size_t done, void *arg)
{
    (void)p, (void)arg;
    small.told++;
    small.refused += rc != EVZK_OK || done != 1;
}

static void put_small(evzk_producer *p)
{
    const evzk_put_item item = {.data = large, .len = SMALL};

    memset(&small, 0, sizeof small);
    for (int i = 0; i < PUTS; i++)
        ck_assert_int_eq(evzk_producer_put(p, &item, 1, on_small, NULL),
                         EVZK_OK);
    WAIT(small.told == PUTS || small.refused > 0);
    ck_assert_int_eq(small.refused, 0);
}

static void on_counted(evzk_queue_query *q, int rc,
                       const evzk_queue_report *report, void *arg)
{
    (void)q;
    ck_assert_int_eq(rc, EVZK_OK);
    *(uint64_t *)arg = report->size;
}

static void check_size(uint64_t items)
{
    uint64_t size = UINT64_MAX;
    evzk_queue_query *q;

    ck_assert_int_eq(
        evzk_queue_query_start(peer.s, "/queue", NULL, on_counted, &size, &q),
        EVZK_OK);
    WAIT(size != UINT64_MAX);
    ck_assert_uint_eq(size, items);
    evzk_queue_query_free(q);
}

/* How much the server takes is found out once. */
START_TEST(small_puts)
{
    evzk_producer *p;
    uint64_t before = losses(), first;

    ck_assert_int_eq(
        evzk_producer_start(peer.s, "/queue", NULL, on_producer, NULL, &p),
        EVZK_OK);
    put_small(p);
    first = losses();
    ck_assert_uint_gt(first, before);
    put_small(p);
    ck_assert_uint_eq(losses(), first);
    check_size(2 * PUTS);
    evzk_producer_free(p);
}
END_TEST

/* ---- A member ---- */

static struct {
    int joined, updated, rc, ends;
} said;

static void on_member(evzk_member *m, evzk_member_event ev, int rc, void *arg)
{
    (void)m, (void)arg;
    said.joined += ev == EVZK_MEMBER_JOINED;
    said.updated += ev == EVZK_MEMBER_UPDATED;
    said.ends += evzk_member_event_is_final(ev);
    said.rc = rc;
}

/* The update alone fails: the member stays, joins again with its former data,
 * and takes another update. */
START_TEST(update)
{
    const evzk_member_options opt = {.data = "one", .data_len = 3};
    evzk_member *m;

    memset(&said, 0, sizeof said);
    ck_assert_int_eq(
        evzk_group_join(peer.s, "/group", "me", &opt, on_member, NULL, &m),
        EVZK_OK);
    WAIT(said.joined == 1);
    ck_assert_int_eq(evzk_member_update(m, large, LARGE), EVZK_OK);
    WAIT(said.updated == 1);
    ck_assert_int_eq(said.rc, EVZK_ERR_TOOLARGE);
    WAIT(evzk_member_joined(m));
    raw_expire(zk_server(zk, 0), evzk_session_id(peer.s));
    WAIT(said.joined == 2);
    ck_assert_int_eq(evzk_member_update(m, "two", 3), EVZK_OK);
    WAIT(said.updated == 2);
    ck_assert_int_eq(said.rc, EVZK_OK);
    ck_assert_int_eq(said.ends, 0);
    evzk_member_free(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("too-large");
    TCase *tests = lock_tests(suite, "too-large", 120 * 1000);

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, value);
    tcase_add_test(tests, configuration);
    tcase_add_test(tests, transaction);
    tcase_add_test(tests, transaction_aborted);
    tcase_add_test(tests, put);
    tcase_add_test(tests, small_puts);
    tcase_add_test(tests, update);
    return lock_suite_run(suite);
}
