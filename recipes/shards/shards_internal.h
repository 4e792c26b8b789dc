/* The shards, as their files know them.  From the ground up, and nobody calls
 * upward:
 *
 *   shards/plan.c, planner.c   the plan, and who makes it
 *   shards/common.c            what the rest builds on; what is told
 *   shards/trouble.c           what is tried again in a while
 *   shards/handover.c          to whom a shard goes
 *   shards/shard.c             one shard
 *   shards/end.c               the end of all of it
 *   shards/member.c            the member, and the plan that it follows
 *   shards/step.c              the step that puts things right
 *   shards/mend.c              tries again
 *   shards/calls.c             the calls
 *
 * Where things are:
 *
 *   <path>/members/<guid>-n_<seq>    who has joined: an election; its first one
 *                                    makes the plans
 *   <path>/plan                      who is to lead which: see shards/plan.c
 *   <path>/shard-<i>/...             the election of a shard
 */
#ifndef EVZK_SHARDS_OWN_H
#define EVZK_SHARDS_OWN_H

#include "evzk/shards.h"
#include "lib/base/loop.h"
#include "recipes/lock/lock_internal.h"
#include "recipes/parts/watch_node.h"
#include "recipes/parts/write_once.h"
#include "recipes/shards/plan.h"
#include "recipes/shards/planner.h"

#define EVZK__SHARDS_SHARD "shard-"

/* What a member is to one shard. */
enum shard_state {
    SHARD_NOT_OURS,    /* It does not stand in the election. */
    SHARD_CANDIDATE,   /* It stands, and waits to be elected. */
    SHARD_WITHDRAWING, /* It was not elected, and its znode is to go. */
    SHARD_ELECTED,     /* ELECTED was told.  From here on it counts as such. */
    SHARD_LEADING,     /* Its `leader` znode stands, and LEADING was told. */
    SHARD_RESIGNING    /* RESIGNED was told, and its znode is to go. */
};

struct shard {
    struct evzk_shards *all;
    evzk_lock *l;     /* Owned: its place in the election; NULL: NOT_OURS. */
    uint64_t lost;    /* The epoch that has ended, while LOST is told; or 0. */
    uint8_t state;    /* SHARD_* */
    bool placed : 1;  /* Its znode is there. */
    bool led : 1;     /* It was LEADING, as RESIGNING too. */
    bool refused : 1; /* Not tried before the next plan, or a while. */
    bool refusal_told : 1; /* Of this plan. */
};

static inline bool evzk__shard_elected(const struct shard *d)
{
    return d->state >= SHARD_ELECTED;
}

/* It was let go: the end of its election is awaited. */
static inline bool evzk__shard_leaves(const struct shard *d)
{
    return d->state == SHARD_WITHDRAWING || d->state == SHARD_RESIGNING;
}

/* Leads it, or may: whoever hears of the end of that hears LOST. */
static inline bool evzk__shard_held(const struct shard *d)
{
    return d->state == SHARD_ELECTED || d->state == SHARD_LEADING;
}

/* What can be in trouble, and is tried again in a while. */
enum evzk__trouble {
    EVZK__TROUBLE_MEMBER,  /* Our place among the members. */
    EVZK__TROUBLE_PLAN,    /* Reading the plan. */
    EVZK__TROUBLE_PLANNER, /* Making it. */
    EVZK__TROUBLES
};

/* What must have been so for a while before it is acted upon. */
struct evzk__suspicion {
    enum { EVZK__UNSUSPECTED, EVZK__SUSPECTED, EVZK__LASTING } state;
    int64_t since;
};

/* In this order; from DRAINING on nothing is ours any more. */
enum evzk__shards_phase {
    EVZK__SHARDS_JOINED,
    EVZK__SHARDS_DRAINING,  /* Hands over what it leads. */
    EVZK__SHARDS_GIVING_UP, /* Waits for nobody to take that. */
    EVZK__SHARDS_ENDED
};

struct recipient; /* A member to whom the plan gives shards that we lead. */

struct evzk_shards {
    evzk_session *s;      /* With a reference. */
    char *path, *members; /* Owned. */
    uint32_t count;
    struct evzk__member self; /* What others are told of us; data is owned. */
    bool acknowledge;         /* The application does, for each shard. */
    evzk_shard_cb *shard_cb;
    evzk_shards_cb *cb; /* NULL once the application has freed us. */
    void *arg;
    unsigned calls_out; /* Callbacks of the application on the stack. */
    enum evzk__shards_phase phase;

    /* The member. */
    evzk_lock *member;         /* Owned; NULL: we are no member now. */
    char node[EVZK__NAME_MAX]; /* Its newest znode; "": it never had one. */
    char former_node[EVZK__NAME_MAX];       /* And the znode before that. */
    struct evzk__node_watch *members_watch; /* Owned: while it drains. */
    /* Our member's znode stands behind one that no session owns.  LASTING: and
     * no plan named us in all that time. */
    struct evzk__suspicion behind_unowned;
    struct evzk__planner *planner; /* Owned; NULL: another makes the plans. */

    /* The plan. */
    struct evzk__node_watch *plan_watch; /* Owned. */
    struct evzk__plan plan;
    uint64_t plan_zxid; /* Of the transaction that wrote it; 0: none. */
    struct evzk__stat plan_stat; /* Of its znode, as it was read last. */
    uint16_t me;                 /* Our index in its members, or NOBODY. */
    bool balanced_told;          /* Of this plan. */
    /* Plans for another number of shards name us, and no other plan does.
     * LASTING: the plan is being read, to see whether one still does. */
    struct evzk__suspicion other_count;
    /* The plan that was read last was for another number of shards: it is read
     * again when we have a znode, which it may name. */
    bool reread_once_placed;

