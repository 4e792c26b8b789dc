/* What an operator, the network and rivals do in the scenes of configurations.
 * A rival changes a key, or replaces the set, whenever a replacement is about
 * to write. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_acts.h"
#include "scene_config.h"
#include "steps.h"

enum { ROOM = 64, AGAIN_US = 7000 };

static void delete_all(const char *dir, bool dir_too)
{
    act_delete_children(dir, "");
    if (dir_too)
        operator_delete(dir);
}

static void strike(enum config_act what)
{
    switch (what) {
    case CONFIG_NOTHING:
        break;
    case CONFIG_CUT:
        act_cut(0);
        return;
    case CONFIG_KEY:
        operator_delete("/c/k0");
        break;
    case CONFIG_GROW:
        ens_create("/c/k5", "op", 2, 0);
        break;
    case CONFIG_UNREADY:
        delete_all("/c/ready", true);
        break;
    case CONFIG_GONE:
        delete_all("/c/ready", false);
        delete_all("/c", true);
        break;
    case CONFIG_UNLOCK:
        delete_all("/c.evzk/lock", false);
        return;
    case CONFIG_CHILD:
        ens_create("/c/k0/x", "op", 2, 0);
        break;
    }
    configured.touched = true;
}

static void act(intptr_t arg)
{
    int k = (int)arg;

    strike(configured.own->act[k].what);
    config_look();
    if (++configured.acts_done[k] < configured.own->act[k].times)
        scene_timer_set(AGAIN_US, -1, act, arg);
}

void config_acts_begin(void)
{
    for (int k = 0; k < CONFIG_ACTS; k++) {
        if (configured.own->act[k].what)
            scene_timer_set(in_us(configured.own->act[k].at_ms), -1, act, k);
    }
}

/* As another replacement does. */
static void replace_by_same(void)
{
    char guid[] = "00000000-0000-0000-0000-000000000000", path[ROOM];

    delete_all("/c/ready", true);
    guid[0] = (char)('a' + configured.rivals % 6);
    guid[1] = (char)('a' + configured.rivals / 6 % 6);
    snprintf(path, sizeof path, "/c/ready/%s", guid);
    ens_create("/c/ready", guid, strlen(guid), 0);
    ens_create(path, "", 0, 0);
    configured.refusals[0] = 0;
}

static void rival(intptr_t unused)
{
    struct ens_seen seen;

    (void)unused;
    if (configured.own->replaces)
        replace_by_same();
    else if (ens_look_ahead("/c/k5", &seen))
        operator_delete("/c/k5");
    else
        ens_create("/c/k5", "op", 2, 0);
    configured.touched = true;
    configured.rivals++;
}

static bool is_write(const char *state)
{
    return strcmp(state, "WRITING") == 0 || strcmp(state, "FINISHING") == 0;
}

void config_traced(int proc, const evzk_trace *t)
{
    if (!t->entered || strcmp(t->kind, "config-write") != 0)
        return;
    if (t->from && is_write(t->from) &&
        (t->rc == EVZK_ERR_NONODE || t->rc == EVZK_ERR_NODEEXISTS ||
         t->rc == EVZK_ERR_NOTEMPTY))
        configured.refusals[proc]++;
    if (t->from && strcmp(t->from, "MAKING_DIR") == 0)
        configured.refusals[proc]++; /* One of its tries, too. */
    if (proc == 0 && is_write(t->to) &&
        configured.rivals < configured.own->rivals)
        scene_timer_set(0, -1, rival, 0);
}
