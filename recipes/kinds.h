/* The list of all recipes' tables: diagrams, coverage and the generic tests are
 * made from it. */
#ifndef EVZK_KINDS_H
#define EVZK_KINDS_H

#include "lib/machine/machine.h"

extern const struct evzk__kind evzk__lock_kind, evzk__lock_query_kind,
    evzk__lock_revoke_kind, evzk__election_kind, evzk__observer_kind,
    evzk__follow_kind, evzk__once_kind, evzk__planner_kind;

/* NULL at the end. */
extern const struct evzk__kind *const evzk__kinds[];

#endif
