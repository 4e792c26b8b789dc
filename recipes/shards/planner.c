/* Makes the plan: which member leads which shard.
 *
 *   LISTING --> READING --> WRITING --> WATCHING      (to the end: ENDED)
 *      ^         |  |          |            |
 *      |     SETTLING          |            |
 *      `---------+--+----------+------------'
 *
 * The planner lists the members, with a watch that fires when one comes or
 * goes.  It reads the members' znodes and the plan.  If that plan is for other
 * members, it writes the next one, as the version after the one that it read.
 * A plan that was deleted or spoilt is made again: the member, which watches
 * the plan, tells the planner.  Only the first member has a planner, so a
 * change of the members wakes one process.
 *
 * Processes are often started together.  So when members join, the planner
 * waits a moment for more of them: one plan for all moves fewer shards than one
 * for each.  It does not wait when a member that leads shards has gone.
 *
 * How it can fail.  Any client may have written the plan, and it may be
 * well-formed all the same.  So a plan is taken for right only when it is the
 * one that would have been made for the present members, by what their znodes
 * say now.  Any other plan is written over, beginning from the last plan that
 * was right: at once, and then, while no member comes or goes, once a second at
 * most, since its writer may write again.  A member whose shards have other
 * names gets none; the plan names it all the same, and so tells it that.  A
 * member's znode that no session owns is left out; so is a znode that may not
 * be read, which is read again in a few seconds.  If another member has become
 * the first one and has written a plan, the planner looks again, as it does
 * after a write of unknown outcome.  A read or a write that the server refuses
 * is tried again some times, and then by the member, in a few seconds. Whatever
 * a plan says, only the first candidate of its election leads a shard.
 *
 * The versions of a plan that was deleted and made again begin at 0.  So a
 * planner that was frozen between its read and its write may write an old plan
 * over the new one.  The first member reads that plan, which is not its
 * planner's last one, and has it written over.
 */
#include "recipes/shards/planner_internal.h"

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

enum { LISTING, READING, SETTLING, WRITING, WATCHING, ENDED, STATES };

enum {
    SETTLE_US = 200000,
    OFTEN_US = 1000000,
    READ_AGAIN_US = 30000000,
    REFUSALS = 8
};

static struct evzk__planner *planner_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__planner, m);
}

static void list(struct evzk__machine *m)
{
    evzk__timer_stop(planner_of(m)->timer);
    evzk__planner_clear(planner_of(m));
    evzk__list_and_watch(m, EVZK__SHARDS_MEMBERS);
}

static int begin_anew(struct evzk__planner *p)
{
    evzk__machine_pause(&p->m);
    return evzk__machine_move(&p->m, LISTING);
}

/* A server that throttles may answer in a moment.  A row that may be entered
 * again asks it as often; the others begin anew. */
static int fail_or_begin_anew(struct evzk__planner *p, int rc)
{
    if (rc != EVZK_ERR_SERVER || p->refused == REFUSALS)
        return rc;
    p->refused++;
    return begin_anew(p);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__planner *p = planner_of(m);

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (e->reply->rc == EVZK_ERR_NONODE) /* We are not there ourselves. */
        return begin_anew(p);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    if (evzk__planner_copy_names(p, &e->reply->res->names) != EVZK_OK)
        return begin_anew(p);
    return evzk__machine_move(m, READING);
}

/* The plan last. */
static void read_all(struct evzk__machine *m)
{
    static char plan[] = EVZK__SHARDS_PLAN;
    struct evzk__planner *p = planner_of(m);

    p->names[p->n] = plan;
    evzk__read_many(m, p->names, p->n + 1);
}

/* As the last right plan, in case an operator deletes or spoils it. */
static void keep(struct evzk__planner *p, struct evzk__plan *plan)
{
    evzk__plan_free(&p->last);
    p->last = *plan;
    *plan = (struct evzk__plan){0};
}

/* Members of the last plan have gone, and others of it are still there. */
static bool is_urgent(const struct evzk__plan *prev,
                      const struct evzk__member *member, uint32_t n)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++)
        left += evzk__plan_find(prev, member[i].name) != EVZK__NOBODY;
    return left > 0 && left < prev->n_members;
}

static bool is_right(const struct evzk__planner *p,
                     const struct evzk__plan *plan, uint32_t n)
{
    return evzk__plan_is_right(plan, p->member, n, &p->shards);
}

/* The plan from which the next one follows.  Normally the plan that was read;
 * but the last right plan, if that is still right (then another client has
 * written over it), or if the plan that was read is for other shards, or gives
 * a member more or less than its share.
 */
