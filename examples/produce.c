/* Puts each line of its input into a queue, and prints how many were put:
 *     produce [-p PRIORITY] localhost:2181 /app/jobs <jobs.txt
 * Exit status: 0 all were; else 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static size_t put;
static int status = EXIT_SUCCESS;
static evzk_put_item item; /* The line that waits for room, if it has data. */

static void fail(int rc)
{
    fprintf(stderr, "produce: %s\n", evzk_strerror(rc));
    status = EXIT_FAILURE;
}

/* Reads as long as the producer takes more. */
static void feed(evzk_producer *p, int rc, size_t done, void *arg)
{
    static char line[65536];

    put += done;
    if (rc)
        fail(rc);
    rc = EVZK_OK;
    while (!rc && (item.data || fgets(line, sizeof line, stdin))) {
        item.len = strcspn(line, "\n");
        item.data = line;
        rc = evzk_producer_put(p, &item, 1, feed, arg);
        item.data = rc ? line : NULL;
    }
    if (rc != EVZK_ERR_BUSY)
        evzk_producer_close(p); /* No line is left, or the producer ends. */
}

static void on_end(evzk_producer *p, evzk_producer_event event, int rc,
                   void *session)
{
    if (event == EVZK_PRODUCER_FAILED)
        fail(rc);
    evzk_producer_free(p);
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
    int at = argc == 5 && strcmp(argv[1], "-p") == 0 ? 3 : 1;
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    evzk_producer *p;
    int rc = argc == at + 2 && base ? EVZK_OK : EVZK_ERR_INVAL;

    item.priority = at == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!rc)
        rc = evzk_session_open(base, argv[at], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_producer_start(s, argv[at + 1], NULL, on_end, s, &p);
    if (rc)
        fail(rc);
    else {
        feed(p, EVZK_OK, 0, NULL);
        event_base_dispatch(base);
    }
    printf("%zu\n", put);
    evzk_session_free(s);
    return status;
}
