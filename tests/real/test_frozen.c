/*
 * A server that stands still: it answers nothing, and the connection stays.
 * Whatever has a time-out ends on time, and what is told in a later turn of the
 * loop when it is canceled is told then; whether the server stands still from
 * the start, or after any of its answers.
 *
 * A session lives for so long that nobody takes the connection for lost.
 */
#include <unistd.h>

#include "test_lock.h"

#include "evzk/evzk.h"

enum {
    LIMIT_MS = 200,     /* The time-out. */
    ON_TIME_MS = 15000, /* A third of what it takes to leave the server. */
    LONG_MS = 60000,
    FRAMES_MAX = 40
};

static struct {
    int n, rc; /* Calls of the callback that are an end, and what was said. */
} told;

static void heard(int rc)
{
    told.n++;
    told.rc = rc;
}

static void *object, *holder; /* Of the row. */
static char at[64];           /* Its path. */

/* A row: what is begun, the object's type, the call, when a callback is the
 * end, and the callback's parameters. */
#define ROW_OF(name, type, call, is_end, ...)                                  \
    static void on_##name(__VA_ARGS__)                                         \
    {                                                                          \
        if (is_end)                                                            \
            heard(rc);                                                         \
    }                                                                          \
    static void begin_##name(evzk_session *s, uint32_t ms)                     \
    {                                                                          \
        type *o = NULL;                                                        \
                                                                               \
        (void)ms;                                                              \
        ck_assert_int_eq(call, EVZK_OK);                                       \
        object = o;                                                            \
    }                                                                          \
    static void free_##name(void) { type##_free(object); }

#define CANCEL_OF(name, type)                                                  \
    static int cancel_##name(void) { return type##_cancel(object); }

#define UNUSED __attribute__((unused))
#define ARG void *arg UNUSED

ROW_OF(barrier_set, evzk_barrier,
       evzk_barrier_set(s, at, &(evzk_barrier_options){.timeout_ms = ms},
                        on_barrier_set, NULL, &o),
       true, evzk_barrier *b UNUSED, int rc, ARG)
CANCEL_OF(barrier_set, evzk_barrier)
ROW_OF(barrier_lift, evzk_barrier,
       evzk_barrier_lift(s, at, &(evzk_barrier_options){.timeout_ms = ms},
                         on_barrier_lift, NULL, &o),
       true, evzk_barrier *b UNUSED, int rc, ARG)
CANCEL_OF(barrier_lift, evzk_barrier)
ROW_OF(barrier_wait, evzk_barrier,
       evzk_barrier_wait(s, at, &(evzk_barrier_options){.timeout_ms = ms},
                         on_barrier_wait, NULL, &o),
       true, evzk_barrier *b UNUSED, int rc, ARG)
CANCEL_OF(barrier_wait, evzk_barrier)
ROW_OF(cache, evzk_cache, evzk_cache_start(s, at, NULL, on_cache, NULL, &o),
       ev == EVZK_CACHE_ENDED, evzk_cache *c UNUSED, evzk_cache_event ev,
       int rc, const evzk_cache_entry *entry UNUSED,
       const evzk_cache_entry *before UNUSED, ARG)
CANCEL_OF(cache, evzk_cache)
ROW_OF(chubby, evzk_chubby,
       evzk_chubby_open(s, at,
                        &(evzk_chubby_options){.create = EVZK_CHUBBY_MAY_CREATE,
                                               .timeout_ms = ms},
                        on_chubby, NULL, &o),
       ev == EVZK_CHUBBY_OPENED || ev == EVZK_CHUBBY_ENDED,
       evzk_chubby *h UNUSED, evzk_chubby_event ev, int rc,
       const char *name UNUSED, ARG)
ROW_OF(config_get, evzk_config_query,
       evzk_config_get(s, at, &(evzk_config_options){.timeout_ms = ms},
                       on_config_get, NULL, &o),
       true, evzk_config_query *q UNUSED, int rc, const evzk_config *c UNUSED,
       ARG)
CANCEL_OF(config_get, evzk_config_query)
ROW_OF(config_follow, evzk_config_follower,
       evzk_config_follow(s, at, NULL, on_config_follow, NULL, &o),
       ev == EVZK_CONFIG_FOLLOWER_ENDED, evzk_config_follower *f UNUSED,
       evzk_config_follower_event ev, int rc, const evzk_config *c UNUSED, ARG)
CANCEL_OF(config_follow, evzk_config_follower)

static const evzk_config_key keys[] = {{.name = "a", .data = "1", .len = 1},
                                       {.name = "b", .data = "2", .len = 1}};

ROW_OF(config_set, evzk_config_update,
       evzk_config_set(s, at, keys, 2, &(evzk_config_options){.timeout_ms = ms},
                       on_config_set, NULL, &o),
       true, evzk_config_update *u UNUSED, int rc, int64_t number UNUSED, ARG)
