/* Takes a lock with a priority, and yields to more urgent processes:
 *
 *     priority localhost:2181 /app/table 3         to write; 0 is most urgent
 *     priority localhost:2181 /app/table 7 read
 *
 * Holds the lock until Ctrl-C, or until another process asks for it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_lock *lock; /* Ours to free; NULL: no lock. */

static void let_go(void)
{
    if (evzk_lock_release(lock))
        evzk_lock_cancel(lock); /* Not held yet. */
}

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *session)
{
    if (event == EVZK_LOCK_GRANTED)
        printf("granted, with token %llu\n",
               (unsigned long long)evzk_lock_token(l));
    else if (event == EVZK_LOCK_REVOKE_REQUESTED) {
        puts("asked to let go"); /* Here: put the data in order. */
        let_go();
    } else if (evzk_lock_event_is_final(event)) {
        printf("the end: %s\n", evzk_strerror(rc));
        evzk_lock_free(l);
        lock = NULL;
        evzk_session_close(session);
    }
    fflush(stdout);
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

static void on_interrupt(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    let_go();
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct event interrupt;
    evzk_lock_priority urgency = {.ageing = 10, .revoke = true};
    evzk_lock_options opt = {.priority = &urgency};
    evzk_session *s = NULL;
    int n = argc < 4 || argc > 5 ? -1 : atoi(argv[3]), rc;

    urgency.priority = (uint8_t)n;
    opt.mode = argc == 5 ? EVZK_LOCK_READ : EVZK_LOCK_WRITE;
    rc = n == urgency.priority && base ? EVZK_OK : EVZK_ERR_INVAL;
    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_lock_acquire(s, argv[2], &opt, on_lock, s, &lock);
    if (rc) {
        fprintf(stderr, "priority SERVERS PATH 0-255 [read]: %s\n",
                evzk_strerror(rc));
        return EXIT_FAILURE;
    }
    evsignal_assign(&interrupt, base, SIGINT, on_interrupt, NULL);
    event_add(&interrupt, NULL);
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
}
