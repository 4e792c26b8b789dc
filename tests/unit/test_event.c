/* Names of events, and the log that writes to stderr. */
#include "unit.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evzk/evzk.h"

/* Every number from the first to the last has a name of its own, and only those
 * from `first_final` on are final. */
#define CHECK_EVENTS(what, type, first_final, last)                            \
    do {                                                                       \
        ck_assert_str_eq(evzk_##what##_event_name((type)0), "?");              \
        ck_assert_str_eq(evzk_##what##_event_name((type)((last) + 1)), "?");   \
        ck_assert(!evzk_##what##_event_is_final((type)0));                     \
        ck_assert(!evzk_##what##_event_is_final((type)((last) + 1)));          \
        for (int i = 1; i <= (int)(last); i++) {                               \
            ck_assert_str_ne(evzk_##what##_event_name((type)i), "?");          \
            ck_assert_int_eq(evzk_##what##_event_is_final((type)i),            \
                             i >= (int)(first_final));                         \
            for (int j = 1; j < i; j++)                                        \
                ck_assert_str_ne(evzk_##what##_event_name((type)i),            \
                                 evzk_##what##_event_name((type)j));           \
        }                                                                      \
    } while (0)

START_TEST(test_every_event_has_a_name)
{
    CHECK_EVENTS(session, evzk_session_event, EVZK_SESSION_CLOSED,
                 EVZK_SESSION_CLOSED);
    CHECK_EVENTS(lock, evzk_lock_event, EVZK_LOCK_RELEASED, EVZK_LOCK_FAILED);
    CHECK_EVENTS(election, evzk_election_event, EVZK_ELECTION_RESIGNED,
                 EVZK_ELECTION_FAILED);
    CHECK_EVENTS(shards, evzk_shards_event, EVZK_SHARDS_DRAINED,
                 EVZK_SHARDS_FAILED);
    ck_assert_str_eq(evzk_lock_event_name(EVZK_LOCK_GRANTED), "GRANTED");
    ck_assert_str_eq(evzk_revoked_how_name(EVZK_REVOKED_STAYS), "STAYS");
    ck_assert_str_eq(evzk_revoked_how_name(EVZK_REVOKED_YIELDED), "YIELDED");
    ck_assert_str_eq(evzk_revoked_how_name(EVZK_REVOKED_REMOVED), "REMOVED");
    ck_assert_str_eq(evzk_revoked_how_name((evzk_revoked_how)3), "?");
}
END_TEST

/* What a call writes to stderr. */
static void capture(char *text, size_t size, evzk_log_level level)
{
    FILE *f = tmpfile();
    int saved = dup(STDERR_FILENO);
    ssize_t n;

    fflush(stderr);
    dup2(fileno(f), STDERR_FILENO);
    evzk_log_stderr(level, "a line with 100%", NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    n = pread(fileno(f), text, size - 1, 0);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    fclose(f);
}

START_TEST(test_log_stderr)
{
    static const char *const levels[] = {"[?]",  "ERROR", "WARN",
                                         "INFO", "DEBUG", "[?]"};
    char text[256], want[256];
    regex_t re;

    for (size_t i = 0; i < UNIT_COUNT(levels); i++) {
        capture(text, sizeof text, (evzk_log_level)i);
        snprintf(want, sizeof want,
                 "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\."
                 "[0-9]{3} %s *evzk: a line with 100%%\n$",
                 levels[i]);
        ck_assert_int_eq(regcomp(&re, want, REG_EXTENDED | REG_NOSUB), 0);
        ck_assert_msg(regexec(&re, text, 0, NULL, 0) == 0, "%s", text);
        regfree(&re);
    }
}
END_TEST

UNIT_MAIN("event", test_every_event_has_a_name, test_log_stderr)
