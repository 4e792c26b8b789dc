/* What the tests of a machine share, besides test_world.h: process 0 has a
 * session in the simulated world, and the test has a machine of it. */
#ifndef SIM_TEST_SESSION_H
#define SIM_TEST_SESSION_H

#include "test_world.h"

#include "lib/machine/machine.h"
#include "processes.h"

/* The servers have begun. */
static inline void session_open(const struct process_config *cfg)
{
    process_hook = NULL;
    process_trace = NULL;
    process_leases = NULL;
    wire_route(0, 1);
    process_open(0, cfg);
    pass(200 * MS);
}

/* No machine is left. */
static inline void session_close(void)
{
    int before = sim_enter(0);

    process_close(0);
    sim_leave(before);
    pass(3000 * MS);
    processes_check_end();
    all_is_well();
}

/* So many requests the session has made, with the lease's probes. */
static inline uint64_t session_requests(void)
{
    evzk_session_stats stats;
    int before = sim_enter(0);

    evzk_session_get_stats(process_of(0)->s, &stats);
    sim_leave(before);
    return stats.requests;
}

/* With time for the machine's last request. */
static inline void let_machine_go(struct evzk__machine *m)
{
    int before = sim_enter(0);

    evzk__machine_let_go(m);
    sim_leave(before);
    pass(100 * MS);
}

/* The machines of a test that has many of them; NULL once destroyed. */
enum { MACHINES = 64 };
static struct evzk__machine *machines[MACHINES];

static inline void machine_destroyed(const struct evzk__machine *m)
{
    for (int i = 0; i < MACHINES; i++) {
        if (machines[i] == m)
            machines[i] = NULL;
    }
}

static inline void let_machines_go(void)
{
    for (int i = 0; i < MACHINES; i++) {
        if (machines[i])
            let_machine_go(machines[i]);
        ck_assert_ptr_null(machines[i]);
    }
}

/* A machine of the test's kind, in /a. */
static inline void add_machine(int i, struct evzk__machine *m,
                               const struct evzk__kind *kind)
{
    ck_assert_int_eq(evzk__machine_init(m, process_of(0)->s, kind, "/a", 0),
                     EVZK_OK);
    machines[i] = m;
}

#endif
