/* Tries failed operations again (shards/trouble.c), and reads the watched
 * znodes again, every few seconds while something is in trouble.
 *
 * No watch would do: a change of an ACL fires none.  A member that knows of no
 * trouble relies on the session's looks at what is watched (machine/rounds.h).
 */
#include "recipes/shards/shards_internal.h"

#include "lib/base/os.h"

static void see_if_it_lasts(struct evzk_shards *a, struct evzk__suspicion *of)
{
    if (!of->state)
        return;
    if (evzk__now_us() - of->since >= EVZK__SHARDS_MEND_US)
        of->state = EVZK__LASTING;
    else
        evzk__shards_mend_soon(a);
}

/* Called when no member before this one seems to make the plans. */
static void look_if_alone(struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY && !a->other_shards.state)
        see_if_it_lasts(a, &a->behind_unowned);
}

/* Is it time now to try again what was in trouble? */
static bool is_due(struct evzk_shards *a, enum evzk__trouble which)
{
    unsigned *waits = &a->trouble[which].waits;

    if (*waits == 0)
        return false;
    if (--*waits > 0)
        evzk__shards_mend_soon(a);
    return *waits == 0;
}

/* Reads all watched znodes again; but while the object rests, since servers
 * hang up at something, only what is due by itself: the servers may hang up at
 * each part of it. */
static void look_again(struct evzk_shards *a)
{
    bool due[EVZK__TROUBLES], rests = false;

    for (int i = 0; i < EVZK__TROUBLES; i++) {
        due[i] = is_due(a, (enum evzk__trouble)i);
        rests = rests || a->trouble[i].waits > 0;
    }
    if (a->plan_watch && (!rests || due[EVZK__TROUBLE_PLAN]))
        evzk__node_watch_look(a->plan_watch);
    if (a->planner)
        evzk__planner_look(a->planner);
    if (a->member && (!rests || due[EVZK__TROUBLE_MEMBER]))
        evzk__lock_try_again(a->member);
    if (!rests)
        evzk__recipients_look_again(a);
}

/* Plans for other shards have named this member for long.  The plan is read
 * now: it may have been mended while it could not be read. */
static void look_if_other_shards(struct evzk_shards *a)
{
    if (!a->planner)
        see_if_it_lasts(a, &a->other_shards);
}

void evzk__shards_mend(void *arg)
{
    struct evzk_shards *a = arg;

    a->mends_soon = false;
    if (a->phase == EVZK__SHARDS_ENDED ||
        evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->shard[i].refused == SHARD_REFUSED)
            a->shard[i].refused = SHARD_TRIED;
    }
    look_if_other_shards(a);
    look_if_alone(a);
    look_again(a);
    evzk__shards_begin_step(a);
}
