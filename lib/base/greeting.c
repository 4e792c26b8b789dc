/* A server's greeting, judged byte by byte as it comes:
 *
 *   length 4 | protocol 4 | time-out 4 | session 8 | length 4 | password 16 |
 *   read-only 1
 *
 * A greeting without the last byte comes from servers before 3.4.  A session
 * that has ended is greeted with session 0 and time-out 0.
 *
 * How it can fail: a greeting of a true server is refused, so that no session
 * can be had from it.  So the time-out has wide bounds: a server raises what is
 * asked for to its minSessionTimeout, and lowers it to its maxSessionTimeout.
 */
#include "lib/base/greeting.h"

#include <stdio.h>

enum {
    LENGTH = 3, /* Where the fields are; of lengths, the last byte. */
    PROTOCOL = 4,
    TIMEOUT = 8,
    SESSION = 12,
    PASSWORD_LENGTH = 20,
    PASSWORD = 24,
    READ_ONLY = 40,
    OLD = 36, /* Lengths of the body. */
    NEW = 37,
    LEAST_MS = 100, /* Bounds of the time-outs that servers grant. */
    MOST_MS = 3600 * 1000,
    QUOTED = 10, /* Bytes of the greeting in the reason. */
    WORDS = 4    /* That look like text. */
};

static int64_t number(const unsigned char *p, size_t n)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = value << 8 | *p++;
    return (int64_t)value;
}

static bool is_text(unsigned char c) { return c >= ' ' && c <= '~'; }

static enum evzk__verdict wrong(struct evzk__greeting *g, const char *why)
{
    snprintf(g->why, sizeof g->why, "%s", why);
    return EVZK__GREETING_WRONG;
}

/* Another service: the reason quotes the first bytes. */
static enum evzk__verdict wrong_bytes(struct evzk__greeting *g,
                                      const unsigned char *bytes, size_t n)
{
    size_t shown = n < QUOTED ? n : QUOTED, text = 0, at;

    while (text < shown && is_text(bytes[text]))
        text++;
    if (text >= WORDS || text == n) {
        snprintf(g->why, sizeof g->why, "it sent \"%.*s%s\"", (int)text,
                 (const char *)bytes, text < n ? "..." : "");
        return EVZK__GREETING_WRONG;
    }
    at = (size_t)snprintf(g->why, sizeof g->why, "it sent the bytes");
    for (size_t i = 0; i < shown; i++)
        at += (size_t)snprintf(g->why + at, sizeof g->why - at, " %02x",
                               bytes[i]);
    snprintf(g->why + at, sizeof g->why - at, "%s", shown < n ? " ..." : "");
    return EVZK__GREETING_WRONG;
}

/* Do the bytes so far fit one of the two lengths? */
static bool length_ok(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n && i < LENGTH; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return n <= LENGTH || bytes[LENGTH] == OLD || bytes[LENGTH] == NEW;
}

static bool timeout_ok(const struct evzk__greeting *g, int64_t ms, int64_t id)
{
    if (ms == 0)
        return id == 0 && g->id != 0; /* The session has ended. */
    return ms == g->timeout_ms ||
           (ms < g->timeout_ms ? ms >= LEAST_MS : ms <= MOST_MS);
}

static bool session_ok(const struct evzk__greeting *g, int64_t ms, int64_t id)
{
    if (g->id == 0)
        return id != 0;
    return id == g->id || (id == 0 && ms == 0);
}

enum evzk__verdict evzk__greeting_judge(struct evzk__greeting *g,
                                        const unsigned char *bytes, size_t n)
{
    int32_t ms = n < SESSION ? 0 : (int32_t)number(bytes + TIMEOUT, 4);
    int64_t id = n < PASSWORD_LENGTH ? 0 : number(bytes + SESSION, 8);

    if (!length_ok(bytes, n))
        return wrong_bytes(g, bytes, n);
    if (n >= TIMEOUT && number(bytes + PROTOCOL, 4) != 0)
        return wrong(g, "its greeting has an unknown protocol version");
    if (n >= PASSWORD_LENGTH && !session_ok(g, ms, id))
        return wrong(g, g->id ? "its greeting is for another session"
                              : "it greets without a new session");
    if (n >= PASSWORD_LENGTH && !timeout_ok(g, ms, id)) {
        snprintf(g->why, sizeof g->why,
                 "its greeting has a time-out of %d ms, where %u were asked "
                 "for",
                 (int)ms, (unsigned)g->timeout_ms);
        return EVZK__GREETING_WRONG;
    }
    if (n >= PASSWORD && number(bytes + PASSWORD_LENGTH, 4) != 16)
        return wrong(g, "its greeting has no password of 16 bytes");
    if (n < READ_ONLY)
        return EVZK__GREETING_SHORT;
    if (bytes[LENGTH] == OLD) /* The client would read on. */
        return n == READ_ONLY ? EVZK__GREETING_RIGHT
                              : wrong(g, "it sent more behind its greeting");
    if (n == READ_ONLY)
        return EVZK__GREETING_SHORT;
    if (bytes[READ_ONLY] != 0)
        return wrong(g, "it is read-only, which was not asked for");
    return EVZK__GREETING_RIGHT;
}
