/* What a producer knows of the last segment of each priority.
 *
 * How full a segment is, its numbers tell: the servers give one to each item
 * that was ever put there, and to each claim.  So a producer learns it with the
 * answer to a put.  Of a segment that was only listed nothing is known: the
 * first transaction there is short.  A transaction whose answer was lost counts
 * with its own items.
 *
 * How it can fail.  Producers learn of each other's items only with their own
 * answers, so a segment grows beyond its size by what all of them send in one
 * trip.  A producer that sees that others put, too, takes only its share of
 * what is left: so that excess does not grow with the number of producers, but
 * in the first trip of all.
 */
#include <string.h>

#include "recipes/producer/producer_internal.h"

struct evzk__producer_limits evzk__producer_limits = {
    .segment_items = EVZK__SEGMENT_ITEMS,
    .batch_items = 512,
    .first_items = 64,
    .batch_bytes = 900000,
    .plain_items = EVZK_QUEUE_PLAIN_MAX};

/* Of the same segment as before all still holds; of a later one, how much
 * others put. */
static void see(struct evzk__tail *t, const struct evzk__tail *before)
{
    if (t->state != EVZK__TAIL_ABSENT && before->state != EVZK__TAIL_ABSENT &&
        t->number == before->number)
        *t = *before;
    t->own = before->own;
    t->others = before->others;
}

static void take_name(struct evzk_producer *p, const char *name)
{
    struct evzk__segment seg;
    struct evzk__tail *t;

    if (strcmp(name, EVZK__QUEUE_SIGNAL) == 0)
        p->has_signal = true;
    if (!evzk__segment_parse(name, &seg))
        return;
    t = &p->tail[seg.priority];
    if (t->state == EVZK__TAIL_ABSENT || t->number < seg.number)
        *t = (struct evzk__tail){.state = EVZK__TAIL_FOUND,
                                 .number = seg.number};
}

void evzk__tails_found(struct evzk_producer *p, const struct evzk__names *names)
{
    struct evzk__tail before[EVZK_QUEUE_PRIORITIES];

    memcpy(before, p->tail, sizeof before);
    memset(p->tail, 0, sizeof p->tail);
    p->has_signal = false;
    p->tails_known = true;
    for (size_t i = 0; i < names->n; i++)
        take_name(p, names->v[i]);
    for (int i = 0; i < EVZK_QUEUE_PRIORITIES; i++)
        see(&p->tail[i], &before[i]);
}

bool evzk__tail_is_short(const struct evzk__tail *t)
{
    return t->state != EVZK__TAIL_OPEN && t->state != EVZK__TAIL_FOUND;
}

bool evzk__tail_is_last(const struct evzk__tail *t)
{
    return evzk__tail_is_short(t) && t->state != EVZK__TAIL_ABSENT &&
           t->number == UINT32_MAX;
}

uint32_t evzk__tail_next(const struct evzk__tail *t)
{
    return t->state == EVZK__TAIL_ABSENT ? 0 : t->number + 1;
}

/* `open` was given the first number. */
void evzk__tail_extended(struct evzk__tail *t)
{
    t->number = evzk__tail_next(t);
    t->state = EVZK__TAIL_OPEN;
    t->items = 1;
}

/* Items that are put all the same, however many others put. */
enum { LEAST = 8 };

uint32_t evzk__tail_room(const struct evzk__tail *t)
{
    uint32_t left = evzk__producer_limits.segment_items, share;

    if (t->state == EVZK__TAIL_FOUND)
        left = evzk__producer_limits.first_items;
    if (t->state == EVZK__TAIL_OPEN)
        left -= t->items; /* Else nothing is in it yet. */
    if (t->others == 0 || left <= LEAST)
        return left;
    share = (uint32_t)((uint64_t)left * t->own / (t->own + t->others));
    return share < LEAST ? LEAST : share;
}

static void count_others(struct evzk__tail *t, uint32_t n, uint32_t items)
{
    if (t->state != EVZK__TAIL_OPEN)
        return;
    t->own = n;
    t->others = items > t->items + n ? items - t->items - n : 0;
}

void evzk__tail_filled(struct evzk__tail *t, uint32_t n, const char *name)
{
    int32_t seq;

    if (evzk__item_parse(name, &seq)) {
        count_others(t, n, (uint32_t)seq + 1);
        t->items = (uint32_t)seq + 1;
    } else
        t->items += n;
    t->state = t->items >= evzk__producer_limits.segment_items
                   ? EVZK__TAIL_FULL
                   : EVZK__TAIL_OPEN;
}

/* Other producers put, too: each takes a part of what is left, and looks again,
 * the more often the less is left. */
bool evzk__plain_found(struct evzk_producer *p, uint32_t children)
{
    enum { PART = 4 };
    uint32_t most = evzk__producer_limits.plain_items;
    uint32_t left = children < most ? most - children : 0;

    p->room = (left + PART - 1) / PART;
    return left > 0;
}
