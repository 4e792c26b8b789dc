/* The order in which one session's contenders come into a directory: the
 * contender that asks first gets the lowest number.
 *
 * Each directory has a line: the contenders that have no place in it yet, in
 * the order in which they asked.  A contender leaves the line while its create
 * is on its way to the server.  When the create fails, the contender takes up
 * its old position again, and keeps it until it has a znode, or ends: while its
 * create is sent anew, while parents are made, while the outcome is unknown.
 * Only the first of a line may be sent, so no other contender passes it
 * meanwhile.
 *
 * Creates that are sent one after another arrive in that order.  But if the
 * directory is missing, the first create fails; and if another session makes
 * the directory right then, the second create succeeds.  So a second create is
 * sent while the first is on its way only if a contender of ours has a znode in
 * the directory, which keeps the directory from being deleted.
 *
 * How it can fail: another client deletes both that contender's znode and the
 * directory, and a third session makes the directory, all between the arrival
 * of two creates.
 */
#include "lib/request/create_order.h"

#include "lib/request/core.h"
#include "lib/request/own_queue.h"
#include "lib/request/suspect.h"

enum { PARKED_AT_ONCE = 4096 }; /* The rest in the next turn. */

/* In the line `seq` is the contender's ticket. */
static int compare(const struct evzk__place *a, const struct evzk__place *b)
{
    int32_t ahead = (int32_t)((uint32_t)a->seq - (uint32_t)b->seq);

    return (ahead > 0) - (ahead < 0);
}

RB_GENERATE_INTERNAL(evzk__line, evzk__place, node, compare,
                     __attribute__((unused)) static)

static bool is_create(const struct evzk__request *r)
{
    return r->op == EVZK__CREATE_LIST;
}

static void join(struct evzk__place *p)
{
    p->where = EVZK__IN_LINE;
    RB_INSERT(evzk__line, &p->dir->line, p);
}

static void leave(struct evzk__place *p)
{
    if (p->where != EVZK__IN_LINE)
        return;
    RB_REMOVE(evzk__line, &p->dir->line, p);
    p->where = EVZK__NOWHERE;
}

static bool is_first(const struct evzk__place *p)
{
    return p->where == EVZK__IN_LINE && RB_MIN(evzk__line, &p->dir->line) == p;
}

bool evzk__create_order_is_first(const struct evzk__request *r)
{
    return is_first(evzk__place_of((struct evzk__request *)(uintptr_t)r));
}

/* May its create be sent now? */
static bool may_go(const struct evzk__place *p)
{
    const struct evzk__dir *d = p->dir;

    return is_first(p) &&
           (d->creating == 0 || (!d->alone && evzk__queue_keeps_dir(d)));
}

/* Puts the first of a line into the session's queue, if it may be sent.  So
 * those behind it cost nothing while they wait. */
static void step(struct evzk__core *s, struct evzk__dir *d)
{
    struct evzk__place *p = RB_MIN(evzk__line, &d->line);
    struct evzk__request *r = p ? &p->req : NULL;

    if (!r || !r->parked || !may_go(p))
        return;
    r->parked = false;
    if (evzk__is_suspect(r))
        evzk__suspect_hold(s, r);
    else if (r->back)
        TAILQ_INSERT_TAIL(&s->requests.back, r, link);
    else if (r->tries > 0)
        TAILQ_INSERT_HEAD(&s->requests.queue[EVZK__CREATE_LIST], r, link);
    else
        TAILQ_INSERT_TAIL(&s->requests.queue[EVZK__CREATE_LIST], r, link);
}

void evzk__create_order_asked(struct evzk__request *r)
{
    if (is_create(r))
        r->dir->coming++;
}

void evzk__create_order_over(struct evzk__request *r, bool made)
{
    if (!is_create(r))
        return;
    r->dir->coming--;
    if (!made)
        evzk__queue_emptied(r->dir);
}

void evzk__create_order_wait(struct evzk__core *s, struct evzk__request *r)
{
    struct evzk__place *p = evzk__place_of(r);

    if (p->where != EVZK__IN_LINE) { /* Asks for the first time, or anew. */
        p->seq = (int32_t)s->requests.tickets++;
        join(p);
    }
    r->parked = true;
    step(s, p->dir);
}

/* A transaction may be refused for another that goes with it. */
void evzk__create_order_sent(struct evzk__core *s, struct evzk__request *r,
                             bool transaction)
{
    struct evzk__place *p = evzk__place_of(r);

    if (!is_create(r))
        return;
    leave(p);
    p->dir->creating++;
    p->dir->alone = p->dir->alone || transaction;
    p->dir->tried = s->requests.tickets;
    step(s, p->dir);
}

void evzk__create_order_back(struct evzk__core *s, struct evzk__request *r,
                             bool made)
{
    struct evzk__place *p = evzk__place_of(r);
    struct evzk__dir *d = r->dir;

    if (!is_create(r))
        return;
    d->creating--;
    if (!made && !p->ended)
        join(p);
    d->alone = d->creating > 0 && (d->alone || !made);
    step(s, d);
}

void evzk__create_order_left(struct evzk__place *p)
{
    if (p->where != EVZK__IN_LINE)
        return;
    leave(p);
    step(p->s, p->dir);
}

/* The next of a queue that may be sent; others wait in their line again. */
static struct evzk__request *next_of(struct evzk__core *s,
                                     struct evzk__request_queue *queue,
                                     unsigned *parked)
{
    struct evzk__request *r;

    while ((r = TAILQ_FIRST(queue)) != NULL && !may_go(evzk__place_of(r))) {
        if (++*parked > PARKED_AT_ONCE) {
            s->more = true;
            return NULL;
        }
        TAILQ_REMOVE(queue, r, link);
        r->parked = true;
    }
    return r;
}

struct evzk__request *evzk__create_order_next(struct evzk__core *s)
{
    unsigned parked = 0;
    struct evzk__request *r = next_of(s, &s->requests.back, &parked);

    if (!r && parked <= PARKED_AT_ONCE)
        r = next_of(s, &s->requests.queue[EVZK__CREATE_LIST], &parked);
    return r;
}

/* Is this an answer about the directory, the same for every contender? */
static bool is_of_dir(const struct evzk__request *r, int rc)
{
    return (is_create(r) || r->op == EVZK__PARENTS) &&
           (rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_NOCHROOT ||
            rc == EVZK_ERR_EPHEMERAL);
}

/* A contender that asked after the first @tried ones may know better: the
 * session may have got other credentials in between. */
struct evzk__request *evzk__create_order_like(const struct evzk__request *r,
                                              int rc, uint32_t tried)
{
    struct evzk__place *p;

    if (!is_of_dir(r, rc))
        return NULL;
    RB_FOREACH(p, evzk__line, &r->dir->line)
    {
        if ((int32_t)((uint32_t)p->seq - tried) >= 0)
            return NULL;
        if (is_create(&p->req) && p->req.state == EVZK__QUEUED)
            return &p->req;
    }
    return NULL;
}
