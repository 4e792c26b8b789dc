/* Taking items: they are read, claimed or removed, and delivered.
 *
 *   READING --> CLAIMING --> DELIVERING <--> MARKING (mark.c)
 *      |            `--> STAMPING --^
 *      |--> TAKING --> WITHDRAWING
 *      `--> BURYING (bury.c)
 *
 * STAMPING asks for the claims' token, if the answer that had it was lost.
 *
 * How it can fail.  No item is delivered before its claim, or its removal, is
 * proved.  A claim is delivered while the session is certain; until then it
 * waits in DELIVERING.  If somebody else has deleted an item, the transaction
 * names that item, and goes again without it; if somebody has claimed something
 * in spite of the turn, the queue is listed again (fence.c).  An item that
 * cannot be read, counted or removed is set aside, and all others go on
 * (aside.c).  If servers refuse the removal, or hang up at it, behind an answer
 * that was lost, WITHDRAWING finds out from the receipt what was done, and asks
 * again for as long as servers refuse that, too.  If somebody has deleted the
 * receipt, nobody knows what was done:
 * items that may be removed are not delivered, and claims that may exist are
 * proved and given back (prove.c). */
#include <string.h>

#include "recipes/consumer/consumer_internal.h"
#include "recipes/parts/queue_foreign.h"

/* Reading. */

static const struct evzk__pick *pick_at(const struct evzk_consumer *c,
                                        uint32_t i)
{
    return &c->view.picks[c->view.n_picks - 1 - i];
}

static void add_get(struct evzk_consumer *c, uint32_t i)
{
    char *name = evzk__pick_print(c, evzk__name_room(c, i), pick_at(c, i),
                                  EVZK__QUEUE_ITEM, "");

    evzk__change_add(c, EVZK__STEP_GET, name);
}

/* While items are there, nobody waits for any: the watches go. */
static void add_unwatch(struct evzk_consumer *c, enum evzk__which which)
{
    if (!evzk__watch_missing(&c->m, which))
        evzk__change_add(c, EVZK__STEP_UNWATCH, "")->watch = EVZK__WITH(which);
}

