/* Requests and their queues.  What becomes of the answers is in answer.c. */
#include "lib/request/request.h"

#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/shared_list.h"
#include "lib/request/shared_read.h"
#include "lib/request/subrequest.h"
#include "lib/request/suspect.h"

enum { MOST_TRIES = 15 };

void evzk__requests_init(struct evzk__requests *q)
{
    for (unsigned i = 0; i < EVZK__OPS; i++)
        TAILQ_INIT(&q->queue[i]);
    TAILQ_INIT(&q->back);
    TAILQ_INIT(&q->suspects);
    LIST_INIT(&q->batches);
    q->fresh = q->emptied = 65535;
}

static struct evzk__request_queue *queue_of(struct evzk__core *s,
                                            const struct evzk__request *r)
{
    if (r->held)
        return &s->requests.suspects;
    return r->back ? &s->requests.back : &s->requests.queue[r->op];
}

void evzk__request_count_parts(struct evzk__request *r)
{
    if (evzk__request_is_steps(r))
        r->behind = false;
    r->parts = evzk__subrequests_of(r) + evzk__subrequest_lead(r);
}

void evzk__request_put(struct evzk__core *s, struct evzk__request *r,
                       bool first)
{
    s->requests.queued++;
    evzk__shared_read_waits(s, r);
    if (r->op == EVZK__CREATE_LIST)
        evzk__create_order_wait(s, r);
    else if (evzk__is_suspect(r))
        evzk__suspect_hold(s, r);
    else if (first)
        TAILQ_INSERT_HEAD(queue_of(s, r), r, link);
    else
        TAILQ_INSERT_TAIL(queue_of(s, r), r, link);
}

void evzk__request_enqueue(struct evzk__core *s, struct evzk__request *r,
                           bool first)
{
    r->state = EVZK__QUEUED;
    evzk__request_count_parts(r);
    r->sent = r->answered = 0;
    r->blamed = 0;
    r->first_rc = r->last_rc = EVZK_ERR_CONNLOSS;
    if (evzk__request_answers_each(r))
        r->first_rc = EVZK_OK; /* Until a reply says nothing. */
    evzk__suspect_asked(s, r);
    if (!evzk__shared_list_join(r) && !evzk__shared_read_join(s, r))
        evzk__request_put(s, r, first);
}

void evzk__request_submit(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_asked(r);
    r->tries = 0;
    r->denied = r->given_up = r->cut = false;
    evzk__request_enqueue(s, r, false);
    evzk__session_kick(s);
}

void evzk__request_unqueue(struct evzk__core *s, struct evzk__request *r)
{
    evzk__shared_read_leaves(s, r);
    if (!r->parked)
        TAILQ_REMOVE(queue_of(s, r), r, link);
    r->parked = r->back = false;
    r->held = 0;
    s->requests.queued--;
    if (r->dir && r->dir->listing == r)
        r->dir->listing = NULL;
}

void evzk__request_take(struct evzk__core *s, struct evzk__request *r)
{
    evzk__request_unqueue(s, r);
    r->cut = false;
    r->sent = r->parts;
    r->state = EVZK__SENT;
    evzk__create_order_sent(s, r, true);
}

void evzk__request_count_try(struct evzk__request *r)
{
    if (r->tries < MOST_TRIES)
        r->tries++;
}

void evzk__request_again(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_back(s, r, false);
    evzk__suspect_back(s, r);
    evzk__request_count_try(r);
    evzk__request_enqueue(s, r, true);
    s->wake->post(evzk__place_of(r)); /* Does its own znode still exist? */
}

/* A machine that leads a read goes: the next one leads. */
static void lead_others(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request *heir = evzk__shared_read_heir(r);

    if (!heir)
        return;
    heir->state = EVZK__QUEUED;
    evzk__request_put(s, heir, false);
    evzk__session_kick(s);
}

bool evzk__request_cancel(struct evzk__core *s, struct evzk__request *r)
{
    switch ((enum evzk__request_state)r->state) {
    case EVZK__QUEUED:
        evzk__request_unqueue(s, r);
        evzk__suspect_left(s, r);
        evzk__suspect_dropped(s, r);
        evzk__create_order_over(r, false);
        if (r->op == EVZK__LIST)
            evzk__shared_list_hand_on(s, r);
        lead_others(s, r);
        break;
    case EVZK__WAITING:
        TAILQ_REMOVE(r->waits_in, r, link);
        break;
    case EVZK__JOINED:
        if (r->op == EVZK__LIST)
            TAILQ_REMOVE(&r->leader->joined, r, link);
        else
            LIST_REMOVE(r, follow);
        break;
    case EVZK__SENT:
        r->given_up = true;
        evzk__suspect_dropped(s, r);
        if (r->sent < r->parts) {
            evzk__request_unqueue(s, r); /* The rest need not be sent. */
            r->parts = r->sent;
            lead_others(s, r);
        }
        return false;
    case EVZK__IDLE:
        return false;
    }
    r->state = EVZK__IDLE;
    return true;
}

void evzk__request_no_unwatch(struct evzk__request *r)
{
    if (!r->unwatch || (r->state != EVZK__IDLE && r->sent > 0))
        return;
    if (r->state != EVZK__IDLE)
        r->parts -= evzk__subrequest_lead(r);
    r->unwatch = NULL;
}

bool evzk__request_answers_each(const struct evzk__request *r)
{
    return evzk__request_is_steps(r) && r->each;
}

/* Goes out in pieces: steps with a reply each, and a request with more parts
 * than the window. */
bool evzk__request_goes_bit_by_bit(const struct evzk__core *s,
                                   const struct evzk__request *r)
{
    return evzk__request_answers_each(r) || r->parts > s->window;
}
