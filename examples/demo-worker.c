/*
 * One worker of the demonstration, A or B: one thread, one libevent loop, one
 * session, and many locks at once.  The table PART says what each does in each
 * phase, and how it knows that it is done.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <event2/event.h>
#include <evzk/evzk.h>

#include "demo.h"

#define SLICE 100 /* Calls at a time, so that no loop step is long. */

struct worker;

struct item {
    struct worker *worker;
    evzk_lock *lock; /* Owned; NULL before the call and after the end. */
    bool resumed;    /* Since the cut. */
};

struct worker {
    const struct demo_options *opt;
    enum demo_role role;
    struct demo_worker *me;
    struct demo_slot *slot;
    struct demo_meter meter;
    int channel; /* To the parent. */
    enum demo_phase phase;
    bool busy;    /* The phase has begun, and its end is not reported. */
    bool leaving; /* The parent hung up: close and go. */
    struct event_base *base;
    struct event *command;
    struct event *tick;
    struct event *slice;
    int (*each)(struct worker *, size_t); /* What the slices do ... */
    size_t next;                          /* ... to this lock next. */
    evzk_session *session;
    struct item *items;
};

static void trouble(struct worker *w, const char *what, int rc)
{
    if (atomic_load(&w->me->trouble) || w->leaving)
        return;
    atomic_store(&w->me->trouble_rc, rc);
    /* The parent was forked from the same program: it has the same string. */
    atomic_store(&w->me->trouble, what);
}

/* What a lock reports ---------------------------------------------------- */

static void granted(struct worker *w, size_t i, uint64_t token)
{
    struct demo_slot *slot = &w->slot[i];

    if (w->role == ROLE_A) {
        atomic_store(&slot->token, token);
        atomic_store(&slot->held, true);
    } else {
        if (atomic_load(&slot->held))
            atomic_fetch_add(&w->me->early, 1);
        if (token <= atomic_load(&slot->token))
            atomic_fetch_add(&w->me->disorder, 1);
    }
    atomic_fetch_add(&w->me->granted, 1);
}

static void resumed(struct worker *w, struct item *item)
{
    if (!item->resumed)
        atomic_fetch_add(&w->me->resumed, 1);
    item->resumed = true;
}

static void lost(struct worker *w, size_t i, int rc)
{
    if (w->role == ROLE_A)
        atomic_store(&w->slot[i].held, false);
    if (!w->leaving)
        atomic_fetch_add(&w->me->lost, 1);
    trouble(w, "a lock was lost", rc);
}

static void end(struct item *item)
{
    evzk_lock_free(item->lock);
    item->lock = NULL;
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct item *item = arg;
    struct worker *w = item->worker;

    switch (event) {
    case EVZK_LOCK_GRANTED:
        granted(w, (size_t)(item - w->items), evzk_lock_token(lock));
        break;
    case EVZK_LOCK_SUSPENDED:
        atomic_fetch_add(&w->me->suspended, 1);
        break;
    case EVZK_LOCK_RESUMED:
        resumed(w, item);
        break;
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        break;
    case EVZK_LOCK_RELEASED:
        if (rc)
            trouble(w, "a lock was not deleted", rc);
        atomic_fetch_add(&w->me->released, 1);
        end(item);
        break;
    case EVZK_LOCK_LOST:
        lost(w, (size_t)(item - w->items), rc);
        end(item);
        break;
    case EVZK_LOCK_FAILED:
        trouble(w, "a lock could not be had", rc);
        end(item);
        break;
    }
}

/* What a session reports ------------------------------------------------- */

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    struct worker *w = arg;

    (void)s;
    if (event == EVZK_SESSION_CONNECTED) {
        atomic_store(&w->me->connected, 1);
    } else if (event == EVZK_SESSION_CLOSED) {
        if (w->phase != PHASE_CLOSE || rc)
            trouble(w, "the session closed", rc);
        else
            atomic_store(&w->me->closed, 1);
        if (w->leaving)
            event_base_loopbreak(w->base);
    }
}

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    const struct worker *w = arg;

    fprintf(stderr, "%c %d %s\n", w->role == ROLE_A ? 'A' : 'B', (int)level,
            line);
}

