/*
 * The value's scenario: the process behind the proxy makes a value, adds to it
 * three times, and sets it with a compare-and-set; another process adds once;
 * the first one follows the value all the time, and reads it at the end.  Must
 * hold whatever the network does: each write is told once, without an error;
 * the counter counts each addition once; the follower goes forward, and ends on
 * the last value.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"far", NULL};

enum { MAKE, ADD, ADD_TWO, ADD_THREE, NEAR_ADD, READ, COMPARE, READ_LAST, OPS };
enum { COUNTED = 111 + 1000 };

struct valuing {
    struct sweep_run *run;
    evzk_value_writer *far, *near;
    evzk_value_follower *follower;
    evzk_value_query *query;
    evzk_value_stamp stamp;
    int64_t mzxid; /* The newest that the follower has told. */
    int begun, told[OPS];
    bool at_end; /* The follower has told the last value. */
    char path[256];
};

static void check(struct valuing *d, int op, int rc)
{
    if (rc != EVZK_OK)
        sweep_complain(d->run, SWEEP_WRONG, "act %d: %s", op, evzk_errname(rc));
    if (++d->told[op] > 1)
        sweep_complain(d->run, SWEEP_DOUBLED, "act %d is told twice", op);
}

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    struct valuing *d = arg;
    int op = 0;

    (void)number;
    if (w == d->near)
        op = NEAR_ADD;
    else {
        while (d->told[op] || op == NEAR_ADD || op == READ)
            op++;
    }
    check(d, op, rc);
}

static void on_writer(evzk_value_writer *w, evzk_value_writer_event event,
                      int rc, void *arg)
{
    struct valuing *d = arg;

    (void)w, (void)event;
    sweep_complain(d->run, SWEEP_WRONG, "a writer ends: %s", evzk_errname(rc));
}

static bool is(const evzk_value *v, const char *text)
{
    return v->exists && v->len == strlen(text) &&
           memcmp(v->data, text, v->len) == 0;
}

static void on_query(evzk_value_query *q, int rc, const evzk_value *v,
                     void *arg)
{
    struct valuing *d = arg;
    bool last = d->begun > READ_LAST;
    char text[16];

    snprintf(text, sizeof text, "%d", COUNTED);
    if (v && !is(v, last ? "last" : text))
        sweep_complain(d->run, SWEEP_WRONG, "it is %.*s",
                       v->exists ? (int)v->len : 7,
                       v->exists ? (const char *)v->data : "nothing");
    if (v)
        d->stamp = v->stamp;
    check(d, last ? READ_LAST : READ, rc);
    evzk_value_query_free(q);
    d->query = NULL;
}

static void on_follower(evzk_value_follower *f, evzk_value_follower_event event,
                        int rc, const evzk_value *v, void *arg)
{
    struct valuing *d = arg;

    (void)f;
    if (event != EVZK_VALUE_FOLLOWER_VALUE) {
        sweep_complain(d->run, SWEEP_WRONG, "the follower ends: %s",
                       evzk_errname(rc));
        return;
    }
    if (v->exists ? v->mzxid <= d->mzxid : d->mzxid > 0)
        sweep_complain(d->run, SWEEP_WRONG, "the follower goes back");
    d->mzxid = v->mzxid;
    d->at_end = is(v, "last");
}

static void begin(void *scene, struct sweep_run *run)
{
    struct valuing *d = scene;
    int rc;

    d->run = run;
    snprintf(d->path, sizeof d->path, "%s/v", run->dir);
    rc =
        evzk_value_writer_start(run->far, d->path, NULL, on_writer, d, &d->far);
    if (!rc)
        rc = evzk_value_writer_start(run->near, d->path, NULL, on_writer, d,
                                     &d->near);
    if (!rc)
        rc = evzk_value_follow(run->far, d->path, NULL, on_follower, d,
                               &d->follower);
    if (rc)
        support_fail("sweep: value: %d", rc);
}

static void end(void *scene)
{
    struct valuing *d = scene;

    evzk_value_writer_free(d->far);
    evzk_value_writer_free(d->near);
    evzk_value_follower_free(d->follower);
    evzk_value_query_free(d->query);
    d->far = d->near = NULL;
    d->follower = NULL;
    d->query = NULL;
}

static int start(struct valuing *d, int op)
{
    switch (op) {
    case MAKE:
        return evzk_value_create(d->far, "1", 1, on_write, d);
    case ADD:
        return evzk_counter_add(d->far, 10, on_write, d);
    case ADD_TWO:
        return evzk_counter_add(d->far, 60, on_write, d);
    case ADD_THREE:
        return evzk_counter_add(d->far, 40, on_write, d);
    case NEAR_ADD:
        return evzk_counter_add(d->near, 1000, on_write, d);
    case COMPARE:
        return evzk_value_compare_set(d->far, &d->stamp, "last", 4, on_write,
                                      d);
    default:
        return evzk_value_get(d->run->far, d->path, NULL, on_query, d,
                              &d->query);
    }
}

/* The additions go together; all else waits for what was before. */
static bool is_busy(const struct valuing *d)
{
    for (int i = 0; i < d->begun; i++) {
        if (!d->told[i] && !(i >= ADD && d->begun > ADD && d->begun < READ))
            return true;
    }
    return false;
}

static bool turn(void *scene)
{
    struct valuing *d = scene;
    int rc;

    if (is_busy(d))
        return false;
    if (d->begun == OPS) {
        if (d->at_end)
            end(d);
        return d->at_end;
    }
    rc = start(d, d->begun++);
    if (rc)
        support_fail("sweep: value: %d", rc);
    return false;
}

static void judge(void *scene)
{
    struct valuing *d = scene;

    for (int i = 0; i < OPS; i++) {
        if (!d->told[i])
            sweep_complain(d->run, SWEEP_WRONG, "act %d is not told", i);
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct valuing *d = scene;

    snprintf(text, size, "%d begun", d->begun);
}

const struct sweep_recipe sweep_value = {.name = "value",
                                         .parts = parts,
                                         .size = sizeof(struct valuing),
                                         .keeps = 1,
                                         .begin = begin,
                                         .turn = turn,
                                         .judge = judge,
                                         .end = end,
                                         .tell = tell};
