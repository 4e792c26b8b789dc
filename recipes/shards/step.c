/* Many elections as one object.
 *
 * Each process has a member, which stands in an election of members.  The first
 * member makes the plan (shards/planner.c), and all members follow it.  A
 * member has a candidate in the election of each shard that the plan gives it.
 * When all of them stand, the member writes "ready" into its own znode.  A
 * member that leads a shard which the plan gives to another goes on until that
 * member is ready: then the other's candidate stands right behind, and is
 * elected as soon as the leader's znode has gone.  Only a member that hands
 * over to another watches the other's znode.
 *
 * "Ready" names the plan by the zxid of the transaction that wrote it.  The
 * servers give a zxid once.  The number in a plan can be forged, and comes
 * again after the greatest one: what a member said of an older plan would
 * count.
 *
 * One step does all this: evzk__shards_step() compares each shard with the
 * plan, and begins or ends a limited number of candidates at a time.  Whatever
 * happens begins the step again from the first shard.
 *
 * How it can fail.  Whatever the plan says, only the first candidate of its
 * election leads a shard.  A member that has died has no shards any more: the
 * next plan gives them to others.  A member that is frozen is not ready, and
 * another goes on leading its shards.  A member that may not read or write a
 * znode waits until it may: see shards/mend.c.
 */
#include "recipes/shards/shards_internal.h"

enum {
    STEP = 128 /* Candidates begun or ended at a time. */
};

static void planner_told(void *arg, int rc, bool over)
{
    struct evzk_shards *a = arg;

    if (over)
        evzk__shards_stop_planning(a);
    if (over && rc == EVZK_ERR_INTERNAL)
        evzk__shards_fail(a, rc);
    else if (rc != EVZK_ERR_CLOSED) /* The member hears of that, too. */
        evzk__shards_troubled(a, EVZK__TROUBLE_PLANNER, rc);
}

static void plan_from_now(struct evzk_shards *a)
{
    struct evzk__shard_list shards;

    if (a->planner || a->trouble[EVZK__TROUBLE_PLANNER].waits > 0)
        return;
    shards = evzk__shards_list(a);
    if (evzk__planner_start(a->s, a->path, &shards, &a->plan, planner_told, a,
                            &a->planner) != EVZK_OK)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
}

/* ---- The step ---- */

static bool is_ours(const struct evzk_shards *a, uint32_t i)
{
    return a->me != EVZK__NOBODY && a->phase == EVZK__SHARDS_JOINED &&
           a->plan.owner[i] == a->me;
}

/* Begins or ends what makes one shard as the plan has it, and counts that in
 * *n.  False: the application has freed the shards. */
static bool put_right(struct evzk_shards *a, uint32_t i, unsigned *n)
{
    struct shard *d = &a->shard[i];

    if (is_ours(a, i)) {
        if (!d->l && d->refused == SHARD_TRIED) {
            evzk__shard_start(a, i);
            ++*n;
        } else
            evzk__shard_say(d);
        return true;
    }
    if (!d->l || !evzk__shard_may_go(a, i))
        return true;
    *n += !evzk__shard_leaves(d);
    return evzk__shard_let_go(d);
}

/* The application may free the shards. */
static void said_so(void *arg, int rc)
{
    struct evzk_shards *a = arg;

    evzk__write_once_free(a->ready_write);
    a->ready_write = NULL;
    if (rc != EVZK_OK)
        a->ready_for =
            0; /* Our znode has gone: then there will be another plan. */
    if (rc == EVZK_OK)
        evzk__shards_begin_step(a); /* There may be a later plan. */
    else if (rc == EVZK_ERR_TOOLARGE)
        evzk__shards_fail(a, rc);
    else if (rc != EVZK_ERR_NONODE)
        evzk__shards_mend_soon(a);
}

/* Its candidates stand for all shards that the plan gives it: the members that
 * lead these may hand them over. */
static bool is_ready(const struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY || a->phase != EVZK__SHARDS_JOINED ||
        a->unplaced > 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct shard *d = &a->shard[i];

        if (is_ours(a, i) && (!d->placed || evzk__shard_leaves(d)))
            return false;
    }
    return true;
}

