/* The request layer. */
#include "lib/request/request.h"

#include <string.h>

#include "lib/base/name.h"
#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/shared_list.h"
#include "lib/request/shared_read.h"
#include "lib/request/subrequest.h"
#include "lib/request/transaction.h"

enum { TRIES = 8, MOST_TRIES = 15 };

void evzk__requests_init(struct evzk__requests *q)
{
    for (unsigned i = 0; i < EVZK__OPS; i++)
        TAILQ_INIT(&q->queue[i]);
    TAILQ_INIT(&q->back);
    LIST_INIT(&q->batches);
    q->fresh = q->emptied = 65535;
}

static struct evzk__request_queue *queue_of(struct evzk__core *s,
                                            const struct evzk__request *r)
{
    return r->back ? &s->requests.back : &s->requests.queue[r->op];
}

void evzk__request_count_parts(struct evzk__request *r)
{
    r->behind = 0;
    r->parts = evzk__subrequests_of(r) + evzk__subrequest_lead(r);
}

void evzk__request_put(struct evzk__core *s, struct evzk__request *r,
                       bool first)
{
    s->requests.queued++;
    evzk__shared_read_waits(s, r);
    if (r->op == EVZK__CREATE_LIST)
        evzk__create_order_wait(s, r);
    else if (first)
        TAILQ_INSERT_HEAD(queue_of(s, r), r, link);
    else
        TAILQ_INSERT_TAIL(queue_of(s, r), r, link);
}

/* Puts a request into its queue, or has it join another that waits for the same
 * answer. */
static void enqueue(struct evzk__core *s, struct evzk__request *r, bool first)
{
    r->state = EVZK__QUEUED;
    evzk__request_count_parts(r);
    r->sent = r->answered = 0;
    r->first_rc = r->last_rc = EVZK_ERR_CONNLOSS;
    if (evzk__request_answers_each(r))
        r->first_rc = EVZK_OK; /* Until a reply says nothing. */
    if (!evzk__shared_list_join(r) && !evzk__shared_read_join(s, r))
        evzk__request_put(s, r, first);
}

void evzk__request_submit(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_asked(r);
    r->tries = 0;
    r->denied = r->given_up = r->cut = false;
    r->absent = 0;
    enqueue(s, r, false);
    evzk__session_kick(s);
}

