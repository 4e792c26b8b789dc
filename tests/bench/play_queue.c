/* A queue: items are put, all of them; then they are taken. */
#include <math.h>

#include "play.h"

/* The costs of a put, and of a take, as those of one item. */
static void add_costs(struct result *to, const struct result *put)
{
    static const enum metric sums[] = {CPU, WIRE, REQUESTS},
                             most[] = {STALL, OWN, BUSY};

    for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++)
        to->v[sums[k]] += put->v[sums[k]];
    for (size_t k = 0; k < sizeof most / sizeof most[0]; k++)
        to->v[most[k]] = fmax(to->v[most[k]], put->v[most[k]]);
}

static int64_t put_all(struct run *r, int n)
{
    int64_t begun = now_ns();
    struct span s;

    span_begin(&s, r);
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_granted, n);
    run_settle(r);
    span_memory(&s, r, n);
    span_end(&s, r, n);
    return r->granted_ns - begun;
}

static int64_t take_some(struct run *r, int n)
{
    int64_t begun = now_ns();
    struct span s;

    span_begin(&s, r);
    run_feed(r, r->way->release, 0, n, 1);
    run_await(r, &r->n_released, n);
    run_settle(r);
    span_end(&s, r, n);
    return r->released_ns - begun;
}

void play_queue(struct run *r)
{
    int n = r->w->n, takes = r->way->takes ? r->way->takes : n;
    struct result put;

    run_open(r, r->servers);
    r->res.v[RATE] = per_second(n, put_all(r, n));
    put = r->res;
    r->res.v[RELEASE] = per_second(takes, take_some(r, takes));
    add_costs(&r->res, &put);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}
