/* Several processes of one run; see play.h. */
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "play.h"

struct crew *crew;

static void share(void)
{
    crew = mmap(NULL, sizeof *crew, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crew == MAP_FAILED)
        fail("no shared memory");
}

void crew_await(atomic_int *count, int n)
{
    while (atomic_load(count) < n)
        poll(NULL, 0, 1);
}

void crew_start(struct run *r, int n, void (*main)(struct run *r, int k),
                pid_t *pid)
{
    share();
    for (int k = 0; k < n; k++) {
        pid[k] = harness_fork();
        if (pid[k] == 0) {
            run_open(r, r->servers);
            atomic_fetch_add(&crew->open, 1);
            while (!atomic_load(&crew->go))
                event_base_loop(r->base, EVLOOP_ONCE);
            main(r, k);
            _exit(0);
        }
    }
    crew_await(&crew->open, n);
}

void crew_join(int n, const pid_t *pid)
{
    for (int k = 0; k < n; k++)
        if (harness_join(pid[k]) != 0)
            fail("a process of the run failed");
}

struct span crew_span(void)
{
    return (struct span){.cpu = cpu_ns(),
                         .wire = wire_bytes(),
                         .heap = heap_used(),
                         .rss = rss_used()};
}

void crew_add_memory(const struct span *s)
{
    atomic_fetch_add(&crew->heap, (int64_t)(heap_used() - s->heap));
    atomic_fetch_add(&crew->rss, (int64_t)(rss_used() - s->rss));
}

void crew_add_cost(const struct span *s)
{
    atomic_fetch_add(&crew->cpu, cpu_ns() - s->cpu);
    atomic_fetch_add(&crew->wire, wire_bytes() - s->wire);
}

void crew_note_cost(struct run *r, int64_t packets, int n)
{
    int64_t now = mntr_packets(r->servers);

    r->res.v[CPU] = (double)atomic_load(&crew->cpu) / 1000 / n;
    r->res.v[WIRE] = (double)atomic_load(&crew->wire) / n;
    if (packets >= 0 && now >= 0)
        r->res.v[REQUESTS] = (double)(now - packets) / n;
}

void crew_note_last(int64_t granted_ns)
{
    int64_t last = atomic_load(&crew->last_ns);

    while (granted_ns > last &&
           !atomic_compare_exchange_weak(&crew->last_ns, &last, granted_ns))
        ;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void note_times(struct run *r, int64_t *took, int n)
{
    if (n <= 0)
        return;
    qsort(took, (size_t)n, sizeof took[0], compare);
    r->res.v[LATENCY] = (double)took[n / 2] / 1e3;
    r->res.v[LATENCY99] = (double)took[n * 99 / 100] / 1e3;
    r->res.v[LATENCY_MAX] = (double)took[n - 1] / 1e3;
}
