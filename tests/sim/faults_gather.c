/* Faults of those who count who has come: a znode that is named nearly as one
 * of them, and what a double barrier says of a round that is none.
 *
 * How it can fail: a `ready` that covers participants who stand there, and
 * names their directory, cannot be told from a true one, so none such is made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "world.h"

#define BARRIER "/d"
#define READY BARRIER "/ready"
#define NOBODY "01234567-89ab-4def-8123-456789abcdef-in-0000000000"

enum { KIDS = 16, GUID = 36, LAST = 1000 };

/* The `ready` that was made last. */
static struct {
    int64_t n, older, mzxid;
} made;
SIM_KEEP(made)

bool fault_made_ready(int64_t mzxid)
{
    return made.n > 0 && (mzxid == 0 || mzxid == made.mzxid);
}

bool fault_made_older_ready(void) { return made.older > 0; }

/* With the number before the lowest one: it comes before all. */
bool fault_foreign_nameless(const struct fault *f, const struct sim_step *step)
{
    char dir[FAULT_PATH], rest[2 * FAULT_PATH];
    const char *like, *digits;
    int32_t n = 0;

    (void)f;
    (void)step;
    if (!fault_gathers() || !fault_directory(dir))
        return false;
    like = fault_lowest(dir, &digits, &n);
    if (!like || digits - like <= GUID)
        return false;
    snprintf(rest, sizeof rest, "%.*s%010" PRId32, (int)(digits - like - GUID),
             like + GUID, (int32_t)((uint32_t)n - 1));
    return fault_put(dir, "nameless", rest, ZOO_PERSISTENT);
}

/* A round that has replaced it goes by itself. */
static void remove_ready(intptr_t unused)
{
    struct ens_seen seen;

    (void)unused;
    if (ens_look_ahead(READY, &seen) && seen.mzxid == made.mzxid)
        ens_delete(READY);
}

static bool make_ready(int64_t dir_czxid)
{
    struct ens_seen seen;
    char text[160];
    int len = snprintf(text, sizeof text, "evzk 1 %d %" PRId64 " %s", LAST,
                       dir_czxid, NOBODY);

    if (made.n > 0 || ens_look_ahead(READY, &seen) ||
        ens_create(READY, text, (size_t)len, ZOO_PERSISTENT) != 0 ||
        !ens_look_ahead(READY, &seen))
        return false;
    made.n++;
    made.mzxid = seen.mzxid;
    scene_timer_set(FAULT_SHORT, -1, remove_ready, 0);
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_copy_ready(const struct fault *f, const struct sim_step *step)
{
    struct ens_seen dir;

    (void)f;
    (void)step;
    return fault_gathers() && ens_look(BARRIER, &dir) &&
           make_ready(dir.czxid + LAST); /* No such directory is there. */
}

/* And nothing is on its way to it. */
static bool is_empty(const char *dir)
{
    const char *names[KIDS];

    return ens_children(dir, names, KIDS) == 0 &&
           ens_proposed() == ens_committed();
}

bool fault_older_ready(const struct fault *f, const struct sim_step *step)
{
    struct ens_seen dir;

    (void)f;
    (void)step;
    if (!fault_gathers() || !ens_look(BARRIER, &dir) || !is_empty(BARRIER) ||
        !make_ready(dir.czxid))
        return false;
    made.older++;
    return true;
}
