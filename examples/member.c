/* Joins a group, and prints who comes and goes, until it gets SIGINT or
 * SIGTERM: member localhost:2181 /app/workers NAME [DATA] Exit status: 0 it has
 * left; else 1. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *session)
{
    printf("%s: %s%s%s\n", evzk_member_name(m), evzk_member_event_name(event),
           rc ? ": " : "", rc ? evzk_strerror(rc) : "");
    fflush(stdout);
    if (!evzk_member_event_is_final(event))
        return;
    if (event == EVZK_MEMBER_LEFT && !rc)
        status = EXIT_SUCCESS;
    evzk_session_close(session);
}

static void on_view(evzk_group_view *v, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    (void)rc, (void)arg;
    if (m)
        printf("%zu: %s %s %.*s\n", evzk_group_view_count(v), m->name,
               evzk_group_event_name(event), (int)m->data_len,
               m->data_len ? (const char *)m->data : "");
    fflush(stdout);
}

static void on_signal(evutil_socket_t number, short what, void *member)
{
    (void)number, (void)what;
    evzk_member_leave(member);
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
    evzk_member_options opt = {.data = argc == 5 ? argv[4] : NULL};
    evzk_session *s = NULL;
    evzk_group_view *v = NULL;
    evzk_member *m = NULL;
    int rc = (argc == 4 || argc == 5) && base ? EVZK_OK : EVZK_ERR_INVAL;

    opt.data_len = opt.data ? strlen(opt.data) : 0;
    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_group_join(s, argv[2], argv[3], &opt, on_member, s, &m);
    if (!rc)
        rc = evzk_group_watch(s, argv[2], NULL, on_view, NULL, &v);
    if (rc)
        fprintf(stderr, "member: %s\n", evzk_strerror(rc));
    else {
        event_add(evsignal_new(base, SIGINT, on_signal, m), NULL);
        event_add(evsignal_new(base, SIGTERM, on_signal, m), NULL);
        event_base_dispatch(base);
    }
    evzk_group_view_free(v);
    evzk_member_free(m);
    evzk_session_free(s);
    return status;
}
