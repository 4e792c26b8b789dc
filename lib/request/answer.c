/* What becomes of a request when a part of it is answered: it waits for the
 * rest, is sent again, or is told to its machine, and to the requests that
 * wait for the same answer.
 *
 * How it can fail.  A machine may submit its request again, or end the session,
 * inside the call that tells it: nothing is touched afterwards that may have
 * gone.
 */
#include "lib/request/request.h"

#include <string.h>

#include "lib/base/name.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/shared_list.h"
#include "lib/request/shared_read.h"
#include "lib/request/subrequest.h"
#include "lib/request/suspect.h"

enum { TRIES = 8 };

static int first_rc(const struct evzk__core *s, const struct evzk__request *r,
                    const struct evzk__result *res)
{
    if (evzk__request_answers_each(r) && r->first_rc != EVZK_OK)
        return r->first_rc; /* A later step could not be sent. */
    if (!evzk__request_is_steps(r))
        return res->rc;
    if (r->absent && r->n > 1)
        return EVZK_OK; /* The sync before succeeded. */
    return r->behind ? evzk__steps_sync_rc(s, r, res->rc)
                     : res->rc; /* Answers come in order. */
}

static void note_first(const struct evzk__core *s, struct evzk__request *r,
                       const struct evzk__result *res)
{
    r->first_rc = (int8_t)first_rc(s, r, res);
    r->czxid = res->stat.czxid;
    r->ours = res->stat.owner == s->id;
    r->version = res->stat.version;
    r->told = res->len == sizeof EVZK__UNLOCK - 1 &&
              memcmp(res->data, EVZK__UNLOCK, res->len) == 0;
    if (r->op == EVZK__CREATE_LIST && res->rc == EVZK_OK)
        evzk__name_complete(r->created, res->path);
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
        evzk__suspect_back(s, r);
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
    evzk__suspect_back(s, r);
    evzk__request_count_try(r);
    r->back = true;
    evzk__request_enqueue(s, r, false);
}

/* A znode that exists was read, and watched, in one step.  For a znode that
 * does not exist the request is sent again, with a watch of another kind; if
 * the znode has come by then, it is read.  True: the request is sent again. */
static bool goes_on_to_absent(struct evzk__core *s, struct evzk__request *r)
{
    if (!evzk__request_is_steps(r) || !evzk__steps_go_on(r))
        return false;
    evzk__request_enqueue(s, r, true);
    return true;
}

/* Does an answer of many say nothing?  Then it is noted, and told with the last
 * reply.  Want of memory is told first: it kept steps from being sent, and the
 * others are not the whole of what was asked. */
static bool is_unsaid(const struct evzk__request *r,
                      const struct evzk__result *res)
{
    return evzk__request_answers_each(r) && r->first_rc != EVZK_ERR_NOMEM &&
           (res->rc == EVZK_ERR_CONNLOSS || res->rc == EVZK_ERR_NOMEM ||
            res->rc == EVZK_ERR_SERVER || res->rc == EVZK_ERR_TOOLARGE);
}

/* False: this is the child of a fork, where no request is left. */
static bool answer_followers(struct evzk__core *s, struct evzk__request *r,
                             unsigned part, const struct evzk__result *res)
{
    struct evzk__request *f;

    while ((f = evzk__shared_read_next(s, r, part, &res)) != NULL) {
        evzk__suspect_shared(r, f);
        evzk__request_part_answered(s, f, 0, res);
        if (s->phase == EVZK__CLOSED)
            return false;
    }
    return true;
}

/* Handles the answer to a part. */
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
        r->last_rc = (int8_t)res->rc;
    if (part == evzk__subrequest_lead(r))
        note_first(s, r, res);
    if (is_unsaid(r, res))
        r->first_rc = (int8_t)res->rc;
    if (res->rc == EVZK_OK && part == r->parts - 1 && lists(r))
        evzk__dir_listed(r->dir, &res->stat);
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
