/* The library's session; see library.h. */
#include "library.h"

#include <event2/event.h>
#include <stdlib.h>

evzk_session *library;
static struct event_base *base;
static bool up, closed;

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s;
    (void)arg;
    if (event == EVZK_SESSION_EXPIRED)
        fail("evzk: the session expired");
    up |= event == EVZK_SESSION_CONNECTED;
    closed |= event == EVZK_SESSION_CLOSED;
    /* A server with 100,000 znodes to delete takes longer than we wait. */
    if (closed && rc != EVZK_OK && rc != EVZK_ERR_TIMEOUT)
        fail("evzk: the session was closed: %s", evzk_strerror(rc));
}

void library_turn(void) { event_base_loop(base, EVLOOP_ONCE); }

static void wait_for(const bool *what)
{
    while (!*what)
        library_turn();
}

void library_check(int rc, const char *what)
{
    if (rc != EVZK_OK)
        fail("evzk: %s: %s", what, evzk_strerror(rc));
}

void *library_room(int n, size_t size)
{
    void *room = calloc((size_t)n, size);

    if (!room)
        fail("evzk: out of memory");
    return room;
}

void library_open(struct run *r, const char *servers)
{
    const evzk_session_options opt = {.timeout_ms = (uint32_t)r->w->session_ms};

    base = r->base;
    library_check(
        evzk_session_open(base, servers, &opt, on_session, NULL, &library),
        "open");
    wait_for(&up);
}

bool library_busy(void)
{
    evzk_session_stats st;

    evzk_session_get_stats(library, &st);
    return st.in_flight > 0 || st.queued > 0;
}

bool library_connected(void) { return evzk_session_connected(library); }

int64_t library_watches(void)
{
    evzk_session_stats st;

    evzk_session_get_stats(library, &st);
    return st.watches;
}

void library_close(void)
{
    evzk_session_close(library);
    wait_for(&closed);
    evzk_session_free(library);
}
