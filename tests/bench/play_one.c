/* One lock, and many who wait for it in one process. */
#include "play.h"

static void give_back(struct run *r, int i) { r->way->release(i); }

/*
 * Another session holds the lock until all have queued.  Each gives it back as
 * soon as it has it.
 */
void play_one(struct run *r)
{
    int n = r->w->n;
    struct holder h;
    int64_t begun;
    struct span s;

    holder_start(&h, r, 1, 1);
    r->granted = give_back;
    run_open(r, r->servers);
    span_begin(&s, r);
    run_feed(r, r->way->acquire, 0, n, 1);
    run_settle(r);
    span_memory(&s, r, n);
    begun = now_ns();
    holder_release(&h);
    run_await(r, &r->n_granted, n);
    r->res.v[RATE] = per_second(n, r->granted_ns - begun);
    run_await(r, &r->n_released, n);
    run_settle(r);
    span_end(&s, r, n);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
    holder_end(&h);
}
