/* A server's greeting, judged at every length and with every byte changed; and
 * the servers that are left out for what they sent. */
#include "unit.h"

#include <string.h>

#include "lib/base/greeting.h"
#include "lib/session/shunned.h"

enum { ASKED_MS = 6000, S = 1000000 };

/* Length, protocol, time-out, session, password, read-only. */
static const unsigned char good[EVZK__GREETING] = {
    0,   0,   0,   37,  0,   0,   0,   0,   0,   0,   ASKED_MS >> 8,
    112, 1,   0,   0,   7,   7,   7,   7,   7,   0,   0,
    0,   16,  'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p',
    'p', 'p', 'p', 'p', 'p', 'p', 'p', 0};

#define ID INT64_C(0x0100000707070707)

static enum evzk__verdict judge(const unsigned char *b, size_t n, int64_t id)
{
    struct evzk__greeting g = {.id = id, .timeout_ms = ASKED_MS};

    return evzk__greeting_judge(&g, b, n);
}

START_TEST(a_good_one_is_awaited_and_taken)
{
    unsigned char old[EVZK__GREETING];

    for (size_t n = 0; n < sizeof good; n++)
        ck_assert_int_eq(judge(good, n, 0), EVZK__GREETING_SHORT);
    ck_assert_int_eq(judge(good, sizeof good, 0), EVZK__GREETING_RIGHT);
    ck_assert_int_eq(judge(good, sizeof good, ID), EVZK__GREETING_RIGHT);
    ck_assert_int_eq(judge(good, sizeof good, ID + 1), EVZK__GREETING_WRONG);
    memcpy(old, good, sizeof old);
    old[3] = 36;
    ck_assert_int_eq(judge(old, 39, 0), EVZK__GREETING_SHORT);
    ck_assert_int_eq(judge(old, 40, 0), EVZK__GREETING_RIGHT);
    ck_assert_int_eq(judge(old, 41, 0), EVZK__GREETING_WRONG);
}
END_TEST

/* Every byte, with every other value.  Bytes that cannot be judged: the id of a
 * new session, the password, and a time-out that a server may have. */
START_TEST(every_other_byte_is_judged)
{
    int taken = 0;

    for (size_t at = 0; at < sizeof good; at++) {
        for (int x = 1; x < 256; x++) {
            unsigned char b[EVZK__GREETING];
            bool free = (at >= 12 && at < 20) || (at >= 24 && at < 40);

            memcpy(b, good, sizeof b);
            b[at] ^= (unsigned char)x;
            if (judge(b, sizeof b, 0) != EVZK__GREETING_WRONG)
                taken++;
            if (at >= 8 && at < 12)
                continue;
            UNIT_HOT((judge(b, sizeof b, 0) == EVZK__GREETING_WRONG) == !free);
            UNIT_HOT((judge(b, sizeof b, ID) == EVZK__GREETING_WRONG) ==
                     (at < 24 || at == 40));
        }
    }
    printf("greeting: of %d garbled ones %d could be true\n",
           255 * EVZK__GREETING, taken);
}
END_TEST

START_TEST(timeouts_of_servers_are_taken)
{
    static const struct {
        int64_t ms;
        bool ok;
    } row[] = {{0, false},       {-1, false},       {1, false},
               {99, false},      {100, true},       {400, true},
               {6000, true},     {60000, true},     {3600000, true},
               {3600001, false}, {INT32_MAX, false}};

    for (size_t i = 0; i < UNIT_COUNT(row); i++) {
        unsigned char b[EVZK__GREETING];

        memcpy(b, good, sizeof b);
        for (int k = 0; k < 4; k++)
            b[8 + k] = (unsigned char)((uint64_t)row[i].ms >> (24 - 8 * k));
        ck_assert_int_eq(judge(b, sizeof b, 0), row[i].ok
                                                    ? EVZK__GREETING_RIGHT
                                                    : EVZK__GREETING_WRONG);
    }
}
END_TEST

/* Session 0 with time-out 0: only a session that was there can have ended. */
START_TEST(the_end_of_a_session_is_taken)
{
    unsigned char b[EVZK__GREETING] = {0, 0, 0, 37};

    b[23] = 16;
    ck_assert_int_eq(judge(b, sizeof b, ID), EVZK__GREETING_RIGHT);
    ck_assert_int_eq(judge(b, sizeof b, 0), EVZK__GREETING_WRONG);
    b[11] = 200;
    ck_assert_int_eq(judge(b, sizeof b, ID), EVZK__GREETING_WRONG);
}
END_TEST

