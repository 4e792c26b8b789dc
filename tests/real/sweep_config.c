/*
 * The configuration's scenario: the process behind the proxy writes the first
 * configuration, follows it, and replaces it; the other one replaces it bit by
 * bit; the first one reads it.  Must hold whatever the network does: each
 * operation is told once, without an error, but that a replacement may not know
 * what became of it where another was behind; nobody sees keys of two; the
 * follower goes forward, and ends on the last one.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#include "recipes/config/config_internal.h"

static const char *const parts[] = {"far", NULL};

enum { FIRST, SECOND, NEAR_SET, READ, OPS };
enum { KEYS = 3 };

struct configuring {
    struct sweep_run *run;
    evzk_config_update *update[OPS];
    evzk_config_query *query;
    evzk_config_follower *follower;
    int begun, told[OPS];
    int64_t number; /* The newest that the follower has told. */
    bool at_end;    /* The follower has told the last one. */
    char path[256];
};

static void check(struct configuring *d, int op, int rc)
{
    if (rc != EVZK_OK)
        sweep_complain(d->run, SWEEP_WRONG, "act %d: %s", op, evzk_errname(rc));
    if (++d->told[op] > 1)
        sweep_complain(d->run, SWEEP_DOUBLED, "act %d is told twice", op);
}

static void on_update(evzk_config_update *u, int rc, int64_t number, void *arg)
{
    struct configuring *d = arg;
    int op = 0;

    (void)number;
    while (d->update[op] != u)
        op++;
    check(d, op, rc);
}

/* All keys have the same data, and each replacement one key more. */
static char judge_config(struct configuring *d, const evzk_config *c)
{
    char data =
        c->n > 0 && c->key[0].len == 1 ? *(const char *)c->key[0].data : '?';
    bool right = c->n == (size_t)(data - '0' + 1);

    for (size_t i = 0; i < c->n; i++)
        right = right && c->key[i].len == 1 &&
                *(const char *)c->key[i].data == data;
    if (!right)
        sweep_complain(d->run, SWEEP_WRONG, "number %lld is mixed",
                       (long long)c->number);
    return data;
}

static void on_query(evzk_config_query *q, int rc, const evzk_config *c,
                     void *arg)
{
    struct configuring *d = arg;

    if (c && judge_config(d, c) != '0' + NEAR_SET)
        sweep_complain(d->run, SWEEP_WRONG, "number %lld is old",
                       (long long)c->number);
    check(d, READ, rc);
    evzk_config_query_free(q);
    d->query = NULL;
}

static void on_follower(evzk_config_follower *f,
                        evzk_config_follower_event event, int rc,
                        const evzk_config *c, void *arg)
{
    struct configuring *d = arg;

    (void)f;
    if (event != EVZK_CONFIG_FOLLOWER_CONFIG) {
        sweep_complain(d->run, SWEEP_WRONG, "the follower ends: %s",
                       evzk_errname(rc));
        return;
    }
    if (c->number <= d->number)
        sweep_complain(d->run, SWEEP_WRONG, "the follower goes back");
    d->number = c->number;
    d->at_end = judge_config(d, c) == '0' + NEAR_SET;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct configuring *d = scene;
    int rc;

    d->run = run;
    evzk__config_limits.steps = 2;
    snprintf(d->path, sizeof d->path, "%s/c", run->dir);
    rc = evzk_config_follow(run->far, d->path, NULL, on_follower, d,
                            &d->follower);
    if (rc)
        support_fail("sweep: config: %d", rc);
}

static void end(void *scene)
{
    struct configuring *d = scene;

    for (int i = 0; i < OPS; i++) {
        evzk_config_update_free(d->update[i]);
        d->update[i] = NULL;
    }
    evzk_config_follower_free(d->follower);
    evzk_config_query_free(d->query);
    d->follower = NULL;
    d->query = NULL;
}

static int start(struct configuring *d, int op)
{
    char data = (char)('0' + op);
    const evzk_config_key key[KEYS] = {
        {"a", &data, 1}, {"b", &data, 1}, {"c", &data, 1}};

    if (op == READ)
        return evzk_config_get(d->run->far, d->path, NULL, on_query, d,
                               &d->query);
    return evzk_config_set(op == NEAR_SET ? d->run->near : d->run->far, d->path,
                           key, (size_t)op + 1, NULL, on_update, d,
                           &d->update[op]);
}

static bool turn(void *scene)
{
    struct configuring *d = scene;
    int rc;

    if (d->begun > 0 && !d->told[d->begun - 1])
        return false;
    if (d->begun == OPS) {
        if (d->at_end)
            end(d);
        return d->at_end;
    }
    rc = start(d, d->begun++);
    if (rc)
        support_fail("sweep: config: %d", rc);
    return false;
}

static void judge(void *scene)
{
    struct configuring *d = scene;

    for (int i = 0; i < OPS; i++) {
        if (!d->told[i])
            sweep_complain(d->run, SWEEP_WRONG, "act %d is not told", i);
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct configuring *d = scene;

    snprintf(text, size, "%d begun", d->begun);
}

const struct sweep_recipe sweep_config = {.name = "config",
                                          .parts = parts,
                                          .size = sizeof(struct configuring),
                                          .keeps = 2,
                                          .begin = begin,
                                          .turn = turn,
                                          .judge = judge,
                                          .end = end,
                                          .tell = tell};
