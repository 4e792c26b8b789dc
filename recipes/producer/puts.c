/* The puts that wait, in the order of the calls, and their callbacks.
 *
 * How it can fail.  A callback may put more, close, cancel, or free the
 * producer.  So a put is taken out of the list and counted off before its
 * callback is called, nothing of it is used behind that call, and the first put
 * is looked for anew.  The producer's memory stays until the event that led
 * here is over.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/producer/producer_internal.h"

struct evzk__put *evzk__put_new(const evzk_put_item *items, size_t n)
{
    size_t head = sizeof(struct evzk__put) + n * sizeof items[0], bytes = 0;
    struct evzk__put *put;
    char *data;

    for (size_t i = 0; i < n; i++)
        bytes += items[i].len;
    put = evzk__zalloc(head + bytes);
    if (!put)
        return NULL;
    data = (char *)put + head;
    put->n = n;
    put->bytes = bytes + n * EVZK__ITEM_COST;
    for (size_t i = 0; i < n; i++) {
        put->item[i] = items[i];
        put->item[i].data = data;
        if (items[i].len)
            memcpy(data, items[i].data, items[i].len);
        data += items[i].len;
    }
    return put;
}

void evzk__put_add(struct evzk_producer *p, struct evzk__put *put)
{
    TAILQ_INSERT_TAIL(&p->puts, put, link);
    p->pending_items += put->n;
    p->pending_bytes += put->bytes;
}

static void answer(struct evzk_producer *p, struct evzk__put *put, int rc)
{
    evzk_session *s = evzk__machine_session(&p->m);
    struct evzk__put told = *put;

    TAILQ_REMOVE(&p->puts, put, link);
    p->pending_items -= put->n;
    p->pending_bytes -= put->bytes;
    evzk__free(put);
    if (p->cb && told.cb) {
        int64_t begun = evzk__machine_call_out(s);

        told.cb(p, rc, told.done, told.arg);
        evzk__machine_called(s, begun);
    }
}

/* The transaction is over: so many items were in it. */
static uint32_t take_batch(struct evzk_producer *p)
{
    uint32_t items = p->batch.items;

    p->batch = (struct evzk__batch){0};
    p->alone = false;
    return items;
}

void evzk__puts_done(struct evzk_producer *p)
{
    size_t left = take_batch(p);

    while (left > 0) {
        struct evzk__put *put = TAILQ_FIRST(&p->puts);
        size_t waits = put->n - put->done, n = left < waits ? left : waits;

        put->done += n;
        left -= n;
        if (put->done == put->n)
            answer(p, put, EVZK_OK);
    }
}

void evzk__puts_refused(struct evzk_producer *p, int rc)
{
    take_batch(p);
    answer(p, TAILQ_FIRST(&p->puts), rc);
}

void evzk__puts_unknown(struct evzk_producer *p, int rc)
{
    size_t left = take_batch(p);

    while (left > 0) {
        struct evzk__put *put = TAILQ_FIRST(&p->puts);
        size_t waits = put->n - put->done;

        left -= left < waits ? left : waits;
        answer(p, put, rc);
    }
}

/* A cancel says nothing of what is on its way when the session is closed. */
void evzk__puts_end(struct evzk_producer *p, int rc)
{
    bool of_user = rc == EVZK_OK || rc == EVZK_ERR_CANCELED;

    if (p->batch.asked)
        evzk__puts_unknown(p, of_user ? EVZK_ERR_CLOSED : rc);
    while (!TAILQ_EMPTY(&p->puts))
        answer(p, TAILQ_FIRST(&p->puts), p->canceled ? EVZK_ERR_CANCELED : rc);
}

void evzk__puts_free(struct evzk_producer *p)
{
    struct evzk__put *put;

    while ((put = TAILQ_FIRST(&p->puts)) != NULL) {
        TAILQ_REMOVE(&p->puts, put, link);
        evzk__free(put);
    }
}
