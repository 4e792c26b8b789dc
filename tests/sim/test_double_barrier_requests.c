/* How many requests a double barrier costs, in the simulated world, where no
 * busy machine changes the count: twice as many participants of one session
 * cost twice as many requests. */
#include "test_session.h"

#include <stdio.h>

#include "evzk/double_barrier.h"

enum { MOST = 400, WINDOW = 1000 };

static evzk_double_barrier *all[MOST];
static unsigned in, out;

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event event,
                     int rc, void *arg)
{
    (void)d, (void)arg;
    ck_assert_int_eq(rc, EVZK_OK);
    in += event == EVZK_DOUBLE_BARRIER_ENTERED;
    out += event == EVZK_DOUBLE_BARRIER_LEFT;
}

/* Until so many have been told; returns the requests since `from`. */
static unsigned until(const unsigned *count, unsigned n, uint64_t from)
{
    struct sim_step step;

    while (*count < n && sim_next(&step))
        sim_do(&step);
    ck_assert_uint_eq(*count, n);
    return (unsigned)(session_requests() - from);
}

struct cost {
    unsigned enter, leave;
};

static struct cost round_of(unsigned n)
{
    const struct process_config cfg = {.timeout_ms = 10000, .window = WINDOW};
    const evzk_double_barrier_options opt = {.count = n};
    struct cost cost;
    uint64_t from;
    int before;

    in = out = 0;
    begin_with_a();
    session_open(&cfg);
    from = session_requests();
    before = sim_enter(0);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(evzk_double_barrier_enter(process_of(0)->s, "/a/step",
                                                   &opt, on_event, NULL,
                                                   &all[i]),
                         EVZK_OK);
    sim_leave(before);
    cost.enter = until(&in, n, from);
    from = session_requests();
    before = sim_enter(0);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(evzk_double_barrier_leave(all[i]), EVZK_OK);
    sim_leave(before);
    cost.leave = until(&out, n, from);
    before = sim_enter(0);
    for (unsigned i = 0; i < n; i++)
        evzk_double_barrier_free(all[i]);
    sim_leave(before);
    session_close();
    printf("double-barrier participants=%u enter_requests=%u "
           "leave_requests=%u\n",
           n, cost.enter, cost.leave);
    return cost;
}

/* To enter, a participant creates its znode twice, since the directory is
 * missing at first; looks at its znode, the directory and `ready`; and reads
 * `ready`.  The last one looks at each znode before it forms the round.  All
 * together make the directory, list it, and create `ready`.  To leave, a
 * participant watches another one; up to 64 znodes are deleted in one
 * transaction.  All together list what is left, and delete `ready`.  Meanwhile
 * the session may look at a znode or two: machine/rounds.h. */
START_TEST(requests_are_linear)
{
    enum { ENTER = 7, TOGETHER = 64, ADDED_IN = 3, ADDED_OUT = 4, LOOKS = 2 };

    for (unsigned n = 25; n <= MOST; n *= 2) {
        struct cost cost = round_of(n);
        unsigned deletes = (n + TOGETHER - 1) / TOGETHER;

        ck_assert_uint_ge(cost.enter, ENTER * n + ADDED_IN);
        ck_assert_uint_le(cost.enter, ENTER * n + ADDED_IN + LOOKS);
        ck_assert_uint_ge(cost.leave, n + deletes + ADDED_OUT);
        ck_assert_uint_le(cost.leave, n + deletes + ADDED_OUT + LOOKS);
    }
}
END_TEST

UNIT_MAIN("double-barrier-requests", requests_are_linear)
