/* Puts items into a queue: recipes/parts/queue_layout.h says where.
 *
 *   CREATING (recipes/parts/make.h) --> IDLE <--> FINDING
 *       ^                               ^  ^ <--> LISTING, READING
 *       |                               |  | <--> EXTENDING
 *       |                               |  v
 *   DISCARDING <------------------------ PUTTING <--> WITHDRAWING
 *                                       IDLE --> CLOSING --> ENDED
 *
 * CREATING makes the receipt.  IDLE chooses what comes next, and waits while
 * nothing is to be put.  FINDING lists the queue, for the last segment of each
 * priority.  EXTENDING seals a full segment and makes the next.  PUTTING puts
 * as many items as fit into one transaction.
 *
 * Of a plain queue FINDING asks how many items it has: more than can be listed
 * nobody could take out again.  LISTING and READING look, once, whether its
 * items are another library's.
 *
 * Both transactions write the receipt, so each is done once, and none of them
 * comes late: not behind the next one, and not when the receipt has gone.
 *
 * How it can fail.
 *
 * - Another producer seals a segment: the transaction fails at its `open`, and
 *   the queue is listed again.  The answer is as new as the seal, so the next
 *   segment is seen.  If none is there, somebody has deleted `open` alone; a
 *   segment is made behind it.
 * - The receipt is gone, or cannot be trusted.  An unsent transaction is sent
 *   with another receipt.  What became of one that was sent nobody knows: the
 *   callers hear so.  DISCARDING deletes the receipt before another one is
 *   made, so that the earlier transaction does not come behind later ones.
 * - The numbers of a segment are used: somebody has copied the queue, and its
 *   items have numbers that the servers give again.  The segment counts as
 * full.
 * - A transaction of several puts is refused: it may be for one of them.  The
 *   first is tried alone.
 * - The servers hang up at a transaction, each time: it is larger than they
 *   take.  But before that it may have been done, or be on its way. WITHDRAWING
 *   sees to it that it is not done any more, or finds that it was; then fewer
 *   items go together.  Of a transaction that extends the queue that need not
 *   be known: it ends with the receipt.
 * - The session ends while a transaction is under way: it is sent again in the
 *   next session, with the same receipt.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/parts/queue_foreign.h"
#include "recipes/producer/producer_internal.h"

enum {
    CREATING,
    MAKING_DIR,
    RESOLVING,
    ADOPTING,
    IDLE,
    FINDING,
    LISTING,
    READING,
    EXTENDING,
    PUTTING,
    WITHDRAWING,
    DISCARDING,
    CLOSING,
    ENDED,
    STATES
};

static struct evzk__make *make_of(struct evzk__machine *m)
{
    return &evzk__producer_of(m)->make;
}

MAKE_ACTIONS(make_of)

/* A receipt that was deleted already is missed when it is written. */
static int made(struct evzk__machine *m, int rc)
{
    struct evzk_producer *p = evzk__producer_of(m);

    (void)rc;
    evzk__receipt_init(&p->receipt, p->make.name);
    return evzk__machine_move(m, m->stopping ? CLOSING : IDLE);
}

const struct evzk__make_rows evzk__producer_make_rows = MAKE_ROWS_OF(made);

/* The choice. */

/* False: a put was refused, since the numbers of its segments are used up. */
static bool choose_batch(struct evzk_producer *p)
{
    const struct evzk__put *first = TAILQ_FIRST(&p->puts);

    evzk__batch_choose(p);
    if (evzk__batch_is_at_end(p) && p->batch.items > first->n - first->done) {
        p->alone = true;
        evzk__batch_choose(p);
    }
    if (!evzk__batch_is_at_end(p))
        return true;
    evzk__puts_refused(p, EVZK_ERR_SEQUENCE);
    return false;
}

static void choose(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);
    bool segments = !evzk__producer_is_plain(p);

    if (m->stopping || (p->closing && TAILQ_EMPTY(&p->puts))) {
        evzk__machine_move(m, CLOSING);
        return;
    }
    if (TAILQ_EMPTY(&p->puts))
        return;
    if (segments ? !p->tails_known : p->room == 0) {
        evzk__machine_move(m, FINDING);
        return;
    }
    if (choose_batch(p))
        evzk__machine_move(m, evzk__batch_lacks(p) ? EXTENDING : PUTTING);
    else
        evzk__machine_ask(m); /* The callback may have done anything. */
}

static int woken(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, IDLE);
}

/* The segments. */

static void find(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    p->steps[0] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = p->path, .shared = true};
    p->steps[1] = (struct evzk__step){.verb = evzk__producer_is_plain(p)
                                                  ? EVZK__STEP_EXISTS
                                                  : EVZK__STEP_CHILDREN,
                                      .name = p->path};
    evzk__ask(m, p->steps, 2, 0);
}

