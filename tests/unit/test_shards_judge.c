/* The judge of the demonstration of shards: what it makes of a list of events.
 */
#include "unit.h"

#include "../../examples/shards-demo/count.c"
#include "../../examples/shards-demo/judge.c"

enum { MS = 1000, LEASE = 100 * MS };

static void look(struct said *said, size_t n, struct result *out)
{
    struct log log = {.said = said, .n = n};

    for (size_t i = 0; i < n; i++)
        said[i].order = i;
    ck_assert(judge(&log, 1, out));
    free(out->sample);
}

/* A process that had no processor for a while led all the same. */
START_TEST(a_lease_that_begins_anew_leads_again)
{
    struct said said[] = {
        {.us = 1 * MS, .kind = DID_BEGIN},
        {.us = 2 * MS, .kind = SAID_LEASE, .value = LEASE},
        {.us = 3 * MS, .kind = SAID_ELECTED, .value = 1},
        {.us = 4 * MS, .kind = SAID_LEADING, .value = 1},
        {.us = 150 * MS, .kind = SAID_LEASE, .who = 1, .value = 400 * MS},
        {.us = 160 * MS, .kind = SAID_LEASE, .value = 300 * MS},
        {.us = 170 * MS, .kind = DID_END},
    };
    struct result r;

    look(said, sizeof said / sizeof said[0], &r);
    ck_assert_uint_eq(r.phase[JOIN].led[NOBODY], 0);
    ck_assert_uint_eq(r.doubles, 0);
}
END_TEST

START_TEST(what_another_leads_since_is_led_by_two)
{
    struct said said[] = {
        {.us = 1 * MS, .kind = DID_BEGIN},
        {.us = 2 * MS, .kind = SAID_LEASE, .value = LEASE},
        {.us = 3 * MS, .kind = SAID_ELECTED, .value = 1},
        {.us = 4 * MS, .kind = SAID_LEADING, .value = 1},
        {.us = 150 * MS, .kind = SAID_LEASE, .who = 1, .value = 400 * MS},
        {.us = 151 * MS, .kind = SAID_ELECTED, .who = 1, .value = 2},
        {.us = 152 * MS, .kind = SAID_LEADING, .who = 1, .value = 2},
        {.us = 160 * MS, .kind = SAID_LEASE, .value = 300 * MS},
        {.us = 170 * MS, .kind = DID_END},
    };
    struct result r;

    look(said, sizeof said / sizeof said[0], &r);
    ck_assert_uint_eq(r.phase[JOIN].led[NOBODY], 0);
    ck_assert_uint_eq(r.doubles, 1);
}
END_TEST

UNIT_MAIN("shards-judge", a_lease_that_begins_anew_leads_again,
          what_another_leads_since_is_led_by_two)
