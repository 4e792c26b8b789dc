/*
 * A session's chroot that does not exist.  Whatever is begun below it says so:
 * nothing waits for ever, and nothing calls the chroot empty.
 *
 * A guarded write is not in the table: it needs a lock that was granted.
 */
#include "test_lock.h"

#include "evzk/evzk.h"

static struct {
    int n, rc; /* Calls of a callback, and what the first one said. */
} told;

static void heard(int rc)
{
    if (told.n++ == 0)
        told.rc = rc;
}

static void *object; /* Of the row. */

/* A row: what is begun, the object's type, the call, and its callback's
 * parameters. */
#define ROW_OF(name, type, call, ...)                                          \
    static void on_##name(__VA_ARGS__) { heard(rc); }                          \
    static void begin_##name(evzk_session *s)                                  \
    {                                                                          \
        type *o = NULL;                                                        \
                                                                               \
        ck_assert_int_eq(call, EVZK_OK);                                       \
        object = o;                                                            \
    }                                                                          \
    static void free_##name(void) { type##_free(object); }

#define UNUSED __attribute__((unused))
#define ARG void *arg UNUSED

ROW_OF(barrier_set, evzk_barrier,
       evzk_barrier_set(s, "/a/b", NULL, on_barrier_set, NULL, &o),
       evzk_barrier *b UNUSED, int rc, ARG)
ROW_OF(barrier_lift, evzk_barrier,
       evzk_barrier_lift(s, "/a/b", NULL, on_barrier_lift, NULL, &o),
       evzk_barrier *b UNUSED, int rc, ARG)
ROW_OF(barrier_wait, evzk_barrier,
       evzk_barrier_wait(s, "/a/b", NULL, on_barrier_wait, NULL, &o),
       evzk_barrier *b UNUSED, int rc, ARG)
ROW_OF(cache, evzk_cache, evzk_cache_start(s, "/a/b", NULL, on_cache, NULL, &o),
       evzk_cache *c UNUSED, evzk_cache_event ev UNUSED, int rc,
       const evzk_cache_entry *entry UNUSED,
       const evzk_cache_entry *before UNUSED, ARG)
ROW_OF(chubby, evzk_chubby,
       evzk_chubby_open(s, "/a/b", NULL, on_chubby, NULL, &o),
       evzk_chubby *h UNUSED, evzk_chubby_event ev UNUSED, int rc,
       const char *name UNUSED, ARG)
ROW_OF(chubby_new, evzk_chubby,
       evzk_chubby_open(
           s, "/a/b", &(evzk_chubby_options){.create = EVZK_CHUBBY_MAY_CREATE},
           on_chubby_new, NULL, &o),
       evzk_chubby *h UNUSED, evzk_chubby_event ev UNUSED, int rc,
       const char *name UNUSED, ARG)
ROW_OF(config_get, evzk_config_query,
       evzk_config_get(s, "/a/b", NULL, on_config_get, NULL, &o),
       evzk_config_query *q UNUSED, int rc, const evzk_config *c UNUSED, ARG)
ROW_OF(config_follow, evzk_config_follower,
       evzk_config_follow(s, "/a/b", NULL, on_config_follow, NULL, &o),
       evzk_config_follower *f UNUSED, evzk_config_follower_event ev UNUSED,
       int rc, const evzk_config *c UNUSED, ARG)
ROW_OF(config_set, evzk_config_update,
       evzk_config_set(s, "/a/b", NULL, 0, NULL, on_config_set, NULL, &o),
       evzk_config_update *u UNUSED, int rc, int64_t number UNUSED, ARG)
ROW_OF(consumer, evzk_consumer,
       evzk_consumer_start(s, "/a/b", NULL, on_consumer, NULL, &o),
       evzk_consumer *c UNUSED, evzk_consumer_event ev UNUSED, int rc,
       evzk_item *item UNUSED, ARG)
ROW_OF(double_barrier, evzk_double_barrier,
       evzk_double_barrier_enter(s, "/a/b",
                                 &(evzk_double_barrier_options){.count = 1},
                                 on_double_barrier, NULL, &o),
       evzk_double_barrier *d UNUSED, evzk_double_barrier_event ev UNUSED,
       int rc, ARG)
ROW_OF(double_barrier_query, evzk_double_barrier_query,
       evzk_double_barrier_query_start(s, "/a/b", on_double_barrier_query, NULL,
                                       &o),
       evzk_double_barrier_query *q UNUSED, int rc,
       const evzk_participant *v UNUSED, size_t n UNUSED, ARG)
ROW_OF(election, evzk_election,
       evzk_election_volunteer(s, "/a/b", NULL, on_election, NULL, &o),
       evzk_election *e UNUSED, evzk_election_event ev UNUSED, int rc, ARG)
ROW_OF(observer, evzk_observer,
       evzk_election_observe(s, "/a/b", on_observer, NULL, &o),
       evzk_observer *ob UNUSED, int rc, const evzk_leader *l UNUSED, ARG)
