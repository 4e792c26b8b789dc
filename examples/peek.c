/* Shows how long a queue is, and its first items; with -f also what comes:
 *
 *     peek [-f] localhost:2181 /jobs
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static int status = EXIT_FAILURE;
static bool follow;

static void show(const evzk_queue_report *report)
{
    printf("%" PRIu64 " items, %" PRIu64 " of them claimed, %" PRIu64
           " dead letters\n",
           report->size, report->claimed, report->dead);
    for (size_t i = 0; i < report->n_items; i++) {
        const evzk_queue_item *item = &report->items[i];

        printf("  %02u %s %.*s\n", (unsigned)item->priority,
               item->claimed ? "claimed" : "free   ", (int)item->len,
               item->len ? (const char *)item->data : "");
    }
    fflush(stdout);
}

static void on_report(evzk_queue_query *query, int rc,
                      const evzk_queue_report *report, void *session)
{
    if (rc == EVZK_OK)
        show(report);
    else
        fprintf(stderr, "peek: %s\n", evzk_strerror(rc));
    status = rc == EVZK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
    if (rc == EVZK_OK && follow)
        return;
    evzk_queue_query_free(query);
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
    evzk_queue_query *query;
    evzk_queue_query_options opt = {.peek = 10};
    int rc;

    follow = argc > 1 && strcmp(argv[1], "-f") == 0;
    opt.follow = follow;
    argc -= follow;
    argv += follow;
    rc = argc == 3 && base ? EVZK_OK : EVZK_ERR_INVAL;
    if (!rc)
        rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_queue_query_start(s, argv[2], &opt, on_report, s, &query);
    if (rc)
        fprintf(stderr, "peek [-f] SERVERS PATH: %s\n", evzk_strerror(rc));
    else
        event_base_dispatch(base);
    evzk_session_free(s);
    if (base)
        event_base_free(base);
    return status;
}
