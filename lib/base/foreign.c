/* Names that the contenders of other libraries have:
 *
 *   _c_<uuid>-__READ__<seq>    Curator: InterProcessReadWriteLock
 *   _c_<uuid>-__WRIT__<seq>    the same
 *   _c_<uuid>-latch-<seq>      Curator: LeaderLatch
 *   _c_<uuid>-lease-<seq>      Curator: InterProcessSemaphoreV2
 *   <uuid>__lock__<seq>        Kazoo: Lock, WriteLock, Election
 *   <uuid>__rlock__<seq>       Kazoo: ReadLock
 *
 * Only the mark and the number count, whatever is before them, as with evzk's
 * own names: to refuse a lock too often does less harm than two holders.
 * "-lock-" is not here: evzk and Curator's InterProcessMutex both use it, and
 * wait for each other.
 *
 * How it can fail.  A library that is not listed here is not known; and the
 * znodes of Kazoo's Semaphore have no mark at all.
 */
#include "lib/base/foreign.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/name.h"

static const struct mark {
    const char *text, *library;
    bool shares;
} marks[] = {
    {"__WRIT__", "Curator", false}, {"__READ__", "Curator", true},
    {"-latch-", "Curator", false},  {"-lease-", "Curator", false},
    {"__lock__", "Kazoo", false},   {"__rlock__", "Kazoo", true},
};

bool evzk__foreign_parse(const char *name, struct evzk__foreign *f)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (!evzk__seq_parse(name, marks[i].text, &f->seq))
            continue;
        f->library = marks[i].library;
        f->shares = marks[i].shares;
        return true;
    }
    return false;
}

const char *evzk__foreign_maker(const char *name)
{
    return strncmp(name, "_c_", 3) == 0 ? "Curator" : NULL;
}
