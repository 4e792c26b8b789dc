/* Where a consumer goes on, and what all of its transactions have in common.
 *
 * How it can fail.  A transaction whose answer was lost is sent again as it
 * was: so it is made once, and asked as often as its row is entered. */
#include <stdio.h>
#include <string.h>

#include "lib/base/os.h"
#include "recipes/consumer/consumer_internal.h"

void evzk__consumer_name_receipt(struct evzk_consumer *c)
{
    strcpy(c->old_receipt, c->receipt_name);
    snprintf(c->receipt_name, sizeof c->receipt_name,
             "%s-%u" EVZK__QUEUE_RECEIPT_TAG, c->guid, c->receipts++);
}

void evzk__consumer_name_alive(struct evzk_consumer *c)
{
    snprintf(c->alive, sizeof c->alive, "%s-%u" EVZK__QUEUE_ALIVE_TAG, c->guid,
             c->sessions++);
}

int evzk__consumer_go_on(struct evzk_consumer *c)
{
    return evzk__machine_move(&c->m, c->m.stopping ? CLOSING : IDLE);
}

int evzk__consumer_prove_first(struct evzk_consumer *c,
                               enum evzk__item_state list)
{
    c->proves = list;
    return evzk__machine_move(&c->m, PROVING);
}

int evzk__consumer_renew(struct evzk_consumer *c)
{
    c->receipt.name = NULL;
    evzk__consumer_name_receipt(c);
    return evzk__machine_move(&c->m, RENEWING);
}

/* Without the znode of its session: the session has ended, or somebody has
 * deleted that znode, and it is made anew.  Where that was refused once more
 * while the consumer ends, its claims are left to the session's end. */
int evzk__consumer_unguarded(struct evzk_consumer *c)
{
    evzk__consumer_drop_old(c);
    if (c->outlaw)
        return evzk__machine_finish(&c->m, c->m.rc);
    return evzk__machine_move(&c->m, REGISTERING);
}

/* What the turn is used for, or whether it has to be asked for. */
static int use_of_turn(const struct evzk_consumer *c)
{
    const struct evzk__view *v = &c->view;

    if (!c->has_turn)
        return AWAITING_TURN;
    if (v->n_picks > 0)
        return READING;
    if (v->scanned && !v->more)
        return WAITING;
    return evzk__queue_is_plain(c->opt.layout) ? COUNTING : LISTING;
}

/* A take that has got something does not wait for more. */
static bool take_is_over(const struct evzk_consumer *c)
{
    bool got_all =
        c->take.got == c->take.max || !c->has_turn || use_of_turn(c) == WAITING;

    return c->take.on &&
           (c->take.rc != EVZK_OK || (c->take.got > 0 && got_all));
}

/* The turn ends when it has brought something, or something that was set aside,
 * and nothing more is free; or nothing more is wanted. */
static void end_what_is_over(struct evzk_consumer *c)
{
    if (take_is_over(c)) {
        evzk__turn_end(c);
        evzk__take_end(c);
    }
    if (((c->turn_got > 0 || c->turn_aside) && use_of_turn(c) == WAITING) ||
        evzk__consumer_wants(c) == 0)
        evzk__turn_end(c);
}

/* Claims may go unheard: somebody deletes one, or the znode by whose end others
 * would hear that a consumer has died.  So whoever waits, and knows that items
 * are claimed, looks again once in a round.  0: it does not. */
static int64_t look_again_us(const struct evzk_consumer *c)
{
    return c->view.claimed && c->has_turn && use_of_turn(c) == WAITING
               ? c->asides.looked_us +
                     evzk__machine_round_ms(&c->m) * INT64_C(1000)
               : 0;
}

static bool is_due(int64_t at_us)
{
    return at_us > 0 && at_us <= evzk__now_us();
}

void evzk__consumer_set_retry(struct evzk_consumer *c)
{
    bool waits = c->m.state == WAITING;
    const int64_t at[] = {waits ? c->asides.next_us : 0,
                          waits ? look_again_us(c) : 0,
                          c->n_stuck > 0 ? c->stuck_until_us : 0};
    int64_t next = INT64_MAX, now = evzk__now_us();

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        if (at[i] > 0 && at[i] < next)
            next = at[i];
    }
    if (next < INT64_MAX)
        evzk__timer_set(c->retry, next > now ? next - now : 1);
}

int evzk__consumer_due(struct evzk_consumer *c)
{
    evzk__consumer_drop_old(c);
    if (c->n_stuck > 0 && is_due(c->stuck_until_us))
        evzk__stuck_return(c);
    if (c->n_doubted > 0) {
        c->proves = EVZK__ITEM_DOUBTED;
        return PROVING;
    }
    if (c->n_finishing > 0)
        return FINISHING;
    if (c->n_returning > 0)
        return RETURNING;
    if (!c->has_turn)
        evzk__view_clear(&c->view);
    else if (evzk__asides_due(&c->asides) || is_due(look_again_us(c)))
        evzk__view_forget(&c->view);
    end_what_is_over(c);
    return evzk__consumer_wants(c) > 0 ? use_of_turn(c) : IDLE;
}

