/* The recipients: the members to whom the plan gives shards that this member
 * leads.  When is a recipient ready, and how many shards does it get at a time?
 *
 * A recipient writes into its member's znode that it is ready, when its
 * candidates stand in the elections of all its shards.  This member watches
 * that znode.  Then it hands over one shard; when the recipient leads that
 * shard, two; then four, and so on, up to EVZK__LEAVING.  So a slow recipient
 * has few shards to take at once, each of them is without a leader only
 * briefly, and a recipient that cannot lead at all gets one shard to begin
 * with.
 *
 * How it can fail.  A recipient that has gone is not ready, and the next plan
 * has another.  A recipient that does not take a shard may be frozen, or may
 * not make its `leader` znode.  Where servers hang up at the recipient's znode,
 * each read would end the connection: this member leads on until the next plan.
 * After EVZK__RECIPIENT_PATIENCE_US it is handed
 * one shard more, for the plan says so, and the rounds begin again with one.
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
    uint64_t ready;       /* Ready for the plan of this zxid. */
    int64_t until;        /* A full round ends then at the latest. */
    uint32_t last;        /* The last shard of a full round. */
    uint16_t member;      /* Its index in the present plan. */
    uint16_t given, most; /* Shards of this round: so far, and at most. */
    bool free_to_take;    /* Our candidate for `last` has gone. */
    /* The servers hang up at its member's znode, or at `leader`: not read
     * before the next plan. */
    bool barred, leader_barred;
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
    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE) { /* May not be read. */
        evzk__node_watch_free(r->watch);
        r->watch = NULL;
        r->barred = rc == EVZK_ERR_TOOLARGE;
        if (!r->barred)
            evzk__shards_mend_soon(r->all);
        return;
    }
    if (rc != EVZK_OK || !evzk__member_parse(&m, &ready, res->data, res->len))
        return; /* The member has gone: the next plan has another. */
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
        else if (!r->watch && !r->barred && !watch(r))
            evzk__shards_mend_soon(a);
    }
}

/* NULL: there was no memory to find out whether it is ready. */
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

/* ---- How many shards it gets at a time ---- */

static void next_round(struct recipient *r)
{
    evzk__node_watch_free(r->leader_watch);
    r->leader_watch = NULL;
    r->free_to_take = false;
    r->given = 0;
    if (r->most < EVZK__LEAVING)
        r->most *= 2;
}

/* A `leader` znode is there.  Ours has gone, so the recipient has made it. */
static void last_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct recipient *r = arg;

    (void)res;
    if (rc == EVZK_ERR_NONODE)
        return; /* Not yet. */
    r->leader_barred = rc == EVZK_ERR_TOOLARGE;
    next_round(r);
    evzk__shards_begin_step(r->all);
}

static void watch_last(struct recipient *r)
{
    struct evzk_shards *a = r->all;
    char path[EVZK__PATH_MAX + 1]; /* See broken_room() in join.c. */

    evzk__shard_print_path(a, r->last, path);
    if (evzk__watch_node(a->s, path, EVZK__LEADER, last_heard, r,
                         &r->leader_watch) != EVZK_OK)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
}

static bool takes_more(struct recipient *r)
{
    if (r->given == r->most && evzk__now_us() >= r->until) {
        next_round(r);
        r->most = 1; /* The member may be frozen. */
    }
    if (r->given < r->most)
        return true;
    if (r->free_to_take && !r->leader_watch && !r->leader_barred)
        watch_last(r);
    evzk__shards_step_again(r->all, EVZK__RECIPIENT_PATIENCE_US);
    return false;
}

/* NULL: no recipient is waited for. */
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

/* If applications acknowledge themselves, a recipient may take long without
 * being slow: there are no rounds. */
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
    if (to ==
        EVZK__NOBODY) /* If the plan names us: else there may be another. */
        return a->plan.version > 0 &&
               (a->me != EVZK__NOBODY || a->phase != EVZK__SHARDS_JOINED);
    if (evzk__shards_is_self(a, to))
        return false;
    r = recipient_of(a, to);
    return r && r->ready == a->plan_zxid && takes_more(r);
}
