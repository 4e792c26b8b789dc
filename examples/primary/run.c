/* A primary: waits for the lock, and sends its writes with the sequencer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "primary.h"

static struct {
    const struct options *opt;
    struct event_base *base;
    struct bufferevent *server; /* The file server. */
    struct event *pace;
    evzk_session *zk;
    evzk_chubby *handle; /* NULL: it has ended. */
    char sequencer[EVZK_CHUBBY_SEQUENCER_MAX];
    uint32_t writes;
    bool pending;  /* The last write was not answered yet. */
    bool stopping; /* The handle is to be closed after that answer. */
    bool closed;   /* The session is. */
    bool ok;
} primary;

/* ---- The end: no handle, no session, no write without an answer. ---- */

static void try_end(void)
{
    if (primary.closed && !primary.pending)
        event_base_loopbreak(primary.base);
}

static void stop(void)
{
    event_del(primary.pace);
    if (!primary.handle || evzk_chubby_close(primary.handle) != EVZK_OK)
        evzk_session_close(primary.zk); /* Or it is being closed. */
}

/* The lock is held until the last write was answered: else that would be
 * refused. */
static void stop_soon(void)
{
    event_del(primary.pace);
    primary.stopping = true;
    if (!primary.pending)
        stop();
}

/* ---- Writes. ---- */

/* A process may be paused between its look at the lease and the write, by a
 * debugger or a full machine.  The option -f pauses it just there. */
static void on_pace(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    if (primary.pending || !evzk_chubby_held(primary.handle))
        return;
    if (++primary.writes == primary.opt->freeze_at)
        raise(SIGSTOP);
    evbuffer_add_printf(bufferevent_get_output(primary.server),
                        "WRITE %s %s %u\n", primary.sequencer,
                        primary.opt->last, primary.writes);
    primary.pending = true;
}

static void on_answer(struct bufferevent *bev, void *arg)
{
    char *line =
        evbuffer_readln(bufferevent_get_input(bev), NULL, EVBUFFER_EOL_CRLF);

    (void)arg;
    if (!line)
        return;
    printf("%s %u %s\n", primary.opt->last, primary.writes, line);
    primary.pending = false;
    if (strcmp(line, "OK") != 0)
        primary.ok = false; /* Somebody else is the primary. */
    if (!primary.ok || primary.stopping)
        stop();
    free(line);
    try_end();
}

static void on_server(struct bufferevent *bev, short what, void *arg)
{
    (void)bev, (void)arg;
    if (what & BEV_EVENT_CONNECTED)
        return;
    fputs("no file server\n", stderr);
    primary.pending = primary.ok = false;
    stop();
    try_end();
}

/* ---- The lock. ---- */

static void on_lock(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                    void *arg)
{
    const struct timeval pace = {primary.opt->pace_ms / 1000,
                                 primary.opt->pace_ms % 1000 * 1000};

    (void)a, (void)arg;
    if (rc == EVZK_OK)
        rc = evzk_chubby_get_sequencer(h, primary.sequencer,
                                       sizeof primary.sequencer);
    printf("%s holds the lock: %s, %s\n", primary.opt->last, evzk_strerror(rc),
           primary.sequencer);
    if (rc == EVZK_OK)
        event_add(primary.pace, &pace);
    else
        stop();
}

static void on_handle(evzk_chubby *h, evzk_chubby_event event, int rc,
                      const char *child, void *arg)
{
    (void)child, (void)arg;
    printf("%s %s: %s\n", primary.opt->last, evzk_chubby_event_name(event),
           evzk_strerror(rc));
    if (event == EVZK_CHUBBY_OPENED)
        rc = evzk_chubby_acquire(h, EVZK_CHUBBY_EXCLUSIVE, on_lock, NULL);
    if (evzk_chubby_event_is_final(event)) {
        evzk_chubby_free(h);
        primary.handle = NULL;
    }
    primary.ok = primary.ok && rc == EVZK_OK;
    if (rc != EVZK_OK || !primary.handle)
        stop();
}

/* ---- */

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    primary.closed = event == EVZK_SESSION_CLOSED;
    try_end();
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)number, (void)what, (void)arg;
    if (primary.stopping) /* A second signal does not wait for the answer. */
        primary.pending = false;
    stop_soon();
}

static bool connect_to(const char *address)
{
    struct sockaddr_storage a;
    int len = sizeof a;

    primary.server =
        bufferevent_socket_new(primary.base, -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(primary.server, on_answer, NULL, on_server, NULL);
    bufferevent_enable(primary.server, EV_READ | EV_WRITE);
    return evutil_parse_sockaddr_port(address, (struct sockaddr *)&a, &len) ==
               0 &&
           bufferevent_socket_connect(primary.server, (struct sockaddr *)&a,
                                      len) == 0;
}

int run(const struct options *opt)
{
    const evzk_chubby_options file = {.create = EVZK_CHUBBY_MAY_CREATE};
    const evzk_session_options session = {.timeout_ms = opt->session_ms};
    struct event *interrupt, *term;

    primary.opt = opt;
    primary.ok = true;
    primary.base = event_base_new();
    if (!primary.base || !connect_to(opt->address) ||
        evzk_session_open(primary.base, opt->servers, &session, on_session,
                          NULL, &primary.zk) != EVZK_OK ||
        evzk_chubby_open(primary.zk, opt->path, &file, on_handle, NULL,
                         &primary.handle) != EVZK_OK)
        return fputs("primary: cannot start\n", stderr), EXIT_FAILURE;
    primary.pace = event_new(primary.base, -1, EV_PERSIST, on_pace, NULL);
    interrupt = evsignal_new(primary.base, SIGINT, on_signal, NULL);
    term = evsignal_new(primary.base, SIGTERM, on_signal, NULL);
    event_add(interrupt, NULL);
    event_add(term, NULL);
    signal(SIGPIPE, SIG_IGN);
    event_base_dispatch(primary.base);
    return primary.ok ? EXIT_SUCCESS : EXIT_FAILURE; /* The end frees all. */
}