static int found_plain(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_producer *p = evzk__producer_of(m);
    bool there = r->rc == EVZK_OK;
    uint32_t children = there ? (uint32_t)r->res->stat.children : 0;

    p->dir_missing = !there;
    p->known_ours = p->known_ours || children == 0;
    if (!evzk__plain_found(p, children))
        evzk__puts_refused(p, EVZK_ERR_QUOTA);
    else if (!p->known_ours)
        return evzk__machine_move(m, LISTING);
    return evzk__machine_move(m, IDLE);
}

/* Somebody has deleted the queue: then its receipts are gone, too, and the next
 * transaction says so. */
static int found(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__names none = {0};

    if (e->reply->first_rc != EVZK_OK && e->reply->first_rc != EVZK_ERR_NONODE)
        return e->reply->first_rc;
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return e->reply->rc;
    if (evzk__producer_is_plain(evzk__producer_of(m)))
        return found_plain(m, e->reply);
    evzk__tails_found(evzk__producer_of(m),
                      e->reply->rc == EVZK_OK ? &e->reply->res->names : &none);
    return evzk__machine_move(m, IDLE);
}

/* Another library's queue: a plain one that exists. */

static void list(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    p->steps[0] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = p->path};
    evzk__ask(m, p->steps, 1, 0);
}

/* Writes the name of an item that says how all of them are written. */
static bool find_item(struct evzk_producer *p, const struct evzk__names *names)
{
    uint32_t priority;
    int32_t seq;

    for (size_t i = 0; i < names->n; i++) {
        if (evzk__plain_item_parse(names->v[i], &priority, &seq)) {
            snprintf(p->first, sizeof p->first, "%s", names->v[i]);
            return true;
        }
    }
    return false;
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_producer *p = evzk__producer_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc != EVZK_OK && r->rc != EVZK_ERR_NONODE)
        return r->rc;
    if (r->rc == EVZK_OK && evzk__queue_has_foreign(&r->res->names))
        return evzk__machine_give_up(m, EVZK_ERR_FOREIGN, CLOSING);
    if (r->rc == EVZK_OK && find_item(p, &r->res->names))
        return evzk__machine_move(m, READING);
    p->known_ours = true;
    return evzk__machine_move(m, IDLE);
}

static void read_item(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    strcpy(stpcpy(stpcpy(p->target[0].path[0], p->path), "/"), p->first);
    p->steps[0] = (struct evzk__step){.verb = EVZK__STEP_GET,
                                      .name = p->target[0].path[0]};
    evzk__ask(m, p->steps, 1, 0);
}

/* An item that may not be read, or is gone, says nothing. */
static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *r = e->reply;

    if (r->rc != EVZK_OK && r->rc != EVZK_ERR_NONODE &&
        r->rc != EVZK_ERR_NOAUTH)
        return r->rc;
    if (r->rc == EVZK_OK &&
        evzk__queue_data_is_foreign(r->res->data, r->res->len))
        return evzk__machine_give_up(m, EVZK_ERR_FOREIGN, CLOSING);
    evzk__producer_of(m)->known_ours = true;
    return evzk__machine_move(m, IDLE);
}

/* Transactions. */

static int go_on(struct evzk__machine *m)
{
    return evzk__machine_move(m, m->stopping ? CLOSING : IDLE);
}

/* The transaction was refused for a reason of its items.  One of several puts
 * may be to blame. */
static int refuse(struct evzk__machine *m, int rc)
{
    struct evzk_producer *p = evzk__producer_of(m);
    const struct evzk__put *first = TAILQ_FIRST(&p->puts);
    bool several = p->batch.items > first->n - first->done;

    p->batch.asked = false;
    if (several)
        p->alone = true;
    else
        evzk__puts_refused(p, rc);
    return go_on(m);
}

/* The servers hang up at the transaction, each time, and it was not done.  Of
 * several items each may fit alone. */
static void lessen(struct evzk_producer *p)
{
    p->batch.asked = false;
    if (!evzk__batch_halve(p))
        evzk__puts_refused(p, EVZK_ERR_TOOLARGE);
}

/* Another producer was here, or somebody has deleted something: the producer
 * knows less of the queue than it thought. */
static int look_again(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    p->batch.asked = false;
    p->tails_known = false;
    return go_on(m);
}

/* The segment has no `open` any more. */
static int miss_open(struct evzk__machine *m, struct evzk__tail *t)
{
    t->state = EVZK__TAIL_SEALED;
    return look_again(m);
}

/* The receipt was not written, and nothing is on its way.  A receipt that is as
 * it should be, and may not be written, no other will better. */
