/* Many elections as one object.
 *
 * Each process is a member, by standing in an election of members; who is first
 * there makes the plan (shards_planner.c), and all follow it.  A process stands
 * in the elections of the shards that the plan gives it, and, when it stands in
 * all of them, says so in its member's znode ("ready").  Who leads a shard that
 * the plan gives to another goes on, until that one is ready: then it stands
 * right behind, and is elected as soon as the leader's znode has gone.  Only
 * who hands over to another watches that one's znode.
 *
 * All this is done by one step (see step()), which compares what is with what
 * the plan says, and does so many things in a turn of the loop; whatever
 * happens has it begin anew.
 *
 * How it can fail.  Whatever the plan says, a shard is led only by who is first
 * in its election.  One that has died has no shards any more: the next plan
 * gives them away.  One that is frozen is not ready, and is given nothing that
 * another does not lead meanwhile.
 */
#include "recipes/shards_own.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "recipes/kinds.h"

enum {
    STEP = 128,   /* Locks begun or ended in one turn of the loop. */
    LEAVING = 32, /* Handed over at a time: each is led by nobody for a trip or
                     two, and not while it waits for the others. */
    RETRY_US = 500000
};

void evzk__shards_begin_step(struct evzk_shards *a)
{
    a->at = 0;
    if (!a->ended)
        evzk__timer_set(a->timer, 0);
}

void evzk__shards_destroy(struct evzk_shards *a)
{
    evzk__timer_free(a->timer);
    evzk__timer_free(a->deadline);
    evzk__plan_free(&a->plan);
    evzk__free(a->path);
    evzk__free(a->members);
    evzk__free((void *)(uintptr_t)a->self.data);
    evzk__session_unref(a->s);
    evzk__free(a);
}

/* The caller's callbacks run between these; false: it has freed us. */
static void call_out(struct evzk_shards *a) { a->busy++; }

static bool called(struct evzk_shards *a)
{
    bool alive = a->cb != NULL;

    if (--a->busy == 0 && !alive)
        evzk__shards_destroy(a);
    return alive;
}

static bool tell(struct evzk_shards *a, evzk_shards_event ev, int rc)
{
    call_out(a);
    if (a->cb)
        a->cb(a, ev, rc, a->arg);
    return called(a);
}

static bool tell_shard(struct shard *d, evzk_election_event ev, int rc)
{
    struct evzk_shards *a = d->all;

    call_out(a);
    if (a->cb && a->shard_cb)
        a->shard_cb(a, (uint32_t)(d - a->shard), ev, rc, a->arg);
    return called(a);
}

static void drop_takers(struct evzk_shards *a)
{
    struct taker *t;

    while ((t = LIST_FIRST(&a->takers)) != NULL) {
        LIST_REMOVE(t, link);
        evzk__follow_free(t->follow);
        evzk__free(t);
    }
}

static void forget(struct shard *d)
{
    struct evzk_shards *a = d->all;

    a->unplaced -= d->l && !d->placed;
    a->standing -= d->l != NULL;
    a->elected -= d->elected;
    a->leading -= d->leading;
    a->resigning -= d->resigning;
    evzk_lock_free(d->l);
    *d = (struct shard){.all = a, .failed = d->failed};
}

static void stop_planning(struct evzk_shards *a)
{
    evzk__planner_free(a->planner);
    a->planner = NULL;
}

void evzk__shards_stop(struct evzk_shards *a)
{
    a->ended = true;
    a->me = EVZK__NOBODY;
    stop_planning(a);
    evzk__follow_free(a->follow);
    evzk__once_free(a->saying);
    a->follow = NULL;
    a->saying = NULL;
    drop_takers(a);
    evzk_lock_free(a->member);
    a->member = NULL;
    for (uint32_t i = 0; i < a->count; i++)
        forget(&a->shard[i]);
    evzk__timer_stop(a->timer);
    if (a->deadline)
        evzk__timer_stop(a->deadline);
}

static void fail(struct evzk_shards *a, int rc)
{
    if (a->ended)
        return;
    evzk__shards_stop(a);
    tell(a, EVZK_SHARDS_FAILED, rc);
}

/* ---- One shard ---- */

/* What it leads with is said.  Without memory the step asks again, later; when
 * it was refused, with the next plan. */
static void say(struct shard *d)
{
    struct evzk_shards *a = d->all;
    int rc;

    if (a->acknowledge || !d->l || !d->elected || d->leading || d->failed ||
        d->l->asked)
        return;
    rc = evzk__election_say(d->l, a->self.data, a->self.len);
    a->retry = a->retry || rc == EVZK_ERR_NOMEM;
}

