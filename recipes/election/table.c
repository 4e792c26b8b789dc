/* Elections: the queue of lock/lock.c, and what the first candidate does.
 *
 *   <guid>-n_<seq>       leads alone; waits for the one just before its own
 *   leader               made by the leader, when it is ready
 *
 * The rows of waiting are a lock's; those of leading are explained in
 * election/announce.c, and those of leaving in election/resign.c.  The full
 * diagram, made from the table below, is in doc/election.svg. */
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/lock/states.h"

enum { ENDED = ELECTION_ENDED };

#define CREATED_ALSO
#define ADOPTED_ALSO
#define WATCHING_ENDS                                                          \
    ON(REPLY, LISTING, CREATING, FORGETTING, HERE),                            \
        RARELY(REPLY, ENDED, FAIL), ON(OWN_DELETED, CREATING),                 \
        RARELY(OWN_DELETED, FORGETTING, ENDED)

/* clang-format off */
static const struct evzk__row rows[ELECTION_STATES] = {
#include "recipes/lock/contend_rows.h"
#include "recipes/election/announce_rows.h"
/*   state           entry          reaction        main        on stop   on expiry  flags */
LOCK(CHECKING,       check,         checked,        ASIDE,      STAY,     ENDED,     RETRY,
     ON(REPLY,       DELETING, ENDED), RARELY(REPLY, RESOLVING)),
ELECTION(SETTLING_LEADER, election_settle_leader, settled_leader, ASIDE, STAY, ENDED, RETRY,
     ON(REPLY,       CHECKING_LEADER), RARELY(REPLY, FAIL)),
ELECTION(CHECKING_LEADER, election_check_leader, checked_leader, ASIDE, STAY, ENDED, RETRY,
     ON(REPLY,       DELETING), RARELY(REPLY, ENDED)),
ROW(DELETING, evzk__election_drop, evzk__lock_dropped, ENDED,   STAY,     ENDED,     RETRY,
     ON(ENTRY,       CHECKING, SETTLING_LEADER, CHECKING_LEADER),
     ON(REPLY,       ENDED)),
END(ENDED,           evzk__lock_end),
};
/* clang-format on */

const struct evzk__kind evzk__election_kind = {.name = "election",
                                               .marks = evzk__lock_all_marks,
                                               .rows = rows,
                                               .n_rows = ELECTION_STATES,
                                               .on_deadline =
                                                   evzk__lock_on_deadline,
                                               .destroy = evzk__lock_destroy,
                                               .over = evzk__lock_over,
                                               .left = evzk__lock_left};
