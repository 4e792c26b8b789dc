/* Making parents on demand: once for all who ask at the same time. */
#ifndef EVZK_PARENTS_H
#define EVZK_PARENTS_H

#include "lib/request/request.h"

/* Takes a PARENTS request over, which is in no queue; answers it when what is
 * above its directory exists, or cannot be made.  Answers at once when out of
 * memory. */
void evzk__parents_join(struct evzk__core *s, struct evzk__request *r);

/* Gives everything up, at the end of the session; answers nobody. */
void evzk__parents_clear(struct evzk__core *s);

#endif
