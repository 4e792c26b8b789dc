/*
 * Values on a real server: the longest value, a counter that many add to while
 * connections are cut, compare-and-set against a rival, a session that ends in
 * the middle, and what is left behind.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

enum { ADDERS = 4, ADDITIONS = 250, AT_ONCE = 10 };

/* A writer, and what it said. */
struct adder {
    struct peer peer;
    struct proxy *proxy;
    evzk_value_writer *w;
    int asked, told, ended;
    int rc; /* Of the last write. */
    int64_t number, sum;
    int64_t *seen; /* Each number, or NULL. */
};

static void on_end(evzk_value_writer *w, evzk_value_writer_event event, int rc,
                   void *arg)
{
    struct adder *a = arg;

    ck_assert_ptr_eq(w, a->w);
    ck_assert_int_eq(event, EVZK_VALUE_WRITER_CLOSED);
    ck_assert_int_eq(rc, EVZK_OK);
    a->ended++;
}

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    struct adder *a = arg;

    ck_assert_ptr_eq(w, a->w);
    if (a->seen && rc == EVZK_OK)
        a->seen[a->told] = number;
    a->told++;
    a->rc = rc;
    a->number = number;
}

static void start(struct adder *a, const char *server, const char *path)
{
    peer_open(&a->peer, server);
    ck_assert_int_eq(
        evzk_value_writer_start(a->peer.s, path, NULL, on_end, a, &a->w),
        EVZK_OK);
}

static void stop(struct adder *a)
{
    ck_assert_int_eq(evzk_value_writer_close(a->w), EVZK_OK);
    WAIT(a->ended > 0);
    ck_assert_int_eq(a->ended, 1);
    evzk_value_writer_free(a->w);
    peer_close(&a->peer);
}

/* A write, from the call to the end. */
static void written(struct adder *a, int began, int rc)
{
    ck_assert_int_eq(began, EVZK_OK);
    a->asked++;
    WAIT(a->told == a->asked);
    ck_assert_msg(a->rc == rc, "%s", evzk_errname(a->rc));
}

