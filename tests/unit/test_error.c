/* The errors: each has a value, a name, a text and a class of its own. */
#include "unit.h"

#include <limits.h>
#include <string.h>

#include "evzk/evzk.h"

struct entry {
    int value;
    const char *name, *text;
    evzk_error_class class;
};

#define ENTRY(name, value, class, text)                                        \
    {EVZK_ERR_##name, "EVZK_ERR_" #name, text, EVZK_CLASS_##class},
static const struct entry all[] = {EVZK_ERRORS(ENTRY)};
#undef ENTRY

START_TEST(test_distinct)
{
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_ne(all[i].value, all[j].value);
            ck_assert_str_ne(all[i].name, all[j].name);
            ck_assert_str_ne(all[i].text, all[j].text);
        }
    }
}
END_TEST

START_TEST(test_looked_up)
{
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        ck_assert_str_eq(evzk_errname(all[i].value),
                         all[i].value ? all[i].name : "EVZK_OK");
        ck_assert_str_eq(evzk_strerror(all[i].value), all[i].text);
        ck_assert_int_eq(evzk_errclass(all[i].value), all[i].class);
        ck_assert_uint_gt(strlen(all[i].text), 0);
    }
}
END_TEST

START_TEST(test_signs)
{
    ck_assert_int_eq(EVZK_OK, 0);
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        if (all[i].value == EVZK_OK)
            ck_assert_int_eq(all[i].class, EVZK_CLASS_NONE);
        else {
            ck_assert_int_lt(all[i].value, 0);
            ck_assert_int_ne(all[i].class, EVZK_CLASS_NONE);
        }
    }
}
END_TEST

static int is_known(int value)
{
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        if (all[i].value == value)
            return 1;
    }
    return 0;
}

static void expect_unknown(int value)
{
    const char *name = evzk_errname(value), *text = evzk_strerror(value);

    ck_assert_ptr_nonnull(name);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(evzk_errclass(value), EVZK_CLASS_INTERNAL);
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        ck_assert_str_ne(name, all[i].name);
        ck_assert_str_ne(text, all[i].text);
    }
}

START_TEST(test_unknown)
{
    for (int value = -1000; value <= 1000; value++) {
        if (!is_known(value))
            expect_unknown(value);
    }
    expect_unknown(INT_MIN);
    expect_unknown(INT_MAX);
}
END_TEST

START_TEST(test_version)
{
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", EVZK_VERSION_MAJOR,
             EVZK_VERSION_MINOR, EVZK_VERSION_PATCH);
    ck_assert_str_eq(version, EVZK_VERSION);
    ck_assert_str_eq(evzk_version(), EVZK_VERSION);
}
END_TEST

UNIT_MAIN("error", test_distinct, test_looked_up, test_signs, test_unknown,
          test_version)