START_TEST(what_was_sent_is_quoted)
{
    static const struct {
        const char *sent, *why;
    } row[] = {{"SSH-2.0-OpenSSH_9", "it sent \"SSH-2.0-Op...\""},
               {"220", "it sent \"220\""},
               {"H", "it sent \"H\""},
               {"\x15\x03\x01", "it sent the bytes 15 03 01"},
               {"ab\x01", "it sent the bytes 61 62 01"},
               {"abcd\r\n", "it sent \"abcd...\""}};

    for (size_t i = 0; i < UNIT_COUNT(row); i++) {
        struct evzk__greeting g = {.timeout_ms = ASKED_MS};

        ck_assert_int_eq(
            evzk__greeting_judge(&g, (const unsigned char *)row[i].sent,
                                 strlen(row[i].sent)),
            EVZK__GREETING_WRONG);
        ck_assert_str_eq(g.why, row[i].why);
    }
}
END_TEST

/* A silent server is told once in a while, and is not left out. */
START_TEST(the_silent_are_told)
{
    char out[128], name[32];
    struct evzk__shunned sh = {.crowded_until = 0};
    int64_t until;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < EVZK__SHUNNED; i++) {
            snprintf(name, sizeof name, "1.2.3.%d:1", i);
            ck_assert(evzk__shunned_tell(&sh, name, S) == (round == 0));
        }
    }
    ck_assert(evzk__shunned_filter(&sh, "1.2.3.0:1,1.2.3.1:1", S, out, &until));
    ck_assert_str_eq(out, "1.2.3.0:1,1.2.3.1:1");
    ck_assert(evzk__shunned_tell(&sh, "1.2.3.0:1", 601 * S));
    ck_assert(evzk__shunned_add(&sh, "5.6.7.8:1", S, S)); /* Goes first. */
    ck_assert(!evzk__shunned_filter(&sh, "5.6.7.8:1", S + 1, out, &until));
}
END_TEST

START_TEST(the_shunned_are_left_out)
{
    static const char list[] = "1.2.3.4:22,::1:22,1.2.3.4:2";
    struct evzk__shunned sh = {.crowded_until = 0};
    char out[sizeof list];
    int64_t until;

    ck_assert(evzk__shunned_filter(&sh, list, S, out, &until));
    ck_assert_str_eq(out, list);
    ck_assert(evzk__shunned_add(&sh, "1.2.3.4:22", S, 4 * S));
    ck_assert(evzk__shunned_add(&sh, "[::1]:22", S + 1, 4 * S));
    ck_assert(evzk__shunned_filter(&sh, list, S + 2, out, &until));
    ck_assert_str_eq(out, "1.2.3.4:2");
    ck_assert(
        !evzk__shunned_filter(&sh, "::1:22,1.2.3.4:22", S + 2, out, &until));
    ck_assert_int_eq(until, S + S / 2);
    ck_assert(evzk__shunned_filter(&sh, list, until, out, &until));
    ck_assert_str_eq(out, "1.2.3.4:22,1.2.3.4:2");
}
END_TEST

START_TEST(the_pause_grows_to_its_end)
{
    struct evzk__shunned sh = {.crowded_until = 0};
    int64_t now = S, until, want = S / 2;
    char out[32];

    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(evzk__shunned_add(&sh, "a:1", now, 4 * S), i == 0);
        ck_assert(!evzk__shunned_filter(&sh, "a:1", now, out, &until));
        ck_assert_int_eq(until, now + want);
        now = until;
        want = want < 2 * S ? 2 * want : 4 * S;
    }
    evzk__shunned_forgive(&sh, "a:1");
    ck_assert(!evzk__shunned_add(&sh, "a:1", now, 4 * S));
    ck_assert(!evzk__shunned_filter(&sh, "a:1", now, out, &until));
    ck_assert_int_eq(until, now + S / 2);
}
END_TEST

/* More of them than there are places: not one after another without end. */
START_TEST(too_many_are_not_tried_at_once)
{
    struct evzk__shunned sh = {.crowded_until = 0};
    char address[16], out[32];
    int64_t until;

    for (int i = 0; i <= EVZK__SHUNNED; i++) {
        snprintf(address, sizeof address, "a:%d", i + 1);
        ck_assert_int_eq(evzk__shunned_filter(&sh, address, S, out, &until), 1);
        evzk__shunned_add(&sh, address, S, 4 * S);
    }
    ck_assert(!evzk__shunned_filter(&sh, "a:1,b:1", S, out, &until));
    ck_assert_int_gt(until, S);
    ck_assert(evzk__shunned_filter(&sh, "a:1,b:1", until, out, &until));
}
END_TEST

UNIT_MAIN("greeting", a_good_one_is_awaited_and_taken,
          every_other_byte_is_judged, timeouts_of_servers_are_taken,
          the_end_of_a_session_is_taken, what_was_sent_is_quoted,
          the_silent_are_told, the_shunned_are_left_out,
          the_pause_grows_to_its_end, too_many_are_not_tried_at_once)
