/* Step 5 of doc/tutorial.md: an HTTP server beside the session, on one loop.
 *     step5 localhost:2181 8001 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

#include "web.h"

struct server {
    struct event_base *base;
    struct event *stop; /* SIGTERM. */
    struct evhttp *http;
    evzk_session *zk;
};

static void on_status(struct evhttp_request *req, void *arg)
{
    struct server *s = arg;

    web_reply(req, HTTP_OK, "session %s, lease %u ms",
              evzk_session_connected(s->zk) ? "connected" : "in doubt",
              evzk_session_lease_ms(s->zk));
}

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    (void)zk;
    printf("session %s\n", evzk_session_event_name(event));
    if (event != EVZK_SESSION_CLOSED)
        return;
    if (rc)
        fprintf(stderr, "step5: %s\n", evzk_strerror(rc));
    event_base_loopbreak(s->base);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    evzk_session_close(s->zk);
}

static int begin(struct server *s, const char *servers, const char *port)
{
    const evzk_session_options opt = {.timeout_ms = 4000,
                                      .log = evzk_log_stderr};

    s->base = event_base_new();
    s->stop = s->base ? evsignal_new(s->base, SIGTERM, on_stop, s) : NULL;
    if (!s->stop || event_add(s->stop, NULL))
        return EVZK_ERR_NOMEM;
    s->http = web_listen(s->base, port);
    if (!s->http)
        return EVZK_ERR_INVAL;
    evhttp_set_cb(s->http, "/status", on_status, s);
    return evzk_session_open(s->base, servers, &opt, on_session, s, &s->zk);
}

static void end(struct server *s)
{
    evzk_session_free(s->zk);
    if (s->http)
        evhttp_free(s->http);
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
    rc = argc == 3 ? begin(&s, argv[1], argv[2]) : EVZK_ERR_INVAL;
    if (rc)
        fprintf(stderr, "step5 SERVERS PORT: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(s.base);
    end(&s);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
