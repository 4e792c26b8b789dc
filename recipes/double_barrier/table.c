/* Double barriers: `count` participants enter together, and leave together.
 *
 *   <guid>-in-<seq>   a participant, ephemeral
 *   ready             the round: "evzk 1 <last number> <czxid of the directory>
 *                     <first participant>"
 *
 * A participant is in the round if its number is not above the last one of
 * `ready`, and `ready` is of its directory.  Participants with higher numbers
 * are of the next round, and wait for the end of this one.  All other znodes of
 * the directory are foreign.
 *
 *   CREATING .. (recipes/parts/make.h)
 *     v
 *   LOOKING, READING, LISTING, WAITING, BARRED, REREADING: enter.c
 *   VETTING: vet.c; FORMING: form.c
 *     v
 *   CONFIRMING, INSIDE, VERIFYING: inside.c
 *     v
 *   FOLLOWING, CHOOSING, STAYING, REMOVING, AWAITING, LISTING_REST: leave.c
 *     v
 *   ENDED
 *
 * The full diagram, made from the table below, is in doc/double-barrier.svg.
 *
 * Why nobody enters unless `count` stood there.  `ready` is made in a
 * transaction that checks each of the `count` participants that it counts: all
 * of them stand at that moment.  (Where the checks take more than a server
 * accepts, the first ones are checked.  Then all stood when the directory was
 * listed, and the first one still stands.)
 *
 * Why rounds do not mix.  `ready` goes away only together with the last
 * participant of its round, or it is stale: nobody of its round is left.  So
 * while the first of those that were counted stands, no round that it was in
 * has ended, and the transaction fails if such a round is still said.
 *
 * How it can fail.  A transaction of unknown outcome does no harm, whenever it
 * is done: the participant looks again.  A participant that crashes is gone
 * with its session, and the others go on: enough of them come later, or their
 * time-outs end the wait.  If the last participant of a round crashes, `ready`
 * is left, and the next round replaces it.  A directory in which another
 * program has made `ready` is no double barrier of evzk: EVZK_ERR_FOREIGN.
 */
#include "recipes/double_barrier/double_barrier_internal.h"

#include "lib/machine/rows.h"
#include "recipes/kinds.h"

static struct evzk__make *make_of(struct evzk__machine *m)
{
    return &evzk__double_barrier_of(m)->make;
}

MAKE_ACTIONS(make_of)

static int made(struct evzk__machine *m, int rc)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (rc != EVZK_OK || !evzk__seq_parse(d->make.name, EVZK__IN, &d->seq))
        return rc != EVZK_OK ? rc : EVZK_ERR_INTERNAL;
    d->others_form = false;
    m->place.own_verified = true;
    return evzk__machine_move(m, m->stopping ? REMOVING : LOOKING);
}

static const struct evzk__make_rows make_rows = MAKE_ROWS_OF(made);

/* NEVER: a session's end comes behind the loss of a connection, and without its
 * watches such a row leads to LOOKING, VERIFYING or CHECKING.
 *
 * RARELY: a participant's znode gets children only if it was made by hand.
 * Another participant's znode may not be read: then the first one of the round
 * could not be followed, as a rule.  A participant is in CONFIRMING and
 * VERIFYING for a moment, with its session in doubt: what befalls it there
 * takes two faults at once, or three. */
