/* Creates and deletes that fall due together, as one transaction. */
#ifndef EVZK_BATCH_H
#define EVZK_BATCH_H

#include "lib/request/request.h"

/* May it go in a transaction, alone or with others? */
bool evzk__batch_takes(const struct evzk__core *s,
                       const struct evzk__request *r);

/* Prepares a transaction of the first request of a queue, and of what behind it
 * goes with it.  NULL: no memory; then nothing is sent for a while. */
struct evzk__request *evzk__batch_prepare(struct evzk__core *s,
                                          struct evzk__request *first,
                                          struct evzk__multi **multi);

/* Does the directory go with this delete? */
bool evzk__batch_takes_dir(const struct evzk__request *r);

/* Gives up what is in flight, at the end of the session; answers nobody. */
void evzk__batches_clear(struct evzk__core *s);

/* Is there room for one more in flight? */
bool evzk__batch_room(const struct evzk__core *s);

#endif
