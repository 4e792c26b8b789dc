/* The member's place among the others, the plan that it follows, and, while it
 * drains, the other members.
 *
 * How it can fail.  The member's znode may go, by expiry or by an operator's
 * hand.  Then the member stands again with another znode, and the next plan
 * names that.  A plan that was deleted, or is not well-formed, changes nothing:
 * the planner writes it again.  The same holds for a plan that gives a member
 * more or less than its share, or is for other shards: no member
 * has made it.  A znode that may not be read is read again in a few seconds
 * (shards/mend.c).  At each try that they hang up at, the servers would end the
 * connection of all that the session has: so the member ends where they hang up
 * at its own place, at the plan, or at its word that it is ready.
 */
#include "recipes/shards/shards_internal.h"

#include <string.h>

#include "lib/base/os.h"
#include "recipes/kinds.h"

/* ---- The plan ---- */

/* Behind an unowned znode, with a plan that does not name this member: if that
 * lasts, this member makes the plans (look_if_alone() in shards/mend.c). */
static void wait_to_be_named(struct evzk_shards *a)
{
    if (a->behind_unowned.state && !evzk__shards_plans(a))
        evzk__shards_mend_soon(a);
}

static void find_me(struct evzk_shards *a)
{
    a->me = a->node[0] ? evzk__plan_find(&a->plan, a->node) : EVZK__NOBODY;
    a->balanced_told = false;
    wait_to_be_named(a);
    evzk__shards_begin_step(a);
}

/* No plan for other shards names us now. */
static void no_other_shards(struct evzk_shards *a)
{
    a->other_shards.state = EVZK__UNSUSPECTED;
}

static void suspect(struct evzk__suspicion *of)
{
    if (of->state)
        return;
    of->state = EVZK__SUSPECTED;
    of->since = evzk__now_us();
}

static void look_as_planner(struct evzk_shards *a)
{
    if (a->planner)
        evzk__planner_look(a->planner);
}

/* The plan was deleted, or is not well-formed: the last one holds. */
static void no_plan(struct evzk_shards *a)
{
    no_other_shards(a);
    look_as_planner(a);
}

/* A planner with our shards would have written over a forged plan long ago.  So
 * the other members have other shards. */
static bool has_other_shards(const struct evzk_shards *a)
{
    return a->other_shards.state == EVZK__LASTING && !a->planner;
}

/* The plan is for other shards: for another number of them, or for other names.
 * Members that were there before have made it, or no member has; or the present
 * planner has other shards.  Only the planner's stays in place while it names
 * us and no plan for our shards does.  The application may free the shards. */
static void leave_plan(struct evzk_shards *a, struct evzk__plan *next)
{
    bool ours = a->node[0] && evzk__plan_find(next, a->node) != EVZK__NOBODY;

    evzk__plan_free(next);
    a->reread_once_placed = true;
    if (!ours || a->me != EVZK__NOBODY)
        no_other_shards(a);
    else if (!a->other_shards.state) {
        suspect(&a->other_shards);
        evzk__shards_mend_soon(a);
    }
    if (has_other_shards(a))
        evzk__shards_fail(a, EVZK_ERR_INVAL);
    else
        look_as_planner(a);
}

/* The plan was read again, and is the same.  The application may free the
 * shards. */
static void same_plan(struct evzk_shards *a)
{
    if (has_other_shards(a))
        evzk__shards_fail(a, EVZK_ERR_INVAL);
}

static void take_plan(struct evzk_shards *a, struct evzk__plan *next)
{
    if (a->plan.version > 0)
        a->moves += evzk__plan_moves(next, &a->plan);
    evzk__plan_free(&a->plan);
    a->plan = *next;
    a->plan_zxid = (uint64_t)a->plan_stat.mzxid;
    a->ready_for = 0;
    a->reread_once_placed = false;
    no_other_shards(a);
    evzk__shards_drop_recipients(a);
    for (uint32_t i = 0; i < a->count; i++)
        evzk__shard_try(&a->shard[i]);
    find_me(a);
    if (a->planner)
        evzk__planner_heard(a->planner, &a->plan);
    evzk__shards_tell(a, EVZK_SHARDS_PLANNED, EVZK_OK);
}

