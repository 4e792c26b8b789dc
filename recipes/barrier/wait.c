/* Waits until a barrier does not stand.
 *
 *   LOOKING <--> WAITING --> ENDED
 *      |                      ^
 *      `-----> ROOTING -------'
 *
 * If the znode does not exist, the chroot may not exist either: then no barrier
 * can be set, which is an error.  ROOTING finds out.
 *
 * How it can fail.
 *
 * - A server may be behind the ensemble's leader, and show no barrier where one
 *   was set before the call: so a sync goes before each look.
 * - While the connection is lost the barrier may be lifted and set again.  A
 *   znode with another czxid is another barrier: the first one was lifted.
 * - All waits of a session share one watch on the server.  So an event may come
 *   while the look of a new wait is on its way: it tells of a barrier that was
 *   lifted before that wait was called.  An event that comes before the answer
 *   to the look proves nothing, and the wait looks again.
 * - A server does not tell a session of the end of a znode that the session may
 *   not read.  So the look is a get, which is refused then: the wait fails at
 *   once, where an exists would wait for ever.
 */
#include "lib/machine/rows.h"
#include "recipes/barrier/barrier_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/rooted.h"

enum { LOOKING, ROOTING, WAITING, ENDED, STATES };

static void look(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        {.verb = EVZK__STEP_GET, .name = "", .watch = EVZK__WITH(EVZK__OWN)}};

    evzk__ask(m, steps, 2, 0);
}

/* Does another barrier stand than the first one that was seen? */
static bool is_another(struct evzk_barrier *b, int64_t czxid)
{
    if (b->czxid == 0)
        b->czxid = czxid;
    return b->czxid != czxid;
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (reply->rc == EVZK_ERR_NONODE && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    if (reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_OK);
    if (reply->rc != EVZK_OK)
        return reply->rc;
    if (is_another(b, reply->res->stat.czxid))
        return evzk__machine_finish(m, EVZK_OK);
    b->fired_early = evzk__watch_fires(m, EVZK__OWN);
    return evzk__machine_move(m, WAITING);
}

/* Looks again when the watch is missing: it went with the connection. */
static void wait_for_lift(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, EVZK__OWN))
        evzk__machine_move(m, LOOKING);
}

static int waited(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_DELETED && !evzk__barrier_of(m)->fired_early)
        return evzk__machine_finish(m, EVZK_OK);
    return evzk__machine_move(m, LOOKING); /* Or the znode's data changed. */
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state    entry              reaction              main     on stop  on expiry  flags */
ROW(LOOKING, look,              looked,               WAITING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,       WAITING, ROOTING, ENDED, FAIL)),
ROW(ROOTING, evzk__look_chroot, evzk__rooted,         ASIDE,   ENDED,   LOOKING,   RETRY,
    ON(REPLY,       ENDED, FAIL)),
ROW(WAITING, wait_for_lift,     waited,               ENDED,   ENDED,   LOOKING,   RETRY,
    ON(ENTRY,       LOOKING),
    ON(OWN_DELETED, ENDED, LOOKING),
    ON(OWN_CHANGED, LOOKING),
    ON(EXPIRED,     NEVER)),
END(ENDED,   evzk__barrier_end),
};
/* clang-format on */

const struct evzk__kind evzk__barrier_wait_kind = {
    .name = "barrier-wait",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__barrier_on_deadline,
    .on_stop = evzk__barrier_on_stop,
    .destroy = evzk__barrier_destroy};