static void placed(struct shard *d)
{
    d->all->unplaced -= !d->placed;
    d->placed = true;
    if (d->all->unplaced == 0)
        evzk__shards_begin_step(d->all); /* It is ready. */
}

static void is_elected(struct shard *d)
{
    struct evzk_shards *a = d->all;

    d->elected = true;
    a->elected++;
    if (!tell_shard(d, EVZK_ELECTION_ELECTED, EVZK_OK))
        return;
    say(d);
    if (a->retry)
        evzk__shards_begin_step(a);
}

static void is_leading(struct shard *d, int rc)
{
    struct evzk_shards *a = d->all;

    a->leading += rc == EVZK_OK && !d->leading;
    d->leading = d->leading || rc == EVZK_OK;
    d->failed = !d->leading;
    if (tell_shard(d, EVZK_ELECTION_LEADING, rc))
        evzk__shards_begin_step(a);
}

/* It stands no more, for whatever reason. */
static void is_over(struct shard *d, evzk_lock_event ev, int rc)
{
    struct evzk_shards *a = d->all;
    bool was = d->elected, told = d->resigning || d->leaving;

    d->failed = ev == EVZK_LOCK_FAILED && !told;
    forget(d);
    evzk__shards_begin_step(a);
    if (told)
        return;
    if (was)
        tell_shard(d, EVZK_ELECTION_LOST, rc);
    else if (ev == EVZK_LOCK_FAILED && !a->ended)
        tell_shard(d, EVZK_ELECTION_FAILED, rc);
}

static void heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct shard *d = arg;

    (void)l;
    switch ((int)ev) {
    case LOCK_PLACED:
        placed(d);
        break;
    case EVZK_LOCK_GRANTED:
        is_elected(d);
        break;
    case LOCK_ANNOUNCED:
        is_leading(d, rc);
        break;
    case EVZK_LOCK_SUSPENDED:
        tell_shard(d, EVZK_ELECTION_SUSPENDED, rc);
        break;
    case EVZK_LOCK_RESUMED:
        tell_shard(d, EVZK_ELECTION_RESUMED, rc);
        break;
    case EVZK_LOCK_REQUEUED:
        d->all->unplaced += d->placed;
        d->placed = false;
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        is_over(d, ev, rc);
        break;
    default:
        break;
    }
}

static void start(struct evzk_shards *a, uint32_t i)
{
    struct shard *d = &a->shard[i];
    const evzk_lock_options opt = {0};
    char *path = a->s->requests.path[1]; /* Copied at once. */
    int rc;

    sprintf(path, "%s/" EVZK__SHARDS_SHARD "%" PRIu32, a->path, i);
    rc = evzk__lock_begin(a->s, &evzk__election_kind, path, &opt, heard, d,
                          &d->l);
    if (rc == EVZK_OK) {
        d->l->m.req.bulk = true;
        a->standing++;
        a->unplaced++;
    } else if (rc == EVZK_ERR_NOMEM)
        a->retry = true;
    else
        d->failed = true;
}

/* It waits no longer; that is over when its znode is proved gone. */
static void stand_down(struct shard *d)
{
    if (!d->leaving)
        evzk_lock_cancel(d->l); /* Or it is about to end by itself. */
    d->leaving = true;
}

/* From now on it is led no longer; the request goes out when that was told. */
static bool let_go(struct shard *d)
{
    if (!d->elected) {
        stand_down(d);
        return true;
    }
    if (d->resigning || d->all->resigning >= LEAVING)
        return true; /* Whoever ends begins the step anew. */
    d->resigning = true;
    d->all->resigning++;
    if (!d->all->give_up) /* Another stands there: it is not to be removed. */
        evzk__own_gone(&d->l->m);
    if (evzk_lock_release(d->l) != EVZK_OK) {
        d->resigning = false; /* It is about to end by itself. */
        d->all->resigning--;
        return true;
    }
    return tell_shard(d, EVZK_ELECTION_RESIGNED, EVZK_OK);
}

/* ---- Those to whom shards go ---- */

static void taker_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct taker *t = arg;
    struct evzk__member m;
    uint64_t ready;

    t->ready = 0;
    if (rc != EVZK_OK || !evzk__member_parse(&m, &ready, res->data, res->len))
        return; /* It has gone: the next plan knows another. */
    t->ready = ready;
    evzk__shards_begin_step(t->all);
}

/* NULL: nothing is known of it yet. */
static struct taker *taker_of(struct evzk_shards *a, uint16_t member)
{
    struct taker *t;

