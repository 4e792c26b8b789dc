/* One lock, and processes that pass it on to each other. */
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "play.h"

enum { HOLD_US = 3000 };

/* The k-th grant of all is this one; nobody else has it meanwhile. */
static int note_grant(struct run *r)
{
    int k = atomic_fetch_add(&crew->grants, 1);

    if (k >= GRANTS_MAX)
        fail("more grants than there is room for");
    crew->granted_ns[k] = r->granted_ns;
    return k;
}

/* From each release to the next grant, by whichever process. */
static void note_latency(struct run *r, int grants)
{
    static int64_t took[GRANTS_MAX];
    int n = grants - 1;

    for (int k = 0; k < n; k++)
        took[k] = crew->granted_ns[k + 1] - crew->released_ns[k];
    note_times(r, took, n);
}

/* ---- All have queued before the first gets it ---- */

static void pass_on(struct run *r, int i)
{
    int k = note_grant(r);

    crew->released_ns[k] = now_ns();
    r->way->release(i);
}

/* The meters of so many processes would be much of what is measured: they are
 * off while the lock is passed on. */
static void serve_some(struct run *r, int k)
{
    int n = r->w->n / r->w->processes;
    struct span s = crew_span();

    (void)k;
    r->granted = pass_on;
    run_feed(r, r->way->acquire, 0, n, 1);
    run_settle(r);
    crew_add_memory(&s);
    meter_stop(&r->meter);
    atomic_fetch_add(&crew->queued, 1);
    run_await(r, &r->n_released, n);
    meter_start(&r->meter, r->base);
    run_settle(r);
    crew_add_cost(&s);
    atomic_fetch_add(&crew->done, 1);
    run_close(r);
}

void play_spread(struct run *r)
{
    int n = r->w->n, processes = r->w->processes;
    pid_t *pid = calloc((size_t)processes, sizeof *pid);
    int64_t begun, packets;
    struct holder h;

    holder_start(&h, r, 1, 1);
    crew_start(r, processes, serve_some, pid);
    packets = mntr_packets(r->servers);
    atomic_store(&crew->go, true);
    crew_await(&crew->queued, processes);
    begun = now_ns();
    holder_release(&h);
    crew_await(&crew->done, processes);
    crew_note_cost(r, packets, n);
    crew_join(processes, pid);
    r->res.v[HEAP] = (double)atomic_load(&crew->heap) / n;
    r->res.v[RSS] = (double)atomic_load(&crew->rss) / n;
    r->res.v[RATE] = per_second(n, crew->granted_ns[n - 1] - begun);
    note_latency(r, n);
    holder_end(&h);
    free(pid);
}

/* ---- Two, by turns ---- */

static struct {
    struct event *timer;
    int lock, grant; /* The one that is held. */
    int next;
} turn;

static bool ask_next(struct run *r)
{
    if (atomic_fetch_add(&crew->asked, 1) >= r->w->n)
        return false;
    r->way->acquire(turn.next++);
    return true;
}

/* The next of this process queues at once, so that there always is one. */
static void hold_a_while(struct run *r, int i)
{
    turn.grant = note_grant(r);
    turn.lock = i;
    ask_next(r);
    event_add(turn.timer, &(struct timeval){0, HOLD_US});
}

static void on_held(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    crew->released_ns[turn.grant] = now_ns();
    r->way->release(turn.lock);
}

static void take_turns(struct run *r, int k)
{
    struct span s = crew_span();

    (void)k;
    r->granted = hold_a_while;
    turn.timer = event_new(r->base, -1, 0, on_held, r);
    ask_next(r);
    while (atomic_load(&crew->grants) < r->w->n || r->n_released < turn.next)
        event_base_loop(r->base, EVLOOP_ONCE);
    crew_add_cost(&s);
    atomic_fetch_add(&crew->done, 1);
    event_free(turn.timer);
    run_close(r);
}

void play_alternate(struct run *r)
{
    int n = r->w->n, processes = r->w->processes;
    pid_t pid[2];
    int64_t packets;

    crew_start(r, processes, take_turns, pid);
    packets = mntr_packets(r->servers);
    atomic_store(&crew->go, true);
    crew_await(&crew->done, processes);
    crew_note_cost(r, packets, n);
    crew_join(processes, pid);
    note_latency(r, n);
    r->res.v[CPU] = NAN; /* Most of it is the meters'. */
}
