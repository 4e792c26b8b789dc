/*
 * The double barrier's scenario: the process behind the proxy and the other one
 * enter together and leave together, and then once more; in the second round
 * the one behind the proxy is the first.  Must hold whatever the network does:
 * nobody enters without the other, and all leave; a participant that loses its
 * session is lost, and the other one leaves without it.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", NULL};

enum { NEAR_1, FAR_1, FAR_2, NEAR_2, OPS };

struct rounds {
    struct sweep_run *run;
    evzk_double_barrier *d[OPS];
    int entered[OPS], final[OPS], rc[OPS]; /* final: the event. */
    bool leaves[OPS];
    int begun;
    char path[256];
};

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event event,
                     int rc, void *arg)
{
    struct rounds *r = arg;

    for (int i = 0; i < r->begun; i++) {
        if (r->d[i] != d)
            continue;
        if (event == EVZK_DOUBLE_BARRIER_ENTERED)
            r->entered[i]++;
        if (!evzk_double_barrier_event_is_final(event))
            continue;
        if (r->final[i] != 0)
            sweep_complain(r->run, SWEEP_DOUBLED, "act %d is told twice", i);
        r->final[i] = (int)event;
        r->rc[i] = rc;
    }
}

static void begin(void *scene, struct sweep_run *run)
{
    struct rounds *r = scene;

    r->run = run;
    snprintf(r->path, sizeof r->path, "%s/step", run->dir);
}

static void end(void *scene)
{
    struct rounds *r = scene;

    for (int i = 0; i < OPS; i++) {
        evzk_double_barrier_free(r->d[i]);
        r->d[i] = NULL;
    }
}

static bool is_far(int i) { return i == FAR_1 || i == FAR_2; }

static void enter(struct rounds *r)
{
    static const evzk_double_barrier_options opt = {.count = 2};
    int i = r->begun++, rc;

    rc = evzk_double_barrier_enter(is_far(i) ? r->run->far : r->run->near,
                                   r->path, &opt, on_event, r, &r->d[i]);
    if (rc)
        support_fail("sweep: double barrier: %d", rc);
}

/* Both of the round have begun, and those that are inside leave. */
static bool is_over(struct rounds *r, int first)
{
    for (int i = first; i < first + 2; i++) {
        if (r->entered[i] && !r->leaves[i] && r->final[i] == 0) {
            r->leaves[i] = true;
            evzk_double_barrier_leave(r->d[i]);
        }
        if (r->final[i] == 0 && r->final[first + (i == first)] != 0 &&
            !r->entered[i])
            evzk_double_barrier_cancel(r->d[i]); /* The other one is lost. */
    }
    return r->final[first] != 0 && r->final[first + 1] != 0;
}

static bool turn(void *scene)
{
    struct rounds *r = scene;
    int first = r->begun <= FAR_1 + 1 ? NEAR_1 : FAR_2;

    if (r->begun == OPS && is_over(r, FAR_2)) {
        end(r);
        return true;
    }
    if (r->begun % 2 == 1 && *evzk_double_barrier_node(r->d[r->begun - 1]))
        enter(r); /* The first one of a round has its znode. */
    else if (r->begun % 2 == 0 && r->begun < OPS &&
             (r->begun == 0 || is_over(r, first)))
        enter(r);
    return false;
}

/* With its session a participant that is inside may be lost. */
static bool may_end_so(const struct rounds *r, int i)
{
    if (r->final[i] == EVZK_DOUBLE_BARRIER_LEFT)
        return r->rc[i] == EVZK_OK || r->run->may_lose;
    return r->run->may_lose && (is_far(i) || r->rc[i] == EVZK_ERR_CANCELED);
}

static void judge(void *scene)
{
    struct rounds *r = scene;

    for (int i = 0; i < OPS; i++) {
        if (!may_end_so(r, i))
            sweep_complain(r->run, SWEEP_WRONG, "act %d: %s, %s", i,
                           evzk_double_barrier_event_name(
                               (evzk_double_barrier_event)r->final[i]),
                           evzk_errname(r->rc[i]));
        if (r->entered[i] > 1)
            sweep_complain(r->run, SWEEP_DOUBLED, "act %d entered twice", i);
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct rounds *r = scene;

    snprintf(text, size, "%d begun, the last one %s", r->begun,
             r->begun ? evzk_double_barrier_state(r->d[r->begun - 1]) : "");
}

const struct sweep_recipe sweep_double_barrier = {.name = "double-barrier",
                                                  .parts = parts,
                                                  .size = sizeof(struct rounds),
                                                  .keeps = 1,
                                                  .begin = begin,
                                                  .turn = turn,
                                                  .judge = judge,
                                                  .end = end,
                                                  .tell = tell};
