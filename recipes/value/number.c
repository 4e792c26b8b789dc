/* A counter's number, as text: decimal, with a sign if it is below zero.
 *
 * How it can fail: what is no such number is refused, and never changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recipes/value/value_internal.h"

bool evzk__number_parse(const void *data, size_t len, int64_t *n)
{
    const char *s = data;
    bool minus = len > 1 && s[0] == '-';
    uint64_t most = (uint64_t)INT64_MAX + (minus ? 1 : 0), value = 0;

    for (size_t i = minus ? 1 : 0; i < len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s[i] - '0';

        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *n = (int64_t)(minus ? 0 - value : value);
    return true;
}

uint32_t evzk__number_print(char out[EVZK__NUMBER_SIZE], int64_t n)
{
    return (uint32_t)snprintf(out, EVZK__NUMBER_SIZE, "%" PRId64, n);
}

bool evzk__number_add(int64_t *sum, int64_t n)
{
    if (n > 0 ? *sum > INT64_MAX - n : *sum < INT64_MIN - n)
        return false;
    *sum += n;
    return true;
}
