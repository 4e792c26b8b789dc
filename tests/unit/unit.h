/* What every unit test program shares: its main, and a generator whose seed is
 * printed.  A seed is tried again with EVZK_SEED=... */
#ifndef EVZK_UNIT_H
#define EVZK_UNIT_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tests/real/support/on_valgrind.h"

#define UNIT_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* An assertion for loops: Check's own ones write a record each time. */
#define UNIT_HOT(cond)                                                         \
    do {                                                                       \
        if (!(cond))                                                           \
            ck_abort_msg("not so: %s", #cond);                                 \
    } while (0)

/* Of tests that try many cases by chance: Valgrind takes thirty times as long,
 * and sees the same in fewer. */
static inline int unit_rounds(int n)
{
    return RUNNING_ON_VALGRIND ? n / 10 : n;
}

struct unit_rng {
    uint64_t state;
};

static inline uint64_t unit_next(struct unit_rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* From 0 to `most`, both included. */
static inline int64_t unit_upto(struct unit_rng *r, int64_t most)
{
    return (int64_t)(unit_next(r) % ((uint64_t)most + 1));
}

static inline struct unit_rng unit_seeded(const char *what)
{
    const char *given = getenv("EVZK_SEED");
    struct unit_rng r = {1};

    if (given)
        r.state = strtoull(given, NULL, 0);
    else if (getrandom(&r.state, sizeof r.state, 0) != sizeof r.state)
        r.state = 1;
    printf("%s: EVZK_SEED=0x%" PRIx64 "\n", what, r.state);
    fflush(stdout);
    return r;
}

static inline int unit_main(const char *name, const TTest *const *tests,
                            size_t n)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < n; i++) {
        TCase *tc = tcase_create(tests[i]->name);

        tcase_set_timeout(tc, 60);
        tcase_add_test(tc, tests[i]);
        suite_add_tcase(suite, tc);
    }
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* UNIT_MAIN("name", test, test, ...) */
#define UNIT_MAIN(name, ...)                                                   \
    int main(void)                                                             \
    {                                                                          \
        const TTest *const tests[] = {__VA_ARGS__};                            \
                                                                               \
        return unit_main(name, tests, UNIT_COUNT(tests));                      \
    }

#endif
