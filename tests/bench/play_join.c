/* One process, and many shards that nobody else leads. */
#include "play.h"

/* In the end it hands over to nobody: all are given up. */
void play_join(struct run *r)
{
    int n = r->w->n;
    int64_t begun, transactions;
    struct span s;

    run_open(r, r->servers);
    transactions = srvr_transactions(r->servers);
    span_begin(&s, r);
    begun = now_ns();
    r->way->join(0);
    run_await(r, &r->n_granted, n);
    r->res.v[RATE] = per_second(n, r->granted_ns - begun);
    r->res.v[ALL_LED] = (double)(r->granted_ns - begun) / 1e9;
    run_settle(r);
    span_memory(&s, r, n);
    note_transactions(r, transactions);
    meter_skip(&r->meter);
    begun = now_ns();
    r->way->drain();
    run_await(r, &r->n_released, n);
    r->res.v[RELEASE] = per_second(n, r->released_ns - begun);
    run_settle(r);
    span_end(&s, r, n);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}
