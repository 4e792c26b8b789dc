/* Finishing items, and giving them back: what a consumer does without the turn.
 *
 *   FINISHING, RETURNING <--> PROVING (prove.c)
 *
 * How it can fail.  An operator may have put copies in the places of the
 * claims. So each of these transactions goes, and goes again after a lost
 * connection, only when its claims were made, or seen to be the consumer's own,
 * on the present connection; and it rests on the znode of the session that has
 * made them.  Somebody may have deleted a claim or an item: the transaction
 * names that item, and goes again without it.  Where one is gone others may be:
 * so they are looked at first. */
#include "recipes/consumer/consumer_internal.h"

uint32_t evzk__finish_together(const struct evzk_consumer *c)
{
    return evzk__least(c->n_finishing, c->batch_items);
}

uint32_t evzk__change_proved(const struct evzk_consumer *c,
                             const struct evzk__items *list, uint32_t most)
{
    bool under_way = c->change != EVZK__NO_CHANGE;
    const struct evzk__item *it = TAILQ_FIRST(list);
    uint32_t n = 0;

    if (under_way)
        most = c->n_change;
    for (; n < most && evzk__proof_lasts(&it->proof, &c->m); n++)
        it = TAILQ_NEXT(it, link);
    return under_way && n < most ? 0 : n;
}

void evzk__consumer_finish(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it = TAILQ_FIRST(&c->finishing);
    uint32_t n =
        evzk__change_proved(c, &c->finishing, evzk__finish_together(c));

    if (n == 0) {
        evzk__consumer_prove_first(c, EVZK__ITEM_FINISHING);
        return;
    }
    evzk__change_begin(c, EVZK__FINISH, n, c->alive);
    for (uint32_t i = 0; i < c->n_change; i++) {
        evzk__change_add(c, EVZK__STEP_DELETE, it->claim);
        evzk__change_add(c, EVZK__STEP_DELETE, it->path);
        it = TAILQ_NEXT(it, link);
    }
    evzk__change_ask(c);
}

static bool is_unmarked(const struct evzk__item *it)
{
    return it->marked && !it->ephemeral;
}

/* With the data of an item that is no longer counted, no other item has room.
 */
uint32_t evzk__return_together(const struct evzk_consumer *c)
{
    const struct evzk__item *it = TAILQ_FIRST(&c->returning);
    uint32_t n = 1;

    if (is_unmarked(it))
        return n;
    while (n < c->batch_items && (it = TAILQ_NEXT(it, link)) != NULL &&
           !is_unmarked(it))
        n++;
    return n;
}

/* That failed: somebody has deleted the item or written to it, or the servers
 * refuse that.  Then the delivery stays counted. */
static void forget_mark(struct evzk_consumer *c)
{
    TAILQ_FIRST(&c->returning)->marked = false;
}

/* Consumers that wait hear of what was given back by `signal`.  At the end:
 * what was counted, and not delivered, is counted no more. */
void evzk__consumer_return(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it = TAILQ_FIRST(&c->returning);
    uint32_t n =
        evzk__change_proved(c, &c->returning, evzk__return_together(c));

    if (n == 0) {
        evzk__consumer_prove_first(c, EVZK__ITEM_RETURNING);
        return;
    }
    evzk__change_begin(c, EVZK__RETURN, n, c->alive);
    for (uint32_t i = 0; i < c->n_change; i++) {
        evzk__change_add(c, EVZK__STEP_DELETE, it->claim);
        it = TAILQ_NEXT(it, link);
    }
    evzk__consumer_give_acl(
        c,
        evzk__change_add(c, c->new_signal ? EVZK__STEP_CREATE : EVZK__STEP_SET,
                         c->signal_path));
    it = TAILQ_FIRST(&c->returning);
    if (is_unmarked(it))
        evzk__unmark_add(c, it);
    evzk__change_ask(c);
}

/* The items of the transaction have the same end. */
static void end_all(struct evzk_consumer *c, struct evzk__items *list,
                    evzk_consumer_event event, int rc)
{
    for (uint32_t i = 0; i < c->n_change; i++)
        evzk__item_end(c, TAILQ_FIRST(list), event, rc);
}

/* Of items that were to be finished, their user hears LOST.  The new receipt
 * keeps a change that is on its way from being done later. */
