/*
 * The count's scenario: one counts the children of the directory behind the
 * proxy, three times.  Must hold whatever the network does: each count is told
 * once, without an error.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <evzk/count.h>
#include <stdio.h>

enum { COUNTS = 3 };

static const char *const parts[] = {"far", NULL};

struct counting {
    struct sweep_run *run;
    evzk_count *c;
    int begun, told, good;
};

static void on_count(evzk_count *c, int rc, size_t n, void *arg)
{
    struct counting *d = arg;

    (void)c;
    if (++d->told > d->begun)
        sweep_complain(d->run, SWEEP_DOUBLED, "told twice");
    d->good += (rc == EVZK_OK || rc == EVZK_ERR_NONODE) && n == 0;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct counting *d = scene;

    d->run = run;
}

static void end(void *scene)
{
    struct counting *d = scene;

    evzk_count_free(d->c);
    d->c = NULL;
}

static bool turn(void *scene)
{
    struct counting *d = scene;
    int rc;

    if (d->told < d->begun)
        return false;
    end(d);
    if (d->begun == COUNTS)
        return true;
    d->begun++;
    rc = evzk_count_start(d->run->far, d->run->dir, on_count, d, &d->c);
    if (rc)
        support_fail("sweep: count: %d", rc);
    return false;
}

static void judge(void *scene)
{
    struct counting *d = scene;

    if (d->good != COUNTS)
        sweep_complain(d->run, SWEEP_WRONG, "%d were good", d->good);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct counting *d = scene;

    snprintf(text, size, "%d begun, %d told, %d good", d->begun, d->told,
             d->good);
}

const struct sweep_recipe sweep_count = {.name = "count",
                                         .parts = parts,
                                         .size = sizeof(struct counting),
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