static const struct evzk__plan *base_of(const struct evzk__planner *p,
                                        bool spoilt)
{
    bool known = p->last.version > 0;

    return known && (spoilt || !evzk__plan_is_even(&p->prev) ||
                     !evzk__plan_is_of(&p->prev, &p->shards))
               ? &p->last
               : &p->prev;
}

/* No member has come or gone, so another client has written over the plan.  The
 * planner mends it at once, and then once a second at most: a program that
 * writes again and again, or a planner with other shards, cannot
 * make it write more often. */
static bool may_mend(struct evzk__planner *p)
{
    int64_t now = evzk__now_us();
    bool may = p->mended == 0 || now - p->mended >= OFTEN_US;

    if (may)
        p->mended = now;
    else
        p->until = p->mended + OFTEN_US;
    return may;
}

/* When members join, more are waited for. */
static bool may_plan(struct evzk__planner *p, const struct evzk__plan *base,
                     uint32_t n)
{
    int64_t most = evzk__now_us() + SETTLE_US;

    if (p->settled || is_urgent(base, p->member, n))
        return true;
    if (p->until == 0 || p->until > most)
        p->until = most;
    return false;
}

/* The servers would hang up at it, each time. */
static bool is_too_large(const struct evzk__planner *p)
{
    size_t bytes = evzk__path_bytes(evzk__machine_session(&p->m),
                                    evzk__machine_path(&p->m)) +
                   sizeof EVZK__SHARDS_PLAN + 64;

    return p->len + bytes > EVZK__REQUEST_BYTES;
}

static int write_next(struct evzk__planner *p, const struct evzk__plan *base,
                      uint32_t n)
{
    if (evzk__plan_next(&p->next, base, p->member, n, &p->shards) != EVZK_OK)
        return begin_anew(p);
    p->next.version = evzk__plan_number(p->prev.version, p->last.version);
    p->text = evzk__plan_print(&p->next, &p->len);
    if (!p->text)
        return begin_anew(p);
    if (!is_too_large(p))
        return evzk__machine_move(&p->m, WRITING);
    p->denied = EVZK_ERR_TOOLARGE;
    return evzk__machine_move(&p->m, WATCHING);
}

/* Without members there is no plan: members go on leading their shards. */
static int make_plan(struct evzk__planner *p)
{
    uint32_t n = evzk__planner_pack(p);
    bool spoilt = is_right(p, &p->last, n);
    const struct evzk__plan *base = base_of(p, spoilt);

    if (n == 0)
        return evzk__machine_move(&p->m, WATCHING);
    if (is_right(p, &p->prev, n)) {
        keep(p, &p->prev);
        return evzk__machine_move(&p->m, WATCHING);
    }
    if (!(spoilt ? may_mend(p) : may_plan(p, base, n)))
        return evzk__machine_move(&p->m, SETTLING);
    return write_next(p, base, n);
}

static int have_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__planner *p = planner_of(m);

    evzk__planner_note(p, e->reply);
    if (!e->reply->last)
        return EVZK_OK;
    if (p->failed)
        return fail_or_begin_anew(p, p->failed);
    return p->cut ? begin_anew(p) : make_plan(p);
}

/* Its watch is heard meanwhile: a member that leads may go. */
static void let_settle(struct evzk__machine *m)
{
    struct evzk__planner *p = planner_of(m);
    int64_t now = evzk__now_us();

    evzk__timer_set(p->timer, p->until > now ? p->until - now : 0);
}

/* The wait is over: for more members, or before a refused read is tried again.
 */
static void have_waited(void *arg)
{
    struct evzk__planner *p = arg;

    p->settled = p->m.state == SETTLING;
    evzk__machine_ask(&p->m);
}

static int settled(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LISTING);
}

static void write_plan(struct evzk__machine *m)
{
    struct evzk__planner *p = planner_of(m);
    struct evzk__create_args args = evzk__default_args(m, NULL);

    p->write = (struct evzk__step){.verb = p->there ? EVZK__STEP_SET
                                                    : EVZK__STEP_CREATE,
                                   .name = EVZK__SHARDS_PLAN,
                                   .data = p->text,
                                   .len = (uint32_t)p->len,
                                   .acl = args.acl,
                                   .acl_count = args.acl_count,
                                   .versioned = true,
                                   .version = p->version};
    evzk__ask(m, &p->write, 1, 0);
}

/* Another planner was faster, or the outcome is unknown: looks again. */
static int written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__planner *p = planner_of(m);

    switch (e->reply->rc) {
    case EVZK_OK:
        keep(p, &p->next);
        return evzk__machine_move(m, WATCHING);
    case EVZK_ERR_BADVERSION:
    case EVZK_ERR_NODEEXISTS:
    case EVZK_ERR_NONODE:
    case EVZK_ERR_CONNLOSS:
    case EVZK_ERR_NOMEM:
        return begin_anew(p);
    default:
        return fail_or_begin_anew(p, e->reply->rc);
    }
}

