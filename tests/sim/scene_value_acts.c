/* What an operator and the network do in the scenes of values. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_acts.h"
#include "scene_value.h"
#include "steps.h"

enum { AGAIN_US = 7000 };

static const struct value_scene *own(void) { return valued.own; }

static void delete_receipts(void) { act_delete_children(valued.path, ""); }

static const char young[] = "33333333-3333-4333-8333-333333333333-receipt";

void value_leave_receipts(void)
{
    char path[ROOM];

    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path,
                 "%s/%d2222222-2222-4222-8222-222222222222-receipt",
                 valued.path, k);
        ens_create(path, "", 0, 0);
    }
    ens_day();
    snprintf(path, sizeof path, "%s/%s", valued.path, young);
    ens_create(path, "", 0, 0);
}

bool value_is_left(const char *name)
{
    return valued.own->tidies && strcmp(name, young) == 0;
}

bool value_is_old(const char *name)
{
    return strstr(name, "2222222-2222-4222-8222-222222222222-receipt") != NULL;
}

static void act(intptr_t arg)
{
    int k = (int)arg;

    switch (own()->act[k].what) {
    case ACT_NOTHING:
        break;
    case ACT_SET:
        ens_set_data(valued.path, "op", 2);
        break;
    case ACT_NUMBER:
        ens_set_data(valued.path, "1125899906842624", 16);
        break;
    case ACT_DELETE:
    case ACT_REMAKE:
        delete_receipts();
        operator_delete(valued.path);
        value_look();
        if (own()->act[k].what == ACT_REMAKE)
            ens_create(valued.path, "0", 1, 0);
        break;
    case ACT_RECEIPTS:
        delete_receipts();
        break;
    case ACT_CREATE:
        ens_create(valued.path, "op", 2, 0);
        break;
    case ACT_BESIDE:
        ens_create("/beside", "", 0, 0);
        break;
    case ACT_DAY:
        ens_day();
        break;
    case ACT_CUT:
        act_cut(0);
        break;
    }
    value_look();
    if (++valued.acts_done[k] < own()->act[k].times)
        scene_timer_set(AGAIN_US, -1, act, arg);
}

void value_acts_begin(void)
{
    for (int k = 0; k < ACTS; k++) {
        if (own()->act[k].what)
            scene_timer_set(in_us(own()->act[k].at_ms), -1, act, k);
    }
}
