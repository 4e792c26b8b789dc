/* evzk queue PATH put, and size */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "output.h"
#include "queue.h"

struct put {
    struct connection connection;
    const char *path;
    evzk_producer *producer;
    struct bytes bytes; /* From stdin. */
    evzk_put_item *items;
    size_t n, done;
    int rc; /* Of the put. */
};

static void say_end(struct put *p, int rc)
{
    int status = 0;

    if (connection_finished(&p->connection))
        return;
    if (rc && p->n > 1)
        complain("%s: %zu of %zu items are in the queue, the others are not",
                 p->path, p->done, p->n);
    if (rc)
        status = complain_error(rc, p->path);
    connection_finish(&p->connection, status);
}

static void on_put(evzk_producer *producer, int rc, size_t done, void *arg)
{
    struct put *p = arg;

    p->rc = rc;
    p->done = done;
    evzk_producer_close(producer);
}

static void on_producer(evzk_producer *producer, evzk_producer_event event,
                        int rc, void *arg)
{
    struct put *p = arg;

    (void)producer;
    say_end(p, event == EVZK_PRODUCER_FAILED ? rc : p->rc);
}

static bool add(struct put *p, const char *data, size_t len)
{
    evzk_put_item *items = p->items;

    if ((p->n & (p->n - 1)) == 0) /* No room: 0, or a power of two. */
        items = realloc(items, (p->n ? 2 * p->n : 1) * sizeof(*items));
    if (!items)
        return false;
    p->items = items;
    items[p->n++] = (evzk_put_item){
        .data = data, .len = len, .priority = queue_options.priority};
    return true;
}

/* The last line may have no end. */
static bool add_lines(struct put *p)
{
    const char *at = p->bytes.data, *end = at + p->bytes.len, *stop;
    bool added = true;

    for (; at < end && added; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        added = add(p, at, (size_t)(stop - at));
    }
    return added;
}

static int complain_memory(void)
{
    complain("out of memory");
    return STATUS_FAILED;
}

/* All that stdin has: one item, or an item a line. */
static int read_stdin(struct put *p)
{
    int status;

    if (queue_options.lines)
        status = bytes_read(&p->bytes, stdin, EVZK_PRODUCER_PENDING_DEFAULT / 2,
                            "put fewer lines at a time");
    else
        status = bytes_read(&p->bytes, stdin, EVZK_QUEUE_DATA_MAX,
                            "keep them elsewhere, and put only their address");
    if (status)
        return status;
    return (queue_options.lines ? add_lines(p)
                                : add(p, p->bytes.data, p->bytes.len))
               ? 0
               : complain_memory();
}

static int read_items(struct put *p, const struct arguments *a)
{
    const char *word = a->count > 0 ? a->words[1] : "-";

    if (strcmp(word, "-") == 0)
        return read_stdin(p);
    if (queue_options.lines)
        return complain_usage("-l reads stdin: leave '%s' out", word);
    return add(p, word, strlen(word)) ? 0 : complain_memory();
}

static int start_put(struct put *p)
{
    evzk_producer_options opt = {.pending_max = SIZE_MAX / 2};
    int rc, status = queue_layout(&opt.layout);

    if (status)
        return status;
    rc = evzk_producer_start(p->connection.session, p->path, &opt, on_producer,
                             p, &p->producer);
    if (rc == EVZK_OK && p->n == 0)
        rc = evzk_producer_close(p->producer);
    else if (rc == EVZK_OK)
        rc = evzk_producer_put(p->producer, p->items, p->n, on_put, p);
    return rc ? complain_error(rc, p->path) : 0;
}

int queue_put(const struct arguments *a)
{
    struct put p = {.path = a->words[0]};
    int status = read_items(&p, a);

    if (!status)
        status = connection_open(&p.connection);
    if (!status)
        status = start_put(&p);
    if (!status)
        status = connection_run(&p.connection);
    evzk_producer_free(p.producer);
    connection_free(&p.connection);
    bytes_free(&p.bytes);
    free(p.items);
    return status;
}

/* ---- size ---- */

struct size {
    struct connection connection;
    const char *path;
};

static int print(const evzk_queue_report *report)
{
    struct json_object *answer;

    if (!settings.json) {
        printf("%llu\n", (unsigned long long)report->size);
        return output_flush();
    }
    answer = json_object_new_object();
    json_object_object_add(answer, "size",
                           json_object_new_uint64(report->size));
    json_object_object_add(answer, "claimed",
                           json_object_new_uint64(report->claimed));
    json_object_object_add(answer, "dead",
                           json_object_new_uint64(report->dead));
    return output_json(answer);
}

static void on_report(evzk_queue_query *query, int rc,
                      const evzk_queue_report *report, void *arg)
{
    struct size *s = arg;

    (void)query;
    if (!connection_finished(&s->connection))
        connection_finish(&s->connection,
                          rc ? complain_error(rc, s->path) : print(report));
}

int queue_size(const struct arguments *a)
{
    struct size s = {.path = a->words[0]};
    evzk_queue_query_options opt = {.peek = 0};
    evzk_queue_query *query = NULL;
    int rc, status = queue_layout(&opt.layout);

    if (!status)
        status = connection_open(&s.connection);
    if (!status) {
        rc = evzk_queue_query_start(s.connection.session, s.path, &opt,
                                    on_report, &s, &query);
        status =
            rc ? complain_error(rc, s.path) : connection_run(&s.connection);
    }
    evzk_queue_query_free(query);
    connection_free(&s.connection);
    return status;
}