    LIST_FOREACH(t, &a->takers, link)
    {
        if (t->member == member)
            return t;
    }
    t = evzk__zalloc(sizeof *t);
    a->retry = a->retry || !t;
    if (!t)
        return NULL;
    t->all = a;
    t->member = member;
    if (evzk__follow_start(a->s, a->members, a->plan.member[member].name,
                           taker_heard, t, &t->follow) != EVZK_OK) {
        evzk__free(t);
        a->retry = true;
        return NULL;
    }
    LIST_INSERT_HEAD(&a->takers, t, link);
    return t;
}

/* May it be let go?  What the plan still gives to us is for the next one. */
static bool is_awaited(struct evzk_shards *a, uint32_t i)
{
    uint16_t to = a->plan.version ? a->plan.owner[i] : EVZK__NOBODY;
    struct taker *t;

    if (a->give_up || !a->shard[i].elected)
        return true;
    if (to == EVZK__NOBODY)
        return a->plan.version > 0;
    if (to == a->me)
        return false;
    t = taker_of(a, to);
    return t && t->ready == a->plan.version;
}

static void planner_failed(void *arg, int rc)
{
    struct evzk_shards *a = arg;

    stop_planning(a);
    if (rc != EVZK_ERR_CLOSED) /* That the member hears, too. */
        fail(a, rc);
}

static void plan_from_now(struct evzk_shards *a)
{
    if (a->planner || a->draining)
        return;
    if (evzk__planner_start(a->s, a->path, a->count, &a->plan, planner_failed,
                            a, &a->planner) != EVZK_OK)
        a->retry = true;
}

/* ---- The step ---- */

static bool is_ours(const struct evzk_shards *a, uint32_t i)
{
    return a->me != EVZK__NOBODY && !a->draining && a->plan.owner[i] == a->me;
}

/* What is with one shard is made as the plan has it.  False: we are freed.
 * Counts what costs something. */
static bool put_right(struct evzk_shards *a, uint32_t i, unsigned *n)
{
    struct shard *d = &a->shard[i];

    if (is_ours(a, i)) {
        if (!d->l && !d->failed) {
            start(a, i);
            ++*n;
        } else
            say(d);
        return true;
    }
    if (!d->l || !is_awaited(a, i))
        return true;
    *n += !d->resigning && !d->leaving;
    return let_go(d);
}

static void said_so(void *arg, int rc)
{
    struct evzk_shards *a = arg;

    evzk__once_free(a->saying);
    a->saying = NULL;
    if (rc != EVZK_OK)
        a->said = 0; /* Our znode has gone: then there will be another plan. */
    if (rc == EVZK_OK)
        evzk__shards_begin_step(a); /* There may be a later plan. */
}

/* Stands in all that the plan gives it: whoever leads them may let go. */
static bool is_ready(const struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY || a->draining || a->unplaced > 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct shard *d = &a->shard[i];

        if (is_ours(a, i) && (!d->placed || d->leaving || d->resigning))
            return false;
    }
    return true;
}

static void say_ready(struct evzk_shards *a)
{
    char text[64 + EVZK__PLAN_DATA];
    int n;

    if (a->saying || a->said == a->plan.version || !is_ready(a))
        return;
    n = evzk__member_print(text, sizeof text, &a->self, a->plan.version);
    if (evzk__once_set(a->s, a->members, a->own, text, (size_t)n, said_so, a,
                       &a->saying) == EVZK_OK)
        a->said = a->plan.version;
    else
        a->retry = true;
}

/* Each that is to be ours is led, and no other one is, or is stood for. */
static bool is_balanced(const struct evzk_shards *a)
{
    if (a->me == EVZK__NOBODY || a->standing != a->leading || a->resigning > 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (is_ours(a, i) != a->shard[i].leading)
            return false;
    }
    return true;
}

/* Of what was left to a session that is closed nothing is proved. */
static void drained(struct evzk_shards *a)
{
    int rc = evzk__session_check(a->s);

    if (rc != EVZK_OK) {
        fail(a, rc);
        return;
    }
    evzk__shards_stop(a);
    tell(a, EVZK_SHARDS_DRAINED, EVZK_OK);
}

/* All has been looked at. */
static void settle(struct evzk_shards *a)
{
    if (a->draining && a->standing == 0 && !a->member) {
        drained(a);
        return;
    }
    if (a->member && evzk_lock_held(a->member))
        plan_from_now(a);
    if (!a->follow)
        a->retry = evzk__shards_follow(a) != EVZK_OK || a->retry;
    say_ready(a);
    if (a->retry) {
        a->retry = false;
        a->at = 0;
        evzk__timer_set(a->timer, RETRY_US);
    }
    if (!a->balanced && !a->draining && is_balanced(a)) {
        a->balanced = true;
        tell(a, EVZK_SHARDS_BALANCED, EVZK_OK);
    }
}

