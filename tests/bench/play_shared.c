/*
 * Locks of which many read and some write: each client takes one of a few
 * locks, gives it back at once, and goes on to the next.  Which lock, and
 * whether it is to read, are by chance, and the same for every way.
 */
#include "play.h"

enum { CLIENTS = 1000 };

static int clients, locks; /* Of one process. */

static void give_back(struct run *r, int i) { r->way->release(i); }

static void take_next(struct run *r, int i)
{
    if (i + clients < locks)
        r->way->acquire(i + clients);
}

/* The meters of so many processes would cost what they measure. */
static void serve_clients(struct run *r, int k)
{
    struct span s = crew_span();

    clients = CLIENTS / r->w->processes;
    locks = r->w->n / r->w->processes;
    r->first = k * locks;
    r->granted = give_back;
    r->released = take_next;
    meter_stop(&r->meter);
    run_feed(r, r->way->acquire, 0, clients, 1);
    run_await(r, &r->n_released, locks);
    crew_note_last(r->granted_ns);
    meter_start(&r->meter, r->base);
    run_settle(r);
    crew_add_cost(&s);
    atomic_fetch_add(&crew->done, 1);
    run_close(r);
}

void play_shared(struct run *r)
{
    int n = r->w->n, processes = r->w->processes;
    pid_t pid[PROCESSES_MAX];
    int64_t packets, begun;

    crew_start(r, processes, serve_clients, pid);
    packets = mntr_packets(r->servers);
    begun = now_ns();
    atomic_store(&crew->go, true);
    crew_await(&crew->done, processes);
    crew_note_cost(r, packets, n);
    crew_join(processes, pid);
    r->res.v[RATE] = per_second(n, atomic_load(&crew->last_ns) - begun);
}
