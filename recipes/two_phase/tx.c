/* A transaction at its coordinator.
 *
 *   BEGINNING (two_phase/begin.c) --> LISTING (two_phase/decide.c)
 *       --> DECIDING --> AWAITING (two_phase/clean_up.c) --> ENDED
 *
 * Nobody but a site writes that site's znode, and the decision is a write to
 * the transaction's znode that requires version 0 of it: so there is one.  The
 * write to commit also requires version 0 of every vote.  A vote requires that
 * the transaction has version 0: so no vote comes behind the decision.
 *
 * To stop means to abort, and to clean up: a coordinator whose program has
 * freed it goes on until that is done.
 *
 * A coordinator whose session lives keeps the sites waiting.  So it does not
 * give up before the decision: where the servers refuse that, REFUSED waits,
 * and asks again; and so does DOUBTING, where they refuse to say whether the
 * transaction was begun.  Nothing of it is left to the session's list of
 * left-overs: a site that has voted to commit and finds no transaction would
 * never hear of a decision.
 *
 * How it can fail.  The coordinator may be late, or dead: then another process
 * has decided (READING), or will.  A lost answer is asked for again: the
 * transaction's version tells whether it was decided, and by what.  When the
 * session ends, the coordinator goes on in the next one; meanwhile the sites
 * may have decided.
 */
#include "recipes/two_phase/tx_internal.h"

#include "lib/machine/rows.h"
#include "recipes/kinds.h"

static void on_deadline(struct evzk__machine *m)
{
    if (evzk__tx_of(m)->decision == EVZK_TX_NONE)
        evzk__tx_keep_time(m);
    else if (m->state == AWAITING) /* AWAITING sets a deadline. */
        evzk__machine_move(m, CHECKING);
    if (m->state == REFUSED) /* So do REFUSED, .. */
        evzk__machine_move(m, DECIDING);
    else if (m->state == DOUBTING) /* .. and DOUBTING. */
        evzk__machine_move(m, RESOLVING);
}

