/* What the steps of doc/tutorial.md have of HTTP: nothing of evzk is in here.
 */
#ifndef TUTORIAL_WEB_H
#define TUTORIAL_WEB_H

#include <event2/event.h>
#include <event2/http.h>

/* Listens on 127.0.0.1; NULL: stderr has said why. */
struct evhttp *web_listen(struct event_base *base, const char *port);

/* Answers with one line of text. */
__attribute__((format(printf, 3, 4))) void
web_reply(struct evhttp_request *req, int code, const char *form, ...);

/* A header of the answer that follows. */
void web_header(struct evhttp_request *req, const char *name,
                const char *value);

#endif
