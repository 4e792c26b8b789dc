/* The end of a process in scenes whose objects go on in the background.
 *
 * How it can fail: what is in the background may never end, so the patience
 * with it has an end. */
#include "scene_closing.h"

#include "processes.h"
#include "steps.h"
#include "world.h"

enum { LINGER_US = 10000, PATIENCE = 400 };

static struct {
    int64_t waits[SIM_PROCS]; /* How often it was looked whether all is idle. */
    bool early[SIM_PROCS];
} closing;
SIM_KEEP(closing)

static void close_if_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    if (!process_has_session(proc))
        return;
    if (!process_is_idle(p) && closing.waits[proc]++ < PATIENCE) {
        scene_timer_set(LINGER_US, proc, close_if_idle, proc);
        return;
    }
    closing.early[proc] = closing.early[proc] || !process_is_idle(p);
    process_close(proc);
}

void close_when_idle(int proc)
{
    if (!closing.waits[proc]++)
        scene_timer_set(LINGER_US, proc, close_if_idle, proc);
}

bool close_early(int proc)
{
    if (!process_has_session(proc))
        return false;
    closing.early[proc] = true;
    process_close(proc);
    return true;
}

bool closed_early(int proc) { return closing.early[proc]; }
