/* A consumer of a queue (recipes/parts/queue_layout.h).
 *
 *   CREATING, MAKING_DIR, RENEWING, REGISTERING       register.c
 *   IDLE <--> AWAITING_TURN                           a lock
 *   LISTING, SCANNING, REMOVING, COUNTING, WAITING    list.c
 *   READING, CLAIMING, STAMPING, DELIVERING, TAKING   take.c
 *   MARKING                                           mark.c
 *   BURYING                                           bury.c
 *   FINISHING, RETURNING                              finish.c
 *   PROVING                                           prove.c
 *   SETTLING                                          the session has ended
 *   WITHDRAWING                                       what TAKING may have done
 *   FULL                                              full.c
 *   CLOSING --> ENDED
 *
 * In IDLE nothing is under way: there the consumer looks what there is to do,
 * and there each of the other rows ends.
 *
 * How it can fail.  When the session has ended, its claims have ended with it;
 * but another transaction of unknown outcome may be done.  SETTLING sends that
 * once more, as it was: it rests on an ephemeral znode of the earlier session,
 * so that it is not done now, and its answer says whether it was done then.
 * (An operator may have put a copy in that znode's place: so claims, which
 * would be made in the new session, are not sent again.)  Where the servers
 * hang up at it, each time, the receipt is looked at instead.
 *
 * If the application closes the session first, or the servers refuse to say,
 * the outcome stays unknown, and the log says so.
 *
 * Without the receipt the outcome of a transaction stays unknown: see take.c
 * and finish.c. */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/consumer/consumer_internal.h"
#include "recipes/kinds.h"

/* Nothing is under way. */

static void look_for_work(struct evzk__machine *m)
{
    int state = evzk__consumer_due(evzk__consumer_of(m));

    evzk__consumer_set_retry(evzk__consumer_of(m));
    if (state != IDLE)
        evzk__machine_move(m, state);
}

static int called(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type != EVZK__EV_USER)
        return evzk__consumer_doubted_idle(evzk__consumer_of(m), e);
    return evzk__machine_move(m, IDLE);
}

static void ask_for_turn(struct evzk__machine *m)
{
    evzk__turn_ask(evzk__consumer_of(m));
}

/* Its user wants something, or the lock has told something. */
static int awaited(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_USER || c->turn_rc == EVZK_OK)
        return called(m, e);
    return c->turn_rc == EVZK_ERR_QUOTA ? evzk__consumer_full(c, IDLE)
                                        : c->turn_rc;
}

/* The session has ended. */

/* Claims have gone with it, also those whose answer was lost.  Their
 * transaction is not sent again: that could claim the items in the session that
 * is new.  So what the receipt has become is not known. */
static void drop_claims(struct evzk_consumer *c)
{
    if (c->change == EVZK__CLAIM || c->change == EVZK__MARK)
        c->receipt.name = NULL;
    if (c->change == EVZK__CLAIMED || !c->receipt.name) {
        c->change = EVZK__NO_CHANGE;
        evzk__batch_clear(c);
    }
}

/* WITHDRAWING, too: the servers have not said what became of the change. */
static void withdraw(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    evzk__receipt_withdraw(m, &c->receipt, c->steps);
}

static void settle(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    bool had_receipt = c->receipt.name != NULL;

    evzk__consumer_name_alive(c);
    evzk__consumer_lose_gone(c, EVZK_ERR_EXPIRED);
    drop_claims(c);
    if (had_receipt && !c->receipt.name)
        evzk__consumer_renew(c);
    else if (c->unsaid != EVZK_OK)
        withdraw(m);
    else if (c->change != EVZK__NO_CHANGE)
        evzk__change_settle(c);
    else if (!c->receipt.name)
        evzk__machine_move(m, RENEWING);
    else
        evzk__machine_move(m, m->stopping ? CLOSING : REGISTERING);
}

/* What the change has become, by the answer to it, or by the receipt. */
static enum evzk__outcome outcome_of(struct evzk_consumer *c,
                                     const struct evzk__reply *reply)
{
    if (c->unsaid == EVZK_OK)
        return evzk__change_answered(c, reply);
    c->change = EVZK__NO_CHANGE;
    return evzk__receipt_withdrawn(&c->receipt, reply);
}

