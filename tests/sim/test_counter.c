/* Additions to a counter that go together, in the simulated world: each is told
 * the number that it alone has led to, however great the steps are.  Built with
 * -fsanitize=undefined the test sees a sum that leaves its 64 bits on the way.
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
    ck_assert_int_eq(event, EVZK_VALUE_WRITER_CLOSED);
    ck_assert_int_eq(rc, EVZK_OK);
    evzk_value_writer_free(w);
    all.ended = true;
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

static void add_and_check(int64_t a, int64_t b, int64_t c)
{
    const struct process_config cfg = {.timeout_ms = 10000};
    const int64_t delta[] = {a, b, c};

    memset(&all, 0, sizeof all);
    begin_with_a();
    ens_create("/a/n", "0", 1, ZOO_PERSISTENT);
    session_open(&cfg);
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

UNIT_MAIN("counter", small, up_and_down, down_and_up)
