/* The calls on shards that have been joined (shards/join.c).  They check their
 * arguments, note the request, and begin the step (shards/step.c), which does
 * the work. */
#include "recipes/shards/shards_internal.h"

#include <string.h>

#include "lib/machine/refuse.h"

int evzk_shards_acknowledge(evzk_shards *a, uint32_t shard, const void *data,
                            size_t len)
{
    struct evzk__call call = evzk__call_of(a ? a->s : NULL, __func__);

    if (evzk__broken(&call, a, "shards", EVZK__NOT_NULL) ||
        evzk__broken(&call, shard < a->count, "shard",
                     "must be less than the count") ||
        evzk__broken_data(&call, data, len, EVZK_ELECTION_DATA_MAX))
        return EVZK_ERR_INVAL;
    if (evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return EVZK_ERR_FORKED;
    if (!a->shard[shard].l)
        return EVZK_ERR_STATE;
    return evzk__election_say(a->shard[shard].l, __func__, data, len);
}

static void too_late(void *arg)
{
    struct evzk_shards *a = arg;

    a->phase = EVZK__SHARDS_GIVING_UP;
    evzk__shards_begin_step(a);
}

int evzk_shards_drain(evzk_shards *a, uint32_t timeout_ms)
{
    if (!a)
        return EVZK_ERR_INVAL;
    if (a->phase != EVZK__SHARDS_ENDED &&
        evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return EVZK_ERR_FORKED;
    if (a->phase != EVZK__SHARDS_JOINED)
        return EVZK_ERR_STATE;
    if (timeout_ms > 0) {
        a->drain_timer = evzk__session_timer(a->s, too_late, a);
        if (!a->drain_timer)
            return EVZK_ERR_NOMEM;
        evzk__timer_set(a->drain_timer, timeout_ms * INT64_C(1000));
    }
    a->phase = EVZK__SHARDS_DRAINING;
    evzk__shards_stop_planning(a);
    if (a->member && evzk__lock_granted(a->member))
        evzk_lock_release(a->member);
    else
        evzk_lock_cancel(a->member);
    evzk__shards_begin_step(a);
    return EVZK_OK;
}

void evzk_shards_free(evzk_shards *a)
{
    if (!a)
        return;
    a->cb = NULL;
    evzk__shards_stop(a);
    if (a->calls_out == 0)
        evzk__shards_destroy(a);
}

bool evzk_shards_elected(const evzk_shards *a, uint32_t shard)
{
    return a && shard < a->count && evzk_lock_held(a->shard[shard].l);
}

bool evzk_shards_leading(const evzk_shards *a, uint32_t shard)
{
    return evzk_shards_elected(a, shard) && a->shard[shard].led;
}

uint64_t evzk_shards_epoch(const evzk_shards *a, uint32_t shard)
{
    const struct shard *d = a && shard < a->count ? &a->shard[shard] : NULL;

    if (!d)
        return 0;
    return d->l ? evzk_lock_token(d->l) : d->lost;
}

int evzk_shards_lease(evzk_shards *a, uint32_t shard, evzk_lease **out)
{
    struct evzk__call call = evzk__call_of(a ? a->s : NULL, __func__);

    if (evzk__broken(&call, a, "shards", EVZK__NOT_NULL) ||
        evzk__broken(&call, shard < a->count, "shard",
                     "must be less than the count") ||
        evzk__broken(&call, out, "out", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    if (evzk__may_begin(a->s) == EVZK_ERR_FORKED)
        return EVZK_ERR_FORKED;
    if (!a->shard[shard].l)
        return EVZK_ERR_STATE;
    return evzk__lock_lease(a->shard[shard].l, __func__, out);
}

static uint32_t planned(const struct evzk_shards *a, uint16_t member)
{
    uint32_t n = 0;

    for (uint32_t i = 0; a->plan.version > 0 && i < a->count; i++)
        n += a->plan.owner[i] == member;
    return n;
}

bool evzk_shards_member_at(const evzk_shards *a, uint32_t i,
                           evzk_shards_member *out)
{
    const struct evzk__member *m;

    if (!a || !out || i >= a->plan.n_members)
        return false;
    m = &a->plan.member[i];
    *out = (evzk_shards_member){.node = m->name,
                                .planned = planned(a, (uint16_t)i),
                                .self = evzk__shards_is_self(a, (uint16_t)i),
                                .data = m->data,
                                .data_len = m->len};
    return true;
}

/* Leaves `planned` out: counting it would need a look at all shards. */
bool evzk_shards_leader(const evzk_shards *a, uint32_t shard,
                        evzk_shards_member *out)
{
    const struct evzk__member *m;
    uint16_t i;

    if (!a || !out || shard >= a->count || a->plan.version == 0)
        return false;
    i = a->plan.owner[shard];
    if (i == EVZK__NOBODY)
        return false;
    m = &a->plan.member[i];
    *out = (evzk_shards_member){.node = m->name,
                                .self = evzk__shards_is_self(a, i),
                                .data = m->data,
                                .data_len = m->len};
    return true;
}

void evzk_shards_get_stats(const evzk_shards *a, evzk_shards_stats *out)
{
    if (!out)
        return;
    memset(out, 0, sizeof *out);
    if (!a)
        return;
    out->plan = a->plan.version;
    out->members = a->plan.n_members;
    out->planned = a->me == EVZK__NOBODY ? 0 : planned(a, a->me);
    out->elected = a->elected;
    out->leading = a->leading;
    out->nobodys = planned(a, EVZK__NOBODY);
    out->moves = a->moves;
    out->planner = a->planner != NULL;
    for (int i = 0; i < EVZK__TROUBLES && out->trouble == EVZK_OK; i++)
        out->trouble = a->trouble[i].rc;
}