static int64_t number_at(const char *path)
{
    char text[32] = "";
    int len = sizeof text - 1;

    ck_assert_int_eq(raw_sync(op(), path), ZOK);
    ck_assert_int_eq(raw_get(op(), path, text, &len, NULL), ZOK);
    text[len > 0 ? len : 0] = '\0';
    return strtoll(text, NULL, 10);
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Four sessions add, and are cut off in turn.  Each number is told once. */
START_TEST(counts_each_once)
{
    static int64_t seen[ADDERS * ADDITIONS];
    static struct adder a[ADDERS];
    const char *path = "/value-counter";
    int cuts = 0;

    for (int i = 0; i < ADDERS; i++) {
        a[i].proxy = proxy_start(the_server());
        a[i].seen = seen + i * ADDITIONS;
        start(&a[i], proxy_address(a[i].proxy), path);
    }
    for (int n = 0; n < ADDITIONS; n += AT_ONCE) {
        for (int i = 0; i < ADDERS; i++) {
            for (int k = 0; k < AT_ONCE; k++)
                ck_assert_int_eq(evzk_counter_add(a[i].w, 1, on_write, &a[i]),
                                 EVZK_OK);
        }
        WAIT(a[n % ADDERS].told >= n / 2);
        proxy_cut(a[n / AT_ONCE % ADDERS].proxy);
        cuts++;
    }
    for (int i = 0; i < ADDERS; i++) {
        WAIT(a[i].told == ADDITIONS);
        ck_assert_int_eq(a[i].rc, EVZK_OK);
    }
    ck_assert_int_eq(number_at(path), ADDERS * ADDITIONS);
    qsort(seen, ADDERS * ADDITIONS, sizeof seen[0], compare);
    for (int i = 0; i < ADDERS * ADDITIONS; i++)
        ck_assert_int_eq(seen[i], i + 1);
    printf("value: %d additions, %d cuts, counted %d\n", ADDERS * ADDITIONS,
           cuts, ADDERS * ADDITIONS);
    for (int i = 0; i < ADDERS; i++) {
        stop(&a[i]);
        proxy_stop(a[i].proxy);
    }
    ck_assert_int_eq(raw_count(op(), path), 0); /* No receipt. */
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
}
END_TEST

/* The session ends while additions are on their way. */
START_TEST(counts_over_sessions)
{
    struct adder a = {0};
    const char *path = "/value-sessions";

    start(&a, the_server(), path);
    for (int round = 0; round < 5; round++) {
        int64_t session = evzk_session_id(a.peer.s);

        for (int k = 0; k < AT_ONCE; k++)
            ck_assert_int_eq(evzk_counter_add(a.w, 1, on_write, &a), EVZK_OK);
        raw_expire(the_server(), session);
        WAIT(a.told == (round + 1) * AT_ONCE);
        ck_assert_int_eq(a.rc, EVZK_OK);
        ck_assert_int_eq(a.number, (round + 1) * AT_ONCE);
        WAIT(evzk_session_connected(a.peer.s));
    }
    ck_assert_int_eq(number_at(path), 5 * AT_ONCE);
    stop(&a);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
}
END_TEST

/* ---- Reading ---- */

struct seen {
    int told, rc, ended;
    bool exists;
    size_t len;
    evzk_value_stamp stamp;
    int64_t mzxid;
};

static void take(struct seen *s, int rc, const evzk_value *v)
{
    s->told++;
    s->rc = rc;
    if (!v)
        return;
    s->exists = v->exists;
    s->len = v->len;
    s->stamp = v->stamp;
    s->mzxid = v->mzxid;
}

static void on_query(evzk_value_query *q, int rc, const evzk_value *v,
                     void *arg)
{
    (void)q;
    take(arg, rc, v);
}

static void on_follower(evzk_value_follower *f, evzk_value_follower_event event,
                        int rc, const evzk_value *v, void *arg)
{
    struct seen *s = arg;

    (void)f;
    if (event == EVZK_VALUE_FOLLOWER_ENDED)
        s->ended++;
    else
        ck_assert(!v->exists || v->mzxid > s->mzxid);
    take(s, rc, v);
}

static struct seen look(evzk_session *session, const char *path)
{
    struct seen s = {0};
    evzk_value_query *q;

    ck_assert_int_eq(evzk_value_get(session, path, NULL, on_query, &s, &q),
                     EVZK_OK);
    WAIT(s.told > 0);
    ck_assert_int_eq(s.told, 1);
    ck_assert_int_eq(s.rc, EVZK_OK);
    evzk_value_query_free(q);
    return s;
}

/* The longest value, and none; what a rival has changed is not overwritten. */
START_TEST(compared_and_set)
{
    static char data[EVZK_VALUE_DATA_MAX];
    const char *path = "/value-compared";
    struct adder a = {0};
    struct seen s;

    start(&a, the_server(), path);
    ck_assert(!look(a.peer.s, path).exists);
    written(&a, evzk_value_set(a.w, data, sizeof data, on_write, &a), EVZK_OK);
    s = look(a.peer.s, path);
    ck_assert_uint_eq(s.len, sizeof data);
    written(&a, evzk_value_compare_set(a.w, &s.stamp, "mine", 4, on_write, &a),
            EVZK_OK);
    written(&a, evzk_value_compare_set(a.w, &s.stamp, "late", 4, on_write, &a),
            EVZK_ERR_BADVERSION);
    s = look(a.peer.s, path);
    ck_assert_uint_eq(s.len, 4);
    ck_assert_int_eq(raw_set(op(), path, "rival", 5), ZOK);
    written(&a, evzk_value_compare_set(a.w, &s.stamp, "late", 4, on_write, &a),
            EVZK_ERR_BADVERSION);
    written(&a, evzk_value_create(a.w, "late", 4, on_write, &a),
            EVZK_ERR_NODEEXISTS);
    written(&a, evzk_counter_add(a.w, 1, on_write, &a), EVZK_ERR_BADDATA);
    ck_assert_uint_eq(look(a.peer.s, path).len, 5);
    stop(&a);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
}
END_TEST

/* The value is deleted and made anew, with the same version: it is another. */
START_TEST(another_of_that_version)
{
    const char *path = "/value-anew";
    struct adder a = {0};
    struct seen s, other;

    start(&a, the_server(), path);
    written(&a, evzk_value_set(a.w, "1", 1, on_write, &a), EVZK_OK);
    written(&a, evzk_counter_add(a.w, 1, on_write, &a), EVZK_OK);
    s = look(a.peer.s, path);
    raw_delete_tree(op(), path);
    ck_assert_int_eq(raw_create(op(), path, "40", 2, 0, NULL, 0), ZOK);
    ck_assert_int_eq(raw_set(op(), path, "41", 2), ZOK);
    other = look(a.peer.s, path);
    ck_assert_int_eq(other.stamp.version, s.stamp.version);
    written(&a, evzk_value_compare_set(a.w, &s.stamp, "x", 1, on_write, &a),
            EVZK_ERR_BADVERSION);
    written(&a, evzk_counter_add(a.w, 1, on_write, &a), EVZK_OK);
    ck_assert_int_eq(a.number, 42);
    stop(&a);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
}
END_TEST

START_TEST(followed)
{
    const char *path = "/value-followed";
    struct proxy *proxy = proxy_start(the_server());
    struct seen s = {0};
    evzk_value_follower *f;
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    ck_assert_int_eq(evzk_value_follow(p.s, path, NULL, on_follower, &s, &f),
                     EVZK_OK);
    WAIT(s.told == 1);
    ck_assert(!s.exists);
    for (int i = 1; i < 20; i++) {
        if (i % 4 == 1)
            ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
        else
            ck_assert_int_eq(raw_set(op(), path, "xxxxxxxxxx", i % 10), ZOK);
        if (i % 3 == 0)
            proxy_cut(proxy);
        WAIT(s.exists && s.len == (size_t)(i % 4 == 1 ? 0 : i % 10));
        if (i % 4 == 0) {
            ck_assert_int_eq(raw_delete(op(), path), ZOK);
            WAIT(!s.exists);
        }
    }
    ck_assert_int_eq(evzk_value_follower_cancel(f), EVZK_OK);
    WAIT(s.ended > 0);
    ck_assert_int_eq(s.rc, EVZK_ERR_CANCELED);
    evzk_value_follower_free(f);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("value");
    TCase *all = lock_tests(suite, "all", 60000);

    tcase_add_test(all, counts_each_once);
    tcase_add_test(all, counts_over_sessions);
    tcase_add_test(all, compared_and_set);
    tcase_add_test(all, another_of_that_version);
    tcase_add_test(all, followed);
    return lock_suite_run(suite);
}
