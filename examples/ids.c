/* Takes unique numbers from a shared counter, and prints them:
 *     ids localhost:2181 /app/ids 1000
 * Any number of programs may take numbers at the same time: no number is taken
 * twice, whatever the network does.  A program that needs many numbers one by
 * one takes a block of them at a time.  Exit status: 0 done, 1 failed, 2 bad
 * usage. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int64_t block;
static int status = EXIT_FAILURE;

/* The numbers above `last` - `block`, up to `last`, are ours alone. */
static void on_added(evzk_value_writer *w, int rc, int64_t last, void *arg)
{
    (void)arg;
    if (rc)
        fprintf(stderr, "ids: %s\n", evzk_strerror(rc));
    else
        printf("%" PRId64 " to %" PRId64 "\n", last - block + 1, last);
    status = rc ? EXIT_FAILURE : EXIT_SUCCESS;
    evzk_value_writer_close(w);
}

static void on_end(evzk_value_writer *w, evzk_value_writer_event event, int rc,
                   void *session)
{
    if (event == EVZK_VALUE_WRITER_FAILED)
        fprintf(stderr, "ids: %s\n", evzk_strerror(rc));
    evzk_value_writer_free(w);
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
    evzk_value_writer *w;
    int rc;

    block = argc == 4 ? strtoll(argv[3], NULL, 10) : 0;
    if (block <= 0 || !base) {
        fprintf(stderr, "usage: ids SERVERS PATH HOW-MANY\n");
        return 2;
    }
    rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_value_writer_start(s, argv[2], NULL, on_end, s, &w);
    if (!rc)
        rc = evzk_counter_add(w, block, on_added, NULL);
    if (!rc)
        event_base_dispatch(base);
    else
        fprintf(stderr, "ids: %s\n", evzk_strerror(rc));
    evzk_session_free(s);
    event_base_free(base);
    return status;
}
