/*
 * The multi-lock's scenario: the far process takes two locks, and the near one
 * names the same two in the other order, and waits.  Must hold whatever the
 * network does: never do both hold; the tokens of each part grow; each is told
 * one end, and it is RELEASED unless the session may be lost.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", "near", NULL};

enum { MULTIS = 2, PATHS = 2 };

struct both {
    struct sweep_run *run;
    evzk_multi_lock *p[MULTIS];
    int begun;
    bool granted[MULTIS], over[MULTIS];
    evzk_multi_lock_event end[MULTIS];
    int rc[MULTIS];
    char path[PATHS][256];
    uint64_t token[PATHS];
};

static int index_of(const struct both *d, const evzk_multi_lock *p)
{
    return d->p[1] == p;
}

static void check_held(struct both *d)
{
    if (evzk_multi_lock_held(d->p[0]) && evzk_multi_lock_held(d->p[1]))
        sweep_complain(d->run, SWEEP_BOTH_HELD, "both are held");
}

/* The second one names the paths in the other order. */
static size_t path_of(int i, size_t part) { return i == 0 ? part : 1 - part; }

static void is_granted(struct both *d, int i)
{
    if (d->granted[i])
        sweep_complain(d->run, SWEEP_DOUBLED, "%d is granted twice", i);
    d->granted[i] = true;
    for (size_t part = 0; part < PATHS; part++) {
        uint64_t *last = &d->token[path_of(i, part)];
        uint64_t token = evzk_multi_lock_token(d->p[i], part);

        if (token <= *last)
            sweep_complain(d->run, SWEEP_DOUBLED, "the token of %d is old", i);
        *last = token;
    }
}

static void on_event(evzk_multi_lock *p, evzk_multi_lock_event event, int rc,
                     void *arg)
{
    struct both *d = arg;
    int i = index_of(d, p);

    if (d->over[i])
        sweep_complain(d->run, SWEEP_DOUBLED, "%s after the end",
                       evzk_multi_lock_event_name(event));
    check_held(d);
    if (event == EVZK_MULTI_LOCK_GRANTED)
        is_granted(d, i);
    if (!evzk_multi_lock_event_is_final(event))
        return;
    d->over[i] = true;
    d->end[i] = event;
    d->rc[i] = rc;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct both *d = scene;

    d->run = run;
    snprintf(d->path[0], sizeof d->path[0], "%s/a", run->dir);
    snprintf(d->path[1], sizeof d->path[1], "%s/b", run->dir);
}

static void end(void *scene)
{
    struct both *d = scene;

    for (int i = 0; i < MULTIS; i++) {
        evzk_multi_lock_free(d->p[i]);
        d->p[i] = NULL;
    }
}

static void acquire(struct both *d)
{
    bool near = (d->begun == 1) != (d->run->part == 1);
    const evzk_multi_lock_part v[PATHS] = {
        {.path = d->path[path_of(d->begun, 0)]},
        {.path = d->path[path_of(d->begun, 1)]}};
    int rc = evzk_multi_lock_acquire(near ? d->run->near : d->run->far, v,
                                     PATHS, NULL, on_event, d, &d->p[d->begun]);

    if (rc)
        support_fail("sweep: multi-lock: %d", rc);
    d->begun++;
}

static bool turn(void *scene)
{
    struct both *d = scene;

    check_held(d);
    if (d->begun == 0 || (d->begun < MULTIS && (d->granted[0] || d->over[0])))
        acquire(d);
    for (int i = 0; i < MULTIS && d->begun == MULTIS; i++) {
        if (!d->over[i] && d->granted[i])
            evzk_multi_lock_release(d->p[i]); /* Or it has ended. */
    }
    if (!d->over[0] || !d->over[1])
        return false;
    end(d);
    return true;
}

static void judge(void *scene)
{
    struct both *d = scene;

    for (int i = 0; i < MULTIS; i++) {
        bool lost = d->run->may_lose && d->end[i] == EVZK_MULTI_LOCK_LOST;

        if (!lost && (d->end[i] != EVZK_MULTI_LOCK_RELEASED || d->rc[i]))
            sweep_complain(d->run, SWEEP_WRONG, "multi-lock %d: %s, %s", i,
                           evzk_multi_lock_event_name(d->end[i]),
                           evzk_errname(d->rc[i]));
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct both *d = scene;

    snprintf(text, size, "%d begun, over: %d %d", d->begun, d->over[0],
             d->over[1]);
}

const struct sweep_recipe sweep_multi_lock = {.name = "multi-lock",
                                              .parts = parts,
                                              .size = sizeof(struct both),
                                              .keeps =
                                                  2, /* Empty containers. */
                                              .begin = begin,
                                              .turn = turn,
                                              .judge = judge,
                                              .end = end,
                                              .tell = tell};
