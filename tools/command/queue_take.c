/* evzk queue PATH take */
#include <string.h>

#include "bytes.h"
#include "output.h"
#include "queue.h"

struct take {
    struct connection connection;
    const char *path;
    evzk_consumer *consumer;
    struct queue_look look;
    uint32_t left; /* Items that are wanted. */
    bool got;      /* There was one: no other one is waited for. */
    int status;
};

/* Items that were removed are printed, whatever happens: nobody else has them.
 */
static int print(const evzk_item *item)
{
    struct json_object *object;

    if (!settings.json) {
        bytes_write(item->data, item->len);
        putchar(queue_options.null ? '\0' : '\n');
        return output_flush();
    }
    object = json_object_new_object();
    bytes_add(object, "data", item->data, item->len);
    json_object_object_add(object, "priority",
                           json_object_new_uint64(item->priority));
    json_object_object_add(object, "number",
                           json_object_new_uint64(item->number));
    json_object_object_add(object, "token",
                           json_object_new_uint64(item->token));
    return output_json(object);
}

/* At the end of the consumer the last items are out. */
static void stop(struct take *t, int status)
{
    if (status)
        t->status = status;
    if (evzk_consumer_close(t->consumer))
        connection_finish(&t->connection, t->status);
}

/* Waits for the first item alone. */
static int take(struct take *t)
{
    uint32_t n = t->left < EVZK_CONSUMER_PREFETCH_MAX
                     ? t->left
                     : EVZK_CONSUMER_PREFETCH_MAX;
    int rc = evzk_consumer_take(t->consumer, n, queue_timeout_ms());

    if (rc)
        return complain_error(rc, t->path);
    if (!t->got && queue_options.wait_ms != 0)
        return 0;
    queue_look_end(&t->look);
    return queue_look_start(&t->look);
}

static void taken(struct take *t, int rc)
{
    bool none = rc == EVZK_ERR_TIMEOUT || rc == EVZK_ERR_CANCELED;

    if (none || rc == EVZK_ERR_CLOSED || t->left == 0)
        stop(t, none && !t->got ? queue_complain_empty(&t->connection, t->path)
                                : 0);
    else if (rc)
        stop(t, complain_error(rc, t->path));
    else if ((rc = take(t)) != 0)
        stop(t, rc);
}

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    struct take *t = arg;

    (void)consumer;
    switch (event) {
    case EVZK_CONSUMER_ITEM:
        t->got = true;
        t->left -= t->left > 0;
        if (print(item))
            t->status = STATUS_FAILED;
        break;
    case EVZK_CONSUMER_TAKEN:
        if (!connection_finished(&t->connection) && !t->status)
            taken(t, rc);
        else
            stop(t, 0);
        break;
    case EVZK_CONSUMER_SET_ASIDE:
        queue_look_aside(&t->look, item, rc);
        break;
    case EVZK_CONSUMER_CLOSED:
        connection_finish(&t->connection, t->status);
        break;
    case EVZK_CONSUMER_FAILED:
        if (!connection_finished(&t->connection))
            connection_finish(&t->connection, complain_error(rc, t->path));
        break;
    case EVZK_CONSUMER_FINISHED:
    case EVZK_CONSUMER_GIVEN_BACK:
    case EVZK_CONSUMER_LOST:
    case EVZK_CONSUMER_DEAD_LETTER:
        break;
    }
}

static void on_empty(void *arg)
{
    struct take *t = arg;

    evzk_consumer_cancel(t->consumer);
}

/* Items that are on their way are printed first. */
static void on_stop(int signo, void *arg)
{
    struct take *t = arg;

    if (t->status)
        connection_finish(&t->connection, 128 + signo);
    else
        stop(t, 128 + signo);
}

static int start(struct take *t)
{
    evzk_consumer_options opt = {.mode = EVZK_CONSUMER_AT_MOST_ONCE};
    int rc, status = queue_layout(&opt.layout);

    if (status)
        return status;
    rc = evzk_consumer_start(t->connection.session, t->path, &opt, on_consumer,
                             t, &t->consumer);
    t->look = (struct queue_look){.connection = &t->connection,
                                  .path = t->path,
                                  .layout = opt.layout,
                                  .empty = on_empty,
                                  .arg = t};
    return rc ? complain_error(rc, t->path) : take(t);
}

int queue_take(const struct arguments *a)
{
    struct take t = {
        .path = a->words[0],
        .left = queue_options.count == QUEUE_UNSET ? 1 : queue_options.count,
        .connection = {.stop = on_stop, .arg = &t}};
    int status;

    if (t.left == 0)
        return complain_usage("-n takes a number above 0 here");
    status = connection_open(&t.connection);
    if (!status)
        status = start(&t);
    if (!status)
        status = connection_run(&t.connection);
    queue_look_end(&t.look);
    evzk_consumer_free(t.consumer);
    connection_free(&t.connection);
    return status;
}