static void end_change(struct evzk_consumer *c, enum evzk__change change,
                       enum evzk__outcome outcome)
{
    switch (change) {
    case EVZK__NO_CHANGE:
    case EVZK__CLAIM:
    case EVZK__CLAIMED:
    case EVZK__MARK:
        break;
    case EVZK__TAKE:
        evzk__take_settled(c, outcome);
        break;
    case EVZK__BURY:
        evzk__bury_settled(c, outcome);
        evzk__batch_clear(c);
        break;
    case EVZK__FINISH:
        evzk__finish_settled(c, outcome);
        break;
    case EVZK__RETURN:
        evzk__return_settled(c);
        break;
    }
}

/* The withdrawal was refused, and items may be removed that nobody was told of.
 */
static bool must_ask_again(const struct evzk_consumer *c,
                           enum evzk__change change,
                           const struct evzk__reply *reply)
{
    return c->unsaid != EVZK_OK && change == EVZK__TAKE &&
           (reply->first_rc == EVZK_ERR_SERVER || reply->rc == EVZK_ERR_SERVER);
}

/* Is it unknown because the servers have not said it?  Then the change is
 * withdrawn. */
static bool is_unsaid(struct evzk_consumer *c, enum evzk__change change,
                      const struct evzk__reply *reply)
{
    if (c->unsaid == EVZK_OK && evzk__change_is_unsaid(reply))
        c->unsaid = reply->rc;
    else if (!must_ask_again(c, change, reply))
        return false;
    c->change = change;
    return true;
}

/* WITHDRAWING, too.  At a transaction that was never done the servers would
 * hang up again. */
static int settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    enum evzk__change change = c->change;
    enum evzk__outcome outcome = outcome_of(c, e->reply);
    bool too_large;

    if (outcome == EVZK__UNKNOWN && is_unsaid(c, change, e->reply))
        return evzk__machine_again(m);
    too_large = c->unsaid == EVZK_ERR_TOOLARGE && outcome == EVZK__REFUSED;
    c->unsaid = EVZK_OK;
    end_change(c, change, outcome);
    if (outcome == EVZK__REFUSED || outcome == EVZK__UNKNOWN)
        evzk__view_forget(&c->view); /* Items that are there come first. */
    if (evzk__change_lost_receipt(outcome, e->reply))
        return evzk__consumer_renew(c);
    if (m->state == SETTLING)
        return evzk__machine_move(m, m->stopping ? CLOSING : REGISTERING);
    return too_large ? evzk__machine_give_up(m, EVZK_ERR_TOOLARGE, CLOSING)
                     : evzk__consumer_go_on(c);
}

/* The end. */

static void close_down(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    evzk__turn_end(c);
    evzk__consumer_drop_old(c);
    evzk__consumer_return_all(c);
    if (!c->receipt.name &&
        c->n_doubted + c->n_finishing + c->n_returning > 0) {
        evzk__consumer_renew(c);
        return;
    }
    if (c->n_doubted > 0) {
        evzk__consumer_prove_first(c, EVZK__ITEM_DOUBTED);
        return;
    }
    if (c->n_finishing > 0) {
        evzk__machine_move(m, FINISHING);
        return;
    }
    if (c->n_returning > 0) {
        evzk__machine_move(m, RETURNING);
        return;
    }
    c->error = EVZK_OK;
    c->n_steps = 0;
    evzk__change_add(c, EVZK__STEP_DELETE, c->receipt_name);
    if (c->n_stuck == 0)
        evzk__change_add(c, EVZK__STEP_DELETE, c->alive);
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

static int closed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    int rc = e->reply->rc == EVZK_ERR_NONODE ? EVZK_OK : e->reply->rc;

    if (!evzk__consumer_note(c, e->reply, rc))
        return EVZK_OK;
    if (c->error == EVZK_OK)
        c->may_stand = c->n_stuck > 0;
    return evzk__machine_finish(m, c->error != EVZK_OK ? c->error : m->rc);
}

