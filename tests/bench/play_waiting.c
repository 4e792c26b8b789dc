/* Locks that all wait, and whose connection is cut. */
#include <event2/event.h>

#include "harness.h"
#include "play.h"
#include "proxy.h"

enum { LOOK_MS = 50 };

static void await_connected(struct run *r, bool up)
{
    while (r->way->connected() != up)
        event_base_loop(r->base, EVLOOP_ONCE);
}

/* To ask holds the loop: that is not the library's doing. */
static int64_t count_watches(struct run *r)
{
    int64_t n = mntr_figure(r->servers, "zk_watch_count");

    meter_skip(&r->meter);
    return n;
}

/* By the server's count, when it is quiet here. */
static int64_t await_watches(struct run *r, int64_t watches)
{
    int64_t quiet = run_settle(r);

    while (count_watches(r) < watches) {
        run_for_ms(r, LOOK_MS);
        quiet = run_settle(r);
    }
    return quiet;
}

static void cut(struct run *r, struct proxy *p)
{
    int64_t watches = count_watches(r), begun;

    meter_reset(&r->meter);
    begun = now_ns();
    proxy_cut(p);
    await_connected(r, false);
    await_connected(r, true);
    r->res.v[REARM] = (double)(await_watches(r, watches) - begun) / 1e9;
    r->res.v[STALL] = (double)r->meter.stall_ns / 1e6;
    r->res.v[OWN] = (double)r->meter.own_ns / 1e6;
}

/*
 * The raw client is not cut: it would ask for all its watches in one request,
 * which the server refuses by hanging up, for ever.
 */
void play_waiting(struct run *r)
{
    int n = r->w->n;
    struct proxy *p = proxy_start(r->servers);
    struct holder h;
    int64_t begun;
    struct span s;

    holder_start(&h, r, n, 1);
    run_open(r, proxy_address(p));
    span_begin(&s, r);
    begun = now_ns();
    run_feed(r, r->way->acquire, 0, n, 1);
    r->res.v[RATE] = per_second(n, run_settle(r) - begun);
    run_for_ms(r, LATE_MS);
    run_settle(r);
    span_memory(&s, r, n);
    span_end(&s, r, n);
    if (r->way != r->w->ways[0])
        cut(r, p);
    r->res.v[OTHER] = r->n_other + r->n_granted;
    run_close(r);
    holder_end(&h);
    proxy_stop(p);
}
