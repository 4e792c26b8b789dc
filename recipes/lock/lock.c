/* Locks: one ephemeral sequential znode per contender, all in one queue.
 *
 *   <guid>-lock-<seq>    holds alone; waits for the one just before its own
 *   <guid>-write-<seq>   the same, and can become a read lock
 *   <guid>-read-<seq>    holds together with others that read; waits for the
 *                        nearest before it that does not
 *
 * So one that holds alone wakes, when it leaves, all who read behind it up to
 * the next that does not, and nobody else; and who reads behind a waiting
 * writer does not pass it.  A write lock becomes a read lock by having its
 * znode changed for one that reads, of the same number, in one transaction:
 * there is no moment without it.
 *
 * In an election the same queue is that of those who stand:
 *
 *   <guid>-n_<seq>       leads alone; waits for the one just before its own
 *   leader               made by the one that leads, when it is ready to
 *
 *   CREATING <--> MAKING_PARENTS
 *    |  ^  \
 *    |  |   `--> RESOLVING <-> ADOPTING     (the create's outcome is unknown)
 *    v  |                         |
 *   LISTING <---------------------'
 *    |  ^  ^
 *    |  |  `--> WATCHING     (somebody is before us)
 *    |  `-----> ENTERING     (first in the room: see lock/enter.c)
 *    v
 *   CONFIRMING --> HELD --> DELETING --> ENDED
 *                  ^  |     |     ^
 *                  |  |     v     |
 *                  |  |    CHECKING        (is it ours? see lock/leave.c)
 *                  |  v
 *                SWAPPING <--> CHECKING_SWAP  (a write lock becomes a read
 * lock) ANNOUNCING --> LEADING       (it says that it leads)
 *
 * The full diagram, made from the table below, is in doc/lock.svg.
 *
 * How it can fail.  A create of unknown outcome is looked for by its GUID,
 * after a write that went through the leader's queue behind it (a sync does
 * not, where the leader is our server), and a GUID is used for one attempt
 * only.  A waiter that wakes looks again, since the one before it may have left
 * from the middle of the queue. Nothing is granted while the lease is in doubt,
 * however first we are: a follower that is cut off shows a queue that is no
 * more; nor on the word of an event about another's znode before the own one
 * was read behind it.  A znode that another deleted ends the lock, or sends a
 * waiter back to the end of the queue; and a znode that was put back under its
 * name counts as deleted.  A directory whose sequence numbers are used up gives
 * the last ones again and again: whoever gets one gives up.
 */
#include "recipes/lock/states.h"

#include "lib/base/mem.h"
#include "recipes/kinds.h"

