/* Shared by the files of the shards.  The files from the ground up; no file
 * calls one above it:
 *
 *   shards/share.c             how many shards each member gets, and which
 *   shards/plan*.c             the plan (shards/plan.h), and the planner
 *   shards/names.c             the names of shards
 *   shards/common.c            helpers of the other files; calling back
 *   shards/trouble.c           operations that fail now, and are tried again
 *   shards/handover.c          recipients: the members to whom shards go
 *   shards/shard.c             one shard
 *   shards/end.c               the end of the object
 *   shards/member.c            the member, and the plan that it follows
 *   shards/step.c              the step, which makes each shard as planned
 *   shards/mend.c              tries again
 *   shards/join.c              joining
 *   shards/calls.c             the other calls
 *
 * The znodes:
 *
 *   <path>/members/<guid>-n_<seq>    the members: an election, whose first
 *                                    candidate makes the plans
 *   <path>/plan                      which member is to lead which shard
 *   <path>/shard-<i>/...             the election of a shard, ...
 *   <path>/task-<name>/...           ... or of a shard that has a name
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
#define EVZK__SHARDS_TASK "task-"

/* The state of a member's candidate in a shard's election. */
enum shard_state {
    SHARD_NOT_OURS,    /* No candidate. */
    SHARD_CANDIDATE,   /* Waits to be elected. */
    SHARD_WITHDRAWING, /* Not elected; its znode is being deleted. */
    SHARD_ELECTED,     /* ELECTED was told.  This and the later states count as
                          elected. */
    SHARD_LEADING,     /* Its `leader` znode exists, and LEADING was told. */
    SHARD_RESIGNING    /* RESIGNED was told; its znode is being deleted. */
};

/* Is a shard tried again, whose candidate or `leader` znode was refused? */
enum shard_refused {
    SHARD_TRIED,   /* No server refuses it. */
    SHARD_REFUSED, /* Not before the next plan or mend timer. */
    SHARD_BARRED   /* Not before the next plan: the servers hang up at it. */
};

struct shard {
    struct evzk_shards *all;
    evzk_lock *l;    /* Owned: its place in the election; NULL: NOT_OURS. */
    uint64_t lost;   /* The epoch that has ended, while LOST is told; or 0. */
    uint8_t state;   /* SHARD_* */
    bool placed : 1; /* Its znode exists. */
    bool led : 1;    /* Was LEADING; also true in RESIGNING. */
    bool refusal_told : 1; /* Of this plan. */
    uint8_t refused;       /* enum shard_refused */
};

static inline bool evzk__shard_elected(const struct shard *d)
{
    return d->state >= SHARD_ELECTED;
}

/* The candidate has been told to go, and its end is awaited. */
static inline bool evzk__shard_leaves(const struct shard *d)
{
    return d->state == SHARD_WITHDRAWING || d->state == SHARD_RESIGNING;
}

/* When this ends by itself, LOST is told. */
static inline bool evzk__shard_held(const struct shard *d)
{
    return d->state == SHARD_ELECTED || d->state == SHARD_LEADING;
}

/* Operations that may fail for a while, and are tried again. */
enum evzk__trouble {
    EVZK__TROUBLE_MEMBER,  /* Our place among the members. */
    EVZK__TROUBLE_PLAN,    /* Reading the plan. */
    EVZK__TROUBLE_PLANNER, /* Making the plan. */
    EVZK__TROUBLES
};

/* A state of affairs that is acted upon only when it has lasted for a while. */
struct evzk__suspicion {
    enum { EVZK__UNSUSPECTED, EVZK__SUSPECTED, EVZK__LASTING } state;
    int64_t since;
};

/* In this order.  From DRAINING on no shard is to be ours. */
enum evzk__shards_phase {
    EVZK__SHARDS_JOINED,
    EVZK__SHARDS_DRAINING,  /* Hands over its shards. */
    EVZK__SHARDS_GIVING_UP, /* Lets go of its shards, recipient ready or not. */
    EVZK__SHARDS_ENDED
};

struct recipient; /* A member to whom the plan gives shards that we lead. */

