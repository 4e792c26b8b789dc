/* A member of a group, in the simulated world, whose znodes the servers refuse
 * to make whenever its name is free, until somebody else has the name: refusals
 * of before do not count once it waits. */
#include "test_session.h"

#include <string.h>

#include "evzk/group.h"

enum {
    ROUNDS = 14, /* More than a member bears in a row. */
    REFUSED = 9  /* Then the member hears of them. */
};

static struct {
    evzk_member *d;
    int joined, conflicts, ended, rc;
} all;

static void on_event(evzk_member *d, evzk_member_event event, int rc, void *arg)
{
    (void)arg;
    all.joined += event == EVZK_MEMBER_JOINED;
    all.conflicts += event == EVZK_MEMBER_CONFLICT;
    if (!evzk_member_event_is_final(event))
        return;
    all.ended++;
    all.rc = rc;
    evzk_member_free(d);
}

static void join(void)
{
    int before = sim_enter(0);

    ck_assert_int_eq(evzk_group_join(process_of(0)->s, "/a", "n", NULL,
                                     on_event, NULL, &all.d),
                     EVZK_OK);
    sim_leave(before);
}

static void leave(void)
{
    int before = sim_enter(0);

    ck_assert_int_eq(evzk_member_leave(all.d), EVZK_OK);
    sim_leave(before);
    pass(1000 * MS);
    ck_assert_int_eq(all.ended, 1);
    ck_assert_int_eq(all.rc, EVZK_OK);
}

static void check_waits(void)
{
    ck_assert_int_eq(all.ended, 0);
    ck_assert_int_eq(all.conflicts, 1);
    ck_assert_str_eq(evzk_member_state(all.d), "WAITING");
}

static void refuse(void)
{
    ens_throttle_writes(0, REFUSED);
    operator_delete("/a/n");
    pass(700 * MS);
    ens_create("/a/n", "", 0, ZOO_PERSISTENT);
    pass(1000 * MS);
    check_waits();
}

START_TEST(refused)
{
    const struct process_config cfg = {.timeout_ms = 10000};

    memset(&all, 0, sizeof all);
    begin_with_a();
    ens_create("/a/n", "", 0, ZOO_PERSISTENT);
    session_open(&cfg);
    join();
    pass(100 * MS);
    check_waits();
    for (int i = 0; i < ROUNDS; i++)
        refuse();
    operator_delete("/a/n");
    pass(1000 * MS);
    ck_assert_int_eq(all.ended, 0);
    ck_assert_int_eq(all.joined, 1);
    leave();
    session_close();
}
END_TEST

UNIT_MAIN("member", refused)