/* The receipts, the claims, and last the znode whose end tells the other
 * consumers: at each time the first of the claims that are left.  Names that
 * were never used are looked at, too. */
static bool left(struct evzk__machine *m, unsigned i, struct evzk__left *out)
{
    enum { RECEIPTS = 2 };
    struct evzk_consumer *c = evzk__consumer_of(m);
    char *const receipt[RECEIPTS] = {c->receipt_name, c->old_receipt};
    struct evzk__item *it = TAILQ_FIRST(&c->stuck);

    if (!c->may_stand)
        return false;
    if (i < RECEIPTS) {
        out->name = receipt[i][0] ? receipt[i] : NULL;
        out->stays = true;
        return true;
    }
    if (i > RECEIPTS && it) { /* The first one is answered. */
        evzk__item_drop(c, it);
        it = TAILQ_FIRST(&c->stuck);
        m->tries = RECEIPTS;
    } else if (i > RECEIPTS) {
        return false;
    }
    out->name = it ? it->claim : c->alive;
    out->czxid = it ? (int64_t)it->pub.claim_token : 0;
    return true;
}

/* The session deletes claims that are left. */
static void lose_list(struct evzk_consumer *c, struct evzk__items *list, int rc)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(list)) != NULL) {
        if (evzk__item_is_old(c, it))
            evzk__item_end(c, it, EVZK_CONSUMER_LOST, rc);
        else
            evzk__item_stick(c, it, rc);
    }
}

/* Nobody was told of these items. */
static void lose_batch(struct evzk_consumer *c)
{
    struct evzk__item *it;

    if (c->change == EVZK__CLAIM || c->change == EVZK__CLAIMED ||
        c->change == EVZK__MARK) {
        TAILQ_FOREACH(it, &c->batch, link)
        {
            it->told = true;
            it->session_no = c->m.seen.session_no;
        }
        lose_list(c, &c->batch, EVZK_OK);
    }
    evzk__batch_clear(c);
}

/* Its znode goes after the claims that are left. */
static void end(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    bool closed = evzk__may_begin(evzk__machine_session(m)) == EVZK_ERR_CLOSED;
    int rc = closed || m->rc == EVZK_OK ? EVZK_ERR_CLOSED : m->rc;

    if (c->change == EVZK__TAKE)
        evzk__take_lost(c, "the servers did not say before the consumer ended");
    lose_batch(c);
    lose_list(c, &c->finishing, rc);
    lose_list(c, &c->returning, rc);
    lose_list(c, &c->doubted, rc);
    lose_list(c, &c->held, rc);
    c->may_stand = c->may_stand || c->n_stuck > 0;
    if (c->take.on) {
        c->take.rc = m->rc != EVZK_OK ? m->rc : EVZK_ERR_CANCELED;
        evzk__take_end(c);
    }
    evzk__consumer_tell(
        c, m->rc == EVZK_OK ? EVZK_CONSUMER_CLOSED : EVZK_CONSUMER_FAILED,
        m->rc, NULL);
}

static bool items_are_on_their_way(const struct evzk_consumer *c)
{
    return c->change == EVZK__CLAIM || c->change == EVZK__CLAIMED ||
           c->change == EVZK__MARK || c->change == EVZK__TAKE;
}

/* The time of a take is over, or the take was canceled. */
static void on_deadline(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (!c->take.on)
        return;
    if (c->take.rc == EVZK_OK)
        c->take.rc = EVZK_ERR_TIMEOUT;
    if (!items_are_on_their_way(c))
        evzk__take_end(c);
    evzk__machine_ask(m);
}

static void detach(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    evzk_lock_free(c->turn);
    c->turn = NULL;
    evzk__tidier_end(&c->tidier);
    evzk__timer_free(c->again);
    c->again = NULL;
    evzk__timer_free(c->retry);
    c->retry = NULL;
}

