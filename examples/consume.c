/* Works on one item of a queue after another, a second each, until Ctrl-C:
 *
 *     consume localhost:2181 /app/jobs
 *
 * The item that is not finished then is given back. */
#include <signal.h>
#include <stdio.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <evzk/evzk.h>

static evzk_consumer *consumer;
static evzk_item *at_work; /* NULL: none. */
static struct event stop, work;
static unsigned finished;

static void on_work(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    if (at_work)
        evzk_consumer_finish(consumer, at_work);
}

static void heard(evzk_consumer *c, evzk_consumer_event event, int rc,
                  evzk_item *item, void *session)
{
    finished += event == EVZK_CONSUMER_FINISHED;
    printf("%s %.*s%s%s (%u finished)\n", evzk_consumer_event_name(event),
           item ? (int)item->len : 0, item ? (const char *)item->data : "",
           rc ? ": " : "", rc ? evzk_strerror(rc) : "", finished);
    at_work = event == EVZK_CONSUMER_ITEM ? item : NULL;
    if (at_work)
        event_add(&work, &(struct timeval){1, 0});
    if (!evzk_consumer_event_is_final(event))
        return;
    event_del(&work);
    evzk_consumer_free(c);
    evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

static void on_interrupt(evutil_socket_t fd, short what, void *session)
{
    (void)fd, (void)what;
    if (evzk_consumer_close(consumer)) /* The second time. */
        evzk_session_close(session);
}

int main(int argc, char **argv)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .prefetch = 1};
    struct event_base *base = event_base_new();
    evzk_session *s = NULL;
    int rc = argc == 3 && base ? EVZK_OK : EVZK_ERR_INVAL;

    rc = rc ? rc : evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    rc = rc ? rc : evzk_consumer_start(s, argv[2], &opt, heard, s, &consumer);
    if (rc)
        return fprintf(stderr, "consume: %s\n", evzk_strerror(rc)), 1;
    evsignal_assign(&stop, base, SIGINT, on_interrupt, s);
    evtimer_assign(&work, base, on_work, NULL);
    event_add(&stop, NULL);
    event_base_dispatch(base);
    event_del(&stop);
    evzk_session_free(s);
    event_base_free(base);
}
