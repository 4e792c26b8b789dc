/* Tries again what is in trouble (shards/trouble.c), and looks now and then
 * whether all is as it was heard.
 *
 * Why it does not wait to be told: that an ACL has changed fires no watch, and
 * a read that is refused sets none.  And where a znode changes while it may not
 * be read, the server (3.8.0) takes its watches, and tells nobody: who knows of
 * no trouble at all would be deaf from then on.  So one timer runs: every few
 * seconds while something is in trouble, and else twice a minute, to look once
 * whether what is watched is as it was heard.
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

/* Nobody before it makes the plans, as far as one can tell. */
static void look_if_alone(struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY && !a->other_count.state)
        see_if_it_lasts(a, &a->behind_unowned);
}

/* What it follows it looks at, whatever was heard. */
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

/* Plans for another number have named it for long.  Whether one still does is
 * looked at now: it may have been mended while it could not be read. */
static void look_if_other_count(struct evzk_shards *a)
{
    if (!a->planner)
        see_if_it_lasts(a, &a->other_count);
}

void evzk__shards_mend(void *arg)
{
    struct evzk_shards *a = arg;

    a->mends_soon = false;
    evzk__timer_set(a->mend_timer, EVZK__SHARDS_CALM_US);
    for (int i = 0; i < EVZK__TROUBLES; i++)
        a->trouble[i].waits = false;
    if (a->phase == EVZK__SHARDS_ENDED ||
        evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return;
    for (uint32_t i = 0; i < a->count; i++)
        a->shard[i].refused = false;
    look_if_other_count(a);
    look_if_alone(a);
    look_at_all(a);
    evzk__shards_begin_step(a);
}
