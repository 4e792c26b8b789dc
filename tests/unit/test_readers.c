/* The readers of what comes from servers take every seed of the fuzzer, and
 * what is like one: a byte replaced, left out or doubled, the rest cut off.
 *
 * How it can fail: what lies farther away is for the fuzzer to find.  An input
 * that it finds becomes a seed, and is tried here from then on. */
#include "unit.h"

#include <dirent.h>
#include <string.h>

#include "tests/fuzz/readers.h"

enum { SEED_MAX = 4096 };

/* To the byte, so that a sanitizer sees what is read beyond. */
static void try(const struct reader *r, const char *bytes, size_t len)
{
    uint8_t *exact = malloc(len ? len : 1);

    UNIT_HOT(exact);
    memcpy(exact, bytes, len);
    r->read(exact, len);
    free(exact);
}

static void try_at(const struct reader *r, char *text, size_t len, size_t at)
{
    static const char others[] = "\0/. 09\n\x01\x7f\xc3\xff";
    char was = text[at];

    for (size_t i = 0; i < sizeof others - 1; i++) {
        text[at] = others[i];
        try(r, text, len);
    }
    text[at] = was;
    try(r, text, at);
    memmove(text + at + 1, text + at, len - at);
    try(r, text, len + 1);
    memmove(text + at, text + at + 1, len - at);
    memmove(text + at, text + at + 1, len - at - 1);
    try(r, text, len - 1);
    memmove(text + at + 1, text + at, len - at - 1);
    text[at] = was;
}

static void try_seed(const struct reader *r, const char *path)
{
    char text[SEED_MAX + 2];
    FILE *file = fopen(path, "rb");
    size_t len;

    ck_assert_msg(file != NULL, "no %s", path);
    len = fread(text, 1, SEED_MAX + 1, file);
    fclose(file);
    ck_assert_msg(len <= SEED_MAX, "too long: %s", path);
    printf("%s\n", path); /* The last line says which one has failed. */
    fflush(stdout);
    try(r, text, len);
    for (size_t at = 0; at < len; at += RUNNING_ON_VALGRIND ? 5 : 1)
        try_at(r, text, len, at);
}

START_TEST(seeds)
{
    const struct reader *r = &readers[_i];
    char dir[1024], path[2048];
    struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(dir, sizeof dir, "%s/%s", FUZZ_SEEDS, r->name);
    d = opendir(dir);
    ck_assert_msg(d != NULL, "no %s", dir);
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        try_seed(r, path);
        n++;
    }
    closedir(d);
    ck_assert_int_gt(n, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("readers");
    TCase *tc = tcase_create("seeds");
    SRunner *runner = srunner_create(suite);
    int count = 0, failed;

    while (readers[count].name)
        count++;
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, seeds, 0, count);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
