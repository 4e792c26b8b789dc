/* Lifts a barrier: deletes its znode.
 *
 *   LOOKING --> LIFTING <--> SETTLING --> ENDED
 *    |  |          |                        ^
 *    |  `----------+------------------------+
 *    `-----> ROOTING -----------------------'
 *
 * When the znode does not exist, perhaps the session's chroot does not exist
 * either: ROOTING looks for the chroot.
 *
 * How it can fail.  A delete of unknown outcome must not be sent again before
 * it is known which znode stands: another process may have set the barrier
 * anew.  So LOOKING reads the czxid before the delete, and SETTLING reads it
 * again behind a write that changes nothing: then all that the session ever
 * sent has been done, or never will be.  Only the same znode is deleted a
 * second time: one lift deletes at most one znode.
 *
 * A delete cannot name a czxid.  Between the look and the delete another
 * process may lift the barrier and set it again: then the delete lifts that
 * later barrier, which was set during this call.
 */
#include "lib/machine/rows.h"
#include "recipes/barrier/barrier_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/rooted.h"

enum { LOOKING, ROOTING, LIFTING, SETTLING, ENDED, STATES };

static void look(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        {.verb = EVZK__STEP_EXISTS, .name = ""}};

    evzk__ask(m, steps, 2, 0);
}

static void lift(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        {.verb = EVZK__STEP_DELETE, .name = ""}};

    evzk__ask(m, steps, 1, 0);
}

/* The delete is refused, behind all that was sent before it. */
static void settle(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);

    b->steps[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = b->nobody};
    b->steps[1] = (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    evzk__ask(m, b->steps, 2, EVZK__EACH);
}

/* The znode of the first look, or of the first one that shows any, is the
 * barrier to lift. */
static int found(struct evzk__machine *m, const struct evzk__reply *reply)
{
    struct evzk_barrier *b = evzk__barrier_of(m);

    if (reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_OK);
    if (reply->rc != EVZK_OK)
        return reply->rc;
    if (b->czxid == 0)
        b->czxid = reply->res->stat.czxid;
    if (b->czxid != reply->res->stat.czxid)
        return evzk__machine_finish(m, EVZK_OK);
    return evzk__machine_move(m, LIFTING);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (e->reply->rc == EVZK_ERR_NONODE && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    return found(m, e->reply);
}

static int lifted(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->reply->rc) {
    case EVZK_OK:
    case EVZK_ERR_NONODE:
        return evzk__machine_finish(m, EVZK_OK);
    case EVZK_ERR_CONNLOSS:
        return evzk__machine_move(m, SETTLING);
    default:
        return e->reply->rc;
    }
}

/* Another barrier stands: the one to lift is gone, whatever was refused. */
static bool is_another(struct evzk__machine *m, const struct evzk__reply *reply)
{
    int64_t czxid = evzk__barrier_of(m)->czxid;

    return reply->rc == EVZK_OK && czxid != 0 && reply->res->stat.czxid > czxid;
}

static int settled(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *reply = e->reply;

    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc == EVZK_ERR_SERVER && !is_another(m, reply))
        return evzk__machine_refused(m, reply);
    return found(m, reply);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry              reaction              main     on stop  on expiry  flags */
ROW(LOOKING,  look,              looked,               LIFTING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY, LIFTING, ROOTING, ENDED, FAIL)),
ROW(ROOTING,  evzk__look_chroot, evzk__rooted,         ASIDE,   ENDED,   LOOKING,   RETRY,
    ON(REPLY, ENDED, FAIL)),
ROW(LIFTING,  lift,              lifted,               ENDED,   ENDED,   LOOKING,   NOTHING_SENT,
    ON(REPLY, ENDED, SETTLING, FAIL)),
ROW(SETTLING, settle,            settled,              ASIDE,   ENDED,   LOOKING,   RETRY|NOTHING_SENT|SIGHTS,
    ON(REPLY, LIFTING, ENDED, HERE, FAIL)),
END(ENDED,    evzk__barrier_end),
};
/* clang-format on */

const struct evzk__kind evzk__barrier_lift_kind = {
    .name = "barrier-lift",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__barrier_on_deadline,
    .on_stop = evzk__barrier_on_stop,
    .destroy = evzk__barrier_destroy};
