/*
 * All that this server does with evzk.  A server of your own that has a
 * libevent loop needs these calls, and little else:
 *
 *   lead_begin()   a session on the loop that there is, and joining the others
 *   on_shard()     a shard is ours, or not any more: load it, let it go
 *   lead_drain()   before the end: hands over shard by shard
 *
 * and, in answer.c, evzk_shards_leading() just before each answer.
 *
 * How it can fail.  When ZooKeeper is away, shards are led until the lease
 * ends, and then by nobody here; they come back by themselves.  A drain that
 * nobody takes from, or that ZooKeeper does not confirm, ends in a hurry: the
 * session is closed, and its end gives up what is left.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

#define DRAIN_MS 10000
#define HURRY_S 13 /* Longer than the drain: giving up takes a moment, too. */

/* In a hurry, or all is done: what is left goes with the session. */
static void close_session(struct server *s)
{
    if (s->closing)
        return;
    s->closing = true;
    evzk_shards_free(s->shards);
    s->shards = NULL;
    if (evzk_session_close(s->session))
        event_base_loopbreak(s->base); /* The session is closed already. */
}

/* A server that keeps something for each shard loads it at ELECTED, and would
 * set the option `acknowledge`; at RESIGNED, and LOST, it puts it away.  This
 * one keeps nothing. */
static void on_shard(evzk_shards *shards, uint32_t shard,
                     evzk_election_event event, int rc, void *arg)
{
    (void)shards, (void)arg;
    if (event == EVZK_ELECTION_FAILED)
        fprintf(stderr, "shard-server: shard %u: %s\n", shard,
                evzk_strerror(rc));
}

static void on_shards(evzk_shards *shards, evzk_shards_event event, int rc,
                      void *arg)
{
    struct server *s = arg;

    (void)shards;
    switch (event) {
    case EVZK_SHARDS_PLANNED:
    case EVZK_SHARDS_BALANCED:
        break;
    case EVZK_SHARDS_DRAINED:
        puts("drained");
        close_session(s);
        break;
    case EVZK_SHARDS_FAILED:
        fprintf(stderr, "shard-server: %s\n",
                rc == EVZK_ERR_INVAL ? "the others have another --shards"
                                     : evzk_strerror(rc));
        s->status = s->closing ? s->status : 1;
        close_session(s);
        break;
    }
}

static void on_session(evzk_session *session, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    (void)session;
    if (event != EVZK_SESSION_CLOSED)
        return; /* The shards are told by themselves. */
    if (rc && rc != EVZK_ERR_TIMEOUT) {
        fprintf(stderr, "shard-server: %s\n", evzk_strerror(rc));
        s->status = 1;
    }
    event_base_loopbreak(s->base);
}

static void on_hurry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    close_session(arg);
}

static int join(struct server *s)
{
    char data[700];
    evzk_shards_options opt = {.count = s->opt.count,
                               .weight = s->opt.weight,
                               .most = s->opt.most,
                               .data = data};

    opt.data_len = (size_t)snprintf(data, sizeof data, "%s%s%s", s->address,
                                    s->opt.name[0] ? " " : "", s->opt.name);
    return evzk_shards_join(s->session, s->opt.path, &opt, on_shard, on_shards,
                            s, &s->shards);
}

int lead_begin(struct server *s)
{
    int rc = evzk_session_open(s->base, s->opt.servers, NULL, on_session, s,
                               &s->session);

    s->hurry = evtimer_new(s->base, on_hurry, s);
    if (!rc && !s->hurry)
        rc = EVZK_ERR_NOMEM;
    return rc ? rc : join(s);
}

void lead_drain(struct server *s)
{
    static const struct timeval hurry = {HURRY_S, 0};

    if (s->draining || evzk_shards_drain(s->shards, DRAIN_MS)) {
        close_session(s);
        return;
    }
    s->draining = true;
    event_add(s->hurry, &hurry);
    puts("draining");
    fflush(stdout);
}

void lead_end(struct server *s)
{
    evzk_shards_free(s->shards);
    evzk_session_free(s->session);
    if (s->hurry)
        event_free(s->hurry);
}
