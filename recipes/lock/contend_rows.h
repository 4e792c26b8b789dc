/* The rows in which a contender comes to its place and waits.  The tables of
 * locks and of elections include them; they lead to HELD.  The includer defines
 * first, as the two tables differ there:
 *
 *   CREATED_ALSO, ADOPTED_ALSO  where an answer may lead besides
 *   WATCHING_ENDS               how waiting ends
 *
 * A session's end ends a lock that is not to queue again, or is to stop.  The
 * rare moves of WATCHING are those of patient locks: see lock/patient.c. */
/* clang-format off */
#define LOCK(state, enter, react, ...) \
    ROW(state, evzk__lock_##enter, evzk__lock_##react, __VA_ARGS__)
/*   state           entry          reaction        main        on stop   on expiry  flags */
LOCK(CREATING,       create,        created,        LISTING,    STAY,     CREATING,  NOTHING_SENT,
     ON(REPLY,       LISTING, WATCHING, CONFIRMING, HELD, MAKING_PARENTS, RESOLVING, DELETING, FAIL CREATED_ALSO),
     RARELY(REPLY,   CREATING),
     ON(STOP,        DELETING, RESOLVING, ENDED),
     RARELY(ENTRY,   ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(MAKING_PARENTS, make_parents,  parents_made,   ASIDE,      STAY,     CREATING,  NOTHING_SENT,
     ON(REPLY,       CREATING, FAIL),
     ON(STOP,        ENDED), RARELY(STOP, HERE),
     ON(EXPIRED,     ENDED)),
LOCK(RESOLVING,      resolve,       resolved,       ASIDE,      STAY,     CREATING,  RETRY|SIGHTS,
     ON(REPLY,       ADOPTING, CREATING),
     RARELY(REPLY,   FAIL),
     ON(STOP,        ADOPTING, ENDED),
     ON(EXPIRED,     ENDED)),
LOCK(ADOPTING,       adopt,         adopted,        ASIDE,      STAY,     CREATING,  RETRY,
     ON(REPLY,       LISTING, RESOLVING ADOPTED_ALSO),
     RARELY(REPLY,   DELETING),
     ON(STOP,        RESOLVING, DELETING),
     ON(EXPIRED,     ENDED)),
LOCK(LISTING,        list,          listed,         WATCHING,   DELETING, CREATING,  RETRY,
     ON(REPLY,       WATCHING, CONFIRMING, HELD, LISTING, CREATING, ENDED, FAIL),
     RARELY(REPLY,   FORGETTING),
     ON(EXPIRED,     ENDED)),
LOCK(WATCHING,       watch,         watched,        CONFIRMING, DELETING, CREATING,  RETRY,
     WATCHING_ENDS,
     ON(OWN_CHANGED, WATCHING),
     ON(PRED_DELETED, CONFIRMING, HELD, LISTING),
     RARELY(PRED_CHANGED, WATCHING, LISTING),
     ON(LINGERED,    WATCHING),
     RARELY(OWN_CHANGED, LISTING), RARELY(LINGERED, LISTING),
     ON(EXPIRED,     ENDED)),
LOCK(CONFIRMING,     read_own,      confirmed,      HELD,       DELETING, CREATING,  RETRY|HOLDS,
     ON(REPLY,       HELD, CREATING, FORGETTING, ENDED, HERE),
     RARELY(REPLY,   FAIL),
     ON(OWN_DELETED, CREATING),
     RARELY(OWN_DELETED, FORGETTING, ENDED),
     ON(OWN_CHANGED, CONFIRMING),
     RARELY(PRED_CHANGED, CONFIRMING),
     ON(EXPIRED,     ENDED)),
LOCK(FORGETTING,     forget_own,    forgotten,      ASIDE,      STAY,     CREATING,  0,
     ON(REPLY,       CREATING),
     ON(STOP,        ENDED),
     RARELY(EXPIRED, ENDED)),
    /* clang-format on */