struct evzk_shards {
    evzk_session *s; /* With a reference. */
    struct evzk__resident in_session;
    char *path, *members; /* Owned. */
    uint32_t count;
    char **names; /* Owned, with all that is in it: one block, in order.  NULL:
                     the shards are numbered. */
    struct evzk__member self; /* Our entry in plans; data is owned. */
    bool acknowledge;         /* The application acknowledges each shard. */
    evzk_shard_cb *shard_cb;
    evzk_shards_cb *cb; /* NULL once the application has freed us. */
    void *arg;
    unsigned calls_out; /* Callbacks of the application on the stack. */
    enum evzk__shards_phase phase;

    /* The member. */
    evzk_lock *member;                /* Owned; NULL: we are no member now. */
    char node[EVZK__NAME_MAX];        /* Its newest znode; "": none yet. */
    char former_node[EVZK__NAME_MAX]; /* And the znode before that. */
    struct evzk__node_watch *members_watch; /* Owned: while draining. */
    /* Our member's znode is right behind a znode that no session owns.
     * LASTING: and in all that time no plan named us. */
    struct evzk__suspicion behind_unowned;
    int left_rc; /* Draining: why a znode could not be deleted, the first. */
    struct evzk__planner *planner; /* Owned; NULL: another member plans. */

    /* The plan. */
    struct evzk__node_watch *plan_watch; /* Owned. */
    struct evzk__plan plan;
    uint64_t plan_zxid; /* Of the transaction that wrote it; 0: none. */
    struct evzk__stat plan_stat; /* Of its znode, as it was read last. */
    uint16_t me;                 /* Our index in its members, or NOBODY. */
    bool balanced_told;          /* Of this plan. */
    /* Plans for other shards name us, and no other plan does.
     * LASTING: the plan is being read, to see whether one still does. */
    struct evzk__suspicion other_shards;
    /* The plan that was read last was for other shards.  When we
     * get a znode, which that plan may name, the plan is read again. */
    bool reread_once_placed;

    /* Handing over. */
    struct evzk__write_once *ready_write; /* Owned. */
    uint64_t ready_for; /* We have said, or are about to say, that we are ready
                           for the plan of this zxid. */
    LIST_HEAD(, recipient) recipients;

    /* The step. */
    struct evzk__timer *step_timer, *drain_timer;
    uint32_t next_shard; /* The shard at which the step goes on. */
    int64_t again_us; /* After all shards, the step begins again in so long; 0:
                         not by itself. */

    /* Trying again. */
    struct evzk__timer *mend_timer; /* Runs ... */
    bool mends_soon;                /* ... if it is due in a few seconds. */
    struct {
        int rc;         /* EVZK_OK: no trouble. */
        unsigned waits; /* Until the mend timer has fired so often. */
    } trouble[EVZK__TROUBLES];

    uint32_t candidates; /* Elections of shards in which we stand. */
    uint32_t unplaced;   /* Candidates that have no znode yet. */
    uint32_t elected, leading, resigning;
    uint64_t moves;
    struct shard shard[];
};

enum {
    EVZK__SHARDS_RETRY_US = 500000, /* For want of memory. */
    EVZK__RECIPIENT_PATIENCE_US = 1000000,
    EVZK__SHARDS_RESTS = 6, /* Times of the mend timer: what servers hang up at
                               is tried again in half a minute. */
    EVZK__LEAVING = 32 /* Handed over at a time: each shard has no leader for a
                          trip or two, and not while it waits for the others. */
};

/* ---- shards/names.c ---- */

/* The rule that a name breaks; or NULL. */
const char *evzk__shard_name_fault(const char *name);

/* A sorted copy in one block, owned by the caller; NULL: no memory. */
char **evzk__shard_names_copy(const char *const *names, uint32_t n);

/* Are all of these sorted names different?  And their fingerprint, never 0. */
bool evzk__shard_names_differ(char *const *names, uint32_t n);
uint64_t evzk__shard_names_print(char *const *names, uint32_t n);

/* ---- shards/common.c ---- */

/* Has the step compare all shards with the plan, from the loop's next step on.
 */