static int lack_receipt(struct evzk__machine *m, int rc)
{
    evzk__producer_of(m)->batch.asked = false;
    return rc == EVZK_ERR_NONODE || rc == EVZK_ERR_BADVERSION
               ? evzk__machine_move(m, DISCARDING)
               : evzk__machine_give_up(m, rc, CLOSING);
}

static void extend(struct evzk__machine *m)
{
    evzk__steps_extend(evzk__producer_of(m));
}

static void note_extended(struct evzk_producer *p)
{
    for (uint32_t i = 0; i < p->batch.n_targets; i++) {
        struct evzk__tail *t = &p->tail[p->target[i].priority];

        if (evzk__tail_is_short(t))
            evzk__tail_extended(t);
    }
    p->has_signal = true;
    p->dir_missing = false;
}

static int not_extended(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_producer *p = evzk__producer_of(m);
    struct evzk__tail *t = evzk__steps_tail_of(p, r->part);

    if (r->rc == EVZK_ERR_NONODE && t)
        return miss_open(m, t);
    if (r->rc == EVZK_ERR_NODEEXISTS) {
        p->dir_missing = false;
        return look_again(m);
    }
    return refuse(m, r->rc);
}

static int extended(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_producer *p = evzk__producer_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_TOOLARGE) {
        lessen(p);
        return evzk__machine_move(m, DISCARDING);
    }
    switch (evzk__receipt_answered(&p->receipt, r, p->n_steps)) {
    case EVZK__DONE:
    case EVZK__DONE_BEFORE:
        note_extended(p);
        return go_on(m);
    case EVZK__REFUSED:
        return r->part > 0 ? not_extended(m, r) : lack_receipt(m, r->rc);
    case EVZK__UNKNOWN:
        break;
    }
    return evzk__machine_move(m, DISCARDING);
}

static void put(struct evzk__machine *m)
{
    evzk__steps_put(evzk__producer_of(m));
}

/* A put of unknown outcome takes room like one that was done. */
static void count(struct evzk_producer *p, bool answered)
{
    if (evzk__producer_is_plain(p))
        p->room -= p->batch.items < p->room ? p->batch.items : p->room;
    for (uint32_t i = 0; i < p->batch.n_targets; i++)
        evzk__tail_filled(&p->tail[p->target[i].priority], p->target[i].items,
                          answered ? p->target[i].made : "");
}

static int put_done(struct evzk__machine *m, bool answered)
{
    struct evzk_producer *p = evzk__producer_of(m);

    count(p, answered);
    evzk__puts_done(p);
    return go_on(m);
}

/* A number that the servers have given is used already.  Another segment has
 * others; a plain queue has none. */
static int number_is_used(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_producer *p = evzk__producer_of(m);
    struct evzk__tail *t = evzk__steps_item_of(p, r->part);

    if (evzk__producer_is_plain(p) || !t)
        return refuse(m, EVZK_ERR_SEQUENCE);
    t->state = EVZK__TAIL_FULL;
    p->batch.asked = false;
    return go_on(m);
}

static int not_put(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_producer *p = evzk__producer_of(m);
    struct evzk__tail *t = evzk__steps_tail_of(p, r->part);

    if (r->rc == EVZK_ERR_NODEEXISTS)
        return number_is_used(m, r);
    if (r->rc != EVZK_ERR_NONODE)
        return refuse(m, r->rc);
    p->dir_missing = true; /* Or it is a segment, or the signal. */
    return t ? miss_open(m, t) : look_again(m);
}

/* What became of the transaction nobody can tell. */
static int lose_track(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    count(p, false);
    evzk__puts_unknown(p, EVZK_ERR_CONNLOSS);
    return evzk__machine_move(m, DISCARDING);
}

static int was_put(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_producer *p = evzk__producer_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_TOOLARGE)
        return evzk__machine_move(m, WITHDRAWING);
    switch (evzk__receipt_answered(&p->receipt, r, p->n_steps)) {
    case EVZK__DONE:
        return put_done(m, true);
    case EVZK__DONE_BEFORE:
        return put_done(m, false);
    case EVZK__REFUSED:
        return r->part > 0 ? not_put(m, r) : lack_receipt(m, r->rc);
    case EVZK__UNKNOWN:
        break;
    }
    return lose_track(m);
}

/* The servers hang up at what was to be put. */

static void withdraw(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);

    evzk__receipt_withdraw(m, &p->receipt, p->steps);
}

static int withdrawn(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_producer *p = evzk__producer_of(m);

    switch (evzk__receipt_withdrawn(&p->receipt, e->reply)) {
    case EVZK__DONE:
    case EVZK__DONE_BEFORE:
        return put_done(m, false);
    case EVZK__REFUSED:
        lessen(p);
        return go_on(m);
    case EVZK__UNKNOWN:
        evzk__batch_halve(p);
        break;
    }
    return lose_track(m);
}

