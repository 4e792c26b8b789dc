/* The README's twenty lines, in a program around them that works for a moment
 * and ends: readme SERVERS.  tests/check-code finds these lines here. */
#include <stdio.h>

#include <event2/event.h>
#include <evzk/evzk.h>

struct app {
    const char *servers;
    evzk_session *zk;
    evzk_lock *job;
};

static void begin_work(struct app *app, uint64_t token)
{
    printf("mine, with token %llu\n", (unsigned long long)token);
    evzk_lock_release(app->job);
}

static void end_work(struct app *app, int rc)
{
    printf("the end: %s\n", evzk_strerror(rc));
    evzk_session_close(app->zk);
}

#include <evzk/evzk.h>

static void on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *app)
{
    if (event == EVZK_LOCK_GRANTED) {
        begin_work(app, evzk_lock_token(lock)); /* Send it with each write. */
    } else if (evzk_lock_event_is_final(event)) {
        end_work(app, rc);
        evzk_lock_free(lock);
    }
}

static int take_lock(struct event_base *base, struct app *app)
{
    evzk_session_options opt = {.log = evzk_log_stderr};
    int rc = evzk_session_open(base, app->servers, &opt, NULL, NULL, &app->zk);

    if (rc == EVZK_OK)
        rc = evzk_lock_acquire(app->zk, "/job", NULL, on_lock, app, &app->job);
    return rc;
}

int main(int argc, char **argv)
{
    struct app app = {.servers = argc == 2 ? argv[1] : NULL};
    struct event_base *base = event_base_new();
    int rc = base ? take_lock(base, &app) : EVZK_ERR_NOMEM;

    if (rc)
        fprintf(stderr, "readme SERVERS: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(base); /* Until the session is closed. */
    evzk_session_free(app.zk);
    if (base)
        event_base_free(base);
    return rc != 0;
}
