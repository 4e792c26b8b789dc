/* Sends an HTTP request each 100 ms to an endpoint of a service, with evhttp:
 * to each in turn, without those that have failed in the last 10 seconds:
 *     balance localhost:2181 /services/web /index.html */
#include <stdio.h>
#include <stdlib.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>
#include <evzk/evzk.h>

static struct event_base *base;
static struct evdns_base *dns; /* Else a host's name would hold the loop. */
static evzk_resolver *resolver;

struct call {
    struct evhttp_connection *to;
    uint64_t token; /* Else the report might be on the next of this name. */
    char name[EVZK_MEMBER_NAME_MAX + 1];
};

static void end_call(evutil_socket_t fd, short what, void *c)
{
    (void)fd, (void)what;
    evhttp_connection_free(((struct call *)c)->to);
    free(c);
}

static void on_answer(struct evhttp_request *req, void *arg)
{
    struct call *c = arg;
    int code = req ? evhttp_request_get_response_code(req) : 0;

    (code ? evzk_resolver_worked : evzk_resolver_failed)(resolver, c->name,
                                                         c->token);
    printf("%s: %d\n", c->name, code); /* 0: no answer. */
    event_base_once(base, -1, EV_TIMEOUT, end_call, c, NULL);
}

static void on_tick(evutil_socket_t fd, short what, void *uri)
{
    struct evhttp_request *req;
    struct call *c;
    evzk_resolved e;

    (void)fd, (void)what;
    if (!evzk_resolver_pick(resolver, &e) || !(c = calloc(1, sizeof *c)))
        return;
    snprintf(c->name, sizeof c->name, "%s", e.name);
    c->token = e.token;
    c->to =
        evhttp_connection_base_new(base, dns, e.endpoint.host, e.endpoint.port);
    evhttp_connection_set_timeout(c->to, 2);
    req = evhttp_request_new(on_answer, c);
    evhttp_add_header(evhttp_request_get_output_headers(req), "Host", e.name);
    evhttp_make_request(c->to, req, EVHTTP_REQ_GET, uri);
}

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *e, void *arg)
{
    (void)r, (void)rc, (void)arg;
    printf("%s %s\n", evzk_resolver_event_name(event), e ? e->name : "");
}

int main(int argc, char **argv)
{
    evzk_resolver_options opt = {.pick = EVZK_PICK_LEAST_RECENTLY_FAILED};
    const struct timeval pace = {.tv_usec = 100000};
    evzk_session *s = NULL;

    base = event_base_new();
    dns = evdns_base_new(base, EVDNS_BASE_INITIALIZE_NAMESERVERS);
    if (argc != 4 || evzk_session_open(base, argv[1], NULL, NULL, NULL, &s) ||
        evzk_resolver_start(s, argv[2], &opt, on_resolver, NULL, &resolver))
        return EXIT_FAILURE;
    event_add(event_new(base, -1, EV_PERSIST, on_tick, argv[3]), &pace);
    return event_base_dispatch(base); /* The process's end frees all. */
}
