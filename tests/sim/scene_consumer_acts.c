/* What operators, servers, the network and other programs do in the scenes of a
 * queue's consumers. */
#include <stdio.h>
#include <string.h>

#include "recipes/parts/queue_layout.h"
#include "scene_acts.h"
#include "scene_consumer.h"

enum { DISTURBED_US = 300 * 1000, FROZEN_US = 750 * 1000, KIDS = 64 };

/* Deletes the first one; of the processes' znodes, that of the process. */
static void delete_client(int proc, const char *tag)
{
    const char *names[KIDS];
    size_t n = ens_children(side_path("clients"), names, KIDS);
    const struct process *p = process_of(proc);
    struct ens_seen seen;
    char path[160];

    for (size_t i = 0; i < n && i < KIDS; i++) {
        snprintf(path, sizeof path, "%s/%s", side_path("clients"), names[i]);
        if (!strstr(names[i], tag) || !ens_look(path, &seen) ||
            (seen.owner && (!p->n_ids || seen.owner != p->ids[p->n_ids - 1])))
            continue;
        operator_delete(path);
        queue.meddled = true;
        return;
    }
}

#define GUID(digit) digit "2222222-2222-4222-8222-222222222222"

static const struct left {
    const char *dir, *name;
    bool lives; /* Or is not old. */
    int mode;   /* 1: ephemeral. */
} lefts[] = {
    {EVZK__QUEUE_RECEIPTS, "/" GUID("0") "-receipt", false, 0},
    {EVZK__QUEUE_RECEIPTS, "/" GUID("1") "-receipt", false, 0},
    {EVZK__QUEUE_CLIENTS, "/" GUID("2") "-0-receipt", false, 0},
    {EVZK__QUEUE_CLIENTS, "/" GUID("3") "-0-receipt", true, 0},
    {EVZK__QUEUE_CLIENTS, "/" GUID("3") "-1-alive", true, 1},
    {EVZK__QUEUE_RECEIPTS, "/" GUID("4") "-receipt", true, 0},
};
enum { LEFTS = sizeof lefts / sizeof lefts[0] };

/* These are looked at after each step: so the paths of a scene are kept. */
static const char *left_path(const struct left *l)
{
    static char path[LEFTS][160];
    static const void *of;

    if (of != queue.own) {
        of = queue.own;
        for (int i = 0; i < LEFTS; i++)
            snprintf(path[i], sizeof path[i], "%s%s", side_path(lefts[i].dir),
                     lefts[i].name);
    }
    return path[l - lefts];
}

void consumer_leave_receipts(void)
{
    ens_create(side_path(EVZK__QUEUE_RECEIPTS), "", 0, 0);
    ens_create(side_path(EVZK__QUEUE_CLIENTS), "", 0, 0);
    for (int i = 0; i < LEFTS; i++) {
        if (i == LEFTS - 1)
            ens_day();
        ens_create(left_path(&lefts[i]), "", 0, lefts[i].mode);
    }
}

bool consumer_any_old_receipt(void)
{
    struct ens_seen seen;

    for (int i = 0; i < LEFTS; i++) {
        if (!lefts[i].lives && ens_look(left_path(&lefts[i]), &seen))
            return true;
    }
    return false;
}

bool consumer_is_left(const char *name)
{
    for (int i = 0; i < LEFTS; i++) {
        if (queue.own->tidies && strcmp(lefts[i].name + 1, name) == 0)
            return true;
    }
    return false;
}

static const char *segment_of(int i)
{
    static char path[96];

    strcpy(path, item_path(i));
    *strrchr(path, '/') = '\0';
    return path;
}

static const char *child_of(int i)
{
    static char path[96];

    snprintf(path, sizeof path, "%s/below", item_path(i));
    return path;
}

/* The copy has fewer numbers behind it than the letters' names say. */
static void copy_dead(void)
{
    char path[96];

    snprintf(path, sizeof path, "%s", queue_path(EVZK__QUEUE_DEAD));
    ens_create(path, "", 0, ZOO_PERSISTENT);
    strcat(path, "/queue-0000000001");
    ens_create(path, "old", 3, ZOO_PERSISTENT);
}