void evzk__consumer_destroy(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    evzk__timer_free(c->again);
    evzk__timer_free(c->retry);
    evzk__view_clear(&c->view);
    evzk__asides_free(&c->asides);
    evzk__acl_free(&c->acl);
    evzk__free(c->path);
    evzk__free(c->base);
    evzk__free(c->turn_path);
    evzk__free(c->dead_path);
    evzk__free(c->letter_path);
    evzk__free(c->signal_path);
    evzk__free(c->turn_node);
    evzk__free(c->guard);
    evzk__consumer_free_items(c);
    evzk__free(c->names);
    evzk__free(c->steps);
    evzk__free(c);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state         entry                     reaction                   main           on stop  on expiry  flags */
ROW(CREATING,     evzk__consumer_create,    evzk__consumer_created,    REGISTERING,   STAY,    SETTLING,  NOTHING_SENT|UNSENT,
    ON(REPLY,     REGISTERING, RENEWING, MAKING_DIR, FAIL, FULL), RARELY(REPLY, CREATING),
    ON(STOP,      CLOSING, RENEWING, ENDED)),
ROW(MAKING_DIR,   evzk__consumer_make_dir,  evzk__consumer_dir_made,   ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     RENEWING, FAIL, FULL),
    ON(STOP,      RENEWING, ENDED)),
ROW(RENEWING,     evzk__consumer_replace,   evzk__consumer_replaced,   ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     REGISTERING, MAKING_DIR, HERE, FAIL, FULL),
    ON(STOP,      CLOSING, MAKING_DIR, HERE, ENDED)),
ROW(REGISTERING,  evzk__consumer_enroll,    evzk__consumer_enrolled,   IDLE,          STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     IDLE, RENEWING, CLOSING, FULL),
    ON(STOP,      CLOSING), RARELY(STOP, RENEWING)), /* The directory goes while it ends. */
ROW(IDLE,         look_for_work,            called,                    READING,       CLOSING, SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     AWAITING_TURN, LISTING, COUNTING, WAITING, READING, FINISHING, RETURNING, PROVING),
    ON(USER_EVENT, IDLE),
    ON(LEASE_END, IDLE)),
ROW(AWAITING_TURN, ask_for_turn,            awaited,                   ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(USER_EVENT, IDLE, FAIL, FULL),
    ON(LEASE_END, IDLE)),
ROW(LISTING,      evzk__consumer_list,      evzk__consumer_listed,     ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(REPLY,     SCANNING, IDLE, RENEWING, HERE, FAIL)),
ROW(SCANNING,     evzk__consumer_scan,      evzk__consumer_scanned,    ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(REPLY,     SCANNING, REMOVING, IDLE, HERE, FAIL)),
ROW(REMOVING,     evzk__consumer_remove,    evzk__consumer_removed,    ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     IDLE),
    ON(REPLY,     SCANNING, IDLE, HERE)),
ROW(COUNTING,     evzk__consumer_count,     evzk__consumer_counted,    ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(REPLY,     LISTING, IDLE), RARELY(REPLY, FAIL)), /* For 50,000 items. */
ROW(WAITING,      evzk__consumer_wait,      evzk__consumer_waited,     ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     IDLE),
    ON(PATH_CHANGED, IDLE),
    ON(PATH_DELETED, IDLE),
    ON(USER_EVENT, IDLE),
    ON(LEASE_END, IDLE), RARELY(EXPIRED, SETTLING)), /* The lost connection comes first. */
ROW(READING,      evzk__consumer_read,      evzk__consumer_has_read,   CLAIMING,      CLOSING, SETTLING,  RETRY|HOLDS,
    ON(REPLY,     CLAIMING, TAKING, BURYING, IDLE, HERE, FAIL)),
ROW(CLAIMING,     evzk__consumer_claim,     evzk__consumer_claimed,    DELIVERING,    STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     DELIVERING, STAMPING, CLAIMING, IDLE, RENEWING, CLOSING, FULL),
    ON(STOP,      CLOSING, RENEWING)),
ROW(STAMPING,     evzk__consumer_stamp,     evzk__consumer_stamped,    ASIDE,         CLOSING, SETTLING,  RETRY|HOLDS,
    ON(REPLY,     DELIVERING),
    RARELY(REPLY, RENEWING, FAIL)), /* The receipt goes in this one trip. */
