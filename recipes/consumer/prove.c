/* Claims of unknown outcome: whose are they?
 *
 *   PROVING
 *
 * A claim is given back by its name, and the claim that another consumer has
 * made of the same item has the same name.  So where nobody knows whether a
 * claim was made, or was given back already, the consumer first looks whose it
 * is: a claim says which consumer has made it.
 *
 * How it can fail.  The transaction of unknown outcome may still be on its way:
 * but the receipt on which it rests was deleted before (RENEWING), so it is not
 * done any more.  The server may be behind: a sync goes before. */
#include <string.h>

#include "recipes/consumer/consumer_internal.h"

/* The first step is the sync; then comes one for each item. */
void evzk__consumer_prove(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it;

    c->error = EVZK_OK;
    c->n_steps = 0;
    evzk__change_add(c, EVZK__STEP_SYNC, "")->shared = true;
    TAILQ_FOREACH(it, &c->doubted, link)
    {
        if (c->n_steps <= EVZK__BATCH_ITEMS)
            evzk__change_add(c, EVZK__STEP_GET, it->claim);
    }
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

/* An earlier session's claim ends by itself. */
static bool is_own(const struct evzk_consumer *c,
                   const struct evzk__result *res)
{
    return res->len == strlen(c->alive) &&
           memcmp(res->data, c->alive, res->len) == 0;
}

/* The answers come in the order of the list. */
static int proved_part(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    struct evzk__item *it = TAILQ_FIRST(&c->doubted);

    if (reply->part == 0 || c->error != EVZK_OK ||
        (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE))
        return reply->rc;
    if (reply->rc == EVZK_OK && is_own(c, reply->res))
        evzk__item_give_back(c, it, it->told);
    else
        evzk__item_end(c, it, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
    return EVZK_OK;
}

int evzk__consumer_proved(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!evzk__consumer_note(c, e->reply, proved_part(c, e->reply)))
        return EVZK_OK;
    if (c->error == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    return c->error != EVZK_OK ? c->error : evzk__consumer_go_on(c);
}