static void close_session(int proc)
{
    int before = sim_enter(proc);

    queue.early[proc] = true;
    process_close(proc);
    sim_leave(before);
}

static void act_due(intptr_t a)
{
    const struct act_plan *act = &queue.own->act[a];

    switch (act->kind) {
    case NO_ACT:
        break;
    case DELETE_ITEM:
        operator_delete(item_path(act->which));
        break;
    case DELETE_CLAIM:
        operator_delete(claim_path(act->which));
        break;
    case DELETE_RECEIPT:
        delete_client(act->which, EVZK__QUEUE_RECEIPT_TAG);
        break;
    case DELETE_ALIVE:
        delete_client(act->which, EVZK__QUEUE_ALIVE_TAG);
        break;
    case DELETE_SIGNAL:
        operator_delete(side_path(EVZK__QUEUE_SIGNAL));
        break;
    case DELETE_QUEUE:
        operator_delete(queue_path(""));
        break;
    case HIDE_QUEUE:
        ens_set_perms(queue_path(""), EVZK_PERM_ALL & ~EVZK_PERM_READ);
        break;
    case HIDE_SEGMENT:
        ens_set_perms(segment_of(act->which), EVZK_PERM_ALL & ~EVZK_PERM_READ);
        break;
    case HIDE_ITEM:
        ens_set_perms(item_path(act->which), EVZK_PERM_ALL & ~EVZK_PERM_READ);
        break;
    case DENY_COUNT:
        ens_set_perms(item_path(act->which), EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
        break;
    case SHOW_ITEM:
        ens_set_perms(item_path(act->which), EVZK_PERM_ALL);
        break;
    case CHILD:
        ens_create(child_of(act->which), "", 0, ZOO_PERSISTENT);
        break;
    case CHILDLESS:
        ens_delete(child_of(act->which));
        break;
    case DENY_DEAD:
        ens_create(queue_path(EVZK__QUEUE_DEAD), "", 0, ZOO_PERSISTENT);
        ens_set_perms(queue_path(EVZK__QUEUE_DEAD),
                      EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
        break;
    case SHOW_DEAD:
        ens_set_perms(queue_path(EVZK__QUEUE_DEAD), EVZK_PERM_ALL);
        break;
    case DENY_SEGMENT:
        ens_set_perms(segment_of(act->which),
                      EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
        break;
    case HOLD_SEGMENT:
        ens_set_perms(segment_of(act->which),
                      EVZK_PERM_ALL & ~EVZK_PERM_DELETE);
        break;
    case SHOW_SEGMENT:
        ens_set_perms(segment_of(act->which), EVZK_PERM_ALL);
        break;
    case EXPIRE:
        process_expire(act->which);
        break;
    case CLOSE_SESSION:
        close_session(act->which);
        break;
    case COPY_DEAD:
        copy_dead();
        break;
    case FILL:
        ens_fill(sim_now() + act->which * INT64_C(1000));
        break;
    case FOREIGN_TAKES:
        operator_delete(item_path(act->which));
        break;
    case FOREIGN_CHILD:
        ens_create(queue_path("lock-0000000001"), "x", 1, ZOO_PERSISTENT);
        break;
    case CURATOR_ITEM:
        queue.foreign = ens_create(queue_path("queue-0000000000"),
                                   "\0\1\0\1\1\0\0\0\1x\2", 11, ZOO_PERSISTENT);
        break;
    case KAZOO_ITEM:
        queue.foreign = ens_create(queue_path("entry-100-0000000000"), "x", 1,
                                   ZOO_PERSISTENT) == 0;
        break;
    case CUT:
        processes_disturbed(DISTURBED_US);
        act_cut(act->which);
        break;
    case FREEZE:
        act_freeze(act->which, FROZEN_US);
        break;
    }
    queue.foreign =
        queue.foreign || act->kind == CURATOR_ITEM || act->kind == KAZOO_ITEM;
    queue.meddled =
        queue.meddled || (act->kind >= HIDE_QUEUE && act->kind <= DENY_SEGMENT);
}

void consumer_acts_begin(void)
{
    for (int a = 0; a < ACTS; a++) {
        if (queue.own->act[a].kind)
            scene_timer_set(queue.own->act[a].at_us, -1, act_due, a);
    }
}
