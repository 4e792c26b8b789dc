/* Makes parents on demand: once for all requests that ask at the same time. */
#ifndef EVZK_PARENTS_H
#define EVZK_PARENTS_H

#include "lib/request/request.h"

/* Takes over a PARENTS request that is in no queue.  Answers it when the
 * parents exist, or cannot be made; at once if there is no memory. */
void evzk__parents_join(struct evzk__core *s, struct evzk__request *r);

/* Gives everything up at the end of the session; no request is answered. */
void evzk__parents_clear(struct evzk__core *s);

#endif
