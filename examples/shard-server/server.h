/*
 * Shared by the files of the example server.
 *
 *   main.c         the command line, the HTTP server, the signals
 *   gate.c         how many connections there may be: the part to copy, too
 *   lead.c         all that it does with evzk: the part to copy from
 *   answer.c       GET /shard/<key or number>
 *   status.c       GET /status.json, and what the page shows, too
 *   page.c         GET /status: the page (page.css, page.js are put into it)
 *   metrics.c      GET /metrics
 *
 * One thread, one event_base: the HTTP server, the session and the shards.
 */
#ifndef SHARD_SERVER_H
#define SHARD_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <event2/event.h>
#include <event2/http.h>
#include <evzk/evzk.h>

struct options {
    const char *servers, *path, *host, *name;
    uint16_t port;
    uint32_t count, weight, most;
};

/* How the requests for a shard were answered. */
struct answers {
    uint64_t led, elsewhere, nobody, wrong;
};

/* The limit on connections: gate.c. */
struct gate {
    struct evconnlistener *listener; /* evhttp's. */
    struct event *excess, *resume;
    int cap;                  /* Numbers of descriptors for connections. */
    time_t told;              /* To the log. */
    uint64_t refused, failed; /* Connections; accept(). */
};

struct server {
    struct options opt;
    struct event_base *base;
    struct evhttp *http;
    struct gate gate;
    struct event *stop[2], *hurry; /* SIGTERM and SIGINT; too late. */
    evzk_session *session;
    evzk_shards *shards; /* NULL when it is over. */
    char address[300];   /* "host:port", as the others are told. */
    bool draining;
    bool closing;
    int status; /* To exit with. */
    struct answers answers;
};

/* gate.c */
int gate_begin(struct server *s, struct evhttp_bound_socket *bound);
void gate_end(struct server *s);

/* lead.c */
int lead_begin(struct server *s);
void lead_drain(struct server *s); /* The second time it is in a hurry. */
void lead_end(struct server *s);

/* Where a member, or the leader of a shard, is: the address that the member
 * gave when it joined. */
struct place {
    char address[300]; /* Empty when it said nothing of use. */
    char name[300];
};

void place_of(const evzk_shards_member *m, struct place *out);

/* Replaces bytes that are not UTF-8 by '?', so that the JSON can be read. */
void make_utf8(char *text);

/* The answers to the requests. */
void answer_shard(struct evhttp_request *req, void *server);
void answer_json(struct evhttp_request *req, void *server);
void answer_page(struct evhttp_request *req, void *server);
void answer_metrics(struct evhttp_request *req, void *server);

/* Sends @body, which it frees, as what it is. */
void send_text(struct evhttp_request *req, int code, const char *type,
               struct evbuffer *body);

/* The plan's members, as they are until the next turn of the loop. */
struct roster {
    uint32_t n;
    evzk_shards_member *m;
    uint32_t last; /* The index found last. */
};

bool roster_take(const struct server *s, struct roster *out);
void roster_free(struct roster *r);

/* The member that is to lead a shard; -1: none. */
int roster_leader(struct roster *r, const struct server *s, uint32_t shard);

#endif
