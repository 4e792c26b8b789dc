/*
 * The barrier's scenario: the process behind the proxy sets a barrier and
 * waits; the other one lifts the barrier when it stands; the first one sets
 * another barrier, and lifts that by itself.  Must hold whatever the network
 * does: each operation is told once, without an error, but that a set may not
 * know what became of it.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", NULL};

enum { SET, WAIT, NEAR_LIFT, SET_AGAIN, LIFT, OPS };

struct barriers {
    struct sweep_run *run;
    evzk_barrier *b[OPS];
    int rc[OPS], told[OPS];
    int begun;
    char path[256];
};

static void on_end(struct barriers *d, evzk_barrier *b, int rc)
{
    for (int i = 0; i < d->begun; i++) {
        if (d->b[i] != b)
            continue;
        d->rc[i] = rc;
        if (++d->told[i] > 1)
            sweep_complain(d->run, SWEEP_DOUBLED, "act %d is told twice", i);
    }
}

static void on_barrier(evzk_barrier *b, int rc, void *arg)
{
    on_end(arg, b, rc);
}

static void begin(void *scene, struct sweep_run *run)
{
    struct barriers *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/gate", run->dir);
}

static void end(void *scene)
{
    struct barriers *d = scene;

    for (int i = 0; i < OPS; i++) {
        evzk_barrier_free(d->b[i]);
        d->b[i] = NULL;
    }
}

static int start(struct barriers *d, int op)
{
    evzk_session *far = d->run->far, *near = d->run->near;
    evzk_barrier **b = &d->b[op];

    switch (op) {
    case SET:
    case SET_AGAIN:
        return evzk_barrier_set(far, d->path, NULL, on_barrier, d, b);
    case WAIT:
        return evzk_barrier_wait(far, d->path, NULL, on_barrier, d, b);
    case NEAR_LIFT:
        return evzk_barrier_lift(near, d->path, NULL, on_barrier, d, b);
    default:
        return evzk_barrier_lift(far, d->path, NULL, on_barrier, d, b);
    }
}

/* The lift goes on while another waits. */
static bool is_busy(const struct barriers *d)
{
    for (int i = 0; i < d->begun; i++) {
        if (!d->told[i] && !(i == WAIT && d->begun == NEAR_LIFT))
            return true;
    }
    return false;
}

static bool turn(void *scene)
{
    struct barriers *d = scene;
    int rc;

    if (is_busy(d))
        return false;
    if (d->begun == OPS) {
        end(d);
        return true;
    }
    rc = start(d, d->begun++);
    if (rc)
        support_fail("sweep: barrier: %d", rc);
    return false;
}

static void judge(void *scene)
{
    struct barriers *d = scene;

    for (int i = 0; i < OPS; i++) {
        bool unknown =
            (i == SET || i == SET_AGAIN) && d->rc[i] == EVZK_ERR_CONNLOSS;

        if (d->rc[i] != EVZK_OK && !unknown)
            sweep_complain(d->run, SWEEP_WRONG, "act %d: %s", i,
                           evzk_errname(d->rc[i]));
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct barriers *d = scene;

    snprintf(text, size, "%d begun", d->begun);
}

const struct sweep_recipe sweep_barrier = {.name = "barrier",
                                           .parts = parts,
                                           .size = sizeof(struct barriers),
                                           .begin = begin,
                                           .turn = turn,
                                           .judge = judge,
                                           .end = end,
                                           .tell = tell};
