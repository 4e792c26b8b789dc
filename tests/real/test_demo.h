/*
 * The demonstrations as processes, on the shared server, for their tests.
 */
#ifndef TESTS_REAL_TEST_DEMO_H
#define TESTS_REAL_TEST_DEMO_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "support.h"
#include "zk.h"

/* The exit status of a demonstration; `line` gets the last line that was
 * printed. */
static inline int demo_run(const char *program, const char *arguments,
                           char *line, size_t size)
{
    char command[512];
    FILE *f;

    snprintf(command, sizeof command, "exec '%s/examples/%s' %s %s",
             build_folder(), program, arguments, zk_server(zk_shared(), 0));
    f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, (int)size, f))
        ;
    return WEXITSTATUS(pclose(f));
}

static inline void demo_up(void) { zk_shared(); }

/* A suite of these tests, each of which has so long. */
static inline int demo_main(const char *name, TCase *tests, int64_t timeout_ms)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, (double)slow_ms(timeout_ms) / 1000);
    tcase_add_unchecked_fixture(tests, demo_up, zk_shared_stop);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

#endif
