/* Listings that others join: a list in the request that leads. */
#include "lib/request/shared_list.h"

#include "lib/request/core.h"
#include "lib/request/suspect.h"

bool evzk__shared_list_join(struct evzk__request *r)
{
    if (r->op != EVZK__LIST)
        return false;
    TAILQ_INIT(&r->joined);
    if (r->unwatch)
        return false;
    if (!r->dir->listing) {
        r->dir->listing = r;
        return false;
    }
    r->state = EVZK__JOINED;
    r->leader = r->dir->listing;
    TAILQ_INSERT_TAIL(&r->leader->joined, r, link);
    return true;
}

void evzk__shared_list_hand_on(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__request *heir = TAILQ_FIRST(&r->joined), *other;

    if (!heir)
        return;
    TAILQ_REMOVE(&r->joined, heir, link);
    TAILQ_INIT(&heir->joined);
    TAILQ_CONCAT(&heir->joined, &r->joined, link);
    TAILQ_FOREACH(other, &heir->joined, link) other->leader = heir;
    heir->state = EVZK__QUEUED;
    heir->dir->listing = heir;
    TAILQ_INSERT_TAIL(&s->requests.queue[EVZK__LIST], heir, link);
    s->requests.queued++;
}

static bool share(struct evzk__core *s, struct evzk__request *r,
                  struct evzk__reply *reply)
{
    struct evzk__request *other;

    while ((other = TAILQ_FIRST(&r->joined)) != NULL) {
        if (evzk__ordered_short(reply->res->names.ordered)) {
            evzk__requests_pause(s);
            reply->rc = EVZK_ERR_NOMEM;
        }
        TAILQ_REMOVE(&r->joined, other, link);
        other->state = EVZK__IDLE;
        evzk__suspect_shared(r, other);
        other->done(other, reply);
        if (s->phase == EVZK__CLOSED)
            return false;
    }
    return true;
}

/* A listing that many share is put in order once for all. */
bool evzk__shared_list_answer(struct evzk__core *s, struct evzk__request *r,
                              const struct evzk__reply *reply)
{
    struct evzk__result res = *reply->res;
    struct evzk__reply same = *reply;
    struct evzk__ordered ordered = {0};
    bool alive;

    if (TAILQ_EMPTY(&r->joined))
        return true;
    res.names.ordered = &ordered;
    same.res = &res;
    alive = share(s, r, &same);
    evzk__ordered_free(&ordered);
    return alive;
}
