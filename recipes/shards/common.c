/* Helpers of the other files of the shards: beginning the step, calling the
 * application back, paths, and which member this process is.
 */
#include "recipes/shards/shards_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"

void evzk__shards_begin_step(struct evzk_shards *a)
{
    a->next_shard = 0;
    if (a->phase != EVZK__SHARDS_ENDED)
        evzk__timer_set(a->step_timer, 0);
}

void evzk__shards_step_again(struct evzk_shards *a, int64_t delay_us)
{
    if (a->again_us == 0 || delay_us < a->again_us)
        a->again_us = delay_us;
}

void evzk__shard_print_path(const struct evzk_shards *a, uint32_t i, char *to)
{
    if (a->names)
        sprintf(to, "%s/" EVZK__SHARDS_TASK "%s", a->path, a->names[i]);
    else
        sprintf(to, "%s/" EVZK__SHARDS_SHARD "%" PRIu32, a->path, i);
}

struct evzk__shard_list evzk__shards_list(const struct evzk_shards *a)
{
    return (struct evzk__shard_list){.n = a->count, .names = a->self.names};
}

bool evzk__shards_is_self(const struct evzk_shards *a, uint16_t member)
{
    const char *name = a->plan.member[member].name;

    return strcmp(name, a->node) == 0 || strcmp(name, a->former_node) == 0;
}

/* The first member makes the plans.  So does a member behind a znode that no
 * session owns: that znode never goes by itself.  Should two members make
 * plans, each takes the other's plan for right if both have the same shards. So
 * the second one makes plans only when a plan names it, or no plan has for
 * long. */
bool evzk__shards_plans(const struct evzk_shards *a)
{
    if (!a->member || a->phase != EVZK__SHARDS_JOINED)
        return false;
    return evzk__lock_granted(a->member) ||
           (a->member->pred_unowned &&
            (a->me != EVZK__NOBODY ||
             a->behind_unowned.state == EVZK__LASTING));
}

void evzk__shards_stop_planning(struct evzk_shards *a)
{
    evzk__planner_free(a->planner);
    a->planner = NULL;
}

void evzk__shards_destroy(struct evzk_shards *a)
{
    evzk__resident_leave(&a->in_session);
    evzk__timer_free(a->step_timer);
    evzk__timer_free(a->drain_timer);
    evzk__timer_free(a->mend_timer);
    evzk__plan_free(&a->plan);
    evzk__free(a->path);
    evzk__free(a->members);
    evzk__free(a->names);
    evzk__free((void *)(uintptr_t)a->self.data);
    evzk__session_let_go(a->s);
    evzk__free(a);
}

/* ---- What is told ---- */

/* Ends are always told, other events only until the session is closed. */
static bool tells(const struct evzk_shards *a, bool final)
{
    return a->cb && (final || evzk__may_tell(a->s));
}

/* The application's callbacks run between these two: their time is not the
 * session's.  False: the application has freed the object. */
static int64_t call_out(struct evzk_shards *a)
{
    a->calls_out++;
    return evzk__machine_call_out(a->s);
}

static bool called(struct evzk_shards *a, int64_t begun)
{
    bool alive = a->cb != NULL;

    evzk__machine_called(a->s, begun);
    if (--a->calls_out == 0 && !alive)
        evzk__shards_destroy(a);
    return alive;
}

bool evzk__shards_tell(struct evzk_shards *a, evzk_shards_event ev, int rc)
{
    int64_t begun = call_out(a);

    if (tells(a, ev >= EVZK_SHARDS_DRAINED))
        a->cb(a, ev, rc, a->arg);
    return called(a, begun);
}

/* FAILED of a shard is no end: the member tries again. */
bool evzk__shard_tell(struct shard *d, evzk_election_event ev, int rc)
{
    struct evzk_shards *a = d->all;
    bool final = ev == EVZK_ELECTION_RESIGNED || ev == EVZK_ELECTION_LOST;
    int64_t begun = call_out(a);

    if (tells(a, final) && a->shard_cb)
        a->shard_cb(a, (uint32_t)(d - a->shard), ev, rc, a->arg);
    return called(a, begun);
}

bool evzk__shard_tell_lost(struct shard *d, uint64_t epoch, int rc)
{
    d->lost = epoch;
    if (!evzk__shard_tell(d, EVZK_ELECTION_LOST, rc))
        return false;
    d->lost = 0;
    return true;
}

void evzk__shards_note_left(struct evzk_shards *a, const evzk_lock *l,
                            evzk_lock_event ev, int rc)
{
    bool left = ev >= EVZK_LOCK_RELEASED && evzk__is_refusal(rc) &&
                (evzk_lock_node(l)[0] != '\0' || l->may_stand);

    if (rc == EVZK_ERR_EXPIRED)
        a->left_rc = EVZK_OK; /* All has gone with the session. */
    else if (left && a->phase != EVZK__SHARDS_JOINED && a->left_rc == EVZK_OK)
        a->left_rc = rc;
}
