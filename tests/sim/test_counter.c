/* Additions to a counter that go together, in the simulated world: each is told
 * the number that it alone has led to, however great the steps are.  Built with
 * -fsanitize=undefined the test sees a sum that leaves its 64 bits on the way.
 * A writer looks at a counter no more often than it must; and a session that
 * ends for its credentials says so to what is on its way.
 */
#include "test_session.h"

#include <string.h>

#include "evzk/value.h"

enum { ADDITIONS = 3 };

static struct {
    evzk_value_writer *w;
    int told, rc[ADDITIONS];
    int64_t number[ADDITIONS];
    bool ended;
    int end_rc, looks;
} all;

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    (void)w;
    (void)arg;
    ck_assert_int_lt(all.told, ADDITIONS);
    all.rc[all.told] = rc;
    all.number[all.told++] = number;
}

static void on_end(evzk_value_writer *w, evzk_value_writer_event event, int rc,
                   void *arg)
{
    (void)arg;
    ck_assert_int_eq(event, rc == EVZK_OK ? EVZK_VALUE_WRITER_CLOSED
                                          : EVZK_VALUE_WRITER_FAILED);
    evzk_value_writer_free(w);
    all.ended = true;
    all.end_rc = rc;
}

static void on_trace(int proc, const evzk_trace *t)
{
    (void)proc;
    all.looks += t->entered && strcmp(t->kind, "value-writer") == 0 &&
                 strcmp(t->to, "FINDING") == 0;
}

static void add_all(const int64_t delta[ADDITIONS])
{
    int before = sim_enter(0);

    ck_assert_int_eq(evzk_value_writer_start(process_of(0)->s, "/a/n", NULL,
                                             on_end, NULL, &all.w),
                     EVZK_OK);
    for (int i = 0; i < ADDITIONS; i++)
        ck_assert_int_eq(evzk_counter_add(all.w, delta[i], on_write, NULL),
                         EVZK_OK);
    ck_assert_int_eq(evzk_value_writer_close(all.w), EVZK_OK);
    sim_leave(before);
    pass(500 * MS);
    ck_assert(all.ended);
    ck_assert_int_eq(all.end_rc, EVZK_OK);
}

static void check_numbers(const int64_t delta[ADDITIONS])
{
    int64_t number = 0;

    ck_assert_int_eq(all.told, ADDITIONS);
    for (int i = 0; i < ADDITIONS; i++) {
        number += delta[i];
        ck_assert_int_eq(all.rc[i], EVZK_OK);
        ck_assert_int_eq(all.number[i], number);
    }
}

static void begin_counter(bool stands)
{
    const struct process_config cfg = {.timeout_ms = 10000};

    memset(&all, 0, sizeof all);
    begin_with_a();
    if (stands)
        ens_create("/a/n", "0", 1, ZOO_PERSISTENT);
    session_open(&cfg);
    process_trace = on_trace;
}

static void add_and_check(int64_t a, int64_t b, int64_t c)
{
    const int64_t delta[] = {a, b, c};

    begin_counter(true);
    add_all(delta);
    check_numbers(delta);
    session_close();
}

START_TEST(small) { add_and_check(1, 2, 3); }
END_TEST

START_TEST(up_and_down) { add_and_check(INT64_MAX, -INT64_MAX, -5); }
END_TEST

START_TEST(down_and_up) { add_and_check(-INT64_MAX, INT64_MAX, 5); }
END_TEST

/* The writer knows what it has made: the others need no look of their own. */
START_TEST(made)
{
    const int64_t delta[] = {1, 2, 3};

    begin_counter(false);
    add_all(delta);
    check_numbers(delta);
    ck_assert_int_eq(all.looks, 1);
    session_close();
}
END_TEST

/* The servers refuse the credentials before they have done the addition. */
START_TEST(refused)
{
    int before;

    begin_counter(true);
    before = sim_enter(0);
    ck_assert_int_eq(evzk_value_writer_start(process_of(0)->s, "/a/n", NULL,
                                             on_end, NULL, &all.w),
                     EVZK_OK);
    ck_assert_int_eq(evzk_counter_add(all.w, 1, on_write, NULL), EVZK_OK);
    sim_leave(before);
    pass(500 * MS);
    ck_assert_int_eq(all.told, 1);
    before = sim_enter(0);
    ck_assert_int_eq(evzk_counter_add(all.w, 1, on_write, NULL), EVZK_OK);
    ck_assert_int_eq(evzk_session_add_auth(process_of(0)->s, "nosuch", "x", 1),
                     EVZK_OK);
    sim_leave(before);
    pass(500 * MS);
    ck_assert(all.ended);
    ck_assert_int_eq(all.end_rc, EVZK_ERR_AUTH);
    ck_assert_int_eq(all.told, 2);
    ck_assert_int_eq(all.rc[1], EVZK_ERR_AUTH);
}
END_TEST

UNIT_MAIN("counter", small, up_and_down, down_and_up, made, refused)
