/* The file server.  It holds no lock.  Of each write it asks whether the lock
 * that its sender speaks of is held still. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "primary.h"

static struct {
    const struct options *opt;
    struct event_base *base;
    struct evconnlistener *listener; /* NULL: the handle is not open yet. */
    FILE *file;
    evzk_session *zk;
    evzk_chubby *handle; /* NULL: none. */
    bool ok;
} server;

/* A connection.  It has one write at a time checked. */
struct client {
    struct bufferevent *bev;
    char *line; /* That write, owned; NULL: none is being checked. */
    bool gone;  /* The peer has hung up meanwhile. */
};

static void client_free(struct client *c)
{
    bufferevent_free(c->bev);
    free(c->line);
    free(c);
}

/* ---- A write: "WRITE <sequencer> <text>". ---- */

/* Splits the line in place. */
static bool split(char *line, char **sequencer, char **text)
{
    char *end;

    if (strncmp(line, "WRITE ", 6) != 0 || !(end = strchr(line + 6, ' ')))
        return false;
    *end = '\0';
    *sequencer = line + 6;
    *text = end + 1;
    return true;
}

static void answer(struct client *c, const char *text, int rc)
{
    bool ok = rc == EVZK_OK && fprintf(server.file, "%s\n", text) > 0 &&
              fflush(server.file) == 0;

    if (!ok)
        printf("refused \"%s\": %s\n", text, evzk_strerror(rc));
    evbuffer_add_printf(bufferevent_get_output(c->bev), "%s\n",
                        ok ? "OK" : "REFUSED");
    free(c->line);
    c->line = NULL;
}

static void read_on(struct bufferevent *bev, void *client);

static void on_checked(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                       void *client)
{
    struct client *c = client;

    (void)h, (void)a;
    answer(c, c->line + strlen(c->line) + 1, rc); /* The text: see split(). */
    if (c->gone)
        client_free(c);
    else
        read_on(c->bev, c);
}

static void check(struct client *c)
{
    char *sequencer, *text;
    int rc = EVZK_ERR_STATE;

    if (!split(c->line, &sequencer, &text)) {
        answer(c, "not a write", EVZK_ERR_INVAL);
        return;
    }
    if (server.opt->unchecked)
        rc = EVZK_OK;
    else if (server.opt->seen)
        rc = evzk_chubby_check_seen(server.handle, sequencer);
    if (rc == EVZK_ERR_STATE) { /* Unknown here: ask. */
        rc = evzk_chubby_check_sequencer(server.handle, sequencer, on_checked,
                                         c);
        if (rc == EVZK_OK)
            return; /* on_checked() will be called. */
    }
    answer(c, text, rc);
}

static void read_on(struct bufferevent *bev, void *client)
{
    struct client *c = client;

    while (!c->line && (c->line = evbuffer_readln(bufferevent_get_input(bev),
                                                  NULL, EVBUFFER_EOL_CRLF)))
        check(c);
}

static void on_hangup(struct bufferevent *bev, short what, void *client)
{
    struct client *c = client;

    (void)bev, (void)what;
    if (c->line)
        c->gone = true; /* on_checked() frees it. */
    else
        client_free(c);
}

static void on_client(struct evconnlistener *l, evutil_socket_t fd,
                      struct sockaddr *from, int len, void *arg)
{
    struct client *c = calloc(1, sizeof *c);

    (void)l, (void)from, (void)len, (void)arg;
    if (!c) {
        evutil_closesocket(fd);
        return;
    }
    c->bev = bufferevent_socket_new(server.base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(c->bev, read_on, NULL, on_hangup, c);
    bufferevent_setwatermark(c->bev, EV_READ, 0, 65536);
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

/* A free port, where the address has none. */
static void listen_on(const char *address)
{
    struct sockaddr_in a;
    int len = sizeof a;
    socklen_t size = sizeof a;

    if (evutil_parse_sockaddr_port(address, (struct sockaddr *)&a, &len) == 0)
        server.listener =
            evconnlistener_new_bind(server.base, on_client, NULL,
                                    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE,
                                    -1, (struct sockaddr *)&a, len);
    if (!server.listener) {
        fprintf(stderr, "primary: cannot listen on %s\n", address);
        evzk_session_close(server.zk);
        return;
    }
    getsockname(evconnlistener_get_fd(server.listener), (struct sockaddr *)&a,
                &size);
    printf("port %d\n", ntohs(a.sin_port));
}

/* ---- The handle. ---- */

static void open_handle(void);

static void on_handle(evzk_chubby *h, evzk_chubby_event event, int rc,
                      const char *child, void *arg)
{
    (void)child, (void)arg;
    if (event == EVZK_CHUBBY_OPENED && !server.listener)
        listen_on(server.opt->address);
    if (event == EVZK_CHUBBY_INVALID)
        evzk_chubby_close(h); /* The file was deleted: begin anew. */
    if (!evzk_chubby_event_is_final(event))
        return;
    evzk_chubby_free(h);
    server.handle = NULL;
    if (event == EVZK_CHUBBY_CLOSED || rc == EVZK_ERR_EXPIRED)
        open_handle();
    else if (rc != EVZK_ERR_CLOSED)
        fprintf(stderr, "%s: %s\n", server.opt->path, evzk_strerror(rc));
    if (!server.handle)
        evzk_session_close(server.zk);
}

static void open_handle(void)
{
    const evzk_chubby_options opt = {.create = EVZK_CHUBBY_MAY_CREATE,
                                     .lock_events = server.opt->seen};
    int rc = evzk_chubby_open(server.zk, server.opt->path, &opt, on_handle,
                              NULL, &server.handle);

    if (rc != EVZK_OK)
        fprintf(stderr, "%s: %s\n", server.opt->path, evzk_strerror(rc));
}

/* ---- */

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(server.base);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)number, (void)what, (void)arg;
    server.ok = true;
    evzk_session_close(server.zk);
}

int serve(const struct options *opt)
{
    const evzk_session_options session = {.timeout_ms = opt->session_ms};
    struct event *interrupt, *term;

    server.opt = opt;
    server.base = event_base_new();
    server.file = fopen(opt->last, "a");
    if (!server.base || !server.file ||
        evzk_session_open(server.base, opt->servers, &session, on_session, NULL,
                          &server.zk) != EVZK_OK)
        return perror("primary"), EXIT_FAILURE;
    interrupt = evsignal_new(server.base, SIGINT, on_signal, NULL);
    term = evsignal_new(server.base, SIGTERM, on_signal, NULL);
    event_add(interrupt, NULL);
    event_add(term, NULL);
    signal(SIGPIPE, SIG_IGN);
    open_handle();
    if (server.handle)
        event_base_dispatch(server.base);
    return server.ok ? EXIT_SUCCESS : EXIT_FAILURE; /* The end frees all. */
}
