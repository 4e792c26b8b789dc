/* Faults of a queue: what makes one of its items bad, and its receipts old.
 *
 * How it can fail: a queue that is not at /q, or whose items are of another
 * layout than segments, gets none of these. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "lib/base/name.h"
#include "recipes/parts/queue_layout.h"
#include "world.h"

enum { PATH = 128, KIDS = 64, SPOILT = 4 };

/* Items that are to be good again. */
static struct {
    char path[SPOILT][PATH];
    bool child[SPOILT];
    unsigned n;
} spoilt;
SIM_KEEP(spoilt)

static bool is_spoilt(const char *path)
{
    for (unsigned i = 0; i < spoilt.n; i++) {
        if (strcmp(spoilt.path[i], path) == 0)
            return true;
    }
    return false;
}

/* The first item of the segment that is not bad already. */
static bool item_of(const char *segment, char path[PATH])
{
    const char *names[KIDS];
    size_t n = ens_children(segment, names, KIDS);
    int32_t seq;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (!evzk__item_parse(names[i], &seq))
            continue;
        snprintf(path, PATH, "%s/%s", segment, names[i]);
        if (!is_spoilt(path))
            return true;
    }
    return false;
}

static bool find_item(char path[PATH])
{
    const char *names[KIDS];
    size_t n = ens_children("/q", names, KIDS);
    struct evzk__segment seg;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        char segment[PATH / 2];

        if (!evzk__segment_parse(names[i], &seg))
            continue;
        snprintf(segment, sizeof segment, "/q/%s", names[i]);
        if (item_of(segment, path))
            return true;
    }
    return false;
}

/* Or it has gone. */
static void mend(intptr_t i)
{
    char child[PATH + 2];

    snprintf(child, sizeof child, "%s/x", spoilt.path[i]);
    if (spoilt.child[i])
        ens_delete(child);
    else
        ens_set_perms(spoilt.path[i], EVZK_PERM_ALL);
}

static int spoil(const char *path, unsigned way)
{
    static const int left[FAULT_SPOILS] = {
        0, EVZK_PERM_ALL & ~EVZK_PERM_READ, EVZK_PERM_ALL & ~EVZK_PERM_CREATE,
        EVZK_PERM_ALL & ~EVZK_PERM_DELETE, EVZK_PERM_ALL & ~EVZK_PERM_WRITE};
    char child[PATH + 2];

    snprintf(child, sizeof child, "%s/x", path);
    return way == 0 ? ens_create(child, "", 0, 0)
                    : ens_set_perms(path, left[way]);
}

bool fault_spoil(const struct fault *f, const struct sim_step *step)
{
    unsigned i = spoilt.n;

    (void)step;
    if (i == SPOILT || !find_item(spoilt.path[i]) ||
        spoil(spoilt.path[i], f->which) != 0)
        return false;
    spoilt.child[i] = f->which == 0;
    spoilt.n++;
    scene_timer_set(FAULT_PAST, -1, mend, i);
    faults_last(FAULT_PAST);
    return true;
}

/* All receipts are old then. */
bool fault_day(const struct fault *f, const struct sim_step *step)
{
    static const char *const dirs[] = {"/q/receipts", "/q.evzk/receipts",
                                       "/q/clients", "/q.evzk/clients", "/v"};
    const char *names[KIDS];

    (void)f;
    (void)step;
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        if (ens_children(dirs[i], names, KIDS) > 0) {
            ens_day();
            faults_last(0);
            return true;
        }
    }
    return false;
}