/* The end of a receipt. */

static void remove_receipt(struct evzk__machine *m)
{
    static const struct evzk__step step[] = {{.verb = EVZK__STEP_DELETE}};

    evzk__ask_about(m, evzk__producer_of(m)->make.name, step, 1, 0);
}

/* Where a server refuses, the receipt may stand. */
static void note_removed(struct evzk__machine *m, int rc)
{
    if (rc == EVZK_OK || rc == EVZK_ERR_NONODE)
        evzk__producer_of(m)->make.may_stand = false;
}

/* No other receipt is made before this one is gone, or may not be deleted. */
static int discarded(struct evzk__machine *m, const struct evzk__event *e)
{
    note_removed(m, e->reply->rc);
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    return e->reply->rc == EVZK_ERR_SERVER ? evzk__machine_again_later(m)
                                           : evzk__machine_move(m, CREATING);
}

static int closed(struct evzk__machine *m, const struct evzk__event *e)
{
    note_removed(m, e->reply->rc);
    return evzk__machine_finish(m, m->rc);
}

static bool left(struct evzk__machine *m, unsigned i, struct evzk__left *out)
{
    return i == 0 && evzk__make_left(&evzk__producer_of(m)->make, out);
}

static void end(struct evzk__machine *m)
{
    struct evzk_producer *p = evzk__producer_of(m);
    evzk_session *s = evzk__machine_session(m);
    bool well = m->rc == EVZK_OK || m->rc == EVZK_ERR_CANCELED;
    int64_t begun;

    evzk__puts_end(p, m->rc);
    begun = evzk__machine_call_out(s);
    if (p->cb)
        p->cb(p, well ? EVZK_PRODUCER_CLOSED : EVZK_PRODUCER_FAILED,
              well ? EVZK_OK : m->rc, p->arg);
    evzk__machine_called(s, begun);
}

void evzk__producer_destroy(struct evzk_producer *p)
{
    evzk__puts_free(p);
    evzk__acl_free(&p->own_acl);
    evzk__free(p->steps);
    evzk__free(p->names);
    evzk__free(p->path);
    evzk__free(p);
}

static void destroy(struct evzk__machine *m)
{
    evzk__producer_destroy(evzk__producer_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
MAKE_ROWS(IDLE, TO(IDLE), TO(CLOSING)),
/*  state       entry           reaction   main       on stop  on expiry   flags */
ROW(IDLE,       choose,         woken,     PUTTING,   CLOSING, IDLE,       0,
    ON(ENTRY,      FINDING, EXTENDING, PUTTING, CLOSING),
    ON(USER_EVENT, IDLE)),
ROW(FINDING,    find,           found,     ASIDE,     CLOSING, FINDING,    RETRY,
    ON(REPLY,      IDLE, LISTING, FAIL)),
ROW(LISTING,    list,           listed,    ASIDE,     CLOSING, LISTING,    RETRY,
    ON(REPLY,      IDLE, READING, CLOSING, FAIL)),
ROW(READING,    read_item,      was_read,  ASIDE,     CLOSING, READING,    RETRY,
    ON(REPLY,      IDLE, CLOSING), RARELY(REPLY, FAIL)),
ROW(EXTENDING,  extend,         extended,  ASIDE,     CLOSING, EXTENDING,  RETRY,
    ON(REPLY,      IDLE, CLOSING, DISCARDING)),
ROW(PUTTING,    put,            was_put,   CLOSING,   STAY,    PUTTING,    RETRY,
    ON(REPLY,      IDLE, WITHDRAWING, CLOSING, DISCARDING),
    ON(STOP,       CLOSING, WITHDRAWING, DISCARDING)),
ROW(WITHDRAWING, withdraw,      withdrawn, ASIDE,     STAY,    WITHDRAWING, RETRY,
    ON(REPLY,      IDLE, CLOSING, DISCARDING),
    ON(STOP,       CLOSING), RARELY(STOP, DISCARDING)),
ROW(DISCARDING, remove_receipt, discarded, ASIDE,     STAY,    DISCARDING, RETRY,
    ON(REPLY,      CREATING),
    ON(STOP,       ENDED)),
ROW(CLOSING,    remove_receipt, closed,    ENDED,     STAY,    CLOSING,    RETRY,
    ON(REPLY,      ENDED),
    ON(STOP,       ENDED)),
END(ENDED,      end),
};
/* clang-format on */

const struct evzk__kind evzk__producer_kind = {.name = "producer",
                                               .rows = rows,
                                               .n_rows = STATES,
                                               .destroy = destroy,
                                               .left = left,
                                               .outlives_session = true};