void evzk__shards_step(void *arg)
{
    struct evzk_shards *a = arg;
    unsigned n = 0;

    if (a->ended || evzk__session_forked(a->s))
        return;
    while (a->at < a->count && n < STEP) {
        if (!put_right(a, a->at++, &n))
            return;
    }
    if (a->at < a->count)
        evzk__timer_set(a->timer, 0);
    else
        settle(a);
}

/* ---- The plan ---- */

static void find_me(struct evzk_shards *a)
{
    a->me = a->own[0] ? evzk__plan_find(&a->plan, a->own) : EVZK__NOBODY;
    a->balanced = false;
    evzk__shards_begin_step(a);
}

static void take_plan(struct evzk_shards *a, struct evzk__plan *next)
{
    if (next->n_shards != a->count) {
        bool ours = evzk__plan_find(next, a->own) != EVZK__NOBODY;

        evzk__plan_free(next);
        a->differs = !ours; /* It is of those that were there before. */
        if (ours)
            fail(a, EVZK_ERR_INVAL);
        return;
    }
    if (a->plan.version > 0)
        a->moves += evzk__plan_moves(next, &a->plan);
    evzk__plan_free(&a->plan);
    a->plan = *next;
    a->said = 0;
    drop_takers(a);
    for (uint32_t i = 0; i < a->count; i++)
        a->shard[i].failed = false;
    find_me(a);
    tell(a, EVZK_SHARDS_PLANNED, EVZK_OK);
}

static void look_again(struct evzk_shards *a, int64_t delay_us)
{
    evzk__follow_free(a->follow);
    a->follow = NULL;
    a->plan_at = (struct evzk__stat){0};
    a->at = 0;
    evzk__timer_set(a->timer, delay_us);
}

/* It has gone, or is none: the last one holds, until there is another. */
static void no_plan(struct evzk_shards *a)
{
    if (a->planner)
        evzk__planner_look(a->planner);
}

static void plan_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct evzk_shards *a = arg;
    struct evzk__plan next;

    if (rc == EVZK_ERR_NONODE) {
        no_plan(a);
        return;
    }
    if (rc != EVZK_OK) {
        fail(a, rc);
        return;
    }
    if (res->stat.czxid == a->plan_at.czxid &&
        res->stat.version == a->plan_at.version)
        return; /* It was only looked at again. */
    rc = evzk__plan_parse(&next, res->data, res->len);
    if (rc == EVZK_ERR_NOMEM)
        look_again(a, RETRY_US);
    else if (rc != EVZK_OK)
        no_plan(a);
    if (rc != EVZK_OK)
        return;
    a->plan_at = res->stat;
    take_plan(a, &next);
}

/* ---- The member ---- */

/* It stands again, behind the others, as another: the plan for the old one
 * holds until there is the next. */
static void member_over(struct evzk_shards *a, evzk_lock_event ev, int rc)
{
    evzk_lock_free(a->member);
    a->member = NULL;
    stop_planning(a);
    if (a->draining)
        evzk__shards_begin_step(a);
    else if (ev != EVZK_LOCK_FAILED) {
        rc = evzk__session_check(a->s);
        if (rc == EVZK_OK)
            rc = evzk__shards_stand(a);
    }
    if (!a->draining && !a->member)
        fail(a, rc);
}

static void member_placed(struct evzk_shards *a)
{
    strcpy(a->own, evzk_lock_node(a->member));
    a->said = 0;
    find_me(a);
    if (a->differs) /* It may be for us, too. */
        look_again(a, 0);
    a->differs = false;
}

static void member_heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct evzk_shards *a = arg;

    (void)l;
    switch ((int)ev) {
    case LOCK_PLACED:
        member_placed(a);
        break;
    case EVZK_LOCK_GRANTED:
        evzk__shards_begin_step(a); /* From now on it makes the plans. */
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        member_over(a, ev, rc);
        break;
    default:
        break;
    }
}

int evzk__shards_stand(struct evzk_shards *a)
{
    char text[64 + EVZK__PLAN_DATA];
    evzk_lock_options opt = {.data = text};

    opt.data_len = (size_t)evzk__member_print(text, sizeof text, &a->self, 0);
    return evzk__lock_begin(a->s, &evzk__election_kind, a->members, &opt,
                            member_heard, a, &a->member);
}

int evzk__shards_follow(struct evzk_shards *a)
{
    return evzk__follow_start(a->s, a->path, EVZK__SHARDS_PLAN, plan_heard, a,
                              &a->follow);
}
