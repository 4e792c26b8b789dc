/* Sends the requests that wait in the queues, as the flow window and a time
 * budget allow, and takes in answers and the loss of a connection.
 *
 * How it can fail: there is no memory for a request.  Then the request goes
 * back to the head of its queue, and nothing is sent for a moment.
 */
#include "lib/request/request.h"

#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/parents.h"
#include "lib/request/shared_read.h"
#include "lib/request/subrequest.h"
#include "lib/request/suspect.h"
#include "lib/request/transaction.h"

enum { COMPANY = 64 };

void evzk__request_completed(struct evzk__core *s, struct evzk__slot *slot,
                             const struct evzk__result *res)
{
    struct evzk__request *r = slot->owner;

    slot->owner = NULL;
    s->requests.in_flight--;
    s->requests.heard = true;
    if (r == &s->requests.nobody)
        return;
    evzk__subrequest_answered(s, r, slot->part, res);
    evzk__request_part_answered(s, r, slot->part, res);
}

/* There is no memory to send the request: tries again in a while. */
static void take_back(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_back(s, r, false);
    if (r->sent == r->parts) /* Left its queue: to the head again. */
        evzk__request_put(s, r, true);
    r->sent = 0;
    r->state = EVZK__QUEUED;
    evzk__request_count_parts(r); /* May have been sent with a shared sync. */
    evzk__requests_pause(s);
}

/* What the session fails by itself says nothing new of the servers. */
static int send_part(struct evzk__core *s, struct evzk__request *r,
                     struct evzk__slot *slot)
{
    if (!evzk__suspect_is_barred(s, r))
        return evzk__subrequest_send(s, r, slot);
    evzk__suspect_unheard(r);
    return EVZK_ERR_TOOLARGE;
}

/* Sends one part.  An error of the call comes back like an answer; false when
 * the request waits for memory. */
static bool send_one(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__slot *slot = evzk__client_slot(s->client);
    struct evzk__result res = {.rc = EVZK_OK};
    unsigned part = r->sent++;

    if (r->sent == r->parts)
        evzk__request_unqueue(s, r);
    r->state = EVZK__SENT;
    slot->owner = r;
    slot->part = part;
    s->stats.requests++;
    s->requests.in_flight++;
    res.rc = send_part(s, r, slot);
    if (res.rc == EVZK_OK) {
        evzk__shared_read_sent(s, r, part);
        return true;
    }
    evzk__client_slot_free(slot);
    s->requests.in_flight--;
    evzk__shared_read_leaves(s, r);
    if (res.rc == EVZK_ERR_NOMEM && part == 0) {
        take_back(s, r);
        return false;
    }
    evzk__request_part_answered(s, r, part, &res);
    return true;
}

/* Each reply of a request is about one of its steps: so the watch that the
 * owner has left is taken off by a request of its own. */
static void send_unwatch(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__slot *slot = evzk__client_slot(s->client);
    int rc;

    slot->owner = &s->requests.nobody;
    s->stats.requests++;
    s->requests.in_flight++;
    rc = evzk__part_unwatch(s, r, slot);
    if (rc != EVZK_OK) {
        evzk__client_slot_free(slot);
        s->requests.in_flight--;
    }
    if (rc == EVZK_ERR_NOMEM)
        evzk__requests_pause(s);
    else
        r->unwatch = NULL;
}

/* Has the window room for all parts of a request?  Some go out bit by bit. */
static bool room_for(const struct evzk__core *s, const struct evzk__request *r)
{
    uint32_t room = s->window > s->requests.in_flight
                        ? s->window - s->requests.in_flight
                        : 0;

    if (r->op == EVZK__SYNC)
        return true; /* The lease does not wait: it has a slot of its own. */
    if (evzk__batch_takes(s, r))
        return room > 0 && evzk__batch_room(s);
    return room >= (evzk__request_goes_bit_by_bit(s, r) ? 1 : r->parts);
}

/* A transaction of one delete is a delete. */
static bool is_plain_delete(const struct evzk__request *r)
{
    return r->op == EVZK__DELETE && !r->also &&
           (r->held || !TAILQ_NEXT(r, link)) && !evzk__batch_takes_dir(r);
}

