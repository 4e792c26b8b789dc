/* Which items go into the next transaction: the first that wait, as many as fit
 * together.
 *
 * How much the servers take (jute.maxbuffer) no client can know.  A transaction
 * of several items that was too large is halved, until it is not; and what is
 * put together from then on stays below that size, as long as the producer
 * lives.  An item that is larger goes alone.
 *
 * How it can fail.  Once the transaction was asked for, it must be sent again
 * as it was: its outcome is known only as a whole.  So nothing is chosen anew
 * before that outcome.
 */
#include "recipes/producer/producer_internal.h"

static struct evzk__target *target_of(struct evzk_producer *p,
                                      uint32_t priority)
{
    for (uint32_t i = 0; i < p->batch.n_targets; i++) {
        if (p->target[i].priority == priority)
            return &p->target[i];
    }
    return NULL;
}

static bool has_room(const struct evzk_producer *p,
                     const struct evzk__target *t, uint32_t priority)
{
    if (!t && p->batch.n_targets == EVZK__TARGETS)
        return false;
    if (evzk__producer_is_plain(p))
        return p->batch.items < p->room;
    return (t ? t->items : 0) < evzk__tail_room(&p->tail[priority]);
}

static bool fits(const struct evzk_producer *p, const struct evzk__target *t,
                 const evzk_put_item *item)
{
    return p->batch.items == 0 ||
           (p->batch.items < evzk__producer_limits.batch_items &&
            p->batch.bytes + p->item_bytes + item->len <= p->most_bytes &&
            has_room(p, t, item->priority));
}

/* False: it does not go with the others. */
static bool take(struct evzk_producer *p, const evzk_put_item *item)
{
    struct evzk__target *t = target_of(p, item->priority);

    if (!fits(p, t, item))
        return false;
    if (!t) {
        t = &p->target[p->batch.n_targets++];
        t->priority = item->priority;
        t->items = 0;
    }
    p->batch.bytes += p->batch.items ? p->item_bytes : p->one_bytes;
    p->batch.bytes += item->len;
    p->batch.items++;
    t->items++;
    return true;
}

void evzk__batch_choose(struct evzk_producer *p)
{
    struct evzk__put *put;

    p->batch = (struct evzk__batch){0};
    TAILQ_FOREACH(put, &p->puts, link)
    {
        for (size_t i = put->done; i < put->n; i++) {
            if (!take(p, &put->item[i]))
                return;
        }
        if (p->alone)
            return;
    }
}

bool evzk__batch_is_at_end(const struct evzk_producer *p)
{
    for (uint32_t i = 0; !evzk__producer_is_plain(p) && i < p->batch.n_targets;
         i++) {
        if (evzk__tail_is_last(&p->tail[p->target[i].priority]))
            return true;
    }
    return false;
}

bool evzk__batch_lacks(const struct evzk_producer *p)
{
    if (evzk__producer_is_plain(p))
        return p->dir_missing;
    for (uint32_t i = 0; i < p->batch.n_targets; i++) {
        if (evzk__tail_is_short(&p->tail[p->target[i].priority]))
            return true;
    }
    return !p->has_signal;
}

bool evzk__batch_halve(struct evzk_producer *p)
{
    if (p->batch.items == 1)
        return false;
    p->most_bytes = p->batch.bytes / 2;
    return true;
}