void evzk__shards_begin_step(struct evzk_shards *a);

/* Has the step begin again after so long, or sooner: for want of memory, or
 * because a recipient has enough for the moment. */
void evzk__shards_step_again(struct evzk_shards *a, int64_t delay_us);

/* Its shards, to be compared with those of a plan. */
struct evzk__shard_list evzk__shards_list(const struct evzk_shards *a);

/* The path of the shard's election; `to` has room for any path. */
void evzk__shard_print_path(const struct evzk_shards *a, uint32_t i, char *to);

/* Does this entry of the plan name our znode, or our former one? */
bool evzk__shards_is_self(const struct evzk_shards *a, uint16_t member);

/* Is this member to make the plans? */
bool evzk__shards_plans(const struct evzk_shards *a);

void evzk__shards_stop_planning(struct evzk_shards *a);
void evzk__shards_destroy(struct evzk_shards *a);
/* A candidate or the member has ended while it drains: is its znode left? */
void evzk__shards_note_left(struct evzk_shards *a, const evzk_lock *l,
                            evzk_lock_event ev, int rc);

/* Call the application back.  False: it has freed the shards. */
bool evzk__shards_tell(struct evzk_shards *a, evzk_shards_event ev, int rc);
bool evzk__shard_tell(struct shard *d, evzk_election_event ev, int rc);

/* Tells LOST of a shard that was forgotten, and had this epoch. */
bool evzk__shard_tell_lost(struct shard *d, uint64_t epoch, int rc);

/* ---- shards/trouble.c ---- */

/* Notes the trouble, with a line in the log if it is new; EVZK_OK: it is over.
 * The step does not try again before the mend timer fires. */
void evzk__shards_troubled(struct evzk_shards *a, enum evzk__trouble which,
                           int rc);

/* The mend timer fires in a few seconds: for one shard, recipient or write. */
void evzk__shards_mend_soon(struct evzk_shards *a);

/* ---- shards/handover.c ---- */

/* May this shard be let go now?  Not a shard that the plan still gives to us.
 */
bool evzk__shard_may_go(struct evzk_shards *a, uint32_t i);

/* Does it go to a recipient that is waited for? */
bool evzk__shard_has_recipient(const struct shard *d);

/* The shard was let go; later: our candidate has gone. */
void evzk__recipient_given(struct shard *d);
void evzk__recipient_free_to_take(struct shard *d);

/* Reads again the znodes of recipients that are not ready, as far as is known.
 */
void evzk__recipients_look_again(struct evzk_shards *a);

/* For a new plan, and at the end. */
void evzk__shards_drop_recipients(struct evzk_shards *a);

/* ---- shards/shard.c ---- */

/* Stand in the shard's election; make the `leader` znode (false: no memory);
 * withdraw or resign (false: the application has freed the shards); and forget
 * the candidate, when it has ended or does not matter any more. */
void evzk__shard_start(struct evzk_shards *a, uint32_t i);
bool evzk__shard_say(struct shard *d);
bool evzk__shard_let_go(struct shard *d);
void evzk__shard_forget(struct shard *d);

/* There is another plan: what was refused is tried again, and told. */
void evzk__shard_try(struct shard *d);

/* ---- shards/end.c ---- */

/* Ends the object: tells LOST of each shard that was led, then FAILED.  The
 * application may free the shards. */
void evzk__shards_fail(struct evzk_shards *a, int rc);

void evzk__shards_closed(struct evzk__resident *r);

/* Ends the object without a callback. */
void evzk__shards_stop(struct evzk_shards *a);

/* ---- shards/member.c ---- */

/* Stand as a member; watch the plan.  0 or an error. */
int evzk__shards_stand(struct evzk_shards *a);
int evzk__shards_watch_plan(struct evzk_shards *a);

/* Watches the list of members, while this one drains: without another member,
 * none is waited for.  0 or an error. */
int evzk__shards_watch_members(struct evzk_shards *a);

/* ---- shards/step.c, shards/mend.c: the timers' ---- */

void evzk__shards_step(void *shards);
void evzk__shards_mend(void *shards);

#endif