void evzk__batch_send(struct evzk__core *s, struct evzk__request *first)
{
    struct evzk__multi *multi;
    struct evzk__request *r = evzk__batch_prepare(s, first, &multi);
    struct evzk__slot *slot;
    int rc;

    if (!r)
        return;
    slot = evzk__client_slot(s->client);
    r->state = EVZK__SENT;
    r->parts = r->sent = 1;
    slot->owner = r;
    slot->part = 0;
    s->stats.requests++;
    s->requests.in_flight++;
    rc = evzk__client_multi(slot, multi);
    if (rc == EVZK_OK)
        return;
    evzk__client_slot_free(slot);
    s->requests.in_flight--;
    if (rc == EVZK_ERR_NOMEM)
        evzk__requests_pause(s);
    evzk__request_answer_rc(s, r, rc);
}

static void send_all(struct evzk__core *s, struct evzk__request *r)
{
    uint32_t parts;

    if (r->op == EVZK__PARENTS) {
        evzk__request_unqueue(s, r);
        evzk__parents_join(s, r);
        return;
    }
    if (r->unwatch && evzk__request_answers_each(r)) {
        send_unwatch(s, r); /* The request itself comes next. */
        return;
    }
    if (evzk__batch_takes(s, r) && !is_plain_delete(r)) {
        evzk__batch_send(s, r);
        return;
    }
    /* Behind another contender of ours a listing is not needed. */
    if (r->op == EVZK__CREATE_LIST && evzk__dir_busy(r->dir))
        r->parts = evzk__subrequest_lead(r) + 1;
    if (evzk__request_is_steps(r) && !evzk__suspect_is_barred(s, r))
        evzk__steps_share_sync(s, r);
    evzk__create_order_sent(s, r, false);
    parts = r->parts;
    if (evzk__request_goes_bit_by_bit(s, r))
        parts = 1; /* May be answered, and change, while it is sent. */
    while (parts-- > 0 && send_one(s, r))
        ;
}

/* Some machines have not been told yet what has happened: machines that one
 * event wakes then share one listing.  Does not wait for ever. */
static bool awaits_company(const struct evzk__core *s)
{
    return !TAILQ_EMPTY(&s->running) && s->requests.put_off < COMPANY;
}

static void count_put_off(struct evzk__core *s)
{
    bool waits = !TAILQ_EMPTY(&s->requests.queue[EVZK__LIST]) &&
                 !TAILQ_EMPTY(&s->running);

    if (!waits)
        s->requests.put_off = 0;
    else if (s->requests.put_off < COMPANY)
        s->requests.put_off++;
}

static bool is_closing(const struct evzk__core *s)
{
    return s->phase != EVZK__RUNNING;
}

/* A create waits for those of its directory that were asked for before it. */
static bool has_turn(const struct evzk__core *s, const struct evzk__request *r)
{
    if (is_closing(s))
        return r->op == EVZK__LEFT_WRITES;
    return r->op != EVZK__CREATE_LIST || evzk__create_order_is_first(r);
}

static struct evzk__request *first_suspect(const struct evzk__core *s)
{
    struct evzk__request *r = TAILQ_FIRST(&s->requests.suspects);

    while (r && !has_turn(s, r))
        r = TAILQ_NEXT(r, link);
    return r;
}

/* The suspect that is being sent, bit by bit, or the next one.  NULL: none may
 * go now. */
static struct evzk__request *next_suspect(const struct evzk__core *s)
{
    struct evzk__request *r = s->requests.alone;

    if (s->cursor && !is_closing(s))
        return NULL;
    if (r)
        return r->held && has_turn(s, r) ? r : NULL;
    return evzk__suspects_may_go(s) ? first_suspect(s) : NULL;
}

/* While the session is being closed, only what ended machines have left goes
 * out.  While machines are being told of a change, only the lease's sync: the
 * request that a machine made before it knew of the change may be wrong now.
 * While a suspect goes alone (see suspect.c), what is not sent itself may go,
 * too: it may wait for the suspect's answer. */
static bool may_go(const struct evzk__core *s, unsigned op, bool alone)
{
    if (is_closing(s))
        return op == EVZK__LEFT_WRITES;
    if (op == EVZK__SYNC)
        return true;
    return !s->cursor && (!alone || op == EVZK__PARENTS);
}

static struct evzk__request *next_request(struct evzk__core *s)
{
    bool alone =
        s->requests.alone || (first_suspect(s) && evzk__suspects_due(s));

    for (unsigned i = 0; i < EVZK__OPS; i++) {
        struct evzk__request *r;

        if (!may_go(s, i, alone))
            continue;
        r = i == EVZK__CREATE_LIST ? evzk__create_order_next(s)
                                   : TAILQ_FIRST(&s->requests.queue[i]);
        if (r && !(i == EVZK__LIST && awaits_company(s)))
            return r;
    }
    return next_suspect(s);
}

