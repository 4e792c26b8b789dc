/* The list of all recipes' tables: diagrams, coverage and the generic tests are
 * made from it.  It has what recipes/manifest names. */
#ifndef EVZK_KINDS_H
#define EVZK_KINDS_H

#include "lib/machine/machine.h"
#include "recipes/list.h"

#define EVZK__DECLARE(kind) extern const struct evzk__kind evzk__##kind##_kind;
#define EVZK__COUNT(kind) +1

EVZK__KINDS(EVZK__DECLARE)
enum { EVZK__N_KINDS = 0 EVZK__KINDS(EVZK__COUNT) };

#undef EVZK__DECLARE
#undef EVZK__COUNT

/* NULL at the end. */
extern const struct evzk__kind *const evzk__kinds[EVZK__N_KINDS + 1];

#endif
