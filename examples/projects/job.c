/* The program of the example projects: takes the lock /job, prints its token,
 * and gives it back.
 *
 *   job SERVERS
 *   job           only prints which evzk runs
 */
#include <stdio.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *zk)
{
    if (event == EVZK_LOCK_GRANTED) {
        printf("token %llu\n", (unsigned long long)evzk_lock_token(lock));
        evzk_lock_release(lock);
    } else if (evzk_lock_event_is_final(event)) {
        printf("the end: %s\n", evzk_strerror(rc));
        evzk_lock_free(lock);
        evzk_session_close(zk);
    }
}

static int run(struct event_base *base, const char *servers)
{
    evzk_session_options opt = {.log = evzk_log_stderr};
    evzk_session *zk = NULL;
    evzk_lock *lock = NULL;
    int rc = evzk_session_open(base, servers, &opt, NULL, NULL, &zk);

    if (rc == EVZK_OK)
        rc = evzk_lock_acquire(zk, "/job", NULL, on_lock, zk, &lock);
    if (rc == EVZK_OK)
        event_base_dispatch(base); /* Until the session is closed. */
    evzk_session_free(zk);
    return rc;
}

int main(int argc, char **argv)
{
    struct event_base *base;
    int rc;

    printf("evzk %s\n", evzk_version());
    if (argc < 2)
        return 0;
    base = event_base_new();
    rc = base ? run(base, argv[1]) : EVZK_ERR_NOMEM;
    if (base)
        event_base_free(base);
    return rc != EVZK_OK;
}
