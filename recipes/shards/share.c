/* Shares tasks out: how many each member gets, and which.
 *
 * Each member gets its share: its part by weight, rounded down.  The tasks that
 * are left over go one by one to members that have more than that already, then
 * to the others.  Each member keeps its tasks, up to its share.  Tasks above a
 * member's share, and tasks without a member, go in turn to members with less
 * than their share.  So no task moves that could stay.
 *
 * How it can fail: not at all.  There is no memory to be had and nothing to
 * wait for; the caller checks that each owner is a member.
 */
#include "recipes/shards/share.h"

static uint32_t limit_of(const struct evzk__share *s)
{
    return s->weight == 0 ? 0 : s->most ? s->most : UINT32_MAX;
}

/* The weight of the members that are not full, and the tasks for them. */
static uint64_t open_weight(const struct evzk__share *s, uint32_t n_members,
                            uint32_t n_tasks, uint32_t *left)
{
    uint64_t weight = 0;

    *left = n_tasks;
    for (uint32_t i = 0; i < n_members; i++) {
        if (s[i].full)
            *left -= s[i].want;
        else
            weight += s[i].weight;
    }
    return weight;
}

/* A member's part of the tasks that are left, by weight.  True: the member has
 * reached its limit, and is full. */
static bool share_one(struct evzk__share *s, uint64_t weight, uint32_t left)
{
    uint32_t limit = limit_of(s);

    s->want = weight ? (uint32_t)(s->weight * (uint64_t)left / weight) : 0;
    if (s->want < limit)
        return false;
    s->want = limit;
    s->full = true;
    return true;
}

/* Shares by weight, rounded down.  A member that reaches its limit is full, and
 * the others share what it leaves.  Returns how many tasks are left over. */
static uint32_t share_by_weight(struct evzk__share *s, uint32_t n_members,
                                uint32_t n_tasks)
{
    for (;;) {
        uint32_t left, given = 0;
        uint64_t weight = open_weight(s, n_members, n_tasks, &left);
        bool again = false;

        for (uint32_t i = 0; i < n_members; i++) {
            if (s[i].full)
                continue;
            if (share_one(&s[i], weight, left))
                again = true;
            given += s[i].want;
        }
        if (!again)
            return left - given;
    }
}

/* The tasks left over, fewer than there are members: one each, first to members
 * that have more than their share already. */
static void share_rest(struct evzk__share *s, uint32_t n_members, uint32_t left)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < n_members && left > 0; i++) {
            if (s[i].full || (round == 0 && s[i].have <= s[i].want))
                continue;
            s[i].want++;
            s[i].full = true; /* One for each. */
            left--;
        }
    }
}

static void find_shares(struct evzk__share *s, uint32_t n_members,
                        const uint16_t *owner, uint32_t n_tasks)
{
    for (uint32_t i = 0; i < n_tasks; i++) {
        if (owner[i] != EVZK__SHARE_NOBODY)
            s[owner[i]].have++;
    }
    share_rest(s, n_members, share_by_weight(s, n_members, n_tasks));
}

static uint32_t next_with_room(const struct evzk__share *s, uint32_t n_members,
                               uint32_t from)
{
    for (uint32_t n = 0; n < n_members; n++) {
        uint32_t i = (from + n) % n_members;

        if (s[i].kept < s[i].want)
            return i;
    }
    return EVZK__SHARE_NOBODY;
}

static void keep(struct evzk__share *s, uint16_t *owner, uint32_t n_tasks)
{
    for (uint32_t i = 0; i < n_tasks; i++) {
        uint16_t own = owner[i];

        if (own != EVZK__SHARE_NOBODY && s[own].kept < s[own].want)
            s[own].kept++;
        else
            owner[i] = EVZK__SHARE_NOBODY;
    }
}

static void deal(struct evzk__share *s, uint32_t n_members, uint16_t *owner,
                 uint32_t n_tasks)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n_tasks; i++) {
        if (owner[i] != EVZK__SHARE_NOBODY)
            continue;
        at = next_with_room(s, n_members, at);
        if (at == EVZK__SHARE_NOBODY)
            return; /* All members are full. */
        owner[i] = (uint16_t)at;
        s[at++].kept++;
    }
}

void evzk__share_out(struct evzk__share *s, uint32_t n_members, uint16_t *owner,
                     uint32_t n_tasks)
{
    find_shares(s, n_members, owner, n_tasks);
    keep(s, owner, n_tasks);
    deal(s, n_members, owner, n_tasks);
}

/* The shares follow from the weights, and from which members have one more
 * already: of tasks that this file shared out, they come out as they are. */
bool evzk__share_is_even(struct evzk__share *s, uint32_t n_members,
                         const uint16_t *owner, uint32_t n_tasks)
{
    find_shares(s, n_members, owner, n_tasks);
    for (uint32_t i = 0; i < n_members; i++) {
        if (s[i].have != s[i].want)
            return false;
    }
    return true;
}
