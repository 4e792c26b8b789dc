/* The public functions without a server: see args.h. */
#include "args.h"

/* All recipes' kinds, and tests of each recipe alone. */
enum { MOST = 64 };

#define ADDRESS(name) &args_##name,

static const struct args_recipe *const recipes[] = {EVZK__ARGS(ADDRESS)};
static const struct args_kind *kinds[MOST + 1];
static int n_kinds;

static void find_kinds(void)
{
    for (size_t i = 0; i < UNIT_COUNT(recipes); i++) {
        for (const struct args_kind *const *k = recipes[i]->kinds; *k; k++) {
            if (n_kinds == MOST)
                abort();
            kinds[n_kinds++] = *k;
        }
    }
}

const struct args_kind *const *args_kinds(void) { return kinds; }

int args_n_kinds(void) { return n_kinds; }

/* In Valgrind a test is done for every third kind, and the next test begins at
 * the kind after; a test that is done twice is done once there.  With
 * sanitizers all are done. */
void args_add(Suite *suite, const TTest *test, int times)
{
    static int n_tests;
    TCase *tc = tcase_create(test->name);
    int most = times < 3 ? times : 3, step = RUNNING_ON_VALGRIND ? most : 1;

    tcase_set_timeout(tc, 60);
    for (int i = step > 1 ? n_tests++ % step : 0; i < times; i += step)
        tcase_add_loop_test(tc, test, i, i + 1);
    suite_add_tcase(suite, tc);
}

int main(void)
{
    Suite *suite = suite_create("args");
    SRunner *runner = srunner_create(suite);
    int failed;

    find_kinds();
    args_add_session(suite);
    args_add_every(suite);
    args_add_fork(suite);
    for (size_t i = 0; i < UNIT_COUNT(recipes); i++) {
        if (recipes[i]->add_tests)
            recipes[i]->add_tests(suite);
    }
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
