/*
 * The producer's scenario: the process behind the proxy puts five items in
 * three puts, and closes the producer.  Must hold whatever the network does:
 * each put is told once, in order, without an error, and then the queue has
 * each item once, in order.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#include "raw.h"

static const char *const parts[] = {"segments", "plain", NULL};

enum { SEGMENTS, PLAIN };
enum { PUTS = 3, ITEMS = 5, LOOK_MS = 20000 };

static const size_t put_at[PUTS + 1] = {0, 1, 3, ITEMS};

struct producing {
    struct sweep_run *run;
    evzk_producer *p;
    int put, told; /* Puts. */
    bool over;
    char path[256];
};

static void on_end(evzk_producer *p, evzk_producer_event event, int rc,
                   void *arg)
{
    struct producing *d = arg;

    (void)p;
    if (d->over)
        sweep_complain(d->run, SWEEP_DOUBLED, "the end is told twice");
    if (event != EVZK_PRODUCER_CLOSED)
        sweep_complain(d->run, SWEEP_WRONG, "it failed: %s", evzk_errname(rc));
    d->over = true;
}

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    struct producing *d = arg;

    (void)p;
    if (rc != EVZK_OK || d->told == PUTS ||
        done != put_at[d->told + 1] - put_at[d->told])
        sweep_complain(d->run, SWEEP_WRONG, "put %d: %s, %d", d->told,
                       evzk_errname(rc), (int)done);
    d->told++;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct producing *d = scene;
    evzk_producer_options opt = {
        .layout = run->part == PLAIN ? EVZK_QUEUE_PLAIN : EVZK_QUEUE_SEGMENTS};
    int rc;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/q", run->dir);
    rc = evzk_producer_start(run->far, d->path, &opt, on_end, d, &d->p);
    if (rc)
        support_fail("sweep: producer: %d", rc);
}

static void put(struct producing *d)
{
    evzk_put_item items[ITEMS];
    size_t first = put_at[d->put], n = put_at[d->put + 1] - first;
    char text[ITEMS];
    int rc;

    for (size_t i = 0; i < n; i++) {
        text[i] = (char)('0' + first + i);
        items[i] = (evzk_put_item){.data = &text[i], .len = 1};
    }
    rc = evzk_producer_put(d->p, items, n, on_put, d);
    if (!rc && ++d->put == PUTS)
        rc = evzk_producer_close(d->p);
    if (rc)
        support_fail("sweep: put: %d", rc);
}

static void end(void *scene)
{
    struct producing *d = scene;

    evzk_producer_free(d->p);
    d->p = NULL;
}

/* The first two puts go together, the last one when they were told. */
static bool turn(void *scene)
{
    struct producing *d = scene;

    if (d->put < 2 || (d->put < PUTS && d->told == 2))
        put(d);
    if (d->over)
        end(d);
    return d->over;
}

static void judge_item(struct producing *d, struct raw *r, const char *dir,
                       const char *name, int i)
{
    char path[512], data[8] = "";
    int len = sizeof data;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (raw_get(r, path, data, &len, NULL) != ZOK || len != 1 ||
        data[0] != '0' + i)
        sweep_complain(d->run, SWEEP_WRONG, "%s is not item %d", name, i);
}

static void judge(void *scene)
{
    struct producing *d = scene;
    struct raw *r = raw_open(d->run->server, LOOK_MS, NULL);
    struct raw_names names;
    char dir[300];
    int items = 0;

    if (d->told != PUTS)
        sweep_complain(d->run, SWEEP_WRONG, "%d puts told", d->told);
    snprintf(dir, sizeof dir, "%s%s", d->path,
             d->run->part == PLAIN ? "" : "/seg-00-0000000000");
    raw_drive(r, harness_base());
    if (raw_children(r, dir, &names) != ZOK)
        sweep_complain(d->run, SWEEP_WRONG, "there is no %s", dir);
    else {
        for (size_t i = 0; i < names.n; i++) {
            if (strncmp(names.name[i], "queue-", 6) == 0)
                judge_item(d, r, dir, names.name[i], items++);
        }
        raw_names_free(&names);
    }
    if (items != ITEMS)
        sweep_complain(d->run, items > ITEMS ? SWEEP_DOUBLED : SWEEP_WRONG,
                       "%d items", items);
    raw_close(r);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct producing *d = scene;

    snprintf(text, size, "%d put, %d told", d->put, d->told);
}

const struct sweep_recipe sweep_producer = {.name = "producer",
                                            .parts = parts,
                                            .size = sizeof(struct producing),
                                            .keeps = 2,
                                            .begin = begin,
                                            .turn = turn,
                                            .judge = judge,
                                            .end = end,
                                            .tell = tell};