/* The plan is right.  No watch tells that a znode may be read again: none can
 * be set while it may not, and a change of an ACL fires none.  And no watch is
 * set on each member's znode, which another client may write over.  So the
 * timer runs. */
static void wait_for(struct evzk__machine *m)
{
    struct evzk__planner *p = planner_of(m);

    p->settled = false;
    p->until = 0;
    p->refused = 0;
    if (evzk__watch_missing(m, EVZK__PRED)) {
        evzk__machine_move(m, LISTING);
        return;
    }
    evzk__timer_set(p->timer, p->denied ? EVZK__SHARDS_MEND_US : READ_AGAIN_US);
    if (p->cb)
        p->cb(p->arg, p->denied, false);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LISTING);
}

static void end(struct evzk__machine *m)
{
    struct evzk__planner *p = planner_of(m);

    if (p->cb)
        p->cb(p->arg, m->rc, true);
}

static void detach(struct evzk__machine *m)
{
    evzk__timer_free(planner_of(m)->timer);
    planner_of(m)->timer = NULL;
}

static void destroy(struct evzk__machine *m)
{
    detach(m);
    evzk__planner_clear(planner_of(m));
    evzk__plan_free(&planner_of(m)->last);
    evzk__free(planner_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry       reaction   main      on stop  on expiry  flags */
ROW(LISTING,  list,       listed,    READING,  ENDED,   LISTING,   RETRY|NOTHING_SENT,
    ON(REPLY,        READING, LISTING, FAIL)),
ROW(READING,  read_all,   have_read, WRITING,  ENDED,   LISTING,   0,
    ON(REPLY,        WATCHING, SETTLING, WRITING, LISTING, FAIL, HERE),
    RARELY(EXPIRED,  LISTING)), /* The lost connection leads to LISTING first. */
ROW(SETTLING, let_settle, settled,   ASIDE,    ENDED,   LISTING,   RETRY,
    RARELY(PRED_DELETED, LISTING),
    ON(PRED_CHANGED, LISTING),
    ON(USER_EVENT,   LISTING)),
ROW(WRITING,  write_plan, written,   WATCHING, ENDED,   LISTING,   0,
    ON(REPLY,        WATCHING, LISTING, FAIL)),
ROW(WATCHING, wait_for,   watched,   ENDED,    ENDED,   LISTING,   RETRY,
    ON(ENTRY,        LISTING),
    ON(PRED_DELETED, LISTING),
    ON(PRED_CHANGED, LISTING),
    ON(USER_EVENT,   LISTING),
    ON(EXPIRED,      NEVER)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__planner_kind = {.name = "shards-planner",
                                              .rows = rows,
                                              .n_rows = STATES,
                                              .destroy = destroy,
                                              .detach = detach};

/* By way of its text. */
static int copy_plan(struct evzk__plan *to, const struct evzk__plan *from)
{
    size_t len;
    char *text;
    int rc;

    if (from->version == 0)
        return EVZK_OK;
    text = evzk__plan_print(from, &len);
    if (!text)
        return EVZK_ERR_NOMEM;
    rc = evzk__plan_parse(to, text, len);
    evzk__free(text);
    return rc;
}

int evzk__planner_start(evzk_session *s, const char *path,
                        const struct evzk__shard_list *shards,
                        const struct evzk__plan *known, evzk__planner_cb *cb,
                        void *arg, struct evzk__planner **out)
{
    struct evzk__planner *p = evzk__zalloc(sizeof *p);
    int rc;

    if (!p)
        return EVZK_ERR_NOMEM;
    p->shards = *shards;
    p->cb = cb;
    p->arg = arg;
    rc = copy_plan(&p->last, known);
    p->timer = evzk__session_timer(s, have_waited, p);
    if (rc == EVZK_OK && !p->timer)
        rc = EVZK_ERR_NOMEM;
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&p->m, s, &evzk__planner_kind, path, 0);
    if (rc != EVZK_OK) {
        evzk__timer_free(p->timer);
        evzk__plan_free(&p->last);
        evzk__free(p);
        return rc;
    }
    *out = p;
    return EVZK_OK;
}

void evzk__planner_look(struct evzk__planner *p) { evzk__machine_ask(&p->m); }

/* While it writes, that plan is its own; or its write will be refused. */
void evzk__planner_heard(struct evzk__planner *p, const struct evzk__plan *plan)
{
    if (p->m.state != WRITING && !evzk__plan_same(&p->last, plan))
        evzk__planner_look(p);
}

void evzk__planner_free(struct evzk__planner *p)
{
    if (p) {
        p->cb = NULL;
        evzk__machine_let_go(&p->m);
    }
}
