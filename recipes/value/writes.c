/* The writes that wait, in the order of the calls, and their callbacks.
 *
 * How it can fail.  A callback may ask for more writes, close, cancel, or free
 * the writer.  So a write is taken out of the list before its callback is
 * called, nothing of it is used behind that call, and the first write is looked
 * for anew.  The writer's memory stays until the event that led here is over.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/value/value_internal.h"

struct evzk__write *evzk__write_new(enum evzk__write_kind kind,
                                    const void *data, size_t len)
{
    struct evzk__write *op = evzk__zalloc(sizeof *op + len);

    if (!op)
        return NULL;
    op->kind = kind;
    op->len = (uint32_t)len;
    if (len)
        memcpy(op->data, data, len);
    return op;
}

void evzk__write_add(struct evzk_value_writer *w, struct evzk__write *op)
{
    TAILQ_INSERT_TAIL(&w->writes, op, link);
    w->pending++;
    w->pending_bytes += op->len + EVZK__WRITE_COST;
}

static struct evzk__write *take_first(struct evzk_value_writer *w)
{
    struct evzk__write *op = TAILQ_FIRST(&w->writes);

    TAILQ_REMOVE(&w->writes, op, link);
    w->pending--;
    w->pending_bytes -= op->len + EVZK__WRITE_COST;
    return op;
}

/* A value that was read before may be older than the next write. */
void evzk__write_answer(struct evzk_value_writer *w, int rc, int64_t number)
{
    evzk_session *s = evzk__machine_session(&w->m);
    struct evzk__write *op = take_first(w), told = *op;

    w->fresh = false;
    w->m.tries = 0;
    evzk__free(op);
    if (w->cb && told.cb) {
        int64_t begun = evzk__machine_call_out(s);

        told.cb(w, rc, number, told.arg);
        evzk__machine_called(s, begun);
    }
}

static uint32_t take_batch(struct evzk_value_writer *w)
{
    uint32_t n = w->batch;

    w->batch = 0;
    return n;
}

/* Each addition has the number that it alone has led to. */
void evzk__writes_done(struct evzk_value_writer *w)
{
    bool adds = TAILQ_FIRST(&w->writes)->kind == EVZK__WRITE_ADD;
    uint32_t n = take_batch(w);
    int64_t number = w->start;

    for (uint32_t i = 0; i < n; i++) {
        if (adds)
            number += TAILQ_FIRST(&w->writes)->delta;
        evzk__write_answer(w, EVZK_OK, adds ? number : 0);
    }
}

void evzk__writes_failed(struct evzk_value_writer *w, int rc)
{
    for (uint32_t n = take_batch(w); n > 0; n--)
        evzk__write_answer(w, rc, 0);
}

/* A cancel says nothing of what is on its way when the session is closed. */
void evzk__writes_end(struct evzk_value_writer *w, int rc)
{
    bool of_user = rc == EVZK_OK || rc == EVZK_ERR_CANCELED;

    if (w->batch)
        evzk__writes_failed(w, of_user ? EVZK_ERR_CLOSED : rc);
    while (!TAILQ_EMPTY(&w->writes))
        evzk__write_answer(w, w->canceled ? EVZK_ERR_CANCELED : rc, 0);
}

void evzk__writes_free(struct evzk_value_writer *w)
{
    while (!TAILQ_EMPTY(&w->writes))
        evzk__free(take_first(w));
}
