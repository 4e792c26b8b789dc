/* Servers that are no ZooKeeper.  A table of fixed size, so that nothing fails
 * for want of memory.
 *
 * How it can fail: there are more such servers than places.  Then the server
 * whose pause ends first loses its place; and no server is tried for a moment,
 * so that the servers are not tried in turns without a pause. */
#include "lib/session/shunned.h"

#include <string.h>

enum { FIRST_US = 500000, TELL_US = 600 * 1000 * 1000 };

static struct evzk__shun *find(struct evzk__shunned *sh, const char *address,
                               size_t len)
{
    for (unsigned i = 0; i < EVZK__SHUNNED; i++) {
        struct evzk__shun *s = &sh->server[i];

        if (strlen(s->address) == len && memcmp(s->address, address, len) == 0)
            return s;
    }
    return NULL;
}

/* A free place, or that of the server whose pause ends first. */
static struct evzk__shun *place(struct evzk__shunned *sh)
{
    struct evzk__shun *first = find(sh, "", 0);

    if (first)
        return first;
    first = &sh->server[0];
    for (unsigned i = 1; i < EVZK__SHUNNED; i++) {
        if (sh->server[i].until < first->until)
            first = &sh->server[i];
    }
    return first;
}

/* "[::1]:2181" is "::1:2181" in the list of servers. */
static size_t without_brackets(char key[EVZK__SHUNNED_ADDRESS],
                               const char *address)
{
    size_t len = 0;

    for (; *address && len < EVZK__SHUNNED_ADDRESS - 1; address++) {
        if (*address != '[' && *address != ']')
            key[len++] = *address;
    }
    key[len] = '\0';
    return len;
}

static bool is_time(struct evzk__shun *s, int64_t now)
{
    bool tell = !s->told_at || now - s->told_at >= TELL_US;

    if (tell)
        s->told_at = now;
    return tell;
}

bool evzk__shunned_add(struct evzk__shunned *sh, const char *address,
                       int64_t now, int64_t most_us)
{
    char key[EVZK__SHUNNED_ADDRESS];
    size_t len = without_brackets(key, address);
    struct evzk__shun *s = find(sh, key, len);

    if (!s) {
        s = place(sh);
        if (now < s->until)
            sh->crowded_until = now + FIRST_US;
        memset(s, 0, sizeof *s);
        memcpy(s->address, key, len);
    }
    s->pause = s->pause ? 2 * s->pause : FIRST_US;
    if (s->pause > most_us)
        s->pause = most_us;
    s->until = now + s->pause;
    return is_time(s, now);
}

bool evzk__shunned_tell(struct evzk__shunned *sh, const char *address,
                        int64_t now)
{
    char key[EVZK__SHUNNED_ADDRESS];
    size_t len = without_brackets(key, address);
    struct evzk__shun *s = find(sh, key, len);

    if (!s) {
        s = place(sh);
        if (now < s->until)
            return false; /* All places are in use. */
        memset(s, 0, sizeof *s);
        memcpy(s->address, key, len);
    }
    return is_time(s, now);
}

void evzk__shunned_forgive(struct evzk__shunned *sh, const char *address)
{
    char key[EVZK__SHUNNED_ADDRESS];
    struct evzk__shun *s = find(sh, key, without_brackets(key, address));

    if (s)
        s->pause = 0;
}

bool evzk__shunned_filter(struct evzk__shunned *sh, const char *list,
                          int64_t now, char *out, int64_t *until)
{
    char *end = out;

    *until = sh->crowded_until;
    if (now < sh->crowded_until)
        return false;
    *until = INT64_MAX;
    for (const char *s = list; *s;) {
        size_t len = strcspn(s, ",");
        struct evzk__shun *shun = find(sh, s, len);

        if (shun && now < shun->until) {
            *until = shun->until < *until ? shun->until : *until;
        } else {
            if (end > out)
                *end++ = ',';
            memcpy(end, s, len);
            end += len;
        }
        s += len + (s[len] == ',');
    }
    *end = '\0';
    return end > out;
}
