/* Step 7 of doc/tutorial.md: a queue of jobs, put and done by every process.
 *     step7 localhost:2181 8001 MILLISECONDS
 * A job takes so long. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <evzk/evzk.h>

#include "web.h"

enum {
    SHARDS = 8,     /* The same in all processes. */
    DELIVERIES = 5, /* After so many a job is a dead letter. */
    DRAIN_MS = 5000 /* The longest that others have to take over. */
};

struct server {
    struct event_base *base;
    struct event *stop; /* SIGTERM. */
    struct evhttp *http;
    evzk_session *zk;
    evzk_shards *shards;
    evzk_producer *producer;
    evzk_consumer *consumer;
    evzk_item *item;   /* The job at work; NULL: none. */
    struct event *job; /* The time at which it is done. */
    unsigned job_ms;
    int parts; /* Those of the above that have not ended. */
    bool stopping;
    int rc; /* What ended the server before it was told to end; or 0. */
    char address[32]; /* Where the others send clients. */
};

/* The end: each part ends by itself, and the last one closes the session. */
static void stop(struct server *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    evzk_shards_drain(s->shards, DRAIN_MS);
    evzk_producer_close(s->producer);
    evzk_consumer_close(s->consumer);
}

/* A part that fails takes the others with it. */
static void part_ended(struct server *s, const char *part, int rc)
{
    if (rc && rc != EVZK_ERR_CANCELED)
        fprintf(stderr, "%s: %s\n", part, evzk_strerror(rc));
    if (!s->stopping)
        s->rc = rc;
    stop(s);
    if (--s->parts == 0)
        evzk_session_close(s->zk);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    if (s->stopping)
        evzk_session_close(s->zk); /* The second time: in a hurry. */
    stop(s);
}

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    (void)zk;
    if (event != EVZK_SESSION_CLOSED)
        return; /* Each part hears of that by itself. */
    printf("closed: %s\n", evzk_strerror(rc));
    event_base_loopbreak(s->base);
}

/* ---- Shards ---- */

static void on_shards(evzk_shards *shards, evzk_shards_event event, int rc,
                      void *arg)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(shards, &st);
    if (event == EVZK_SHARDS_BALANCED)
        printf("leading %u of %d shards, members: %u\n", st.leading, SHARDS,
               st.members);
    if (evzk_shards_event_is_final(event))
        part_ended(arg, "shards", rc);
}

/* A server that keeps data for a shard loads it at ELECTED, and puts it away
 * at RESIGNED and LOST. */
static void on_shard(evzk_shards *shards, uint32_t shard,
                     evzk_election_event event, int rc, void *arg)
{
    (void)shards, (void)arg;
    if (event == EVZK_ELECTION_LOST || event == EVZK_ELECTION_FAILED)
        fprintf(stderr, "shard %u: %s\n", shard, evzk_strerror(rc));
}

static int join(struct server *s)
{
    const evzk_shards_options opt = {
        .count = SHARDS, .data = s->address, .data_len = strlen(s->address)};

    s->parts++;
    return evzk_shards_join(s->zk, "/tutorial/shards", &opt, on_shard,
                            on_shards, s, &s->shards);
}

/* ---- Jobs ---- */

static void on_queue(evzk_producer *producer, evzk_producer_event event, int rc,
                     void *arg)
{
    (void)producer, (void)event; /* Both events are the end. */
    part_ended(arg, "producer", rc);
}

static void begin_job(struct server *s, evzk_item *item)
{
    const struct timeval needs = {s->job_ms / 1000, s->job_ms % 1000 * 1000};

    s->item = item;
    event_add(s->job, &needs);
    printf("job %.*s: begun, delivery %u\n", (int)item->len,
           (const char *)item->data, item->deliveries);
}

/* The work was done; now its effect.  A database gets the token with it. */
static void on_job_done(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    if (!s->item || !evzk_consumer_holds(s->consumer, s->item))
        return; /* LOST will come: another process may have the job. */
    printf("job %.*s: done\n", (int)s->item->len, (const char *)s->item->data);
    evzk_consumer_finish(s->consumer, s->item);
}

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    struct server *s = arg;

    (void)consumer;
    if (event == EVZK_CONSUMER_ITEM)
        begin_job(s, item);
    else if (item)
        printf("job %.*s: %s\n", (int)item->len, (const char *)item->data,
               evzk_consumer_event_name(event));
    if (item == s->item && event != EVZK_CONSUMER_ITEM) {
        event_del(s->job);
        s->item = NULL;
    }
    if (evzk_consumer_event_is_final(event))
        part_ended(s, "consumer", rc);
}

static int start_queue(struct server *s)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .prefetch = 1,
                                       .max_deliveries = DELIVERIES};
    int rc = evzk_producer_start(s->zk, "/tutorial/jobs", NULL, on_queue, s,
                                 &s->producer);

    s->parts += 2;
    return rc ? rc
              : evzk_consumer_start(s->zk, "/tutorial/jobs", &opt, on_consumer,
                                    s, &s->consumer);
}

