/* Those to whom shards go: whether they stand ready, and how many they take.
 *
 * Who is to take a shard says so when it stands in all that the plan gives it:
 * its member's znode is followed.  Then it is given one, and, when that is led
 * again, two, and so on, up to so many at a time.  So one that is slow has few
 * to take at once, and each is led by nobody for as short a time as it can do;
 * and one that cannot lead at all gets one to begin with.
 *
 * How it can fail.  A taker that has gone is not ready, and the next plan knows
 * another.  One that does not take what it was given may be frozen, or its
 * `leader` refused: it is given one more after a time, since the plan is what
 * holds, and then begins again with one.
 */
#include "recipes/shards/shards_internal.h"

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "recipes/kinds.h"

struct recipient {
    LIST_ENTRY(recipient) link;
    struct evzk_shards *all;
    struct evzk__node_watch *watch;        /* Owned; of its member's znode. */
    struct evzk__node_watch *leader_watch; /* Owned; of `leader` of `last`. */
    uint64_t ready;                        /* For the plan of this zxid. */
    int64_t until;        /* Nothing more is given, but see above. */
    uint32_t last;        /* Shard that it was given, of a full round. */
    uint16_t member;      /* Of the present plan. */
    uint16_t given, most; /* In this round, and at most. */
    bool free_to_take;    /* The last one: we have left it. */
};

void evzk__shards_drop_recipients(struct evzk_shards *a)
{
    struct recipient *r;

    while ((r = LIST_FIRST(&a->recipients)) != NULL) {
        LIST_REMOVE(r, link);
        evzk__node_watch_free(r->watch);
        evzk__node_watch_free(r->leader_watch);
        evzk__free(r);
    }
}

static void recipient_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct recipient *r = arg;
    struct evzk__member m;
    uint64_t ready;

    r->ready = 0;
    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE) { /* It may not be read. */
        evzk__node_watch_free(r->watch);
        r->watch = NULL;
        evzk__shards_mend_soon(r->all);
        return;
    }
    if (rc != EVZK_OK || !evzk__member_parse(&m, &ready, res->data, res->len))
        return; /* It has gone: the next plan knows another. */
    r->ready = ready;
    evzk__shards_begin_step(r->all);
}

static struct recipient *find(const struct evzk_shards *a, uint16_t member)
{
    struct recipient *r;

    LIST_FOREACH(r, &a->recipients, link)
    {
        if (r->member == member)
            return r;
    }
    return NULL;
}

static bool watch(struct recipient *r)
{
    struct evzk_shards *a = r->all;
    bool begun =
        evzk__watch_node(a->s, a->members, a->plan.member[r->member].name,
                         recipient_heard, r, &r->watch) == EVZK_OK;

    if (!begun)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
    return begun;
}

void evzk__recipients_look_again(struct evzk_shards *a)
{
    struct recipient *r;

    LIST_FOREACH(r, &a->recipients, link)
    {
        if (r->watch && r->ready != a->plan_zxid)
            evzk__node_watch_look(r->watch);
        else if (!r->watch && !watch(r))
            evzk__shards_mend_soon(a);
    }
}

/* NULL: nothing is known of it yet. */
static struct recipient *recipient_of(struct evzk_shards *a, uint16_t member)
{
    struct recipient *r = find(a, member);

    if (r)
        return r;
    r = evzk__zalloc(sizeof *r);
    if (!r) {
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
        return NULL;
    }
    r->all = a;
    r->member = member;
    r->most = 1;
    if (!watch(r)) {
        evzk__free(r);
        return NULL;
    }
    LIST_INSERT_HEAD(&a->recipients, r, link);
    return r;
}

/* ---- How many it takes ---- */

static void next_round(struct recipient *r)
{
    evzk__node_watch_free(r->leader_watch);
    r->leader_watch = NULL;
    r->free_to_take = false;
    r->given = 0;
    if (r->most < EVZK__LEAVING)
        r->most *= 2;
}

/* What is there is not ours, which has gone. */
static void last_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct recipient *r = arg;

    (void)res;
    if (rc == EVZK_ERR_NONODE)
        return; /* Not yet. */
    next_round(r);
    evzk__shards_begin_step(r->all);
}

static void watch_last(struct recipient *r)
{
    struct evzk_shards *a = r->all;
    char path[EVZK__PATH_MAX + 1]; /* See broken_path() in calls.c. */

    evzk__shard_print_path(a, r->last, path);
    if (evzk__watch_node(a->s, path, EVZK__LEADER, last_heard, r,
                         &r->leader_watch) != EVZK_OK)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
}

static bool takes_more(struct recipient *r)
{
    if (r->given == r->most && evzk__now_us() >= r->until) {
        next_round(r);
        r->most = 1; /* It may be frozen. */
    }
    if (r->given < r->most)
        return true;
    if (r->free_to_take && !r->leader_watch)
        watch_last(r);
    evzk__shards_step_again(r->all, EVZK__RECIPIENT_PATIENCE_US);
    return false;
}

/* NULL: it goes to nobody whom we wait for. */
static struct recipient *recipient_to(const struct shard *d)
{
    const struct evzk_shards *a = d->all;

    if (a->plan.version == 0 || a->phase >= EVZK__SHARDS_GIVING_UP)
        return NULL;
    return find(a, a->plan.owner[d - a->shard]);
}

bool evzk__shard_has_recipient(const struct shard *d)
{
    return recipient_to(d) != NULL;
}

/* Where leaders acknowledge by hand, how long that takes says nothing. */
void evzk__recipient_given(struct shard *d)
{
    struct recipient *r = recipient_to(d);

    if (!r || d->all->acknowledge || r->given == r->most ||
        ++r->given < r->most)
        return;
    r->last = (uint32_t)(d - d->all->shard);
    r->until = evzk__now_us() + EVZK__RECIPIENT_PATIENCE_US;
}

void evzk__recipient_free_to_take(struct shard *d)
{
    struct recipient *r = recipient_to(d);

    if (r && r->given == r->most && r->last == (uint32_t)(d - d->all->shard))
        r->free_to_take = true;
}

bool evzk__shard_may_go(struct evzk_shards *a, uint32_t i)
{
    uint16_t to = a->plan.version ? a->plan.owner[i] : EVZK__NOBODY;
    struct recipient *r;

    if (a->phase >= EVZK__SHARDS_GIVING_UP ||
        !evzk__shard_elected(&a->shard[i]))
        return true;
    if (to == EVZK__NOBODY) /* By a plan that knows us: there may be another. */
        return a->plan.version > 0 &&
               (a->me != EVZK__NOBODY || a->phase != EVZK__SHARDS_JOINED);
    if (evzk__shards_is_self(a, to))
        return false;
    r = recipient_of(a, to);
    return r && r->ready == a->plan_zxid && takes_more(r);
}