static void look_again(struct evzk_shards *a, int64_t delay_us)
{
    evzk__node_watch_free(a->plan_watch);
    a->plan_watch = NULL;
    a->plan_stat = (struct evzk__stat){0};
    a->next_shard = 0;
    evzk__timer_set(a->step_timer, delay_us);
}

/* A plan that may not be read is watched again in a few seconds: until then the
 * last plan that was read holds. */
static void plan_unread(struct evzk_shards *a, int rc)
{
    evzk__node_watch_free(a->plan_watch);
    a->plan_watch = NULL;
    if (rc == EVZK_ERR_CLOSED || rc == EVZK_ERR_INTERNAL ||
        rc == EVZK_ERR_TOOLARGE)
        evzk__shards_fail(a, rc);
    else
        evzk__shards_troubled(a, EVZK__TROUBLE_PLAN, rc);
}

/* The application may free the shards. */
static void read_plan(struct evzk_shards *a, const struct evzk__result *res)
{
    struct evzk__shard_list shards = evzk__shards_list(a);
    struct evzk__plan next;
    int rc = evzk__plan_parse(&next, res->data, res->len);

    if (rc == EVZK_ERR_NOMEM)
        look_again(a, EVZK__SHARDS_RETRY_US);
    else if (rc != EVZK_OK)
        no_plan(a);
    if (rc != EVZK_OK)
        return;
    a->plan_stat = res->stat;
    if (!evzk__plan_is_of(&next, &shards))
        leave_plan(a, &next);
    else if (evzk__plan_is_even(&next))
        take_plan(a, &next);
    else {
        evzk__plan_free(&next);
        no_plan(a);
    }
}

static void plan_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct evzk_shards *a = arg;

    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE) {
        plan_unread(a, rc);
        return;
    }
    evzk__shards_troubled(a, EVZK__TROUBLE_PLAN, EVZK_OK);
    if (rc == EVZK_ERR_NONODE) {
        no_plan(a);
        return;
    }
    if (res->stat.czxid == a->plan_stat.czxid &&
        res->stat.version == a->plan_stat.version) {
        same_plan(a);
        return;
    }
    read_plan(a, res);
}

/* ---- The member ---- */

/* A member that never had a znode may have been given a wrong path, and fails.
 * No time mends a directory whose sequence numbers are used up, nor a request
 * at which the servers hang up.  A member that had a znode tries again in a few
 * seconds, or sooner where there was no memory. */
static bool is_final(const struct evzk_shards *a, int rc)
{
    return !a->node[0] || rc == EVZK_ERR_CLOSED || rc == EVZK_ERR_INTERNAL ||
           rc == EVZK_ERR_SEQUENCE || rc == EVZK_ERR_TOOLARGE ||
           evzk__may_begin(a->s) != EVZK_OK;
}

/* Stands again at once, unless that was refused just now, or the session is
 * closed: that is the reason, whatever the answer was. */
static int stand_again(struct evzk_shards *a, evzk_lock_event ev, int rc)
{
    int begin = evzk__may_begin(a->s);

    if (begin != EVZK_OK)
        return begin;
    return ev == EVZK_LOCK_FAILED || rc == EVZK_ERR_TOOLARGE
               ? rc
               : evzk__shards_stand(a);
}

/* The member's znode has gone.  It stands again, behind the others; the last
 * plan holds until the next one names its new znode. */
static void member_over(struct evzk_shards *a, evzk_lock_event ev, int rc)
{
    evzk__shards_note_left(a, a->member, ev, rc);
    evzk_lock_free(a->member);
    a->member = NULL;
    a->behind_unowned.state = EVZK__UNSUSPECTED;
    evzk__shards_stop_planning(a);
    if (a->phase != EVZK__SHARDS_JOINED) {
        evzk__shards_begin_step(a);
        return;
    }
    rc = stand_again(a, ev, rc);
    if (a->member)
        return;
    if (is_final(a, rc)) {
        evzk__shards_fail(a, rc);
        return;
    }
    if (rc == EVZK_ERR_NOMEM)
        evzk__shards_step_again(a, EVZK__SHARDS_RETRY_US);
    else
        evzk__shards_troubled(a, EVZK__TROUBLE_MEMBER, rc);
    a->next_shard = 0;
    evzk__timer_set(a->step_timer, EVZK__SHARDS_RETRY_US);
}

/* The member knows whether a session owns the znode before its own; or may not
 * read that (rc). */
