/* Locks that all wait, and whose connection is cut. */
#include <event2/event.h>

#include "play.h"

enum { LOOK_MS = 50 };

static void await_connected(struct run *r, bool up)
{
    while (r->way->connected() != up)
        event_base_loop(r->base, EVLOOP_ONCE);
}

/* To ask holds the loop: that is not the library's doing.  And the server goes
 * through all its znodes for the answer: it is not to be asked often. */
static int64_t count_watches(struct run *r)
{
    int64_t n = mntr_figure(r->servers, "zk_watch_count");

    meter_skip(&r->meter);
    return n;
}

/* By its own count, and then by the server's; s since @begun. */
static double await_watches(struct run *r, int64_t watches, int64_t begun)
{
    do
        run_for_ms(r, LOOK_MS);
    while (r->way->watches() < watches || count_watches(r) < watches);
    return (double)(now_ns() - begun) / 1e9;
}

/* Each watches the one before it, and most themselves. */
static void cut(struct run *r)
{
    int64_t watches = count_watches(r), begun;

    meter_reset(&r->meter);
    begun = now_ns();
    wire_cut();
    await_connected(r, false);
    await_connected(r, true);
    r->res.v[REARM] = await_watches(r, r->w->n, begun);
    r->res.v[REARM_OWN] = await_watches(r, watches, begun);
    run_settle(r);
    meter_put(&r->meter, &r->res);
}

/*
 * The raw client is not cut: it would ask for all its watches in one request,
 * which the server refuses by hanging up, for ever.
 */
void play_waiting(struct run *r)
{
    int n = r->w->n;
    struct holder h;
    int64_t begun;
    struct span s;

    holder_start(&h, r, n, 1);
    run_open(r, r->servers);
    span_begin(&s, r);
    begun = now_ns();
    run_feed(r, r->way->acquire, 0, n, 1);
    r->res.v[RATE] = per_second(n, run_settle(r) - begun);
    run_for_ms(r, LATE_MS);
    run_settle(r);
    span_memory(&s, r, n);
    span_end(&s, r, n);
    if (r->way->watches)
        cut(r);
    r->res.v[OTHER] = r->n_other + r->n_granted;
    run_close(r);
    holder_end(&h);
}
