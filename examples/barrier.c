/* Sets a barrier, lifts it, or waits until it does not stand:
 *
 *     barrier localhost:2181 set /app/upgrade
 *     barrier localhost:2181 wait /app/upgrade 60    (seconds, at most)
 *     barrier localhost:2181 lift /app/upgrade
 *
 * Exit status: 0 done; 1 an error; 2 the time was over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;

static void on_end(evzk_barrier *barrier, int rc, void *session)
{
    if (rc)
        fprintf(stderr, "barrier: %s\n", evzk_strerror(rc));
    status = rc == EVZK_ERR_TIMEOUT ? 2 : rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_barrier_free(barrier);
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *base)
{
    (void)s, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

static int begin(evzk_session *s, const char *what, const char *path,
                 const char *seconds)
{
    evzk_barrier_options opt = {0};
    evzk_barrier *barrier;

    if (seconds)
        opt.timeout_ms = (uint32_t)strtoul(seconds, NULL, 10) * 1000;
    if (strcmp(what, "set") == 0)
        return evzk_barrier_set(s, path, &opt, on_end, s, &barrier);
    if (strcmp(what, "lift") == 0)
        return evzk_barrier_lift(s, path, &opt, on_end, s, &barrier);
    if (strcmp(what, "wait") == 0)
        return evzk_barrier_wait(s, path, &opt, on_end, s, &barrier);
    return EVZK_ERR_INVAL;
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    int rc = argc >= 4 && argc <= 5 && base ? EVZK_OK : EVZK_ERR_INVAL;

    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = begin(s, argv[2], argv[3], argv[4]);
    if (rc)
        fprintf(stderr, "barrier SERVERS set|lift|wait PATH [SECONDS]: %s\n",
                evzk_strerror(rc));
    else
        event_base_dispatch(base);
    evzk_session_free(s);
    if (base)
        event_base_free(base);
    return status;
}