static void member_behind(struct evzk_shards *a, int rc)
{
    evzk__shards_troubled(a, EVZK__TROUBLE_MEMBER, rc);
    if (a->member->pred_unowned)
        suspect(&a->behind_unowned);
    else
        a->behind_unowned.state = EVZK__UNSUSPECTED;
    if (a->planner && !evzk__shards_plans(a))
        evzk__shards_stop_planning(a);
    wait_to_be_named(a);
    evzk__shards_begin_step(a);
}

static void member_placed(struct evzk_shards *a)
{
    if (strcmp(a->node, evzk_lock_node(a->member)) != 0) {
        strcpy(a->former_node, a->node);
        no_other_shards(a); /* Such plans named the former znode. */
        evzk__write_once_free(a->ready_write); /* Writes to that one. */
        a->ready_write = NULL;
    }
    strcpy(a->node, evzk_lock_node(a->member));
    a->ready_for = 0;
    find_me(a);
    if (a->reread_once_placed) /* That plan may name the new znode. */
        look_again(a, 0);
    a->reread_once_placed = false;
}

static void take_event(struct evzk_shards *a, int ev, int rc)
{
    switch (ev) {
    case LOCK_PLACED:
        member_placed(a);
        break;
    case EVZK_LOCK_REQUEUED: /* Such plans named the znode that has gone. */
        no_other_shards(a);
        break;
    case LOCK_BEHIND:
        member_behind(a, rc);
        break;
    case EVZK_LOCK_GRANTED: /* The first member makes the plans. */
        member_behind(a, EVZK_OK);
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        no_other_shards(a);
        member_over(a, (evzk_lock_event)ev, rc);
        break;
    default:
        break;
    }
}

/* The application may free the shards: touches only the session after. */
static void member_heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct evzk_shards *a = arg;
    evzk_session *s = a->s;
    int64_t begun = evzk__machine_call_in(s);

    (void)l;
    take_event(a, (int)ev, rc);
    evzk__machine_called_in(s, begun);
}

/* Another library's contender among the members does not end them: no lock is
 * at stake here. */
int evzk__shards_stand(struct evzk_shards *a)
{
    char text[64 + EVZK__PLAN_DATA];
    evzk_lock_options opt = {.data = text};
    int rc;

    opt.data_len = (size_t)evzk__member_print(text, sizeof text, &a->self, 0);
    rc = evzk__lock_begin(a->s, &evzk__election_kind, a->members, &opt,
                          member_heard, a, &a->member);
    if (rc == EVZK_OK) {
        a->member->options |= LOCK_TOLERANT | LOCK_PATIENT;
        evzk__place_look(&a->member->m.place);
    }
    return rc;
}

int evzk__shards_watch_plan(struct evzk_shards *a)
{
    return evzk__watch_node(a->s, a->path, EVZK__SHARDS_PLAN, plan_heard, a,
                            &a->plan_watch);
}

/* ---- The other members, while this one drains ---- */

static bool any_member(const struct evzk__names *names)
{
    struct evzk__contender c;

    for (size_t i = 0; i < names->n; i++) {
        if (evzk__shards_is_member(names->v[i], &c))
            return true;
    }
    return false;
}

/* Without any other member, none can take the shards: they are given up.  A
 * list that may not be read is read again in a few seconds, since the plan
 * names members that may be ready. */
static void others_heard(void *arg, int rc, const struct evzk__result *res)
{
    struct evzk_shards *a = arg;

    if (rc == EVZK_OK || rc == EVZK_ERR_NOAUTH)
        evzk__shards_troubled(a, EVZK__TROUBLE_MEMBER, rc);
    if (rc == EVZK_ERR_NOAUTH) {
        evzk__node_watch_free(a->members_watch);
        a->members_watch = NULL;
    }
    if ((rc == EVZK_OK && any_member(&res->names)) || rc == EVZK_ERR_NOAUTH ||
        evzk__may_begin(a->s) != EVZK_OK)
        return;
    a->phase = EVZK__SHARDS_GIVING_UP;
    evzk__shards_begin_step(a);
}

int evzk__shards_watch_members(struct evzk_shards *a)
{
    return evzk__watch_children(a->s, a->path, EVZK__SHARDS_MEMBERS,
                                others_heard, a, &a->members_watch);
}
