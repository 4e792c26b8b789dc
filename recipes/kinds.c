/* The list of all recipes' tables. */
#include "recipes/kinds.h"

#define ADDRESS(kind) &evzk__##kind##_kind,

const struct evzk__kind *const evzk__kinds[EVZK__N_KINDS + 1] = {
    EVZK__KINDS(ADDRESS) NULL};