void evzk__request_unqueue(struct evzk__core *s, struct evzk__request *r)
{
    evzk__shared_read_leaves(s, r);
    if (!r->parked)
        TAILQ_REMOVE(queue_of(s, r), r, link);
    r->parked = r->back = false;
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

/* More than TRIES are not told apart. */
static void count_try(struct evzk__request *r)
{
    if (r->tries < MOST_TRIES)
        r->tries++;
}

void evzk__request_again(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_back(s, r, false);
    count_try(r);
    enqueue(s, r, true);
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

static int first_rc(const struct evzk__core *s, const struct evzk__request *r,
                    const struct evzk__result *res)
{
    if (evzk__request_answers_each(r) && r->first_rc != EVZK_OK)
        return r->first_rc; /* A later step could not be sent. */
    if (r->absent && r->n > 1)
        return EVZK_OK; /* The sync before succeeded. */
    return r->behind ? s->requests.sync_rc
                     : res->rc; /* Answers come in order. */
}

static void note_first(const struct evzk__core *s, struct evzk__request *r,
                       const struct evzk__result *res)
{
    r->first_rc = (int16_t)first_rc(s, r, res);
    r->czxid = res->stat.czxid;
    r->ours = res->stat.owner == s->id;
    r->version = res->stat.version;
    r->told = res->len == sizeof EVZK__UNLOCK - 1 &&
              memcmp(res->data, EVZK__UNLOCK, res->len) == 0;
    if (r->op == EVZK__CREATE_LIST && res->rc == EVZK_OK)
        evzk__name_complete(r->created, res->path);
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

/* In the child of a fork no request is left to be answered. */
static void answer_all(struct evzk__core *s, struct evzk__request_queue *queue,
                       int rc)
{
    struct evzk__request *r;

    while ((r = TAILQ_FIRST(queue)) != NULL && s->phase != EVZK__CLOSED) {
        TAILQ_REMOVE(queue, r, link);
        evzk__request_answer_rc(s, r, rc);
    }
}

/* Takes out the creates that would get the same answer, as if they were sent.
 */
static void take_like(struct evzk__core *s, const struct evzk__request *r,
                      struct evzk__request_queue *out)
{
    uint32_t tried = r->dir ? r->dir->tried : 0;
    struct evzk__request *like;

    while ((like = evzk__create_order_like(r, r->first_rc, tried)) != NULL) {
        evzk__request_take(s, like);
        TAILQ_INSERT_TAIL(out, like, link);
    }
}

/* The step that a part is about; of a transaction, the step that failed. */
static unsigned step_of(const struct evzk__request *r, unsigned part,
                        const struct evzk__result *res)
{
    part -= evzk__subrequest_lead(r);
    if (!evzk__request_is_steps(r))
        return part;
    return r->commit ? evzk__steps_culprit(r, res) : evzk__steps_index(r, part);
}

static void deliver(struct evzk__core *s, struct evzk__request *r,
                    unsigned part, const struct evzk__result *res)
{
    struct evzk__reply reply = {
        .rc = res->rc,
        .first_rc = r->first_rc,
        .first = {r->czxid, r->ours, r->told, r->version},
        .part = step_of(r, part, res),
        .last = r->answered == r->parts,
        .listed = r->parts - evzk__subrequest_lead(r) == 2,
        .res = res};
    struct evzk__request_queue like = TAILQ_HEAD_INITIALIZER(like);

    if (reply.last) {
        if (r->op == EVZK__LIST && !evzk__shared_list_answer(s, r, &reply))
            return;
        evzk__create_order_back(s, r, r->first_rc == EVZK_OK);
        evzk__create_order_over(r, r->first_rc == EVZK_OK);
        take_like(s, r, &like);
        r->state = EVZK__IDLE; /* The owner may submit it again at once. */
        r->unwatch = NULL;
    } else if (r->answered == r->sent)
        r->state = EVZK__QUEUED; /* The rest can still be taken back. */
    if (reply.last || evzk__request_answers_each(r))
        r->done(r, &reply);
    answer_all(s, &like, reply.first_rc);
}

/* Learns from the answer to a create whether its directory exists.  True: it
 * does not, and the request is sent again, to make the directory, too. */
static bool learn_of_dir(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__dir *d = r->dir;
    bool missing = r->first_rc == EVZK_ERR_NONODE;

    if (r->first_rc != EVZK_OK && !missing)
        return false;
    d->exists = !missing;
    d->missing = missing;
    if (r->tries == 0)
        evzk__dirs_found(s, missing);
    if (missing && r->denied) {
        r->first_rc = EVZK_ERR_NOAUTH;
        return false;
    }
    return missing && !r->keeps_dir && !r->given_up && r->tries < TRIES;
}

/* Does the request's last part show the directory's stat? */
static bool lists(const struct evzk__request *r)
{
    return r->op == EVZK__LIST || r->op == EVZK__SETTLE_LIST ||
           (r->op == EVZK__CREATE_LIST &&
            r->parts == evzk__subrequest_lead(r) + 2);
}

/* To be sent again.  Creates come back in the order in which they were sent. */
static void come_back(struct evzk__core *s, struct evzk__request *r)
{
    evzk__create_order_back(s, r, false);
    count_try(r);
    r->back = true;
    enqueue(s, r, false);
}

/* A znode that exists was read, and watched, in one step.  For a znode that
 * does not exist the request is sent again, with a watch of another kind; if
 * the znode has come by then, it is read.  True: the request is sent again. */
static bool goes_on_to_absent(struct evzk__core *s, struct evzk__request *r)
{
    if (!evzk__request_is_steps(r) || !evzk__steps_go_on(r))
        return false;
    enqueue(s, r, true);
    return true;
}

/* One answer of many says nothing: noted, and told with the last reply. */
static bool is_unsaid(const struct evzk__request *r,
                      const struct evzk__result *res)
{
    return evzk__request_answers_each(r) &&
           (res->rc == EVZK_ERR_CONNLOSS || res->rc == EVZK_ERR_NOMEM ||
            res->rc == EVZK_ERR_SERVER);
}

/* False: this is the child of a fork, where no request is left. */
static bool answer_followers(struct evzk__core *s, struct evzk__request *r,
                             unsigned part, const struct evzk__result *res)
{
    struct evzk__request *f;

    while ((f = evzk__shared_read_next(s, r, part, &res)) != NULL) {
        evzk__request_part_answered(s, f, 0, res);
        if (s->phase == EVZK__CLOSED)
            return false;
    }
    return true;
}

/* One part was answered. */
void evzk__request_part_answered(struct evzk__core *s, struct evzk__request *r,
                                 unsigned part, const struct evzk__result *res)
{
    struct evzk__result late = {0};

    if (!answer_followers(s, r, part, res))
        return;
    if (res->rc == EVZK_ERR_NOMEM ||
        (res->rc == EVZK_ERR_SERVER && r->op != EVZK__BATCH))
        evzk__requests_pause(s);
    r->answered++;
    if (part == r->parts - 1)
        r->last_rc = (int16_t)res->rc;
    if (part == evzk__subrequest_lead(r))
        note_first(s, r, res);
    if (is_unsaid(r, res))
        r->first_rc = (int16_t)res->rc;
    if (res->rc == EVZK_OK && part == r->parts - 1 && lists(r) &&
        !r->dir->made_by_us)
        r->dir->check_empty = evzk__dir_looks_made_by_us(&res->stat);
    if (r->op == EVZK__CREATE_LIST && r->answered == r->parts &&
        learn_of_dir(s, r)) {
        come_back(s, r);
        return;
    }
    if (goes_on_to_absent(s, r))
        return;
    /* The last answer may be to an earlier part, when a later part could not be
     * sent: then the result of the last part counts. */
    late.rc = r->last_rc;
    if (!evzk__request_answers_each(r) && part != r->parts - 1)
        res = &late;
    deliver(s, r, part, res);
}

void evzk__request_answer(struct evzk__core *s, struct evzk__request *r,
                          const struct evzk__result *res)
{
    if (r->op == EVZK__CREATE_LIST)
        r->parts = evzk__subrequest_lead(r) +
                   (r->with_dir ? 2 : 1); /* As if it had listed. */
    note_first(s, r, res);
    r->answered = r->parts;
    deliver(s, r, r->parts - 1, res);
}

void evzk__request_answer_rc(struct evzk__core *s, struct evzk__request *r,
                             int rc)
{
    struct evzk__result res = {.rc = rc};

    evzk__request_answer(s, r, &res);
}
