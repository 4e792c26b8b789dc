/*
 * The semaphore's scenario: two leases, of which the near process holds one for
 * a while and the far process acquires two, one after another.  Must hold
 * whatever the network does: no more than two are held; tokens grow; each
 * attempt is told one end, and it is RELEASED unless the session may be lost.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", "near", NULL};

enum { FAR_ONE, NEAR_ONE, FAR_TWO, LEASES = 3 };

struct seats {
    struct sweep_run *run;
    evzk_semaphore *p[LEASES];
    int begun, ended;
    bool acquired[LEASES], over[LEASES];
    evzk_semaphore_event end[LEASES];
    int rc[LEASES];
    char path[256];
};

static int index_of(const struct seats *d, const evzk_semaphore *p)
{
    for (int i = 0; i < LEASES; i++) {
        if (d->p[i] == p)
            return i;
    }
    return 0;
}

static void check_held(struct seats *d)
{
    int n = 0;

    for (int i = 0; i < LEASES; i++)
        n += evzk_semaphore_held(d->p[i]);
    if (n > 2)
        sweep_complain(d->run, SWEEP_BOTH_HELD, "%d leases of 2 are held", n);
}

static void on_event(evzk_semaphore *p, evzk_semaphore_event event, int rc,
                     void *arg)
{
    struct seats *d = arg;
    int i = index_of(d, p);

    if (d->over[i])
        sweep_complain(d->run, SWEEP_DOUBLED, "%s after the end",
                       evzk_semaphore_event_name(event));
    check_held(d);
    if (event == EVZK_SEMAPHORE_ACQUIRED) {
        if (d->acquired[i] || evzk_semaphore_token(p) <= d->run->token)
            sweep_complain(d->run, SWEEP_DOUBLED, "lease %d", i);
        d->run->token = evzk_semaphore_token(p);
        d->acquired[i] = true;
    }
    if (!evzk_semaphore_event_is_final(event))
        return;
    d->over[i] = true;
    d->end[i] = event;
    d->rc[i] = rc;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct seats *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/s", run->dir);
}

static void end(void *scene)
{
    struct seats *d = scene;

    for (int i = 0; i < LEASES; i++) {
        evzk_semaphore_free(d->p[i]);
        d->p[i] = NULL;
    }
}

static void acquire(struct seats *d)
{
    bool near = (d->begun == NEAR_ONE) != (d->run->part == 1);
    evzk_semaphore_options opt = {.leases = 2};
    int rc = evzk_semaphore_acquire(near ? d->run->near : d->run->far, d->path,
                                    &opt, on_event, d, &d->p[d->begun]);

    if (rc)
        support_fail("sweep: semaphore: %d", rc);
    d->begun++;
}

static void release(struct seats *d, int i)
{
    if (!d->over[i] && d->acquired[i])
        evzk_semaphore_release(d->p[i]); /* Or it has ended. */
}

/* The third one waits until the first one has given its lease back. */
static bool turn(void *scene)
{
    struct seats *d = scene;
    int last = d->begun - 1;

    check_held(d);
    if (d->begun == 0 ||
        (d->begun < LEASES && (d->acquired[last] || d->over[last])))
        acquire(d);
    if (d->begun == LEASES)
        release(d, FAR_ONE);
    if (d->over[FAR_ONE] && d->acquired[FAR_TWO]) {
        release(d, NEAR_ONE);
        release(d, FAR_TWO);
    }
    for (int i = 0; i < LEASES; i++) {
        if (!d->over[i])
            return false;
    }
    end(d);
    return true;
}

static void judge(void *scene)
{
    struct seats *d = scene;

    for (int i = 0; i < LEASES; i++) {
        bool lost = d->run->may_lose && d->end[i] == EVZK_SEMAPHORE_LOST;

        if (!lost && (d->end[i] != EVZK_SEMAPHORE_RELEASED || d->rc[i]))
            sweep_complain(d->run, SWEEP_WRONG, "lease %d: %s, %s", i,
                           evzk_semaphore_event_name(d->end[i]),
                           evzk_errname(d->rc[i]));
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct seats *d = scene;

    snprintf(text, size, "%d begun, over: %d %d %d", d->begun, d->over[0],
             d->over[1], d->over[2]);
}

const struct sweep_recipe sweep_semaphore = {.name = "semaphore",
                                             .parts = parts,
                                             .size = sizeof(struct seats),
                                             .keeps = 2, /* Empty containers:
                                                          * its directory, and
                                                          * `leases`. */
                                             .begin = begin,
                                             .turn = turn,
                                             .judge = judge,
                                             .end = end,
                                             .tell = tell};