CANCEL_OF(config_set, evzk_config_update)
ROW_OF(double_barrier, evzk_double_barrier,
       evzk_double_barrier_enter(
           s, at, &(evzk_double_barrier_options){.count = 2, .timeout_ms = ms},
           on_double_barrier, NULL, &o),
       ev == EVZK_DOUBLE_BARRIER_FAILED, evzk_double_barrier *d UNUSED,
       evzk_double_barrier_event ev, int rc, ARG)
ROW_OF(election, evzk_election,
       evzk_election_volunteer(s, at,
                               &(evzk_election_options){.timeout_ms = ms},
                               on_election, NULL, &o),
       ev == EVZK_ELECTION_ELECTED || ev == EVZK_ELECTION_FAILED,
       evzk_election *e UNUSED, evzk_election_event ev, int rc, ARG)
ROW_OF(view, evzk_group_view, evzk_group_watch(s, at, NULL, on_view, NULL, &o),
       ev == EVZK_GROUP_ENDED, evzk_group_view *v UNUSED, evzk_group_event ev,
       int rc, const evzk_group_member *m UNUSED, ARG)
CANCEL_OF(view, evzk_group_view)
ROW_OF(guard, evzk_guard,
       evzk_guard_write(s, &(evzk_guard_by){.path = "/guard"},
                        &(evzk_guard_op){.verb = EVZK_GUARD_CREATE, .path = at},
                        1, &(evzk_guard_options){.timeout_ms = ms}, on_guard,
                        NULL, &o),
       true, evzk_guard *g UNUSED, evzk_guard_outcome out UNUSED, int rc,
       const evzk_guard_result *r UNUSED, ARG)
CANCEL_OF(guard, evzk_guard)
ROW_OF(lock, evzk_lock,
       evzk_lock_acquire(s, at, &(evzk_lock_options){.timeout_ms = ms}, on_lock,
                         NULL, &o),
       ev == EVZK_LOCK_GRANTED || ev == EVZK_LOCK_FAILED, evzk_lock *l UNUSED,
       evzk_lock_event ev, int rc, ARG)
ROW_OF(lock_revoke, evzk_lock_revoke,
       evzk_lock_revoke_start(s, at,
                              &(evzk_lock_revoke_options){.timeout_ms = ms},
                              on_lock_revoke, NULL, &o),
       true, evzk_lock_revoke *r UNUSED, int rc, const evzk_revoked *v UNUSED,
       size_t n UNUSED, ARG)
CANCEL_OF(lock_revoke, evzk_lock_revoke)
ROW_OF(multi_lock, evzk_multi_lock,
       evzk_multi_lock_acquire(
           s, (const evzk_multi_lock_part[]){{.path = at}, {.path = "/second"}},
           2, &(evzk_multi_lock_options){.timeout_ms = ms}, on_multi_lock, NULL,
           &o),
       ev == EVZK_MULTI_LOCK_GRANTED || ev == EVZK_MULTI_LOCK_FAILED,
       evzk_multi_lock *l UNUSED, evzk_multi_lock_event ev, int rc, ARG)
ROW_OF(resolver, evzk_resolver,
       evzk_resolver_start(s, at, NULL, on_resolver, NULL, &o),
       ev == EVZK_RESOLVER_ENDED, evzk_resolver *r UNUSED,
       evzk_resolver_event ev, int rc, const evzk_resolved *e UNUSED, ARG)
CANCEL_OF(resolver, evzk_resolver)
ROW_OF(semaphore, evzk_semaphore,
       evzk_semaphore_acquire(s, at,
                              &(evzk_semaphore_options){.timeout_ms = ms},
                              on_semaphore, NULL, &o),
       ev == EVZK_SEMAPHORE_ACQUIRED || ev == EVZK_SEMAPHORE_FAILED,
       evzk_semaphore *p UNUSED, evzk_semaphore_event ev, int rc, ARG)
ROW_OF(value_get, evzk_value_query,
       evzk_value_get(s, at, &(evzk_value_options){.timeout_ms = ms},
                      on_value_get, NULL, &o),
       true, evzk_value_query *q UNUSED, int rc, const evzk_value *v UNUSED,
       ARG)
CANCEL_OF(value_get, evzk_value_query)
ROW_OF(value_follow, evzk_value_follower,
       evzk_value_follow(s, at, NULL, on_value_follow, NULL, &o),
       ev == EVZK_VALUE_FOLLOWER_ENDED, evzk_value_follower *f UNUSED,
       evzk_value_follower_event ev, int rc, const evzk_value *v UNUSED, ARG)
CANCEL_OF(value_follow, evzk_value_follower)

/* A take is a second call. */
static void on_take(evzk_consumer *c, evzk_consumer_event ev, int rc,
                    evzk_item *item, void *arg)
{
    (void)c, (void)item, (void)arg;
    if (ev == EVZK_CONSUMER_TAKEN || ev == EVZK_CONSUMER_FAILED)
        heard(rc);
}

