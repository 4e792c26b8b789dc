/* Reads or writes for a few seconds, under a lock.  A writer then becomes a
 * reader for as long, together with waiting readers: shared SERVERS PATH
 * read|write */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;
static evzk_lock *lock;   /* Ours to free. */
static struct event done; /* The work under the lock is done. */

static void let_go(void)
{
    event_del(&done);
    if (evzk_lock_release(lock)) /* Not granted yet. */
        evzk_lock_cancel(lock);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    if (evzk_lock_downgrade(lock)) /* Not of mode WRITE. */
        let_go();
}

static void on_lock(evzk_lock *l, evzk_lock_event event, int rc, void *session)
{
    static const char *const words[] = {
        "",           "granted",         "suspended", "resumed", "requeued",
        "downgraded", "asked to let go", "released",  "lost",    "failed"};

    printf("%s (%s), token %llu\n", words[event], evzk_strerror(rc),
           (unsigned long long)evzk_lock_token(l));
    if (event == EVZK_LOCK_REVOKE_REQUESTED) {
        let_go();
    } else if (event == EVZK_LOCK_DOWNGRADED && rc) {
        let_go(); /* The server refused. */
    } else if (event == EVZK_LOCK_GRANTED || event == EVZK_LOCK_DOWNGRADED) {
        event_add(&done, &(struct timeval){3, 0});
    } else if (evzk_lock_event_is_final(event)) {
        status = event == EVZK_LOCK_RELEASED ? EXIT_SUCCESS : EXIT_FAILURE;
        event_del(&done);
        evzk_lock_free(l);
        evzk_session_close(session);
    }
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

int main(int argc, char **argv)
{
    bool writes = argc == 4 && strcmp(argv[3], "write") == 0;
    bool reads = argc == 4 && strcmp(argv[3], "read") == 0;
    evzk_lock_options opt = {.mode = writes ? EVZK_LOCK_WRITE : EVZK_LOCK_READ};
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    int rc = base && (writes || reads) ? EVZK_OK : EVZK_ERR_INVAL;

    rc = rc ? rc : evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    rc = rc ? rc : evzk_lock_acquire(s, argv[2], &opt, on_lock, s, &lock);
    if (rc)
        return fprintf(stderr, "shared SERVERS PATH read|write: %s\n",
                       evzk_strerror(rc)),
               1;
    evtimer_assign(&done, base, on_done, NULL);
    event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