ROW_OF(member, evzk_member,
       evzk_group_join(s, "/a/b", "m", NULL, on_member, NULL, &o),
       evzk_member *m UNUSED, evzk_member_event ev UNUSED, int rc, ARG)
ROW_OF(view, evzk_group_view,
       evzk_group_watch(s, "/a/b", NULL, on_view, NULL, &o),
       evzk_group_view *v UNUSED, evzk_group_event ev UNUSED, int rc,
       const evzk_group_member *m UNUSED, ARG)
ROW_OF(lock, evzk_lock, evzk_lock_acquire(s, "/a/b", NULL, on_lock, NULL, &o),
       evzk_lock *l UNUSED, evzk_lock_event ev UNUSED, int rc, ARG)
ROW_OF(lock_query, evzk_lock_query,
       evzk_lock_query_start(s, "/a/b", on_lock_query, NULL, &o),
       evzk_lock_query *q UNUSED, int rc, const evzk_contender *v UNUSED,
       size_t n UNUSED, ARG)
ROW_OF(lock_revoke, evzk_lock_revoke,
       evzk_lock_revoke_start(s, "/a/b", NULL, on_lock_revoke, NULL, &o),
       evzk_lock_revoke *r UNUSED, int rc, const evzk_revoked *v UNUSED,
       size_t n UNUSED, ARG)
ROW_OF(multi_lock, evzk_multi_lock,
       evzk_multi_lock_acquire(s,
                               (const evzk_multi_lock_part[]){{.path = "/a/b"},
                                                              {.path = "/c"}},
                               2, NULL, on_multi_lock, NULL, &o),
       evzk_multi_lock *l UNUSED, evzk_multi_lock_event ev UNUSED, int rc, ARG)
ROW_OF(names, evzk_member,
       evzk_names_register(s, "/a/b", "n",
                           &(evzk_endpoint){
                               .host = "10.0.0.1", .port = 1, .weight = 1},
                           NULL, on_names, NULL, &o),
       evzk_member *m UNUSED, evzk_member_event ev UNUSED, int rc, ARG)
ROW_OF(resolver, evzk_resolver,
       evzk_resolver_start(s, "/a/b", NULL, on_resolver, NULL, &o),
       evzk_resolver *r UNUSED, evzk_resolver_event ev UNUSED, int rc,
       const evzk_resolved *e UNUSED, ARG)
ROW_OF(queue_query, evzk_queue_query,
       evzk_queue_query_start(s, "/a/b", NULL, on_queue_query, NULL, &o),
       evzk_queue_query *q UNUSED, int rc, const evzk_queue_report *r UNUSED,
       ARG)
ROW_OF(semaphore, evzk_semaphore,
       evzk_semaphore_acquire(s, "/a/b", NULL, on_semaphore, NULL, &o),
       evzk_semaphore *p UNUSED, evzk_semaphore_event ev UNUSED, int rc, ARG)
ROW_OF(shards, evzk_shards,
       evzk_shards_join(s, "/a/b", &(evzk_shards_options){.count = 2}, NULL,
                        on_shards, NULL, &o),
       evzk_shards *h UNUSED, evzk_shards_event ev UNUSED, int rc, ARG)
ROW_OF(tx_begin, evzk_tx,
       evzk_tx_begin(s, "/a/b",
                     &(evzk_tx_options){
                         .sites = (const char *const[]){"x", "y"},
                         .n_sites = 2},
                     on_tx_begin, NULL, &o),
       evzk_tx *tx UNUSED, evzk_tx_event ev UNUSED,
       const evzk_tx_vote *vote UNUSED, int rc, ARG)
ROW_OF(site, evzk_site,
       evzk_site_start(s, "/a/b", "x", NULL, on_site, NULL, &o),
       evzk_site *site UNUSED, evzk_site_event ev UNUSED,
       evzk_site_tx *tx UNUSED, int rc, ARG)
ROW_OF(tx_query, evzk_tx_query,
       evzk_tx_query_start(s, "/a/b", on_tx_query, NULL, &o),
       evzk_tx_query *q UNUSED, int rc, const evzk_tx_info *v UNUSED,
       size_t n UNUSED, ARG)
ROW_OF(value_get, evzk_value_query,
       evzk_value_get(s, "/a/b", NULL, on_value_get, NULL, &o),
       evzk_value_query *q UNUSED, int rc, const evzk_value *v UNUSED, ARG)
ROW_OF(value_follow, evzk_value_follower,
       evzk_value_follow(s, "/a/b", NULL, on_value_follow, NULL, &o),
       evzk_value_follower *f UNUSED, evzk_value_follower_event ev UNUSED,
       int rc, const evzk_value *v UNUSED, ARG)

/* What begins with a second call. */

static void on_tx(evzk_tx *tx, evzk_tx_event ev, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)tx, (void)ev, (void)vote, (void)arg;
    heard(rc);
}

