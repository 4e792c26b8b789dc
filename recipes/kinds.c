/* The list of all recipes' tables. */
#include "recipes/kinds.h"

const struct evzk__kind *const evzk__kinds[] = {
    &evzk__lock_kind,     &evzk__lock_query_kind, &evzk__lock_revoke_kind,
    &evzk__election_kind, &evzk__observer_kind,   &evzk__follow_kind,
    &evzk__once_kind,     &evzk__planner_kind,    NULL};
