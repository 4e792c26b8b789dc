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

struct taker {
    LIST_ENTRY(taker) link;
    struct evzk_shards *all;
    struct evzk__follow *follow; /* Owned, as is the next; of its znode. */
    struct evzk__follow *taking; /* Of the last one's `leader`. */
    uint64_t ready;              /* For the plan of this zxid. */
    int64_t until;               /* Nothing more is given, but see above. */
    uint32_t last;               /* Shard that it was given, of a full round. */
    uint16_t member;             /* Of the present plan. */
    uint16_t given, most;        /* In this round, and at most. */
    bool free_to_take;           /* The last one: we have left it. */
};

void evzk__shards_drop_takers(struct evzk_shards *a)
{
    struct taker *t;

    while ((t = LIST_FIRST(&a->takers)) != NULL) {
        LIST_REMOVE(t, link);
        evzk__follow_free(t->follow);
        evzk__follow_free(t->taking);
        evzk__free(t);
    }
}

static void taker_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct taker *t = arg;
    struct evzk__member m;
    uint64_t ready;

    t->ready = 0;
    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE) { /* It may not be read. */
        evzk__follow_free(t->follow);
        t->follow = NULL;
        evzk__shards_mend_later(t->all);
        return;
    }
    if (rc != EVZK_OK || !evzk__member_parse(&m, &ready, res->data, res->len))
        return; /* It has gone: the next plan knows another. */
    t->ready = ready;
    evzk__shards_begin_step(t->all);
}

static struct taker *find(const struct evzk_shards *a, uint16_t member)
{
    struct taker *t;

    LIST_FOREACH(t, &a->takers, link)
    {
        if (t->member == member)
            return t;
    }
    return NULL;
}

static bool follow(struct taker *t)
{
    struct evzk_shards *a = t->all;
    bool begun =
        evzk__follow_start(a->s, a->members, a->plan.member[t->member].name,
                           taker_heard, t, &t->follow) == EVZK_OK;

    a->retry = a->retry || !begun;
    return begun;
}

void evzk__takers_try_again(struct evzk_shards *a)
{
    struct taker *t;

    LIST_FOREACH(t, &a->takers, link)
    {
        if (t->follow && t->ready != a->plan_zxid)
            evzk__follow_look(t->follow);
        else if (!t->follow && !follow(t))
            evzk__shards_mend_later(a);
    }
}

/* NULL: nothing is known of it yet. */
static struct taker *taker_of(struct evzk_shards *a, uint16_t member)
{
    struct taker *t = find(a, member);

    if (t)
        return t;
    t = evzk__zalloc(sizeof *t);
    a->retry = a->retry || !t;
    if (!t)
        return NULL;
    t->all = a;
    t->member = member;
    t->most = 1;
    if (!follow(t)) {
        evzk__free(t);
        return NULL;
    }
    LIST_INSERT_HEAD(&a->takers, t, link);
    return t;
}

/* ---- How many it takes ---- */

static void next_round(struct taker *t)
{
    evzk__follow_free(t->taking);
    t->taking = NULL;
    t->free_to_take = false;
    t->given = 0;
    if (t->most < EVZK__LEAVING)
        t->most *= 2;
}

/* What is there is not ours, which has gone. */
static void last_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct taker *t = arg;

    (void)res;
    if (rc == EVZK_ERR_NONODE)
        return; /* Not yet. */
    next_round(t);
    evzk__shards_begin_step(t->all);
}

static void follow_last(struct taker *t)
{
    struct evzk_shards *a = t->all;
    char *path = a->s->requests.path[1]; /* Copied at once. */

    evzk__shard_print_path(a, t->last, path);
    if (evzk__follow_start(a->s, path, EVZK__LEADER, last_heard, t,
                           &t->taking) != EVZK_OK)
        a->retry = true;
}

static bool takes_more(struct taker *t)
{
    if (t->given == t->most && evzk__now_us() >= t->until) {
        next_round(t);
        t->most = 1; /* It may be frozen. */
    }
    if (t->given < t->most)
        return true;
    if (t->free_to_take && !t->taking)
        follow_last(t);
    t->all->paced = true;
    return false;
}

/* NULL: it goes to nobody whom we wait for. */
static struct taker *taker_to(const struct shard *d)
{
    const struct evzk_shards *a = d->all;

    if (a->plan.version == 0 || a->give_up)
        return NULL;
    return find(a, a->plan.owner[d - a->shard]);
}

bool evzk__shard_has_taker(const struct shard *d)
{
    return taker_to(d) != NULL;
}

/* Where leaders acknowledge by hand, how long that takes says nothing. */
void evzk__taker_given(struct shard *d)
{
    struct taker *t = taker_to(d);

    if (!t || d->all->acknowledge || t->given == t->most ||
        ++t->given < t->most)
        return;
    t->last = (uint32_t)(d - d->all->shard);
    t->until = evzk__now_us() + EVZK__TAKER_PATIENCE_US;
}

void evzk__taker_free_to_take(struct shard *d)
{
    struct taker *t = taker_to(d);

    if (t && t->given == t->most && t->last == (uint32_t)(d - d->all->shard))
        t->free_to_take = true;
}

bool evzk__shard_awaited(struct evzk_shards *a, uint32_t i)
{
    uint16_t to = a->plan.version ? a->plan.owner[i] : EVZK__NOBODY;
    struct taker *t;

    if (a->give_up || !a->shard[i].elected)
        return true;
    if (to == EVZK__NOBODY) /* By a plan that knows us: there may be another. */
        return a->plan.version > 0 && (a->me != EVZK__NOBODY || a->draining);
    if (evzk__shards_is_self(a, to))
        return false;
    t = taker_of(a, to);
    return t && t->ready == a->plan_zxid && takes_more(t);
}
