/* Semaphores: at most n leases of a path are held at a time.
 *
 *   <path>/locks/<guid>-lock-<seq>      the queue: a lock (recipes/lock)
 *   <path>/leases/<guid>-lease-<seq>    a lease, ephemeral; the number is that
 *                                       of its holder's lock
 *
 *   QUEUEING --> COUNTING <--> WAITING
 *      ^          |   ^
 *      |          v   `--> MAKING_DIR
 *      |         TAKING --> ADOPTING
 *      |          |           |
 *      |          v           |
 *      `--------- HELD <------'
 *                  |
 *                  v
 *                 DELETING --> ENDED
 *
 * The files: turn.c has QUEUEING and WITHDRAWING; enter.c has the states from
 * COUNTING to ADOPTING; held.c has those from CONFIRMING to DELETING.  The full
 * diagram, made from the table below, is in doc/semaphore.svg.
 *
 * Why there are never more than n.  Only the holder of the lock makes a lease,
 * in a transaction with a check of the lock's own znode.  A lock is granted
 * when those before it have given it away, and they have made their leases
 * before that.  So between the look at the leases and the transaction no lease
 * can come, and some can go.  The transaction also writes to `leases`, by the
 * version that it had at that look: an operator who copies a lock's znode does
 * not bring a lease too many.
 *
 * Why a freed lease wakes one process.  Only the holder of the lock watches the
 * leases.  All others wait for a lock, and each of them watches the one before.
 *
 * How it can fail.  A lost lock leads back to QUEUEING.  A process that is
 * paused with the lock holds up those behind it until its session ends: so does
 * every first one of a fair queue.
 */
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/semaphore/semaphore_internal.h"

/* NEVER: a session's end comes behind the loss of a connection, which leads to
 * VERIFYING or CHECKING.
 *
 * RARELY: the directory of the leases goes only when it is empty, and then
 * nobody waits; an attempt is in CONFIRMING and VERIFYING for a moment; no ACL
 * changes. */
/* clang-format off */
#define STATE(state, enter, react, ...) \
    ROW(state, evzk__semaphore_##enter, evzk__semaphore_##react, __VA_ARGS__)

static const struct evzk__row rows[STATES] = {
/*    state        entry     reaction    main      on stop   on expiry  flags */
STATE(QUEUEING,    queue,    queued,     COUNTING, ENDED,    QUEUEING,  0,
      ON(REPLY,        HERE),
      ON(USER_EVENT,   COUNTING, WITHDRAWING, QUEUEING, HERE, FAIL)),
STATE(COUNTING,    count,    counted,    TAKING,   ENDED,    QUEUEING,  RETRY,
      ON(REPLY,        TAKING, WAITING, MAKING_DIR, QUEUEING, WITHDRAWING, HERE, FAIL)),
STATE(MAKING_DIR,  make_dir, dir_made,   ASIDE,    ENDED,    QUEUEING,  RETRY,
      ON(REPLY,        COUNTING, FAIL)),
STATE(WAITING,     wait,     waited,     ASIDE,    ENDED,    QUEUEING,  RETRY,
      ON(REPLY,        TAKING, MAKING_DIR, QUEUEING, WITHDRAWING, HERE, FAIL),
      RARELY(PATH_DELETED, COUNTING),
      ON(PATH_CHANGED, COUNTING),
      ON(USER_EVENT,   QUEUEING, WITHDRAWING, FAIL), RARELY(USER_EVENT, HERE)),
STATE(TAKING,      take,     taken,      HELD,     STAY,     QUEUEING,  RETRY,
      ON(ENTRY,        ADOPTING),
      ON(REPLY,        HELD, DELETING, ADOPTING, COUNTING),
      ON(STOP,         DELETING, ADOPTING), RARELY(STOP, ENDED),
      ON(EXPIRED,      NEVER)),
STATE(ADOPTING,    look,     adopted,    ASIDE,    STAY,     QUEUEING,  RETRY|SIGHTS,
      ON(REPLY,        HELD, DELETING, COUNTING, QUEUEING, WITHDRAWING, ENDED, FAIL),
      ON(STOP,         DELETING, ENDED)),
STATE(CONFIRMING,  confirm,  confirmed,  ASIDE,    DELETING, QUEUEING,  RETRY|HOLDS,
      ON(REPLY,        HELD, HERE), RARELY(REPLY, COUNTING, QUEUEING, WITHDRAWING, FAIL),
      RARELY(LEASE_END, HERE)),
STATE(HELD,        hold,     still_held, DELETING, DELETING, ENDED,     RETRY|HOLDS,
      ON(ENTRY,        VERIFYING, CONFIRMING), RARELY(ENTRY, DELETING),
      ON(PATH_DELETED, ENDED), RARELY(PATH_DELETED, HERE),
      ON(PATH_CHANGED, VERIFYING, HERE),
      ON(EXPIRED,      NEVER)),
STATE(VERIFYING,   verify,   verified,   ASIDE,    DELETING, ENDED,     RETRY|HOLDS,
      ON(REPLY,        HELD, ENDED, HERE), RARELY(REPLY, FAIL),
      RARELY(PATH_DELETED, ENDED, HERE),
      RARELY(PATH_CHANGED, VERIFYING, HERE)),
STATE(CHECKING,    check,    checked,    ASIDE,    STAY,     ENDED,     RETRY,
      ON(REPLY,        DELETING, WITHDRAWING), RARELY(REPLY, ENDED),
      ON(STOP,         DELETING, ENDED)),
STATE(DELETING,    drop,     dropped,    ENDED,    STAY,     ENDED,     RETRY,
      ON(ENTRY,        CHECKING),
      ON(REPLY,        WITHDRAWING), RARELY(REPLY, ENDED),
      ON(STOP,         ENDED),
      ON(EXPIRED,      NEVER)),
STATE(WITHDRAWING, withdraw, withdrew,   ASIDE,    ENDED,    ENDED,     RETRY,
      ON(ENTRY,        ENDED),
      RARELY(PATH_DELETED, HERE),
      ON(PATH_CHANGED, HERE),
      ON(USER_EVENT,   WITHDRAWING, HERE)),
END(ENDED,         evzk__semaphore_end),
};
/* clang-format on */

const struct evzk__kind evzk__semaphore_kind = {
    .name = "semaphore",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__semaphore_on_deadline,
    .destroy = evzk__semaphore_destroy,
    .detach = evzk__semaphore_detach,
    .over = evzk__semaphore_over,
    .left = evzk__semaphore_left,
    EVZK__PATH_WATCHES(struct evzk_semaphore, m, watch)};