static void begin_tx_recover(evzk_session *s)
{
    static const char id[] = "123e4567-e89b-42d3-a456-426614174000";
    evzk_tx *tx;

    ck_assert_int_eq(evzk_tx_recover(s, "/a/b", id, NULL, on_tx, NULL, &tx),
                     EVZK_OK);
    object = tx;
}

static void free_tx_recover(void) { evzk_tx_free(object); }

static void on_producer(evzk_producer *p, evzk_producer_event ev, int rc,
                        void *arg)
{
    (void)p, (void)ev, (void)arg;
    heard(rc);
}

static void begin_producer(evzk_session *s)
{
    evzk_producer *p;

    ck_assert_int_eq(
        evzk_producer_start(s, "/a/b", NULL, on_producer, NULL, &p), EVZK_OK);
    ck_assert_int_eq(evzk_producer_put(p,
                                       &(evzk_put_item){.data = "x", .len = 1},
                                       1, NULL, NULL),
                     EVZK_OK);
    object = p;
}

static void free_producer(void) { evzk_producer_free(object); }

static void on_writer(evzk_value_writer *w, evzk_value_writer_event ev, int rc,
                      void *arg)
{
    (void)w, (void)ev, (void)arg;
    heard(rc);
}

static void on_written(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    (void)w, (void)number, (void)arg;
    heard(rc);
}

static void begin_value_writer(evzk_session *s)
{
    evzk_value_writer *w;

    ck_assert_int_eq(
        evzk_value_writer_start(s, "/a/b", NULL, on_writer, NULL, &w), EVZK_OK);
    ck_assert_int_eq(evzk_value_set(w, "x", 1, on_written, NULL), EVZK_OK);
    object = w;
}

static void free_value_writer(void) { evzk_value_writer_free(object); }

/* ---- The table ---- */

struct row {
    const char *name;
    void (*begin)(evzk_session *s);
    void (*end)(void);
    bool looks; /* Says, below a chroot that exists, that nothing is there. */
};

#define DOES(name)                                                             \
    {                                                                          \
#name, begin_##name, free_##name, false                                \
    }
#define LOOKS(name)                                                            \
    {                                                                          \
#name, begin_##name, free_##name, true                                 \
    }

static const struct row rows[] = {
    DOES(barrier_set),   LOOKS(barrier_lift),  LOOKS(barrier_wait),
    LOOKS(cache),        DOES(chubby),         DOES(chubby_new),
    DOES(config_get),    DOES(config_follow),  DOES(config_set),
    DOES(consumer),      DOES(double_barrier), LOOKS(double_barrier_query),
    DOES(election),      LOOKS(observer),      DOES(member),
    LOOKS(view),         DOES(lock),           LOOKS(lock_query),
    LOOKS(lock_revoke),  DOES(multi_lock),     DOES(names),
    LOOKS(resolver),     LOOKS(queue_query),   DOES(semaphore),
    DOES(shards),        DOES(tx_begin),       DOES(tx_recover),
    DOES(site),          LOOKS(tx_query),      LOOKS(value_get),
    LOOKS(value_follow), DOES(value_writer),   DOES(producer)};

static struct peer peer;

static void open_below(const char *chroot, bool make)
{
    const evzk_session_options opt = {
        .timeout_ms = SESSION_MS, .chroot = chroot, .make_chroot = make};

    peer_start(&peer, the_server(), &opt);
    WAIT(evzk_session_connected(peer.s));
}

static void play(const struct row *row, int rc)
{
    memset(&told, 0, sizeof told);
    row->begin(peer.s);
    WAIT_MS(15000, told.n > 0);
    ck_assert_msg(told.rc == rc, "%s: %s", row->name, evzk_errname(told.rc));
    row->end();
}

START_TEST(says_so)
{
    open_below("/nowhere", false);
    play(&rows[_i], EVZK_ERR_NOCHROOT);
    peer_close(&peer);
}
END_TEST

/* The session makes its chroot when it makes anything: nothing is there. */
START_TEST(may_be_made)
{
    if (!rows[_i].looks)
        return;
    open_below("/later", true);
    play(&rows[_i], EVZK_OK);
    peer_close(&peer);
}
END_TEST

START_TEST(was_made_by_others)
{
    if (!rows[_i].looks)
        return;
    ck_assert_int_eq(raw_create(op(), "/root", "", 0, 0, NULL, 0), 0);
    open_below("/root", false);
    play(&rows[_i], EVZK_OK);
    peer_close(&peer);
    raw_delete(op(), "/root");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rootless");
    TCase *tests = lock_tests(suite, "rootless", 60 * 1000);
    int n = sizeof rows / sizeof rows[0];

    tcase_add_loop_test(tests, says_so, 0, n);
    tcase_add_loop_test(tests, may_be_made, 0, n);
    tcase_add_loop_test(tests, was_made_by_others, 0, n);
    return lock_suite_run(suite);
}
