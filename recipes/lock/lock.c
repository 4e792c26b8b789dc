/* Locks: one ephemeral sequential znode per contender, all in one queue.
 *
 *   <guid>-lock-<seq>    holds alone; waits for the one just before its own
 *   <guid>-write-<seq>   the same, and can become a read lock
 *   <guid>-read-<seq>    holds together with other readers; waits for the
 *                        nearest before it that is no reader
 *
 * So when an exclusive lock or a writer leaves, all readers behind it wake, up
 * to the next writer, and no other contender.  A reader behind a waiting writer
 * does not pass the writer.  A write lock becomes a read lock in one
 * transaction, which replaces its znode by a reader's znode of the same number:
 * there is no moment without a znode.
 *
 *   CREATING <--> MAKING_PARENTS
 *    |  ^  \
 *    |  |   `--> RESOLVING <-> ADOPTING     (the create's outcome is unknown)
 *    v  |                         |
 *   LISTING <---------------------'
 *    |  ^
 *    |  `-----> WATCHING     (a contender is before us)
 *    v
 *   CONFIRMING --> HELD --> DELETING <--> CHECKING
 *                  ^  |        |
 *                  |  |        `--> ENDED
 *                  |  `--> VERIFYING, SWAPPING ...
 *                  `------------------'
 *
 * The rows come in blocks: coming and waiting (contend_rows.h), which elections
 * have, too; waiting by priority, before the queue (priority_rows.h); and the
 * way from a write lock to a read lock (downgrade_rows.h).  An election is in
 * election/table.c.
 *
 * The full diagram, made from the table below, is in doc/lock.svg.
 *
 * How it can fail.  A create of unknown outcome is looked for by its GUID,
 * after a write that went through the leader's queue behind it (a sync does
 * not, where the leader is our server), and a GUID is used for one attempt
 * only.  A waiter that wakes lists again, since the contender before it may
 * have left from the middle of the queue.  No lock is granted while the lease
 * is in doubt, even if it is first: a follower that is cut off shows an old
 * queue.  After an event about another contender's znode, no lock is granted
 * before its own znode was read.  If another client deletes the lock's znode, a
 * holder loses the lock, and a waiter goes back to the end of the queue; a copy
 * under the same name changes nothing of that.  A directory whose sequence
 * numbers are used up gives the last ones again and again: a lock that gets
 * such a number gives up.
 */
#include "recipes/lock/states.h"

#include "lib/machine/rows.h"
#include "recipes/kinds.h"

enum { ENDED = LOCK_ENDED };

#define CREATED_ALSO , PRIO_LISTING, PRIO_WATCHING, ENTERING
#define ADOPTED_ALSO , PRIO_LISTING
#define WATCHING_ENDS                                                          \
    ON(REPLY, LISTING, CREATING, FORGETTING, ENDED, FAIL, HERE),               \
        ON(OWN_DELETED, CREATING, ENDED), RARELY(OWN_DELETED, FORGETTING),     \
        ON(USER_EVENT, LISTING)

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
     ON(REPLY,       DELETING, ENDED), RARELY(REPLY, RESOLVING)),
LOCK(DELETING,       drop,          dropped,        ENDED,      STAY,     ENDED,     RETRY,
     ON(ENTRY,       CHECKING),
     ON(REPLY,       ENDED)),
END(ENDED,           evzk__lock_end),
};
/* clang-format on */

const struct evzk__kind evzk__lock_kind = {.name = "lock",
                                           .marks = evzk__lock_all_marks,
                                           .rows = rows,
                                           .n_rows = LOCK_STATES,
                                           .on_deadline =
                                               evzk__lock_on_deadline,
                                           .destroy = evzk__lock_destroy,
                                           .over = evzk__lock_over,
                                           .left = evzk__lock_left};
