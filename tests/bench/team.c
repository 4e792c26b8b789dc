/*
 * Several processes of one run that share shards; see team.h.
 *
 * A process looks at its order every so often.  A shard's entry is written by
 * one process at a time: another leads it only when the one before has ended.
 */
#include "team.h"

#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { LOOK_US = 2000, LOOK_MS = 5, LATE_SHORT_MS = 3000 };

static struct {
    int n;
    pid_t pid[PROCESSES_MAX]; /* 0: has gone. */
} team;

/* ---- In each of them ---- */

static int me;
static bool leads[GRANTS_MAX];

/* A process may report once more that it leads. */
static void note_led(struct run *r, int i)
{
    if (leads[i])
        return;
    leads[i] = true;
    crew->granted_ns[i] = r->granted_ns;
    crew_note_last(r->granted_ns);
    atomic_fetch_add(&crew->grants, 1);
    atomic_fetch_add(&crew->leading[me], 1);
}

static void note_given(struct run *r, int i)
{
    (void)r;
    crew->released_ns[i] = now_ns();
    if (leads[i])
        atomic_fetch_sub(&crew->leading[me], 1);
    leads[i] = false;
}

/* That every shard was given, and is proved gone. */
static void drain(struct run *r)
{
    int wanted = r->n_given + atomic_load(&crew->leading[me]);

    atomic_store(&crew->begun_ns, now_ns());
    r->way->drain();
    while (r->n_given < wanted || r->n_released < r->n_given)
        event_base_loop(r->base, EVLOOP_ONCE);
}

static void obey(struct run *r, enum order what, struct span *span)
{
    switch (what) {
    case REST:
        return;
    case JOIN:
        atomic_store(&crew->begun_ns, now_ns());
        r->way->join(me);
        break;
    case COUNT:
        run_settle(r);
        *span = crew_span();
        break;
    case DRAIN:
        drain(r);
        break;
    case LEAVE:
        if (span->cpu)
            crew_add_cost(span);
        atomic_fetch_add(&crew->others, r->n_other);
        break;
    }
    atomic_fetch_add(&crew->obeyed, 1);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg; /* The loop has had a turn: that is all. */
}

/* The meter would be a good part of what is measured. */
static void serve(struct run *r, int k)
{
    struct event *look = event_new(r->base, -1, EV_PERSIST, on_look, NULL);
    enum order done = REST;
    struct span span = {0};

    me = k;
    r->granted = note_led;
    r->given = note_given;
    meter_stop(&r->meter);
    event_add(look, &(struct timeval){0, LOOK_US});
    while (done != LEAVE) {
        enum order now = (enum order)atomic_load(&crew->order[k]);

        if (now != done)
            obey(r, now, &span);
        done = now;
        if (done != LEAVE)
            event_base_loop(r->base, EVLOOP_ONCE);
    }
    event_free(look);
    run_close(r);
}

/* ---- In the one that tells them ---- */

void team_start(struct run *r, int n)
{
    if (r->w->shards > GRANTS_MAX)
        fail("more shards than there is room for");
    team.n = n;
    crew_start(r, n, serve, team.pid);
    atomic_store(&crew->go, true);
}

void team_tell(int k, enum order what)
{
    atomic_store(&crew->obeyed, 0);
    atomic_store(&crew->order[k], (int)what);
    crew_await(&crew->obeyed, 1);
}

int64_t team_kill(int k)
{
    int64_t now = now_ns();

    kill(team.pid[k], SIGKILL);
    waitpid(team.pid[k], NULL, 0);
    team.pid[k] = 0;
    atomic_store(&crew->leading[k], 0);
    return now;
}

void team_await(int k, int n)
{
    while (atomic_load(&crew->leading[k]) != n)
        poll(NULL, 0, 1);
}

int team_led(void)
{
    int n = 0;

    for (int k = 0; k < team.n; k++)
        n += atomic_load(&crew->leading[k]);
    return n;
}

void team_forget(void)
{
    memset(crew->granted_ns, 0, sizeof crew->granted_ns);
    memset(crew->released_ns, 0, sizeof crew->released_ns);
    atomic_store(&crew->last_ns, 0);
    atomic_store(&crew->grants, 0);
}

void team_end(struct run *r)
{
    for (int k = 0; k < team.n; k++) {
        if (!team.pid[k])
            continue;
        if (atomic_load(&crew->order[k]) != LEAVE)
            team_tell(k, LEAVE);
        crew_join(1, &team.pid[k]);
    }
    r->res.v[OTHER] = atomic_load(&crew->others);
}

void team_note_times(struct run *r, int n, int64_t end)
{
    static int64_t took[GRANTS_MAX];
    int counted = 0;

    for (int i = 0; i < r->w->shards; i++) {
        int64_t from = end ? end : crew->released_ns[i];

        if (from && crew->granted_ns[i])
            took[counted++] = crew->granted_ns[i] - from;
    }
    if (counted != n)
        fail("%d shards were to be handed over, and %d were", n, counted);
    note_times(r, took, n);
}

int64_t team_await_end(const char *server, int64_t znodes)
{
    if (znodes < 0)
        fail("the server does not answer to \"srvr\"");
    while (srvr_znodes(server) >= znodes)
        poll(NULL, 0, LOOK_MS);
    return now_ns();
}

void team_settle(struct run *r)
{
    if (r->way->watches)
        poll(NULL, 0, LATE_SHORT_MS);
    for (int k = 0; k < team.n; k++)
        team_tell(k, COUNT);
    team_forget();
}
