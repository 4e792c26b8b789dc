/* How most scenes begin. */
#include "scene_setup.h"

#include "faults.h"
#include "scene_list.h"
#include "wire.h"

const struct ens_config scene_servers = {.servers = 3,
                                         .tick_ms = 100,
                                         .commit_us = 2000,
                                         .link_us = 500,
                                         .patience_us = 500 * 1000};

void scene_unhook(void)
{
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
