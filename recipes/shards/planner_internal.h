/* What the files of the planner share: shards/planner_read.c is what it reads,
 * shards/planner.c its table, and what happens in the rows. */
#ifndef EVZK_SHARDS_PLANNER_INTERNAL_H
#define EVZK_SHARDS_PLANNER_INTERNAL_H

#include "recipes/shards/planner.h"

struct evzk__planner {
    struct evzk__machine m;
    struct evzk__shard_list shards;
    char **names; /* Owned, and what is in it: of the members, and the plan. */
    void **texts; /* The same: the members' data. */
    struct evzk__member *member; /* Owned array. */
    uint32_t n;                  /* Of members. */
    /* The plan that was read; the plan to be written; the last right plan. */
    struct evzk__plan prev, next, last;
    char *text; /* Owned: the text of `next`, and its length. */
    size_t len;
    struct evzk__step write;
    int32_t version; /* Of the plan's znode. */
    bool there, cut; /* A plan exists; a read was lost. */
    bool settled;    /* The wait for new members is over. */
    int64_t until;  /* End of that wait, or of the wait to write over a plan; 0:
                       no wait. */
    int64_t mended; /* When a foreign plan was last written over. */
    struct evzk__timer *timer;
    int failed;
    unsigned refused; /* Reads and writes, in a row, for no reason we know. */
    int denied;       /* A member's znode may not be read. */
    evzk__planner_cb *cb;
    void *arg;
};

/* Copies the names of the members' znodes from a listing, in their order.  0 or
 * EVZK_ERR_NOMEM. */
int evzk__planner_copy_names(struct evzk__planner *p,
                             const struct evzk__names *names);

/* Notes one answer: a member's znode, or the plan. */
void evzk__planner_note(struct evzk__planner *p,
                        const struct evzk__reply *reply);

/* Leaves out the znodes that do not count, and returns the number of members
 * that the next plan is for. */
uint32_t evzk__planner_pack(struct evzk__planner *p);

/* Forgets all that was read, and the plan to be written. */
void evzk__planner_clear(struct evzk__planner *p);

#endif