/* ---- HTTP ---- */

/* FNV-1a: any hash that all processes share. */
static uint32_t shard_of(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h % SHARDS;
}

/* To the process that leads the shard by the plan; it may not do so yet. */
static void send_to_leader(struct server *s, struct evhttp_request *req,
                           uint32_t shard)
{
    evzk_shards_member m;
    char url[8192]; /* web_listen() allows no URI that is too long. */

    if (!evzk_session_connected(s->zk) ||
        !evzk_shards_leader(s->shards, shard, &m) || m.self) {
        web_reply(req, 503, "nobody leads shard %u now: ask again", shard);
        return;
    }
    snprintf(url, sizeof url, "http://%.*s%s", (int)m.data_len,
             (const char *)m.data, evhttp_request_get_uri(req));
    web_header(req, "Location", url);
    web_reply(req, 307, "shard %u is led at %.*s", shard, (int)m.data_len,
              (const char *)m.data);
}

static void hello(struct server *s, struct evhttp_request *req)
{
    const char *name = evhttp_request_get_uri(req) + strlen("/hello/");
    uint32_t shard = shard_of(name);

    /* Asked just before the answer that it allows. */
    if (evzk_shards_leading(s->shards, shard))
        web_reply(req, HTTP_OK, "hello %s: shard %u, epoch %llu", name, shard,
                  (unsigned long long)evzk_shards_epoch(s->shards, shard));
    else
        send_to_leader(s, req, shard);
}

static void on_get(struct evhttp_request *req, void *arg)
{
    if (strncmp(evhttp_request_get_uri(req), "/hello/", strlen("/hello/")))
        web_reply(req, HTTP_NOTFOUND, "there is /hello/NAME");
    else
        hello(arg, req);
}

/* The job is in the queue, or not: only now the client is told. */
static void on_put(evzk_producer *producer, int rc, size_t done, void *req)
{
    (void)producer, (void)done;
    web_reply(req, rc ? 503 : 202, "%s", rc ? evzk_strerror(rc) : "queued");
}

static void on_post(struct evhttp_request *req, void *arg)
{
    struct server *s = arg;
    struct evbuffer *body = evhttp_request_get_input_buffer(req);
    const evzk_put_item item = {.data = evbuffer_pullup(body, -1),
                                .len = evbuffer_get_length(body)};
    int rc;

    if (evhttp_request_get_command(req) != EVHTTP_REQ_POST) {
        web_reply(req, HTTP_BADMETHOD, "POST a job here");
        return;
    }
    rc = evzk_producer_put(s->producer, &item, 1, on_put, req);
    if (rc) /* on_put() does not come. */
        web_reply(req, 503, "%s", evzk_strerror(rc));
}

static int serve(struct server *s, const char *port)
{
    s->http = web_listen(s->base, port);
    if (!s->http)
        return EVZK_ERR_INVAL;
    snprintf(s->address, sizeof s->address, "127.0.0.1:%s", port);
    evhttp_set_cb(s->http, "/jobs", on_post, s);
    evhttp_set_gencb(s->http, on_get, s);
    return EVZK_OK;
}

/* ---- The whole ---- */

static int begin(struct server *s, const char *servers, const char *port)
{
    const evzk_session_options opt = {.timeout_ms = 4000,
                                      .log = evzk_log_stderr};
    int rc;

    s->base = event_base_new();
    if (!s->base)
        return EVZK_ERR_NOMEM;
    s->stop = evsignal_new(s->base, SIGTERM, on_stop, s);
    s->job = evtimer_new(s->base, on_job_done, s);
    if (!s->stop || !s->job || event_add(s->stop, NULL))
        return EVZK_ERR_NOMEM;
    rc = serve(s, port);
    if (!rc)
        rc = evzk_session_open(s->base, servers, &opt, on_session, s, &s->zk);
    rc = rc ? rc : join(s);
    return rc ? rc : start_queue(s);
}

static void end(struct server *s)
{
    evzk_consumer_free(s->consumer);
    evzk_producer_free(s->producer);
    evzk_shards_free(s->shards);
    evzk_session_free(s->zk);
    if (s->http)
        evhttp_free(s->http);
    if (s->job)
        event_free(s->job);
    if (s->stop)
        event_free(s->stop);
    if (s->base)
        event_base_free(s->base);
}

int main(int argc, char **argv)
{
    struct server s = {0};
    int rc;

    setvbuf(stdout, NULL, _IOLBF, 0);
    s.job_ms = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
    rc = s.job_ms ? begin(&s, argv[1], argv[2]) : EVZK_ERR_INVAL;
    if (rc)
        fprintf(stderr, "step7 SERVERS PORT MILLISECONDS: %s\n",
                evzk_strerror(rc));
    else
        event_base_dispatch(s.base);
    end(&s);
    return rc || s.rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