/* The parts of the phases ------------------------------------------------ */

static void connect_session(struct worker *w)
{
    evzk_session_options opt = {.timeout_ms = w->opt->session_ms};
    int rc;

    if (w->opt->verbose) {
        opt.log = on_log;
        opt.log_arg = w;
        opt.log_level = EVZK_LOG_INFO;
    }
    rc = evzk_session_open(w->base, w->opt->servers, &opt, on_session, w,
                           &w->session);
    if (rc)
        trouble(w, "no session could be opened", rc);
}

static int acquire_one(struct worker *w, size_t i)
{
    char path[128];

    snprintf(path, sizeof path, "/evzk-demo/%s/lock-%05zu", w->opt->run, i);
    return evzk_lock_acquire(w->session, path, NULL, on_lock, &w->items[i],
                             &w->items[i].lock);
}

static int release_one(struct worker *w, size_t i)
{
    if (w->role == ROLE_A)
        atomic_store(&w->slot[i].held, false);
    return evzk_lock_release(w->items[i].lock);
}

/* Does the same to every lock, SLICE of them at a time: 10,000 calls at once
 * would hold up everything else in the loop. */
static void start_slices(struct worker *w, int (*each)(struct worker *, size_t))
{
    w->each = each;
    w->next = 0;
    event_active(w->slice, EV_TIMEOUT, 0);
}

static void on_slice(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct worker *w = arg;
    int rc = 0;

    (void)fd;
    (void)what;
    for (int n = 0; n < SLICE && w->next < w->opt->locks && !rc; n++)
        rc = w->each(w, w->next++);
    if (rc)
        trouble(w, "a call was refused", rc);
    else if (w->next < w->opt->locks)
        event_add(w->slice, &at_once);
}

static void acquire(struct worker *w) { start_slices(w, acquire_one); }

static void release(struct worker *w) { start_slices(w, release_one); }

static void cut(struct worker *w)
{
    for (size_t i = 0; i < w->opt->locks; i++)
        w->items[i].resumed = false;
    atomic_store(&w->me->suspended, 0);
    atomic_store(&w->me->resumed, 0);
    if (cut_connections(w->opt->servers) == 0)
        trouble(w, "found no connection to cut", 0);
}

static void close_session(struct worker *w)
{
    int rc = evzk_session_close(w->session);

    if (rc)
        trouble(w, "the session could not be closed", rc);
}

/* How a part is known to be done ----------------------------------------- */

static bool is_connected(struct worker *w)
{
    return atomic_load(&w->me->connected);
}

static bool has_all(struct worker *w)
{
    return atomic_load(&w->me->granted) == w->opt->locks;
}

/* The znodes come in the order of the calls, or nearly: going on from the
 * first that is still missing looks at each lock about once in all. */
static bool waits_for_all(struct worker *w)
{
    unsigned n = atomic_load(&w->me->waiting);

    while (n < w->opt->locks && w->items[n].lock &&
           evzk_lock_node(w->items[n].lock)[0])
        n++;
    atomic_store(&w->me->waiting, n);
    return n == w->opt->locks;
}

static bool has_kept_all(struct worker *w)
{
    unsigned kept = 0;

    if (atomic_load(&w->me->resumed) < w->opt->locks)
        return false;
    for (size_t i = 0; i < w->opt->locks; i++)
        if (w->items[i].lock && evzk_lock_held(w->items[i].lock))
            kept++;
    atomic_store(&w->me->kept, kept);
    return kept == w->opt->locks;
}

static bool has_released_all(struct worker *w)
{
    return atomic_load(&w->me->released) == w->opt->locks;
}

static bool is_closed(struct worker *w) { return atomic_load(&w->me->closed); }

struct part {
    void (*begin)(struct worker *); /* NULL: nothing to do. */
    bool (*done)(struct worker *);  /* NULL: at once. */
};

