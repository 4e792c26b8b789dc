/*
 * The demonstration of queues, a small one, as processes on a private
 * ZooKeeper: consumers are killed all the time, and the history is right.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "support.h"
#include "zk.h"

static int run(const char *arguments)
{
    const char *build = getenv("EVZK_BUILDDIR");
    char line[512];

    snprintf(line, sizeof line,
             "exec '%s/examples/queue-demo/queue-demo' %s %s",
             build ? build : ".", arguments, zk_server(zk_shared(), 0));
    return WEXITSTATUS(system(line));
}

START_TEST(the_demonstration_comes_to_its_end)
{
    ck_assert_int_eq(run("-n 4000 -p 2 -c 3 -x 2000 -t 600 -d 100"), 0);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

/* No item: nothing to demonstrate. */
START_TEST(wrong_arguments_are_refused)
{
    ck_assert_int_eq(run("-n 0"), 2);
    ck_assert_int_eq(run("-n 10 -c 1000"), 2);
    ck_assert_int_eq(run("-z"), 2);
}
END_TEST

static void up(void) { zk_shared(); }

int main(void)
{
    Suite *suite = suite_create("example-queue");
    TCase *tests = tcase_create("queue");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, (double)slow_ms(120000) / 1000);
    tcase_add_unchecked_fixture(tests, up, zk_shared_stop);
    tcase_add_test(tests, the_demonstration_comes_to_its_end);
    tcase_add_test(tests, wrong_arguments_are_refused);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
