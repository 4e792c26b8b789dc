/* What a writer does next, by what it knows of the znode.
 *
 * A value that was read with the receipt in place is that of the receipt's own
 * znode: nobody can have deleted that znode and made it anew.  So a write
 * of a known version needs no look before it.  A write is refused only by what
 * was read after it was asked for.
 *
 * How it can fail.  Another writer was quicker: the transaction is refused by
 * its version.  An addition looks again; a compare-and-set is refused.
 */
#include "recipes/value/value_internal.h"

/* No czxid: of no znode, or of one that the writer has made and not read. */
static bool is_same(const evzk_value_stamp *a, const evzk_value_stamp *b)
{
    return a->czxid && a->czxid == b->czxid && a->version == b->version;
}

static bool can_add(const struct evzk_value_writer *w,
                    const struct evzk__write *op)
{
    int64_t sum = w->number;

    return w->is_number && evzk__number_add(&sum, op->delta);
}

/* EVZK_OK, or why the write cannot be done, as was read just now. */
static int refusal(const struct evzk_value_writer *w,
                   const struct evzk__write *op)
{
    switch (op->kind) {
    case EVZK__WRITE_SET:
        break;
    case EVZK__WRITE_COMPARE:
        if (w->absent)
            return EVZK_ERR_NONODE;
        return is_same(&w->stamp, &op->stamp) ? EVZK_OK : EVZK_ERR_BADVERSION;
    case EVZK__WRITE_CREATE:
        return w->absent ? EVZK_OK : EVZK_ERR_NODEEXISTS;
    case EVZK__WRITE_ADD:
        return w->absent || can_add(w, op) ? EVZK_OK : EVZK_ERR_BADDATA;
    }
    return EVZK_OK;
}

/* May the write go out without a look? */
static bool is_ready(const struct evzk_value_writer *w,
                     const struct evzk__write *op)
{
    switch (op->kind) {
    case EVZK__WRITE_SET:
        return true;
    case EVZK__WRITE_COMPARE:
        return w->known && is_same(&w->stamp, &op->stamp);
    case EVZK__WRITE_ADD:
        return w->known && can_add(w, op);
    case EVZK__WRITE_CREATE:
        break;
    }
    return false;
}

/* Additions go together. */
static void choose_batch(struct evzk_value_writer *w)
{
    const struct evzk__write *op = TAILQ_FIRST(&w->writes);

    w->batch = 0;
    w->start = w->sum = w->number;
    while (op && op->kind == EVZK__WRITE_ADD && w->batch < EVZK__ADDITIONS &&
           evzk__number_add(&w->sum, op->delta)) {
        w->batch++;
        op = TAILQ_NEXT(op, link);
    }
    if (w->batch == 0)
        w->batch = 1; /* No addition. */
}

static enum evzk__next next_of(struct evzk_value_writer *w,
                               const struct evzk__write *op)
{
    if (w->fresh && w->absent)
        return w->above_seen.exists ? EVZK__NEXT_MAKE : EVZK__NEXT_MAKE_PARENTS;
    if (op->kind == EVZK__WRITE_CREATE)
        return EVZK__NEXT_LOOK;
    if (!evzk__writer_has_receipt(w))
        return EVZK__NEXT_RECEIPT;
    if (!is_ready(w, op))
        return EVZK__NEXT_LOOK;
    choose_batch(w);
    return EVZK__NEXT_WRITE;
}

enum evzk__next evzk__writer_choose(struct evzk_value_writer *w)
{
    const struct evzk__write *op;

    while (!w->m.stopping && (op = TAILQ_FIRST(&w->writes)) != NULL) {
        int rc = w->fresh ? refusal(w, op) : EVZK_OK;

        if (rc == EVZK_OK)
            return next_of(w, op);
        evzk__write_answer(w, rc, 0); /* May free the writer, which stops. */
    }
    return w->m.stopping || w->closing ? EVZK__NEXT_CLOSE : EVZK__NEXT_WAIT;
}

/* A znode that the writer has made has a czxid that it has not read. */
void evzk__writer_note_done(struct evzk_value_writer *w, bool made)
{
    enum evzk__write_kind kind = TAILQ_FIRST(&w->writes)->kind;

    if (made)
        w->stamp = (evzk_value_stamp){0};
    else
        w->stamp.version = (int32_t)((uint32_t)w->stamp.version + 1);
    w->known = made || kind != EVZK__WRITE_SET;
    w->is_number = kind == EVZK__WRITE_ADD;
    w->number = w->sum;
    w->fresh = false;
}
