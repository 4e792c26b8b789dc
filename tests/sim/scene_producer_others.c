/* The others in scenes of producers: a consumer that takes each item at once,
 * and an operator who deletes receipts. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_acts.h"
#include "scene_producer.h"
#include "steps.h"
#include "wire.h"

static void delete_receipts(intptr_t arg)
{
    act_delete_children(receipts_path(), "-receipt");
    if (++putting.gone_times < 3)
        scene_timer_set(7000, -1, delete_receipts, arg);
}

/* A consumer takes all items, and deletes what is empty and sealed. */
static void take_from(const char *dir)
{
    const char *names[NAMES];
    char path[2 * ROOM];
    size_t n = ens_children(dir, names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (strncmp(names[k], "queue-", 6) == 0)
            ens_delete(path);
    }
    if (!is_plain())
        ens_delete(dir); /* In vain, unless it is empty. */
}

static void take(intptr_t arg)
{
    const char *names[NAMES];
    char path[ROOM];
    size_t n = ens_children("/q", names, NAMES);

    (void)arg;
    if (is_plain())
        take_from("/q");
    for (size_t k = 0; k < n && k < NAMES; k++) {
        if (strncmp(names[k], "seg-", 4) != 0)
            continue;
        snprintf(path, sizeof path, "/q/%s", names[k]);
        take_from(path);
    }
}

void producer_take_soon(void) { scene_timer_set(1, -1, take, 0); }

static void delete_open(intptr_t arg)
{
    (void)arg;
    operator_delete("/q/seg-00-0000000000/open");
}

void producer_others_begin(void)
{
    act_after(putting.own->open_ms, delete_open, 0);
    act_after(putting.own->cut_ms, act_cut, 0);
    act_after(putting.own->gone_ms, delete_receipts, 0);
}