static void say_ready(struct evzk_shards *a)
{
    char text[64 + EVZK__PLAN_DATA];
    int n;

    if (a->ready_write || a->ready_for == a->plan_zxid || !is_ready(a))
        return;
    n = evzk__member_print(text, sizeof text, &a->self, a->plan_zxid);
    if (evzk__write_once(a->s, a->members, a->node, text, (size_t)n, said_so, a,
                         &a->ready_write) == EVZK_OK)
        a->ready_for = a->plan_zxid;
    else
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
}

/* This member leads all shards that the plan gives it, and has no other
 * candidate.  A plan may name both its znode and its former one: the shards of
 * the former one are not led, so it is not balanced until the next plan. */
static bool is_balanced(const struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY || a->candidates != a->leading ||
        a->resigning > 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        uint16_t to = a->plan.owner[i];
        bool ours = to != EVZK__NOBODY && evzk__shards_is_self(a, to);

        if (ours != a->shard[i].led)
            return false;
    }
    return true;
}

/* In a closed session nothing is proved gone. */
static void drained(struct evzk_shards *a)
{
    int rc = evzk__may_begin(a->s);

    if (rc != EVZK_OK) {
        evzk__shards_fail(a, rc);
        return;
    }
    if (a->left_rc == EVZK_OK) /* Of a candidate that failed before. */
        a->left_rc = evzk__unproved_below(a->s, a->path);
    evzk__shards_stop(a);
    evzk__shards_tell(a, EVZK_SHARDS_DRAINED, a->left_rc);
}

/* The member stands again, where it had no memory or was refused.  False: the
 * object has ended. */
static bool find_again(struct evzk_shards *a)
{
    int rc;

    if (a->member || a->phase != EVZK__SHARDS_JOINED ||
        a->trouble[EVZK__TROUBLE_MEMBER].waits > 0)
        return true;
    rc = evzk__shards_stand(a);
    if (rc == EVZK_ERR_NOMEM)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
    if (rc == EVZK_OK || rc == EVZK_ERR_NOMEM)
        return true;
    evzk__shards_fail(a, rc);
    return false;
}

static void again_unless(struct evzk_shards *a, int rc)
{
    if (rc != EVZK_OK)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
}

static void watch_what_is_missing(struct evzk_shards *a)
{
    if (!a->plan_watch && a->trouble[EVZK__TROUBLE_PLAN].waits == 0)
        again_unless(a, evzk__shards_watch_plan(a));
    if (a->phase == EVZK__SHARDS_DRAINING && !a->member && !a->members_watch &&
        a->trouble[EVZK__TROUBLE_MEMBER].waits == 0)
        again_unless(a, evzk__shards_watch_members(a));
}

static void begin_again_later(struct evzk_shards *a)
{
    if (a->again_us) {
        a->next_shard = 0;
        evzk__timer_set(a->step_timer, a->again_us);
    }
    a->again_us = 0;
}

/* The step has looked at all shards. */
static void settle(struct evzk_shards *a)
{
    if (a->phase != EVZK__SHARDS_JOINED && a->candidates == 0 && !a->member) {
        drained(a);
        return;
    }
    if (!find_again(a))
        return;
    if (evzk__shards_plans(a))
        plan_from_now(a);
    watch_what_is_missing(a);
    say_ready(a);
    begin_again_later(a);
    if (!a->balanced_told && a->phase == EVZK__SHARDS_JOINED &&
        is_balanced(a)) {
        a->balanced_told = true;
        evzk__shards_tell(a, EVZK_SHARDS_BALANCED, EVZK_OK);
    }
}

void evzk__shards_step(void *arg)
{
    struct evzk_shards *a = arg;
    unsigned n = 0;

    if (a->phase == EVZK__SHARDS_ENDED ||
        evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return;
    while (a->next_shard < a->count && n < STEP) {
        if (!put_right(a, a->next_shard++, &n))
            return;
    }
    if (a->next_shard < a->count)
        evzk__timer_set(a->step_timer, 0);
    else
        settle(a);
}
