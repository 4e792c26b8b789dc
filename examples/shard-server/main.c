/*
 * The example server: it leads some of N shards, answers requests for them, and
 * sends the others on to where they are led.  /status shows it all to people,
 * /status.json and /metrics to programs.  SIGTERM drains it: it hands over what
 * it leads, goes on answering meanwhile, and ends.
 *
 * All with evzk is in lead.c.  Here is what any server with libevent has.
 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "server.h"

enum {
    REQUEST_MAX = 16384, /* Bytes: what is longer is nobody's. */
    LISTEN_FAILED = 1    /* Besides the library's errors. */
};

void send_text(struct evhttp_request *req, int code, const char *type,
               struct evbuffer *body)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(req);

    if (!body) {
        evhttp_send_error(req, HTTP_INTERNAL, NULL);
        return;
    }
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_send_reply(req, code, NULL, body);
    evbuffer_free(body);
}

/* Answers already while it is not connected yet: that nobody leads. */
static int listen_on(struct server *s)
{
    struct evhttp_bound_socket *bound;
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof at;
    bool v6 = strchr(s->opt.host, ':') != NULL;

    s->http = evhttp_new(s->base);
    if (!s->http)
        return EVZK_ERR_NOMEM;
    evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(s->http, REQUEST_MAX);
    evhttp_set_max_body_size(s->http, REQUEST_MAX);
    evhttp_set_cb(s->http, "/status", answer_page, s);
    evhttp_set_cb(s->http, "/", answer_page, s);
    evhttp_set_cb(s->http, "/status.json", answer_json, s);
    evhttp_set_cb(s->http, "/metrics", answer_metrics, s);
    evhttp_set_gencb(s->http, answer_shard, s);
    errno = 0; /* A host that is none leaves it so. */
    bound = evhttp_bind_socket_with_handle(s->http, s->opt.host, s->opt.port);
    if (!bound || getsockname(evhttp_bound_socket_get_fd(bound),
                              (struct sockaddr *)&at, &len)) {
        fprintf(stderr, "shard-server: cannot listen on %s, port %u: %s\n",
                s->opt.host, (unsigned)s->opt.port,
                errno ? strerror(errno) : "no such address");
        return LISTEN_FAILED;
    }
    snprintf(s->address, sizeof s->address, v6 ? "[%s]:%u" : "%s:%u",
             s->opt.host, ntohs(((struct sockaddr_in *)&at)->sin_port));
    return gate_begin(s, bound);
}

static void on_stop(evutil_socket_t fd, short what, void *server)
{
    (void)fd, (void)what;
    lead_drain(server);
}

static int begin(struct server *s)
{
    int rc;

    s->base = event_base_new();
    if (!s->base)
        return EVZK_ERR_NOMEM;
    s->stop[0] = evsignal_new(s->base, SIGTERM, on_stop, s);
    s->stop[1] = evsignal_new(s->base, SIGINT, on_stop, s);
    if (!s->stop[0] || !s->stop[1] || event_add(s->stop[0], NULL) ||
        event_add(s->stop[1], NULL))
        return EVZK_ERR_NOMEM;
    rc = listen_on(s);
    return rc ? rc : lead_begin(s);
}

static void end(struct server *s)
{
    lead_end(s);
    gate_end(s);
    if (s->http)
        evhttp_free(s->http);
    for (int i = 0; i < 2; i++)
        if (s->stop[i])
            event_free(s->stop[i]);
    if (s->base)
        event_base_free(s->base);
}

static const char USAGE[] =
    "usage: shard-server [OPTION...] ZK-SERVERS PATH PORT\n"
    "\n"
    "Leads some of the shards at PATH.  PORT 0 is a free one, which is shown.\n"
    "  --shards N   how many there are, the same for all (64)\n"
    "  --weight W   its share, beside the others' weights (1)\n"
    "  --most M     lead no more than M (0: any number)\n"
    "  --name NAME  what people are to call it\n"
    "  --host HOST  where to listen, and where others send to (127.0.0.1)\n";

static bool number(const char *text, unsigned long max, uint32_t *out)
{
    char *rest;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &rest, 10);
    *out = (uint32_t)n;
    return !errno && *text >= '0' && *text <= '9' && !*rest && n <= max;
}

static bool set(struct options *opt, int option)
{
    switch (option) {
    case 's':
        return number(optarg, EVZK_SHARDS_MAX, &opt->count) && opt->count > 0;
    case 'w':
        return number(optarg, 1000000, &opt->weight) && opt->weight > 0;
    case 'm':
        return number(optarg, EVZK_SHARDS_MAX, &opt->most);
    case 'n':
        make_utf8(optarg);
        opt->name = optarg;
        return strlen(optarg) < 200;
    case 'l':
        opt->host = optarg;
        return strlen(optarg) < 200;
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct options *opt)
{
    static const struct option known[] = {
        {"shards", 1, NULL, 's'}, {"weight", 1, NULL, 'w'},
        {"most", 1, NULL, 'm'},   {"name", 1, NULL, 'n'},
        {"host", 1, NULL, 'l'},   {0}};
    uint32_t port = 0;
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        if (!set(opt, option))
            return false;
    if (argc - optind != 3 || !number(argv[optind + 2], 65535, &port))
        return false;
    opt->servers = argv[optind];
    opt->path = argv[optind + 1];
    opt->port = (uint16_t)port;
    return true;
}

int main(int argc, char **argv)
{
    struct server s = {.opt = {.host = "127.0.0.1", .name = "", .count = 64}};
    int rc;

    setlocale(LC_CTYPE, "C.UTF-8");
    if (!parse(argc, argv, &s.opt)) {
        fputs(USAGE, stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    rc = begin(&s);
    if (rc) {
        if (rc != LISTEN_FAILED) /* Was reported. */
            fprintf(stderr, "shard-server: %s\n", evzk_strerror(rc));
        s.status = 1;
    } else {
        printf("http://%s/status\n", s.address);
        fflush(stdout);
        event_base_dispatch(s.base);
    }
    end(&s);
    return s.status;
}