/* clang-format off */
static const struct part PART[PHASES][ROLES] = {
    /*                 A                             B                    */
    [PHASE_CONNECT] = {{connect_session, is_connected},
                                              {connect_session, is_connected}},
    [PHASE_TAKE]    = {{acquire, has_all},           {NULL, NULL}},
    [PHASE_QUEUE]   = {{NULL, NULL},                 {acquire, waits_for_all}},
    [PHASE_CUT]     = {{cut, has_kept_all},          {NULL, NULL}},
    [PHASE_PASS]    = {{release, has_released_all},  {NULL, has_all}},
    [PHASE_DROP]    = {{NULL, NULL},          {release, has_released_all}},
    [PHASE_CLOSE]   = {{close_session, is_closed},   {close_session, is_closed}},
};
/* clang-format on */

/* Leading the worker through them ---------------------------------------- */

static void report_if_done(struct worker *w)
{
    const struct part *part = &PART[w->phase][w->role];
    unsigned char byte = (unsigned char)w->phase;
    evzk_session_stats stats;

    if (!w->busy || (part->done && !part->done(w)))
        return;
    w->busy = false;
    meter_end(&w->meter);
    evzk_session_get_stats(w->session, &stats);
    w->me->turn_max_us = stats.turn_max_us;
    send(w->channel, &byte, 1, MSG_NOSIGNAL);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;

    (void)fd;
    (void)what;
    meter_tick(&w->meter);
    report_if_done(w);
}

static void begin_phase(struct worker *w, enum demo_phase phase)
{
    w->phase = phase;
    w->busy = true;
    meter_begin(&w->meter, &w->me->cost[phase]);
    if (PART[phase][w->role].begin)
        PART[phase][w->role].begin(w);
    report_if_done(w);
}

/* The parent is gone, or has seen enough: nothing may stay behind. */
static void leave(struct worker *w)
{
    w->leaving = true;
    event_del(w->command);
    event_del(w->slice);
    if (!w->session || evzk_session_close(w->session))
        event_base_loopbreak(w->base); /* There is none, or it is closed. */
}

static void on_command(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    unsigned char byte;

    (void)what;
    if (recv(fd, &byte, 1, 0) == 1 && byte < PHASES)
        begin_phase(w, (enum demo_phase)byte);
    else
        leave(w);
}

/* Birth and end ---------------------------------------------------------- */

/* With libevent's default clock, a 1 ms timer runs every 4 ms or so: too coarse
 * to measure stalls with. */
static struct event_base *new_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && !event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER))
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

static bool set_up(struct worker *w)
{
    static const struct timeval period = {0, METER_TICK_US};

    meter_open(&w->meter);
    signal(SIGINT, SIG_IGN); /* The parent hears it, and hangs up. */
    w->items = calloc(w->opt->locks, sizeof *w->items);
    w->base = new_base();
    if (!w->items || !w->base)
        return false;
    for (size_t i = 0; i < w->opt->locks; i++)
        w->items[i].worker = w;
    w->command =
        event_new(w->base, w->channel, EV_READ | EV_PERSIST, on_command, w);
    w->tick = event_new(w->base, -1, EV_PERSIST, on_tick, w);
    w->slice = event_new(w->base, -1, 0, on_slice, w);
    return w->command && w->tick && w->slice && !event_add(w->command, NULL) &&
           !event_add(w->tick, &period);
}

static void free_event(struct event *event)
{
    if (event)
        event_free(event);
}

static void tear_down(struct worker *w)
{
    for (size_t i = 0; w->items && i < w->opt->locks; i++)
        evzk_lock_free(w->items[i].lock);
    evzk_session_free(w->session);
    free_event(w->slice);
    free_event(w->tick);
    free_event(w->command);
    if (w->base)
        event_base_free(w->base);
    meter_close(&w->meter);
    free(w->items);
}

int worker_run(const struct demo_options *opt, enum demo_role role,
               struct demo_shared *shared, int channel)
{
    struct worker w = {.opt = opt,
                       .role = role,
                       .me = &shared->worker[role],
                       .slot = shared->slot,
                       .channel = channel};
    bool ok = set_up(&w);

    if (ok)
        event_base_dispatch(w.base);
    tear_down(&w);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
