/* A ready-made log.  The only place that writes to stderr, and only for an
 * application that asks for it. */
#include <stdio.h>
#include <time.h>

#include "evzk/session.h"

static const char *name_of(evzk_log_level level)
{
    switch (level) {
    case EVZK_LOG_ERROR:
        return "ERROR";
    case EVZK_LOG_WARN:
        return "WARN";
    case EVZK_LOG_INFO:
        return "INFO";
    case EVZK_LOG_DEBUG:
        return "DEBUG";
    }
    return "?";
}

/* One call of stdio, which locks the stream: lines of several threads do not
 * mix. */
void evzk_log_stderr(evzk_log_level level, const char *line, void *arg)
{
    struct timespec now = {0};
    char at[sizeof "2026-01-01 00:00:00"] = "";
    struct tm tm;

    (void)arg;
    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &tm))
        strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(stderr, "%s.%03ld %-5s evzk: %s\n", at, now.tv_nsec / 1000000,
            name_of(level), line);
}
