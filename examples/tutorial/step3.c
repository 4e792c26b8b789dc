/* Step 3 of doc/tutorial.md: one process at a time holds a lock.
 *     step3 localhost:2181 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

struct server {
    struct event_base *base;
    struct event *stop; /* SIGTERM. */
    evzk_session *zk;
    evzk_lock *lock; /* NULL: it has ended. */
};

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    (void)zk, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(s->base);
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct server *s = arg;

    if (event == EVZK_LOCK_GRANTED)
        printf("lock GRANTED: token %llu\n",
               (unsigned long long)evzk_lock_token(lock));
    else
        printf("lock %s: %s\n", evzk_lock_event_name(event), evzk_strerror(rc));
    if (!evzk_lock_event_is_final(event))
        return;
    evzk_lock_free(lock);
    s->lock = NULL;
    evzk_session_close(s->zk);
}

/* Held: it is given back.  Waiting: it gives up.  Ended: the session is left.
 */
static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    if (evzk_lock_release(s->lock) && evzk_lock_cancel(s->lock))
        evzk_session_close(s->zk);
}

static int begin(struct server *s, const char *servers)
{
    const evzk_session_options opt = {.timeout_ms = 4000,
                                      .log = evzk_log_stderr};
    int rc;

    s->base = event_base_new();
    s->stop = s->base ? evsignal_new(s->base, SIGTERM, on_stop, s) : NULL;
    if (!s->stop || event_add(s->stop, NULL))
        return EVZK_ERR_NOMEM;
    rc = evzk_session_open(s->base, servers, &opt, on_session, s, &s->zk);
    return rc ? rc
              : evzk_lock_acquire(s->zk, "/tutorial/lock", NULL, on_lock, s,
                                  &s->lock);
}

static void end(struct server *s)
{
    evzk_lock_free(s->lock);
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
        fprintf(stderr, "step3 SERVERS: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(s.base);
    end(&s);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
