/*
 * The consumer's scenario: three items are in the queue; the process behind the
 * proxy claims two of them, finishes one, gives the other one back, and ends;
 * then the other process takes what is there.  Must hold whatever the network
 * does: each item is finished once, unless it was lost with the session.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

static const char *const parts[] = {"far", NULL};

enum { FAR, NEAR, BOTH };
enum { ITEMS = 3, ZNODES = ITEMS + 1 };

struct consumers {
    struct sweep_run *run;
    evzk_barrier *put; /* Makes one znode. */
    evzk_consumer *c[BOTH];
    evzk_item *held[BOTH][ITEMS];
    int made, finished[ITEMS], all_finished;
    bool begun[BOTH], over[BOTH], closing[BOTH];
    char path[256];
};

static void begin(void *scene, struct sweep_run *run)
{
    struct consumers *d = scene;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/q", run->dir);
}

static void end(void *scene)
{
    struct consumers *d = scene;

    evzk_barrier_free(d->put);
    d->put = NULL;
    for (int i = 0; i < BOTH; i++) {
        evzk_consumer_free(d->c[i]);
        d->c[i] = NULL;
    }
}

/* A barrier's znode is as good as any: it is persistent, and has data. */
static void on_made(evzk_barrier *b, int rc, void *arg)
{
    struct consumers *d = arg;

    if (rc != EVZK_OK)
        sweep_complain(d->run, SWEEP_WRONG, "item %d: %s", d->made,
                       evzk_errname(rc));
    evzk_barrier_free(b);
    d->put = NULL;
    d->made++;
}

static void make(struct consumers *d)
{
    char path[320], data = (char)('0' + d->made);
    evzk_barrier_options opt = {.data = &data, .data_len = 1};
    int rc;

    if (d->made == ITEMS)
        snprintf(path, sizeof path, "%s/seg-00-0000000000/open", d->path);
    else
        snprintf(path, sizeof path, "%s/seg-00-0000000000/queue-%010d", d->path,
                 d->made);
    rc = evzk_barrier_set(d->run->near, path, &opt, on_made, d, &d->put);
    if (rc != EVZK_OK)
        support_fail("sweep: consumer: %d", rc);
}

static void finish(struct consumers *d, int who, int i)
{
    int rc;

    if (!d->held[who][i])
        return;
    rc = who == FAR && i != 0
             ? evzk_consumer_give_back(d->c[who], d->held[who][i])
             : evzk_consumer_finish(d->c[who], d->held[who][i]);
    if (rc != EVZK_OK)
        sweep_complain(d->run, SWEEP_WRONG, "ending item %d: %s", i,
                       evzk_errname(rc));
}

static void take(struct consumers *d, int who)
{
    if (evzk_consumer_take(d->c[who], who == FAR ? 2 : ITEMS, 0) != EVZK_OK)
        sweep_complain(d->run, SWEEP_WRONG, "a take is refused");
}

static void close_it(struct consumers *d, int who)
{
    if (!d->closing[who])
        evzk_consumer_close(d->c[who]);
    d->closing[who] = true;
}

static void on_item(struct consumers *d, int who, int i, int rc,
                    evzk_consumer_event event, evzk_item *item)
{
    if (event == EVZK_CONSUMER_ITEM) {
        if (d->finished[i])
            sweep_complain(d->run, SWEEP_DOUBLED, "item %d comes again", i);
        d->held[who][i] = item;
        return;
    }
    d->held[who][i] = NULL;
    if (event == EVZK_CONSUMER_FINISHED) {
        if (d->finished[i]++)
            sweep_complain(d->run, SWEEP_DOUBLED, "item %d ends twice", i);
        d->all_finished++;
    } else if (event == EVZK_CONSUMER_LOST && !d->run->may_lose)
        sweep_complain(d->run, SWEEP_WRONG, "item %d is lost: %s", i,
                       evzk_errname(rc));
}

static bool holds_any(const struct consumers *d, int who)
{
    for (int i = 0; i < ITEMS; i++) {
        if (d->held[who][i])
            return true;
    }
    return false;
}

/* The next call, after an event. */
static void go_on(struct consumers *d, int who, evzk_consumer_event event)
{
    if (event == EVZK_CONSUMER_TAKEN) {
        for (int i = 0; i < ITEMS; i++)
            finish(d, who, i);
    } else if (event == EVZK_CONSUMER_ITEM || holds_any(d, who) ||
               evzk_consumer_event_is_final(event))
        return;
    if (holds_any(d, who))
        return;
    if (who == FAR || d->all_finished == ITEMS)
        close_it(d, who);
    else
        take(d, who);
}

static void on_event(evzk_consumer *c, evzk_consumer_event event, int rc,
                     evzk_item *item, void *arg)
{
    struct consumers *d = arg;
    int who = c == d->c[NEAR] ? NEAR : FAR;

    if (item)
        on_item(d, who, *(const char *)item->data - '0', rc, event, item);
    if (event == EVZK_CONSUMER_FAILED)
        sweep_complain(d->run, SWEEP_WRONG, "it fails: %s", evzk_errname(rc));
    d->over[who] = d->over[who] || evzk_consumer_event_is_final(event);
    go_on(d, who, event);
}

static void start(struct consumers *d, int who)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED};
    int rc = evzk_consumer_start(who == FAR ? d->run->far : d->run->near,
                                 d->path, &opt, on_event, d, &d->c[who]);

    if (rc != EVZK_OK)
        support_fail("sweep: consumer: %d", rc);
    d->begun[who] = true;
    take(d, who);
}

static bool turn(void *scene)
{
    struct consumers *d = scene;

    if (d->made < ZNODES) {
        if (!d->put)
            make(d);
        return false;
    }
    if (!d->begun[FAR])
        start(d, FAR);
    else if (d->over[FAR] && !d->begun[NEAR])
        start(d, NEAR);
    if (!d->over[NEAR])
        return false;
    end(d);
    return true;
}

static void judge(void *scene)
{
    struct consumers *d = scene;

    for (int i = 0; i < ITEMS; i++) {
        if (d->finished[i] != 1)
            sweep_complain(d->run, SWEEP_WRONG, "item %d: finished %d times", i,
                           d->finished[i]);
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct consumers *d = scene;

    snprintf(text, size, "%d made, %d finished, %d and %d begun", d->made,
             d->all_finished, d->begun[FAR], d->begun[NEAR]);
}

const struct sweep_recipe sweep_consumer = {.name = "consumer",
                                            .parts = parts,
                                            .size = sizeof(struct consumers),
                                            .keeps = 3,
                                            .share = 20,
                                            .begin = begin,
                                            .turn = turn,
                                            .judge = judge,
                                            .end = end,
                                            .tell = tell};
