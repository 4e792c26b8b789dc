/* Counting deliveries: with max_deliveries, each is counted before it is told.
 *
 *   DELIVERING <--> MARKING
 *
 * An item that is told may end the process that hears of it: so the count must
 * be there before.  And of the items that were claimed with it none was told:
 * so each is counted alone, when the callback of the one before it has
 * returned.
 *
 * A delivery is counted by a child that is made and deleted at once: the item's
 * list of children has two changes more.  A delivery that was counted and does
 * not come to be told, since the consumer ends, is taken back with its claim:
 * the item's data are written as they are, and have another version.
 *
 * An ephemeral item can have no child.  There the data are written to count,
 * and nothing is left that could take a count back: so such an item is never
 * counted with its claim, only here, when nothing but the answer is between the
 * count and the callback.
 *
 * How it can fail.  The session may end between the count and the callback, and
 * the consumer, where the item is ephemeral: then one delivery is counted that
 * was none.  An item that cannot be counted is set aside (aside.c). */
#include "recipes/consumer/consumer_internal.h"

bool evzk__mark_with_claim(const struct evzk_consumer *c)
{
    return evzk__consumer_counts(c) && !TAILQ_FIRST(&c->batch)->ephemeral;
}

static struct evzk__step *add_write(struct evzk_consumer *c,
                                    const struct evzk__item *it)
{
    struct evzk__step *step = evzk__change_add(c, EVZK__STEP_SET, it->path);

    step->data = it->pub.data;
    step->len = (uint32_t)it->pub.len;
    return step;
}

void evzk__mark_add(struct evzk_consumer *c, const struct evzk__item *it)
{
    if (it->ephemeral) {
        add_write(c, it);
        return;
    }
    evzk__consumer_give_acl(c,
                            evzk__change_add(c, EVZK__STEP_CREATE, it->tried));
    evzk__change_add(c, EVZK__STEP_DELETE, it->tried);
}

void evzk__unmark_add(struct evzk_consumer *c, const struct evzk__item *it)
{
    struct evzk__step *step = add_write(c, it);

    step->versioned = true;
    step->version = it->version;
}

bool evzk__mark_is_own_fault(int rc)
{
    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_NODEEXISTS ||
           rc == EVZK_ERR_NOTEMPTY || rc == EVZK_ERR_EPHEMERAL;
}

/* The turn is not needed for it: where it has brought all that is wanted, the
 * next consumer has it now. */
void evzk__consumer_mark(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (c->change != EVZK__MARK) {
        if (evzk__consumer_wants(c) <= c->n_batch)
            evzk__turn_end(c);
        evzk__change_begin(c, EVZK__MARK, 1, c->alive);
        evzk__mark_add(c, TAILQ_FIRST(&c->batch));
    }
    evzk__change_ask(c);
}

static int marked(struct evzk_consumer *c)
{
    TAILQ_FIRST(&c->batch)->marked = true;
    return evzk__machine_move(&c->m, c->m.stopping ? CLOSING : DELIVERING);
}

/* The receipt is missing: whether the item was counted is not known. */
static int renew(struct evzk_consumer *c)
{
    evzk__batch_give_back(c);
    return evzk__consumer_renew(c);
}

/* Not done.  An item that is gone, or cannot be counted, is given back. */
static int refused(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    struct evzk__item *it = TAILQ_FIRST(&c->batch);

    if (reply->part == EVZK__AT_GUARD) {
        evzk__batch_give_back(c);
        return evzk__consumer_unguarded(c);
    }
    if (reply->rc == EVZK_ERR_QUOTA) {
        evzk__batch_give_back(c);
        return evzk__consumer_full(c, IDLE);
    }
    if (reply->part >= c->n_steps ||
        (reply->rc != EVZK_ERR_NONODE && !evzk__mark_is_own_fault(reply->rc)))
        return evzk__machine_give_up(&c->m, reply->rc, CLOSING);
    evzk__item_give_back(c, it, true);
    if (reply->rc != EVZK_ERR_NONODE)
        evzk__aside_add(c, &it->pick, reply->rc, &it->pub);
    return evzk__machine_move(&c->m, c->m.stopping ? CLOSING : DELIVERING);
}

int evzk__consumer_marked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    enum evzk__outcome outcome;

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    outcome = evzk__change_answered(c, e->reply);
    c->change = EVZK__CLAIMED;
    if (evzk__change_lost_receipt(outcome, e->reply))
        return renew(c);
    return outcome == EVZK__REFUSED ? refused(c, e->reply) : marked(c);
}
