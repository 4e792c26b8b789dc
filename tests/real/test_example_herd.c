/*
 * The example that shows the herd: its figures have the shape that it says.
 * They are counts, so they are exact, however slow the machine.
 */
#include <stdbool.h>
#include <string.h>

#include "test_demo.h"

struct row {
    int waiters;
    int naive_releases, evzk_releases;
    double naive_wakes, naive_requests, evzk_wakes, evzk_requests;
};

static bool to_row(const char *line, struct row *r)
{
    return sscanf(line, "%d | %d %lf %lf | %d %lf %lf", &r->waiters,
                  &r->naive_releases, &r->naive_wakes, &r->naive_requests,
                  &r->evzk_releases, &r->evzk_wakes, &r->evzk_requests) == 7;
}

/* Runs it, and takes the rows of its table. */
static int run_herd(const char *arguments, struct row *row, int max)
{
    char line[512];
    int n = 0;
    FILE *f;

    snprintf(line, sizeof line, "exec '%s/examples/herd' %s %s", build_folder(),
             zk_server(zk_shared(), 0), arguments);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        if (n < max && to_row(line, &row[n]))
            n++;
    ck_assert_int_eq(pclose(f), 0);
    return n;
}

/* Of all releases, the first with all waiting, the last with one. */
static double mean_waiting(int waiters) { return (waiters + 1) / 2.0; }

static void check_naive(const struct row *r)
{
    ck_assert_int_eq(r->naive_releases, r->waiters);
    ck_assert_double_eq_tol(r->naive_wakes, mean_waiting(r->waiters), 0.06);
    ck_assert_double_eq_tol(r->naive_requests, 2 * mean_waiting(r->waiters),
                            0.06);
}

/* A delete, and a look at the own znode; a machine that stands still may have
 * one set its watch meanwhile. */
static void check_evzk(const struct row *r)
{
    ck_assert_int_eq(r->evzk_releases, r->waiters);
    ck_assert_double_eq_tol(r->evzk_wakes, 1, 0.01);
    ck_assert_double_ge(r->evzk_requests, 1);
    ck_assert_double_le(r->evzk_requests, 4);
}

START_TEST(figures_have_their_shape)
{
    static const int waiters[] = {1, 10, 40};
    long packets = zk_mntr(zk_shared(), 0, "zk_packets_received");
    double sent = 0;
    struct row row[4];

    ck_assert_int_eq(run_herd("1 10 40", row, 4), 3);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(row[k].waiters, waiters[k]);
        check_naive(&row[k]);
        check_evzk(&row[k]);
        sent += row[k].naive_requests * row[k].naive_releases;
        sent += row[k].evzk_requests * row[k].evzk_releases;
    }
    /* All requests that the program counts have arrived, and those of queueing
     * besides. */
    packets = zk_mntr(zk_shared(), 0, "zk_packets_received") - packets;
    ck_assert_double_ge((double)packets, sent);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    char line[512];

    snprintf(line, sizeof line, "exec '%s/examples/herd' localhost:1 ten 2>&1",
             build_folder());
    ck_assert_int_eq(WEXITSTATUS(system(line)), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("herd");

    tcase_add_test(tests, figures_have_their_shape);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return demo_main("example-herd", tests, 60000);
}
