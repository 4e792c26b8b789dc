/*
 * A real server that stands still, from the beginning or after any of its
 * answers: the connection stays, and nothing is answered.  Every call that has
 * a time-out ends at its time, and every call whose cancel needs no proof ends
 * at once.  Other calls wait, as their pages say: the cancel of a lock, an
 * election, a semaphore, a multi-lock or a double barrier for the proof that
 * its znode is gone; a put or a write that was sent, a transaction and a drain
 * for what servers say.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

enum {
    TIME_MS = 500,
    SOON_MS = 5000,    /* The connection is given up much later. */
    ANSWERS = 7,       /* The server stands still after each of so many. */
    ANSWERED_MS = 200, /* So long a call has then. */
    LONG_MS = 60000    /* The session's time-out then. */
};

static char path[32]; /* Of the call. */

/* A call, and its end. */
struct ends {
    void *o;
    int told, rc;
};

static void note(void *arg, bool final, int rc)
{
    struct ends *e = arg;

    e->told += final;
    if (final)
        e->rc = rc;
}

/* An object of whose events some are final. */
#define HEARS(name, type, events, ...)                                         \
    static void on_##name(type *o, events event, int rc, ##__VA_ARGS__,        \
                          void *arg)
#define IS_FINAL(kind) note(arg, evzk_##kind##_event_is_final(event), rc)
/* A call ends, too, when it has got what it asked for. */
#define GETS(kind, got)                                                        \
    note(arg, event == got || evzk_##kind##_event_is_final(event), rc)

HEARS(lock, evzk_lock, evzk_lock_event)
{
    (void)o, GETS(lock, EVZK_LOCK_GRANTED);
}
HEARS(election, evzk_election, evzk_election_event)
{
    (void)o, GETS(election, EVZK_ELECTION_ELECTED);
}
HEARS(semaphore, evzk_semaphore, evzk_semaphore_event)
{
    (void)o, GETS(semaphore, EVZK_SEMAPHORE_ACQUIRED);
}
HEARS(multi_lock, evzk_multi_lock, evzk_multi_lock_event)
{
    (void)o, GETS(multi_lock, EVZK_MULTI_LOCK_GRANTED);
}
HEARS(double_barrier, evzk_double_barrier, evzk_double_barrier_event)
{
    (void)o, note(arg, event == EVZK_DOUBLE_BARRIER_FAILED, rc);
}
HEARS(chubby, evzk_chubby, evzk_chubby_event, const char *name)
{
    (void)o, (void)name, GETS(chubby, EVZK_CHUBBY_OPENED);
}
HEARS(cache, evzk_cache, evzk_cache_event, const evzk_cache_entry *entry,
      const evzk_cache_entry *before)
{
    (void)o, (void)entry, (void)before, IS_FINAL(cache);
}
HEARS(view, evzk_group_view, evzk_group_event, const evzk_group_member *member)
{
    (void)o, (void)member, IS_FINAL(group);
}
HEARS(resolver, evzk_resolver, evzk_resolver_event, const evzk_resolved *at)
{
    (void)o, (void)at, IS_FINAL(resolver);
}
HEARS(value, evzk_value_follower, evzk_value_follower_event,
      const evzk_value *value)
{
    (void)o, (void)value, IS_FINAL(value_follower);
}
HEARS(config, evzk_config_follower, evzk_config_follower_event,
      const evzk_config *config)
{
    (void)o, (void)config, IS_FINAL(config_follower);
}
HEARS(consumer, evzk_consumer, evzk_consumer_event, evzk_item *item)
{
    (void)o, (void)item, note(arg, event == EVZK_CONSUMER_TAKEN, rc);
}

static void on_barrier(evzk_barrier *o, int rc, void *arg)
{
    (void)o, note(arg, true, rc);
}

static void on_value_query(evzk_value_query *o, int rc, const evzk_value *v,
                           void *arg)
{
    (void)o, (void)v, note(arg, true, rc);
}

static void on_config_query(evzk_config_query *o, int rc, const evzk_config *v,
                            void *arg)
{
    (void)o, (void)v, note(arg, true, rc);
}

static void on_update(evzk_config_update *o, int rc, int64_t number, void *arg)
{
    (void)o, (void)number, note(arg, true, rc);
}

static void on_revoke(evzk_lock_revoke *o, int rc, const evzk_revoked *v,
                      size_t n, void *arg)
{
    (void)o, (void)v, (void)n, note(arg, true, rc);
}

static void on_guard(evzk_guard *o, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *arg)
{
    (void)o, (void)outcome, (void)result, note(arg, true, rc);
}

/* Each kind of call: how it begins, and what cancels and frees it. */
#define CALL(name, type, call)                                                 \
    static int begin_##name(evzk_session *s, uint32_t ms, struct ends *e)      \
    {                                                                          \
        type *o = NULL;                                                        \
        int rc = call;                                                         \
                                                                               \
        e->o = o;                                                              \
        return rc;                                                             \
    }
#define FREES(name, type, free)                                                \
    static void free_##name(void *o) { free((type *)o); }
#define CANCELS(name, type, cancel)                                            \
    static int cancel_##name(void *o) { return cancel((type *)o); }
#define WITH(type, ...) (&(const type){.timeout_ms = ms, ##__VA_ARGS__})

static const evzk_config_key keys[] = {{"k", "1", 1}, {"l", "2", 1}};
static const evzk_guard_by by = {.path = "/stopped/guard"};

/* clang-format off */
CALL(lock, evzk_lock, evzk_lock_acquire(s, path, WITH(evzk_lock_options), on_lock, e, &o))
FREES(lock, evzk_lock, evzk_lock_free)
CALL(election, evzk_election, evzk_election_volunteer(s, path, WITH(evzk_election_options), on_election, e, &o))
FREES(election, evzk_election, evzk_election_free)
CALL(semaphore, evzk_semaphore, evzk_semaphore_acquire(s, path, WITH(evzk_semaphore_options, .leases = 2), on_semaphore, e, &o))
FREES(semaphore, evzk_semaphore, evzk_semaphore_free)
CALL(multi_lock, evzk_multi_lock, evzk_multi_lock_acquire(s, (const evzk_multi_lock_part[]){{.path = path}, {.path = "/stopped/second"}}, 2, WITH(evzk_multi_lock_options), on_multi_lock, e, &o))
FREES(multi_lock, evzk_multi_lock, evzk_multi_lock_free)
CALL(double_barrier, evzk_double_barrier, evzk_double_barrier_enter(s, path, WITH(evzk_double_barrier_options, .count = 2), on_double_barrier, e, &o))
FREES(double_barrier, evzk_double_barrier, evzk_double_barrier_free)
CALL(barrier_set, evzk_barrier, evzk_barrier_set(s, path, WITH(evzk_barrier_options), on_barrier, e, &o))
CALL(barrier_lift, evzk_barrier, evzk_barrier_lift(s, path, WITH(evzk_barrier_options), on_barrier, e, &o))
CALL(barrier_wait, evzk_barrier, evzk_barrier_wait(s, path, WITH(evzk_barrier_options), on_barrier, e, &o))
CANCELS(barrier, evzk_barrier, evzk_barrier_cancel)
FREES(barrier, evzk_barrier, evzk_barrier_free)
CALL(value_query, evzk_value_query, evzk_value_get(s, path, WITH(evzk_value_options), on_value_query, e, &o))
CANCELS(value_query, evzk_value_query, evzk_value_query_cancel)
FREES(value_query, evzk_value_query, evzk_value_query_free)
CALL(value_follower, evzk_value_follower, ((void)ms, evzk_value_follow(s, path, NULL, on_value, e, &o)))
CANCELS(value_follower, evzk_value_follower, evzk_value_follower_cancel)
FREES(value_follower, evzk_value_follower, evzk_value_follower_free)
CALL(config_query, evzk_config_query, evzk_config_get(s, path, WITH(evzk_config_options), on_config_query, e, &o))
CANCELS(config_query, evzk_config_query, evzk_config_query_cancel)
FREES(config_query, evzk_config_query, evzk_config_query_free)
CALL(config_follower, evzk_config_follower, ((void)ms, evzk_config_follow(s, path, NULL, on_config, e, &o)))
CANCELS(config_follower, evzk_config_follower, evzk_config_follower_cancel)
FREES(config_follower, evzk_config_follower, evzk_config_follower_free)
CALL(config_set, evzk_config_update, evzk_config_set(s, path, keys, 2, WITH(evzk_config_options), on_update, e, &o))
CANCELS(config_set, evzk_config_update, evzk_config_update_cancel)
FREES(config_set, evzk_config_update, evzk_config_update_free)
CALL(revoke, evzk_lock_revoke, evzk_lock_revoke_start(s, path, WITH(evzk_lock_revoke_options), on_revoke, e, &o))
CANCELS(revoke, evzk_lock_revoke, evzk_lock_revoke_cancel)
FREES(revoke, evzk_lock_revoke, evzk_lock_revoke_free)
CALL(guard, evzk_guard, evzk_guard_write(s, &by, &(const evzk_guard_op){.verb = EVZK_GUARD_CREATE, .path = path}, 1, WITH(evzk_guard_options), on_guard, e, &o))
CANCELS(guard, evzk_guard, evzk_guard_cancel)
FREES(guard, evzk_guard, evzk_guard_free)
CALL(chubby, evzk_chubby, evzk_chubby_open(s, path, WITH(evzk_chubby_options, .create = EVZK_CHUBBY_MAY_CREATE), on_chubby, e, &o))
CANCELS(chubby, evzk_chubby, evzk_chubby_close)
FREES(chubby, evzk_chubby, evzk_chubby_free)
CALL(cache, evzk_cache, ((void)ms, evzk_cache_start(s, path, NULL, on_cache, e, &o)))
CANCELS(cache, evzk_cache, evzk_cache_cancel)
FREES(cache, evzk_cache, evzk_cache_free)
CALL(view, evzk_group_view, ((void)ms, evzk_group_watch(s, path, NULL, on_view, e, &o)))
CANCELS(view, evzk_group_view, evzk_group_view_cancel)
FREES(view, evzk_group_view, evzk_group_view_free)
CALL(resolver, evzk_resolver, ((void)ms, evzk_resolver_start(s, path, NULL, on_resolver, e, &o)))
CANCELS(resolver, evzk_resolver, evzk_resolver_cancel)
FREES(resolver, evzk_resolver, evzk_resolver_free)
/* clang-format on */

static int begin_take(evzk_session *s, uint32_t ms, struct ends *e)
{
    evzk_consumer *c = NULL;
    int rc = evzk_consumer_start(s, path, NULL, on_consumer, e, &c);

    e->o = c;
    return rc == EVZK_OK ? evzk_consumer_take(c, 1, ms) : rc;
}
CANCELS(take, evzk_consumer, evzk_consumer_cancel)
FREES(take, evzk_consumer, evzk_consumer_free)

/* What a row is. */
enum {
    TIMELESS = 1, /* The call has no time-out. */
    CLOSES = 2,   /* The object is closed, and ends with EVZK_OK. */
    STANDS = 4    /* A znode is there, so that the call waits, or has work. */
};

static const struct row {
    const char *name;
    int (*begin)(evzk_session *s, uint32_t ms, struct ends *e);
    int (*cancel)(void *o); /* NULL: it waits for a proof. */
    void (*free)(void *o);
    unsigned is;
} rows[] = {
    {"lock", begin_lock, NULL, free_lock, 0},
    {"election", begin_election, NULL, free_election, 0},
    {"semaphore", begin_semaphore, NULL, free_semaphore, 0},
    {"multi-lock", begin_multi_lock, NULL, free_multi_lock, 0},
    {"double barrier", begin_double_barrier, NULL, free_double_barrier, 0},
    {"barrier set", begin_barrier_set, cancel_barrier, free_barrier, 0},
    {"barrier lift", begin_barrier_lift, cancel_barrier, free_barrier, STANDS},
    {"barrier wait", begin_barrier_wait, cancel_barrier, free_barrier, STANDS},
    {"value", begin_value_query, cancel_value_query, free_value_query, STANDS},
    {"value follower", begin_value_follower, cancel_value_follower,
     free_value_follower, TIMELESS | STANDS},
    {"config", begin_config_query, cancel_config_query, free_config_query, 0},
    {"config follower", begin_config_follower, cancel_config_follower,
     free_config_follower, TIMELESS},
    {"config set", begin_config_set, cancel_config_set, free_config_set, 0},
    {"revoke", begin_revoke, cancel_revoke, free_revoke, 0},
    {"guard", begin_guard, cancel_guard, free_guard, 0},
    {"chubby", begin_chubby, cancel_chubby, free_chubby, CLOSES},
    {"cache", begin_cache, cancel_cache, free_cache, TIMELESS | STANDS},
    {"group view", begin_view, cancel_view, free_view, TIMELESS},
    {"resolver", begin_resolver, cancel_resolver, free_resolver, TIMELESS},
    {"take", begin_take, cancel_take, free_take, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* A path of its own, so that no call waits for what another one has left. */
static void prepare(const struct row *row)
{
    static int n;

    snprintf(path, sizeof path, "/stopped/%d", n++);
    if (row->is & STANDS)
        ck_assert_int_eq(raw_create(op(), path, "1", 1, 0, NULL, 0), ZOK);
}

static void make_tree(void)
{
    raw_delete_tree(op(), "/stopped"); /* Of one that has failed. */
    ck_assert_int_eq(raw_create(op(), "/stopped", "", 0, 0, NULL, 0), ZOK);
    ck_assert_int_eq(raw_create(op(), "/stopped/guard", "", 0, 0, NULL, 0),
                     ZOK);
}

static bool is_told(void *arg) { return ((const struct ends *)arg)->told; }

/* Begins one while the server stands still, and cancels it, or waits. */
static void ends_in_time(evzk_session *s, const struct row *row, bool cancel)
{
    struct ends e = {0};
    int want = EVZK_ERR_TIMEOUT;

    ck_assert_int_eq(row->begin(s, cancel ? 0 : TIME_MS, &e), EVZK_OK);
    if (cancel) {
        run_for(harness_base(), 20); /* Its first request is sent. */
        ck_assert_int_eq(e.told, 0);
        ck_assert_int_eq(row->cancel(e.o), EVZK_OK);
        ck_assert_int_eq(e.told, 0);
        want = (row->is & CLOSES) ? EVZK_OK : EVZK_ERR_CANCELED;
    }
    if (!run_until(harness_base(), is_told, &e, SOON_MS))
        ck_abort_msg("%s: its %s is not told", row->name,
                     cancel ? "cancel" : "time-out");
    ck_assert_msg(e.told == 1 && e.rc == want, "%s: %d times, %s", row->name,
                  e.told, evzk_errname(e.rc));
    row->free(e.o);
}

static bool applies(const struct row *row, bool cancel)
{
    return cancel ? row->cancel != NULL : !(row->is & TIMELESS);
}

/* Of what is sent the server answers so many frames. */
static void ends_behind(evzk_session *s, struct proxy *proxy,
                        const struct row *row, int answers, bool cancel)
{
    struct ends e = {0};

    prepare(row);
    proxy_trap(proxy, PROXY_S2C, PROXY_OP_ANY, answers, PROXY_FREEZE_BOTH);
    ck_assert_int_eq(row->begin(s, cancel ? 0 : ANSWERED_MS, &e), EVZK_OK);
    run_for(harness_base(), ANSWERED_MS / 2);
    if (cancel && !e.told)
        ck_assert_int_eq(row->cancel(e.o), EVZK_OK);
    if (!run_until(harness_base(), is_told, &e, SOON_MS))
        ck_abort_msg("%s: its %s is not told behind %d answers", row->name,
                     cancel ? "cancel" : "time-out", answers);
    ck_assert_int_eq(e.told, 1);
    row->free(e.o);
    proxy_untrap(proxy);
    proxy_thaw(proxy);
}

START_TEST(ends_behind_any_answer)
{
    const evzk_session_options opt = {.timeout_ms = LONG_MS};
    const struct row *row = &rows[_i / 2];
    bool cancel = _i % 2;
    struct proxy *proxy;
    struct peer p;

    if (!applies(row, cancel))
        return;
    proxy = proxy_start(the_server());
    peer_start(&p, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(p.s));
    make_tree();
    for (int answers = 1; answers <= ANSWERS; answers++)
        ends_behind(p.s, proxy, row, answers, cancel);
    peer_close(&p);
    proxy_stop(proxy);
    raw_delete_tree(op(), "/stopped");
}
END_TEST

START_TEST(ends_while_it_stands_still)
{
    const struct row *row = &rows[_i / 2];
    bool cancel = _i % 2;
    struct peer p;

    if (!applies(row, cancel))
        return;
    peer_open(&p, the_server());
    make_tree();
    prepare(row);
    zk_stop_signal(zk_shared(), 0);
    ends_in_time(p.s, row, cancel);
    zk_cont(zk_shared(), 0);
    peer_close(&p);
    raw_delete_tree(op(), "/stopped");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server-stopped");
    TCase *all = lock_tests(suite, "all", 120000);

    tcase_add_loop_test(all, ends_while_it_stands_still, 0, 2 * ROWS);
    tcase_add_loop_test(all, ends_behind_any_answer, 0, 2 * ROWS);
    return lock_suite_run(suite);
}
