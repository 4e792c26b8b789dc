/* One lock, and processes that pass it on to each other. */
#include <event2/event.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "play.h"

enum { GRANTS_MAX = 20000, HOLD_US = 3000 };

/* All processes of a run see it; they have one clock, too. */
static struct shared {
    atomic_int open, queued, grants, asked, done;
    atomic_bool go;
    _Atomic int64_t cpu, wire, heap, rss; /* Sums. */
    int64_t granted_ns[GRANTS_MAX], released_ns[GRANTS_MAX];
} * shared;

static void share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("no shared memory");
}

static void await_all(atomic_int *count, int n)
{
    while (atomic_load(count) < n)
        poll(NULL, 0, 1);
}

/* The k-th grant of all is this one; nobody else has it meanwhile. */
static int note_grant(struct run *r)
{
    int k = atomic_fetch_add(&shared->grants, 1);

    if (k >= GRANTS_MAX)
        fail("more grants than there is room for");
    shared->granted_ns[k] = r->granted_ns;
    return k;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* From each release to the next grant, by whichever process. */
static void note_latency(struct run *r, int grants)
{
    static int64_t took[GRANTS_MAX];
    int n = grants - 1;

    for (int k = 0; k < n; k++)
        took[k] = shared->granted_ns[k + 1] - shared->released_ns[k];
    qsort(took, (size_t)n, sizeof took[0], compare);
    r->res.v[LATENCY] = (double)took[n / 2] / 1e3;
    r->res.v[LATENCY99] = (double)took[n * 99 / 100] / 1e3;
}

/* Starts @n processes, and waits until all have a session. */
static void start_all(struct run *r, int n, void (*main)(struct run *r, int k),
                      pid_t *pid)
{
    share();
    for (int k = 0; k < n; k++) {
        pid[k] = harness_fork();
        if (pid[k] == 0) {
            run_open(r, r->servers);
            atomic_fetch_add(&shared->open, 1);
            while (!atomic_load(&shared->go))
                event_base_loop(r->base, EVLOOP_ONCE);
            main(r, k);
            _exit(0);
        }
    }
    await_all(&shared->open, n);
}

static void join_all(int n, const pid_t *pid)
{
    for (int k = 0; k < n; k++)
        if (harness_join(pid[k]) != 0)
            fail("a process of the run failed");
}

static struct span begin_span(void)
{
    return (struct span){.cpu = cpu_ns(),
                         .wire = wire_bytes(),
                         .heap = heap_used(),
                         .rss = rss_used()};
}

static void add_memory(const struct span *s)
{
    atomic_fetch_add(&shared->heap, (int64_t)(heap_used() - s->heap));
    atomic_fetch_add(&shared->rss, (int64_t)(rss_used() - s->rss));
}

/* What this process spent. */
static void add_cost(const struct span *s)
{
    atomic_fetch_add(&shared->cpu, cpu_ns() - s->cpu);
    atomic_fetch_add(&shared->wire, wire_bytes() - s->wire);
}

static void note_cost(struct run *r, int64_t packets, int n)
{
    int64_t now = mntr_packets(r->servers);

    r->res.v[CPU] = (double)atomic_load(&shared->cpu) / 1000 / n;
    r->res.v[WIRE] = (double)atomic_load(&shared->wire) / n;
    if (packets >= 0 && now >= 0)
        r->res.v[REQUESTS] = (double)(now - packets) / n;
}

/* ---- All have queued before the first gets it ---- */

static void pass_on(struct run *r, int i)
{
    int k = note_grant(r);

    shared->released_ns[k] = now_ns();
    r->way->release(i);
}

/* The meters of so many processes would be much of what is measured: they are
 * off while the lock is passed on. */
static void serve_some(struct run *r, int k)
{
    int n = r->w->n / r->w->processes;
    struct span s = begin_span();

    (void)k;
    r->granted = pass_on;
    run_feed(r, r->way->acquire, 0, n, 1);
    run_settle(r);
    add_memory(&s);
    meter_stop(&r->meter);
    atomic_fetch_add(&shared->queued, 1);
    run_await(r, &r->n_released, n);
    meter_start(&r->meter, r->base);
    run_settle(r);
    add_cost(&s);
    atomic_fetch_add(&shared->done, 1);
    run_close(r);
}

void play_spread(struct run *r)
{
    int n = r->w->n, processes = r->w->processes;
    pid_t *pid = calloc((size_t)processes, sizeof *pid);
    int64_t begun, packets;
    struct holder h;

    holder_start(&h, r, 1, 1);
    start_all(r, processes, serve_some, pid);
    packets = mntr_packets(r->servers);
    atomic_store(&shared->go, true);
    await_all(&shared->queued, processes);
    begun = now_ns();
    holder_release(&h);
    await_all(&shared->done, processes);
    note_cost(r, packets, n);
    join_all(processes, pid);
    r->res.v[HEAP] = (double)atomic_load(&shared->heap) / n;
    r->res.v[RSS] = (double)atomic_load(&shared->rss) / n;
    r->res.v[RATE] = per_second(n, shared->granted_ns[n - 1] - begun);
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
    if (atomic_fetch_add(&shared->asked, 1) >= r->w->n)
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
    shared->released_ns[turn.grant] = now_ns();
    r->way->release(turn.lock);
}

static void take_turns(struct run *r, int k)
{
    struct span s = begin_span();

    (void)k;
    r->granted = hold_a_while;
    turn.timer = event_new(r->base, -1, 0, on_held, r);
    ask_next(r);
    while (atomic_load(&shared->grants) < r->w->n || r->n_released < turn.next)
        event_base_loop(r->base, EVLOOP_ONCE);
    add_cost(&s);
    atomic_fetch_add(&shared->done, 1);
    event_free(turn.timer);
    run_close(r);
}

void play_alternate(struct run *r)
{
    int n = r->w->n, processes = r->w->processes;
    pid_t pid[2];
    int64_t packets;

    start_all(r, processes, take_turns, pid);
    packets = mntr_packets(r->servers);
    atomic_store(&shared->go, true);
    await_all(&shared->done, processes);
    note_cost(r, packets, n);
    join_all(processes, pid);
    note_latency(r, n);
    r->res.v[CPU] = NAN; /* Most of it is the meters'. */
}
