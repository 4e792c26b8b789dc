/* Many locks, each on a path of its own. */
#include "play.h"

#include <event2/event.h>

enum { REPEATED = 1000, TENTH = 10, SETTLED_MS = 3000 };

void span_begin(struct span *s, struct run *r)
{
    s->heap = heap_used();
    s->rss = rss_used();
    s->packets = mntr_packets(r->servers);
    s->wire = wire_bytes();
    s->cpu = cpu_ns();
    if (r->meter.timer)
        meter_reset(&r->meter);
}

void span_memory(const struct span *s, struct run *r, int n)
{
    r->res.v[HEAP] = (heap_used() - s->heap) / n;
    r->res.v[RSS] = (rss_used() - s->rss) / n;
}

void span_end(const struct span *s, struct run *r, int n)
{
    int64_t packets;

    r->res.v[CPU] = (double)(cpu_ns() - s->cpu) / 1000 / n;
    r->res.v[WIRE] = (double)(wire_bytes() - s->wire) / n;
    if (r->meter.timer)
        meter_put(&r->meter, &r->res);
    packets = mntr_packets(r->servers);
    if (s->packets >= 0 && packets >= 0)
        r->res.v[REQUESTS] = (double)(packets - s->packets) / n;
}

void note_transactions(struct run *r, int64_t before)
{
    int64_t now = srvr_transactions(r->servers);

    if (before >= 0 && now >= 0)
        r->res.v[TRANSACTIONS] = (double)(now - before);
}

double per_second(double n, int64_t ns)
{
    return ns > 0 ? n * 1e9 / (double)ns : 0;
}

/*
 * A small number of locks is taken several times over, at once: a run would
 * otherwise be over before it can be measured.
 */
static void play_distinct(struct run *r)
{
    int n = r->w->n, reps = n < REPEATED ? REPEATED / n : 1;
    int64_t acquiring = 0, releasing = 0, begun;
    struct span s;

    run_open(r, r->servers);
    span_begin(&s, r);
    for (int k = 0; k < reps; k++) {
        begun = now_ns();
        run_feed(r, r->way->acquire, k * n, n, 1);
        run_await(r, &r->n_granted, (k + 1) * n);
        acquiring += r->granted_ns - begun;
        if (reps == 1) {
            run_settle(r); /* Also the work after the grant. */
            span_memory(&s, r, n);
        }
        begun = now_ns();
        run_feed(r, r->way->release, k * n, n, 1);
        run_await(r, &r->n_released, (k + 1) * n);
        releasing += r->released_ns - begun;
    }
    run_settle(r);
    span_end(&s, r, n * reps);
    r->res.v[RATE] = per_second(n * reps, acquiring);
    r->res.v[RELEASE] = per_second(n * reps, releasing);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}

void play_uncontended(struct run *r) { play_distinct(r); }

static const struct way *playing;

static void release_free_one(int i)
{
    if (i % TENTH != 0)
        playing->release(i);
}

/* Ends when nine of ten are held, and all others watch. */
void play_tenth(struct run *r)
{
    int n = r->w->n, got = n - n / TENTH;
    struct holder h;
    int64_t begun, end;
    struct span s;

    playing = r->way;
    holder_start(&h, r, n, TENTH);
    run_open(r, r->servers);
    span_begin(&s, r);
    begun = now_ns();
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_granted, got);
    end = run_settle(r);
    r->res.v[RATE] =
        per_second(n, (end > r->granted_ns ? end : r->granted_ns) - begun);
    span_memory(&s, r, n);
    begun = now_ns();
    run_feed(r, release_free_one, 0, n, 1);
    run_await(r, &r->n_released, got);
    r->res.v[RELEASE] = per_second(got, r->released_ns - begun);
    run_settle(r);
    span_end(&s, r, n);
    r->res.v[OTHER] = r->n_other;
    run_close(r);
    holder_end(&h);
}

/* One lock after another: what is waited for is the servers' answers. */
void play_sequential(struct run *r)
{
    int n = r->w->n;
    int64_t acquiring = 0, releasing = 0, begun, trips = 0, before;
    struct span s;

    run_open(r, r->servers);
    span_begin(&s, r);
    for (int i = 0; i < n; i++) {
        begun = now_ns();
        before = wire_trips();
        r->way->acquire(i);
        run_await(r, &r->n_granted, i + 1);
        trips += wire_trips() - before;
        acquiring += r->granted_ns - begun;
        begun = now_ns();
        r->way->release(i);
        run_await(r, &r->n_released, i + 1);
        releasing += r->released_ns - begun;
    }
    run_settle(r);
    span_end(&s, r, n);
    r->res.v[RATE] = per_second(n, acquiring);
    r->res.v[RELEASE] = per_second(n, releasing);
    r->res.v[TRIPS] = (double)trips / n;
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}

/* Locks that are held, and nothing is done.  The meter's timer would be most of
 * what is measured: it is off. */
void play_idle(struct run *r)
{
    int n = r->w->n;
    int64_t cpu, packets, begun;
    double seconds;
    struct span s;

    run_open(r, r->servers);
    span_begin(&s, r);
    run_feed(r, r->way->acquire, 0, n, 1);
    run_await(r, &r->n_granted, n);
    run_for_ms(r, LATE_MS);
    run_settle(r);
    span_memory(&s, r, n);
    meter_stop(&r->meter);
    packets = mntr_packets(r->servers);
    begun = now_ns();
    cpu = cpu_ns();
    run_for_ms(r, SETTLED_MS);
    cpu = cpu_ns() - cpu;
    seconds = (double)(now_ns() - begun) / 1e9;
    if (packets >= 0)
        packets = mntr_packets(r->servers) - packets;
    r->res.v[IDLE_CPU] = (double)cpu / 1e7 / seconds;
    if (packets >= 0)
        r->res.v[FRAMES] = (double)packets / seconds;
    r->res.v[OTHER] = r->n_other;
    run_close(r);
}
