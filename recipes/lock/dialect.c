/* The names of contenders: evzk's own, and those of Curator and Kazoo, so that
 * their programs can be in the same queue.
 *
 *   evzk     <guid>-lock-<seq>, -write-, -read-, -n_ (of a candidate)
 *   Curator  _c_<guid>-lock-<seq>        InterProcessMutex
 *            _c_<guid>-__WRIT__<seq>     InterProcessReadWriteLock
 *            _c_<guid>-__READ__<seq>
 *            _c_<guid>-latch-<seq>       LeaderLatch
 *   Kazoo    <hex>__lock__<seq>          Lock, WriteLock, Election
 *            <hex>__rlock__<seq>         ReadLock
 *
 * Each family of names is a queue of its own.  Curator's mutex does not wait
 * for its read-write lock, so a lock of one family that finds a contender of
 * another is refused: the table says which marks.  lib/base/foreign.h knows
 * those of the libraries; the tables have evzk's own.
 *
 * How it can fail.  Kazoo's Lock does not wait for Kazoo's ReadLock: where
 * locks are shared, Kazoo's programs must use WriteLock.  And ReadLock of
 * Kazoo 2.8 waits for writers behind it, too, which wait for it:
 * doc/dialects.md.
 */
#include "recipes/lock/states.h"

#include <string.h>

#include "recipes/parts/dialect.h"

const struct evzk__mark evzk__lock_marks[] = {
    [EVZK_LOCK_EXCLUSIVE] = {"-lock-", EVZK__COMMON},
    [EVZK_LOCK_WRITE] = {"-write-", EVZK__MOVES},
    [EVZK_LOCK_READ] = {"-read-", EVZK__SHARES},
    [EVZK_LOCK_WRITE + LOCK_PRIO] = {"-write-wait-", EVZK__WAITS},
    [EVZK_LOCK_READ + LOCK_PRIO] = {"-read-wait-", EVZK__WAITS | EVZK__SHARES},
    [LOCK_STANDS] = {"-n_", 0},
    {NULL, 0}};

/* clang-format off */
/* The marks of evzk's own that no dialect has. */
#define EVZK_ONLY                                                          \
    {"-write-", EVZK__STRANGE}, {"-read-", EVZK__STRANGE},                 \
    {"-write-wait-", EVZK__STRANGE}, {"-read-wait-", EVZK__STRANGE},       \
    {"-n_", EVZK__STRANGE}
#define MUTEX {"-lock-", EVZK__STRANGE}
#define LAST {NULL, 0}

static const struct evzk__mark curator_mutex[] = {
    {"-lock-", EVZK__COMMON}, EVZK_ONLY, LAST};
static const struct evzk__mark curator_read_write[] = {
    {"__WRIT__", EVZK__MOVES}, {"__READ__", EVZK__SHARES},
    MUTEX, EVZK_ONLY, LAST};
static const struct evzk__mark curator_latch[] = {
    {"-latch-", 0}, MUTEX, EVZK_ONLY, LAST};
static const struct evzk__mark curator_all[] = {
    {"-lock-", EVZK__COMMON}, {"__WRIT__", EVZK__MOVES},
    {"__READ__", EVZK__SHARES}, {"-latch-", 0}, LAST};
static const struct evzk__mark kazoo[] = {
    {"__lock__", EVZK__MOVES}, {"__rlock__", EVZK__SHARES},
    MUTEX, EVZK_ONLY, LAST};
/* clang-format on */

/* The marks of all families: a session finds its contenders by their numbers,
 * of whatever family they are. */
const struct evzk__mark evzk__lock_all_marks[] = {
    {"-lock-", EVZK__COMMON},
    {"-write-", EVZK__MOVES},
    {"-read-", EVZK__SHARES},
    {"-write-wait-", EVZK__WAITS},
    {"-read-wait-", EVZK__WAITS | EVZK__SHARES},
    {"-n_", 0},
    {"__WRIT__", EVZK__MOVES},
    {"__READ__", EVZK__SHARES},
    {"-latch-", 0},
    {"__lock__", EVZK__MOVES},
    {"__rlock__", EVZK__SHARES},
    {NULL, 0}};

const struct evzk__mark *evzk__lock_marks_of(const struct evzk_lock *l)
{
    switch ((evzk_dialect)l->dialect) {
    case EVZK_DIALECT_CURATOR:
        if (evzk__lock_stands(l))
            return curator_latch;
        return l->mode == EVZK_LOCK_EXCLUSIVE ? curator_mutex
                                              : curator_read_write;
    case EVZK_DIALECT_KAZOO:
        return kazoo;
    case EVZK_DIALECT_EVZK:
        break;
    }
    return evzk__lock_marks;
}

const struct evzk__mark *evzk__lock_marks_for(evzk_dialect dialect)
{
    switch (dialect) {
    case EVZK_DIALECT_CURATOR:
        return curator_all;
    case EVZK_DIALECT_KAZOO:
        return kazoo;
    case EVZK_DIALECT_EVZK:
        break;
    }
    return evzk__lock_marks;
}

static size_t count(const struct evzk__names *names,
                    const struct evzk__mark *marks)
{
    struct evzk__contender c;
    size_t n = 0;

    for (size_t i = 0; i < names->n; i++)
        n += evzk__contender_parse(names->v[i], marks, &c);
    return n;
}

const struct evzk__mark *evzk__lock_marks_in(const struct evzk__names *names)
{
    static const struct evzk__mark *const tables[] = {curator_read_write,
                                                      curator_latch, kazoo};
    const struct evzk__mark *best = evzk__lock_marks;
    size_t most = 0;

    if (count(names, evzk__lock_marks) > 0)
        return evzk__lock_marks;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t n = count(names, tables[i]);

        best = n > most ? tables[i] : best;
        most = n > most ? n : most;
    }
    return best;
}

/* In the tables of dialects the reader's mark is the second one. */
static const char *text_of(const struct evzk_lock *l, unsigned mark)
{
    if (l->dialect != EVZK_DIALECT_EVZK)
        mark = mark == EVZK_LOCK_READ;
    return evzk__lock_marks_of(l)[mark].text;
}

int evzk__lock_name(const struct evzk_lock *l, char *out, unsigned mark)
{
    const char *text = text_of(l, mark);
    int rc = evzk__dialect_guid((evzk_dialect)l->dialect, out);

    out += strlen(out);
    if (evzk__lock_urgent(l)) {
        evzk__priority_print(out, l->given->priority.priority,
                             l->given->priority.ageing);
        out += strlen(out);
    }
    if (l->dialect == EVZK_DIALECT_CURATOR && text[0] != '-')
        *out++ = '-';
    strcpy(out, text);
    return rc;
}
