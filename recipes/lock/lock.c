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
 *   CREATING <--> MAKING_PARENTS
 *    |  ^  \
 *    |  |   `--> RESOLVING <-> ADOPTING     (the create's outcome is unknown)
 *    v  |                         |
 *   LISTING <---------------------'
 *    |  ^
 *    |  `-----> WATCHING     (somebody is before us)
 *    v
 *   CONFIRMING --> HELD --> DELETING <--> CHECKING
 *                  ^  |        |
 *                  |  |        `--> ENDED
 *                  |  `--> VERIFYING, SWAPPING ...
 *                  `------------------'
 *
 * The rows are those of blocks: coming and waiting (contend_rows.h), which
 * elections have, too; the room before the queue for locks with a priority
 * (priority_rows.h), passed before LISTING; and the way from a write lock to a
 * read lock (downgrade_rows.h).  An election is in election/table.c.
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

#include "lib/machine/rows.h"
#include "recipes/kinds.h"

enum { ENDED = LOCK_ENDED };

#define CREATED_ALSO , PRIO_LISTING, PRIO_WATCHING, ENTERING
#define ADOPTED_ALSO , PRIO_LISTING
#define WATCHING_ENDS                                                          \
    ON(REPLY, LISTING, CREATING, FORGETTING, ENDED, FAIL, HERE),               \
        ON(OWN_DELETED, CREATING, ENDED), ON(USER_EVENT, LISTING)

/* clang-format off */
static const struct evzk__row rows[LOCK_STATES] = {
#include "recipes/lock/contend_rows.h"
#include "recipes/lock/priority_rows.h"
/*   state           entry          reaction        main        on stop   on expiry  flags */
LOCK(HELD,           hold,          held_or_asked,  DELETING,   DELETING, ENDED,     RETRY|HOLDS,
     ON(ENTRY,       VERIFYING),
     ON(OWN_DELETED, ENDED),
     ON(OWN_CHANGED, VERIFYING, HERE),
     RARELY(PRED_CHANGED, VERIFYING, HERE),
     ON(LINGERED,    VERIFYING, HERE),
     ON(USER_EVENT,  SWAPPING, CHECKING_WRITER, HERE),
     ON(EXPIRED,     NEVER)),
LOCK(VERIFYING,      verify_held,   verified_or_asked, ASIDE,   DELETING, ENDED,     RETRY|HOLDS,
     ON(REPLY,       HELD, ENDED, HERE),
     RARELY(OWN_DELETED, ENDED), RARELY(OWN_CHANGED, VERIFYING),
     RARELY(PRED_CHANGED, VERIFYING), RARELY(LINGERED, VERIFYING),
     ON(USER_EVENT,  SWAPPING),
     RARELY(USER_EVENT, CHECKING_WRITER, HERE)),
#include "recipes/lock/downgrade_rows.h"
LOCK(CHECKING,       check,         checked,        ASIDE,      STAY,     ENDED,     RETRY,
     ON(REPLY,       DELETING, ENDED)),
LOCK(DELETING,       drop,          dropped,        ENDED,      STAY,     ENDED,     RETRY,
     ON(ENTRY,       CHECKING),
     ON(REPLY,       ENDED)),
END(ENDED,           evzk__lock_end),
};
/* clang-format on */

const struct evzk__kind evzk__lock_kind = {.name = "lock",
                                           .marks = evzk__lock_marks,
                                           .rows = rows,
                                           .n_rows = LOCK_STATES,
                                           .late = evzk__lock_late,
                                           .destroy = evzk__lock_destroy,
                                           .over = evzk__lock_over};
