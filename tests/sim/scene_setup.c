/* How most scenes begin. */
#include "scene_setup.h"

#include <string.h>

#include "faults.h"
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

void scene_unhook(void)
{
    memset(&root, 0, sizeof root);
    process_trace = NULL;
    process_leases = NULL;
    ens_removes = NULL;
    ens_reads_own = false;
    fault_hides = 0;
}

bool scene_any_removes(int proc)
{
    (void)proc;
    return true;
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
