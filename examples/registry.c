/* A registry of services, as a command.  Registers an endpoint, and prints the
 * endpoints of the service as they come and go, until it gets SIGINT or
 * SIGTERM; without a host it only prints; "once" prints the list and ends:
 *     registry localhost:2181 /services/web 10.0.0.7 8080 [WEIGHT]
 *     registry localhost:2181 /services/web [once] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static evzk_resolver *resolver;
static evzk_member *member;
static bool once;

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *e, void *session)
{
    printf("%s %s %.*s%s\n", evzk_resolver_event_name(event),
           e ? e->name : evzk_strerror(rc), e ? (int)e->text_len : 0,
           e && e->text ? (const char *)e->text : "",
           e && e->malformed ? " (malformed)" : "");
    fflush(stdout);
    if (event != EVZK_RESOLVER_ENDED && !(once && event == EVZK_RESOLVER_READY))
        return;
    evzk_resolver_free(r); /* Resolved once: all of it was told. */
    resolver = NULL;
    evzk_session_close(session);
}

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *session)
{
    printf("%s is %s: %s\n", evzk_member_name(m), evzk_member_event_name(event),
           evzk_strerror(rc));
    if (evzk_member_event_is_final(event))
        evzk_session_close(session);
}

static void on_signal(evutil_socket_t number, short what, void *session)
{
    (void)number, (void)what;
    if (!member || evzk_member_leave(member) != EVZK_OK)
        evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *base)
{
    (void)s, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    evzk_endpoint e = {.port = argc > 4 ? (uint16_t)atoi(argv[4]) : 0,
                       .weight = argc > 5 ? (uint32_t)atoi(argv[5]) : 1};
    evzk_session *s = NULL;
    int rc = argc < 3 || !base ? EVZK_ERR_INVAL : EVZK_OK;

    once = argc == 4;
    snprintf(e.host, sizeof e.host, "%s", argc > 4 ? argv[3] : "");
    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc && argc > 4)
        rc = evzk_names_register(s, argv[2], NULL, &e, NULL, on_member, s,
                                 &member);
    if (!rc)
        rc = evzk_resolver_start(s, argv[2], NULL, on_resolver, s, &resolver);
    if (rc)
        return EXIT_FAILURE;
    event_add(evsignal_new(base, SIGINT, on_signal, s), NULL);
    event_add(evsignal_new(base, SIGTERM, on_signal, s), NULL);
    event_base_dispatch(base);
    return EXIT_SUCCESS; /* The process's end frees all. */
}