static void begin_take(evzk_session *s, uint32_t ms)
{
    evzk_consumer *c;

    ck_assert_int_eq(evzk_consumer_start(s, at, NULL, on_take, NULL, &c),
                     EVZK_OK);
    ck_assert_int_eq(evzk_consumer_take(c, 1, ms), EVZK_OK);
    object = c;
}

static void free_take(void) { evzk_consumer_free(object); }
CANCEL_OF(take, evzk_consumer)

/* ---- The table ---- */

static const struct row {
    const char *name;
    void (*begin)(evzk_session *s, uint32_t ms);
    void (*end)(void);
    int (*cancel)(void); /* NULL: told when something is proved gone. */
    bool limited;        /* The call has a time-out. */
    bool stands;         /* There is a znode, so that it waits. */
    bool led;            /* Another process has that lock, or is elected. */
} rows[] = {
#define ROW(name, ...)                                                         \
    {                                                                          \
#name, begin_##name, free_##name, __VA_ARGS__                          \
    }
    ROW(barrier_set, cancel_barrier_set, true, false, false),
    ROW(barrier_lift, cancel_barrier_lift, true, true, false),
    ROW(barrier_wait, cancel_barrier_wait, true, true, false),
    ROW(cache, cancel_cache, false, true, false),
    ROW(chubby, NULL, true, false, false),
    ROW(config_get, cancel_config_get, true, false, false),
    ROW(config_follow, cancel_config_follow, false, false, false),
    ROW(config_set, cancel_config_set, true, false, false),
    ROW(double_barrier, NULL, true, false, false),
    ROW(election, NULL, true, false, true),
    ROW(view, cancel_view, false, false, false),
    ROW(guard, cancel_guard, true, false, false),
    ROW(lock, NULL, true, false, true),
    ROW(lock_revoke, cancel_lock_revoke, true, false, true),
    ROW(multi_lock, NULL, true, false, true),
    ROW(resolver, cancel_resolver, false, false, false),
    ROW(semaphore, NULL, true, false, false),
    ROW(take, cancel_take, true, false, false),
    ROW(value_get, cancel_value_get, true, true, false),
    ROW(value_follow, cancel_value_follow, false, true, false),
};

static struct peer peer;
static struct proxy *proxy;
static int number;

/* In a directory of its own. */
static void prepare(const struct row *row)
{
    memset(&told, 0, sizeof told);
    snprintf(at, sizeof at, "/f%d-%d", (int)getpid(), number++);
    if (row->stands)
        ck_assert_int_eq(raw_create(op(), at, "1", 1, 0, NULL, 0), 0);
    holder = NULL;
}

static bool is_told(void *arg)
{
    (void)arg;
    return told.n > 0;
}

/* With the connection that it has. */
static void play(const struct row *row, int64_t frame, bool limited)
{
    int rc = limited ? EVZK_ERR_TIMEOUT : EVZK_ERR_CANCELED;

    prepare(row);
    if (frame == 0)
        proxy_freeze(proxy, PROXY_BOTH);
    else
        proxy_trap(proxy, PROXY_S2C, PROXY_OP_ANY, frame, PROXY_FREEZE_BOTH);
    row->begin(peer.s, limited ? LIMIT_MS : 0);
    if (frame > 0)
        run_for(harness_base(), LIMIT_MS / 2);
    if (!limited && told.n == 0 && row->cancel() == EVZK_ERR_STATE)
        ck_abort_msg("%s: cannot be canceled", row->name);
    if (!run_until(harness_base(), is_told, NULL, ON_TIME_MS))
        ck_abort_msg("%s: not told, frozen after %d answers", row->name,
                     (int)frame);
    if (frame == 0)
        ck_assert_msg(told.rc == rc, "%s: %s", row->name,
                      evzk_errname(told.rc));
    ck_assert_int_eq(told.n, 1);
    row->end();
    proxy_untrap(proxy);
    proxy_thaw(proxy);
}

static void play_all(const struct row *row, bool limited)
{
    const evzk_session_options opt = {.timeout_ms = LONG_MS};

    if (limited ? !row->limited : !row->cancel)
        return;
    proxy = proxy_start(the_server());
    peer_start(&peer, proxy_address(proxy), &opt);
    WAIT(evzk_session_connected(peer.s));
    raw_create(op(), "/guard", "", 0, 0, NULL, 0);
    for (int64_t frame = 0; frame < 8; frame++)
        play(row, frame, limited);
    peer_close(&peer);
    proxy_stop(proxy);
}

START_TEST(ends_on_time) { play_all(&rows[_i], true); }
END_TEST

START_TEST(is_canceled) { play_all(&rows[_i], false); }
END_TEST

int main(void)
{
    Suite *suite = suite_create("frozen");
    TCase *tests = lock_tests(suite, "frozen", 120 * 1000);
    int n = sizeof rows / sizeof rows[0];

    tcase_add_loop_test(tests, ends_on_time, 0, n);
    tcase_add_loop_test(tests, is_canceled, 0, n);
    return lock_suite_run(suite);
}
