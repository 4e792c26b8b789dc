/* The end of the object: LOST is told of each shard that was led, and
 * everything is freed.
 */
#include "recipes/shards/shards_internal.h"

/* All but the shards. */
static void stop_the_rest(struct evzk_shards *a)
{
    a->phase = EVZK__SHARDS_ENDED;
    evzk__resident_leave(&a->in_session);
    a->me = EVZK__NOBODY;
    evzk__shards_stop_planning(a);
    evzk__node_watch_free(a->plan_watch);
    evzk__node_watch_free(a->members_watch);
    evzk__write_once_free(a->ready_write);
    a->plan_watch = a->members_watch = NULL;
    a->ready_write = NULL;
    evzk__shards_drop_recipients(a);
    evzk_lock_free(a->member);
    a->member = NULL;
    evzk__timer_stop(a->step_timer);
    evzk__timer_stop(a->mend_timer);
    if (a->drain_timer)
        evzk__timer_stop(a->drain_timer);
}

void evzk__shards_stop(struct evzk_shards *a)
{
    stop_the_rest(a);
    for (uint32_t i = 0; i < a->count; i++)
        evzk__shard_forget(&a->shard[i]);
}

/* The session was closed, and no machine of this object has heard of it: each
 * has failed, and was to be tried again. */
void evzk__shards_closed(struct evzk__resident *r)
{
    evzk__shards_fail(evzk__container_of(r, struct evzk_shards, in_session),
                      EVZK_ERR_CLOSED);
}

/* LOST is told of each shard that was led, before FAILED.  The application may
 * free the shards at any of these. */
void evzk__shards_fail(struct evzk_shards *a, int rc)
{
    if (a->phase == EVZK__SHARDS_ENDED)
        return;
    stop_the_rest(a);
    for (uint32_t i = 0; i < a->count; i++) {
        struct shard *d = &a->shard[i];
        bool was = evzk__shard_held(d);
        uint64_t epoch = evzk_lock_token(d->l);

        evzk__shard_forget(d);
        if (was && !evzk__shard_tell_lost(d, epoch, rc))
            return;
    }
    evzk__shards_tell(a, EVZK_SHARDS_FAILED, rc);
}
