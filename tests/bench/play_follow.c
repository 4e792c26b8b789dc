/*
 * A copy of many znodes: it is filled; then another process writes to some of
 * the znodes, as fast as it can, and all of these changes are seen.
 */
#include <event2/event.h>

#include "play.h"

enum { CHANGES = 10000, LOOK_US = 10000 };

static int changes_of(const struct run *r)
{
    return r->w->n < CHANGES ? r->w->n : CHANGES;
}

/* ---- The process that writes ---- */

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

static void change_some(struct run *r, int k)
{
    struct event *look = event_new(r->base, -1, EV_PERSIST, on_look, NULL);

    (void)k;
    meter_stop(&r->meter);
    event_add(look, &(struct timeval){0, LOOK_US});
    while (!atomic_load(&crew->asked))
        event_base_loop(r->base, EVLOOP_ONCE);
    event_free(look);
    run_feed(r, r->way->acquire, 0, changes_of(r), 1);
    run_await(r, &r->n_released, changes_of(r));
    run_close(r);
}

/* ---- The process that has the copy ---- */

static void fill(struct run *r)
{
    int n = r->w->n;
    int64_t begun;
    struct span s;

    span_begin(&s, r);
    begun = now_ns();
    r->way->acquire(0);
    run_await(r, &r->n_granted, n);
    r->res.v[RATE] = per_second(n, r->granted_ns - begun);
    run_settle(r);
    span_memory(&s, r, n);
    span_end(&s, r, n);
}

static void follow(struct run *r)
{
    int64_t begun = now_ns();

    atomic_store(&crew->asked, 1);
    run_await(r, &r->n_released, changes_of(r));
    r->res.v[RELEASE] = per_second(changes_of(r), r->released_ns - begun);
    run_settle(r);
}

void play_follow(struct run *r)
{
    struct run writer = *r;
    pid_t pid;

    writer.way = &way_raw_value;
    crew_start(&writer, 1, change_some, &pid);
    atomic_store(&crew->go, true);
    run_open(r, r->servers);
    fill(r);
    follow(r);
    r->res.v[OTHER] =
        r->n_other + (r->n_granted - r->w->n) + (r->n_released - changes_of(r));
    run_close(r);
    crew_join(1, &pid);
}
