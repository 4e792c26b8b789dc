/* Whose are the claims?
 *
 *   PROVING --> FINISHING, RETURNING
 *
 * The name of a claim has the consumer's GUID, so nobody else makes one of that
 * name; but an operator may put a copy in its place.  So on each connection,
 * before a claim is deleted, the consumer has made it there, or looks whose it
 * is: its session owns the znode, and that is the one that it has made, by its
 * czxid, where that is known.  As long as no connection is lost, this costs
 * nothing.
 *
 * Of items that are to be finished or given back, those whose claim is gone, or
 * is another's, are lost.  Where that change was sent before, and nobody knows
 * whether it was done, it goes again only if none of its claims is another's;
 * else it becomes a claim of unknown outcome.
 *
 * How it can fail.  Between the look and the delete somebody may still put a
 * copy there: a delete cannot name its znode's czxid.  A transaction of unknown
 * outcome may still be on its way: but the receipt on which it rests was
 * deleted before (RENEWING), so it is not done any more.  The server may be
 * behind: a sync goes before. */
#include "recipes/consumer/consumer_internal.h"

static struct evzk__items *list_of(struct evzk_consumer *c)
{
    if (c->proves == EVZK__ITEM_FINISHING)
        return &c->finishing;
    return c->proves == EVZK__ITEM_RETURNING ? &c->returning : &c->doubted;
}

static uint32_t n_to_prove(const struct evzk_consumer *c)
{
    if (c->change != EVZK__NO_CHANGE)
        return c->n_change;
    if (c->proves == EVZK__ITEM_FINISHING)
        return evzk__finish_together(c);
    return c->proves == EVZK__ITEM_RETURNING
               ? evzk__return_together(c)
               : evzk__least(c->n_doubted, EVZK__BATCH_ITEMS);
}

/* The first step is the sync; then comes one for each item.  A claim that was
 * made needs no newer word than the last one. */
void evzk__consumer_prove(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it = TAILQ_FIRST(list_of(c));
    struct evzk__step *sync;
    uint32_t n = n_to_prove(c);

    c->error = EVZK_OK;
    c->n_steps = 0;
    c->taken_over = false;
    sync = evzk__change_add(c, EVZK__STEP_SYNC, "");
    sync->shared = true;
    sync->once = c->proves != EVZK__ITEM_DOUBTED;
    for (uint32_t i = 0; i < n; i++, it = TAILQ_NEXT(it, link))
        evzk__change_add(c, EVZK__STEP_EXISTS, it->claim);
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

static void doubted(struct evzk_consumer *c, struct evzk__item *it, bool own)
{
    evzk__proof_last(&it->proof, &c->m);
    if (own)
        evzk__item_give_back(c, it, it->told);
    else
        evzk__item_end(c, it, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
}

/* A claim has gone with its session. */
static void lose(struct evzk_consumer *c, struct evzk__item *it, int rc)
{
    if (!evzk__item_is_old(c, it))
        evzk__item_end(c, it, EVZK_CONSUMER_LOST, rc);
    else if (c->proves == EVZK__ITEM_FINISHING)
        evzk__item_end(c, it, EVZK_CONSUMER_LOST, EVZK_ERR_EXPIRED);
    else
        evzk__item_end(c, it, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
}

enum { OWN, ANOTHERS, GONE, HIDDEN };

static uint8_t found_by(const struct evzk_consumer *c,
                        const struct evzk__item *it,
                        const struct evzk__reply *reply)
{
    if (evzk__proof_is_own(&c->m, reply, it->pub.claim_token))
        return OWN;
    if (reply->rc == EVZK_ERR_NOAUTH)
        return HIDDEN;
    return reply->rc == EVZK_ERR_NONODE ? GONE : ANOTHERS;
}

/* The steps name the items' claims, so no item ends before the last answer. */
static int note_part(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    struct evzk__item *it = TAILQ_FIRST(list_of(c));

    if (reply->part == 0 || c->error != EVZK_OK ||
        (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE &&
         reply->rc != EVZK_ERR_NOAUTH))
        return reply->rc;
    for (unsigned i = 1; i < reply->part; i++)
        it = TAILQ_NEXT(it, link);
    it->found = found_by(c, it, reply);
    return EVZK_OK;
}

/* Items that are proved stay at the head of their list. */
static void take(struct evzk_consumer *c, struct evzk__item *it)
{
    bool first =
        c->proves == EVZK__ITEM_DOUBTED || c->change == EVZK__NO_CHANGE;

    if (it->found == HIDDEN && first && !evzk__item_is_old(c, it))
        evzk__item_stick(c, it, EVZK_ERR_NOAUTH);
    else if (c->proves == EVZK__ITEM_DOUBTED) {
        doubted(c, it, it->found == OWN);
    } else if (it->found == OWN || c->change != EVZK__NO_CHANGE) {
        c->taken_over =
            c->taken_over || it->found == ANOTHERS || it->found == HIDDEN;
        evzk__proof_last(&it->proof, &c->m);
    } else {
        lose(c, it, it->found == HIDDEN ? EVZK_ERR_NOAUTH : EVZK_ERR_NODEGONE);
    }
}

static void take_all(struct evzk_consumer *c)
{
    struct evzk__item *it = TAILQ_FIRST(list_of(c)), *next;

    for (uint32_t i = 1; i < c->n_steps; i++, it = next) {
        next = TAILQ_NEXT(it, link);
        take(c, it);
    }
}

static int proved(struct evzk_consumer *c)
{
    take_all(c);
    if (c->proves == EVZK__ITEM_DOUBTED || TAILQ_EMPTY(list_of(c)))
        return evzk__consumer_go_on(c);
    if (c->taken_over)
        return evzk__change_doubt(c, list_of(c));
    return evzk__machine_move(
        &c->m, c->proves == EVZK__ITEM_FINISHING ? FINISHING : RETURNING);
}

int evzk__consumer_proved(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!evzk__consumer_note(c, e->reply, note_part(c, e->reply)))
        return EVZK_OK;
    if (c->error == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    return c->error != EVZK_OK ? c->error : proved(c);
}
