/*
 * Shards with names, on a real server: each member lists them in another order,
 * and the same task is the same shard everywhere.  While no list differs, the
 * rules for shards by number (test_shards.h) are rules for tasks by name.
 */
#include "test_shards.h"

enum { TASKS = 9 };

static const char *const tasks[TASKS] = {
    "mail", "billing", "reports", "a b", "10", "9", "zz", "Zz", "backup"};

/* The same names, and the i-th of them first. */
static void join_from(struct team *t, int i)
{
    const char *names[TASKS];

    for (int k = 0; k < TASKS; k++)
        names[k] = tasks[(i + k) % TASKS];
    team_join(t, i, &(evzk_shards_options){.count = TASKS, .names = names});
}

static bool exists(const char *path)
{
    struct Stat stat;

    return raw_exists(op(), path, &stat) == ZOK;
}

START_TEST(one_of_three_leaves)
{
    struct team *t = team_open("/tasks", 3);

    for (int i = 0; i < 3; i++) {
        join_from(t, i);
        TEAM_BALANCED(t, (uint32_t)i + 1, TASKS);
    }
    for (uint32_t k = 0; k < TASKS; k++) {
        const char *name = evzk_shards_name(t->v[0].a, k);
        uint32_t at = TASKS;

        ck_assert_str_eq(evzk_shards_name(t->v[1].a, k), name);
        ck_assert(evzk_shards_index(t->v[2].a, name, &at));
        ck_assert_uint_eq(at, k);
        ck_assert(k == 0 ||
                  strcmp(evzk_shards_name(t->v[0].a, k - 1), name) < 0);
    }
    ck_assert(exists("/tasks/task-a b/leader"));
    ck_assert(!exists("/tasks/shard-0"));
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(led_by(&t->v[i]), 3);
    ck_assert_int_eq(t->v[0].resigned, 6);
    ck_assert_int_eq(t->v[1].resigned, 1);
    ck_assert_int_eq(evzk_shards_drain(t->v[1].a, 0), EVZK_OK);
    wait_drained(&t->v[1]);
    TEAM_BALANCED(t, 2, TASKS);
    ck_assert_int_eq(t->v[0].resigned, 6); /* No other task has moved. */
    ck_assert_int_eq(t->v[2].resigned, 0);
    ck_assert_int_eq(t->v[1].resigned, 4);
    ck_assert_uint_eq(led_by(&t->v[0]) + led_by(&t->v[2]), TASKS);
    ck_assert_uint_eq(stats_of(&t->v[0]).moves, 4 + 3 + 3);
    team_close(t);
}
END_TEST

/* As many names, and one of them is another; or numbers. */
START_TEST(other_names)
{
    static const char *const ours[] = {"billing", "mail"};
    static const char *const others[] = {"mail", "news"};
    struct team *t = team_open("/tasks-differ", 2);
    evzk_shards_member m;

    team_join(t, 0, &(evzk_shards_options){.count = 2, .names = ours});
    TEAM_BALANCED(t, 1, 2);
    team_join(
        t, 1,
        &(evzk_shards_options){.count = 2, .names = _i == 0 ? others : NULL});
    WAIT(evzk_shards_member_at(t->v[0].a, 1, &m));
    ck_assert_uint_eq(m.planned, 0);
    wait_failed(&t->v[1], EVZK_ERR_INVAL);
    ck_assert_int_eq(t->v[1].elected, 0);
    TEAM_BALANCED(t, 1, 2);
    ck_assert_int_eq(t->v[0].resigned, 0);
    team_close(t);
}
END_TEST

/* Tasks that others had: nothing is kept by number. */
START_TEST(other_names_before)
{
    static const char *const more[] = {"mail", "billing", "archive"};
    struct team *t = team_open("/tasks-before", 1);

    join_from(t, 0);
    TEAM_BALANCED(t, 1, TASKS);
    member_leave(&t->v[0], 0);
    idle(t->v[0].p.s);
    memset(shard_epochs, 0, sizeof shard_epochs); /* Of other tasks now. */
    team_join_anew(t, 0, &(evzk_shards_options){.count = 3, .names = more});
    TEAM_BALANCED(t, 1, 3);
    ck_assert_str_eq(evzk_shards_name(t->v[0].a, 0), "archive");
    team_close(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shards_named");
    TCase *tests = lock_tests(suite, "shards_named", 60000);

    tcase_add_test(tests, one_of_three_leaves);
    tcase_add_loop_test(tests, other_names, 0, 2);
    tcase_add_test(tests, other_names_before);
    return lock_suite_run(suite);
}