/* clang-format off */
#define STATE(state, enter, react, ...) \
    ROW(state, evzk__tx_##enter, evzk__tx_##react, __VA_ARGS__)

static const struct evzk__row rows[STATES] = {
/*    state          entry       reaction     main        on stop   on expiry    flags */
STATE(BEGINNING,     begin,      begun,       LISTING,    STAY,     BEGINNING,   NOTHING_SENT,
      ON(ENTRY,        PROVING, RECOVERING),
      RARELY(ENTRY,    ENDED),
      ON(REPLY,        LISTING, REPEATING, MAKING, FAIL),
      RARELY(REPLY,    BEGINNING),
      ON(STOP,         DECIDING, REPEATING, ENDED)),
STATE(REPEATING,     begin,      begun_again, ASIDE,      STAY,     RESOLVING,   RETRY,
      ON(REPLY,        LISTING, RESOLVING, FAIL),
      ON(STOP,         DECIDING, RESOLVING), RARELY(STOP, ENDED),
      RARELY(RECONNECTED, REPEATING)),
STATE(PROVING,       prove,      proved,      ASIDE,      ENDED,    BEGINNING,   RETRY|NOTHING_SENT,
      ON(REPLY,        BEGINNING, MAKING, FAIL)),
STATE(MAKING,        make,       made,        ASIDE,      ENDED,    BEGINNING,   RETRY,
      ON(REPLY,        PROVING, MAKING_ROOT, HERE, FAIL)),
STATE(MAKING_ROOT,   make_root,  root_made,   ASIDE,      ENDED,    BEGINNING,   RETRY,
      ON(REPLY,        MAKING, FAIL)),
STATE(RESOLVING,     resolve,    resolved,    ASIDE,      STAY,     RESOLVING,   RETRY,
      ON(REPLY,        LISTING, DOUBTING, ENDED),
      ON(STOP,         DOUBTING, ENDED), RARELY(STOP, DECIDING, HERE),
      RARELY(RECONNECTED, RESOLVING),
      RARELY(EXPIRED,  RESOLVING)),
STATE(DOUBTING,      be_refused, resolved,    ASIDE,      STAY,     RESOLVING,   0,
      ON(DEADLINE,     RESOLVING)),
STATE(RECOVERING,    read,       recovered,   ASIDE,      ENDED,    RECOVERING,  RETRY|NOTHING_SENT,
      ON(REPLY,        LISTING, READING, ROOTING, FAIL)),
ROW(ROOTING,         evzk__look_chroot, evzk__tx_rooted, ASIDE, ENDED,  RECOVERING,  RETRY,
      ON(REPLY,        FAIL)),
STATE(LISTING,       list,       listed,      COLLECTING, DECIDING, LISTING,     RETRY,
      ON(REPLY,        COLLECTING, READING_VOTES, DECIDING, LOOKING, READING, ENDED, HERE, FAIL)),
STATE(COLLECTING,    collect,    collected,   DECIDING,   DECIDING, LISTING,     RETRY,
      ON(ENTRY,        LISTING),
      RARELY(PATH_DELETED, LISTING, READING), /* Its sites' znodes went before. */
      ON(PATH_CHANGED, LISTING, READING),
      ON(EXPIRED,      NEVER)),
STATE(READING_VOTES, read_votes, votes_read,  ASIDE,      DECIDING, LISTING,     0,
      ON(REPLY,        COLLECTING, DECIDING, LISTING, HERE, FAIL),
      ON(EXPIRED,      NEVER)),
STATE(DECIDING,      decide,     decided,     AWAITING,   STAY,     DECIDING,    RETRY,
      ON(ENTRY,        LOOKING),
      ON(REPLY,        AWAITING, GATHERING, REFUSED, READING, DECIDING, ENDED),
      ON(STOP,         AWAITING, REFUSED, READING, DECIDING, ENDED), RARELY(STOP, GATHERING)),
STATE(REFUSED,       be_refused, overtaken,  ASIDE,      STAY,     DECIDING,    0,
      ON(PATH_DELETED, HERE),
      ON(PATH_CHANGED, READING, HERE),
      ON(DEADLINE,     DECIDING)),
STATE(LOOKING,       look,       looked,      ASIDE,      STAY,     LOOKING,     RETRY,
      ON(REPLY,        LISTING, READING, REFUSED, HERE, ENDED),
      ON(STOP,         DECIDING, READING, REFUSED, HERE, ENDED)),
STATE(READING,       read,       was_read,    ASIDE,      STAY,     READING,     RETRY,
      ON(REPLY,        GATHERING, ENDED, FAIL), RARELY(REPLY, LOOKING),
      ON(STOP,         GATHERING, ENDED), RARELY(STOP, LOOKING)),
STATE(AWAITING,      await,      awaited,     GATHERING,  STAY,     GATHERING,   RETRY,
      ON(ENTRY,        GATHERING),
      RARELY(PATH_DELETED, GATHERING, HERE), /* The same. */
      ON(PATH_CHANGED, GATHERING, HERE),
      ON(DEADLINE,     CHECKING),
      ON(EXPIRED,      NEVER)),
STATE(GATHERING,     list,       gathered,    REMOVING,   STAY,     GATHERING,   RETRY,
      ON(REPLY,        AWAITING, CLEARING, REMOVING, ENDED, FAIL),
      ON(STOP,         AWAITING, CLEARING, REMOVING, ENDED)),
STATE(CHECKING,      check,      checked,     ASIDE,      STAY,     GATHERING,   RETRY,
      ON(REPLY,        GATHERING, HERE, FAIL),
      ON(STOP,         GATHERING, HERE), RARELY(STOP, ENDED)),
STATE(CLEARING,      clear,      cleared,     ASIDE,      STAY,     GATHERING,   RETRY,
      ON(REPLY,        GATHERING, HERE, FAIL),
      ON(STOP,         GATHERING, HERE, ENDED)),
STATE(REMOVING,      remove,     removed,     ENDED,      STAY,     GATHERING,   RETRY,
      ON(REPLY,        GATHERING, RESTORING, ENDED, FAIL),
      ON(STOP,         GATHERING, ENDED), RARELY(STOP, RESTORING)),
STATE(RESTORING,     restore,    restored,    ASIDE,      STAY,     GATHERING,   RETRY,
      ON(REPLY,        REMOVING), RARELY(REPLY, FAIL),
      ON(STOP,         REMOVING), RARELY(STOP, ENDED)),
END(ENDED,           evzk__tx_end),
};
/* clang-format on */

const struct evzk__kind evzk__tx_kind = {
    .name = "tx",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = on_deadline,
    .keeps_timer = true,
    .destroy = evzk__tx_destroy,
    .outlives_session = true,
    EVZK__PATH_WATCHES(struct evzk_tx, m, watch)};
