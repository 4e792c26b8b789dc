/* The shards, as their steps (shards.c) and their calls (shards_calls.c) know
 * them.  Where things are:
 *
 *   <path>/members/<guid>-n_<seq>    who has joined: an election; its first one
 *                                    makes the plans
 *   <path>/plan                      who is to lead which: see shards_plan.c
 *   <path>/shard-<i>/...             the election of a shard
 */
#ifndef EVZK_SHARDS_OWN_H
#define EVZK_SHARDS_OWN_H

#include "evzk/shards.h"
#include "lib/loop.h"
#include "recipes/follow.h"
#include "recipes/lock_own.h"
#include "recipes/once.h"
#include "recipes/shards_plan.h"
#include "recipes/shards_planner.h"

#define EVZK__SHARDS_MEMBERS "members"
#define EVZK__SHARDS_PLAN "plan"
#define EVZK__SHARDS_SHARD "shard-"

struct shard {
    struct evzk_shards *all;
    evzk_lock *l;    /* Owned; NULL: it does not stand. */
    bool placed : 1; /* Its znode is there. */
    bool elected : 1, leading : 1;
    bool resigning : 1; /* It has told so. */
    bool leaving : 1;   /* It was not elected, and stands no longer. */
    bool failed : 1;    /* Not before the next plan. */
};

/* One to whom shards are to go. */
struct taker {
    LIST_ENTRY(taker) link;
    struct evzk_shards *all;
    struct evzk__follow *follow; /* Owned; of its znode. */
    uint64_t ready;              /* For this plan. */
    uint16_t member;             /* Of the present plan. */
};

struct evzk_shards {
    evzk_session *s;      /* With a reference. */
    char *path, *members; /* Owned. */
    uint32_t count;
    struct evzk__member self; /* Its data is owned. */
    bool acknowledge;
    evzk_shard_cb *shard_cb;
    evzk_shards_cb *cb; /* NULL once the caller freed us. */
    void *arg;
    unsigned busy; /* Calls out on the stack. */

    evzk_lock *member;             /* Owned; NULL: none any more. */
    char own[EVZK__NAME_MAX];      /* Its last znode; "": there was none. */
    struct evzk__planner *planner; /* Owned, as are these. */
    struct evzk__follow *follow;
    struct evzk__once *saying; /* That we are ready. */
    LIST_HEAD(, taker) takers;
    struct evzk__plan plan;
    struct evzk__stat plan_at; /* Of its znode. */
    uint16_t me;               /* Of its members; EVZK__NOBODY. */
    uint64_t said; /* The plan for which we said so, or are saying it. */
    bool balanced; /* That was told, of this plan. */
    bool differs;  /* The last one was of another number of shards. */

    struct evzk__timer *timer, *deadline;
    uint32_t at;       /* The shard that the step looks at next. */
    uint32_t standing; /* In so many elections. */
    uint32_t unplaced; /* Of these have no znode yet. */
    uint32_t elected, leading, resigning;
    uint64_t moves;
    bool draining; /* Nothing is ours any more. */
    bool give_up;  /* And we wait for nobody to take it. */
    bool ended;
    bool retry; /* There was no memory for something. */
    struct shard shard[];
};

/* Stands as a member.  0 or an error. */
int evzk__shards_stand(struct evzk_shards *a);

/* Begins to follow the plan.  0 or an error. */
int evzk__shards_follow(struct evzk_shards *a);

/* Compares what is with what is planned, from the next turn of the loop on. */
void evzk__shards_begin_step(struct evzk_shards *a);
void evzk__shards_step(void *shards);

/* Lets go of everything but the calls' own. */
void evzk__shards_stop(struct evzk_shards *a);
void evzk__shards_destroy(struct evzk_shards *a);

#endif
