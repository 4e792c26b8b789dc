/* A machine's deadline, set at its birth and set again, by a machine that does
 * nothing but wait, in the simulated world. */
#include "test_world.h"

#include "lib/base/mem.h"
#include "lib/machine/machine.h"
#include "lib/machine/rows.h"
#include "processes.h"

enum { WAITING, ENDED, STATES };

struct waiter {
    struct evzk__machine m;
    unsigned late; /* How often its time was over. */
    int64_t when;  /* The last time. */
};

static struct waiter *the; /* The one of the test. */

static struct waiter *waiter_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct waiter, m);
}

static void wait_for(struct evzk__machine *m) { (void)m; }

static int heard(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)m;
    (void)e;
    return EVZK_OK;
}

static void end(struct evzk__machine *m) { (void)m; }

static void late(struct evzk__machine *m)
{
    waiter_of(m)->late++;
    waiter_of(m)->when = sim_now();
}

static void destroy(struct evzk__machine *m)
{
    the = NULL;
    evzk__free(waiter_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
ROW(WAITING, wait_for, heard, ENDED, ENDED, WAITING, 0,
    ON(USER_EVENT, HERE)),
END(ENDED, end),
};
/* clang-format on */

static const struct evzk__kind keeps = {.name = "keeps",
                                        .rows = rows,
                                        .n_rows = STATES,
                                        .on_deadline = late,
                                        .destroy = destroy,
                                        .keeps_timer = true},
                               drops = {.name = "drops",
                                        .rows = rows,
                                        .n_rows = STATES,
                                        .on_deadline = late,
                                        .destroy = destroy};

/* 0, or an error: then there is no waiter. */
static int begin_one(const struct evzk__kind *kind, uint32_t timeout_ms)
{
    int before = sim_enter(0), rc;

    the = evzk__zalloc(sizeof *the);
    ck_assert_ptr_nonnull(the);
    rc = evzk__machine_begin(&the->m, process_of(0)->s, kind, "/a", timeout_ms);
    sim_leave(before);
    return rc;
}

static void set_up(const struct evzk__kind *kind, uint32_t timeout_ms)
{
    struct process_config cfg = {.timeout_ms = 1000};

    begin_with_a();
    process_hook = NULL;
    process_trace = NULL;
    process_leases = NULL;
    wire_route(0, 1);
    process_open(0, &cfg);
    pass(200 * MS);
    if (kind)
        ck_assert_int_eq(begin_one(kind, timeout_ms), EVZK_OK);
}

static void let_go(void)
{
    int before = sim_enter(0);

    evzk__machine_let_go(&the->m);
    sim_leave(before);
}

static void tear_down(void)
{
    int before;

    if (the)
        let_go();
    pass(100 * MS);
    ck_assert_ptr_null(the);
    before = sim_enter(0);
    process_close(0);
    sim_leave(before);
    pass(3000 * MS);
    processes_check_end();
    all_is_well();
}

/* No allocation of the process succeeds meanwhile. */
static void set_without_memory(uint32_t timeout_ms)
{
    int before = sim_enter(0);

    sim_alloc_fail(0, 1, true);
    evzk__machine_deadline(&the->m, timeout_ms);
    sim_leave(before);
}

static void set(uint32_t timeout_ms)
{
    int before = sim_enter(0);

    evzk__machine_deadline(&the->m, timeout_ms);
    sim_leave(before);
}

static void take_off(void)
{
    int before = sim_enter(0);

    evzk__machine_no_deadline(&the->m);
    sim_leave(before);
}

#define LATE_AT(n, us)                                                         \
    do {                                                                       \
        ck_assert_uint_eq(the->late, (n));                                     \
        ck_assert_int_ge(the->when, (us));                                     \
        ck_assert_int_le(the->when, (us) + 5 * MS);                            \
    } while (0)

START_TEST(once)
{
    int64_t from;

    set_up(&drops, 300);
    from = sim_now();
    pass(2000 * MS);
    LATE_AT(1, from + 300 * MS);
    tear_down();
}
END_TEST

START_TEST(never)
{
    set_up(&drops, 0);
    pass(2000 * MS);
    ck_assert_uint_eq(the->late, 0);
    set(100); /* A machine without a timer: nothing comes. */
    take_off();
    pass(2000 * MS);
    ck_assert_uint_eq(the->late, 0);
    tear_down();
}
END_TEST

START_TEST(taken_off)
{
    set_up(&drops, 300);
    pass(100 * MS);
    take_off();
    pass(2000 * MS);
    ck_assert_uint_eq(the->late, 0);
    tear_down();
}
END_TEST

/* Set at birth, taken off, and set again without memory; and once more. */
START_TEST(again_without_memory)
{
    int64_t from;

    set_up(&keeps, 300);
    pass(100 * MS);
    take_off();
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 0);
    from = sim_now();
    set_without_memory(200);
    pass(1000 * MS);
    LATE_AT(1, from + 200 * MS);
    from = sim_now();
    set_without_memory(50);
    pass(1000 * MS);
    LATE_AT(2, from + 50 * MS);
    sim_alloc_heal(0);
    tear_down();
}
END_TEST

/* No deadline at birth; the timer is there all the same. */
START_TEST(for_the_first_time)
{
    int64_t from;

    set_up(&keeps, 0);
    pass(2000 * MS);
    ck_assert_uint_eq(the->late, 0);
    from = sim_now();
    set_without_memory(200);
    pass(1000 * MS);
    LATE_AT(1, from + 200 * MS);
    sim_alloc_heal(0);
    tear_down();
}
END_TEST

START_TEST(later_and_sooner)
{
    int64_t from;

    set_up(&keeps, 300);
    pass(200 * MS);
    from = sim_now();
    set(500);
    pass(200 * MS);
    ck_assert_uint_eq(the->late, 0);
    set(100);
    pass(1000 * MS);
    LATE_AT(1, from + 300 * MS);
    set(100);
    set(0);
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 1);
    tear_down();
}
END_TEST

/* The time is over, and another deadline is set before that was told. */
START_TEST(over_but_not_told)
{
    set_up(&keeps, 300);
    the->m.pending |= EVZK__P_ON_DEADLINE;
    set(0);
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 0);
    the->m.pending |= EVZK__P_ON_DEADLINE;
    take_off();
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 0);
    tear_down();
}
END_TEST

/* Its user still has it. */
START_TEST(after_the_end)
{
    int before;

    set_up(&keeps, 300);
    before = sim_enter(0);
    evzk__machine_stop(&the->m, EVZK_ERR_CANCELED);
    sim_leave(before);
    pass(100 * MS);
    ck_assert(the->m.place.ended);
    set(10);
    take_off();
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 0);
    tear_down();
}
END_TEST

/* Without memory for the timer nothing begins. */
START_TEST(no_memory_at_birth)
{
    int rc = EVZK_ERR_NOMEM;

    set_up(NULL, 0);
    for (unsigned nth = 1; rc == EVZK_ERR_NOMEM; nth++) {
        int before = sim_enter(0);

        the = evzk__zalloc(sizeof *the);
        sim_alloc_fail(0, nth, false);
        rc = evzk__machine_begin(&the->m, process_of(0)->s, &keeps, "/b", 0);
        sim_alloc_heal(0);
        sim_leave(before);
        ck_assert_int_eq(rc == EVZK_OK, the != NULL);
    }
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert_ptr_nonnull(the->m.timer);
    tear_down();
}
END_TEST

UNIT_MAIN("deadline", once, never, taken_off, again_without_memory,
          for_the_first_time, later_and_sooner, over_but_not_told,
          after_the_end, no_memory_at_birth)
