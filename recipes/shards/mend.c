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

/* Reads all watched znodes again. */
static void look_at_all(struct evzk_shards *a)
{
    if (a->plan_watch)
        evzk__node_watch_look(a->plan_watch);
    if (a->planner)
        evzk__planner_look(a->planner);
    if (a->member)
        evzk__lock_try_again(a->member);
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
    for (int i = 0; i < EVZK__TROUBLES; i++) {
        if (a->trouble[i].waits > 0 && --a->trouble[i].waits > 0)
            evzk__shards_mend_soon(a);
    }
    if (a->phase == EVZK__SHARDS_ENDED ||
        evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->shard[i].refused == SHARD_REFUSED)
            a->shard[i].refused = SHARD_TRIED;
    }
    look_if_other_shards(a);
    look_if_alone(a);
    look_at_all(a);
    evzk__shards_begin_step(a);
}
