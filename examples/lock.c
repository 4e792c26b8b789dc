/* Takes a lock, works under it, gives it back on Ctrl-C: lock SERVERS PATH */
#include <signal.h>
#include <stdio.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_lock *lock; /* Ours to free; NULL: no lock. */

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *session)
{
    printf("event %d (%s), token %llu\n", (int)event, evzk_strerror(rc),
           (unsigned long long)evzk_lock_token(l));
    if (event < EVZK_LOCK_RELEASED)
        return;
    evzk_lock_free(l); /* Released, lost or failed: the last event. */
    lock = NULL;
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
    puts(evzk_lock_held(lock) ? "working" : "waiting");
}

static void on_interrupt(evutil_socket_t fd, short what, void *session)
{
    (void)fd, (void)what;
    if (evzk_lock_release(lock) && evzk_lock_cancel(lock))
        evzk_session_close(session); /* The lock has ended. */
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new(); /* Your loop. */
    struct event second, interrupt;
    evzk_session *s = NULL;
    int rc = argc == 3 && base ? 0 : EVZK_ERR_INVAL;
    rc = rc ? rc : evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    rc = rc ? rc : evzk_lock_acquire(s, argv[2], NULL, on_lock, s, &lock);
    if (rc)
        return fprintf(stderr, "lock SERVERS PATH: %s\n", evzk_strerror(rc)), 1;
    evsignal_assign(&interrupt, base, SIGINT, on_interrupt, s);
    event_assign(&second, base, -1, EV_PERSIST, on_second, NULL);
    event_add(&interrupt, NULL);
    event_add(&second, &(struct timeval){1, 0});
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
}