int evzk__change_doubt(struct evzk_consumer *c, struct evzk__items *list)
{
    c->change = EVZK__NO_CHANGE;
    for (uint32_t i = 0; i < c->n_change; i++) {
        struct evzk__item *it = TAILQ_FIRST(list);
        bool lost = list == &c->finishing && !it->told;

        evzk__item_doubt(c, it, it->told || lost);
        if (lost)
            evzk__consumer_tell(c, EVZK_CONSUMER_LOST, EVZK_ERR_CONNLOSS, it);
    }
    return evzk__consumer_renew(c);
}

void evzk__finish_settled(struct evzk_consumer *c, enum evzk__outcome outcome)
{
    if (outcome == EVZK__REFUSED)
        end_all(c, &c->finishing, EVZK_CONSUMER_LOST, EVZK_ERR_EXPIRED);
    else if (outcome == EVZK__UNKNOWN)
        end_all(c, &c->finishing, EVZK_CONSUMER_LOST, EVZK_ERR_CONNLOSS);
    else
        end_all(c, &c->finishing, EVZK_CONSUMER_FINISHED, EVZK_OK);
}

void evzk__return_settled(struct evzk_consumer *c)
{
    end_all(c, &c->returning, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
}

/* The item at which the transaction has failed. */
static struct evzk__item *culprit(struct evzk__items *list, uint32_t i)
{
    struct evzk__item *it = TAILQ_FIRST(list);

    while (i-- > 0)
        it = TAILQ_NEXT(it, link);
    return it;
}

/* The servers refuse to delete the claim: and those of the other items in the
 * same segment. */
static void stick_claims(struct evzk_consumer *c, struct evzk__items *list,
                         const struct evzk__item *refused, int rc)
{
    struct evzk__segment seg = refused->pick.seg;
    struct evzk__item *it = TAILQ_FIRST(list), *next;

    for (uint32_t k = 0; k < c->n_change; k++, it = next) {
        next = TAILQ_NEXT(it, link);
        if (evzk__segment_compare(&it->pick.seg, &seg) == 0)
            evzk__item_stick(c, it, rc);
    }
}

/* The claim is gone, and those of the other items, perhaps; or it stands. */
static void lose_claim(struct evzk_consumer *c, struct evzk__items *list,
                       uint32_t i, int rc)
{
    struct evzk__item *lost = culprit(list, i), *it = TAILQ_FIRST(list);

    for (uint32_t k = 0; k < c->n_change; k++, it = TAILQ_NEXT(it, link))
        it->proof.good = false;
    if (rc == EVZK_ERR_NODEGONE)
        evzk__item_end(c, lost, EVZK_CONSUMER_LOST, rc);
    else
        stick_claims(c, list, lost, rc);
}

static int refused(struct evzk_consumer *c, const struct evzk__reply *reply,
                   struct evzk__items *list)
{
    uint32_t per_item = list == &c->finishing ? 2 : 1;
    int rc = reply->rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : reply->rc;
    uint32_t i;

    if (reply->part == EVZK__AT_RECEIPT)
        return evzk__consumer_renew(c);
    if (reply->part == EVZK__AT_GUARD)
        return evzk__consumer_unguarded(c);
    if (reply->part >= c->n_steps)
        return reply->rc;
    i = (reply->part - EVZK__AT_ITEMS) / per_item;
    if (i > c->n_change && list == &c->returning)
        forget_mark(c);
    else if (i >= c->n_change) /* The signal. */
        c->new_signal = reply->rc == EVZK_ERR_NONODE;
    else if (list == &c->finishing && (reply->part - EVZK__AT_ITEMS) % 2 == 1)
        evzk__item_lose(c, culprit(list, i), rc);
    else
        lose_claim(c, list, i, rc);
    return evzk__consumer_go_on(c);
}

static int answered(struct evzk_consumer *c, const struct evzk__event *e,
                    struct evzk__items *list, evzk_consumer_event done)
{
    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    switch (evzk__change_answered(c, e->reply)) {
    case EVZK__DONE:
    case EVZK__DONE_BEFORE:
        end_all(c, list, done, EVZK_OK);
        return evzk__consumer_go_on(c);
    case EVZK__REFUSED:
        return refused(c, e->reply, list);
    case EVZK__UNKNOWN:
        break;
    }
    return evzk__change_doubt(c, list);
}

int evzk__consumer_finished(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    return answered(c, e, &c->finishing, EVZK_CONSUMER_FINISHED);
}

int evzk__consumer_returned(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    return answered(c, e, &c->returning, EVZK_CONSUMER_GIVEN_BACK);
}
