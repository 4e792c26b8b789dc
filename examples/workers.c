/* Worker threads under one lock: workers SERVERS PATH
 *
 * The loop's thread holds the lock, and queues again when it was lost.  Each
 * worker asks the lease just before it writes, and sends the token.  On Ctrl-C
 * the workers are called off, the last one wakes the loop, and only then the
 * lock goes back. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <event2/event.h>
#include <event2/thread.h>
#include <evzk/evzk.h>

enum { WORKERS = 4 };

/* What the threads share, under the mutex. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    evzk_lease *lease; /* Of the present grant; NULL: no worker may work. */
    int busy;          /* Workers that have a reference of their own. */
    bool end;
    uint64_t highest, writes, refused; /* The resource that is written to. */
} crew = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER};

/* The loop's thread alone. */
static struct app {
    const char *path;
    struct event_base *base;
    struct event *interrupt, *idle;
    evzk_session *session;
    evzk_lock *lock;
    bool ending, let_go;
} app;

/* A reference for this worker when there is work to do; NULL: the end. */
static evzk_lease *begin_work(void)
{
    evzk_lease *lease = NULL;

    pthread_mutex_lock(&crew.mutex);
    while (!crew.end && !evzk_lease_held(crew.lease))
        pthread_cond_wait(&crew.changed, &crew.mutex);
    if (!crew.end) {
        lease = evzk_lease_ref(crew.lease);
        crew.busy++;
    }
    pthread_mutex_unlock(&crew.mutex);
    return lease;
}

static void end_work(evzk_lease *lease)
{
    evzk_lease_unref(lease);
    pthread_mutex_lock(&crew.mutex);
    if (--crew.busy == 0)
        event_active(app.idle, 0, 0); /* Wakes the loop. */
    pthread_mutex_unlock(&crew.mutex);
}

/* The resource refuses a token lower than the highest that it has seen.  False:
 * this worker was called off. */
static bool write_result(evzk_lease *lease)
{
    uint64_t token = evzk_lease_token(lease);
    bool go_on;

    pthread_mutex_lock(&crew.mutex);
    if (token < crew.highest)
        crew.refused++;
    else {
        crew.highest = token;
        crew.writes++;
    }
    go_on = crew.lease == lease;
    pthread_mutex_unlock(&crew.mutex);
    return go_on;
}

static void *work(void *arg)
{
    evzk_lease *lease;

    while ((lease = begin_work()) != NULL) {
        do
            nanosleep(&(struct timespec){0, 5000000}, NULL); /* Some work. */
        while (evzk_lease_held(lease) && write_result(lease));
        end_work(lease);
    }
    return arg;
}

/* Hands the workers a lease, or, with NULL, calls them off. */
static void hand_out(evzk_lease *lease)
{
    evzk_lease *before;

    pthread_mutex_lock(&crew.mutex);
    before = crew.lease;
    crew.lease = lease;
    pthread_cond_broadcast(&crew.changed);
    pthread_mutex_unlock(&crew.mutex);
    evzk_lease_unref(before);
}

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    evzk_lease *lease = NULL;

    printf("event %d (%s), token %llu\n", (int)event, evzk_strerror(rc),
           (unsigned long long)evzk_lock_token(lock));
    if (event == EVZK_LOCK_GRANTED && !app.ending) {
        if (evzk_lock_lease(lock, &lease) != EVZK_OK)
            evzk_lock_release(lock); /* No memory: no worker could work. */
        hand_out(lease);
    } else if (event >= EVZK_LOCK_RELEASED) {
        hand_out(NULL);
        evzk_lock_free(lock);
        app.lock = NULL;
        if (event != EVZK_LOCK_LOST || app.ending ||
            evzk_lock_acquire(app.session, app.path, NULL, on_lock, arg,
                              &app.lock) != EVZK_OK)
            evzk_session_close(app.session);
    }
}

/* The last worker has stopped: now the lock may go to others. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
    bool busy;

    (void)fd, (void)what, (void)arg;
    pthread_mutex_lock(&crew.mutex);
    busy = crew.busy > 0;
    pthread_mutex_unlock(&crew.mutex);
    if (!app.ending || busy || app.let_go)
        return;
    app.let_go = true;
    if (evzk_lock_release(app.lock) && evzk_lock_cancel(app.lock))
        evzk_session_close(app.session); /* The lock has ended. */
}

static void on_interrupt(evutil_socket_t fd, short what, void *arg)
{
    app.ending = true;
    hand_out(NULL);
    on_idle(fd, what, arg); /* If no worker is busy. */
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(app.base);
}

static void run(void)
{
    pthread_t worker[WORKERS];
    int n = 0;

    while (n < WORKERS && pthread_create(&worker[n], NULL, work, NULL) == 0)
        n++;
    event_base_dispatch(app.base);
    pthread_mutex_lock(&crew.mutex);
    crew.end = true;
    pthread_cond_broadcast(&crew.changed);
    pthread_mutex_unlock(&crew.mutex);
    while (n > 0)
        pthread_join(worker[--n], NULL);
    printf("%llu writes, %llu refused\n", (unsigned long long)crew.writes,
           (unsigned long long)crew.refused);
}

int main(int argc, char **argv)
{
    int rc = argc == 3 ? EVZK_OK : EVZK_ERR_INVAL;

    setvbuf(stdout, NULL, _IOLBF, 0);
    evthread_use_pthreads(); /* Before the base is made. */
    app.base = event_base_new();
    app.interrupt = evsignal_new(app.base, SIGINT, on_interrupt, NULL);
    app.idle = event_new(app.base, -1, EV_PERSIST, on_idle, NULL);
    app.path = argc == 3 ? argv[2] : "";
    event_add(app.interrupt, NULL);
    rc = rc ? rc
            : evzk_session_open(app.base, argv[1], NULL, on_session, NULL,
                                &app.session);
    rc = rc ? rc
            : evzk_lock_acquire(app.session, app.path, NULL, on_lock, NULL,
                                &app.lock);
    if (rc)
        fprintf(stderr, "workers SERVERS PATH: %s\n", evzk_strerror(rc));
    else
        run();
    evzk_lock_free(app.lock);
    evzk_session_free(app.session);
    event_free(app.interrupt);
    event_free(app.idle);
    event_base_free(app.base);
    return rc != EVZK_OK;
}
