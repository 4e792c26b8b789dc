/*
 * How much memory of the process a lock takes, its watch in the client and all
 * else included: twenty thousand that are held, and as many that wait for them.
 */

#include "test_session_kit.h"
#include "tests/real/support/memory_use.h"

enum { MANY = 20000, HELD_BYTES = 768, WAITING_BYTES = 1056 };

static struct {
    int granted, other;
} heard;

static void on_lock(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    (void)l;
    (void)rc;
    (void)arg;
    heard.granted += ev == EVZK_LOCK_GRANTED;
    heard.other += ev >= EVZK_LOCK_REQUEUED;
}

static bool settled(const struct app *a)
{
    evzk_session_stats st = stats_of(a);

    return st.in_flight == 0 && st.queued == 0;
}

/* Until each has all its watches, also those that come after two probes; or
 * until a lock is lost, with its session, and never has them. */
static void start_all(struct app *a, evzk_lock **l, int n, unsigned watches)
{
    char path[128];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "/size/a-lock-of-many-%06d", i);
        ck_assert_int_eq(
            evzk_lock_acquire(a->s, path, NULL, on_lock, NULL, &l[i]), EVZK_OK);
    }
    WAIT_MS(120000,
            heard.other > 0 ||
                (stats_of(a).watches == watches * (unsigned)n && settled(a)));
    ck_assert_int_eq(heard.other, 0);
}

static double each(size_t before, int n)
{
    return (double)(memory_in_use() - before) / n;
}

START_TEST(memory_of_a_lock)
{
    static evzk_lock *held_by[MANY], *waiting[MANY];
    int n = RUNNING_ON_VALGRIND || OWN_MALLOC ? MANY / 50 : MANY;
    struct raw *r = operator_for("/size");
    struct app a, b;
    double held, waits;
    size_t before;

    app_up(&a, server(), NULL);
    app_up(&b, server(), NULL);
    before = memory_in_use();
    start_all(&a, held_by, n, 1);
    held = each(before, n);
    ck_assert_int_eq(heard.granted, n);
    before = memory_in_use();
    start_all(&b, waiting, n, 2);
    waits = each(before, n);
    ck_assert_int_eq(heard.granted, n);
    ck_assert_int_eq(heard.other, 0);
    printf("memory: %.0f bytes of a held lock, %.0f of a waiting one\n", held,
           waits);
    if (n == MANY) { /* Else it is another's malloc. */
        ck_assert(held > 0 && held < HELD_BYTES);
        ck_assert(waits > 0 && waits < WAITING_BYTES);
    }
    app_close(&b);
    app_close(&a);
    for (int i = 0; i < n; i++) {
        evzk_lock_free(waiting[i]);
        evzk_lock_free(held_by[i]);
    }
    raw_close(r);
    kit_done();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory-use");
    TCase *tc = kit_shared_tcase(suite, "memory", 400);

    tcase_add_test(tc, memory_of_a_lock);
    return kit_main(suite);
}
