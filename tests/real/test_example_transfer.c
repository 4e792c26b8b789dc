/*
 * The demonstration of two-phase commit, as processes on a private ZooKeeper:
 * each of them is killed at each step, and the sum stays right.
 */
#include <string.h>

#include "test_demo.h"

enum { KILLS = 17 }; /* Every process at every step. */

static char line[512]; /* The last that the program printed. */

static int run(const char *arguments)
{
    return demo_run("transfer/transfer", arguments, line, sizeof line);
}

static void transfer(const char *variant)
{
    unsigned transfers, committed, aborted, unbegun, kills, recovered;
    char arguments[128];
    int status;

    snprintf(arguments, sizeof arguments, "-n 20 -k %d -t 400 -d 30 -v %s",
             KILLS, variant);
    status = run(arguments);
    ck_assert_msg(status == 0, "status %d: %s", status, line);
    ck_assert_msg(sscanf(line,
                         "transfers=%u committed=%u aborted=%u unbegun=%u "
                         "kills=%u recovered=%u sum=2000 right=yes",
                         &transfers, &committed, &aborted, &unbegun, &kills,
                         &recovered) == 6,
                  "it said: %s", line);
    ck_assert_ptr_nonnull(strstr(line, "right=yes\n"));
    ck_assert_uint_ge(transfers, 20);
    ck_assert_uint_eq(committed + aborted + unbegun, transfers);
    ck_assert_uint_gt(committed, 0);
    ck_assert_uint_eq(kills, KILLS);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}

START_TEST(the_sum_is_right_with_a_mediating_coordinator)
{
    transfer("mediated");
}
END_TEST

START_TEST(the_sum_is_right_with_sites_that_decide) { transfer("plain"); }
END_TEST

START_TEST(the_sum_is_right_with_presence) { transfer("presence"); }
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    ck_assert_int_eq(run("-n 0 2>&1"), 2);
    ck_assert_int_eq(run("-v other 2>&1"), 2);
    ck_assert_int_eq(run("-z 2>&1"), 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("transfer");

    tcase_add_test(tests, the_sum_is_right_with_a_mediating_coordinator);
    tcase_add_test(tests, the_sum_is_right_with_sites_that_decide);
    tcase_add_test(tests, the_sum_is_right_with_presence);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return demo_main("example-transfer", tests, 120000);
}
