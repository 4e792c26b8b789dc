/* How most scenes begin. */
#include "scene_setup.h"

#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "faults_kinds.h"
#include "scene_list.h"
#include "wire.h"

const struct ens_config scene_servers = {.servers = 3,
                                         .tick_ms = 100,
                                         .commit_us = 2000,
                                         .link_us = 500,
                                         .patience_us = 500 * 1000};

static struct {
    const char *chroot;
    bool made;
} root;
SIM_KEEP(root)

static bool same_process(int64_t a, int64_t b)
{
    return process_with(a) == process_with(b);
}

void scene_unhook(void)
{
    memset(&root, 0, sizeof root);
    process_trace = NULL;
    process_leases = NULL;
    ens_removes = NULL;
    ens_takes = NULL;
    ens_on_delete = NULL;
    ens_same_process = same_process;
    ens_reads_own = false;
    fault_hides = 0;
}

bool scene_any_removes(int proc, const char *path)
{
    (void)proc, (void)path;
    return true;
}

/* The number of a candidate; elections name theirs as "n_-2147483648", too. */
static bool number_of(const char *name, int32_t *n)
{
    const char *digits = fault_number(name, n);

    if (digits && digits - name >= 2 && digits[-1] == '-' && digits[-2] == '_')
        *n = (int32_t)(0U - (uint32_t)*n);
    return digits != NULL;
}

/* The lowest number of a session's znodes beside this one, or of what a process
 * takes for its znodes; -1: of none.  False: there is none. */
static bool lowest_of(int64_t session, int proc, const char *path,
                      int32_t *lowest)
{
    enum { KIDS = 48 };
    const char *names[KIDS], *slash = strrchr(path, '/');
    char dir[FAULT_PATH], child[2 * FAULT_PATH];
    struct ens_seen seen;
    bool any = false;
    int32_t n;
    size_t kids;

    snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
    kids = ens_children(dir, names, KIDS);
    for (size_t i = 0; i < kids && i < KIDS; i++) {
        snprintf(child, sizeof child, "%s/%s", dir, names[i]);
        if (!number_of(names[i], &n) || !ens_look_ahead(child, &seen) ||
            (seen.owner != session && !ens_is_copy(proc, seen.czxid)))
            continue;
        if (!any || fault_comes_before(n, *lowest))
            *lowest = n;
        any = true;
    }
    return any;
}

bool scene_takes_leader(int64_t session, const char *path)
{
    struct ens_seen leader;
    int32_t its, ours;

    if (strcmp(strrchr(path, '/'), "/leader") != 0 ||
        !ens_look_ahead(path, &leader))
        return false;
    return !lowest_of(leader.owner, -1, path, &its) ||
           (lowest_of(session, process_with(session), path, &ours) &&
            fault_comes_before(ours, its));
}

bool scene_takes_item(int64_t session, const char *path)
{
    (void)session;
    return strncmp(strrchr(path, '/'), "/queue-", 7) == 0;
}

void scene_open(const struct sim_scene *sc, const struct process_config *cfg)
{
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p == 0 ? FOLLOWER_1 : p == 1 ? LEADER : FOLLOWER_2);
        process_open(p, cfg);
    }
}

static void make_root(intptr_t arg)
{
    (void)arg;
    root.made = true;
    ens_create(root.chroot, "", 0, 0);
}

void scene_root(const char *chroot, int made_ms)
{
    root.chroot = chroot;
    if (made_ms)
        scene_timer_set(made_ms * INT64_C(1000), -1, make_root, 0);
}

bool scene_rootless(void) { return root.chroot && !root.made; }

bool scene_lacks_root(void)
{
    struct ens_seen seen;

    return root.chroot && !ens_look(root.chroot, &seen);
}
