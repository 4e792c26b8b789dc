/* Is a queue empty?  For those that do not wait. */
#include "queue.h"

#define AGAIN_MS 100

static int ask(struct queue_look *l);

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct queue_look *l = arg;

    (void)fd, (void)what;
    if (ask(l))
        l->empty(l->arg);
}

/* Where there are items the consumer gets one, or another consumer does. */
static void on_report(evzk_queue_query *query, int rc,
                      const evzk_queue_report *report, void *arg)
{
    struct queue_look *l = arg;

    (void)query;
    if (connection_finished(l->connection))
        return;
    if (rc == EVZK_OK && report->size > report->claimed + l->aside)
        event_add(l->again, &(struct timeval){0, AGAIN_MS * 1000});
    else
        l->empty(l->arg);
}

static int ask(struct queue_look *l)
{
    evzk_queue_query_options opt = {.layout = l->layout};

    evzk_queue_query_free(l->query);
    l->query = NULL;
    return evzk_queue_query_start(l->connection->session, l->path, &opt,
                                  on_report, l, &l->query);
}

int queue_look_start(struct queue_look *l)
{
    int rc;

    if (!l->again)
        l->again = evtimer_new(l->connection->base, on_again, l);
    rc = l->again ? ask(l) : EVZK_ERR_NOMEM;
    return rc ? complain_error(rc, l->path) : 0;
}

void queue_look_aside(struct queue_look *l, const evzk_item *item, int rc)
{
    l->aside++;
    complain("%s: an item cannot be taken, and is left where it is (priority "
             "%u, number %llu): %s",
             l->path, item->priority, (unsigned long long)item->number,
             evzk_strerror(rc));
}

void queue_look_end(struct queue_look *l)
{
    evzk_queue_query_free(l->query);
    l->query = NULL;
    if (l->again)
        event_free(l->again);
    l->again = NULL;
}

uint32_t queue_timeout_ms(void)
{
    return queue_options.wait_ms == QUEUE_UNSET ? 0 : queue_options.wait_ms;
}

int queue_complain_empty(const struct connection *c, const char *path)
{
    if (queue_options.wait_ms == 0)
        return complain_waited(c, "%s: no item to take (-w 10 waits for one)",
                               path);
    return complain_waited(c,
                           "%s: no item came within %g s (wait longer with -w; "
                           "without -w evzk waits for ever)",
                           path, queue_options.wait_ms / 1000.0);
}
