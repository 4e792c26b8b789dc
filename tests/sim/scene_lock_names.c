/* The names of contenders: what a name says of its contender, and which of two
 * comes before the other.
 *
 * Nothing of the library is used here, so that a mistake of its own does not
 * hide itself.
 *
 * How it can fail: a name that is read wrongly is no contender for the rules.
 * Each scene has contenders of its own library, and they must all be seen.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "scene_lock.h"

enum { GUID = 36, NAME_MOST = 95 };

enum { ROOM = 3, STANDS = 5, FOREIGN = 6 };

/* The names in a scene: evzk's own, or those of one recipe of a library. */
enum { OWN, CURATOR_MUTEX, CURATOR_SHARED, CURATOR_LATCH, KAZOO, FAMILIES };

/* By mode; then those of priority waits, and of candidates. */
static const char *const marks[FAMILIES][FOREIGN] = {
    [OWN] = {"-lock-", "-write-", "-read-", "-write-wait-", "-read-wait-",
             "-n_"},
    [CURATOR_MUTEX] = {"-lock-", "", "", "", "", ""},
    [CURATOR_SHARED] = {"", "__WRIT__", "__READ__", "", "", ""},
    [CURATOR_LATCH] = {"", "", "", "", "", "-latch-"},
    [KAZOO] = {"__lock__", "__lock__", "__rlock__", "", "", "__lock__"}};

/* The contenders that the faults make, and no others. */
static const char *const foreign[] = {"__WRIT__", "__lock__"};

static int family(void)
{
    const struct lock_scene *sc = lock_world.sc;

    if (sc->dialect == EVZK_DIALECT_KAZOO)
        return KAZOO;
    if (sc->dialect == EVZK_DIALECT_EVZK)
        return OWN;
    if (sc->locks[0].elect)
        return CURATOR_LATCH;
    return sc->locks[0].mode == EVZK_LOCK_EXCLUSIVE ? CURATOR_MUTEX
                                                    : CURATOR_SHARED;
}

/* Ten digits, or a sign and as many as make it ten characters, or more. */
static bool read_number(const char *s, int32_t *seq)
{
    bool minus = s[0] == '-';
    size_t n = strlen(s);
    int64_t v = 0;

    if (n < 10 || n > 11 || (n == 11 && (!minus || s[1] == '0')))
        return false;
    for (size_t i = minus; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (s[i] - '0');
    }
    v = minus ? -v : v;
    if (v > INT32_MAX || v < INT32_MIN || (minus && v == 0))
        return false;
    *seq = (int32_t)v;
    return true;
}

static bool parse_as(const char *name, const char *mark, int32_t *seq)
{
    const char *p = name;

    if (strlen(name) > NAME_MOST)
        return false;
    while ((p = strstr(p + 1, mark)) != NULL) {
        if (read_number(p + strlen(mark), seq))
            return true;
    }
    return false;
}

static bool parse_foreign(const char *name, int32_t *seq)
{
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (parse_as(name, foreign[i], seq))
            return true;
    }
    return false;
}

bool lock_foreign_name(const char *name)
{
    int32_t seq;

    return parse_foreign(name, &seq);
}

static bool parse(const char *name, int32_t *seq, unsigned *mode)
{
    const char *const *mark = marks[family()];

    for (*mode = 0; *mode < FOREIGN; ++*mode) {
        if (mark[*mode][0] && parse_as(name, mark[*mode], seq))
            return true;
    }
    return parse_foreign(name, seq) ||
           (family() != OWN && parse_as(name, marks[OWN][0], seq));
}

/* "...-p7a100" before the mark. */
static void read_priority(const char *name, struct lock_node *n)
{
    const char *p = strlen(name) > GUID ? name + GUID : "";
    unsigned priority, ageing;

    if (sscanf(p, "-p%ua%u-", &priority, &ageing) != 2)
        return;
    n->priority = (uint8_t)priority;
    n->handicap =
        priority * (ageing ? (int64_t)ageing : INT64_C(1) << 32) * n->waits;
}

bool lock_read_name(const char *name, struct lock_node *n)
{
    size_t len = strlen(name);
    unsigned mode;

    memset(n, 0, sizeof *n); /* No padding may differ. */
    if (!parse(name, &n->seq, &mode))
        return false;
    n->name = sim_hash(name, len);
    n->shares = mode == EVZK_LOCK_READ || mode == ROOM + 1;
    n->waits = mode >= ROOM && mode < STANDS;
    n->common = mode == EVZK_LOCK_EXCLUSIVE;
    n->mutex = n->common && strncmp(name, "_c_", 3) == 0;
    n->foreign = mode == FOREIGN;
    read_priority(name, n);
    if (len > GUID)
        n->guid = sim_hash(name, GUID);
    return true;
}

bool lock_bars(const struct lock_node *a, const struct lock_node *b)
{
    return !a->foreign && !b->foreign && (!a->shares || !b->shares);
}

bool lock_stranger(const struct lock_node *n, bool common)
{
    return n->foreign || (n->mutex && !common);
}

bool lock_before(const struct lock_node *a, const struct lock_node *b)
{
    int64_t apart = (int32_t)((uint32_t)a->seq - (uint32_t)b->seq);

    if (a->waits != b->waits)
        return b->waits;
    if (apart == INT32_MIN && a->seq > b->seq)
        apart = -apart; /* As far apart as can be: the library's order. */
    return apart + a->handicap < b->handicap;
}
