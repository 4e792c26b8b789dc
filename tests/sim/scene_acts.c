/* What operators, servers and the network do in the scenes of several recipes.
 */
#include "scene_acts.h"

#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "steps.h"
#include "wire.h"

enum { NAMES = 64, ROOM = 320 };

void act_after(int ms, void (*act)(intptr_t arg), intptr_t arg)
{
    if (ms)
        scene_timer_set(in_us(ms), -1, act, arg);
}

void act_expire(intptr_t proc) { process_expire((int)proc); }

void act_cut(intptr_t proc)
{
    wire_cut(wire_conn_of((int)proc)); /* Without one: nothing. */
}

void act_freeze(int proc, int64_t for_us)
{
    processes_disturbed(for_us);
    process_freeze(proc, sim_now() + for_us);
}

void act_refuse_all(int64_t for_us)
{
    for (int server = 0; server < SIM_SERVERS; server++)
        wire_refuse(server, sim_now() + for_us);
}

void act_close_session(int proc)
{
    int before = sim_enter(proc);

    process_close(proc);
    sim_leave(before);
}

static void delete_child(const char *dir, const char *name)
{
    char path[ROOM];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    operator_delete(path);
}

void act_delete_first(const char *dir)
{
    const char *names[NAMES];

    if (ens_children(dir, names, NAMES) > 0)
        delete_child(dir, names[0]);
}

void act_delete_children(const char *dir, const char *tag)
{
    const char *names[NAMES];
    size_t n = ens_children(dir, names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        if (strstr(names[k], tag))
            delete_child(dir, names[k]);
    }
}
