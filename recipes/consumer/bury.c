/* Dead letters: an item that was delivered too often is moved out of the queue.
 *
 * How it can fail.  The directory of dead letters may be missing, and another
 * consumer may make it at the same time: the transaction says so, and goes
 * again with the directory, or without.  In a queue that was copied znode by
 * znode the next letter may have a name that is there.  If no letter can be
 * made, the item is set aside (aside.c), and all others go on.  If somebody has
 * deleted the receipt, nobody knows whether the item was moved: then nothing is
 * told.
 */
#include <string.h>

#include "recipes/consumer/consumer_internal.h"

static void create(struct evzk_consumer *c, const char *path,
                   const struct evzk__item *it)
{
    struct evzk__step *step = evzk__change_add(c, EVZK__STEP_CREATE, path);

    evzk__consumer_give_acl(c, step);
    if (!it)
        return;
    step->mode = EVZK__PERSISTENT_SEQUENTIAL;
    step->data = it->pub.data;
    step->len = (uint32_t)it->pub.len;
}

void evzk__consumer_bury(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it = evzk__batch_exhausted(c);

    if (c->change == EVZK__NO_CHANGE) {
        evzk__change_begin(c, EVZK__BURY, 1, c->turn_node);
        if (c->new_dead)
            create(c, c->dead_path, NULL);
        create(c, c->letter_path, it);
        evzk__change_add(c, EVZK__STEP_DELETE, it->path);
    }
    evzk__change_ask(c);
}

void evzk__bury_settled(struct evzk_consumer *c, enum evzk__outcome outcome)
{
    struct evzk__item *it = evzk__batch_exhausted(c);

    if (outcome == EVZK__DONE || outcome == EVZK__DONE_BEFORE) {
        c->new_dead = false;
        it->pub.deliveries = c->opt.max_deliveries;
        if (evzk__may_tell(evzk__machine_session(&c->m)))
            evzk__consumer_tell(c, EVZK_CONSUMER_DEAD_LETTER, EVZK_OK, it);
        evzk__item_drop(c, it);
    } else {
        evzk__batch_clear(c);
        evzk__view_forget(&c->view);
    }
}

/* Letters of a copied queue have numbers that the copy gives once more: from
 * now on the consumer's GUID is in the names of its own, in the order of
 * before. */
static void name_letters(struct evzk_consumer *c)
{
    c->own_letters = true;
    strcat(strcat(c->letter_path, c->guid), "-");
}

/* The directory of dead letters takes no more: it may not be written to, it is
 * ephemeral, or a quota on it is used up.  That is no fault of other items. */
static bool is_letters_fault(int rc)
{
    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_EPHEMERAL ||
           rc == EVZK_ERR_QUOTA || rc == EVZK_ERR_NODEEXISTS;
}

static void keep(struct evzk_consumer *c, int rc)
{
    evzk__log(evzk__machine_session(&c->m), EVZK_LOG_WARN,
              "consumer %s: no dead letter can be made in %s: %s", c->path,
              c->dead_path, evzk_errname(rc));
    evzk__item_set_aside(c, evzk__batch_exhausted(c), rc);
}

static int refused(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    uint32_t letter = EVZK__AT_ITEMS + (c->new_dead ? 1 : 0);

    if (reply->rc == EVZK_ERR_NONODE && reply->part == letter + 1)
        evzk__item_drop(c, evzk__batch_exhausted(c));
    else if (reply->rc == EVZK_ERR_NOTEMPTY && reply->part == letter + 1)
        evzk__item_set_aside(c, evzk__batch_exhausted(c), reply->rc);
    else if (reply->rc == EVZK_ERR_NONODE && reply->part == letter)
        c->new_dead = true;
    else if (reply->rc == EVZK_ERR_NODEEXISTS && reply->part < letter)
        c->new_dead = false;
    else if (reply->rc == EVZK_ERR_NODEEXISTS && reply->part == letter &&
             !c->own_letters)
        name_letters(c);
    else if (reply->part >= EVZK__AT_ITEMS && reply->part <= letter &&
             is_letters_fault(reply->rc))
        keep(c, reply->rc);
    else
        return evzk__change_refused(c, reply);
    return evzk__batch_go_on(c);
}

int evzk__consumer_buried(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    enum evzk__outcome outcome;

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    outcome = evzk__change_answered(c, e->reply);
    if (outcome == EVZK__REFUSED && e->reply->part != EVZK__AT_RECEIPT)
        return refused(c, e->reply);
    evzk__bury_settled(c, outcome);
    return evzk__change_lost_receipt(outcome, e->reply)
               ? evzk__consumer_renew(c)
               : evzk__batch_go_on(c);
}
