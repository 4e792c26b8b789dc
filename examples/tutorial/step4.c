/* Step 4 of doc/tutorial.md: work only while the lock is held, and a resource
 * that refuses whoever comes too late.
 *     step4 localhost:2181 FILE */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include <event2/event.h>
#include <evzk/evzk.h>

struct server {
    const char *file;
    struct event_base *base;
    struct event *stop, *work; /* SIGTERM; the time for the next piece. */
    evzk_session *zk;
    evzk_lock *lock;
    bool in_doubt; /* Between SUSPENDED and RESUMED. */
    bool stopping;
    unsigned pieces;
};

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    struct server *s = arg;

    (void)zk, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(s->base);
}

/* The resource: each line has the token of the process that wrote the line.  A
 * token that is lower than the last one is refused. */
static bool store(const char *file, uint64_t token, unsigned piece)
{
    unsigned long long last = 0;
    FILE *f = fopen(file, "a+");
    bool ok;

    if (!f || flock(fileno(f), LOCK_EX)) { /* Until fclose(). */
        perror(file);
        if (f)
            fclose(f);
        return false;
    }
    rewind(f);
    while (fscanf(f, "%llu %*[^\n]", &last) == 1)
        ;
    ok = token >= last;
    if (ok)
        fprintf(f, "%llu piece %u\n", (unsigned long long)token, piece);
    else
        puts("refused: another process has a higher token");
    return fclose(f) == 0 && ok;
}

static void on_work(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    if (s->in_doubt || !evzk_lock_held(s->lock))
        return; /* Begin nothing new. */
    if (store(s->file, evzk_lock_token(s->lock), s->pieces + 1)) {
        s->pieces++;
        return;
    }
    s->stopping = true; /* No write, no work: store() said why. */
    evzk_lock_release(s->lock);
}

static int take_lock(struct server *s);

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct server *s = arg;

    printf("lock %s: ", evzk_lock_event_name(event));
    if (event == EVZK_LOCK_GRANTED)
        printf("token %llu\n", (unsigned long long)evzk_lock_token(lock));
    else if (event == EVZK_LOCK_SUSPENDED)
        printf("held for %u ms more\n", evzk_lock_lease_ms(lock));
    else
        puts(evzk_strerror(rc));
    s->in_doubt = event == EVZK_LOCK_SUSPENDED;
    if (!evzk_lock_event_is_final(event))
        return;
    evzk_lock_free(lock);
    s->lock = NULL;
    if (event != EVZK_LOCK_LOST || s->stopping || take_lock(s))
        evzk_session_close(s->zk);
}

/* Joins the queue: the first time, and behind the others after LOST. */
static int take_lock(struct server *s)
{
    return evzk_lock_acquire(s->zk, "/tutorial/lock", NULL, on_lock, s,
                             &s->lock);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd, (void)what;
    s->stopping = true;
    if (evzk_lock_release(s->lock) && evzk_lock_cancel(s->lock))
        evzk_session_close(s->zk);
}

static int begin(struct server *s, const char *servers, const char *file)
{
    const evzk_session_options opt = {.timeout_ms = 4000,
                                      .log = evzk_log_stderr};
    const struct timeval tenth = {0, 100000};
    int rc;

    s->file = file;
    s->base = event_base_new();
    if (!s->base)
        return EVZK_ERR_NOMEM;
    s->stop = evsignal_new(s->base, SIGTERM, on_stop, s);
    s->work = event_new(s->base, -1, EV_PERSIST, on_work, s);
    if (!s->stop || !s->work || event_add(s->stop, NULL) ||
        event_add(s->work, &tenth))
        return EVZK_ERR_NOMEM;
    rc = evzk_session_open(s->base, servers, &opt, on_session, s, &s->zk);
    return rc ? rc : take_lock(s);
}

static void end(struct server *s)
{
    evzk_lock_free(s->lock);
    evzk_session_free(s->zk);
    if (s->work)
        event_free(s->work);
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
    rc = argc == 3 ? begin(&s, argv[1], argv[2]) : EVZK_ERR_INVAL;
    if (rc)
        fprintf(stderr, "step4 SERVERS FILE: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(s.base);
    end(&s);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
