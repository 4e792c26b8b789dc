/* What the steps of doc/tutorial.md have of HTTP. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "web.h"

struct evhttp *web_listen(struct event_base *base, const char *port)
{
    struct evhttp *http = evhttp_new(base);
    char *rest;
    unsigned long number = strtoul(port, &rest, 10);

    if (!http)
        return NULL;
    signal(SIGPIPE, SIG_IGN);     /* A client that hangs up is no end. */
    evhttp_set_timeout(http, 20); /* Seconds: idle connections are closed. */
    evhttp_set_max_headers_size(http, 4096);
    evhttp_set_max_body_size(http, 4096);
    errno = EINVAL;
    if (*rest || number == 0 || number > 65535 ||
        evhttp_bind_socket(http, "127.0.0.1", (uint16_t)number)) {
        fprintf(stderr, "port %s: %s\n", port, strerror(errno));
        evhttp_free(http);
        return NULL;
    }
    printf("listening on port %s\n", port);
    return http;
}

void web_reply(struct evhttp_request *req, int code, const char *form, ...)
{
    struct evbuffer *body = evbuffer_new();
    va_list args;

    if (!body) {
        evhttp_send_error(req, HTTP_INTERNAL, NULL);
        return;
    }
    va_start(args, form);
    evbuffer_add_vprintf(body, form, args);
    va_end(args);
    evbuffer_add(body, "\n", 1);
    web_header(req, "Content-Type", "text/plain");
    evhttp_send_reply(req, code, NULL, body);
    evbuffer_free(body);
}

void web_header(struct evhttp_request *req, const char *name, const char *value)
{
    evhttp_add_header(evhttp_request_get_output_headers(req), name, value);
}
