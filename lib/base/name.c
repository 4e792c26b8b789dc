/* Names of znodes.  They may come from other programs, so they are parsed with
 * distrust: a name that is not well-formed is ignored. */
#include "lib/base/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evzk/error.h"
#include "lib/base/os.h"

int evzk__guid(char out[EVZK__GUID_LEN + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char b[16];
    char *p = out;
    int rc = evzk__random(b, sizeof b);

    if (rc != EVZK_OK)
        return rc;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* Version 4: random. */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof b; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[b[i] >> 4];
        *p++ = hex[b[i] & 15];
    }
    *p = '\0';
    return EVZK_OK;
}

bool evzk__guid_leads(const char *text)
{
    for (size_t i = 0; i < EVZK__GUID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = text[i];

        if (dash ? c != '-'
                 : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false; /* The zero byte at the end, too. */
    }
    return true;
}

/* Reads one character of UTF-8, of `left` bytes at most: its value and length,
 * or -1.  A character of four bytes gives -1, too: servers refuse what is
 * beyond U+FFFF. */
static long read_char(const unsigned char *s, size_t left, size_t *len)
{
    long c = s[0];

    *len = 1;
    if (c < 0x80)
        return c;
    *len = c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xef || *len > left)
        return -1;
    c &= *len == 3 ? 0x0f : 0x1f;
    for (size_t i = 1; i < *len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return -1;
        c = c << 6 | (s[i] & 0x3f);
    }
    return *len == 3 && c < 0x800 ? -1 : c;
}

/* Control characters, surrogates, private use and the specials. */
static bool refused(long c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xf900) ||
           c >= 0xfff0;
}

/* Is this no name at all, but a way through the tree? */
static bool is_dots(const char *s, size_t len)
{
    return len == 0 || (len == 1 && s[0] == '.') ||
           (len == 2 && s[0] == '.' && s[1] == '.');
}

static bool segment_ok(const char *s, size_t len)
{
    size_t n;

    if (is_dots(s, len))
        return false;
    for (size_t i = 0; i < len; i += n) {
        if (refused(read_char((const unsigned char *)s + i, len - i, &n)))
            return false;
    }
    return true;
}

const char *evzk__path_fault(const char *path)
{
    const char *s, *end;

    if (!path)
        return "must not be NULL";
    if (path[0] != '/')
        return "must begin with '/'";
    if (strlen(path) > EVZK__PATH_MAX)
        return "must be at most 4096 bytes long";
    for (s = path + 1;; s = end + 1) {
        end = strchr(s, '/');
        if (s[0] == '\0' || s[0] == '/')
            return "must have a name behind each '/'";
        if (!segment_ok(s, end ? (size_t)(end - s) : strlen(s)))
            return "must have no name \".\" or \"..\", and no character that "
                   "servers refuse";
        if (!end)
            return NULL;
    }
}

bool evzk__path_ok(const char *path) { return !evzk__path_fault(path); }

static bool has_control(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s < ' ')
            return true;
    }
    return false;
}

bool evzk__path_sendable(const char *path, bool numbered)
{
    const char *s, *end;

    if (!path || path[0] != '/' || has_control(path))
        return false;
    for (s = path + 1; path[1]; s = end + 1) {
        end = strchr(s, '/');
        if (is_dots(s, end ? (size_t)(end - s) : strlen(s)) &&
            (end || !numbered))
            return false;
        if (!end)
            break;
    }
    return true;
}

size_t evzk__names_keep(char **v, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        char *name = v[i];

        if (is_dots(name, strlen(name)) || strchr(name, '/'))
            continue;
        v[i] = v[kept];
        v[kept++] = name;
    }
    return kept;
}

bool evzk__name_ok(const char *name, size_t len)
{
    return len < EVZK__NAME_MAX && !memchr(name, '/', len) &&
           segment_ok(name, len);
}

/* Reads a number as the server prints it: %010d, with a sign if need be. */
static bool read_seq(const char *s, int32_t *seq)
{
    char again[16];
    char *end;
    long value = strtol(s, &end, 10);

    if (value < INT32_MIN || value > INT32_MAX || *end != '\0')
        return false;
    snprintf(again, sizeof again, "%010ld", value);
    if (strcmp(again, s) != 0)
        return false;
    *seq = (int32_t)value;
    return true;
}

bool evzk__seq_parse(const char *name, const char *mark, int32_t *seq)
{
    size_t len = strlen(name), m = strlen(mark);

    if (len >= EVZK__NAME_MAX)
        return false;
    for (size_t digits = 10; digits <= 11; digits++) {
        if (len > m + digits && memcmp(name + len - digits - m, mark, m) == 0 &&
            read_seq(name + len - digits, seq))
            return true;
    }
    return false;
}

bool evzk__seq_before(const char *a, int32_t sa, const char *b, int32_t sb)
{
    uint32_t diff = (uint32_t)sa - (uint32_t)sb;

    if (diff == 0)
        return strcmp(a, b) < 0;
    if (diff == UINT32_C(0x80000000))
        return sa < sb; /* As far apart as can be: any order, but one. */
    return diff > UINT32_C(0x80000000);
}

void evzk__name_complete(char *name, const char *path)
{
    const char *given = path ? strrchr(path, '/') : NULL;
    size_t prefix = strlen(name);

    /* The prefix, and at most ten digits and a sign. */
    if (given && strncmp(given + 1, name, prefix) == 0 &&
        strlen(given + 1) <= prefix + 11)
        strcpy(name, given + 1);
}

const char *evzk__find_prefix(const struct evzk__names *names,
                              const char *prefix, int64_t *seq)
{
    size_t len = strlen(prefix);
    const char *best = NULL;
    int32_t n, least = 0;

    for (size_t i = 0; i < names->n; i++) {
        if (strncmp(names->v[i], prefix, len) == 0 &&
            read_seq(names->v[i] + len, &n) && n > *seq &&
            (!best || n < least)) {
            best = names->v[i];
            least = n;
        }
    }
    if (best)
        *seq = least;
    return best;
}
