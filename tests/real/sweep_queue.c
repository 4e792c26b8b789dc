/*
 * The scenario of looks at a queue: the process behind the proxy follows a
 * queue, into which the other process puts an item by hand, and then looks at
 * it once.  Must hold whatever the network does: both looks end with the item.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#include "evzk/barrier.h"
#include "evzk/queue.h"

static const char *const parts[] = {"far", NULL};

/* Barriers are plain znodes: the near process makes the queue of them, and
 * takes it away again. */
enum { FOLLOW, MAKE, LOOK = 4, REMOVE, OPS = 10 };

static const char *const made[] = {"/seg-00-0000000000/open",
                                   "/seg-00-0000000000/queue-0000000000",
                                   "/signal", "/seg-00-0000000000", ""};

struct looks {
    struct sweep_run *run;
    evzk_queue_query *follow, *look;
    evzk_barrier *made;
    int begun, seen;
    bool looked, busy;
    char path[256];
};

static void complain_of(struct looks *d, const char *what, int rc,
                        const evzk_queue_report *r)
{
    if (rc == EVZK_OK &&
        (r->n_items == 0 ||
         (r->items[0].len == 4 && !memcmp(r->items[0].data, "work", 4))))
        return;
    sweep_complain(d->run, SWEEP_WRONG, "%s: %s", what, evzk_errname(rc));
}

static void on_follow(evzk_queue_query *q, int rc, const evzk_queue_report *r,
                      void *arg)
{
    struct looks *d = arg;

    (void)q;
    complain_of(d, "follow", rc, r);
    d->seen = rc == EVZK_OK ? (int)r->size : -1;
}

static void on_look(evzk_queue_query *q, int rc, const evzk_queue_report *r,
                    void *arg)
{
    struct looks *d = arg;

    (void)q;
    complain_of(d, "look", rc, r);
    if (rc == EVZK_OK && r->size != 1)
        sweep_complain(d->run, SWEEP_WRONG, "size %d", (int)r->size);
    if (d->looked)
        sweep_complain(d->run, SWEEP_DOUBLED, "a look is told twice");
    d->looked = true;
}

static void on_made(evzk_barrier *b, int rc, void *arg)
{
    struct looks *d = arg;

    if (rc != EVZK_OK)
        support_fail("sweep: queue: %d", rc);
    evzk_barrier_free(b);
    d->made = NULL;
    d->busy = false;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct looks *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/q", run->dir);
}

static void end(void *scene)
{
    struct looks *d = scene;

    evzk_queue_query_free(d->follow);
    evzk_queue_query_free(d->look);
    evzk_barrier_free(d->made);
    d->follow = d->look = NULL;
    d->made = NULL;
}

static int make(struct looks *d, const char *name, bool set)
{
    evzk_barrier_options opt = {.data = "work", .data_len = 4};
    char path[512];

    snprintf(path, sizeof path, "%s%s", d->path, name);
    d->busy = true;
    return (set ? evzk_barrier_set : evzk_barrier_lift)(
        d->run->near, path, &opt, on_made, d, &d->made);
}

static int start(struct looks *d, int op)
{
    evzk_queue_query_options opt = {.peek = 1, .follow = op == FOLLOW};

    if (op == FOLLOW || op == LOOK)
        return evzk_queue_query_start(d->run->far, d->path, &opt,
                                      op == FOLLOW ? on_follow : on_look, d,
                                      op == FOLLOW ? &d->follow : &d->look);
    return op < LOOK ? make(d, made[op - MAKE], true)
                     : make(d, made[op - REMOVE], false);
}

static bool turn(void *scene)
{
    struct looks *d = scene;
    int rc;

    if (d->busy || (d->begun == LOOK && d->seen != 1) ||
        (d->begun == REMOVE && !d->looked))
        return false;
    if (d->begun == OPS) {
        end(d);
        return true;
    }
    rc = start(d, d->begun++);
    if (rc)
        support_fail("sweep: queue: %d", rc);
    return false;
}

static void judge(void *scene) { (void)scene; }

static void tell(const void *scene, char *text, size_t size)
{
    const struct looks *d = scene;

    snprintf(text, size, "%d begun, %d seen", d->begun, d->seen);
}

const struct sweep_recipe sweep_queue = {.name = "queue",
                                         .parts = parts,
                                         .size = sizeof(struct looks),
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
