/* A program with several locks over one session, for tests of the command evzk:
 *
 *     knot SERVERS PATH...
 *
 * acquires a lock at each path, one behind the other, says "held PATH" of each,
 * and keeps all until it is asked to let go of one, or killed.  At a path "="
 * it waits for SIGUSR1. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static struct event_base *base;
static evzk_session *session;
static char **paths;

static void next(void);

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *path)
{
    (void)lock;
    if (event == EVZK_LOCK_GRANTED) {
        printf("held %s\n", (char *)path);
        next();
    } else if (event == EVZK_LOCK_REVOKE_REQUESTED) {
        printf("asked %s\n", (char *)path);
        event_base_loopbreak(base);
    } else if (evzk_lock_event_is_final(event)) {
        fprintf(stderr, "knot: %s: %s\n", (char *)path, evzk_strerror(rc));
        event_base_loopbreak(base);
    }
    fflush(stdout);
}

static void next(void)
{
    evzk_lock_options opt = {.revocable = true};
    evzk_lock *lock;
    char *path = *paths;

    if (!path || *path == '=')
        return;
    paths++;
    if (evzk_lock_acquire(session, path, &opt, on_lock, path, &lock))
        event_base_loopbreak(base);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
    (void)signo, (void)what, (void)arg;
    if (*paths)
        paths++;
    next();
}

int main(int argc, char **argv)
{
    /* Short, since tests wait for the end of processes that were killed. */
    evzk_session_options session_opt = {.timeout_ms = 4000};
    struct event *usr1;

    base = event_base_new();
    if (argc < 3 || !base ||
        evzk_session_open(base, argv[1], &session_opt, NULL, NULL, &session))
        return EXIT_FAILURE;
    usr1 = evsignal_new(base, SIGUSR1, on_signal, NULL);
    event_add(usr1, NULL);
    paths = argv + 2;
    next();
    event_base_dispatch(base);
    /* The process ends without a word: the servers end the session. */
    return EXIT_SUCCESS;
}
