/* Who is to lead which shard: a plan for all of them, how one follows from
 * another, and how it is written down. */
#ifndef EVZK_SHARDS_PLAN_H
#define EVZK_SHARDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVZK__PLAN_SHARDS = 65536, /* At most. */
    EVZK__PLAN_MEMBERS = 512,
    EVZK__PLAN_DATA = 1024, /* Of each member. */
    EVZK__NOBODY = 0xffff
};

/* One who can lead some.  What it points to is the plan's. */
struct evzk__member {
    const char *name; /* Of its znode. */
    uint32_t weight;  /* Its share, beside the others'. */
    uint32_t most;    /* No more than so many; 0: any number. */
    const void *data;
    size_t len;
};

struct evzk__plan {
    uint64_t version; /* 0: none was made. */
    uint32_t n_shards, n_members;
    struct evzk__member *member; /* Owned array. */
    uint16_t *owner; /* Owned: a member for each shard, or NOBODY. */
    void *text;      /* Owned: what the members point to. */
};

/* Of the empty plan, too. */
void evzk__plan_free(struct evzk__plan *p);

/* What a znode says.  0, EVZK_ERR_NOMEM, or EVZK_ERR_INVAL: it is no plan, and
 * *p is the empty one. */
int evzk__plan_parse(struct evzk__plan *p, const void *data, size_t len);

/* What is to be written; NULL: out of memory. */
char *evzk__plan_print(const struct evzk__plan *p, size_t *len);

/* The plan that comes after `prev`, for these members, who are borrowed, and
 * copied: as even as their weights allow, with as few moves as that takes.
 * 0 or EVZK_ERR_NOMEM. */
int evzk__plan_next(struct evzk__plan *p, const struct evzk__plan *prev,
                    const struct evzk__member *v, uint32_t n,
                    uint32_t n_shards);

/* The member of this name, or EVZK__NOBODY. */
uint16_t evzk__plan_find(const struct evzk__plan *p, const char *name);

/* Are these the plan's members? */
bool evzk__plan_is_for(const struct evzk__plan *p, const struct evzk__member *v,
                       uint32_t n, uint32_t n_shards);

/* Has every member just its share, and is each named once?  Only a plan that
 * nobody of us has made has not: nothing in it is to be believed. */
bool evzk__plan_is_even(const struct evzk__plan *p);

/* Is it even, and do these members say just what the plan says of them?  Then
 * there is nothing to plan. */
bool evzk__plan_is_right(const struct evzk__plan *p,
                         const struct evzk__member *v, uint32_t n,
                         uint32_t n_shards);

bool evzk__plan_same(const struct evzk__plan *a, const struct evzk__plan *b);

/* A number for the next plan: greater than both, but for the greatest there
 * is, which only a forged plan has.  That one is left out. */
uint64_t evzk__plan_number(uint64_t seen, uint64_t known);

/* How many of p's shards are another member's than in prev, which had one. */
uint32_t evzk__plan_moves(const struct evzk__plan *p,
                          const struct evzk__plan *prev);

/* What a member's znode says: "<weight> <most> <ready>\n", and its data.
 * `ready`: it stands for all that the plan gives it which was written by the
 * transaction of this zxid; 0: for none. */
int evzk__member_print(char *out, size_t size, const struct evzk__member *m,
                       uint64_t ready);
bool evzk__member_parse(struct evzk__member *m, uint64_t *ready,
                        const void *data, size_t len);

#endif
