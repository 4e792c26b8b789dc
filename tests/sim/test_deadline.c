/* A machine's deadline, set at its birth and set again, by a machine that does
 * nothing but wait, in the simulated world. */
#include "test_session.h"

#include "lib/base/mem.h"
#include "lib/machine/rows.h"

enum { WAITING, ENDED, STATES };

struct waiter {
    struct evzk__machine m;
    unsigned late; /* How often on_deadline was called. */
    int64_t when;  /* When on_deadline was last called. */
};

/* The waiter of the running test; NULL once destroyed. */
static struct waiter *the;

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

/* Begins a waiter.  0, or an error: then there is no waiter.  The allocation of
 * this number behind the waiter's own fails; 0: none. */
static int begin_without(unsigned nth, const struct evzk__kind *kind,
                         uint32_t timeout_ms)
{
    int before = sim_enter(0), rc;

    the = evzk__zalloc(sizeof *the);
    ck_assert_ptr_nonnull(the);
    if (nth > 0)
        sim_alloc_fail(0, nth, false);
    rc = evzk__machine_begin(&the->m, process_of(0)->s, kind, "/a", timeout_ms);
    sim_alloc_heal(0);
    sim_leave(before);
    return rc;
}

static void set_up(const struct evzk__kind *kind, uint32_t timeout_ms)
{
    struct process_config cfg = {.timeout_ms = 1000};

    begin_with_a();
    session_open(&cfg);
    if (kind)
        ck_assert_int_eq(begin_without(0, kind, timeout_ms), EVZK_OK);
}

static void tear_down(void)
{
    let_machine_go(&the->m);
    ck_assert_ptr_null(the);
    session_close();
}

static void set(uint32_t timeout_ms)
{
    int before = sim_enter(0);

    evzk__machine_set_deadline(&the->m, timeout_ms);
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

/* From here on every allocation of the process fails, until sim_alloc_heal(0).
 * The new deadline passes, and on_deadline has been called so often. */
static void set_without_memory(uint32_t timeout_ms, unsigned late_then)
{
    int64_t from = sim_now();

    sim_alloc_fail(0, 1, true);
    set(timeout_ms);
    pass(1000 * MS);
    LATE_AT(late_then, from + timeout_ms * MS);
}

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
    set(100); /* Without a timer the call does nothing. */
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

/* The deadline is taken off, and then set twice while no memory is free. */
START_TEST(again_without_memory)
{
    set_up(&keeps, 300);
    pass(100 * MS);
    take_off();
    pass(1000 * MS);
    ck_assert_uint_eq(the->late, 0);
    set_without_memory(200, 1);
    set_without_memory(50, 2);
    sim_alloc_heal(0);
    tear_down();
}
END_TEST

/* The machine has no deadline at birth, but has its timer. */
START_TEST(for_the_first_time)
{
    set_up(&keeps, 0);
    pass(2000 * MS);
    ck_assert_uint_eq(the->late, 0);
    set_without_memory(200, 1);
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

/* The deadline has passed, and is replaced or taken off before on_deadline is
 * called. */
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

/* The machine has ended, but its user has not let it go: a new deadline does
 * nothing. */
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
        rc = begin_without(nth, &keeps, 0);
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
