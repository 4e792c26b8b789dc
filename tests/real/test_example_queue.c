/*
 * The demonstration of queues, a small one, as processes on a private
 * ZooKeeper: consumers are killed all the time, and the history is right.
 */
#include "test_demo.h"

static int run(const char *arguments)
{
    char line[512] = "";
    int status =
        demo_run("queue-demo/queue-demo", arguments, line, sizeof line);

    printf("%s", line);
    return status;
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

int main(void)
{
    TCase *tests = tcase_create("queue");

    tcase_add_test(tests, the_demonstration_comes_to_its_end);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return demo_main("example-queue", tests, 120000);
}
