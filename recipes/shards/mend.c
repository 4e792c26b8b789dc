/* What is in trouble for a while: an ACL is in the way, or a server refuses.
 *
 * Nothing that others do to znodes is to end an object for good.  So who may
 * not read or write what it needs goes on with what it knows, says so in the
 * log and in its figures, and tries again every few seconds.
 *
 * Why it does not wait to be told: that an ACL has changed fires no watch, and
 * a read that is refused sets none.  And where a znode changes while it may not
 * be read, the server (3.8.0) takes its watches, and tells nobody: who knows of
 * no trouble at all would be deaf from then on.  So one timer runs: every few
 * seconds while something is in trouble, and else twice a minute, to look once
 * whether what is watched is as it was heard.
 */
#include "recipes/shards/shards_internal.h"

#include <string.h>

#include "lib/base/os.h"

static const char *const what[EVZK__TROUBLES] = {
    [EVZK__TROUBLE_MEMBER] = "the members before this one cannot be seen",
    [EVZK__TROUBLE_FOLLOW] = "the plan cannot be read",
    [EVZK__TROUBLE_PLANNER] = "the plan cannot be made for all"};

void evzk__shards_mend_later(struct evzk_shards *a)
{
    if (a->mending || a->ended)
        return;
    a->mending = true;
    evzk__timer_set(a->mend, EVZK__SHARDS_MEND_US);
}

void evzk__shards_troubled(struct evzk_shards *a, enum evzk__trouble which,
                           int rc)
{
    if (rc != EVZK_OK && rc != a->trouble[which])
        evzk__log(a->s, EVZK_LOG_WARN,
                  "shards %s: %s: %s; it is tried again every %d s", a->path,
                  what[which], evzk_errname(rc),
                  EVZK__SHARDS_MEND_US / 1000000);
    if (rc == EVZK_OK && a->trouble[which] != EVZK_OK)
        evzk__log(a->s, EVZK_LOG_INFO, "shards %s: no longer: %s", a->path,
                  what[which]);
    a->trouble[which] = rc;
    a->waits[which] = rc != EVZK_OK;
    if (rc != EVZK_OK)
        evzk__shards_mend_later(a);
}

/* Nobody before it makes the plans, as far as one can tell. */
static void look_if_alone(struct evzk_shards *a)
{
    if (a->unowned_at == 0 || a->me != EVZK__NOBODY || a->odd_at != 0)
        return;
    a->alone = evzk__now_us() - a->unowned_at >= EVZK__SHARDS_MEND_US;
    if (!a->alone)
        evzk__shards_mend_later(a);
}

/* What it follows it looks at, whatever was heard. */
static void look_at_all(struct evzk_shards *a)
{
    if (a->follow)
        evzk__follow_look(a->follow);
    if (a->planner)
        evzk__planner_look(a->planner);
    if (a->member)
        evzk__lock_try_again(a->member);
    evzk__takers_try_again(a);
}

/* Plans for another number have named it for long.  Whether one still does is
 * looked at now: it may have been mended while it could not be read. */
static void look_if_odd(struct evzk_shards *a)
{
    if (a->odd_at == 0 || a->planner)
        return;
    a->odd_asks = evzk__now_us() - a->odd_at >= EVZK__SHARDS_MEND_US;
    if (!a->odd_asks)
        evzk__shards_mend_later(a);
}

void evzk__shards_mend(void *arg)
{
    struct evzk_shards *a = arg;

    a->mending = false;
    evzk__timer_set(a->mend, EVZK__SHARDS_CALM_US);
    memset(a->waits, 0, sizeof a->waits);
    if (a->ended || evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return;
    for (uint32_t i = 0; i < a->count; i++)
        a->shard[i].failed = false;
    look_if_odd(a);
    look_if_alone(a);
    look_at_all(a);
    evzk__shards_begin_step(a);
}
