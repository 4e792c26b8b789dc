/* A plan: which member is to lead which shard.  The files from the ground up:
 *
 *   shards/plan.c        a plan, and whether two are the same
 *   shards/plan_text.c   its text, and that of a member's znode
 *   shards/share.c       how many shards each member gets, and which
 *   shards/plan_next.c   how one plan follows from another
 */
#ifndef EVZK_SHARDS_PLAN_H
#define EVZK_SHARDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/order.h"

enum {
    EVZK__PLAN_SHARDS = 65536, /* At most. */
    EVZK__PLAN_MEMBERS = 512,
    EVZK__PLAN_DATA = 1024, /* Of each member. */
    EVZK__NOBODY = 0xffff
};

/* The greatest version of a plan; the version after that is 1. */
#define EVZK__PLAN_VERSION_MAX (UINT64_MAX / 16)

/* A member.  Its strings belong to the plan. */
struct evzk__member {
    const char *name; /* Of its znode. */
    uint32_t weight;  /* Its share is by weight. */
    uint32_t most;    /* The most shards that it gets; 0: any number. */
    const void *data;
    size_t len;
    uint64_t names; /* What its znode says of the names of its shards: see
                       below.  A plan says it once, of all. */
};

/* Is that the name of a member's znode, and of no other?  Its place among
 * them. */
bool evzk__shards_is_member(const char *name, struct evzk__contender *c);

/* The shards that a member knows of, or that a plan is for. */
struct evzk__shard_list {
    uint32_t n;
    uint64_t names; /* A fingerprint of their names; 0: they are numbered. */
};

struct evzk__plan {
    uint64_t version; /* 0: the empty plan. */
    uint32_t n_shards, n_members;
    uint64_t names;              /* As in struct evzk__shard_list. */
    struct evzk__member *member; /* Owned array. */
    uint16_t *owner; /* Owned: a member for each shard, or NOBODY. */
    void *text;      /* Owned: the members' strings. */
};

/* Makes room for the plan's numbers of members and shards.  0 or
 * EVZK_ERR_NOMEM. */
int evzk__plan_room(struct evzk__plan *p);

/* The empty plan may be freed too. */
void evzk__plan_free(struct evzk__plan *p);

/* Reads the text of a znode.  0, EVZK_ERR_NOMEM, or EVZK_ERR_INVAL: it is no
 * plan, and *p is the empty one. */
int evzk__plan_parse(struct evzk__plan *p, const void *data, size_t len);

/* The text to write, owned by the caller; NULL: no memory. */
char *evzk__plan_print(const struct evzk__plan *p, size_t *len);

/* The plan that comes after `prev`, for these members, which are copied: as
 * even as their weights allow, with as few moves as that takes.  0 or
 * EVZK_ERR_NOMEM. */
int evzk__plan_next(struct evzk__plan *p, const struct evzk__plan *prev,
                    const struct evzk__member *v, uint32_t n,
                    const struct evzk__shard_list *shards);

/* The member of this name, or EVZK__NOBODY. */
uint16_t evzk__plan_find(const struct evzk__plan *p, const char *name);

/* Is the plan for these shards?  Else its numbers mean others. */
bool evzk__plan_is_of(const struct evzk__plan *p,
                      const struct evzk__shard_list *shards);

/* Are these the plan's shards and members? */
bool evzk__plan_is_for(const struct evzk__plan *p, const struct evzk__member *v,
                       uint32_t n, const struct evzk__shard_list *shards);

/* Has every member exactly its share, and is each named once?  If not, no
 * member has made the plan, and nothing in it is to be believed. */
bool evzk__plan_is_even(const struct evzk__plan *p);

/* Is the plan even, and does it hold exactly what these members say?  Then no
 * new plan is needed. */
bool evzk__plan_is_right(const struct evzk__plan *p,
                         const struct evzk__member *v, uint32_t n,
                         const struct evzk__shard_list *shards);

bool evzk__member_same(const struct evzk__member *a,
                       const struct evzk__member *b);
bool evzk__plan_same(const struct evzk__plan *a, const struct evzk__plan *b);

/* A number for the next plan: greater than both.  The greatest number of all,
 * which only a forged plan has, does not count. */
uint64_t evzk__plan_number(uint64_t seen, uint64_t known);

/* How many shards p gives to another member than prev did. */
uint32_t evzk__plan_moves(const struct evzk__plan *p,
                          const struct evzk__plan *prev);

/* The text of a member's znode: "<weight> <most> <ready>\n", and the data;
 * where the shards have names, " <names>" before the line's end. `ready`: the
 * member is ready for the plan that the transaction of this zxid wrote; 0: for
 * no plan. */
int evzk__member_print(char *out, size_t size, const struct evzk__member *m,
                       uint64_t ready);
bool evzk__member_parse(struct evzk__member *m, uint64_t *ready,
                        const void *data, size_t len);

#endif