/* Suspects that are trusted again wait with all others. */
static void release_suspects(struct evzk__core *s)
{
    struct evzk__request *r, *next;

    for (r = TAILQ_FIRST(&s->requests.suspects);
         r && s->requests.to_release > 0; r = next) {
        next = TAILQ_NEXT(r, link);
        if (r == s->requests.alone || !evzk__suspect_may_be_released(r))
            continue;
        s->requests.to_release--;
        evzk__request_unqueue(s, r);
        evzk__suspect_release(r);
        evzk__request_put(s, r, false);
    }
    s->requests.to_release = 0;
}

static bool rests_on_look(const struct evzk__request *r)
{
    return r->op == EVZK__DELETE || r->op == EVZK__SWAP ||
           (r->op == EVZK__WRITES && r->proved);
}

/* A machine may take its request back, and ask for the same at the end of the
 * queue: each is put off once. */
static void put_off(struct evzk__core *s, struct evzk__request_queue *queue)
{
    struct evzk__request *r, *next;
    size_t n = 0;

    TAILQ_FOREACH(r, queue, link) n++;
    for (r = TAILQ_FIRST(queue); r && n > 0; n--, r = next) {
        next = TAILQ_NEXT(r, link);
        if (rests_on_look(r))
            s->wake->put_off(evzk__place_of(r));
    }
}

/* Sending was paused.  A request that deletes a znode relies on a read, which
 * may be old now. */
static void go_on(struct evzk__core *s)
{
    s->send_at = 0;
    put_off(s, &s->requests.queue[EVZK__DELETE]);
    put_off(s, &s->requests.queue[EVZK__SWAP]);
    put_off(s, &s->requests.queue[EVZK__WRITES]);
    put_off(s, &s->requests.suspects);
}

bool evzk__requests_flush(struct evzk__core *s, int64_t deadline_us)
{
    struct evzk__request *r;
    unsigned n = 0;

    count_put_off(s);
    release_suspects(s);
    s->requests.synced = false;
    if (s->send_at && evzk__now_us() >= s->send_at)
        go_on(s);
    while ((r = next_request(s)) != NULL) {
        if (!evzk__session_usable(s) || !room_for(s, r) || s->send_at)
            return false;
        if (n > 0 && evzk__is_late(n - 1, 16, deadline_us))
            return true;
        n++;
        if (evzk__own_went(r) && s->wake->take_back(evzk__place_of(r)))
            continue;
        if (r->held)
            s->requests.alone = r;
        send_all(s, r);
    }
    return false;
}

/* A part was not answered before the connection was lost: its outcome is
 * unknown, unless the servers hang up at this request each time. */
static void lost(struct evzk__core *s, struct evzk__request *r, unsigned part)
{
    struct evzk__result res = {.rc = evzk__suspect_lost(s, r)};
    bool is_last = r->answered + 1 == r->sent;

    if ((is_last || res.rc != EVZK_ERR_CONNLOSS) && r->sent < r->parts) {
        evzk__request_unqueue(s,
                              r); /* Cut in the middle: the rest is not sent. */
        r->parts = r->sent;
    }
    evzk__request_part_answered(s, r, part, &res);
}

void evzk__requests_lost(struct evzk__core *s, struct evzk__client *c)
{
    struct evzk__slot *slot = NULL;

    s->requests.sync_rc = EVZK_ERR_CONNLOSS;
    while ((slot = evzk__client_next_slot(c, slot)) != NULL) {
        struct evzk__request *r = slot->owner;

        slot->owner = NULL;
        s->requests.in_flight--;
        if (r != &s->requests.nobody)
            lost(s, r, slot->part);
    }
    evzk__suspects_cut(s);
}

/* As if its next part had been sent, and the answer lost. */
void evzk__request_cut(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__result res = {.rc = EVZK_ERR_CONNLOSS};

    if (r->state != EVZK__QUEUED || !evzk__request_is_steps(r) ||
        !evzk__steps_are_of_connection(r))
        return;
    evzk__request_unqueue(s, r);
    evzk__suspect_unheard(r);
    r->parts = ++r->sent;
    evzk__request_part_answered(s, r, r->sent - 1, &res);
}

void evzk__requests_forget(struct evzk__client *c)
{
    struct evzk__slot *slot = NULL;

    while ((slot = evzk__client_next_slot(c, slot)) != NULL)
        slot->owner = NULL;
}