void evzk__consumer_read(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    evzk__batch_clear(c);
    c->error = EVZK_OK;
    c->n_change = evzk__least(
        evzk__least(evzk__consumer_wants(c), c->batch_items), c->view.n_picks);
    c->n_steps = 0;
    *evzk__change_add(c, EVZK__STEP_SYNC, "") = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    for (uint32_t i = 0; i < c->n_change; i++)
        add_get(c, i);
    add_unwatch(c, ON_SIGNAL);
    add_unwatch(c, ON_CLIENTS);
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

/* What lies below an item keeps the servers from deleting it. */
static void leave_out(struct evzk_consumer *c, const struct evzk__pick *pick,
                      const struct evzk__reply *reply)
{
    evzk_item item = evzk__pick_item(c, pick);

    if (reply->rc == EVZK_OK) {
        item.data = reply->res->data;
        item.len = reply->res->len;
        item.token = (uint64_t)reply->res->stat.czxid;
    }
    evzk__aside_add(
        c, pick, reply->rc == EVZK_OK ? EVZK_ERR_NOTEMPTY : reply->rc, &item);
}

static bool is_bad(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_NOAUTH ||
           (reply->rc == EVZK_OK && reply->res->stat.children > 0);
}

static int read_part(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    const struct evzk__pick *pick;
    struct evzk__item *it;

    if (reply->part > c->n_change)
        return EVZK_OK; /* Of a watch: it is gone in any case. */
    if (reply->part == 0 || c->error != EVZK_OK)
        return reply->rc;
    if (reply->rc == EVZK_ERR_NONODE) /* Somebody has deleted it. */
        return EVZK_OK;
    pick = pick_at(c, reply->part - 1);
    if (is_bad(reply)) {
        leave_out(c, pick, reply);
        return EVZK_OK;
    }
    if (reply->rc != EVZK_OK)
        return reply->rc;
    if (evzk__queue_is_plain(c->opt.layout) &&
        evzk__queue_data_is_foreign(reply->res->data, reply->res->len))
        return EVZK_ERR_FOREIGN;
    it = evzk__item_new(c, pick, reply->res);
    if (!it)
        return EVZK_ERR_NOMEM;
    evzk__item_add(c, it);
    return EVZK_OK;
}

/* A take may have been canceled meanwhile. */
static int after_reading(struct evzk_consumer *c)
{
    c->view.n_picks -= c->n_change;
    if (!c->has_turn || evzk__consumer_wants(c) < c->n_batch) {
        evzk__batch_clear(c);
        evzk__view_forget(&c->view);
    }
    return evzk__batch_go_on(c);
}

int evzk__consumer_has_read(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!evzk__consumer_note(c, e->reply, read_part(c, e->reply)))
        return EVZK_OK;
    if (c->error == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    return c->error != EVZK_OK ? c->error : after_reading(c);
}

/* Claiming. */

static void add_claim(struct evzk_consumer *c, const struct evzk__item *it)
{
    struct evzk__step *step;

    evzk__change_add(c, EVZK__STEP_CHECK, it->path);
    step = evzk__change_add(c, EVZK__STEP_CREATE, it->claim);
    step->mode = EVZK__EPHEMERAL;
    evzk__consumer_give_acl(c, step);
}

void evzk__consumer_claim(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it;

    if (c->change == EVZK__NO_CHANGE) {
        evzk__change_begin(c, EVZK__CLAIM, c->n_batch, c->turn_node);
        TAILQ_FOREACH(it, &c->batch, link)
        add_claim(c, it);
        if (evzk__mark_with_claim(c)) /* The first is told without a trip. */
            evzk__mark_add(c, TAILQ_FIRST(&c->batch));
        evzk__fences_add(c);
    }
    evzk__change_ask(c);
}

/* The steps of an item: of a removal its delete; of a claim ... */
enum { AT_CHECK, AT_CLAIM, AT_COUNT };

/* The item that a step is about, and which step of the item it is; NULL: the
 * step is about none. */
static struct evzk__item *item_of(struct evzk_consumer *c, uint32_t part,
                                  uint32_t *step)
{
    uint32_t per_item = evzk__consumer_claims(c) ? AT_COUNT : 1, i;
    struct evzk__item *it = TAILQ_FIRST(&c->batch);

    if (part < EVZK__AT_ITEMS || part >= c->n_steps - c->n_fences)
        return NULL;
    i = (part - EVZK__AT_ITEMS) / per_item;
    *step = (part - EVZK__AT_ITEMS) % per_item;
    if (i >= c->n_change) { /* The count, of the first one. */
        *step = AT_COUNT;
        return it;
    }
    while (i-- > 0)
        it = TAILQ_NEXT(it, link);
    return it;
}

/* Is it the fault of the item that its own znode refuses this?  A check takes
 * the right to read. */
static bool is_own_fault(const struct evzk_consumer *c, uint32_t step, int rc)
{
    if (!evzk__consumer_claims(c))
        return rc == EVZK_ERR_NOTEMPTY;
    if (step < AT_COUNT)
        return step == AT_CHECK && rc == EVZK_ERR_NOAUTH;
    return evzk__mark_is_own_fault(rc);
}

/* The transaction was not done. */
static int refused(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    uint32_t step;
    struct evzk__item *it = item_of(c, reply->part, &step);

    if (evzk__fence_stops(c, reply)) {
        evzk__batch_clear(c);
        evzk__view_forget(&c->view);
    } else if (it && is_own_fault(c, step, reply->rc))
        evzk__item_set_aside(c, it, reply->rc);
    else if (it &&
             (reply->rc == EVZK_ERR_NONODE || reply->rc == EVZK_ERR_NODEEXISTS))
        evzk__item_drop(c, it);
    else
        return evzk__change_refused(c, reply);
    return evzk__batch_go_on(c);
}

static void note_claims(struct evzk_consumer *c)
{
    struct evzk__item *it;

    c->change = EVZK__CLAIMED;
    TAILQ_FOREACH(it, &c->batch, link)
    it->session_no = c->m.seen.session_no;
    TAILQ_FIRST(&c->batch)->marked = evzk__mark_with_claim(c);
    c->full_told = false;
}

static int has_claimed(struct evzk_consumer *c, int next)
{
    note_claims(c);
    evzk__fences_written(c);
    return evzk__machine_move(&c->m, c->m.stopping ? CLOSING : next);
}

static void note_token(struct evzk_consumer *c, int64_t zxid)
{
    struct evzk__item *it;

    TAILQ_FOREACH(it, &c->batch, link)
    it->pub.claim_token = (uint64_t)zxid;
}

/* The answer is of the connection on which the claims were made. */
static void note_proved(struct evzk_consumer *c)
{
    struct evzk__item *it;

    TAILQ_FOREACH(it, &c->batch, link)
    evzk__proof_last(&it->proof, &c->m);
}

/* Claims that may have been made are given back. */
static int doubt_claims(struct evzk_consumer *c)
{
    struct evzk__item *it;

    note_claims(c);
    while ((it = TAILQ_FIRST(&c->batch)) != NULL)
        evzk__item_doubt(c, it, true);
    c->change = EVZK__NO_CHANGE;
    evzk__view_forget(&c->view);
    return evzk__consumer_renew(c);
}

int evzk__consumer_claimed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    enum evzk__outcome outcome;

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    outcome = evzk__change_answered(c, e->reply);
    if (outcome == EVZK__UNKNOWN)
        return doubt_claims(c);
    if (evzk__change_lost_receipt(outcome, e->reply)) {
        evzk__batch_clear(c);
        evzk__view_forget(&c->view);
        return evzk__consumer_renew(c);
    }
    if (outcome == EVZK__REFUSED)
        return refused(c, e->reply);
    if (outcome == EVZK__DONE_BEFORE)
        return has_claimed(c, STAMPING);
    note_token(c, e->reply->res->stat.czxid);
    note_proved(c);
    return has_claimed(c, DELIVERING);
}

