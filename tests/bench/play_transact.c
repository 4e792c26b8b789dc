/* Many transactions of a few sites each, all at once, on one session. */
#include "play.h"

/* A transaction is over when all sites are done, and nothing of it is left. */
void play_transact(struct run *r)
{
    int n = r->w->n;
    int64_t begun, transactions;
    struct span s;

    run_open(r, r->servers);
    run_settle(r); /* Sites have made their inboxes. */
    transactions = srvr_transactions(r->servers);
    span_begin(&s, r);
    begun = now_ns();
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_released, n);
    run_settle(r);
    span_end(&s, r, n);
    note_transactions(r, transactions);
    r->res.v[RATE] = per_second(n, r->released_ns - begun);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}
