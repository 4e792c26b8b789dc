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
#include "lib/machine/rows.h"
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
#define LOCK(state, enter, react, ...) \
    ROW(state, evzk__lock_##enter, evzk__lock_##react, __VA_ARGS__)
static const struct evzk__row rows[STATES] = {
/* A session's end ends a lock that is not to queue again, or is to stop.  What is rare in WATCHING and where
 * it is held, only patient locks do: see lock/patient.c.
 *   state           entry          reaction        main        on stop   on expiry  flags */
LOCK(CREATING,       create,        created,        LISTING,    STAY,     CREATING,  FRESH,
     ON(REPLY,       LISTING, WATCHING, CONFIRMING, HELD, ENTERING, MAKING_PARENTS, RESOLVING, DELETING, FAIL),
     RARELY(REPLY,   CREATING),
     ON(STOP,        DELETING, RESOLVING, ENDED),
     RARELY(ENTRY,   ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(MAKING_PARENTS, make_parents,  parents_made,   ASIDE,      STAY,     CREATING,  FRESH,
     ON(REPLY,       CREATING, FAIL),
     ON(STOP,        ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(RESOLVING,      resolve,       resolved,       ASIDE,      STAY,     CREATING,  RETRY,
     ON(REPLY,       ADOPTING, CREATING, LISTING),
     RARELY(REPLY,   DELETING, FAIL),
     ON(STOP,        ADOPTING, DELETING, ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(ADOPTING,       adopt,         adopted,        ASIDE,      STAY,     CREATING,  RETRY,
     ON(REPLY,       LISTING, RESOLVING),
     RARELY(REPLY,   DELETING),
     ON(STOP,        RESOLVING, DELETING),
     ON(EXPIRED,     ENDED)),
LOCK(LISTING,        list,          listed,         WATCHING,   DELETING, CREATING,  RETRY,
     ON(REPLY,       WATCHING, CONFIRMING, HELD, ENTERING, LISTING, CREATING, FORGETTING, ENDED, FAIL),
     ON(EXPIRED,     ENDED)),
LOCK(WATCHING,       watch,         watched,        CONFIRMING, DELETING, CREATING,  RETRY,
     ON(REPLY,       LISTING, CREATING, FORGETTING, ENDED, FAIL, HERE),
     ON(OWN_DELETED, CREATING, ENDED),
     ON(OWN_CHANGED, WATCHING),
     ON(PRED_DELETED, CONFIRMING, HELD, LISTING),
     RARELY(PRED_CHANGED, WATCHING, LISTING),
     ON(LINGERED,    WATCHING),
     RARELY(OWN_CHANGED, LISTING), RARELY(LINGERED, LISTING),
     ON(USER_EVENT,  LISTING),
     ON(EXPIRED,     ENDED)),
LOCK(CONFIRMING,     read_own,      confirmed,      HELD,       DELETING, CREATING,  RETRY|HOLDS,
     ON(REPLY,       HELD, LISTING, ENTERING, CREATING, FORGETTING, ENDED, HERE),
     RARELY(REPLY,   FAIL),
     ON(OWN_DELETED, CREATING),
     RARELY(OWN_DELETED, ENDED),
     ON(OWN_CHANGED, CONFIRMING),
     RARELY(PRED_CHANGED, CONFIRMING),
     ON(EXPIRED,     ENDED)),
LOCK(HELD,           hold,          still_held,     DELETING,   DELETING, ENDED,     RETRY|HOLDS,
     ON(REPLY,       ENDED, HERE),
     ON(OWN_DELETED, ENDED),
     ON(OWN_CHANGED, HELD),
     RARELY(PRED_CHANGED, HELD),
     ON(LINGERED,    HELD),
     ON(USER_EVENT,  SWAPPING, ANNOUNCING, HELD, HERE)),
LOCK(ENTERING,       enter_queue,   entered,        ASIDE,      STAY,     CREATING,  UNSENT,
     ON(ENTRY,       CONFIRMING),
     RARELY(ENTRY,   DELETING),
     ON(REPLY,       LISTING, WATCHING, RESOLVING, CREATING, ENDED),
     RARELY(REPLY,   DELETING),
     ON(STOP,        DELETING, RESOLVING),
     ON(EXPIRED,     ENDED)),
LOCK(SWAPPING,       become_reader, became_reader,  ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(ENTRY,       CHECKING_SWAP),
     ON(REPLY,       HELD),
     ON(STOP,        DELETING)),
LOCK(ANNOUNCING,     announce,      announced,      ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(ENTRY,       HELD, LEADING, DELETING),
     ON(REPLY,       LEADING, HELD, ENDED),
     ON(STOP,        DELETING)),
LOCK(LEADING,        hold,          still_held,     ASIDE,      DELETING, ENDED,     RETRY|HOLDS,
     ON(REPLY,       ENDED, HERE),
     ON(OWN_DELETED, ENDED),
     ON(OWN_CHANGED, LEADING),
     RARELY(PRED_CHANGED, LEADING),
     ON(LINGERED,    LEADING),
     ON(USER_EVENT,  ANNOUNCING, LEADING),
     RARELY(USER_EVENT, HERE)),
LOCK(FORGETTING,     forget_own,    forgotten,      ASIDE,      STAY,     CREATING,  0,
     ON(REPLY,       CREATING),
     ON(STOP,        ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(CHECKING_SWAP,  check,         checked_swap,   ASIDE,      STAY,     ENDED,     RETRY|HOLDS,
     ON(REPLY,       SWAPPING, HELD),
     RARELY(REPLY,   DELETING),
     ON(STOP,        DELETING)),
LOCK(CHECKING,       check,         checked,        ASIDE,      STAY,     ENDED,     RETRY,
     ON(REPLY,       DELETING, ENDED)),
LOCK(SETTLING_LEADER, settle_leader, settled_leader, ASIDE,     STAY,     ENDED,     RETRY,
     ON(REPLY,       CHECKING_LEADER)),
LOCK(CHECKING_LEADER, check_leader, checked_leader, ASIDE,      STAY,     ENDED,     RETRY,
     ON(REPLY,       DELETING)),
LOCK(DELETING,       drop,          dropped,        ENDED,      STAY,     ENDED,     RETRY,
     ON(ENTRY,       CHECKING, SETTLING_LEADER, CHECKING_LEADER),
     ON(REPLY,       ENDED)),
END(ENDED,           evzk__lock_end),
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
    .without = TO(ANNOUNCING, LEADING, SETTLING_LEADER, CHECKING_LEADER)};

/* Nobody comes into the queue from elsewhere, or is asked while it waits. */
static const struct evzk__never never_elected[] = {
    {.state = RESOLVING,
     .cause = EVZK__ON_REPLY,
     .next = TO(LISTING, DELETING)},
    {.state = RESOLVING, .cause = EVZK__ON_STOP, .next = TO(DELETING)},
    {.state = CONFIRMING, .cause = EVZK__ON_REPLY, .next = TO(LISTING)},
    {.state = WATCHING, .cause = EVZK__ON_USER_EVENT, .next = TO(LISTING)},
    {.state = WATCHING,
     .cause = EVZK__ON_REPLY,
     .next = TO(DELETING, ENDED),
     .rarely = true},
    {.state = WATCHING,
     .cause = EVZK__ON_OWN_DELETED,
     .next = TO(ENDED),
     .rarely = true},
    {.state = HELD,
     .cause = EVZK__ON_USER_EVENT,
     .next = TO(HELD, HERE),
     .rarely = true},
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
    .without = TO(ENTERING, SWAPPING, CHECKING_SWAP),
    .never = never_elected};