/* Behind the transaction, no other one was done. */
void evzk__consumer_stamp(struct evzk__machine *m)
{
    evzk__exists(m, evzk__consumer_of(m)->receipt_name);
}

int evzk__consumer_stamped(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (e->reply->rc == EVZK_ERR_NONODE)
        return doubt_claims(c);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    note_token(c, e->reply->res->stat.mzxid);
    return evzk__machine_move(m, DELIVERING);
}

/* Delivering. */

/* The turn may have ended since the item was asked for: what is told then is
 * not of the next turn. */
static void tell_item(struct evzk_consumer *c, struct evzk__item *it)
{
    c->turn_got += c->has_turn;
    c->take.got += c->take.on;
    it->marked = false;
    evzk__consumer_tell(c, EVZK_CONSUMER_ITEM, EVZK_OK, it);
}

static bool may_deliver(const struct evzk_consumer *c)
{
    return evzk__machine_certain(&c->m) && !c->m.stopping &&
           evzk__may_tell(evzk__machine_session(&c->m));
}

/* Entered again when the doubt is over. */
void evzk__consumer_deliver(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    struct evzk__item *it;

    while (may_deliver(c) && (it = TAILQ_FIRST(&c->batch)) != NULL) {
        if (evzk__consumer_counts(c) && !it->marked) {
            evzk__machine_move(m, MARKING);
            return;
        }
        evzk__item_move(c, it, EVZK__ITEM_HELD);
        tell_item(c, it);
    }
    if (!may_deliver(c))
        return; /* In the end the rest is given back. */
    c->change = EVZK__NO_CHANGE;
    evzk__machine_move(m, IDLE);
}

int evzk__consumer_delivered(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    return evzk__consumer_doubted(evzk__consumer_of(m), e);
}

/* Removing. */

void evzk__consumer_take_away(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__item *it;

    if (c->change == EVZK__NO_CHANGE) {
        evzk__change_begin(c, EVZK__TAKE, c->n_batch, c->turn_node);
        TAILQ_FOREACH(it, &c->batch, link)
        evzk__change_add(c, EVZK__STEP_DELETE, it->path);
    }
    evzk__change_ask(c);
}

void evzk__take_lost(struct evzk_consumer *c, const char *why)
{
    if (c->n_batch > 0)
        evzk__log(evzk__machine_session(&c->m), EVZK_LOG_WARN,
                  "consumer %s: up to %u items are removed and not delivered: "
                  "%s",
                  c->path, (unsigned)c->n_batch, why);
    evzk__batch_clear(c);
}

/* Also when its session is being closed: nobody else can have these items. */
static void deliver_removed(struct evzk_consumer *c)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->batch)) != NULL && c->cb) {
        tell_item(c, it);
        evzk__item_drop(c, it);
    }
    evzk__take_lost(c, "the consumer was freed");
}

/* What became of a removal that has an outcome. */
void evzk__take_settled(struct evzk_consumer *c, enum evzk__outcome outcome)
{
    if (outcome == EVZK__DONE || outcome == EVZK__DONE_BEFORE)
        deliver_removed(c);
    else if (outcome == EVZK__UNKNOWN)
        evzk__take_lost(
            c,
            "somebody has deleted the receipt, or the servers refuse to say");
    else
        evzk__batch_clear(c);
}

int evzk__consumer_took_away(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    enum evzk__outcome outcome;

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    outcome = evzk__change_answered(c, e->reply);
    if (outcome == EVZK__REFUSED && e->reply->part != EVZK__AT_RECEIPT)
        return refused(c, e->reply);
    if (outcome == EVZK__UNKNOWN && evzk__change_is_unsaid(e->reply)) {
        c->change = EVZK__TAKE;
        c->unsaid = e->reply->rc;
        return evzk__machine_move(m, WITHDRAWING);
    }
    evzk__take_settled(c, outcome);
    if (!evzk__change_lost_receipt(outcome, e->reply))
        return evzk__consumer_go_on(c);
    evzk__view_forget(&c->view);
    return evzk__consumer_renew(c);
}
