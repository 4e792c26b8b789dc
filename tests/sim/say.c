/* What a run says: the lines of its trace, and what is wrong.  None of it is
 * part of the world: it stays when the world is put back. */
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

static struct {
    char violation[512];
    void (*line)(const char *, void *);
    void *arg;
} say;

void sim_talk(void (*line)(const char *line, void *arg), void *arg)
{
    say.line = line;
    say.arg = arg;
}

bool sim_talking(void) { return say.line != NULL; }

void sim_say(const char *fmt, ...)
{
    char line[1024];
    long long us = sim_now() - SIM_BEGIN_US;
    va_list ap;
    int n;

    if (!say.line)
        return;
    n = snprintf(line, sizeof line, "%6lld.%03lld ", us / 1000, us % 1000);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n, fmt, ap);
    va_end(ap);
    say.line(line, say.arg);
}

void sim_violation(const char *fmt, ...)
{
    char text[sizeof say.violation];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!say.violation[0])
        snprintf(say.violation, sizeof say.violation, "%s", text);
    sim_say("VIOLATION %s", text);
}

const char *sim_violated(void)
{
    return say.violation[0] ? say.violation : NULL;
}

void sim_violation_clear(void) { say.violation[0] = '\0'; }
