/* The beginning of the scenes of guarded writes, what operators and servers do
 * in them, and the explorer's calls. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_acts.h"
#include "scene_guard.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

struct guard_world guarding;
SIM_KEEP(guarding)

static void make_tree(void)
{
    char path[160];

    ens_create("/w", "", 0, 0);
    ens_create("/w/seal", "", 0, 0);
    for (int i = 0; i < WRITERS; i++) {
        for (int k = 0; k < guard_plan_of(i)->writes; k++) {
            guard_op_path(path, OP_SET, i, k);
            ens_create(path, "", 0, 0);
            guard_op_path(path, OP_DELETE, i, k);
            ens_create(path, "", 0, 0);
        }
    }
    if (guarding.own->missing)
        return;
    ens_create(guard_dir, "", 0, 0);
    snprintf(path, sizeof path, "%s/%s", guard_dir, guard_znode);
    ens_create(path, "", 0, 0);
    if (guarding.own->denied)
        ens_set_perms(guard_dir, EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
}

static void remove_guard(intptr_t unused)
{
    char path[160];

    (void)unused;
    snprintf(path, sizeof path, "%s/%s", guard_dir, guard_znode);
    operator_delete(path);
}

void guard_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    servers.most_bytes = GUARD_MOST_BYTES;
    memset(&guarding, 0, sizeof guarding);
    guarding.own = sc->own;
    cfg.window = guarding.own->window;
    ens_begin(&servers);
    wire_taken = guard_sends;
    make_tree();
    scene_open(sc, &cfg);
    for (int i = 0; i < WRITERS; i++) {
        guarding.writer[i].over = guard_plan_of(i)->writes == 0;
        if (guard_plan_of(i)->writes)
            scene_timer_set(in_us(guard_plan_of(i)->start_ms),
                            guard_plan_of(i)->proc, guard_start, i);
    }
    act_after(guarding.own->gone_ms, remove_guard, 0);
    act_after(guarding.own->expire_ms, act_expire, 0);
    act_after(guarding.own->cut_ms, act_cut, 0);
}

bool guard_done(void)
{
    for (int i = 0; i < WRITERS; i++) {
        if (!guarding.writer[i].over)
            return false;
    }
    return processes_gone();
}

/* The explorer's calls. */

const char *const guard_calls[] = {"free", "cancel", "release", "close-session",
                                   NULL};
enum { FREE, CANCEL, RELEASE, CLOSE_SESSION };

static bool cancel(int i)
{
    struct guarded *of = &guarding.writer[i].of[guarding.writer[i].n - 1];
    int proc = guard_plan_of(i)->proc, rc;

    process_call_begins(proc);
    rc = evzk_guard_cancel(guarding.writer[i].g);
    process_call_ends(proc);
    sim_say("writer %d: cancel: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK) {
        of->canceled = true;
        of->canceled_at = sim_now();
    }
    return rc == EVZK_OK;
}

static bool close_session(int proc)
{
    if (!process_has_session(proc))
        return false;
    process_close(proc);
    for (int i = 0; i < WRITERS; i++) {
        struct writer *w = &guarding.writer[i];

        if (guard_plan_of(i)->writes && guard_plan_of(i)->proc == proc) {
            w->begun = w->leaves = true;
            guard_maybe_over(i);
        }
    }
    return true;
}

bool guard_call(int proc, unsigned which)
{
    if (which == CLOSE_SESSION)
        return close_session(proc);
    for (int i = 0; i < WRITERS; i++) {
        struct writer *w = &guarding.writer[i];

        if (guard_plan_of(i)->proc != proc || !w->g)
            continue;
        if (which == CANCEL && w->of[w->n - 1].told)
            continue;
        if (which == CANCEL)
            return cancel(i);
        if (which == RELEASE) {
            if (w->leaves)
                continue;
            guard_let_go(i);
        } else
            guard_drop_write(i);
        return true;
    }
    return false;
}
