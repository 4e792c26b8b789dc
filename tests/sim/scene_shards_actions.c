/* The actions of the shards' scenes: what operators, the servers and the
 * network do to the members.
 *
 * How it can fail: before the sessions are open an action would strike nothing.
 * So it waits for them.
 */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "scene_acts.h"
#include "scene_shards.h"
#include "steps.h"
#include "wire.h"

enum { AGAIN_MS = 20, AWAY_MS = 2200, PATH = 160 };

/* The oldest znode in a directory, of one session, or of any (0). */
static bool first_in(const char *dir, int64_t owner, char path[PATH])
{
    const char *names[SHARDS_NODES];
    size_t n = ens_children(dir, names, SHARDS_NODES);
    struct ens_seen seen, best = {0};

    for (size_t i = 0; i < n && i < SHARDS_NODES; i++) {
        char here[PATH];

        snprintf(here, sizeof here, "%s/%s", dir, names[i]);
        if (strcmp(names[i], "leader") == 0 || !ens_look(here, &seen) ||
            seen.owner == 0 || (owner && seen.owner != owner) ||
            (best.czxid && seen.czxid > best.czxid))
            continue;
        best = seen;
        memcpy(path, here, PATH);
    }
    return best.czxid != 0;
}

static int64_t session_of(int proc)
{
    const struct process *p = process_of(proc);

    return p->n_ids ? p->ids[p->n_ids - 1] : -1;
}

static bool member_of(int proc, char path[PATH])
{
    return first_in(SHARDS_PATH "/members", session_of(proc), path);
}

static void break_candidate(int shard)
{
    char path[PATH];

    if (first_in(shards_dir(shard).v, 0, path))
        operator_delete(path);
}

static void spoil(const char *path)
{
    shards_world.by_hand = 1;
    ens_set_data(path, "garbage", 7);
}

static void do_action(enum shards_action action, int which)
{
    char path[PATH];

    switch (action) {
    case SHARDS_EXPIRE_SESSION:
        process_expire(which);
        break;
    case SHARDS_CUT_OFF:
        processes_disturbed(in_us(AWAY_MS));
        wire_hold_all(which, sim_now() + in_us(AWAY_MS));
        break;
    case SHARDS_CLOSE_SESSION:
        act_close_session(which);
        break;
    case SHARDS_DELETE_MEMBER:
        if (member_of(which, path))
            operator_delete(path);
        break;
    case SHARDS_COPY_MEMBER:
        if (member_of(which, path))
            fault_copy(path);
        break;
    case SHARDS_DELETE_CANDIDATE:
        break_candidate(which);
        break;
    case SHARDS_DELETE_MEMBERS_DIR:
        operator_delete(SHARDS_PATH "/members");
        break;
    case SHARDS_DELETE_PLAN:
        operator_delete(SHARDS_PATH "/plan");
        break;
    case SHARDS_UNBLOCK_LEADER:
        ens_delete(SHARDS_PATH "/shard-0/leader/child");
        break;
    case SHARDS_SEAL:
        fault_seal_members();
        break;
    case SHARDS_SPOIL_PLAN:
        spoil(SHARDS_PATH "/plan");
        break;
    case SHARDS_SPOIL_MEMBER:
        if (member_of(which, path))
            spoil(path);
        break;
    case SHARDS_WAIT:
    case SHARDS_NO_ACTION:
        break;
    }
}

/* The action, and what follows from it, is over. */
static void action_over(intptr_t i)
{
    (void)i;
    shards_world.actions--;
    for (int p = 0; shards_world.actions == 0 && p < SIM_PROCS; p++) {
        int before;

        if (!process_of(p)->s)
            continue;
        before = sim_enter(p);
        shards_maybe_close(p);
        sim_leave(before);
    }
}

static void action_due(intptr_t i)
{
    enum shards_action action = shards_world.scene->actions[i].action;

    if (processes_opening()) {
        scene_timer_set(in_us(AGAIN_MS), -1, action_due, i);
        return;
    }
    if (action != SHARDS_WAIT)
        shards_world.disturbed = 1;
    if (action == SHARDS_EXPIRE_SESSION) {
        shards_world.expired_at = sim_now();
        shards_world.expired_process = shards_world.scene->actions[i].which;
    }
    do_action(action, shards_world.scene->actions[i].which);
    scene_timer_set(action == SHARDS_CUT_OFF ? in_us(AWAY_MS) : 0, -1,
                    action_over, i);
}

void shards_actions_begin(void)
{
    for (int i = 0; i < SHARDS_ACTIONS; i++) {
        if (shards_world.scene->actions[i].action == SHARDS_NO_ACTION)
            continue;
        shards_world.actions++;
        scene_timer_set(in_us(shards_world.scene->actions[i].at_ms), -1,
                        action_due, i);
    }
}
