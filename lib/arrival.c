/* Creates mostly stay in the order in which they are sent.  Two things could
 * break it, and two queues see to that:
 *
 * back   One that finds its directory missing is sent anew, with it, when all
 *        that were sent with it have come back, too.
 * held   A directory that is made with its first contender may be there after
 *        all, and that one goes again: the others wait for what becomes of it.
 */
#include "arrival.h"

#include "queue.h"
#include "session.h"

enum { HELD_AT_ONCE = 4096 }; /* The rest in the next turn. */

static bool is_create(const struct evzk__request *r)
{
    return r->op == EVZK__CREATE_LIST;
}

static void set_back(struct evzk__request *r, bool back)
{
    r->dir->back = (uint16_t)(r->dir->back + back - r->back);
    r->back = back;
}

static void set_held(struct evzk__request *r, bool held)
{
    r->dir->held += (uint32_t)held - (uint32_t)r->held;
    r->held = held;
}

void evzk__arrival_asked(struct evzk__request *r)
{
    if (is_create(r))
        r->dir->coming++;
}

void evzk__arrival_over(struct evzk__request *r, bool made)
{
    if (!is_create(r))
        return;
    r->dir->coming--;
    if (!made)
        evzk__queue_emptied(r->dir);
}

void evzk__arrival_sent(struct evzk__request *r)
{
    if (!is_create(r))
        return;
    set_back(r, false);
    set_held(r, false);
}

void evzk__arrival_first(struct evzk__request *r)
{
    if (!is_create(r))
        return;
    set_back(r, r->dir->back > 0);
    set_held(r, !r->back && r->dir->held > 0);
}

void evzk__arrival_back(struct evzk__request *r) { set_back(r, true); }

bool evzk__arrival_in_turn(const struct evzk__request *r)
{
    if (r->back)
        return true;
    return r->dir->back == 0 && (r->held || r->dir->held == 0);
}

/* Is it known what becomes of those of ours that are on their way into it? They
 * come back when they find it missing; and who makes it may find it there. */
static bool settled(const struct evzk__dir *d)
{
    return !d->making && !(d->missing && d->creating > 0);
}

/* What is new goes behind those that were sent, and comes back behind them; but
 * it does not pass one that makes the directory, nor one that waits. */
struct evzk__request *evzk__arrival_next(evzk_session *s)
{
    struct evzk__requests *q = &s->requests;
    struct evzk__request_queue *queue = &q->queue[EVZK__CREATE_LIST];
    struct evzk__request *r = TAILQ_FIRST(&q->back);
    unsigned n = 0;

    if (r && settled(r->dir))
        return r;
    r = TAILQ_FIRST(&q->held);
    if (r && settled(r->dir) && evzk__arrival_in_turn(r))
        return r;
    while ((r = TAILQ_FIRST(queue)) != NULL &&
           (r->dir->making || !evzk__arrival_in_turn(r))) {
        TAILQ_REMOVE(queue, r, link);
        set_held(r, true);
        TAILQ_INSERT_TAIL(&q->held, r, link);
        if (++n == HELD_AT_ONCE) {
            s->more = true;
            return NULL;
        }
    }
    return r;
}

void evzk__arrival_take_held(evzk_session *s, const struct evzk__dir *d,
                             struct evzk__request_queue *out)
{
    struct evzk__request *r, *next;

    for (r = TAILQ_FIRST(&s->requests.held); r && d->held > 0; r = next) {
        next = TAILQ_NEXT(r, link);
        if (r->dir == d) {
            evzk__request_take(s, r);
            TAILQ_INSERT_TAIL(out, r, link);
        }
    }
}
