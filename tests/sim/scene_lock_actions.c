/* What others do in a scene, and what befalls it without a fault: operators,
 * the servers, the network.
 *
 * How it can fail: an action that comes before the sessions are open would be
 * done to nobody.  So it waits for them.
 */
#include <stdio.h>

#include "ens.h"
#include "processes.h"
#include "scene_acts.h"
#include "scene_lock.h"
#include "steps.h"
#include "wire.h"

enum { AGAIN_MS = 20, PATH = 160 };

static void cut_off(int proc)
{
    int conn = wire_conn_of(proc);

    if (conn >= 0 && wire_server(conn) != 0)
        ens_cut(wire_server(conn), sim_now() + in_us(2000));
    act_refuse_all(in_us(2000));
}

/* Its lock does not know that it has gone. */
static void restore(const struct lock_slot *k)
{
    const char *name = k->l ? evzk_lock_node(k->l) : NULL;
    const struct lock_node *n = name ? lock_node_named(name) : NULL;
    char path[PATH];
    int len = -1;

    if (n && !n->live)
        len =
            snprintf(path, sizeof path, "%s/%s", lock_dir((int)k->place), name);
    if (len > 0 && (size_t)len < sizeof path)
        operator_restore(n->czxid, path);
}

static void allow_create(int dir, bool allow)
{
    const int all = ZOO_PERM_READ | ZOO_PERM_WRITE | ZOO_PERM_CREATE |
                    ZOO_PERM_DELETE | ZOO_PERM_ADMIN;

    lock_world.place[dir].denied = true;
    ens_set_perms(lock_dir(dir), allow ? all : all & ~ZOO_PERM_CREATE);
}

static void do_action(enum lock_action action, int which)
{
    const struct lock_node *n = lock_world.node;

    switch (action) {
    case LOCK_DELETE_ZNODE:
        n = lock_node_of(&lock_world.slot[which]);
        if (n)
            lock_break(n);
        break;
    case LOCK_DELETE_FOREIGN:
        for (; n < lock_world.node + lock_world.nodes; n++) {
            if (n->live && n->slot < 0)
                lock_break(n);
        }
        break;
    case LOCK_EXPIRE:
        process_expire(which);
        break;
    case LOCK_STALL:
        lock_rough(1300);
        wire_hold(wire_conn_of(which), WIRE_DOWNWARD, sim_now() + in_us(600));
        ens_create("/stalled", "", 0, ZOO_PERSISTENT);
        ens_hold_commits(sim_now() + in_us(1300));
        break;
    case LOCK_QUERY:
        lock_ask(which);
        break;
    case LOCK_DISCONNECT:
        lock_rough(200);
        act_refuse_all(in_us(200));
        act_cut(which);
        break;
    case LOCK_PARTITION:
        lock_rough(900);
        wire_hold_all(which, sim_now() + in_us(900));
        break;
    case LOCK_DELAY_REPLIES:
        lock_rough(280);
        wire_hold(wire_conn_of(which), WIRE_DOWNWARD, sim_now() + in_us(280));
        break;
    case LOCK_CUT_FOLLOWER:
        lock_rough(2000);
        cut_off(which);
        break;
    case LOCK_CLOSE_SESSION:
        act_close_session(which);
        break;
    case LOCK_REFUSE_WRITES:
        ens_throttle_writes(which, 100);
        break;
    case LOCK_DELETE_DIR:
        operator_delete(lock_dir(which));
        break;
    case LOCK_MAKE_DIR:
        ens_create(lock_dir(which), "", 0, ZOO_PERSISTENT);
        lock_world.dir[which].by_hand = sim_now();
        break;
    case LOCK_DENY_CREATE:
    case LOCK_ALLOW_CREATE:
        allow_create(which, action == LOCK_ALLOW_CREATE);
        break;
    case LOCK_REVOKE:
        lock_revoke(which, &lock_world.sc->revoke);
        break;
    case LOCK_WRITE_UNLOCK:
    case LOCK_WRITE_OTHER:
        n = lock_node_of(&lock_world.slot[which]);
        if (n)
            lock_write(n, action == LOCK_WRITE_UNLOCK ? "unlock" : "unlock!");
        break;
    case LOCK_MAKE_CHILD:
    case LOCK_DELETE_CHILD:
        lock_child(action == LOCK_MAKE_CHILD);
        break;
    case LOCK_OBSERVE:
        lock_observe(which);
        break;
    case LOCK_FORGE_LEADER:
        lock_seat(0);
        break;
    case LOCK_DELETE_LEADER:
        lock_unseat(0);
        break;
    case LOCK_RESTORE_ZNODE:
        restore(&lock_world.slot[which]);
        break;
    case LOCK_NO_ACTION:
        break;
    }
}

/* The process that does it; -1: somebody else. */
static int doer_of(intptr_t i)
{
    enum lock_action action = lock_world.sc->actions[i].action;

    return action == LOCK_QUERY || action == LOCK_REVOKE ||
                   action == LOCK_OBSERVE
               ? lock_world.sc->actions[i].which
               : -1;
}

static void action_due(intptr_t i)
{
    enum lock_action action = lock_world.sc->actions[i].action;

    if (processes_opening()) {
        scene_timer_set(in_us(AGAIN_MS), doer_of(i), action_due, i);
        return;
    }
    lock_world.actions--;
    do_action(action, lock_world.sc->actions[i].which);
    for (int p = 0; lock_world.actions == 0 && p < SIM_PROCS; p++) {
        int before;

        if (!process_of(p)->s)
            continue;
        before = sim_enter(p);
        lock_maybe_close(p);
        sim_leave(before);
    }
}

void lock_actions_begin(void)
{
    for (int i = 0; i < LOCK_ACTIONS; i++) {
        enum lock_action action = lock_world.sc->actions[i].action;

        if (action == LOCK_NO_ACTION)
            continue;
        lock_world.actions++;
        scene_timer_set(in_us(lock_world.sc->actions[i].at_ms), doer_of(i),
                        action_due, i);
    }
}
