/* How many children a znode has: count SERVERS PATH */
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;

static void on_count(evzk_count *count, int rc, size_t n, void *session)
{
    if (rc)
        fprintf(stderr, "count: %s\n", evzk_strerror(rc));
    else
        printf("%zu\n", n);
    status = rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_count_free(count);
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *base)
{
    (void)s, (void)rc;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    evzk_count *count;
    int rc = argc == 3 && base ? EVZK_OK : EVZK_ERR_INVAL;

    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_count_start(s, argv[2], on_count, s, &count);
    if (rc)
        fprintf(stderr, "count SERVERS PATH: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(base);
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