static void late(struct evzk__machine *m)
{
    if (m->stopping && m->rc == EVZK_ERR_CANCELED)
        return; /* That is not over before the znode is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    evzk__lock_end_early(lock_of(m), m->rc);
}

void evzk__lock_destroy(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    evzk__lock_calm(l);
    if (l->given) {
        evzk__acl_free(&l->given->acl);
        evzk__free(l->given->data);
        evzk__free(l->given->said);
        evzk_lease_unref(l->given->lease);
    }
    evzk__free(l->given);
    evzk__free(l->pred);
    evzk__free(l);
}

/* clang-format off */
#define S(state, enter, react, on_stop, on_expiry, flags, next) \
    [state] = { #state, evzk__lock_##enter, evzk__lock_##react, on_stop, on_expiry, flags, next }
#define TO EVZK__TO
#define STAY EVZK__STAY
#define RETRY EVZK__RETRY
#define HOLDS EVZK__HOLDS
#define FRESH EVZK__FRESH
#define WATCHES EVZK__WATCHES
#define STAYS EVZK__STAYS
#define HEEDS EVZK__HEEDS
#define UNSENT EVZK__UNSENT
static const struct evzk__row rows[STATES] = {
/* state          enter           react           on stop    on expiry  flags                             may move to */
S(CREATING,        create,         created,        STAY,      CREATING,  FRESH,                            TO(CREATING)|TO(MAKING_PARENTS)|TO(RESOLVING)|TO(LISTING)|TO(WATCHING)|TO(ENTERING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(MAKING_PARENTS,  make_parents,   parents_made,   STAY,      CREATING,  FRESH,                            TO(CREATING)|TO(ENDED)),
S(RESOLVING,       resolve,        resolved,       STAY,      CREATING,  RETRY,                            TO(CREATING)|TO(ADOPTING)|TO(LISTING)|TO(DELETING)|TO(ENDED)),
S(ADOPTING,        adopt,          adopted,        STAY,      CREATING,  RETRY,                            TO(CREATING)|TO(RESOLVING)|TO(LISTING)|TO(DELETING)|TO(ENDED)),
S(LISTING,         list,           listed,         DELETING,  CREATING,  RETRY,                            TO(CREATING)|TO(LISTING)|TO(WATCHING)|TO(ENTERING)|TO(CONFIRMING)|TO(HELD)|TO(FORGETTING)|TO(DELETING)|TO(ENDED)),
S(WATCHING,        watch,          watched,        DELETING,  CREATING,  RETRY|WATCHES|STAYS|HEEDS,        TO(CREATING)|TO(LISTING)|TO(CONFIRMING)|TO(HELD)|TO(FORGETTING)|TO(DELETING)|TO(ENDED)),
S(CONFIRMING,      read_own,       confirmed,      DELETING,  CREATING,  RETRY|HOLDS|WATCHES,              TO(CREATING)|TO(LISTING)|TO(ENTERING)|TO(HELD)|TO(FORGETTING)|TO(DELETING)|TO(ENDED)),
S(HELD,            hold,           still_held,     DELETING,  ENDED,     RETRY|HOLDS|WATCHES|STAYS|HEEDS,  TO(SWAPPING)|TO(ANNOUNCING)|TO(DELETING)|TO(ENDED)),
S(ENTERING,        enter_queue,    entered,        STAY,      CREATING,  UNSENT,                           TO(CREATING)|TO(RESOLVING)|TO(CONFIRMING)|TO(LISTING)|TO(WATCHING)|TO(DELETING)|TO(ENDED)),
S(SWAPPING,        become_reader,  became_reader,  STAY,      ENDED,     RETRY|HOLDS,                      TO(HELD)|TO(CHECKING_SWAP)|TO(DELETING)|TO(ENDED)),
S(ANNOUNCING,      announce,       announced,      STAY,      ENDED,     RETRY|HOLDS,                      TO(HELD)|TO(LEADING)|TO(DELETING)|TO(ENDED)),
S(LEADING,         hold,           still_held,     DELETING,  ENDED,     RETRY|HOLDS|WATCHES|STAYS|HEEDS,  TO(ANNOUNCING)|TO(DELETING)|TO(ENDED)),
S(FORGETTING,      forget_own,     forgotten,      STAY,      CREATING,  0,                                TO(CREATING)|TO(ENDED)),
S(CHECKING_SWAP,   check,          checked_swap,   STAY,      ENDED,     RETRY|HOLDS,                      TO(HELD)|TO(SWAPPING)|TO(DELETING)|TO(ENDED)),
S(CHECKING,        check,          checked,        STAY,      ENDED,     RETRY,                            TO(DELETING)|TO(ENDED)),
S(SETTLING_LEADER, settle_leader,  settled_leader, STAY,      ENDED,     RETRY,                            TO(CHECKING_LEADER)|TO(ENDED)),
S(CHECKING_LEADER, check_leader,   checked_leader, STAY,      ENDED,     RETRY,                            TO(DELETING)|TO(ENDED)),
S(DELETING,        drop,           dropped,        STAY,      ENDED,     RETRY,                            TO(CHECKING)|TO(SETTLING_LEADER)|TO(CHECKING_LEADER)|TO(ENDED)),
[ENDED] =        {"ENDED", evzk__lock_end, NULL, STAY, STAY, EVZK__FINAL, 0},
};
/* clang-format on */

const struct evzk__kind evzk__lock_kind = {
    .name = "lock",
    .marks = evzk__lock_marks,
    .rows = rows,
    .n_rows = STATES,
    .late = late,
    .destroy = evzk__lock_destroy,
    .over = evzk__lock_over,
    .without = TO(ANNOUNCING) | TO(LEADING) | TO(SETTLING_LEADER) |
               TO(CHECKING_LEADER)};

/* Nobody comes into the queue from elsewhere, or is asked while it waits. */
static const struct evzk__never never_elected[] = {
    {.state = RESOLVING, .next = TO(LISTING) | TO(DELETING)},
    {.state = CONFIRMING, .next = TO(LISTING)},
    {.state = WATCHING, .on = EVZK__ON(EVZK__EV_ASKED)},
    {0}};

/* The same queue, and what its first one does besides. */
const struct evzk__kind evzk__election_kind = {
    .name = "election",
    .marks = evzk__lock_marks,
    .rows = rows,
    .n_rows = STATES,
    .late = late,
    .destroy = evzk__lock_destroy,
    .over = evzk__lock_over,
    .without = TO(ENTERING) | TO(SWAPPING) | TO(CHECKING_SWAP),
    .never = never_elected};