    /* What is handed over, and taken over. */
    struct evzk__write_once *ready_write; /* Owned. */
    uint64_t ready_for; /* We have said, or are about to say, that we are ready
                           for the plan of this zxid. */
    LIST_HEAD(, recipient) recipients;

    /* The step. */
    struct evzk__timer *step_timer, *drain_timer;
    uint32_t next_shard; /* At which the step goes on. */
    int64_t again_us; /* When it has looked at all shards, it begins again after
                         so long; 0: it does not. */

    /* What is tried again. */
    struct evzk__timer *mend_timer; /* Always runs ... */
    bool mends_soon;                /* ... and is due in a few seconds. */
    struct {
        int rc;     /* EVZK_OK: in none. */
        bool waits; /* Until the mend timer fires. */
    } trouble[EVZK__TROUBLES];

    uint32_t candidates; /* Elections of shards in which we stand. */
    uint32_t unplaced;   /* Of these have no znode yet. */
    uint32_t elected, leading, resigning;
    uint64_t moves;
    struct shard shard[];
};

enum {
    EVZK__SHARDS_RETRY_US = 500000, /* Where there was no memory. */
    EVZK__RECIPIENT_PATIENCE_US = 1000000,
    EVZK__SHARDS_CALM_US = 30000000, /* Where all seems well. */
    EVZK__LEAVING = 32 /* Handed over at a time: each is led by nobody for a
                          trip or two, and not while it waits for the others. */
};

/* ---- shards/common.c ---- */

/* Compares what is with what is planned, from the next turn of the loop on. */
void evzk__shards_begin_step(struct evzk_shards *a);

/* Has it begin again after so long, or sooner: for want of memory, or because a
 * recipient has enough for the moment. */
void evzk__shards_step_again(struct evzk_shards *a, int64_t delay_us);

/* Its election's; `to` has room for a path. */
void evzk__shard_print_path(const struct evzk_shards *a, uint32_t i, char *to);

/* Is this one of the plan us, or was, before we came back as another? */
bool evzk__shards_is_self(const struct evzk_shards *a, uint16_t member);

/* Is it to make the plans? */
bool evzk__shards_plans(const struct evzk_shards *a);

void evzk__shards_stop_planning(struct evzk_shards *a);
void evzk__shards_destroy(struct evzk_shards *a);

/* False: the caller has freed us. */
bool evzk__shards_tell(struct evzk_shards *a, evzk_shards_event ev, int rc);
bool evzk__shard_tell(struct shard *d, evzk_election_event ev, int rc);

/* That it is lost, of one that was forgotten: it had this epoch. */
bool evzk__shard_tell_lost(struct shard *d, uint64_t epoch, int rc);

/* ---- shards/trouble.c ---- */

/* What is so from now on, with a word to the log when that is news; EVZK_OK: it
 * is over.  What is in trouble waits, and is then tried again by the step. */
void evzk__shards_troubled(struct evzk_shards *a, enum evzk__trouble which,
                           int rc);

/* The same for what is no trouble of all: a shard, a recipient, a write. */
void evzk__shards_mend_soon(struct evzk_shards *a);

/* ---- shards/handover.c ---- */

/* May it be let go now?  What the plan still gives to us is for the next one.
 */
bool evzk__shard_may_go(struct evzk_shards *a, uint32_t i);

/* Does another stand there, who is to have it? */
bool evzk__shard_has_recipient(const struct shard *d);

/* It was let go; and it has gone: the recipient may take it. */
void evzk__recipient_given(struct shard *d);
void evzk__recipient_free_to_take(struct shard *d);

/* Looks again at those that are not ready, as far as was heard. */
void evzk__recipients_look_again(struct evzk_shards *a);

/* There is a new plan, or nothing to plan any more. */
void evzk__shards_drop_recipients(struct evzk_shards *a);

/* ---- shards/shard.c ---- */

/* Stands for a shard; says what it is led with; stands down, or resigns (false:
 * the caller has freed us); and, when that has ended, or does not matter any
 * more, forgets it. */
void evzk__shard_start(struct evzk_shards *a, uint32_t i);
bool evzk__shard_say(struct shard *d);
bool evzk__shard_let_go(struct shard *d);
void evzk__shard_forget(struct shard *d);

/* ---- shards/end.c ---- */

/* Is at its end, and tells so: first of each shard that was led, then of all.
 * May free us. */
void evzk__shards_fail(struct evzk_shards *a, int rc);

/* Lets go of everything but the calls' own. */
void evzk__shards_stop(struct evzk_shards *a);

/* ---- shards/member.c ---- */

/* Stands as a member, begins to follow the plan.  0 or an error. */
int evzk__shards_stand(struct evzk_shards *a);
int evzk__shards_watch_plan(struct evzk_shards *a);

/* Begins to watch who else is a member, for one that drains: when there is
 * nobody, nobody is waited for.  0 or an error. */
int evzk__shards_watch_members(struct evzk_shards *a);

/* ---- shards/step.c, shards/mend.c: the timers' ---- */

void evzk__shards_step(void *shards);
void evzk__shards_mend(void *shards);

#endif
