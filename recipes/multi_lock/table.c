/* Multi-locks: the locks of several paths, all of them or none.
 *
 *   TAKING --> HELD --> GIVING_BACK --> ENDED
 *    |  ^                ^
 *    v  |                |
 *   STARTING_OVER -------'
 *
 * TAKING      takes one part after another, in the order of their paths
 * GIVING_BACK, STARTING_OVER
 *             have asked all parts to go, and wait until all are proved gone
 *
 * A multi-lock sends no request of its own: its parts are locks (recipes/lock),
 * and each event of a lock is a user event here.
 *
 * Why no two of them wait for each other.  A multi-lock that waits for a part
 * has taken only parts before it in the order of all paths, and gives parts up
 * without waiting for others.  So among all that wait, the one that waits for
 * the last path waits for a holder that waits for nobody.
 *
 * How it can fail.  A part that was taken may be lost while another is waited
 * for.  To take it again then would break the order: all parts are given back,
 * and the first is the next one.
 */
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/multi_lock/multi_lock_internal.h"

enum { TAKING, STARTING_OVER, HELD, GIVING_BACK, ENDED, STATES };

void evzk__multi_lock_again(void *lock)
{
    struct evzk_multi_lock *p = lock;

    evzk__machine_ask(&p->m);
}

/* Entered again after every doubt: then all parts may stand. */
static void take(struct evzk__machine *m)
{
    struct multi_part *next = evzk__multi_lock_next(evzk__multi_lock_of(m));

    if (next && next->state == PART_NONE)
        evzk__multi_lock_begin(next);
    else
        evzk__machine_ask(m);
}

static int give_back_all(struct evzk_multi_lock *p, int rc)
{
    p->rc = p->leaves ? p->rc : rc;
    p->leaves = true;
    return evzk__machine_move(&p->m, GIVING_BACK);
}

/* May free the multi-lock. */
static bool tell_requeued(struct evzk_multi_lock *p)
{
    int rc = p->requeued;

    p->requeued = EVZK_OK;
    if (rc == EVZK_OK || p->leaves)
        return false;
    evzk__multi_lock_tell(p, EVZK_MULTI_LOCK_REQUEUED, rc);
    return true;
}

/* A part has failed, or was lost; or the user gives up. */
static int fall_back(struct evzk_multi_lock *p)
{
    if (p->leaves || p->failed != EVZK_OK)
        return give_back_all(p, p->failed);
    if (p->m.no_requeue)
        return give_back_all(p, p->lost);
    return evzk__machine_move(&p->m, STARTING_OVER);
}

static int taken(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);
    struct multi_part *next;

    if (e->type != EVZK__EV_USER)
        return EVZK_OK; /* Nothing was told that a doubt could change. */
    if (p->leaves || p->failed != EVZK_OK || p->lost != EVZK_OK)
        return fall_back(p);
    if (tell_requeued(p)) {
        evzk__machine_ask(m);
        return EVZK_OK;
    }
    next = evzk__multi_lock_next(p);
    if (next)
        return next->state == PART_NONE ? evzk__machine_again(m) : EVZK_OK;
    return evzk__multi_lock_stands(p) ? evzk__machine_move(m, HELD) : EVZK_OK;
}

/* Also when the session has ended: the parts hear of that, too. */
static void start_over(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    p->requeued = p->lost != EVZK_OK ? p->lost : m->event_rc;
    p->lost = EVZK_OK;
    evzk__multi_lock_give_up(p);
    evzk__machine_ask(m);
    tell_requeued(p);
}

static int started_over(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    (void)e;
    if (p->leaves || p->failed != EVZK_OK)
        return give_back_all(p, p->failed);
    if (!evzk__multi_lock_is_bare(p))
        return EVZK_OK;
    p->lost = p->requeued = EVZK_OK;
    p->blame = p->n_parts;
    return evzk__machine_move(m, TAKING);
}

static void grant(struct evzk_multi_lock *p)
{
    p->reported = MULTI_GRANTED;
    p->blame = p->n_parts;
    evzk__machine_end_doubt(&p->m); /* That of TAKING. */
    evzk__machine_no_deadline(&p->m);
    evzk__multi_lock_tell(p, EVZK_MULTI_LOCK_GRANTED, EVZK_OK);
}

static void resume(struct evzk_multi_lock *p)
{
    if (p->reported == MULTI_GRANTED && p->m.in_doubt &&
        evzk__multi_lock_stands(p) && evzk__machine_end_doubt(&p->m))
        evzk__multi_lock_tell(p, EVZK_MULTI_LOCK_RESUMED, EVZK_OK);
}

/* Entered again after every doubt. */
static void hold(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    if (evzk__multi_lock_granted(p))
        resume(p);
    else
        grant(p);
}

/* The end of the lease is the loss of each part, which tells so. */
static int still_held(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    if (e->type == EVZK__EV_SUSPENDED && e->first &&
        p->reported == MULTI_GRANTED)
        evzk__multi_lock_tell(p, EVZK_MULTI_LOCK_SUSPENDED, EVZK_OK);
    if (e->type != EVZK__EV_USER)
        return EVZK_OK;
    if (p->leaves)
        return evzk__machine_move(m, GIVING_BACK);
    resume(p);
    return EVZK_OK;
}

static void give_back(struct evzk__machine *m)
{
    evzk__multi_lock_give_up(evzk__multi_lock_of(m));
    evzk__machine_ask(m);
}

/* The server's refusal to delete a znode is the result, too. */
static int given_back(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    (void)e;
    if (!evzk__multi_lock_is_bare(p))
        return EVZK_OK;
    return evzk__machine_finish(m, p->failed != EVZK_OK ? p->failed : p->rc);
}

/* The end of the session proves that all parts are gone. */
static void end(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);
    bool proved = p->leaves && m->rc == EVZK_ERR_EXPIRED;

    evzk__multi_lock_tell_end(p, proved ? p->rc : m->rc);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state          entry       reaction      main         on stop  on expiry      flags */
ROW(TAKING,        take,       taken,        HELD,        ENDED,   STARTING_OVER, RETRY|HOLDS,
    ON(USER_EVENT, HELD, TAKING, STARTING_OVER, GIVING_BACK, HERE)),
ROW(STARTING_OVER, start_over, started_over, ASIDE,       ENDED,   STARTING_OVER, 0,
    ON(USER_EVENT, TAKING, GIVING_BACK, HERE)),
ROW(HELD,          hold,       still_held,   GIVING_BACK, ENDED,   ENDED,         RETRY|HOLDS,
    ON(USER_EVENT, GIVING_BACK, HERE)),
ROW(GIVING_BACK,   give_back,  given_back,   ENDED,       ENDED,   ENDED,         0,
    ON(USER_EVENT, ENDED, HERE)),
END(ENDED,         end),
};
/* clang-format on */

const struct evzk__kind evzk__multi_lock_kind = {
    .name = "multi-lock",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__multi_lock_on_deadline,
    .destroy = evzk__multi_lock_destroy,
    .detach = evzk__multi_lock_detach};
