/* Works in one of N seats, and gives it back on Ctrl-C: seats SERVERS PATH N */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_semaphore *seat; /* Ours to free; NULL: no seat. */

static void on_seat(evzk_semaphore *p, evzk_semaphore_event event, int rc,
                    void *session)
{
    printf("%s (%s), token %llu\n", evzk_semaphore_event_name(event),
           evzk_strerror(rc), (unsigned long long)evzk_semaphore_token(p));
    if (!evzk_semaphore_event_is_final(event))
        return;
    evzk_semaphore_free(p);
    seat = NULL;
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    puts(evzk_semaphore_held(seat) ? "working" : "waiting");
}

static void on_interrupt(evutil_socket_t fd, short what, void *session)
{
    (void)fd, (void)what;
    if (evzk_semaphore_release(seat) && evzk_semaphore_cancel(seat))
        evzk_session_close(session); /* The attempt has ended. */
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new(); /* Your loop. */
    evzk_semaphore_options opt = {0};
    struct event second, interrupt;
    evzk_session *s = NULL;
    int rc = argc == 4 && base ? 0 : EVZK_ERR_INVAL;

    opt.leases = rc ? 0 : (uint32_t)strtoul(argv[3], NULL, 10);
    rc = rc ? rc : evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    rc = rc ? rc : evzk_semaphore_acquire(s, argv[2], &opt, on_seat, s, &seat);
    if (rc)
        return fprintf(stderr, "seats SERVERS PATH N: %s\n", evzk_strerror(rc)),
               1;
    evsignal_assign(&interrupt, base, SIGINT, on_interrupt, s);
    event_assign(&second, base, -1, EV_PERSIST, on_second, NULL);
    event_add(&interrupt, NULL);
    event_add(&second, &(struct timeval){1, 0});
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
}
