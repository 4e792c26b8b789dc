/* A semaphore, and many who wait for its leases in one process. */
#include "play.h"

enum { LEASES_MAX = 100 };

static struct {
    bool open;
    int held[LEASES_MAX], n;
} seats;

static void take_seat(struct run *r, int i)
{
    if (seats.open)
        r->way->release(i);
    else if (seats.n == r->w->leases)
        fail("more leases are held than there are");
    else
        seats.held[seats.n++] = i;
}

/*
 * The first leases are kept until all wait, and are then given back in order.
 * From there each gives its lease back as soon as it has it.
 */
void play_seats(struct run *r)
{
    int n = r->w->n;
    int64_t begun;
    struct span s;

    r->granted = take_seat;
    run_open(r, r->servers);
    span_begin(&s, r);
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_granted, r->w->leases);
    run_settle(r);
    span_memory(&s, r, n);
    begun = now_ns();
    seats.open = true;
    for (int k = 0; k < seats.n; k++)
        r->way->release(seats.held[k]);
    run_await(r, &r->n_granted, n);
    r->res.v[RATE] = per_second(n - r->w->leases, r->granted_ns - begun);
    run_await(r, &r->n_released, n);
    run_settle(r);
    span_end(&s, r, n);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}
