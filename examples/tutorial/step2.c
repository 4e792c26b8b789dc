/* Step 2 of doc/tutorial.md: a session, all that can become of it, and its end.
 *     step2 localhost:2181 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

struct server {
    struct event_base *base;
    struct event *stop; /* SIGTERM. */
    evzk_session *zk;
};

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    printf("session %s: ", evzk_session_event_name(event));
    switch (event) {
    case EVZK_SESSION_CONNECTED: /* The first session, or one after EXPIRED. */
        printf("its time-out is %u ms\n", evzk_session_timeout_ms(zk));
        break;
    case EVZK_SESSION_SUSPENDED: /* In doubt: the servers are silent. */
        printf("it lives for %u ms more\n", evzk_session_lease_ms(zk));
        break;
    case EVZK_SESSION_RESUMED: /* The same session goes on. */
        puts("nothing was lost");
        break;
    case EVZK_SESSION_EXPIRED: /* A new session is being made. */
        puts("all that it owned is gone");
        break;
    case EVZK_SESSION_CLOSED: /* The last event. */
        puts(evzk_strerror(rc));
        event_base_loopbreak(s->base);
        break;
    }
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    evzk_session_close(s->zk); /* CLOSED ends the loop. */
}

static int begin(struct server *s, const char *servers)
{
    const evzk_session_options opt = {.timeout_ms = 4000,
                                      .log = evzk_log_stderr};

    s->base = event_base_new();
    s->stop = s->base ? evsignal_new(s->base, SIGTERM, on_stop, s) : NULL;
    if (!s->stop || event_add(s->stop, NULL))
        return EVZK_ERR_NOMEM;
    return evzk_session_open(s->base, servers, &opt, on_session, s, &s->zk);
}

static void end(struct server *s)
{
    evzk_session_free(s->zk);
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
    rc = argc == 2 ? begin(&s, argv[1]) : EVZK_ERR_INVAL;
    if (rc)
        fprintf(stderr, "step2 SERVERS: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(s.base);
    end(&s);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
