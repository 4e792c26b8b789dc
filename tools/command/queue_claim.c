/* evzk queue PATH claim -- CMD...: one item after the other. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "work.h"

struct claim {
    struct connection connection;
    struct work work;
    const char *path;
    char **run;
    evzk_consumer *consumer;
    evzk_item *item; /* In work; NULL: none. */
    struct queue_look look;
    uint32_t left; /* Items that are wanted; 0: no end. */
    bool got;      /* There was one. */
    bool last;     /* No other item is wanted. */
    int status;
};

static void stop(struct claim *c)
{
    c->last = true;
    if (evzk_consumer_close(c->consumer))
        connection_finish(&c->connection, c->status);
}

static int take(struct claim *c)
{
    int rc = evzk_consumer_take(c->consumer, 1, queue_timeout_ms());

    if (rc)
        return complain_error(rc, c->path);
    return queue_options.wait_ms == 0 ? queue_look_start(&c->look) : 0;
}

static void go_on(struct claim *c)
{
    if (c->status == 0 && !c->last)
        c->status = take(c);
    if (c->status || c->last)
        stop(c);
}

static uint32_t lease_ms(void *arg)
{
    struct claim *c = arg;

    return c->item && evzk_consumer_holds(c->consumer, c->item)
               ? evzk_consumer_lease_ms(c->consumer)
               : 0;
}

/* Of a claim that is lost the item belongs to another. */
static void on_ended(int status, void *arg)
{
    struct claim *c = arg;
    int rc = EVZK_ERR_STATE;

    c->status = status;
    if (c->left > 0 && --c->left == 0)
        c->last = true;
    if (c->item)
        rc = status == 0 ? evzk_consumer_finish(c->consumer, c->item)
                         : evzk_consumer_give_back(c->consumer, c->item);
    if (rc)
        stop(c);
}

static void set_environment(const struct claim *c, const evzk_item *item)
{
    setenv("EVZK_PATH", c->path, 1);
    work_number("EVZK_TOKEN", item->claim_token);
    work_number("EVZK_ITEM", item->number);
    work_number("EVZK_PUT", item->token);
    work_number("EVZK_PRIORITY", item->priority);
    if (item->deliveries)
        work_number("EVZK_DELIVERIES", item->deliveries);
}

static void work_on(struct claim *c, evzk_item *item)
{
    queue_look_end(&c->look);
    if (c->last || c->status) {
        evzk_consumer_give_back(c->consumer, item);
        return;
    }
    c->item = item;
    c->got = true;
    set_environment(c, item);
    if (!work_start(&c->work, c->run, item->len ? item->data : "", item->len))
        on_ended(STATUS_NOT_RUN, c);
}

/* The item is done or given back; or it was never worked on. */
static void settled(struct claim *c, const evzk_item *item)
{
    if (item != c->item)
        return;
    c->item = NULL;
    go_on(c);
}

/* The end of CMD comes later, if it runs. */
static void lost(struct claim *c, const evzk_item *item, int rc)
{
    if (item != c->item)
        return;
    c->item = NULL;
    if (work_runs(&c->work)) {
        work_lost(&c->work, c->path, rc);
        return;
    }
    complain("%s: the claim was lost before the item was finished, so another "
             "may work on it again: %s",
             c->path, evzk_strerror(rc));
    c->status = STATUS_LOST;
    stop(c);
}

/* Nothing was taken: no item came, or the consumer fails, and says so next. */
static void taken(struct claim *c, int rc)
{
    if ((rc != EVZK_ERR_TIMEOUT && rc != EVZK_ERR_CANCELED) || c->last)
        return;
    if (!c->got)
        c->status = queue_complain_empty(&c->connection, c->path);
    stop(c);
}

static void say_dead(const struct claim *c, const evzk_item *item)
{
    complain("%s: an item was delivered %u times and never finished: set aside "
             "below %s/dead (priority %u, number %llu)",
             c->path, queue_options.max_deliveries, c->path, item->priority,
             (unsigned long long)item->number);
}

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    struct claim *c = arg;

    (void)consumer;
    switch (event) {
    case EVZK_CONSUMER_ITEM:
        work_on(c, item);
        break;
    case EVZK_CONSUMER_TAKEN:
        taken(c, rc);
        break;
    case EVZK_CONSUMER_FINISHED:
    case EVZK_CONSUMER_GIVEN_BACK:
        settled(c, item);
        break;
    case EVZK_CONSUMER_LOST:
        lost(c, item, rc);
        break;
    case EVZK_CONSUMER_DEAD_LETTER:
        say_dead(c, item);
        break;
    case EVZK_CONSUMER_SET_ASIDE:
        queue_look_aside(&c->look, item, rc);
        break;
    case EVZK_CONSUMER_CLOSED:
        connection_finish(&c->connection, c->status);
        break;
    case EVZK_CONSUMER_FAILED:
        if (!connection_finished(&c->connection))
            connection_finish(&c->connection, complain_error(rc, c->path));
        break;
    }
}

static void on_empty(void *arg)
{
    struct claim *c = arg;

    evzk_consumer_cancel(c->consumer);
}

/* A signal goes to CMD, and no other item is taken. */
static void on_stop(int signo, void *arg)
{
    struct claim *c = arg;
    bool again = c->last;

    c->last = true;
    if (work_signal(&c->work, signo))
        return;
    c->status = 128 + signo;
    if (again)
        connection_finish(&c->connection, c->status);
    else
        stop(c);
}

static int start(struct claim *c)
{
    evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                 .max_deliveries =
                                     queue_options.max_deliveries};
    int rc, status = queue_layout(&opt.layout);

    if (status)
        return status;
    if (opt.layout != EVZK_QUEUE_SEGMENTS)
        return complain_usage("a plain queue has no claims, since other "
                              "programs know none: use take");
    c->look = (struct queue_look){.connection = &c->connection,
                                  .path = c->path,
                                  .empty = on_empty,
                                  .arg = c};
    rc = evzk_consumer_start(c->connection.session, c->path, &opt, on_consumer,
                             c, &c->consumer);
    return rc ? complain_error(rc, c->path) : take(c);
}

int queue_claim(const struct arguments *a)
{
    struct claim c = {
        .path = a->words[0],
        .run = a->run,
        .left = queue_options.count == QUEUE_UNSET ? 1 : queue_options.count,
        .connection = {.stop = on_stop, .arg = &c},
        .work = {.connection = &c.connection,
                 .lease_ms = lease_ms,
                 .ended = on_ended,
                 .arg = &c}};
    int status = work_prepare(&c.work);

    if (!status)
        status = connection_open(&c.connection);
    if (!status)
        status = start(&c);
    if (!status)
        status = connection_run(&c.connection);
    queue_look_end(&c.look);
    evzk_consumer_free(c.consumer);
    work_free(&c.work);
    connection_free(&c.connection);
    return status;
}
