/* The words in which a table of rows is written.  For the files that have one:
 * included there, behind all else, and nowhere but there.
 *
 *     static const struct evzk__row rows[STATES] = {
 *     //  state    entry, reaction  main     on stop  on expiry  flags
 *     ROW(LISTING, list,  listed,   WAITING, ENDED,   LISTING,   RETRY,
 *         ON(REPLY,       WAITING, LISTING, FAIL)),
 *     ROW(WAITING, wait,  waited,   ENDED,   ENDED,   LISTING,   RETRY,
 *         ON(OWN_DELETED, ENDED),
 *         ON(OWN_CHANGED, HERE)),
 *     END(ENDED,   end),
 *     };
 *
 * An event that has no ON is not heard: it waits for a row that hears it.
 * ON_SET begins with a set, TO(...), that a macro was given.
 * FAIL, HERE and NEVER: see lib/machine/kind.h. */
#ifndef EVZK_ROWS_H
#define EVZK_ROWS_H

#include <stddef.h>

#include "lib/machine/kind.h"

/* The last of them are flags, or 0, and an ON for each event. */
#define ROW(state, enter, react, main, stop, expiry, ...)                      \
    [state] = {#state, enter, react, main, stop, expiry, __VA_ARGS__}
#define END(state, enter)                                                      \
    ROW(state, enter, NULL, EVZK__ASIDE, EVZK__STAY, EVZK__STAY,               \
        .flags = EVZK__FINAL)
#define ON(cause, ...) .on[EVZK__ON_##cause] = EVZK__TO(__VA_ARGS__)
#define ON_SET(cause, set, ...)                                                \
    .on[EVZK__ON_##cause] = (set) | EVZK__TO(__VA_ARGS__)
#define RARELY(cause, ...) .rarely[EVZK__ON_##cause] = EVZK__TO(__VA_ARGS__)

#define TO EVZK__TO
#define STAY EVZK__STAY
#define ASIDE EVZK__ASIDE
#define HERE EVZK__HERE
#define FAIL EVZK__FAIL
#define NEVER EVZK__NEVER
#define RETRY EVZK__RETRY
#define HOLDS EVZK__HOLDS
#define NOTHING_SENT EVZK__NOTHING_SENT
#define UNSENT EVZK__UNSENT
#define SIGHTS EVZK__SIGHTS

#endif
