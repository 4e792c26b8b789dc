/* Whose are the claims?
 *
 *   PROVING --> FINISHING, RETURNING
 *
 * A claim is deleted by its name, and the claim that another consumer has made
 * of the same item has the same name.  So before a claim is deleted the
 * consumer looks whose it is: its session owns the znode, and that is the one
 * that it has made, by its czxid.  Where nobody knows whether a claim was made,
 * it says in its data which consumer has made it.
 *
 * Of items that are to be finished or given back, those whose claim is gone, or
 * is another's, are lost.  Where that change was sent before, and nobody knows
 * whether it was done, it goes again only if none of its claims is another's;
 * else it becomes a claim of unknown outcome.
 *
 * How it can fail.  Between the look and the delete somebody may still delete
 * the claim, and another consumer claim the item: a delete cannot name its
 * znode's czxid.  A transaction of unknown outcome may still be on its way: but
 * the receipt on which it rests was deleted before (RENEWING), so it is not
 * done any more.  The server may be behind: a sync goes before. */
#include <string.h>

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

/* The first step is the sync; then comes one for each item.  A claim whose
 * czxid is known needs no look at its data, and no newer word than the last
 * one. */
void evzk__consumer_prove(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it = TAILQ_FIRST(list_of(c));
    struct evzk__step *sync;
    uint32_t n = n_to_prove(c);

    c->error = EVZK_OK;
    c->n_steps = c->n_proved = 0;
    c->taken_over = false;
    sync = evzk__change_add(c, EVZK__STEP_SYNC, "");
    sync->shared = true;
    sync->once = c->proves != EVZK__ITEM_DOUBTED;
    for (uint32_t i = 0; i < n; i++, it = TAILQ_NEXT(it, link))
        evzk__change_add(
            c, it->pub.claim_token ? EVZK__STEP_EXISTS : EVZK__STEP_GET,
            it->claim);
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

/* An earlier session's claim ends by itself; another consumer may have the same
 * session. */
static bool is_own(const struct evzk_consumer *c, const struct evzk__item *it,
                   const struct evzk__reply *reply)
{
    const struct evzk__result *res = reply->res;

    if (!evzk__proof_is_own(&c->m, reply, it->pub.claim_token))
        return false;
    return it->pub.claim_token != 0 ||
           (res->len == strlen(c->alive) &&
            memcmp(res->data, c->alive, res->len) == 0);
}

static void doubted(struct evzk_consumer *c, struct evzk__item *it, bool own)
{
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

/* The steps name the items' claims, so no item ends before the last answer. */
static int note_part(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    struct evzk__item *it = TAILQ_FIRST(list_of(c));
    bool hidden = reply->rc == EVZK_ERR_NOAUTH;

    if (reply->part == 0 || c->error != EVZK_OK ||
        (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE && !hidden))
        return reply->rc;
    for (unsigned i = 1; i < reply->part; i++)
        it = TAILQ_NEXT(it, link);
    it->found = is_own(c, it, reply)           ? OWN
                : hidden                       ? HIDDEN
                : reply->rc == EVZK_ERR_NONODE ? GONE
                                               : ANOTHERS;
    return EVZK_OK;
}

/* Items that are proved stay at the head of their list. */
static void take(struct evzk_consumer *c, struct evzk__item *it)
{
    if (c->proves == EVZK__ITEM_DOUBTED) {
        doubted(c, it, it->found == OWN);
    } else if (it->found == OWN || c->change != EVZK__NO_CHANGE) {
        c->taken_over =
            c->taken_over || it->found == ANOTHERS || it->found == HIDDEN;
        c->n_proved++;
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
    if (c->proves == EVZK__ITEM_DOUBTED || c->n_proved == 0)
        return evzk__consumer_go_on(c);
    if (c->taken_over)
        return evzk__change_doubt(c, list_of(c));
    evzk__proof_give(&c->proof);
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