int evzk__consumer_doubted_idle(struct evzk_consumer *c,
                                const struct evzk__event *e)
{
    evzk__consumer_doubted(c, e);
    return e->type == EVZK__EV_LEASE_END && c->n_returning > 0
               ? evzk__machine_move(&c->m, IDLE)
               : EVZK_OK;
}

void evzk__consumer_give_acl(const struct evzk_consumer *c,
                             struct evzk__step *step)
{
    struct evzk__create_args args = evzk__default_args(&c->m, NULL);

    step->acl = c->acl.n > 0 ? c->acl.v : args.acl;
    step->acl_count = c->acl.n > 0 ? c->acl.n : args.acl_count;
}

bool evzk__consumer_note(struct evzk_consumer *c,
                         const struct evzk__reply *reply, int rc)
{
    if (c->error == EVZK_OK)
        c->error = rc;
    if (reply->last && c->error == EVZK_OK &&
        reply->first_rc == EVZK_ERR_SERVER)
        c->error = reply->first_rc;
    return reply->last;
}

/* Transactions. */

/* The transaction is of the session that has made this znode, or had it. */
static void add_guard(struct evzk_consumer *c)
{
    c->n_steps = EVZK__AT_GUARD;
    evzk__change_add(c, EVZK__STEP_CHECK, c->guard);
}

void evzk__change_begin(struct evzk_consumer *c, enum evzk__change change,
                        uint32_t n, const char *guard)
{
    c->change = change;
    c->n_change = n;
    strcpy(c->guard, guard);
    add_guard(c);
}

struct evzk__step *evzk__change_add(struct evzk_consumer *c,
                                    enum evzk__verb verb, const char *path)
{
    struct evzk__step *step = &c->steps[c->n_steps++];

    *step = (struct evzk__step){.verb = (uint8_t)verb, .name = path};
    return step;
}

void evzk__change_ask(struct evzk_consumer *c)
{
    bool proved = c->change == EVZK__FINISH || c->change == EVZK__RETURN;
    unsigned how = EVZK__COMMIT;

    if (c->change == EVZK__CLAIM)
        how |= EVZK__STAMP;
    if (proved && c->m.state != SETTLING)
        how |= EVZK__PROVED;
    c->steps[EVZK__AT_RECEIPT] = evzk__receipt_step(&c->receipt);
    evzk__ask(&c->m, c->steps, c->n_steps, how);
}

/* The same, but for what it does: it fails at a znode that was never made, and
 * the answer tells whether the first one was done. */
void evzk__change_settle(struct evzk_consumer *c)
{
    add_guard(c);
    evzk__change_add(c, EVZK__STEP_CHECK, c->alive);
    evzk__change_ask(c);
}

enum evzk__outcome evzk__change_answered(struct evzk_consumer *c,
                                         const struct evzk__reply *reply)
{
    c->change = EVZK__NO_CHANGE;
    return evzk__receipt_answered(&c->receipt, reply, c->n_steps);
}

enum { STEP_BYTES = 64 }; /* Of a step, without its path, data and ACL. */

/* The only item of a claim has four steps, each with a path, if it is counted;
 * two of them make a znode.  An item's data are sent with no other item. */
uint32_t evzk__consumer_batch_items(const struct evzk_consumer *c,
                                    const evzk_session *s)
{
    enum { STEPS = 4, MADE = 2 };
    size_t path = evzk__path_bytes(s, c->path) + EVZK__QUEUE_NAME + STEP_BYTES;
    size_t acl = evzk__acl_bytes(s, c->acl.n > 0 ? c->acl.v : NULL, c->acl.n);
    size_t item = STEPS * path + MADE * acl + sizeof c->alive;
    size_t n = evzk__consumer_limits.batch_bytes / item;

    return n < 1 ? 1 : n < EVZK__BATCH_ITEMS ? (uint32_t)n : EVZK__BATCH_ITEMS;
}

int evzk__change_refused(struct evzk_consumer *c,
                         const struct evzk__reply *reply)
{
    evzk__batch_clear(c);
    evzk__view_forget(&c->view);
    if (reply->rc == EVZK_ERR_QUOTA)
        return evzk__consumer_full(c, IDLE);
    if (reply->part != EVZK__AT_GUARD)
        return evzk__machine_give_up(&c->m, reply->rc, CLOSING);
    evzk__turn_end(c); /* Somebody has deleted the lock's znode. */
    return evzk__consumer_go_on(c);
}

int evzk__batch_go_on(struct evzk_consumer *c)
{
    if (c->m.stopping || c->n_batch == 0)
        return evzk__consumer_go_on(c);
    if (evzk__batch_exhausted(c))
        return evzk__machine_move(&c->m, BURYING);
    return evzk__machine_move(&c->m,
                              evzk__consumer_claims(c) ? CLAIMING : TAKING);
}

bool evzk__change_is_unsaid(const struct evzk__reply *reply)
{
    return reply->rc != EVZK_ERR_NONODE;
}

bool evzk__change_lost_receipt(enum evzk__outcome outcome,
                               const struct evzk__reply *reply)
{
    return outcome == EVZK__UNKNOWN ||
           (outcome == EVZK__REFUSED && reply->part == EVZK__AT_RECEIPT);
}
