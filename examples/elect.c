/* Leads as NAME until Ctrl-C, or shows who leads: elect SERVERS PATH [NAME] */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_election *mine;      /* Ours to free; NULL: no candidate. */
static struct event stop, ready; /* A second after ELECTED. */

static void heard(evzk_election *e, evzk_election_event ev, int rc, void *s)
{
    printf("event %d (%s), epoch %llu\n", (int)ev, evzk_strerror(rc),
           (unsigned long long)evzk_election_epoch(e));
    if (ev == EVZK_ELECTION_ELECTED)
        event_add(&ready, &(struct timeval){1, 0}); /* Prepare, then lead. */
    if (ev == EVZK_ELECTION_RESIGN_REQUESTED)
        evzk_election_resign(e);
    if (ev < EVZK_ELECTION_RESIGNED)
        return;
    event_del(&ready);
    evzk_election_free(e); /* Resigned, lost or failed: the last event. */
    mine = NULL;
    evzk_session_close(s);
}

static void on_ready(evutil_socket_t fd, short what, void *name)
{
    (void)fd, (void)what;
    evzk_election_acknowledge(mine, name, strlen(name));
}

static void on_leader(evzk_observer *o, int rc, const evzk_leader *l, void *s)
{
    printf("epoch %llu: %.*s\n", l ? (unsigned long long)l->epoch : 0,
           l ? (int)l->data_len : 6, l ? (const char *)l->data : "nobody");
    if (rc == EVZK_OK)
        return;
    evzk_observer_free(o);
    evzk_session_close(s);
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

static void on_interrupt(evutil_socket_t fd, short what, void *session)
{
    (void)fd, (void)what;
    if (evzk_election_resign(mine)) /* No candidate, or it has ended. */
        evzk_session_close(session);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new(); /* Your loop. */
    evzk_session *s = NULL;
    evzk_observer *o;
    int rc = argc >= 3 && base ? 0 : EVZK_ERR_INVAL;
    rc = rc ? rc : evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = argc > 3
                 ? evzk_election_volunteer(s, argv[2], NULL, heard, s, &mine)
                 : evzk_election_observe(s, argv[2], on_leader, s, &o);
    if (rc)
        return fprintf(stderr, "elect: %s\n", evzk_strerror(rc)), 1;
    evtimer_assign(&ready, base, on_ready, argv[3]);
    evsignal_assign(&stop, base, SIGINT, on_interrupt, s);
    event_add(&stop, NULL);
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
}
