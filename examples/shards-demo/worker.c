/*
 * One process of the demonstration: one thread, one session, a share of the
 * shards.  It says what it hears, as soon as it hears it, and when its lease
 * ends, as soon as that moves.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <evzk/evzk.h>

#include "demo.h"

#define LEASE_TICK_US 5000
#define DRAIN_MS 10000

struct worker {
    const struct options *opt;
    unsigned who;
    int channel, pipe;
    struct event_base *base;
    struct event *command, *tick;
    evzk_session *session;
    evzk_shards *shards;
    uint64_t lease_us; /* Its end, as said last. */
};

static void say(struct worker *w, enum kind kind, uint32_t shard,
                uint64_t value)
{
    struct said said = {.us = now_us(),
                        .value = value,
                        .shard = shard,
                        .who = (uint16_t)w->who,
                        .kind = (uint16_t)kind};

    if (write(w->pipe, &said, sizeof said) != sizeof said)
        _exit(3); /* The parent has gone. */
}

/* The lease's end is known to the millisecond, so it seems to move a little all
 * the time. */
static void say_lease(struct worker *w)
{
    uint64_t now = now_us();
    uint32_t ms = evzk_session_lease_ms(w->session);
    uint64_t end = ms ? now + ms * 1000u : 0;

    if (end == 0 && w->lease_us == 0)
        return;
    if (end > 0 && end < w->lease_us + 2000)
        return;
    w->lease_us = end;
    say(w, SAID_LEASE, 0, end);
}

static void on_shard(evzk_shards *shards, uint32_t shard,
                     evzk_election_event event, int rc, void *arg)
{
    struct worker *w = arg;

    (void)rc;
    say_lease(w);
    if (event == EVZK_ELECTION_ELECTED)
        say(w, SAID_ELECTED, shard, evzk_shards_epoch(shards, shard));
    else if (event == EVZK_ELECTION_LEADING && rc == EVZK_OK)
        say(w, SAID_LEADING, shard, evzk_shards_epoch(shards, shard));
    else if (event == EVZK_ELECTION_RESIGNED || event == EVZK_ELECTION_LOST)
        say(w, SAID_ENDED, shard, 0);
}

static void on_shards(evzk_shards *shards, evzk_shards_event event, int rc,
                      void *arg)
{
    struct worker *w = arg;

    (void)shards;
    if (event < EVZK_SHARDS_DRAINED)
        return;
    say(w, event == EVZK_SHARDS_DRAINED ? SAID_DRAINED : SAID_FAILED, 0,
        (uint64_t)-rc);
}

static void on_session(evzk_session *session, evzk_session_event event, int rc,
                       void *arg)
{
    struct worker *w = arg;

    (void)session, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(w->base);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    say_lease(arg);
}

/* A byte: drain.  The end: go. */
static void on_command(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    char byte;

    (void)what;
    if (recv(fd, &byte, 1, 0) == 1) {
        evzk_shards_drain(w->shards, DRAIN_MS);
        return;
    }
    event_del(w->command);
    event_del(w->tick);
    evzk_shards_free(w->shards);
    w->shards = NULL;
    if (evzk_session_close(w->session))
        event_base_loopbreak(w->base);
}

static int join(struct worker *w)
{
    const evzk_session_options zk = {.timeout_ms = w->opt->session_ms};
    const evzk_shards_options opt = {.count = w->opt->count};
    int rc = evzk_session_open(w->base, w->opt->servers, &zk, on_session, w,
                               &w->session);

    return rc ? rc
              : evzk_shards_join(w->session, w->opt->path, &opt, on_shard,
                                 on_shards, w, &w->shards);
}

static bool set_up(struct worker *w)
{
    static const struct timeval tick = {0, LEASE_TICK_US};

    w->base = event_base_new();
    if (!w->base)
        return false;
    w->command =
        event_new(w->base, w->channel, EV_READ | EV_PERSIST, on_command, w);
    w->tick = event_new(w->base, -1, EV_PERSIST, on_tick, w);
    return w->command && w->tick && !event_add(w->command, NULL) &&
           !event_add(w->tick, &tick) && !join(w);
}

int worker_run(const struct options *opt, unsigned who, int channel, int pipe)
{
    struct worker w = {
        .opt = opt, .who = who, .channel = channel, .pipe = pipe};
    bool ok;

    signal(SIGINT, SIG_IGN); /* The parent hears it, and hangs up. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ok = set_up(&w);
    if (ok)
        event_base_dispatch(w.base);
    evzk_shards_free(w.shards);
    evzk_session_free(w.session);
    if (w.tick)
        event_free(w.tick);
    if (w.command)
        event_free(w.command);
    if (w.base)
        event_base_free(w.base);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