ROW(MARKING,      evzk__consumer_mark,      evzk__consumer_marked,     ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     DELIVERING, REGISTERING, RENEWING, FULL), RARELY(REPLY, CLOSING), /* Refused after its claim. */
    ON(STOP,      CLOSING), RARELY(STOP, REGISTERING, RENEWING), RARELY(CLOSED, ENDED)),
ROW(DELIVERING,   evzk__consumer_deliver,   evzk__consumer_delivered,  CLOSING,       CLOSING, SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     MARKING, IDLE), RARELY(LEASE_END, HERE)), /* The doubt ends before. */
ROW(TAKING,       evzk__consumer_take_away, evzk__consumer_took_away,  ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     TAKING, WITHDRAWING, IDLE, RENEWING, CLOSING), RARELY(REPLY, FULL),
    ON(STOP,      CLOSING, RENEWING), RARELY(STOP, WITHDRAWING)),
ROW(BURYING,      evzk__consumer_bury,      evzk__consumer_buried,     ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     BURYING, CLAIMING, IDLE, RENEWING, CLOSING), RARELY(REPLY, FULL), /* By the receipt. */
    ON(STOP,      CLOSING, RENEWING)),
ROW(FINISHING,    evzk__consumer_finish,    evzk__consumer_finished,   ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     PROVING),
    ON(REPLY,     IDLE, REGISTERING, RENEWING, CLOSING),
    ON(STOP,      CLOSING, REGISTERING, RENEWING), RARELY(REPLY, FAIL), RARELY(STOP, ENDED),
    ON(EXPIRED,   NEVER)), /* The lost connection leads to PROVING. */
ROW(RETURNING,    evzk__consumer_return,    evzk__consumer_returned,   ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(ENTRY,     PROVING),
    ON(REPLY,     IDLE, REGISTERING, RENEWING, CLOSING),
    ON(STOP,      CLOSING, REGISTERING, RENEWING), RARELY(REPLY, FAIL, FULL), RARELY(STOP, ENDED),
    ON(EXPIRED,   NEVER)),
ROW(PROVING,      evzk__consumer_prove,     evzk__consumer_proved,     ASIDE,         STAY,    SETTLING,  RETRY|HOLDS,
    ON(REPLY,     FINISHING, RETURNING, RENEWING, IDLE, CLOSING, HERE),
    ON(STOP,      FINISHING, RETURNING, RENEWING, CLOSING, HERE), RARELY(REPLY, FAIL), RARELY(STOP, ENDED)),
ROW(SETTLING,     settle,                   settled,                   ASIDE,         STAY,    SETTLING,  RETRY,
    ON(ENTRY,     REGISTERING, RENEWING, CLOSING),
    ON(REPLY,     REGISTERING, RENEWING, CLOSING),
    ON(STOP,      CLOSING), RARELY(STOP, RENEWING)), /* The receipt has gone, too. */
ROW(WITHDRAWING,  withdraw,                 settled,                   ASIDE,         STAY,    SETTLING,  RETRY,
    ON(REPLY,     IDLE, RENEWING), RARELY(REPLY, CLOSING),
    RARELY(STOP,  CLOSING, RENEWING)),
ROW(FULL,         evzk__consumer_wait_full, evzk__consumer_waited_full, ASIDE,        CLOSING, SETTLING,  RETRY|HOLDS,
    ON(USER_EVENT, IDLE, RENEWING, REGISTERING, HERE),
    ON(LEASE_END, IDLE, HERE), RARELY(LEASE_END, RENEWING, REGISTERING)),
ROW(CLOSING,      close_down,               closed,                    ENDED,         STAY,    CLOSING,   RETRY,
    ON(ENTRY,     FINISHING, RETURNING, PROVING, RENEWING),
    ON(STOP,      ENDED, HERE)),
END(ENDED,        end),
};
/* clang-format on */

const struct evzk__kind evzk__consumer_kind = {
    .name = "consumer",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = on_deadline,
    .destroy = evzk__consumer_destroy,
    .detach = detach,
    .left = left,
    .outlives_session = true,
    .keeps_timer = true,
    EVZK__PATH_WATCHES(struct evzk_consumer, m, watch)};
