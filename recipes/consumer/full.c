/* A quota is used up: the servers let nobody make a znode, but a delete is
 * never refused.
 *
 *   FULL <--> what was refused
 *
 * The consumer goes on: what it could not make it tries to make again, after a
 * while, and whenever it has deleted something.  So those who can still take,
 * finish or give back empty the queue, and nobody ends.  Its turn is over: the
 * znode of a turn counts, too.  The log says so once, until something could be
 * made again.
 *
 * How it can fail.  The user may close the consumer, or the session may end, at
 * any time; what is to be finished or given back is so, meanwhile. */
#include "lib/base/os.h"
#include "recipes/consumer/consumer_internal.h"

enum { FULL_US = 1000000 };

static void say(struct evzk_consumer *c)
{
    if (c->full_told)
        return;
    c->full_told = true;
    evzk__log(evzk__machine_session(&c->m), EVZK_LOG_WARN,
              "consumer %s: a quota is used up: nothing can be taken until it "
              "is raised, or something is deleted",
              c->path);
}

/* Without a receipt nothing can be given back: claims go with the session. */
static int close(struct evzk_consumer *c, int to)
{
    if (to == RENEWING)
        return evzk__machine_finish(&c->m, c->m.rc);
    c->outlaw = c->outlaw || to == REGISTERING;
    return evzk__machine_move(&c->m, CLOSING);
}

int evzk__consumer_full(struct evzk_consumer *c, int to)
{
    say(c);
    evzk__turn_end(c);
    c->turn_rc = EVZK_OK;
    if (c->m.stopping)
        return close(c, to);
    c->full_to = to;
    c->full_until_us = evzk__now_us() + FULL_US;
    return evzk__machine_move(&c->m, FULL);
}

/* Entered again when a doubt is over. */
void evzk__consumer_wait_full(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    int64_t wait_us = c->full_until_us - evzk__now_us();

    evzk__timer_set(c->again, wait_us > 0 ? wait_us : 1);
}

static bool is_to_delete(const struct evzk_consumer *c)
{
    return c->full_to == IDLE &&
           c->n_finishing + c->n_returning + c->n_doubted > 0;
}

int evzk__consumer_waited_full(struct evzk__machine *m,
                               const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_USER)
        evzk__consumer_doubted(c, e);
    if (e->type == EVZK__EV_SUSPENDED ||
        (!is_to_delete(c) && evzk__now_us() < c->full_until_us))
        return EVZK_OK;
    return evzk__machine_move(m, c->full_to);
}
