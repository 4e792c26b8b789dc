/*
 * The scenario of guarded writes: the process behind the proxy acquires a lock,
 * writes to a znode under it, releases the lock, and writes once more under the
 * name that the lock had.  The near process makes the znode, while a barrier
 * stands, and deletes it by the version that it must have.  Must hold whatever
 * the network does: the first write is done once, or is refused where the
 * session may be lost; the second one is refused.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", NULL};

enum { SET, MAKE, ACQUIRE, WRITE, RELEASE, WRITE_LATE, REMOVE, LIFT, STEPS };

struct guarded {
    struct sweep_run *run;
    evzk_lock *l;
    evzk_guard *g;
    evzk_barrier *b;
    char gate[256], lock[256], node[384], target[256];
    int begun, told; /* Steps. */
    evzk_guard_outcome outcome[STEPS];
    int rc[STEPS];
};

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct guarded *d = arg;

    (void)rc;
    if (event == EVZK_LOCK_GRANTED) {
        snprintf(d->node, sizeof d->node, "%s/%s", d->lock, evzk_lock_node(l));
        d->told = ACQUIRE + 1;
    } else if (evzk_lock_event_is_final(event) && d->told == RELEASE)
        d->told = RELEASE + 1;
}

static void on_barrier(evzk_barrier *b, int rc, void *arg)
{
    struct guarded *d = arg;

    if (rc)
        support_fail("sweep: guard: the barrier: %d", rc);
    evzk_barrier_free(b);
    d->b = NULL;
    d->told++;
}

static void on_write(evzk_guard *g, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *arg)
{
    struct guarded *d = arg;

    (void)result;
    if (d->g != g || d->told == d->begun)
        sweep_complain(d->run, SWEEP_DOUBLED, "a write is told twice");
    d->outcome[d->told] = outcome;
    d->rc[d->told++] = rc;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct guarded *d = scene;

    d->run = run;
    snprintf(d->gate, sizeof d->gate, "%s/gate", run->dir);
    snprintf(d->lock, sizeof d->lock, "%s/l", run->dir);
    snprintf(d->target, sizeof d->target, "%s/w", run->dir);
}

static void end(void *scene)
{
    struct guarded *d = scene;

    evzk_guard_free(d->g);
    evzk_lock_free(d->l);
    evzk_barrier_free(d->b);
    d->b = NULL;
    d->g = NULL;
    d->l = NULL;
}

static int write_it(struct guarded *d, evzk_session *s, const evzk_guard_by *by,
                    evzk_guard_verb verb, int32_t version)
{
    evzk_guard_op op = {.verb = verb, .path = d->target, .version = version};

    evzk_guard_free(d->g);
    d->g = NULL;
    return evzk_guard_write(s, by, &op, 1, NULL, on_write, d, &d->g);
}

/* How often the znode was written to; -1: that is not known. */
static int32_t writes(const struct guarded *d)
{
    if (d->outcome[WRITE] == EVZK_GUARD_UNKNOWN)
        return -1;
    return d->outcome[WRITE] == EVZK_GUARD_DONE;
}

static int start(struct guarded *d, int step)
{
    evzk_guard_by gate = {.path = d->gate}, lock = {.lock = d->l},
                  node = {.path = d->node};

    switch (step) {
    case SET:
        return evzk_barrier_set(d->run->near, d->gate, NULL, on_barrier, d,
                                &d->b);
    case MAKE:
        return write_it(d, d->run->near, &gate, EVZK_GUARD_CREATE, 0);
    case ACQUIRE:
        return evzk_lock_acquire(d->run->far, d->lock, NULL, on_lock, d, &d->l);
    case WRITE:
        return write_it(d, d->run->far, &lock, EVZK_GUARD_SET, -1);
    case RELEASE:
        return evzk_lock_release(d->l);
    case WRITE_LATE:
        return write_it(d, d->run->far, &node, EVZK_GUARD_SET, -1);
    case REMOVE:
        return write_it(d, d->run->near, &gate, EVZK_GUARD_DELETE, writes(d));
    default:
        return evzk_barrier_lift(d->run->near, d->gate, NULL, on_barrier, d,
                                 &d->b);
    }
}

static bool turn(void *scene)
{
    struct guarded *d = scene;
    int step = d->begun, rc;

    if (d->told < step)
        return false;
    if (step == STEPS) {
        end(d);
        return true;
    }
    d->begun++;
    rc = start(d, step);
    if (rc == EVZK_ERR_STATE && d->run->may_lose) { /* The lock was lost. */
        d->outcome[step] = EVZK_GUARD_REFUSED;
        d->told++;
    } else if (rc)
        support_fail("sweep: guard: %d", rc);
    return false;
}

static void judge(void *scene)
{
    static const evzk_guard_outcome good[STEPS] = {[MAKE] = EVZK_GUARD_DONE,
                                                   [WRITE] = EVZK_GUARD_DONE,
                                                   [WRITE_LATE] =
                                                       EVZK_GUARD_REFUSED,
                                                   [REMOVE] = EVZK_GUARD_DONE};
    struct guarded *d = scene;

    for (int i = 0; i < STEPS; i++) {
        bool lost = d->run->may_lose && i >= WRITE && i <= WRITE_LATE &&
                    (d->outcome[i] == EVZK_GUARD_REFUSED ||
                     d->rc[i] == EVZK_ERR_EXPIRED);

        if (d->outcome[i] != good[i] && !lost)
            sweep_complain(d->run, SWEEP_WRONG, "step %d: %s, %s", i,
                           evzk_guard_outcome_name(d->outcome[i]),
                           evzk_errname(d->rc[i]));
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct guarded *d = scene;

    snprintf(text, size, "%d begun, %d told", d->begun, d->told);
}

const struct sweep_recipe sweep_guard = {.name = "guard",
                                         .parts = parts,
                                         .size = sizeof(struct guarded),
                                         /* The lock's directory, if the
                                          * receipt went after the lock, and
                                          * the session was closed at once. */
                                         .keeps = 1,
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
