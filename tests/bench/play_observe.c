/*
 * The leaders of many elections, seen by a process that stands in none.
 * A second process leads all of them.  Then it resigns each election in turn,
 * and stands again.  The second process always uses the library; the way under
 * test is only that of the process that observes.
 */
#include <event2/event.h>

#include "play.h"

enum { PACE_US = 1000 };

/* ---- The one that leads ---- */

static int changed;

static void find_again(struct run *r, int i) { r->way->acquire(i); }

static void on_pace(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (!atomic_load(&crew->asked) || changed == r->w->n)
        return;
    crew->released_ns[changed] = now_ns();
    r->way->release(changed++);
}

static void lead_all(struct run *r, int k)
{
    struct event *pace = event_new(r->base, -1, EV_PERSIST, on_pace, r);

    (void)k;
    meter_stop(&r->meter);
    r->released = find_again;
    run_feed(r, r->way->acquire, 0, r->w->n, 1);
    run_await(r, &r->n_granted, r->w->n);
    atomic_fetch_add(&crew->queued, 1);
    event_add(pace, &(struct timeval){0, PACE_US});
    run_await(r, &r->n_granted, 2 * r->w->n);
    while (!atomic_load(&crew->done))
        event_base_loop(r->base, EVLOOP_ONCE);
    event_free(pace);
    run_close(r);
}

/* ---- The one that observes ---- */

static void note_change(struct run *r, int i)
{
    crew->granted_ns[i] = r->granted_ns;
}

static void note_latency(struct run *r)
{
    static int64_t took[GRANTS_MAX];

    for (int i = 0; i < r->w->n; i++)
        took[i] = crew->granted_ns[i] - crew->released_ns[i];
    note_times(r, took, r->w->n);
}

/* Requests are of this alone: those of the leaders would count, too. */
static void begin(struct run *r)
{
    int n = r->w->n;
    int64_t begun, packets;
    struct span s;

    span_begin(&s, r);
    begun = now_ns();
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_granted, n);
    r->res.v[RATE] = per_second(n, r->granted_ns - begun);
    run_settle(r);
    span_memory(&s, r, n);
    packets = mntr_packets(r->servers);
    if (s.packets >= 0 && packets >= 0)
        r->res.v[REQUESTS] = (double)(packets - s.packets) / n;
}

static void observe(struct run *r)
{
    int n = r->w->n;
    struct span s;

    run_open(r, r->servers);
    begin(r);
    meter_stop(&r->meter); /* Would be most of the measured time. */
    s = crew_span();
    r->granted = note_change;
    atomic_store(&crew->asked, 1);
    run_await(r, &r->n_granted, 2 * n);
    meter_start(&r->meter, r->base);
    run_settle(r);
    r->res.v[CPU] = (double)(cpu_ns() - s.cpu) / 1000 / n;
    r->res.v[WIRE] = (double)(wire_bytes() - s.wire) / n;
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}

void play_observe(struct run *r)
{
    struct run leaders = *r;
    pid_t pid;

    leaders.way = &way_evzk_election;
    crew_start(&leaders, 1, lead_all, &pid);
    atomic_store(&crew->go, true);
    crew_await(&crew->queued, 1);
    observe(r);
    atomic_store(&crew->done, 1);
    crew_join(1, &pid);
    note_latency(r);
}