/* clang-format off */
#define STATE(state, enter, react, ...) \
    ROW(state, evzk__double_barrier_##enter, evzk__double_barrier_##react, __VA_ARGS__)

static const struct evzk__row rows[STATES] = {
MAKE_ROWS(LOOKING, TO(LOOKING), TO(REMOVING)),
/*    state         entry        reaction      main       on stop   on expiry     flags */
STATE(LOOKING,      look,        looked,       WAITING,   REMOVING, CREATING,     RETRY,
      ON(REPLY,        READING, WAITING, LISTING, FORGETTING, CREATING, HERE, FAIL)),
STATE(READING,      read,        was_read,     INSIDE,    REMOVING, CREATING,     RETRY,
      ON(REPLY,        INSIDE, CONFIRMING, WAITING, LISTING, FAIL),
      ON(ENTRY,        LOOKING),
      ON(EXPIRED,      NEVER)),
STATE(LISTING,      list,        listed,       ASIDE,     REMOVING, CREATING,     RETRY,
      ON(REPLY,        VETTING, BARRED, WAITING, READING, LOOKING, LISTING, FAIL),
      ON(ENTRY,        LOOKING),
      ON(EXPIRED,      NEVER)),
STATE(WAITING,      wait,        waited,       READING,   REMOVING, CREATING,     RETRY,
      ON(ENTRY,        LOOKING),
      ON(PATH_DELETED, READING, LOOKING),
      ON(PATH_CHANGED, READING, LOOKING),
      ON(EXPIRED,      NEVER)),
STATE(BARRED,       bar,         barred,       ASIDE,     REMOVING, CREATING,     RETRY,
      ON(REPLY,        LISTING, HERE, FAIL),
      ON(ENTRY,        LOOKING),
      ON(PATH_DELETED, READING, LOOKING, LISTING),
      ON(PATH_CHANGED, READING, LOOKING),
      RARELY(PATH_CHANGED, LISTING),
      ON(EXPIRED,      NEVER)),
STATE(VETTING,      vet,         vetted,       ASIDE,     REMOVING, CREATING,     0,
      ON(REPLY,        FORMING, REREADING, LISTING, VETTING, HERE, FAIL),
      RARELY(EXPIRED,  CREATING)), /* The lost connection leads to LISTING first. */
STATE(REREADING,    read,        reread,       ASIDE,     REMOVING, CREATING,     RETRY,
      ON(REPLY,        FORMING, INSIDE, WAITING, LISTING),
      RARELY(REPLY,    CONFIRMING, FAIL),
      ON(ENTRY,        LOOKING),
      ON(EXPIRED,      NEVER)),
STATE(FORMING,      form,        formed,       ASIDE,     REMOVING, CREATING,     RETRY,
      ON(REPLY,        READING, LISTING, FAIL),
      ON(ENTRY,        LOOKING),
      ON(EXPIRED,      NEVER)),
STATE(FORGETTING,   forget,      forgotten,    ASIDE,     STAY,     CREATING,     0,
      ON(REPLY,        CREATING),
      ON(STOP,         ENDED),
      RARELY(EXPIRED,  CREATING)),
STATE(CONFIRMING,   verify,      confirmed,    ASIDE,     REMOVING, CREATING,     RETRY|HOLDS,
      ON(REPLY,        INSIDE, HERE),
      RARELY(REPLY,    CREATING, FORGETTING, FAIL),
      RARELY(PATH_DELETED, CREATING, HERE),
      ON(PATH_CHANGED, HERE), RARELY(PATH_CHANGED, CONFIRMING),
      RARELY(LEASE_END, HERE)),
STATE(INSIDE,       stay_inside, still_inside, FOLLOWING, REMOVING, ENDED,        RETRY|HOLDS,
      ON(ENTRY,        VERIFYING),
      ON(PATH_DELETED, ENDED, HERE),
      ON(PATH_CHANGED, VERIFYING, HERE),
      ON(USER_EVENT,   FOLLOWING, CHOOSING),
      ON(EXPIRED,      NEVER)),
STATE(VERIFYING,    verify,      verified,     ASIDE,     REMOVING, ENDED,        RETRY|HOLDS,
      ON(REPLY,        INSIDE, ENDED, HERE),
      RARELY(REPLY,    FAIL),
      RARELY(PATH_DELETED, ENDED, HERE),
      ON(PATH_CHANGED, HERE), RARELY(PATH_CHANGED, VERIFYING),
      ON(USER_EVENT,   CHOOSING), RARELY(USER_EVENT, FOLLOWING)),
STATE(FOLLOWING,    follow,      followed,     REMOVING,  REMOVING, LISTING_REST, RETRY,
      RARELY(ENTRY,    REMOVING),
      ON(REPLY,        REMOVING, CHOOSING, FAIL)),
ROW(CHOOSING,       evzk__list,  evzk__double_barrier_chosen, ASIDE, REMOVING, LISTING_REST, RETRY,
      ON(REPLY,        STAYING, FOLLOWING, REMOVING, ENDED, FAIL)),
STATE(STAYING,      await,       stayed,       ASIDE,     REMOVING, LISTING_REST, RETRY,
      ON(REPLY,        CHOOSING, HERE),
      RARELY(REPLY,    FAIL),
      ON(PATH_DELETED, CHOOSING, HERE),
      ON(PATH_CHANGED, HERE), RARELY(PATH_CHANGED, CHOOSING)),
STATE(CHECKING,     check,       checked,      ASIDE,     STAY,     LISTING_REST, RETRY,
      ON(REPLY,        REMOVING, AWAITING, ENDED),
      ON(STOP,         REMOVING, ENDED)),
STATE(REMOVING,     remove,      removed,      AWAITING,  STAY,     LISTING_REST, RETRY,
      ON(ENTRY,        CHECKING),
      ON(REPLY,        AWAITING, ENDED),
      ON(STOP,         ENDED),
      ON(EXPIRED,      NEVER)),
STATE(AWAITING,     await,       awaited,      LISTING_REST, ENDED, LISTING_REST, RETRY,
      ON(REPLY,        LISTING_REST, HERE),
      RARELY(REPLY,    FAIL),
      ON(PATH_DELETED, LISTING_REST, HERE),
      ON(PATH_CHANGED, HERE), RARELY(PATH_CHANGED, LISTING_REST)),
ROW(LISTING_REST,   evzk__list,  evzk__double_barrier_rest_listed, ENDED, ENDED, LISTING_REST, RETRY,
      ON(REPLY,        AWAITING, ENDED, FAIL)),
END(ENDED,          evzk__double_barrier_end),
};
/* clang-format on */

void evzk__double_barrier_make_init(struct evzk_double_barrier *d)
{
    evzk__make_init(&d->make, &make_rows, EVZK__IN, EVZK__EPHEMERAL_SEQUENTIAL);
}

const struct evzk__kind evzk__double_barrier_kind = {
    .name = "double-barrier",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__double_barrier_on_deadline,
    .destroy = evzk__double_barrier_destroy,
    .left = evzk__double_barrier_left,
    .keeps_timer = true,
    EVZK__PATH_WATCHES(struct evzk_double_barrier, m, watch)};
