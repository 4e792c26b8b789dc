/* Fences: no two consumers claim the same item.
 *
 * The names of two consumers' claims differ, so the servers let both stand.
 * The turn keeps them apart; but an operator who puts a copy in the place of a
 * turn's znode lets two consumers believe that they have it.  So a claim also
 * writes to its segment, on the condition that the segment has the version that
 * came with its listing, or that the consumer's own claims have given to it
 * since.  Where another consumer has claimed something in that segment since
 * the listing, the transaction is refused, and the consumer lists again.
 *
 * A fence is the last step of a claim, one for each segment.  The version
 * counts the claims in a segment: it does not come to -1, which means any. */
#include <string.h>

#include "recipes/consumer/consumer_internal.h"

/* Behind this item, the first one of another segment; of no item: the first. */
static struct evzk__item *next_segment(const struct evzk_consumer *c,
                                       const struct evzk__item *it)
{
    struct evzk__item *next =
        it ? TAILQ_NEXT(it, link) : TAILQ_FIRST(&c->batch);

    while (it && next &&
           evzk__segment_compare(&next->pick.seg, &it->pick.seg) == 0)
        next = TAILQ_NEXT(next, link);
    return next;
}

void evzk__fences_add(struct evzk_consumer *c)
{
    const struct evzk__item *it = NULL;

    c->n_fences = 0;
    while ((it = next_segment(c, it)) != NULL) {
        char *name = strcpy(evzk__name_room(c, c->n_fences++), it->path);
        struct evzk__step *step = evzk__change_add(c, EVZK__STEP_SET, name);

        *strrchr(name, '/') = '\0';
        step->versioned = true;
        step->version = evzk__view_find(&c->view, &it->pick.seg)->version;
    }
}

void evzk__fences_written(struct evzk_consumer *c)
{
    const struct evzk__item *it = NULL;

    while ((it = next_segment(c, it)) != NULL) {
        struct evzk__seen_segment *seg =
            evzk__view_find(&c->view, &it->pick.seg);

        if (seg) /* The turn may have ended. */
            seg->version++;
    }
}

bool evzk__fence_stops(const struct evzk_consumer *c,
                       const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_BADVERSION && reply->part < c->n_steps &&
           reply->part >= c->n_steps - c->n_fences;
}
